"""Vocabulary of URDF 1.0 – 1.2 (http://wiki.ros.org/urdf/XML), and of extensions by ROS, Gazebo and others."""

from __future__ import annotations

import re

from core.errors import likely_meant, near_misses
from core.files.vocabulary import Unknown, Vocabulary, report, report_missing, report_texts
from core.files.xml_source import Reader, Tag, local_name
from core.model.validation.findings import Severity

VOCABULARY = Vocabulary("""
robot = *name version > link joint material gazebo transmission sensor ros2_control mujoco
link = *name type > inertial visual collision gazebo contact self_collision_checking collision_checking sensor
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
collision = name group > origin geometry verbose material
collision/material = > ?
verbose = value
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
_REFUSED = ("link name", "joint name", "joint type", "parent link", "child link", "mass value", "mimic joint")
_SIZES = ("box size", "cylinder radius", "cylinder length", "capsule radius", "capsule length", "sphere radius")
_INSTEAD = {
    **{f"inertia {entry}": "it is taken as 0" for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")},
    "limit effort": "it is taken as unbounded, but ROS readers reject the file",
    "limit velocity": "it is taken as unbounded, but ROS readers reject the file",
    "safety_controller k_velocity": "ROS readers reject the file",
    "axis xyz": "it is taken as 1 0 0, but ROS readers reject the file",
    "material name": "ROS readers reject the file",
    **dict.fromkeys((*_REFUSED, *_SIZES, "mesh filename", "color rgba", "robot name"), ""),
}
"""Consequence of a missing attribute; "" if the reader rejects or reports it itself."""
_NUMBERS = ("origin", "inertial", "mimic", "dynamics", "axis")
"""Elements whose attributes all affect the motion."""
_NOT_READ = "Not read: {}."
_LOOPS = ("joint", "loop_joint")
_DRIVEN = ("joint", "flexJoint", "rollJoint", "gap_joint")
_PARTS = ("type", "joint", "actuator", "mechanicalReduction", "leftActuator", "rightActuator", *_DRIVEN[1:])
"""Elements of a transmission: those that name a joint it drives, and all that ROS knows."""
_ROTORS = re.compile(r"inertia", re.I)
_SPRINGS = ("springStiffness", "spring_stiffness")


def check_words(reader: Reader, root: Tag) -> None:
    """Note content of a URDF that is not read; as a warning if it is misspelt or affects the motion."""
    report(reader, VOCABULARY, root, _severity, _NOT_READ)
    report_missing(reader, VOCABULARY, root, _INSTEAD)
    report_texts(reader, VOCABULARY, root)
    _check_inertials(reader, root)
    _check_extensions(reader, root)


def _severity(word: Unknown) -> Severity:
    moves = bool(_MOVES.search(word.word)) or (not word.attribute and word.tag.prefix == "xacro")
    return "warning" if moves or word.meant or word.element in _NUMBERS else "hint"


def _check_inertials(reader: Reader, root: Tag) -> None:
    for link in reader.children(root, "link"):
        for tag in reader.children(link, "inertial"):
            if not reader.children(tag, "inertia"):
                text = "The inertial has no <inertia>; its moments are 0."
                place = ("bodies", link.get("name", ""))
                reader.note(tag, "warning", text, "Add <inertia ixx=… iyy=… izz=… …/>.", place, "inertia")


def _check_transmission(reader: Reader, root: Tag, transmission: Tag) -> None:
    """Note content of a transmission that ROS readers would not find: it drives nothing, another joint than is meant,
    or has a misspelt element. (What is right in it is left out with all transmissions.)"""
    name = transmission.get("name", "")
    known = {joint.get("name", "") for joint in reader.children(root, "joint")}
    driven = [tag for tag in transmission if local_name(tag) in _DRIVEN]
    if not driven:
        text = f"The transmission '{name}' has no <joint>: it drives nothing."
        reader.note(transmission, "warning", text, 'Add <joint name="…">.', field="transmission")
    for tag in driven:
        joint = tag.get("name", "")
        if joint not in known:
            what = f"names a joint '{joint}', which is not there" if joint else "has a <joint> without a name"
            remedy = near_misses(joint, sorted(known))
            reader.note(tag, "warning", f"The transmission '{name}' {what}.", remedy, field="transmission")
    for tag in (each for each in transmission if local_name(each) and local_name(each) not in _PARTS):
        if close := likely_meant(local_name(tag), _PARTS):
            text = f"<{local_name(tag)}> in the transmission '{name}' is not known."
            reader.note(tag, "warning", text, f"Did you mean {', '.join(close)}?", field="transmission")


def _check_extensions(reader: Reader, root: Tag) -> None:
    """Note extensions that would affect the motion: rotors of transmissions, loops and springs of Gazebo."""
    for tag in reader.children(root, "transmission"):
        rotors = [each for each in tag.iter() if _ROTORS.search(local_name(each))]
        if rotors:
            text = (
                f"The transmission '{tag.get('name', '')}' has a rotor (<{local_name(rotors[0])}>), which is left out."
            )
            remedy = "Give its joint an armature: the square of the reduction times the rotor's inertia."
            reader.note(rotors[0], "warning", text, remedy, field="transmission")
        _check_transmission(reader, root, tag)
    parts = [each for tag in reader.children(root, "gazebo") for each in tag]
    joints = [each for each in parts if local_name(each) in _LOOPS and each.get("type")]
    if joints:
        text = f"{len(joints)} joints of <gazebo> are left out, first '{joints[0].get('name', '')}': loops stay open."
        reader.note(joints[0], "warning", text, "Add joints between their bodies.", field="gazebo")
    springs = [each for each in parts if local_name(each) in _SPRINGS]
    if springs:
        text = f"{len(springs)} springs (<{local_name(springs[0])}>) of <gazebo> are left out."
        reader.note(springs[0], "warning", text, "Give their joints a stiffness.", field="gazebo")
