"""Friction that grows with a joint's own reaction: finds bearing loads consistent with the friction that they cause, by
Broyden's method as in `core.constraints.bearing_friction` and `core.numerics.fixed_points`.

Loads and the inverse that the method builds are kept from one evaluation to the next, so that few rounds are needed.
"""

from __future__ import annotations

from typing import Any

from core.machine_code.language import native, scratch
from core.programs.native_function import evaluate_function, put_argument, result_view
from core.simulation.equations.contact_rows import HELD, add_row_force, is_active_state, load_rows
from core.simulation.equations.jacobian import compute_multipliers
from core.simulation.equations.system import AT_Q, load_system, put_states_and_time

BEARING_ROUNDS, ANEW = 80, 20
"""Largest number of iterations; iterations after which Broyden's method restarts."""
SETTLED, WELL = 1e-12, 1e-8
"""Convergence tolerance relative to the largest load; the tolerance accepted where iterations no longer improve."""
LEAST_LOAD = 1e-9
"""N or N·m: smallest value used for the largest load when errors are scaled by it."""


@native
def evaluate_bearing_loads(system: int, y: Any, a: Any, new_loads: Any) -> Any:
    """Compute bearing loads into fresh (n,) at the accelerations a (nv,) that the present contact forces give; returns
    false if they are not finite."""
    s = load_system(system)
    rows, nq, nv, at = s.contact_rows, s.nq, s.nv, s.nq + 2 * s.nv
    r = load_rows(rows)
    put_argument(r.bearing_loads, AT_Q, y[: nq + nv])
    put_argument(r.bearing_loads, nq + nv, a)
    if s.rows > 0:
        total, held = scratch(nv), scratch(len(s.levels))
        for i in range(nv):
            total[i] = s.u[i]
        for k in range(r.count):
            if is_active_state(r.mode[k]):
                add_row_force(rows, k, r.carried[k], total)
        compute_multipliers(system, total, held)
        put_argument(r.bearing_loads, at, held[: s.rows])
        at += s.rows
    closing = scratch(r.cut_rows)
    for i in range(r.cut_rows):
        closing[i] = 0.0
    for k in range(r.own, r.count):
        closing[r.cut[k]] += r.force[k]
    put_argument(r.bearing_loads, at, closing)
    put_states_and_time(system, r.bearing_loads)
    evaluate_function(r.bearing_loads)
    loads, total_of = result_view(r.bearing_loads, len(new_loads)), 0.0
    for i in range(len(new_loads)):
        new_loads[i] = loads[i]
        total_of += loads[i] * 0.0
    return total_of == 0.0


@native
def reset_broyden_inverse(rows: int) -> None:
    """Reset Broyden's inverse to its initial value."""
    r = load_rows(rows)
    n = len(r.loads)
    for i in range(n * n):
        r.inverse[i] = 0.0
    for i in range(n):
        r.inverse[i * n + i] = 1.0


@native
def relative_load_error(rows: int, new_loads: Any) -> float:
    """Return the largest difference between the assumed bearing loads and those that result from them, relative to the
    largest load."""
    r, largest, gap = load_rows(rows), LEAST_LOAD, 0.0
    for i in range(len(new_loads)):
        largest = max(largest, abs(new_loads[i]))
        gap = max(gap, abs(new_loads[i] - r.loads[i]))
    return gap / largest


@native
def update_broyden_inverse(rows: int, new_loads: Any) -> None:
    """Apply Broyden's first update of the inverse from the last step and its effect (Mathematics of Computation 19,
    1965)."""
    r = load_rows(rows)
    n, across, size = len(r.loads), 0.0, 0.0
    moved, line = scratch(n), scratch(n)
    for i in range(n):
        moved[i] = line[i] = 0.0
        for j in range(n):
            moved[i] += r.inverse[i * n + j] * (r.residual[j] - (new_loads[j] - r.loads[j]))
            line[i] += r.stepped[j] * r.inverse[j * n + i]
    for i in range(n):
        across += r.stepped[i] * moved[i]
        size += r.stepped[i] * r.stepped[i]
    if not abs(across) > 1e-12 * size:
        reset_broyden_inverse(rows)
        return
    for i in range(n):
        for j in range(n):
            r.inverse[i * n + j] += (r.stepped[i] - moved[i]) * line[j] / across


@native
def update_bearing_loads(rows: int, new_loads: Any, iteration: int) -> Any:
    """Compute the next non-negative bearing loads after iteration `iteration`; returns true once they have
    converged."""
    r = load_rows(rows)
    n, moves = len(r.loads), False
    if iteration > 0 and iteration % ANEW != 0:
        update_broyden_inverse(rows, new_loads)
    elif iteration > 0:
        reset_broyden_inverse(rows)
    if relative_load_error(rows, new_loads) <= SETTLED:
        return True
    for i in range(n):
        r.residual[i] = new_loads[i] - r.loads[i]
    for i in range(n):
        step = 0.0
        for j in range(n):
            step += r.inverse[i * n + j] * r.residual[j]
        r.stepped[i] = max(r.loads[i] + step, 0.0) - r.loads[i]
        moves = moves or r.stepped[i] != 0.0
    if not moves:  # nothing is less than nothing
        reset_broyden_inverse(rows)
        for i in range(n):
            r.stepped[i] = max(new_loads[i], 0.0) - r.loads[i]
    for i in range(n):
        r.loads[i] += r.stepped[i]
    return False


@native
def all_bearings_stick(rows: int) -> Any:
    """Return true if all rows with bearing friction stick, so that their friction does not affect the motion and the
    loads follow directly."""
    r, free = load_rows(rows), 0
    for k in range(r.count):
        free += 1 if r.bearing[k] >= 0 and r.mode[k] != HELD else 0
    return free == 0


@native
def set_loads(rows: int, new_loads: Any) -> None:
    """Set the bearing loads to fresh (n,)."""
    r = load_rows(rows)
    for i in range(len(new_loads)):
        r.loads[i] = new_loads[i]
