"""Validated request for a map, and its progress observer."""

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
from core.errors import ModelError, near_misses
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.studies.workspace.joint_ranges import JointRanges, Over, joint_ranges
from core.studies.workspace.map_kinds import KINDS, Kind, formula_kind
from core.studies.workspace.planar_area import Plane, plane_across
from core.studies.workspace.pose_solver import Branch, Machine, Targets

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ASKING = {
    "orientations": "Orientations",
    "configurations": "Configurations",
}
"""Titles of the map kinds that solve inverse kinematics."""
ALL_KINDS = (*KINDS, *ASKING)


class Stopped(Exception):
    """Raised when the user stops the computation; results so far are kept."""


@dataclass(frozen=True)
class Watch:
    """Observer of a computation: progress(fraction, text), cancelled()."""

    progress: Callable[..., object] | None = None
    cancelled: Callable[[], bool] | None = None
    workers: int | None = None
    shown: Callable[[Any], object] | None = None
    """Callback shown(map) with the intermediate map."""

    def step(self, fraction: float, text: str = "") -> None:
        """Report progress; raises Stopped on request."""
        self.look()
        if self.progress is not None:
            self.progress(fraction, text)

    def share(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
        """Process all pieces on several cores; return results in the order of the pieces."""
        return list(self.done(work, pieces))

    def done(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> Iterator[Any]:
        """Process all pieces on several cores; yield results in the order of the pieces."""
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
                    yield self._piece_result(waiting.pop(0))
            for each in waiting:
                yield self._piece_result(each)
        finally:
            pool.shutdown(cancel_futures=True)

    def look(self) -> None:
        """Raise Stopped if a stop was requested."""
        if self.cancelled is not None and self.cancelled():
            raise Stopped

    def _piece_result(self, piece: Future[Any]) -> Any:
        """Wait for the result of a piece; cancel the others on a stop request."""
        self.look()
        return piece.result()


class Samples(NamedTuple):
    """Samples of a map: poses q (n, nq), points (n, 3)."""

    q: Array
    points: Array


class Restriction(NamedTuple):
    """Conditions on the poses of a map: an orientation (3, 3), a plane; None: unrestricted."""

    rotation: Array | None
    plane: Plane | None

    def targets(self, count: int) -> Targets:
        """Return the targets of `count` poses."""
        turned = None if self.rotation is None else np.broadcast_to(self.rotation, (count, 3, 3))
        plane = None if self.plane is None else (self.plane.normal, float(self.plane.normal @ self.plane.origin))
        return Targets(rotation=turned, plane=plane)


@dataclass(frozen=True)
class Task:
    """Validated request for a map."""

    machine: Machine
    ranges: JointRanges
    start: Array
    restriction: Restriction
    kind: Kind | None
    name: str
    part: Part
    length: float
    samples: int
    seed: int
    watch: Watch
    error: float = 1e-3

    @cached_property
    def branch(self) -> Branch | None:
        """Branch of a machine with loops."""
        return None if self.machine.closing is None else Branch(self.machine, self.ranges, self.start)

    @cached_property
    def chosen(self) -> Actuators:
        """Speeds of the varied coordinates."""
        mech = self.machine.mech
        speeds = [*map(int, self.ranges.speed)]
        for name in self.ranges.balls:
            speeds += range(mech.nv)[mech.joint_v(name)]
        return Actuators(tuple(speeds), tuple(mech.v_names[k] for k in speeds))

    def accepts(self, q: Array) -> Flags:
        """Return a mask (n,) of closed poses on the branch."""
        return np.ones(len(q), dtype=bool) if self.branch is None or not len(q) else self.branch.holds(q)


def mechanism_of(mech: Mechanism | Model, p: Mapping[str, float] | None) -> Mechanism:
    """Build the mechanism with parameter values, because limits may be formulas of them."""
    if isinstance(mech, Model):
        mech = Mechanism(mech)
    if not p:
        return mech
    model = mech.model
    for name, value in p.items():
        if name not in mech.p_names:
            raise ModelError(f"There is no parameter '{name}'.", where="p", remedy=near_misses(name, mech.p_names))
        if model.values()[name] != value:
            model = edits.change(model, "parameters", name, value=float(value))
    return mech if model is mech.model else mech.updated(model)


def task_of(
    mech: Mechanism,
    frame: str | None,
    over: Over,
    kind: str,
    part: Part,
    orientation: Any,
    plane: Any,
    q: Any,
    length: float,
    drawn: tuple[int, int],
    watch: Watch,
    error: float = 1e-3,
) -> Task:
    """Validate a request for a map."""
    samples, seed = drawn
    if not (np.isfinite(error) and error > 0.0):
        raise ModelError(f"{error:g} is not a valid joint error.", where="error", remedy="Use a positive value, rad.")
    if not 16 <= samples <= 50_000_000:
        raise ModelError(
            f"The number of samples {samples} is out of range.", where="samples", remedy="Use 16 to 50,000,000."
        )
    name = mech.compiled.checked_frame_name(frame or tool_frame(mech.model))
    machine = Machine(mech, name, mech.parameter_values(), look=watch.look)
    ranges = joint_ranges(mech, name, over, machine.p, turning=kind != "reach" or orientation is not None)
    machine = _restricted_machine(machine, ranges)
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
    restriction = Restriction(_orientation_matrix(orientation), _slice_plane(plane))
    made = KINDS.get(kind) if kind not in ASKING else None
    if made is None and kind not in ASKING:
        made = formula_kind(kind, machine)
    return Task(machine, ranges, start, restriction, made, kind, part, length, samples, seed, watch, error)


def _restricted_machine(machine: Machine, ranges: JointRanges) -> Machine:
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


def _orientation_matrix(given: Any) -> Array | None:
    """Return the rotation matrix (3, 3) of an orientation given by the user."""
    if given is None:
        return None
    array = np.asarray(given, dtype=float)
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


def _slice_plane(given: Any) -> Plane | None:
    """Return the plane of a slice given by the user."""
    if given is None:
        return None
    try:
        direction, offset = given
        normal = np.eye(3)["xyz".index(direction)] if isinstance(direction, str) else np.asarray(direction, dtype=float)
        found = plane_across(normal, float(offset) / float(np.linalg.norm(normal)))
    except (TypeError, ValueError, IndexError):
        found = None
    if found is None or not np.isfinite(found.axes).all():
        raise ModelError(
            "The slice is not a plane.",
            where="slice",
            remedy='Give an axis and a position on it, such as ("z", 0.5), or (normal, offset).',
        )
    return found
