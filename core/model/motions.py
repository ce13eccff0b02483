"""Poses, targets and motions of the document. `core.motions.plan` computes trajectories, which are not part of it."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, choice, formula, name, part, parts, reference, scalar, signal, text
from core.model.shapes import IDENTITY, Pose
from core.model.trims import signal_dimension

SEGMENT_KINDS = ("joint", "line", "arc", "spline", "formula", "set", "wait")
LAW_NAMES = ("trapezoid", "s-curve", "cubic", "quintic", "septic", "harmonic", "cycloidal", "time optimal")
TO_PLACES = ("joint", "line", "arc", "spline")
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
class ViaPoint(Element):
    """A pose or target through which a spline leads."""

    place: str = reference("place", "Pose or target")

    @property
    def summary(self) -> str:
        return self.place


@dataclass(frozen=True, kw_only=True)
class CoordinateFunction(Element):
    """One coordinate as a function of the time since its segment began."""

    coordinate: str = signal("A joint, or one of its coordinates such as slide.x")
    function: Value | None = formula(
        help="Formula in t (s, from 0 at the beginning of the segment) and the parameters",
        states=False,
        by=_coordinate_dimension,
    )

    @property
    def summary(self) -> str:
        return f"{self.coordinate} = {self.function}"


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
    reference: str = reference("frame", "Frame in which the pose is given; empty: world", optional=True)
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
    """A part of a motion, from rest to rest or blended into the next one."""

    kind: str = choice(
        SEGMENT_KINDS,
        "Path: straight in joint coordinates, the tool along a line or an arc, a spline through poses, coordinates as "
        "formulas of time, some coordinates set to values (a gripper), or standstill",
        "joint",
    )
    to: str = reference("place", "Pose or target at its end", optional=True)
    via: str = reference("place", "Pose or target through which an arc leads", optional=True)
    through: tuple[ViaPoint, ...] = parts(ViaPoint, "Poses or targets between start and end of a spline")
    values: tuple[JointValue, ...] = parts(JointValue, "Coordinates that a set moves, such as those of a gripper")
    functions: tuple[CoordinateFunction, ...] = parts(CoordinateFunction, "Coordinates that a formula moves")
    law: str = choice(LAW_NAMES, "Time law", "trapezoid")
    blend: Value | None = scalar(
        "length",
        None,
        "Distance of the tool from the end (m) within which the motion goes over to the next segment "
        "without a stop; empty or 0: it stops there",
    )
    duration: Value | None = scalar(
        "time", None, "Duration (s); empty: the shortest one within the limits. A wait and a formula need one"
    )

    @property
    def summary(self) -> str:
        return f"{self.kind} to {self.to}" if self.to else self.kind

    def validate(self) -> None:
        """Raise ModelError if what its kind needs is missing."""
        where = f"segment '{self.kind}'"
        for field, (kinds, message, remedy) in _NEEDED.items():
            if self.kind in kinds and getattr(self, field) in (None, "", ()):
                raise ModelError(message.format(kind=self.kind), where=f"{where}, {field}", remedy=remedy)
        for field, unit in (("duration", "s"), ("blend", "m")):
            number = getattr(self, field)
            if isinstance(number, float) and not number >= 0.0:
                raise ModelError(
                    f"A {field} of {number:g} {unit} is not possible.",
                    where=f"{where}, {field}",
                    remedy="Give seconds." if field == "duration" else "Give 0 or more.",
                )


_NEEDED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "to": (TO_PLACES, "The segment has no end.", "Name a pose or a target."),
    "via": (("arc",), "The arc has no via point.", "Name a pose or a target."),
    "duration": (("wait", "formula"), "The {kind} has no duration.", "Give seconds."),
    "values": (("set",), "The set has no values.", "Give coordinates and values."),
    "functions": (("formula",), "The formula segment has no functions.", "Give coordinates and formulas."),
}
"""Needs of kinds of segments by field: kinds, message, remedy."""


@dataclass(frozen=True, kw_only=True)
class Motion(Element):
    """A sequence of segments between poses and targets, planned within the limits of joints and tool."""

    meaning: ClassVar[str] = (
        "A sequence of segments between poses and targets, planned within the limits of joints and tool. It is played, "
        "or computed with its forces, from the panel Motions."
    )

    name: str = name()
    frame: str = reference(
        "frame", "Tool: the frame that lines, arcs and targets move; empty: tool of the arm", optional=True
    )
    start: str = reference("place", "Pose or target at which it begins; empty: reference position", optional=True)
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
