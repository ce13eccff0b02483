"""Wrenches in the joints: by the recursion in trees; with loops, constraints and drivers, the forces that hold them in
addition.

What holds exerts F = Rᵀ λ on the b of each of its sides; λ: multipliers of its rows, R = ∂(rows)/∂(motion of b against
a). The recursion gives f_i, all that acts on what lies behind tree joint i; what such sides contribute to it does not
pass through the joint: F_i = f_i − Σ (moved to b's origin). Where constraints are redundant (a planar loop of revolute
joints) the forces are not unique; the smallest are given (`core.constraints.minimum_norm`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.machine_size import size_of
from core.constraints.minimum_norm import minimum_norm
from core.errors import ModelError, near_misses
from core.multibody.parameter_values import Values
from core.numerics.rank import rank
from core.traces.compiled import Compiled

Array = NDArray[np.float64]


class Reactions(dict[str, Array]):
    """joint → wrench; `note` says where they are not the only possible ones."""

    note: str = ""

    def __missing__(self, name: str) -> Array:
        raise ModelError(f"There is no joint '{name}'.", remedy=near_misses(name, list(self)))


CHUNK = 1000
"""States whose least forces are found together."""
NOT_UNIQUE = "Constraints are redundant, so the forces are not unique: these are those of least norm."


def reactions(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Array,
    multipliers: Array,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Reactions:
    """joint → (…, 6) wrench [torque; force] of its parent side on its child side, at b's origin, world axes.

    a, multipliers : as the motion has them (`core.constraints.multipliers.constrained_motion`)
    """
    own = _through(compiled, q, v, a, p, t, x, passive)
    if not compiled.constrained:
        return Reactions(own)
    redundant = _redundant(compiled, q, p)
    if redundant:
        multipliers = _least(compiled, q, multipliers, own, p)
    result = Reactions(transmitted(compiled, sides_at(compiled, q, p), multipliers, own))
    result.note = NOT_UNIQUE if redundant else ""
    return result


class Sides(NamedTuple):
    """Where what holds acts at some states: everything that is evaluated for its wrenches."""

    motions: Array
    """(…, side rows, 6) a row each for what a multiplier exerts."""
    points: Array
    """(…, sides, 3) the points that these are about, m."""
    origins: dict[str, Array]
    """joint → (…, 3) origin of its b, m."""


def sides_at(compiled: Compiled, q: Any, p: Values) -> Sides:
    """Of all that holds at states q."""
    origins = {name: sides[1][..., :3, 3] for name, sides in compiled.joint_poses(q, p).items()}
    R, points = compiled.call("constraint_motion", q, p=p), compiled.call("constraint_origins", q, p=p)
    return Sides(R, points, origins)


def transmitted(compiled: Compiled, sides: Sides, multipliers: Array, own: dict[str, Array]) -> dict[str, Array]:
    """joint → (…, 6) wrench with what holds, from those without (`own`)."""
    topology, result = compiled.topology, dict(own)
    turned = {branch.joint.name: branch.reversed for branch in topology.branches}
    for cut, names, F, point in constraint_wrenches(compiled, sides, multipliers):
        if cut:
            result[cut] = result[cut] + F
        for carrier_of, sign in ((names[1], -1.0), (names[0], 1.0)):
            for carrier in topology.path(carrier_of):
                share = _moved(F, point - sides.origins[carrier])
                result[carrier] = result[carrier] + (-sign if turned[carrier] else sign) * share
    return result


def _redundant(compiled: Compiled, q: Any, p: Values) -> bool:
    """Whether at the first of the states some rows of G say what others say already."""
    rows = len(compiled.rows)
    G = compiled.call("constraint_jacobian", q, p=p).reshape(-1, rows, compiled.nv)[:1]
    return bool(len(G)) and rank(G[0]) < rows


def _least(compiled: Compiled, q: Any, multipliers: Array, own: dict[str, Array], p: Values) -> Array:
    """(…, rows) the multipliers of which joints and other elements feel least, some states at a time; torques count
    per size of the machine."""
    leading = multipliers.shape[:-1]
    states = np.broadcast_to(q, (*leading, compiled.nq)).reshape(-1, compiled.nq)
    values = np.broadcast_to(compiled.parameter_values(p), (*leading, len(compiled.p_names))).reshape(len(states), -1)
    alone = np.ptp(values, axis=0).max(initial=0.0) == 0.0
    flat = multipliers.reshape(len(states), -1)
    through = {name: np.broadcast_to(F, (*leading, 6)).reshape(-1, 6) for name, F in own.items()}
    result = np.empty_like(flat)
    for first in range(0, len(states), CHUNK):
        part = slice(first, first + CHUNK)
        at, row = states[part], values[0] if alone else values[part]
        felt = partial(_felt, compiled, sides_at(compiled, at, row), size_of(compiled, row))
        nothing = {name: np.zeros((len(at), 6)) for name in own}
        given = felt({name: F[part] for name, F in through.items()}, flat[part])
        G = compiled.call("constraint_jacobian", at, p=row)
        result[part] = minimum_norm(G, flat[part], given, partial(felt, nothing))
    return result.reshape(multipliers.shape)


def _felt(compiled: Compiled, sides: Sides, size: float, own: dict[str, Array], multipliers: Array) -> Array:
    """(…, m) wrenches in all joints, of cut ones and of trees, and forces of all other elements, of multipliers
    (…, rows)."""
    unit = np.array([1.0 / size] * 3 + [1.0] * 3)
    others = [k for k, row in enumerate(compiled.rows) if row.collection != "joints"]
    wrenches = transmitted(compiled, sides, multipliers, own).values()
    felt = [np.broadcast_to(F * unit, (*multipliers.shape[:-1], 6)) for F in wrenches]
    return np.concatenate([*felt, multipliers[..., others]], axis=-1)


def _through(compiled: Compiled, q: Any, v: Any, a: Any, p: Values, t: Any, x: Any, passive: bool) -> dict[str, Array]:
    """Of every joint, as if nothing else held; of cut joints what acts in them by itself (springs, rotors)."""
    wrenches = compiled.call("wrenches" if passive else "wrenches_ideal", q, v, a, p=p, t=t, x=x)
    return {name: wrenches[..., i, :] for i, name in enumerate(compiled.joint_names)}


def constraint_wrenches(
    compiled: Compiled, sides: Sides, multipliers: Array
) -> Iterator[tuple[str, tuple[str, str], Array, Array]]:
    """(cut joint through which it goes or "", names of a and b, wrench on b, the point it is about) of every side."""
    R, points = sides.motions, sides.points
    start = 0
    for k, (_, side, rows) in enumerate(compiled.constraints.sides()):
        part = slice(start, start + rows.stop - rows.start)
        start = part.stop
        wrench = (np.swapaxes(R[..., part, :], -1, -2) @ multipliers[..., rows, None])[..., 0]
        yield side.joint, side.names, wrench, points[..., k, :]


def _moved(F: Array, r: Array) -> Array:
    """A wrench about a point from which its own point is at r: n + r × f."""
    return np.concatenate([F[..., :3] + np.cross(r, F[..., 3:]), F[..., 3:]], axis=-1)


def constraint_forces(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Array,
    multipliers: Array,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> dict[str, Array]:
    """constraint or driver → (…, rows) multipliers, of least norm where they are not unique."""
    if compiled.constrained and _redundant(compiled, q, p):
        multipliers = _least(compiled, q, multipliers, _through(compiled, q, v, a, p, t, x, passive), p)
    result: dict[str, Array] = {}
    for k, row in enumerate(compiled.rows):
        if row.collection != "joints":
            column = multipliers[..., k : k + 1]
            before = result.get(row.element)
            result[row.element] = column if before is None else np.concatenate([before, column], axis=-1)
    return result


def sensor(compiled: Compiled, q: Any, v: Any, name: str, a: Any, p: Values) -> tuple[Array, Array]:
    """See `Mechanism.sensor`."""
    known = compiled.elements.sensors
    if name not in known:
        raise ModelError(f"There is no sensor of motion '{name}'.", remedy=near_misses(name, list(known)))
    a_given = np.zeros(np.shape(v)) if a is None else a
    both = compiled.call(f"sensor:{name}", q, v, a_given, p=p)
    value, rate = both[..., 0, :], both[..., 1, :]
    if a is None and not known[name].info.geometric:
        rate = np.full_like(rate, np.nan)
        value = np.full_like(value, np.nan) if known[name].info.accelerated else value
    single = compiled.model.expanded.find("sensors", name).info.components == ("",)
    return (value[..., 0], rate[..., 0]) if single else (value, rate)
