"""Loading of files as vtkPolyData: meshes, found and read by `core.files`, scaled and with smooth normals; and shape
files, with lines as rods, points as balls, and polygons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkTriangleFilter

from core.errors import KinetostatError
from core.files.meshes.lookup import resolve_mesh
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, collect_forms
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import (
    merge_data,
    set_colours,
    surface_mesh,
    transform_polydata,
    tube_along_path,
    vtk_points,
    with_normals,
)
from viz.placement import translation

if TYPE_CHECKING:
    from core.files.meshes.meshes import MeshPart
    from core.robotica.shape_file import LineShape


POINT = 1.8
"""Radius of the ball that represents a point, relative to the radius of the rods that represent lines."""

UNCOLOURED = (0.72, 0.74, 0.77, 1.0)
"""Colour of parts without a colour, in a file whose other parts have one."""


def shape_problem(form: g.ShapeFile) -> str:
    """Return the reason why a shape file cannot be drawn; "" if it can."""
    from core.robotica.shape_file import read_shape

    try:
        read_shape(form.path)
    except KinetostatError as error:
        return str(error)
    return ""


def read_shapes(form: g.ShapeFile) -> vtkPolyData:
    """Return the mesh of a shape file; the wireframe placeholder if the file is missing or invalid (see
    `shape_problem`)."""
    from core.robotica.shape_file import read_shape

    try:
        return line_shape_mesh(read_shape(form.path), form.scale, form.thickness)
    except KinetostatError:
        return form_mesh(g.MissingMesh(10.0 * form.thickness))


def line_shape_mesh(shape: LineShape, scale: g.Point, thickness: float) -> vtkPolyData:
    """Return the mesh of a shape of lines, with its points scaled along x, y, z; the radii of rods and balls are not
    scaled."""
    parts = [tube_along_path(_remove_repeated_points(np.array(line) * scale), thickness) for line in shape.lines]
    parts += [_triangulate_polygon(np.array(corners) * scale) for corners in shape.polygons]
    for point in np.array(shape.points).reshape(-1, 3) * scale:
        parts.append(transform_polydata(form_mesh(g.Sphere(POINT * thickness)), translation(*point)))
    return merge_data(parts)


def _remove_repeated_points(points: np.ndarray) -> np.ndarray:
    """Remove consecutive duplicate points."""
    kept = np.append(True, np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-12)
    return points[kept] if kept.sum() > 1 else np.array([points[0], points[0] + (0.0, 0.0, 1e-9)])


def _triangulate_polygon(points: np.ndarray) -> vtkPolyData:
    """Triangulate a polygon, which need not be planar."""
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
    """Return the mesh of a mesh file; the wireframe placeholder if the file is missing or invalid."""
    if mesh_problem(form):
        return form_mesh(g.MissingMesh(form.size))
    from core.files.meshes.meshes import load_mesh

    path = resolve_mesh(form.file, form.origin)
    assert path is not None
    parts = load_mesh(path).parts
    has_colours = any(part.color is not None for part in parts)
    return merge_data([_part_mesh(part, form.scale, has_colours) for part in parts])


def mesh_problem(form: g.MeshFile) -> str:
    """Return the reason why a mesh file cannot be drawn; "" if it can."""
    from core.files.meshes.meshes import load_mesh

    path = resolve_mesh(form.file, form.origin)
    if path is None:
        return f"The mesh file '{form.file}' was not found."
    try:
        load_mesh(path)
    except KinetostatError as error:
        return str(error)
    return ""


def file_problems(items: Iterable[Item]) -> tuple[str, ...]:
    """Return one sentence for each mesh or shape file that is drawn as a placeholder."""
    forms = collect_forms(items)
    found = {mesh_problem(form) for form in forms if isinstance(form, g.MeshFile)}
    found |= {shape_problem(form) for form in forms if isinstance(form, g.ShapeFile)}
    return tuple(sorted(found - {""}))


def _part_mesh(part: MeshPart, scale: g.Point, has_colours: bool) -> vtkPolyData:
    factors = np.array(scale)
    faces = part.faces[:, ::-1] if float(np.prod(factors)) < 0.0 else part.faces
    data = with_normals(surface_mesh(part.vertices * factors, faces), merge=False)
    return set_colours(data, part.color or UNCOLOURED) if has_colours else data
