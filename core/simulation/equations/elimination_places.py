"""Where the numbers of sparse equations stand in memory: the analysis of `core.numerics.elimination` as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.numerics.elimination import (
    Copies,
    Front,
    Pattern,
    copied,
    depths_of,
    elimination_tree,
    fronts,
    less_filled,
    with_ancestors,
)
from core.simulation.machine_code.language import loader
from core.simulation.machine_code.records import Fixed, Floats, Ints, Record

Integers = NDArray[np.int64]
SHORT = 8
"""Rows up to which all are one front, whatever they belong to: fronts of their own cost more than zeros in one."""


class Sparse(Record):
    """Places that do not change, and room for the numbers that stand there, as the loops see them. Begins have one
    entry more than there are things. Unknowns are numbered as they stand in the order."""

    unknowns: Ints
    """The unknown of each column of G and M."""
    depths: Ints
    """(n,) number of the ancestors of each unknown in the elimination tree."""
    lines: Ints
    """(n,) where its row of L begins in `factor`: its ancestors from the root on, then itself."""
    paths: Ints
    """The unknowns of these rows."""
    masses: Ints
    """Where each entry of M goes there."""
    diagonal: Ints
    """(n,) which entry of M is on the diagonal."""
    products: Ints
    """Where each product of two entries of a row of G goes there, if L has room for M + ρ Gᵀ G."""
    entries: Ints
    """(rows + 1,) begins of each row's entries of G."""
    columns: Ints
    """Column of each entry of G."""
    blocks: Ints
    """(groups + 1,) begins of each group's rows in `members`."""
    members: Ints
    """Rows of the groups."""
    begins: Ints
    """(groups + 1,) begins of each group's entries of G."""
    seats: Ints
    """Where each entry of G goes in `work`: there a group has its rows side by side, unknown by unknown."""
    reaches: Ints
    """(groups + 1,) begins of what each group has of Y."""
    reached: Ints
    """Its unknowns, in order."""
    targets: Ints
    """Where their entries of its first row go in `matrices`."""
    strides: Ints
    """From there to the next row."""
    pivots: Ints
    """(fronts,) number of columns that are eliminated in each."""
    widths: Ints
    """(fronts,) number of columns."""
    talls: Ints
    """(fronts,) length of a column: the largest number of unknowns, in a last front also what stands below them."""
    triangles: Ints
    """(fronts,) where R begins in a column: at its top, in a last front below the unknowns."""
    matrix_begins: Ints
    """(fronts,) where each front begins in `matrices`, column by column."""
    vector_begins: Ints
    """(fronts,) in `vectors`."""
    column_begins: Ints
    """(fronts,) in `rows` and `lifts`."""
    rows: Ints
    """Row of each column of each front."""
    lifts: Ints
    """Which column of the next front it goes to; −1 of pivots."""
    own_begins: Ints
    """(fronts + 1,) in `own`."""
    own: Ints
    """Unknowns that come in with each front."""
    nexts: Ints
    """(fronts,) the front to which it goes on, −1: none."""
    glue: Ints
    """Where the two entries of each row stand that holds two copies of an unknown together."""
    order: Ints
    """`rows` as pivots were chosen."""
    heights: Ints
    """(fronts,) number of unknowns in use."""
    ranks: Ints
    """(fronts,) number of pivots that were found independent."""
    bases: Ints
    """(fronts,) where in the next front its remainder begins."""
    supported: Fixed
    """1 if L has room for M + ρ Gᵀ G."""
    scales: Floats
    """(n,) by which what Y has of each unknown is multiplied: the root of the number of its copies."""
    shares: Floats
    """Their reciprocals, for each of `own`."""
    factor: Floats
    """L; of its diagonal the reciprocals."""
    matrices: Floats
    """R above, with reciprocals on its diagonal, reflections below the diagonal of each front."""
    reflections: Floats
    """The factor of the reflection of each column of each front; of a last front 1/|column|²."""
    remainders: Floats
    """|what remains|² of each column of each front."""
    vectors: Floats
    """One entry for each unknown of each front."""
    work: Floats
    """(n largest group,)"""


load_sparse = loader(Sparse)


OWN = ("order", "heights", "ranks", "bases", "factor", "matrices", "reflections", "remainders", "vectors", "work")
"""Arrays in which a run works; the others are the same for all."""


class Elimination(NamedTuple):
    """Where numbers stand, for all runs."""

    factors: Sparse
    rows: int
    """Rows that hold, those that hold copies together among them."""


def elimination_of(
    masses: Pattern, rows: Pattern, groups: Sequence[object], order: Sequence[int], supported: int = 0
) -> Elimination:
    """The elimination of unknowns in this order; groups: for each row what it belongs to, supported: rows of which
    M + ρ Gᵀ G may take the place of M."""
    entries = np.searchsorted(rows.rows, np.arange(len(groups) + 1)).astype(np.int64)
    if supported:
        held = [rows.columns[a:b].tolist() for a, b in pairwise(entries[: supported + 1])]
        order = less_filled(order, [*held, *zip(*masses, strict=True)])
    unknowns = np.empty(len(order), dtype=np.int64)
    unknowns[np.array(order, dtype=np.int64)] = np.arange(len(order))
    lines = [unknowns[rows.columns[a:b]].tolist() for a, b in pairwise(entries)]
    first, second = unknowns[masses.rows], unknowns[masses.columns]
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    products = [(i, k) for line in lines[:supported] for at, i in enumerate(line) for k in line[: at + 1]]
    parents = elimination_tree(len(order), [*pairs, *products])
    depths = np.array(depths_of(parents), dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(depths + 1)]).astype(np.int64)
    on_diagonal = np.flatnonzero(first == second)
    fixed = {
        "unknowns": unknowns,
        "depths": depths,
        "lines": begins[:-1],
        "paths": [k for unknown in range(len(order)) for k in with_ancestors(parents, [unknown])],
        "masses": begins[np.maximum(first, second)] + depths[np.minimum(first, second)],
        "diagonal": on_diagonal[np.argsort(first[on_diagonal])],
        "products": [begins[max(pair)] + depths[min(pair)] for pair in products],
        "entries": entries,
        "columns": rows.columns,
    }
    return _placed(fixed, lines, groups, parents, supported > 0)


def _placed(
    fixed: dict[str, Any],
    lines: Sequence[Sequence[int]],
    groups: Sequence[object],
    parents: Sequence[int],
    supported: bool,
) -> Elimination:
    """With the groups of rows and their fronts."""
    if len(groups) <= SHORT:
        groups = [0] * len(groups)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    members: list[list[int]] = [[] for _ in numbers]
    begins = [0] * (len(numbers) + 1)
    seats: list[int] = []
    for row, group in enumerate(groups):
        if lines[row]:
            members[numbers[group]].append(row)
        begins[numbers[group] + 1] = int(fixed["entries"][row + 1])
    for each in members:
        seats += [k * len(each) + local for local, row in enumerate(each) for k in lines[row]]
    reached = [with_ancestors(parents, [k for row in each for k in lines[row]]) for each in members]
    copies = copied(reached, len(parents))
    rows = len(groups)
    for pairs in copies.glued:
        members.append(list(range(rows, rows + len(pairs))))
        rows += len(pairs)
    ordered = fronts(
        [*copies.reached, *([k for pair in pairs for k in pair] for pairs in copies.glued)], [*map(len, members)]
    )
    arrays, room = _fronts(ordered, members, reached, copies)
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
        for name, value in {**fixed, **groups_arrays, **arrays}.items()
    }
    return Elimination(_with_room(places, room, np.sqrt(copies.counts), supported), rows)


def _with_room(places: dict[str, Integers], room: int, scales: NDArray[np.float64], supported: bool) -> Sparse:
    """scales: (n,) roots of the numbers of copies; room: of numbers in `matrices`."""
    count, tallest = len(places["pivots"]), int(np.max(np.diff(places["blocks"]), initial=1))
    return Sparse(
        **places,
        order=places["rows"].copy(),
        heights=np.zeros(count, dtype=np.int64),
        ranks=np.zeros(count, dtype=np.int64),
        bases=np.zeros(count, dtype=np.int64),
        supported=supported,
        scales=scales,
        shares=1.0 / scales[places["own"]],
        factor=np.zeros(int(np.sum(places["depths"] + 1))),
        matrices=np.zeros(room),
        reflections=np.zeros(len(places["rows"])),
        remainders=np.zeros(len(places["rows"])),
        vectors=np.zeros(int(np.sum(places["talls"]))),
        work=np.zeros(len(places["depths"]) * tallest),
    )


def _fronts(
    ordered: Sequence[Front], members: Sequence[Sequence[int]], reached: Sequence[Sequence[int]], copies: Copies
) -> tuple[dict[str, Any], int]:
    """Arrays of the fronts, and numbers in all their matrices."""
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

    def place(row: int, unknown: int) -> int:
        f, local = owner[unknown]
        return int(matrices[f]) + places[f][row] * talls[f] + local

    ends = zip(members[len(reached) :], copies.glued, strict=True)
    arrays = {
        "targets": [place(rows[0], k) for rows, each in zip(members, copies.reached, strict=False) for k in each],
        "strides": [talls[owner[k][0]] for each in copies.reached for k in each],
        "glue": [place(row, k) for rows, pairs in ends for row, pair in zip(rows, pairs, strict=True) for k in pair],
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
NOTHING = elimination_of(Pattern(_EMPTY, _EMPTY), Pattern(_EMPTY, _EMPTY), (), ())
"""Of a machine whose masses nobody asks for."""


def factors_of(elimination: Elimination) -> Sparse:
    """An elimination with room of its own."""
    return elimination.factors.with_own(*OWN)
