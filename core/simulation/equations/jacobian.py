"""The exact Jacobian ∂f/∂y of the equations of motion, from the traced derivatives of the balance of forces.

With b = M a + h − Gᵀ λ and g = G a + Ġ v − f̈ held at the accelerations and multipliers that were found, each entry of y
changes the accelerations by M δa = Gᵀ δλ + δu − δb, G δa = −δg: the equations of motion once more, with the factors
that are there (`core.simulation.equations.constrained`).
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.constrained import (
    VECTORS,
    WEIGHT,
    by_transpose,
    factor_mass,
    factor_rows,
    forward_substitute,
    meet,
    vector,
)
from core.simulation.equations.system import (
    BASE,
    BIAS,
    DRIFT,
    FIRST,
    JACOBIAN,
    KIND,
    MASS,
    SECOND,
    SLOPES,
    THIRD,
    TORQUE_SLOPES,
    evaluate,
    load_system,
    put,
    put_rest,
    result,
)
from core.simulation.equations.unconstrained import joint_forces
from core.simulation.machine_code.language import native, scratch


@native
def multipliers(place: int, rank: int, a: Any, u: Any, out: Any) -> None:
    """λ into out (rows,): Gᵀ λ = M a + h − u; zero for redundant rows. Needs the factors."""
    s = load_system(place)
    n, m, weight = s.nv, s.rows, s.room[WEIGHT]
    L, Y = result(place, MASS, n * n), result(place, JACOBIAN, m * n)
    h, drift, R = result(place, BIAS, n), result(place, DRIFT, m), s.room[VECTORS * max(s.nq, n, m) :]
    free, w = scratch(n), scratch(n)
    for i in range(n):
        free[i], w[i] = u[i] - h[i], a[i]
    by_transpose(L, w, n)
    forward_substitute(L, free, n)
    for i in range(m):
        out[i] = 0.0
    for j in range(rank - 1, -1, -1):
        row, x = s.order[j], 0.0
        for i in range(n):
            x += Y[row * n + i] * (w[i] - free[i])
        for k in range(j + 1, rank):
            x -= R[j * m + s.order[k]] * out[s.order[k]]
        out[row] = x / R[j * m + row]
    for i in range(m):  # M + ρ Gᵀ G took the place of M, and G a = −drift
        out[i] += weight * drift[i]


@native
def traced(place: int, rank: int, t: float, y: Any, a: Any) -> None:
    """Evaluate the traced derivatives."""
    s = load_system(place)
    nq, nv = s.nq, s.nv
    put(place, SLOPES, FIRST, y[: nq + nv])
    put(place, SLOPES, nq + nv, a)
    if s.rows > 0:
        held = vector(place, 1)[: s.rows]
        multipliers(place, rank, a, joint_forces(place, t, y), held)
        put(place, SLOPES, nq + 2 * nv, held)
    put_rest(place, SLOPES)
    evaluate(place, SLOPES)
    if s.entries[TORQUE_SLOPES, KIND] != 0:
        s.memory[s.entries[TORQUE_SLOPES, BASE]] = t
        put(place, TORQUE_SLOPES, SECOND, y[: nq + nv])
        evaluate(place, TORQUE_SLOPES)


@native
def forward_rows(L: Any, X: Any, count: int, n: int) -> None:
    """X ← L⁻¹ X, (count, n) row by row: entries of a row do not wait for one another."""
    for i in range(count):
        row = X[i * n : (i + 1) * n]
        for k in range(i):
            x, other = L[i * count + k], X[k * n : (k + 1) * n]
            for j in range(n):
                row[j] -= x * other[j]
        for j in range(n):
            row[j] *= L[i * count + i]


@native
def back_rows(L: Any, X: Any, count: int, n: int) -> None:
    """X ← L⁻ᵀ X, (count, n) row by row."""
    for i in range(count - 1, -1, -1):
        row = X[i * n : (i + 1) * n]
        for k in range(i + 1, count):
            x, other = L[k * count + i], X[k * n : (k + 1) * n]
            for j in range(n):
                row[j] -= x * other[j]
        for j in range(n):
            row[j] *= L[i * count + i]


@native
def meet_columns(place: int, rank: int, by_y: Any, X: Any) -> None:
    """The columns of X (nv, n) with what holds: Y X = −δg."""
    s = load_system(place)
    nv, m, n = s.nv, s.rows, s.nq + s.nv + s.nx
    w, wanted = scratch(nv), vector(place, 0)
    for j in range(n):
        for i in range(m):
            wanted[i] = -by_y[j * (n + m) + s.nq + nv + i]
        for i in range(nv):
            w[i] = X[i * n + j]
        meet(place, rank, wanted, w, THIRD)
        for i in range(nv):
            X[i * n + j] = w[i]


@native
def slopes(place: int, t: float, y: Any, f: Any, J: Any) -> Any:
    """∂f/∂y into J (n n,), row by row; f (n,): the derivative at y, evaluated just now by the full equations. False if
    it is not finite."""
    s = load_system(place)
    nq, nv, m, n = s.nq, s.nv, s.rows, s.nq + s.nv + s.nx
    a = f[nq : nq + nv]
    if not s.by_matrix and not factor_mass(place, y[:nq]):
        return False
    rank = factor_rows(place, y[:nq]) if m > 0 else 0
    traced(place, rank, t, y, a)
    tall, forced = n + m, s.entries[TORQUE_SLOPES, KIND] != 0
    by_y, by_u, L = result(place, SLOPES, n * tall), result(place, TORQUE_SLOPES, 0), result(place, MASS, nv * nv)
    if forced:
        by_u = result(place, TORQUE_SLOPES, nv * (nq + nv))
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
    # all columns at once through M δa = Gᵀ δλ + δu − δb, G δa = −δg
    forward_rows(L, J[nq * n :], nv, n)
    if m > 0:
        meet_columns(place, rank, by_y, J[nq * n :])
    back_rows(L, J[nq * n :], nv, n)
    for i in range(n * n):
        total += J[i] * 0.0
    return total == 0.0
