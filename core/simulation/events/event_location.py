"""Event location: steps end where an event indicator g (`core.mechanics.elements.mode_variables`) changes its sign.

1. Steps are taken with free modes, as if nothing jumped. Most events are then found by the error estimate: the method
   asks `refused_entry` about a step that it refuses. `has_sign_change_inside` looks into every accepted step: error
   estimates see little of a jump near the ends of a step, and nothing of a force between two stages.
2. If an indicator changes its sign in that step, it is taken once more with every mode variable fixed at the side of
   the step's beginning (`fix_modes`): the equations are smooth then, and so are the indicators.
3. The first sign change is sought on the continuous extension (`core.simulation.events.sign_changes`; Hairer, Nørsett
   and Wanner, Solving ODE I, II.6, discontinuities by dense output).
4. The step is cut a trifle behind the root (`end_step_at_event`), so that the indicator has its new sign at the end.
5. Its mode variable turns over and stays fixed for one step more, which so finds out whether the motion is driven back;
   if not, all modes are free again (`finish_step`). Methods that look back begin anew behind an event.
6. An event in the first 1e-10 s of a step turns its mode over and takes the step again, for several may happen at once;
   one that goes on turning there (a relay, a friction that sticks) makes the machine slide on the surface g = 0
   (`handle_event_at_begin`, `core.simulation.events.sliding_modes`). What does not end even so is stepped over with
   free modes.

Fixed steps go over events with free modes.

"""

from __future__ import annotations

from typing import Any

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, scratch
from core.machine_code.outcome import FINE, NOT_FINITE, SWITCHED
from core.simulation.equations.event_indicators import evaluate_indicators, set_modes
from core.simulation.equations.system import copy_array
from core.simulation.events.sign_changes import PARTS, find_earliest_sign_change
from core.simulation.events.sliding_modes import (
    HIGH,
    LOW,
    MODE,
    SLIDES,
    VALUE,
    compute_watched_indicators,
    leave_surface,
)
from core.simulation.methods.step_state import compute_derivative, load_state
from core.simulation.stepping import free_modes, repeat_step, reset_history, undo_step

PLAIN_STEPS = 100
"""Number of steps taken with free mode variables after an event that could not be located."""
CHATTER_STEP = 1e-10
"""s (relative to times above 1 s): an event nearer than this to the beginning of a step counts as one at the beginning.
"""
EVENT_OVERSHOOT, TRIES = 1e-13, 8
"""Share of a step by which it ends after the root, increased until the indicator has its new sign; number of tries."""
LOOK_AHEAD_FRACTION = 1e-6
"""Fraction of a step over which the side of a zero indicator is found by looking ahead."""


@native
def free_modes_for_steps(state: int, steps: int) -> None:
    """Free the mode variables for at least the given number of steps."""
    w = load_state(state)
    w.events[MODE, :] = 0.0
    set_modes(w.system, w.events[MODE])
    w.modes_fixed, w.sliding, w.plain_steps, w.fresh = 0, 0, steps, 0


@native
def fix_modes(state: int, t: float) -> None:
    """Fix mode variables at the signs of their indicators at the beginning of the step, or just after it."""
    w = load_state(state)
    place, mode, g, later = w.system, w.events[MODE], w.events[LOW], w.events[HIGH]
    evaluate_indicators(place, t, w.y, g)
    h = LOOK_AHEAD_FRACTION * w.step
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + h * w.k[0, j]
    if compute_derivative(state, t + h, w.new, w.failed):  # what only begins to move shows in the second order
        for j in range(len(w.y)):
            w.new[j] += 0.5 * h * (w.failed[j] - w.k[0, j])
    evaluate_indicators(place, t + h, w.new, later)
    for k in range(len(mode)):
        x = later[k] if g[k] == 0.0 else g[k]
        mode[k] = 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        if g[k] == 0.0:
            reset_history(state)
    set_modes(place, mode)
    w.modes_fixed, w.turned, w.fresh = 1, 0, 0


@native
def have_signs_changed(state: int, t: float) -> Any:
    """Return true if an indicator has different signs at the two ends of the step taken."""
    w = load_state(state)
    place, before, after = w.system, w.events[LOW], w.events[HIGH]
    evaluate_indicators(place, t, w.y, before)
    evaluate_indicators(place, t + w.taken, w.new, after)
    for k in range(len(before)):
        if not before[k] * after[k] > 0.0 and not (before[k] == 0.0 and after[k] == 0.0):
            return True
    return False


@native
def is_sign_change_expected(state: int, t: float) -> Any:
    """Return true if an indicator would change its sign with the rates at the beginning of the step. Forces that drive
    the state back to a surface g = 0 can hide the change at the end of the step."""
    w = load_state(state)
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + w.taken * w.k[0, j]
    return have_signs_changed(state, t)


@native
def has_sign_change_inside(state: int, t: float) -> Any:
    """Return true if an indicator changes its sign within the accepted step."""
    w = load_state(state)
    if w.plain_steps > 0:
        return False
    if have_signs_changed(state, t):
        return True
    sides, at_begin = scratch(w.events.shape[1]), w.events[LOW]
    for k in range(len(sides)):
        sides[k] = 1.0 if at_begin[k] > 0.0 else -1.0 if at_begin[k] < 0.0 else 0.0
    if w.extend_of != 0:  # values within the step go on as it began: stages beyond a switch would spoil them
        set_modes(w.system, sides)
        happened = call_entry(w.extend_of, state, t, 0, 0)
        free_modes(state)
        if happened != FINE:
            return True
    which, _ = find_earliest_sign_change(state, sides)
    return which >= 0


@entry
def refused_entry(state: int, t: float, outcome: int, second: int) -> int:
    """Return 1 if an event may be the reason why the step from w.y to w.new was rejected; with fixed modes, if formulas
    have no value on their fixed side."""
    w = load_state(state)
    if w.plain_steps > 0:
        return 0
    if w.modes_fixed == 1:
        return 1 if outcome == NOT_FINITE else 0
    return 1 if have_signs_changed(state, t) or is_sign_change_expected(state, t) else 0


@native
def has_coarse_interpolant(state: int) -> Any:
    """Return true if the method interpolates within its steps less accurately than it computes their ends."""
    w = load_state(state)
    return w.stages == 1 and w.jacobian != 0


@native
def interpolate_step_end(state: int, theta: float, h: float) -> Any:
    """Compute the state at θ of the step taken, of length h, into w.failed; returns (outcome, new step length)."""
    w = load_state(state)
    if has_coarse_interpolant(state):
        happened = repeat_step(state, theta * h)
        copy_array(w.new, w.failed)
        return happened, w.taken
    return call_entry(w.within_of, state, theta, address_of(w.failed), 0), theta * h


@native
def end_step_at_event(state: int, k: int, theta: float) -> Any:
    """End the step taken at θ or slightly later, where indicator k has its new sign; returns (outcome, length)."""
    w = load_state(state)
    h, t, g = w.taken, w.time, w.events[VALUE]
    slope = abs(w.events[HIGH, k] - w.events[LOW, k]) * PARTS
    happened, length, overshoot = FINE, 0.0, EVENT_OVERSHOOT
    for _ in range(TRIES):
        happened, length = interpolate_step_end(state, theta, h)
        if happened != FINE:
            break
        compute_watched_indicators(state, t + length, w.failed, g)
        if w.events[MODE, k] * g[k] < 0.0 or length < theta * h * (1.0 - 1e-9) or theta >= 1.0:
            break
        if slope > 0.0:  # twice the distance at which the indicator, at its rate in this step, reaches zero
            overshoot = max(overshoot, 2.0 * abs(g[k]) / slope)
        theta = min(theta + overshoot, 1.0)
        overshoot *= 8.0
    copy_array(w.failed, w.new)
    w.step, w.last_step, w.last_error, w.error = h, 0.0, 0.0, 1e-4
    w.jumped = 1
    if has_coarse_interpolant(state):
        w.renewed = 0
    reset_history(state)
    return happened, length


@native
def handle_event_at_begin(state: int, k: int) -> None:
    """Handle an event at the very beginning of the step, which is then repeated; several events may coincide. An
    indicator that keeps switching slides on its surface; if that does not help, mode variables are freed."""
    w = load_state(state)
    count = w.events.shape[1]
    undo_step(state)
    reset_history(state)
    w.turned += 1
    if w.turned > 4 * count + 4:
        free_modes_for_steps(state, PLAIN_STEPS)
    elif w.turned > count and w.events[MODE, k] != SLIDES:
        w.events[MODE, k] = SLIDES
        w.sliding += 1
    else:
        leave_surface(state, k)


@native
def finish_step(state: int, k: int) -> None:
    """Finish a step with fixed modes that ended at an event of indicator k (−1: none): its mode is fixed on the other
    side for the next step, which shows whether the motion is driven back."""
    w = load_state(state)
    w.turned = 0
    if k >= 0:
        leave_surface(state, k)
        reset_history(state)
    elif w.sliding == 0:
        free_modes_for_steps(state, 0)
    free_modes(state)


@entry
def step_entry(state: int, t: float, first: int, second: int) -> int:
    """Take one step of the method, which ends at an event if it was rejected because of one; w.reach is its end."""
    w = load_state(state)
    if w.modes_fixed == 1:
        set_modes(w.system, w.events[MODE])
    while True:
        happened: int = call_entry(w.step_of, state, t, 0, 0)
        if happened == SWITCHED and w.modes_fixed == 0:  # refused because of an event: with fixed modes
            fix_modes(state, t)
            continue
        if happened != FINE and w.modes_fixed == 1:  # not even so: one step over it with free modes
            reset_history(state)
            free_modes_for_steps(state, 1)
            continue
        if happened == FINE and w.modes_fixed == 0 and has_sign_change_inside(state, t):
            undo_step(state)
            fix_modes(state, t)
            continue
        length = w.taken
        if happened == FINE and w.modes_fixed == 1:
            k, theta = find_earliest_sign_change(state, w.events[MODE])
            if k >= 0 and theta * length <= CHATTER_STEP * max(abs(t), 1.0):
                handle_event_at_begin(state, k)
                continue
            if k >= 0:
                happened, length = end_step_at_event(state, k, theta)
            finish_step(state, k)
        w.plain_steps = max(w.plain_steps - 1, 0)
        w.reach = t + length
        return happened
