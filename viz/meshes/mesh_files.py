"""Loading of files as vtkPolyData: meshes, located and read by `core.files`, scaled, with smooth normals; and shapes of
lines as rods, points as balls, and polygons.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkTriangleFilter

from core.errors import KinetostatError
from core.files.meshes.lookup import resolve_mesh
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, forms_in
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import coloured, joined, moved, surface, swept, vtk_points, with_normals
from viz.placement import shifted

if TYPE_CHECKING:
    from core.files.meshes.meshes import MeshPart
    from core.robotica.shape_file import LineShape


POINT = 1.8
"""Radius of a point's ball, relative to that of the lines' rods."""

UNCOLOURED = (0.72, 0.74, 0.77, 1.0)
"""Colour of parts without their own in a file whose other parts have one."""


def shape_problem(form: g.ShapeFile) -> str:
    """Return the reason that a file cannot be drawn; "" if it can."""
    from core.robotica.shape_file import read_shape

    try:
        read_shape(form.path)
    except KinetostatError as error:
        return str(error)
    return ""


def read_shapes(form: g.ShapeFile) -> vtkPolyData:
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


def read(form: g.MeshFile) -> vtkPolyData:
    """Return the mesh of a file; the wire placeholder if it is missing or invalid (see `problem`)."""
    if problem(form):
        return form_mesh(g.MissingMesh(form.size))
    from core.files.meshes.meshes import load_mesh

    path = resolve_mesh(form.file, form.origin)
    assert path is not None
    parts = load_mesh(path).parts
    has_colours = any(part.color is not None for part in parts)
    return joined([_part(part, form.scale, has_colours) for part in parts])


def problem(form: g.MeshFile) -> str:
    """Return the reason that a mesh file cannot be drawn; "" if it can."""
    from core.files.meshes.meshes import load_mesh

    path = resolve_mesh(form.file, form.origin)
    if path is None:
        return f"The mesh file '{form.file}' was not found."
    try:
        load_mesh(path)
    except KinetostatError as error:
        return str(error)
    return ""


def problems_of(items: Iterable[Item]) -> tuple[str, ...]:
    """Return one sentence for each mesh or shape file that is replaced by a placeholder."""
    forms = forms_in(items)
    found = {problem(form) for form in forms if isinstance(form, g.MeshFile)}
    found |= {shape_problem(form) for form in forms if isinstance(form, g.ShapeFile)}
    return tuple(sorted(found - {""}))


def _part(part: MeshPart, scale: g.Point, has_colours: bool) -> vtkPolyData:
    factors = np.array(scale)
    faces = part.faces[:, ::-1] if float(np.prod(factors)) < 0.0 else part.faces
    data = with_normals(surface(part.vertices * factors, faces), merge=False)
    return coloured(data, part.color or UNCOLOURED) if has_colours else data
