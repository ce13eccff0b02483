"""Conversion of any geometric form to vtkPolyData with normals, cached, and simplified for rendering during motion.
Mesh files are read by `core.files`. The back faces of solids (closed surfaces, visible only from outside) need not be
drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkQuadricDecimation, vtkStaticCleanPolyData, vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes import mesh_files
from viz.meshes.plain_forms import COARSE, form_mesh
from viz.meshes.polydata import merge_data, point_array, transform_polydata, with_normals
from viz.placement import to_matrix

MERGED = 1e-6
"""Distance below which points are merged, relative to the size of the form."""
UNCLOSED = (g.Sector, g.MissingMesh, g.ShapeFile)
"""Classes of forms that are, or may be, flat; all others, except files, are solids for any dimensions."""
FEW, SHARE = 600, 0.125
"""Smallest number of polygons, and share of them, kept from the mesh of a file."""
_thinned: dict[g.MeshFile, vtkPolyData] = {}


@lru_cache(maxsize=2048)
def get_mesh(form: g.Geometry) -> vtkPolyData:
    """Return the cached mesh of a form; equal forms share one object, which must not be modified.

    Colours that belong to the form itself (triads, mesh files) are its point scalars.
    """
    if isinstance(form, g.Compound):
        return _compound_mesh(form)
    if isinstance(form, g.MeshFile):
        return mesh_files.read(form)
    if isinstance(form, g.ShapeFile):
        return mesh_files.read_shapes(form)
    return form_mesh(form)


def _compound_mesh(form: g.Compound) -> vtkPolyData:
    parts = [transform_polydata(get_mesh(part.geometry), to_matrix(part.placement)) for part in form.parts]
    return parts[0] if len(parts) == 1 else merge_data(parts)


def is_solid(form: g.Geometry) -> bool:
    """Return True if the surface of a form is closed and oriented outward."""
    if isinstance(form, g.Compound):
        return all(is_solid(part.geometry) for part in form.parts)
    return _is_solid_file(form) if isinstance(form, g.MeshFile) else not isinstance(form, UNCLOSED)


@lru_cache(maxsize=1024)
def _is_solid_file(form: g.MeshFile) -> bool:
    return is_closed(get_mesh(form))


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
    a, b, c = (point_array(merged)[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0


def get_simplified_mesh(form: g.Geometry) -> vtkPolyData:
    """Return a simplified mesh of the form; for a mesh file the full mesh until its simplified mesh has been computed.
    The mesh must not be modified."""
    if isinstance(form, g.MeshFile):
        return _thinned.get(form) or get_mesh(form)
    return get_mesh(form) if isinstance(form, g.ShapeFile) else _coarse_mesh(form)


@lru_cache(maxsize=2048)
def _coarse_mesh(form: g.Geometry) -> vtkPolyData:
    if isinstance(form, g.Compound):
        parts = [
            transform_polydata(get_simplified_mesh(part.geometry), to_matrix(part.placement)) for part in form.parts
        ]
        return parts[0] if len(parts) == 1 else merge_data(parts)
    return form_mesh(form, COARSE)


def simplify_mesh_file(form: g.Geometry) -> None:
    """Compute the simplified mesh of a mesh file. This takes a second for 200,000 polygons, and may run in a thread."""
    if not isinstance(form, g.MeshFile) or form in _thinned:
        return
    data = get_mesh(form)
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
