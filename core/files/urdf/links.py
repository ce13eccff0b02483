"""Conversion of URDF elements to those of a model: links, joints, poses, materials and geometry
(http://wiki.ros.org/urdf/XML/link)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.errors import ModelError, suggest_names
from core.files.meshes.lookup import find_mesh_problem
from core.files.source import ReadOptions
from core.files.xml_source import Tag, UniqueNames, XmlReader, local_name
from core.model import Body, Box, Capsule, Cylinder, Inertia, Joint, Limit, Material, Mesh, Mimic, Pose, Sphere
from core.model.shapes import Shape
from core.model.validation.findings import Severity
from core.numerics.spatial.rotation import from_quaternion

GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
Place = tuple[str, str]
_REJECT = " ROS readers reject the file."


def read_pose(reader: XmlReader, tag: Tag, where: str) -> Pose:
    """Return the pose of the `<origin xyz rpy>` (or quat_xyzw) inside an element; the identity if there is none."""
    origin = reader.child(tag, "origin", where)
    if origin is None:
        return Pose()
    position = reader.vector(origin, "xyz", (0.0, 0.0, 0.0), where)
    if origin.get("quat_xyzw") is not None:
        quaternion = reader.numbers(origin, "quat_xyzw", 4, None, where)
        if not any(quaternion):
            raise reader.error(
                origin,
                "A quaternion of length zero is not a rotation.",
                f"{where}, quat_xyzw",
                "Write 0 0 0 1 for no rotation.",
            )
        return Pose(position=position, rotation=quaternion)
    return Pose(position=position, rotation=reader.numbers(origin, "rpy", 3, (0.0, 0.0, 0.0), where))


class MaterialTable:
    """Materials of a URDF: global ones, and those defined within visuals."""

    def __init__(self, reader: XmlReader, root: Tag) -> None:
        self.reader = reader
        self.names = UniqueNames()
        self.found: dict[str, Material] = {}
        self.defined: dict[str, Tag] = {}
        self.reported: set[str] = set()
        for tag in reader.children(root, "material"):
            self._define_material(tag, is_shared=True)
        for visual in root.iter("visual"):
            for tag in reader.children(visual, "material"):
                self._define_material(tag, is_shared=False)

    def _define_material(self, tag: Tag, is_shared: bool) -> None:
        """Record a material; only the first definition of a name with a colour or texture counts.

        is_shared : a material of the robot, for all its links
        """
        name = tag.get("name", "")
        color, texture = self._read_color_and_texture(tag, name)
        has_look = color is not None or bool(texture)
        if is_shared:
            self._report_shared(tag, name, has_look)
        if not name or not has_look:
            return
        if name not in self.found:
            self.found[name] = Material(name=self.names.add(name), color=color, texture=texture)
            self.defined[name] = tag
        elif not is_shared:
            self._report_other_look(tag, name, color, texture)

    def _report_shared(self, tag: Tag, name: str, has_look: bool) -> None:
        """Report a material of the robot that is defined twice, or without colour and texture."""
        location = "materials", self.names.of.get(name, name)
        if name in self.defined:
            line = self.defined[name].sourceline
            text = f"The material '{name}' is defined twice (first in line {line}); the first is used.{_REJECT}"
            self.reader.add_finding(tag, "warning", text, "Rename or remove one of them.", location)
        elif not has_look:
            text = f"The material '{name}' has neither colour nor texture.{_REJECT}"
            self.reader.add_finding(tag, "warning", text, 'Add <color rgba="…"/>.', ("materials", ""))

    def _report_other_look(self, tag: Tag, name: str, color: tuple[float, ...] | None, texture: str) -> None:
        """Report a visual that defines a material of this name with another colour or texture than the first one."""
        if name in self.reported:
            return
        first = self.found[name]
        line = self.defined[name].sourceline
        if texture and texture != first.texture:
            text = f"The texture of the material '{name}' differs from that in line {line}, which is used."
        elif color is not None and Material(name=first.name, color=color).color != first.color:
            text = (
                f"The colour of the material '{name}' differs from that in line {line}; ROS readers use the first one."
            )
        else:
            return
        self.reported.add(name)
        self.reader.add_finding(tag, "hint", text, "Give it a name of its own.", ("materials", first.name))

    def _read_color_and_texture(self, tag: Tag, name: str) -> tuple[tuple[float, ...] | None, str]:
        where = f"material '{name}'"
        color, texture = self.reader.child(tag, "color", where), self.reader.child(tag, "texture", where)
        rgba = None
        if color is not None:
            count = 3 if len(color.get("rgba", "").split()) == 3 else 4
            rgba = self.reader.numbers(color, "rgba", count, None, where)
        return rgba, texture.get("filename", "") if texture is not None else ""

    def of(self, visual: Tag, where: str, location: Place) -> dict[str, Any]:
        """Return the fields `material` or `color` of a shape."""
        tag = self.reader.child(visual, "material", where)
        if tag is None:
            return {}
        name = tag.get("name", "")
        color, texture = self._read_color_and_texture(tag, name)
        known = self.found.get(name)
        if known is None:
            if color is None:
                self.reader.add_finding(
                    tag,
                    "warning",
                    f"There is no material '{name}'; the default colour is used.{_REJECT}"
                    if name
                    else "A material without name has no colour; the default colour is used.",
                    f"Define its colour. {suggest_names(name, self.found) if name else ''}".rstrip(),
                    location,
                    "shapes",
                )
            return {"color": color}
        mine = Material(name=known.name, color=color, texture=texture)
        if (color is not None or texture) and mine.color != known.color:
            return {"material": known.name, "color": color}
        return {"material": known.name}


def read_shape(
    reader: XmlReader, tag: Tag, role: str, location: Place, materials: MaterialTable, options: ReadOptions
) -> Shape | None:
    """Return the shape of a `<visual>` or `<collision>`; None with a finding if it has no known geometry."""
    where = f"link '{location[1]}', {role}"
    geometry = reader.child(tag, "geometry", where)
    solids = [] if geometry is None else [child for child in geometry if local_name(child) in GEOMETRIES]
    if not solids:
        reader.add_finding(
            tag,
            "warning",
            f"The {role} has no known geometry; it is left out.",
            f"Known: {', '.join(GEOMETRIES)}.",
            location,
            "shapes",
        )
        return None
    if len(solids) > 1:
        text = f"The {role} has {len(solids)} shapes in one <geometry>; only the first is used, as by ROS."
        reader.add_finding(solids[1], "warning", text, f"Give each a <{role}> of its own.", location, "shapes")
    common: dict[str, Any] = {"pose": read_pose(reader, tag, where), "role": role}
    if role == "visual":
        common |= materials.of(tag, where, location)
    return _read_geometry(reader, solids[0], common, where, location, options)


def _read_geometry(
    reader: XmlReader, tag: Tag, common: dict[str, Any], where: str, location: Place, options: ReadOptions
) -> Shape:
    match local_name(tag):
        case "box":
            return Box(size=reader.vector(tag, "size", None, where), **common)
        case "sphere":
            return Sphere(radius=reader.number(tag, "radius", None, where), **common)
        case "cylinder" | "capsule" as kind:
            solid = Cylinder if kind == "cylinder" else Capsule
            radius, length = reader.number(tag, "radius", None, where), reader.number(tag, "length", None, where)
            return solid(radius=radius, length=length, **common)
    file = reader.text(tag, "filename", where).strip()
    scale = tag.get("scale", "").split()
    if len(scale) > 3:
        text = f"The mesh's scale has {len(scale)} numbers; only the first three are used."
        reader.add_finding(tag, "warning", text, "Remove the others.", location, "shapes")
        tag.set("scale", " ".join(scale[:3]))
    if len(scale) == 1:
        factor = reader.number(tag, "scale", 1.0, where)
        sizes = (factor, factor, factor)
    else:
        sizes = reader.vector(tag, "scale", (1.0, 1.0, 1.0), where)
    problem = find_mesh_problem(file, reader.file, options.packages)
    if problem is not None:
        reader.add_finding(tag, "warning", *problem, location, "shapes")
    return Mesh(file=file, scale=sizes, **common)


KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
}
"""URDF joint types → native kinds (spherical is an extension that some programs write)."""

SINGLE = ("revolute", "continuous", "prismatic")
"""Kinds of joints with one coordinate."""

NO_LIMIT = 1e9
"""Bound written where URDF requires a number although there is no limit; read as unbounded."""

NOT_ENFORCED = -1.0
"""Maximum speed or force that SDFormat, and URDF converted from it, write for "unlimited"."""

TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
"""Entries of an inertia tensor in the native order."""


def read_body(reader: XmlReader, tag: Tag, name: str, materials: MaterialTable, options: ReadOptions) -> Body:
    """Return the body of a `<link>`."""
    place = ("bodies", name)
    found = [
        read_shape(reader, child, role, place, materials, options)
        for role in ("visual", "collision")
        for child in reader.children(tag, role)
    ]
    return Body(name=name, shapes=tuple(s for s in found if s is not None), **_read_mass_fields(reader, tag, name))


def _read_mass_fields(reader: XmlReader, link: Tag, name: str) -> dict[str, Any]:
    """Return mass, centre of mass, and the inertia rotated from the inertial frame to the body's axes: R I Rᵀ."""
    where = f"link '{name}', inertial"
    tag = reader.child(link, "inertial", where)
    if tag is None:
        return {}
    pose = read_pose(reader, tag, where)
    mass = reader.child(tag, "mass", where)
    tensor = reader.child(tag, "inertia", where)
    if mass is None:
        reader.add_finding(
            tag,
            "warning",
            "The inertial has no <mass>; the mass is 0.",
            "Add <mass value=…/>.",
            ("bodies", name),
            "mass",
        )
    values = [0.0] * 6 if tensor is None else [reader.number(tensor, key, 0.0, where) for key in TENSOR]
    if any(pose.rotation):
        values = _rotate_inertia(values, pose.rotation)
    return {
        "mass": 0.0 if mass is None else reader.number(mass, "value", None, where),
        "center_of_mass": pose.position,
        "inertia": Inertia(**dict(zip(TENSOR, values, strict=True))),
    }


def _rotate_inertia(values: list[float], rotation: tuple[Any, ...]) -> list[float]:
    xx, yy, zz, xy, xz, yz = values
    turn = rotation_matrix(rotation)
    tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return [float(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def rotation_matrix(rotation: tuple[Any, ...]) -> np.ndarray:
    """Return the (3, 3) matrix of angles about fixed x, y, z (Rz·Ry·Rx), or of a quaternion x, y, z, w (any length)."""
    if len(rotation) == 4:
        return np.array(from_quaternion(tuple(map(float, rotation))), dtype=float)
    (cx, cy, cz), (sx, sy, sz) = np.cos(rotation), np.sin(rotation)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


class JointReader:
    """Builder of a URDF's joints, which knows the existing links and joints."""

    def __init__(self, reader: XmlReader, links: UniqueNames, joints: UniqueNames, options: ReadOptions) -> None:
        self.reader = reader
        self.links = links
        self.joints = joints
        self.options = options

    def joint(self, tag: Tag, name: str) -> Joint:
        """Return the joint of a `<joint>`."""
        where = f"joint '{name}'"
        word = self.reader.text(tag, "type", where).strip()
        if word not in KINDS:
            raise self.reader.error(
                tag, f"'{word}' is not a joint type.", f"{where}, type", f"Use one of {', '.join(KINDS)}."
            )
        kind = KINDS[word]
        fields: dict[str, Any] = {"name": name, "kind": kind, "a": read_pose(self.reader, tag, where)}
        fields["parent"] = self._read_end_body(tag, "parent", where)
        fields["child"] = self._read_end_body(tag, "child", where)
        if kind not in ("fixed", "free", "spherical"):
            fields["axis"] = self._read_axis(tag, where)
        if kind in SINGLE:
            fields |= self._read_limit_and_mimic(tag, name, kind, where)
        else:
            self._report_unused_content(tag, name, kind)
        dynamics = self.reader.child(tag, "dynamics", where)
        if dynamics is not None and kind != "fixed":
            fields["damping"] = self.reader.number(dynamics, "damping", 0.0, where)
            fields["friction"] = self.reader.number(dynamics, "friction", 0.0, where)
        try:
            return Joint(**fields)
        except ModelError as error:
            raise self.reader.error(tag, error.what, error.where, error.remedy) from None

    def _read_end_body(self, tag: Tag, side: str, where: str) -> str:
        inner = self.reader.child(tag, side, where)
        if inner is None:
            raise self.reader.error(tag, f"The joint has no <{side}>.", where, f'Add <{side} link="…"/>.')
        name = self.reader.text(inner, "link", where)
        if name not in self.links.of:
            raise self.reader.error(
                inner, f"There is no link '{name}'.", f"{where}, {side}", "Add the link or correct the name."
            )
        return self.links.of[name]

    def _read_axis(self, tag: Tag, where: str) -> tuple[float, ...]:
        axis = self.reader.child(tag, "axis", where)
        if axis is None:
            return (1.0, 0.0, 0.0)
        values = self.reader.numbers(axis, "xyz", 3, (1.0, 0.0, 0.0), where)
        if not any(values):
            raise self.reader.error(
                axis,
                "An axis of length zero has no direction.",
                f"{where}, axis",
                'Give a direction such as xyz="0 0 1".',
            )
        return values

    def _report_unused_content(self, tag: Tag, name: str, kind: str) -> None:
        """Report limits and couplings of joints that cannot have them."""
        for word in ("limit", "mimic") if kind != "fixed" else ("mimic",):
            for inner in self.reader.children(tag, word):
                text = f"A {kind} joint cannot have a <{word}>; it is left out."
                severity: Severity = "hint" if kind == "fixed" else "warning"
                self.reader.add_finding(inner, severity, text, f"Remove <{word}>.", ("joints", name), word)

    def _read_limit_and_mimic(self, tag: Tag, name: str, kind: str, where: str) -> dict[str, Any]:
        """Return limits and coupling of a joint with one coordinate."""
        fields: dict[str, Any] = {}
        limit = self._read_limit(tag, name, kind, where)
        if limit is not None:
            fields["limits"] = (limit,)
        mimic = self.reader.child(tag, "mimic", where)
        if mimic is not None and self.options.mimic:
            leader = self.reader.text(mimic, "joint", where)
            if leader in self.joints.of:
                fields["mimic"] = Mimic(
                    leader=self.joints.of[leader],
                    ratio=self.reader.number(mimic, "multiplier", 1.0, where),
                    offset=self.reader.number(mimic, "offset", 0.0, where),
                )
            else:
                self.reader.add_finding(
                    mimic,
                    "warning",
                    f"There is no joint '{leader}' to follow; the joint moves independently.",
                    "Correct the name or remove <mimic>.",
                    ("joints", name),
                    "mimic",
                )
        return fields

    def _read_limit(self, tag: Tag, name: str, kind: str, where: str) -> Limit | None:
        limit = self.reader.child(tag, "limit", where)
        place = ("joints", name)
        if limit is None:
            if kind != "continuous":
                self.reader.add_finding(
                    tag,
                    "warning",
                    f"A {kind} joint needs a <limit>; the joint is unbounded here.",
                    "Add <limit lower=… upper=… effort=… velocity=…/>.",
                    place,
                    "limits",
                )
            return None
        values: dict[str, Any] = {
            name: self._read_bound(limit, name, where)
            for name in ("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk")
        }
        for side in ("velocity", "effort"):
            if values[side] == NOT_ENFORCED:
                values[side] = None
        if kind == "continuous":
            if values["lower"] or values["upper"]:
                text = "A continuous joint has no bounds; its lower and upper are left out."
                self.reader.add_finding(limit, "hint", text, "Make it revolute, or remove them.", place, "limits")
            values["lower"] = values["upper"] = None
        elif limit.get("lower") is None and limit.get("upper") is None:
            self.reader.add_finding(
                limit,
                "warning",
                "The limit gives neither lower nor upper; the joint is unbounded here.",
                "Add lower and upper.",
                place,
                "limits",
            )
        else:
            for side in ("lower", "upper"):  # URDF: a missing bound is 0
                if limit.get(side) is None:
                    values[side] = 0.0
        return None if all(value is None for value in values.values()) else Limit(**values)

    def _read_bound(self, tag: Tag, attribute: str, where: str) -> float | None:
        value = self.reader.number(tag, attribute, math.inf, where, infinite=True)
        return value if abs(value) < NO_LIMIT else None
