"""Friction that grows with a joint's own reaction: the loads of bearings that friction by them leaves, by Broyden's
method, as `core.constraints.bearing_friction` says it and `core.numerics.fixed_points` does it.

Loads and the inverse that the method builds are kept from one evaluation to the next, so that few rounds are needed.
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.jacobian import multipliers
from core.simulation.equations.mode_rows import HELD, is_held, load_rows, push
from core.simulation.equations.system import AT_Q, evaluate, load_system, put, put_rest, result
from core.simulation.machine_code.language import native, scratch

BEARING_ROUNDS, ANEW = 80, 20
"""Rounds; after how many the method begins anew."""
SETTLED, WELL = 1e-12, 1e-8
"""Part of the largest load up to which those of a round may differ; the same where no round comes nearer."""
LEAST_LOAD = 1e-9
"""N or N·m: what counts as the largest load at least."""


@native
def bear(place: int, y: Any, a: Any, fresh: Any) -> Any:
    """Loads of bearings into fresh (n,), at accelerations a (nv,) that the forces of rows gave just now; false if they
    are not finite."""
    s = load_system(place)
    rows, nq, nv, at = s.mode_rows, s.nq, s.nv, s.nq + 2 * s.nv
    r = load_rows(rows)
    put(r.bearing_loads, AT_Q, y[: nq + nv])
    put(r.bearing_loads, nq + nv, a)
    if s.rows > 0:
        total, held = scratch(nv), scratch(len(s.levels))
        for i in range(nv):
            total[i] = s.u[i]
        for k in range(r.count):
            if is_held(r.mode[k]):
                push(rows, k, r.carried[k], total)
        multipliers(place, total, held)
        put(r.bearing_loads, at, held[: s.rows])
        at += s.rows
    closing = scratch(r.cut_rows)
    for i in range(r.cut_rows):
        closing[i] = 0.0
    for k in range(r.own, r.count):
        closing[r.cut[k]] += r.force[k]
    put(r.bearing_loads, at, closing)
    put_rest(place, r.bearing_loads)
    evaluate(r.bearing_loads)
    loads, total_of = result(r.bearing_loads, len(fresh)), 0.0
    for i in range(len(fresh)):
        fresh[i] = loads[i]
        total_of += loads[i] * 0.0
    return total_of == 0.0


@native
def begin_inverse(rows: int) -> None:
    """The method begins anew."""
    r = load_rows(rows)
    n = len(r.loads)
    for i in range(n * n):
        r.inverse[i] = 0.0
    for i in range(n):
        r.inverse[i * n + i] = 1.0


@native
def gap_of(rows: int, fresh: Any) -> float:
    """How far loads differ from those that they lead to, as a part of the largest."""
    r, largest, gap = load_rows(rows), LEAST_LOAD, 0.0
    for i in range(len(fresh)):
        largest = max(largest, abs(fresh[i]))
        gap = max(gap, abs(fresh[i] - r.loads[i]))
    return gap / largest


@native
def learn(rows: int, fresh: Any) -> None:
    """Broyden's first update of the inverse, from the last step and what it changed (Mathematics of Computation 19,
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
        begin_inverse(rows)
        return
    for i in range(n):
        for j in range(n):
            r.inverse[i * n + j] += (r.stepped[i] - moved[i]) * line[j] / across


@native
def approach(rows: int, fresh: Any, turn: int) -> Any:
    """The next loads, none of them negative, after round `turn`; true where they need not change any more."""
    r = load_rows(rows)
    n, moves = len(r.loads), False
    if turn > 0 and turn % ANEW != 0:
        learn(rows, fresh)
    elif turn > 0:
        begin_inverse(rows)
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
        begin_inverse(rows)
        for i in range(n):
            r.stepped[i] = max(fresh[i], 0.0) - r.loads[i]
    for i in range(n):
        r.loads[i] += r.stepped[i]
    return False


@native
def holds_all(rows: int) -> Any:
    """Whether all bearings are held, so that their friction decides nothing; their loads follow."""
    r, free = load_rows(rows), 0
    for k in range(r.count):
        free += 1 if r.bearing[k] >= 0 and r.mode[k] != HELD else 0
    return free == 0


@native
def copy_loads(rows: int, fresh: Any) -> None:
    """Loads ← fresh (n,)."""
    r = load_rows(rows)
    for i in range(len(fresh)):
        r.loads[i] = fresh[i]
