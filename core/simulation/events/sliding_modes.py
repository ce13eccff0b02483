"""Sliding motion on a switching surface g = 0 (Filippov; Hairer, Nørsett and Wanner, Solving ODE I, II.6), as for
sticking friction or a relay that holds its threshold.

1. On both sides of the surface the forces drive back to it. `one_sided_derivative` evaluates f₋ and f₊ with the mode
   variable at −1 and at +1.
2. Of all f₋ + α (f₊ − f₋) with 0 ≤ α ≤ 1 one leaves the indicator as it is: ġ(f₋) + α (ġ(f₊) − ġ(f₋)) = 0, with the
   rate ġ along f by central differences (`indicator_rates`).
3. On several surfaces at once all α are found together: Σ_j (ġ_i(f_j) − ġ_i(f₋)) α_j = −ġ_i(f₋), with f_j where mode j
   alone is at +1. That is exact where each indicator has a force of its own.
4. Where an α passes 0 or 1 the surface is left, on the side of that α: α and 1 − α take the place of the indicator in
   the search for events (`looked`, `leave`).
"""

from __future__ import annotations

from typing import Any

from core.constraints.admissible_forces import solve_by_elimination
from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, scratch, view
from core.machine_code.outcome import NOT_FINITE
from core.simulation.equations.event_indicators import evaluate_indicators, set_modes
from core.simulation.equations.system import (
    copy_array,
)
from core.simulation.methods.step_state import load_state

MODE, LOW, HIGH, VALUE, SHARE, ROWS = range(6)
"""Rows of `StepState.events`: mode variables, ±1 or SLIDES; indicators at the ends of a part of a step, and within it;
α."""
SLIDES = 2.0
"""Value of a mode variable while the machine slides on its surface."""
DIFFERENCE_FRACTION = 1e-6
"""Fraction of a step used as the increment for rates of indicators."""


@native
def indicator_rates(state: int, t: float, y: Any, f: Any, out: Any) -> None:
    """Compute the rates of all indicators along f by central differences."""
    w = load_state(state)
    n, place = len(y), w.system
    h = DIFFERENCE_FRACTION * w.step if w.step > 0.0 else DIFFERENCE_FRACTION * DIFFERENCE_FRACTION
    point, before = scratch(n), scratch(len(out))
    for j in range(n):
        point[j] = y[j] - h * f[j]
    evaluate_indicators(place, t - h, point, before)
    for j in range(n):
        point[j] = y[j] + h * f[j]
    evaluate_indicators(place, t + h, point, out)
    for k in range(len(out)):
        out[k] = (out[k] - before[k]) / (2.0 * h)


@native
def one_sided_derivative(state: int, t: float, y: Any, surface: int, out: Any) -> Any:
    """Compute f with the modes of all sliding surfaces at −1, but mode `surface` at +1 (−1: none)."""
    w = load_state(state)
    modes = scratch(w.events.shape[1])
    for k in range(len(modes)):
        x = w.events[MODE, k]
        modes[k] = (1.0 if k == surface else -1.0) if x == SLIDES else x
    set_modes(w.system, modes)
    return call_entry(w.derivative, w.system, t, address_of(y), address_of(out))


@native
def compute_sliding_derivative(state: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ for sliding on the surfaces into out, and α into its row."""
    w = load_state(state)
    n, count, along = len(w.y), w.events.shape[1], scratch(w.events.shape[1])
    rows, surfaces = scratch(n * count), 0
    D, share, rate = scratch(count * count), scratch(count), scratch(count)
    happened = one_sided_derivative(state, t, y, -1, out)
    indicator_rates(state, t, y, out, along)
    for k in range(count):
        if w.events[MODE, k] == SLIDES:
            share[surfaces] = -along[k]
            surfaces += 1
    # column by column: how the mode of each surface changes the rates of all of them
    at = 0
    for k in range(count):
        if w.events[MODE, k] == SLIDES:
            other = rows[at * n : (at + 1) * n]
            happened = max(happened, one_sided_derivative(state, t, y, k, other))
            indicator_rates(state, t, y, other, rate)
            row = 0
            for j in range(count):
                if w.events[MODE, j] == SLIDES:
                    D[row * surfaces + at] = rate[j] - along[j]
                    row += 1
            at += 1
    solve_by_elimination(D, share, surfaces)
    at = 0
    for k in range(count):
        if w.events[MODE, k] == SLIDES:
            w.events[SHARE, k] = share[at]
            at += 1
    # f₋ + Σ α_k (f_k − f₋)
    for j in range(n):
        f = out[j]
        for k in range(surfaces):
            f += share[k] * (rows[k * n + j] - out[j])
        rows[j] = f
    copy_array(rows[:n], out)
    total = 0.0
    for j in range(n):
        total += out[j] * 0.0
    return happened if total == 0.0 else NOT_FINITE


@entry
def sliding_entry(state: int, t: float, first: int, second: int) -> int:
    """Compute ẏ for sliding on the surfaces into `second` (n,) at the state `first` (n,)."""
    n = len(load_state(state).y)
    happened: int = compute_sliding_derivative(state, t, view(first, n), view(second, n))
    return happened


@native
def compute_watched_indicators(state: int, t: float, y: Any, out: Any) -> None:
    """Compute the indicators to be monitored into out; for a sliding surface, the distance of α from 0 and 1."""
    w = load_state(state)
    evaluate_indicators(w.system, t, y, out)
    if w.sliding > 0:
        compute_sliding_derivative(state, t, y, scratch(len(w.y)))
        for k in range(len(out)):
            if w.events[MODE, k] == SLIDES:
                out[k] = min(w.events[SHARE, k], 1.0 - w.events[SHARE, k])


@native
def leave_surface(state: int, k: int) -> None:
    """Switch mode k to its other side; when a sliding surface is left, to the side that α indicates."""
    w = load_state(state)
    if w.events[MODE, k] == SLIDES:
        w.events[MODE, k] = 1.0 if w.events[SHARE, k] > 0.5 else -1.0
        w.sliding -= 1
    else:
        w.events[MODE, k] *= -1.0
    set_modes(w.system, w.events[MODE])
