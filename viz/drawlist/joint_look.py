"""Look of a joint kind: the pieces of its glyph, and its draggable rings and arrows.

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
from viz.placement import Array, frame_along, perpendicular_unit_vector, unit_vector


@dataclass(frozen=True)
class GlyphParameters:
    """Data that determine the glyph of a joint. Axes are unit vectors in frame a (at q = 0 also in frame b)."""

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
class GlyphPiece:
    """Piece of a glyph, fixed to a frame of the joint. A rod is stretched from there to the origin of the other
    frame."""

    name: str
    side: str
    geometry: g.Geometry
    pose: Array = field(default_factory=lambda: np.eye(4))
    colour: str = "joint"
    stretched: bool = False


@dataclass(frozen=True)
class HandlePart:
    """Ring ("turn") or arrow ("slide") of a joint, or a limit of one.

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
    def unlimited_part(self) -> HandlePart:
        """Ring or arrow to which this limit belongs; itself if it is not a limit."""
        return replace(self, bound="")


@dataclass(frozen=True)
class PartPosition:
    """Position of a ring or arrow: centre (3,); axis (3,); direction (3,) of a ring's zero (an arrow has its zero at
    `zero`); and the displayed value (None for quaternions)."""

    centre: Array
    axis: Array
    reference: Array
    zero: Array
    value: float | None


KEYS = ("handle", "handle_second", "handle_third")
"""Colours of the first, second and third handle of a joint."""


@dataclass(frozen=True)
class Handle:
    """Ring or arrow: the frame that fixes its axis ("a" or "b"), the axis in that frame, the frame to which it is
    attached, and its colour."""

    part: HandlePart
    fixed_to: str
    axis: Array
    reference: Array
    sits_on: str
    colour: str

    def part_position(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> PartPosition:
        """Return the position of the ring or arrow for these poses of the joint's frames; q : its coordinates, as
        measured by the kernel."""
        fixed = X_WA if self.fixed_to == "a" else X_WB
        axis = fixed[:3, :3] @ self.axis
        centre = (X_WA if self.sits_on == "a" else X_WB)[:3, 3]
        if self.part.coordinate is None:
            return PartPosition(centre, axis, fixed[:3, :3] @ self.reference, centre, None)
        value = q[self.part.coordinate]
        if self.part.kind == "slide":
            return PartPosition(centre, axis, fixed[:3, :3] @ self.reference, centre - value * axis, value)
        reference = X_WA[:3, :3] @ self.reference
        reference = unit_vector(reference - axis * float(axis @ reference))
        return PartPosition(centre, axis, reference, centre, value)


@dataclass(frozen=True)
class MotionHandle:
    """Ring or arrow along a column of the motion subspace, for any pose."""

    part: HandlePart
    law: JointKind
    canonical: Array
    """Frame (4, 4) with the axis along z, in frames a and b."""
    colour: str

    def part_position(self, X_WA: Array, X_WB: Array, q: Sequence[float]) -> PartPosition:
        """Return the position of the ring or arrow, as in `Handle.part_position`."""
        X_Wb = X_WB @ self.canonical
        angular, linear = (np.array(each, dtype=float) for each in self.law.subspace(q)[self.part.speed])
        axis = X_Wb[:3, :3] @ unit_vector(angular if self.part.kind == "turn" else linear)
        aside, centre = perpendicular_unit_vector(axis), X_WB[:3, 3]
        if self.part.coordinate is None:
            return PartPosition(centre, axis, aside, centre, None)
        value = q[self.part.coordinate]
        if self.part.kind == "slide":
            return PartPosition(centre, axis, aside, centre - value * axis, value)
        reference = np.cos(value) * aside - np.sin(value) * np.cross(axis, aside)
        return PartPosition(centre, axis, reference, centre, value)


class JointLook:
    """Look of a joint kind; the base class is the look of kinds of which only the motion is known."""

    of: ClassVar[type[JointKind]]
    """Joint kind with this look; kinds derived from it that have the same motion share it."""
    stands_on_ground: ClassVar[bool] = True
    """True if the joint is supported by a plinth when it is on the ground."""

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        """Return the pieces of a joint's glyph."""
        return (
            GlyphPiece("socket", "a", g.Sphere(facts.r)),
            GlyphPiece("block", "b", g.Box((1.3 * facts.r,) * 3, 0.15 * facts.r), colour="rod"),
        )

    def depth_below(self, facts: GlyphParameters, upright: float) -> float:
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
                HandlePart(
                    joint, "turn" if np.any(np.array(angular, dtype=float)) else "slide", k if plain else None, k
                ),
                law,
                canonical,
                KEYS[k % 3],
            )
            for k, (angular, _) in enumerate(law.subspace(law.neutral))
        ]


class AxialLook(JointLook):
    """Look of a joint whose glyph extends along its axis into its support."""

    def depth_below(self, facts: GlyphParameters, upright: float) -> float:
        """Return the length of the drum or sleeve below the origin if the axis is upright."""
        return 1.1 * facts.r if abs(upright) > 0.7 else 0.0


def ring_handle(joint: str, axis: Array, sits_on: str, reference: Array | None = None) -> Handle:
    """Return a ring about an axis of frame a, for the first coordinate."""
    aside = perpendicular_unit_vector(axis) if reference is None else reference
    return Handle(HandlePart(joint, "turn", 0, 0), "a", axis, aside, sits_on, KEYS[0])


def arrow_handle(joint: str, axis: Array, k: int = 0) -> Handle:
    """Return an arrow along an axis of frame a, for coordinate k."""
    return Handle(HandlePart(joint, "slide", k, k), "a", axis, perpendicular_unit_vector(axis), "b", KEYS[k])


def quaternion_rings(joint: str) -> list[Handle]:
    """Return rings about the axes of frame b, for the rotation given by a quaternion; the first speeds are the angular
    ones."""
    return [
        Handle(HandlePart(joint, "turn", None, i), "b", np.eye(3)[i], np.eye(3)[i - 2], "b", "xyz"[i]) for i in range(3)
    ]


def joint_axis(R_ac: Array) -> Array:
    """Return the joint's axis (3,) in frame a."""
    return np.asarray(R_ac[:, 2])


def rod_piece(facts: GlyphParameters, geometry: g.Geometry) -> GlyphPiece:
    """Return a rod along the axis, stretched from a to b."""
    return GlyphPiece("rod", "a", geometry, frame_along(facts.axis), "rod", stretched=True)
