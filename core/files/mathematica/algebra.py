"""Matrices that can be operands of typed expressions: sums, products with numbers, and Mathematica's matrix product A .
B."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from core.errors import ExpressionError
from core.numerics.spatial import scalar

Rows = list[list[Any]]


class ScalarMatrix:
    """Matrix of scalars. Operations raise ExpressionError if the sizes do not match."""

    __slots__ = ("rows",)

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @property
    def size(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.rows), len(self.rows[0])

    def _combine(self, other: Any, operation: Callable[[Any, Any], Any], sign: str) -> ScalarMatrix:
        if not isinstance(other, ScalarMatrix) or other.size != self.size:
            raise ExpressionError(
                f"{_format_shape(self)} {sign} {_format_shape(other)} is not defined.".capitalize(),
                remedy="Both operands need the same number of rows and columns.",
            )
        return ScalarMatrix(
            [list(map(operation, mine, yours)) for mine, yours in zip(self.rows, other.rows, strict=True)]
        )

    def _entrywise(self, other: Any, operation: Callable[[Any, Any], Any]) -> ScalarMatrix:
        if isinstance(other, ScalarMatrix):
            raise ExpressionError(
                "A blank, '*' or '/' does not multiply or divide matrices.",
                remedy="Write the matrix product with a point: A[1] . A[2].",
            )
        return ScalarMatrix([[operation(x, other) for x in row] for row in self.rows])

    def __add__(self, other: Any) -> ScalarMatrix:
        return self._combine(other, operator.add, "+")

    def __radd__(self, other: Any) -> ScalarMatrix:
        return self._combine(other, operator.add, "+")

    def __sub__(self, other: Any) -> ScalarMatrix:
        return self._combine(other, operator.sub, "-")

    def __rsub__(self, other: Any) -> ScalarMatrix:
        return self._combine(other, operator.sub, "-")

    def __neg__(self) -> ScalarMatrix:
        return self._entrywise(-1.0, operator.mul)

    def __mul__(self, other: Any) -> ScalarMatrix:
        return self._entrywise(other, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> ScalarMatrix:
        return self._entrywise(other, operator.truediv)

    def __rtruediv__(self, other: Any) -> ScalarMatrix:
        raise ExpressionError("Division by a matrix is not supported.", remedy="Divide by one entry, as in 1/M[1,1].")

    def __pow__(self, other: Any) -> ScalarMatrix:
        raise ExpressionError("Powers of a matrix are not supported.", remedy="Write the product: A[1] . A[1].")

    __rpow__ = __pow__

    def dot(self, other: Any) -> ScalarMatrix:
        """Return the matrix product."""
        if not isinstance(other, ScalarMatrix) or self.size[1] != other.size[0]:
            raise ExpressionError(
                f"{_format_shape(self)} . {_format_shape(other)} is not defined.".capitalize(),
                remedy="The left matrix needs as many columns as the right one has rows.",
            )
        columns = list(zip(*other.rows, strict=True))
        return ScalarMatrix([[_sum_terms(map(operator.mul, row, column)) for column in columns] for row in self.rows])

    def transpose(self) -> ScalarMatrix:
        """Return the transpose."""
        return ScalarMatrix([list(column) for column in zip(*self.rows, strict=True)])


def _sum_terms(terms: Any) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total


def _format_shape(x: Any) -> str:
    return f"a {x.size[0]} × {x.size[1]} matrix" if isinstance(x, ScalarMatrix) else "a number"


def dot(left: Any, right: Any) -> Any:
    """Return left . right. Raises ExpressionError unless both are matrices of matching sizes."""
    if not isinstance(left, ScalarMatrix):
        raise ExpressionError(
            f"{_format_shape(left)} . {_format_shape(right)} is not defined.".capitalize(),
            remedy="The point multiplies two matrices: A[1] . A[2].",
        )
    return left.dot(right)


def _reject_matrix_argument(*_: Any) -> Any:
    raise ExpressionError(
        "Sines and other functions take numbers, not matrices.", remedy="Name one entry, as in M[1,1]."
    )


scalar.register_functions(ScalarMatrix, _reject_matrix_argument)
