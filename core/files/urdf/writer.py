"""Writer of URDF in the lowest version that a machine needs. Findings report content that the format cannot represent
and content that other readers reject; numbers are written exactly.

Joints are converted to URDF's tree: one joint to every link but the root, from the link nearer to the root.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from core.errors import FileError, KinetostatError, escape_control_characters
from core.files.meshes.body_inertia import body_inertia
from core.files.source import WriteResult
from core.files.urdf.links import NO_LIMIT, TENSOR, rotation_matrix
from core.model import (
    WORLD,
    Annotation,
    Body,
    Box,
    Capsule,
    Cylinder,
    Finding,
    Frame,
    Joint,
    Limit,
    Mesh,
    Model,
    Pose,
    Shape,
    Sphere,
)
from core.model.fields import Value
from core.model.formula.evaluation import FieldEvaluator
from core.model.formula.expression import format_number, names_in_formula, parse
from core.model.joints import NO_RATE, RATES
from core.model.parameters import evaluate_finite_field
from core.model.shapes import pose_from_matrix
from core.numerics.spatial.inertia import split_inertia
from core.numerics.spatial.rotation import fixed_axis_angles

Matrix = NDArray[np.float64]


TURNED = ("fixed", "revolute", "continuous", "prismatic", "free")
"""Joint kinds that remain the same kind when parent and child are swapped."""


class LinkTree(NamedTuple):
    """Joints of the model as a tree: `turned` names the joints with parent and child swapped, `roots` the bodies
    without a parent joint."""

    joints: tuple[Joint, ...]
    turned: tuple[str, ...]
    roots: tuple[str, ...]


def build_link_tree(model: Model, pose_matrix: Callable[[Pose], Matrix]) -> LinkTree:
    """Return the joints of an expanded model as a tree. pose_matrix : (4, 4) of a pose. Raises FileError naming a joint
    that closes a loop, or that URDF cannot hold with parent and child swapped."""
    ends = {joint.name: (model.carrier(joint.parent).name, model.carrier(joint.child).name) for joint in model.joints}
    touching: dict[str, list[Joint]] = {}
    for joint in model.joints:
        for end in ends[joint.name]:
            touching.setdefault(end, []).append(joint)
    found, turned, roots = dict[str, Joint](), list[str](), list[str]()
    reached: set[str] = set()
    for root in (WORLD, *_preferred_roots(model)):
        if root in reached:
            continue
        roots.append(root)
        reached.add(root)
        outermost = deque([root])
        while outermost:
            here = outermost.popleft()
            for joint in touching.get(here, ()):
                if joint.name in found:
                    continue
                parent, child = ends[joint.name]
                if {parent, child} <= reached:
                    raise _loop_error(joint, parent, child)
                if child == here:
                    turned.append(joint.name)
                found[joint.name] = _refer_to_child_body(
                    model, _reverse_joint(joint) if child == here else joint, pose_matrix
                )
                beyond = parent if child == here else child
                reached.add(beyond)
                outermost.append(beyond)
    return LinkTree(tuple(found[joint.name] for joint in model.joints), tuple(turned), tuple(roots[1:]))


def _loop_error(joint: Joint, parent: str, child: str) -> FileError:
    text = f"URDF can only describe trees; this joint closes a loop between '{parent}' and '{child}'."
    return FileError(text, where=f"joint '{joint.name}'", remedy="Save the model as .kst.")


def _preferred_roots(model: Model) -> list[str]:
    """Return the bodies in order of preference as roots, those without a parent joint first."""
    children = {model.carrier(joint.child).name for joint in model.joints}
    names = [body.name for body in model.bodies]
    return sorted(names, key=lambda name: name in children)


def _reverse_joint(joint: Joint) -> Joint:
    """Return the joint with parent and child swapped; its axis is reversed, so that the coordinate is unchanged."""
    if joint.kind not in TURNED:
        raise FileError(
            f"URDF can only describe trees; this {joint.kind} joint has parent and child in the wrong order.",
            where=f"joint '{joint.name}'",
            remedy=f"Swap parent and child ('{joint.child}' is nearer to the root).",
        )
    x, y, z = joint.axis
    axis = joint.axis if joint.kind in ("fixed", "free") else (_negate_value(x), _negate_value(y), _negate_value(z))
    return dataclasses.replace(joint, parent=joint.child, child=joint.parent, a=joint.b, b=joint.a, axis=axis)


def _negate_value(value: Value) -> Value:
    return f"-({value})" if isinstance(value, str) else -value + 0.0


def _refer_to_child_body(model: Model, joint: Joint, pose_matrix: Callable[[Pose], Matrix]) -> Joint:
    """Return the joint with the body itself as its child, where it leads to a frame of the body."""
    carrier, frames = model.placement(joint.child)
    if not frames:
        return joint
    place = np.eye(4)
    for frame in frames:
        place = place @ pose_matrix(frame.pose)
    return dataclasses.replace(joint, child=carrier.name, b=pose_from_matrix(place @ pose_matrix(joint.b)))


_TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "free": "floating",
    "planar": "planar",
}
PLAIN, LATER = "1.0", "1.2"
"""URDF versions written: 1.0, which every program reads, and the version that introduced capsules and further
limits."""
PLANNED_RATES = ("acceleration", "deceleration", "jerk")
"""Limits of planned motions, which URDF has since version 1.2."""
LEAST_MASS = 1e-15
"""Smallest mass (kg) and principal moment of inertia (kg·m²) of a moving link that MuJoCo accepts."""
ENOUGH_POINTS = 3
"""Number of rigidly connected point masses that together have three nonzero moments of inertia."""
MOST_NAMED = 8
_ROOT = "root_joint"
_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def write_urdf(model: Model) -> WriteResult:
    """Return the URDF text of a model whose joints form one tree. Raises FileError for loops and for joints that URDF
    lacks."""
    return _UrdfWriter(model).build_urdf()


class _UrdfWriter:
    """Builder of the XML tree, with numbers evaluated at the current parameter values."""

    def __init__(self, model: Model) -> None:
        self.origin = model
        self.model = model.expanded
        self.values = model.values()
        self.findings: list[Finding] = []
        self._check_joint_kinds()
        tree = build_link_tree(self.model, self._pose_matrix)
        self.model, self.roots = dataclasses.replace(self.model, joints=tree.joints), tree.roots
        self.turned = tree.turned
        self.shifts = {
            joint.child: self._pose_matrix(joint.b)
            for joint in self.model.joints
            if joint.b != Pose() and joint.kind != "fixed"
        }
        """Body or frame → pose of its URDF link in it, where the link lies on the joint's axis instead."""
        self.at_root = {
            joint.name
            for joint in self.model.joints
            if joint.name == _ROOT
            and joint.parent == WORLD
            and joint.a == joint.b == Pose()
            and joint.kind in ("fixed", "free")
        }

    def format_number(self, value: Value) -> str:
        return format_number(float(evaluate_finite_field(value, self.values)) or 0.0)

    def format_numbers(self, values: Iterable[Value]) -> str:
        return " ".join(map(self.format_number, values))

    def _pose_matrix(self, pose: Pose) -> Matrix:
        """Return the (4, 4) matrix of a pose at the current parameter values."""
        matrix = np.eye(4)
        matrix[:3, :3] = rotation_matrix(tuple(float(evaluate_finite_field(x, self.values)) for x in pose.rotation))
        matrix[:3, 3] = [float(evaluate_finite_field(x, self.values)) for x in pose.position]
        return matrix

    def _pose_in_link(self, body: str, pose: Pose) -> Pose:
        """Convert a pose in a body to a pose in its URDF link."""
        shift = self.shifts.get(body)
        return pose if shift is None else pose_from_matrix(np.linalg.inv(shift) @ self._pose_matrix(pose))

    def _check_joint_kinds(self) -> None:
        """Raise FileError for joint kinds that URDF lacks."""
        for joint in self.model.joints:
            if joint.kind not in _TYPES:
                raise FileError(
                    f"URDF has no {joint.kind} joint.",
                    where=f"joint '{joint.name}'",
                    remedy="Save the model as .kst, or build the joint from revolute and prismatic joints.",
                )

    # ------------------------------------------------------------------------------- the tree

    def build_urdf(self) -> WriteResult:
        root = etree.Element("robot", name=self._remove_control_characters(self.model.name, "name") or "robot")
        for material in self.model.materials:
            self._write_material(root, material.name, material.color, material.texture)
        if self._needs_world_link():
            etree.SubElement(root, "link", name=WORLD)
        for body in self.model.bodies:
            self._write_link(root, body)
        for name in self.roots if self._needs_world_link() else ():
            self._write_joint(root, Joint(name=self._unused_link_name(name), kind="free", parent=WORLD, child=name))
        for joint in self.model.joints:
            if joint.name not in self.at_root:
                self._write_joint(root, joint)
        for frame in self.model.frames:
            self._write_frame(root, frame)
        self.later = [
            word
            for word, path in (
                ("capsules", ".//capsule"),
                *((f"limits of {x}", f".//limit[@{x}]") for x in PLANNED_RATES),
            )
            if root.find(path) is not None
        ]
        root.set("version", LATER if self.later else PLAIN)
        etree.indent(root, "  ")
        self._write_annotations(root)
        self._report_losses()
        self._report_changes(root.get("version"))
        text = '<?xml version="1.0"?>\n' + etree.tostring(root, encoding="unicode") + "\n"
        return WriteResult(text, tuple(self.findings))

    def _needs_world_link(self) -> bool:
        """Return True unless the machine is attached to the ground by a single plain `root_joint`, or is one free
        tree."""
        grounded = any(joint.parent == WORLD and joint.name not in self.at_root for joint in self.model.joints)
        grounded = grounded or any(frame.parent == WORLD for frame in self.model.frames)
        return grounded or len(self.roots) + len(self.at_root) != 1

    def _unused_link_name(self, body: str) -> str:
        name = f"{body}_free"
        while name in self.model.index("joint"):
            name += "_"
        return name

    def _write_pose(self, parent: Any, pose: Pose) -> None:
        rotation = [float(evaluate_finite_field(x, self.values)) for x in pose.rotation]
        if len(rotation) == 4:
            rotation = list(fixed_axis_angles(rotation_matrix(tuple(rotation))))
        if any(x != 0.0 for x in (*pose.position, *rotation)):
            etree.SubElement(
                parent, "origin", xyz=self.format_numbers(pose.position), rpy=self.format_numbers(rotation)
            )

    def _remove_control_characters(self, text: str, noun: str) -> str:
        """Return a text without the control characters that XML cannot hold."""
        written = escape_control_characters(text)
        if written != text:
            self._add_finding(
                "warning", f"XML cannot contain control characters: the {noun} is written as {written}.", "", "", "", ""
            )
        return written

    def _write_material(self, parent: Any, name: str, color: Any, texture: str = "") -> None:
        tag = etree.SubElement(parent, "material", name=name)
        if color is not None:
            etree.SubElement(tag, "color", rgba=self.format_numbers(color))
        if texture:
            etree.SubElement(tag, "texture", filename=self._remove_control_characters(texture, "file of the texture"))

    def _write_link(self, root: Any, body: Body) -> None:
        link = etree.SubElement(root, "link", name=body.name)
        self._write_inertial(link, body)
        for role in ("visual", "collision"):
            for number, shape in enumerate(body.shapes, 1):
                if shape.role in (role, "both"):
                    self._write_shape(link, shape, role, body.name, number)

    def _write_inertial(self, link: Any, body: Body) -> None:
        """Write mass properties as numbers, including those computed from a density."""
        mass, center = body.mass, body.center_of_mass
        tensor: tuple[Value, ...] = tuple(getattr(body.inertia, key) for key in TENSOR)
        if body.density is not None:
            try:
                mass, center, tensor = split_inertia(body_inertia(body, FieldEvaluator(self.values, self.model.origin)))
            except KinetostatError as error:
                self._add_finding(
                    "warning", f"Its mass is left out: {error.what}", error.remedy, "bodies", body.name, "density"
                )
                return
        if any(value != 0.0 for value in (mass, *tensor)):
            inertial = etree.SubElement(link, "inertial")
            self._write_pose(inertial, self._pose_in_link(body.name, Pose(position=center)))
            etree.SubElement(inertial, "mass", value=self.format_number(mass))
            entries = dict(zip(TENSOR, map(self.format_number, tensor), strict=True))
            etree.SubElement(inertial, "inertia", **{key: entries[key] for key in _TENSOR})

    def _write_shape(self, link: Any, shape: Shape, role: str, body: str, number: int) -> None:
        if not isinstance(shape, Box | Sphere | Cylinder | Capsule | Mesh):
            if role == "visual" or shape.role == "collision":
                self._add_finding(
                    "warning",
                    f"URDF has no {shape.word}; shape {number} is left out.",
                    "Use a mesh.",
                    "bodies",
                    body,
                    "shapes",
                )
            return
        tag = etree.SubElement(link, role)
        self._write_pose(tag, self._pose_in_link(body, shape.pose))
        geometry = etree.SubElement(tag, "geometry")
        match shape:
            case Box():
                etree.SubElement(geometry, "box", size=self.format_numbers(shape.size))
            case Sphere():
                etree.SubElement(geometry, "sphere", radius=self.format_number(shape.radius))
            case Cylinder() | Capsule():
                etree.SubElement(
                    geometry,
                    shape.word,
                    radius=self.format_number(shape.radius),
                    length=self.format_number(shape.length),
                )
            case Mesh():
                mesh = etree.SubElement(
                    geometry, "mesh", filename=self._remove_control_characters(shape.file, "file of the mesh")
                )
                if shape.scale != (1.0, 1.0, 1.0):
                    mesh.set("scale", self.format_numbers(shape.scale))
        if role == "visual" and (shape.material or shape.color is not None):
            self._write_material(tag, shape.material, shape.color)

    def _write_frame(self, root: Any, frame: Frame) -> None:
        """Write a frame as a massless link on a fixed joint."""
        etree.SubElement(root, "link", name=frame.name)
        name = f"{frame.name}_joint"
        while name in self.model.index("joint"):
            name += "_"
        self._write_joint(root, Joint(name=name, kind="fixed", parent=frame.parent, child=frame.name, a=frame.pose))

    def _write_joint(self, root: Any, joint: Joint) -> None:
        tag = etree.SubElement(root, "joint", name=joint.name, type=_TYPES[joint.kind])
        place = joint.a
        if joint.b != Pose() and joint.kind == "fixed":
            place = pose_from_matrix(self._pose_matrix(joint.a) @ np.linalg.inv(self._pose_matrix(joint.b)))
        self._write_pose(tag, self._pose_in_link(joint.parent, place))
        etree.SubElement(tag, "parent", link=joint.parent)
        etree.SubElement(tag, "child", link=joint.child)
        if joint.kind not in ("fixed", "free"):
            self._write_axis_and_limits(tag, joint)

    def _write_axis_and_limits(self, tag: Any, joint: Joint) -> None:
        etree.SubElement(tag, "axis", xyz=self.format_numbers(joint.axis))
        limit = joint.limits[0] if joint.limits and joint.kind != "planar" else None
        if joint.kind in ("revolute", "prismatic") or limit is not None:
            self._write_limit(tag, joint, limit)
        if joint.damping != 0.0 or joint.friction != 0.0:
            friction = self._format_constant(joint.friction, joint.name, "friction")
            etree.SubElement(tag, "dynamics", damping=self.format_number(joint.damping), friction=friction)
        if joint.mimic is not None:
            mimic = joint.mimic
            etree.SubElement(
                tag,
                "mimic",
                joint=mimic.leader,
                multiplier=self.format_number(mimic.ratio),
                offset=self.format_number(mimic.offset),
            )

    def _write_limit(self, tag: Any, joint: Joint, limit: Limit | None) -> None:
        """Write bounds; where URDF requires a number, a missing bound is written as a very large one."""
        limit = limit or Limit()
        fields: dict[str, str] = {}
        if joint.kind != "continuous":
            fields["lower"] = self.format_number(-NO_LIMIT if limit.lower is None else limit.lower)
            fields["upper"] = self.format_number(NO_LIMIT if limit.upper is None else limit.upper)
        for field in RATES:
            value = getattr(limit, field)
            value = None if value is None else float(evaluate_finite_field(value, self.values))
            fields[field] = self.format_number(
                NO_LIMIT if value is None or (value < 0.0 and value in NO_RATE) else value
            )
        for field in PLANNED_RATES:
            value = getattr(limit, field)
            if value is not None:
                fields[field] = self.format_number(float(evaluate_finite_field(value, self.values)))
        etree.SubElement(tag, "limit", **fields)

    # ------------------------------------------------------------------------------- the rest

    def _write_annotations(self, root: Any) -> None:
        for annotation in self.origin.annotations:
            holder = self._find_annotated_element(root, annotation)
            try:
                parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
                kept = etree.fromstring(annotation.content, parser)
            except (etree.XMLSyntaxError, ValueError):
                self._add_finding(
                    "hint", f"An annotation of {annotation.where} is not valid XML; it is left out.", "", "", "", ""
                )
                continue
            kept.tail = "\n" if holder is root else "\n  "
            holder.append(kept)

    def _find_annotated_element(self, root: Any, annotation: Annotation) -> Any:
        kind, _, name = annotation.where.partition(" ")
        found = [tag for tag in root.iter(kind) if tag.get("name") == name and tag.getparent() is root]
        return found[0] if kind in ("link", "joint") and found else root

    def _format_constant(self, value: Value, joint: str, field: str) -> str:
        """Return a number; 0 with a finding for a formula that depends on time or motion."""
        if isinstance(value, str) and not names_in_formula(parse(value)) <= self.values.keys():
            text = f"URDF cannot represent {field} that depends on time or motion ({value}); 0 is written."
            self._add_finding("warning", text, "Keep the .kst file too.", "joints", joint, field)
            return "0"
        return self.format_number(value)

    def _report_changes(self, version: str | None) -> None:
        """Report content that is written differently from the model, and content that other URDF readers reject."""
        if self.turned:
            listed = ", ".join(f"'{name}'" for name in self.turned)
            text = (
                "URDF joints point away from the root, so these swap parent and child, with the opposite axis: "
                f"{listed}."
            )
            self._add_finding("hint", text, "", "joints", self.turned[0], "parent")
        if version == LATER:
            text = (
                f"Its {', '.join(self.later)} need URDF {LATER}, which ROS before 2025 and Pinocchio before 4 refuse."
            )
            self._add_finding(
                "hint",
                text,
                "If the file is meant for one of these, use cylinders and leave such limits out.",
                "",
                "",
                "",
            )
        light = self._find_massless_links()
        if light:
            listed = ", ".join(f"'{name}'" for name in light[:MOST_NAMED]) + (" …" if len(light) > MOST_NAMED else "")
            text = f"Links move without mass or without moments of inertia: {listed}. MuJoCo refuses the file."
            remedy = "Give them mass and inertia, or fix them to links that have both."
            severity = "hint" if not any(map(self._mass_rank, self.model.bodies)) else "warning"
            self._add_finding(severity, text, remedy, "bodies", light[0], "inertia")

    def _find_massless_links(self) -> list[str]:
        """Return the moving links that, together with everything fixed to them, have zero mass or a zero moment of
        inertia."""
        carriers = {name: self.model.carrier(name).name for name in (WORLD, *self.model.index("frame"))}
        moved = {joint.child for joint in self.model.joints if joint.kind != "fixed"}
        moved |= set(self.roots) if self._needs_world_link() else set()
        fixed: dict[str, list[str]] = {}
        for joint in self.model.joints:
            if joint.kind == "fixed":
                fixed.setdefault(carriers[joint.parent], []).append(joint.child)
        light = []
        for body in self.model.bodies:
            if body.name not in moved:
                continue
            members = [body.name]
            for name in members:  # grows
                members += fixed.get(name, ())
            weights = [self._mass_rank(self.model.body(name)) for name in members]
            if 2 not in weights and sum(weight > 0 for weight in weights) < ENOUGH_POINTS:
                light.append(body.name)
        return light

    def _mass_rank(self, body: Body) -> int:
        """Return 2 for a body with mass and all three moments of inertia, 1 for one with mass only, 0 for one without
        mass."""
        numbers = FieldEvaluator(self.values, self.model.origin)
        try:
            mass, _, tensor = split_inertia(body_inertia(body, numbers))
        except (KinetostatError, ZeroDivisionError):
            return 0
        xx, yy, zz, xy, xz, yz = six = [float(each) for each in tensor]
        if not np.all(np.isfinite(six)):
            return 0
        moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        return 0 if float(mass) < LEAST_MASS else 2 if moments[0] > LEAST_MASS else 1

    def _report_losses(self) -> None:
        is_free = any(self.model.joint(name).kind == "free" for name in self.at_root)
        if is_free or (self.roots and not self._needs_world_link()):
            self._add_finding(
                "hint",
                "URDF cannot state that the root is free; read the file with the option floating.",
                "",
                "",
                "",
                "",
            )
        if self.shifts:
            text = f"{len(self.shifts)} link frames are moved onto their joints' axes; the machine is the same."
            self._add_finding("hint", text, "", "", "", "")
        lost = []
        if self.origin.chains:
            lost.append("DH tables (their bodies and joints are written)")
        if any(body.density is not None for body in self.model.bodies):
            lost.append("densities (mass and inertia are written)")
        if self.origin.parameters:
            lost.append("parameters and formulas (their values are written)")
        words = {"stiffness": "springs", "armature": "rotor inertias", "rest": "rest positions"}
        for field, word in {**words, "spring_rest": "relaxed positions of springs"}.items():
            lost += _loss_with_joint_names(
                word,
                self.model.joints,
                lambda joint, field=field: getattr(joint, field) not in (0.0, ()),  # type: ignore[misc]
            )
        lost += _friction_and_stop_losses(self.model.joints)
        several = "limits of joints with several coordinates:"
        lost += _loss_with_joint_names(
            several, self.model.joints, lambda joint: bool(joint.limits) and joint.info.nq > 1
        )
        if self.model.world != type(self.model.world)():
            lost.append("gravity")
        if lost:
            self._add_finding(
                "warning", f"URDF cannot represent {', '.join(lost)}.", "Keep the .kst file too.", "", "", ""
            )

    def _add_finding(self, severity: Any, text: str, remedy: str, collection: str, name: str, field: str) -> None:
        self.findings.append(Finding(severity, text, remedy, collection, name, field))


def _loss_with_joint_names(loss: str, joints: Iterable[Joint], has_property: Callable[[Joint], bool]) -> list[str]:
    """Return a description of the loss with the names of the joints concerned; an empty list if there are none."""
    found = [joint.name for joint in joints if has_property(joint)]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    of = "" if loss.endswith(":") else " of"
    return [f"{loss}{of} {', '.join(found[:MOST_NAMED])}{more}"] if found else []


def _friction_and_stop_losses(joints: tuple[Joint, ...]) -> list[str]:
    """Return the properties of friction and stops that URDF cannot represent, with the joints that have them."""
    plain, stops = Limit(), ("stop", "stiffness", "damping", "restitution")
    return [
        *_loss_with_joint_names(
            "static friction (written is the sliding one)",
            joints,
            lambda joint: joint.static_friction not in (None, joint.friction),
        ),
        *_loss_with_joint_names(
            "friction that differs by direction (written is the forward one)",
            joints,
            lambda joint: joint.friction_levels[2:] != (None, None),
        ),
        *_loss_with_joint_names("Stribeck speeds", joints, lambda joint: joint.stribeck_speed != 0.0),
        *_loss_with_joint_names(
            "friction that depends on the reaction", joints, lambda joint: joint.has_reaction_friction
        ),
        *_loss_with_joint_names(
            "stiffness and damping of the stops",
            joints,
            lambda joint: any(
                getattr(limit, field) != getattr(plain, field) for limit in joint.limits for field in stops
            ),
        ),
    ]
