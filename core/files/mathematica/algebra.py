"""Matrices as scalars of typed expressions, with sums, products with numbers, and Mathematica's matrix product A .
B."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from core.errors import ExpressionError
from core.numerics.spatial import scalar

Rows = list[list[Any]]


class Grid:
    """Matrix of scalars, (rows, columns). Operations raise ExpressionError if sizes do not match."""

    __slots__ = ("rows",)

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @property
    def size(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.rows), len(self.rows[0])

    def _combined_with(self, other: Any, act: Callable[[Any, Any], Any], sign: str) -> Grid:
        if not isinstance(other, Grid) or other.size != self.size:
            raise ExpressionError(
                f"{_size_text(self)} {sign} {_size_text(other)} is not defined.".capitalize(),
                remedy="Both need the same number of rows and columns.",
            )
        return Grid([list(map(act, mine, yours)) for mine, yours in zip(self.rows, other.rows, strict=True)])

    def _entrywise(self, other: Any, act: Callable[[Any, Any], Any]) -> Grid:
        if isinstance(other, Grid):
            raise ExpressionError(
                "A blank, '*' or '/' does not multiply or divide matrices.",
                remedy="The matrix product is a point: A[1] . A[2].",
            )
        return Grid([[act(x, other) for x in row] for row in self.rows])

    def __add__(self, other: Any) -> Grid:
        return self._combined_with(other, operator.add, "+")

    def __radd__(self, other: Any) -> Grid:
        return self._combined_with(other, operator.add, "+")

    def __sub__(self, other: Any) -> Grid:
        return self._combined_with(other, operator.sub, "-")

    def __rsub__(self, other: Any) -> Grid:
        return self._combined_with(other, operator.sub, "-")

    def __neg__(self) -> Grid:
        return self._entrywise(-1.0, operator.mul)

    def __mul__(self, other: Any) -> Grid:
        return self._entrywise(other, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Grid:
        return self._entrywise(other, operator.truediv)

    def __rtruediv__(self, other: Any) -> Grid:
        raise ExpressionError("Division by a matrix is not supported.", remedy="Divide by one entry, as in 1/M[1,1].")

    def __pow__(self, other: Any) -> Grid:
        raise ExpressionError("Powers of a matrix are not supported.", remedy="Write the product: A[1] . A[1].")

    __rpow__ = __pow__

    def dot(self, other: Any) -> Grid:
        """Return the matrix product."""
        if not isinstance(other, Grid) or self.size[1] != other.size[0]:
            raise ExpressionError(
                f"{_size_text(self)} . {_size_text(other)} is not defined.".capitalize(),
                remedy="The left one needs as many columns as the right one has rows.",
            )
        columns = list(zip(*other.rows, strict=True))
        return Grid([[_sum(map(operator.mul, row, column)) for column in columns] for row in self.rows])

    def transposed(self) -> Grid:
        """Return the transpose."""
        return Grid([list(column) for column in zip(*self.rows, strict=True)])


def _sum(terms: Any) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total


def _size_text(x: Any) -> str:
    return f"a {x.size[0]} × {x.size[1]} matrix" if isinstance(x, Grid) else "a number"


def dot(left: Any, right: Any) -> Any:
    """Return left . right. Raises ExpressionError unless both are matrices of matching sizes."""
    if not isinstance(left, Grid):
        raise ExpressionError(
            f"{_size_text(left)} . {_size_text(right)} is not defined.".capitalize(),
            remedy="The point multiplies two matrices: A[1] . A[2].",
        )
    return left.dot(right)


def _refuse_function(*_: Any) -> Any:
    raise ExpressionError(
        "Sines and other functions take numbers, not matrices.", remedy="Name one entry, as in M[1,1]."
    )


scalar.register_functions(Grid, _refuse_function)
