"""Friction of balls (vectors of speeds that rub together) where they hardly slide.

There friction F turns them at the rate A F/v, A their response and v their speed, without end toward rest. How they
begin to slide is told by `core.simulation.equations.sliding_off`, in steps that end about where they have begun; steps
near rest are such as turn them steadily; within what tolerances leave open it is asked whether they stay at rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import POLISHES, correct, motion
from core.simulation.equations.held_rows import act, responses
from core.simulation.equations.mode_rows import (
    MOVING,
    REST,
    SLOW,
    STOPS,
    along,
    length,
    load_rows,
    refresh,
    rubs,
    sliding,
    take_aim,
)
from core.simulation.equations.system import load_system
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.stepping.mode_changes import NOTHING_PENDING, STOPPING
from core.simulation.stepping.mode_margins import BEARING, EACH
from core.simulation.stepping.step_state import TOLD, begin_anew, least_time, load_state

SLOWLY = 0.02
"""Part of the largest speed that a ball has had, below which it is about to come to rest."""
NEARLY_RESTING = 100.0
"""Times the speed within which a ball is asked whether it stays at rest: from there on it must not turn about."""
STEADY, STEADY_STEP = 0.6, 0.3
"""Parts of the stability of a method, and h |λ| of one whose stability is not known, up to which it does not."""
TOO_FAST = 4.0
"""Times the speed up to which a ball begins to slide, which it has at the end of such a step at most."""
STEADY_PART = 1.2
"""h |λ| of parts of fixed steps."""


@native
def aim_balls(state: int) -> None:
    """Where balls slide as the step begins. One that has hardly any speed is asked whether it stays at rest, unless it
    begins to slide: then its direction says nothing yet."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    refresh(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING:
            speed = length(s.mode_rows, k, r.rate)
            r.quickest[k] = max(r.quickest[k], speed)
            if speed > REST * (r.quickest[k] + SLOW):
                take_aim(s.mode_rows, k, r.rate, 1.0)
            if speed <= r.zone[k]:
                continue
            if r.zone[k] > 0.0:
                r.zone[k] = 0.0
                begin_anew(state)
            if speed <= STOPPING * w.atol and r.free[k] == 0 and rubs(s.mode_rows, k):
                w.pending = EACH * k + BEARING


@native
def goes_too_far(state: int) -> bool:
    """Whether the step taken goes on for longer than a ball only begins to slide."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    if w.taken <= least_time(w.time):
        return False
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING and r.zone[k] > 0.0:
            refresh(w.system, w.new[: s.nq], w.new[s.nq : s.nq + s.nv])
            if length(s.mode_rows, k, r.rate) > TOO_FAST * r.zone[k]:
                return True
    return False


@native
def responses_of_ball(state: int, k: int, A: Any, base: Any) -> None:
    """A (n n,) of the n rows of a ball (k: its first), and ẏ (n,) with all forces as they are, none of held rows."""
    w = load_state(state)
    s = load_system(w.system)
    r, n = load_rows(s.mode_rows), load_rows(s.mode_rows).shares[k]
    chosen, columns = scratch(n), scratch(n * s.nv)
    for i in range(n):
        chosen[i] = k + i
    act(w.system, w.time, w.y)
    call_entry(r.inner, w.system, w.time, address_of(w.y), address_of(base))
    responses(w.system, w.time, w.y, base, chosen, columns, A, n)


@native
def turning_of(state: int, k: int) -> float:
    """A F of a ball (k: its first row) that slides, at most (Gershgorin), m/s² or rad/s²."""
    w = load_state(state)
    s = load_system(w.system)
    r, n, size, turning = load_rows(s.mode_rows), load_rows(s.mode_rows).shares[k], 0.0, 0.0
    A, base = scratch(n * n), scratch(len(w.y))
    responses_of_ball(state, k, A, base)
    for i in range(n):
        size += r.force[k + i] ** 2
        row = 0.0
        for j in range(n):
            row += abs(A[i * n + j])
        turning = max(turning, row)
    return turning * np.sqrt(size)


@native
def steady(state: int, k: int) -> None:
    """A step in which a ball (k: its first row) that hardly slides does not turn about. Friction F turns what slides
    with the speed w at the rate A F/w, A its response: explicit methods that are held by their stability alone never
    bring it to rest."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    speed = length(rows, k, load_rows(rows).rate)
    if speed == 0.0 or speed > NEARLY_RESTING * STOPPING * w.atol:
        return
    turning = turning_of(state, k) / speed
    if turning > 0.0:
        w.step = min(w.step, (STEADY * w.stability if w.stability > 0.0 else STEADY_STEP) / turning)


@native
def could_stop(rows: int, k: int, h: float) -> Any:
    """Whether friction alone changes as much of a velocity within a time h as a ball (k: its first row) has, about."""
    r, most_quickly = load_rows(rows), 0.0
    for i in range(k, k + r.shares[k]):
        most_quickly += r.largest[i]
    level = sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
    return length(rows, k, r.rate) <= 2.0 * h * level * most_quickly


@native
def stops_within(state: int, k: int, h: float) -> Any:
    """Whether friction can bring a ball (k: its first row) that slides to rest within a time h (implicit Euler: what
    holds it and takes its speed is admissible)."""
    w = load_state(state)
    s = load_system(w.system)
    r, n, size = load_rows(s.mode_rows), load_rows(s.mode_rows).shares[k], 0.0
    if not could_stop(s.mode_rows, k, h):
        return False
    level = sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
    A, base, c, lam, side, g = scratch(n * n), scratch(len(w.y)), scratch(n), scratch(n), scratch(n), scratch(n)
    responses_of_ball(state, k, A, base)
    for i in range(n):
        c[i] = along(s.mode_rows, k + i, base[s.nq : s.nq + s.nv]) + r.bias[k + i] + r.rate[k + i] / h
        for j in range(n):
            c[i] -= A[i * n + j] * r.force[k + j]
        lam[i] = side[i] = 0.0
    motion(A, c, lam, g, n)
    for _ in range(POLISHES):
        correct(A, g, lam, side, n)
        motion(A, c, lam, g, n)
    for i in range(n):
        size += lam[i] * lam[i]
    return np.sqrt(size) < level


@native
def mark_stopping(state: int, h: float, stopping: Any) -> None:
    """Which balls (count,) that slide come to rest within a fixed step that begins: 1."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    refresh(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        slides = r.shares[k] > 1 and r.mode[k] == MOVING and r.free[k] == 0 and rubs(s.mode_rows, k)
        stopping[k] = 1.0 if slides and stops_within(state, k, h) else 0.0


@native
def steady_part(state: int, h: float, stopping: Any) -> float:
    """Of what is left of a fixed step, h, how long a part is in which no ball turns about that does not stop."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING and r.free[k] == 0 and r.zone[k] == 0.0 and stopping[k] == 0.0:
            speed = length(rows, k, r.rate)
            if speed > 0.0 and could_stop(rows, k, h):
                turning = turning_of(state, k) / speed
                part = STEADY_PART / turning if turning > 0.0 else h
                h = part if part < 0.99 * h else h  # no sliver before the end
    return h


@native
def stop_balls(state: int, stopping: Any) -> None:
    """The next step begins with the rest of a ball that should have come to it, though it goes on: where its friction
    turns it about within a step it would go on so for ever."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    for k in range(r.count):
        if stopping[k] == 1.0 and r.mode[k] == MOVING and w.pending == NOTHING_PENDING:
            r.zone[k], w.pending = STOPS, EACH * k + BEARING


@native
def forget_stiffness(state: int) -> None:
    """What is stiff where a ball comes to rest, which way it slides, ends there."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    for k in range(r.count):
        slow = length(rows, k, r.rate) < SLOWLY * r.quickest[k] if r.shares[k] > 1 else False
        if slow and r.mode[k] == MOVING and w.stiff_steps != TOLD:
            w.stiff_steps = 0
