"""Mass matrix and constraint rows of one state, factorised in machine code.

With M = L Lᵀ the rows of Q are an orthonormal basis of the columns of L⁻¹ Gᵀ, chosen by the largest remainder (Gram and
Schmidt, twice). No memory is owned here: all arrays are the caller's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import merged, native, scratch
from core.numerics.tolerances import NEGLIGIBLE_PIVOT, REGULAR_FRACTION

DEPENDENT_FRACTION = 1e-11
"""Remainder of a constraint row, relative to the largest, below which it is dependent. It is independent above
`REGULAR_FRACTION`; between them the state is refused."""


@native
def factorise_mass(M: Any, L: Any, n: int) -> Any:
    """Compute L (n n,) with M = L Lᵀ; returns false if M is singular or not finite."""
    for j in range(n):
        square = M[j * n + j]
        for i in range(j):
            square -= L[j * n + i] ** 2
        if not square > NEGLIGIBLE_PIVOT * M[j * n + j]:
            return False
        pivot = np.sqrt(square)
        L[j * n + j] = pivot
        for k in range(j + 1, n):
            total = M[k * n + j]
            for i in range(j):
                total -= L[k * n + i] * L[j * n + i]
            L[k * n + j] = total / pivot
    return True


@native
def solve_lower(L: Any, x: Any, n: int) -> None:
    """Solve x ← L⁻¹ x."""
    for j in range(n):
        total = x[j]
        for i in range(j):
            total -= L[j * n + i] * x[i]
        x[j] = total / L[j * n + j]


@merged
def inner(a: Any, b: Any, n: int) -> float:
    """Return aᵀ b."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@native
def remove_held(Q: Any, rank: int, x: Any, n: int) -> None:
    """Remove from x (n,) its components along the first `rank` rows of Q, twice for rounding."""
    for _ in range(2 if rank > 0 else 0):
        for k in range(rank):
            row = Q[k * n : k * n + n]
            part = inner(row, x, n)
            for i in range(n):
                x[i] -= part * row[i]


@native
def spread_held(L: Any, G: Any, Y: Any, rest: Any, m: int, n: int) -> float:
    """Compute the columns of L⁻¹ Gᵀ (m of n) into Y and `rest`; returns the largest of their squared lengths."""
    largest = 0.0
    for k in range(m):
        row = Y[k * n : k * n + n]
        for i in range(n):
            row[i] = G[k * n + i]
        solve_lower(L, row, n)
        for i in range(n):
            rest[k * n + i] = row[i]
        largest = max(largest, inner(row, row, n))
    return largest


@native
def remove_from_rest(target: Any, rest: Any, taken: Any, m: int, n: int) -> None:
    """Remove from the columns (m of n) in `rest` that are not taken yet their components along target (n,)."""
    for k in range(m):
        if taken[k] == 0.0:
            along = inner(target, rest[k * n : k * n + n], n)
            for i in range(n):
                rest[k * n + i] -= along * target[i]


@native
def find_largest_rest(rest: Any, taken: Any, m: int, n: int) -> Any:
    """Return (index, squared length) of the longest column in `rest` that is not taken yet."""
    best, most = 0, -1.0
    for k in range(m):
        size = inner(rest[k * n : k * n + n], rest[k * n : k * n + n], n) if taken[k] == 0.0 else -1.0
        if not size <= most:
            best, most = k, size
    return best, most


@native
def factorise_held(L: Any, G: Any, drift: Any, Q: Any, y: Any, m: int, n: int) -> int:
    """Compute the orthonormal rows of Q that span L⁻¹ Gᵀ, and y (n,) with (L⁻¹ Gᵀ)ᵀ y = −drift; returns their number,
    −1 if it is in doubt."""
    Y, rest, taken, rank = scratch(m * n), scratch(m * n), scratch(m), 0
    for i in range(n):
        y[i] = 0.0
    for k in range(m):
        taken[k] = 0.0
    largest = spread_held(L, G, Y, rest, m, n)
    while rank < min(m, n):
        best, most = find_largest_rest(rest, taken, m, n)
        if not most > REGULAR_FRACTION**2 * largest:
            return rank if most <= DEPENDENT_FRACTION**2 * largest else -1
        target, source = Q[rank * n : rank * n + n], Y[best * n : best * n + n]
        for i in range(n):
            target[i] = source[i]
        remove_held(Q, rank, target, n)
        length = np.sqrt(inner(target, target, n))
        part = (-drift[best] - inner(source, y, n)) / length
        for i in range(n):
            target[i] /= length
            y[i] += part * target[i]
        remove_from_rest(target, rest, taken, m, n)
        taken[best], rank = 1.0, rank + 1
    return rank
