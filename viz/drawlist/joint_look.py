"""How a kind of joint looks and is handled: its pieces, and its rings and arrows. Pure.

`JointLook` itself is the look of a kind that has none of its own: a plain knuckle, and handles along its own motion. A
kind's own look is a class in `viz.drawlist.joints`. `r` is the radius (m) of a revolute joint in this model; everything
else is in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import ClassVar, Literal

import numpy as np

from core.joints import JointKind
from core.later import dataclass
from viz.drawlist import geometry as g
from viz.placement import Array, along, perpendicular, unit


@dataclass(frozen=True)
class Facts:
    """What the glyph of a joint depends on. Axes are unit vectors in frame a (at q = 0 also in b)."""

    r: float
    axis: Array
    second_axis: Array
    pitch: float
    lower: float | None
    upper: float | None
    """Bounds of the last coordinate; None if unbounded."""
    reach: float = 0.0
    """How far along the axis what frame b belongs to is drawn from where it is, m (see `viz.drawlist.layers`)."""


@dataclass(frozen=True)
class Piece:
    """A form fixed to a joint frame. A rod is stretched from there to the origin of the other frame."""

    name: str
    side: str
    geometry: g.Geometry
    pose: Array = field(default_factory=lambda: np.eye(4))
    colour: str = "joint"
    stretched: bool = False


@dataclass(frozen=True)
class Part:
    """A ring ("turn") or an arrow ("slide") of a joint.

    coordinate : index among the joint's coordinates that it moves; None where it turns a quaternion
    speed      : index among the joint's speeds: moving the part by x is moving along this unit speed by x
    bound      : "lower" or "upper": not the part itself, but the stop at that limit of its coordinate
    """

    joint: str
    kind: Literal["turn", "slide"]
    coordinate: int | None
    speed: int
    bound: Literal["", "lower", "upper"] = ""

    @property
    def whole(self) -> Part:
        """The part whose limit it is; itself, where it is no limit."""
        return replace(self, bound="")


@dataclass(frozen=True)
class Spot:
    """Where a part is: centre (3,), axis (3,), the direction (3,) of value zero of a ring (the origin of value zero
    of an arrow is `zero`), and the value shown now (None for quaternions)."""

    centre: Array
    axis: Array
    reference: Array
    zero: Array
    value: float | None


KEYS = ("handle", "handle_second", "handle_third")
"""Colours of the first, second, third handle of a joint."""


@dataclass(frozen=True)
class Handle:
    """A part with the frame that fixes its axis ("a" or "b"), the axis there, the frame it sits on, and its colour."""

    part: Part
    fixed_to: str
    axis: Array
    reference: Array
    sits_on: str
    colour: str

    def spot(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> Spot:
        """Where the part is when the joint's frames are there; q: its coordinates, as the kernel measures them."""
        fixed = X_WA if self.fixed_to == "a" else X_WB
        axis = fixed[:3, :3] @ self.axis
        centre = (X_WA if self.sits_on == "a" else X_WB)[:3, 3]
        if self.part.coordinate is None:
            return Spot(centre, axis, fixed[:3, :3] @ self.reference, centre, None)
        value = q[self.part.coordinate]
        if self.part.kind == "slide":
            return Spot(centre, axis, fixed[:3, :3] @ self.reference, centre - value * axis, value)
        reference = X_WA[:3, :3] @ self.reference
        reference = unit(reference - axis * float(axis @ reference))
        return Spot(centre, axis, reference, centre, value)


@dataclass(frozen=True)
class MotionHandle:
    """A part along a column of the motion subspace, wherever that points at a pose."""

    part: Part
    law: JointKind
    canonical: Array
    """(4, 4) frame with the axis along z, in frames a and b."""
    colour: str

    def spot(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> Spot:
        """See `Handle`."""
        X_Wb = X_WB @ self.canonical
        angular, linear = (np.array(each, dtype=float) for each in self.law.subspace(q)[self.part.speed])
        axis = X_Wb[:3, :3] @ unit(angular if self.part.kind == "turn" else linear)
        aside, centre = perpendicular(axis), X_WB[:3, 3]
        if self.part.coordinate is None:
            return Spot(centre, axis, aside, centre, None)
        value = q[self.part.coordinate]
        if self.part.kind == "slide":
            return Spot(centre, axis, aside, centre - value * axis, value)
        reference = np.cos(value) * aside - np.sin(value) * np.cross(axis, aside)
        return Spot(centre, axis, reference, centre, value)


class JointLook:
    """The look of a kind of joint; as it stands, of a kind of which nothing is known but its motion."""

    of: ClassVar[type[JointKind]]
    """The kind; a kind derived from it that keeps its motion looks the same."""
    stands_on_ground: ClassVar[bool] = True
    """Whether a plinth carries it where it stands on the ground."""

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        """The glyph of a joint."""
        return (
            Piece("socket", "a", g.Sphere(facts.r)),
            Piece("block", "b", g.Box((1.3 * facts.r,) * 3, 0.15 * facts.r), colour="rod"),
        )

    def depth_below(self, facts: Facts, upright: float) -> float:
        """How far (m) the glyph reaches below its origin into what carries it; `upright` is the vertical component of
        its axis in the world."""
        return 0.85 * facts.r

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> Sequence[Handle | MotionHandle]:
        """The rings and arrows of a joint of this name, one for each speed.

        R_ac : (3, 3) its canonical frame in frame a
        """
        canonical = np.eye(4)
        canonical[:3, :3] = R_ac
        plain = law.nq == law.nv
        return [
            MotionHandle(
                Part(joint, "turn" if np.any(np.array(angular, dtype=float)) else "slide", k if plain else None, k),
                law,
                canonical,
                KEYS[k % 3],
            )
            for k, (angular, _) in enumerate(law.subspace(law.neutral))
        ]


class AxialLook(JointLook):
    """The look of a joint that reaches along its axis into what carries it."""

    def depth_below(self, facts: Facts, upright: float) -> float:
        """The length of its drum or sleeve below the origin, where the axis is upright."""
        return 1.1 * facts.r if abs(upright) > 0.7 else 0.0


def turn(joint: str, axis: Array, sits_on: str, reference: Array | None = None) -> Handle:
    """A ring about an axis of frame a that moves the first coordinate."""
    aside = perpendicular(axis) if reference is None else reference
    return Handle(Part(joint, "turn", 0, 0), "a", axis, aside, sits_on, KEYS[0])


def slide(joint: str, axis: Array, k: int = 0) -> Handle:
    """An arrow along an axis of frame a that moves coordinate k."""
    return Handle(Part(joint, "slide", k, k), "a", axis, perpendicular(axis), "b", KEYS[k])


def free_turns(joint: str) -> list[Handle]:
    """Rings about the axes of frame b that turn a quaternion; the first speeds are those of rotation."""
    return [Handle(Part(joint, "turn", None, i), "b", np.eye(3)[i], np.eye(3)[i - 2], "b", "xyz"[i]) for i in range(3)]


def axis_of(R_ac: Array) -> Array:
    """(3,) the joint's axis in frame a."""
    return np.asarray(R_ac[:, 2])


def rod(facts: Facts, geometry: g.Geometry) -> Piece:
    """A rod along the axis, stretched from a to b."""
    return Piece("rod", "a", geometry, along(facts.axis), "rod", stretched=True)
