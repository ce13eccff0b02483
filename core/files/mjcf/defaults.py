"""Settings that apply to many elements of an MJCF file: compiler settings, flags, default classes.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import ModelError, suggest_names
from core.files.mjcf.includes import ORIGIN
from core.files.xml_source import Tag, XmlReader, local_name
from core.numerics.spatial.rotation import scale_into_range

Matrix = NDArray[np.float64]
_MASSES = ("boundmass", "boundinertia", "settotalmass")
ORIENTATIONS = ("quat", "euler", "axisangle", "xyaxes", "zaxis")
_SECTIONS = ("asset", "worldbody", "contact", "equality", "tendon", "actuator")
ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "pid", "so3", "plugin"),
)
"""Element names in <actuator>; the defaults of each of them apply to all."""


class CompilerSettings:
    """Compiler settings and flags of an MJCF file."""

    def __init__(self, reader: XmlReader, root: Tag) -> None:
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
                root, f"'{self.sequence}' is not a valid sequence of axes.", "compiler, eulerseq", "Use e.g. xyz."
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
        self.mesh_folder = values.get("meshdir", values.get("assetdir", "")).rstrip("/")
        self.strips_paths = values.get("strippath", "false") == "true"
        self.fits_bounds = values.get("fitaabb", "false") == "true"
        self.aligns_free = values.get("alignfree", "false") == "true"
        flags = [flag for option in reader.children(root, "option") for flag in reader.children(option, "flag")]
        self.disabled = {word for flag in flags for word, value in flag.attrib.items() if value == "disable"}
        if values.get("coordinate", "local") != "local":
            raise reader.error(
                root,
                "Global coordinates are no longer part of MJCF.",
                "compiler, coordinate",
                "Convert the file with an older MuJoCo.",
            )

    def is_disabled(self, feature: str) -> bool:
        """Return True if a flag disables a feature. With springs and dampers disabled there are no passive forces at
        all; with constraints disabled there are no equalities, limits, dry friction or contacts."""
        if feature == "passive":
            return "passive" in self.disabled or {"spring", "damper"} <= self.disabled
        if feature in ("equality", "limit", "frictionloss", "contact") and "constraint" in self.disabled:
            return True
        return feature in self.disabled or (feature in ("spring", "damper") and "passive" in self.disabled)

    def mesh_path(self, file: str) -> str:
        """Return the path of a mesh file, relative to the main file."""
        name = file.replace("\\", "/").rpartition("/")[2] if self.strips_paths else file
        return f"{self.mesh_folder}/{name}" if self.mesh_folder and not name.startswith("/") else name

    def angle_in_radians(self, value: float) -> float:
        """Convert an angle of the file to rad."""
        return float(np.deg2rad(value)) if self.degrees else value

    def rotation(self, tag: Tag, where: str) -> Matrix:
        """Return the (3, 3) rotation from an element's quat, euler, axisangle, xyaxes or zaxis."""
        reader = self.reader
        if tag.get("quat") is not None:
            w, x, y, z = reader.numbers(tag, "quat", 4, None, where)
            if not any((w, x, y, z)):
                raise reader.error(
                    tag, "A quaternion of length zero is not a rotation.", f"{where}, quat", "Use 1 0 0 0."
                )
            return quaternion_matrix((x, y, z, w))
        if tag.get("euler") is not None:
            angles = [self.angle_in_radians(value) for value in reader.numbers(tag, "euler", 3, None, where)]
            # lower case: about axes that turn along; upper case: about fixed axes (scipy has it the other way round)
            return np.asarray(Rotation.from_euler(self.sequence.swapcase(), angles).as_matrix())
        if tag.get("axisangle") is not None:
            *axis, angle = reader.numbers(tag, "axisangle", 4, None, where)
            return rotation_about(_unit_vector(np.array(axis)), self.angle_in_radians(angle))
        if tag.get("xyaxes") is not None:
            six = np.array(reader.numbers(tag, "xyaxes", 6, None, where))
            x_axis = _unit_vector(six[:3])
            second = np.array(scale_into_range(six[3:].tolist()))
            y_axis = _unit_vector(second - (second @ x_axis) * x_axis)
            return np.column_stack([x_axis, y_axis, np.cross(x_axis, y_axis)])
        if tag.get("zaxis") is not None:
            return rotation_from_z(np.array(reader.numbers(tag, "zaxis", 3, None, where)))
        return np.eye(3)

    def pose(self, tag: Tag, where: str) -> Matrix:
        """Return the (4, 4) pose from an element's position and rotation, or from its two end points."""
        if tag.get("fromto") is not None:
            return pose_between(self.read_end_points(tag, where))[0]
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation(tag, where)
        matrix[:3, 3] = self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), where)
        return matrix

    def read_end_points(self, tag: Tag, where: str) -> Matrix:
        """Return the two end points (2, 3) of an element."""
        return np.reshape(self.reader.numbers(tag, "fromto", 6, None, where), (2, 3))


def read_bounds(
    reader: XmlReader, settings: CompilerSettings, tag: Tag, attribute: str, switch: str, where: str
) -> tuple[float, float] | None:
    """Return the lower and upper bound of an attribute that a switch enables; None if there are no bounds. As in
    MuJoCo, bounds that do not increase (such as 0 0) count as none."""
    given = tag.get(switch, "auto")
    low, high = reader.numbers(tag, attribute, 2, (0.0, 0.0), where)
    if given == "false":
        return None
    text = ""
    if low >= high and (given == "true" or low or high):
        refused = "; MuJoCo refuses that" if given == "true" else ""
        text = f"{attribute}='{low:g} {high:g}' is not increasing{refused}: the bounds are ignored."
        if not tag.get(attribute):
            text = f"{switch}='true' needs a {attribute}; MuJoCo refuses that: there are no bounds."
    elif low < high and given == "auto" and not settings.auto_limits:
        text = f"{attribute} has no effect: with autolimits='false' it needs {switch}='true'; MuJoCo refuses that."
    if text:
        reader.add_finding(tag, "warning", f"{where}: {text}", f"Give {attribute} and {switch}.", field=attribute)
    return (low, high) if low < high and (given == "true" or settings.auto_limits) else None


def pose_between(ends: Matrix) -> tuple[Matrix, float]:
    """Return the (4, 4) pose midway between two points, and half their distance; z runs from the second to the first,
    as in MuJoCo (contrary to its reference)."""
    matrix = np.eye(4)
    matrix[:3, 3] = (ends[0] + ends[1]) / 2.0
    matrix[:3, :3] = rotation_from_z(ends[0] - ends[1])
    return matrix, float(np.linalg.norm(ends[1] - ends[0])) / 2.0


def quaternion_matrix(quaternion: Sequence[float]) -> Matrix:
    """Return the (3, 3) rotation of a quaternion x, y, z, w of any nonzero length."""
    if not any(quaternion):
        raise ModelError("A quaternion of length zero is not a rotation.", remedy="Use 1 0 0 0.")
    return np.asarray(Rotation.from_quat(scale_into_range(tuple(map(float, quaternion)))).as_matrix())


def _unit_vector(vector: Matrix) -> Matrix:
    vector = np.array(scale_into_range(vector.tolist()))
    length = np.linalg.norm(vector)
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def rotation_about(axis: Matrix, angle: float) -> Matrix:
    """Return the rotation (3, 3) about a unit vector, of whose angle, rad, whole turns may be a huge number."""
    return np.asarray(Rotation.from_rotvec(math.remainder(angle, math.tau) * axis).as_matrix())


def rotation_from_z(direction: Matrix) -> Matrix:
    """Return the smallest rotation (3, 3) that takes z to a direction."""
    z = _unit_vector(direction)
    axis, cosine = np.cross([0.0, 0.0, 1.0], z), z[2]
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
    return np.asarray(Rotation.from_rotvec(np.arctan2(sine, cosine) * axis / sine).as_matrix())


class DefaultClasses:
    """Default classes: attribute values for elements that do not define them."""

    def __init__(self, reader: XmlReader, root: Tag) -> None:
        self.reader = reader
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        self.unknown: set[str] = set()
        for tag in reader.children(root, "default"):
            self._define_class(tag, tag.get("class", "main"), self.classes["main"])

    def _define_class(self, tag: Tag, name: str, inherited: dict[str, dict[str, str]]) -> None:
        own = copy.deepcopy(inherited)
        for child in tag:
            kind = local_name(child)
            if kind and kind != "default":
                given = {key: value for key, value in child.attrib.items() if key != ORIGIN}
                own.setdefault("actuator" if kind in ACTUATORS else kind, {}).update(given)
        self.classes[name] = own
        for child in tag:
            if local_name(child) == "default":
                self._define_class(child, child.get("class", ""), own)

    def apply(self, root: Tag) -> None:
        """Write the default attributes into the elements that lack them."""
        for section in [child for child in root if local_name(child) in _SECTIONS]:
            self._apply_to_children(section, "main", local_name(section))

    def _apply_to_children(self, tag: Tag, class_name: str, section: str) -> None:
        class_name = self._class_of_element(tag, "childclass", class_name)
        for child in tag:
            kind = local_name(child)
            if not kind:
                continue
            kind = kind if section in ("asset", "worldbody", "contact") else section
            given = self.classes[self._class_of_element(child, "class", class_name)].get(kind, {})
            turned = any(child.get(key) is not None for key in ORIENTATIONS)
            for key, value in given.items():
                if child.get(key) is None and not (turned and key in ORIENTATIONS):
                    child.set(key, value)
            if kind != "tendon":
                self._apply_to_children(child, class_name, section)

    def _class_of_element(self, tag: Tag, attribute: str, class_name: str) -> str:
        """Return the default class named by an element; the current class if it names none or an unknown one."""
        name = tag.get(attribute)
        if name is None or name in self.classes:
            return class_name if name is None else str(name)
        if name not in self.unknown:
            self.unknown.add(name)
            text = f"There is no default class '{name[:60]}'; the class is ignored. MuJoCo refuses that."
            self.reader.add_finding(tag, "warning", text, suggest_names(name, self.classes), field=attribute)
        return "main" if attribute == "class" else class_name
