"""What the equations of motion work on: entries of a mechanism's machine code, and the memory around them."""

from __future__ import annotations

from typing import Any

import numpy as np

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
from core.simulation.machine_code.records import Fixed, FloatRows, Floats, IntRows, Ints, Record

_numbers: Any = np.arange(16)
(
    TORQUE,
    RATE,
    FORWARD,
    MASS,
    BIAS,
    GAP,
    JACOBIAN,
    DRIFT,
    REDUCED,
    STATES,
    MOVING,
    SETTLE,
    SLOPES,
    TORQUE_SLOPES,
    INDICATORS,
    TORQUE_INDICATORS,
) = _numbers
"""Rows of `System.entries`: u(t, q, v), q̇, a, entries of M, h, residuals of the constraints, entries of G,
Ġ v − f̈, the equations in independent speeds (`core.closed_forms.closed_forms.Layout`), ẋ, −ḟ, the step that settles
junctions, `core.traces.jacobians`, derivatives of u by q and v, event indicators of forces and of u.
NumPy integers: for each literal one Numba would compile its callers anew."""
FIRST, SECOND, THIRD = _numbers[:3]
KIND, ADDRESS, TABLE, ROWS, PLACES, COUNT, RESULT, BASE, OF_X, OF_T = range(10)
"""Columns of `System.entries`: those of `core.traces.native_entry.Entry.record`, where the entry's memory begins, and
where in it x and time go (−1: nowhere)."""


class System(Record):
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
    by_matrix: Fixed
    """1: accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Ints
    """(k,) first entries of the quaternions in q."""
    u: Floats
    """(nv,) constant joint forces."""
    entries: IntRows
    """(16, 10)"""
    memory: Floats
    """Of all entries, one behind the other."""
    room: Floats
    """Room for vectors and coefficients, see `core.simulation.equations.constrained`."""
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
    """(rows,) level from which on a row holds: 0 position, 1 speed, 2 acceleration."""
    now: Floats
    """(nt,) the time argument (`core.elements.time_argument`), as `tick` left it."""
    own: Floats
    """(2 nx,) x and ẋ, as `put_states` left them."""
    last: Floats
    """(1,) time at which the reduced equations were evaluated last; NaN: none."""
    modes: Fixed
    """Number of mode variables in forces; they stand at the end of `now`."""
    points: Ints
    """(signals + 1,) where the points of each recorded signal begin."""
    times: Floats
    """(points,) s"""
    cubics: FloatRows
    """(points, 4) of `core.elements.time_argument.Splines`."""


load_system = loader(System)


@merged
def evaluate(place: int, function: int) -> Any:
    """Call an entry on its memory; false if a result that must be finite is not."""
    s = load_system(place)
    w = s.entries[function]
    base = address_of(s.memory) + 8 * w[BASE]
    if w[KIND] == 1:
        return call_single(w[ADDRESS], base) == 0
    result = base + 8 * w[RESULT]
    return call_table(w[ADDRESS], base, w[TABLE], w[ROWS], w[PLACES], w[COUNT], result) == 0


@merged
def put(place: int, function: int, offset: int, x: Any) -> None:
    """x into the arguments of an entry."""
    s = load_system(place)
    at = s.entries[function, BASE] + offset
    for i in range(len(x)):
        s.memory[at + i] = x[i]


@merged
def result_place(place: int, function: int) -> Any:
    """Address of an entry's result."""
    s = load_system(place)
    return address_of(s.memory) + 8 * (s.entries[function, BASE] + s.entries[function, RESULT])


@inserted
def result(place: int, function: int, count: int) -> Any:
    """The first `count` numbers of an entry's result; a view."""
    return view(result_place(place, function), count)


@merged
def put_rest(place: int, function: int) -> None:
    """x, ẋ and time into the arguments of an entry that takes them."""
    s = load_system(place)
    w = s.entries[function]
    if w[OF_X] >= 0:
        put(place, function, w[OF_X], s.own)
    if w[OF_T] >= 0:
        put(place, function, w[OF_T], s.now)


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
    put(place, STATES, FIRST, q)
    put(place, STATES, s.nq, v)
    put_rest(place, STATES)
    evaluate(place, STATES)
    speeds, total = result(place, STATES, s.nx), 0.0
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
        put(place, RATE, FIRST, q)
        put(place, RATE, s.nq, v)
        evaluate(place, RATE)
        x = result(place, RATE, s.nq)
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
