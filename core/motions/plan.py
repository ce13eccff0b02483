"""Planning of motions: paths between places, and laws that keep the limits of joints and tool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.tool_frame import tool_frame
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.model.motions import JointValue, Motion, Segment, StoredPose, Target
from core.motions.independent_speeds import independent_speeds
from core.motions.joined_paths import FormulaPath, SplinePath, functions_of_time, join_paths
from core.motions.joint_bounds import read_joint_bounds
from core.motions.laws import PartOfLaw, TimeLaw
from core.motions.path_laws import PathLaws, ToolLimits
from core.motions.paths import (
    CoordinateRows,
    FollowedPath,
    Path,
    StraightPath,
    ToolCurve,
    ToolRows,
    arc_through,
    line_between,
)
from core.motions.trajectory import Piece, Trajectory

Array = NDArray[np.float64]


def plan(
    mech: Mechanism | Model, motion: Motion | str, q0: Any = None, *, p: Mapping[str, float] | None = None
) -> Trajectory:
    """Plan a motion: paths between its poses and targets, timed within the limits of joints and tool.

    motion : a `Motion`, or the name of one of the model; q0 : (nq,) where it begins, instead of its start; p : values
    of parameters by name, instead of the model's. Each segment goes from rest to rest. Raises ModelError naming the
    segment that is not possible, and why.
    """
    machine = mech if isinstance(mech, Mechanism) else Mechanism(mech)
    if p:
        machine = machine.updated(_with_parameter_values(machine.model, p))
    return _Planner(machine, find_motion(machine.model, motion)).plan(q0)


def place_position(
    mech: Mechanism, place: str, q: Array, frame: str = "", p: Mapping[str, float] | None = None
) -> Array:
    """(nq,) position of the machine at a pose or target of a frame (default: the tool), coming from q. Raises
    ModelError."""
    machine = mech.updated(_with_parameter_values(mech.model, p)) if p else mech
    return _Planner(machine, Motion(name="motion", frame=frame)).place_position(place, q, f"place '{place}'")


def find_motion(model: Model, motion: Motion | str) -> Motion:
    """Return a motion, or the one of this name in a model. Raises ModelError."""
    if isinstance(motion, Motion):
        return motion
    found: Motion = model.find("motions", motion)
    return found


def _with_parameter_values(model: Model, p: Mapping[str, float]) -> Model:
    """Return a model whose parameters have the given values. Raises ModelError for those of sub-assemblies."""
    now, wanted = model.values(), model.values(p)
    own = {parameter.name for parameter in model.parameters}
    for name in p:
        if wanted[name] != now[name]:
            if name not in own:
                raise ModelError(
                    f"Motions cannot be planned with another value of '{name}', which belongs to a sub-assembly.",
                    where="p",
                    remedy="Change it in the document.",
                )
            model = edits.change(model, "parameters", name, value=float(wanted[name]))
    return model


class _Planner:
    def __init__(self, mech: Mechanism, motion: Motion) -> None:
        self.mech, self.motion = mech, motion
        self.frame = motion.frame or tool_frame(mech.model)
        self.bounds = read_joint_bounds(
            mech,
            self._read(motion.joint_speed, "joint_speed"),
            self._read(motion.joint_acceleration, "joint_acceleration"),
            self._read(motion.joint_jerk, "joint_jerk"),
        )
        tool = ToolLimits(
            self._read(motion.tool_speed, "tool_speed"),
            self._read(motion.tool_acceleration, "tool_acceleration"),
            self._read(motion.tool_turning, "tool_turning"),
        )
        self.laws = PathLaws(mech, self.frame, self.bounds, tool)
        self.notes: list[str] = []

    def _read(self, value: Any, field: str) -> float:
        """Return the number of an optional limit; inf if there is none. Raises ModelError unless it is positive."""
        if value is None:
            return math.inf
        where = f"motion '{self.motion.name}', {field}"
        number = float(self.mech.compiled.coordinates.numbers.scalar(value, where))
        if not number > 0.0:
            raise ModelError(f"A limit of {number:g} permits no motion.", where=where, remedy="Give more than 0.")
        return number

    def plan(self, q0: Any) -> Trajectory:
        q = self.mech.rest() if q0 is None else np.asarray(q0, dtype=float)
        if q.shape != (self.mech.nq,):
            raise ModelError(f"q0 has shape {q.shape}.", where="q0", remedy=f"Give {self.mech.nq} coordinates.")
        if q0 is None and self.motion.start:
            q = self.place_position(self.motion.start, q, f"motion '{self.motion.name}', start")
        if not self.motion.segments:
            raise ModelError(
                "The motion has no segments.",
                where=f"motion '{self.motion.name}'",
                remedy="Add one that leads to a pose or target.",
            )
        first, pieces, start = q, [], 0.0
        for chain in self._chains():
            made, q = self._plan_chain(chain, q, start)
            pieces += made
            start = pieces[-1].start + pieces[-1].law.duration
        return Trajectory(self.mech, self.motion.name, self.frame, first, tuple(pieces), self.bounds, tuple(self.notes))

    # --------------------------------------------------------------------------- segments

    def _chains(self) -> list[list[int]]:
        """Return the indices of segments between two stops: those that blends connect are together."""
        chains: list[list[int]] = [[]]
        last = len(self.motion.segments) - 1
        for k, segment in enumerate(self.motion.segments):
            chains[-1].append(k)
            if k < last and self._blend(segment, k) == 0.0:
                chains.append([])
        return chains

    def _where(self, k: int) -> str:
        return f"motion '{self.motion.name}', segment {k + 1}"

    def _blend(self, segment: Segment, k: int) -> float:
        if segment.blend is None:
            return 0.0
        where = f"{self._where(k)}, blend"
        radius = float(self.mech.compiled.coordinates.numbers.scalar(segment.blend, where))
        if not (math.isfinite(radius) and radius >= 0.0):
            raise ModelError(f"A blend of {radius:g} m is not possible.", where=where, remedy="Give 0 or more.")
        return radius

    def _plan_chain(self, chain: list[int], q: Array, start: float) -> tuple[list[Piece], Array]:
        """Return the pieces of segments without a stop between them, from q at a time (s), and the last position."""
        segments = [self.motion.segments[k] for k in chain]
        paths, durations = [], []
        for k, segment in zip(chain, segments, strict=True):
            if len(chain) > 1 and segment.kind in UNBLENDED:
                raise ModelError(
                    f"A {segment.kind} segment cannot be blended.", where=self._where(k), remedy="Set the blend to 0."
                )
            durations.append(self._duration(segment, k))
            path, q = self._path(segment, q, self._where(k))
            paths.append(path)
        where = self._where(chain[0])
        if len(chain) == 1:
            law = self._law(segments[0], paths[0], durations[0], where)
            return [Piece(chain[0] + 1, segments[0].kind, start, law, paths[0])], q
        given = [each for each in durations if each is not None]
        if given and len(given) < len(durations):
            raise ModelError(
                "Some of the segments that are blended have durations, others have none.",
                where=where,
                remedy="Give all of them a duration, or none.",
            )
        radii = [self._blend(segment, k) for k, segment in zip(chain[:-1], segments[:-1], strict=True)]
        path, notes = join_paths(self.mech, self.frame, paths, radii, [self._where(k) for k in chain])
        self.notes += notes
        law = self.laws.find(segments[0].law, path, sum(given) if given else None, where)
        times = [0.0, *(_time_of(law, float(s)) for s in path.corner_places), law.duration]
        pieces = [
            Piece(k + 1, segment.kind, start + begin, PartOfLaw(law, begin, end), path)
            for k, segment, begin, end in zip(chain, segments, times[:-1], times[1:], strict=True)
        ]
        return pieces, q

    def _duration(self, segment: Segment, k: int) -> float | None:
        if segment.duration is None:
            return None
        where = f"{self._where(k)}, duration"
        wanted = float(self.mech.compiled.coordinates.numbers.scalar(segment.duration, where))
        if not (math.isfinite(wanted) and wanted >= 0.0):
            raise ModelError(f"A duration of {wanted:g} s is not possible.", where=where, remedy="Give seconds.")
        return wanted

    def _law(self, segment: Segment, path: Path, wanted: float | None, where: str) -> TimeLaw:
        if segment.kind != "formula":
            return self.laws.find(segment.law, path, wanted, where)
        if not wanted:
            raise ModelError("A formula takes time.", where=f"{where}, duration", remedy="Give a positive duration.")
        return self.laws.of_formula(path, wanted, where)

    # --------------------------------------------------------------------------- places

    def _place(self, name: str, where: str) -> StoredPose | Target:
        places = self.mech.model.index("place")
        if name not in places:
            raise ModelError(f"There is no pose or target '{name}'.", where=where, remedy="Add it, or name another.")
        found: Any = places[name]
        return found

    def place_position(self, name: str, q: Array, where: str) -> Array:
        """(nq,) position of a place, coming from q."""
        place = self._place(name, where)
        if isinstance(place, StoredPose):
            return self._pose_position(place, q)
        found = self.mech.inverse_kinematics(
            self._target_pose(place, q), self.frame, q=q, all=False, configuration=place.configuration or None
        )
        if not found.solutions:
            raise ModelError(
                f"No position of the machine meets target '{name}'.",
                where=where,
                remedy="Move the target, or ask for another configuration."
                if place.configuration
                else "Move the target into reach.",
            )
        return np.asarray(found.solutions[0].q)

    def _pose_position(self, pose: StoredPose, q: Array) -> Array:
        return self._moved(pose.values, q, f"pose '{pose.name}'")

    def _moved(self, rows: tuple[JointValue, ...], q: Array, where: str) -> Array:
        """(nq,) position with some coordinates at other values."""
        read = self.mech.compiled.coordinates.numbers.scalar
        values = {row.coordinate: float(read(row.value, f"{where}, {row.coordinate}")) for row in rows}
        return np.asarray(self.mech.move(q, values, exact=True)) if values else q

    def _target_pose(self, target: Target, q: Array) -> Array:
        where = f"target '{target.name}', pose"
        own = np.eye(4)
        pose = self.mech.compiled.coordinates.numbers.pose(target.pose, where)
        own[:3, :3], own[:3, 3] = np.array(pose.rotation, dtype=float), np.array(pose.position, dtype=float)
        base = np.eye(4) if target.reference in ("", "world") else np.asarray(self.mech.frame(q, target.reference))
        return np.asarray(base @ own)

    def _tool_pose(self, name: str, q: Array, where: str) -> Array:
        """(4, 4) pose of the tool at a place."""
        place = self._place(name, where)
        if isinstance(place, Target):
            return self._target_pose(place, q)
        return np.asarray(self.mech.frame(self._pose_position(place, q), self.frame))

    # --------------------------------------------------------------------------- paths

    def _path(self, segment: Segment, q: Array, where: str) -> tuple[Path, Array]:
        """Return the path of a segment from q, and the position at its end."""
        if segment.kind == "wait":
            return StraightPath(self.mech, q, q), q
        if segment.kind == "joint":
            return self._joint_path(q, self.place_position(segment.to, q, f"{where}, to"), where)
        if segment.kind == "set":
            return self._joint_path(q, self._moved(segment.values, q, f"{where}, values"), where)
        if segment.kind == "spline":
            return self._spline_path(segment, q, where)
        if segment.kind == "formula":
            return self._formula_path(segment, q, where)
        start = np.asarray(self.mech.frame(q, self.frame))
        end = self._tool_pose(segment.to, q, f"{where}, to")
        curve = line_between(start, end)
        if segment.kind == "arc":
            via = self._tool_pose(segment.via, q, f"{where}, via")[:3, 3]
            curve = arc_through(start, via, end, f"{where}, via")
        path = FollowedPath(self.mech, ToolRows(self.mech, self.frame, curve, None), q, where, _lengths(curve))
        return path, path.end

    def _check_plain(self, kind: str, where: str) -> None:
        """Raise ModelError for machines whose coordinates are not plain numbers that move one by one."""
        if self.mech.constrained or self.mech.nq != self.mech.nv:
            raise ModelError(
                f"A {kind} segment is possible for machines without loops, balls and free bodies only.",
                where=where,
                remedy="Use joint, line or arc segments.",
            )

    def _spline_path(self, segment: Segment, q: Array, where: str) -> tuple[Path, Array]:
        self._check_plain("spline", where)
        points = [q]
        for k, place in enumerate([*(via.place for via in segment.through), segment.to]):
            points.append(self.place_position(place, points[-1], f"{where}, point {k + 1}"))
        return SplinePath(np.array(points)), points[-1]

    def _formula_path(self, segment: Segment, q: Array, where: str) -> tuple[Path, Array]:
        self._check_plain("formula", where)
        duration = self._duration(segment, self.motion.segments.index(segment)) or 1.0
        names = [row.coordinate for row in segment.functions]
        unknown = next((name for name in names if name not in self.mech.q_names), None)
        if unknown is not None:
            raise ModelError(
                f"There is no coordinate '{unknown}'.", where=f"{where}, functions", remedy="Name a coordinate."
            )
        places = np.array([self.mech.q_names.index(name) for name in names], dtype=np.intp)
        functions = [row.function for row in segment.functions]
        value = functions_of_time(functions, self.mech.model.values(), f"{where}, functions")
        path = FormulaPath(q, places, value, duration)
        begin, end = path.at(np.array([0.0, 1.0])).q
        if not np.isfinite(path.at(np.linspace(0.0, 1.0, 101)).q).all():
            raise ModelError(
                "A formula has no finite value.", where=f"{where}, functions", remedy="Change the formula."
            )
        gap = np.abs(begin - q)
        if np.max(gap) > JUMP:
            k = int(np.argmax(gap))
            raise ModelError(
                f"The formula of '{self.mech.q_names[k]}' begins at {begin[k]:.6g}, the machine is at {q[k]:.6g}.",
                where=f"{where}, functions",
                remedy="Begin the formula where the segment before it ends.",
            )
        return path, end

    def _joint_path(self, q: Array, end: Array, where: str) -> tuple[Path, Array]:
        displacement = self.mech.difference(q, end)
        if not self.mech.constrained:
            return StraightPath(self.mech, q, end), end
        chosen = independent_speeds(self.mech, q)
        rows = CoordinateRows(self.mech, q, chosen, displacement[chosen], None)
        path = FollowedPath(self.mech, rows, q, where, (0.0, 0.0))
        gap = float(np.max(np.abs(self.mech.difference(path.end, end)), initial=0.0))
        if gap > 1e-6:
            names = ", ".join(self.mech.v_names[k] for k in chosen)
            raise ModelError(
                f"Moving {names} straight to the end of the segment leads to another way of assembling the machine.",
                where=where,
                remedy="Lead the motion through a pose in between.",
            )
        return path, path.end


UNBLENDED = ("wait", "formula")
"""Kinds of segments that begin and end at rest, or with a speed of their own."""
JUMP = 1e-6
"""Largest difference (rad, m) between the beginning of a formula and the end of the segment before it."""


def _time_of(law: TimeLaw, place: float) -> float:
    """Return the time, s, at which the parameter of a law reaches a place."""
    low, high = 0.0, law.duration
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(law.derivative(middle, 0)) < place else (low, middle)
    return 0.5 * (low + high)


def _lengths(curve: ToolCurve) -> tuple[float, float]:
    return curve.length, float(np.linalg.norm(curve.rotation))
