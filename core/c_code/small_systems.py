"""Symbolic solution of small linear systems, written out: factorised mass matrix, constraint rows.

Everything is straight-line: where a pivot decides, both cases are computed and one is selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from core.codegen.graph_symbols import to_symbol
from core.mechanics.factor import Factors, factorise
from core.mechanics.factor import solve as solve_factored
from core.numerics.spatial.scalar import Scalar, is_zero, minus, times, total
from core.numerics.tolerances import INDEPENDENT_ROW

Rows = Sequence[Sequence[Scalar]]


class OrderedFactors(NamedTuple):
    """Factors of a symmetric matrix with a given elimination order."""

    order: Sequence[int]
    factors: Factors


class FactoredRows(NamedTuple):
    """Factorised constraint rows G (m, n): Z = M⁻¹ Gᵀ (row by row), S = G M⁻¹ Gᵀ = L D Lᵀ.

    order : (m,) in which rows are eliminated, so that few entries arise; L, reciprocals in that order
    reciprocals : 1/D, zero for rows that those before them make redundant, or none where no row may be that
    least : the least part of an independent row that those before it leave, squared, as a part of its size
    """

    G: Rows
    Z: Rows
    order: Sequence[int]
    L: Rows
    reciprocals: Sequence[Scalar]
    least: Scalar

    def solve_multipliers(self, targets: Sequence[Scalar]) -> list[Scalar]:
        """Return λ with S λ = wanted; zero for redundant rows, whose equations follow from the others."""
        x, m = [targets[k] for k in self.order], len(self.G)
        for i in range(m):
            for k in range(i):
                x[i] = minus(x[i], times(self.L[i][k], x[k]))
        x = [times(r, entry) for r, entry in zip(self.reciprocals, x, strict=True)]
        for i in range(m - 1, -1, -1):
            for k in range(i + 1, m):
                x[i] = minus(x[i], times(self.L[k][i], x[k]))
        found: list[Scalar] = [0.0] * m
        for place, k in enumerate(self.order):
            found[k] = x[place]
        return found

    def change(self, targets: Sequence[Scalar], n: int) -> list[Scalar]:
        """Return the smallest change of n speeds, in the metric of M, with G · change = wanted."""
        factors = self.solve_multipliers(targets)
        return [total(times(z[j], x) for z, x in zip(self.Z, factors, strict=True)) for j in range(n)]


def build_symmetric(entries: Sequence[Scalar], indices: Sequence[tuple[int, int]], n: int) -> list[list[Scalar]]:
    """Build the lower triangle (n, n) with entries at places (row, column), zero elsewhere."""
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for (i, j), entry in zip(indices, entries, strict=True):
        M[i][j] = entry
    return M


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return a · b."""
    return total(times(x, y) for x, y in zip(a, b, strict=True))


def factorise_mass(M: Rows) -> OrderedFactors:
    """Factorise a mass matrix, given by its lower triangle: eliminating from the leaves of the tree inward creates no
    fill-in between separate branches (Featherstone, RBDA 6.5)."""
    n = len(M)
    order = choose_elimination_order([[not is_zero(M[i][j]) for j in range(i + 1)] for i in range(n)])
    return OrderedFactors(order, factorise(permute(M, order)))


def permute(M: Rows, order: Sequence[int]) -> list[list[Scalar]]:
    """Reorder rows and columns of a symmetric matrix, given by its lower triangle."""
    n = len(M)
    return [[M[max(order[i], order[j])][min(order[i], order[j])] for j in range(i + 1)] for i in range(n)]


def solve_mass(mass: OrderedFactors, b: Sequence[Scalar]) -> list[Scalar]:
    """Solve M x = b for x."""
    x: list[Scalar] = [0.0] * len(b)
    for k, entry in zip(mass.order, solve_factored(mass.factors, [b[k] for k in mass.order]), strict=True):
        x[k] = entry
    return x


def choose_elimination_order(pattern: Sequence[Sequence[bool]]) -> list[int]:
    """Return an elimination order of a symmetric matrix, given by the pattern of its lower triangle: always the first
    row with the fewest remaining neighbours (minimum degree); a full matrix keeps its order."""
    m = len(pattern)
    near = [{j for j in range(m) if j != i and pattern[max(i, j)][min(i, j)]} for i in range(m)]
    left, order = set(range(m)), []
    while left:
        k = min(left, key=lambda row: (len(near[row]), row))
        left.remove(k)
        order.append(k)
        for i in near[k]:
            near[i] |= near[k] - {i}
            near[i].discard(k)
    return order


def factorise_rows(G: Rows, mass: OrderedFactors, assume_independent: bool = False) -> FactoredRows:
    """Factorise constraint rows. A row is independent if the square of its remainder after elimination of the earlier
    rows exceeds INDEPENDENT_ROW times that of the largest row (as in `core.simulation.equations.constrained`).

    assume_independent : whether rows are said to be independent (Cholesky's method, as
    `core.simulation.equations.row_products`): where one is not, the result is no number
    """
    Z = [solve_mass(mass, row) for row in G]
    m = len(G)
    products = [[dot(G[i], Z[j]) for j in range(i + 1)] for i in range(m)]
    order = choose_elimination_order([[not is_zero(entry) for entry in row] for row in products])
    S = permute(products, order)
    largest: Any = ca.SX(0.0)
    for i in range(m):
        largest = ca.fmax(largest, to_symbol(S[i][i]))
    L: list[list[Scalar]] = [[0.0] * m for _ in range(m)]
    pivots: list[Scalar] = []
    reciprocals: list[Scalar] = []
    least: Any = ca.SX(1.0)
    for j in range(m):
        scaled = [times(L[j][k], pivots[k]) for k in range(j)]
        left = S[j][j]
        for k in range(j):
            left = minus(left, times(L[j][k], scaled[k]))
        if assume_independent:
            independent = to_symbol(left) > INDEPENDENT_ROW * largest
            pivots.append(left)
            reciprocals.append(ca.if_else(independent, 1.0 / to_symbol(left), ca.SX(np.nan)))
            least = ca.fmin(least, to_symbol(left) / to_symbol(S[j][j]))
            _eliminate_column(S, L, j, scaled, reciprocals[j])
            continue
        if is_zero(left):
            pivots.append(0.0)
            reciprocals.append(0.0)
            continue
        independent = to_symbol(left) > INDEPENDENT_ROW * largest
        safe = ca.if_else(independent, left, 1.0)
        pivots.append(independent * safe)  # times 0 or 1: of a selected factor CasADi selects every product anew
        reciprocals.append(independent / safe)
        least = ca.fmin(least, ca.if_else(independent, left / to_symbol(S[j][j]), 1.0))
        _eliminate_column(S, L, j, scaled, reciprocals[j])
    return FactoredRows(G, Z, order, L, reciprocals, least)


def _eliminate_column(S: Rows, L: list[list[Scalar]], j: int, scaled: Sequence[Scalar], reciprocal: Scalar) -> None:
    """Compute column j of L below its diagonal; scaled : row j of L left of the diagonal, multiplied by D."""
    for i in range(j + 1, len(S)):
        entry = S[i][j]
        for k in range(j):
            entry = minus(entry, times(L[i][k], scaled[k]))
        L[i][j] = times(entry, reciprocal)
