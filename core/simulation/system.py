"""What the equations of motion work on: entries of a mechanism's machine code, and the memory around them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.simulation.native import address_of, call_single, call_table, native, short

FINE, NOT_FINITE, TORN = 0, 2, 4
"""What a call says: all is well; a result is not a finite number; a loop does not close any more."""


_numbers: Any = np.arange(9)
TORQUE, RATE, FORWARD, MASS, BIAS, GAP, JACOBIAN, DRIFT, REDUCED = _numbers
"""Rows of `System.words`: u(t, q, v), q̇, a, M, h, residuals of the cut joints, G, Ġ v, the equations in
independent speeds (`core.kernel.closed_forms.Layout`).
NumPy integers: for each literal one Numba would compile its callers anew."""
FIRST, SECOND = _numbers[:2]
KIND, ADDRESS, TABLE, ROWS, PLACES, COUNT, RESULT, BASE = range(8)
"""Columns of `System.words`: those of `core.kernel.entry.Entry.words`, and where the entry's memory begins."""


class System(NamedTuple):
    """Everything the loops need, in few arrays: the more, the longer they take to compile."""

    nq: int
    nv: int
    rows: int
    """Residuals of the cut joints."""
    by_matrix: bool
    """Accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Any
    """(k,) first entries of the quaternions in q."""
    u: Any
    """(nv,) constant joint forces."""
    words: Any
    """(9, 8)"""
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
