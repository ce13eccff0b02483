"""Joint friction (static or sliding) and stop forces at one state.

As in runs, forces of rows at rest are those of Gauss's principle (`core.numerics.bounded_forces`).
Equations without rows are linear in joint forces, so that what a force along a row changes is a difference of two
accelerations, whatever the machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.acting_states import acting_states_mask, default_joint_modes, may_act
from core.constraints.bearing_friction import (
    bearing_loads_at,
    consistent_bearing_loads,
    loaded,
    require_unique_bearing_loads,
)
from core.constraints.elastic_stops import compressed_stops, has_elastic_stop, pressed
from core.constraints.joint_modes import NOWHERE, JointModes, joint_modes
from core.constraints.joint_rows import (
    AT_REST_SPEED,
    DEAD_FRACTION,
    TOUCH_TOLERANCE,
    JointRows,
    compliances_of_tree,
    cut_row_index,
    row_biases_at,
    rows_at,
)
from core.constraints.motor_limits import withheld_force
from core.constraints.multipliers import constrained_motion
from core.constraints.named_values import broadcast_to_states
from core.mechanics.multibody.parameter_values import Values
from core.numerics.bounded_forces import resolved
from core.numerics.fixed_points import steepest
from core.numerics.rank import null_space
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


class RowForces(NamedTuple):
    """Friction and stop forces in addition to the smooth equations of motion.

    joint : (…, nv) joint forces, N·m or N; closing : (…, n) those of them that joints which close loops exert, along
    the growth of each of their coordinates (in the order of "cut_values")
    """

    joint: Array
    closing: Array


def acting_forces(
    compiled: Compiled, q: Any, v: Any, tau: Any, p: Values, t: Any = 0.0, x: Any = None, motors: bool = False
) -> RowForces | None:
    """Friction and stop forces at states with joint forces τ (…, nv); None if there are none. motors : τ are motor
    commands, cut off at effort limits and withheld at speed limits (`core.constraints.motor_limits`)"""
    if not motors and not may_act(compiled, q, v, p):
        return None
    return _at_each_state(compiled, partial(_forces_at, motors=motors), (q, v, tau), p, t, x)


def resisting_forces(
    compiled: Compiled, q: Any, v: Any, a: Any, p: Values, t: Any = 0.0, x: Any = None, bearings: bool = True
) -> Array | None:
    """(…, nv) joint forces of compressed stops, of friction of joints that accelerations a (…, nv) set in motion from
    rest, and of reaction-dependent friction of open chains (unless bearings is false); None if there are none."""
    which = acting_states_mask(compiled, q, v, p)
    if not (may_act(compiled, q, v, p) if which is None else which.any()):
        return None
    return _at_each_state(compiled, _resisting_at if bearings else _resisting_alone, (q, v, a), p, t, x, which).joint


def stored_energy(compiled: Compiled, q: Any, p: Values) -> Array | float:
    """(…) elastic energy, J, of compressed stops."""
    if not may_act(compiled, q, None, p):
        return 0.0
    q, values = np.asarray(q, dtype=float), compiled.parameter_values(p)
    leading = np.broadcast_shapes(q.shape[:-1], values.shape[:-1])
    states = zip(
        broadcast_to_states(q, leading),
        broadcast_to_states(values, leading),
        _acting_flags(compiled, q, None, p, leading),
        strict=True,
    )
    return np.reshape(
        [_stored_energy_at(compiled, state, row) if acts else 0.0 for state, row, acts in states], leading
    )


def _acting_flags(compiled: Compiled, q: Any, v: Any, p: Values, leading: tuple[int, ...]) -> NDArray[np.bool_]:
    """(n,) mask of the states at which friction at rest or a stop may act."""
    which = acting_states_mask(compiled, q, v, p)
    return np.broadcast_to(True if which is None else which, leading).ravel()


def _stored_energy_at(compiled: Compiled, q: Array, p: Array) -> float:
    modes = joint_modes(compiled, p)
    at = rows_at(compiled, replace(modes, rows=tuple(filter(has_elastic_stop, modes.rows))), q, p)
    met = compressed_stops(at)
    return pressed(compiled, modes, at, met, _admissible_motions(compiled, q, p), q, p).energy if met else 0.0


def _at_each_state(
    compiled: Compiled,
    function: Any,
    states: tuple[Any, ...],
    p: Values,
    t: Any,
    x: Any,
    which: NDArray[np.bool_] | None = None,
) -> RowForces:
    """Forces along rows at each of the states, from a function of (q, v, τ or a, p, t, x, modes); zero at states
    outside `which`."""
    q, v, third = (np.asarray(each, dtype=float) for each in states)
    values, times = compiled.parameter_values(p), np.asarray(t, dtype=float)[..., None]
    arrays = [q, v, third, values, times] + ([] if x is None else [np.asarray(x, dtype=float)])
    leading = np.broadcast_shapes(*(each.shape[:-1] for each in arrays))
    cuts = len(compiled.program.symbolic.cut_coordinates)
    flat = [broadcast_to_states(each, leading) for each in arrays]
    joint, closing = np.zeros((len(flat[0]), compiled.nv)), np.zeros((len(flat[0]), cuts))
    modes = default_joint_modes(compiled) if p is None else joint_modes(compiled, values) if values.ndim == 1 else None
    acts = np.broadcast_to(True if which is None else which, leading).ravel()
    for k in np.flatnonzero(acts):
        state, speed, other, row, time, *own = (each[k] for each in flat)
        known = joint_modes(compiled, row) if modes is None else modes
        if not known.rows:
            continue
        at = rows_at(compiled, known, state, row, float(time[0]), speed, own[0] if own else None)
        forces = function(compiled, known, at, (state, speed, other, row, float(time[0]), own[0] if own else None))
        joint[k], closing[k] = at.W.T @ forces, _closing_joint_forces(compiled, at, forces)
    return RowForces(joint.reshape(*leading, -1), closing.reshape(*leading, cuts))


def _elastic_stop_forces(compiled: Compiled, modes: JointModes, at: JointRows, q: Array, v: Array, p: Array) -> Array:
    """(rows,) forces of elastic stops."""
    result, met = np.zeros(len(at.rows)), compressed_stops(at)
    if met:
        stops = pressed(compiled, modes, at, met, _admissible_motions(compiled, q, p), q, p)
        for (i, _), push in zip(met, stops.pushes(v), strict=True):
            result[i] += push
    return result


def _admissible_motions(compiled: Compiled, q: Array, p: Array) -> Array:
    """(nv, k) speeds admitted by all constraints."""
    return null_space(compiled.constraint_matrix(q, p)) if compiled.constrained else np.eye(compiled.nv)


def _resisting_at(compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...]) -> Array:
    q, v, a, p, t, x = state
    own = at
    if modes.bearings and not compiled.constrained:  # in trees motions tell reactions
        own = loaded(at, bearing_loads_at(compiled, q, v, a, np.zeros(0), None, p, t, x))
    return _resisting_row_forces(compiled, modes, at, own, state)


def _resisting_alone(compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...]) -> Array:
    return _resisting_row_forces(compiled, modes, at, at, state)


def _resisting_row_forces(
    compiled: Compiled, modes: JointModes, at: JointRows, own: JointRows, state: tuple[Any, ...]
) -> Array:
    """(rows,) forces in addition to those of the compiled equations, which include the friction of `at`; own : the
    actual rows."""
    q, v, a, p, *_ = state
    forces, begins, rates = _elastic_stop_forces(compiled, modes, at, q, v, p), at.W @ a, at.W @ v
    rests = at.sizes(rates) < AT_REST_SPEED
    if own is at and not rests.any():  # symbolic functions contain all of the friction
        return forces
    slides = at.sizes(begins) >= AT_REST_SPEED
    rubbing = np.where(rests, np.where(slides, own.beginning(begins), 0.0), own.sliding(rates))
    return np.asarray(forces + np.where(at.rubs, rubbing - at.sliding(rates), 0.0))


def resisting_forces_with_loads(
    compiled: Compiled,
    modes: JointModes,
    at: JointRows,
    state: tuple[Any, ...],
    loads: Array,
    share: Array | None = None,
) -> tuple[Array, Array]:
    """Friction and stop forces at one state (q, v, a, p, t, x) for given bearing loads: (nv,) joint forces, and (n,)
    along coordinates of loop-closing joints. share : (rows,) friction at rest as a share of its limit, positive along
    increasing coordinates."""
    own = loaded(at, loads)
    forces = _resisting_row_forces(compiled, modes, at, own, state)
    if share is not None:
        least, most = own.static_bounds
        forces = forces + np.abs(share) * np.where(share > 0.0, most, least)
    return at.W.T @ forces, _closing_joint_forces(compiled, at, forces + at.sliding(at.W @ state[1]))


def _forces_at(
    compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Array:
    if not modes.bearings:
        return _holding_forces_at(compiled, modes, at, state, motors)
    q, v, _, p, t, x = state
    require_unique_bearing_loads(compiled, modes, q, v, p, t, x)
    found = consistent_bearing_loads(compiled, modes, _bearing_loads(compiled, modes, at, state, motors))
    return _holding_forces_at(compiled, modes, loaded(at, found), state, motors)


def self_locking_factor(compiled: Compiled, q: Any, v: Any, tau: Any, p: Any, t: float = 0.0, x: Any = None) -> float:
    """Self-locking factor κ of reaction-dependent friction at one state (`core.constraints.bearing_friction`); 0 if
    there is none. Raises SimulationError if no consistent friction exists."""
    q, v, tau = (np.asarray(each, dtype=float) for each in (q, v, tau))
    values = compiled.parameter_values(p)
    modes = joint_modes(compiled, values)
    if not modes.bearings:
        return 0.0
    state = q, v, tau, values, t, x if x is None or len(x) else None
    loads = _bearing_loads(compiled, modes, rows_at(compiled, modes, q, values, t, v, state[5]), state)
    return steepest(loads, consistent_bearing_loads(compiled, modes, loads))


def _bearing_loads(
    compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Callable[[Array], Array]:
    """Function that returns the bearing loads resulting from the friction at assumed loads."""
    q, v, tau, p, t, x = state

    def loads(before: Array) -> Array:
        forces = _holding_forces_at(compiled, modes, loaded(at, before), state, motors)
        given = tau + at.W.T @ forces
        a, multipliers = constrained_motion(compiled, q, v, given, p, True, t, x, smooth=True)
        return bearing_loads_at(compiled, q, v, a, multipliers, _closing_joint_forces(compiled, at, forces), p, t, x)

    return loads


def _closing_joint_forces(compiled: Compiled, at: JointRows, forces: Array) -> Array:
    """(n,) forces along coordinates of loop-closing joints."""
    closing = np.zeros(len(compiled.program.symbolic.cut_coordinates))
    for force, each in zip(forces, at.rows, strict=True):
        if each.at_v == NOWHERE:
            closing[cut_row_index(compiled, each)] += force
    return closing


def _holding_forces_at(
    compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Array:
    q, v, tau, p, t, x = state
    forces, rates = _elastic_stop_forces(compiled, modes, at, q, v, p), at.W @ v
    touched, still = touched_stop_sides(at), at.sizes(rates) < AT_REST_SPEED
    forces += np.where(~still & at.rubs, at.sliding(rates), 0.0)
    limited = np.zeros(len(at.rows), dtype=bool)
    bounds = _force_bounds(at, touched)
    for i, row in enumerate(at.rows) if motors else ():
        limited[i], low, high = withheld_force(row, float(rates[i]), float(tau[row.at_v]))
        if limited[i]:
            for least, most in bounds:
                least[i], most[i] = low, high
        else:
            forces[i] += low
    held = np.flatnonzero(still & (at.rubs | (touched != 0)) | limited)
    if not len(held):
        return forces
    own = at.chosen([int(i) for i in held])
    units = np.array([max(*map(abs, row.static_bounds)) or 1.0 for row in own.rows])
    loads = tau + at.W.T @ forces + np.concatenate([np.zeros((1, compiled.nv)), own.W * units[:, None]])
    motion = constrained_motion(compiled, q, v, loads, p, True, t, x, smooth=True)[0]
    A = own.W @ ((motion[1:] - motion[0]) / units[:, None]).T
    if compiled.constrained:  # what loops alone move carries nothing
        dead = np.diag(A) <= DEAD_FRACTION * compliances_of_tree(compiled, own.W, q, p)
        A[dead], A[:, dead] = 0.0, 0.0
    c = own.W @ motion[0] + row_biases_at(compiled, at, q, v, p)[held]
    rest, sliding = ((least[held], most[held]) for least, most in bounds)
    forces[held] += resolved(0.5 * (A + A.T), c, rest, sliding, own.shares)[0].forces
    return forces


def grown(
    compiled: Compiled, q: Array, v: Array, more: Array, held: list[int], p: Array, t: float, x: Array | None
) -> Array:
    """(rows,) change of the forces in sticking rows caused by additional joint forces `more` (nv,), with all contact
    states unchanged; 0 for sliding rows, whose friction is constant."""
    at = rows_at(compiled, joint_modes(compiled, p), q, p, t, v, x)
    result, W = np.zeros(len(at.rows)), at.W[held]
    loads = np.concatenate([np.zeros((1, compiled.nv)), more[None], W])
    motion = constrained_motion(compiled, q, v, loads, p, True, t, x, smooth=True)[0]
    changes = motion[1:] - motion[0]
    result[held] = -np.linalg.lstsq(W @ changes[1:].T, W @ changes[0], rcond=1e-10)[0]
    return result


def touched_stop_sides(at: JointRows) -> NDArray[np.int64]:
    """(n,) side of the rigid stop that a row is in contact with; 0 if none."""
    rigid = np.array([not has_elastic_stop(row) for row in at.rows], dtype=bool)
    sides = [np.where(rigid & (at.beyond(side) >= -TOUCH_TOLERANCE), side, 0) for side in (1, -1)]
    return np.asarray(np.where(sides[0] != 0, sides[0], sides[1]))


def _force_bounds(own: JointRows, touched: NDArray[np.int64]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Smallest and largest forces at rest, then while sliding; a rigid stop pushes with any force needed."""
    (least, most), (onward, backward) = own.static_bounds, own.sliding_bounds
    least, onward = (np.where(touched > 0, -np.inf, each) for each in (least, onward))
    most, backward = (np.where(touched < 0, np.inf, each) for each in (most, backward))
    return (least, most), (onward, backward)
