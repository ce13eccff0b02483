"""Transmission of constraint forces through the joints: reaction wrenches as linear functions of the multipliers.

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

from core.mechanics.elements.constraints.kinematic_constraint import Side
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix
from core.programs.bearing_pairs import BearingPairs
from core.programs.bearing_pairs import bearing_pairs as pairs_of
from core.programs.compiled import Compiled, once

Array = NDArray[np.float64]


@once
def bearing_pairs(compiled: Compiled) -> BearingPairs:
    """Pairs of joint and constraint row for which the joint carries the row's wrench."""
    sides = compiled.constraints.sides()
    return _new_bearing_pairs(compiled, [(side, list(range(rows.start, rows.stop))) for _, side, rows in sides])


@once
def _closing_bearing_pairs(compiled: Compiled) -> BearingPairs:
    coordinates = compiled.program.tracer.cut_coordinates
    return _new_bearing_pairs(
        compiled, [(side, [i]) for i, coordinate in enumerate(coordinates) for side in coordinate.sides]
    )


def _new_bearing_pairs(compiled: Compiled, sides: Sequence[tuple[Side, Sequence[int]]]) -> BearingPairs:
    return pairs_of(compiled.topology, compiled.program.joint_index, sides)


class Transmission(NamedTuple):
    """Linear map from multipliers to joint wrenches, evaluated at states q."""

    pairs: BearingPairs
    wrenches: Array
    """(…, pairs, 6) joint wrench of a unit multiplier, at b's origin in world axes."""
    shape: tuple[int, int]
    """Number of joints and of rows."""

    def through(self, multipliers: Array) -> Array:
        """(…, joints, 6) wrenches of multipliers (…, rows), parent side on child side."""
        borne = multipliers[..., self.pairs.rows, None] * self.wrenches
        result = np.zeros((*borne.shape[:-2], self.shape[0], 6))
        if len(self.pairs.starts):
            sums = np.add.reduceat(borne, self.pairs.starts, axis=-2)
            result[..., self.pairs.joints[self.pairs.starts], :] = sums
        return result

    @property
    def matrix(self) -> Matrix:
        """(6 joints, rows) the map at one state as a matrix in compressed rows."""
        import scipy.sparse

        rows = 6 * self.pairs.joints[:, None] + np.arange(6)
        columns = np.repeat(self.pairs.rows, 6)
        shape = 6 * self.shape[0], self.shape[1]
        return scipy.sparse.csr_array((self.wrenches.reshape(-1), (rows.reshape(-1), columns)), shape=shape)


def transmission(compiled: Compiled, q: Any, p: Values) -> Transmission:
    """Map from constraint multipliers to joint wrenches at states q (…, nq)."""
    return _evaluated_transmission(compiled, q, p, bearing_pairs(compiled), "constraint_sides", len(compiled.rows))


def closing_transmission(compiled: Compiled, q: Any, p: Values) -> Transmission:
    """Map from forces along coordinates of loop-closing joints, in the order of "cut_values", to joint wrenches."""
    count = len(compiled.program.tracer.cut_coordinates)
    return _evaluated_transmission(compiled, q, p, _closing_bearing_pairs(compiled), "cut_sides", count)


def _evaluated_transmission(
    compiled: Compiled, q: Any, p: Values, borne: BearingPairs, function: str, count: int
) -> Transmission:
    names = compiled.joint_names
    pairs = compiled.call("joint_poses", q, p=p)
    sides = compiled.call(function, q, p=p)[..., borne.side_rows, :]
    arms = np.where(borne.moved[:, None], sides[..., 6:] - pairs[..., 1, :3, 3][..., borne.joints, :], 0.0)
    moment = sides[..., :3] + np.cross(arms, sides[..., 3:6])
    wrenches = np.concatenate([moment, sides[..., 3:6]], axis=-1) * borne.signs[:, None]
    return Transmission(borne, wrenches, (len(names), count))
