"""Conversion of any form to vtkPolyData with normals, cached, and simplified for rendering during motion. Mesh files
are read through `core.files`. Back faces of solids (closed surfaces, visible only from outside) need not be drawn.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkQuadricDecimation, vtkStaticCleanPolyData, vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes import mesh_files
from viz.meshes.plain_forms import COARSE, form_mesh
from viz.meshes.polydata import joined, moved, points_of, with_normals
from viz.placement import matrix

MERGED = 1e-6
"""Distance, relative to a form's size, below which points are merged."""
UNCLOSED = (g.Sector, g.MissingMesh, g.ShapeFile)
"""Forms that are flat, or may be; all others except files are solids for any dimensions."""
FEW, SHARE = 600, 0.125
"""Smallest number of polygons, and share of them, kept from the mesh of a file."""
_thinned: dict[g.MeshFile, vtkPolyData] = {}


@lru_cache(maxsize=2048)
def mesh(form: g.Geometry) -> vtkPolyData:
    """Return the mesh of a form; the same object for equal forms. Do not modify it.

    Colours that belong to the form itself (triads, mesh files) are its point scalars.
    """
    if isinstance(form, g.Compound):
        return _compound(form)
    if isinstance(form, g.MeshFile):
        return mesh_files.read(form)
    if isinstance(form, g.ShapeFile):
        return mesh_files.read_shapes(form)
    return form_mesh(form)


def _compound(form: g.Compound) -> vtkPolyData:
    parts = [moved(mesh(part.geometry), matrix(part.placement)) for part in form.parts]
    return parts[0] if len(parts) == 1 else joined(parts)


def is_solid(form: g.Geometry) -> bool:
    """Return True if a form's surface is closed and oriented outward."""
    if isinstance(form, g.Compound):
        return all(is_solid(part.geometry) for part in form.parts)
    return _is_solid_file(form) if isinstance(form, g.MeshFile) else not isinstance(form, UNCLOSED)


@lru_cache(maxsize=1024)
def _is_solid_file(form: g.MeshFile) -> bool:
    return is_closed(mesh(form))


def is_closed(data: vtkPolyData) -> bool:
    """Return True if a surface is closed, consistently oriented (each edge is traversed equally often in both
    directions), and faces outward."""
    triangles, clean = vtkTriangleFilter(), vtkStaticCleanPolyData()
    triangles.SetInputData(data)
    triangles.PassLinesOff()
    triangles.PassVertsOff()
    clean.SetInputConnection(triangles.GetOutputPort())
    clean.SetTolerance(MERGED)
    clean.Update()
    merged = clean.GetOutput()
    if data.GetNumberOfLines() or merged.GetNumberOfPolys() == 0:
        return False
    faces = vtk_to_numpy(merged.GetPolys().GetConnectivityArray()).astype(np.int64).reshape(-1, 3)
    begin, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    count = merged.GetNumberOfPoints()
    if not np.array_equal(np.sort(begin * count + end), np.sort(end * count + begin)):
        return False
    a, b, c = (points_of(merged)[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0


def stand_in(form: g.Geometry) -> vtkPolyData:
    """Return a simplified mesh of the form; for a mesh file the full one until `thin` has run. Do not modify it."""
    if isinstance(form, g.MeshFile):
        return _thinned.get(form) or mesh(form)
    return mesh(form) if isinstance(form, g.ShapeFile) else _simplified_form(form)


@lru_cache(maxsize=2048)
def _simplified_form(form: g.Geometry) -> vtkPolyData:
    if isinstance(form, g.Compound):
        parts = [moved(stand_in(part.geometry), matrix(part.placement)) for part in form.parts]
        return parts[0] if len(parts) == 1 else joined(parts)
    return form_mesh(form, COARSE)


def thin(form: g.Geometry) -> None:
    """Create the simplified mesh of a mesh file: takes a second for 200,000 polygons, and may run in a thread."""
    if not isinstance(form, g.MeshFile) or form in _thinned:
        return
    data = mesh(form)
    count = data.GetNumberOfPolys()
    kept = max(FEW, SHARE * count)
    if kept < count and data.GetPointData().GetScalars() is None:
        triangles, clean, fewer = vtkTriangleFilter(), vtkCleanPolyData(), vtkQuadricDecimation()
        triangles.SetInputData(data)
        clean.SetInputConnection(triangles.GetOutputPort())
        fewer.SetInputConnection(clean.GetOutputPort())
        fewer.SetTargetReduction(1.0 - kept / count)
        fewer.Update()
        data = with_normals(fewer.GetOutput())
    _thinned[form] = data
