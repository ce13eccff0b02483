"""Where the numbers of sparse equations stand in memory: the analysis of `core.numerics.elimination` as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.numerics.elimination import Front, Pattern, depths_of, elimination_tree, fronts, with_ancestors
from core.simulation.machine_code.language import loader
from core.simulation.machine_code.records import Fixed, Floats, Ints, Record

Integers = NDArray[np.int64]


class Places(NamedTuple):
    """Places that do not change; all arrays of integers. Begins have one entry more than there are things."""

    depths: Integers
    """(n,) number of the ancestors of each unknown in the elimination tree."""
    lines: Integers
    """(n,) where its row of L begins in `factor`: its ancestors from the root on, then itself."""
    paths: Integers
    """The unknowns of these rows."""
    masses: Integers
    """Where each entry of M goes there."""
    diagonal: Integers
    """(n,) which entry of M is on the diagonal."""
    entries: Integers
    """(rows + 1,) begins of each row's entries of G."""
    columns: Integers
    """Unknown of each entry of G."""
    reaches: Integers
    """(rows + 1,) begins of what each row of Y has."""
    reached: Integers
    """Unknown of each entry of Y, in order."""
    targets: Integers
    """Where it goes in `matrices`."""
    pivots: Integers
    """(fronts,) number of columns that are eliminated in each."""
    widths: Integers
    """(fronts,) number of columns."""
    talls: Integers
    """(fronts,) length of a column: the largest number of unknowns, in a last front also what stands below them."""
    triangles: Integers
    """(fronts,) where R begins in a column: at its top, in a last front below the unknowns."""
    matrix_begins: Integers
    """(fronts,) where each front begins in `matrices`, column by column."""
    vector_begins: Integers
    """(fronts,) in `vectors`."""
    column_begins: Integers
    """(fronts,) in `rows` and `lifts`."""
    rows: Integers
    """Row of each column of each front."""
    lifts: Integers
    """Which column of the next front it goes to; −1 of pivots."""
    own_begins: Integers
    """(fronts + 1,) in `own`."""
    own: Integers
    """Unknowns that come in with each front."""
    nexts: Integers
    """(fronts,) the front to which it goes on, −1: none."""


class Elimination(NamedTuple):
    """Places, and room for the numbers of one run."""

    places: Places
    room: int
    """Numbers in `matrices`."""
    supported: bool
    """True if L has room for M + ρ Gᵀ G."""


def elimination_of(
    masses: Pattern, rows: Pattern, groups: Sequence[object], count: int, supported: bool
) -> Elimination:
    """The elimination of `count` unknowns; groups: for each row what it belongs to, supported: whether M + ρ Gᵀ G may
    take the place of M."""
    entries = np.searchsorted(rows.rows, np.arange(len(groups) + 1))
    lines = [rows.columns[a:b].tolist() for a, b in pairwise(entries)]
    pairs = list(zip(masses.rows.tolist(), masses.columns.tolist(), strict=True))
    if supported:
        pairs += [(i, j) for line in lines for i in line for j in line]
    parents = elimination_tree(count, pairs)
    depths = np.array(depths_of(parents), dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(depths + 1)]).astype(np.int64)
    reached = [with_ancestors(parents, line) for line in lines]
    numbers = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    members: list[list[int]] = [[] for _ in numbers]
    for row, group in enumerate(groups):
        if lines[row]:
            members[numbers[group]].append(row)
    of_groups = [sorted(set().union(*(reached[row] for row in each))) for each in members]
    ordered = fronts(of_groups, [len(each) for each in members])
    placed = _fronts(ordered, members, reached)
    fixed = {
        "depths": depths,
        "lines": begins[:-1],
        "paths": [k for unknown in range(count) for k in with_ancestors(parents, [unknown])],
        "masses": begins[masses.rows] + depths[masses.columns],
        "diagonal": np.flatnonzero(masses.rows == masses.columns),
        "entries": entries,
        "columns": rows.columns,
        "reaches": np.cumsum([0, *map(len, reached)]),
        "reached": [k for each in reached for k in each],
    }
    whole = {name: np.array(value, dtype=np.int64).reshape(-1) for name, value in {**fixed, **placed[0]}.items()}
    return Elimination(Places(**whole), placed[1], supported)


def _fronts(
    ordered: Sequence[Front], members: Sequence[Sequence[int]], reached: Sequence[Sequence[int]]
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
    targets = []
    for row, unknowns in enumerate(reached):
        for f, local in map(owner.__getitem__, unknowns):
            targets.append(matrices[f] + places[f][row] * talls[f] + local)
    arrays = {
        "targets": targets,
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
        "own": [k for front in ordered for k in front.unknowns],
        "nexts": nexts,
    }
    return arrays, int(matrices[-1])


_EMPTY = np.zeros(0, dtype=np.int64)
NOTHING = elimination_of(Pattern(_EMPTY, _EMPTY), Pattern(_EMPTY, _EMPTY), (), 0, False)
"""Of a machine whose masses nobody asks for."""


class Sparse(Record):
    """`Places` and the numbers that stand there, as the loops see them."""

    depths: Ints
    lines: Ints
    paths: Ints
    masses: Ints
    diagonal: Ints
    entries: Ints
    columns: Ints
    reaches: Ints
    reached: Ints
    targets: Ints
    pivots: Ints
    widths: Ints
    talls: Ints
    triangles: Ints
    matrix_begins: Ints
    vector_begins: Ints
    column_begins: Ints
    rows: Ints
    lifts: Ints
    own_begins: Ints
    own: Ints
    nexts: Ints
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
    factor: Floats
    """L; of its diagonal the reciprocals."""
    matrices: Floats
    """R above, reflections below the diagonal of each front."""
    reflections: Floats
    """The factor of the reflection of each column of each front."""
    vectors: Floats
    """One entry for each unknown of each front."""
    work: Floats
    """(n,)"""


load_sparse = loader(Sparse)


def factors_of(elimination: Elimination) -> Sparse:
    """An elimination with room of its own."""
    places = elimination.places
    count = len(places.pivots)
    return Sparse(
        **places._asdict(),
        order=places.rows.copy(),
        heights=np.zeros(count, dtype=np.int64),
        ranks=np.zeros(count, dtype=np.int64),
        bases=np.zeros(count, dtype=np.int64),
        supported=int(elimination.supported),
        factor=np.zeros(int(np.sum(places.depths + 1))),
        matrices=np.zeros(elimination.room),
        reflections=np.zeros(len(places.rows)),
        vectors=np.zeros(int(np.sum(places.talls))),
        work=np.zeros(len(places.depths)),
    )
