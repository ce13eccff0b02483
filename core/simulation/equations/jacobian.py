"""Exact Jacobian ∂f/∂y of the equations of motion from symbolic derivatives of the force balance.

With b = M a + h − Gᵀ λ and g = G a + Ġ v − f̈ held at the accelerations and multipliers that were found, each entry of y
changes the accelerations by M δa = Gᵀ δλ + δu − δb, G δa = −δg: the equations of motion once more, with the factors
that are there (`core.simulation.equations.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.constrained import factor_mass, meet, vector, weights
from core.simulation.equations.elimination_places import collect, load_sparse, solve, solve_transposed, spread
from core.simulation.equations.system import (
    ACCELERATION,
    AT_Q,
    BEHIND_TIME,
    evaluate,
    load_function,
    load_system,
    put,
    put_states_and_time,
    result,
)
from core.simulation.equations.unconstrained import joint_forces
from core.simulation.machine_code.language import native, scratch


@native
def multipliers(place: int, u: Any, out: Any) -> None:
    """Compute λ into out (rows, including those that join segments) from Gᵀ λ = M a + h − u; zero for redundant rows.
    Needs the factors of M and G."""
    s = load_system(place)
    n, nv = len(load_sparse(s.sparse).unknowns), s.nv
    h, drift, wanted = result(s.bias_smooth, nv), result(s.constraint_bias, s.rows), vector(place, 0)
    forces, free, w = scratch(nv), scratch(n), scratch(n)
    for i in range(nv):
        forces[i] = u[i] - h[i]
    spread(s.sparse, forces, free)
    solve_transposed(s.sparse, free)
    for i in range(n):
        w[i] = free[i]
    for i in range(s.rows):
        wanted[i] = -drift[i]
    meet(place, wanted, w, ACCELERATION, True)
    for i in range(n):
        w[i] -= free[i]
    weights(place, w, out)
    for i in range(s.rows):  # M + ρ Gᵀ G took the place of M, and G a = −drift
        out[i] += s.weight * drift[i]


@native
def evaluate_slopes(place: int, t: float, y: Any, a: Any) -> None:
    """Evaluate the symbolic derivatives."""
    s = load_system(place)
    nq, nv = s.nq, s.nv
    put(s.slopes, AT_Q, y[: nq + nv])
    put(s.slopes, nq + nv, a)
    if s.rows > 0:
        held = vector(place, 1)[: len(s.levels)]
        multipliers(place, joint_forces(place, t, y), held)
        put(s.slopes, nq + 2 * nv, held[: s.rows])
    put_states_and_time(place, s.slopes)
    evaluate(s.slopes)
    if s.torque_slopes != 0:
        load_function(s.torque_slopes).memory[0] = t
        put(s.torque_slopes, BEHIND_TIME, y[: nq + nv])
        evaluate(s.torque_slopes)


@native
def solve_columns(place: int, by_y: Any, X: Any) -> None:
    """Solve M δa = Gᵀ δλ + column, G δa = −δg for each column of X (nv, n), overwritten by δa."""
    s = load_system(place)
    nv, m, n = s.nv, s.rows, s.nq + s.nv + s.nx
    x, w, wanted = scratch(nv), vector(place, 1), vector(place, 0)
    for j in range(n):
        for i in range(nv):
            x[i] = X[i * n + j]
        spread(s.sparse, x, w)
        solve_transposed(s.sparse, w)
        if m > 0:
            for i in range(m):
                wanted[i] = -by_y[j * (n + m) + s.nq + nv + i]
            meet(place, wanted, w, ACCELERATION, True)
        solve(s.sparse, w)
        collect(s.sparse, w, x)
        for i in range(nv):
            X[i * n + j] = x[i]


@native
def slopes(place: int, t: float, y: Any, f: Any, J: Any) -> Any:
    """Compute ∂f/∂y into J (n n,), row by row; f (n,) is the derivative at y, just evaluated by the full equations.
    Returns false if the result is not finite."""
    s = load_system(place)
    nq, nv, m, n = s.nq, s.nv, s.rows, s.nq + s.nv + s.nx
    a = f[nq : nq + nv]
    if not s.by_matrix and not factor_mass(place, y[:nq]):
        return False
    evaluate_slopes(place, t, y, a)
    tall, forced = n + m, s.torque_slopes != 0
    by_y, by_u = result(s.slopes, n * tall), result(s.slopes, 0)
    if forced:
        by_u = result(s.torque_slopes, nv * (nq + nv))
    # the right-hand sides: ∂q̇/∂y, δu − δb and ∂ẋ/∂y, column by column
    total = 0.0
    for j in range(n):
        column = by_y[j * tall : (j + 1) * tall]
        for i in range(nq):
            J[i * n + j] = column[i]
        for i in range(nv):
            J[(nq + i) * n + j] = -column[nq + i]
            if forced and j < nq + nv:
                J[(nq + i) * n + j] += by_u[j * nv + i]
        for i in range(s.nx):
            J[(nq + nv + i) * n + j] = column[nq + nv + m + i]
    solve_columns(place, by_y, J[nq * n :])
    for i in range(n * n):
        total += J[i] * 0.0
    return total == 0.0
