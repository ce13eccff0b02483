"""Conditions in formulas (`core.elements.mode_variables`): where one switches, steps end there.

Steps are taken over conditions as they are. Where one is refused, and conditions differ between its ends, they are held
at what they are at its beginning: the equations are smooth then, and where an argument changes its sign within the step
is a root of its continuous extension. The step ends a hair behind it, where the condition has turned over (Hairer,
Nørsett and Wanner, Solving ODE I, II.6: discontinuities by dense output). With sharp tolerances the same is done with
steps that were accepted: error estimates see little of a jump near the ends of a step. Methods that look back begin
anew behind a switch. A condition that turns back at once (a relay, a friction that sticks) is moved along
(`core.simulation.stepping.sliding_modes`). Fixed steps go over conditions as they are.
"""

from __future__ import annotations

from typing import Any

from core.simulation.stepping.compilation import address_of, call_entry, native
from core.simulation.stepping.sliding_modes import (
    BORDER,
    HIGH,
    LOW,
    MODE,
    VALUE,
    conditions,
    hold,
    leave,
    looked,
    unheld,
)
from core.simulation.stepping.step_state import (
    ACCEPTED,
    END,
    ERROR,
    FINE,
    FRESH,
    JACOBIAN,
    JUMPED,
    LAST_ERROR,
    LAST_STEP,
    LATCHED,
    NOT_FINITE,
    PLAIN,
    PROJECTED,
    REACH,
    REJECTED,
    RENEWED,
    RTOL,
    SELF,
    SLIDING,
    STAGES,
    STEP,
    STEP_OF,
    SWITCHED,
    SYSTEM,
    TAKEN,
    TIME,
    TURNED,
    WITHIN_OF,
    begin_anew,
    copy,
    derivative,
    load_state,
    take_back,
)

ALONE = 100
"""Steps without latches after conditions that turned back at once."""
NEAR = 1e-10
"""Length of a step (s, relative to times above 1 s) below which a condition turns back at once."""
HAIR, TRIES = 1e-13, 8
"""Part of a step by which it ends behind a root, more each time until the condition has turned over; and how often."""
AHEAD = 1e-6
"""Part of a step by which is looked ahead from a condition that is at its border."""
PARTS = 4
"""Parts of a held step at whose ends conditions are looked at."""
SHARP = 1e-6
"""Relative tolerance from which on accepted steps are looked at, too; with looser ones jumps are errors among others,
and to find them would take longer than it is worth."""
ROUNDS = 40


@native
def release(state: int, steps: int) -> None:
    """Conditions as they are, for some steps at least."""
    w = load_state(state)
    w.switches[MODE, :] = 0.0
    hold(w.addresses[SYSTEM], w.switches[MODE])
    w.counts[LATCHED], w.counts[SLIDING], w.counts[PLAIN], w.counts[FRESH] = 0, 0, steps, 0


@native
def latch(state: int, t: float) -> None:
    """Hold conditions at what they are at the beginning of the step, or just behind it."""
    w = load_state(state)
    place, mode, g, later = w.addresses[SYSTEM], w.switches[MODE], w.switches[LOW], w.switches[HIGH]
    conditions(place, t, w.y, g)
    h = AHEAD * w.numbers[STEP]
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + h * w.k[0, j]
    if derivative(state, t + h, w.new, w.failed):  # what only begins to move shows in the second order
        for j in range(len(w.y)):
            w.new[j] += 0.5 * h * (w.failed[j] - w.k[0, j])
    conditions(place, t + h, w.new, later)
    for k in range(len(mode)):
        x = later[k] if g[k] == 0.0 else g[k]
        mode[k] = 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        if g[k] == 0.0:
            begin_anew(state)
    hold(place, mode)
    w.counts[LATCHED], w.counts[TURNED], w.counts[FRESH] = 1, 0, 0


@native
def passed(state: int, t: float) -> Any:
    """Whether conditions differ between the ends of the step taken."""
    w = load_state(state)
    place, before, after = w.addresses[SYSTEM], w.switches[LOW], w.switches[HIGH]
    conditions(place, t, w.y, before)
    conditions(place, t + w.numbers[TAKEN], w.new, after)
    for k in range(len(before)):
        if not before[k] * after[k] > 0.0 and not (before[k] == 0.0 and after[k] == 0.0):
            return True
    return False


@native
def foreseen(state: int, t: float) -> Any:
    """Whether conditions would differ if the machine went on as at the beginning of a step: what drives back to a
    border hides it at the end."""
    w = load_state(state)
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + w.numbers[TAKEN] * w.k[0, j]
    return passed(state, t)


@native
def overlooked(state: int, t: float) -> Any:
    """Whether the step taken, that was accepted, should have ended at a condition."""
    w = load_state(state)
    return w.numbers[RTOL] <= SHARP and w.counts[PLAIN] == 0 and passed(state, t)


def refused_entry(state: int, t: float, happened: int, second: int) -> int:
    """1 if a refused step from w.y to w.new may have been refused because of a condition; of held ones, because what is
    held has no value there."""
    w = load_state(state)
    if w.counts[PLAIN] > 0:
        return 0
    if w.counts[LATCHED] == 1:
        return 1 if happened == NOT_FINITE else 0
    return 1 if passed(state, t) or foreseen(state, t) else 0


@native
def arguments_within(state: int, theta: float, out: Any) -> None:
    """Arguments of all conditions at t + θ h of the step taken, without projection."""
    w = load_state(state)
    projected = w.counts[PROJECTED]
    w.counts[PROJECTED] = 0
    call_entry(w.addresses[WITHIN_OF], w.addresses[SELF], theta, address_of(w.failed), 0)
    w.counts[PROJECTED] = projected
    looked(state, w.numbers[TIME] + theta * w.numbers[TAKEN], w.failed, out)


@native
def turned(mode: Any, g: Any) -> Any:
    """Whether a held condition is on its other side."""
    least = 0.0
    for k in range(len(mode)):
        least = min(least, mode[k] * g[k])
    return least < 0.0


@native
def root(state: int, k: int, low: float, high: float, below: float, above: float) -> Any:
    """θ at which the argument of condition k changes its sign, by the Illinois method, on the far side."""
    w = load_state(state)
    g, side = w.switches[VALUE], 0
    for _ in range(ROUNDS):
        if high - low < 1e-13:
            break
        theta = (low * above - high * below) / (above - below)
        if not low < theta < high:
            theta = 0.5 * (low + high)
        arguments_within(state, theta, g)
        x = g[k]
        if x == 0.0:
            return theta
        if x * above > 0.0:
            if abs(theta - high) < 1e-13:
                return theta
            high, above = theta, x
            if side == 1:
                below *= 0.5
            side = 1
        else:
            low, below = theta, x
            if side == -1:
                above *= 0.5
            side = -1
    return high


@native
def first_switch(state: int) -> Any:
    """(condition, θ) of the first that turns over in the step taken, (−1, 2) if none does."""
    w = load_state(state)
    mode, low, high = w.switches[MODE], w.switches[LOW], w.switches[HIGH]
    begin, theta, first, which = 0.0, 0.0, 2.0, -1
    arguments_within(state, 0.0, low)
    for part in range(1, PARTS + 1):
        theta = part / PARTS
        arguments_within(state, theta, high)
        if turned(mode, high):
            break
        begin = theta
        copy(high, low)
    for k in range(len(mode)):
        if mode[k] * high[k] < 0.0:
            found = root(state, k, begin, theta, low[k], high[k]) if mode[k] * low[k] > 0.0 else begin
            if found < first:
                first, which = found, k
    return which, first


@native
def implicit(state: int) -> Any:
    """Whether the method's continuous extension is less exact than the ends of its steps."""
    w = load_state(state)
    return w.counts[STAGES] == 1 and w.addresses[JACOBIAN] != 0


@native
def again(state: int, h: float) -> Any:
    """The step taken once more, with the length h: continuous extensions of implicit methods are less exact than the
    ends of their steps."""
    w = load_state(state)
    end = w.numbers[END]
    w.numbers[LAST_STEP] = w.numbers[LAST_ERROR] = 0.0
    w.counts[RENEWED], w.numbers[STEP], w.numbers[END] = 0, h, w.numbers[TIME] + h
    happened = call_entry(w.addresses[STEP_OF], w.addresses[SELF], w.numbers[TIME], 0, 0)
    w.numbers[END] = end
    w.counts[ACCEPTED] -= 1
    w.counts[REJECTED] += 1
    return happened


@native
def cut(state: int, theta: float, h: float) -> Any:
    """The end of the step taken, of length h, at θ into w.failed; (what happened, its length)."""
    w = load_state(state)
    if implicit(state):
        happened = again(state, theta * h)
        copy(w.new, w.failed)
        return happened, w.numbers[TAKEN]
    return call_entry(w.addresses[WITHIN_OF], w.addresses[SELF], theta, address_of(w.failed), 0), theta * h


@native
def stop(state: int, k: int, theta: float) -> Any:
    """End the step taken at θ or a hair later, where condition k is on its other side; (what happened, length)."""
    w = load_state(state)
    h, t, g = w.numbers[TAKEN], w.numbers[TIME], w.switches[VALUE]
    slope = abs(w.switches[HIGH, k] - w.switches[LOW, k]) * PARTS
    happened, length, hair = FINE, 0.0, HAIR
    for _ in range(TRIES):
        happened, length = cut(state, theta, h)
        if happened != FINE:
            break
        looked(state, t + length, w.failed, g)
        if w.switches[MODE, k] * g[k] < 0.0 or length < theta * h * (1.0 - 1e-9) or theta >= 1.0:
            break
        if slope > 0.0:
            hair = max(hair, 2.0 * abs(g[k]) / slope)
        theta = min(theta + hair, 1.0)
        hair *= 8.0
    copy(w.failed, w.new)
    w.numbers[STEP], w.numbers[LAST_STEP], w.numbers[LAST_ERROR], w.numbers[ERROR] = h, 0.0, 0.0, 1e-4
    w.counts[JUMPED] = 1
    if implicit(state):
        w.counts[RENEWED] = 0
    begin_anew(state)
    return happened, length


@native
def turn_over(state: int, k: int) -> None:
    """A condition that turns over at the very beginning of the step taken, which is taken once more: as several do that
    switch at the same time. What goes on turning moves along its border; if that does not end it there is nothing to
    hold."""
    w = load_state(state)
    count = w.switches.shape[1]
    take_back(state)
    begin_anew(state)
    w.counts[TURNED] += 1
    if w.counts[TURNED] > 4 * count + 4:
        release(state, ALONE)
    elif w.counts[TURNED] > count and w.switches[MODE, k] != BORDER:
        w.switches[MODE, k] = BORDER
        w.counts[SLIDING] += 1
    else:
        leave(state, k)


@native
def conclude(state: int, k: int) -> None:
    """After a step with held conditions: condition k switched at its end (−1: none). It is held on its other side for
    the next step, which so finds out whether it is driven back."""
    w = load_state(state)
    w.counts[TURNED] = 0
    if k >= 0:
        leave(state, k)
        begin_anew(state)
    elif w.counts[SLIDING] == 0:
        release(state, 0)
    unheld(state)


def step_entry(state: int, t: float, first: int, second: int) -> int:
    """One step of the method, that ends at a switch if it was refused because of one; REACH is its end."""
    w = load_state(state)
    if w.counts[LATCHED] == 1:
        hold(w.addresses[SYSTEM], w.switches[MODE])
    while True:
        happened: int = call_entry(w.addresses[STEP_OF], w.addresses[SELF], t, 0, 0)
        if happened == SWITCHED and w.counts[LATCHED] == 0:
            latch(state, t)
            continue
        if happened != FINE and w.counts[LATCHED] == 1:
            begin_anew(state)
            release(state, ALONE)
            continue
        if happened == FINE and w.counts[LATCHED] == 0 and overlooked(state, t):
            take_back(state)
            latch(state, t)
            continue
        length = w.numbers[TAKEN]
        if happened == FINE and w.counts[LATCHED] == 1:
            k, theta = first_switch(state)
            if k >= 0 and theta * length <= NEAR * max(abs(t), 1.0):
                turn_over(state, k)
                continue
            if k >= 0:
                happened, length = stop(state, k, theta)
            conclude(state, k)
        w.counts[PLAIN] = max(w.counts[PLAIN] - 1, 0)
        w.numbers[REACH] = t + length
        return happened
