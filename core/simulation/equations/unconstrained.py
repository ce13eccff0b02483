"""Equations of motion of machines without constraints, for compiled loops: ẏ = f(t, y) with y = (q, v, x).

Trees call the articulated-body recursion; machines with loops solve for their accelerations with the mass matrix
(`core.simulation.equations.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.machine_code.language import address_of, inserted, merged, native, view
from core.programs.native_function import evaluate_function, load_function, put_argument, result_address, result_view
from core.simulation.equations.constrained import accelerations_by_matrix
from core.simulation.equations.system import (
    AT_Q,
    BEHIND_TIME,
    compute_rates,
    load_system,
    put_states,
    put_states_and_time,
    set_time,
)


@merged
def begin_evaluation(system: int, t: float, y: Any) -> Any:
    """Set time, x and ẋ in the arguments of the functions; returns false if x and ẋ are not finite."""
    s = load_system(system)
    set_time(system, t)
    return put_states(system, y[: s.nq], y[s.nq : s.nq + s.nv], y[s.nq + s.nv :])


@merged
def joint_forces_address(system: int, t: float, y: Any) -> Any:
    """Return the address of the joint forces u, evaluated first if they vary."""
    s = load_system(system)
    if s.torque == 0:
        return address_of(s.u)
    load_function(s.torque).memory[0] = t
    put_argument(s.torque, BEHIND_TIME, y[: s.nq + s.nv])
    evaluate_function(s.torque)
    return result_address(s.torque)


@inserted
def joint_forces(system: int, t: float, y: Any) -> Any:
    """Return a view of the joint forces u (nv,)."""
    return view(joint_forces_address(system, t, y), load_system(system).nv)


@merged
def complete_derivative(system: int, y: Any, out: Any) -> Any:
    """Complete the derivative out (n,), which already holds the accelerations, by q̇ and ẋ; returns false if it is not
    finite."""
    s = load_system(system)
    last = s.nq + s.nv
    compute_rates(system, y[: s.nq], y[s.nq : last], out[: s.nq])
    for i in range(s.nx):
        out[last + i] = s.own[s.nx + i]
    total = 0.0
    for i in range(len(out)):
        total += out[i] * 0.0
    return total == 0.0


@merged
def derivative_by_recursion(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ of a kinematic tree into out by the articulated-body recursion; returns false if it is not finite."""
    s = load_system(system)
    nq, nv = s.nq, s.nv
    if not begin_evaluation(system, t, y):
        return False
    put_argument(s.forward_dynamics_smooth, AT_Q, y[: nq + nv])
    put_argument(s.forward_dynamics_smooth, nq + nv, joint_forces(system, t, y))
    put_states_and_time(system, s.forward_dynamics_smooth)
    well = evaluate_function(s.forward_dynamics_smooth)
    a = result_view(s.forward_dynamics_smooth, nv)
    for i in range(nv):
        out[nq + i] = a[i]
    return complete_derivative(system, y, out) and well


@native
def derivative_by_mass_matrix(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ of any machine into out by its mass matrix; returns false if it is not finite."""
    s = load_system(system)
    nq, last = s.nq, s.nq + s.nv
    if not begin_evaluation(system, t, y):
        return False
    if not accelerations_by_matrix(system, y[:nq], y[nq:last], joint_forces(system, t, y), out[nq:last]):
        return False
    return complete_derivative(system, y, out)
