"""What one means by pointing at a surface: the axis of a hole or cylinder, the middle of a face, a circle, an edge, a
corner. Found on the triangles that are drawn, so that plain shapes and mesh files are alike."""

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
"""Of larger files only the surface itself is known."""
SAME_POINT = 1e-6
"""Share of a form's size below which two points of its triangles are one."""
FLAT = 1.0 - 1e-5
"""Cosine of the angle between triangles of one face (0.26°)."""
SMOOTH = float(np.cos(np.radians(35.0)))
"""Cosine of the greatest angle between neighbours on one curved surface."""
ALONG = 0.02
"""Cosine of the angle up to which a face counts as parallel to an axis."""
ROUND = 0.02
"""Share of its radius by which a circle may be missed."""
WHOLE = np.radians(120.0)
"""Least angle about its axis of what is called a cylinder: a fillet is none."""
FEWEST = 8
"""Points that a polygon has at least which is called a circle."""
MOST_CORNERS = 40
"""A face with more has no corners that anyone means."""


class Feature(NamedTuple):
    """A place that is meant by pointing at, or near to, its outline. In the axes of the form, m.

    direction : (3,) unit vector, if it has one; outline : (n, 3) points of a line, along which one points
    """

    word: str
    point: Array
    direction: Array | None
    outline: Array


class FlatFace(NamedTuple):
    """A plane piece of a surface, in the axes of the form, m.

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
        """The triangle that is nearest to a place (3,)."""
        found, cell, part, distance = [0.0, 0.0, 0.0], mutable(0), mutable(0), mutable(0.0)
        self.locator.FindClosestPoint(place.tolist(), found, cell, part, distance)
        return int(cell)

    def region(self, start: int, belongs: NDArray[np.bool_], bend: float) -> NDArray[np.int64]:
        """The triangles that hang together with one, of those that belong, across edges that bend less (cosine)."""
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
        """(k, 3) the closed lines that bound a region."""
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
    """What may be meant by pointing at a place (3,) of a form's surface; the hole or cylinder that it lies on first."""
    surface = _surface(form)
    if surface is None:
        return ()
    seed = surface.nearest(place)
    round_ = _cylinder(surface, seed, place)
    return round_ if round_ else tuple(_face(surface, seed))


def flat_face(form: g.Geometry, place: Array) -> FlatFace | None:
    """The plane piece of a form's surface at a place (3,); None where it is bent."""
    surface = _surface(form)
    if surface is None:
        return None
    seed = surface.nearest(place)
    region, loops = _flat(surface, seed)
    if not loops or _cylinder(surface, seed, place):
        return None
    edges = [each.outline[1] - each.outline[0] for loop in loops for each in _edges(loop) if each.word == "edge"]
    longest = max(edges, key=lambda edge: float(edge @ edge), default=None)
    along = None if longest is None else unit(longest)
    outlines = tuple(np.vstack((loop, loop[:1])) for loop in loops)
    return FlatFace(_centroid(surface, region), surface.normals[seed], along, outlines)


def _surface(form: g.Geometry) -> Surface | None:
    """The triangles of a form, with neighbours, its edges sharp; None where there are none, or too many."""
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
    """(m, 3) the triangle across each edge; −1 where there is none, or more than one."""
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
    """The axis of the round surface on which a triangle lies: its place nearest to the pointed one of both ends and the
    middle, then the others; () if it is none."""
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
    """(3,) the direction to which a triangle and its bent smooth neighbours are all parallel; None if there is none."""
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
    """The triangle, and those around it that belong, three times over."""
    known = {seed}
    for _ in range(6):
        for at in tuple(known):
            for other in surface.beside[at].tolist():
                if other >= 0 and belongs[other] and float(surface.normals[at] @ surface.normals[other]) >= SMOOTH:
                    known.add(other)
    return np.array(sorted(known))


def _circle(points: Array) -> tuple[Array, float] | None:
    """Centre (2,) and radius of the circle through points (n, 2); None if they lie on none."""
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
    """2π less the widest gap between angles, rad."""
    ordered = np.sort(angles)
    gaps = np.diff(np.append(ordered, ordered[0] + 2.0 * np.pi))
    return float(2.0 * np.pi - gaps.max())


# ------------------------------------------------------------------------------- faces


def _face(surface: Surface, seed: int) -> Iterator[Feature]:
    """The middle of the plane face on which a triangle lies, its circles, edges and corners; none on bent surfaces."""
    normal = surface.normals[seed]
    region, loops = _flat(surface, seed)
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


def _flat(surface: Surface, seed: int) -> tuple[NDArray[np.int64], list[Array]]:
    """The plane piece on which a triangle lies, and the lines around it; none of these on bent surfaces."""
    region = surface.region(seed, surface.normals @ surface.normals[seed] > FLAT, FLAT)
    return region, [] if _bends(surface, region) else list(surface.loops(region))


def _bends(surface: Surface, region: NDArray[np.int64]) -> bool:
    """Whether a plane piece goes on smoothly: it is a facet of something bent."""
    outside = np.setdiff1d(surface.beside[region], (*region.tolist(), -1))
    turned = surface.normals[outside] @ surface.normals[region[0]]
    return int((turned >= SMOOTH).sum()) >= 2


def _centroid(surface: Surface, region: NDArray[np.int64]) -> Array:
    a, b, c = (surface.points[surface.faces[region, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(((a + b + c) / 3.0 * area[:, None]).sum(axis=0) / area.sum())


def _edges(loop: Array) -> Iterator[Feature]:
    """Corners of a polygon (n, 3), middles of its edges, and these themselves."""
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
    """(n, 3) rows of length one; zeros stay."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0.0)
