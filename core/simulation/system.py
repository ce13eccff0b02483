"""What the equations of motion work on: entries of a mechanism's machine code, and the memory around them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.simulation.native import address_of, call_single, call_table, native, short

FINE, NOT_FINITE, TORN = 0, 2, 4
"""What a call says: all is well; a result is not a finite number; a loop does not close any more."""


_numbers: Any = np.arange(12)
TORQUE, RATE, FORWARD, MASS, BIAS, GAP, JACOBIAN, DRIFT, REDUCED, STATES, MOVING, SETTLE = _numbers
"""Rows of `System.words`: u(t, q, v), q̇, a, M, h, residuals of the closure, G, Ġ v − f̈, the equations in
independent speeds (`core.kernel.closed_forms.Layout`), ẋ, −ḟ, the step that settles junctions.
NumPy integers: for each literal one Numba would compile its callers anew."""
FIRST, SECOND, THIRD = _numbers[:3]
KIND, ADDRESS, TABLE, ROWS, PLACES, COUNT, RESULT, BASE, OF_X, OF_T = range(10)
"""Columns of `System.words`: those of `core.kernel.entry.Entry.words`, where the entry's memory begins, and where in
it x and time go (−1: nowhere)."""


class System(NamedTuple):
    """Everything the loops need, in few arrays: the more, the longer they take to compile."""

    nq: int
    nv: int
    rows: int
    """Residuals of cut joints, constraints and drivers."""
    by_matrix: bool
    """Accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Any
    """(k,) first entries of the quaternions in q."""
    u: Any
    """(nv,) constant joint forces."""
    words: Any
    """(12, 10)"""
    memory: Any
    """Of all entries, one behind the other."""
    room: Any
    """Room for vectors and coefficients, see `core.simulation.constrained`."""
    order: Any
    """(rows,) rows of G in the order in which they were found independent; after `rank` of them the redundant ones."""
    independent: int
    """Number of independent speeds where loops close in closed form (`core.simulation.explicit`); 0: nowhere."""
    kept: Any
    """Rows of G that are left to iteration then."""
    nx: int
    """Number of states of force elements; y = (q, v, x)."""
    levels: Any
    """(rows,) level from which on a row holds: 0 position, 1 speed, 2 acceleration."""
    now: Any
    """(nt,) the time argument (`core.kernel.clock`), as `tick` left it."""
    own: Any
    """(2 nx,) x and ẋ, as `put_states` left them."""
    points: Any
    """(signals + 1,) where the points of each recorded signal begin."""
    times: Any
    """(points,) s"""
    cubics: Any
    """(points, 4) of `core.kernel.clock.Splines`."""


@short
def evaluate(s: Any, function: int) -> Any:
    """Call an entry on its memory; false if a result that must be finite is not."""
    w = s.words[function]
    base = address_of(s.memory) + 8 * w[BASE]
    if w[KIND] == 1:
        return call_single(w[ADDRESS], base) == 0
    result = base + 8 * w[RESULT]
    return call_table(w[ADDRESS], base, w[TABLE], w[ROWS], w[PLACES], w[COUNT], result) == 0


@short
def put(s: Any, function: int, offset: int, x: Any) -> None:
    """x into the arguments of an entry."""
    at = s.words[function, BASE] + offset
    for i in range(len(x)):
        s.memory[at + i] = x[i]


@short
def result(s: Any, function: int, count: int) -> Any:
    """The first `count` numbers of an entry's result; a view."""
    at = s.words[function, BASE] + s.words[function, RESULT]
    return s.memory[at : at + count]


@short
def put_rest(s: Any, function: int) -> None:
    """x, ẋ and time into the arguments of an entry that takes them."""
    w = s.words[function]
    if w[OF_X] >= 0:
        put(s, function, w[OF_X], s.own)
    if w[OF_T] >= 0:
        put(s, function, w[OF_T], s.now)


@native
def tick(s: Any, t: float) -> None:
    """The time argument at t."""
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
def put_states(s: Any, q: Any, v: Any, x: Any) -> Any:
    """x and ẋ into `own`; false if they are not finite."""
    if s.nx == 0:
        return True
    for i in range(s.nx):
        s.own[i] = x[i]
    put(s, STATES, FIRST, q)
    put(s, STATES, s.nq, v)
    put_rest(s, STATES)
    evaluate(s, STATES)
    speeds, total = result(s, STATES, s.nx), 0.0
    for i in range(s.nx):
        s.own[s.nx + i] = speeds[i]
        total += speeds[i] * 0.0
    return total == 0.0


@native
def rates(s: Any, q: Any, v: Any, out: Any) -> None:
    """q̇ into out."""
    x = v
    if len(s.quaternions) > 0:
        put(s, RATE, FIRST, q)
        put(s, RATE, s.nq, v)
        evaluate(s, RATE)
        x = result(s, RATE, s.nq)
    for i in range(s.nq):
        out[i] = x[i]


@native
def normalise(s: Any, q: Any) -> None:
    """Quaternions at length one."""
    for first in s.quaternions:
        square = 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        if square > 0.0:
            for i in range(first, first + 4):
                q[i] /= np.sqrt(square)
