"""File formats: one folder per format, one row each in the table of formats, and the lookup of mesh files."""

from typing import TYPE_CHECKING

from core import later
from core.files.formats import (
    FORMATS,
    NATIVE,
    Format,
    assembly,
    check,
    dumps,
    format_of,
    load,
    loads,
    read,
    refreshed,
    save,
    write,
)
from core.files.source import Options, Reading, Source, Trusted, Writing

if TYPE_CHECKING:
    from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
    from core.files.meshes.meshes import MeshData, MeshPart, load_mesh

__all__ = [
    "FORMATS",
    "MESH_SUFFIXES",
    "NATIVE",
    "Format",
    "MeshData",
    "MeshPart",
    "Options",
    "Reading",
    "Source",
    "Trusted",
    "Writing",
    "assembly",
    "check",
    "dumps",
    "format_of",
    "load",
    "load_mesh",
    "loads",
    "read",
    "refreshed",
    "resolve_mesh",
    "save",
    "write",
]

__getattr__ = later.names(
    __name__,
    {
        "meshes.lookup": ("MESH_SUFFIXES", "resolve_mesh"),
        "meshes.meshes": ("MeshData", "MeshPart", "load_mesh"),
    },
)
