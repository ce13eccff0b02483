"""Joints as the document says them; what a kind of joint is stands in `core.joints`.

A joint connects frame *a* (parent side) with frame *b* (child side). At q = 0 they coincide. Its axis is given in *a*.
Positive q moves *b* relative to *a* by the right-hand rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from core.errors import ModelError
from core.joints import JOINT_KINDS, JointKind, Revolute, UnknownJoint
from core.model.dimensions import along, damping_of, force_of, inertia_of, one_of, rate_of, stiffness_of
from core.model.fields import (
    Element,
    Value,
    Vector,
    choice,
    kind_in,
    name,
    part,
    parts,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import named_axis, scalars
from core.model.shapes import IDENTITY, Pose


@dataclass(frozen=True, kw_only=True)
class Limit(Element):
    """Bounds of one coordinate; None means unbounded."""

    lower: Value | None = scalar(default=None, help="Smallest coordinate (rad or m)", by=along)
    upper: Value | None = scalar(default=None, help="Largest coordinate (rad or m)", by=along)
    velocity: Value | None = scalar(default=None, help="Largest speed (rad/s or m/s)", by=rate_of(along))
    effort: Value | None = scalar(default=None, help="Largest torque or force (N·m or N)", by=force_of(along))
    forms: ClassVar[str] = "its bounds [lower, upper]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Limit | None:
        """A lower and an upper bound."""
        return cls(lower=items[0], upper=items[1]) if len(items) == 2 and scalars(items) else None


@dataclass(frozen=True, kw_only=True)
class Mimic(Element):
    """Coupling q = ratio · q_leader + offset."""

    leader: str = reference("joint", "Joint that leads")
    ratio: Value = scalar("none", 1.0, "Ratio")
    offset: Value = scalar(help="Offset (rad or m)", by=along)


def _speed(owners: tuple[Any, ...], _model: Any, index: int | None) -> str:
    return one_of(owners[-1].info.speed_dimensions, index)


@dataclass(frozen=True, kw_only=True)
class Joint(Element):
    """A joint between two bodies or frames ("world" is the ground)."""

    name: str = name()
    kind: str = kind_in(JOINT_KINDS, "Kind of joint", Revolute.name)
    parent: str = reference("frame", "Body or frame on the parent side, or world")
    child: str = reference("frame", "Body or frame on the child side")
    a: Pose = part(Pose, "Joint frame a in the parent", IDENTITY)
    b: Pose = part(Pose, "Joint frame b in the child", IDENTITY)
    axis: Vector = vector("none", (0.0, 0.0, 1.0), "Axis in frame a (normal of a planar joint)", spelled=named_axis)
    second_axis: Vector = vector(
        "none", (0.0, 1.0, 0.0), "Second axis of a universal joint, in frame a at q = 0", spelled=named_axis
    )
    pitch: Value = scalar("pitch", 0.01, "Advance of a screw per revolution")
    cut: str = choice(("auto", "yes", "no"), "Whether the joint is cut when it lies in a loop", "auto")
    given_in: str = choice(
        ("frames", "world"),
        "Whether a, b and axes are given in the bodies' frames, or a and axes in the world in the reference pose",
        "frames",
    )
    limits: tuple[Limit, ...] = parts(Limit, "Bounds, one entry per coordinate")
    rest: tuple[Value, ...] = vector(
        default=(), help="Rest position, one number per coordinate", sizes=(), labels=(), by=along
    )
    start_speed: tuple[Value, ...] = vector(
        default=(), help="Speed at the beginning of a simulation, one number per speed", sizes=(), labels=(), by=_speed
    )
    spring_rest: tuple[Value, ...] = vector(
        default=(),
        help="Position without spring force, one number per coordinate; empty: the rest position",
        sizes=(),
        labels=(),
        by=along,
    )
    damping: Value = scalar(help="Viscous damping (N·m·s/rad or N·s/m)", by=damping_of(along))
    friction: Value = scalar(help="Coulomb friction (N·m or N)", by=force_of(along))
    stiffness: Value = scalar(help="Spring rate about `spring_rest` (N·m/rad or N/m)", by=stiffness_of(along))
    armature: Value = scalar(help="Reflected rotor inertia (kg·m² or kg)", by=inertia_of(along))
    mimic: Mimic | None = part(Mimic, "Follows another joint")
    description: str = text("Notes")

    @property
    def relaxed(self) -> tuple[Value, ...]:
        """Where its spring exerts nothing, one number per coordinate."""
        return self.spring_rest or self.rest or self.info.neutral

    @property
    def info(self) -> type[JointKind]:
        """The joint's kind."""
        return JOINT_KINDS.get(self.kind, UnknownJoint)

    def along(self, model: Any, index: int | None) -> str:
        """What a coordinate measures; None: what all do."""
        return one_of(self.info.coordinate_dimensions, index)

    def validate(self) -> None:
        """Axis not zero, entries per coordinate, mimic only with one coordinate; two sides."""
        if self.info is not UnknownJoint:
            self._check_facts()
        if self.parent == self.child:
            raise ModelError(
                "Parent and child are the same.",
                where=f"joint '{self.name}', child",
                remedy="Connect two different bodies.",
            )

    def _check_facts(self) -> None:
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
                f"A {self.kind} joint has {self.info.nq} coordinates.",
                where=f"{where}, limits",
                remedy="Give at most one bound per coordinate.",
            )
        for field in ("rest", "spring_rest"):
            if getattr(self, field) and len(getattr(self, field)) != self.info.nq:
                raise ModelError(
                    f"A {self.kind} joint has {self.info.nq} coordinates.",
                    where=f"{where}, {field}",
                    remedy="Give one number per coordinate.",
                )
        if self.start_speed and len(self.start_speed) != self.info.nv:
            raise ModelError(
                f"A {self.kind} joint has {self.info.nv} speeds.",
                where=f"{where}, start_speed",
                remedy="Give one number per speed.",
            )
        if self.mimic is not None and self.info.nq != 1:
            raise ModelError(
                "Only a joint with one coordinate can follow another.",
                where=f"{where}, mimic",
                remedy="Remove the coupling or change the kind.",
            )
