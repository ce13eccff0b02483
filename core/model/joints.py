"""Joints of the document; the mechanics of each kind are in `core.joints`.

A joint connects frame *a* (parent side) with frame *b* (child side). At q = 0 they coincide. Its axis is given in *a*.
Positive q moves *b* relative to *a* by the right-hand rule.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from core.errors import ModelError
from core.joints import JOINT_KINDS, JointKind, Revolute, UnknownJoint
from core.later import dataclass
from core.model.dimensions import (
    component_dimension,
    damping_rule,
    dimension_along,
    force_rule,
    inertia_rule,
    rate_rule,
    stiffness_rule,
)
from core.model.fields import (
    Element,
    Value,
    Vector,
    choice,
    formula,
    kind_of_family,
    name,
    part,
    parts,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import are_plain_numbers, axis_from_name
from core.model.shapes import IDENTITY, Pose


@dataclass(frozen=True, kw_only=True)
class Limit(Element):
    """Bounds of one coordinate; None means unbounded."""

    lower: Value | None = scalar(default=None, help="Smallest coordinate (rad or m)", by=dimension_along)
    upper: Value | None = scalar(default=None, help="Largest coordinate (rad or m)", by=dimension_along)
    velocity: Value | None = scalar(default=None, help="Largest speed (rad/s or m/s)", by=rate_rule(dimension_along))
    effort: Value | None = scalar(
        default=None, help="Largest torque or force (N·m or N)", by=force_rule(dimension_along)
    )
    acceleration: Value | None = scalar(
        default=None,
        help="Largest acceleration in planned motions (rad/s² or m/s²)",
        by=rate_rule(rate_rule(dimension_along)),
    )
    deceleration: Value | None = scalar(
        default=None,
        help="Largest deceleration in planned motions (rad/s² or m/s²); empty: as the acceleration",
        by=rate_rule(rate_rule(dimension_along)),
    )
    jerk: Value | None = scalar(default=None, help="Largest jerk in planned motions (rad/s³ or m/s³)")
    stop: str = choice(
        ("elastic", "hunt_crossley", "rigid", "off"),
        "Stop at the bounds in runs: spring and damper, Hunt–Crossley contact, rigid stop with instantaneous "
        "impact, or none",
        "elastic",
    )
    stiffness: Value | None = scalar(
        default=None,
        help="Stiffness of an elastic stop (N·m/rad or N/m); empty: derived from the inertia that meets it",
        by=stiffness_rule(dimension_along),
    )
    damping: Value | None = scalar(
        default=None,
        help="Damping of an elastic stop (N·m·s/rad or N·s/m), instead of a restitution",
        by=damping_rule(dimension_along),
    )
    restitution: Value | None = scalar("none", None, "Coefficient of restitution of the stop; empty: 0.3")
    forms: ClassVar[str] = "its bounds [lower, upper]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Limit | None:
        """Return the limit for a lower and an upper bound; None for any other list."""
        return cls(lower=items[0], upper=items[1]) if len(items) == 2 and are_plain_numbers(items) else None


RATES = ("velocity", "effort")
"""Fields of a limit that bound the joint's speed and force."""
NO_RATE = (0.0, -1.0)
"""Maximum speeds and forces that mean "unlimited": URDF files write 0, SDF and files converted from it −1."""


NO_BOUND = 1e60
"""Bounds from here on mean "unlimited": some programs write the largest number that they know (1.8e308)."""


def effective_motor_limit(value: Any) -> Any:
    """Return the effective maximum speed or force: infinite if none is given or the given value means "unlimited"."""
    return math.inf if value is None or value in NO_RATE or value >= NO_BOUND else value


LEVELS = ("friction", "static_friction", "backward_friction", "backward_static_friction")
"""Fields for the dry friction of joints and clutches: sliding and at rest, forward and backward."""
BY_REACTION = (
    *("friction_coefficient", "static_friction_coefficient"),
    *("bearing_radius", "thrust_radius", "bearing_distance"),
)
"""Fields for dry friction of joints that is proportional to their own reaction."""
Levels = tuple[Value, Value]
"""Dry friction while sliding and at rest."""


def friction_levels_by_direction(element: Any) -> tuple[Levels, Levels]:
    """Return the forward and backward friction levels of a joint or clutch, with missing values filled in. Joints that
    rotate about any axis have no backward direction."""
    kinetic, static, backward, at_rest = element.friction_levels
    if isinstance(element, Joint) and element.info.nq != element.info.nv:
        backward = at_rest = None
    static = kinetic if static is None else static
    if at_rest is None:
        at_rest = static if backward is None else backward
    return (kinetic, static), (kinetic if backward is None else backward, at_rest)


def check_static_friction(element: Any, where: str) -> None:
    """Raise ModelError if friction levels are numbers and static friction is lower than sliding friction."""
    for prefix, (sliding, resting) in zip(("", "backward_"), friction_levels_by_direction(element), strict=True):
        if isinstance(sliding, float) and isinstance(resting, float) and resting < sliding:
            raise ModelError(
                f"Static friction ({resting:g}) is less than kinetic friction ({sliding:g}).",
                where=f"{where}, {prefix}static_friction",
                remedy="Make static friction at least as large as kinetic friction.",
            )


@dataclass(frozen=True, kw_only=True)
class Mimic(Element):
    """Coupling q = ratio · q_leader + offset."""

    leader: str = reference("joint", "Joint that it follows")
    ratio: Value = scalar("none", 1.0, "Ratio")
    offset: Value = scalar(help="Offset (rad or m)", by=dimension_along)


def _speed_dimension(owners: tuple[Any, ...], _model: Any, index: int | None) -> str:
    return component_dimension(owners[-1].info.speed_dimensions, index)


@dataclass(frozen=True, kw_only=True)
class Joint(Element):
    """A joint between two bodies or frames ("world" is the ground)."""

    name: str = name()
    kind: str = kind_of_family(JOINT_KINDS, "Kind of joint", Revolute.name)
    parent: str = reference("frame", "Body or frame on the parent side, or world")
    child: str = reference("frame", "Body or frame on the child side")
    a: Pose = part(Pose, "Joint frame a in the parent", IDENTITY)
    b: Pose = part(Pose, "Joint frame b in the child", IDENTITY)
    axis: Vector = vector("none", (0.0, 0.0, 1.0), "Axis in frame a (normal of a planar joint)", spelled=axis_from_name)
    second_axis: Vector = vector(
        "none", (0.0, 1.0, 0.0), "Second axis of a universal joint, in frame a at q = 0", spelled=axis_from_name
    )
    pitch: Value = scalar("pitch", 0.01, "Advance of a screw per revolution")
    cut: str = choice(("auto", "yes", "no"), "Whether the joint is cut if it is in a loop", "auto")
    given_in: str = choice(
        ("frames", "world"),
        "Frames in which a, b and axes are given: those of the bodies; or, for a and axes, the world in the "
        "reference configuration",
        "frames",
    )
    limits: tuple[Limit, ...] = parts(Limit, "Bounds, one entry per coordinate")
    rest: tuple[Value, ...] = vector(
        default=(), help="Rest position, one number per coordinate", sizes=(), labels=(), by=dimension_along
    )
    start_speed: tuple[Value, ...] = vector(
        default=(), help="Initial speed of a simulation, one number per speed", sizes=(), labels=(), by=_speed_dimension
    )
    spring_rest: tuple[Value, ...] = vector(
        default=(),
        help="Position without spring force, one number per coordinate; empty: the rest position",
        sizes=(),
        labels=(),
        by=dimension_along,
    )
    damping: Value = scalar(help="Viscous damping (N·m·s/rad or N·s/m)", by=damping_rule(dimension_along))
    friction: Value = formula(
        default=0.0,
        help="Sliding (Coulomb) friction (N·m or N); for a brake a formula, e.g. min(40*t, 12)",
        own=(),
        by=force_rule(dimension_along),
    )
    static_friction: Value | None = formula(
        help="Static friction (N·m or N), or a formula; empty: equal to sliding friction",
        own=(),
        by=force_rule(dimension_along),
    )
    backward_friction: Value | None = formula(
        help="Sliding friction backward (N·m or N), or a formula; empty: as forward",
        own=(),
        by=force_rule(dimension_along),
    )
    backward_static_friction: Value | None = formula(
        help=(
            "Static friction against backward motion (N·m or N), or a formula; empty: as forward, or as sliding "
            "backward if that is given"
        ),
        own=(),
        by=force_rule(dimension_along),
    )
    stribeck_speed: Value = scalar(
        help="Stribeck speed (rad/s or m/s) over which friction falls from static to sliding; 0: at once",
        by=rate_rule(dimension_along),
    )
    friction_coefficient: Value = scalar(
        "none",
        0.0,
        "Coefficient of dry friction by the joint's own reaction, in addition to the friction above; 0: none",
    )
    static_friction_coefficient: Value | None = scalar(
        "none", None, "Static coefficient of this friction; empty: as while sliding"
    )
    bearing_radius: Value = scalar(
        "length", 0.0, "Radius of the pin or ball (m), at which friction by the reaction acts"
    )
    thrust_radius: Value = scalar("length", 0.0, "Radius of the shoulder that supports a pin axially (m)")
    bearing_distance: Value | None = scalar(
        "length",
        None,
        "Distance between the bearings of a pin, or the ends of a slide (m), which also support moments; empty: a "
        "single bearing",
    )
    stiffness: Value = scalar(
        help="Spring rate about `spring_rest` (N·m/rad or N/m)", by=stiffness_rule(dimension_along)
    )
    armature: Value = scalar(help="Reflected rotor inertia (kg·m² or kg)", by=inertia_rule(dimension_along))
    mimic: Mimic | None = part(Mimic, "Follows another joint")
    description: str = text("Notes")

    @property
    def relaxed_coordinates(self) -> tuple[Value, ...]:
        """Return the coordinates at which the joint's spring exerts no force."""
        return self.spring_rest or self.rest or self.info.neutral

    @property
    def friction_levels(self) -> tuple[Value | None, ...]:
        """Return the friction levels as given: sliding and at rest, forward, then the same backward."""
        return self.friction, self.static_friction, self.backward_friction, self.backward_static_friction

    @property
    def has_reaction_friction(self) -> bool:
        """Return True if the joint's friction depends on its reaction for some parameter values."""
        return self.friction_coefficient != 0.0 or self.static_friction_coefficient not in (None, 0.0)

    @property
    def info(self) -> type[JointKind]:
        """Return the joint's kind."""
        return JOINT_KINDS.get(self.kind, UnknownJoint)

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of a coordinate; for None, the common dimension of all."""
        return component_dimension(self.info.coordinate_dimensions, index)

    def validate(self) -> None:
        """Raise ModelError for a zero axis, a wrong number of entries per coordinate, a mimic with several coordinates,
        or equal sides."""
        if self.info is not UnknownJoint:
            self._check_entry_counts()
        if self.parent == self.child:
            raise ModelError(
                "Parent and child are the same.",
                where=f"joint '{self.name}', child",
                remedy="Connect two different bodies.",
            )

    def _check_entry_counts(self) -> None:
        where = f"joint '{self.name}'"
        for field in ("axis", "second_axis"):
            if field in self.info.uses and all(x == 0.0 for x in getattr(self, field)):
                raise ModelError(
                    "An axis of length zero has no direction.",
                    where=f"{where}, {field}",
                    remedy="Give a direction such as (0, 0, 1).",
                )
        if len(self.limits) > max(self.info.nq, 0) and self.limits:
            raise ModelError(
                f"{len(self.limits)} limits are given, but a {self.kind} joint has {self.info.nq} coordinates.",
                where=f"{where}, limits",
                remedy="Give at most one limit per coordinate.",
            )
        for field in ("rest", "spring_rest"):
            if getattr(self, field) and len(getattr(self, field)) != self.info.nq:
                raise ModelError(
                    f"{len(getattr(self, field))} numbers are given, but a {self.kind} joint has {self.info.nq} "
                    "coordinates.",
                    where=f"{where}, {field}",
                    remedy="Give one number per coordinate.",
                )
        if self.start_speed and len(self.start_speed) != self.info.nv:
            raise ModelError(
                f"{len(self.start_speed)} numbers are given, but a {self.kind} joint has {self.info.nv} speeds.",
                where=f"{where}, start_speed",
                remedy="Give one number per speed.",
            )
        check_static_friction(self, where)
        if self.mimic is not None and self.info.nq != 1:
            raise ModelError(
                "Only a joint with one coordinate can follow another.",
                where=f"{where}, mimic",
                remedy="Remove the coupling or change the kind.",
            )
