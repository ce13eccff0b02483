"""Function `linearise`: the linear system of a machine about a state, or along a run, with inputs and outputs.

Machines without constraints are linearised at many states at once: all coordinates are independent, so that A, B, C, D
follow from the derivatives by one solution with M for all states.

Motors that keep their limit of speed take the freedoms of their joints: with P = 1 − M⁻¹Wᵀ(W M⁻¹ Wᵀ)⁻¹W, W their rows
of 1, accelerations are P M⁻¹(…) in place of M⁻¹(…), and their joints have no states. States with the same motors at
their limits are taken together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import build_joint_row_table
from core.constraints.motor_limits import SuppliedForces, supplied_forces
from core.control.linear_system import ConcatenatedSystems, LinearSystem, LinearSystems, SystemsFromArrays
from core.control.lineariser import DescriptorSystem, Lineariser, StatePoint, point_from_arguments
from core.control.operating_point import OperatingPoint
from core.errors import ModelError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.numerics.bounded_forces import resolve_sliding_rows
from core.numerics.tolerances import AT_REST_SPEED
from core.simulation.run.interpolation import interpolate_positions

if TYPE_CHECKING:
    from core.model import Model
    from core.simulation import Run


Array = NDArray[np.float64]


class UnconstrainedStates(NamedTuple):
    """States q (n, nq), v (n, nv), tau (n, nv) as commanded, p, time (n,). motors : forces that the motors supply,
    where `keeps` marks those at their speed limit; withheld : (n, nv) reduction of these forces; free : (n,) True if no
    other constraint acts"""

    q: Array
    v: Array
    tau: Array
    p: Array
    time: Array
    motors: SuppliedForces
    withheld: Array
    free: NDArray[np.bool_]

    @property
    def acting_joint_forces(self) -> Array:
        """Joint forces (n, nv) that act."""
        return self.motors.given - self.motors.lost + self.withheld

    def select(self, indices: NDArray[np.int64]) -> UnconstrainedStates:
        """Return the selected states."""
        given, lost, full, idle, keeps, holds = self.motors
        motors = SuppliedForces(
            given[indices], lost[indices], full[indices], idle[indices], keeps[indices], holds[indices]
        )
        motion = self.q[indices], self.v[indices], self.tau[indices], self.p, self.time[indices]
        return UnconstrainedStates(*motion, motors, self.withheld[indices], self.free[indices])


def unconstrained_states(
    mech: Mechanism, p: Array, q: Array, v: Array, tau: Array, time: Array, limits: bool
) -> UnconstrainedStates:
    """Return states (n, …) of a machine with the forces that its motors supply; limits : True if motor limits act. A
    state is free if no constraint, sticking joint, joint stop or other speed limit acts."""
    none = np.zeros(tau.shape, dtype=bool)
    motors = SuppliedForces(tau, np.zeros_like(tau), none, none, none, np.zeros(len(tau), dtype=bool))
    found = UnconstrainedStates(q, v, tau, p, time, motors, np.zeros_like(tau), np.zeros(len(q), dtype=bool))
    if mech.constrained or mech.nx or mech.compiled.by_mass_matrix or not mech.nv:
        return found
    rubbing = [row.at_v for row in build_joint_row_table(mech.compiled, p).rows if row.has_dry_friction]
    sliding = (np.abs(v[:, rubbing]) >= AT_REST_SPEED).all(axis=1)
    low = np.array([-np.inf if c.lower is None else c.lower for c in mech.coordinates])
    high = np.array([np.inf if c.upper is None else c.upper for c in mech.coordinates])
    free = np.asarray(sliding & ((q > low) & (q < high)).all(axis=1))
    if not limits:
        return found._replace(free=free)
    motors = supplied_forces(mech.compiled, v, tau, p)
    return _apply_motor_speed_limits(mech, found._replace(motors=motors, free=free & ~motors.holds))


def _apply_motor_speed_limits(mech: Mechanism, states: UnconstrainedStates) -> UnconstrainedStates:
    """Solve for motors at their speed limit under load: a motor that need not reduce its force becomes free, one that
    reduces it to zero is overrun."""
    motors = states.motors
    at = np.flatnonzero(states.free & motors.keeps.any(axis=1))
    if not len(at):
        return states
    lost, idle, keeps = motors.lost.copy(), motors.idle.copy(), motors.keeps.copy()
    withheld, own = states.withheld.copy(), states.select(at)
    inverse = np.linalg.inv(np.asarray(mech.mass_matrix(own.q, p=own.p)))
    a = _compute_accelerations(mech, own)
    for mask in np.unique(own.motors.keeps, axis=0):
        rows, which = np.flatnonzero(mask), np.flatnonzero((own.motors.keeps == mask).all(axis=1))
        A, c = inverse[np.ix_(which, rows, rows)], a[np.ix_(which, rows)]
        ends = -own.motors.given[np.ix_(which, rows)]
        low, high = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        forces = np.linalg.solve(A, -c[:, :, None])[:, :, 0]
        for k in np.flatnonzero(~((forces > low) & (forces < high)).all(axis=1)):
            found, broken = resolve_sliding_rows(A[k], c[k], (low[k], high[k]), (low[k], high[k]))
            gone = broken & (found.side != 0.0)
            forces[k] = np.where(gone, 0.0, found.forces)
            keeps[at[which[k]], rows[gone]] = False
            empty = rows[gone & (found.forces != 0.0)]
            idle[at[which[k]], empty], lost[at[which[k]], empty] = True, motors.given[at[which[k]], empty]
        withheld[np.ix_(at[which], rows)] = forces
    return states._replace(motors=motors._replace(lost=lost, idle=idle, keeps=keeps), withheld=withheld)


def linear_systems_along(
    lineariser: Any, states: UnconstrainedStates, linearise_single: Callable[[int], LinearSystem]
) -> LinearSystems:
    """Return the linear systems at all states; those that are not free, and one of each kind, are computed by a
    callable, which also supplies the names."""
    place = np.zeros((len(states.time), 2), dtype=int)
    parts: list[Sequence[LinearSystem]] = []
    for mask in np.unique(states.motors.keeps[states.free], axis=0):
        which = np.flatnonzero(states.free & (states.motors.keeps == mask).all(axis=1))
        first, own = linearise_single(int(which[0])), states.select(which)
        arrays = _system_arrays(lineariser, first, own, np.flatnonzero(mask))
        for name, array in arrays.items():
            array[0] = getattr(first, name)
        place[which] = np.stack([np.full(len(which), len(parts)), np.arange(len(which))], axis=1)
        parts.append(SystemsFromArrays(first, own.time, arrays))
    others = np.flatnonzero(~states.free)
    place[others] = np.stack([np.full(len(others), len(parts)), np.arange(len(others))], axis=1)
    parts.append([linearise_single(int(k)) for k in others])
    systems = parts[0] if len(parts[0]) == len(place) else ConcatenatedSystems(parts, place)
    shared = [part[0].coordinates for part in parts[:-1]]
    names = [shared[part] if part < len(shared) else parts[part][at].coordinates for part, at in place.tolist()]
    turns = [0, *(k for k, (old, new) in enumerate(pairwise(names), 1) if old != new)]
    return LinearSystems(states.time, systems, tuple((float(states.time[k]), names[k]) for k in turns))


def _compute_accelerations(mech: Mechanism, states: UnconstrainedStates) -> Array:
    """Return accelerations (n, nv) of states with sliding friction and without stop contact."""
    if any(row.has_dry_friction for row in build_joint_row_table(mech.compiled, states.p).rows):
        return np.asarray(
            mech.forward_dynamics(states.q, states.v, states.acting_joint_forces, p=states.p, t=states.time)
        )
    return mech.compiled.call(
        "forward_dynamics", states.q, states.v, states.acting_joint_forces, p=states.p, t=states.time
    )


def _acceleration_derivatives(
    lineariser: Any, states: UnconstrainedStates, a: Array
) -> tuple[Array, Array, Array, Array]:
    """Return (n, nv, nv) rotation of displacements; (n, nv, 2 nv) ∂a with respect to displacements and speeds; (n, nv,
    nv) ∂a/∂τ; (n, nv, m) ∂f/∂p."""
    mech, nv, count = lineariser.mech, lineariser.mech.nv, len(states.q)
    none = np.zeros((count, 0))
    plain = mech.nq == nv and not mech.compiled.program.symbolic.is_long
    if plain and not lineariser.by_parameters:
        found = mech.compiled.call(
            "motion_slopes", states.q, states.v, states.acting_joint_forces, p=states.p, t=states.time
        )
        by_state = np.concatenate([found[:, 0], found[:, 1]], axis=2)
        return np.zeros((count, nv, nv)), by_state, found[:, 2], np.zeros((count, nv, 0))
    state = {"q": states.q, "v": states.v, "u": a, "x": none, "t": mech.compiled.time_argument(states.time, states.p)}
    e = lineariser.derivatives.evaluate_many(state, none, states.p)
    inverse = np.linalg.inv(np.asarray(mech.mass_matrix(states.q, p=states.p)))
    return e.turn, -inverse @ np.concatenate([e.f_q, e.f_v], axis=2), inverse, e.f_p


def _system_arrays(
    lineariser: Any, template: LinearSystem, state_set: UnconstrainedStates, limited_speeds: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the array fields of the systems by name, for states in which the same motors are at their speed limit."""
    mech, nv, count, motors = lineariser.mech, lineariser.mech.nv, len(state_set.q), state_set.motors
    free = np.setdiff1d(np.arange(nv), limited_speeds)
    a = _compute_accelerations(mech, state_set)
    y = lineariser.outputs.evaluate_many(state_set.q, state_set.v, a, motors.given, state_set.p, state_set.time)
    table = lineariser.inputs.table
    by_tau = np.array([each.speed for each in table if each.speed >= 0], dtype=int)
    at_tau = [k for k, each in enumerate(table) if each.speed >= 0]
    at_p = [k for k, each in enumerate(table) if each.parameter]
    y_w = np.zeros((count, y.y.shape[1], len(table)))
    heard = ~motors.unresponsive_mask[:, None, by_tau]
    y_w[:, :, at_p], y_w[:, :, at_tau] = y.y_p, y.y_tau[:, :, by_tau] * heard
    turn, by_state, by_forces, f_p = _acceleration_derivatives(lineariser, state_set, a)
    by_inputs = np.zeros((count, nv, len(table)))
    by_inputs[:, :, at_tau] = by_forces[:, :, by_tau] * heard
    if at_p:
        by_inputs[:, :, at_p] = -by_forces @ f_p
    states = [*free, *(nv + free)]
    faster = np.concatenate([by_state[:, :, states], by_inputs], axis=2)
    if len(limited_speeds):
        carried = np.linalg.solve(by_forces[:, limited_speeds[:, None], limited_speeds], faster[:, limited_speeds])
        faster = faster - by_forces[:, :, limited_speeds] @ carried
        faster[:, limited_speeds] = 0.0
    seen = np.concatenate([y.y_q[:, :, free], y.y_v[:, :, free], y_w], axis=2) + y.y_a @ faster
    k = len(free)
    one = np.broadcast_to(np.eye(k), (count, k, k))
    still = np.zeros((count, k, len(table)))
    moving = np.concatenate([turn[:, free[:, None], free], one, still], axis=2)
    rates = np.concatenate([moving, faster[:, free]], axis=1)
    places = np.array([mech.q_names.index(mech.v_names[i]) if mech.v_names[i] in mech.q_names else -1 for i in free])
    s = np.where(places >= 0, state_set.q[:, places], 0.0) if k else np.zeros((count, 0))
    u0 = np.broadcast_to(template.u0, (count, len(table))).copy()
    u0[:, at_tau] = state_set.tau[:, by_tau]
    basis = np.zeros((count, nv, 2 * k))
    basis[:, free, np.arange(k)] = 1.0
    arrays = {"A": rates[:, :, : 2 * k], "B": rates[:, :, 2 * k :], "C": seen[:, :, : 2 * k], "D": seen[:, :, 2 * k :]}
    arrays |= {"x0": np.concatenate([s, state_set.v[:, free]], axis=1), "u0": u0, "y0": y.y[:, :, 0], "basis": basis}
    arrays |= {"residual": np.concatenate([state_set.v[:, free], a[:, free]], axis=1)}
    arrays |= {"q": state_set.q, "v": state_set.v, "a": a, "tau": motors.given}
    limits = {"saturated": motors.full, "overrun": motors.idle, "limited": motors.keeps}
    return {name: array.copy() for name, array in arrays.items()} | {
        name: _names_of_marked_speeds(mech, which) for name, which in limits.items()
    }


def _names_of_marked_speeds(mech: Mechanism, marked: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """Return the names of the marked speeds for each state."""
    known = {row.tobytes(): tuple(np.array(mech.v_names)[row].tolist()) for row in np.unique(marked, axis=0)}
    return [known[row.tobytes()] for row in marked]


def linearise(
    machine: Model | Mechanism | Run,
    at: Any = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    coordinates: Sequence[str] | Literal["auto"] = "auto",
    form: Literal["minimal", "descriptor"] = "minimal",
    v: Any = None,
    tau: Any = None,
    p: Values = None,
    t: float = 0.0,
    driver_as: Literal["signal", "acceleration"] = "signal",
    friction: bool = True,
    motors: bool = True,
) -> LinearSystem | LinearSystems | DescriptorSystem:
    """Linearise a machine exactly on its constraint manifold.

    machine : a model, a mechanism, or a run
    at : (nq,) position, closed first (default: the rest pose), an `OperatingPoint`'s solution, or the name of one of
        the document; of a run a time, s, or times, for which a `LinearSystems` is given
    inputs : names as `core.control.inputs` says: joint.tau, force.input, driver.signal, parameters, gravity.x,
        frame.force … ; outputs : channels of a run, or formulas of them
    coordinates : names of independent speeds, or "auto"; form : "minimal" in these, or "descriptor": (E, A, B, C, D) in
        all coordinates, accelerations and multipliers, at one state (a `DescriptorSystem`)
    v, tau : (nv,) or by name; p : parameters; t : s; of a run its own
    driver_as : a driver's input is what it moves by, in columns of value, rate and second rate; or its acceleration,
        value and rate being states
    friction : joints at rest stick where dry friction holds them
    motors : `tau` is what motors are asked for, which give what their limits allow, as in runs: at a limit of effort
        its input changes nothing, at one of speed that is held (`saturated`, `limited` of what comes); False: joints
        get it

    Raises ModelError for names that there are not, coordinates that do not determine the motion, and outputs that
    depend on forces which redundant constraints leave open.
    """
    if driver_as not in ("signal", "acceleration"):
        raise ModelError(
            f"driver_as cannot be '{driver_as}'.", where="driver_as", remedy="Use 'signal' or 'acceleration'."
        )
    if form not in ("minimal", "descriptor"):
        raise ModelError(f"form cannot be '{form}'.", where="form", remedy="Use 'minimal' or 'descriptor'.")
    for word, names in (("inputs", inputs), ("outputs", outputs), ("coordinates", coordinates)):
        if isinstance(names, str) and (word, names) != ("coordinates", "auto"):
            raise ModelError(f"{word} is a single string.", where=word, remedy=f"Write a list: {word}=['{names}'].")
        if wrong := [name for name in names if not isinstance(name, str)]:
            raise ModelError(f"{wrong[0]!r} is not a name.", where=word, remedy="Give names as strings.")
    named = () if isinstance(coordinates, str) else tuple(coordinates)
    points, many = _points_from_arguments(machine, at, v, tau, p, t)
    if not points:
        raise ModelError(
            "No times are given.", where="at", remedy="Give at least one, or omit `at` for all samples of the run."
        )
    first = points[0]
    first.mech.model.expanded.signal_table.require_continuous("linear system")
    maker = Lineariser(first.mech, inputs, outputs, first.p, driver_as, friction, motors)
    if form == "descriptor":
        return _descriptor_system(points, many, maker)
    if len(points) > 1 and not named and (all_at_once := _open_chain_systems(maker, points)) is not None:
        return all_at_once
    systems: list[LinearSystem] = []
    changes: list[tuple[float, tuple[str, ...]]] = []
    for point in points:
        found = maker.at(point, named, previous_speeds=changes[-1][1] if changes else ())
        if not changes or found.coordinates != changes[-1][1]:
            changes.append((point.t, found.coordinates))
        systems.append(found)
    return LinearSystems(np.array([each.t for each in points]), tuple(systems), tuple(changes)) if many else systems[0]


def _descriptor_system(points: Sequence[StatePoint], is_sequence: bool, lineariser: Lineariser) -> DescriptorSystem:
    if is_sequence:
        raise ModelError("A descriptor system can be computed for one state only.", where="at", remedy="Give one time.")
    return lineariser.descriptor_system_at(points[0])


def _open_chain_systems(lineariser: Lineariser, points: Sequence[StatePoint]) -> LinearSystems | None:
    """Linearise at all points at once, for machines without constraints; None if that is not possible."""
    q, v, tau = (np.array([getattr(point, name) for point in points]) for name in ("q", "v", "tau"))
    p = lineariser.values(points[0].p)
    states = unconstrained_states(
        lineariser.mech, p, q, v, tau, np.array([point.t for point in points]), lineariser.motors
    )
    return linear_systems_along(lineariser, states, lambda k: lineariser.at(points[k])) if states.free.any() else None


def _points_from_arguments(
    machine: Any, states: Any, v: Any, tau: Any, p: Values, t: float
) -> tuple[list[StatePoint], bool]:
    if hasattr(machine, "computed_channels"):
        return _points_from_run(machine, states)
    mech = machine if isinstance(machine, Mechanism) else Mechanism(machine)
    if isinstance(states, str):
        states = OperatingPoint(mech, states, p=p).solve().raise_unless_fulfilled()
    if hasattr(states, "multipliers"):  # a solved operating point, whose machine has a parameter more for other inputs
        own = states.mech if states.mech.p_names != mech.p_names else mech
        return [
            StatePoint(own, states.q, states.v, states.tau, states.x, own.parameter_values(states.parameters), states.t)
        ], False
    return [point_from_arguments(mech, states, v, tau, p, t)], False


def _points_from_run(run: Any, sample_times: Any) -> tuple[list[StatePoint], bool]:
    times = np.atleast_1d(np.asarray(run.time if sample_times is None else sample_times, dtype=float))
    outside = times[(times < run.time[0]) | (times > run.time[-1]) | ~np.isfinite(times)]
    if len(outside):
        raise ModelError(
            f"The run has no time {outside[0]:g} s.",
            where="at",
            remedy=f"Give times from {run.time[0]:g} to {run.time[-1]:g} s.",
        )
    mech = run.mech
    values = run.settings.values_of(mech.p_names)
    q = interpolate_positions(run, times)[0]
    v, tau = (np.array([np.interp(times, run.time, each) for each in rows.T]).T for rows in (run.v, run.tau))
    result = []
    for k, time in enumerate(times):
        x = run.states_at(float(time)) if run.x.shape[1] else None
        result.append(StatePoint(mech, q[k], v[k], tau[k], x, values, float(time)))
    return result, np.ndim(run.time if sample_times is None else sample_times) > 0
