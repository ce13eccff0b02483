"""Friction and stop forces of joints at given states, in machine code: those of `core.constraints.row_forces`.

Two entries add the forces of `core.constraints.row_forces.acting_forces` and `resisting_forces` to joint forces, state
by state. They own no memory, so that threads may call them at once, and see the machine as numbers only: mass matrix,
forces and constraint rows of each state are computed before.

With M = L Lᵀ and Y = L⁻¹ Gᵀ = Q R (columns chosen by the largest remainder, Gram and Schmidt, twice), accelerations are
a = L⁻ᵀ ((I − Q Qᵀ) L⁻¹ f + y), where y in the range of Q satisfies Yᵀ y = −(Ġ v − f̈). For a row γ = w v at rest,
z = L⁻¹ wᵀ and (I − Q Qᵀ) z give its part of γ̇ = A λ + c (`core.constraints.multipliers` states the same with singular
values, and takes the states that are refused here: a singular M, or rows of G whose rank is in doubt).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import MOVES, acceleration_scale, solve_from_active_bounds
from core.constraints.factorised_constraints import factorise_held, factorise_mass, inner, remove_held, solve_lower
from core.constraints.friction_disk_forces import solve_disk_forces, vector_norm
from core.machine_code.entry import entry
from core.machine_code.language import loader, native, scratch, view
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.numerics.tolerances import AT_REST_SPEED, DEAD_FRACTION, TOUCH_TOLERANCE

CANCELLED = 1e6
"""Accelerations by forces of rows, relative to those that they prevent, above which stops contradict each other."""


class RestingRows(Record):
    """Friction and stop rows (`core.constraints.joint_modes.JointRow`) as numbers; arrays of one entry per row where
    nothing else is said."""

    count: Fixed
    nq: Fixed
    nv: Fixed
    constraints: Fixed
    """Number of constraint rows."""
    cuts: Fixed
    cut_entries: Fixed
    """Number of coordinates of loop-closing joints, and of entries of their derivatives by q."""
    own: Fixed
    """Number of rows of tree joints, which come first."""
    begins: Ints
    columns: Ints
    W: Floats
    """Sparse rows of W, those of loop-closing joints still without numbers: (count + 1,) offsets, columns, entries."""
    first: Ints
    cut: Ints
    """Of a row of a loop-closing joint: offset of its entries among all of them, and its index."""
    turns: Ints
    reference: Floats
    """1: it is an angle known up to whole turns, of which that next to the reference counts."""
    at_q: Ints
    ratio: Floats
    offset: Floats
    shares: Floats
    rubs: Ints
    kinetic: Floats
    static: Floats
    backward_kinetic: Floats
    backward_static: Floats
    stribeck: Floats
    lower: Floats
    upper: Floats
    rigid: Ints
    hunt_crossley: Ints
    stiffness: Floats
    """N·m/rad or N/m; 0: `per_inertia` times the effective inertia."""
    per_inertia: Floats
    damping: Floats
    damping_ratio: Floats


class States(Record):
    """Addresses of arrays of states, row by row; 0 for what a machine does not have."""

    q: Fixed
    v: Fixed
    given: Fixed
    """(nv,) joint forces τ, or accelerations a."""
    mass: Fixed
    """(nv nv,) M."""
    bias: Fixed = 0
    """(nv,) h without friction."""
    jacobian: Fixed = 0
    """(constraints nv,) G."""
    drift: Fixed = 0
    """(constraints,) Ġ v − f̈."""
    cut_values: Fixed = 0
    cut_entries: Fixed = 0
    cut_drift: Fixed = 0
    """Coordinates, derivatives and biases of loop-closing joints."""
    out: Fixed
    """(nv + cuts,) result: forces on speeds, and along coordinates of loop-closing joints."""


load_resting_rows = loader(RestingRows)
load_states = loader(States)


# ------------------------------------------------------------------------------- rows at a state


@native
def measure_rows(rows: int, states: int, k: int, W: Any, value: Any, rate: Any) -> None:
    """Compute entries of W, coordinates and speeds (count,) of all rows at state k."""
    r, s = load_resting_rows(rows), load_states(states)
    q, v = view(s.q + 8 * k * r.nq, r.nq), view(s.v + 8 * k * r.nv, r.nv)
    for i in range(len(W)):
        W[i] = r.W[i]
    for i in range(r.own):
        value[i] = r.ratio[i] * q[r.at_q[i]] + r.offset[i] if r.at_q[i] >= 0 else 0.0
    if r.own < r.count:
        values, entries = (
            view(s.cut_values + 8 * k * r.cuts, r.cuts),
            view(s.cut_entries + 8 * k * r.cut_entries, r.cut_entries),
        )
        for i in range(r.own, r.count):
            angle = values[r.cut[i]]
            turns = np.round((r.reference[i] - angle) / (2.0 * np.pi)) if r.turns[i] == 1 else 0.0
            value[i] = angle + 2.0 * np.pi * turns
            for j in range(r.begins[i + 1] - r.begins[i]):
                W[r.begins[i] + j] = entries[r.first[i] + j]
    for i in range(r.count):
        rate[i] = speed_of_row(rows, i, W, v)


@native
def speed_of_row(rows: int, i: int, W: Any, v: Any) -> float:
    """Return W_i v."""
    r, total = load_resting_rows(rows), 0.0
    for j in range(r.begins[i], r.begins[i + 1]):
        total += W[j] * v[r.columns[j]]
    return total


@native
def add_force_of_row(rows: int, i: int, W: Any, force: float, out: Any) -> None:
    """Add W_iᵀ force to out (nv,)."""
    r = load_resting_rows(rows)
    for j in range(r.begins[i], r.begins[i + 1]):
        out[r.columns[j]] += W[j] * force


@native
def find_magnitudes(rows: int, x: Any, out: Any) -> None:
    """Compute the magnitudes of numbers x along rows into out; rows with one friction vector all get its length."""
    r = load_resting_rows(rows)
    for i in range(r.count):
        count = int(r.shares[i])
        for j in range(i, i + count):
            out[j] = abs(x[i]) if count == 1 else vector_norm(x, i, count)


@native
def sliding_friction(rows: int, i: int, rate: float, speed: float) -> float:
    """Return the friction of row i at its rate, where the whole friction vector has a speed; 0 at rest."""
    r = load_resting_rows(rows)
    if speed == 0.0:
        return 0.0
    back = rate < 0.0 and r.shares[i] == 1.0
    kinetic = r.backward_kinetic[i] if back else r.kinetic[i]
    static = r.backward_static[i] if back else r.static[i]
    fall = np.exp(-((speed / r.stribeck[i]) ** 2)) if r.stribeck[i] != 0.0 else 0.0
    level = kinetic + (static - kinetic) * fall
    return -level * (rate / speed)


@native
def breakaway_friction(rows: int, i: int, begins: float, size: float) -> float:
    """Return the friction of row i, at rest, that accelerates by `begins`; size: that of the whole friction vector."""
    r = load_resting_rows(rows)
    onward, backward = -r.kinetic[i], r.backward_kinetic[i]
    if r.stribeck[i] != 0.0:
        onward, backward = -r.static[i], r.backward_static[i]
    direction = begins / size if size > 0.0 else 0.0
    return (onward if direction > 0.0 else backward) * abs(direction)


@native
def passed_side(rows: int, i: int, value: float) -> int:
    """Return the side on which row i is in its elastic stop; 0: on none."""
    r = load_resting_rows(rows)
    if r.rigid[i] == 1:
        return 0
    return 1 if value > r.upper[i] else -1 if value < r.lower[i] else 0


@native
def touched_side(rows: int, i: int, value: float) -> int:
    """Return the side on which row i touches its rigid stop; 0: on none."""
    r = load_resting_rows(rows)
    if r.rigid[i] == 0:
        return 0
    if value - r.upper[i] >= -TOUCH_TOLERANCE:
        return 1
    return -1 if r.lower[i] - value >= -TOUCH_TOLERANCE else 0


@native
def elastic_stop_force(rows: int, i: int, side: int, value: float, rate: float, mobility: float) -> float:
    """Return the force of the compressed elastic stop of row i, positive along its growth. mobility : inverse effective
    inertia of the row"""
    r = load_resting_rows(rows)
    inertia = 1.0 / mobility if mobility > 0.0 else 1.0
    depth = side * (value - (r.upper[i] if side > 0 else r.lower[i]))
    stiffness = r.stiffness[i] if r.stiffness[i] != 0.0 else r.per_inertia[i] * inertia
    damping = r.damping[i]
    if r.hunt_crossley[i] == 1:
        damping *= stiffness * depth
    else:
        damping += 2.0 * r.damping_ratio[i] * np.sqrt(stiffness * inertia)
    return -side * max(stiffness * depth + damping * side * rate, 0.0)


# ------------------------------------------------------------------------------- masses and constraints


@native
def spread_row(rows: int, i: int, W: Any, L: Any, Q: Any, rank: int, direct: Any, free: Any) -> None:
    """Compute z = L⁻¹ w of row i into `direct` (nv,), and its part that constraints leave free into `free`."""
    n = load_resting_rows(rows).nv
    for j in range(n):
        direct[j] = 0.0
    add_force_of_row(rows, i, W, 1.0, direct)
    solve_lower(L, direct, n)
    for j in range(n):
        free[j] = direct[j]
    remove_held(Q, rank, free, n)


@native
def add_elastic_stops(rows: int, W: Any, value: Any, rate: Any, L: Any, Q: Any, rank: int, force: Any) -> None:
    """Add the forces of compressed elastic stops to force (count,)."""
    r = load_resting_rows(rows)
    n = r.nv
    direct, free = scratch(n), scratch(n)
    for i in range(r.count):
        side = passed_side(rows, i, value[i])
        if side != 0:
            spread_row(rows, i, W, L, Q, rank, direct, free)
            force[i] += elastic_stop_force(rows, i, side, value[i], rate[i], inner(free, free, n))


@native
def count_compressed_stops(rows: int, value: Any) -> int:
    """Return the number of compressed elastic stops."""
    total = 0
    for i in range(len(value)):
        total += abs(passed_side(rows, i, value[i]))
    return total


@native
def factorise_state(rows: int, states: int, k: int, L: Any, Q: Any, y: Any) -> int:
    """Factorise masses and constraints of state k; returns the rank of the latter, −1 if the state is refused."""
    r, s = load_resting_rows(rows), load_states(states)
    n, m = r.nv, r.constraints
    if not factorise_mass(view(s.mass + 8 * k * n * n, n * n), L, n):
        return -1
    if m == 0:
        return 0
    return factorise_held(L, view(s.jacobian + 8 * k * m * n, m * n), view(s.drift + 8 * k * m, m), Q, y, m, n)


# ------------------------------------------------------------------------------- forces that act


@native
def solve_breakaway(A: Any, c: Any, bounds: Any, shares: Any, lam: Any, n: int) -> Any:
    """Compute λ (n,) of rows at rest; those that cannot be kept there within static bounds get their sliding bounds,
    until no further row begins to slide. bounds (4 n,): smallest and largest static, smallest and largest sliding
    forces. Returns false if the forces are approximate."""
    low, high, side, rate, broken = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    alone, well = True, True
    for i in range(n):
        broken[i], side[i] = 0.0, 0.0
        alone = alone and int(shares[i]) == 1
    while True:
        for i in range(n):
            first = 2 * n if broken[i] > 0.0 else 0
            low[i], high[i] = bounds[first + i], bounds[first + n + i]
        if alone:
            well = solve_from_active_bounds(A, c, low, high, lam, side, rate, n) and well
        else:
            well = solve_disk_forces(A, c, low, high, shares, lam, side, rate, n) and well
        if mark_sliding(A, c, shares, lam, rate, broken, n) == 0:
            return well


@native
def mark_sliding(A: Any, c: Any, shares: Any, lam: Any, rate: Any, broken: Any, n: int) -> int:
    """Mark the rows that begin to slide in broken (n,), and return how many are new."""
    more = 0
    for i in range(n):
        count, size = int(shares[i]), 0.0
        for j in range(i, i + count):
            size += acceleration_scale(A, c, lam, j, n) ** 2
        if count > 0 and broken[i] == 0.0 and vector_norm(rate, i, count) > MOVES * np.sqrt(size):
            more += 1
            for j in range(i, i + count):
                broken[j] = 1.0
    return more


@native
def set_row_bounds(rows: int, i: int, side: int, bounds: Any, at: int, n: int) -> None:
    """Set the bounds (4 n,) of the force of row i, which touches a rigid stop on a side (0: none)."""
    r = load_resting_rows(rows)
    bounds[at], bounds[n + at] = -r.static[i], r.backward_static[i]
    bounds[2 * n + at], bounds[3 * n + at] = -r.kinetic[i], r.backward_kinetic[i]
    if r.stribeck[i] != 0.0:
        bounds[2 * n + at], bounds[3 * n + at] = bounds[at], bounds[n + at]
    if side > 0:
        bounds[at] = bounds[2 * n + at] = -np.inf
    elif side < 0:
        bounds[n + at] = bounds[3 * n + at] = np.inf


@native
def find_base_motion(
    rows: int, states: int, k: int, W: Any, force: Any, L: Any, Q: Any, rank: int, y: Any, base: Any
) -> None:
    """Compute Lᵀ a (nv,) of state k with the forces (count,) known so far."""
    r, s = load_resting_rows(rows), load_states(states)
    n = r.nv
    given, bias = view(s.given + 8 * k * n, n), view(s.bias + 8 * k * n, n)
    for i in range(n):
        base[i] = given[i] - bias[i]
    for i in range(r.count):
        add_force_of_row(rows, i, W, force[i], base)
    solve_lower(L, base, n)
    remove_held(Q, rank, base, n)
    for i in range(n):
        base[i] += y[i] if r.constraints > 0 else 0.0


@native
def hold_rows(
    rows: int,
    states: int,
    k: int,
    W: Any,
    value: Any,
    which: Any,
    m: int,
    L: Any,
    Q: Any,
    rank: int,
    y: Any,
    force: Any,
) -> Any:
    """Add the forces of the m rows at rest, listed in `which`, to force (count,); returns false if they are
    approximate or contradict each other."""
    r, s = load_resting_rows(rows), load_states(states)
    n = r.nv
    base, direct, free, A = scratch(n), scratch(n), scratch(m * n), scratch(m * m)
    c, bounds, shares, lam, dead = scratch(m), scratch(4 * m), scratch(m), scratch(m), scratch(m)
    find_base_motion(rows, states, k, W, force, L, Q, rank, y, base)
    for a in range(m):
        i = int(which[a])
        own = free[a * n : a * n + n]
        spread_row(rows, i, W, L, Q, rank, direct, own)
        c[a] = inner(direct, base, n)
        if i >= r.own:
            c[a] += view(s.cut_drift + 8 * k * r.cuts, r.cuts)[r.cut[i]]
        dead[a] = 0.0
        if r.constraints > 0 and inner(own, own, n) <= DEAD_FRACTION * inner(direct, direct, n):
            dead[a] = 1.0
        shares[a] = r.shares[i]
        set_row_bounds(rows, i, touched_side(rows, i, value[i]), bounds, a, m)
        for b in range(a + 1):
            both = inner(own, free[b * n : b * n + n], n)
            A[a * m + b] = A[b * m + a] = 0.0 if dead[a] + dead[b] > 0.0 else both
    well = solve_breakaway(A, c, bounds, shares, lam, m)
    largest = 0.0
    for a in range(m):
        largest = max(largest, abs(c[a]))
    for a in range(m):
        well = well and acceleration_scale(A, c, lam, a, m) <= CANCELLED * largest
        force[int(which[a])] += lam[a]
    return well


@native
def add_acting_forces(rows: int, states: int, k: int) -> Any:
    """Compute the friction and stop forces at state k; returns false if the state is refused."""
    r, s = load_resting_rows(rows), load_states(states)
    count, n = r.count, r.nv
    W, value, rate, speed, force = scratch(len(r.W)), scratch(count), scratch(count), scratch(count), scratch(count)
    L, Q, y, which, m = scratch(n * n), scratch(min(r.constraints, n) * n), scratch(n), scratch(count), 0
    measure_rows(rows, states, k, W, value, rate)
    find_magnitudes(rows, rate, speed)
    for i in range(count):
        rests = speed[i] < AT_REST_SPEED
        force[i] = 0.0 if rests or r.rubs[i] == 0 else sliding_friction(rows, i, rate[i], speed[i])
        if rests and (r.rubs[i] == 1 or touched_side(rows, i, value[i]) != 0):
            which[m] = i
            m += 1
    if m > 0 or count_compressed_stops(rows, value) > 0:
        rank = factorise_state(rows, states, k, L, Q, y)
        if rank < 0:
            return False
        add_elastic_stops(rows, W, value, rate, L, Q, rank, force)
        if m > 0 and not hold_rows(rows, states, k, W, value, which, m, L, Q, rank, y, force):
            return False
    write_forces(rows, W, force, view(s.out + 8 * k * (n + r.cuts), n + r.cuts))
    return True


@native
def write_forces(rows: int, W: Any, force: Any, out: Any) -> Any:
    """Write the forces (count,) of rows as joint forces to out (nv + cuts,)."""
    r = load_resting_rows(rows)
    for i in range(len(out)):
        out[i] = 0.0
    for i in range(r.count):
        add_force_of_row(rows, i, W, force[i], out)
        if i >= r.own:
            out[r.nv + r.cut[i]] += force[i]


@native
def add_resisting_forces(rows: int, states: int, k: int) -> Any:
    """Compute the friction that begins, and the forces of elastic stops, in the motion of state k, where the sliding
    friction of compiled equations is known; returns false if the state is refused."""
    r, s = load_resting_rows(rows), load_states(states)
    count, n = r.count, r.nv
    W, value, rate, speed, force = scratch(len(r.W)), scratch(count), scratch(count), scratch(count), scratch(count)
    begins, size = scratch(count), scratch(count)
    L, Q, y = scratch(n * n), scratch(min(r.constraints, n) * n), scratch(n)
    measure_rows(rows, states, k, W, value, rate)
    a = view(s.given + 8 * k * n, n)
    for i in range(count):
        begins[i] = speed_of_row(rows, i, W, a)
    find_magnitudes(rows, rate, speed)
    find_magnitudes(rows, begins, size)
    for i in range(count):
        force[i] = 0.0
        if r.rubs[i] == 1 and speed[i] < AT_REST_SPEED:
            force[i] = breakaway_friction(rows, i, begins[i], size[i]) if size[i] >= AT_REST_SPEED else 0.0
            force[i] -= sliding_friction(rows, i, rate[i], speed[i])
    if count_compressed_stops(rows, value) > 0:
        rank = factorise_state(rows, states, k, L, Q, y)
        if rank < 0:
            return False
        add_elastic_stops(rows, W, value, rate, L, Q, rank, force)
    write_forces(rows, W, force, view(s.out + 8 * k * (n + r.cuts), n + r.cuts))
    return True


# ------------------------------------------------------------------------------- entries


@native
def refuse_state(rows: int, states: int, k: int) -> None:
    """Mark state k as refused by a result of NaN."""
    r, s = load_resting_rows(rows), load_states(states)
    out = view(s.out + 8 * k * (r.nv + r.cuts), r.nv + r.cuts)
    for i in range(len(out)):
        out[i] = np.nan


@entry
def acting_forces_entry(rows: int, states: int, count: int) -> int:
    """Compute friction and stop forces of `count` states with joint forces τ; returns how many were refused."""
    refused = 0
    for k in range(count):
        if not add_acting_forces(rows, states, k):
            refuse_state(rows, states, k)
            refused += 1
    return refused


@entry
def resisting_forces_entry(rows: int, states: int, count: int) -> int:
    """Compute friction and stop forces of `count` motions with accelerations a; returns how many were refused."""
    refused = 0
    for k in range(count):
        if not add_resisting_forces(rows, states, k):
            refuse_state(rows, states, k)
            refused += 1
    return refused
