"""The equations of motion of machines whose loops close in closed form: ẏ = f(t, y) in the independent speeds.

y keeps all coordinates and speeds. Each evaluation takes the independent ones from it, and the others as guesses of the
branch: v = Φ v_i, Φᵀ M Φ a_i = Φᵀ (τ − M b − h), a = Φ a_i + b; loops that have no closed form, constraints and
drivers stay as rows G Φ a_i = −(Ġ v + G b). After a step the dependent coordinates are set: nothing is iterated.

Near poses where two branches meet, Φ is a quotient of small numbers. Where the motion itself is regular there (a
parallelogram in line), the accelerations are taken from a little before and behind; elsewhere (a dead point of what was
chosen to be independent) the multipliers of the cut joints carry the machine through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation import equations
from core.simulation.constrained import back_substitute, cholesky, forward_substitute, settle
from core.simulation.constrained import project as project_by_rows
from core.simulation.native import native
from core.simulation.system import (
    BASE,
    DRIFT,
    FINE,
    FIRST,
    JACOBIAN,
    KIND,
    NOT_FINITE,
    REDUCED,
    SECOND,
    TORQUE,
    evaluate,
    normalise,
    put,
    put_rest,
    put_states,
    rates,
    result,
    tick,
)

SURE, NEAR, STEEP = 0.05, 1e-4, 50.0
"""As in `core.kernel.closed_forms`."""
AHEAD = 2e-3
"""Way (rad or m) to the poses from which a regular motion is taken where it cannot be evaluated."""

GOOD, DOUBLE, NONE = 0, 1, 2
"""How a pose is: well; two branches meet; no solution, or speeds are raised too much."""


RANK = 1e-10
"""As in `core.simulation.constrained`."""


@native
def joint_forces(s: Any, t: float, y: Any) -> Any:
    """u (nv,)."""
    if s.words[TORQUE, KIND] == 0:
        return s.u
    s.memory[s.words[TORQUE, BASE]] = t
    put(s, TORQUE, SECOND, y[: s.nq + s.nv])
    evaluate(s, TORQUE)
    return result(s, TORQUE, s.nv)


@native
def reduce(s: Any, t: float, q: Any, v: Any) -> Any:
    """Evaluate the reduced equations; GOOD, DOUBLE or NONE."""
    put(s, REDUCED, FIRST, q)
    put(s, REDUCED, s.nq, v)
    put_rest(s, REDUCED)
    evaluate(s, REDUCED)
    n = s.independent
    size = s.nq + 2 * s.nv + n * s.nv + n * n + n + 3
    r = result(s, REDUCED, size)
    reach, sine, gain = r[size - 3], r[size - 2], r[size - 1]
    if reach > 0.0 and (sine > SURE or (sine > NEAR and gain < STEEP)):
        return GOOD
    return DOUBLE if sine <= NEAR else NONE


@native
def solve(s: Any, t: float, u: Any, a: Any) -> Any:
    """Accelerations (nv,) from the reduced equations that were evaluated last; false if there are none."""
    n, nv = s.independent, s.nv
    r = result(s, REDUCED, s.nq + 2 * nv + n * nv + n * n + n)
    b, begin = s.nq + nv, s.nq + 2 * nv
    mass, load = begin + n * nv, begin + n * nv + n * n
    own = np.empty(n)
    for i in range(n):
        own[i] = -r[load + i]
        for k in range(nv):
            own[i] += r[begin + i * nv + k] * u[k]
    if n == 1 and len(s.kept) == 0:
        if not r[mass] > 0.0:
            return False
        own[0] /= r[mass]
    else:
        L = r[mass:load]
        if not cholesky(L, n):
            return False
        forward_substitute(L, own, n)
        if len(s.kept) > 0:
            hold(s, t, L, own)
        back_substitute(L, own, n)
    for k in range(nv):
        a[k] = r[b + k]
        for i in range(n):
            a[k] += r[begin + i * nv + k] * own[i]
    return True


@native
def hold(s: Any, t: float, L: Any, own: Any) -> None:
    """Add what the rows that are left exert; `own` and the result are Lᵀ a_i."""
    n, nv, m = s.independent, s.nv, len(s.kept)
    r = result(s, REDUCED, s.nq + 2 * nv + n * nv)
    q, v, b = r[: s.nq], r[s.nq : s.nq + nv], r[s.nq + nv : s.nq + 2 * nv]
    begin = s.nq + 2 * nv
    put(s, JACOBIAN, FIRST, q)
    evaluate(s, JACOBIAN)
    G = result(s, JACOBIAN, s.rows * nv)
    put(s, DRIFT, FIRST, q)
    put(s, DRIFT, s.nq, v)
    put_rest(s, DRIFT)
    evaluate(s, DRIFT)
    drift = result(s, DRIFT, s.rows)
    Y, row = np.zeros((m, n)), np.empty(n)
    count, largest = 0, 0.0
    # orthonormal rows one after another; wanted: components of `own` along them
    for j in range(m):
        line = G[s.kept[j] * nv : (s.kept[j] + 1) * nv]
        target, square = -drift[s.kept[j]] - dot(line, b), 0.0
        for i in range(n):
            row[i] = dot(line, r[begin + i * nv : begin + (i + 1) * nv])
        forward_substitute(L, row, n)
        largest = max(largest, dot(row, row))
        for k in range(count):
            part = dot(Y[k], row)
            target -= part * dot(Y[k], own)
            for i in range(n):
                row[i] -= part * Y[k, i]
        square = dot(row, row)
        if square > RANK * largest:
            change = (target - dot(row, own)) / square
            for i in range(n):
                own[i] += change * row[i]
                Y[count, i] = row[i] / np.sqrt(square)
            count += 1


@native
def dot(a: Any, b: Any) -> Any:
    """a · b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@native
def across(s: Any, t: float, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations where two branches meet, from poses before and behind: (4 A(ε) − A(2ε))/3 of their means A."""
    largest = 0.0
    for k in range(s.nv):
        largest = max(largest, abs(v[k]))
    if not largest > 1e-9:
        return False
    qdot, point, own = np.empty(s.nq), np.empty(s.nq), np.empty(s.nv)
    rates(s, q, v, qdot)
    for k in range(s.nv):
        a[k] = 0.0
    for part in range(4):
        step = (AHEAD if part < 2 else 2.0 * AHEAD) / largest * (1.0 if part % 2 == 0 else -1.0)
        for k in range(s.nq):
            point[k] = q[k] + step * qdot[k]
        normalise(s, point)
        if reduce(s, t, point, v) != GOOD or not solve(s, t, u, own):
            return False
        weight = 2.0 / 3.0 if part < 2 else -1.0 / 6.0
        for k in range(s.nv):
            a[k] += weight * own[k]
    return True


@native
def accelerations(s: Any, t: float, y: Any, out: Any) -> Any:
    """a into out (nv,); false if it is not finite."""
    if s.independent == 0:
        return equations.accelerations(s, t, y, out)
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    tick(s, t)
    if not put_states(s, q, v, y[s.nq + s.nv :]):
        return False
    u = joint_forces(s, t, y)
    how = reduce(s, t, q, v)
    if how == GOOD and solve(s, t, u, out):
        return True
    if how == DOUBLE and across(s, t, q, v, u, out):
        return True
    return equations.accelerations(s, t, y, out)


@native
def derivative(s: Any, t: float, y: Any, out: Any) -> Any:
    """ẏ into out; false if it is not finite."""
    if s.independent == 0:
        return equations.derivative(s, t, y, out)
    nq, last = s.nq, s.nq + s.nv
    q, v = y[:nq], y[nq:last]
    tick(s, t)
    if not put_states(s, q, v, y[last:]):
        return False
    u = joint_forces(s, t, y)
    for i in range(s.nx):
        out[last + i] = s.own[s.nx + i]
    how = reduce(s, t, q, v)
    if how == GOOD and solve(s, t, u, out[nq:last]):
        r = result(s, REDUCED, nq + s.nv)
        rates(s, r[:nq], r[nq:], out[:nq])
        total = 0.0
        for i in range(len(out)):
            total += out[i] * 0.0
        return total == 0.0
    if how == DOUBLE and across(s, t, q, v, u, out[nq:last]):
        rates(s, q, v, out[:nq])
        return True
    return equations.derivative(s, t, y, out)


@native
def project(s: Any, t: float, y: Any, error: Any) -> Any:
    """y on the manifold: dependent coordinates and speeds set where closed forms give them; see also
    `core.simulation.constrained.project`."""
    if s.independent == 0 or len(s.kept) > 0:
        return project_by_rows(s, t, y, error)
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    normalise(s, q)
    tick(s, t)
    settle(s, q, v, y[s.nq + s.nv :])
    how = reduce(s, t, q, v)
    if how == GOOD:
        r = result(s, REDUCED, s.nq + s.nv)
        total = 0.0
        for i in range(s.nq + s.nv):
            y[i] = r[i]
            total += r[i] * 0.0
        return FINE if total == 0.0 else NOT_FINITE
    if how == DOUBLE:
        return FINE
    return project_by_rows(s, t, y, error)


@native
def sampled_accelerations(s: Any, times: Any, states: Any, out: Any, forces: Any) -> Any:
    """a and τ at every sample; the number of samples with a result that is not finite."""
    bad = 0
    for k in range(len(times)):
        if not accelerations(s, times[k], states[k], out[k]):
            bad += 1
        u = joint_forces(s, times[k], states[k])
        for i in range(s.nv):
            forces[k, i] = u[i]
    return bad
