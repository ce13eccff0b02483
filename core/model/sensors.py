"""Sensors: measurements between two frames (MOBILE's chords) or of forces, used by constraints, drivers and forces.

Geometric kinds follow MOBILE 1.3 User's Guide 5.2: between origins, and between origins and planes.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from core.errors import ModelError
from core.later import dataclass
from core.model.dimensions import dimension_along
from core.model.fields import Element, Value, Vector, kind_of_family, name, reference, scalar, text, vector
from core.model.plain_lists import axis_from_name
from core.numerics.spatial import relative_measures as m
from core.numerics.spatial.relative_measures import Measure
from core.numerics.spatial.vector import Motion, Vector3


@dataclass(frozen=True, kw_only=True)
class SensorKind:
    """Declaration of a kind of sensor. It measures one of: poses, motion, the wrench in a joint, or power."""

    name: str
    title: str
    components: tuple[str, ...] = ("",)
    """Suffixes of the sensor's values; ('',) for a single value."""
    dimensions: tuple[str, ...]
    """Dimensions of the values; a single one if all are equal."""
    uses: tuple[str, ...]
    """Fields that the kind uses, among a, axis, b, axis_b, resolve, joint, force, minus, offset."""
    measure: Measure | None = None
    """Function of the two poses; sensors that have one can carry constraints, drivers and forces."""
    motion: Callable[[Motion], Vector3] | None = None
    """Component of the relative motion of b with respect to a."""
    accelerated: bool = False
    """True if the sensor measures the time derivative of that component, which is known only after the accelerations.
    """
    wrench: tuple[int, ...] | None = None
    """Rows of the joint's wrench [torque; force]."""
    power: bool = False
    """True if the sensor measures the power of a joint or force element."""
    turns: bool = False
    """True if the value is known only up to whole turns."""
    rotation: bool = False
    """True if the first three values are a rotation vector, which a constraint compares as a rotation."""
    rod: bool = False
    """True if the value is the distance between two points, so that constraining it acts like a rod."""
    smooth_at_zero: bool = True
    """False if the gradient is undefined at zero."""

    def __post_init__(self) -> None:
        given = [self.measure is not None, self.motion is not None, self.wrench is not None, self.power]
        if self.name and sum(given) != 1:  # of an unknown kind nothing is known
            raise TypeError(f"The sensor kind {self.name} needs one of measure, motion, wrench, power.")
        if len(self.dimensions) not in (1, len(self.components)):
            raise TypeError(f"The sensor kind {self.name} needs a dimension for each value.")

    @property
    def is_geometric(self) -> bool:
        """Return True if the value is a function of the two poses alone."""
        return self.measure is not None

    @property
    def is_between_frames(self) -> bool:
        """Return True if the sensor measures between two frames."""
        return self.is_geometric or self.motion is not None

    @property
    def is_function_of_state(self) -> bool:
        """Return True if positions and speeds determine the value, so that forces may depend on it and it has a
        rate."""
        return self.is_between_frames and not self.accelerated

    @property
    def dimension(self) -> str:
        """Return the common dimension of the values; "none" if they differ."""
        return self.dimensions[0] if len(self.dimensions) == 1 else "none"

    def dimension_of(self, component: str) -> str:
        """Return the dimension of one component; the common one for an unknown component."""
        if component not in self.components or len(self.dimensions) == 1:
            return self.dimension
        return self.dimensions[self.components.index(component)]


_XYZ = ("x", "y", "z")
_PLACES = ("a", "b", "minus", "offset")


def _pose_sensor(name: str, title: str, measure: Measure, dimension: str, *axes: str, **options: Any) -> SensorKind:
    return SensorKind(
        name=name, title=title, dimensions=(dimension,), uses=(*_PLACES, *axes), measure=measure, **options
    )


def _motion_sensor(name: str, title: str, motion: Callable[[Motion], Vector3], accelerated: bool = False) -> SensorKind:
    return SensorKind(
        name=name,
        title=title,
        components=_XYZ,
        dimensions=(name,),
        uses=("a", "b", "resolve"),
        motion=motion,
        accelerated=accelerated,
    )


def _joint_sensor(name: str, title: str, dimension: str, wrench: tuple[int, ...]) -> SensorKind:
    return SensorKind(
        name=name, title=title, components=_XYZ, dimensions=(dimension,), uses=("joint", "resolve"), wrench=wrench
    )


_linear, _angular = attrgetter("linear"), attrgetter("angular")

_KINDS = (
    _pose_sensor("distance", "Distance between two points", m.distance, "length", rod=True, smooth_at_zero=False),
    _pose_sensor(
        "square_distance", "Squared distance between two points", m.square_distance, "none", smooth_at_zero=False
    ),
    _pose_sensor("point_plane", "Distance of b's origin from a plane of a", m.point_plane, "length", "axis"),
    _pose_sensor("plane_point", "Distance of a's origin from a plane of b", m.plane_point, "length", "axis_b"),
    _pose_sensor("plane_plane", "Cosine of the angle between two planes", m.plane_plane, "none", "axis", "axis_b"),
    _pose_sensor("angle", "Angle of b about an axis of a", m.angle, "angle", "axis", turns=True),
    _pose_sensor("position", "Position of b in a", m.position, "length", components=_XYZ),
    _pose_sensor("orientation", "Orientation of b in a", m.orientation, "angle", components=_XYZ, rotation=True),
    SensorKind(
        name="pose",
        title="Pose of b in a",
        components=("rx", "ry", "rz", *_XYZ),
        dimensions=("angle", "angle", "angle", "length", "length", "length"),
        uses=_PLACES,
        measure=m.pose,
        rotation=True,
    ),
    _motion_sensor("velocity", "Velocity of b relative to a", _linear),
    _motion_sensor("angular_velocity", "Angular velocity of b relative to a", _angular),
    _motion_sensor("acceleration", "Acceleration of b relative to a", _linear, accelerated=True),
    _motion_sensor("angular_acceleration", "Angular acceleration of b relative to a", _angular, accelerated=True),
    _joint_sensor("cut_force", "Force in a joint", "force", (3, 4, 5)),
    _joint_sensor("cut_torque", "Torque in a joint", "torque", (0, 1, 2)),
    SensorKind(
        name="power",
        title="Power of a joint or force element",
        dimensions=("power",),
        uses=("joint", "force"),
        power=True,
    ),
)

SENSOR_KINDS: dict[str, SensorKind] = {kind.name: kind for kind in _KINDS}

UNKNOWN_SENSOR = SensorKind(
    name="",
    title="Unknown kind",
    components=(),
    dimensions=("none",),
    uses=("a", "axis", "b", "axis_b", "resolve", "joint", "force", "minus", "offset"),
)
"""Substitute for a kind that is not installed."""


@dataclass(frozen=True, kw_only=True)
class Sensor(Element):
    """A measurement between frame *a* (default: world) and frame *b*.

    distance: |p_ab|; square_distance: |p_ab|²; point_plane: n_a · p_ab; plane_point: n_b · p_ba; plane_plane: n_a · n_b
    (unit normals `axis` in a, `axis_b` in b); angle: how far b is turned about a's `axis` (continuous over whole turns
    in runs); position: p_ab in a's axes; orientation: rotation vector of R_ab; pose: both; velocity … : of b's origin
    against a, rotation of a taken off, in the axes of `resolve` (empty: world). With `minus` another sensor of the same
    kind is subtracted (difference), with `offset` a number.
    """

    name: str = name()
    kind: str = kind_of_family(SENSOR_KINDS, "Measured quantity", "distance")
    a: str = reference("frame", "Frame relative to which b is measured; empty: world", optional=True)
    b: str = reference("frame", "Frame that is measured", optional=True)
    axis: Vector = vector("none", (0.0, 0.0, 1.0), "Normal of the plane, or axis, in a", spelled=axis_from_name)
    axis_b: Vector = vector("none", (0.0, 0.0, 1.0), "Normal of the plane in b", spelled=axis_from_name)
    resolve: str = reference("frame", "Frame in whose axes the vector is given; empty: world", optional=True)
    joint: str = reference("joint", "Joint whose force is measured", optional=True)
    force: str = reference("force", "Force element whose power is measured", optional=True)
    minus: str = reference("sensor", "Sensor that is subtracted", optional=True)
    offset: Value = scalar(help="Number that is subtracted (SI)", by=dimension_along)
    description: str = text("Notes")

    @property
    def info(self) -> SensorKind:
        """Return the declaration of this sensor's kind."""
        return SENSOR_KINDS.get(self.kind, UNKNOWN_SENSOR)

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the sensor, or of one of its components (those of a pose differ)."""
        return self.info.dimension if index is None else self.info.dimension_of(self.info.components[index])

    def validate(self) -> None:
        """Raise ModelError if a field required by the kind is missing."""
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
                "The frame b to be measured is missing.", where=f"{where}, b", remedy="Name a body or frame."
            )
        if "joint" in self.info.uses and not (self.joint or ("force" in self.info.uses and self.force)):
            raise ModelError(
                "The joint whose force is measured is missing.", where=f"{where}, joint", remedy="Name a joint."
            )
        if self.minus == self.name:
            raise ModelError(
                "A sensor cannot be subtracted from itself.", where=f"{where}, minus", remedy="Name another sensor."
            )
