"""Coordinates of joints along which forces have modes: dry friction that sticks or slides, stops, speed limits.

Each is a row γ = W v with a set of forces that it may carry. While its mode holds it, γ̇ = 0 and the force λ is whatever
that takes (`core.simulation.equations.held_rows`); otherwise its force is a smooth function of the state. The words:

held : at rest by friction, against a rigid stop, or both
moving, onward or backward : friction slides (a row without friction is always moving)
at its speed limit : the motor gives less than its command, so that the speed stays where it may be at most
overrun : loads drive it faster than that, the motor gives nothing
saturated : at rest with the largest friction there is, because others hold it
calm : in an elastic stop, with a motion below the tolerance of the run: held until its load differs by as little

Rows that are components of one vector (of a ball joint, of a plane) have one friction, bounded by its length and
opposite to that vector, and one mode: they stand one behind the other, with `aim` in place of a sign.

Friction of brakes and clutches has levels that are formulas: they are evaluated with the rows. Where they are zero a
row is moving, and free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.system import (
    AT_Q,
    BEHIND_TIME,
    evaluate,
    load_function,
    load_system,
    put,
    put_all,
    put_states,
    result,
    result_place,
    tick,
)
from core.simulation.machine_code.language import loader, native, view
from core.simulation.machine_code.records import Fixed, Floats, Ints, Record

HELD, MOVING, AT_SPEED, OVERRUN, SATURATED = range(5)
"""Modes of a row; all but the first with a sign: of its speed, or the force at which it is saturated."""
REST = 1e-10
"""Part of the largest speed that a row has had, below which it is at rest."""
SLOW = 0.01
"""rad/s or m/s: what counts as quick where nothing has moved yet."""
APART, PRESSED, LEAVING, AGAINST = range(4)
"""A row's stop, with the sign of the side: no contact, pushed in, on its way out without a force (a stop never pulls),
at a rigid one."""
STOPS = -1.0
MARGINS = 4
"""Of a row (`core.simulation.stepping.mode_margins`)."""
HUNT_CROSSLEY, LINEAR = range(2)
"""Laws of elastic stops: k p (1 + c ṗ), k p + d ṗ."""


class ModeRows(Record):
    """All rows of a machine. Entries of arrays (count,) belong to one row each."""

    count: Fixed
    inner: Fixed
    """Address of the entry that gives ẏ without modes, for the joint forces in `System.u`."""
    torque: Fixed
    """`Function` of the joint forces that a person gives; 0: they are constant."""
    values: Fixed
    entries: Fixed
    drift: Fixed
    """Functions of coordinates of joints that close loops, of their derivatives by q, and of what is not γ̇ = W a; 0:
    there are none."""
    levels: Fixed
    """Function of friction while it slides and at rest, of all that have formulas of it; 0: none has."""
    bearing_loads: Fixed
    """Function of what bearings bear, of all whose friction grows with it; 0: none does."""
    cut_rows: Fixed
    """Number of coordinates of joints that close loops that it takes forces along."""
    balls: Fixed
    """1: there are rows with one friction."""
    linear: Fixed
    """1: what rows carry is linear in time where nothing moves; 0: loads may come and go within a step."""
    shares: Ints
    """How many rows from one on have one friction; 0 behind it."""
    leader: Ints
    """The first of them."""
    aim: Floats
    """Components of where they slide or would, a unit vector."""
    zone: Floats
    """Of their first: the speed up to which one begins to slide (`core.simulation.equations.sliding_off`); 0: it has
    begun; `STOPS`: friction has brought it to rest within a fixed step, in which it turned about."""
    controlled: Ints
    """Which of them a row has; −1: its friction is a number."""
    free: Ints
    """1: they are zero, and the row moves with neither direction nor friction."""
    bearing: Ints
    """Which of the loads a row's friction grows with; −1: with none."""
    coefficient: Floats
    static_coefficient: Floats
    """Of that friction while it slides and at rest."""
    loads: Floats
    """What bearings bear, N or N·m: as evaluated last."""
    residual: Floats
    stepped: Floats
    inverse: Floats
    """By how much they differ from those that they lead to; how they were changed last; (n n,) the inverse that
    Broyden's method builds."""
    own: Fixed
    """Number of rows of joints of the tree, which come first."""
    wanted: Floats
    """(nv,) joint forces that a person gives, if they are constant."""
    given: Floats
    """(nv,) joint forces that a person gives, within what motors can."""
    effort: Floats
    """(nv,) largest of them."""
    asked: Floats
    """What of it acts along a row of the tree."""
    wished: Floats
    """The same, were motors strong enough."""
    strongest: Floats
    """Effort limits; infinite: none."""
    at_q: Ints
    """Of rows of the tree: where their coordinate stands, −1: nowhere."""
    ratio: Floats
    offset: Floats
    """Coordinate of a row of the tree in terms of the one that it follows."""
    begins: Ints
    columns: Ints
    W: Floats
    """(count + 1,) where entries of a row begin, their speeds, and they themselves."""
    value: Floats
    rate: Floats
    bias: Floats
    """s, γ = W v, γ̇ − W a."""
    reference: Floats
    """Coordinates that are known up to whole turns are those nearest to this."""
    turns: Ints
    """1: such a coordinate."""
    measured: Ints
    """1: the speed is the rate of a coordinate; 0: it is one of a joint with a quaternion."""
    cuts: Fixed
    first: Ints
    """Their number; where entries of each begin in what `entries` gives."""
    cut: Ints
    """Of rows that close loops: which one of `values` they are."""
    static_onward: Floats
    static_backward: Floats
    kinetic_onward: Floats
    kinetic_backward: Floats
    """Largest friction at rest, and while it slides, against motion onward and backward: N·m or N."""
    stribeck: Floats
    """Speed over which the one falls to the other, rad/s or m/s; 0: at once."""
    lower: Floats
    upper: Floats
    """Limits, rad or m; infinite: none."""
    rigid: Ints
    """1: its stops are."""
    law: Ints
    """Of elastic ones: HUNT_CROSSLEY or LINEAR."""
    stiffness: Floats
    dissipation: Floats
    """N·m/rad or N/m (0: from `closing` at the first contact); s/rad or s/m, or of LINEAR N·m·s/rad or N·s/m."""
    closing: Floats
    """Stiffness for each unit of inertia that the stop meets."""
    damping_ratio: Floats
    """ζ of a LINEAR stop whose damping follows from its restitution; 0: it is given."""
    inertia: Floats
    """kg·m² or kg that an elastic stop met last."""
    fine: Floats
    """rad or m: the tolerance of the run for the coordinate of a row that is calm, or may become so."""
    restitution: Floats
    """Of rigid stops."""
    fastest: Floats
    """Speed limits; infinite: none."""
    mode: Ints
    stop: Ints
    held_at: Floats
    """s where a row was held."""
    force: Floats
    """What the row exerts, N·m or N, as evaluated last."""
    carried: Floats
    """What holds a held row, without what slides or presses there."""
    weight: Floats
    """Force with which responses are tried."""
    largest: Floats
    """Of 1/inertia that a row has shown."""
    bounces: Ints
    """Times that its stops were hit."""
    clipped: Ints
    """The side at which the command of its motor is beyond what that can give; 0: it is not."""
    struck: Floats
    """J that impacts at its stops took."""
    ends: Ints
    """1: it has bounced so low that it stays there, or is calm."""
    began: Floats
    """s: when it broke away last."""
    quickest: Floats
    """Speed that a row has had."""
    decay: float = 0.0
    """1/s, of what rounding leaves of the speeds of held rows, and of their ways; little in a long step, where explicit
    methods would make it grow."""
    steady: int = 0
    """1: what rows exert stays as it is in this step (`held_rows.keep_forces`), so that it is not evaluated anew."""
    wrong: int = -1
    """A row whose formulas of friction have no meaning, at a step's begin; −1: there is none."""
    resting: int = 0
    """1: nothing moves, because rows are held."""
    step_before: float = 0.0
    """s: the step to try next where something moved last; 0: none is known."""
    step_apart: float = 0.0
    """s: the step to try next where no elastic stop presses any more; 0: none does, or none is known."""
    ended: Floats
    stood: Floats
    """Margins, and coordinates and speeds, at the end of the step taken last."""
    end_known: int = 0
    """1: they are those at the beginning of the next."""
    unsettled: int = 0
    """1: no friction was in balance with the reaction that it makes."""
    cramped: int = 0
    """1 + the margin that ended again and again at one instant first, so that this was stepped over; 0: none."""
    cramped_at: float = 0.0
    """s: when."""
    approximate: int = 0
    """1: forces within bounds were once found approximately only."""


load_rows = loader(ModeRows)


@native
def is_held(mode: int) -> Any:
    """Whether γ̇ = 0 determines the force."""
    return mode == HELD or abs(mode) == AT_SPEED


@native
def refresh(place: int, q: Any, v: Any) -> None:
    """s, W, γ and γ̇ − W a of all rows at a state."""
    s = load_system(place)
    r = load_rows(s.mode_rows)
    for k in range(r.own):
        if r.at_q[k] >= 0:
            r.value[k] = r.ratio[k] * q[r.at_q[k]] + r.offset[k]
    if r.own < r.count:
        refresh_cut(place, q, v)
    for k in range(r.count):
        r.rate[k] = along(s.mode_rows, k, v)


@native
def refresh_cut(place: int, q: Any, v: Any) -> None:
    """The same of rows that close loops, but for their speeds."""
    s = load_system(place)
    r = load_rows(s.mode_rows)
    put(r.values, AT_Q, q)
    evaluate(r.values)
    put(r.entries, AT_Q, q)
    evaluate(r.entries)
    put(r.drift, AT_Q, q)
    put(r.drift, len(q), v)
    evaluate(r.drift)
    values, drift = view(result_place(r.values), r.cuts), view(result_place(r.drift), r.cuts)
    for k in range(r.own, r.count):
        i = r.cut[k]
        turns = np.round((r.reference[k] - values[i]) / (2.0 * np.pi)) if r.turns[k] == 1 else 0.0
        r.value[k] = values[i] + 2.0 * np.pi * turns
        r.bias[k] = drift[i]
        entries = view(result_place(r.entries) + 8 * r.first[i], r.begins[k + 1] - r.begins[k])
        for j in range(len(entries)):
            r.W[r.begins[k] + j] = entries[j]


@native
def along(rows: int, k: int, x: Any) -> float:
    """W_k x."""
    r, total = load_rows(rows), 0.0
    for i in range(r.begins[k], r.begins[k + 1]):
        total += r.W[i] * x[r.columns[i]]
    return total


@native
def push(rows: int, k: int, force: float, u: Any) -> None:
    """u ← u + W_kᵀ force."""
    r = load_rows(rows)
    for i in range(r.begins[k], r.begins[k + 1]):
        u[r.columns[i]] += r.W[i] * force


@native
def command(place: int, t: float, y: Any) -> None:
    """Joint forces that a person gives, as far as motors can, into `given`."""
    s = load_system(place)
    r = load_rows(s.mode_rows)
    if r.torque != 0:
        load_function(r.torque).memory[0] = t
        put(r.torque, BEHIND_TIME, y[: s.nq + s.nv])
        evaluate(r.torque)
        u = view(result_place(r.torque), s.nv)
        for i in range(s.nv):
            r.wanted[i] = u[i]
    for i in range(s.nv):
        r.given[i] = s.u[i] = min(max(r.wanted[i], -r.effort[i]), r.effort[i])
    for k in range(r.own):
        if r.begins[k + 1] > r.begins[k]:
            r.asked[k] = s.u[r.columns[r.begins[k]]]
            r.wished[k] = r.wanted[r.columns[r.begins[k]]]


@native
def adjust(place: int, t: float, y: Any) -> int:
    """Friction of brakes and clutches as it is at a state; a row whose formulas are negative, or less at rest than
    while it slides: −1, there is none."""
    s = load_system(place)
    r, wrong = load_rows(s.mode_rows), -1
    if r.levels == 0:
        return wrong
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    tick(place, t)
    if load_function(r.levels).states >= 0:
        put_states(place, q, v, y[s.nq + s.nv :])
    put_all(place, r.levels, q, v)
    evaluate(r.levels)
    for k in range(r.count):
        i = r.controlled[k]
        if i >= 0:
            levels = result(r.levels, 4 * i + 4)
            kinetic, static = levels[4 * i], levels[4 * i + 1]
            backward, at_rest = levels[4 * i + 2], levels[4 * i + 3]
            if kinetic < 0.0 or static < kinetic or backward < 0.0 or at_rest < backward:
                wrong = k
            r.kinetic_onward[k], r.kinetic_backward[k] = max(kinetic, 0.0), max(backward, 0.0)
            r.static_onward[k] = max(static, r.kinetic_onward[k])
            r.static_backward[k] = max(at_rest, r.kinetic_backward[k])
            if r.bearing[k] >= 0:
                load_bearing(s.mode_rows, k)
            if r.shares[k] != 1:  # a vector has no backward
                r.kinetic_backward[k], r.static_backward[k] = r.kinetic_onward[k], r.static_onward[k]
    return wrong


@native
def load_bearing(rows: int, k: int) -> None:
    """Friction by the joint's reaction is added to a row's."""
    r = load_rows(rows)
    load = r.loads[r.bearing[k]]
    r.kinetic_onward[k] += r.coefficient[k] * load
    r.kinetic_backward[k] += r.coefficient[k] * load
    r.static_onward[k] += r.static_coefficient[k] * load
    r.static_backward[k] += r.static_coefficient[k] * load


@native
def rubs(rows: int, k: int) -> Any:
    """Whether a row has friction now."""
    r = load_rows(rows)
    return r.static_onward[k] + r.static_backward[k] > 0.0


@native
def is_calm(rows: int, k: int) -> Any:
    """Whether a row is held because it hardly moves in an elastic stop."""
    r = load_rows(rows)
    return r.mode[k] == HELD and abs(r.stop[k]) == PRESSED and r.ends[k] == 1


@native
def spare(rows: int, k: int, side: int) -> float:
    """By how much the force of a calm row's stop may differ from that of its spring toward a side: what the tolerance
    is worth, and never so much that it pulls."""
    if not is_calm(rows, k):
        return 0.0
    r = load_rows(rows)
    most = r.stiffness[k] * r.fine[k]
    if side * r.stop[k] < 0:
        return most
    depth = r.value[k] - r.upper[k] if side > 0 else r.lower[k] - r.value[k]
    return min(most, max(r.stiffness[k] * depth, 0.0))


@native
def normal(rows: int, k: int, side: int) -> float:
    """What an elastic stop presses with, where it is pushed in; negative where it would pull."""
    r = load_rows(rows)
    edge = r.upper[k] if side > 0 else r.lower[k]
    depth, rate = side * (r.value[k] - edge), side * r.rate[k]
    if r.law[k] == LINEAR:
        return r.stiffness[k] * depth + r.dissipation[k] * rate
    return r.stiffness[k] * depth * (1.0 + r.dissipation[k] * rate)


@native
def depth_of(rows: int, k: int, side: int) -> float:
    """How far an elastic stop is pushed in, in the unit of its `pressure` where that is a force: so both together end
    smoothly."""
    r = load_rows(rows)
    depth = side * (r.value[k] - (r.upper[k] if side > 0 else r.lower[k]))
    return r.stiffness[k] * depth if r.law[k] == LINEAR else depth


@native
def pressure(rows: int, k: int, side: int) -> float:
    """Positive while a stop that is pushed in presses, whatever its stiffness."""
    r = load_rows(rows)
    if r.law[k] == LINEAR:
        return normal(rows, k, side)
    return 1.0 + r.dissipation[k] * side * r.rate[k]


@native
def smooth_force(rows: int, k: int) -> float:
    """The force of a row as far as its state determines it."""
    r, force = load_rows(rows), rubbing(rows, k) + pressing(rows, k)
    if r.mode[k] == OVERRUN:
        force -= max(r.asked[k], 0.0)
    elif r.mode[k] == -OVERRUN:
        force -= min(r.asked[k], 0.0)
    return force


@native
def length(rows: int, k: int, x: Any) -> float:
    """Of numbers x (count,) along rows: how large, in a ball (k: its first row) their vector."""
    r, total = load_rows(rows), 0.0
    if r.shares[k] == 1:
        return abs(x[k])
    for i in range(k, k + r.shares[k]):
        total += x[i] * x[i]
    return np.sqrt(total)


@native
def ahead(rows: int, k: int) -> float:
    """The speed of a ball (k: its first row) where it aims."""
    r, total = load_rows(rows), 0.0
    for i in range(k, k + r.shares[k]):
        total += r.aim[i] * r.rate[i]
    return total


@native
def take_aim(rows: int, k: int, x: Any, sense: float) -> None:
    """A ball (k: its first row) aims along x (count,), or against it (sense −1); nowhere else if that is zero."""
    r, size = load_rows(rows), length(rows, k, x)
    if size > 0.0:
        for i in range(k, k + r.shares[k]):
            r.aim[i] = sense * x[i] / size


@native
def rubbing_in_ball(rows: int, k: int) -> float:
    """Friction along a row of a ball that moves, or is saturated. What its aim would turn around within a step goes on
    as if it did not, so that steps end where the speed does."""
    r = load_rows(rows)
    first = r.leader[k]
    if abs(r.mode[k]) == SATURATED:
        return -r.static_onward[k] * r.aim[k]
    if abs(r.mode[k]) != MOVING:
        return 0.0
    speed, back = length(rows, first, r.rate), max(-ahead(rows, first), 0.0)
    size = sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], speed)
    if speed <= REST * (r.quickest[first] + SLOW):
        return -size * r.aim[k]
    return -size * (r.rate[k] + 2.0 * back * r.aim[k]) / speed


@native
def rubbing(rows: int, k: int) -> float:
    """Friction of a row that moves, or is saturated."""
    r = load_rows(rows)
    mode = r.mode[k]
    if abs(mode) == MOVING and r.free[k] == 1:
        return 0.0
    if r.shares[k] != 1:
        return rubbing_in_ball(rows, k)
    if mode == SATURATED:
        return r.static_backward[k]
    if mode == -SATURATED:
        return -r.static_onward[k]
    if mode > 0:
        return -sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], r.rate[k])
    if mode < 0:
        return sliding(r.static_backward[k], r.kinetic_backward[k], r.stribeck[k], r.rate[k])
    return 0.0


@native
def pressing(rows: int, k: int) -> float:
    """Force of an elastic stop."""
    r = load_rows(rows)
    if abs(r.stop[k]) != PRESSED:
        return 0.0
    side = 1 if r.stop[k] > 0 else -1
    return -side * normal(rows, k, side)


@native
def against(rows: int, k: int) -> float:
    """What a stop bears of the force that holds a row: of a rigid one all that pushes into it."""
    r = load_rows(rows)
    if r.mode[k] != HELD:
        return 0.0
    if is_calm(rows, k):
        return r.carried[k]
    if r.stop[k] == AGAINST:
        return min(r.carried[k], 0.0)
    return max(r.carried[k], 0.0) if r.stop[k] == -AGAINST else 0.0


@native
def friction_of(rows: int, k: int) -> float:
    """Friction of a row, as evaluated last; what a rigid stop bears is none."""
    r = load_rows(rows)
    return r.carried[k] - against(rows, k) if r.mode[k] == HELD else rubbing(rows, k)


@native
def stop_of(rows: int, k: int) -> float:
    """Force of a row's stop, as evaluated last."""
    return pressing(rows, k) + against(rows, k)


@native
def sliding(static: float, kinetic: float, stribeck: float, speed: float) -> float:
    """Friction at a speed (Stribeck's curve; Armstrong-Hélouvry, Dupont and Canudas de Wit, Automatica 30, 1994)."""
    if stribeck == 0.0:
        return kinetic
    return kinetic + (static - kinetic) * np.exp(-((speed / stribeck) ** 2))


@native
def least(rows: int, k: int) -> float:
    """The least force that a held row may carry."""
    r = load_rows(rows)
    if r.mode[k] == AT_SPEED:
        return -max(r.asked[k], 0.0)
    if r.mode[k] == -AT_SPEED:
        return 0.0
    return -np.inf if r.stop[k] == AGAINST else -r.static_onward[k] - spare(rows, k, -1)


@native
def most(rows: int, k: int) -> float:
    """The largest force that a held row may carry."""
    r = load_rows(rows)
    if r.mode[k] == AT_SPEED:
        return 0.0
    if r.mode[k] == -AT_SPEED:
        return -min(r.asked[k], 0.0)
    return np.inf if r.stop[k] == -AGAINST else r.static_backward[k] + spare(rows, k, 1)
