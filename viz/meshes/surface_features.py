"""Geometric features at a point of a surface: the axis of a hole or cylinder, the centre of a face, a circle, an edge,
a corner. They are found in the triangles that are drawn, so that shapes and mesh files behave alike."""

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
from viz.meshes.meshes import get_mesh
from viz.placement import Array, perpendicular_unit_vector, unit_vector

MOST_TRIANGLES = 400_000
"""Largest number of triangles for which features are searched."""
SAME_POINT = 1e-6
"""Distance below which two points coincide, relative to the size of the form."""
FLAT = 1.0 - 1e-5
"""Cosine of the largest angle between triangles of one planar face (0.26°)."""
SMOOTH = float(np.cos(np.radians(35.0)))
"""Cosine of the largest angle between neighbouring triangles of one curved surface."""
ALONG = 0.02
"""Cosine of the largest angle between a face and an axis that count as parallel."""
ROUND = 0.02
"""Tolerance of a circle, relative to its radius."""
WHOLE = np.radians(120.0)
"""Smallest angle about its axis over which a surface must extend to count as a cylinder rather than a fillet."""
FEWEST = 8
"""Smallest number of vertices of a polygon that counts as a circle."""
MOST_CORNERS = 40
"""Largest number of corners of a face for which the corners are features."""


class Feature(NamedTuple):
    """Feature that the user selects by pointing at it or near its outline; in the axes of the form, m.

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
    """Triangle mesh with shared points: points (n, 3), faces (m, 3), normals (m, 3), and beside (m, 3), the neighbour
    across the edge that begins at each corner, or −1."""

    points: Array
    faces: NDArray[np.int64]
    normals: Array
    beside: NDArray[np.int64]
    data: vtkPolyData
    locator: vtkStaticCellLocator

    def nearest_triangle(self, point: Array) -> int:
        """Return the triangle nearest to a point (3,)."""
        found, cell, part, distance = [0.0, 0.0, 0.0], mutable(0), mutable(0), mutable(0.0)
        self.locator.FindClosestPoint(point.tolist(), found, cell, part, distance)
        return int(cell)

    def connected_region(self, start: int, allowed: NDArray[np.bool_], smoothness: float) -> NDArray[np.int64]:
        """Return the triangles of `allowed` that are connected to a given triangle across edges whose bend is below a
        limit (cosine)."""
        known, edge = {start}, [start]
        while edge:
            at = edge.pop()
            for other in self.beside[at].tolist():
                if other < 0 or other in known or not allowed[other]:
                    continue
                if float(self.normals[at] @ self.normals[other]) >= smoothness:
                    known.add(other)
                    edge.append(other)
        return np.array(sorted(known))

    def boundary_loops(self, region: NDArray[np.int64]) -> Iterator[Array]:
        """Yield the closed boundary polygons (k, 3) of a region."""
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


def find_features(form: g.Geometry, point: Array) -> tuple[Feature, ...]:
    """Return the features at a point (3,) on the surface of a form; the hole or cylinder that contains the point comes
    first."""
    surface = _sharp_edged_surface(form)
    if surface is None:
        return ()
    seed = surface.nearest_triangle(point)
    round_ = _cylinder_features(surface, seed, point)
    return round_ if round_ else tuple(_face_features(surface, seed))


def find_flat_face(form: g.Geometry, point: Array) -> FlatFace | None:
    """Return the planar face at a point (3,) on the surface of a form; None if the surface is curved there."""
    surface = _sharp_edged_surface(form)
    if surface is None:
        return None
    seed = surface.nearest_triangle(point)
    region, loops = _planar_region(surface, seed)
    if not loops or _cylinder_features(surface, seed, point):
        return None
    edges = [
        each.outline[1] - each.outline[0] for loop in loops for each in _edge_features(loop) if each.word == "edge"
    ]
    longest = max(edges, key=lambda edge: float(edge @ edge), default=None)
    along = None if longest is None else unit_vector(longest)
    outlines = tuple(np.vstack((loop, loop[:1])) for loop in loops)
    return FlatFace(_centroid(surface, region), surface.normals[seed], along, outlines)


def _sharp_edged_surface(form: g.Geometry) -> Surface | None:
    """Return the triangle mesh of a form, with neighbours and without chamfers; None if it has no triangles, or too
    many."""
    return _triangulate(replace(form, bevel=0.0) if isinstance(form, g.Box | g.Cylinder) else form)


@lru_cache(maxsize=64)
def _triangulate(form: g.Geometry) -> Surface | None:
    drawn = get_mesh(form)
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
    return Surface(points, faces, normals, _find_neighbours(faces), data, locator)


def _find_neighbours(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangle (m, 3) across each edge; −1 if there is none or more than one."""
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


def _cylinder_features(surface: Surface, seed: int, point: Array) -> tuple[Feature, ...]:
    """Return the axis features of the cylinder that contains a triangle, starting with the end or centre nearest to the
    given point; () if the triangle is not on a cylinder."""
    axis = _local_axis(surface, seed)
    if axis is None:
        return ()
    along = np.abs(surface.normals @ axis) < ALONG
    u = perpendicular_unit_vector(axis)
    plane = np.column_stack((u, np.cross(axis, u)))
    flat = surface.points @ plane
    circle = _fit_circle(flat[np.unique(surface.faces[_nearby_triangles(surface, seed, along)])])
    if circle is None:
        return ()
    center, radius = circle
    on = np.abs(np.linalg.norm(flat - center, axis=1) - radius) < ROUND * radius
    region = surface.connected_region(seed, along & on[surface.faces].all(axis=1), SMOOTH)
    spokes = flat[np.unique(surface.faces[region])] - center
    if len(region) < FEWEST or _angle_covered(np.arctan2(spokes[:, 1], spokes[:, 0])) < WHOLE:
        return ()
    middle = flat[surface.faces[seed]].mean(axis=0) - center
    word = "hole" if float((surface.normals[seed] @ plane) @ middle) < 0.0 else "cylinder"
    heights = surface.points[np.unique(surface.faces[region])] @ axis
    low, high = float(heights.min()), float(heights.max())
    foot = plane @ center
    line = np.array([foot + low * axis, foot + high * axis])
    stops = sorted((low, (low + high) / 2.0, high), key=lambda height: abs(height - float(point @ axis)))
    return tuple(Feature(word, foot + height * axis, axis, line) for height in stops)


def _local_axis(surface: Surface, seed: int) -> Array | None:
    """Return the direction (3,) that is parallel to a triangle and to all of its smooth curved neighbours; None if
    there is none."""
    face = surface.connected_region(seed, surface.normals @ surface.normals[seed] > FLAT, FLAT)
    crosses = []
    for at in face.tolist():
        for other in surface.beside[at].tolist():
            cosine = float(surface.normals[at] @ surface.normals[other]) if other >= 0 else 1.0
            if SMOOTH <= cosine < FLAT:
                crosses.append(unit_vector(np.cross(surface.normals[at], surface.normals[other])))
    if len(crosses) < 2:
        return None
    table = np.array(crosses)
    table *= np.sign(table @ table[0])[:, None]
    if float((table @ table[0]).min()) < 0.999:
        return None
    axis = unit_vector(table.mean(axis=0))
    return axis * (np.sign(axis[int(np.argmax(np.abs(axis)))]) or 1.0)


def _nearby_triangles(surface: Surface, seed: int, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return a triangle and its neighbours in `allowed`, up to the third ring."""
    known = {seed}
    for _ in range(6):
        for at in tuple(known):
            for other in surface.beside[at].tolist():
                if other >= 0 and allowed[other] and float(surface.normals[at] @ surface.normals[other]) >= SMOOTH:
                    known.add(other)
    return np.array(sorted(known))


def _fit_circle(points: Array) -> tuple[Array, float] | None:
    """Return the centre (2,) and radius of the circle through points (n, 2); None if they are not on a circle."""
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
    """Return the angle covered by directions: 2π less the widest gap between them, rad."""
    ordered = np.sort(angles)
    gaps = np.diff(np.append(ordered, ordered[0] + 2.0 * np.pi))
    return float(2.0 * np.pi - gaps.max())


# ------------------------------------------------------------------------------- faces


def _face_features(surface: Surface, seed: int) -> Iterator[Feature]:
    """Yield the centre, circles, edges and corners of the planar face that contains a triangle; nothing on a curved
    surface."""
    normal = surface.normals[seed]
    region, loops = _planar_region(surface, seed)
    if not loops:
        return
    yield Feature("face", _centroid(surface, region), normal, np.zeros((0, 3)))
    u = perpendicular_unit_vector(normal)
    plane = np.column_stack((u, np.cross(normal, u)))
    for loop in loops:
        circle = _fit_circle(loop @ plane) if len(loop) >= FEWEST else None
        if circle is not None:
            center = plane @ circle[0] + normal * float(loop[0] @ normal)
            yield Feature("circle", center, normal, np.vstack((loop, loop[:1])))
        else:
            yield from _edge_features(loop)


def _planar_region(surface: Surface, seed: int) -> tuple[NDArray[np.int64], list[Array]]:
    """Return the planar region that contains a triangle, and its boundary polygons; both are empty on a curved
    surface."""
    region = surface.connected_region(seed, surface.normals @ surface.normals[seed] > FLAT, FLAT)
    return region, [] if _continues_smoothly(surface, region) else list(surface.boundary_loops(region))


def _continues_smoothly(surface: Surface, region: NDArray[np.int64]) -> bool:
    """Return True if the surface continues smoothly beyond a planar region, which is thus a facet of a curved
    surface."""
    outside = np.setdiff1d(surface.beside[region], (*region.tolist(), -1))
    turned = surface.normals[outside] @ surface.normals[region[0]]
    return int((turned >= SMOOTH).sum()) >= 2


def _centroid(surface: Surface, region: NDArray[np.int64]) -> Array:
    a, b, c = (surface.points[surface.faces[region, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(((a + b + c) / 3.0 * area[:, None]).sum(axis=0) / area.sum())


def _edge_features(loop: Array) -> Iterator[Feature]:
    """Yield the corners of a polygon (n, 3), the midpoints of its edges, and its edges."""
    before, after = (_unit_rows(np.roll(loop, shift, axis=0) - loop) for shift in (1, -1))
    corners = loop[(before * after).sum(axis=1) > -FLAT]
    if not 2 <= len(corners) <= MOST_CORNERS:
        return
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = unit_vector(end - start)
        along = along * (np.sign(along[int(np.argmax(np.abs(along)))]) or 1.0)
        yield Feature("corner", start, None, start[None])
        yield Feature("edge", (start + end) / 2.0, along, np.array([start, end]))


def _unit_rows(table: Array) -> Array:
    """Normalise rows (n, 3); zero rows stay zero."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0.0)
