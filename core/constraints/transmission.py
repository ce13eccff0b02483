"""How the forces of what holds go through the joints: wrenches that are linear in the multipliers.

What holds exerts F = Rᵀ λ on the b of each of its sides; λ: multipliers of its rows, R = ∂(rows)/∂(motion of b against
a). The cut joint of a side bears it all. What it contributes to the forces behind a tree joint does not pass through
that joint: it is taken away, at b's origin, of every joint between the world and one of the two frames; joints that
carry both bear nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.elements.constraints.kinematic_constraint import Side
from core.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix
from core.traces.compiled import Compiled, once

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class BearingPairs(NamedTuple):
    """Which joints bear a row's wrench: of every such pair, sorted by joint, the joint, the row, the row among those of
    sides, and the sign with which it counts."""

    joints: Integers
    rows: Integers
    side_rows: Integers
    signs: Array
    moved: NDArray[np.bool_]
    """Whether the wrench is moved to the joint's b (a cut joint has it there)."""
    starts: Integers
    """Where the joints that bear something begin among the pairs."""


@once
def bearing_pairs(compiled: Compiled) -> BearingPairs:
    """Which joints of a machine bear the wrench of which row."""
    sides = compiled.constraints.sides()
    return _pairs(compiled, [(side, list(range(rows.start, rows.stop))) for _, side, rows in sides])


@once
def _closing_pairs_of(compiled: Compiled) -> BearingPairs:
    coordinates = compiled.program.tracer.cut_coordinates
    return _pairs(compiled, [(side, [i]) for i, coordinate in enumerate(coordinates) for side in coordinate.sides])


def _pairs(compiled: Compiled, sides: Sequence[tuple[Side, Sequence[int]]]) -> BearingPairs:
    topology = compiled.topology
    index = compiled.program.joint_index
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


class Transmission(NamedTuple):
    """Of states q all that is evaluated for these wrenches."""

    pairs: BearingPairs
    wrenches: Array
    """(…, pairs, 6) what a multiplier of one sends through the joint, at b's origin in world axes."""
    shape: tuple[int, int]
    """Numbers of joints and of rows."""

    def through(self, multipliers: Array) -> Array:
        """(…, joints, 6) the wrenches of multipliers (…, rows), parent side on child side."""
        borne = multipliers[..., self.pairs.rows, None] * self.wrenches
        result = np.zeros((*borne.shape[:-2], self.shape[0], 6))
        if len(self.pairs.starts):
            sums = np.add.reduceat(borne, self.pairs.starts, axis=-2)
            result[..., self.pairs.joints[self.pairs.starts], :] = sums
        return result

    @property
    def matrix(self) -> Matrix:
        """(6 joints, rows) the same of one state as a matrix in compressed rows."""
        import scipy.sparse

        rows = 6 * self.pairs.joints[:, None] + np.arange(6)
        columns = np.repeat(self.pairs.rows, 6)
        shape = 6 * self.shape[0], self.shape[1]
        return scipy.sparse.csr_array((self.wrenches.reshape(-1), (rows.reshape(-1), columns)), shape=shape)


def transmission(compiled: Compiled, q: Any, p: Values) -> Transmission:
    """At states q (…, nq)."""
    return _transmission(compiled, q, p, bearing_pairs(compiled), "constraint_sides", len(compiled.rows))


def closing_transmission(compiled: Compiled, q: Any, p: Values) -> Transmission:
    """The same of forces along coordinates of joints that close loops, in the order of "cut_values"."""
    count = len(compiled.program.tracer.cut_coordinates)
    return _transmission(compiled, q, p, _closing_pairs_of(compiled), "cut_sides", count)


def _transmission(
    compiled: Compiled, q: Any, p: Values, borne: BearingPairs, function: str, count: int
) -> Transmission:
    names = compiled.joint_names
    pairs = compiled.call("joint_poses", q, p=p)
    sides = compiled.call(function, q, p=p)[..., borne.side_rows, :]
    arms = np.where(borne.moved[:, None], sides[..., 6:] - pairs[..., 1, :3, 3][..., borne.joints, :], 0.0)
    moment = sides[..., :3] + np.cross(arms, sides[..., 3:6])
    wrenches = np.concatenate([moment, sides[..., 3:6]], axis=-1) * borne.signs[:, None]
    return Transmission(borne, wrenches, (len(names), count))
