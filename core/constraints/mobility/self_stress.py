"""Self-stresses of an overconstrained machine: internal forces between its joints that are in balance without load, and
the constraints that are redundant because of them.

A self-stress is a set of multipliers λ with Gᵀ λ = 0. The wrench F_j that it sends through joint j does no work on the
joint's own motion, so its components stand for the joint's constraints: constraint (j, k) can be spared exactly if some
self-stress has F_jk ≠ 0, and a set of constraints makes the machine isostatic without a new freedom if the components
there form a regular matrix (the constraints and their dependencies are dual matroids; Oxley, Matroid Theory, 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.reactions import reaction_map
from core.joints.kind import Forbidden
from core.later import dataclass
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.model import Joint
from core.numerics.matrix_forms import Matrix, is_sparse, to_csr, to_dense
from core.numerics.rank import factorise_sparse
from core.numerics.spatial.pose import from_matrix
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

AXES = "xyz"
ALIGNED = 1e-6
"""Sine of the angle below which a direction counts as parallel to an axis."""
PIVOT = 1e-3
"""Component of a self-stress, relative to its largest, below which it counts as inactive."""
NOTHING = 1e-12
"""Component of a self-stress, relative to its largest, below which it is rounding error."""


@dataclass(frozen=True)
class Component:
    """One scalar constraint: of a joint along a direction, or a row of another element.

    motion : "translation" or "rotation" that it forbids, "" for other elements; axis : "x", "y", "z"
    frame : whose axes ("world", "own": the joint's frame a, "axis": z along the joint's axis)
    direction : (3,) in the world at the pose
    """

    collection: str
    name: str
    motion: str = ""
    axis: str = ""
    frame: str = ""
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    note: str = ""
    along: bool = False
    """True if the direction is the joint's axis."""

    @property
    def text(self) -> str:
        """Description of the constraint, without the element's name."""
        if not self.motion:
            return self.note
        word = "along" if self.motion == "translation" else "about"
        place = {"world": f"{self.axis} of the world", "own": f"its own {self.axis}"}.get(self.frame, self.note)
        if _is_coordinate_axis(np.array(self.direction)):
            place = f"{AXES[int(np.argmax(np.abs(self.direction)))]} of the world"
        else:
            place += " ({:.3g}, {:.3g}, {:.3g})".format(*(round(x, 6) + 0.0 for x in self.direction))
        return f"{self.motion} {word} {place}"


@dataclass(frozen=True)
class SelfStresses:
    """Self-stresses at a generic pose: entries (components, k), in N and N per machine size; orthonormal columns, or
    independent sparse ones in compressed rows."""

    components: tuple[Component, ...]
    entries: Matrix

    @property
    def count(self) -> int:
        """Number of redundant constraints."""
        return int(self.entries.shape[1])

    def of(self, components: Iterable[int]) -> Matrix:
        """(chosen, k) entries of the chosen components."""
        return self.entries[list(components)]


class _ConstraintBasis:
    """Directions of a joint's constraints, defined at a pose and fixed in the joint's frame b (like the second axis of
    a universal joint); directions normal to two axes turn with both axes."""

    def __init__(self, compiled: CompiledModel, joint: Joint, forbidden: Forbidden, X_Wa: Array, X_Wb: Array) -> None:
        self.joint = joint
        self.of_two_axes = "normal" in forbidden
        self.axis, self.second = (_unit_axis(compiled, joint, field) for field in ("axis", "second_axis"))
        R_Wa = X_Wa[:3, :3]
        axis = R_Wa @ self.axis
        self.frame, R_Wd = "world", np.eye(3)
        if self.of_two_axes:
            self.frame, R_Wd = "axis", _rotation_of_two_axes(axis, X_Wb[:3, :3] @ self.second)
        elif "axis" in joint.info.uses and not _is_coordinate_axis(axis):
            self.frame, R_Wd = "own", R_Wa
            if not _is_coordinate_axis(self.axis):
                self.frame, R_Wd = "axis", R_Wa @ _rotation_with_z(self.axis)
        self.R_bd = X_Wb[:3, :3].T @ R_Wd
        self.directions = R_Wd
        self.alignment = np.abs(R_Wd.T @ axis) if "axis" in joint.info.uses else np.zeros(3)
        self.kept = list(_forbidden_indices(forbidden, R_Wd.T @ axis))

    def components(self) -> list[Component]:
        """The joint's scalar constraints."""
        result = []
        for k in self.kept:
            x, y, z = (float(component) for component in self.directions[:, k % 3])
            motion = "translation" if k >= 3 else "rotation"
            along = bool(self.alignment[k % 3] > 0.99)
            result.append(
                Component(
                    "joints", self.joint.name, motion, AXES[k % 3], self.frame, (x, y, z), self._axis_note(k), along
                )
            )
        return result

    def _axis_note(self, k: int) -> str:
        if self.of_two_axes and k < 3:
            return "the normal of its two axes"
        return "its axis" if k % 3 == 2 and self.frame == "axis" else "a normal of its axis"

    def wrench_components(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…, components) components of wrenches (…, 6) [torque; force] in world axes, torques divided by the machine's
        size (m)."""
        R_Wd = X_Wb[:3, :3] @ self.R_bd
        if self.of_two_axes:
            R_Wd = _rotation_of_two_axes(X_Wa[:3, :3] @ self.axis, X_Wb[:3, :3] @ self.second)
        local = np.concatenate([F[..., :3] @ R_Wd / size, F[..., 3:] @ R_Wd], axis=-1)
        return np.asarray(local[..., self.kept])

    def axial_component(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…,) torque about, or force along, the joint's axis."""
        axis = X_Wa[:3, :3] @ self.axis
        return np.asarray(F[..., 3:] @ axis if self.joint.info.is_slider() else F[..., :3] @ axis / size)


class _NumberedConstraints:
    """Constraints of a joint without distinguished directions, numbered by an orthonormal basis of the wrenches that do
    no work on its motion (torques divided by the machine's size)."""

    def __init__(self, compiled: CompiledModel, joint: Joint) -> None:
        self.joint = joint
        self.law, R_ac = compiled.coordinates.numbers.law(joint)
        self.canonical = np.eye(4)
        self.canonical[:3, :3] = np.array(R_ac, dtype=float)
        self.kept = list(range(6 - self.law.nv))

    def components(self) -> list[Component]:
        """The joint's scalar constraints, by number."""
        return [Component("joints", self.joint.name, note=f"constraint {k + 1}") for k in self.kept]

    def wrench_components(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…, components) components of wrenches (…, 6) [torque; force] in world axes, torques divided by the machine's
        size (m)."""
        S, local = self._motions_and_wrenches(F, X_Wa, X_Wb, size)
        return np.asarray(local @ np.linalg.svd(S)[2][len(S) :].T)

    def axial_component(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…,) generalised force of the wrenches along the joint's coordinate."""
        S, local = self._motions_and_wrenches(F, X_Wa, X_Wb, size)
        return np.asarray(local @ S[0])

    def _motions_and_wrenches(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> tuple[Array, Array]:
        """(nv, 6) joint motions and (…, 6) wrenches in b's canonical axes, lengths divided by the machine's size."""
        X_Wa, X_Wb = X_Wa @ self.canonical, X_Wb @ self.canonical
        q = [float(x) for x in self.law.measure(from_matrix(np.linalg.inv(X_Wa) @ X_Wb)).values]
        S = [[*(size * x for x in angular), *linear] for angular, linear in self.law.subspace(q)]
        turn = X_Wb[:3, :3]
        local = np.concatenate([F[..., :3] @ turn / size, F[..., 3:] @ turn], axis=-1)
        return np.array(S, dtype=float).reshape(-1, 6), local


def _unit_axis(compiled: CompiledModel, joint: Joint, field: str) -> Array:
    v = compiled.coordinates.numbers.vector(getattr(joint, field), f"joint '{joint.name}', {field}")
    return np.array(v, dtype=float) / max(float(np.linalg.norm(v)), 1e-300)


def _is_coordinate_axis(v: Array) -> bool:
    return bool(np.sort(np.abs(v))[1] < ALIGNED)


def _rotation_with_z(axis: Array) -> Array:
    """Rotation whose z is the axis and whose x is the normal nearest to x (else to y)."""
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = start - axis * (axis @ start)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _rotation_of_two_axes(first: Array, second: Array) -> Array:
    """Rotation whose x is the normal of both axes and whose z is the first axis."""
    normal = np.cross(first, second)
    length = float(np.linalg.norm(normal))
    if length < ALIGNED:
        return _rotation_with_z(first)
    normal /= length
    return np.column_stack([normal, np.cross(first, normal), first])


def _forbidden_indices(forbidden: Forbidden, axis: Array) -> Iterable[int]:
    """Indices of the constrained directions among rotation x, y, z, translation x, y, z; axis : in the basis"""
    along = int(np.argmax(np.abs(axis)))
    across = [k for k in range(3) if k != along]
    chosen = {"all": [0, 1, 2], "along": [along], "across": across, "normal": [0], "none": []}
    yield from (3 + k for k in chosen[forbidden.translations])
    yield from chosen[forbidden.rotations]


def _constraint_basis(
    compiled: CompiledModel, joint: Joint, X_Wa: Array, X_Wb: Array
) -> _ConstraintBasis | _NumberedConstraints:
    forbidden = joint.info.forbidden
    return (
        _NumberedConstraints(compiled, joint)
        if forbidden is None
        else _ConstraintBasis(compiled, joint, forbidden, X_Wa, X_Wb)
    )


def compute_self_stresses(
    constraints: PositionConstraints, q: Array, generic_pose: Array, multipliers: Matrix
) -> SelfStresses:
    """Joint and element forces of the self-stresses (multipliers (rows, k)) at a generic pose.

    q : the pose at which directions are told
    """
    compiled, p = constraints.compiled, constraints.p
    here, there = compiled.joint_poses(q, p), compiled.joint_poses(generic_pose, p)
    through = _joint_wrenches(constraints, generic_pose, multipliers)
    components: list[Component] = []
    entries = _StressEntries(multipliers.shape[1])
    for joint in compiled.model.expanded.joints:
        basis = _constraint_basis(compiled, joint, *here[joint.name])
        columns, F = through(joint.name)
        components += basis.components()
        values = basis.wrench_components(F, *there[joint.name], constraints.size).T
        entries.append_rows(columns, values.reshape(len(basis.kept), len(columns)))
        if (mimic := joint.mimic) is not None:
            components.append(Component("joints", joint.name, note=f"the coupling to {mimic.leader}"))
            entries.append_rows(columns, basis.axial_component(F, *there[joint.name], constraints.size)[None])
    others = [i for i, row in enumerate(constraints.names) if row.collection != "joints"]
    for i, values in zip(others, to_dense(multipliers[others]), strict=True):
        row = constraints.names[i]
        components.append(Component(row.collection, row.element, note=_row_text(row)))
        entries.append_rows(np.arange(len(values)), values[None] * constraints.row_units[i] / constraints.size)
    if is_sparse(multipliers):
        return SelfStresses(tuple(components), _independent_columns(entries.to_sparse()))
    return SelfStresses(tuple(components), _orthonormal_basis(entries.to_dense()))


class _StressEntries:
    """Builder for a components × self-stresses matrix, with nonzero columns only."""

    def __init__(self, count: int) -> None:
        self.count, self._rows = count, 0
        self._parts: list[tuple[Integers, Integers, Array]] = []

    def append_rows(self, columns: Integers, values: Array) -> None:
        """Append rows (r, columns)."""
        rows = np.arange(self._rows, self._rows + len(values))
        self._rows += len(values)
        self._parts.append((np.repeat(rows, len(columns)), np.tile(columns, len(rows)), values.reshape(-1)))

    def _joined_entries(self) -> list[Any]:
        """Row indices, column indices and values of all entries."""
        nothing = (np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0))
        return [np.concatenate(each) for each in zip(nothing, *self._parts, strict=True)]

    def to_dense(self) -> Array:
        """(components, count) dense matrix."""
        rows, columns, values = self._joined_entries()
        result = np.zeros((self._rows, self.count))
        result[rows, columns] = values
        return result

    def to_sparse(self) -> Matrix:
        """Matrix in compressed rows, each column scaled to a largest entry of 1, rounding error removed."""
        import scipy.sparse

        rows, columns, values = self._joined_entries()
        largest = np.zeros(self.count)
        np.maximum.at(largest, columns, np.abs(values))
        values = values / np.where(largest > 0.0, largest, 1.0)[columns]
        acting = np.abs(values) > NOTHING
        shape = self._rows, self.count
        return scipy.sparse.csr_array((values[acting], (rows[acting], columns[acting])), shape=shape)


def _joint_wrenches(
    constraints: PositionConstraints, q: Array, multipliers: Matrix
) -> Callable[[str], tuple[Integers, Array]]:
    """Return the function joint → columns of the multipliers (rows, k) that load it, and (columns, 6) their wrenches:
    parent side on child side, at b's origin, world axes (see `core.constraints.reactions`)."""
    compiled = constraints.compiled
    sent, index = reaction_map(compiled, q, constraints.p), compiled.program.joint_index
    if is_sparse(multipliers):
        borne = sent.matrix[:, constraints.kept] @ multipliers

        def wrenches_in_joint(name: str) -> tuple[Integers, Array]:
            begins = borne.indptr[6 * index[name] : 6 * index[name] + 7]
            part = slice(begins[0], begins[-1])
            columns, places = np.unique(borne.indices[part], return_inverse=True)
            F = np.zeros((len(columns), 6))
            F[places, np.repeat(np.arange(6), np.diff(begins))] = borne.data[part]
            return columns, F

        return wrenches_in_joint
    everything = np.zeros((multipliers.shape[1], len(compiled.rows)))
    everything[:, constraints.kept] = multipliers.T
    whole = sent.joint_wrenches(everything)
    every = np.arange(multipliers.shape[1])
    return lambda name: (every, whole[:, index[name]])


def _row_text(row: Row) -> str:
    what = "the constraint" if row.collection == "constraints" else "the driver"
    return f"{what} ({row.component})" if row.component else what


def _orthonormal_basis(entries: Array) -> Array:
    """(components, rank) orthonormal basis of the columns; columns without common components stay separate."""
    parts = []
    for rows, columns in _diagonal_blocks(entries):
        u, sigma, _ = np.linalg.svd(entries[np.ix_(rows, columns)], full_matrices=False)
        parts.append((rows, u, sigma))
    largest = max((float(sigma[0]) for _, _, sigma in parts), default=0.0)
    blocks = [np.zeros((len(entries), 0))]
    for rows, u, sigma in parts:
        kept = sigma > RANK_TOLERANCE * max(largest, 1e-300)
        block = np.zeros((len(entries), np.count_nonzero(kept)))
        block[rows] = u[:, kept]
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def _diagonal_blocks(entries: Array) -> Iterator[tuple[list[int], list[int]]]:
    """(rows, columns) of the diagonal blocks."""
    waiting = dict.fromkeys(range(entries.shape[1]))
    while waiting:
        columns, reached = [], [next(iter(waiting))]
        rows: dict[int, None] = {}
        del waiting[reached[0]]
        while reached:
            columns.append(reached.pop())
            for i in np.flatnonzero(entries[:, columns[-1]]).tolist():
                if i in rows:
                    continue
                rows[i] = None
                more = [k for k in np.flatnonzero(entries[i]).tolist() if k in waiting]
                reached += more
                for k in more:
                    del waiting[k]
        if rows:
            yield sorted(rows), sorted(columns)


def _independent_columns(entries: Matrix) -> Matrix:
    """Linearly independent columns of a matrix in compressed rows."""
    known = factorise_sparse(entries.T.tocsr())
    if known is None:
        return to_csr(_orthonormal_basis(to_dense(entries)))
    return entries[:, np.sort(known.kept)]


@dataclass(frozen=True)
class Dependence:
    """A redundant constraint with the self-stress that proves it: the components involved, and their strengths (1 for
    the constraint itself)."""

    component: int
    acting: Integers
    strengths: Array

    @property
    def others(self) -> tuple[int, ...]:
        """Components that already impose the constraint."""
        strong = np.abs(self.strengths) > PIVOT * float(np.max(np.abs(self.strengths)))
        return tuple(int(i) for i in self.acting[strong] if i != self.component)


def find_dependences(stresses: SelfStresses, order: Sequence[int]) -> list[Dependence]:
    """Find the constraints that become redundant when all are imposed in the given order, each with the earlier ones
    that already imply it.

    Chosen from the end: a constraint depends on earlier ones if a self-stress acts in it and in no later one but those
    chosen already.
    """
    return _sparse_dependences(stresses, order) if is_sparse(stresses.entries) else _dense_dependences(stresses, order)


def _dense_dependences(stresses: SelfStresses, order: Sequence[int]) -> list[Dependence]:
    """Redundant constraints by projection of orthonormal self-stresses."""
    space = stresses.entries.copy()
    chosen: list[int] = []
    largest = np.max(np.abs(space), axis=0, initial=0.0)
    for index in reversed(order):
        if len(chosen) == stresses.count:
            break
        row = space[index].copy()
        if np.linalg.norm(row) > PIVOT * max(float(np.max(largest)), 1e-300):
            chosen.append(index)
            columns = np.flatnonzero(row)
            part, own = space[:, columns], row[columns]
            space[:, columns] = part - np.outer(part @ own, own) / float(own @ own)
            largest[columns] = np.max(np.abs(space[:, columns]), axis=0)
    # stress with entry 1 in one chosen component and 0 in the others
    circuits = stresses.entries @ np.linalg.pinv(stresses.of(chosen)) if chosen else np.zeros((len(order), 0))
    every = np.arange(len(order))
    return [Dependence(index, every, circuits[:, k]) for k, index in enumerate(chosen)][::-1]


def _sparse_dependences(stresses: SelfStresses, order: Sequence[int]) -> list[Dependence]:
    """Redundant constraints by elimination: in each component the self-stress with the largest entry is the pivot and
    is eliminated from the others."""
    columns = _column_dictionaries(stresses.entries)
    acting: dict[int, set[int]] = defaultdict(set)
    for k, column in enumerate(columns):
        for i in column:
            acting[i].add(k)
    chosen: dict[int, int] = {}
    free = set(range(len(columns)))
    for index in reversed(order):
        shares = {k: abs(columns[k][index]) / max(map(abs, columns[k].values())) for k in acting[index] & free}
        best = max(sorted(shares), key=shares.__getitem__, default=-1)
        if best < 0 or not shares[best] > PIVOT:
            continue
        free.remove(best)
        chosen[index] = best
        pivot = columns[best][index]
        columns[best] = {i: value / pivot for i, value in columns[best].items()}
        for k in sorted(acting[index] - {best}):
            _eliminate_entry(columns[k], columns[best], index)
            for i in columns[best]:
                (acting[i].add if i in columns[k] else acting[i].discard)(k)
    return [
        Dependence(index, np.array(places := sorted(columns[k])), np.array([columns[k][i] for i in places]))
        for index, k in chosen.items()
    ][::-1]


def _column_dictionaries(entries: Matrix) -> list[dict[int, float]]:
    """Component → entry of each column."""
    by_column = entries.tocsc()
    bounds = zip(by_column.indptr[:-1].tolist(), by_column.indptr[1:].tolist(), strict=True)
    rows, values = by_column.indices.tolist(), by_column.data.tolist()
    return [dict(zip(rows[a:b], values[a:b], strict=True)) for a, b in bounds]


def _eliminate_entry(column: dict[int, float], other: dict[int, float], index: int) -> None:
    """Eliminate the entry at an index from a column by subtracting a multiple of another column, which is 1 there;
    drops rounding error."""
    share = column.pop(index)
    noise = NOTHING * max(map(abs, (share, *column.values())))
    for i, value in other.items():
        if i != index:
            left = column.pop(i, 0.0) - share * value
            if abs(left) > noise:
                column[i] = left
