"""Cholesky factorisation of S = Y Yᵀ = G M⁻¹ Gᵀ, the Gram matrix of the constraint rows in the metric of the mass
matrix.

The quicker of two ways to hold rows (the other: `core.simulation.equations.sparse_rows`). It takes for granted that no
row depends on others: S must be positive definite, and has the square of the condition of Y. S is summed up unknown by
unknown, over the rows that reach it, and factored as the masses are (`core.simulation.equations.elimination_places`),
in an order in which little fills. With Y w = b wanted, the least change of w is Yᵀ S⁻¹ (b − Y w).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.machine_code.language import loader, native
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.numerics.elimination import Pattern, reduce_fill_in
from core.numerics.tolerances import INDEPENDENT_ROW, NEGLIGIBLE_PIVOT
from core.simulation.equations.elimination_places import (
    allocate_factors,
    factorise,
    load_sparse,
    plan_sparse_elimination,
    solve_lower,
    solve_transposed,
)

if TYPE_CHECKING:
    from core.simulation.equations.elimination_places import Elimination, SparseFactors

HELD_LEVELS = 2
"""Highest level on which a row may act, as in `core.simulation.equations.sparse_rows`."""


class RowProducts(Record):
    """Sparse matrix S and the indices to assemble it. Rows are numbered here in the order in which S is factored."""

    factors: Fixed
    """Address of the factor of S, an `elimination_places.Sparse`."""
    begins: Ints
    """(n + 1,) offsets of each unknown's entries of Y."""
    places: Ints
    """Index of these entries in `Sparse.matrices`."""
    shares: Floats
    """Factors of these entries, for unknowns represented by copies."""
    seats: Ints
    """Row numbers of these entries."""
    targets: Ints
    """Index in the factor of S of the product of two entries of an unknown."""
    rows: Ints
    """(m,) constraint row of each row number."""
    diagonal: Ints
    """(m,) index of each pivot in the factor of S."""
    values: Floats
    """Entries of Y."""
    limits: Floats
    """(m,) thresholds with which pivots are compared."""
    vector: Floats
    """(m,) workspace."""


load_products = loader(RowProducts)


def allocate_products(elimination: Elimination, levels: Any) -> tuple[RowProducts, SparseFactors]:
    """Allocate S and its factor for rows with these levels. Rows that tie copies of unknowns together are left out,
    since this method needs no copies."""
    e = elimination.factors
    reached: list[list[tuple[int, int]]] = [[] for _ in e.depths]
    """(place in `matrices`, row) of each unknown."""
    present: list[int] = []
    for group in range(len(e.blocks) - 1):
        members = e.members[e.blocks[group] : e.blocks[group + 1]].tolist()
        own = range(e.reaches[group], e.reaches[group + 1])
        for local, row in enumerate(members):
            if levels[row] > HELD_LEVELS or e.entries[row] == e.entries[row + 1]:
                continue
            columns = e.unknowns[e.columns[e.entries[row] : e.entries[row + 1]]].tolist()
            reach = {
                k for each in columns for k in e.paths[e.lines[each] : e.lines[each] + e.depths[each] + 1].tolist()
            }
            present.append(row)
            for i in own:
                if e.reached[i] in reach:
                    reached[e.reached[i]].append((int(e.targets[i] + local * e.strides[i]), row))
    order = reduce_fill_in(present, [[row for _, row in each] for each in reached])
    number = {row: k for k, row in enumerate(order)}
    m = len(order)
    seats = [[number[row] for _, row in each] for each in reached]
    pairs = sorted({(max(i, j), min(i, j)) for each in seats for i in each for j in each})
    lower = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    nothing = np.zeros(0, dtype=np.int64)
    products = plan_sparse_elimination(Pattern(lower[0], lower[1]), Pattern(nothing, nothing), (), range(m))
    lines, depths = products.factors.lines, products.factors.depths
    targets = [
        lines[max(i, j)] + depths[min(i, j)] for each in seats for a, i in enumerate(each) for j in each[: a + 1]
    ]
    factors = allocate_factors(products)
    counts = [len(each) for each in reached]
    made = RowProducts(
        factors=factors.place,
        begins=np.cumsum([0, *counts]),
        places=np.array([place for each in reached for place, _ in each], dtype=np.int64),
        shares=np.repeat(1.0 / e.scales, counts),
        seats=np.array([k for each in seats for k in each], dtype=np.int64),
        targets=np.array(targets, dtype=np.int64),
        rows=np.array(order, dtype=np.int64),
        diagonal=lines + depths,
        values=np.zeros(sum(counts)),
        limits=np.zeros(m),
        vector=np.zeros(m),
    )
    return made, factors


@native
def factor_products(products: int, matrices: Any) -> Any:
    """Assemble and factor S from Y; returns false if a row depends on earlier ones, which leave less than
    INDEPENDENT_ROW of its squared norm, relative to the largest row."""
    p = load_products(products)
    S = load_sparse(p.factors).factor
    for i in range(len(S)):
        S[i] = 0.0
    target = 0
    for k in range(len(p.begins) - 1):
        first, last = p.begins[k], p.begins[k + 1]
        for i in range(first, last):
            x = matrices[p.places[i]] * p.shares[i]
            p.values[i] = x
            for j in range(first, i + 1):
                S[p.targets[target]] += x * p.values[j]
                target += 1
    largest = 0.0
    for i in range(len(p.rows)):
        largest = max(largest, S[p.diagonal[i]])
    for i in range(len(p.rows)):
        # `factorise` asks for NEGLIGIBLE_PIVOT of these
        p.limits[i] = largest * (INDEPENDENT_ROW / NEGLIGIBLE_PIVOT)
    return factorise(p.factors, p.limits)


@native
def compute_row_values(products: int, w: Any, out: Any) -> None:
    """Compute Y w into out (m,)."""
    p = load_products(products)
    for i in range(len(p.rows)):
        out[i] = 0.0
    for k in range(len(p.begins) - 1):
        for i in range(p.begins[k], p.begins[k + 1]):
            out[p.seats[i]] += p.values[i] * w[k]


@native
def satisfy_rows_by_cholesky(
    products: int, targets: Any, active_rows: int, w: Any, levels: Any, level: int, is_nonzero: bool
) -> None:
    """Compute the smallest change of w (n,), which is zero unless `is_nonzero`, with Y w = wanted (rows,) in the first
    `active_rows` rows and zero in the others; rows that do not act at the level `level` keep their value. Equivalent to
    `core.simulation.equations.sparse_rows.satisfy_sparse_rows`."""
    p = load_products(products)
    x = p.vector
    if is_nonzero:
        compute_row_values(products, w, x)
    for i in range(len(x)):
        row = p.rows[i]
        now = x[i] if is_nonzero else 0.0
        x[i] = 0.0
        if levels[row] <= level:
            x[i] = (targets[row] if row < active_rows else 0.0) - now
    solve_transposed(p.factors, x)
    solve_lower(p.factors, x)
    for k in range(len(p.begins) - 1):
        for i in range(p.begins[k], p.begins[k + 1]):
            w[k] += p.values[i] * x[p.seats[i]]


@native
def multipliers_by_products(products: int, w: Any, out: Any) -> None:
    """Compute the multipliers λ into out (rows,) such that Yᵀ λ is the component of w (n,) in the row space."""
    p = load_products(products)
    x = p.vector
    compute_row_values(products, w, x)
    solve_transposed(p.factors, x)
    solve_lower(p.factors, x)
    for i in range(len(out)):
        out[i] = 0.0
    for i in range(len(x)):
        out[p.rows[i]] = x[i]
