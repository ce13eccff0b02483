"""Validated request for a map, and the observer of its progress."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.analysis.manipulability import Part
from core.analysis.tool_frame import tool_frame
from core.errors import ModelError, suggest_names
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.studies.workspace.joint_ranges import JointRanges, Over, determine_joint_ranges
from core.studies.workspace.map_kinds import KINDS, MapKind, map_kind_of_formula
from core.studies.workspace.planar_area import Plane, plane_with_normal
from core.studies.workspace.pose_solver import AssemblyBranch, MappedMachine, PoseTargets

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ASKING = {
    "orientations": "Orientations",
    "configurations": "Configurations",
}
"""Titles of the map kinds that solve inverse kinematics."""
ALL_KINDS = (*KINDS, *ASKING)


class MapStopped(Exception):
    """Raised when the user stops the computation; results so far are kept."""


@dataclass(frozen=True)
class ProgressObserver:
    """Observer of a computation, with callbacks progress(fraction, text) and cancelled()."""

    progress: Callable[..., object] | None = None
    cancelled: Callable[[], bool] | None = None
    workers: int | None = None
    shown: Callable[[Any], object] | None = None
    """Callback shown(map) with the intermediate map."""

    def step(self, fraction: float, text: str = "") -> None:
        """Report progress. Raises MapStopped if the user has requested a stop."""
        self.look()
        if self.progress is not None:
            self.progress(fraction, text)

    def process_pieces(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
        """Process all pieces on several cores; return their results in order."""
        return list(self.iterate_processed_pieces(work, pieces))

    def iterate_processed_pieces(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> Iterator[Any]:
        """Process all pieces on several cores; yield their results in order."""
        count = self.workers or os.cpu_count() or 1
        if count < 2 or len(pieces) < 2:
            for piece in pieces:
                self.look()
                yield work(piece)
            return
        pool = ThreadPoolExecutor(count)
        try:
            waiting = []
            for number, piece in enumerate(pieces):
                waiting.append(pool.submit(work, piece))
                if number >= 2 * count:
                    yield self._wait_for_piece(waiting.pop(0))
            for each in waiting:
                yield self._wait_for_piece(each)
        finally:
            pool.shutdown(cancel_futures=True)

    def look(self) -> None:
        """Raise Stopped if a stop was requested."""
        if self.cancelled is not None and self.cancelled():
            raise MapStopped

    def _wait_for_piece(self, future: Future[Any]) -> Any:
        """Wait for the result of a piece; cancel the others on a stop request."""
        self.look()
        return future.result()


class Samples(NamedTuple):
    """Samples of a map: poses q (n, nq), points (n, 3)."""

    q: Array
    points: Array


class PoseRestriction(NamedTuple):
    """Conditions on the poses of a map: an orientation (3, 3) and a plane; None: unrestricted."""

    rotation: Array | None
    plane: Plane | None

    def targets(self, count: int) -> PoseTargets:
        """Return the targets of `count` poses."""
        turned = None if self.rotation is None else np.broadcast_to(self.rotation, (count, 3, 3))
        plane = None if self.plane is None else (self.plane.normal, float(self.plane.normal @ self.plane.origin))
        return PoseTargets(rotation=turned, plane=plane)


@dataclass(frozen=True)
class MapTask:
    """Validated request for a map."""

    machine: MappedMachine
    ranges: JointRanges
    start: Array
    restriction: PoseRestriction
    kind: MapKind | None
    name: str
    part: Part
    length: float
    samples: int
    seed: int
    watch: ProgressObserver
    error: float = 1e-3

    @cached_property
    def branch(self) -> AssemblyBranch | None:
        """Assembly branch of a machine with loops."""
        return None if self.machine.closing is None else AssemblyBranch(self.machine, self.ranges, self.start)

    @cached_property
    def varied_speeds(self) -> Actuators:
        """Speeds of the varied coordinates."""
        mech = self.machine.mech
        speeds = [*map(int, self.ranges.speed)]
        for name in self.ranges.balls:
            speeds += range(mech.nv)[mech.joint_v(name)]
        return Actuators(tuple(speeds), tuple(mech.v_names[k] for k in speeds))

    def accepts(self, q: Array) -> Flags:
        """Return a mask (n,) of the closed poses that are on the branch."""
        return np.ones(len(q), dtype=bool) if self.branch is None or not len(q) else self.branch.is_on_branch(q)


def mechanism_with_values(mech: Mechanism | Model, p: Mapping[str, float] | None) -> Mechanism:
    """Build the mechanism with the given parameter values, since limits may be formulas of them."""
    if isinstance(mech, Model):
        mech = Mechanism(mech)
    if not p:
        return mech
    model = mech.model
    for name, value in p.items():
        if name not in mech.p_names:
            raise ModelError(f"There is no parameter '{name}'.", where="p", remedy=suggest_names(name, mech.p_names))
        if model.values()[name] != value:
            model = edits.change(model, "parameters", name, value=float(value))
    return mech if model is mech.model else mech.updated(model)


def validate_task(
    mech: Mechanism,
    frame: str | None,
    varied: Over,
    kind: str,
    part: Part,
    orientation: Any,
    plane: Any,
    q: Any,
    length: float,
    sample_count_and_seed: tuple[int, int],
    observer: ProgressObserver,
    error: float = 1e-3,
) -> MapTask:
    """Validate a request for a map."""
    samples, seed = sample_count_and_seed
    if not (np.isfinite(error) and error > 0.0):
        what = f"{error:g} is not a valid joint position error."
        raise ModelError(what, where="error", remedy="Give a positive value in rad.")
    if not 16 <= samples <= 50_000_000:
        raise ModelError(
            f"The number of samples {samples} is out of range.", where="samples", remedy="Use 16 to 50,000,000."
        )
    name = mech.compiled.check_frame_name(frame or tool_frame(mech.model))
    machine = MappedMachine(mech, name, mech.parameter_values(), look=observer.look)
    ranges = determine_joint_ranges(
        mech, name, varied, machine.p, with_rotation=kind != "reach" or orientation is not None
    )
    machine = _machine_within_ranges(machine, ranges)
    start = np.asarray(mech.rest() if q is None else q, dtype=float)
    if start.shape != (mech.nq,):
        raise ModelError(f"q has shape {start.shape}; {mech.nq} numbers are needed.", where="q")
    if machine.closing is not None:
        start = np.asarray(mech.assemble(start))
        if ranges.balls:
            raise ModelError(
                "In machines with loops only scalar coordinates can be varied.",
                where="over",
                remedy="Choose revolute or prismatic joints.",
            )
    restriction = PoseRestriction(_orientation_matrix(orientation), _slice_plane(plane))
    made = KINDS.get(kind) if kind not in ASKING else None
    if made is None and kind not in ASKING:
        made = map_kind_of_formula(kind, machine)
    return MapTask(machine, ranges, start, restriction, made, kind, part, length, samples, seed, observer, error)


def _machine_within_ranges(machine: MappedMachine, ranges: JointRanges) -> MappedMachine:
    """Return the machine with the varied coordinates within their ranges and all others of open chains fixed."""
    own = machine.mech.compiled.coordinates
    lower, upper = own.lower.copy(), own.upper.copy()
    lower[ranges.index], upper[ranges.index] = ranges.lower, ranges.upper
    if machine.closing is not None:
        return replace(machine, lower=lower, upper=upper)
    turning = ranges.index[ranges.periodic]
    lower[turning], upper[turning] = -np.inf, np.inf
    free = np.zeros(machine.mech.nv, dtype=bool)
    free[ranges.speed] = True
    for name in ranges.balls:
        free[machine.mech.joint_v(name)] = True
    return replace(machine, lower=lower, upper=upper, free=free, turning=(turning, ranges.lower[ranges.periodic]))


def _orientation_matrix(orientation: Any) -> Array | None:
    """Return the rotation matrix (3, 3) of an orientation given by the user."""
    if orientation is None:
        return None
    array = np.asarray(orientation, dtype=float)
    if array.shape == (3,):
        x, y, z = (_axis_rotation(axis, float(angle)) for axis, angle in enumerate(array))
        return z @ y @ x
    if array.shape != (3, 3) or np.max(np.abs(array @ array.T - np.eye(3))) > 1e-6 or np.linalg.det(array) < 0.0:
        raise ModelError(
            "The orientation is not a rotation.",
            where="orientation",
            remedy="Give a rotation matrix, or three angles about the fixed axes x, y, z.",
        )
    return array


def _axis_rotation(axis: int, angle: float) -> Array:
    s, c = math.sin(angle), math.cos(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def _slice_plane(slice_data: Any) -> Plane | None:
    """Return the plane of a slice given by the user."""
    if slice_data is None:
        return None
    try:
        direction, offset = slice_data
        normal = np.eye(3)["xyz".index(direction)] if isinstance(direction, str) else np.asarray(direction, dtype=float)
        found = plane_with_normal(normal, float(offset) / float(np.linalg.norm(normal)))
    except (TypeError, ValueError, IndexError):
        found = None
    if found is None or not np.isfinite(found.axes).all():
        raise ModelError(
            "The slice is not a plane.",
            where="slice",
            remedy='Give an axis and a position on it, such as ("z", 0.5), or (normal, offset).',
        )
    return found
