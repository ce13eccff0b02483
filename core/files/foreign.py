"""File formats of other programs that cannot be read; they are recognised so that the message can name the format and
suggest a remedy."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from core.errors import FileError
from core.files.source import Source

_CONVERT = "Convert it to URDF or MJCF and open that."
_AS_MESH = "Add it to a body as a shape of a machine."
_EXPORT = "Export its parts as meshes (STL, glTF) and show them as shapes of bodies."


class UnsupportedFormat(NamedTuple):
    """Unsupported format: its name, the pattern at the beginning of its files, its suffixes, and the remedy."""

    name: str
    sign: re.Pattern[bytes]
    suffixes: tuple[str, ...] = ()
    remedy: str = _CONVERT


def _root_pattern(*names: str) -> re.Pattern[bytes]:
    """Return a pattern that matches XML files with one of these root elements."""
    return re.compile(
        rb"\A(?:\xef\xbb\xbf)?\s*+(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)\s*)*<(?:\w+:)?(?:"
        + "|".join(names).encode()
        + rb")[\s/>]",
        re.S,
    )


FOREIGN = (
    UnsupportedFormat("an SDF file (SDFormat, of Gazebo)", _root_pattern("sdf", "gazebo", "world"), (".sdf", ".world")),
    UnsupportedFormat(
        "a SimMechanics or Simscape Multibody file",
        _root_pattern("PhysicalModelingXMLFile", "SimscapeMultibodyImportXML", "SimMechanicsImport"),
    ),
    UnsupportedFormat("an OpenSim model", _root_pattern("OpenSimDocument"), (".osim",)),
    UnsupportedFormat("a COLLADA file", _root_pattern("COLLADA"), (".dae",), _AS_MESH),
    UnsupportedFormat("an X3D scene", _root_pattern("X3D"), (".x3d",), _EXPORT),
    UnsupportedFormat("a part of an MJCF model", _root_pattern("mujocoinclude"), (), "Open the file that includes it."),
    UnsupportedFormat("a USD scene", re.compile(rb"\A(?:#usda|PXR-USDC)"), (".usd", ".usda", ".usdc", ".usdz")),
    UnsupportedFormat("a STEP file", re.compile(rb"\A\s*ISO-10303-21"), (".step", ".stp"), _EXPORT),
    UnsupportedFormat("an IGES file", re.compile(rb"\A.{72}S      1"), (".iges", ".igs"), _EXPORT),
    UnsupportedFormat("a VRML scene", re.compile(rb"\A#VRML"), (".wrl",), _EXPORT),
    UnsupportedFormat(
        "a mesh", re.compile(rb"\A(?:ply\r?\n|OFF\b|glTF|solid )"), (".stl", ".obj", ".glb", ".ply"), _AS_MESH
    ),
    UnsupportedFormat("an Adams model", re.compile(rb"\AADAMS/"), (".adm",)),
    UnsupportedFormat("a Modelica file", re.compile(rb"\A(?:within\b|package\b|model\b)"), (".mo",)),
    UnsupportedFormat(
        "an archive", re.compile(rb"\APK\x03\x04|\A\x1f\x8b"), (".zip", ".gz"), "Unpack it and open the model in it."
    ),
)


def recognise_unsupported_format(source: Source) -> UnsupportedFormat | None:
    """Recognise the unsupported format of a file by its content, else by its suffix; None if it is unknown."""
    name = source.file.lower()
    found = (each for each in FOREIGN if each.sign.match(source.data[:20_000]))
    return next(found, None) or next((each for each in FOREIGN if name.endswith(each.suffixes)), None)


def unsupported_format_error(format: UnsupportedFormat, source: Source) -> FileError:
    """Return the error for a file of an unsupported format."""
    return FileError(
        f"This is {format.name}, which cannot be opened as a machine.", file=source.file, remedy=format.remedy
    )


def wrong_root_error(root: Any, expected: str, format: str, source: Source) -> FileError:
    """Return the error for an XML file with an unexpected root element."""
    foreign = next((each for each in FOREIGN if each.sign.match(source.data[:20_000])), None)
    if foreign is not None:
        return unsupported_format_error(foreign, source)
    return FileError(
        f"The root element is <{str(root.tag).rpartition('}')[2][:40]}>, not <{expected}>.",
        file=source.file,
        line=root.sourceline,
        remedy=f"Choose {format}.",
    )
