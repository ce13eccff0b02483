"""Geometric features under the pointer: the axis of a hole or cylinder, the centre of a face, a circle, an edge, a
corner. They are found on the drawn triangles, so that shapes and mesh files behave alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkStaticCellLocator
from vtkmodules.vtkFiltersCore import vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes.meshes import mesh
from viz.placement import Array, perpendicular, unit

MOST_TRIANGLES = 400_000
"""Largest number of triangles for which features are searched."""
SAME_POINT = 1e-6
"""Distance, relative to a form's size, below which two points coincide."""
FLAT = 1.0 - 1e-5
"""Cosine of the angle between triangles of one planar face (0.26°)."""
SMOOTH = float(np.cos(np.radians(35.0)))
"""Cosine of the largest angle between neighbours on one curved surface."""
ALONG = 0.02
"""Cosine of the angle up to which a face counts as parallel to an axis."""
ROUND = 0.02
"""Tolerance of a circle, relative to its radius."""
WHOLE = np.radians(120.0)
"""Smallest angle about its axis for which a surface counts as a cylinder rather than a fillet."""
FEWEST = 8
"""Smallest number of vertices of a polygon that counts as a circle."""
MOST_CORNERS = 40
"""Largest number of corners of a face for which its corners are offered as features."""


class Feature(NamedTuple):
    """Feature selected by pointing at it or near its outline. In the axes of the form, m.

    direction : (3,) unit vector, if it has one; outline : (n, 3) points of a line, along which one points
    """

    word: str
    point: Array
    direction: Array | None
    outline: Array


class FlatFace(NamedTuple):
    """Planar face of a surface, in the axes of the form, m.

    point, normal : (3,) its middle, outward; along : (3,) its longest straight edge, None if it has none; outlines :
    (n, 3) each, the closed lines around it
    """

    point: Array
    normal: Array
    along: Array | None
    outlines: tuple[Array, ...]


@dataclass(frozen=True)
class Surface:
    """Triangles with shared points. points (n, 3), faces (m, 3), normals (m, 3), beside (m, 3): the neighbour across
    the edge that begins at each corner, −1 if there is none."""

    points: Array
    faces: NDArray[np.int64]
    normals: Array
    beside: NDArray[np.int64]
    data: vtkPolyData
    locator: vtkStaticCellLocator

    def nearest(self, place: Array) -> int:
        """Return the triangle nearest to a point (3,)."""
        found, cell, part, distance = [0.0, 0.0, 0.0], mutable(0), mutable(0), mutable(0.0)
        self.locator.FindClosestPoint(place.tolist(), found, cell, part, distance)
        return int(cell)

    def region(self, start: int, belongs: NDArray[np.bool_], bend: float) -> NDArray[np.int64]:
        """Return the triangles, out of those in `belongs`, that are connected to one triangle across edges bent less
        than a limit (cosine)."""
        known, edge = {start}, [start]
        while edge:
            at = edge.pop()
            for other in self.beside[at].tolist():
                if other < 0 or other in known or not belongs[other]:
                    continue
                if float(self.normals[at] @ self.normals[other]) >= bend:
                    known.add(other)
                    edge.append(other)
        return np.array(sorted(known))

    def loops(self, region: NDArray[np.int64]) -> Iterator[Array]:
        """Yield the closed boundary lines (k, 3) of a region."""
        inside = set(region.tolist())
        after: dict[int, list[int]] = {}
        for face in region.tolist():
            for k in range(3):
                if self.beside[face, k] not in inside:
                    after.setdefault(int(self.faces[face, k]), []).append(int(self.faces[face, (k + 1) % 3]))
        while after:
            start = next(iter(after))
            line, at = [start], start
            while at in after:
                following = after[at].pop()
                if not after[at]:
                    del after[at]
                if following == start:
                    break
                line.append(following)
                at = following
            yield self.points[line]


def features(form: g.Geometry, place: Array) -> tuple[Feature, ...]:
    """Return the features at a point (3,) of a form's surface; the hole or cylinder that contains it first."""
    surface = _surface(form)
    if surface is None:
        return ()
    seed = surface.nearest(place)
    round_ = _cylinder(surface, seed, place)
    return round_ if round_ else tuple(_face(surface, seed))


def flat_face(form: g.Geometry, place: Array) -> FlatFace | None:
    """Return the planar face of a form's surface at a point (3,); None on curved surfaces."""
    surface = _surface(form)
    if surface is None:
        return None
    seed = surface.nearest(place)
    region, loops = _planar_region(surface, seed)
    if not loops or _cylinder(surface, seed, place):
        return None
    edges = [each.outline[1] - each.outline[0] for loop in loops for each in _edges(loop) if each.word == "edge"]
    longest = max(edges, key=lambda edge: float(edge @ edge), default=None)
    along = None if longest is None else unit(longest)
    outlines = tuple(np.vstack((loop, loop[:1])) for loop in loops)
    return FlatFace(_centroid(surface, region), surface.normals[seed], along, outlines)


def _surface(form: g.Geometry) -> Surface | None:
    """Return the triangles of a form with neighbours and sharp edges; None if there are none, or too many."""
    return _triangles(replace(form, bevel=0.0) if isinstance(form, g.Box | g.Cylinder) else form)


@lru_cache(maxsize=64)
def _triangles(form: g.Geometry) -> Surface | None:
    drawn = mesh(form)
    if not 0 < drawn.GetNumberOfPolys() <= MOST_TRIANGLES:
        return None
    cut = vtkTriangleFilter()
    cut.SetInputData(drawn)
    cut.PassLinesOff()
    cut.PassVertsOff()
    cut.Update()
    data = cut.GetOutput()
    corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3).astype(np.int64)
    every = np.asarray(vtk_to_numpy(data.GetPoints().GetData()), dtype=float)
    grain = SAME_POINT * float(np.ptp(every, axis=0).max(initial=0.0)) or 1.0
    _, first, shared = np.unique(
        np.round(every / grain).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    points, faces = every[first], shared.reshape(-1)[corners]
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    locator = vtkStaticCellLocator()
    locator.SetDataSet(data)
    locator.BuildLocator()
    return Surface(points, faces, normals, _neighbours(faces), data, locator)


def _neighbours(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangle (m, 3) across each edge; −1 if there is none, or more than one."""
    edges = np.stack((faces, np.roll(faces, -1, axis=1)), axis=2).reshape(-1, 2)
    _, number, count = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    order = np.argsort(number, kind="stable")
    starts = np.concatenate(([0], np.cumsum(count)[:-1]))[count == 2]
    one, other = order[starts], order[starts + 1]
    beside = np.full(len(edges), -1)
    beside[one], beside[other] = other // 3, one // 3
    return beside.reshape(-1, 3)


# ------------------------------------------------------------------------------- holes and cylinders


def _cylinder(surface: Surface, seed: int, place: Array) -> tuple[Feature, ...]:
    """Return the axis features of the cylinder that contains a triangle: the end or centre nearest to the given point
    first; () if it is not a cylinder."""
    axis = _local_axis(surface, seed)
    if axis is None:
        return ()
    along = np.abs(surface.normals @ axis) < ALONG
    u = perpendicular(axis)
    plane = np.column_stack((u, np.cross(axis, u)))
    flat = surface.points @ plane
    circle = _circle(flat[np.unique(surface.faces[_near(surface, seed, along)])])
    if circle is None:
        return ()
    center, radius = circle
    on = np.abs(np.linalg.norm(flat - center, axis=1) - radius) < ROUND * radius
    region = surface.region(seed, along & on[surface.faces].all(axis=1), SMOOTH)
    spokes = flat[np.unique(surface.faces[region])] - center
    if len(region) < FEWEST or _angle_covered(np.arctan2(spokes[:, 1], spokes[:, 0])) < WHOLE:
        return ()
    middle = flat[surface.faces[seed]].mean(axis=0) - center
    word = "hole" if float((surface.normals[seed] @ plane) @ middle) < 0.0 else "cylinder"
    heights = surface.points[np.unique(surface.faces[region])] @ axis
    low, high = float(heights.min()), float(heights.max())
    foot = plane @ center
    line = np.array([foot + low * axis, foot + high * axis])
    stops = sorted((low, (low + high) / 2.0, high), key=lambda height: abs(height - float(place @ axis)))
    return tuple(Feature(word, foot + height * axis, axis, line) for height in stops)


def _local_axis(surface: Surface, seed: int) -> Array | None:
    """Return the direction (3,) parallel to a triangle and all its smooth curved neighbours; None if there is none."""
    face = surface.region(seed, surface.normals @ surface.normals[seed] > FLAT, FLAT)
    crosses = []
    for at in face.tolist():
        for other in surface.beside[at].tolist():
            cosine = float(surface.normals[at] @ surface.normals[other]) if other >= 0 else 1.0
            if SMOOTH <= cosine < FLAT:
                crosses.append(unit(np.cross(surface.normals[at], surface.normals[other])))
    if len(crosses) < 2:
        return None
    table = np.array(crosses)
    table *= np.sign(table @ table[0])[:, None]
    if float((table @ table[0]).min()) < 0.999:
        return None
    axis = unit(table.mean(axis=0))
    return axis * (np.sign(axis[int(np.argmax(np.abs(axis)))]) or 1.0)


def _near(surface: Surface, seed: int, belongs: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the triangle and its neighbours in `belongs`, up to the third ring."""
    known = {seed}
    for _ in range(6):
        for at in tuple(known):
            for other in surface.beside[at].tolist():
                if other >= 0 and belongs[other] and float(surface.normals[at] @ surface.normals[other]) >= SMOOTH:
                    known.add(other)
    return np.array(sorted(known))


def _circle(points: Array) -> tuple[Array, float] | None:
    """Return centre (2,) and radius of the circle through points (n, 2); None if there is none."""
    middle = points.mean(axis=0)
    x = points - middle
    A = np.column_stack((2.0 * x, np.ones(len(x))))
    found, _, rank, _ = np.linalg.lstsq(A, (x**2).sum(axis=1), rcond=None)
    square = float(found[2] + found[:2] @ found[:2])
    if rank < 3 or square <= 0.0:
        return None
    radius = float(np.sqrt(square))
    off = np.abs(np.linalg.norm(x - found[:2], axis=1) - radius)
    return (found[:2] + middle, radius) if float(off.max()) < ROUND * radius else None


def _angle_covered(angles: Array) -> float:
    """Return 2π less the widest gap between angles, rad."""
    ordered = np.sort(angles)
    gaps = np.diff(np.append(ordered, ordered[0] + 2.0 * np.pi))
    return float(2.0 * np.pi - gaps.max())


# ------------------------------------------------------------------------------- faces


def _face(surface: Surface, seed: int) -> Iterator[Feature]:
    """Yield the centre of the planar face that contains a triangle, its circles, edges and corners; nothing on curved
    surfaces."""
    normal = surface.normals[seed]
    region, loops = _planar_region(surface, seed)
    if not loops:
        return
    yield Feature("face", _centroid(surface, region), normal, np.zeros((0, 3)))
    u = perpendicular(normal)
    plane = np.column_stack((u, np.cross(normal, u)))
    for loop in loops:
        circle = _circle(loop @ plane) if len(loop) >= FEWEST else None
        if circle is not None:
            center = plane @ circle[0] + normal * float(loop[0] @ normal)
            yield Feature("circle", center, normal, np.vstack((loop, loop[:1])))
        else:
            yield from _edges(loop)


def _planar_region(surface: Surface, seed: int) -> tuple[NDArray[np.int64], list[Array]]:
    """Return the planar region that contains a triangle, and its boundary lines; both empty on curved surfaces."""
    region = surface.region(seed, surface.normals @ surface.normals[seed] > FLAT, FLAT)
    return region, [] if _continues_smoothly(surface, region) else list(surface.loops(region))


def _continues_smoothly(surface: Surface, region: NDArray[np.int64]) -> bool:
    """Return True if a planar region continues smoothly and thus is a facet of a curved surface."""
    outside = np.setdiff1d(surface.beside[region], (*region.tolist(), -1))
    turned = surface.normals[outside] @ surface.normals[region[0]]
    return int((turned >= SMOOTH).sum()) >= 2


def _centroid(surface: Surface, region: NDArray[np.int64]) -> Array:
    a, b, c = (surface.points[surface.faces[region, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(((a + b + c) / 3.0 * area[:, None]).sum(axis=0) / area.sum())


def _edges(loop: Array) -> Iterator[Feature]:
    """Yield corners of a polygon (n, 3), midpoints of its edges, and the edges."""
    before, after = (_unit_rows(np.roll(loop, shift, axis=0) - loop) for shift in (1, -1))
    corners = loop[(before * after).sum(axis=1) > -FLAT]
    if not 2 <= len(corners) <= MOST_CORNERS:
        return
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = unit(end - start)
        along = along * (np.sign(along[int(np.argmax(np.abs(along)))]) or 1.0)
        yield Feature("corner", start, None, start[None])
        yield Feature("edge", (start + end) / 2.0, along, np.array([start, end]))


def _unit_rows(table: Array) -> Array:
    """Normalise rows (n, 3); zeros remain."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0.0)
