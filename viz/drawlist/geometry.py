"""Geometric forms of the scene as plain values; forms with equal values share one mesh.

Lengths in m, angles in rad. Revolved forms stand along their z axis, centred, unless said otherwise.
"""

from __future__ import annotations

from math import pi

from core.later import dataclass
from viz.placement import IDENTITY, Placement

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Geometry:
    """Base class of all geometric forms."""


@dataclass(frozen=True)
class Box(Geometry):
    """Cuboid with edges chamfered by `bevel`."""

    size: Point
    bevel: float = 0.0


@dataclass(frozen=True)
class Cylinder(Geometry):
    """Cylinder along z; with `sides` = 6 the shape of a nut."""

    radius: float
    length: float
    bevel: float = 0.0
    sides: int = 48


@dataclass(frozen=True)
class Tube(Geometry):
    """Hollow cylinder along z."""

    inner: float
    outer: float
    length: float


@dataclass(frozen=True)
class Sphere(Geometry):
    """Sphere."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid(Geometry):
    """Ellipsoid with three semi-axes."""

    radii: Point


@dataclass(frozen=True)
class Capsule(Geometry):
    """Cylinder along z of the given length with hemispherical ends."""

    radius: float
    length: float


@dataclass(frozen=True)
class Cone(Geometry):
    """Cone along z or, with `top` > 0, truncated cone; centred at half its height."""

    radius: float
    length: float
    top: float = 0.0


@dataclass(frozen=True)
class Arc(Geometry):
    """Part of a torus about z, from angle `start` to `end`, measured from x; `radius` is that of the tube's centre
    line."""

    radius: float
    tube: float
    start: float = 0.0
    end: float = 2.0 * pi


@dataclass(frozen=True)
class Sector(Geometry):
    """Flat sector of a disc or ring in the xy plane."""

    inner: float
    outer: float
    start: float = 0.0
    end: float = 2.0 * pi


@dataclass(frozen=True)
class Arrow(Geometry):
    """Arrow from the origin along z."""

    length: float
    shaft: float
    head_radius: float
    head_length: float


@dataclass(frozen=True)
class Helix(Geometry):
    """Helical wire about z, centred; `pitch` is the advance per turn (negative: left-handed)."""

    radius: float
    tube: float
    pitch: float
    length: float


@dataclass(frozen=True)
class Coil(Geometry):
    """Coil spring along z with straight ends. Its proportions are those of a spring of the given `length`, but the mesh
    has unit length and is stretched when drawn. `start` and `end` are its ends as fractions of the line (0 … 1), `ends`
    is the fraction of the straight pieces."""

    radius: float
    wire: float
    turns: float
    length: float
    start: float = 0.0
    end: float = 1.0
    ends: float = 0.12
    aside: float = 0.0
    """Offset of the spring's axis from z, along x."""


@dataclass(frozen=True)
class Spiral(Geometry):
    """Flat spiral spring in the xy plane, from `inner` to `outer` radius."""

    inner: float
    outer: float
    tube: float
    turns: float


@dataclass(frozen=True)
class Gearwheel(Geometry):
    """Gearwheel about z, centred, with straight-sided teeth and a round bore; `radius` is that of the pitch circle."""

    radius: float
    width: float
    teeth: int
    bore: float = 0.0


@dataclass(frozen=True)
class Triad(Geometry):
    """Coordinate axes as rods from the origin: x red, y green, z blue; `z_factor` lengthens z (for DH frames). Arrow
    heads are drawn only with `heads`, because arrows on a machine look like draggable handles."""

    length: float
    z_factor: float = 1.0
    heads: bool = False


@dataclass(frozen=True)
class CenterMark(Geometry):
    """Quartered ball that marks a centre of mass."""

    radius: float


@dataclass(frozen=True)
class MissingMesh(Geometry):
    """Wireframe box with diagonals, the placeholder of a missing mesh file."""

    size: float


@dataclass(frozen=True)
class MeshFile(Geometry):
    """Mesh file as named by the user, relative to the model file `origin`. `size` (m) is that of the placeholder if the
    file is missing; `content` is the fingerprint of the file, or ""."""

    file: str
    origin: str
    scale: Point = (1.0, 1.0, 1.0)
    size: float = 0.1
    content: str = ""


@dataclass(frozen=True)
class ShapeFile(Geometry):
    """File of lines, polygons and points; `content`: its fingerprint; `thickness`: radius of the lines, m."""

    path: str
    content: str
    scale: Point = (1.0, 1.0, 1.0)
    thickness: float = 0.005


@dataclass(frozen=True)
class PlacedShape:
    """Shape at a pose inside a compound."""

    geometry: Geometry
    placement: Placement = IDENTITY


@dataclass(frozen=True)
class Compound(Geometry):
    """Several forms that move together."""

    parts: tuple[PlacedShape, ...]
