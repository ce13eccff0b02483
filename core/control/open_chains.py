"""Linear systems of machines without constraints at many states at once: all is independent, so that B = 1, and A, B,
C, D follow from the derivatives by one solution with M for all states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import joint_modes
from core.constraints.joint_rows import AT_REST_SPEED
from core.constraints.motor_limits import Supplied, supplied
from core.control.linear_system import LinearSystem, LinearSystems, SystemsOfArrays
from core.mechanism import Mechanism

Array = NDArray[np.float64]


def open_states(mech: Mechanism, p: Array, q: Array, v: Array, asked: Array | None = None) -> NDArray[np.bool_]:
    """(n,) at which states nothing holds a machine: no constraint, no joint that may stick, no stop, no motor that is
    asked for forces (n, nv) and keeps its limit of speed."""
    if mech.constrained or mech.nx or mech.compiled.by_mass_matrix or not mech.nv:
        return np.zeros(len(q), dtype=bool)
    rubbing = [row.at_v for row in joint_modes(mech.compiled, p).rows if row.rubs]
    sliding = (np.abs(v[:, rubbing]) >= AT_REST_SPEED).all(axis=1)
    low = np.array([-np.inf if c.lower is None else c.lower for c in mech.coordinates])
    high = np.array([np.inf if c.upper is None else c.upper for c in mech.coordinates])
    free = np.asarray(sliding & ((q > low) & (q < high)).all(axis=1))
    return free if asked is None else free & ~supplied(mech.compiled, v, asked, p).holds


def along(
    lineariser: Any, others: Mapping[int, LinearSystem], q: Array, v: Array, tau: Array, p: Array, time: Array
) -> LinearSystems:
    """At states (n, …). others : systems of some of them, at least one, whose names all share"""
    first = next(iter(others.values()))
    arrays = _arrays(lineariser, first, q, v, tau, p, time)
    for k, system in others.items():
        for name, array in arrays.items():
            array[k] = getattr(system, name)
    changes = ((float(time[0]), first.coordinates),)
    return LinearSystems(time, SystemsOfArrays(first, time, arrays), changes)


def _accelerations(mech: Mechanism, q: Array, v: Array, tau: Array, p: Array, time: Array) -> Array:
    """(n, nv) of states in which friction slides, and no stop is met."""
    if any(row.rubs for row in joint_modes(mech.compiled, p).rows):
        return np.asarray(mech.forward_dynamics(q, v, tau, p=p, t=time))
    return mech.compiled.call("forward_dynamics", q, v, tau, p=p, t=time)


def _slopes(
    lineariser: Any, q: Array, v: Array, tau: Array, a: Array, p: Array, time: Array
) -> tuple[Array, Array, Array, Array]:
    """(n, nv, nv) turn of displacements; (n, nv, 2 nv) ∂a by displacements and speeds; (n, nv, nv) ∂a/∂τ; (n, nv, m)
    ∂f/∂p."""
    mech, nv, count = lineariser.mech, lineariser.mech.nv, len(q)
    none = np.zeros((count, 0))
    plain = mech.nq == nv and not mech.compiled.program.tracer.long
    if plain and not lineariser.by_parameters:
        found = mech.compiled.call("motion_slopes", q, v, tau, p=p, t=time)
        by_state = np.concatenate([found[:, 0], found[:, 1]], axis=2)
        return np.zeros((count, nv, nv)), by_state, found[:, 2], np.zeros((count, nv, 0))
    state = {"q": q, "v": v, "u": a, "x": none, "t": mech.compiled.time_argument(time, p)}
    e = lineariser.derivatives.many(state, none, p)
    inverse = np.linalg.inv(np.asarray(mech.mass_matrix(q, p=p)))
    return e.turn, -inverse @ np.concatenate([e.f_q, e.f_v], axis=2), inverse, e.f_p


def _arrays(
    lineariser: Any, first: LinearSystem, q: Array, v: Array, tau: Array, p: Array, time: Array
) -> dict[str, Any]:
    """What of systems is an array, by name; tau : as asked for."""
    mech, nv, count = lineariser.mech, lineariser.mech.nv, len(q)
    none = np.zeros(tau.shape, dtype=bool)
    motors = Supplied(tau, np.zeros_like(tau), none, none, none[:, 0])
    if lineariser.motors:
        motors = supplied(mech.compiled, v, tau, p)
    acting = motors.given - motors.lost
    a = _accelerations(mech, q, v, acting, p, time)
    y = lineariser.outputs.many(q, v, a, motors.given, p, time)
    table = lineariser.inputs.table
    by_tau = np.array([each.speed for each in table if each.speed >= 0], dtype=int)
    at_tau = [k for k, each in enumerate(table) if each.speed >= 0]
    at_p = [k for k, each in enumerate(table) if each.parameter]
    y_w = np.zeros((count, y.y.shape[1], len(table)))
    heard = ~motors.silent[:, None, by_tau]
    y_w[:, :, at_p], y_w[:, :, at_tau] = y.y_p, y.y_tau[:, :, by_tau] * heard
    turn, by_state, by_forces, f_p = _slopes(lineariser, q, v, acting, a, p, time)
    by_inputs = np.zeros((count, nv, len(table)))
    by_inputs[:, :, at_tau] = by_forces[:, :, by_tau] * heard
    if at_p:
        by_inputs[:, :, at_p] = -by_forces @ f_p
    faster = np.concatenate([by_state, by_inputs], axis=2)
    seen = np.concatenate([y.y_q, y.y_v, y_w], axis=2) + y.y_a @ faster
    one = np.broadcast_to(np.eye(nv), (count, nv, nv))
    still = np.zeros((count, nv, len(table)))
    rates = np.concatenate([np.concatenate([turn, one, still], axis=2), faster], axis=1)
    n = 2 * nv
    names = mech.v_names
    places = [mech.q_names.index(name) if name in mech.q_names else -1 for name in names]
    s = np.where(np.array(places) >= 0, q[:, places], 0.0)
    u0 = np.broadcast_to(first.u0, (count, len(table))).copy()
    u0[:, at_tau] = tau[:, by_tau]
    basis = np.concatenate([one, np.zeros((count, nv, nv))], axis=2)
    arrays = {"A": rates[:, :, :n], "B": rates[:, :, n:], "C": seen[:, :, :n], "D": seen[:, :, n:]}
    arrays |= {"x0": np.concatenate([s, v], axis=1), "u0": u0, "y0": y.y[:, :, 0], "basis": basis}
    arrays |= {"residual": np.concatenate([v, a], axis=1), "q": q, "v": v, "a": a, "tau": motors.given}
    return arrays | {"saturated": _named(mech, motors.full), "overrun": _named(mech, motors.idle)}


def _named(mech: Mechanism, which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """Names of those speeds, for each state."""
    known = {row.tobytes(): tuple(np.array(mech.v_names)[row].tolist()) for row in np.unique(which, axis=0)}
    return [known[row.tobytes()] for row in which]
