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
    load_work,
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
RENEWED = 18
"""As in `core.simulation.methods.radau_newton`."""


@native
def release(work: int, steps: int) -> None:
    """Conditions as they are, for some steps at least."""
    w = load_work(work)
    w.switches[MODE, :] = 0.0
    hold(w.addresses[SYSTEM], w.switches[MODE])
    w.counts[LATCHED], w.counts[SLIDING], w.counts[PLAIN], w.counts[FRESH] = 0, 0, steps, 0


@native
def latch(work: int, t: float) -> None:
    """Hold conditions at what they are at the beginning of the step, or just behind it."""
    w = load_work(work)
    place, mode, g, later = w.addresses[SYSTEM], w.switches[MODE], w.switches[LOW], w.switches[HIGH]
    conditions(place, t, w.y, g)
    h = AHEAD * w.numbers[STEP]
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + h * w.k[0, j]
    if derivative(work, t + h, w.new, w.failed):  # what only begins to move shows in the second order
        for j in range(len(w.y)):
            w.new[j] += 0.5 * h * (w.failed[j] - w.k[0, j])
    conditions(place, t + h, w.new, later)
    for k in range(len(mode)):
        x = later[k] if g[k] == 0.0 else g[k]
        mode[k] = 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        if g[k] == 0.0:
            begin_anew(work)
    hold(place, mode)
    w.counts[LATCHED], w.counts[TURNED], w.counts[FRESH] = 1, 0, 0


@native
def passed(work: int, t: float) -> Any:
    """Whether conditions differ between the ends of the step taken."""
    w = load_work(work)
    place, before, after = w.addresses[SYSTEM], w.switches[LOW], w.switches[HIGH]
    conditions(place, t, w.y, before)
    conditions(place, t + w.numbers[TAKEN], w.new, after)
    for k in range(len(before)):
        if not before[k] * after[k] > 0.0 and not (before[k] == 0.0 and after[k] == 0.0):
            return True
    return False


@native
def foreseen(work: int, t: float) -> Any:
    """Whether conditions would differ if the machine went on as at the beginning of a step: what drives back to a
    border hides it at the end."""
    w = load_work(work)
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + w.numbers[TAKEN] * w.k[0, j]
    return passed(work, t)


@native
def overlooked(work: int, t: float) -> Any:
    """Whether the step taken, that was accepted, should have ended at a condition."""
    w = load_work(work)
    return w.numbers[RTOL] <= SHARP and w.counts[PLAIN] == 0 and passed(work, t)


def refused_entry(work: int, t: float, happened: int, second: int) -> int:
    """1 if a refused step from w.y to w.new may have been refused because of a condition; of held ones, because what is
    held has no value there."""
    w = load_work(work)
    if w.counts[PLAIN] > 0:
        return 0
    if w.counts[LATCHED] == 1:
        return 1 if happened == NOT_FINITE else 0
    return 1 if passed(work, t) or foreseen(work, t) else 0


@native
def arguments_within(work: int, theta: float, out: Any) -> None:
    """Arguments of all conditions at t + θ h of the step taken, without projection."""
    w = load_work(work)
    projected = w.counts[PROJECTED]
    w.counts[PROJECTED] = 0
    call_entry(w.addresses[WITHIN_OF], w.addresses[SELF], theta, address_of(w.failed), 0)
    w.counts[PROJECTED] = projected
    looked(work, w.numbers[TIME] + theta * w.numbers[TAKEN], w.failed, out)


@native
def turned(mode: Any, g: Any) -> Any:
    """Whether a held condition is on its other side."""
    least = 0.0
    for k in range(len(mode)):
        least = min(least, mode[k] * g[k])
    return least < 0.0


@native
def root(work: int, k: int, low: float, high: float, below: float, above: float) -> Any:
    """θ at which the argument of condition k changes its sign, by the Illinois method, on the far side."""
    w = load_work(work)
    g, side = w.switches[VALUE], 0
    for _ in range(ROUNDS):
        if high - low < 1e-13:
            break
        theta = (low * above - high * below) / (above - below)
        if not low < theta < high:
            theta = 0.5 * (low + high)
        arguments_within(work, theta, g)
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
def first_switch(work: int) -> Any:
    """(condition, θ) of the first that turns over in the step taken, (−1, 2) if none does."""
    w = load_work(work)
    mode, low, high = w.switches[MODE], w.switches[LOW], w.switches[HIGH]
    begin, theta, first, which = 0.0, 0.0, 2.0, -1
    arguments_within(work, 0.0, low)
    for part in range(1, PARTS + 1):
        theta = part / PARTS
        arguments_within(work, theta, high)
        if turned(mode, high):
            break
        begin = theta
        copy(high, low)
    for k in range(len(mode)):
        if mode[k] * high[k] < 0.0:
            found = root(work, k, begin, theta, low[k], high[k]) if mode[k] * low[k] > 0.0 else begin
            if found < first:
                first, which = found, k
    return which, first


@native
def implicit(work: int) -> Any:
    """Whether the method's continuous extension is less exact than the ends of its steps."""
    w = load_work(work)
    return w.counts[STAGES] == 1 and w.addresses[JACOBIAN] != 0


@native
def again(work: int, h: float) -> Any:
    """The step taken once more, with the length h: continuous extensions of implicit methods are less exact than the
    ends of their steps."""
    w = load_work(work)
    end = w.numbers[END]
    w.numbers[LAST_STEP] = w.numbers[LAST_ERROR] = 0.0
    w.counts[RENEWED], w.numbers[STEP], w.numbers[END] = 0, h, w.numbers[TIME] + h
    happened = call_entry(w.addresses[STEP_OF], w.addresses[SELF], w.numbers[TIME], 0, 0)
    w.numbers[END] = end
    w.counts[ACCEPTED] -= 1
    w.counts[REJECTED] += 1
    return happened


@native
def cut(work: int, theta: float, h: float) -> Any:
    """The end of the step taken, of length h, at θ into w.failed; (what happened, its length)."""
    w = load_work(work)
    if implicit(work):
        happened = again(work, theta * h)
        copy(w.new, w.failed)
        return happened, w.numbers[TAKEN]
    return call_entry(w.addresses[WITHIN_OF], w.addresses[SELF], theta, address_of(w.failed), 0), theta * h


@native
def stop(work: int, k: int, theta: float) -> Any:
    """End the step taken at θ or a hair later, where condition k is on its other side; (what happened, length)."""
    w = load_work(work)
    h, t, g = w.numbers[TAKEN], w.numbers[TIME], w.switches[VALUE]
    slope = abs(w.switches[HIGH, k] - w.switches[LOW, k]) * PARTS
    happened, length, hair = FINE, 0.0, HAIR
    for _ in range(TRIES):
        happened, length = cut(work, theta, h)
        if happened != FINE:
            break
        looked(work, t + length, w.failed, g)
        if w.switches[MODE, k] * g[k] < 0.0 or length < theta * h * (1.0 - 1e-9) or theta >= 1.0:
            break
        if slope > 0.0:
            hair = max(hair, 2.0 * abs(g[k]) / slope)
        theta = min(theta + hair, 1.0)
        hair *= 8.0
    copy(w.failed, w.new)
    w.numbers[STEP], w.numbers[LAST_STEP], w.numbers[LAST_ERROR], w.numbers[ERROR] = h, 0.0, 0.0, 1e-4
    w.counts[JUMPED] = 1
    if implicit(work):
        w.counts[RENEWED] = 0
    begin_anew(work)
    return happened, length


@native
def turn_over(work: int, k: int) -> None:
    """A condition that turns over at the very beginning of the step taken, which is taken once more: as several do that
    switch at the same time. What goes on turning moves along its border; if that does not end it there is nothing to
    hold."""
    w = load_work(work)
    count = w.switches.shape[1]
    take_back(work)
    begin_anew(work)
    w.counts[TURNED] += 1
    if w.counts[TURNED] > 4 * count + 4:
        release(work, ALONE)
    elif w.counts[TURNED] > count and w.switches[MODE, k] != BORDER:
        w.switches[MODE, k] = BORDER
        w.counts[SLIDING] += 1
    else:
        leave(work, k)


@native
def conclude(work: int, k: int) -> None:
    """After a step with held conditions: condition k switched at its end (−1: none). It is held on its other side for
    the next step, which so finds out whether it is driven back."""
    w = load_work(work)
    w.counts[TURNED] = 0
    if k >= 0:
        leave(work, k)
        begin_anew(work)
    elif w.counts[SLIDING] == 0:
        release(work, 0)
    unheld(work)


def step_entry(work: int, t: float, first: int, second: int) -> int:
    """One step of the method, that ends at a switch if it was refused because of one; REACH is its end."""
    w = load_work(work)
    if w.counts[LATCHED] == 1:
        hold(w.addresses[SYSTEM], w.switches[MODE])
    while True:
        happened: int = call_entry(w.addresses[STEP_OF], w.addresses[SELF], t, 0, 0)
        if happened == SWITCHED and w.counts[LATCHED] == 0:
            latch(work, t)
            continue
        if happened != FINE and w.counts[LATCHED] == 1:
            begin_anew(work)
            release(work, ALONE)
            continue
        if happened == FINE and w.counts[LATCHED] == 0 and overlooked(work, t):
            take_back(work)
            latch(work, t)
            continue
        length = w.numbers[TAKEN]
        if happened == FINE and w.counts[LATCHED] == 1:
            k, theta = first_switch(work)
            if k >= 0 and theta * length <= NEAR * max(abs(t), 1.0):
                turn_over(work, k)
                continue
            if k >= 0:
                happened, length = stop(work, k, theta)
            conclude(work, k)
        w.counts[PLAIN] = max(w.counts[PLAIN] - 1, 0)
        w.numbers[REACH] = t + length
        return happened
