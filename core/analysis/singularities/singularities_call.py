"""Singularities as scripts ask for them (`Mechanism.singularities`).

Arms with named configurations have a singularity for each part, with the way to it in closed form; other machines the
one that Newton's method finds along the gradient of the smallest singular value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators, actuator_transmission, choose_actuators, named_actuators
from core.analysis.arms.arm_reading import ArmSolver, read_arm
from core.analysis.arms.configuration_borders import border_joints, is_length
from core.analysis.arms.configuration_names import ConfigurationNames
from core.analysis.manipulability import characteristic_length, velocity_dimensions
from core.analysis.singularities.jacobian_scaling import (
    TOOL_SPEEDS,
    JacobianMeasures,
    MeasuredMotion,
    choose_scaling,
    read_speed_limits,
)
from core.analysis.singularities.singular_matrices import (
    ActuatorMatrix,
    FrameRows,
    LoopMatrix,
    OpenMatrix,
    OutputMatrix,
    SingularMatrix,
    find_singular_pose,
    generic_rank,
    null_vectors,
)
from core.analysis.singularities.singularity_texts import AT, general_text, part_text
from core.analysis.tool_frame import tool_frame
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import ModelError
from core.mechanism import Mechanism
from core.mechanism.operational_space import Part
from core.mechanism.singularity_results import LostDirection, Singularities, SingularitiesArray, Singularity
from core.numerics.tolerances import OPEN_GAP

Array = NDArray[np.float64]

TAKES_PART = 0.1
"""Share of the largest speed above which a joint takes part in a motion."""
POSES_TRIED = 6
"""Number of random positions at which it is seen which parts have singular poses."""
MOST_KEPT = 32
"""Number of frames and parameter values per machine for which what does not depend on the position is kept."""

_kept: WeakKeyDictionary[Mechanism, dict[tuple[object, ...], FrameSingularities]] = WeakKeyDictionary()


def find_singularities(
    mech: Mechanism,
    q: Any,
    frame: str | None = None,
    *,
    scaling: str | None = None,
    part: Part | None = None,
    actuators: Sequence[str] | None = None,
    tool_speeds: tuple[float, float] = TOOL_SPEEDS,
    length: float | None = None,
    reach: float = 1.0,
    p: Any = None,
) -> Singularities | SingularitiesArray:
    """Find the singularities near a position (nq,), or at each of positions (N, nq); see `Mechanism.singularities`."""
    name = mech.compiled.check_frame_name(tool_frame(mech.model) if frame is None else frame)
    values = mech.parameter_values(p)
    Q = np.asarray(q, dtype=float)
    if Q.shape[-1:] != (mech.nq,) or Q.ndim > 2 or not np.isfinite(Q).all():
        raise ModelError(
            f"q is not a position of {mech.nq} finite numbers, nor an array of such.",
            where="q",
            remedy="Give mech.rest(), for example.",
        )
    names = () if actuators is None else tuple(actuators)
    known = _kept.setdefault(mech, {})
    key = (name, part, names, values.tobytes())
    if key not in known:
        if len(known) >= MOST_KEPT:
            known.clear()
        known[key] = FrameSingularities(mech, name, part, names, values)
    found = known[key]
    motion = found.measured_motion(scaling, tool_speeds, length)
    return found.at(Q, motion, reach) if Q.ndim == 1 else found.at_each(Q, motion, reach)


class FrameSingularities:
    """Singularities of a machine for a frame, actuators and parameter values (n_p,)."""

    def __init__(self, mech: Mechanism, frame: str, part: Part | None, names: tuple[str, ...], p: Array) -> None:
        self.mech, self.frame, self.p = mech, frame, p
        self.values = dict(zip(mech.p_names, p.tolist(), strict=True))
        self.constraints = PositionConstraints(mech.compiled, p, drivers=False)
        self.is_open = not self.constraints.rows
        self.actuators = self._choose_actuators(names)
        self.columns = np.array(self.actuators.indices, dtype=np.intp)
        ranks = velocity_dimensions(mech, frame, self.values)
        if not ranks["both"]:
            raise ModelError(f"No joint moves '{frame}'.", where="frame", remedy="Choose another frame.")
        self.part: Part = part or self._default_part(ranks["translation"], ranks["both"])
        self.ranks = (ranks["translation"], ranks["rotation"], ranks[self.part])
        self.size = characteristic_length(mech, self.values)
        self.rows = FrameRows(frame, self.part, self.size, ranks[self.part])

    def _choose_actuators(self, names: tuple[str, ...]) -> Actuators:
        mech = self.mech
        if names:
            return named_actuators(mech, names) if self.is_open else choose_actuators(mech, names)
        if not self.is_open:
            return choose_actuators(mech)
        path = mech.compiled.topology.path(self.frame) if self.frame != "world" else []
        moving = [name for name in reversed(path) if mech.joint_v(name).stop > mech.joint_v(name).start]
        return named_actuators(mech, tuple(dict.fromkeys(moving)))

    def _default_part(self, of_translation: int, rank: int) -> Part:
        """The whole motion, but the translation of an arm with as many joints as it can translate: of a positioning arm
        the orientation is not free anyway."""
        freedoms = len(self.columns)
        return "translation" if freedoms <= 3 and of_translation == freedoms == rank else "both"

    @cached_property
    def joint_of_speed(self) -> tuple[str, ...]:
        """Name of the joint of each speed."""
        mech = self.mech
        return tuple(name for name in mech.compiled.coordinates.joints for _ in range(mech.nv)[mech.joint_v(name)])

    @cached_property
    def _speed_limits(self) -> Array:
        return read_speed_limits(self.mech, self.columns)

    @cached_property
    def _slides(self) -> NDArray[np.bool_]:
        return self.actuators.translating_mask(self.mech)

    def measured_motion(self, scaling: str | None, wanted: tuple[float, float], length: float | None) -> MeasuredMotion:
        """Choose how Jacobians are measured, with the defaults of this machine."""
        limits = self._speed_limits
        if length is not None and not 0.0 < float(length) < np.inf:
            raise ModelError("A characteristic length is a positive number.", where="length")
        speeds = (float(wanted[0]), float(wanted[1]))
        if not all(0.0 < each < np.inf for each in speeds):
            raise ModelError("Wanted speeds are two positive numbers, rad/s and m/s.", where="tool_speeds")
        return MeasuredMotion(
            self.part,
            self.ranks,
            self._slides,
            limits,
            speeds,
            choose_scaling(scaling, limits),
            self.size if length is None else float(length),
        )

    # ------------------------------------------------------------------------- machines

    @cached_property
    def matrices(self) -> tuple[SingularMatrix, ...]:
        """Matrices that can lose rank."""
        mech, p, constraints = self.mech, self.p, self.constraints
        if self.is_open:
            return (OpenMatrix(mech, self.rows, p, self.columns, constraints.speed_units),)
        return (
            OutputMatrix(mech, constraints, p, self.rows),
            ActuatorMatrix(mech, constraints, p, self.actuators),
            LoopMatrix(mech, constraints, p, generic_rank(constraints, p)),
        )

    def named_solver(self, q: Array) -> ArmSolver | None:
        """Solver of an arm with named configurations of which all joints are actuated; None for other machines."""
        if not self.is_open or self.part == "rotation":
            return None
        reading = read_arm(self.mech, self.frame, self.p, q)
        solver = reading.solver
        if solver is None or reading.redundant or not isinstance(solver.names, ConfigurationNames):
            return None
        joints = [self.mech.joint_v(name).start for name in reading.joints]
        return solver if set(joints) == set(self.columns.tolist()) else None

    # ------------------------------------------------------------------------- answers

    def at(self, q: Array, motion: MeasuredMotion, reach: float = 1.0) -> Singularities:
        """Singularities near a position (nq,)."""
        if not self.is_open and float(np.max(np.abs(self.constraints.scaled_residual(q)), initial=0.0)) > OPEN_GAP:
            raise ModelError(
                "The loops do not close at this position.", where="q", remedy="Close them first, by mech.assemble(q)."
            )
        solver = self.named_solver(q)
        found = self._by_matrices(q, reach) if solver is None else self._by_names(solver, q)
        found.sort(key=lambda each: each.distance / (self.size if each.dimension == "length" else 1.0))
        J = np.asarray(self.mech.jacobian(q, self.frame, p=self.p))
        if self.is_open:
            J = J[:, self.columns]
        else:
            J = J @ actuator_transmission(self.mech, q, self.actuators, self.values).speeds
        measures = motion.measure(J)
        return Singularities(
            tuple(found),
            measures.translation,
            measures.rotation,
            measures.sigma,
            int(measures.rank),
            self.rows.rank,
            float(measures.condition),
            self._manipulability(measures),
            motion.scaling,
            motion.length,
        )

    def _manipulability(self, measures: JacobianMeasures) -> tuple[float, str]:
        if self.part == "rotation" or not self.ranks[0]:
            return float(np.prod(measures.rotation)), "1"
        return float(np.prod(measures.translation)), {1: "m", 2: "m²", 3: "m³"}[self.ranks[0]]

    def at_each(self, Q: Array, motion: MeasuredMotion, reach: float) -> SingularitiesArray:
        """Singularities at positions (N, nq)."""
        solver = self.named_solver(Q[0]) if len(Q) else None
        if not self.is_open or solver is None:
            return self._one_by_one(Q, motion, reach)
        names: Any = solver.names
        borders = names.borders(self.chain_position(solver, Q))
        shown = list(self.singular_parts(solver))
        J = np.asarray(self.mech.jacobian(Q, self.frame, p=self.p))[..., self.columns]
        measures = motion.measure(J)
        lengths = is_length(names.family)
        return SingularitiesArray(
            tuple(names.parts[k][0] for k in shown),
            tuple("length" if lengths[k] else "angle" for k in shown),
            borders.factors[:, shown],
            borders.distances[:, shown],
            measures.sigma,
            measures.rank,
        )

    def _one_by_one(self, Q: Array, motion: MeasuredMotion, reach: float) -> SingularitiesArray:
        """Nearest singularity at positions one after the other, a column for each kind."""
        found = [self.at(q, motion, reach) for q in Q]
        kinds = tuple(each.kind for each in self.matrices)
        measures, distances = np.full((len(Q), len(kinds)), np.nan), np.full((len(Q), len(kinds)), np.inf)
        dimensions = ["angle"] * len(kinds)
        for row, each in enumerate(found):
            for singularity in each.singularities:
                for k in [k for k, kind in enumerate(kinds) if singularity.kind in (kind, "type 3")]:
                    measures[row, k], distances[row, k] = singularity.measure, singularity.distance
                    dimensions[k] = singularity.dimension
        sigma = np.array([each.sigma for each in found]).reshape(len(Q), -1)
        rank = np.array([each.rank for each in found], dtype=np.intp)
        return SingularitiesArray(kinds, tuple(dimensions), measures, distances, sigma, rank)

    # ------------------------------------------------------------------------- by name

    def singular_parts(self, solver: ArmSolver) -> tuple[int, ...]:
        """Indices of the parts whose borders are singular poses: all of six joints; of fewer not those that only bring
        virtual joints in line."""
        names: Any = solver.names
        rng = np.random.default_rng(1)
        found = {each.name for _ in range(POSES_TRIED) for each in self._by_names(solver, self.mech.random(rng))}
        return tuple(k for k in names.shown if names.parts[k][0] in found)

    def chain_position(self, solver: ArmSolver, q: Array) -> Array:
        """(…, n) values of the chain's joints at q (…, nq), of phantoms those at its start."""
        return np.where(solver.chain.at >= 0, q[..., solver.chain.at], solver.chain.start)

    def _by_names(self, solver: ArmSolver, q: Array) -> list[Singularity]:
        names: Any = solver.names
        chain = solver.chain
        result: list[Singularity] = []
        borders = names.borders(self.chain_position(solver, q)[None])
        tried = self._tried_changes(solver, borders.changes[0], q)
        matrix = self.matrices[0]
        parts = np.linalg.svd(matrix.matrix(np.array([there for _, _, there in tried]).reshape(-1, len(q))))
        for row, (k, joint, there) in enumerate(tried):
            part = names.parts[k][0]
            if any(each.name == part for each in result):
                continue
            along = (self.columns == self.mech.joint_v(chain.joints[joint]).start).astype(float)
            found = self._describe(matrix, there, part, along, (parts[0][row], parts[1][row], parts[2][row]))
            if found is None:
                continue
            joints = border_joints(names.family, chain.kinds)[k]
            dimension = "length" if is_length(names.family)[k] else "angle"
            distance = float(borders.distances[0, k])
            result.append(
                replace(
                    found,
                    measure=float(borders.factors[0, k]),
                    distance=distance,
                    dimension=dimension,  # type: ignore[arg-type]
                    coordinate=None if part == "shoulder" or len(joints) > 1 else chain.joints[joints[0]],
                    text=part_text(part, distance, dimension, bool(borders.is_far[0, k]), names.centre_words),
                )
            )
        return result

    def _tried_changes(self, solver: ArmSolver, changes: Array, q: Array) -> list[tuple[int, int, Array]]:
        """Part, joint of the chain that changes, and position, which may be singular for the part."""
        names: Any = solver.names
        found: list[tuple[int, int, Array]] = []
        for k in names.shown:
            for joint, change in zip(border_joints(names.family, solver.chain.kinds)[k], changes[k], strict=False):
                if np.isfinite(change) and solver.chain.at[joint] >= 0:
                    there = q.copy()
                    there[solver.chain.at[joint]] += change
                    if not solver.is_exact:
                        refined = find_singular_pose(self.matrices[0], there)
                        there = there if refined is None else refined
                    found.append((k, joint, there))
        return found

    # ------------------------------------------------------------------------- by matrices

    def _by_matrices(self, q: Array, reach: float) -> list[Singularity]:
        found: list[Singularity] = []
        for matrix in self.matrices:
            share = self._share(matrix, q)
            if share > reach:
                continue
            there = find_singular_pose(matrix, q)
            singularity = None if there is None else self._describe(matrix, there, "", None)
            if singularity is None or there is None:
                continue
            gone = np.asarray(self.mech.difference(q, there)) / self.constraints.speed_units
            k = int(self.columns[np.argmax(np.abs(gone[self.columns]))])
            slides = self.mech.compiled.coordinates.speed_dimensions[k] == "velocity"
            distance = float(abs(gone[k]) * self.constraints.speed_units[k])
            dimension, coordinate = "length" if slides else "angle", self.mech.v_names[k].removesuffix(".v")
            found.append(
                replace(
                    singularity,
                    measure=share,
                    distance=distance,
                    dimension=dimension,  # type: ignore[arg-type]
                    coordinate=coordinate,
                    text=general_text(matrix.kind, singularity.joints, distance, dimension, coordinate),
                )
            )
        return _join_types(found)

    def _share(self, matrix: SingularMatrix, q: Array) -> float:
        sigma = np.linalg.svd(matrix.matrix(q), compute_uv=False)
        value = float(sigma[matrix.rank - 1]) if matrix.rank <= len(sigma) else 0.0
        return value / matrix.best if matrix.best > 0.0 else value

    def _describe(
        self,
        matrix: SingularMatrix,
        there: Array,
        name: str,
        along: Array | None,
        parts: tuple[Array, Array, Array] | None = None,
    ) -> Singularity | None:
        """Singularity at a pose with lost direction and motion; None if the matrix has full rank there."""
        vectors = null_vectors(matrix, there, along, parts)
        if vectors is None:
            return None
        is_of_speeds = matrix.kind == "constraints"
        motion = self.constraints.speed_units * vectors.right if is_of_speeds else matrix.motions(there) @ vectors.right
        speeds = motion / self.constraints.speed_units
        largest = float(np.max(np.abs(speeds)))
        takes_part = (np.abs(speeds) > TAKES_PART * largest).tolist()
        joints = tuple(
            dict.fromkeys(name for name, moves in zip(self.joint_of_speed, takes_part, strict=True) if moves)
        )
        return Singularity(
            name or ", ".join(joints),
            matrix.kind,
            0.0,
            0.0,
            "angle",
            None,
            there,
            self._lost(vectors.left, name) if matrix.kind == "type 1" else None,
            motion / largest,
            joints,
            "",
        )

    def _lost(self, left: Array, name: str) -> LostDirection:
        turn, push = left[:3], left[3:]
        rotates = float(np.linalg.norm(turn)) > float(np.linalg.norm(push))
        if name:
            rotates = name == "wrist"
        direction = turn if rotates else push
        if not np.linalg.norm(direction) > 0.0:
            direction, rotates = (push, False) if rotates else (turn, True)
        sign = np.sign(direction[int(np.argmax(np.abs(direction)))])
        wrench = sign * np.concatenate([turn, push / self.size])
        unit = sign * direction / float(np.linalg.norm(direction))
        return LostDirection("rotation" if rotates else "translation", unit, wrench)


def _join_types(found: list[Singularity]) -> list[Singularity]:
    """Singularities with those of types 1 and 2 at the present pose joined to one of type 3."""
    here = {each.kind: each for each in found if each.distance < AT and each.measure < AT}
    if not {"type 1", "type 2"} <= set(here):
        return found
    joints = tuple(dict.fromkeys((*here["type 2"].joints, *here["type 1"].joints)))
    text = general_text("type 3", joints, 0.0, "angle", "")
    both = replace(here["type 2"], kind="type 3", lost=here["type 1"].lost, joints=joints, text=text)
    return [both, *(each for each in found if each.kind == "constraints")]
