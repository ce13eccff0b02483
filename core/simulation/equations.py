"""The equations of motion inside compiled loops: ẏ = f(t, y) with y = (q, v, x).

Trees call the articulated-body recursion; machines with loops solve for their accelerations with the mass matrix
(`core.simulation.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.simulation.constrained import by_matrix, project
from core.simulation.native import native
from core.simulation.system import (
    BASE,
    FINE,
    FIRST,
    FORWARD,
    KIND,
    NOT_FINITE,
    SECOND,
    TORN,
    TORQUE,
    System,
    evaluate,
    put,
    put_rest,
    put_states,
    rates,
    result,
    tick,
)

__all__ = ["FINE", "NOT_FINITE", "TORN", "System", "accelerations", "derivative", "project", "sampled_accelerations"]


@native
def accelerations(s: Any, t: float, y: Any, out: Any) -> Any:
    """a into out (nv,); false if it is not finite."""
    nq, nv = s.nq, s.nv
    u = s.u
    q, v = y[:nq], y[nq : nq + nv]
    tick(s, t)
    if not put_states(s, q, v, y[nq + nv :]):
        return False
    if s.words[TORQUE, KIND] != 0:
        s.memory[s.words[TORQUE, BASE]] = t
        put(s, TORQUE, SECOND, y[: nq + nv])
        evaluate(s, TORQUE)
        u = result(s, TORQUE, nv)
    if s.by_matrix:
        return by_matrix(s, q, v, u, out)
    put(s, FORWARD, FIRST, q)
    put(s, FORWARD, nq, v)
    put(s, FORWARD, nq + nv, u)
    put_rest(s, FORWARD)
    well = evaluate(s, FORWARD)
    a = result(s, FORWARD, nv)
    for i in range(nv):
        out[i] = a[i]
    return well


@native
def derivative(s: Any, t: float, y: Any, out: Any) -> Any:
    """ẏ into out; false if it is not finite."""
    nq, n = s.nq, s.nq + s.nv
    rates(s, y[:nq], y[nq:n], out[:nq])
    well = accelerations(s, t, y, out[nq:n])
    for i in range(s.nx):
        out[n + i] = s.own[s.nx + i]
    total = 0.0
    for i in range(len(out)):
        total += out[i] * 0.0
    return well and total == 0.0


@native
def sampled_accelerations(s: Any, times: Any, states: Any, out: Any, forces: Any) -> Any:
    """a and τ at every sample; the number of samples with a result that is not finite."""
    bad = 0
    for k in range(len(times)):
        if not accelerations(s, times[k], states[k], out[k]):
            bad += 1
        u = result(s, TORQUE, s.nv) if s.words[TORQUE, KIND] != 0 else s.u
        for i in range(s.nv):
            forces[k, i] = u[i]
    return bad
