"""Simplified meshes with fewer polygons, for rendering during motion."""

from __future__ import annotations

from functools import lru_cache

from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkQuadricDecimation, vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes.meshes import mesh
from viz.meshes.plain_forms import COARSE, form_mesh
from viz.meshes.polydata import joined, moved, with_normals
from viz.placement import matrix

FEW, SHARE = 600, 0.125
"""Smallest number of polygons, and share of them, kept from the mesh of a file."""
_thinned: dict[g.MeshFile, vtkPolyData] = {}


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
