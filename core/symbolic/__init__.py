"""Robots in symbols: the shared laws of mechanics over exact polynomials, and what is done to their results.

robot = symbolic.robot(model)          # A, T, J, M, C, G … as sympy matrices
"""

from typing import TYPE_CHECKING

from core import later

if TYPE_CHECKING:
    from core.symbolic.robot import Robot, robot

__all__ = ["Robot", "robot"]

__getattr__ = later.names(__name__, {"robot": ("Robot", "robot")})
