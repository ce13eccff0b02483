"""Poses, targets and motions of the document. `core.motions.plan` computes trajectories, which are not part of it."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, choice, name, part, parts, reference, scalar, signal, text
from core.model.shapes import IDENTITY, Pose
from core.model.trims import signal_dimension

SEGMENT_KINDS = ("joint", "line", "arc", "wait")
LAW_NAMES = ("trapezoid", "s-curve", "cubic", "quintic", "septic", "harmonic", "cycloidal")
TO_PLACES = ("joint", "line", "arc")
"""Kinds of segments that lead to a pose or target."""


def _coordinate_dimension(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return signal_dimension(model, owners[-1].coordinate)


@dataclass(frozen=True, kw_only=True)
class JointValue(Element):
    """The value of one coordinate in a stored pose."""

    coordinate: str = signal("A joint, or one of its coordinates such as wrist.qx")
    value: Value = scalar(required=True, help="Value of the coordinate (rad or m)", by=_coordinate_dimension)

    @property
    def summary(self) -> str:
        return f"{self.coordinate} = {self.value}"


@dataclass(frozen=True, kw_only=True)
class StoredPose(Element):
    """A pose of the machine by the values of its joints; joints without a value keep theirs, loops close."""

    meaning: ClassVar[str] = "A pose of the machine by the values of its joints, to which motions lead."

    name: str = name()
    values: tuple[JointValue, ...] = parts(JointValue, "Values of coordinates; others follow, or keep theirs")
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        return f"{len(self.values)} values"

    def validate(self) -> None:
        """Raise ModelError if a coordinate is listed twice."""
        for coordinate, count in Counter(row.coordinate for row in self.values).items():
            if count > 1:
                raise ModelError(
                    f"'{coordinate}' has {count} values.",
                    where=f"pose '{self.name}', values",
                    remedy="Keep one of these rows.",
                )


@dataclass(frozen=True, kw_only=True)
class Target(Element):
    """A pose of a tool relative to a frame, to which motions lead."""

    meaning: ClassVar[str] = "A pose of a tool relative to a frame, to which motions lead."

    name: str = name()
    reference: str = reference("frame", "Frame in which the pose is given; empty: the world", optional=True)
    pose: Pose = part(Pose, "Pose of the tool in this frame", IDENTITY)
    configuration: str = text(
        'Configuration by name, such as "front up no-flip"; empty: the one nearest to where it comes from'
    )
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        return f"in {self.reference or 'world'}"


@dataclass(frozen=True, kw_only=True)
class Segment(Element):
    """A part of a motion, from rest to rest."""

    kind: str = choice(
        SEGMENT_KINDS,
        "Path: straight in joint coordinates, the tool along a line, the tool along an arc, or standstill",
        "joint",
    )
    to: str = reference("place", "Pose or target at its end", optional=True)
    via: str = reference("place", "Pose or target through which an arc leads", optional=True)
    law: str = choice(LAW_NAMES, "Time law", "trapezoid")
    duration: Value | None = scalar(
        "time", None, "Duration (s); empty: the shortest one within the limits. A wait needs one"
    )

    @property
    def summary(self) -> str:
        return f"{self.kind} to {self.to}" if self.to else self.kind

    def validate(self) -> None:
        """Raise ModelError if an end, a via point or the duration of a wait is missing."""
        where = f"segment '{self.kind}'"
        if self.kind in TO_PLACES and not self.to:
            raise ModelError("The segment has no end.", where=f"{where}, to", remedy="Name a pose or a target.")
        if self.kind == "arc" and not self.via:
            raise ModelError("The arc has no via point.", where=f"{where}, via", remedy="Name a pose or a target.")
        if self.kind == "wait" and self.duration is None:
            raise ModelError("The wait has no duration.", where=f"{where}, duration", remedy="Give seconds.")
        if isinstance(self.duration, float) and not self.duration >= 0.0:
            raise ModelError(
                f"A duration of {self.duration:g} s is not possible.",
                where=f"{where}, duration",
                remedy="Give seconds.",
            )


@dataclass(frozen=True, kw_only=True)
class Motion(Element):
    """A sequence of segments between poses and targets, planned within the limits of joints and tool."""

    meaning: ClassVar[str] = (
        "A sequence of segments between poses and targets, planned within the limits of joints and tool. It is played, "
        "or computed with its forces, from the panel Motions."
    )

    name: str = name()
    frame: str = reference(
        "frame", "Tool: the frame that lines, arcs and targets move; empty: the last of the arm", optional=True
    )
    start: str = reference("place", "Pose or target at which it begins; empty: the reference position", optional=True)
    segments: tuple[Segment, ...] = parts(Segment, "Segments in order")
    tool_speed: Value | None = scalar("velocity", None, "Largest speed of the tool along lines and arcs")
    tool_acceleration: Value | None = scalar("acceleration", None, "Largest acceleration of the tool along its path")
    tool_turning: Value | None = scalar("angular_velocity", None, "Largest angular velocity of the tool")
    joint_acceleration: Value | None = scalar(
        default=None, help="Acceleration limit (rad/s² or m/s²) of joints that have none of their own"
    )
    joint_jerk: Value | None = scalar(
        default=None, help="Jerk limit (rad/s³ or m/s³) of joints that have none of their own"
    )
    joint_speed: Value | None = scalar(
        default=None, help="Speed limit (rad/s or m/s) of joints that have none of their own"
    )
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        return f"{len(self.segments)} segments"
