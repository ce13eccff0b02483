"""Impacts at rigid stops: all stops that are touched exchange impulses together (`apply_impacts`). Ever faster bouncing
is ended (`BRIEF`), because a flight of less than a nanosecond cannot be resolved."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import solve_within_bounds
from core.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.equations.contact_derivative import apply_known_forces, compute_response_matrix
from core.simulation.equations.contact_rows import (
    load_rows,
    speed_along,
    update_rows,
)
from core.simulation.equations.system import load_system
from core.simulation.events.contact_margins import TOUCHING
from core.simulation.events.elastic_stops import mark_settled_rows, update_elastic_stops
from core.simulation.methods.step_state import load_state

BRIEF, LOW = 1e-9, 1e-15
"""s, and rad or m (relative for values above 1): shorter or lower bounces from a rigid stop end on it."""
ROUNDED = 1e-14
"""Relative rounding error of the work of impulses."""


@native
def is_touching(rows: int, k: int) -> int:
    """Return the side of a rigid stop that a row touches; 0: none."""
    r = load_rows(rows)
    if r.rigid[k] == 0:
        return 0
    for side in (1, -1):
        edge = r.upper[k] if side > 0 else r.lower[k]
        if np.isfinite(edge) and side * (r.value[k] - edge) >= -TOUCHING * max(1.0, abs(edge)):
            return side
    return 0


@native
def collect_touched_stops(rows: int, selected_rows: Any, low: Any, high: Any) -> int:
    """Collect the rows at rigid stops and the bounds of their impulses; returns their number, 0 if none is hit."""
    r = load_rows(rows)
    n, hits = 0, 0
    for k in range(r.count):
        side = is_touching(rows, k)
        if side != 0:
            selected_rows[n] = k
            low[n], high[n] = (-np.inf, 0.0) if side > 0 else (0.0, np.inf)
            hits += 1 if side * r.rate[k] > 0.0 else 0
            n += 1
    return n if hits > 0 else 0


@native
def apply_impacts(state: int, y: Any) -> None:
    """Compute the speeds after impacts at rigid stops: γ⁺ + e γ⁻ ≥ 0 outward for all touched stops together (Newton's
    impact law in Moreau's form), with all e reduced if energy would be gained."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.contact_rows)
    m, nq, nv = r.count, s.nq, s.nv
    chosen, low, high = scratch(m), scratch(m), scratch(m)
    update_rows(place, y[:nq], y[nq : nq + nv])
    n = collect_touched_stops(s.contact_rows, chosen, low, high)
    if n == 0:
        return
    columns, A, base, lam = scratch(n * nv), scratch(n * n), scratch(len(y)), scratch(n)
    apply_known_forces(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    compute_response_matrix(place, w.time, y, base, chosen, columns, A, n)
    share = 1.0
    for _ in range(12):
        gain = solve_impulses(s.contact_rows, chosen, A, low, high, share, lam, n)
        if gain <= 0.0 or share == 0.0:
            break
        share = 0.5 * share if share > 1e-3 else 0.0
    for i in range(n):
        k, change_of_rate = int(chosen[i]), 0.0
        for j in range(n):
            change_of_rate += A[i * n + j] * lam[j]
        if lam[i] != 0.0:
            r.bounces[k] += 1
            r.struck[k] -= lam[i] * (r.rate[k] + 0.5 * change_of_rate)
        for j in range(nv):
            y[nq + j] += lam[i] * columns[i * nv + j]
    update_elastic_stops(state, y)


@native
def solve_impulses(
    rows: int, selected_rows: Any, A: Any, low: Any, high: Any, restitution_share: float, lam: Any, n: int
) -> float:
    """Compute impulses for a common share of all restitutions into lam (n,); returns the energy gained, J; 0 if only
    rounding error."""
    r = load_rows(rows)
    c, side, g, gain, size = scratch(n), scratch(n), scratch(n), 0.0, 0.0
    for i in range(n):
        k = int(selected_rows[i])
        outward = r.rate[k] >= 0.0 if low[i] == 0.0 else r.rate[k] <= 0.0
        c[i] = r.rate[k] * (1.0 if outward else 1.0 + restitution_share * r.restitution[k])
    solve_within_bounds(A, c, low, high, lam, side, g, n)
    for i in range(n):
        gain += lam[i] * r.rate[int(selected_rows[i])]
        size += abs(lam[i] * r.rate[int(selected_rows[i])])
        for j in range(n):
            gain += 0.5 * lam[i] * A[i * n + j] * lam[j]
    return gain if gain > ROUNDED * size else 0.0


@native
def returns_to_stop(rows: int, k: int) -> Any:
    """Return true if a row leaves a rigid stop but will return sooner than its position can resolve."""
    side = is_touching(rows, k)
    return side != 0 and side * load_rows(rows).rate[k] < 0.0


@native
def end_bouncing(state: int, y: Any, margin_index: int) -> None:
    """End the bouncing of rows that leave a rigid stop so slowly that they would hit it again at once; also of rows
    that have settled in elastic stops."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.contact_rows, s.nq, s.nv
    r, base = load_rows(rows), scratch(len(y))
    update_rows(place, y[:nq], y[nq : nq + nv])
    mark_settled_rows(state, y, margin_index)
    asked = False
    for k in range(r.count):
        asked = asked or is_touching(rows, k) != 0
    if not asked:
        return
    apply_known_forces(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    for k in range(r.count):
        side = is_touching(rows, k)
        if side == 0 or side * r.rate[k] >= 0.0:
            continue
        rising = speed_along(rows, k, base[nq : nq + nv]) + r.bias[k]
        flight, height = 2.0 * abs(r.rate[k] / rising), 0.5 * r.rate[k] ** 2 / abs(rising)
        edge = r.upper[k] if side > 0 else r.lower[k]
        if side * rising > 0.0 and (flight < BRIEF or height < max(LOW * max(1.0, abs(edge)), 0.1 * w.atol)):
            r.ends[k] = 1
