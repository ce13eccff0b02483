"""Joint friction (static or sliding) and stop forces at one state.

As in runs, forces of rows at rest are those of Gauss's principle (`core.numerics.bounded_forces`).
Equations without rows are linear in joint forces, so that what a force along a row changes is a difference of two
accelerations, whatever the machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.acting_states import acting_states_mask, default_joint_row_table, may_act
from core.constraints.bearing_friction import (
    compute_bearing_loads,
    consistent_bearing_loads,
    joint_rows_under_load,
    require_unique_bearing_loads,
)
from core.constraints.elastic_stops import find_compressed_stops, has_elastic_stop, pressed_stop_springs
from core.constraints.joint_modes import NOWHERE, JointRowTable, build_joint_row_table
from core.constraints.joint_rows import JointRows, cut_row_index, evaluate_joint_rows, row_biases, tree_inverse_inertias
from core.constraints.motor_limits import compute_withheld_force
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.named_values import broadcast_to_states
from core.mechanics.multibody.parameter_values import Values
from core.numerics.bounded_forces import resolve_sliding_rows
from core.numerics.fixed_points import slope_spectral_radius
from core.numerics.rank import null_space
from core.numerics.tolerances import AT_REST_SPEED, DEAD_FRACTION, TOUCH_TOLERANCE
from core.programs.compiled import CompiledModel

if TYPE_CHECKING:
    from core.constraints.compiled_forces import CompiledRowForces

Array = NDArray[np.float64]


QuickForces = Callable[..., tuple[Array, NDArray[np.bool_]]]
"""Function (compiled, q, v, τ or a, t, x) → forces (n, nv + cuts) at n states, and a mask (n,) of those that it refuses
(`core.constraints.compiled_forces`)."""


class RowForces(NamedTuple):
    """Friction and stop forces in addition to the smooth equations of motion.

    joint : (…, nv) joint forces, N·m or N; closing : (…, n) those of them that joints which close loops exert, along
    the growth of each of their coordinates (in the order of "cut_values")
    """

    joint: Array
    closing: Array


def acting_forces(
    compiled: CompiledModel, q: Any, v: Any, tau: Any, p: Values, t: Any = 0.0, x: Any = None, motors: bool = False
) -> RowForces | None:
    """Friction and stop forces at states with joint forces τ (…, nv); None if there are none. motors : True if τ are
    motor commands, which are cut off at effort limits and withheld at speed limits (`core.constraints.motor_limits`)"""
    if not motors and not may_act(compiled, q, v, p):
        return None
    quick = None if motors or p is not None else _compiled_forces(compiled)
    return _row_forces_at_each_state(
        compiled,
        partial(_acting_forces_at, motors=motors),
        (q, v, tau),
        p,
        t,
        x,
        quick_forces=None if quick is None else quick.acting,
    )


def resisting_forces(
    compiled: CompiledModel, q: Any, v: Any, a: Any, p: Values, t: Any = 0.0, x: Any = None, bearings: bool = True
) -> Array | None:
    """(…, nv) joint forces of compressed stops, of friction of joints that accelerations a (…, nv) set in motion from
    rest, and of reaction-dependent friction of open chains (unless bearings is false); None if there are none."""
    which = acting_states_mask(compiled, q, v, p)
    if not (may_act(compiled, q, v, p) if which is None else which.any()):
        return None
    function = _resisting_forces_at if bearings else _resisting_forces_of_rows
    quick = None if p is not None else _compiled_forces(compiled)
    forces = None if quick is None else quick.resisting
    return _row_forces_at_each_state(compiled, function, (q, v, a), p, t, x, which, forces).joint


def _compiled_forces(compiled: CompiledModel) -> CompiledRowForces | None:
    """Return the compiled forces of a machine; imported here, since LLVM is not needed for a first picture."""
    from core.constraints.compiled_forces import compiled_row_forces

    return compiled_row_forces(compiled)


def elastic_stop_energy(compiled: CompiledModel, q: Any, p: Values) -> Array | float:
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
        [_elastic_stop_energy_at(compiled, state, row) if acts else 0.0 for state, row, acts in states], leading
    )


def _acting_flags(compiled: CompiledModel, q: Any, v: Any, p: Values, leading: tuple[int, ...]) -> NDArray[np.bool_]:
    """(n,) mask of the states at which friction at rest or a stop may act."""
    which = acting_states_mask(compiled, q, v, p)
    return np.broadcast_to(True if which is None else which, leading).ravel()


def _elastic_stop_energy_at(compiled: CompiledModel, q: Array, p: Array) -> float:
    modes = build_joint_row_table(compiled, p)
    at = evaluate_joint_rows(compiled, replace(modes, rows=tuple(filter(has_elastic_stop, modes.rows))), q, p)
    met = find_compressed_stops(at)
    return (
        pressed_stop_springs(compiled, modes, at, met, _admissible_motions(compiled, q, p), q, p).energy if met else 0.0
    )


def _row_forces_at_each_state(
    compiled: CompiledModel,
    function: Any,
    states: tuple[Any, ...],
    p: Values,
    t: Any,
    x: Any,
    mask: NDArray[np.bool_] | None = None,
    quick_forces: QuickForces | None = None,
) -> RowForces:
    """Forces along rows at each of the states, from a function of (q, v, τ or a, p, t, x, modes); zero at states
    outside `mask`. quick_forces : machine code that takes most states"""
    q, v, third = (np.asarray(each, dtype=float) for each in states)
    values, times = compiled.parameter_values(p), np.asarray(t, dtype=float)[..., None]
    arrays = [q, v, third, values, times] + ([] if x is None else [np.asarray(x, dtype=float)])
    leading = np.broadcast_shapes(*(each.shape[:-1] for each in arrays))
    cuts = len(compiled.program.symbolic.cut_coordinates)
    flat = [broadcast_to_states(each, leading) for each in arrays]
    joint, closing = np.zeros((len(flat[0]), compiled.nv)), np.zeros((len(flat[0]), cuts))
    modes = (
        default_joint_row_table(compiled)
        if p is None
        else build_joint_row_table(compiled, values)
        if values.ndim == 1
        else None
    )
    acts = np.flatnonzero(np.broadcast_to(True if mask is None else mask, leading))
    if quick_forces is not None:
        inner_states = flat[5][acts] if x is not None else None
        found, refused = quick_forces(compiled, *(each[acts] for each in flat[:3]), flat[4][acts, 0], inner_states)
        joint[acts], closing[acts] = found[:, : compiled.nv], found[:, compiled.nv :]
        acts = acts[refused]
    for k in acts:
        state, speed, other, row, time, *own = (each[k] for each in flat)
        known = build_joint_row_table(compiled, row) if modes is None else modes
        if not known.rows:
            continue
        at = evaluate_joint_rows(compiled, known, state, row, float(time[0]), speed, own[0] if own else None)
        forces = function(compiled, known, at, (state, speed, other, row, float(time[0]), own[0] if own else None))
        joint[k], closing[k] = at.W.T @ forces, _cut_joint_forces(compiled, at, forces)
    return RowForces(joint.reshape(*leading, -1), closing.reshape(*leading, cuts))


def _elastic_stop_forces(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, q: Array, v: Array, p: Array
) -> Array:
    """(rows,) forces of elastic stops."""
    result, met = np.zeros(len(joint_rows.rows)), find_compressed_stops(joint_rows)
    if met:
        stops = pressed_stop_springs(compiled, modes, joint_rows, met, _admissible_motions(compiled, q, p), q, p)
        for (i, _), push in zip(met, stops.contact_forces(v), strict=True):
            result[i] += push
    return result


def _admissible_motions(compiled: CompiledModel, q: Array, p: Array) -> Array:
    """(nv, k) speeds admitted by all constraints."""
    return null_space(compiled.constraint_matrix(q, p)) if compiled.constrained else np.eye(compiled.nv)


def _resisting_forces_at(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, state: tuple[Any, ...]
) -> Array:
    q, v, a, p, t, x = state
    own = joint_rows
    if modes.rows_with_bearing_friction and not compiled.constrained:  # in trees motions tell reactions
        own = joint_rows_under_load(joint_rows, compute_bearing_loads(compiled, q, v, a, np.zeros(0), None, p, t, x))
    return _resisting_row_forces(compiled, modes, joint_rows, own, state)


def _resisting_forces_of_rows(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, state: tuple[Any, ...]
) -> Array:
    return _resisting_row_forces(compiled, modes, joint_rows, joint_rows, state)


def _resisting_row_forces(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, actual_rows: JointRows, state: tuple[Any, ...]
) -> Array:
    """(rows,) forces in addition to those of the compiled equations, which already include the friction of
    `joint_rows`; actual_rows : the rows with their actual friction."""
    q, v, a, p, *_ = state
    forces, begins, rates = (
        _elastic_stop_forces(compiled, modes, joint_rows, q, v, p),
        joint_rows.W @ a,
        joint_rows.W @ v,
    )
    rests = joint_rows.row_magnitudes(rates) < AT_REST_SPEED
    if actual_rows is joint_rows and not rests.any():  # symbolic functions contain all of the friction
        return forces
    slides = joint_rows.row_magnitudes(begins) >= AT_REST_SPEED
    rubbing = np.where(
        rests, np.where(slides, actual_rows.breakaway_friction(begins), 0.0), actual_rows.sliding_friction(rates)
    )
    return np.asarray(forces + np.where(joint_rows.friction_mask, rubbing - joint_rows.sliding_friction(rates), 0.0))


def resisting_forces_with_loads(
    compiled: CompiledModel,
    modes: JointRowTable,
    joint_rows: JointRows,
    state: tuple[Any, ...],
    loads: Array,
    share: Array | None = None,
) -> tuple[Array, Array]:
    """Friction and stop forces at one state (q, v, a, p, t, x) for given bearing loads: (nv,) joint forces, and (n,)
    along coordinates of loop-closing joints. share : (rows,) friction at rest as a share of its limit, positive along
    increasing coordinates."""
    own = joint_rows_under_load(joint_rows, loads)
    forces = _resisting_row_forces(compiled, modes, joint_rows, own, state)
    if share is not None:
        least, most = own.static_bounds
        forces = forces + np.abs(share) * np.where(share > 0.0, most, least)
    return joint_rows.W.T @ forces, _cut_joint_forces(
        compiled, joint_rows, forces + joint_rows.sliding_friction(joint_rows.W @ state[1])
    )


def _acting_forces_at(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Array:
    if not modes.rows_with_bearing_friction:
        return _solve_row_forces_at(compiled, modes, joint_rows, state, motors)
    q, v, _, p, t, x = state
    require_unique_bearing_loads(compiled, modes, q, v, p, t, x)
    found = consistent_bearing_loads(
        compiled, modes, _bearing_load_function(compiled, modes, joint_rows, state, motors)
    )
    return _solve_row_forces_at(compiled, modes, joint_rows_under_load(joint_rows, found), state, motors)


def self_locking_factor(
    compiled: CompiledModel, q: Any, v: Any, tau: Any, p: Any, t: float = 0.0, x: Any = None
) -> float:
    """Self-locking factor κ of reaction-dependent friction at one state (`core.constraints.bearing_friction`); 0
    without such friction. Raises SimulationError if no consistent friction exists."""
    q, v, tau = (np.asarray(each, dtype=float) for each in (q, v, tau))
    values = compiled.parameter_values(p)
    modes = build_joint_row_table(compiled, values)
    if not modes.rows_with_bearing_friction:
        return 0.0
    state = q, v, tau, values, t, x if x is None or len(x) else None
    loads = _bearing_load_function(
        compiled, modes, evaluate_joint_rows(compiled, modes, q, values, t, v, state[5]), state
    )
    return slope_spectral_radius(loads, consistent_bearing_loads(compiled, modes, loads))


def _bearing_load_function(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Callable[[Array], Array]:
    """Return the function that computes the bearing loads resulting from the friction at assumed loads."""
    q, v, tau, p, t, x = state

    def resulting_loads(assumed_loads: Array) -> Array:
        forces = _solve_row_forces_at(compiled, modes, joint_rows_under_load(joint_rows, assumed_loads), state, motors)
        given = tau + joint_rows.W.T @ forces
        a, multipliers = solve_constrained_motion(compiled, q, v, given, p, True, t, x, smooth=True)
        return compute_bearing_loads(
            compiled, q, v, a, multipliers, _cut_joint_forces(compiled, joint_rows, forces), p, t, x
        )

    return resulting_loads


def _cut_joint_forces(compiled: CompiledModel, joint_rows: JointRows, forces: Array) -> Array:
    """(n,) forces along coordinates of loop-closing joints."""
    closing = np.zeros(len(compiled.program.symbolic.cut_coordinates))
    for force, each in zip(forces, joint_rows.rows, strict=True):
        if each.at_v == NOWHERE:
            closing[cut_row_index(compiled, each)] += force
    return closing


def _solve_row_forces_at(
    compiled: CompiledModel, modes: JointRowTable, joint_rows: JointRows, state: tuple[Any, ...], motors: bool = False
) -> Array:
    q, v, tau, p, t, x = state
    forces, rates = _elastic_stop_forces(compiled, modes, joint_rows, q, v, p), joint_rows.W @ v
    touched, still = touched_stop_sides(joint_rows), joint_rows.row_magnitudes(rates) < AT_REST_SPEED
    forces += np.where(~still & joint_rows.friction_mask, joint_rows.sliding_friction(rates), 0.0)
    limited = np.zeros(len(joint_rows.rows), dtype=bool)
    bounds = _force_bounds(joint_rows, touched)
    for i, row in enumerate(joint_rows.rows) if motors else ():
        limited[i], low, high = compute_withheld_force(row, float(rates[i]), float(tau[row.at_v]))
        if limited[i]:
            for least, most in bounds:
                least[i], most[i] = low, high
        else:
            forces[i] += low
    held = np.flatnonzero(still & (joint_rows.friction_mask | (touched != 0)) | limited)
    if not len(held):
        return forces
    own = joint_rows.select([int(i) for i in held])
    units = np.array([max(*map(abs, row.static_bounds)) or 1.0 for row in own.rows])
    loads = tau + joint_rows.W.T @ forces + np.concatenate([np.zeros((1, compiled.nv)), own.W * units[:, None]])
    motion = solve_constrained_motion(compiled, q, v, loads, p, True, t, x, smooth=True)[0]
    A = own.W @ ((motion[1:] - motion[0]) / units[:, None]).T
    if compiled.constrained:  # what loops alone move carries nothing
        dead = np.diag(A) <= DEAD_FRACTION * tree_inverse_inertias(compiled, own.W, q, p)
        A[dead], A[:, dead] = 0.0, 0.0
    c = own.W @ motion[0] + row_biases(compiled, joint_rows, q, v, p)[held]
    rest, sliding = ((least[held], most[held]) for least, most in bounds)
    forces[held] += resolve_sliding_rows(0.5 * (A + A.T), c, rest, sliding, own.vector_group_sizes)[0].forces
    return forces


def sticking_force_change(
    compiled: CompiledModel,
    q: Array,
    v: Array,
    added_forces: Array,
    sticking: list[int],
    p: Array,
    t: float,
    x: Array | None,
) -> Array:
    """(rows,) change of the forces in sticking rows caused by additional joint forces (nv,), with all contact states
    unchanged; 0 for sliding rows, whose friction is constant."""
    at = evaluate_joint_rows(compiled, build_joint_row_table(compiled, p), q, p, t, v, x)
    result, W = np.zeros(len(at.rows)), at.W[sticking]
    loads = np.concatenate([np.zeros((1, compiled.nv)), added_forces[None], W])
    motion = solve_constrained_motion(compiled, q, v, loads, p, True, t, x, smooth=True)[0]
    changes = motion[1:] - motion[0]
    result[sticking] = -np.linalg.lstsq(W @ changes[1:].T, W @ changes[0], rcond=1e-10)[0]
    return result


def touched_stop_sides(joint_rows: JointRows) -> NDArray[np.int64]:
    """(n,) side of the rigid stop with which a row is in contact; 0 if none."""
    rigid = np.array([not has_elastic_stop(row) for row in joint_rows.rows], dtype=bool)
    sides = [np.where(rigid & (joint_rows.excess_beyond_limit(side) >= -TOUCH_TOLERANCE), side, 0) for side in (1, -1)]
    return np.asarray(np.where(sides[0] != 0, sides[0], sides[1]))


def _force_bounds(rows: JointRows, touched: NDArray[np.int64]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Smallest and largest forces at rest, then while sliding; a rigid stop pushes with any force needed."""
    (least, most), (onward, backward) = rows.static_bounds, rows.sliding_bounds
    least, onward = (np.where(touched > 0, -np.inf, each) for each in (least, onward))
    most, backward = (np.where(touched < 0, np.inf, each) for each in (most, backward))
    return (least, most), (onward, backward)
