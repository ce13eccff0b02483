"""Files of other programs that are not read: what they are called, and what helps."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from core.errors import FileError
from core.files.source import Source

_CONVERT = "Convert it to URDF or MJCF and open that."
_AS_MESH = "Add it to a body as a shape of a machine."
_EXPORT = "Export its parts as meshes (STL, glTF) and show them as shapes of bodies."


class Foreign(NamedTuple):
    """A format: its name, what its files begin with, its suffixes, and the remedy."""

    name: str
    sign: re.Pattern[bytes]
    suffixes: tuple[str, ...] = ()
    remedy: str = _CONVERT


def _root(*names: str) -> re.Pattern[bytes]:
    """XML with this root element."""
    return re.compile(
        rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<(?:\w+:)?(?:"
        + "|".join(names).encode()
        + rb")[\s/>]",
        re.S,
    )


FOREIGN = (
    Foreign("an SDF file (SDFormat, of Gazebo)", _root("sdf", "gazebo", "world"), (".sdf", ".world")),
    Foreign(
        "a SimMechanics or Simscape Multibody file",
        _root("PhysicalModelingXMLFile", "SimscapeMultibodyImportXML", "SimMechanicsImport"),
    ),
    Foreign("an OpenSim model", _root("OpenSimDocument"), (".osim",)),
    Foreign("a COLLADA file", _root("COLLADA"), (".dae",), _AS_MESH),
    Foreign("an X3D scene", _root("X3D"), (".x3d",), _EXPORT),
    Foreign("a part of an MJCF model", _root("mujocoinclude"), (), "Open the file that includes it."),
    Foreign("a USD scene", re.compile(rb"\A(?:#usda|PXR-USDC)"), (".usd", ".usda", ".usdc", ".usdz")),
    Foreign("a STEP file", re.compile(rb"\A\s*ISO-10303-21"), (".step", ".stp"), _EXPORT),
    Foreign("an IGES file", re.compile(rb"\A.{72}S      1"), (".iges", ".igs"), _EXPORT),
    Foreign("a VRML scene", re.compile(rb"\A#VRML"), (".wrl",), _EXPORT),
    Foreign("a mesh", re.compile(rb"\A(?:ply\r?\n|OFF\b|glTF|solid )"), (".stl", ".obj", ".glb", ".ply"), _AS_MESH),
    Foreign("an Adams model", re.compile(rb"\AADAMS/"), (".adm",)),
    Foreign("a Modelica file", re.compile(rb"\A(?:within\b|package\b|model\b)"), (".mo",)),
    Foreign(
        "an archive", re.compile(rb"\APK\x03\x04|\A\x1f\x8b"), (".zip", ".gz"), "Unpack it and open the model in it."
    ),
)


def foreign_of(source: Source) -> Foreign | None:
    """The format of a file that is of none that is read, by its content, else by its suffix."""
    name = source.file.lower()
    found = (each for each in FOREIGN if each.sign.match(source.data[:20_000]))
    return next(found, None) or next((each for each in FOREIGN if name.endswith(each.suffixes)), None)


def refusal(foreign: Foreign, source: Source) -> FileError:
    """The message about a file of such a format."""
    return FileError(f"This is {foreign.name}; it is not read as a machine.", file=source.file, remedy=foreign.remedy)


def wrong_root(root: Any, wanted: str, format: str, source: Source) -> FileError:
    """The message about an XML file whose root element is another one."""
    foreign = next((each for each in FOREIGN if each.sign.match(source.data[:20_000])), None)
    if foreign is not None:
        return refusal(foreign, source)
    return FileError(
        f"The root element is <{str(root.tag).rpartition('}')[2][:40]}>, not <{wanted}>.",
        file=source.file,
        line=root.sourceline,
        remedy=f"Choose {format}.",
    )
