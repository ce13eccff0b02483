"""The equations of motion behind addresses: what the methods call. Each gets the address where a `System` is stored,
the time, and the addresses of two arrays."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from core.simulation.explicit import derivative, project
from core.simulation.native import loader, native, store, view
from core.simulation.system import FINE, NOT_FINITE, System, rates

named_tuple: Any = numba.types.NamedTuple
_F1, _I1, _I2 = numba.float64[::1], numba.int64[::1], numba.int64[:, ::1]
_KINDS = {
    "by_matrix": numba.boolean,
    "quaternions": _I1,
    "u": _F1,
    "words": _I2,
    "memory": _F1,
    "room": _F1,
    "order": _I1,
    "kept": _I1,
    "levels": _I1,
    "now": _F1,
    "own": _F1,
    "points": _I1,
    "times": _F1,
    "cubics": numba.float64[:, ::1],
}
load_system: Any = loader(named_tuple(tuple(_KINDS.get(name, numba.int64) for name in System._fields), System))


def derivative_entry(handle: int, t: float, y: int, out: int) -> int:
    """ẏ into out (n,)."""
    s = load_system(handle)
    n = s.nq + s.nv + s.nx
    return FINE if derivative(s, t, view(y, n), view(out, n)) else NOT_FINITE


def project_entry(handle: int, t: float, y: int, error: int) -> int:
    """y onto the manifold; if an error (n,) is given, what is normal to the manifold is taken off."""
    s = load_system(handle)
    n = s.nq + s.nv + s.nx
    result: int = project(s, t, view(y, n), view(error, n if error != 0 else 0))
    return result


def impulse_entry(handle: int, t: float, y: int, step: int) -> int:
    """v ← v + h a(q, v), then q ← q + h N(q) v; `step` (n + 1,) begins with h, the rest is room."""
    s = load_system(handle)
    n = s.nq + s.nv + s.nx
    state, room = view(y, n), view(step, n + 1)
    h = room[0]
    f = room[1:]
    if not derivative(s, t, state, f):
        return NOT_FINITE
    for j in range(s.nq, n):
        state[j] += h * f[j]
    rates(s, state[: s.nq], state[s.nq : s.nq + s.nv], f[: s.nq])
    for j in range(s.nq):
        state[j] += h * f[j]
    return FINE


INCREMENT = 1e-8
"""Relative change of a state by which derivatives are taken where there is no trace of them."""


def jacobian_entry(handle: int, t: float, y: int, out: int) -> int:
    """∂f/∂y into out (n n,), row by row, by differences."""
    s = load_system(handle)
    n = s.nq + s.nv + s.nx
    state, J = view(y, n), view(out, n * n)
    f, g = np.empty(n), np.empty(n)
    if not derivative(s, t, state, f):
        return NOT_FINITE
    for j in range(n):
        kept = state[j]
        state[j] = kept + INCREMENT * max(abs(kept), 1.0)
        step = state[j] - kept
        well = derivative(s, t, state, g)
        state[j] = kept
        if not well:
            return NOT_FINITE
        for i in range(n):
            J[i * n + j] = (g[i] - f[i]) / step
    return FINE


ENTRIES = (derivative_entry, project_entry, jacobian_entry, impulse_entry)
"""In the order of `Work.addresses`."""


@native
def _put(value: Any, place: int) -> None:
    store(value, place)


def stored(value: Any) -> tuple[int, Any]:
    """(address, memory): a tuple where entry points find it, for as long as the memory lives."""
    memory = np.zeros(512)
    place = memory.ctypes.data
    _put(value, place)
    return place, memory
