"""What a joint of each kind looks like: pieces fixed to its frames a and b, z along the joint's axis.

`r` is the radius (m) of a revolute joint in this model; everything else is in proportion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from viz.drawlist import geometry as g
from viz.placement import Array, along, placement, shifted


@dataclass(frozen=True)
class Facts:
    """What the glyph of a joint depends on. Axes are unit vectors in frame a (at q = 0 also in b)."""

    kind: str
    r: float
    axis: Array
    second_axis: Array
    pitch: float
    lower: float | None
    upper: float | None
    """Bounds of the (last) length coordinate, m; None if unbounded."""


@dataclass(frozen=True)
class Piece:
    """A form fixed to a joint frame. A rod is stretched from there to the origin of the other frame."""

    name: str
    side: str
    geometry: g.Geometry
    pose: Array = field(default_factory=lambda: np.eye(4))
    colour: str = "joint"
    stretched: bool = False


def pieces(facts: Facts) -> tuple[Piece, ...]:
    """The glyph of a joint."""
    return _GLYPHS[facts.kind](facts)


def barrel(r: float, length: float = 2.4) -> g.Geometry:
    """The short cylinder of a revolute joint: a drum between two slightly wider rims."""
    h = length * r
    drum = g.Placed(g.Cylinder(0.92 * r, h, 0.0))
    rims = [g.Placed(g.Cylinder(r, 0.22 * h, 0.06 * r), placement(shifted(0, 0, z))) for z in (-0.39 * h, 0.39 * h)]
    return g.Compound((drum, *rims))


def _revolute(f: Facts) -> tuple[Piece, ...]:
    return (Piece("drum", "a", barrel(f.r), along(f.axis)),)


def _rod(f: Facts, geometry: g.Geometry) -> Piece:
    return Piece("rod", "a", geometry, along(f.axis), "rod", stretched=True)


def _prismatic(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    sleeve = g.Box((1.8 * r, 1.8 * r, 2.6 * r), 0.16 * r)
    block = g.Box((1.15 * r, 1.15 * r, 0.9 * r), 0.12 * r)
    rod = _rod(f, g.Box((0.7 * r, 0.7 * r, 1.0)))
    return (Piece("sleeve", "a", sleeve, along(f.axis)), rod, Piece("block", "b", block, along(f.axis), "rod"))


def _screw(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    low, high = _travel(f)
    length = high - low + 2.0 * r
    pitch = np.copysign(max(abs(f.pitch), 0.3 * r), f.pitch or 1.0)
    thread = g.Compound(
        (
            g.Placed(g.Cylinder(0.5 * r, length, 0.05 * r)),
            g.Placed(g.Helix(0.5 * r, 0.085 * r, float(pitch), 0.98 * length)),
        )
    )
    middle = along(f.axis) @ shifted(0, 0, -(low + high) / 2.0)
    nut = g.Cylinder(1.15 * r, 1.1 * r, 0.1 * r, sides=6)
    return (Piece("nut", "a", nut, along(f.axis)), Piece("thread", "b", thread, middle, "rod"))


def _travel(f: Facts) -> tuple[float, float]:
    """Smallest and largest displacement, m, with 0 between them; ±4 r where unbounded."""
    low = -4.0 * f.r if f.lower is None else min(f.lower, 0.0)
    high = 4.0 * f.r if f.upper is None else max(f.upper, 0.0)
    return low, high


def _cylindrical(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    sleeve = g.Tube(0.55 * r, 0.95 * r, 2.6 * r)
    hub = g.Compound(
        (
            g.Placed(g.Cylinder(0.8 * r, 0.7 * r, 0.1 * r)),
            g.Placed(g.Box((1.9 * r, 0.35 * r, 0.4 * r), 0.05 * r)),
        )
    )
    rod = _rod(f, g.Cylinder(0.45 * r, 1.0))
    return (Piece("sleeve", "a", sleeve, along(f.axis)), rod, Piece("hub", "b", hub, along(f.axis), "rod"))


def _universal(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    pin = g.Compound(
        (
            g.Placed(g.Cylinder(0.42 * r, 2.6 * r, 0.06 * r)),
            g.Placed(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), placement(shifted(0, 0, 1.2 * r))),
            g.Placed(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), placement(shifted(0, 0, -1.2 * r))),
        )
    )
    return (
        Piece("first_pin", "a", pin, along(f.axis)),
        Piece("second_pin", "b", pin, along(f.second_axis), "rod"),
        Piece("heart", "b", g.Sphere(0.62 * r), along(f.second_axis), "joint"),
    )


def _planar(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    plate = g.Box((8.0 * r, 8.0 * r, 0.25 * r), 0.08 * r)
    below = along(f.axis) @ shifted(0, 0, -0.45 * r)
    puck = g.Compound(
        (
            g.Placed(g.Cylinder(1.2 * r, 0.6 * r, 0.12 * r)),
            g.Placed(g.Box((1.6 * r, 0.3 * r, 0.7 * r), 0.05 * r), placement(shifted(0.7 * r, 0, 0))),
        )
    )
    return (Piece("plate", "a", plate, below), Piece("puck", "b", puck, along(f.axis), "rod"))


def _spherical(f: Facts) -> tuple[Piece, ...]:
    r = f.r
    cup = g.Compound(
        (
            g.Placed(g.Arc(1.02 * r, 0.16 * r), placement(shifted(0, 0, -0.45 * r))),
            g.Placed(g.Cone(1.05 * r, 0.5 * r, 0.95 * r), placement(shifted(0, 0, -0.72 * r))),
        )
    )
    return (Piece("cup", "a", cup), Piece("ball", "b", g.Sphere(1.08 * r), colour="rod"))


def _free(f: Facts) -> tuple[Piece, ...]:
    return (Piece("triad", "b", g.Triad(2.4 * f.r)),)


def _fixed(f: Facts) -> tuple[Piece, ...]:
    return (Piece("block", "a", g.Box((1.3 * f.r,) * 3, 0.15 * f.r)),)


_GLYPHS: dict[str, Callable[[Facts], tuple[Piece, ...]]] = {
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "screw": _screw,
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "spherical": _spherical,
    "free": _free,
    "fixed": _fixed,
}


def plinth(r: float, top: float, drop: float) -> g.Geometry:
    """What carries a joint on the ground: from `top` below its origin down to a foot plate `drop` below it (−z)."""
    foot = 0.3 * r
    column = max(drop - top - foot, 0.1 * r)
    return g.Compound(
        (
            g.Placed(g.Cone(1.35 * r, column, 0.95 * r), placement(shifted(0, 0, -top - column / 2.0))),
            g.Placed(g.Cylinder(1.9 * r, foot, 0.08 * r), placement(shifted(0, 0, -drop + foot / 2.0))),
        )
    )


def depth_below(facts: Facts, upright: float) -> float:
    """How far (m) a joint's glyph reaches below its origin into what carries it; `upright` is the vertical
    component of its axis in the world."""
    if facts.kind == "spherical":
        return 0.85 * facts.r
    long = facts.kind in ("revolute", "continuous", "prismatic", "screw", "cylindrical")
    return 1.1 * facts.r if long and abs(upright) > 0.7 else 0.0


def gripper(r: float) -> g.Geometry:
    """Two fingers reaching along z to the origin (the tool point)."""
    finger = g.Box((0.28 * r, 0.5 * r, 1.5 * r), 0.05 * r)
    return g.Compound(
        (
            g.Placed(g.Box((2.0 * r, 0.6 * r, 0.4 * r), 0.08 * r), placement(shifted(0, 0, -1.6 * r))),
            g.Placed(finger, placement(shifted(0.86 * r, 0, -0.75 * r))),
            g.Placed(finger, placement(shifted(-0.86 * r, 0, -0.75 * r))),
            g.Placed(g.Cylinder(0.4 * r, 0.7 * r, 0.05 * r, 24), placement(shifted(0, 0, -2.0 * r))),
        )
    )
