"""Which constraints are too many: the forces that a machine's joints can exert on each other without any load.

A self-stress is a set of multipliers λ with Gᵀ λ = 0. The wrench F_j that it sends through joint j does no work on the
joint's own motion, so its components stand for the joint's constraints: constraint (j, k) can be spared exactly if some
self-stress has F_jk ≠ 0, and a set of constraints makes the machine isostatic without a new freedom if the components
there form a regular matrix (the constraints and their dependencies are dual matroids; Oxley, Matroid Theory, 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.constraints import reactions
from core.elements.constraints.kinematic_constraint import Row
from core.joints.kind import Forbidden
from core.mobility.constraint_rank import PositionConstraints
from core.model import Joint
from core.numerics.tolerances import RANK_TOLERANCE
from core.spatial.pose import from_matrix
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

AXES = "xyz"
ALIGNED = 1e-6
"""Sine of the angle below which a direction counts as that of an axis."""
PIVOT = 1e-3
"""Part of a self-stress's largest component below which a component counts as none."""


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
    """True if the direction is that of the joint's axis."""

    @property
    def text(self) -> str:
        """In words, without the element's name."""
        if not self.motion:
            return self.note
        word = "along" if self.motion == "translation" else "about"
        place = {"world": f"{self.axis} of the world", "own": f"its own {self.axis}"}.get(self.frame, self.note)
        if _along_axis(np.array(self.direction)):
            place = f"{AXES[int(np.argmax(np.abs(self.direction)))]} of the world"
        else:
            place += " ({:.3g}, {:.3g}, {:.3g})".format(*(round(x, 6) + 0.0 for x in self.direction))
        return f"{self.motion} {word} {place}"


@dataclass(frozen=True)
class Stresses:
    """Self-stresses at a generic pose: entries (components, k), in N and N per machine size."""

    components: tuple[Component, ...]
    entries: Array

    @property
    def count(self) -> int:
        """How many constraints are too many."""
        return int(self.entries.shape[1])

    def of(self, chosen: Iterable[int]) -> Array:
        """(chosen, k) entries of some components."""
        return self.entries[list(chosen)]


class _Basis:
    """Directions in which a joint's constraints are told: named at a pose, then carried along by its frame b, as the
    second axis of a universal joint is; those that are normal to two axes turn with them."""

    def __init__(self, compiled: Compiled, joint: Joint, forbidden: Forbidden, X_Wa: Array, X_Wb: Array) -> None:
        self.joint = joint
        self.of_two_axes = "normal" in forbidden
        self.axis, self.second = (_unit(compiled, joint, field) for field in ("axis", "second_axis"))
        R_Wa = X_Wa[:3, :3]
        axis = R_Wa @ self.axis
        self.frame, R_Wd = "world", np.eye(3)
        if self.of_two_axes:
            self.frame, R_Wd = "axis", _normal_and_first(axis, X_Wb[:3, :3] @ self.second)
        elif "axis" in joint.info.uses and not _along_axis(axis):
            self.frame, R_Wd = "own", R_Wa
            if not _along_axis(self.axis):
                self.frame, R_Wd = "axis", R_Wa @ _with_z(self.axis)
        self.R_bd = X_Wb[:3, :3].T @ R_Wd
        self.directions = R_Wd
        self.alignment = np.abs(R_Wd.T @ axis) if "axis" in joint.info.uses else np.zeros(3)
        self.kept = list(_kept(forbidden, R_Wd.T @ axis))

    def components(self) -> list[Component]:
        """The joint's constraints in words."""
        result = []
        for k in self.kept:
            x, y, z = (float(component) for component in self.directions[:, k % 3])
            motion = "translation" if k >= 3 else "rotation"
            along = bool(self.alignment[k % 3] > 0.99)
            result.append(
                Component("joints", self.joint.name, motion, AXES[k % 3], self.frame, (x, y, z), self._note(k), along)
            )
        return result

    def _note(self, k: int) -> str:
        if self.of_two_axes and k < 3:
            return "the normal of its two axes"
        return "its axis" if k % 3 == 2 and self.frame == "axis" else "a normal of its axis"

    def read(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…, components) of wrenches (…, 6) [torque; force] in world axes, torques per machine size (m)."""
        R_Wd = X_Wb[:3, :3] @ self.R_bd
        if self.of_two_axes:
            R_Wd = _normal_and_first(X_Wa[:3, :3] @ self.axis, X_Wb[:3, :3] @ self.second)
        local = np.concatenate([F[..., :3] @ R_Wd / size, F[..., 3:] @ R_Wd], axis=-1)
        return np.asarray(local[..., self.kept])

    def along(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…,) torque about, or force along, the joint's axis."""
        axis = X_Wa[:3, :3] @ self.axis
        return np.asarray(F[..., 3:] @ axis if self.joint.info.is_slider() else F[..., :3] @ axis / size)


class _Numbered:
    """The constraints of a joint that forbids motions in no directions of their own: numbered, as an orthonormal basis
    of the wrenches that do no work on its motion (torques per machine size)."""

    def __init__(self, compiled: Compiled, joint: Joint) -> None:
        self.joint = joint
        self.law, R_ac = compiled.coordinates.numbers.law(joint)
        self.canonical = np.eye(4)
        self.canonical[:3, :3] = np.array(R_ac, dtype=float)
        self.kept = list(range(6 - self.law.nv))

    def components(self) -> list[Component]:
        """The joint's constraints, by number."""
        return [Component("joints", self.joint.name, note=f"constraint {k + 1}") for k in self.kept]

    def read(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…, components) of wrenches (…, 6) [torque; force] in world axes, torques per machine size (m)."""
        S, local = self._columns(F, X_Wa, X_Wb, size)
        return np.asarray(local @ np.linalg.svd(S)[2][len(S) :].T)

    def along(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> Array:
        """(…,) what the wrenches do along the joint's one coordinate."""
        S, local = self._columns(F, X_Wa, X_Wb, size)
        return np.asarray(local @ S[0])

    def _columns(self, F: Array, X_Wa: Array, X_Wb: Array, size: float) -> tuple[Array, Array]:
        """(nv, 6) motions and (…, 6) the wrenches in b's canonical axes, with lengths per machine size."""
        X_Wa, X_Wb = X_Wa @ self.canonical, X_Wb @ self.canonical
        q = [float(x) for x in self.law.measure(from_matrix(np.linalg.inv(X_Wa) @ X_Wb)).values]
        S = [[*(size * x for x in angular), *linear] for angular, linear in self.law.subspace(q)]
        turn = X_Wb[:3, :3]
        local = np.concatenate([F[..., :3] @ turn / size, F[..., 3:] @ turn], axis=-1)
        return np.array(S, dtype=float).reshape(-1, 6), local


def _unit(compiled: Compiled, joint: Joint, field: str) -> Array:
    v = compiled.coordinates.numbers.vector(getattr(joint, field), f"joint '{joint.name}', {field}")
    return np.array(v, dtype=float) / max(float(np.linalg.norm(v)), 1e-300)


def _along_axis(v: Array) -> bool:
    return bool(np.sort(np.abs(v))[1] < ALIGNED)


def _with_z(axis: Array) -> Array:
    """A rotation whose z is the axis and whose x is the normal nearest to x (else y)."""
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = start - axis * (axis @ start)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _normal_and_first(first: Array, second: Array) -> Array:
    """x: normal of both axes; z: the first axis."""
    normal = np.cross(first, second)
    length = float(np.linalg.norm(normal))
    if length < ALIGNED:
        return _with_z(first)
    normal /= length
    return np.column_stack([normal, np.cross(first, normal), first])


def _kept(forbidden: Forbidden, axis: Array) -> Iterable[int]:
    """Which of rotation x, y, z, translation x, y, z are forbidden; axis: in the basis."""
    along = int(np.argmax(np.abs(axis)))
    across = [k for k in range(3) if k != along]
    chosen = {"all": [0, 1, 2], "along": [along], "across": across, "normal": [0], "none": []}
    yield from (3 + k for k in chosen[forbidden.translations])
    yield from chosen[forbidden.rotations]


def _basis(compiled: Compiled, joint: Joint, X_Wa: Array, X_Wb: Array) -> _Basis | _Numbered:
    forbidden = joint.info.forbidden
    return _Numbered(compiled, joint) if forbidden is None else _Basis(compiled, joint, forbidden, X_Wa, X_Wb)


def stresses(constraints: PositionConstraints, q: Array, generic: Array, multipliers: Array) -> Stresses:
    """What self-stresses at a generic pose (multipliers (rows, k) there) send through every joint and element.

    q : the pose at which directions are told
    """
    compiled, p = constraints.compiled, constraints.p
    joints = {joint.name: joint for joint in compiled.model.expanded.joints}
    here, there = compiled.joint_poses(q, p), compiled.joint_poses(generic, p)
    bases = {name: _basis(compiled, joint, *here[name]) for name, joint in joints.items()}
    k = multipliers.shape[1]
    through = transmitted(constraints, generic, multipliers.T)
    components: list[Component] = []
    rows: list[Array] = []
    for name, basis in bases.items():
        components += basis.components()
        rows.append(basis.read(through[name], *there[name], constraints.size).T.reshape(len(basis.kept), k))
        if (mimic := basis.joint.mimic) is not None:
            components.append(Component("joints", name, note=f"the coupling to {mimic.leader}"))
            rows.append(basis.along(through[name], *there[name], constraints.size)[None])
    for i, row in enumerate(constraints.names):
        if row.collection != "joints":
            components.append(Component(row.collection, row.element, note=_row_note(row)))
            rows.append(multipliers[i : i + 1] * constraints.row_units[i] / constraints.size)
    entries = np.concatenate(rows) if rows else np.zeros((0, k))
    return Stresses(tuple(components), _orthonormal(entries))


def _row_note(row: Row) -> str:
    what = "the constraint" if row.collection == "constraints" else "the driver"
    return f"{what} ({row.component})" if row.component else what


def transmitted(constraints: PositionConstraints, q: Array, multipliers: Array) -> dict[str, Array]:
    """joint → (…, 6) wrench [torque; force] that multipliers (…, rows) send through it: parent side on child side, at
    b's origin, world axes (see `core.constraints.reactions`)."""
    compiled, leading = constraints.compiled, multipliers.shape[:-1]
    everything = np.zeros((*leading, len(compiled.rows)))
    everything[..., constraints.kept] = multipliers
    nothing = {name: np.zeros((*leading, 6)) for name in compiled.joint_names}
    return reactions.transmitted(compiled, reactions.sides_at(compiled, q, constraints.p), everything, nothing)


def _orthonormal(entries: Array) -> Array:
    """(components, rank) a basis of the columns; those that share no component are not mixed."""
    parts = []
    for rows, columns in _apart(entries):
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


def _apart(entries: Array) -> Iterator[tuple[list[int], list[int]]]:
    """(rows, columns) of blocks outside which there is nothing."""
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


@dataclass(frozen=True)
class Dependence:
    """A constraint that others already fulfil, and the components of the self-stress that says so."""

    component: int
    others: tuple[int, ...]
    stress: Array


def dependences(found: Stresses, order: Sequence[int]) -> list[Dependence]:
    """The constraints that add nothing when all are imposed one after another in the given order, and for each of
    them those that have fixed it before.

    Chosen from the end: a constraint depends on earlier ones if a self-stress acts in it and in no later one but those
    chosen already.
    """
    space = found.entries.copy()
    chosen: list[int] = []
    largest = np.max(np.abs(space), axis=0, initial=0.0)
    for index in reversed(order):
        if len(chosen) == found.count:
            break
        row = space[index].copy()
        if np.linalg.norm(row) > PIVOT * max(float(np.max(largest)), 1e-300):
            chosen.append(index)
            columns = np.flatnonzero(row)
            part, own = space[:, columns], row[columns]
            space[:, columns] = part - np.outer(part @ own, own) / float(own @ own)
            largest[columns] = np.max(np.abs(space[:, columns]), axis=0)
    # stress with entry 1 in one chosen component and 0 in the others
    circuits = found.entries @ np.linalg.pinv(found.of(chosen)) if chosen else np.zeros((len(order), 0))
    result = []
    for k, index in enumerate(chosen):
        strength = np.abs(circuits[:, k])
        strong = np.flatnonzero(strength > PIVOT * float(np.max(strength)))
        result.append(Dependence(index, tuple(int(i) for i in strong if i != index), circuits[:, k]))
    return result[::-1]
