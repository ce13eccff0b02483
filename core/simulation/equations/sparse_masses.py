"""Sparse factorisation of the mass matrix as M = Lᵀ L, exploiting the branches of the tree (Featherstone, RBDA 6.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.numerics.tolerances import NEGLIGIBLE_PIVOT
from core.simulation.equations.elimination_places import load_sparse
from core.simulation.machine_code.language import merged, native


@native
def gather(at: int, entries: Any) -> None:
    """Copy the entries of M to their positions in L."""
    e = load_sparse(at)
    for i in range(len(e.factor)):
        e.factor[i] = 0.0
    for i in range(len(e.masses)):
        e.factor[e.masses[i]] += entries[i]


@native
def support(at: int, weight: float, G: Any, rows: int) -> None:
    """Add ρ Gᵀ G of the given number of rows to the gathered matrix."""
    e, at_product = load_sparse(at), 0
    for row in range(rows):
        first = e.entries[row]
        for i in range(first, e.entries[row + 1]):
            x = weight * G[i]
            for k in range(first, i + 1):
                e.factor[e.products[at_product]] += x * G[k]
                at_product += 1


@native
def factorise(at: int, diagonal: Any) -> Any:
    """Factor the gathered matrix in place into L, with reciprocals on its diagonal; returns false if it is not positive
    definite. diagonal (n,): diagonal of the matrix."""
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


@merged
def spread(at: int, x: Any, w: Any) -> None:
    """Scatter the speeds x (nv,) to the unknowns w (n,); other unknowns are set to zero."""
    e = load_sparse(at)
    for i in range(len(x), len(e.unknowns)):
        w[e.unknowns[i]] = 0.0
    for i in range(len(x)):
        w[e.unknowns[i]] = x[i]


@merged
def collect(at: int, w: Any, x: Any) -> None:
    """Gather the speeds x (nv,) from the unknowns w (n,)."""
    e = load_sparse(at)
    for i in range(len(x)):
        x[i] = w[e.unknowns[i]]


@native
def solve_transposed(at: int, x: Any) -> None:
    """Solve x ← L⁻ᵀ x."""
    e = load_sparse(at)
    for k in range(len(e.depths) - 1, -1, -1):
        line, depth = e.lines[k], e.depths[k]
        y = x[k] * e.factor[line + depth]
        x[k] = y
        for i in range(line, line + depth):
            x[e.paths[i]] -= e.factor[i] * y


@native
def solve(at: int, x: Any) -> None:
    """Solve x ← L⁻¹ x."""
    e = load_sparse(at)
    for k in range(len(e.depths)):
        line, depth, total = e.lines[k], e.depths[k], x[k]
        for i in range(line, line + depth):
            total -= e.factor[i] * x[e.paths[i]]
        x[k] = total * e.factor[line + depth]
