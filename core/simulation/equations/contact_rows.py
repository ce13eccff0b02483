"""Contact rows: joint coordinates along which forces switch between contact states, through dry friction that sticks or
slides, stops, and speed or effort limits.

Each is a row γ = W v with a set of forces that it may carry. While its mode holds it, γ̇ = 0 and the force λ is whatever
that takes (`core.simulation.equations.contact_derivative`); otherwise its force is a smooth function of the state. The
words:

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

from core.machine_code.language import loader, native, view
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.programs.native_function import evaluate_function, load_function, put_argument, result_address, result_view
from core.simulation.equations.system import AT_Q, BEHIND_TIME, load_system, put_all_arguments, put_states, set_time

HELD, MOVING, AT_SPEED, OVERRUN, SATURATED = range(5)
"""Contact states of a row: sticking, sliding, at its speed limit, driven beyond it by loads, at its maximum friction
without moving. All but the first carry a sign: of the speed, or of the force at saturation."""
REST = 1e-10
"""A row counts as at rest below this fraction of the largest speed that it has had."""
SLOW = 0.01
"""rad/s or m/s: speed to which others are compared until something has moved."""
APART, PRESSED, LEAVING, AGAINST = range(4)
"""Stop states of a row, signed by the side: no contact, compressed, separating without force (a stop never pulls),
resting against a rigid stop."""
STOPS = -1.0
MARGINS = 4
"""Number of event margins of a row (`core.simulation.events.contact_margins`)."""
HUNT_CROSSLEY, LINEAR = range(2)
"""Force laws of elastic stops at penetration p: k p (1 + c ṗ), k p + d ṗ."""


class ContactRows(Record):
    """All contact rows of a machine. Arrays of shape (count,) have one entry per row."""

    count: Fixed
    inner: Fixed
    """Address of the function that computes ẏ without contact rows, for the joint forces in `System.u`."""
    torque: Fixed
    """`Function` of user-defined joint forces; 0: they are constant."""
    values: Fixed
    entries: Fixed
    drift: Fixed
    """Functions of the coordinates of loop-closing joints, of their derivatives by q, and of the bias γ̇ − W a; 0:
    there are none."""
    levels: Fixed
    """Function of the sliding and static friction of all rows whose friction is a formula; 0: there are none."""
    bearing_loads: Fixed
    """Function of the bearing loads of all rows whose friction grows with them; 0: there are none."""
    cut_rows: Fixed
    """Number of coordinates of loop-closing joints whose forces this function takes."""
    problem: Fixed
    """Address of the memory of the convex problem (`core.simulation.equations.contact_problem`)."""
    disks: Fixed
    """1: there is vector friction (friction disks)."""
    linear: Fixed
    """1: the loads on rows vary linearly with time while nothing moves; 0: loads may come and go within a step."""
    shares: Ints
    """Number of rows of the friction disk that begins at a row; 0 for its other rows."""
    leader: Ints
    """First row of the friction disk."""
    aim: Floats
    """Components of the unit vector along which a friction disk slides or would slide."""
    zone: Floats
    """First row of a friction disk: speed up to which the disk counts as beginning to slide
    (`core.simulation.equations.sliding_onset`); 0: it is sliding; `STOPS`: friction has brought it to rest within a
    fixed step in which its direction reversed."""
    controlled: Ints
    """Index of a row's friction among the friction formulas; −1: its friction is a number."""
    free: Ints
    """1: its friction formulas give zero, and the row moves without direction or friction."""
    bearing: Ints
    """Index of the bearing load that a row's friction grows with; −1: none."""
    coefficient: Floats
    static_coefficient: Floats
    """Coefficients of that friction while sliding and at rest."""
    loads: Floats
    """Bearing loads as evaluated last, N or N·m."""
    residual: Floats
    stepped: Floats
    inverse: Floats
    """State of Broyden's method: residual of the bearing loads; their last change; (n n,) the approximate inverse."""
    own: Fixed
    """Number of rows that belong to joints of the tree; they come first."""
    wanted: Floats
    """(nv,) user-defined joint forces, if they are constant."""
    given: Floats
    """(nv,) user-defined joint forces, clipped to the effort limits of motors."""
    effort: Floats
    """(nv,) effort limits."""
    asked: Floats
    """Joint force along a row of the tree, clipped to the effort limit."""
    wished: Floats
    """Joint force along a row of the tree, before it is clipped."""
    strongest: Floats
    """Effort limit of each row; infinite: none."""
    at_q: Ints
    """Index in q of the coordinate of a row of the tree; −1: none."""
    ratio: Floats
    offset: Floats
    """Ratio and offset of a row of the tree relative to the coordinate that it follows."""
    begins: Ints
    columns: Ints
    W: Floats
    """Sparse rows of W: (count + 1,) offsets of each row's entries, their columns, and their values."""
    value: Floats
    rate: Floats
    bias: Floats
    """Coordinate s, speed γ = W v, and bias γ̇ − W a."""
    reference: Floats
    """Reference value for angles known only up to whole turns: the nearest equivalent is taken."""
    turns: Ints
    """1: the coordinate is such an angle."""
    measured: Ints
    """1: the speed is the rate of a coordinate; 0: it is an angular velocity component of a joint with a quaternion."""
    cuts: Fixed
    first: Ints
    """Number of coordinates of loop-closing joints; offset of each one's entries in the result of `entries`."""
    cut: Ints
    """Index in the result of `values`, of rows of loop-closing joints."""
    static_onward: Floats
    static_backward: Floats
    kinetic_onward: Floats
    kinetic_backward: Floats
    """Maximum static and kinetic friction against onward and backward motion, N·m or N."""
    stribeck: Floats
    """Stribeck speed over which friction falls from static to kinetic, rad/s or m/s; 0: at once."""
    lower: Floats
    upper: Floats
    """Joint limits, rad or m; infinite: none."""
    rigid: Ints
    """1: the stops of the row are rigid."""
    law: Ints
    """Force law of elastic stops: HUNT_CROSSLEY or LINEAR."""
    stiffness: Floats
    dissipation: Floats
    """Stiffness, N·m/rad or N/m (0: derived from `closing` at the first contact); dissipation, s/rad or s/m, or
    N·m·s/rad or N·s/m for LINEAR."""
    closing: Floats
    """Derived stiffness per unit of effective inertia at the stop."""
    damping_ratio: Floats
    """Damping ratio ζ of a LINEAR stop whose damping follows from its restitution; 0: its damping is given."""
    inertia: Floats
    """Effective inertia at an elastic stop when it was last hit, kg·m² or kg."""
    fine: Floats
    """Tolerance of the run, rad or m, for the coordinate of a row that has settled in its stop or may do so: below it,
    its motion is neglected."""
    restitution: Floats
    """Coefficient of restitution of rigid stops."""
    fastest: Floats
    """Speed limits; infinite: none."""
    mode: Ints
    stop: Ints
    held_at: Floats
    """Coordinate s at which a row sticks."""
    force: Floats
    """Total force of the row as evaluated last, N·m or N."""
    carried: Floats
    """Reaction force of an active row, without sliding friction and stop force."""
    weight: Floats
    """Test force with which responses are measured."""
    largest: Floats
    """Largest value of 1/inertia that a row has had so far."""
    bounces: Ints
    """Number of impacts at its stops."""
    clipped: Ints
    """Side (sign) on which the motor command exceeds its effort limit; 0: it does not exceed it."""
    struck: Floats
    """J: energy lost in impacts at its stops."""
    ends: Ints
    """1: bouncing has ended and the row rests at its stop, or has settled in it."""
    began: Floats
    """s: time of the last break-away."""
    quickest: Floats
    """Largest speed that a row has had."""
    decay: float = 0.0
    """1/s: decay rate of rounding errors in the speeds and positions of active rows; small in a long step, where
    explicit methods would otherwise be unstable."""
    steady: int = 0
    """1: row forces are constant in this step (see `core.simulation.equations.contact_derivative`) and are not
    evaluated again."""
    wrong: int = -1
    """A row whose friction formulas have invalid values at the beginning of a step; −1: none."""
    resting: int = 0
    """1: nothing moves because rows stick."""
    step_before: float = 0.0
    """s: step size to resume with when motion starts again; 0: unknown."""
    step_apart: float = 0.0
    """s: step size to resume with when no elastic stop is compressed any longer; 0: unknown, or none is compressed."""
    ended: Floats
    stood: Floats
    """Event margins, and coordinates and speeds, at the end of the last step."""
    end_known: int = 0
    """1: these values also hold at the beginning of the next step."""
    unsettled: int = 0
    """1: reaction-dependent friction had no equilibrium."""
    cramped: int = 0
    """1 + the first event margin that ended again and again at one instant and was therefore skipped; 0: none."""
    cramped_at: float = 0.0
    """s: time of that instant."""
    approximate: int = 0
    """1: bounded forces were at least once found only approximately."""


load_rows = loader(ContactRows)


@native
def is_active_state(contact_state: int) -> Any:
    """Return true if the row is active: its force follows from the constraint γ̇ = 0."""
    return contact_state == HELD or abs(contact_state) == AT_SPEED


@native
def update_rows(system: int, q: Any, v: Any) -> None:
    """Update coordinates s, Jacobian W, speeds γ and biases γ̇ − W a of all rows at a state."""
    s = load_system(system)
    r = load_rows(s.contact_rows)
    for k in range(r.own):
        if r.at_q[k] >= 0:
            r.value[k] = r.ratio[k] * q[r.at_q[k]] + r.offset[k]
    if r.own < r.count:
        update_cut_rows(system, q, v)
    for k in range(r.count):
        r.rate[k] = speed_along(s.contact_rows, k, v)


@native
def update_cut_rows(system: int, q: Any, v: Any) -> None:
    """Update coordinates, Jacobian and biases, but not speeds, of rows of loop-closing joints."""
    s = load_system(system)
    r = load_rows(s.contact_rows)
    put_argument(r.values, AT_Q, q)
    evaluate_function(r.values)
    put_argument(r.entries, AT_Q, q)
    evaluate_function(r.entries)
    put_argument(r.drift, AT_Q, q)
    put_argument(r.drift, len(q), v)
    evaluate_function(r.drift)
    values, drift = view(result_address(r.values), r.cuts), view(result_address(r.drift), r.cuts)
    for k in range(r.own, r.count):
        i = r.cut[k]
        turns = np.round((r.reference[k] - values[i]) / (2.0 * np.pi)) if r.turns[k] == 1 else 0.0
        r.value[k] = values[i] + 2.0 * np.pi * turns
        r.bias[k] = drift[i]
        entries = view(result_address(r.entries) + 8 * r.first[i], r.begins[k + 1] - r.begins[k])
        for j in range(len(entries)):
            r.W[r.begins[k] + j] = entries[j]


@native
def speed_along(rows: int, k: int, x: Any) -> float:
    """Return W_k x."""
    r, total = load_rows(rows), 0.0
    for i in range(r.begins[k], r.begins[k + 1]):
        total += r.W[i] * x[r.columns[i]]
    return total


@native
def add_row_force(rows: int, k: int, force: float, u: Any) -> None:
    """Add W_kᵀ force to u."""
    r = load_rows(rows)
    for i in range(r.begins[k], r.begins[k + 1]):
        u[r.columns[i]] += r.W[i] * force


@native
def evaluate_motor_commands(system: int, t: float, y: Any) -> None:
    """Compute the user-defined joint forces, clipped to the effort limits of motors, into `given`."""
    s = load_system(system)
    r = load_rows(s.contact_rows)
    if r.torque != 0:
        load_function(r.torque).memory[0] = t
        put_argument(r.torque, BEHIND_TIME, y[: s.nq + s.nv])
        evaluate_function(r.torque)
        u = view(result_address(r.torque), s.nv)
        for i in range(s.nv):
            r.wanted[i] = u[i]
    for i in range(s.nv):
        r.given[i] = s.u[i] = min(max(r.wanted[i], -r.effort[i]), r.effort[i])
    for k in range(r.own):
        if r.begins[k + 1] > r.begins[k]:
            r.asked[k] = s.u[r.columns[r.begins[k]]]
            r.wished[k] = r.wanted[r.columns[r.begins[k]]]


@native
def evaluate_friction_levels(system: int, t: float, y: Any) -> int:
    """Evaluate the friction of brakes and clutches at a state; returns a row with negative friction or with static
    below kinetic friction, −1 if there is none."""
    s = load_system(system)
    r, wrong = load_rows(s.contact_rows), -1
    if r.levels == 0:
        return wrong
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    set_time(system, t)
    if load_function(r.levels).states >= 0:
        put_states(system, q, v, y[s.nq + s.nv :])
    put_all_arguments(system, r.levels, q, v)
    evaluate_function(r.levels)
    for k in range(r.count):
        i = r.controlled[k]
        if i >= 0:
            levels = result_view(r.levels, 4 * i + 4)
            kinetic, static = levels[4 * i], levels[4 * i + 1]
            backward, at_rest = levels[4 * i + 2], levels[4 * i + 3]
            if kinetic < 0.0 or static < kinetic or backward < 0.0 or at_rest < backward:
                wrong = k
            r.kinetic_onward[k], r.kinetic_backward[k] = max(kinetic, 0.0), max(backward, 0.0)
            r.static_onward[k] = max(static, r.kinetic_onward[k])
            r.static_backward[k] = max(at_rest, r.kinetic_backward[k])
            if r.bearing[k] >= 0:
                add_bearing_friction(s.contact_rows, k)
            if r.shares[k] != 1:  # a vector has no backward
                r.kinetic_backward[k], r.static_backward[k] = r.kinetic_onward[k], r.static_onward[k]
    return wrong


@native
def add_bearing_friction(rows: int, k: int) -> None:
    """Add reaction-dependent friction to a row's friction."""
    r = load_rows(rows)
    load = r.loads[r.bearing[k]]
    r.kinetic_onward[k] += r.coefficient[k] * load
    r.kinetic_backward[k] += r.coefficient[k] * load
    r.static_onward[k] += r.static_coefficient[k] * load
    r.static_backward[k] += r.static_coefficient[k] * load


@native
def has_friction(rows: int, k: int) -> Any:
    """Return true if a row has friction at present."""
    r = load_rows(rows)
    return r.static_onward[k] + r.static_backward[k] > 0.0


@native
def has_settled(rows: int, k: int) -> Any:
    """Return true if a row is active because it has settled in an elastic stop."""
    r = load_rows(rows)
    return r.mode[k] == HELD and abs(r.stop[k]) == PRESSED and r.ends[k] == 1


@native
def settled_force_margin(rows: int, k: int, side: int) -> float:
    """Return by how much the stop force of a row that has settled in its elastic stop may differ from the spring force
    toward a side: the force equivalent of the run's tolerance, limited so that the stop never pulls."""
    if not has_settled(rows, k):
        return 0.0
    r = load_rows(rows)
    most = r.stiffness[k] * r.fine[k]
    if side * r.stop[k] < 0:
        return most
    depth = r.value[k] - r.upper[k] if side > 0 else r.lower[k] - r.value[k]
    return min(most, max(r.stiffness[k] * depth, 0.0))


@native
def stop_force(rows: int, k: int, side: int) -> float:
    """Return the force of a compressed elastic stop; negative where it would pull."""
    r = load_rows(rows)
    edge = r.upper[k] if side > 0 else r.lower[k]
    depth, rate = side * (r.value[k] - edge), side * r.rate[k]
    if r.law[k] == LINEAR:
        return r.stiffness[k] * depth + r.dissipation[k] * rate
    return r.stiffness[k] * depth * (1.0 + r.dissipation[k] * rate)


@native
def stop_penetration(rows: int, k: int, side: int) -> float:
    """Return the penetration of an elastic stop, expressed as a force where `stop_pressure` is a force, so that both
    reach zero together."""
    r = load_rows(rows)
    depth = side * (r.value[k] - (r.upper[k] if side > 0 else r.lower[k]))
    return r.stiffness[k] * depth if r.law[k] == LINEAR else depth


@native
def stop_pressure(rows: int, k: int, side: int) -> float:
    """Return a measure, independent of the stiffness, that is positive while a compressed stop exerts a force."""
    r = load_rows(rows)
    if r.law[k] == LINEAR:
        return stop_force(rows, k, side)
    return 1.0 + r.dissipation[k] * side * r.rate[k]


@native
def state_dependent_force(rows: int, k: int) -> float:
    """Return the part of a row's force that follows from the state: sliding friction, elastic stop force, and the
    withdrawal of the motor force where loads drive the row beyond its speed limit."""
    r, force = load_rows(rows), friction_force(rows, k) + elastic_stop_force(rows, k)
    if r.mode[k] == OVERRUN:
        force -= max(r.asked[k], 0.0)
    elif r.mode[k] == -OVERRUN:
        force -= min(r.asked[k], 0.0)
    return force


@native
def vector_magnitude(rows: int, k: int, x: Any) -> float:
    """Return the magnitude of x (count,) along a row, or of the vector formed by the rows of a friction disk (k: its
    first row)."""
    r, total = load_rows(rows), 0.0
    if r.shares[k] == 1:
        return abs(x[k])
    for i in range(k, k + r.shares[k]):
        total += x[i] * x[i]
    return np.sqrt(total)


@native
def speed_in_sliding_direction(rows: int, k: int) -> float:
    """Return the speed of a friction disk (k: its first row) along its sliding direction."""
    r, total = load_rows(rows), 0.0
    for i in range(k, k + r.shares[k]):
        total += r.aim[i] * r.rate[i]
    return total


@native
def set_sliding_direction(rows: int, k: int, x: Any, sign: float) -> None:
    """Set the sliding direction of a friction disk (k: its first row) to that of x (count,), or to the opposite (sense
    −1); unchanged if x is zero."""
    r, size = load_rows(rows), vector_magnitude(rows, k, x)
    if size > 0.0:
        for i in range(k, k + r.shares[k]):
            r.aim[i] = sign * x[i] / size


@native
def disk_friction(rows: int, k: int) -> float:
    """Return the friction along one row of a friction disk that slides or is saturated. If the sliding direction would
    reverse within the step it is kept, so that the step can end where the speed becomes zero."""
    r = load_rows(rows)
    first = r.leader[k]
    if abs(r.mode[k]) == SATURATED:
        return -r.static_onward[k] * r.aim[k]
    if abs(r.mode[k]) != MOVING:
        return 0.0
    speed, back = vector_magnitude(rows, first, r.rate), max(-speed_in_sliding_direction(rows, first), 0.0)
    size = sliding_friction(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], speed)
    if speed <= REST * (r.quickest[first] + SLOW):
        return -size * r.aim[k]
    return -size * (r.rate[k] + 2.0 * back * r.aim[k]) / speed


@native
def friction_force(rows: int, k: int) -> float:
    """Return the friction of a row that slides or is saturated."""
    r = load_rows(rows)
    mode = r.mode[k]
    if abs(mode) == MOVING and r.free[k] == 1:
        return 0.0
    if r.shares[k] != 1:
        return disk_friction(rows, k)
    if mode == SATURATED:
        return r.static_backward[k]
    if mode == -SATURATED:
        return -r.static_onward[k]
    if mode > 0:
        return -sliding_friction(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], r.rate[k])
    if mode < 0:
        return sliding_friction(r.static_backward[k], r.kinetic_backward[k], r.stribeck[k], r.rate[k])
    return 0.0


@native
def elastic_stop_force(rows: int, k: int) -> float:
    """Return the force of an elastic stop."""
    r = load_rows(rows)
    if abs(r.stop[k]) != PRESSED:
        return 0.0
    side = 1 if r.stop[k] > 0 else -1
    return -side * stop_force(rows, k, side)


@native
def rigid_stop_force(rows: int, k: int) -> float:
    """Return the part of an active row's force that the stop carries: for a rigid stop, all of the force that pushes
    into it."""
    r = load_rows(rows)
    if r.mode[k] != HELD:
        return 0.0
    if has_settled(rows, k):
        return r.carried[k]
    if r.stop[k] == AGAINST:
        return min(r.carried[k], 0.0)
    return max(r.carried[k], 0.0) if r.stop[k] == -AGAINST else 0.0


@native
def total_friction(rows: int, k: int) -> float:
    """Return the friction of a row as evaluated last, without the force of a rigid stop."""
    r = load_rows(rows)
    return r.carried[k] - rigid_stop_force(rows, k) if r.mode[k] == HELD else friction_force(rows, k)


@native
def total_stop_force(rows: int, k: int) -> float:
    """Return the force of a row's stop as evaluated last."""
    return elastic_stop_force(rows, k) + rigid_stop_force(rows, k)


@native
def sliding_friction(static: float, kinetic: float, stribeck: float, speed: float) -> float:
    """Return the friction at a speed (Stribeck curve; Armstrong-Hélouvry, Dupont and Canudas de Wit, Automatica 30,
    1994)."""
    if stribeck == 0.0:
        return kinetic
    return kinetic + (static - kinetic) * np.exp(-((speed / stribeck) ** 2))


@native
def smallest_allowed_force(rows: int, k: int) -> float:
    """Return the smallest force that an active row may carry."""
    r = load_rows(rows)
    if r.mode[k] == AT_SPEED:
        return -max(r.asked[k], 0.0)
    if r.mode[k] == -AT_SPEED:
        return 0.0
    return -np.inf if r.stop[k] == AGAINST else -r.static_onward[k] - settled_force_margin(rows, k, -1)


@native
def largest_allowed_force(rows: int, k: int) -> float:
    """Return the largest force that an active row may carry."""
    r = load_rows(rows)
    if r.mode[k] == AT_SPEED:
        return 0.0
    if r.mode[k] == -AT_SPEED:
        return -min(r.asked[k], 0.0)
    return np.inf if r.stop[k] == -AGAINST else r.static_backward[k] + settled_force_margin(rows, k, 1)
