"""Joints as the document says them, and the table of joint kinds.

A joint connects frame *a* (parent side) with frame *b* (child side). At q = 0 they coincide. Its axis is given in *a*.
Positive q moves *b* relative to *a* by the right-hand rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from core.errors import ModelError
from core.model.dimensions import along, damping_of, force_of, inertia_of, one_of, rate_of, stiffness_of
from core.model.fields import Element, Value, Vector, choice, name, part, parts, reference, scalar, text, vector
from core.model.shapes import IDENTITY, Pose


class JointKind(NamedTuple):
    """Facts of a joint kind that documents, files and editors need (the motion law is in core.mechanics)."""

    name: str
    title: str
    coordinates: tuple[str, ...]
    """Suffixes of the coordinate names; one coordinate: ('',)."""
    coordinate_dimensions: tuple[str, ...]
    speeds: tuple[str, ...]
    speed_dimensions: tuple[str, ...]
    neutral: tuple[float, ...]
    constraints: int
    """How many relative motions it takes away: 6 − nv."""
    uses: tuple[str, ...]
    """Which of axis, second_axis, pitch matter."""

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of speeds."""
        return len(self.speeds)


def _plain(
    kind: str, title: str, dimensions: tuple[str, ...], names: tuple[str, ...], uses: tuple[str, ...]
) -> JointKind:
    rates = tuple("angular_velocity" if d == "angle" else "velocity" for d in dimensions)
    return JointKind(kind, title, names, dimensions, names, rates, (0.0,) * len(names), 6 - len(names), uses)


_W = ("wx", "wy", "wz")
_V = ("vx", "vy", "vz")
_QUATERNION = ("qx", "qy", "qz", "qw")
_ANGULAR = ("angular_velocity",) * 3
_LINEAR = ("velocity",) * 3

_KINDS = (
    _plain("revolute", "Revolute", ("angle",), ("",), ("axis",)),
    _plain("continuous", "Continuous", ("angle",), ("",), ("axis",)),
    _plain("prismatic", "Prismatic", ("length",), ("",), ("axis",)),
    _plain("screw", "Screw", ("angle",), ("",), ("axis", "pitch")),
    _plain("cylindrical", "Cylindrical", ("angle", "length"), ("angle", "displacement"), ("axis",)),
    _plain("universal", "Universal", ("angle", "angle"), ("1", "2"), ("axis", "second_axis")),
    _plain("planar", "Planar", ("length", "length", "angle"), ("x", "y", "angle"), ("axis",)),
    JointKind("spherical", "Spherical", _QUATERNION, ("none",) * 4, _W, _ANGULAR, (0.0, 0.0, 0.0, 1.0), 3, ()),
    JointKind(
        "free",
        "Free",
        ("x", "y", "z", *_QUATERNION),
        ("length",) * 3 + ("none",) * 4,
        _W + _V,
        _ANGULAR + _LINEAR,
        (0.0,) * 6 + (1.0,),
        0,
        (),
    ),
    JointKind("fixed", "Fixed", (), (), (), (), (), 6, ()),
)

JOINT_KINDS: dict[str, JointKind] = {kind.name: kind for kind in _KINDS}


@dataclass(frozen=True, kw_only=True)
class Limit(Element):
    """Bounds of one coordinate; None means unbounded."""

    lower: Value | None = scalar(default=None, help="Smallest coordinate (rad or m)", by=along)
    upper: Value | None = scalar(default=None, help="Largest coordinate (rad or m)", by=along)
    velocity: Value | None = scalar(default=None, help="Largest speed (rad/s or m/s)", by=rate_of(along))
    effort: Value | None = scalar(default=None, help="Largest torque or force (N·m or N)", by=force_of(along))


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
    kind: str = choice(tuple(JOINT_KINDS), "Kind of joint", "revolute")
    parent: str = reference("frame", "Body or frame on the parent side, or world")
    child: str = reference("frame", "Body or frame on the child side")
    a: Pose = part(Pose, "Joint frame a in the parent", IDENTITY)
    b: Pose = part(Pose, "Joint frame b in the child", IDENTITY)
    axis: Vector = vector("none", (0.0, 0.0, 1.0), "Axis in frame a (normal of a planar joint)")
    second_axis: Vector = vector("none", (0.0, 1.0, 0.0), "Second axis of a universal joint, in frame a at q = 0")
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
    damping: Value = scalar(help="Viscous damping (N·m·s/rad or N·s/m)", by=damping_of(along))
    friction: Value = scalar(help="Coulomb friction (N·m or N)", by=force_of(along))
    stiffness: Value = scalar(help="Spring rate about the rest position (N·m/rad or N/m)", by=stiffness_of(along))
    armature: Value = scalar(help="Reflected rotor inertia (kg·m² or kg)", by=inertia_of(along))
    mimic: Mimic | None = part(Mimic, "Follows another joint")
    description: str = text("Notes")

    @property
    def info(self) -> JointKind:
        """The facts of this joint's kind."""
        return JOINT_KINDS[self.kind]

    def along(self, model: Any, index: int | None) -> str:
        """What a coordinate measures; None: what all do."""
        return one_of(self.info.coordinate_dimensions, index)

    def validate(self) -> None:
        """Axis not zero, entries per coordinate, mimic only with one coordinate."""
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
        if self.rest and len(self.rest) != self.info.nq:
            raise ModelError(
                f"A {self.kind} joint has {self.info.nq} coordinates.",
                where=f"{where}, rest",
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
        if self.parent == self.child:
            raise ModelError(
                "Parent and child are the same.", where=f"{where}, child", remedy="Connect two different bodies."
            )
