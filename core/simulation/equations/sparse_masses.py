"""The mass matrix as M = Lᵀ L, with what the branches of the tree leave empty left out (Featherstone, RBDA 6.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.numerics.tolerances import NEGLIGIBLE_PIVOT
from core.simulation.equations.elimination_places import load_sparse
from core.simulation.machine_code.language import native


@native
def gather(at: int, entries: Any) -> None:
    """Entries of M to where L will be."""
    e = load_sparse(at)
    for i in range(len(e.factor)):
        e.factor[i] = 0.0
    for i in range(len(e.masses)):
        e.factor[e.masses[i]] += entries[i]


@native
def support(at: int, weight: float, G: Any) -> None:
    """ρ Gᵀ G is added to what was gathered."""
    e = load_sparse(at)
    for row in range(len(e.entries) - 1):
        for i in range(e.entries[row], e.entries[row + 1]):
            line = e.lines[e.columns[i]]
            for k in range(e.entries[row], e.entries[row + 1]):
                if e.columns[k] <= e.columns[i]:
                    e.factor[line + e.depths[e.columns[k]]] += weight * G[i] * G[k]


@native
def factorise(at: int, diagonal: Any) -> Any:
    """L in the place of what was gathered, with reciprocals of its diagonal (divisions take longest); false if that is
    not positive definite. diagonal (n,): of the matrix."""
    e = load_sparse(at)
    L = e.factor
    for k in range(len(e.depths) - 1, -1, -1):
        line, depth = e.lines[k], e.depths[k]
        d = L[line + depth]
        if not d > NEGLIGIBLE_PIVOT * diagonal[k]:
            return False
        d = 1.0 / np.sqrt(d)
        L[line + depth] = d
        for i in range(depth):
            L[line + i] *= d
        for i in range(depth):
            x, other = L[line + i], e.lines[e.paths[line + i]]
            for j in range(i + 1):
                L[other + j] -= x * L[line + j]
    return True


@native
def solve_transposed(at: int, x: Any) -> None:
    """x ← L⁻ᵀ x."""
    e = load_sparse(at)
    for k in range(len(e.depths) - 1, -1, -1):
        line, depth = e.lines[k], e.depths[k]
        y = x[k] * e.factor[line + depth]
        x[k] = y
        for i in range(line, line + depth):
            x[e.paths[i]] -= e.factor[i] * y


@native
def solve(at: int, x: Any) -> None:
    """x ← L⁻¹ x."""
    e = load_sparse(at)
    for k in range(len(e.depths)):
        line, depth, total = e.lines[k], e.depths[k], x[k]
        for i in range(line, line + depth):
            total -= e.factor[i] * x[e.paths[i]]
        x[k] = total * e.factor[line + depth]


@native
def multiply(at: int, x: Any) -> None:
    """x ← L x."""
    e = load_sparse(at)
    for k in range(len(e.depths) - 1, -1, -1):
        line, depth = e.lines[k], e.depths[k]
        total = x[k] / e.factor[line + depth]
        for i in range(line, line + depth):
            total += e.factor[i] * x[e.paths[i]]
        x[k] = total
