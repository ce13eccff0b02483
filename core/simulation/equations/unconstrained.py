"""Equations of motion of machines without constraints, for compiled loops: ẏ = f(t, y) with y = (q, v, x).

Trees call the articulated-body recursion; machines with loops solve for their accelerations with the mass matrix
(`core.simulation.equations.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.constrained import by_matrix
from core.simulation.equations.system import (
    AT_Q,
    BEHIND_TIME,
    evaluate,
    load_function,
    load_system,
    put,
    put_states,
    put_states_and_time,
    rates,
    result,
    result_place,
    tick,
)
from core.simulation.machine_code.language import address_of, inserted, merged, native, view


@merged
def begin(place: int, t: float, y: Any) -> Any:
    """Set time, x and ẋ in the functions' arguments; returns false if they are not finite."""
    s = load_system(place)
    tick(place, t)
    return put_states(place, y[: s.nq], y[s.nq : s.nq + s.nv], y[s.nq + s.nv :])


@merged
def joint_forces_place(place: int, t: float, y: Any) -> Any:
    """Return the address of the joint forces u, evaluated first if they vary."""
    s = load_system(place)
    if s.torque == 0:
        return address_of(s.u)
    load_function(s.torque).memory[0] = t
    put(s.torque, BEHIND_TIME, y[: s.nq + s.nv])
    evaluate(s.torque)
    return result_place(s.torque)


@inserted
def joint_forces(place: int, t: float, y: Any) -> Any:
    """Return a view of the joint forces u (nv,)."""
    return view(joint_forces_place(place, t, y), load_system(place).nv)


@merged
def finish(place: int, y: Any, out: Any) -> Any:
    """Complete out (n,), which holds the accelerations, with q̇ and ẋ; returns false if it is not finite."""
    s = load_system(place)
    last = s.nq + s.nv
    rates(place, y[: s.nq], y[s.nq : last], out[: s.nq])
    for i in range(s.nx):
        out[last + i] = s.own[s.nx + i]
    total = 0.0
    for i in range(len(out)):
        total += out[i] * 0.0
    return total == 0.0


@merged
def by_recursion(place: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ of a kinematic tree into out by the articulated-body recursion; returns false if it is not finite."""
    s = load_system(place)
    nq, nv = s.nq, s.nv
    if not begin(place, t, y):
        return False
    put(s.forward_dynamics_smooth, AT_Q, y[: nq + nv])
    put(s.forward_dynamics_smooth, nq + nv, joint_forces(place, t, y))
    put_states_and_time(place, s.forward_dynamics_smooth)
    well = evaluate(s.forward_dynamics_smooth)
    a = result(s.forward_dynamics_smooth, nv)
    for i in range(nv):
        out[nq + i] = a[i]
    return finish(place, y, out) and well


@native
def by_mass_matrix(place: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ of any machine into out by its mass matrix; returns false if it is not finite."""
    s = load_system(place)
    nq, last = s.nq, s.nq + s.nv
    if not begin(place, t, y):
        return False
    if not by_matrix(place, y[:nq], y[nq:last], joint_forces(place, t, y), out[nq:last]):
        return False
    return finish(place, y, out)
