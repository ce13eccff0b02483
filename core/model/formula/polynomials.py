"""Degree of formulas as polynomials of one variable."""

from __future__ import annotations

import math
from collections.abc import Set

from core.model.formula.nodes import Binary, Call, Name, Negative, Node, Number


def degree_in(node: Node, names: Set[str]) -> float:
    """Return the degree of a formula as a polynomial in a variable (given by all its names), other names constant;
    infinity if it is not recognised as one."""
    if isinstance(node, Name):
        return 1.0 if node.name in names else 0.0
    if isinstance(node, Negative):
        return degree_in(node.operand, names)
    if isinstance(node, Call):
        return 0.0 if all(degree_in(each, names) == 0.0 for each in node.arguments) else math.inf
    return _degree_of_binary(node, names) if isinstance(node, Binary) else 0.0


def _degree_of_binary(node: Binary, names: Set[str]) -> float:
    left, right = degree_in(node.left, names), degree_in(node.right, names)
    if left == right == 0.0:
        return 0.0
    if node.operator in ("+", "-"):
        return max(left, right)
    if node.operator == "*":
        return left + right
    if node.operator == "/" and right == 0.0:
        return left
    if node.operator == "^" and isinstance(node.right, Number) and node.right.value in (1.0, 2.0, 3.0):
        return left * node.right.value
    return math.inf
