"""Tolerant reader of URDF 1.0 – 1.2 (http://wiki.ros.org/urdf/XML).

The root link gets an explicit joint to the world, `root_joint`: fixed, or free with `floating=True`. A root link named
`world` *is* the ground (it becomes no body; what is drawn on it becomes a body fixed to the ground), unless it floats:
then it is a body, `world_link`. Tags that are not understood are kept as annotations and written back; a vocabulary of
URDF and of extensions by ROS, Gazebo and others tells unknown words.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import Any

from lxml import etree

from core.errors import ModelError, find_likely_names, suggest_names
from core.files.foreign import wrong_root_error
from core.files.source import ReadOptions, ReadResult, Source
from core.files.urdf.links import SINGLE, JointReader, MaterialTable, read_body
from core.files.vocabulary import (
    UnknownWord,
    Vocabulary,
    report_elements_with_text,
    report_missing_attributes,
    report_unknown_words,
)
from core.files.xml_source import (
    NUMBER,
    Tag,
    UniqueNames,
    XmlReader,
    has_namespace,
    local_name,
    parse_xml,
    shorten,
)
from core.model import WORLD, Annotation, Body, Joint, Model
from core.model.validation.circular_references import find_cycles
from core.model.validation.findings import Severity

VOCABULARY = Vocabulary("""
robot = *name version > link joint material gazebo transmission sensor ros2_control mujoco
link = *name > inertial visual collision gazebo contact self_collision_checking collision_checking sensor
joint = *name *type > origin parent child axis limit mimic dynamics calibration safety_controller
origin = xyz rpy quat_xyzw
parent child = *link
axis = *xyz
limit = lower upper *effort *velocity acceleration deceleration jerk
mimic = *joint multiplier offset
dynamics = damping friction
calibration = rising falling reference_position
safety_controller = soft_lower_limit soft_upper_limit k_position *k_velocity
inertial = > origin mass inertia
mass = *value
inertia = *ixx *iyy *izz *ixy *ixz *iyz
visual = name > origin geometry material
collision = name > origin geometry material
collision/material = > ?
geometry = > box cylinder sphere capsule mesh
box = *size
cylinder capsule = *radius *length
sphere = *radius
mesh = *filename scale
material = *name > color texture
color = *rgba
texture = filename
gazebo transmission sensor ros2_control mujoco = > ?
contact self_collision_checking collision_checking = > ?
""")

_MOVES = re.compile(
    r"joint|loop|bushing|constraint|connect|weld|equality|spring|stiffness|damp|friction|tendon|muscle|force|torque|motor"
    r"|actuator|inerti|mass|gear|belt|rope|cable|gravity|dynamics|origin|axis|limit|mimic|coupl|rpy|xyz|lower|upper|effort",
    re.I,
)
"""Words that indicate an effect on the motion."""
_XACRO = ("if", "unless", "include", "macro", "property", "arg", "insert_block", "call", "element", "attribute")
"""Elements of Xacro, which act only with the prefix `xacro:`."""
_REFUSED = ("link name", "joint name", "joint type", "parent link", "child link", "mass value", "mimic joint")
_SIZES = ("box size", "cylinder radius", "cylinder length", "capsule radius", "capsule length", "sphere radius")
_INSTEAD = {
    **{f"inertia {entry}": "it is taken as 0" for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")},
    "limit effort": "it is taken as unbounded, but ROS readers reject the file",
    "limit velocity": "it is taken as unbounded, but ROS readers reject the file",
    "safety_controller k_velocity": "ROS readers reject the file",
    "axis xyz": "it is taken as 1 0 0, but ROS readers reject the file",
    "material name": "ROS readers reject the file",
    "robot name": "the name of the file is used, but ROS readers reject the file",
    **dict.fromkeys((*_REFUSED, *_SIZES, "mesh filename", "color rgba"), ""),
}
"""Consequence of each missing attribute; "" if the reader rejects or reports it itself."""
_NUMBERS = ("origin", "inertial", "mimic", "dynamics", "axis")
"""Elements whose attributes all affect the motion."""
_NOT_READ = "Not read: {}."
_KEPT_ONLY = [
    "gazebo",
    "transmission",
    "sensor",
    "ros2_control",
    "mujoco",
    "contact",
    "self_collision_checking",
    "collision_checking",
    "calibration",
    "safety_controller",
]
"""Elements that are kept and written back, but have no effect here."""
_READ_NUMBERS = {
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "mesh": ("scale",),
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    "mimic": ("multiplier", "offset"),
    "dynamics": ("damping", "friction"),
}
_KEPT_NUMBERS = {
    "calibration": ("rising", "falling", "reference_position"),
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
}
"""Attributes that are numbers, by element: those that are read, and those that are only kept."""
_LOOPS = ("joint", "loop_joint")
_DRIVEN = ("joint", "flexJoint", "rollJoint", "gap_joint")
_PARTS = ("type", "joint", "actuator", "mechanicalReduction", "leftActuator", "rightActuator", *_DRIVEN[1:])
"""Elements of a transmission: those that name a joint it drives, and all that ROS recognises."""
_ROTORS = re.compile(r"inertia", re.I)
_ON_THE_GROUND = re.compile(r"foot|feet|toe|sole|wheel", re.I)
"""Names of links with which a machine stands or drives on the ground."""
_SPRINGS = ("springStiffness", "spring_stiffness")


def check_vocabulary(reader: XmlReader, root: Tag) -> None:
    """Report content of a URDF file that is not read, as a warning if it is misspelt or affects the motion."""
    report_unknown_words(reader, VOCABULARY, root, _severity, _NOT_READ)
    report_missing_attributes(reader, VOCABULARY, root, _INSTEAD)
    report_elements_with_text(reader, VOCABULARY, root)
    _check_inertials(reader, root)
    _check_extensions(reader, root)
    _check_unread_numbers(reader, root)
    _report_kept_elements(reader, root)


def _check_unread_numbers(reader: XmlReader, root: Tag) -> None:
    """Report values that ROS readers reject and that the model does not show: empty ones, wrong ones of elements that
    are only kept, and rotations given twice."""
    for tag in root.iter(*_READ_NUMBERS, *_KEPT_NUMBERS):
        name = local_name(tag)
        for word in (*_READ_NUMBERS.get(name, ()), *_KEPT_NUMBERS.get(name, ())):
            value = tag.get(word)
            if value is not None and not value.strip():
                text = f"The '{word}' of <{name}> is empty; it is taken as not given, but ROS readers reject the file."
                reader.add_finding(tag, "warning", text, "Give a number, or remove it.", field=word)
            elif value is not None and name in _KEPT_NUMBERS and not NUMBER.fullmatch(value.strip()):
                text = f"The '{word}' of <{name}>, “{shorten(value)}”, is not a number; ROS readers reject the file."
                reader.add_finding(tag, "warning", text, "Write a number such as 0.5.", field=word)
        if name == "origin" and tag.get("quat_xyzw") is not None and tag.get("rpy") is not None:
            text = "The <origin> gives both quat_xyzw and rpy; quat_xyzw is used, but ROS readers reject the file."
            reader.add_finding(tag, "warning", text, "Remove one of them.", field="rpy")


def _report_kept_elements(reader: XmlReader, root: Tag) -> None:
    """Report in one hint the elements that are kept without having an effect."""
    tags = [tag for parent in (root, *reader.children(root, "link"), *reader.children(root, "joint")) for tag in parent]
    kept = [tag for tag in tags if local_name(tag) in _KEPT_ONLY and not has_namespace(tag)]
    if kept:
        counts = Counter(local_name(tag) for tag in kept)
        names = ", ".join(f"<{name}>" + (f" ({count} times)" if count > 1 else "") for name, count in counts.items())
        text = f"Kept and written back, but without effect on the motion here: {names}."
        reader.add_finding(kept[0], "hint", text)


def _severity(unknown: UnknownWord) -> Severity:
    moves = bool(_MOVES.search(unknown.word)) or (not unknown.attribute and unknown.tag.prefix == "xacro")
    moves = moves or (not unknown.attribute and unknown.word in _XACRO)
    return "warning" if moves or unknown.meant or unknown.element in _NUMBERS else "hint"


def _check_inertials(reader: XmlReader, root: Tag) -> None:
    for link in reader.children(root, "link"):
        for tag in reader.children(link, "inertial"):
            if not reader.children(tag, "inertia"):
                text = "The inertial has no <inertia>; its moments are 0."
                place = ("bodies", link.get("name", ""))
                reader.add_finding(tag, "warning", text, "Add <inertia ixx=… iyy=… izz=… …/>.", place, "inertia")


def _check_transmission(reader: XmlReader, root: Tag, transmission: Tag) -> None:
    """Report content of a transmission that ROS readers would not find: no driven joint, an unknown joint, or a
    misspelt element. (Valid transmissions are reported together as left out.)"""
    name = transmission.get("name", "")
    known = {joint.get("name", "") for joint in reader.children(root, "joint")}
    driven = [tag for tag in transmission if local_name(tag) in _DRIVEN]
    if not driven:
        text = f"The transmission '{name}' has no <joint>: it drives nothing."
        reader.add_finding(transmission, "warning", text, 'Add <joint name="…">.', field="transmission")
    for tag in driven:
        joint = tag.get("name", "")
        if joint not in known:
            what = f"names a joint '{joint}', which does not exist" if joint else "has a <joint> without a name"
            remedy = suggest_names(joint, sorted(known))
            reader.add_finding(tag, "warning", f"The transmission '{name}' {what}.", remedy, field="transmission")
    for tag in (each for each in transmission if local_name(each) and local_name(each) not in _PARTS):
        if close := find_likely_names(local_name(tag), _PARTS):
            text = f"<{local_name(tag)}> in the transmission '{name}' is not known."
            reader.add_finding(tag, "warning", text, f"Did you mean {', '.join(close)}?", field="transmission")


def _check_extensions(reader: XmlReader, root: Tag) -> None:
    """Note extensions that would affect the motion: rotors of transmissions, loops and springs of Gazebo."""
    for tag in reader.children(root, "transmission"):
        rotors = [each for each in tag.iter() if _ROTORS.search(local_name(each))]
        if rotors:
            text = (
                f"The transmission '{tag.get('name', '')}' has a rotor (<{local_name(rotors[0])}>), which is left out."
            )
            remedy = "Give its joint an armature: the square of the reduction times the rotor's inertia."
            reader.add_finding(rotors[0], "warning", text, remedy, field="transmission")
        _check_transmission(reader, root, tag)
    parts = [each for tag in reader.children(root, "gazebo") for each in tag]
    joints = [each for each in parts if local_name(each) in _LOOPS and each.get("type")]
    if joints:
        text = f"{len(joints)} joints of <gazebo> are left out, first '{joints[0].get('name', '')}': loops stay open."
        reader.add_finding(joints[0], "warning", text, "Add joints between their bodies.", field="gazebo")
    springs = [each for each in parts if local_name(each) in _SPRINGS]
    if springs:
        text = f"{len(springs)} springs (<{local_name(springs[0])}>) of <gazebo> are left out."
        reader.add_finding(springs[0], "warning", text, "Give their joints a stiffness.", field="gazebo")


VERSIONS = ("1.0", "1.1", "1.2")
_KNOWN = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic", "dynamics"},
}


def read_urdf(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of a URDF text. Raises FileError naming file, line and component."""
    root, findings = parse_xml(source)
    if local_name(root) != "robot":
        raise wrong_root_error(root, "robot", "a URDF file", source)
    build = _UrdfConverter(root, source, options)
    build.reader.findings += findings
    return build.convert()


class _UrdfConverter:
    """Parser that converts a URDF file in one pass."""

    def __init__(self, root: Tag, source: Source, options: ReadOptions) -> None:
        self.root = root
        self.source = source
        self.options = options
        self.reader = XmlReader(source.file)
        check_vocabulary(self.reader, root)
        self.links = UniqueNames([WORLD])
        self.joints = UniqueNames()
        self.link_tags = self._elements_by_name("link", self.links)
        self.joint_tags = self._elements_by_name("joint", self.joints)
        version = root.get("version", "1.0").strip()
        if version not in VERSIONS:
            self.reader.add_finding(
                root,
                "warning",
                f"URDF version '{version}' is not known; it is read as 1.2.",
                f"Known: {', '.join(VERSIONS)}.",
            )
        turned = [tag for tag in root.iter("origin") if tag.get("quat_xyzw") is not None]
        if turned and version == "1.0":
            text = f"{len(turned)} origins give quat_xyzw, which readers of URDF {version} ignore; it is used here."
            self.reader.add_finding(
                turned[0], "warning", text, 'Write version="1.1" in <robot>, or use rpy.', field="quat_xyzw"
            )

    def _elements_by_name(self, kind: str, names: UniqueNames) -> dict[str, Tag]:
        """Return native name → element for all links or joints. Duplicate names are rejected, invalid ones changed."""
        lines: dict[str, int] = {}
        tags: dict[str, Tag] = {}
        for tag in self.reader.children(self.root, kind):
            given = self.reader.text(tag, "name", kind)
            if given in lines:
                raise self.reader.error(
                    tag,
                    f"The name is used twice (first in line {lines[given]}).",
                    f"{kind} '{given}'",
                    "Rename one of them.",
                )
            lines[given] = tag.sourceline
            name = names.of[given] = names.add("world_link" if given == WORLD and kind == "link" else given)
            tags[name] = tag
            if name != given and given != WORLD:
                collection = "bodies" if kind == "link" else "joints"
                self.reader.add_finding(
                    tag,
                    "hint",
                    f"'{given}' is not a valid name; the {kind} is renamed to '{name}'.",
                    location=(collection, name),
                )
        return tags

    def convert(self) -> ReadResult:
        if not self.link_tags:
            raise self.reader.error(self.root, "The robot has no links.", remedy="Add a <link>.")
        ground = self._ground_name()
        materials = MaterialTable(self.reader, self.root)
        maker = JointReader(self.reader, self.links, self.joints, self.options)
        bodies = [read_body(self.reader, tag, name, materials, self.options) for name, tag in self.link_tags.items()]
        joints = [maker.joint(tag, name) for name, tag in self.joint_tags.items()]
        joints = self._drop_invalid_couplings(joints)
        root = self._find_root_link(joints)
        bodies, joints = self._attach_root(bodies, joints, root, ground)
        try:
            model = Model(
                name=self.root.get("name", "").strip() or self.source.stem or "robot",
                materials=tuple(materials.found.values()),
                bodies=tuple(bodies),
                joints=tuple(joints),
                annotations=tuple(self._read_annotations()),
                origin=self.source.file,
            )
        except ModelError as error:
            raise self.reader.error(self.root, error.what, error.where, error.remedy) from None
        return ReadResult(model, tuple(self.reader.findings))

    # ------------------------------------------------------------------------------- structure

    def _ground_name(self) -> str:
        """Return the native name of the link "world", "" if there is none."""
        return self.links.of.get(WORLD, "")

    def _drop_invalid_couplings(self, joints: list[Joint]) -> list[Joint]:
        """Return the joints without couplings to joints that do not have exactly one coordinate. Raises FileError for
        circular couplings."""
        for circle in find_cycles({joint.name: joint.mimic.leader for joint in joints if joint.mimic is not None}):
            what = f"The joints follow each other in a cycle: {' → '.join(circle)}."
            raise self.reader.error(
                self.joint_tags[circle[0]], what, f"joint '{circle[0]}', mimic", "Remove a <mimic>."
            )
        kinds = {joint.name: joint.kind for joint in joints}
        kept = []
        for joint in joints:
            kind = kinds[joint.mimic.leader] if joint.mimic is not None else ""
            if joint.mimic is not None and kind not in SINGLE:
                text = f"It cannot follow (mimic) the {kind} joint '{joint.mimic.leader}'; it moves independently."
                tag = self.joint_tags[joint.name]
                self.reader.add_finding(
                    tag, "warning", text, "Name a joint with one coordinate.", ("joints", joint.name), "mimic"
                )
                joint = dataclasses.replace(joint, mimic=None)
            kept.append(joint)
        return kept

    def _find_root_link(self, joints: list[Joint]) -> str:
        """Return the root link. Raises FileError for a link with two parents, a cycle, or several roots."""
        parent_joint: dict[str, Joint] = {}
        for joint in joints:
            other = parent_joint.setdefault(joint.child, joint)
            if other is not joint:
                raise self.reader.error(
                    self.joint_tags[joint.name],
                    f"Link '{joint.child}' is already the child of joint '{other.name}'; URDF allows only one parent.",
                    f"joint '{joint.name}', child",
                    "Remove one; close loops in the native format.",
                )
        for circle in find_cycles({child: joint.parent for child, joint in parent_joint.items()}):
            what = f"The links form a cycle of parents: {' → '.join(circle)}."
            raise self.reader.error(self.link_tags[circle[0]], what, f"link '{circle[0]}'", "Correct parent and child.")
        roots = [name for name in self.link_tags if name not in parent_joint]
        if len(roots) > 1:
            shown = ", ".join(f"'{name}'" for name in roots[:8]) + (" …" if len(roots) > 8 else "")
            raise self.reader.error(
                self.link_tags[roots[1]],
                f"{len(roots)} links have no parent joint: {shown}.",
                "robot",
                "Connect all but one to the others by joints.",
            )
        return roots[0]

    def _attach_root(
        self, bodies: list[Body], joints: list[Joint], root: str, ground: str
    ) -> tuple[list[Body], list[Joint]]:
        """Return bodies and joints with the root fixed to the world, or free."""
        if root != ground or self.options.floating:
            if root == ground:
                self.reader.add_finding(
                    self.link_tags[root],
                    "hint",
                    f"The link 'world' is not fixed; it becomes the body '{root}'.",
                    location=("bodies", root),
                )
            kind = "free" if self.options.floating else "fixed"
            if self.options.floating is None:
                self._report_assumed_base(root, joints)
            return bodies, [Joint(name=self.joints.add("root_joint"), kind=kind, parent=WORLD, child=root), *joints]
        joints = [_attach_joint_to_ground(joint, root) for joint in joints]
        body = next(body for body in bodies if body.name == root)
        if body.shapes:
            self.reader.add_finding(
                self.link_tags[root],
                "hint",
                f"The shapes of the link 'world' are kept as body '{root}', fixed to the ground.",
                location=("bodies", root),
            )
            tie = Joint(name=self.joints.add("root_joint"), kind="fixed", parent=WORLD, child=root)
            return bodies, [tie, *joints]
        return [other for other in bodies if other is not body], joints

    def _report_assumed_base(self, root: str, joints: list[Joint]) -> None:
        """Say that the root is taken as fixed where the ends of the machine look as if it moved on the ground."""
        parents = {joint.parent for joint in joints}
        ends = [name for name in self.link_tags if name not in parents and _ON_THE_GROUND.search(name)]
        if len(ends) < 2:
            return
        shown = ", ".join(f"'{name}'" for name in ends[:4]) + (" …" if len(ends) > 4 else "")
        self.reader.add_finding(
            self.link_tags[root],
            "hint",
            f"The file does not say if its base moves: the link '{root}' is fixed to the ground. {shown} look as if "
            "the machine stood or drove on the ground.",
            "Set the kind of the joint 'root_joint' to free, or read the file with floating=True (--floating); "
            "floating=False (--fixed) confirms the fixed base.",
            ("joints", "root_joint"),
            "kind",
        )

    # ------------------------------------------------------------------------------- the rest

    def _read_annotations(self) -> list[Annotation]:
        kept = self._unknown_elements(self.root, "robot", "robot")
        for name, tag in self.link_tags.items():
            kept += self._unknown_elements(tag, "link", f"link {name}")
        for name, tag in self.joint_tags.items():
            kept += self._unknown_elements(tag, "joint", f"joint {name}")
        return kept

    def _unknown_elements(self, tag: Tag, kind: str, where: str) -> list[Annotation]:
        return [
            Annotation(where=where, content=_element_source_text(child))
            for child in tag
            if isinstance(child.tag, str) and (has_namespace(child) or local_name(child) not in _KNOWN[kind])
        ]


def _attach_joint_to_ground(joint: Joint, root: str) -> Joint:
    return dataclasses.replace(joint, parent=WORLD) if joint.parent == root else joint


def _element_source_text(tag: Any) -> str:
    text: str = etree.tostring(tag, encoding="unicode", with_tail=False)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
