"""Loading of mesh files as vtkPolyData: located and read by `core.files`, scaled, with smooth normals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData

from core.errors import KinetostatError
from core.files.meshes.lookup import resolve_mesh
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, forms_in
from viz.meshes import shape_files
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import coloured, joined, surface, with_normals

if TYPE_CHECKING:
    from core.files.meshes.meshes import MeshPart

UNCOLOURED = (0.72, 0.74, 0.77, 1.0)
"""Colour of parts without their own in a file whose other parts have one."""


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
    found |= {shape_files.problem(form) for form in forms if isinstance(form, g.ShapeFile)}
    return tuple(sorted(found - {""}))


def _part(part: MeshPart, scale: g.Point, has_colours: bool) -> vtkPolyData:
    factors = np.array(scale)
    faces = part.faces[:, ::-1] if float(np.prod(factors)) < 0.0 else part.faces
    data = with_normals(surface(part.vertices * factors, faces), merge=False)
    return coloured(data, part.color or UNCOLOURED) if has_colours else data
