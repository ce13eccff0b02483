"""Contact states of a machine's joints at one state (sticking, sliding, pressed against a stop, at the motor's speed
limit), and the rows they add to its equations.

Forces of joints at rest are those of Gauss's principle: the least acceleration, in the metric of M, that friction
within its bounds allows. Joints that begin to move all the same are given the friction of sliding, all together, until
no more of them break away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import refuse
from core.constraints.elastic_stops import PressedStops, compressed_stops, pressed
from core.constraints.joint_modes import NOWHERE, JointModes, joint_modes
from core.constraints.joint_rows import AT_REST_SPEED, JointRows, row_biases_at, rows_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.motor_limits import withheld_force
from core.numerics.bounded_forces import resolved

Array = NDArray[np.float64]

JUST_MORE = 1e-10
"""Relative increase of friction bounds, so that poses found at the limit of friction count as held."""
STEP = 1e-6
"""Displacement (rad or machine sizes) of finite differences for the rotation of rows."""


class PoseModes(NamedTuple):
    """Contact states of all joint rows at a state.

    at : the rows; stuck : indices of those that stick; limited : of those whose motors keep their limit of speed;
    sliding : row → sign of the speed that it has or gets; stops : those that press; given : (rows,) forces that follow
    from the state, N·m or N along growth, beside those of the traces: of stops, of friction that begins to slide, and
    of what motors withhold; idle : rows whose motors give nothing, as loads are faster than they may drive
    """

    modes: JointModes
    at: JointRows
    stuck: list[int]
    sliding: dict[int, int]
    stops: PressedStops
    given: Array
    limited: list[int]
    idle: list[int]

    @property
    def kept(self) -> list[int]:
        """Rows whose accelerations are constrained to zero."""
        return [*self.stuck, *self.limited]

    @property
    def W(self) -> Array:
        """(held, nv) directions of the held rows."""
        return self.at.W[self.kept]

    def names(self, which: list[int]) -> tuple[str, ...]:
        """Coordinate names of rows."""
        return tuple(self.at.rows[i].name for i in which)


def contact_states_at(
    constraints: PositionConstraints,
    state: tuple[Array, Array, Array],
    load: Array,
    drift: Array,
    friction: bool,
    asked: Array | None = None,
) -> PoseModes:
    """Contact states at a closed state q, v, x. load : (nv,) τ − h; drift : (nv,) accelerations that the constraints
    require; friction : False if no joint may stick; asked : (nv,) motor commands, subject to speed limits; None if τ
    acts on the joints directly"""
    compiled, p, (q, v, x) = constraints.compiled, constraints.p, state
    modes = joint_modes(compiled, p)
    refuse(modes, "Linearisation")
    at, N = rows_at(compiled, modes, q, p, constraints.t, v, x), constraints.motions(q)
    rates, met = at.W @ v, compressed_stops(at)
    stops = pressed(compiled, modes, at, met, N, q, p)
    given = np.zeros(len(at.rows))
    for (i, _), push in zip(met, stops.pushes(v), strict=True):
        given[i] += push
    rubbing, speeds = np.flatnonzero(at.rubs), at.sizes(rates)
    resting = [int(i) for i in rubbing if speeds[i] < AT_REST_SPEED]
    sliding = {int(i): int(np.sign(rates[i])) for i in rubbing if i not in resting}
    limits, idle = _at_speed_limits(at, rates, asked, given)
    held = [*(resting if friction else ()), *limits]
    if not held:
        return PoseModes(modes, at, [], sliding, stops, given, [], idle)
    M = N.T @ compiled.mass_matrix(q, p) @ N
    carried = compiled.mass_matrix(q, p) @ drift
    own = row_biases_at(compiled, at, q, v, p)[held] + at.W[held] @ drift
    bounds = _held_force_bounds(at.chosen(held), [limits.get(i) for i in held])
    broken = _broken_loose_rows(at.chosen(held), M, N, N.T @ (load + at.W.T @ given - carried), own, bounds)
    for k, (sign, force) in broken.items():
        given[held[k]] += force
        if held[k] not in limits:
            sliding[held[k]] = sign
        elif force != 0.0:
            idle.append(held[k])
    left = [i for k, i in enumerate(held) if k not in broken]
    stuck, limited = [i for i in left if i not in limits], [i for i in left if i in limits]
    return PoseModes(modes, at, stuck, sliding, stops, given, limited, idle)


def _at_speed_limits(
    at: JointRows, rates: Array, asked: Array | None, given: Array
) -> tuple[dict[int, tuple[float, float]], list[int]]:
    """Bounds of the withheld force for each row whose motor may hold its speed limit, and rows whose motors give
    nothing; for these, `given` is updated."""
    limits, idle = dict[int, tuple[float, float]](), list[int]()
    if asked is None:
        return limits, idle
    for i, row in enumerate(at.rows):
        keeps, low, high = withheld_force(row, float(rates[i]), float(asked[row.at_v]) if row.at_v != NOWHERE else 0.0)
        if keeps:
            limits[i] = low, high
        elif low != 0.0:
            given[i] += low
            idle.append(i)
    return limits, idle


class _HeldForceBounds(NamedTuple):
    """(n, 2) smallest and largest forces of rows that may be held, at rest and while they slide."""

    rest: tuple[Array, Array]
    sliding: tuple[Array, Array]


def _held_force_bounds(held: JointRows, limits: list[tuple[float, float] | None]) -> _HeldForceBounds:
    """Force bounds of held rows. limits : for a row at a speed limit, the bounds of the force its motor may withhold;
    None if friction holds the row"""
    rest, sliding = ([each.copy() for each in both] for both in (held.static_bounds, held.sliding_bounds))
    for k, own in enumerate(limits):
        if own is None:
            for bound in rest:
                bound[k] *= 1.0 + JUST_MORE
        else:
            for low, high in (rest, sliding):
                low[k], high[k] = own
    return _HeldForceBounds((rest[0], rest[1]), (sliding[0], sliding[1]))


def _broken_loose_rows(
    held: JointRows, M: Array, N: Array, load: Array, biases: Array, bounds: _HeldForceBounds
) -> dict[int, tuple[int, float]]:
    """Rows (indices in `held`) that break loose → sign of the resulting speed, and the force along the row."""
    if not len(M):
        return {}
    sizes, axes = np.linalg.eigh(M)
    light = sizes > 1e-12 * max(float(np.max(np.abs(sizes))), 1e-300)
    root = axes[:, light] / np.sqrt(sizes[light])
    W = held.W @ N @ root
    c = W @ (root.T @ load) + biases
    found, broken = resolved(W @ W.T, c, bounds.rest, bounds.sliding, held.shares)
    slides = np.flatnonzero(broken & (found.side != 0.0))
    return {int(i): (int(np.sign(found.rates[i])), float(found.forces[i])) for i in slides}


class RowSlopes(NamedTuple):
    """Derivatives, along displacements, of rows that carry forces, (nv, nv), and of held rows, (held, nv): force : of
    Wᵀ λ; speed : of W v; acceleration, by_speed : of W a + Ẇ v, and of that by speeds"""

    force: Array
    speed: Array
    acceleration: Array
    by_speed: Array


def row_slopes(
    constraints: PositionConstraints, found: PoseModes, q: Array, v: Array, a: Array, forces: Array
) -> RowSlopes:
    """Derivatives of the row directions with respect to the pose, by finite differences; zero for tree joints. forces :
    (rows,) along the rows"""
    compiled, nv, held = constraints.compiled, constraints.compiled.nv, found.kept
    result = RowSlopes(np.zeros((nv, nv)), *(np.zeros((len(held), nv)) for _ in range(3)))
    if found.modes.own == len(found.modes.rows):
        return result

    def at(pose: Array, speeds: Array) -> tuple[Array, Array, Array]:
        rows = rows_at(compiled, found.modes, pose, constraints.p, constraints.t)
        bias = row_biases_at(compiled, rows, pose, speeds, constraints.p)
        return rows.W.T @ forces, rows.W[held] @ v, rows.W[held] @ a + bias[held]

    for j in range(nv):
        step = STEP * constraints.units[j]
        displacement = np.zeros(nv)
        displacement[j] = step
        ahead, behind = at(constraints.moved(q, displacement), v), at(constraints.moved(q, -displacement), v)
        for derivative, high, low in zip(result[:3], ahead, behind, strict=True):
            derivative[:, j] = (high - low) / (2.0 * step)
        if held and v.any():
            ahead, behind = at(q, v + displacement), at(q, v - displacement)
            result.by_speed[:, j] = (ahead[2] - behind[2]) / (2.0 * step)
    return result
