"""Linearisation of machines without constraints at many states at once: all coordinates are independent, so that A, B,
C, D follow from the derivatives by one solution with M for all states.

Motors that keep their limit of speed take the freedoms of their joints: with P = 1 − M⁻¹Wᵀ(W M⁻¹ Wᵀ)⁻¹W, W their rows
of 1, accelerations are P M⁻¹(…) in place of M⁻¹(…), and their joints have no states. States with the same motors at
their limits are taken together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import joint_modes
from core.constraints.joint_rows import AT_REST_SPEED
from core.constraints.motor_limits import SuppliedForces, supplied_forces
from core.control.linear_system import LinearSystem, LinearSystems, SystemsInTurn, SystemsOfArrays
from core.mechanism import Mechanism
from core.numerics.bounded_forces import resolved

Array = NDArray[np.float64]


class UnconstrainedStates(NamedTuple):
    """States q (n, nq), v (n, nv), tau (n, nv) as commanded, p, time (n,). motors : forces that the motors supply, with
    `keeps` marking those at their speed limit; withheld : (n, nv) reduction of these forces; free : (n,) True if no
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
    def acting(self) -> Array:
        """Joint forces (n, nv) that act."""
        return self.motors.given - self.motors.lost + self.withheld

    def selected(self, which: NDArray[np.int64]) -> UnconstrainedStates:
        """Return the selected states."""
        given, lost, full, idle, keeps, holds = self.motors
        motors = SuppliedForces(given[which], lost[which], full[which], idle[which], keeps[which], holds[which])
        motion = self.q[which], self.v[which], self.tau[which], self.p, self.time[which]
        return UnconstrainedStates(*motion, motors, self.withheld[which], self.free[which])


def unconstrained_states(
    mech: Mechanism, p: Array, q: Array, v: Array, tau: Array, time: Array, limits: bool
) -> UnconstrainedStates:
    """Return states (n, …) of a machine with the forces that its motors supply; limits : True if motor limits act. A
    state is free if no constraint, sticking joint, joint stop or other row at a speed limit acts."""
    none = np.zeros(tau.shape, dtype=bool)
    motors = SuppliedForces(tau, np.zeros_like(tau), none, none, none, np.zeros(len(tau), dtype=bool))
    found = UnconstrainedStates(q, v, tau, p, time, motors, np.zeros_like(tau), np.zeros(len(q), dtype=bool))
    if mech.constrained or mech.nx or mech.compiled.by_mass_matrix or not mech.nv:
        return found
    rubbing = [row.at_v for row in joint_modes(mech.compiled, p).rows if row.rubs]
    sliding = (np.abs(v[:, rubbing]) >= AT_REST_SPEED).all(axis=1)
    low = np.array([-np.inf if c.lower is None else c.lower for c in mech.coordinates])
    high = np.array([np.inf if c.upper is None else c.upper for c in mech.coordinates])
    free = np.asarray(sliding & ((q > low) & (q < high)).all(axis=1))
    if not limits:
        return found._replace(free=free)
    motors = supplied_forces(mech.compiled, v, tau, p)
    return _with_speed_limits(mech, found._replace(motors=motors, free=free & ~motors.holds))


def _with_speed_limits(mech: Mechanism, states: UnconstrainedStates) -> UnconstrainedStates:
    """Solve for motors at their speed limit under load: those that need not withhold force become free, those that
    withhold all are overrun."""
    motors = states.motors
    at = np.flatnonzero(states.free & motors.keeps.any(axis=1))
    if not len(at):
        return states
    lost, idle, keeps = motors.lost.copy(), motors.idle.copy(), motors.keeps.copy()
    withheld, own = states.withheld.copy(), states.selected(at)
    inverse = np.linalg.inv(np.asarray(mech.mass_matrix(own.q, p=own.p)))
    a = _accelerations(mech, own)
    for mask in np.unique(own.motors.keeps, axis=0):
        rows, which = np.flatnonzero(mask), np.flatnonzero((own.motors.keeps == mask).all(axis=1))
        A, c = inverse[np.ix_(which, rows, rows)], a[np.ix_(which, rows)]
        ends = -own.motors.given[np.ix_(which, rows)]
        low, high = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        forces = np.linalg.solve(A, -c[:, :, None])[:, :, 0]
        for k in np.flatnonzero(~((forces > low) & (forces < high)).all(axis=1)):
            found, broken = resolved(A[k], c[k], (low[k], high[k]), (low[k], high[k]))
            gone = broken & (found.side != 0.0)
            forces[k] = np.where(gone, 0.0, found.forces)
            keeps[at[which[k]], rows[gone]] = False
            empty = rows[gone & (found.forces != 0.0)]
            idle[at[which[k]], empty], lost[at[which[k]], empty] = True, motors.given[at[which[k]], empty]
        withheld[np.ix_(at[which], rows)] = forces
    return states._replace(motors=motors._replace(lost=lost, idle=idle, keeps=keeps), withheld=withheld)


def systems_along(lineariser: Any, states: UnconstrainedStates, single: Callable[[int], LinearSystem]) -> LinearSystems:
    """Return the linear systems at all states; states that are not free, and one of each kind, are computed by
    `single`, which also gives the names."""
    place = np.zeros((len(states.time), 2), dtype=int)
    parts: list[Sequence[LinearSystem]] = []
    for mask in np.unique(states.motors.keeps[states.free], axis=0):
        which = np.flatnonzero(states.free & (states.motors.keeps == mask).all(axis=1))
        first, own = single(int(which[0])), states.selected(which)
        arrays = _system_arrays(lineariser, first, own, np.flatnonzero(mask))
        for name, array in arrays.items():
            array[0] = getattr(first, name)
        place[which] = np.stack([np.full(len(which), len(parts)), np.arange(len(which))], axis=1)
        parts.append(SystemsOfArrays(first, own.time, arrays))
    others = np.flatnonzero(~states.free)
    place[others] = np.stack([np.full(len(others), len(parts)), np.arange(len(others))], axis=1)
    parts.append([single(int(k)) for k in others])
    systems = parts[0] if len(parts[0]) == len(place) else SystemsInTurn(parts, place)
    shared = [part[0].coordinates for part in parts[:-1]]
    names = [shared[part] if part < len(shared) else parts[part][at].coordinates for part, at in place.tolist()]
    turns = [0, *(k for k, (old, new) in enumerate(pairwise(names), 1) if old != new)]
    return LinearSystems(states.time, systems, tuple((float(states.time[k]), names[k]) for k in turns))


def _accelerations(mech: Mechanism, at: UnconstrainedStates) -> Array:
    """Return accelerations (n, nv) of states with sliding friction and without stop contact."""
    if any(row.rubs for row in joint_modes(mech.compiled, at.p).rows):
        return np.asarray(mech.forward_dynamics(at.q, at.v, at.acting, p=at.p, t=at.time))
    return mech.compiled.call("forward_dynamics", at.q, at.v, at.acting, p=at.p, t=at.time)


def _acceleration_derivatives(lineariser: Any, at: UnconstrainedStates, a: Array) -> tuple[Array, Array, Array, Array]:
    """Return (n, nv, nv) rotation of displacements; (n, nv, 2 nv) ∂a by displacements and speeds; (n, nv, nv) ∂a/∂τ;
    (n, nv, m) ∂f/∂p."""
    mech, nv, count = lineariser.mech, lineariser.mech.nv, len(at.q)
    none = np.zeros((count, 0))
    plain = mech.nq == nv and not mech.compiled.program.symbolic.long
    if plain and not lineariser.by_parameters:
        found = mech.compiled.call("motion_slopes", at.q, at.v, at.acting, p=at.p, t=at.time)
        by_state = np.concatenate([found[:, 0], found[:, 1]], axis=2)
        return np.zeros((count, nv, nv)), by_state, found[:, 2], np.zeros((count, nv, 0))
    state = {"q": at.q, "v": at.v, "u": a, "x": none, "t": mech.compiled.time_argument(at.time, at.p)}
    e = lineariser.derivatives.many(state, none, at.p)
    inverse = np.linalg.inv(np.asarray(mech.mass_matrix(at.q, p=at.p)))
    return e.turn, -inverse @ np.concatenate([e.f_q, e.f_v], axis=2), inverse, e.f_p


def _system_arrays(
    lineariser: Any, first: LinearSystem, at: UnconstrainedStates, held: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the array fields of the systems by name; held : speeds kept by motors at their speed limit, equal in all
    states"""
    mech, nv, count, motors = lineariser.mech, lineariser.mech.nv, len(at.q), at.motors
    free = np.setdiff1d(np.arange(nv), held)
    a = _accelerations(mech, at)
    y = lineariser.outputs.many(at.q, at.v, a, motors.given, at.p, at.time)
    table = lineariser.inputs.table
    by_tau = np.array([each.speed for each in table if each.speed >= 0], dtype=int)
    at_tau = [k for k, each in enumerate(table) if each.speed >= 0]
    at_p = [k for k, each in enumerate(table) if each.parameter]
    y_w = np.zeros((count, y.y.shape[1], len(table)))
    heard = ~motors.silent[:, None, by_tau]
    y_w[:, :, at_p], y_w[:, :, at_tau] = y.y_p, y.y_tau[:, :, by_tau] * heard
    turn, by_state, by_forces, f_p = _acceleration_derivatives(lineariser, at, a)
    by_inputs = np.zeros((count, nv, len(table)))
    by_inputs[:, :, at_tau] = by_forces[:, :, by_tau] * heard
    if at_p:
        by_inputs[:, :, at_p] = -by_forces @ f_p
    states = [*free, *(nv + free)]
    faster = np.concatenate([by_state[:, :, states], by_inputs], axis=2)
    if len(held):
        carried = np.linalg.solve(by_forces[:, held[:, None], held], faster[:, held])
        faster = faster - by_forces[:, :, held] @ carried
        faster[:, held] = 0.0
    seen = np.concatenate([y.y_q[:, :, free], y.y_v[:, :, free], y_w], axis=2) + y.y_a @ faster
    k = len(free)
    one = np.broadcast_to(np.eye(k), (count, k, k))
    still = np.zeros((count, k, len(table)))
    moving = np.concatenate([turn[:, free[:, None], free], one, still], axis=2)
    rates = np.concatenate([moving, faster[:, free]], axis=1)
    places = np.array([mech.q_names.index(mech.v_names[i]) if mech.v_names[i] in mech.q_names else -1 for i in free])
    s = np.where(places >= 0, at.q[:, places], 0.0) if k else np.zeros((count, 0))
    u0 = np.broadcast_to(first.u0, (count, len(table))).copy()
    u0[:, at_tau] = at.tau[:, by_tau]
    basis = np.zeros((count, nv, 2 * k))
    basis[:, free, np.arange(k)] = 1.0
    arrays = {"A": rates[:, :, : 2 * k], "B": rates[:, :, 2 * k :], "C": seen[:, :, : 2 * k], "D": seen[:, :, 2 * k :]}
    arrays |= {"x0": np.concatenate([s, at.v[:, free]], axis=1), "u0": u0, "y0": y.y[:, :, 0], "basis": basis}
    arrays |= {"residual": np.concatenate([at.v[:, free], a[:, free]], axis=1)}
    arrays |= {"q": at.q, "v": at.v, "a": a, "tau": motors.given}
    limits = {"saturated": motors.full, "overrun": motors.idle, "limited": motors.keeps}
    return {name: array.copy() for name, array in arrays.items()} | {
        name: _names_of_marked(mech, which) for name, which in limits.items()
    }


def _names_of_marked(mech: Mechanism, which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """Return the names of the marked speeds for each state."""
    known = {row.tobytes(): tuple(np.array(mech.v_names)[row].tolist()) for row in np.unique(which, axis=0)}
    return [known[row.tobytes()] for row in which]
