"""Symbolic models of robots: the recursive algorithms of mechanics over exact polynomials, and simplification and
export of their results.

linkage = symbolic.linkage(model)  # positions, velocity ratios, reduced equations of motion of loops
robot = symbolic.robot(model)          # A, T, J, M, C, G … as sympy matrices
"""

from core.symbolic.linkage import Linkage, linkage
from core.symbolic.robot import Robot, robot

__all__ = ["Linkage", "Robot", "linkage", "robot"]
