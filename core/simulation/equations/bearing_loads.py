"""Friction that grows with a joint's own reaction: bearing loads consistent with the friction they cause, found by
Broyden's method as in `core.constraints.bearing_friction` and `core.numerics.fixed_points`.

Loads and the inverse that the method builds are kept from one evaluation to the next, so that few rounds are needed.
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.contact_rows import HELD, add_row_force, is_held, load_rows
from core.simulation.equations.jacobian import multipliers
from core.simulation.equations.system import AT_Q, evaluate, load_system, put, put_states_and_time, result
from core.simulation.machine_code.language import native, scratch

BEARING_ROUNDS, ANEW = 80, 20
"""Largest number of iterations; iterations after which Broyden's method restarts."""
SETTLED, WELL = 1e-12, 1e-8
"""Convergence tolerance relative to the largest load; the tolerance accepted where iterations no longer improve."""
LEAST_LOAD = 1e-9
"""N or N·m: lower bound of the largest load, to scale errors."""


@native
def evaluate_bearing_loads(place: int, y: Any, a: Any, fresh: Any) -> Any:
    """Compute bearing loads into fresh (n,) at the accelerations a (nv,) that the present contact forces give; returns
    false if they are not finite."""
    s = load_system(place)
    rows, nq, nv, at = s.contact_rows, s.nq, s.nv, s.nq + 2 * s.nv
    r = load_rows(rows)
    put(r.bearing_loads, AT_Q, y[: nq + nv])
    put(r.bearing_loads, nq + nv, a)
    if s.rows > 0:
        total, held = scratch(nv), scratch(len(s.levels))
        for i in range(nv):
            total[i] = s.u[i]
        for k in range(r.count):
            if is_held(r.mode[k]):
                add_row_force(rows, k, r.carried[k], total)
        multipliers(place, total, held)
        put(r.bearing_loads, at, held[: s.rows])
        at += s.rows
    closing = scratch(r.cut_rows)
    for i in range(r.cut_rows):
        closing[i] = 0.0
    for k in range(r.own, r.count):
        closing[r.cut[k]] += r.force[k]
    put(r.bearing_loads, at, closing)
    put_states_and_time(place, r.bearing_loads)
    evaluate(r.bearing_loads)
    loads, total_of = result(r.bearing_loads, len(fresh)), 0.0
    for i in range(len(fresh)):
        fresh[i] = loads[i]
        total_of += loads[i] * 0.0
    return total_of == 0.0


@native
def reset_inverse(rows: int) -> None:
    """Reset Broyden's inverse to its initial value."""
    r = load_rows(rows)
    n = len(r.loads)
    for i in range(n * n):
        r.inverse[i] = 0.0
    for i in range(n):
        r.inverse[i * n + i] = 1.0


@native
def gap_of(rows: int, fresh: Any) -> float:
    """Return the largest difference between the assumed bearing loads and those they lead to, relative to the largest
    load."""
    r, largest, gap = load_rows(rows), LEAST_LOAD, 0.0
    for i in range(len(fresh)):
        largest = max(largest, abs(fresh[i]))
        gap = max(gap, abs(fresh[i] - r.loads[i]))
    return gap / largest


@native
def update_inverse(rows: int, fresh: Any) -> None:
    """Apply Broyden's first update of the inverse from the last step and its effect (Mathematics of Computation 19,
    1965)."""
    r = load_rows(rows)
    n, across, size = len(r.loads), 0.0, 0.0
    moved, line = scratch(n), scratch(n)
    for i in range(n):
        moved[i] = line[i] = 0.0
        for j in range(n):
            moved[i] += r.inverse[i * n + j] * (r.residual[j] - (fresh[j] - r.loads[j]))
            line[i] += r.stepped[j] * r.inverse[j * n + i]
    for i in range(n):
        across += r.stepped[i] * moved[i]
        size += r.stepped[i] * r.stepped[i]
    if not abs(across) > 1e-12 * size:
        reset_inverse(rows)
        return
    for i in range(n):
        for j in range(n):
            r.inverse[i * n + j] += (r.stepped[i] - moved[i]) * line[j] / across


@native
def update_bearing_loads(rows: int, fresh: Any, turn: int) -> Any:
    """Compute the next non-negative bearing loads after iteration `turn`; returns true once they have converged."""
    r = load_rows(rows)
    n, moves = len(r.loads), False
    if turn > 0 and turn % ANEW != 0:
        update_inverse(rows, fresh)
    elif turn > 0:
        reset_inverse(rows)
    if gap_of(rows, fresh) <= SETTLED:
        return True
    for i in range(n):
        r.residual[i] = fresh[i] - r.loads[i]
    for i in range(n):
        step = 0.0
        for j in range(n):
            step += r.inverse[i * n + j] * r.residual[j]
        r.stepped[i] = max(r.loads[i] + step, 0.0) - r.loads[i]
        moves = moves or r.stepped[i] != 0.0
    if not moves:  # nothing is less than nothing
        reset_inverse(rows)
        for i in range(n):
            r.stepped[i] = max(fresh[i], 0.0) - r.loads[i]
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
def copy_loads(rows: int, fresh: Any) -> None:
    """Set the bearing loads to fresh (n,)."""
    r = load_rows(rows)
    for i in range(len(fresh)):
        r.loads[i] = fresh[i]
