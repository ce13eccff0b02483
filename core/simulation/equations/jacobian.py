"""Exact Jacobian ∂f/∂y of the equations of motion from symbolic derivatives of the force balance.

With b = M a + h − Gᵀ λ and g = G a + Ġ v − f̈ held at the accelerations and multipliers that were found, each entry of y
changes the accelerations by M δa = Gᵀ δλ + δu − δb, G δa = −δg: the equations of motion once more, with the factors
that are there (`core.simulation.equations.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.machine_code.language import native, scratch
from core.programs.native_function import evaluate_function, load_function, put_argument, result_view
from core.simulation.equations.constrained import factor_mass, row_space_multipliers, satisfy_rows, work_vector
from core.simulation.equations.elimination_places import (
    gather_speeds,
    load_sparse,
    scatter_speeds,
    solve_lower,
    solve_transposed,
)
from core.simulation.equations.system import ACCELERATION, AT_Q, BEHIND_TIME, load_system, put_states_and_time
from core.simulation.equations.unconstrained import joint_forces


@native
def compute_multipliers(system: int, u: Any, out: Any) -> None:
    """Compute λ into out (rows, including those that join segments) from Gᵀ λ = M a + h − u; zero for redundant rows.
    Needs the factors of M and G."""
    s = load_system(system)
    n, nv = len(load_sparse(s.sparse).unknowns), s.nv
    h, drift, wanted = result_view(s.bias_smooth, nv), result_view(s.constraint_bias, s.rows), work_vector(system, 0)
    forces, free, w = scratch(nv), scratch(n), scratch(n)
    for i in range(nv):
        forces[i] = u[i] - h[i]
    scatter_speeds(s.sparse, forces, free)
    solve_transposed(s.sparse, free)
    for i in range(n):
        w[i] = free[i]
    for i in range(s.rows):
        wanted[i] = -drift[i]
    satisfy_rows(system, wanted, w, ACCELERATION, True)
    for i in range(n):
        w[i] -= free[i]
    row_space_multipliers(system, w, out)
    for i in range(s.rows):  # M + ρ Gᵀ G took the place of M, and G a = −drift
        out[i] += s.weight * drift[i]


@native
def evaluate_derivatives(system: int, t: float, y: Any, a: Any) -> None:
    """Evaluate the symbolic derivatives."""
    s = load_system(system)
    nq, nv = s.nq, s.nv
    put_argument(s.slopes, AT_Q, y[: nq + nv])
    put_argument(s.slopes, nq + nv, a)
    if s.rows > 0:
        held = work_vector(system, 1)[: len(s.levels)]
        compute_multipliers(system, joint_forces(system, t, y), held)
        put_argument(s.slopes, nq + 2 * nv, held[: s.rows])
    put_states_and_time(system, s.slopes)
    evaluate_function(s.slopes)
    if s.torque_slopes != 0:
        load_function(s.torque_slopes).memory[0] = t
        put_argument(s.torque_slopes, BEHIND_TIME, y[: nq + nv])
        evaluate_function(s.torque_slopes)


@native
def solve_acceleration_columns(system: int, by_y: Any, X: Any) -> None:
    """Solve M δa = Gᵀ δλ + column, G δa = −δg for each column of X (nv, n), overwritten by δa."""
    s = load_system(system)
    nv, m, n = s.nv, s.rows, s.nq + s.nv + s.nx
    x, w, wanted = scratch(nv), work_vector(system, 1), work_vector(system, 0)
    for j in range(n):
        for i in range(nv):
            x[i] = X[i * n + j]
        scatter_speeds(s.sparse, x, w)
        solve_transposed(s.sparse, w)
        if m > 0:
            for i in range(m):
                wanted[i] = -by_y[j * (n + m) + s.nq + nv + i]
            satisfy_rows(system, wanted, w, ACCELERATION, True)
        solve_lower(s.sparse, w)
        gather_speeds(s.sparse, w, x)
        for i in range(nv):
            X[i * n + j] = x[i]


@native
def compute_jacobian(system: int, t: float, y: Any, f: Any, J: Any) -> Any:
    """Compute ∂f/∂y into J (n n,), row by row; f (n,) is the derivative at y, just evaluated by the full equations.
    Returns false if the result is not finite."""
    s = load_system(system)
    nq, nv, m, n = s.nq, s.nv, s.rows, s.nq + s.nv + s.nx
    a = f[nq : nq + nv]
    if not s.by_matrix and not factor_mass(system, y[:nq]):
        return False
    evaluate_derivatives(system, t, y, a)
    tall, forced = n + m, s.torque_slopes != 0
    by_y, by_u = result_view(s.slopes, n * tall), result_view(s.slopes, 0)
    if forced:
        by_u = result_view(s.torque_slopes, nv * (nq + nv))
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
    solve_acceleration_columns(system, by_y, J[nq * n :])
    for i in range(n * n):
        total += J[i] * 0.0
    return total == 0.0
