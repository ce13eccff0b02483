"""Pairs of joints and constraint rows whose wrench they transmit: the tree joints that carry only one of a constraint's
two frames, and the cut joint itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanics.elements.constraints.kinematic_constraint import Side
from core.mechanics.multibody.topology import Topology

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class BearingPairs(NamedTuple):
    """Pairs of joints and the rows whose wrench they transmit, sorted by joint: joint, row, row within the sides, and
    sign."""

    joints: Integers
    rows: Integers
    side_rows: Integers
    signs: Array
    moved: NDArray[np.bool_]
    """True if the wrench must be moved to the joint's frame b (a cut joint's is there already)."""
    starts: Integers
    """Index of the first pair of each joint."""


def bearing_pairs(
    topology: Topology, index: Mapping[str, int], sides: Sequence[tuple[Side, Sequence[int]]]
) -> BearingPairs:
    """Return the pairs for sides of constraints with their row numbers. index : joint → its number"""
    turned = {branch.joint.name: branch.reversed for branch in topology.branches}
    found: list[tuple[int, int, int, float, bool]] = []
    first = 0
    for side, rows in sides:
        bearing = [(side.joint, 1.0, False)] if side.joint else []
        on_a, on_b = (topology.path(name) for name in side.names)
        while on_a and on_b and on_a[-1] == on_b[-1]:
            on_a.pop()
            on_b.pop()
        for path, sign in ((on_b, -1.0), (on_a, 1.0)):
            bearing += [(name, -sign if turned[name] else sign, True) for name in path]
        for name, sign, moved in bearing:
            found += [(index[name], row, first + k, sign, moved) for k, row in enumerate(rows)]
        first += len(rows)
    found.sort(key=lambda pair: pair[0])
    numbers = np.array([pair[:3] for pair in found], dtype=np.int64).reshape(-1, 3)
    signs, moves = np.array([pair[3] for pair in found]), np.array([pair[4] for pair in found], dtype=bool)
    joints, borne, side_rows = numbers.T
    return BearingPairs(joints, borne, side_rows, signs, moves, np.flatnonzero(np.diff(joints, prepend=-1)))
