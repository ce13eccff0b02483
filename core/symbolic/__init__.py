"""Robots in symbols: the shared laws of mechanics over exact polynomials, and what is done to their results.

robot = symbolic.robot(model)          # A, T, J, M, C, G … as sympy matrices
"""

from core.symbolic.robot import Robot, robot

__all__ = ["Robot", "robot"]
