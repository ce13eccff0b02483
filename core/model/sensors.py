"""Sensors: measurements between two frames (MOBILE's chords), and of forces; constraints, drivers, forces use them.

Geometric kinds follow MOBILE 1.3 User's Guide 5.2: between origins, and between origins and planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from core.errors import ModelError
from core.model.dimensions import along
from core.model.fields import Element, Value, Vector, kind_in, name, reference, scalar, text, vector


class SensorKind(NamedTuple):
    """Facts of a kind of sensor."""

    name: str
    title: str
    components: tuple[str, ...]
    """Suffixes of its values; one value: ('',)."""
    dimension: str
    geometric: bool
    """True if it is a function of the two poses alone: it may carry constraints, drivers and forces."""
    uses: tuple[str, ...]
    """Which of a, axis, b, axis_b, resolve, joint, force, minus, offset matter."""
    turns: bool = False
    """True if it is known up to whole turns."""


_XYZ = ("x", "y", "z")
_PLACES = ("a", "b", "minus", "offset")

_KINDS = (
    SensorKind("distance", "Distance between two points", ("",), "length", True, _PLACES),
    SensorKind("square_distance", "Squared distance between two points", ("",), "none", True, _PLACES),
    SensorKind("point_plane", "Distance of b's origin from a plane of a", ("",), "length", True, (*_PLACES, "axis")),
    SensorKind("plane_point", "Distance of a's origin from a plane of b", ("",), "length", True, (*_PLACES, "axis_b")),
    SensorKind(
        "plane_plane", "Cosine of the angle between two planes", ("",), "none", True, (*_PLACES, "axis", "axis_b")
    ),
    SensorKind("angle", "Angle of b about an axis of a", ("",), "angle", True, (*_PLACES, "axis"), turns=True),
    SensorKind("position", "Position of b in a", _XYZ, "length", True, _PLACES),
    SensorKind("orientation", "Orientation of b in a", _XYZ, "angle", True, _PLACES),
    SensorKind("pose", "Pose of b in a", ("rx", "ry", "rz", "x", "y", "z"), "none", True, _PLACES),
    SensorKind("velocity", "Velocity of b relative to a", _XYZ, "velocity", False, ("a", "b", "resolve")),
    SensorKind(
        "angular_velocity",
        "Angular velocity of b relative to a",
        _XYZ,
        "angular_velocity",
        False,
        ("a", "b", "resolve"),
    ),
    SensorKind("acceleration", "Acceleration of b relative to a", _XYZ, "acceleration", False, ("a", "b", "resolve")),
    SensorKind(
        "angular_acceleration",
        "Angular acceleration of b relative to a",
        _XYZ,
        "angular_acceleration",
        False,
        ("a", "b", "resolve"),
    ),
    SensorKind("cut_force", "Force in a joint", _XYZ, "force", False, ("joint", "resolve")),
    SensorKind("cut_torque", "Torque in a joint", _XYZ, "torque", False, ("joint", "resolve")),
    SensorKind("power", "Power of a joint's or force element's force", ("",), "power", False, ("joint", "force")),
)

SENSOR_KINDS: dict[str, SensorKind] = {kind.name: kind for kind in _KINDS}

UNKNOWN_SENSOR = SensorKind(
    "", "Unknown kind", (), "none", False, ("a", "axis", "b", "axis_b", "resolve", "joint", "force", "minus", "offset")
)
"""Stands in for a kind that nobody here knows."""


@dataclass(frozen=True, kw_only=True)
class Sensor(Element):
    """Something measured between frame *a* (default: world) and frame *b*.

    distance: |p_ab|; square_distance: |p_ab|²; point_plane: n_a · p_ab; plane_point: n_b · p_ba; plane_plane: n_a · n_b
    (unit normals `axis` in a, `axis_b` in b); angle: how far b is turned about a's `axis` (continuous over whole turns
    in runs); position: p_ab in a's axes; orientation: rotation vector of R_ab; pose: both; velocity … : of b's origin
    against a, rotation of a taken off, in the axes of `resolve` (empty: world). With `minus` another sensor of the same
    kind is subtracted (difference), with `offset` a number.
    """

    name: str = name()
    kind: str = kind_in(SENSOR_KINDS, "What is measured", "distance")
    a: str = reference("frame", "Frame from which is measured; empty: world", optional=True)
    b: str = reference("frame", "Frame to which is measured", optional=True)
    axis: Vector = vector("none", (0.0, 0.0, 1.0), "Normal of the plane, or axis, in a")
    axis_b: Vector = vector("none", (0.0, 0.0, 1.0), "Normal of the plane in b")
    resolve: str = reference("frame", "Frame in whose axes the vector is given; empty: world", optional=True)
    joint: str = reference("joint", "Joint whose force is measured", optional=True)
    force: str = reference("force", "Force element whose power is measured", optional=True)
    minus: str = reference("sensor", "Sensor that is subtracted", optional=True)
    offset: Value = scalar(help="Number that is subtracted (SI)", by=along)
    description: str = text("Notes")

    @property
    def info(self) -> SensorKind:
        """The facts of this sensor's kind."""
        return SENSOR_KINDS.get(self.kind, UNKNOWN_SENSOR)

    def along(self, model: Any, index: int | None) -> str:
        """What it measures, or one of its components (those of a pose differ)."""
        if self.kind == "pose" and index is not None:
            return "angle" if self.info.components[index].startswith("r") else "length"
        return self.info.dimension

    def validate(self) -> None:
        """What the kind needs is there."""
        if self.info is UNKNOWN_SENSOR:
            return
        where = f"sensor '{self.name}'"
        for field in ("axis", "axis_b"):
            if field in self.info.uses and all(x == 0.0 for x in getattr(self, field)):
                raise ModelError(
                    "A vector of length zero has no direction.",
                    where=f"{where}, {field}",
                    remedy="Give a direction such as (0, 0, 1).",
                )
        if "b" in self.info.uses and not self.b:
            raise ModelError(
                "The frame to which is measured is missing.", where=f"{where}, b", remedy="Name a body or frame."
            )
        if "joint" in self.info.uses and not (self.joint or ("force" in self.info.uses and self.force)):
            raise ModelError(
                "Nothing is said whose force is measured.", where=f"{where}, joint", remedy="Name a joint."
            )
        if self.minus == self.name:
            raise ModelError(
                "A sensor cannot be subtracted from itself.", where=f"{where}, minus", remedy="Name another sensor."
            )
