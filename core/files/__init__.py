"""Formats of files: a folder and a row of one table each; and where meshes lie."""

from core.files.assemblies import assembly, refreshed
from core.files.formats import FORMATS, NATIVE, Format, check, dumps, format_of, load, loads, read, save, write
from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
from core.files.meshes.meshes import MeshData, MeshPart, load_mesh
from core.files.source import Options, Reading, Source, Trusted, Writing

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
