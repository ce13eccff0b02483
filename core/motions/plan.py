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
from core.model.motions import Motion, Segment, StoredPose, Target
from core.motions.independent_speeds import independent_speeds
from core.motions.joint_bounds import read_joint_bounds
from core.motions.laws import LAWS, TimeLaw, rest
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
from core.motions.trajectory import REFINED, SAMPLES, Piece, Trajectory

Array = NDArray[np.float64]

POLYNOMIAL_LAWS = ("cubic", "quintic", "septic", "harmonic", "cycloidal")
"""Laws whose shape does not depend on limits, so that a duration alone determines them."""
SAME = 1e-9
"""Difference of positions (rad, m) below which a segment does not move."""


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
        self.tool_speed = self._read(motion.tool_speed, "tool_speed")
        self.tool_acceleration = self._read(motion.tool_acceleration, "tool_acceleration")
        self.tool_turning = self._read(motion.tool_turning, "tool_turning")

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
        for number, segment in enumerate(self.motion.segments, start=1):
            where = f"motion '{self.motion.name}', segment {number}"
            path, q = self._path(segment, q, where)
            law = self._law(segment, path, where)
            pieces.append(Piece(number, segment.kind, start, law, path))
            start += law.duration
        return Trajectory(self.mech, self.motion.name, self.frame, first, tuple(pieces), self.bounds)

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
        where = f"pose '{pose.name}'"
        read = self.mech.compiled.coordinates.numbers.scalar
        values = {row.coordinate: float(read(row.value, f"{where}, {row.coordinate}")) for row in pose.values}
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
        start = np.asarray(self.mech.frame(q, self.frame))
        end = self._tool_pose(segment.to, q, f"{where}, to")
        curve = line_between(start, end)
        if segment.kind == "arc":
            via = self._tool_pose(segment.via, q, f"{where}, via")[:3, 3]
            curve = arc_through(start, via, end, f"{where}, via")
        path = FollowedPath(self.mech, ToolRows(self.mech, self.frame, curve, None), q, where, _lengths(curve))
        return path, path.end

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

    # --------------------------------------------------------------------------- laws

    def _law(self, segment: Segment, path: Path, where: str) -> TimeLaw:
        """Return the law of the path's parameter from 0 to 1 that is fastest within the limits, or takes the given
        duration."""
        wanted = None
        if segment.duration is not None:
            wanted = float(self.mech.compiled.coordinates.numbers.scalar(segment.duration, f"{where}, duration"))
            if not (math.isfinite(wanted) and wanted >= 0.0):
                raise ModelError(
                    f"A duration of {wanted:g} s is not possible.", where=f"{where}, duration", remedy="Give seconds."
                )
        moving = path.at(np.linspace(0.0, 1.0, SAMPLES))
        if np.max(np.abs(moving.rate), initial=0.0) < SAME:
            return rest(0.0, wanted or 0.0)
        limits = self._path_limits(path, moving.rate)
        if segment.law in POLYNOMIAL_LAWS and wanted is not None and wanted > 0.0:
            law = LAWS[segment.law](0.0, 1.0, wanted)
        else:
            law = self._within_path_limits(segment.law, limits, moving.rate, where)
        stretch = self._needed_stretch(path, law)
        shortest = law.duration * (stretch if stretch > 1.0 + 1e-12 else 1.0)
        if wanted is None:
            return law if shortest == law.duration else _build_law(segment.law, limits, shortest)
        if wanted < shortest * (1.0 - 1e-9):
            raise ModelError(
                f"The segment takes at least {shortest:.6g} s within the limits of joints and tool, {wanted:g} s are "
                "given.",
                where=f"{where}, duration",
                remedy="Give a longer duration, or higher limits.",
            )
        return _build_law(segment.law, limits, max(wanted, shortest))

    def _path_limits(self, path: Path, rate: Array) -> dict[str, float]:
        """Return limits of the parameter's speed, acceleration, deceleration and jerk along a path with rates (N, nv),
        without what its curvature takes."""
        largest = np.max(np.abs(rate), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = {
                name: float(np.min(np.where(largest > 0.0, getattr(self.bounds, name) / largest, np.inf)))
                for name in ("velocity", "acceleration", "deceleration", "jerk")
            }
        if path.tool_length > 0.0:
            found["velocity"] = min(found["velocity"], self.tool_speed / path.tool_length)
            for name in ("acceleration", "deceleration"):
                found[name] = min(found[name], self.tool_acceleration / path.tool_length)
        if path.tool_angle > 0.0:
            found["velocity"] = min(found["velocity"], self.tool_turning / path.tool_angle)
        return found

    def _within_path_limits(self, name: str, limits: dict[str, float], rate: Array, where: str) -> TimeLaw:
        missing = [k for k in ("velocity", "acceleration") if not math.isfinite(limits[k])]
        if "acceleration" in missing or (name == "s-curve" and not math.isfinite(limits["jerk"])):
            quantity = "acceleration" if "acceleration" in missing else "jerk"
            own = getattr(self.bounds, quantity)
            joint = next(
                (self.mech.v_names[k] for k in np.argsort(-np.max(np.abs(rate), axis=0)) if not math.isfinite(own[k])),
                "",
            )
            raise ModelError(
                f"Nothing limits the {quantity} of '{joint}'.",
                where=where,
                remedy=f"Give its limit a {quantity}, or the motion a joint_{quantity}.",
            )
        return _build_law(name, limits)

    def _needed_stretch(self, path: Path, law: TimeLaw) -> float:
        """Return the factor by which a law has to be slowed down so that joints and tool keep their limits."""
        t = np.linspace(0.0, law.duration, SAMPLES)
        need = 0.0
        for _ in range(3):
            s, speed, acceleration = law.at(t)
            moving = path.at(np.clip(s, 0.0, 1.0))
            v = np.abs(moving.rate * speed[:, None])
            a = moving.rate * acceleration[:, None] + moving.change * (speed**2)[:, None]
            is_braking = a * moving.rate < 0.0
            bound = np.where(is_braking, self.bounds.deceleration, self.bounds.acceleration)
            # at rest, where nothing tells speeding up from braking, both bounds hold
            stricter = np.minimum(self.bounds.acceleration, self.bounds.deceleration)
            bound = np.where(v < 1e-9 * np.max(v), stricter, bound)
            shares = np.maximum(np.max(v / self.bounds.velocity, axis=1), np.sqrt(np.max(np.abs(a) / bound, axis=1)))
            tool = speed * max(path.tool_length / self.tool_speed, path.tool_angle / self.tool_turning)
            shares = np.maximum(shares, np.abs(tool))
            need = max(need, float(np.max(shares)))
            width = (t[-1] - t[0]) / (len(t) - 1)
            best = t[np.argsort(shares)[-5:]]
            t = np.clip(np.concatenate([np.linspace(x - width, x + width, REFINED) for x in best]), 0.0, law.duration)
            t = np.unique(t)
        return need


def _lengths(curve: ToolCurve) -> tuple[float, float]:
    return curve.length, float(np.linalg.norm(curve.rotation))


def _build_law(name: str, limits: dict[str, float], duration: float | None = None) -> TimeLaw:
    """Return a law from 0 to 1 within limits of the parameter, or stretched to a duration."""
    if name in POLYNOMIAL_LAWS:
        if duration is not None:
            return LAWS[name](0.0, 1.0, duration)
        acceleration = min(limits["acceleration"], limits["deceleration"])
        given = {"velocity": limits["velocity"], "acceleration": acceleration, "jerk": limits["jerk"]}
        return LAWS[name](0.0, 1.0, **{key: value for key, value in given.items() if math.isfinite(value)})
    used = dict(limits) if name == "s-curve" else {key: value for key, value in limits.items() if key != "jerk"}
    return LAWS[name](0.0, 1.0, **used, duration=duration)
