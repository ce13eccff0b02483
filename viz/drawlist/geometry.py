"""Forms the scene can draw, as plain values: equal values are the same form and share one mesh.

Lengths in m, angles in rad. Revolved forms stand along their z axis, centred, unless said otherwise.
"""

from __future__ import annotations

from math import pi

from core.later import dataclass
from viz.placement import IDENTITY, Placement

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Geometry:
    """Base of all forms."""


@dataclass(frozen=True)
class Box(Geometry):
    """A cuboid with edges cut by `bevel`."""

    size: Point
    bevel: float = 0.0


@dataclass(frozen=True)
class Cylinder(Geometry):
    """A cylinder along z; `sides` = 6 makes a nut."""

    radius: float
    length: float
    bevel: float = 0.0
    sides: int = 48


@dataclass(frozen=True)
class Tube(Geometry):
    """A hollow cylinder along z."""

    inner: float
    outer: float
    length: float


@dataclass(frozen=True)
class Sphere(Geometry):
    """A ball."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid(Geometry):
    """A ball stretched to three semi-axes."""

    radii: Point


@dataclass(frozen=True)
class Capsule(Geometry):
    """A cylinder along z of the given length with half balls at its ends."""

    radius: float
    length: float


@dataclass(frozen=True)
class Cone(Geometry):
    """A cone or, with `top` > 0, a truncated cone along z, centred at half its height."""

    radius: float
    length: float
    top: float = 0.0


@dataclass(frozen=True)
class Arc(Geometry):
    """A piece of a torus about z, from `start` to `end`, counted from x; `radius` to the middle of the tube."""

    radius: float
    tube: float
    start: float = 0.0
    end: float = 2.0 * pi


@dataclass(frozen=True)
class Sector(Geometry):
    """A flat piece of a disc or ring in the xy plane."""

    inner: float
    outer: float
    start: float = 0.0
    end: float = 2.0 * pi


@dataclass(frozen=True)
class Arrow(Geometry):
    """An arrow from the origin along z."""

    length: float
    shaft: float
    head_radius: float
    head_length: float


@dataclass(frozen=True)
class Helix(Geometry):
    """A wire winding about z, centred; `pitch` is the advance per turn (negative: left-handed)."""

    radius: float
    tube: float
    pitch: float
    length: float


@dataclass(frozen=True)
class Coil(Geometry):
    """A helical spring along z with straight ends, drawn for a `length` but one unit long, to be stretched; `start` and
    `end` (shares of the line, 0 … 1) are where it begins and ends, `ends` the share of the straight pieces."""

    radius: float
    wire: float
    turns: float
    length: float
    start: float = 0.0
    end: float = 1.0
    ends: float = 0.12
    aside: float = 0.0
    """Distance of its axis from z, along x."""


@dataclass(frozen=True)
class Spiral(Geometry):
    """A flat spiral spring in the xy plane, from `inner` to `outer` radius."""

    inner: float
    outer: float
    tube: float
    turns: float


@dataclass(frozen=True)
class Gearwheel(Geometry):
    """A gearwheel about z, centred: `radius` of the pitch circle, straight-sided teeth, a round bore."""

    radius: float
    width: float
    teeth: int
    bore: float = 0.0


@dataclass(frozen=True)
class Triad(Geometry):
    """Three rods x red, y green, z blue from the origin; `z_factor` lengthens z (of DH frames). Without `heads`,
    as arrows on a machine are handles, which can be dragged."""

    length: float
    z_factor: float = 1.0
    heads: bool = False


@dataclass(frozen=True)
class CenterMark(Geometry):
    """The quartered ball that marks a centre of mass."""

    radius: float


@dataclass(frozen=True)
class MissingMesh(Geometry):
    """A wire box with crossed faces where a mesh file is missing."""

    size: float


@dataclass(frozen=True)
class MeshFile(Geometry):
    """A mesh file as the user named it, looked for from the model's file `origin`.
    `size` (m) is that of the placeholder when the file is missing, `content` the fingerprint of the file, or ""."""

    file: str
    origin: str
    scale: Point = (1.0, 1.0, 1.0)
    size: float = 0.1
    content: str = ""


@dataclass(frozen=True)
class ShapeFile(Geometry):
    """A file of lines, polygons and points; `content`: its fingerprint; `thickness`: radius of lines, m."""

    path: str
    content: str
    scale: Point = (1.0, 1.0, 1.0)
    thickness: float = 0.005


@dataclass(frozen=True)
class Placed:
    """A form at a place inside a compound."""

    geometry: Geometry
    placement: Placement = IDENTITY


@dataclass(frozen=True)
class Compound(Geometry):
    """Several forms that move as one."""

    parts: tuple[Placed, ...]
