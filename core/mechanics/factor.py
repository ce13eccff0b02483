"""Factorisation M = L D Lᵀ over scalars, for the small matrices inside recursions (Golub and Van Loan, 4.1.2).

d_j = M_jj − Σ_{k<j} L_jk² d_k and L_ij = (M_ij − Σ_{k<j} L_ik L_jk d_k)/d_j, column by column: no square roots, and
the quotients 1/d_j are taken once. Then L z = b forward, z ← z/d, Lᵀ x = z backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.numerics.spatial.scalar import Scalar, minus, over, times

Rows = Sequence[Sequence[Scalar]]


class Factors(NamedTuple):
    """Unit lower triangle L (only the strict part is used) and reciprocals of D."""

    L: tuple[tuple[Scalar, ...], ...]
    reciprocals: tuple[Scalar, ...]


def factorise(M: Rows) -> Factors:
    """Factorise a symmetric positive definite matrix given by its lower triangle into L and 1/D.

    Raises ZeroDivisionError when a pivot is a literal zero.
    """
    n = len(M)
    L: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    pivots: list[Scalar] = []
    reciprocals: list[Scalar] = []
    for j in range(n):
        scaled = [times(L[j][k], pivots[k]) for k in range(j)]  # L_jk d_k
        pivot = M[j][j]
        for k in range(j):
            pivot = minus(pivot, times(L[j][k], scaled[k]))
        pivots.append(pivot)
        reciprocals.append(over(1.0, pivot))
        for i in range(j + 1, n):
            entry = M[i][j]
            for k in range(j):
                entry = minus(entry, times(L[i][k], scaled[k]))
            L[i][j] = times(entry, reciprocals[j])
    return Factors(tuple(map(tuple, L)), tuple(reciprocals))


def solve(factors: Factors, b: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Solve L D Lᵀ x = b."""
    L, reciprocals = factors
    n = len(b)
    x = list(b)
    for i in range(n):
        for k in range(i):
            x[i] = minus(x[i], times(L[i][k], x[k]))
    x = [times(r, entry) for r, entry in zip(reciprocals, x, strict=True)]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] = minus(x[i], times(L[k][i], x[k]))
    return tuple(x)
