"""Detection of solid forms: closed surfaces, visible only from outside, whose back faces need not be drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkStaticCleanPolyData, vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes.meshes import mesh
from viz.meshes.polydata import points_of

MERGED = 1e-6
"""Distance, relative to a form's size, below which points are merged."""
UNCLOSED = (g.Sector, g.MissingMesh, g.ShapeFile)
"""Forms that are flat, or may be; all others except files are solids for any dimensions."""


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
