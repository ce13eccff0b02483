"""Which joints of a machine stick, slide and press against stops at one state, and what that adds to its equations.

Forces of joints at rest are those of Gauss's principle: the least acceleration, in the metric of M, that friction
within its bounds allows. Joints that begin to move all the same are given the friction of sliding, all together, until
no more of them break away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import refuse
from core.constraints.elastic_stops import Pressed, pressed, pushed_in
from core.constraints.joint_modes import JointModes, joint_modes
from core.constraints.joint_rows import AT_REST_SPEED, JointRows, biases_at, rows_at
from core.mobility.constraint_rank import PositionConstraints
from core.numerics.bounded_forces import resolved

Array = NDArray[np.float64]

JUST_MORE = 1e-10
"""Part of a bound by which friction holds more: poses that were found where it just holds are held."""
STEP = 1e-6
"""Displacement (rad or machine sizes) from whose differences the turning of rows is told."""


class PoseModes(NamedTuple):
    """Modes of all rows at a state.

    at : the rows; stuck : indices of those that stick; sliding : row → sign of the speed that it has or gets; stops :
    those that press; given : (rows,) forces that follow from the state, N·m or N along growth, beside those of the
    traces: of stops, and of friction that begins to slide
    """

    modes: JointModes
    at: JointRows
    stuck: list[int]
    sliding: dict[int, int]
    stops: Pressed
    given: Array

    @property
    def W(self) -> Array:
        """(stuck, nv) speeds of rows that stick."""
        return self.at.W[self.stuck]

    def names(self, which: list[int]) -> tuple[str, ...]:
        """Coordinates of rows."""
        return tuple(self.at.rows[i].name for i in which)


def modes_at(
    constraints: PositionConstraints, q: Array, v: Array, x: Array, load: Array, drift: Array, friction: bool
) -> PoseModes:
    """Modes at a closed state. load : (nv,) τ − h; drift : (nv,) accelerations that what holds asks for; friction :
    False: none sticks, as if there were none at rest."""
    compiled, p = constraints.compiled, constraints.p
    modes = joint_modes(compiled, p)
    refuse(modes, "Linearisation")
    at, N = rows_at(compiled, modes, q, p, constraints.t, v, x), constraints.motions(q)
    rates, met = at.W @ v, pushed_in(at)
    stops = pressed(compiled, modes, at, met, N, q, p)
    given = np.zeros(len(at.rows))
    for (i, _), push in zip(met, stops.pushes(v), strict=True):
        given[i] += push
    rubbing, speeds = np.flatnonzero(at.rubs), at.sizes(rates)
    resting = [int(i) for i in rubbing if speeds[i] < AT_REST_SPEED]
    sliding = {int(i): int(np.sign(rates[i])) for i in rubbing if i not in resting}
    if not (friction and resting):
        return PoseModes(modes, at, [], sliding, stops, given)
    M = N.T @ compiled.mass_matrix(q, p) @ N
    carried = compiled.mass_matrix(q, p) @ drift
    own = biases_at(compiled, at, q, v, p)[resting] + at.W[resting] @ drift
    broken, friction_then = _broken(at.chosen(resting), M, N, N.T @ (load + at.W.T @ given - carried), own)
    for i, sign in broken.items():
        sliding[resting[i]] = sign
        given[resting[i]] += friction_then[i]
    stuck = [i for k, i in enumerate(resting) if k not in broken]
    return PoseModes(modes, at, stuck, sliding, stops, given)


def _broken(resting: JointRows, M: Array, N: Array, load: Array, biases: Array) -> tuple[dict[int, int], Array]:
    """Rows (places in `resting`) that friction does not hold, and the sign of the speed that they get; friction
    then."""
    if not len(M):
        return {}, np.zeros(len(resting.rows))
    sizes, axes = np.linalg.eigh(M)
    light = sizes > 1e-12 * max(float(np.max(np.abs(sizes))), 1e-300)
    root = axes[:, light] / np.sqrt(sizes[light])
    W = resting.W @ N @ root
    low, high = ((1.0 + JUST_MORE) * bound for bound in resting.static_bounds)
    c = W @ (root.T @ load) + biases
    found, broken = resolved(W @ W.T, c, (low, high), resting.sliding_bounds, resting.shares)
    slides = np.flatnonzero(broken & (found.side != 0.0))
    return {int(i): int(np.sign(found.rates[i])) for i in slides}, found.forces


class RowSlopes(NamedTuple):
    """Derivatives along displacements of rows that carry forces, (nv, nv), and of those that stick, (stuck, nv):
    force : of Wᵀ λ; speed : of W v; acceleration, by_speed : of W a + Ẇ v, and of that by speeds."""

    force: Array
    speed: Array
    acceleration: Array
    by_speed: Array


def row_slopes(
    constraints: PositionConstraints, found: PoseModes, q: Array, v: Array, a: Array, forces: Array
) -> RowSlopes:
    """How rows turn with the pose, by differences; those of the tree do not. forces : (rows,) along them."""
    compiled, nv, stuck = constraints.compiled, constraints.compiled.nv, found.stuck
    result = RowSlopes(np.zeros((nv, nv)), *(np.zeros((len(stuck), nv)) for _ in range(3)))
    if found.modes.own == len(found.modes.rows):
        return result

    def at(pose: Array, speeds: Array) -> tuple[Array, Array, Array]:
        rows = rows_at(compiled, found.modes, pose, constraints.p, constraints.t)
        bias = biases_at(compiled, rows, pose, speeds, constraints.p)
        return rows.W.T @ forces, rows.W[stuck] @ v, rows.W[stuck] @ a + bias[stuck]

    for j in range(nv):
        step = STEP * constraints.units[j]
        displacement = np.zeros(nv)
        displacement[j] = step
        ahead, behind = at(constraints.moved(q, displacement), v), at(constraints.moved(q, -displacement), v)
        for derivative, high, low in zip(result[:3], ahead, behind, strict=True):
            derivative[:, j] = (high - low) / (2.0 * step)
        if stuck and v.any():
            ahead, behind = at(q, v + displacement), at(q, v - displacement)
            result.by_speed[:, j] = (ahead[2] - behind[2]) / (2.0 * step)
    return result
