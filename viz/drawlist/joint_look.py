"""Look of a joint kind: the pieces of its glyph, and its rings and arrows.

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
    """Data for the glyph of a joint. Axes are unit vectors in frame a (at q = 0 also in b)."""

    r: float
    axis: Array
    second_axis: Array
    pitch: float
    lower: float | None
    upper: float | None
    """Bounds of the last coordinate; None if unbounded."""
    reach: float = 0.0
    """Offset along the axis by which frame b's body is drawn away from its position, m (see `viz.drawlist.layers`)."""


@dataclass(frozen=True)
class Piece:
    """Form fixed to a joint frame. A rod is stretched from there to the origin of the other frame."""

    name: str
    side: str
    geometry: g.Geometry
    pose: Array = field(default_factory=lambda: np.eye(4))
    colour: str = "joint"
    stretched: bool = False


@dataclass(frozen=True)
class Part:
    """Ring ("turn") or arrow ("slide") of a joint.

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
        """Part to which this limit belongs; itself if it is not a limit."""
        return replace(self, bound="")


@dataclass(frozen=True)
class Spot:
    """Position of a part: centre (3,), axis (3,), direction (3,) of a ring's zero value (for an arrow the origin of
    value zero is `zero`), and the displayed value (None for quaternions)."""

    centre: Array
    axis: Array
    reference: Array
    zero: Array
    value: float | None


KEYS = ("handle", "handle_second", "handle_third")
"""Colours of the first, second, third handle of a joint."""


@dataclass(frozen=True)
class Handle:
    """Handle of a part: frame that fixes its axis ("a" or "b"), axis in it, frame it is attached to, and colour."""

    part: Part
    fixed_to: str
    axis: Array
    reference: Array
    sits_on: str
    colour: str

    def spot(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> Spot:
        """Return the position of the part for these poses of the joint's frames; q : its coordinates, as measured by
        the kernel."""
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
    """Handle of a part along a column of the motion subspace, for any pose."""

    part: Part
    law: JointKind
    canonical: Array
    """Frame (4, 4) with the axis along z, in frames a and b."""
    colour: str

    def spot(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> Spot:
        """Return the position of the part, as in `Handle.spot`."""
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
    """Look of a joint kind; the base class is for kinds of which only the motion is known."""

    of: ClassVar[type[JointKind]]
    """Joint kind; kinds derived from it with the same motion have the same look."""
    stands_on_ground: ClassVar[bool] = True
    """True if a plinth supports the joint when it is on the ground."""

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        """Return the glyph of a joint."""
        return (
            Piece("socket", "a", g.Sphere(facts.r)),
            Piece("block", "b", g.Box((1.3 * facts.r,) * 3, 0.15 * facts.r), colour="rod"),
        )

    def depth_below(self, facts: Facts, upright: float) -> float:
        """Return the depth (m) of the glyph below its origin, into its support; `upright` is the vertical component of
        its axis in the world."""
        return 0.85 * facts.r

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> Sequence[Handle | MotionHandle]:
        """Return the rings and arrows of a joint, one for each speed.

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
    """Look of a joint that extends along its axis into its support."""

    def depth_below(self, facts: Facts, upright: float) -> float:
        """Return the length of the drum or sleeve below the origin, for an upright axis."""
        return 1.1 * facts.r if abs(upright) > 0.7 else 0.0


def turn(joint: str, axis: Array, sits_on: str, reference: Array | None = None) -> Handle:
    """Return a ring about an axis of frame a that moves the first coordinate."""
    aside = perpendicular(axis) if reference is None else reference
    return Handle(Part(joint, "turn", 0, 0), "a", axis, aside, sits_on, KEYS[0])


def slide(joint: str, axis: Array, k: int = 0) -> Handle:
    """Return an arrow along an axis of frame a that moves coordinate k."""
    return Handle(Part(joint, "slide", k, k), "a", axis, perpendicular(axis), "b", KEYS[k])


def free_turns(joint: str) -> list[Handle]:
    """Return rings about the axes of frame b that rotate a quaternion; the first speeds are rotational."""
    return [Handle(Part(joint, "turn", None, i), "b", np.eye(3)[i], np.eye(3)[i - 2], "b", "xyz"[i]) for i in range(3)]


def axis_of(R_ac: Array) -> Array:
    """Return the joint's axis (3,) in frame a."""
    return np.asarray(R_ac[:, 2])


def rod(facts: Facts, geometry: g.Geometry) -> Piece:
    """Return a rod along the axis, stretched from a to b."""
    return Piece("rod", "a", geometry, along(facts.axis), "rod", stretched=True)
