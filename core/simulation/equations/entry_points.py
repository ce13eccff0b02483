"""Entry points to the equations of motion for the integration methods. Each takes the address of a `System`, the time,
and the addresses of two arrays. Each type of machine has its own entry points, so that only what it needs is compiled.
"""

from __future__ import annotations

from typing import Any

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, merged, native, scratch, view, view_rows
from core.machine_code.outcome import FINE, NOT_FINITE, UNSUITABLE
from core.simulation.equations.constrained import project, project_unconstrained
from core.simulation.equations.jacobian import compute_jacobian
from core.simulation.equations.reduced import compute_derivative as by_closed_forms
from core.simulation.equations.reduced import project as project_by_closed_forms
from core.simulation.equations.system import compute_rates, load_system
from core.simulation.equations.unconstrained import derivative_by_mass_matrix, derivative_by_recursion


@merged
def state_length(system: int) -> int:
    """Return the number of states, the length of y."""
    s = load_system(system)
    total: int = s.nq + s.nv + s.nx
    return total


@entry
def tree_derivative(system: int, t: float, y: int, out: int) -> int:
    """Compute ẏ of an open kinematic tree into out (n,)."""
    n = state_length(system)
    return FINE if derivative_by_recursion(system, t, view(y, n), view(out, n)) else NOT_FINITE


@entry
def full_derivative(system: int, t: float, y: int, out: int) -> int:
    """Compute ẏ into out (n,), with the mass matrix and all constraints."""
    n = state_length(system)
    return FINE if derivative_by_mass_matrix(system, t, view(y, n), view(out, n)) else NOT_FINITE


@entry
def reduced_derivative(system: int, t: float, y: int, out: int) -> int:
    """Compute ẏ into out (n,), by analytic loop closure where possible."""
    n = state_length(system)
    happened: int = by_closed_forms(system, t, view(y, n), view(out, n))
    return call_entry(load_system(system).full, system, t, y, out) if happened == UNSUITABLE else happened


@entry
def free_project(system: int, t: float, y: int, error: int) -> int:
    """Normalise quaternions and balance massless junctions of a machine without constraints."""
    project_unconstrained(system, t, view(y, state_length(system)))
    return FINE


@entry
def full_project(system: int, t: float, y: int, error: int) -> int:
    """Project y onto the constraint manifold; the component normal to it is removed from the error (n,), if one is
    given."""
    n = state_length(system)
    result: int = project(system, t, view(y, n), view(error, n if error != 0 else 0))
    return result


@entry
def reduced_project(system: int, t: float, y: int, error: int) -> int:
    """Project y onto the constraint manifold, by analytic loop closure where possible."""
    n = state_length(system)
    happened: int = project_by_closed_forms(system, t, view(y, n), view(error, n if error != 0 else 0))
    return call_entry(load_system(system).full_project, system, t, y, error) if happened == UNSUITABLE else happened


@entry
def impulse_entry(system: int, t: float, y: int, step: int) -> int:
    """Take a semi-implicit Euler step: v ← v + h a(q, v), then q ← q + h N(q) v; `step` (n + 1,) begins with h, the
    rest is workspace."""
    s = load_system(system)
    n = s.nq + s.nv + s.nx
    state, room = view(y, n), view(step, n + 1)
    h = room[0]
    f = room[1:]
    if call_entry(s.derivative, system, t, y, address_of(f)) != FINE:
        return NOT_FINITE
    for j in range(s.nq, n):
        state[j] += h * f[j]
    compute_rates(system, state[: s.nq], state[s.nq : s.nq + s.nv], f[: s.nq])
    for j in range(s.nq):
        state[j] += h * f[j]
    return FINE


@entry
def exact_jacobian(system: int, t: float, y: int, out: int) -> int:
    """Compute ∂f/∂y into out (n n,), row by row, from symbolic derivatives."""
    s = load_system(system)
    n = s.nq + s.nv + s.nx
    f = scratch(n)
    if call_entry(s.full, system, t, y, address_of(f)) != FINE:
        return NOT_FINITE
    if s.by_matrix and s.crossing == 1:  # accelerations are not those of the constraints at y
        return difference_jacobian(system, t, view(y, n), view(out, n * n))
    return FINE if compute_jacobian(system, t, view(y, n), f, view(out, n * n)) else NOT_FINITE


INCREMENT_FRACTION = 1e-8
"""Relative increment of a state in finite differences, used where no symbolic derivatives exist."""


@native
def difference_jacobian(system: int, t: float, state: Any, J: Any) -> int:
    """Compute ∂f/∂y at a state into J (n n,), row by row, by finite differences."""
    s = load_system(system)
    n = len(state)
    f, g = scratch(n), scratch(n)
    if call_entry(s.derivative, system, t, address_of(state), address_of(f)) != FINE:
        return NOT_FINITE
    for j in range(n):
        kept = state[j]
        state[j] = kept + INCREMENT_FRACTION * max(abs(kept), 1.0)
        step = state[j] - kept
        happened = call_entry(s.derivative, system, t, address_of(state), address_of(g))
        state[j] = kept
        if happened != FINE:
            return NOT_FINITE
        for i in range(n):
            J[i * n + j] = (g[i] - f[i]) / step
    return FINE


@entry
def differenced_jacobian(system: int, t: float, y: int, out: int) -> int:
    """Compute ∂f/∂y into out (n n,), row by row, by finite differences; for large machines without a symbolic
    expression graph."""
    n = state_length(system)
    happened: int = difference_jacobian(system, t, view(y, n), view(out, n * n))
    return happened


@entry
def sampled_accelerations(system: int, count: int, times: int, states: int, out: int, u: int, forces: int) -> int:
    """Compute a (count, nv) and τ (count, nv) at every sample, with joint forces u (nv,); returns the number of samples
    whose result is not finite. All arguments but `count` are addresses; `states` has shape (count, n)."""
    s = load_system(system)
    n = s.nq + s.nv + s.nx
    at, accelerations, taken, now = (
        view(times, count),
        view_rows(out, count, s.nv),
        view_rows(forces, count, s.nv),
        view(u, s.nv),
    )
    bad, f = 0, scratch(n)
    for k in range(count):
        if call_entry(s.derivative, system, at[k], states + 8 * k * n, address_of(f)) != FINE:
            bad += 1
        for i in range(s.nv):
            accelerations[k, i] = f[s.nq + i]
            taken[k, i] = now[i]
    return bad
