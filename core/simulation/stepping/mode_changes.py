"""What follows where a mode of a row has ended (`core.simulation.stepping.mode_margins`): `change`.

Stops that are hit rigidly exchange an impulse, all together (`strike`); then those rows that are at rest and may be
held are, unless bounds do not suffice: `core.simulation.equations.admissible_forces.resolved`; speeds of held rows are
set to nothing by the least change. Rigid stops that bounce ever faster come to rest (`BRIEF`): of a flight of a
nanosecond nobody knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import bounded, correct, motion
from core.simulation.equations.ball_forces import resolved
from core.simulation.equations.bearing_loads import BEARING_ROUNDS, WELL, approach, bear, gap_of
from core.simulation.equations.held_rows import act, is_a_speed, responses, weight_of
from core.simulation.equations.mode_rows import (
    AGAINST,
    APART,
    AT_SPEED,
    HELD,
    LEAVING,
    MOVING,
    OVERRUN,
    PRESSED,
    REST,
    SATURATED,
    SLOW,
    adjust,
    along,
    depth_of,
    is_calm,
    is_held,
    least,
    length,
    load_rows,
    most,
    pressure,
    refresh,
    rubs,
    sliding,
    take_aim,
)
from core.simulation.equations.system import load_system, tick
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.stepping.mode_margins import BEARING, COMMANDED, EACH, LIMITED, STANDING, TOUCHING, at_rest
from core.simulation.stepping.step_state import begin_anew, derivative, load_state, project

_pending: Any = np.arange(-3, 0)
BEGINS, NOTHING_PENDING, LOOK_AGAIN = _pending
"""`StepState.pending` besides the number of a margin: a run begins, nothing, saturated rows are looked at. NumPy
integers: for each literal one Numba would compile all that a change does anew."""
STOPPING = 10.0
"""Of what the run's tolerances allow of a speed: with how much across its aim a ball still comes to rest where its
speed along it ends."""
EXCESS = 1e-5
"""Part of `weight_of` by which a row that was found at its end is beyond; more than what
rounding makes of forces that are not unique."""
BRIEF, LOW = 1e-9, 1e-15
"""s, and rad or m (as a part of those above 1): flights from a rigid stop that are shorter or lower end on it."""
LED = 1e-9
"""Part of what its own force does to a row elsewhere, above which it accelerates at a dead point."""
STILL_FAST = 1.0 - 1e-6
"""Part of a speed limit from which on a row is at it."""
CALM = 0.1
"""Part of the tolerance within which a coordinate must swing in an elastic stop to become calm."""


@native
def clip(rows: int, k: int) -> None:
    """Whether the command of a row's motor is more than it can give, now that it has just passed the limit."""
    r = load_rows(rows)
    r.clipped[k] = 0 if r.clipped[k] != 0 else 1 if r.wished[k] > 0.0 else -1


@native
def meet_stops(state: int, which: int) -> None:
    """Elastic stops of the row whose margin ended: hit, let go, left."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, k = load_rows(rows), which // EACH
    side = 1 if r.upper[k] - r.value[k] < r.value[k] - r.lower[k] else -1
    if r.stop[k] == APART:
        if r.rigid[k] == 0:
            r.stop[k] = side * PRESSED
            r.bounces[k] += 1
    elif abs(r.stop[k]) == PRESSED:
        r.stop[k] = side * LEAVING if pressure(rows, k, side) < depth_of(rows, k, side) else APART
    elif abs(r.stop[k]) == LEAVING:  # what is left by a hair less than nothing is left
        r.stop[k] = APART if depth_of(rows, k, side) <= -pressure(rows, k, side) else side * PRESSED


@native
def stiffen(state: int, y: Any, which: int) -> None:
    """Stiffness of stops met for the first time, and the damping of the one that is met now (−1: of all), from the
    inertia that they meet."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r, n = load_rows(s.mode_rows), len(y)
    chosen, A, columns, base = scratch(1), scratch(1), scratch(s.nv), scratch(n)
    for k in range(r.count):
        met = which < 0 or which // EACH == k
        if abs(r.stop[k]) == PRESSED and met:
            r.stop[k], stop = APART, r.stop[k]
            act(place, w.time, y)
            call_entry(r.inner, place, w.time, address_of(y), address_of(base))
            chosen[0] = k
            responses(place, w.time, y, base, chosen, columns, A, 1)
            r.stop[k] = stop
            r.inertia[k] = 1.0 / A[0] if A[0] > 0.0 else 1.0
            r.stiffness[k] = r.stiffness[k] if r.stiffness[k] > 0.0 else r.closing[k] * r.inertia[k]
            r.fine[k] = w.atol + w.rtol * abs(r.value[k])
            if r.damping_ratio[k] > 0.0:
                r.dissipation[k] = 2.0 * r.damping_ratio[k] * np.sqrt(r.stiffness[k] * r.inertia[k])


@native
def is_touching(rows: int, k: int) -> int:
    """The side of a rigid stop that a row touches; 0: none."""
    r = load_rows(rows)
    if r.rigid[k] == 0:
        return 0
    for side in (1, -1):
        edge = r.upper[k] if side > 0 else r.lower[k]
        if np.isfinite(edge) and side * (r.value[k] - edge) >= -TOUCHING * max(1.0, abs(edge)):
            return side
    return 0


@native
def touched(rows: int, chosen: Any, low: Any, high: Any) -> int:
    """Rows at rigid stops and the impulses that these can give; their number, 0 if none is hit."""
    r = load_rows(rows)
    n, hits = 0, 0
    for k in range(r.count):
        side = is_touching(rows, k)
        if side != 0:
            chosen[n] = k
            low[n], high[n] = (-np.inf, 0.0) if side > 0 else (0.0, np.inf)
            hits += 1 if side * r.rate[k] > 0.0 else 0
            n += 1
    return n if hits > 0 else 0


@native
def strike(state: int, y: Any) -> None:
    """Speeds after rigid stops were hit: γ⁺ + e γ⁻ ≥ 0 outward of all that are touched together (Newton's law, in the
    form of Moreau), with all e made smaller where energy would be gained."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.mode_rows)
    m, nq, nv = r.count, s.nq, s.nv
    chosen, low, high = scratch(m), scratch(m), scratch(m)
    refresh(place, y[:nq], y[nq : nq + nv])
    n = touched(s.mode_rows, chosen, low, high)
    if n == 0:
        return
    columns, A, base, lam = scratch(n * nv), scratch(n * n), scratch(len(y)), scratch(n)
    act(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    responses(place, w.time, y, base, chosen, columns, A, n)
    share = 1.0
    for _ in range(12):
        gain = impulses(s.mode_rows, chosen, A, low, high, share, lam, n)
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
    turn_stops(state, y)


@native
def turn_stops(state: int, y: Any) -> None:
    """Elastic stops after an impact, which has changed speeds: a stop never pulls."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    refresh(w.system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED or abs(r.stop[k]) == LEAVING:
            side = 1 if r.stop[k] > 0 else -1
            if depth_of(s.mode_rows, k, side) > 0.0:
                r.stop[k] = side * (PRESSED if pressure(s.mode_rows, k, side) >= 0.0 else LEAVING)


@native
def impulses(rows: int, chosen: Any, A: Any, low: Any, high: Any, share: float, lam: Any, n: int) -> float:
    """Impulses with a share of all restitutions, into lam (n,); the energy that is gained, J."""
    r = load_rows(rows)
    c, side, g, gain = scratch(n), scratch(n), scratch(n), 0.0
    for i in range(n):
        k = int(chosen[i])
        outward = r.rate[k] >= 0.0 if low[i] == 0.0 else r.rate[k] <= 0.0
        c[i] = r.rate[k] * (1.0 if outward else 1.0 + share * r.restitution[k])
    bounded(A, c, low, high, lam, side, g, n)
    for i in range(n):
        gain += lam[i] * r.rate[int(chosen[i])]
        for j in range(n):
            gain += 0.5 * lam[i] * A[i * n + j] * lam[j]
    return gain


@native
def limit_speed(rows: int, k: int) -> None:
    """The mode of a row whose speed has reached its limit, or is let go there."""
    r = load_rows(rows)
    sense = 1 if r.rate[k] > 0.0 else -1
    if abs(r.mode[k]) == AT_SPEED:
        slack = -sense * r.carried[k] < 0.5 * sense * r.asked[k]  # the command alone would be slower
        r.mode[k] = sense * (MOVING if slack else OVERRUN)
    elif abs(r.mode[k]) == OVERRUN:
        r.mode[k] = sense * MOVING
    else:
        r.mode[k] = sense * (OVERRUN if abs(r.rate[k]) > (1.0 + REST) * r.fastest[k] else AT_SPEED)


@native
def at_its_limit(rows: int, k: int) -> Any:
    """Whether the speed of a row is what its mode at a speed limit says; true of other modes."""
    r = load_rows(rows)
    if abs(r.mode[k]) != AT_SPEED and abs(r.mode[k]) != OVERRUN:
        return True
    speed = r.rate[k] if r.mode[k] > 0 else -r.rate[k]
    too_fast = abs(r.mode[k]) == AT_SPEED and speed > r.fastest[k] * (2.0 - STILL_FAST)
    return speed >= STILL_FAST * r.fastest[k] and not too_fast


@native
def released(rows: int, k: int, ended: bool) -> Any:
    """Whether a brake or clutch without friction lets go of what it held; whether it is free, into the row."""
    r = load_rows(rows)
    if r.controlled[k] < 0:
        return False
    if ended and r.mode[k] == HELD and not rubs(rows, k) and abs(r.stop[k]) != AGAINST:
        r.mode[k] = -MOVING if r.carried[k] > 0.0 else MOVING  # it gives way to what it carried
        return True
    r.free[k] = 0 if rubs(rows, k) or (ended and r.free[k] == 1) else 1
    return False


@native
def ball_rests(state: int, k: int, ended: bool) -> int:
    """Mark the rows of a ball (k: the first) as held if it may be, else as moving; how many are held."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, count = load_rows(rows), load_rows(rows).shares[k]
    speed = length(rows, k, r.rate)
    for i in range(k, k + count):
        r.held_at[i] = r.value[i] if r.mode[i] != HELD else r.held_at[i]
    r.quickest[k] = max(r.quickest[k], speed)
    passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
    passes = passes and speed <= STOPPING * (w.atol + w.rtol * r.quickest[k])
    let = released(rows, k, ended)
    rubbing = not let and (r.free[k] == 0 if r.controlled[k] >= 0 else rubs(rows, k))
    tolerance = REST * (r.quickest[k] + SLOW)
    held = rubbing and (speed <= tolerance or passes)
    if let:
        r.began[k] = w.time
        take_aim(rows, k, r.carried, -1.0)
    elif not held and speed > tolerance:
        take_aim(rows, k, r.rate, 1.0)
    for i in range(k, k + count):
        r.mode[i], r.free[i] = HELD if held else MOVING, r.free[k]
    return count if held else 0


@native
def candidates(state: int, y: Any, which: int) -> int:
    """Mark rows at rest that may be held (`HELD`), others as moving; the number of all that are held."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, count = s.mode_rows, 0
    r = load_rows(rows)
    refresh(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        located = which >= 0 and which // EACH == k
        if r.shares[k] != 1:
            count += ball_rests(state, k, located and which % EACH == BEARING) if r.shares[k] > 1 else 0
            continue
        r.held_at[k] = r.value[k] if r.mode[k] != HELD else r.held_at[k]
        r.quickest[k] = max(r.quickest[k], abs(r.rate[k]))
        tolerance = at_rest(rows, k)
        side = is_touching(rows, k)
        presses = side != 0 and (side * r.rate[k] >= -tolerance or r.ends[k] == 1)
        ended = located and which % EACH == BEARING
        passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
        if released(rows, k, ended):
            r.began[k] = w.time
            continue
        rubbing = r.free[k] == 0 if r.controlled[k] >= 0 else rubs(rows, k)
        rubbing = rubbing or (r.ends[k] == 1 and abs(r.stop[k]) == PRESSED)
        resting = abs(r.rate[k]) <= tolerance or r.ends[k] == 1 or passes
        if not at_its_limit(rows, k):  # an impact has slowed it, or thrown it back
            r.mode[k] = MOVING if r.rate[k] >= 0.0 else -MOVING
        limiting = located and which % EACH == LIMITED
        too_fast = abs(r.rate[k]) > r.fastest[k] * (2.0 - STILL_FAST) and r.asked[k] != 0.0
        if too_fast and abs(r.mode[k]) == MOVING and not limiting:  # an impact has made it faster
            r.mode[k] = OVERRUN if r.rate[k] > 0.0 else -OVERRUN
        if abs(r.mode[k]) in (AT_SPEED, OVERRUN) or limiting:
            if limiting or ended:
                limit_speed(rows, k)
            count += 1 if is_held(r.mode[k]) else 0
            continue
        r.stop[k] = (
            side * AGAINST
            if presses and (resting or side * r.rate[k] > 0.0)
            else (APART if abs(r.stop[k]) == AGAINST else r.stop[k])
        )
        if (rubbing and resting) or abs(r.stop[k]) == AGAINST:
            r.mode[k] = HELD
            count += 1
        elif r.rate[k] != 0.0 or not rubbing:
            r.mode[k] = MOVING if r.rate[k] >= 0.0 else -MOVING
    return count


@native
def hold_within(
    state: int,
    y: Any,
    which: int,
    before: Any,
    chosen: Any,
    shares: Any,
    columns: Any,
    A: Any,
    base: Any,
    c: Any,
    bounds: Any,
    broken: Any,
    hair: Any,
    lam: Any,
    side: Any,
    g: Any,
    n: int,
) -> None:
    """Forces λ of the n candidates, all within what they may carry, and who of them moves nevertheless (`broken`)."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r = load_rows(rows)
    act(place, w.time, y)  # held rows exert nothing
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    responses(place, w.time, y, base, chosen, columns, A, n)
    for i in range(n):
        k = int(chosen[i])
        c[i] = along(rows, k, base[nq : nq + nv]) + r.bias[k]
        broken[i] = hair[i] = 0.0
        if r.mode[k] != HELD:
            bounds[i], bounds[n + i] = least(rows, k), most(rows, k)
            bounds[2 * n + i], bounds[3 * n + i] = bounds[i], bounds[n + i]
            continue
        stop = r.stop[k]
        bounds[i], bounds[n + i] = least(rows, k), most(rows, k)
        bounds[2 * n + i] = (
            -np.inf if stop == AGAINST else -sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
        )
        bounds[3 * n + i] = (
            np.inf if stop == -AGAINST else sliding(r.static_backward[k], r.kinetic_backward[k], r.stribeck[k], 0.0)
        )
        located = which == EACH * r.leader[k] + BEARING
        broken[i] = 1.0 if r.began[r.leader[k]] == w.time else 0.0
        hair[i] = EXCESS * weight_of(rows, r.leader[k]) if located and int(before[k]) == HELD else 0.0
    if not resolved(A, c, bounds, shares, broken, hair, lam, side, g, n):
        r.approximate = 1


@native
def bearings_agree(place: int, y: Any, base: Any, chosen: Any, columns: Any, lam: Any, turn: int, n: int) -> Any:
    """Whether the friction with which λ was found is that of the reactions which it makes; else the next to try is
    there. base (n,): ẏ without λ, with it when this is done."""
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r, fresh = load_rows(rows), scratch(len(load_rows(rows).loads))
    for i in range(n):
        k = int(chosen[i])
        r.carried[k] = lam[i]
        r.force[k] += lam[i]
        for j in range(nv):
            base[nq + j] += lam[i] * columns[i * nv + j]
    if not bear(place, y, base[nq : nq + nv], fresh):
        r.unsettled = 1
        return True
    gap = gap_of(rows, fresh)
    if approach(rows, fresh, turn) or turn >= BEARING_ROUNDS:
        r.unsettled = 0 if gap <= WELL else 1
        return True
    return False


@native
def settle_modes(state: int, y: Any, which: int, before: Any, n: int) -> None:
    """Which of the n candidates are held, and the others' direction; those at a speed limit stay there as far as what
    their motors may withhold keeps them. before (count,): modes until now."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nv = s.mode_rows, s.nv
    r = load_rows(rows)
    chosen, columns, A, base = scratch(n), scratch(n * nv), scratch(n * n), scratch(len(y))
    c, bounds, broken, hair = scratch(n), scratch(4 * n), scratch(n), scratch(n)
    lam, side, g, count = scratch(n), scratch(n), scratch(n), 0
    shares = scratch(n)
    for k in range(r.count):
        if is_held(r.mode[k]):
            chosen[count], shares[count] = k, r.shares[k]
            count += 1
    turn = 0
    while True:
        hold_within(state, y, which, before, chosen, shares, columns, A, base, c, bounds, broken, hair, lam, side, g, n)
        if r.bearing_loads == 0 or bearings_agree(place, y, base, chosen, columns, lam, turn, n):
            break
        turn += 1
    for i in range(n):
        k = int(chosen[i])
        if r.shares[k] != 1:
            if r.shares[k] > 1 and side[i] != 0.0:
                ball_ends(state, k, lam[i : i + r.shares[k]], broken[i] > 0.0)
        elif abs(r.mode[k]) != AT_SPEED:
            led = A[i * n + i] == 0.0 and abs(g[i]) > LED * r.largest[k] * weight_of(rows, k)  # no force moves it
            pulled = g[i] if led else -side[i]
            if not settle_row(state, k, side[i], pulled, broken[i] > 0.0) and which < 0:
                stays_at_its_end(rows, k, int(before[k]), lam[i])
        elif broken[i] > 0.0 and side[i] != 0.0:  # its motor cannot keep it at its limit
            r.carried[k] = lam[i]
            limit_speed(rows, k)
    still(state, y, chosen, A, columns, n)


@native
def settle_row(state: int, k: int, side: float, pulled: float, breaks: bool) -> bool:
    """The mode of a row that is held if bounds allow; whether it is another one. side : the bound at which its force
    is, 0: none; pulled : which way it is moved"""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    if breaks and pulled != 0.0:  # the force at its upper bound drives backward no more
        r.mode[k], r.began[k] = -MOVING if pulled < 0.0 else MOVING, w.time
        r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]
        return True
    if side != 0.0 and (rubs(rows, k) or abs(r.stop[k]) == AGAINST or is_calm(rows, k)):
        let_go(rows, k, side > 0.0)
        return True
    return False


@native
def stays_at_its_end(rows: int, k: int, before: int, force: float) -> None:
    """A row that was saturated, and still carries as much but for rounding, stays so: it would end there again at
    once."""
    r = load_rows(rows)
    if abs(before) != SATURATED or r.mode[k] != HELD or r.stop[k] == AGAINST or r.stop[k] == -AGAINST:
        return
    bound = r.static_backward[k] if before > 0 else -r.static_onward[k]
    if abs(force - bound) < EXCESS * weight_of(rows, k):
        r.mode[k] = before


@native
def ball_ends(state: int, k: int, carried: Any, breaks: bool) -> None:
    """A ball (k: its first row) at the end of what it may carry slides, or stays there as long as others hold it."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, size = load_rows(rows), 0.0
    for i in range(len(carried)):
        size += carried[i] * carried[i]
    for i in range(len(carried)):
        r.mode[k + i] = MOVING if breaks else SATURATED
        if size > 0.0:
            r.aim[k + i] = -carried[i] / np.sqrt(size)
    if breaks:
        r.began[k] = w.time


@native
def let_go(rows: int, k: int, upper: bool) -> None:
    """A held row at the end of what it may carry stays there as long as others hold it; its stop has no force."""
    r = load_rows(rows)
    if r.shares[k] > 1:
        take_aim(rows, k, r.carried, -1.0)
        for i in range(k, k + r.shares[k]):
            r.mode[i] = SATURATED
        return
    r.mode[k] = (SATURATED if rubs(rows, k) else -MOVING) * (1 if upper else -1)
    r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]


@native
def give_way(state: int, which: int) -> None:
    """What goes on changing at one instant is stepped over: a row that cannot be held any more is not."""
    w = load_state(state)
    rows, k = load_system(w.system).mode_rows, which // EACH
    r = load_rows(rows)
    if r.cramped == 0:
        r.cramped, r.cramped_at = which + 1, w.time
    if which % EACH == BEARING and r.mode[k] == HELD:
        let_go(rows, k, most(rows, k) - r.carried[k] < r.carried[k] - least(rows, k))
    w.pending, w.fresh = NOTHING_PENDING, 0
    begin_anew(state)


@native
def still(state: int, y: Any, chosen: Any, A: Any, columns: Any, n: int) -> None:
    """Speeds of held rows to nothing, by the least change in the metric of M."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    c, lam, side, g = scratch(n), scratch(n), scratch(n), scratch(n)
    for i in range(n):
        k = int(chosen[i])
        rests = r.mode[k] == HELD or r.shares[k] != 1  # what a ball had left across its aim is gone, too
        c[i] = r.rate[k] if rests else 0.0
        lam[i], side[i] = 0.0, 0.0 if rests or is_held(r.mode[k]) else 1.0
    motion(A, c, lam, g, n)
    for _ in range(3):
        correct(A, g, lam, side, n)
        motion(A, c, lam, g, n)
    for i in range(n):
        for j in range(s.nv):
            y[s.nq + j] += lam[i] * columns[i * s.nv + j]
    # exactly so where a row is a speed
    for i in range(n):
        k = int(chosen[i])
        if (r.mode[k] == HELD or r.shares[k] != 1) and is_a_speed(w.system, k):
            y[s.nq + r.columns[r.begins[k]]] = 0.0


@native
def is_slow(rows: int, k: int) -> Any:
    """Whether a row without friction moves so little in an elastic stop that it may become calm."""
    r = load_rows(rows)
    if abs(r.stop[k]) != PRESSED or r.mode[k] == HELD or rubs(rows, k) or r.controlled[k] >= 0:
        return False
    return 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * np.sqrt(r.stiffness[k] / r.inertia[k])


@native
def become_calm(state: int, y: Any, which: int) -> None:
    """Rows that hardly swing in their elastic stops any more, and those that go on being calm, into `ends`."""
    w = load_state(state)
    s = load_system(w.system)
    r, asked = load_rows(s.mode_rows), False
    for k in range(r.count):
        r.ends[k] = 1 if is_calm(s.mode_rows, k) and which // EACH != k else 0
        asked = asked or is_slow(s.mode_rows, k)
    if not asked or which >= 0:
        return
    f = scratch(len(y))
    derivative(state, w.time, y, f)
    for k in range(r.count):
        if is_slow(s.mode_rows, k):
            pace = np.sqrt(r.stiffness[k] / r.inertia[k])
            rising = along(s.mode_rows, k, f[s.nq : s.nq + s.nv]) + r.bias[k]
            r.ends[k] = 1 if abs(rising) / pace + 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * pace else 0


@native
def ends_bouncing(state: int, y: Any, which: int) -> None:
    """Rigid stops left so slowly that they are hit again at once: no more bounces there; elastic ones in which nothing
    moves any more."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r, base = load_rows(rows), scratch(len(y))
    refresh(place, y[:nq], y[nq : nq + nv])
    become_calm(state, y, which)
    asked = False
    for k in range(r.count):
        asked = asked or is_touching(rows, k) != 0
    if not asked:
        return
    act(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    for k in range(r.count):
        side = is_touching(rows, k)
        if side == 0 or side * r.rate[k] >= 0.0:
            continue
        rising = along(rows, k, base[nq : nq + nv]) + r.bias[k]
        flight, height = 2.0 * abs(r.rate[k] / rising), 0.5 * r.rate[k] ** 2 / abs(rising)
        edge = r.upper[k] if side > 0 else r.lower[k]
        if side * rising > 0.0 and (flight < BRIEF or height < max(LOW * max(1.0, abs(edge)), 0.1 * w.atol)):
            r.ends[k] = 1


@native
def change(state: int, y: Any, which: int) -> None:
    """New modes at the state y, where margin `which` has ended (−1: a run begins, or saturated rows are looked at)."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.mode_rows)
    before = scratch(r.count)
    tick(place, w.time)
    adjust(place, w.time, y)
    refresh(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        before[k] = r.mode[k]
    if which >= 0 and which % EACH == STANDING:
        met = r.stop[which // EACH] == APART  # what presses again before it was left is as it was
        meet_stops(state, which)
        if met:
            stiffen(state, y, which)
    elif which >= 0 and which % EACH == COMMANDED:
        clip(s.mode_rows, which // EACH)
    strike(state, y)
    ends_bouncing(state, y, which)
    n = candidates(state, y, which)
    if n > 0:
        settle_modes(state, y, which, before, n)
    project(state, w.time, y, w.failed[:0])
