"""Conversion of any form to vtkPolyData with normals, cached. Mesh files are read through `core.files`."""

from __future__ import annotations

from functools import lru_cache

from vtkmodules.vtkCommonDataModel import vtkPolyData

from viz.drawlist import geometry as g
from viz.meshes import mesh_files, shape_files
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import joined, moved
from viz.placement import matrix


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
        return shape_files.read(form)
    return form_mesh(form)


def _compound(form: g.Compound) -> vtkPolyData:
    parts = [moved(mesh(part.geometry), matrix(part.placement)) for part in form.parts]
    return parts[0] if len(parts) == 1 else joined(parts)
