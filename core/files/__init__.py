"""File formats: one folder per format, one row each in the table of formats, and the lookup of mesh files."""

from typing import TYPE_CHECKING

from core import later
from core.files.formats import (
    FORMATS,
    NATIVE,
    FileFormat,
    assembly,
    check,
    detect_format,
    dumps,
    format_model,
    load,
    loads,
    read,
    reread_sub_assemblies,
    save,
)
from core.files.source import ReadOptions, ReadResult, Source, TrustedFile, WriteResult

if TYPE_CHECKING:
    from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
    from core.files.meshes.meshes import MeshData, MeshPart, load_mesh

__all__ = [
    "FORMATS",
    "MESH_SUFFIXES",
    "NATIVE",
    "FileFormat",
    "MeshData",
    "MeshPart",
    "ReadOptions",
    "ReadResult",
    "Source",
    "TrustedFile",
    "WriteResult",
    "assembly",
    "check",
    "detect_format",
    "dumps",
    "format_model",
    "load",
    "load_mesh",
    "loads",
    "read",
    "reread_sub_assemblies",
    "resolve_mesh",
    "save",
]

__getattr__ = later.lazy_attributes(
    __name__,
    {
        "meshes.lookup": ("MESH_SUFFIXES", "resolve_mesh"),
        "meshes.meshes": ("MeshData", "MeshPart", "load_mesh"),
    },
)
