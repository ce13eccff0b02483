"""Motion along the border of a condition (Filippov; Hairer, Nørsett and Wanner, Solving ODE I, II.6): friction that
sticks, a relay that holds its border.

On both sides of the border the forces drive back to it. Between f₋ and f₊ of the sides there is one f₋ + α (f₊ − f₋)
with 0 ≤ α ≤ 1 that leaves the argument as it is: α g′(f₊) + (1 − α) g′(f₋) = 0. Of several borders all α are found at
once, which is exact where each condition has a force of its own. Where an α passes 0 or 1 the border is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.system import (
    BASE,
    CONDITIONS,
    FIRST,
    KIND,
    NOT_FINITE,
    SECOND,
    TORQUE,
    TORQUE_CONDITIONS,
    TORQUE_SLOPES,
    evaluate,
    load_system,
    put,
    put_rest,
    put_states,
    result,
    tick,
)
from core.simulation.stepping.compilation import address_of, call_entry, native, scratch, view
from core.simulation.stepping.step_state import DERIVATIVE, SLIDING, STEP, SYSTEM, copy, load_state

MODE, LOW, HIGH, VALUE, SHARE, ROWS = range(6)
"""Rows of `StepState.switches`: latches, ±1 or BORDER; arguments at the ends of a part of a step, and within it; α."""
BORDER = 2.0
"""As a latch: the machine moves along the border."""
NEARBY = 1e-6
"""Part of a step over which the change of arguments is looked at."""


@native
def conditions(place: int, t: float, y: Any, out: Any) -> None:
    """Arguments of all conditions at a state into out."""
    s = load_system(place)
    last = s.nq + s.nv
    tick(place, t)
    if s.entries[CONDITIONS, KIND] != 0:
        put_states(place, y[: s.nq], y[s.nq : last], y[last:])
        put(place, CONDITIONS, FIRST, y[:last])
        put_rest(place, CONDITIONS)
        evaluate(place, CONDITIONS)
        copy(result(place, CONDITIONS, s.latches), out[: s.latches])
    if s.entries[TORQUE_CONDITIONS, KIND] != 0:
        s.memory[s.entries[TORQUE_CONDITIONS, BASE]] = t
        put(place, TORQUE_CONDITIONS, SECOND, y[:last])
        evaluate(place, TORQUE_CONDITIONS)
        count = len(out) - s.latches
        copy(result(place, TORQUE_CONDITIONS, count), out[s.latches :])


@native
def hold(place: int, modes: Any) -> None:
    """Latches as given (count,): ±1, 0 for none."""
    s = load_system(place)
    first = len(s.now) - s.latches
    for k in range(s.latches):
        s.now[first + k] = modes[k]
    for k in range(s.latches, len(modes)):
        at = 1 + s.nq + s.nv + k - s.latches
        s.memory[s.entries[TORQUE, BASE] + at] = modes[k]
        if s.entries[TORQUE_SLOPES, KIND] != 0:
            s.memory[s.entries[TORQUE_SLOPES, BASE] + at] = modes[k]
    s.last[0] = np.nan  # what was evaluated last was something else


@native
def unheld(state: int) -> None:
    """Conditions as they are between steps: samples of the last one lie before its switch."""
    w = load_state(state)
    none = scratch(w.switches.shape[1])
    for k in range(len(none)):
        none[k] = 0.0
    hold(w.addresses[SYSTEM], none)


@native
def changes(state: int, t: float, y: Any, f: Any, out: Any) -> None:
    """Rates of all arguments along f, by central differences."""
    w = load_state(state)
    n, place = len(y), w.addresses[SYSTEM]
    h = NEARBY * w.numbers[STEP] if w.numbers[STEP] > 0.0 else NEARBY * NEARBY
    point, before = scratch(n), scratch(len(out))
    for j in range(n):
        point[j] = y[j] - h * f[j]
    conditions(place, t - h, point, before)
    for j in range(n):
        point[j] = y[j] + h * f[j]
    conditions(place, t + h, point, out)
    for k in range(len(out)):
        out[k] = (out[k] - before[k]) / (2.0 * h)


@native
def eliminate(D: Any, x: Any, n: int) -> None:
    """x ← D⁻¹ x by Gauss with pivots; D (n n,) is spoilt, what is singular gives no finite numbers."""
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(D[i * n + j]) > abs(D[p * n + j]):
                p = i
        x[j], x[p] = x[p], x[j]
        for k in range(n):
            D[j * n + k], D[p * n + k] = D[p * n + k], D[j * n + k]
        for i in range(j + 1, n):
            part = D[i * n + j] / D[j * n + j]
            x[i] -= part * x[j]
            for k in range(j, n):
                D[i * n + k] -= part * D[j * n + k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= D[i * n + k] * x[k]
        x[i] /= D[i * n + i]


@native
def side(state: int, t: float, y: Any, which: int, out: Any) -> Any:
    """f with all borders held at −1, but condition `which` at +1 (−1: none)."""
    w = load_state(state)
    modes = scratch(w.switches.shape[1])
    for k in range(len(modes)):
        x = w.switches[MODE, k]
        modes[k] = (1.0 if k == which else -1.0) if x == BORDER else x
    hold(w.addresses[SYSTEM], modes)
    return call_entry(w.addresses[DERIVATIVE], w.addresses[SYSTEM], t, address_of(y), address_of(out))


@native
def slide(state: int, t: float, y: Any, out: Any) -> Any:
    """ẏ into out, along the borders; α into its row."""
    w = load_state(state)
    n, count, along = len(w.y), w.switches.shape[1], scratch(w.switches.shape[1])
    rows, borders = scratch(n * count), 0
    D, share, rate = scratch(count * count), scratch(count), scratch(count)
    happened = side(state, t, y, -1, out)
    changes(state, t, y, out, along)
    for k in range(count):
        if w.switches[MODE, k] == BORDER:
            share[borders] = -along[k]
            borders += 1
    at = 0
    for k in range(count):
        if w.switches[MODE, k] == BORDER:
            other = rows[at * n : (at + 1) * n]
            happened = max(happened, side(state, t, y, k, other))
            changes(state, t, y, other, rate)
            row = 0
            for j in range(count):
                if w.switches[MODE, j] == BORDER:
                    D[row * borders + at] = rate[j] - along[j]
                    row += 1
            at += 1
    eliminate(D, share, borders)
    at = 0
    for k in range(count):
        if w.switches[MODE, k] == BORDER:
            w.switches[SHARE, k] = share[at]
            at += 1
    for j in range(n):
        f = out[j]
        for k in range(borders):
            f += share[k] * (rows[k * n + j] - out[j])
        rows[j] = f
    copy(rows[:n], out)
    total = 0.0
    for j in range(n):
        total += out[j] * 0.0
    return happened if total == 0.0 else NOT_FINITE


def sliding_entry(state: int, t: float, first: int, second: int) -> int:
    """ẏ into `second` (n,) at the state `first` (n,), along the borders."""
    n = len(load_state(state).y)
    happened: int = slide(state, t, view(first, n), view(second, n))
    return happened


@native
def looked(state: int, t: float, y: Any, out: Any) -> None:
    """Arguments of all conditions into out; of borders how far α is from 0 and 1."""
    w = load_state(state)
    conditions(w.addresses[SYSTEM], t, y, out)
    if w.counts[SLIDING] > 0:
        slide(state, t, y, scratch(len(w.y)))
        for k in range(len(out)):
            if w.switches[MODE, k] == BORDER:
                out[k] = min(w.switches[SHARE, k], 1.0 - w.switches[SHARE, k])


@native
def leave(state: int, k: int) -> None:
    """Condition k is on its other side; of a border on that where α went."""
    w = load_state(state)
    if w.switches[MODE, k] == BORDER:
        w.switches[MODE, k] = 1.0 if w.switches[SHARE, k] > 0.5 else -1.0
        w.counts[SLIDING] -= 1
    else:
        w.switches[MODE, k] *= -1.0
    hold(w.addresses[SYSTEM], w.switches[MODE])
