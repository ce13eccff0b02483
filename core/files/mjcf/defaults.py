"""What an MJCF file says once for many elements: compiler settings, default classes, included files.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

import copy
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import FileError
from core.files.source import Source, source_of_file
from core.files.xml_source import Reader, Tag, local_name, parse_xml

Matrix = NDArray[np.float64]
MAX_INCLUDES = 50
MOST_INCLUDED, INCLUDE = 50_000_000, 10_000
"""Bytes of all included files together, each as often as it is included; what a file counts besides."""
_MASSES = ("boundmass", "boundinertia", "settotalmass")
ORIENTATIONS = ("quat", "euler", "axisangle", "xyaxes", "zaxis")
_SECTIONS = ("compiler", "option", "default", "asset", "worldbody", "equality", "tendon")


def with_includes(root: Tag, source: Source, seen: tuple[str, ...] = (), left: list[int] | None = None) -> Tag:
    """The tree with every `<include file="…"/>` replaced by what stands in that file. Raises FileError.

    seen : files that led here; left : bytes that may still be included
    """
    seen = seen or (os.path.realpath(source.file),)
    left = [MOST_INCLUDED] if left is None else left
    for tag in [tag for tag in root.iter() if local_name(tag) == "include"]:
        name = tag.get("file", "")
        place = Path(os.path.dirname(os.path.abspath(source.file)), name) if source.file else Path(name)
        key = os.path.realpath(place)
        if not name or not place.is_file():
            raise FileError(
                f"There is no file '{name}'.",
                where="include",
                file=source.file,
                line=tag.sourceline,
                remedy="Put it beside this file or correct its name.",
            )
        if key in seen or len(seen) > MAX_INCLUDES:
            raise FileError(
                f"'{name}' is included within itself.",
                where="include",
                file=source.file,
                line=tag.sourceline,
                remedy="Remove one of the includes.",
            )
        inner = source_of_file(place)
        left[0] -= INCLUDE + len(inner.data)
        if left[0] < 0:
            raise FileError(
                "The files that it includes are too many, or too large, together.",
                where="include",
                file=source.file,
                line=tag.sourceline,
                remedy="Include fewer of them.",
            )
        found = with_includes(parse_xml(inner)[0], inner, (*seen, key), left)
        parent = tag.getparent()
        at = parent.index(tag)
        parent.remove(tag)
        for offset, child in enumerate(list(found)):
            parent.insert(at + offset, child)
    return root


class Settings:
    """Compiler settings."""

    def __init__(self, reader: Reader, root: Tag) -> None:
        self.reader = reader
        values = {key: value for tag in reader.children(root, "compiler") for key, value in tag.attrib.items()}
        self.degrees = values.get("angle", "degree") != "radian"
        self.sequence = values.get("eulerseq", "xyz")
        if (
            len(self.sequence) != 3
            or self.sequence not in (self.sequence.lower(), self.sequence.upper())
            or (set(self.sequence.lower()) - set("xyz"))
        ):
            raise reader.error(
                root, f"'{self.sequence}' is no sequence of axes.", "compiler, eulerseq", "Use e.g. xyz."
            )
        self.auto_limits = values.get("autolimits", "true") != "false"
        self.inertia_from_geom = values.get("inertiafromgeom", "auto")
        numbers = {
            key: reader.number(tag, key, 0.0, "compiler")
            for tag in reader.children(root, "compiler")
            for key in _MASSES
            if tag.get(key) is not None
        }
        self.least_mass, self.least_inertia, self.total_mass = (numbers.get(key, 0.0) for key in _MASSES)
        self.balanced = values.get("balanceinertia", "false") == "true"
        groups = values.get("inertiagrouprange", "0 5").split()
        if len(groups) != 2 or not all(word.isdecimal() for word in groups):
            raise reader.error(root, "Two whole numbers are needed.", "compiler, inertiagrouprange", "Use e.g. 0 5.")
        self.weighing_groups = range(int(groups[0]), int(groups[1]) + 1)
        """Groups of the geoms that count where inertia follows from geoms."""
        self.mesh_folder = values.get("meshdir", values.get("assetdir", ""))
        if values.get("coordinate", "local") != "local":
            raise reader.error(
                root,
                "Global coordinates are no longer part of MJCF.",
                "compiler, coordinate",
                "Convert the file with an older MuJoCo.",
            )

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return float(np.deg2rad(value)) if self.degrees else value

    def rotation(self, tag: Tag, where: str) -> Matrix:
        """(3, 3) of an element's quat, euler, axisangle, xyaxes or zaxis."""
        reader = self.reader
        if tag.get("quat") is not None:
            w, x, y, z = reader.numbers(tag, "quat", 4, None, where)
            if not any((w, x, y, z)):
                raise reader.error(tag, "A quaternion of length zero is no rotation.", f"{where}, quat", "Use 1 0 0 0.")
            return np.asarray(Rotation.from_quat((x, y, z, w)).as_matrix())
        if tag.get("euler") is not None:
            angles = [self.angle(value) for value in reader.numbers(tag, "euler", 3, None, where)]
            # lower case: about axes that turn along; upper case: about fixed axes (scipy has it the other way round)
            return np.asarray(Rotation.from_euler(self.sequence.swapcase(), angles).as_matrix())
        if tag.get("axisangle") is not None:
            *axis, angle = reader.numbers(tag, "axisangle", 4, None, where)
            return np.asarray(Rotation.from_rotvec(self.angle(angle) * _unit(np.array(axis))).as_matrix())
        if tag.get("xyaxes") is not None:
            six = np.array(reader.numbers(tag, "xyaxes", 6, None, where))
            x_axis = _unit(six[:3])
            y_axis = _unit(six[3:] - (six[3:] @ x_axis) * x_axis)
            return np.column_stack([x_axis, y_axis, np.cross(x_axis, y_axis)])
        if tag.get("zaxis") is not None:
            return from_z(np.array(reader.numbers(tag, "zaxis", 3, None, where)))
        return np.eye(3)

    def pose(self, tag: Tag, where: str) -> Matrix:
        """(4, 4) of an element's position and rotation."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation(tag, where)
        matrix[:3, 3] = self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), where)
        return matrix


def _unit(vector: Matrix) -> Matrix:
    length = np.linalg.norm(vector)
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def from_z(direction: Matrix) -> Matrix:
    """(3, 3) the shortest turn that takes z to a direction."""
    z = _unit(direction)
    axis, cosine = np.cross([0.0, 0.0, 1.0], z), z[2]
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
    return np.asarray(Rotation.from_rotvec(np.arctan2(sine, cosine) * axis / sine).as_matrix())


class Defaults:
    """Default classes: attributes that elements take unless they have them themselves."""

    def __init__(self, reader: Reader, root: Tag) -> None:
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for tag in reader.children(root, "default"):
            self._define(tag, tag.get("class", "main"), self.classes["main"])

    def _define(self, tag: Tag, name: str, inherited: dict[str, dict[str, str]]) -> None:
        own = copy.deepcopy(inherited)
        for child in tag:
            kind = local_name(child)
            if kind != "default":
                own.setdefault(kind, {}).update(child.attrib)
        self.classes[name] = own
        for child in tag:
            if local_name(child) == "default":
                self._define(child, child.get("class", ""), own)

    def apply(self, root: Tag) -> None:
        """Write the defaults into the elements, so that they can be read as if they stood there."""
        for section in [child for child in root if local_name(child) in _SECTIONS and local_name(child) != "default"]:
            self._walk(section, "main")

    def _walk(self, tag: Tag, current: str) -> None:
        current = tag.get("childclass", current)
        for child in tag:
            kind = local_name(child)
            if not kind:
                continue
            kind = "tendon" if kind in ("spatial", "fixed") else kind
            given = self.classes.get(child.get("class", current), self.classes["main"]).get(kind, {})
            turned = any(child.get(key) is not None for key in ORIENTATIONS)
            for key, value in given.items():
                if child.get(key) is None and not (turned and key in ORIENTATIONS):
                    child.set(key, value)
            self._walk(child, current)
