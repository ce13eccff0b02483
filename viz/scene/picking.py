"""Picking by intersecting rays with the meshes, without rendering and without a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkStaticCellLocator

from viz.camera import Ray
from viz.drawlist import geometry as g
from viz.meshes.meshes import get_mesh
from viz.placement import Array


class PickTarget(NamedTuple):
    """Object that can be picked: its form, its pose (4, 4; may include stretching) and what it represents."""

    geometry: g.Geometry
    pose: Array
    meaning: object


class RayHit(NamedTuple):
    """Nearest intersection of a ray: the object, the position (m), the surface normal there, and the distance (m)."""

    meaning: object
    position: Array
    normal: Array
    distance: float


def nearest_hit(ray: Ray, targets: Iterable[PickTarget]) -> RayHit | None:
    """Return the first target that a ray meets; None if it meets none."""
    table = list(targets)
    if not table:
        return None
    inverse = np.linalg.inv(np.array([target.pose for target in table]))
    origins = inverse[:, :3, :3] @ ray.origin + inverse[:, :3, 3]
    directions = inverse[:, :3, :3] @ ray.direction
    bounds = np.array([get_mesh(picking_form(target.geometry)).GetBounds() for target in table]).reshape(-1, 3, 2)
    enter, leave = _box_intersections(origins, directions, bounds)
    best: RayHit | None = None
    for i in np.argsort(enter):
        if leave[i] < max(enter[i], 0.0) or not np.isfinite(enter[i]):
            continue
        if best is not None and enter[i] > best.distance:
            break
        found = _first_face_hit(table[i], origins[i], directions[i], enter[i], leave[i])
        if found is not None and found[0] >= 0.0 and (best is None or found[0] < best.distance):
            distance, normal = found
            best = RayHit(table[i].meaning, ray.at(distance), _outward_normal(inverse[i], normal, ray), distance)
    return best


def picking_form(form: g.Geometry) -> g.Geometry:
    """Return the form to be used for picking: wires count as solid."""
    if isinstance(form, g.MissingMesh):
        return g.Box((form.size,) * 3)
    if isinstance(form, g.MeshFile) and get_mesh(form).GetNumberOfPolys() == 0:
        return g.Box((form.size,) * 3)
    return form


def _box_intersections(origins: Array, directions: Array, bounds: Array) -> tuple[Array, Array]:
    """Return the distances at which rays enter and leave boxes (n, 3, 2); a box is missed if the leaving distance is
    smaller."""
    slack = 1e-9 + 1e-6 * (bounds[:, :, 1] - bounds[:, :, 0]).max(axis=1)[:, None]
    safe = np.where(np.abs(directions) < 1e-15, 1e-15, directions)
    a = (bounds[:, :, 0] - slack - origins) / safe
    b = (bounds[:, :, 1] + slack - origins) / safe
    return np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)


@lru_cache(maxsize=1024)
def search_tree(form: g.Geometry) -> tuple[vtkStaticCellLocator, vtkPolyData]:
    """Return the search tree of the triangles of a form, and its mesh."""
    data = get_mesh(form)
    locator = vtkStaticCellLocator()
    locator.SetDataSet(data)
    locator.BuildLocator()
    return locator, data


def _first_face_hit(
    target: PickTarget, origin: Array, direction: Array, enter: float, leave: float
) -> tuple[float, Array] | None:
    """Return the distance along the (world) ray and the local normal of the first face that is hit between `enter` and
    `leave`; None if there is none."""
    locator, data = search_tree(picking_form(target.geometry))
    if data.GetNumberOfCells() == 0:
        return None
    start, end = max(enter - 1e-6, 0.0), leave + 1e-6
    t, point, local = mutable(0.0), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    part, cell = mutable(0), mutable(0)
    p, q = origin + start * direction, origin + end * direction
    if not locator.IntersectWithLine(p.tolist(), q.tolist(), 1e-12, t, point, local, part, cell):
        return None
    corners = data.GetCell(int(cell)).GetPoints()
    a, b, c = (np.array(corners.GetPoint(k)) for k in range(3))
    distance = float((np.array(point) - origin) @ direction / (direction @ direction))
    return distance, np.cross(b - a, c - a)


def _outward_normal(inverse: Array, normal: Array, ray: Ray) -> Array:
    """Return the unit normal of the face in world axes, pointing to the side of the ray's origin."""
    world = inverse[:3, :3].T @ normal
    length = float(np.linalg.norm(world))
    if length < 1e-300:
        return -ray.direction
    world = world / length
    return world if float(world @ ray.direction) <= 0.0 else -world
