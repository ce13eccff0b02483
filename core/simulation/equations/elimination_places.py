"""Sparse matrices of the equations: index arrays from the symbolic analysis of `core.numerics.elimination`, and the
factorisation M = Lᵀ L of the mass matrix, which exploits the branches of the tree (Featherstone, RBDA 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.machine_code.language import loader, merged, native
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.numerics.elimination import (
    Front,
    Pattern,
    UnknownCopies,
    add_ancestors,
    build_fronts,
    copy_shared_unknowns,
    elimination_tree,
    reduce_fill_in,
    tree_depths,
)
from core.numerics.tolerances import NEGLIGIBLE_PIVOT

Integers = NDArray[np.int64]
SHORT = 8
"""Number of rows up to which all rows form one front regardless of their groups: separate fronts would cost more than
the zeros in a common one."""


class SparseFactors(Record):
    """Index arrays of a sparse factorisation and its numerical work arrays, shared with machine code. Offset arrays
    have one entry more than there are items. Unknowns are numbered in elimination order."""

    unknowns: Ints
    """Number of the unknown that belongs to each column of G and M."""
    depths: Ints
    """(n,) number of ancestors of each unknown in the elimination tree."""
    lines: Ints
    """(n,) offset of each unknown's row of L in `factor`: its ancestors from the root on, then the unknown itself."""
    paths: Ints
    """Unknowns of these rows of L."""
    masses: Ints
    """Index in `factor` of each entry of M."""
    diagonal: Ints
    """(n,) index among the entries of M of each diagonal entry."""
    products: Ints
    """Index in `factor` of each product of two entries of a row of G, if L has space for M + ρ Gᵀ G."""
    entries: Ints
    """(rows + 1,) offsets of each row's entries of G."""
    columns: Ints
    """Column of each entry of G."""
    blocks: Ints
    """(groups + 1,) offsets of each group's rows in `members`."""
    members: Ints
    """Rows of the groups, group by group."""
    begins: Ints
    """(groups + 1,) offsets of each group's entries of G."""
    seats: Ints
    """Index in `work` of each entry of G; a group has its rows there side by side, unknown by unknown."""
    reaches: Ints
    """(groups + 1,) offsets in `reached` of the unknowns of each group's part of Y."""
    reached: Ints
    """Unknowns of each group's part of Y, in order."""
    targets: Ints
    """Index in `matrices` of the group's first row, for each of these unknowns."""
    strides: Ints
    """Distance in `matrices` from one row of the group to the next, for each of these unknowns."""
    pivots: Ints
    """(fronts,) number of columns eliminated in each front."""
    widths: Ints
    """(fronts,) number of columns of each front."""
    talls: Ints
    """(fronts,) column length: the largest number of unknowns, in a last front plus what is stored below them."""
    triangles: Ints
    """(fronts,) offset of R within a column: at the top, in a last front below the unknowns."""
    matrix_begins: Ints
    """(fronts,) offset of each front in `matrices`, stored column by column."""
    vector_begins: Ints
    """(fronts,) offset of each front in `vectors`."""
    column_begins: Ints
    """(fronts,) offset of each front in `rows` and `lifts`."""
    rows: Ints
    """Constraint row of each column of each front."""
    lifts: Ints
    """Column of the next front to which each column is passed on; −1 for pivots."""
    own_begins: Ints
    """(fronts + 1,) offset of each front in `own`."""
    own: Ints
    """Unknowns that enter with each front."""
    nexts: Ints
    """(fronts,) the next front; −1: none."""
    glue: Ints
    """Indices of the two entries of each row that ties two copies of an unknown together."""
    order: Ints
    """`rows` in the order in which pivots were chosen."""
    heights: Ints
    """(fronts,) number of unknowns in use."""
    ranks: Ints
    """(fronts,) number of independent pivots found."""
    bases: Ints
    """(fronts,) offset of the front's remainder in the next front."""
    supported: Fixed
    """1 if L has space for M + ρ Gᵀ G."""
    scales: Floats
    """(n,) factor of each unknown in Y: the square root of its number of copies."""
    shares: Floats
    """Reciprocals of these factors, for each entry of `own`."""
    factor: Floats
    """Entries of L, with reciprocals on the diagonal."""
    matrices: Floats
    """R with reciprocals on its diagonal; Householder vectors below the diagonal of each front."""
    reflections: Floats
    """Factor of the Householder reflection of each column of each front; 1/|column|² in a last front."""
    remainders: Floats
    """Squared norm of what remains of each column of each front."""
    vectors: Floats
    """One entry for each unknown of each front."""
    work: Floats
    """(n × size of the largest group,) workspace."""


load_sparse = loader(SparseFactors)


OWN = ("order", "heights", "ranks", "bases", "factor", "matrices", "reflections", "remainders", "vectors", "work")
"""Work arrays that each run has for itself; the other arrays are shared by all runs."""


class Elimination(NamedTuple):
    """Memory layout of a sparse elimination, shared by all runs of a machine."""

    factors: SparseFactors
    rows: int
    """Number of active constraint rows, including those that tie copies of unknowns together."""


def plan_sparse_elimination(
    masses: Pattern, rows: Pattern, groups: Sequence[object], order: Sequence[int], supported: int = 0
) -> Elimination:
    """Plan the elimination of unknowns in the given order. masses, rows: patterns of M and of the constraint rows;
    groups: group of each row; supported: number of rows for which M + ρ Gᵀ G may replace M."""
    entries = np.searchsorted(rows.rows, np.arange(len(groups) + 1)).astype(np.int64)
    if supported:
        held = [rows.columns[a:b].tolist() for a, b in pairwise(entries[: supported + 1])]
        order = reduce_fill_in(order, [*held, *zip(*masses, strict=True)])
    unknowns = np.empty(len(order), dtype=np.int64)
    unknowns[np.array(order, dtype=np.int64)] = np.arange(len(order))
    lines = [unknowns[rows.columns[a:b]].tolist() for a, b in pairwise(entries)]
    first, second = unknowns[masses.rows], unknowns[masses.columns]
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    products = [(i, k) for line in lines[:supported] for at, i in enumerate(line) for k in line[: at + 1]]
    parents = elimination_tree(len(order), [*pairs, *products])
    depths = np.array(tree_depths(parents), dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(depths + 1)]).astype(np.int64)
    on_diagonal = np.flatnonzero(first == second)
    fixed = {
        "unknowns": unknowns,
        "depths": depths,
        "lines": begins[:-1],
        "paths": [k for unknown in range(len(order)) for k in add_ancestors(parents, [unknown])],
        "masses": begins[np.maximum(first, second)] + depths[np.minimum(first, second)],
        "diagonal": on_diagonal[np.argsort(first[on_diagonal])],
        "products": [begins[max(pair)] + depths[min(pair)] for pair in products],
        "entries": entries,
        "columns": rows.columns,
    }
    return _complete_layout(fixed, lines, groups, parents, supported > 0)


def _complete_layout(
    index_arrays: dict[str, Any],
    lines: Sequence[Sequence[int]],
    groups: Sequence[object],
    parents: Sequence[int],
    supported: bool,
) -> Elimination:
    """Complete the layout with the groups of rows and their fronts."""
    if len(groups) <= SHORT:
        groups = [0] * len(groups)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    members: list[list[int]] = [[] for _ in numbers]
    begins = [0] * (len(numbers) + 1)
    seats: list[int] = []
    for row, group in enumerate(groups):
        if lines[row]:
            members[numbers[group]].append(row)
        begins[numbers[group] + 1] = int(index_arrays["entries"][row + 1])
    for each in members:
        seats += [k * len(each) + local for local, row in enumerate(each) for k in lines[row]]
    reached = [add_ancestors(parents, [k for row in each for k in lines[row]]) for each in members]
    copies = copy_shared_unknowns(reached, len(parents))
    rows = len(groups)
    for pairs in copies.glued:
        members.append(list(range(rows, rows + len(pairs))))
        rows += len(pairs)
    ordered = build_fronts(
        [*copies.reached, *([k for pair in pairs for k in pair] for pairs in copies.glued)], [*map(len, members)]
    )
    arrays, room = _build_front_arrays(ordered, members, reached, copies)
    groups_arrays = {
        "blocks": np.cumsum([0, *map(len, members[: len(numbers)])]),
        "members": [row for each in members[: len(numbers)] for row in each],
        "begins": begins,
        "seats": seats,
        "reaches": np.cumsum([0, *map(len, reached)]),
        "reached": [k for each in reached for k in each],
    }
    places = {
        name: np.array(value, dtype=np.int64).reshape(-1)
        for name, value in {**index_arrays, **groups_arrays, **arrays}.items()
    }
    return Elimination(_allocate_work_arrays(places, room, np.sqrt(copies.counts), supported), rows)


def _allocate_work_arrays(
    index_arrays: dict[str, Integers], matrices_size: int, scales: NDArray[np.float64], supported: bool
) -> SparseFactors:
    """Allocate the numerical arrays. room: size of `matrices`; scales: (n,) square roots of the numbers of copies."""
    count, tallest = len(index_arrays["pivots"]), int(np.max(np.diff(index_arrays["blocks"]), initial=1))
    return SparseFactors(
        **index_arrays,
        order=index_arrays["rows"].copy(),
        heights=np.zeros(count, dtype=np.int64),
        ranks=np.zeros(count, dtype=np.int64),
        bases=np.zeros(count, dtype=np.int64),
        supported=supported,
        scales=scales,
        shares=1.0 / scales[index_arrays["own"]],
        factor=np.zeros(int(np.sum(index_arrays["depths"] + 1))),
        matrices=np.zeros(matrices_size),
        reflections=np.zeros(len(index_arrays["rows"])),
        remainders=np.zeros(len(index_arrays["rows"])),
        vectors=np.zeros(int(np.sum(index_arrays["talls"]))),
        work=np.zeros(len(index_arrays["depths"]) * tallest),
    )


def _build_front_arrays(
    ordered: Sequence[Front], members: Sequence[Sequence[int]], reached: Sequence[Sequence[int]], copies: UnknownCopies
) -> tuple[dict[str, Any], int]:
    """Return the index arrays of the fronts and the total size of their matrices."""
    at = {front.group: f for f, front in enumerate(ordered)}
    columns = [[row for group in (front.group, *front.others) for row in members[group]] for front in ordered]
    pivots = [len(members[front.group]) for front in ordered]
    talls = [len(front.unknowns) for front in ordered]
    nexts = [at[front.others[0]] if front.others else -1 for front in ordered]
    places = [{row: k for k, row in enumerate(each)} for each in columns]
    lifts: list[int] = []
    for f, following in enumerate(nexts):
        if following >= 0:
            talls[following] += min(talls[f], len(columns[f]) - pivots[f])
        lifts += [-1] * pivots[f] + [places[following][row] for row in columns[f][pivots[f] :]]
    triangles = [tall if following < 0 else 0 for tall, following in zip(talls, nexts, strict=True)]
    talls = [tall + count if below else tall for tall, count, below in zip(talls, pivots, triangles, strict=True)]
    matrices = np.cumsum([0, *(tall * len(each) for tall, each in zip(talls, columns, strict=True))])
    owner = {k: (f, local) for f, front in enumerate(ordered) for local, k in enumerate(front.unknowns)}

    def find_index(row: int, unknown: int) -> int:
        f, local = owner[unknown]
        return int(matrices[f]) + places[f][row] * talls[f] + local

    ends = zip(members[len(reached) :], copies.glued, strict=True)
    arrays = {
        "targets": [find_index(rows[0], k) for rows, each in zip(members, copies.reached, strict=False) for k in each],
        "strides": [talls[owner[k][0]] for each in copies.reached for k in each],
        "glue": [
            find_index(row, k) for rows, pairs in ends for row, pair in zip(rows, pairs, strict=True) for k in pair
        ],
        "pivots": pivots,
        "widths": [len(each) for each in columns],
        "talls": talls,
        "triangles": triangles,
        "matrix_begins": matrices[:-1],
        "vector_begins": np.cumsum([0, *talls])[:-1],
        "column_begins": np.cumsum([0, *map(len, columns)])[:-1],
        "rows": [row for each in columns for row in each],
        "lifts": lifts,
        "own_begins": np.cumsum([0, *(len(front.unknowns) for front in ordered)]),
        "own": [copies.of[k] for front in ordered for k in front.unknowns],
        "nexts": nexts,
    }
    return arrays, int(matrices[-1])


_EMPTY = np.zeros(0, dtype=np.int64)
NOTHING = plan_sparse_elimination(Pattern(_EMPTY, _EMPTY), Pattern(_EMPTY, _EMPTY), (), ())
"""Placeholder for a machine whose mass matrix is not needed."""


def allocate_factors(elimination: Elimination) -> SparseFactors:
    """Copy an elimination's layout with work arrays of its own."""
    return elimination.factors.copy_with_own_arrays(*OWN)


@native
def gather_mass_entries(factors: int, entries: Any) -> None:
    """Copy the entries of M to their positions in the factor L."""
    e = load_sparse(factors)
    for i in range(len(e.factor)):
        e.factor[i] = 0.0
    for i in range(len(e.masses)):
        e.factor[e.masses[i]] += entries[i]


@native
def add_constraint_products(factors: int, weight: float, G: Any, rows: int) -> None:
    """Add ρ Gᵀ G, formed from the given number of rows, to the matrix that is to be factored."""
    e, at_product = load_sparse(factors), 0
    for row in range(rows):
        first = e.entries[row]
        for i in range(first, e.entries[row + 1]):
            x = weight * G[i]
            for k in range(first, i + 1):
                e.factor[e.products[at_product]] += x * G[k]
                at_product += 1


@native
def factorise(factors: int, diagonal: Any) -> Any:
    """Factor the gathered matrix in place into L, with reciprocals on its diagonal; returns false if it is not positive
    definite. diagonal (n,): diagonal of the matrix."""
    e = load_sparse(factors)
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
def scatter_speeds(factors: int, x: Any, w: Any) -> None:
    """Distribute the speeds x (nv,) to the unknowns w (n,); other unknowns are set to zero."""
    e = load_sparse(factors)
    for i in range(len(x), len(e.unknowns)):
        w[e.unknowns[i]] = 0.0
    for i in range(len(x)):
        w[e.unknowns[i]] = x[i]


@merged
def gather_speeds(factors: int, w: Any, x: Any) -> None:
    """Read the speeds x (nv,) from the unknowns w (n,)."""
    e = load_sparse(factors)
    for i in range(len(x)):
        x[i] = w[e.unknowns[i]]


@native
def solve_transposed(factors: int, x: Any) -> None:
    """Solve x ← L⁻ᵀ x."""
    e = load_sparse(factors)
    for k in range(len(e.depths) - 1, -1, -1):
        line, depth = e.lines[k], e.depths[k]
        y = x[k] * e.factor[line + depth]
        x[k] = y
        for i in range(line, line + depth):
            x[e.paths[i]] -= e.factor[i] * y


@native
def solve_lower(factors: int, x: Any) -> None:
    """Solve x ← L⁻¹ x."""
    e = load_sparse(factors)
    for k in range(len(e.depths)):
        line, depth, total = e.lines[k], e.depths[k], x[k]
        for i in range(line, line + depth):
            total -= e.factor[i] * x[e.paths[i]]
        x[k] = total * e.factor[line + depth]
