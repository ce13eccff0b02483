"""What the equations of motion work on: entries of a mechanism's machine code, and the memory around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.numerics.tolerances import CLOSED_GAP
from core.simulation.machine_code.language import (
    address_of,
    call_single,
    call_table,
    inserted,
    loader,
    merged,
    native,
    view,
)
from core.simulation.machine_code.records import Fixed, FloatRows, Floats, Ints, Record

_stages: Any = np.arange(3)
POSITION, SPEED, ACCELERATION = _stages
"""What is held: rows that hold from a higher level on do not count. NumPy integers, as those below: for each literal
one Numba would compile its callers anew."""
AT_Q: Any = np.int64(0)
"""Where q begins among the arguments of a function; v follows."""
BEHIND_TIME: Any = np.int64(1)
"""The same of joint forces, which are functions of the time first of all."""


class Function(Record):
    """A function of the mechanism in machine code, see `core.traces.native_entry.Entry`."""

    address: Fixed
    table: Fixed
    rows: Fixed
    places: Fixed
    count: Fixed
    result: Fixed
    states: Fixed
    """Where in its memory x and ẋ go, −1: nowhere."""
    time: Fixed
    """Where the time argument goes, −1: nowhere."""
    memory: Floats


load_function = loader(Function)


class Functions(Record):
    """Where each `Function` is, by its name in `core.traces.registry`; 0: the machine has none."""

    torque: Fixed = 0
    """u(t, q, v)"""
    rate: Fixed = 0
    """q̇"""
    forward_dynamics_smooth: Fixed = 0
    """a"""
    mass_entries: Fixed = 0
    """Entries of M."""
    bias_smooth: Fixed = 0
    """h"""
    constraint_residual: Fixed = 0
    constraint_entries: Fixed = 0
    """Entries of G."""
    segment_entries: Fixed = 0
    """Of the rows that hold segments of a deep machine together (`core.mechanics.segments`)."""
    constraint_bias: Fixed = 0
    """Ġ v − f̈"""
    constraint_time: Fixed = 0
    """−ḟ"""
    reduced: Fixed = 0
    """The equations in independent speeds (`core.closed_forms.closed_forms.Layout`)."""
    states: Fixed = 0
    """ẋ"""
    settle: Fixed = 0
    """The step that settles junctions."""
    slopes: Fixed = 0
    """Of `core.traces.jacobians`."""
    torque_slopes: Fixed = 0
    """Derivatives of u by q and v."""
    event_indicators: Fixed = 0
    """Of forces."""
    torque_event_indicators: Fixed = 0
    """Of u."""


class System(Functions):
    """Everything the loops need. It is stored once and handed on by its address: as an argument it would take longer
    to compile than the functions it is given to."""

    derivative: Fixed
    """Address of the entry (`core.simulation.equations.entry_points`) that gives ẏ."""
    full: Fixed
    """Address of the entry that gives ẏ where closed forms do not apply."""
    full_project: Fixed
    """Address of the entry that projects there."""
    nq: Fixed
    nv: Fixed
    rows: Fixed
    """Residuals of cut joints, constraints and drivers."""
    span: Fixed
    """Enough for q, the unknowns or all rows that hold."""
    by_matrix: Fixed
    """1: accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Ints
    """(k,) first entries of the quaternions in q."""
    u: Floats
    """(nv,) constant joint forces."""
    room: Floats
    """Room for vectors, see `core.simulation.equations.constrained`."""
    weight: float = 0.0
    """ρ of M + ρ Gᵀ G, where that took the place of M; else 0."""
    largest_rank: int = 0
    """Of G, that was met."""
    least_sine: float = 1.0
    """Square of the least part of an independent row that those before it leave, as a part of its largest size."""
    factored: Floats
    """(nq,) where masses and rows were factored last,"""
    factored_rank: int = -1
    """and the rank of the rows there; −1: nowhere, or not as they are."""
    crossing: int = 0
    """1 while the pose is crossed where rows become dependent (`core.simulation.equations.constrained.across`)."""
    sparse: Fixed
    """Address of the factors of masses and rows (`core.simulation.equations.elimination_places.Sparse`)."""
    independent: Fixed
    """Number of independent speeds where loops close in closed form (`core.simulation.equations.reduced`); 0:
    nowhere."""
    masses: Fixed
    """Address of the factor of their mass matrix, an `elimination_places.Sparse`."""
    moves: Ints
    """(independent + 1,) where in `moved` the entries of v begin that each of them moves."""
    moved: Ints
    """Entries of v."""
    kept: Ints
    """Rows of G that are left to iteration then."""
    nx: Fixed
    """Number of states of force elements; y = (q, v, x)."""
    levels: Ints
    """Level from which on a row holds: 0 position, 1 speed, 2 acceleration; behind those of the constraints rows that
    hold segments and copies together (`core.simulation.equations.elimination_places`)."""
    now: Floats
    """(nt,) the time argument (`core.elements.time_argument`), as `tick` left it."""
    own: Floats
    """(2 nx,) x and ẋ, as `put_states` left them."""
    reduced_at: float = math.nan
    """s: where the reduced equations were evaluated last; NaN: nowhere."""
    modes: Fixed
    """Number of mode variables in forces; they stand at the end of `now`."""
    points: Ints
    """(signals + 1,) where the points of each recorded signal begin."""
    times: Floats
    """(points,) s"""
    cubics: FloatRows
    """(points, 4) of `core.elements.time_argument.Splines`."""
    closings: int = 0
    """Gauss–Newton steps that close positions, and balance junctions, after each step; 0: as `closed_gap` says."""
    closed_gap: float = CLOSED_GAP
    """Residual (rad, m) below which positions are closed."""
    products: Fixed = 0
    """Address of the products of rows (`core.simulation.equations.row_products`) where Cholesky's method holds them; 0:
    where factors that reveal their rank do."""
    dependent: int = 0
    """1 where rows depended on each other when they were factored last by Cholesky's method."""
    mode_rows: Fixed = 0
    """Address of the rows of joints that have modes (`core.simulation.equations.mode_rows`); 0: there are none."""


load_system = loader(System)


@merged
def evaluate(function: int) -> Any:
    """Call a function on its memory; false if a result that must be finite is not."""
    f = load_function(function)
    base = address_of(f.memory)
    if f.table == 0:
        return call_single(f.address, base) == 0
    return call_table(f.address, base, f.table, f.rows, f.places, f.count, base + 8 * f.result) == 0


@merged
def put(function: int, offset: int, x: Any) -> None:
    """x into the arguments of a function."""
    f = load_function(function)
    for i in range(len(x)):
        f.memory[offset + i] = x[i]


@merged
def result_place(function: int) -> Any:
    """Address of a function's result."""
    f = load_function(function)
    return address_of(f.memory) + 8 * f.result


@inserted
def result(function: int, count: int) -> Any:
    """The first `count` numbers of a function's result; a view."""
    return view(result_place(function), count)


@merged
def put_rest(place: int, function: int) -> None:
    """x, ẋ and time into the arguments of a function that takes them."""
    s, f = load_system(place), load_function(function)
    if f.states >= 0:
        put(function, f.states, s.own)
    if f.time >= 0:
        put(function, f.time, s.now)


@merged
def put_all(place: int, function: int, q: Any, v: Any) -> None:
    """q, v, x, ẋ and time into the arguments of a function."""
    put(function, AT_Q, q)
    put(function, len(q), v)
    put_rest(place, function)


@native
def tick(place: int, t: float) -> None:
    """The time argument at t."""
    s = load_system(place)
    if len(s.now) == 0:
        return
    s.now[0] = t
    for k in range(len(s.points) - 1):
        first, last = s.points[k], s.points[k + 1] - 1
        at, h, inside = last, 0.0, 0.0
        if t < s.times[first]:
            at = first
        elif t < s.times[last]:
            inside = 1.0
            low, high = first, last
            while high - low > 1:
                middle = (low + high) // 2
                if s.times[middle] <= t:
                    low = middle
                else:
                    high = middle
            at = low
            h = t - s.times[at]
        c = s.cubics[at]
        s.now[3 * k + 1] = c[3] + h * (c[2] + h * (c[1] + h * c[0]))
        s.now[3 * k + 2] = inside * (c[2] + h * (2.0 * c[1] + h * 3.0 * c[0]))
        s.now[3 * k + 3] = inside * (2.0 * c[1] + h * 6.0 * c[0])


@native
def put_states(place: int, q: Any, v: Any, x: Any) -> Any:
    """x and ẋ into `own`; false if they are not finite."""
    s = load_system(place)
    if s.nx == 0:
        return True
    for i in range(s.nx):
        s.own[i] = x[i]
    put_all(place, s.states, q, v)
    evaluate(s.states)
    speeds, total = result(s.states, s.nx), 0.0
    for i in range(s.nx):
        s.own[s.nx + i] = speeds[i]
        total += speeds[i] * 0.0
    return total == 0.0


@native
def rates(place: int, q: Any, v: Any, out: Any) -> None:
    """q̇ into out."""
    s = load_system(place)
    x = v
    if len(s.quaternions) > 0:
        put(s.rate, AT_Q, q)
        put(s.rate, s.nq, v)
        evaluate(s.rate)
        x = result(s.rate, s.nq)
    for i in range(s.nq):
        out[i] = x[i]


@native
def normalise(place: int, q: Any) -> None:
    """Quaternions at length one."""
    s = load_system(place)
    for first in s.quaternions:
        square = 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        if square > 0.0:
            for i in range(first, first + 4):
                q[i] /= np.sqrt(square)
