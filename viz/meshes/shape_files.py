"""Conversion of files with lines, polygons and points to vtkPolyData: lines as rods, points as balls, polygons
unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkTriangleFilter

from core.errors import KinetostatError
from viz.drawlist import geometry as g
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import joined, moved, swept, vtk_points, with_normals
from viz.placement import shifted

if TYPE_CHECKING:
    from core.robotica.shape_file import LineShape

POINT = 1.8
"""Radius of a point's ball, relative to that of the lines' rods."""


def problem(form: g.ShapeFile) -> str:
    """Return the reason that a file cannot be drawn; "" if it can."""
    from core.robotica.shape_file import read_shape

    try:
        read_shape(form.path)
    except KinetostatError as error:
        return str(error)
    return ""


def read(form: g.ShapeFile) -> vtkPolyData:
    """Return the shape of a file; the wire placeholder if it is missing or invalid (see `problem`)."""
    from core.robotica.shape_file import read_shape

    try:
        return drawn(read_shape(form.path), form.scale, form.thickness)
    except KinetostatError:
        return form_mesh(g.MissingMesh(10.0 * form.thickness))


def drawn(shape: LineShape, scale: g.Point, thickness: float) -> vtkPolyData:
    """Return the mesh of a shape, with its points scaled along x, y, z but not its rods and balls."""
    parts = [swept(_without_repeats(np.array(line) * scale), thickness) for line in shape.lines]
    parts += [_polygon(np.array(corners) * scale) for corners in shape.polygons]
    for point in np.array(shape.points).reshape(-1, 3) * scale:
        parts.append(moved(form_mesh(g.Sphere(POINT * thickness)), shifted(*point)))
    return joined(parts)


def _without_repeats(points: np.ndarray) -> np.ndarray:
    """Remove points that repeat the previous one."""
    kept = np.append(True, np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-12)
    return points[kept] if kept.sum() > 1 else np.array([points[0], points[0] + (0.0, 0.0, 1e-9)])


def _polygon(points: np.ndarray) -> vtkPolyData:
    """Triangulate a planar or nonplanar polygon."""
    data = vtkPolyData()
    data.SetPoints(vtk_points(points))
    cells = vtkCellArray()
    cells.InsertNextCell(len(points), list(range(len(points))))
    data.SetPolys(cells)
    triangles = vtkTriangleFilter()
    triangles.SetInputData(data)
    triangles.Update()
    return with_normals(triangles.GetOutput())
