"""Formulas of time and state as steps of symbolic functions: the names they use, and their value."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.errors import ExpressionError
from core.model.formula.expression import Node, evaluate, names
from core.numerics.spatial.scalar import Scalar


class Formula(NamedTuple):
    """Formula as a step, evaluated from the values of its names."""

    node: Node
    names: tuple[str, ...]

    def __call__(self, values: tuple[Scalar, ...]) -> Scalar:
        """Evaluate the formula."""
        result = evaluate(self.node, dict(zip(self.names, values, strict=True)))
        return float(result) if isinstance(result, int | float) else result


def formula_of(node: Node) -> Formula:
    """Return the step of a formula."""
    return Formula(node, tuple(sorted(names(node))))


class LocatedFormula:
    """Formula whose errors name its place in the document."""

    def __init__(self, formula: Formula, where: str) -> None:
        self.formula, self.where, self.names = formula, where, formula.names

    def __call__(self, values: tuple[Any, ...]) -> Any:
        try:
            return self.formula(values)
        except ExpressionError as error:
            raise error.at(where=self.where) from None

    def __hash__(self) -> int:
        return hash(self.formula)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocatedFormula) and self.formula == other.formula
