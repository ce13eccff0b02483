"""Joint reaction wrenches: by recursion in open chains, plus constraint forces with loops, constraints and drivers.

The recursion gives f_i, the sum of forces on everything behind tree joint i; constraints add what they send through the
joint (`Transmission`): F = Rᵀ λ on the b of each of their sides; λ: multipliers of the rows, R = ∂(rows)/∂(motion of b
against a). The cut joint of a side bears it all. What it contributes to the forces behind a tree joint does not pass
through that joint: it is subtracted, at b's origin, from every joint between the world and one of the two frames;
joints that carry both bear nothing of it.

Where constraints are redundant (a planar loop of revolute joints), multipliers λ may be changed by self-stresses S,
Gᵀ S = 0, without any effect on the motion. The chosen ones have the least sum of squares of all wrenches in joints and
forces of other constraints and drivers (`minimum_norm_solution`): that does not depend on where loops are cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.rest_position import characteristic_length
from core.errors import ModelError, suggest_names
from core.mechanics.elements.constraints.kinematic_constraint import Side
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix, scale_matrix, stack_rows
from core.numerics.rank import factorise_sparse, nonzero_row_mask, rank
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import CompiledModel, cache_per_model
from core.programs.wrenches import BearingPairs
from core.programs.wrenches import find_bearing_pairs as pairs_of

Array = NDArray[np.float64]


@cache_per_model
def bearing_pairs(compiled: CompiledModel) -> BearingPairs:
    """Pairs of joint and constraint row for which the joint bears the row's wrench."""
    sides = compiled.constraints.sides()
    return _find_bearing_pairs(compiled, [(side, list(range(rows.start, rows.stop))) for _, side, rows in sides])


@cache_per_model
def _cut_bearing_pairs(compiled: CompiledModel) -> BearingPairs:
    coordinates = compiled.program.symbolic.cut_coordinates
    return _find_bearing_pairs(
        compiled, [(side, [i]) for i, coordinate in enumerate(coordinates) for side in coordinate.sides]
    )


def _find_bearing_pairs(compiled: CompiledModel, sides: Sequence[tuple[Side, Sequence[int]]]) -> BearingPairs:
    return pairs_of(compiled.topology, compiled.program.joint_index, sides)


class ReactionMap(NamedTuple):
    """Linear map from multipliers to joint wrenches, evaluated at states q."""

    pairs: BearingPairs
    wrenches: Array
    """(…, pairs, 6) joint wrench of a unit multiplier, at b's origin in world axes."""
    shape: tuple[int, int]
    """Number of joints and of rows."""

    def joint_wrenches(self, multipliers: Array) -> Array:
        """(…, joints, 6) wrenches of multipliers (…, rows), parent side on child side."""
        borne = multipliers[..., self.pairs.rows, None] * self.wrenches
        result = np.zeros((*borne.shape[:-2], self.shape[0], 6))
        if len(self.pairs.starts):
            sums = np.add.reduceat(borne, self.pairs.starts, axis=-2)
            result[..., self.pairs.joints[self.pairs.starts], :] = sums
        return result

    @property
    def matrix(self) -> Matrix:
        """(6 joints, rows) the map at one state as a matrix in compressed rows."""
        import scipy.sparse

        rows = 6 * self.pairs.joints[:, None] + np.arange(6)
        columns = np.repeat(self.pairs.rows, 6)
        shape = 6 * self.shape[0], self.shape[1]
        return scipy.sparse.csr_array((self.wrenches.reshape(-1), (rows.reshape(-1), columns)), shape=shape)


def reaction_map(compiled: CompiledModel, q: Any, p: Values) -> ReactionMap:
    """Map from constraint multipliers to joint wrenches at states q (…, nq)."""
    return _evaluate_reaction_map(compiled, q, p, bearing_pairs(compiled), "constraint_sides", len(compiled.rows))


def cut_force_reaction_map(compiled: CompiledModel, q: Any, p: Values) -> ReactionMap:
    """Map from forces along coordinates of loop-closing joints, in the order of "cut_values", to joint wrenches."""
    count = len(compiled.program.symbolic.cut_coordinates)
    return _evaluate_reaction_map(compiled, q, p, _cut_bearing_pairs(compiled), "cut_sides", count)


def _evaluate_reaction_map(
    compiled: CompiledModel, q: Any, p: Values, joint_row_pairs: BearingPairs, function: str, count: int
) -> ReactionMap:
    names = compiled.joint_names
    pairs = compiled.call("joint_poses", q, p=p)
    sides = compiled.call(function, q, p=p)[..., joint_row_pairs.side_rows, :]
    arms = np.where(
        joint_row_pairs.moved[:, None], sides[..., 6:] - pairs[..., 1, :3, 3][..., joint_row_pairs.joints, :], 0.0
    )
    moment = sides[..., :3] + np.cross(arms, sides[..., 3:6])
    wrenches = np.concatenate([moment, sides[..., 3:6]], axis=-1) * joint_row_pairs.signs[:, None]
    return ReactionMap(joint_row_pairs, wrenches, (len(names), count))


NOTHING = 1e-14
"""Relative regularisation that keeps the equations solvable for states with fewer self-stresses."""


def compute_self_stresses(G: Array) -> Array:
    """(n, rows, k) orthonormal self-stresses of G (n, rows, nv), k the largest number at any of the n states,
    zero-padded. A zero row of G is a self-stress by itself."""
    among = nonzero_row_mask(G)
    u, sigma, _ = np.linalg.svd(G[:, among])
    rows = u.shape[-1]
    padded = np.zeros((len(G), rows))
    padded[:, : sigma.shape[-1]] = sigma
    dependent = padded <= RANK_TOLERANCE * np.maximum(padded[:, :1], 1e-300)
    k = int(np.max(np.sum(dependent, axis=1), initial=0))
    result = np.zeros((len(G), len(among), k + np.count_nonzero(~among)))
    result[:, among, :k] = (u * dependent[:, None, :])[:, :, rows - k :]
    result[:, np.flatnonzero(~among), np.arange(k, result.shape[-1])] = 1.0
    return result


def minimum_norm_solution(G: Array, multipliers: Array, forces: Array, force_map: Callable[[Array], Array]) -> Array:
    """(n, rows) multipliers with the smallest norm of the joint wrenches and element forces they cause, among those
    with the same motion.

    G : (n, rows, nv); multipliers : (n, rows), any; forces : (n, m) forces at these; force_map : multipliers
    (k, n, rows) → (k, n, m) forces that they alone cause, in comparable units
    """
    S = compute_self_stresses(G)
    if not S.shape[-1]:
        return multipliers
    B = np.moveaxis(force_map(np.moveaxis(S, -1, 0)), 0, -1)
    normal = np.swapaxes(B, -1, -2) @ B
    size_of_all = np.trace(normal, axis1=-2, axis2=-1)[:, None, None] + 1e-300
    normal = normal + NOTHING * size_of_all * np.eye(normal.shape[-1])  # states with fewer self-stresses have zeros
    change = np.linalg.solve(normal, np.swapaxes(B, -1, -2) @ forces[..., None])
    return np.asarray(multipliers - (S @ change)[..., 0])


def sparse_minimum_norm_solution(stresses: Matrix, multipliers: Array, forces: Array, force_map: Matrix) -> Array:
    """(rows,) minimum-norm multipliers of one state of a large machine.

    stresses : (rows, k) self-stresses, force_map : (m, rows) forces per unit multiplier, both in compressed rows
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    if not stresses.shape[1]:
        return multipliers
    B = force_map @ stresses
    normal = B.T @ B
    normal = normal + NOTHING * normal.trace() * eye_array(B.shape[1])
    return np.asarray(multipliers - stresses @ splu(normal.tocsc()).solve(B.T @ forces))


class Reactions(dict[str, Array]):
    """Joint → wrench; `note` names the wrenches that are not unique."""

    note: str = ""

    def __missing__(self, name: str) -> Array:
        raise ModelError(f"There is no joint '{name}'.", remedy=suggest_names(name, list(self)))


CHUNK = 1000
"""Number of states whose minimum-norm forces are computed together."""
NOT_UNIQUE = "Constraints are redundant, so the forces are not unique: those of minimum norm are given."


def compute_reactions(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Array,
    multipliers: Array,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
    cut_forces: Array | None = None,
    outer: Array | None = None,
) -> Reactions:
    """joint → (…, 6) wrench [torque; force] of its parent side on its child side, at b's origin, world axes.

    a, multipliers : of the motion (`core.constraints.multipliers.solve_constrained_motion`); cut_forces : (…, n)
    forces of friction and stops in joints that close loops (`core.constraints.row_forces`); outer : (…, joints, 6)
    what wrenches from outside add in the tree joints
    """
    own = _wrenches_without_constraints(compiled, q, v, a, p, t, x, passive, cut_forces)
    own = own if outer is None else own + outer
    note = ""
    if compiled.constrained:
        sent = reaction_map(compiled, q, p)
        if _is_redundant(compiled, q, p):
            multipliers, note = _minimum_norm_multipliers(compiled, q, multipliers, own, sent, p), NOT_UNIQUE
        own = own + sent.joint_wrenches(multipliers)
    result = Reactions({name: own[..., i, :] for i, name in enumerate(compiled.joint_names)})
    result.note = note
    return result


def _is_redundant(compiled: CompiledModel, q: Any, p: Values) -> bool:
    """Return True if rows of G are redundant at the first of the states."""
    state, values = np.asarray(q, dtype=float), compiled.parameter_values(p)
    if not math.prod(state.shape[:-1]) * math.prod(values.shape[:-1]):
        return False
    state, values = (each[(0,) * (each.ndim - 1)] for each in (state, values))
    return rank(compiled.constraint_matrix(state, values)) < len(compiled.rows)


def _minimum_norm_multipliers(
    compiled: CompiledModel, q: Any, multipliers: Array, own_wrenches: Array, reaction_map: ReactionMap, p: Values
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
        for each in (own_wrenches, reaction_map.wrenches)
    )
    result = np.empty_like(flat)
    count = 1 if compiled.is_sparse else CHUNK
    size = characteristic_length(compiled, values[0]) if alone else 0.0
    for first in range(0, len(states), count):
        part = slice(first, first + count)
        row = values[0] if alone else values[part]
        felt = _JointAndElementForces(
            compiled, reaction_map._replace(wrenches=wrenches[part]), size or characteristic_length(compiled, row)
        )
        given = felt.forces_of(flat[part], through[part])
        if compiled.is_sparse and (known := factorise_sparse(compiled.constraint_matrix(states[first], values[first]))):
            result[first] = sparse_minimum_norm_solution(known.left_null_space, flat[first], given[0], felt.to_matrix)
        else:
            G = compiled.call("constraint_jacobian", states[part], p=row)
            result[part] = minimum_norm_solution(G, flat[part], given, felt.forces_of)
    return result.reshape(multipliers.shape)


class _JointAndElementForces:
    """Wrenches in all joints and forces of all other elements as functions of the multipliers. size : length of the
    machine, m"""

    def __init__(self, compiled: CompiledModel, reaction_map: ReactionMap, size: float) -> None:
        self._sent, self._unit = reaction_map, np.array([1.0 / size] * 3 + [1.0] * 3)
        self._others = [k for k, row in enumerate(compiled.rows) if row.collection != "joints"]

    def forces_of(self, multipliers: Array, own_wrenches: Array | float = 0.0) -> Array:
        """(…, m) wrenches and forces of multipliers (…, rows), in addition to own wrenches (…, joints, 6)."""
        wrenches = (own_wrenches + self._sent.joint_wrenches(multipliers)) * self._unit
        flat = wrenches.reshape(*wrenches.shape[:-2], -1)
        return np.concatenate([flat, multipliers[..., self._others]], axis=-1)

    @property
    def to_matrix(self) -> Matrix:
        """(m, rows) matrix of this map at one state, in compressed rows."""
        joints = self._sent.matrix
        every = np.eye(joints.shape[1])[self._others]
        return stack_rows(scale_matrix(joints, rows=np.tile(self._unit, self._sent.shape[0])), every)


def _wrenches_without_constraints(
    compiled: CompiledModel, q: Any, v: Any, a: Any, p: Values, t: Any, x: Any, passive: bool, cut_forces: Array | None
) -> Array:
    """(…, joints, 6) wrenches without constraint forces; in cut joints these are the wrenches of their springs and
    rotors."""
    name = "wrenches_ideal" if not passive else "wrenches" if cut_forces is None else "wrenches_smooth"
    own = compiled.call(name, q, v, a, p=p, t=t, x=x)
    if cut_forces is None or not cut_forces.any():
        return own
    return np.asarray(own + cut_force_reaction_map(compiled, q, p).joint_wrenches(cut_forces))


def compute_constraint_forces(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Array,
    multipliers: Array,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
    cut_forces: Array | None = None,
) -> dict[str, Array]:
    """Constraint or driver → (…, rows) multipliers, of minimum norm if they are not unique."""
    if compiled.constrained and _is_redundant(compiled, q, p):
        own = _wrenches_without_constraints(compiled, q, v, a, p, t, x, passive, cut_forces)
        multipliers = _minimum_norm_multipliers(compiled, q, multipliers, own, reaction_map(compiled, q, p), p)
    result: dict[str, Array] = {}
    for k, row in enumerate(compiled.rows):
        if row.collection != "joints":
            column = multipliers[..., k : k + 1]
            before = result.get(row.element)
            result[row.element] = column if before is None else np.concatenate([before, column], axis=-1)
    return result


def evaluate_sensor(compiled: CompiledModel, q: Any, v: Any, name: str, a: Any, p: Values) -> tuple[Array, Array]:
    """Value and rate of a sensor; see `Mechanism.sensor`."""
    known = compiled.elements.sensors
    if name not in known:
        raise ModelError(f"There is no motion sensor '{name}'.", remedy=suggest_names(name, list(known)))
    a_given = np.zeros(np.shape(v)) if a is None else a
    both = compiled.call(f"sensor:{name}", q, v, a_given, p=p)
    value, rate = both[..., 0, :], both[..., 1, :]
    if a is None and not known[name].info.is_geometric:
        rate = np.full_like(rate, np.nan)
        value = np.full_like(value, np.nan) if known[name].info.accelerated else value
    single = compiled.model.expanded.find("sensors", name).info.components == ("",)
    return (value[..., 0], rate[..., 0]) if single else (value, rate)
