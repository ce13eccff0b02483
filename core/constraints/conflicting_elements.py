"""Conflicting elements: smallest sets of loops, constraints and drivers that cannot be satisfied together.

At the position that comes nearest, elements without a gap may still be part of the contradiction, and elements with one
need not. So elements are left out one after the other: whatever the rest stays open without does not belong to it
(deletion filter; Chinneck and Dravnieks, ORSA J. Computing 3, 1991). Of the set that is left every element is needed:
without any one of them the others close.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import closed_position
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

MOST_SETS = 4
THOROUGH = 20
"""Number of elements, over all sets, that are left out only after a search for closure from distant positions, too."""

Key = tuple[str, str]
"""Collection and name of an element."""


class Conflict(NamedTuple):
    """Elements that cannot be satisfied together, in the order of their equations: joints, then constraints, then
    drivers."""

    elements: tuple[Key, ...]
    q: Array
    """(nq,) the position with the smallest residuals."""
    row: int
    """Index of the row with the largest residual there."""
    gap: float
    """The residual of that row, with its sign."""


def conflicting(compiled: Compiled, q: Array, p: Values, t: float, drivers: bool = True) -> tuple[Conflict, ...]:
    """Disjoint sets of elements that cannot be satisfied together near a position that does not close; empty if none is
    found.

    drivers : whether they count
    """
    rows = compiled.rows
    left = list(
        dict.fromkeys(
            (row.collection, row.element) for row in rows if row.level == 0 and (drivers or row.collection != "drivers")
        )
    )
    found: list[Conflict] = []
    thorough = iter(range(THOROUGH))
    while left and len(found) < MOST_SETS:
        nearest, gap = _closed_for_elements(compiled, q, p, t, left, anywhere=bool(found))
        if gap < ACCEPTED_GAP:
            break
        one = _minimal_conflict(compiled, nearest, p, t, left, thorough)
        if one is None:
            break
        found.append(one)
        left = [key for key in left if key not in one.elements]
    return tuple(found)


def _minimal_conflict(
    compiled: Compiled, q: Array, p: Values, t: float, among: Sequence[Key], thorough: Iterator[int]
) -> Conflict | None:
    """One minimal set of conflicting elements; None if an element was misjudged.

    thorough : has an item for each thorough try that is left
    """
    gaps = _largest_gaps(compiled, q, p, t, among)
    order = sorted(among, key=lambda key: (round(gaps[key] / max(gaps.values()), 6), -among.index(key)))
    kept = list(among)
    open_ones = [key for key in among if gaps[key] >= ACCEPTED_GAP]
    if len(open_ones) < len(among):  # often those without a gap are innocent, all at once
        trial, gap = _closed_for_elements(compiled, q, p, t, open_ones, anywhere=True)
        if not gap < ACCEPTED_GAP:
            kept, q = open_ones, trial
    for key in order:
        without = [other for other in kept if other != key]
        if len(without) == len(kept) or not without:
            continue
        trial, gap = _closed_for_elements(compiled, q, p, t, without)
        if not gap < ACCEPTED_GAP and next(thorough, None) is not None:
            trial, gap = _closed_for_elements(compiled, trial, p, t, without, anywhere=True)
        if not gap < ACCEPTED_GAP:
            kept, q = without, trial
    q, gap = _closed_for_elements(compiled, q, p, t, kept, anywhere=True)
    if gap < ACCEPTED_GAP:
        return None
    signed = compiled.call("constraint_residual", q, p=p, t=t)
    row = max(_rows_of(compiled, kept), key=lambda k: abs(float(signed[k])))
    return Conflict(tuple(kept), q, row, float(signed[row]))


def _largest_gaps(compiled: Compiled, q: Array, p: Values, t: float, keys: Sequence[Key]) -> dict[Key, float]:
    """Largest residual of each element."""
    gaps = np.abs(compiled.call("constraint_residual", q, p=p, t=t))
    return {key: float(max(gaps[k] for k in _rows_of(compiled, [key]))) for key in keys}


def _rows_of(compiled: Compiled, keys: Collection[Key]) -> list[int]:
    """Indices of the elements' position-level rows."""
    rows: Sequence[Row] = compiled.rows
    return [k for k, row in enumerate(rows) if row.level == 0 and (row.collection, row.element) in keys]


def _closed_for_elements(
    compiled: Compiled, q: Array, p: Values, t: float, keys: Collection[Key], anywhere: bool = False
) -> tuple[Array, float]:
    """Position nearest to q that satisfies the given elements, and the remaining gap."""
    held = np.zeros(len(compiled.rows), dtype=bool)
    held[_rows_of(compiled, keys)] = True
    free = np.zeros(compiled.nv, dtype=bool)
    return closed_position(compiled, q, np.ones(compiled.nv), free, p, anywhere=anywhere, t=t, rows=held)
