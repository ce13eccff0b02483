"""Joint reaction wrenches: by recursion in open chains, plus constraint forces with loops, constraints and drivers.

The recursion gives f_i, all that acts on what lies behind tree joint i; what holds adds what it sends through the joint
(`core.constraints.transmission`). Where constraints are redundant (a planar loop of revolute joints) the forces are not
unique; the smallest are given (`core.constraints.minimum_norm`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.machine_size import size_of
from core.constraints.minimum_norm import minimum_norm, sparse_minimum_norm
from core.constraints.transmission import Transmission, closing_transmission, transmission
from core.errors import ModelError, near_misses
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix, scaled, stacked
from core.numerics.rank import eliminated, rank
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


class Reactions(dict[str, Array]):
    """Joint → wrench; `note` says where the wrenches are not unique."""

    note: str = ""

    def __missing__(self, name: str) -> Array:
        raise ModelError(f"There is no joint '{name}'.", remedy=near_misses(name, list(self)))


CHUNK = 1000
"""Number of states whose minimum-norm forces are computed together."""
NOT_UNIQUE = "Constraints are redundant, so the forces are not unique: those of minimum norm are given."


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
    closing: Array | None = None,
) -> Reactions:
    """joint → (…, 6) wrench [torque; force] of its parent side on its child side, at b's origin, world axes.

    a, multipliers : as the motion has them (`core.constraints.multipliers.constrained_motion`); closing : (…, n) what
    friction and stops exert in joints that close loops, of a smooth motion (`core.constraints.row_forces`)
    """
    own = _wrenches_without_constraints(compiled, q, v, a, p, t, x, passive, closing)
    note = ""
    if compiled.constrained:
        sent = transmission(compiled, q, p)
        if _is_redundant(compiled, q, p):
            multipliers, note = _minimum_norm_multipliers(compiled, q, multipliers, own, sent, p), NOT_UNIQUE
        own = own + sent.through(multipliers)
    result = Reactions({name: own[..., i, :] for i, name in enumerate(compiled.joint_names)})
    result.note = note
    return result


def _is_redundant(compiled: Compiled, q: Any, p: Values) -> bool:
    """Return True if rows of G are redundant at the first of the states."""
    state, values = np.asarray(q, dtype=float), compiled.parameter_values(p)
    if not math.prod(state.shape[:-1]) * math.prod(values.shape[:-1]):
        return False
    state, values = (each[(0,) * (each.ndim - 1)] for each in (state, values))
    return rank(compiled.constraint_matrix(state, values)) < len(compiled.rows)


def _minimum_norm_multipliers(
    compiled: Compiled, q: Any, multipliers: Array, own: Array, sent: Transmission, p: Values
) -> Array:
    """(…, rows) multipliers with the smallest norm of joint wrenches and element forces, in chunks of states; torques
    are divided by the machine's size."""
    leading = multipliers.shape[:-1]
    states = np.broadcast_to(q, (*leading, compiled.nq)).reshape(-1, compiled.nq)
    values = np.broadcast_to(compiled.parameter_values(p), (*leading, len(compiled.p_names))).reshape(len(states), -1)
    alone = np.ptp(values, axis=0).max(initial=0.0) == 0.0
    flat = multipliers.reshape(len(states), -1)
    through, wrenches = (
        np.broadcast_to(each, (*leading, *each.shape[-2:])).reshape(len(states), *each.shape[-2:])
        for each in (own, sent.wrenches)
    )
    result = np.empty_like(flat)
    count = 1 if compiled.sparse else CHUNK
    size = size_of(compiled, values[0]) if alone else 0.0
    for first in range(0, len(states), count):
        part = slice(first, first + count)
        row = values[0] if alone else values[part]
        felt = _JointAndElementForces(compiled, sent._replace(wrenches=wrenches[part]), size or size_of(compiled, row))
        given = felt.of(flat[part], through[part])
        if compiled.sparse and (known := eliminated(compiled.constraint_matrix(states[first], values[first]))):
            result[first] = sparse_minimum_norm(known.stresses, flat[first], given[0], felt.matrix)
        else:
            G = compiled.call("constraint_jacobian", states[part], p=row)
            result[part] = minimum_norm(G, flat[part], given, felt.of)
    return result.reshape(multipliers.shape)


class _JointAndElementForces:
    """Wrenches in all joints and forces of all other elements as functions of the multipliers. size : of the
    machine, m"""

    def __init__(self, compiled: Compiled, sent: Transmission, size: float) -> None:
        self._sent, self._unit = sent, np.array([1.0 / size] * 3 + [1.0] * 3)
        self._others = [k for k, row in enumerate(compiled.rows) if row.collection != "joints"]

    def of(self, multipliers: Array, own: Array | float = 0.0) -> Array:
        """(…, m) wrenches and forces of multipliers (…, rows), in addition to own wrenches (…, joints, 6)."""
        wrenches = (own + self._sent.through(multipliers)) * self._unit
        flat = wrenches.reshape(*wrenches.shape[:-2], -1)
        return np.concatenate([flat, multipliers[..., self._others]], axis=-1)

    @property
    def matrix(self) -> Matrix:
        """(m, rows) matrix of this map at one state, in compressed rows."""
        joints = self._sent.matrix
        every = np.eye(joints.shape[1])[self._others]
        return stacked(scaled(joints, rows=np.tile(self._unit, self._sent.shape[0])), every)


def _wrenches_without_constraints(
    compiled: Compiled, q: Any, v: Any, a: Any, p: Values, t: Any, x: Any, passive: bool, closing: Array | None
) -> Array:
    """(…, joints, 6) wrenches without constraint forces; in cut joints, those of their springs and rotors."""
    name = "wrenches_ideal" if not passive else "wrenches" if closing is None else "wrenches_smooth"
    own = compiled.call(name, q, v, a, p=p, t=t, x=x)
    if closing is None or not closing.any():
        return own
    return np.asarray(own + closing_transmission(compiled, q, p).through(closing))


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
    closing: Array | None = None,
) -> dict[str, Array]:
    """Constraint or driver → (…, rows) multipliers, of minimum norm if they are not unique."""
    if compiled.constrained and _is_redundant(compiled, q, p):
        own = _wrenches_without_constraints(compiled, q, v, a, p, t, x, passive, closing)
        multipliers = _minimum_norm_multipliers(compiled, q, multipliers, own, transmission(compiled, q, p), p)
    result: dict[str, Array] = {}
    for k, row in enumerate(compiled.rows):
        if row.collection != "joints":
            column = multipliers[..., k : k + 1]
            before = result.get(row.element)
            result[row.element] = column if before is None else np.concatenate([before, column], axis=-1)
    return result


def sensor(compiled: Compiled, q: Any, v: Any, name: str, a: Any, p: Values) -> tuple[Array, Array]:
    """Value and rate of a sensor; see `Mechanism.sensor`."""
    known = compiled.elements.sensors
    if name not in known:
        raise ModelError(f"There is no motion sensor '{name}'.", remedy=near_misses(name, list(known)))
    a_given = np.zeros(np.shape(v)) if a is None else a
    both = compiled.call(f"sensor:{name}", q, v, a_given, p=p)
    value, rate = both[..., 0, :], both[..., 1, :]
    if a is None and not known[name].info.geometric:
        rate = np.full_like(rate, np.nan)
        value = np.full_like(value, np.nan) if known[name].info.accelerated else value
    single = compiled.model.expanded.find("sensors", name).info.components == ("",)
    return (value[..., 0], rate[..., 0]) if single else (value, rate)
