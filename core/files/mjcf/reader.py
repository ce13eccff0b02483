"""Reader of MuJoCo's MJCF: bodies, joints, inertia, geoms as shapes, sites as frames, default classes, included files,
equalities as loops, tendons and other passive forces (https://mujoco.readthedocs.io/en/stable/XMLreference.html).

A body with several joints becomes a chain of massless parts; a joint's reference value shifts its zero, so that our
coordinates are MuJoCo's. What is left out is told, with what it means for the motion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import FileError, ModelError
from core.files.foreign import wrong_root_error
from core.files.mjcf.defaults import CompilerSettings, DefaultClasses, read_bounds, rotation_about
from core.files.mjcf.equalities import EqualityReader
from core.files.mjcf.frames import expand_frames
from core.files.mjcf.geoms import Geom, GeomReader, pose_from_matrix
from core.files.mjcf.includes import IncludeExpander, MjcfReader
from core.files.mjcf.keyframe_poses import read_keyframes
from core.files.mjcf.meshes import FARTHEST
from core.files.mjcf.named_elements import check_names
from core.files.mjcf.passive import (
    NOTHING,
    ActuatorRotors,
    JointSprings,
    MotionAxis,
    PassiveForces,
    Rotor,
    add_coefficients,
    effective_inertia,
    read_coefficients,
)
from core.files.mjcf.refused_values import check_moving_bodies, check_values
from core.files.mjcf.schema import LeftOutElements, check_free_joints, check_vocabulary
from core.files.mjcf.tendons import TendonReader, TendonSites
from core.files.source import ReadOptions, ReadResult, Source
from core.files.xml_source import Tag, UniqueNames, local_name, parse_xml
from core.model import WORLD, Body, Frame, Gravity, Joint, Limit, Model, World
from core.numerics.spatial.rotation import unit_vector

Matrix = NDArray[np.float64]

KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
_MADE_ELSEWHERE = ("attach", "composite", "flexcomp")
_SOFTNESS = ("solreflimit", "solimplimit", "solref", "solimp", "margin")


def read_mjcf(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of an MJCF text. Raises FileError naming file, line and component."""
    root, findings = parse_xml(source, recover=True)
    if local_name(root) != "mujoco":
        raise wrong_root_error(root, "mujoco", "an MJCF file", source)
    includes = IncludeExpander(source)
    build = _MjcfConverter(includes.expand_includes(root, source), source, options)
    build.reader.findings += findings + includes.findings
    try:
        return build.convert()
    except ModelError as error:
        raise FileError(error.what, where=error.where, remedy=error.remedy, file=source.file) from None


class _MjcfConverter:
    """Parser that converts an MJCF file in one pass."""

    def __init__(self, root: Tag, source: Source, options: ReadOptions) -> None:
        self.root, self.source = root, source
        self.reader = MjcfReader(source.file)
        check_vocabulary(self.reader, root)
        DefaultClasses(self.reader, root).apply(root)
        check_values(self.reader, root)
        self.settings = CompilerSettings(self.reader, root)
        expand_frames(root, self.reader, self.settings)
        check_names(self.reader, root)
        check_free_joints(self.reader, root)
        self.geoms = GeomReader(self.reader, self.settings, options, root)
        self.rotors = ActuatorRotors(self.reader, root)
        self.left_out = LeftOutElements(self.reader)
        self.frame_names, self.joint_names = UniqueNames([WORLD]), UniqueNames()
        worlds = self.reader.children(root, "worldbody")
        bodies = [tag for world in worlds for tag in self._body_tags_below(world)]
        self.body_names: dict[Tag, str] = {
            tag: self.frame_names.add(tag.get("name") or f"body{number}") for number, tag in enumerate(bodies, 1)
        }
        """Bodies come first: a site of the same name, which MJCF allows, is the one that is renamed."""
        self.passive = PassiveForces(self.frame_names)
        self.bodies: list[Body] = []
        self.frames: list[Frame] = []
        self.joints: list[Joint] = []
        self.springs: dict[str, JointSprings] = {}
        """Of each joint."""
        self.poses: dict[str, Matrix] = {WORLD: np.eye(4)}
        self.relaxed_poses: dict[str, Matrix] = {WORLD: np.eye(4)}
        """world ← body, at the reference values of all joints, and where their springs are relaxed."""
        self.parents: dict[str, str] = {}
        self.sites: dict[str, str] = {}
        self.joint_of: dict[str, str] = {}
        """Site and joint of the file → our frame and joint."""
        self.references: dict[str, float] = {}
        self.relaxed: dict[str, float] = {}
        """Values of each joint with one coordinate: where the machine starts, where springs are relaxed."""
        self.freedoms: list[MotionAxis] = []
        self.timed: dict[str, tuple[float, float]] = {}
        """Time constant and damping ratio of the springs of joints that give them so."""
        self.mimic = options.mimic

    def _body_tags_below(self, parent: Tag) -> Iterator[Tag]:
        """Yield all bodies below a body or the world; elements where no body is allowed are ignored."""
        for tag in self.reader.children(parent, "body"):
            yield tag
            yield from self._body_tags_below(tag)

    def convert(self) -> ReadResult:
        for world in self.reader.children(self.root, "worldbody"):
            self._read_world(world)
        bodies = self.geoms.scale_to_total_mass(self.bodies)
        check_moving_bodies(self.reader, self.body_names, bodies, self._has_lost_mass)
        self._set_spring_dampers(bodies)
        for joint in self.joints:
            if joint.name in self.springs and self.springs[joint.name].has_nonlinear_terms:
                self.passive.add_joint_forces(joint, self.springs[joint.name])
        gravity = self._read_gravity()
        self._compensate_gravity(bodies, gravity)
        equalities = EqualityReader(self.reader, self._names_by_kind(), self.poses, self.frames, self.references)
        drivers, own = [], len(self.joints)
        if not self.settings.is_disabled("equality"):
            for section in self.reader.children(self.root, "equality"):
                equalities.read(section, self.joints, self.joint_names, self.mimic)
            drivers = equalities.drivers
        self._read_tendons()
        poses = read_keyframes(self.reader, self.root, self.joints[:own], self.left_out)
        self._report_left_out()
        model = Model(
            name=self.root.get("model", "") or self.source.stem or "model",
            world=World(gravity=gravity),
            materials=tuple(self.geoms.materials.values()),
            bodies=tuple(bodies),
            frames=(*self.frames, *self.passive.frames),
            joints=tuple(self.joints),
            sensors=tuple(self.passive.sensors),
            forces=tuple(self.passive.forces),
            drivers=tuple(drivers),
            poses=poses,
            origin=self.source.file,
        )
        return ReadResult(model, tuple(self.reader.findings))

    def _has_lost_mass(self, body: str) -> bool:
        """Return True if a warning names mass or shapes of a body that are left out."""
        place = ("bodies", body)
        return any(
            (each.collection, each.name) == place and each.severity == "warning" for each in self.reader.findings
        )

    def _names_by_kind(self) -> dict[str, dict[str, str]]:
        """Return the model's names for the file's names, by kind; "lost" lists kinds of elements whose bodies are not
        read."""
        bodies = {tag.get("name"): name for tag, name in self.body_names.items() if tag.get("name")}
        lost = {
            kind: kind for kind in (*_MADE_ELSEWHERE, "flex") if any(local_name(t) == kind for t in self.root.iter())
        }
        return {"body": bodies, "site": self.sites, "joint": self.joint_of, "lost": lost}

    def _read_gravity(self) -> Gravity:
        vector = (0.0, 0.0, -9.81)
        for option in self.reader.children(self.root, "option"):
            vector = self.reader.vector(option, "gravity", vector, "option")
            fluid = any(self.reader.number(option, key, 0.0, "option") for key in ("density", "viscosity"))
            if fluid and not self.settings.is_disabled("passive"):
                text = "The drag of a fluid (density, viscosity) is not read."
                self.reader.add_finding(option, "warning", text, "Add forces with formulas of speeds.", field="fluid")
        return (
            Gravity(acceleration=vector)
            if any(vector) and not self.settings.is_disabled("gravity")
            else Gravity(kind="none")
        )

    def _compensate_gravity(self, bodies: list[Body], gravity: Gravity) -> None:
        """Add forces for gravity compensation."""
        if gravity.kind == "none" or self.settings.is_disabled("passive"):
            return
        table = {body.name: body for body in bodies}
        for tag, name in self.body_names.items():
            part = self.reader.number(tag, "gravcomp", 0.0, f"body '{name}', gravcomp")
            if part and float(table[name].mass):
                self.passive.add_gravity_compensation(table[name], part, [float(x) for x in gravity.acceleration])

    def _read_tendons(self) -> None:
        places = TendonSites(self.sites, self.joint_of, self._relaxed_position, self.relaxed, self._carrying_bodies)
        tendons = TendonReader(self.reader, self.settings, places, self.passive, self.rotors.tendons)
        for section in self.reader.children(self.root, "tendon"):
            tendons.read(section)
            self.left_out.add("tendon limits", section, tendons.bound)
            self.left_out.add("tendons", section, tendons.idle)
            tendons.bound = tendons.idle = 0

    def _carrying_bodies(self, name: str) -> set[str]:
        """Return the bodies on the branch from the ground to a site's frame, or to the body moved by a joint."""
        own = {frame.name: frame.parent for frame in self.frames} | {each.joint: each.body for each in self.freedoms}
        body, found = own[name], set()
        while body in self.parents:
            found.add(body)
            body = self.parents[body]
        return found

    def _relaxed_position(self, name: str) -> Matrix:
        """Return the world position (3,) of a site's frame with all springs relaxed."""
        frame = next(frame for frame in self.frames if frame.name == name)
        X = self.relaxed_poses[frame.parent]
        return np.asarray(X[:3, :3] @ np.array(frame.pose.position, dtype=float) + X[:3, 3])

    def _report_left_out(self) -> None:
        """Report the content that is not read."""
        if not self.settings.is_disabled("actuation"):
            for section in self.reader.children(self.root, "actuator"):
                self.left_out.add("actuators", section, sum(1 for tag in section if local_name(tag)))
        if self.settings.is_disabled("contact") or self.left_out.counts["contacts"] < 2:
            self.left_out.counts.pop("contacts", None)
        self.left_out.count_unread_sections(self.root)
        self.left_out.report_findings()

    # ------------------------------------------------------------------------------- bodies

    def _read_world(self, world: Tag) -> None:
        """Read the world's content: bodies, sites, and geoms, which form a body fixed to the ground."""
        shapes = tuple(geom.shape for geom in self._read_geoms(world, "ground") if geom.shape is not None)
        if shapes:
            name = self.frame_names.add("ground")
            self.bodies.append(Body(name=name, shapes=shapes))
            self.joints.append(Joint(name=self.joint_names.add(name), kind="fixed", parent=WORLD, child=name))
        self._read_children(world, WORLD)

    def _read_children(self, tag: Tag, name: str) -> None:
        """Read the bodies and sites inside a body or the world."""
        for child in tag:
            kind = local_name(child)
            if kind == "body":
                self._read_body(child, name)
            elif kind == "site" and child.get("name"):
                self._read_site(child, name)
            elif kind in _MADE_ELSEWHERE:
                text = f"<{kind}> is not read; the elements that it creates are left out."
                self.reader.add_finding(child, "warning", text, "Save the compiled model with MuJoCo and open that.")

    def _read_site(self, tag: Tag, parent: str) -> None:
        given = tag.get("name", "")
        taken = given in self.frame_names.taken
        name = self.frame_names.add(f"{given}_site" if taken else given)
        self.sites[given] = name
        if name != given:
            why = "a body or frame already has this name" if taken else "this is not a valid name"
            self.reader.add_finding(
                tag, "hint", f"The site '{given}' is called '{name}' here: {why}.", "", ("frames", name)
            )
        pose = self.settings.pose(tag, f"site '{given}'")
        self.frames.append(Frame(name=name, parent=parent, pose=pose_from_matrix(pose)))

    def _read_body(self, tag: Tag, parent: str) -> None:
        name = self.body_names[tag]
        self.parents[name] = parent
        placement = self.settings.pose(tag, f"body '{name}'")
        self.poses[name] = self.poses[parent] @ placement
        self.relaxed_poses[name] = self.relaxed_poses[parent] @ placement
        geoms = self._read_geoms(tag, name)
        fields = self.geoms.read_mass_fields(tag, name, geoms)
        carriers = self._read_joints(tag, name, parent, placement)
        self.bodies += [Body(name=carrier) for carrier in carriers]
        shapes = tuple(geom.shape for geom in geoms if geom.shape is not None)
        self.bodies.append(Body(name=name, shapes=shapes, **fields))
        self._read_children(tag, name)

    def _read_geoms(self, tag: Tag, name: str) -> list[Geom]:
        found = [self.geoms.read(geom, name) for geom in self.reader.children(tag, "geom")]
        for geom in self.reader.children(tag, "geom"):
            touches = geom.get("contype", "1") != "0" or geom.get("conaffinity", "1") != "0"
            self.left_out.add("contacts", geom, int(touches))
        return [geom for geom in found if geom is not None]

    # ------------------------------------------------------------------------------- joints

    def _read_joints(self, tag: Tag, name: str, parent: str, placement: Matrix) -> list[str]:
        """Read the joints between a body and its parent; return the massless bodies inserted between several joints."""
        tags = [child for child in tag if local_name(child) in ("joint", "freejoint")]
        if not tags:
            joint = Joint(
                name=self.joint_names.add(name), kind="fixed", parent=parent, child=name, a=pose_from_matrix(placement)
            )
            self.joints.append(joint)
            return []
        carriers = [self.frame_names.add(f"{name}_{number}") for number in range(1, len(tags))]
        for number, joint_tag in enumerate(tags):
            child = carriers[number] if number < len(carriers) else name
            self._read_joint(joint_tag, parent, child, placement if number == 0 else np.eye(4), name)
            parent = child
        return carriers

    def _read_joint(self, tag: Tag, parent: str, child: str, placement: Matrix, body: str) -> None:
        word = "free" if local_name(tag) == "freejoint" else tag.get("type", "hinge")
        if word not in KINDS:
            raise self.reader.error(
                tag, f"'{word}' is not a joint type.", f"body '{body}', joint", f"Use one of {', '.join(KINDS)}."
            )
        given = tag.get("name") or body
        name = self.joint_names.add(given)
        self.joint_of[given] = name
        fields: dict[str, Any] = {"name": name, "kind": KINDS[word], "parent": parent, "child": child}
        if word == "free":
            position, quaternion = placement[:3, 3], Rotation.from_matrix(placement[:3, :3]).as_quat()
            fields["rest"] = tuple(float(x) for x in (*position, *quaternion))
            self._report_alignment(tag, name)
        else:
            shift = np.eye(4)
            shift[:3, 3] = self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), f"joint '{name}'")
            fields["b"] = pose_from_matrix(shift)
            back = (
                self._read_ball_rotation(tag)
                if word == "ball"
                else self._set_axis_and_limits(tag, word, name, fields, body)
            )
            fields["a"] = pose_from_matrix(placement @ shift @ back)
        self._set_passive_forces(tag, given, fields)
        self._record_motion_axes(tag, word, fields, body)
        self.joints.append(Joint(**fields))

    def _report_alignment(self, tag: Tag, name: str) -> None:
        body = tag.getparent()
        alone = not self.reader.children(body, "body") and sum("joint" in local_name(each) for each in body) == 1
        wanted = tag.get("align", "auto")
        if alone and (wanted == "true" or (wanted == "auto" and self.settings.aligns_free)):
            text = "Its coordinates are those of the body's frame, not of its principal axes (align)."
            self.reader.add_finding(tag, "warning", text, "", ("joints", name), "align")

    def _read_ball_rotation(self, tag: Tag) -> Matrix:
        limits = read_bounds(self.reader, self.settings, tag, "range", "limited", "joint")
        if limits is not None and not self.settings.is_disabled("limit"):
            self.left_out.add("cones", tag)
        return np.eye(4)

    def _set_passive_forces(self, tag: Tag, joint_name: str, fields: dict[str, Any]) -> None:
        """Set rotor inertia, damping, dry friction and spring of a joint; <freejoint> has none."""
        off, where = self.settings.is_disabled, f"joint '{fields['name']}'"
        rotor = self.rotors.joints.get(joint_name, Rotor())
        stiffness, damping, armature, friction = NOTHING, NOTHING, 0.0, 0.0
        if local_name(tag) == "joint":
            stiffness, damping = (read_coefficients(self.reader, tag, key, where) for key in ("stiffness", "damping"))
            armature, friction = (self.reader.number(tag, key, 0.0, where) for key in ("armature", "frictionloss"))
            if tag.get("springdamper") is not None:
                time, ratio = self.reader.numbers(tag, "springdamper", 2, None, where)
                if time > 0.0 and ratio > 0.0:
                    if not (1.0 / FARTHEST <= time <= FARTHEST and 1.0 / FARTHEST <= ratio <= FARTHEST):
                        raise self.reader.error(
                            tag,
                            "No spring and damper correspond to this time constant and damping ratio.",
                            f"{where}, springdamper",
                            "Use e.g. 1 1.",
                        )
                    self.timed[fields["name"]] = time, ratio
        stiffness = NOTHING if off("spring") else stiffness
        damping = NOTHING if off("damper") else add_coefficients(damping, rotor.damping)
        fields["armature"] = armature + rotor.armature
        fields["friction"] = 0.0 if off("frictionloss") else friction
        fields["stiffness"], fields["damping"] = stiffness[0], damping[0]
        relaxed = fields.get("rest", ())
        if fields["name"] in self.relaxed:
            relaxed = (self.relaxed[fields["name"]],)
            sprung = stiffness[0] != 0.0 or fields["name"] in self.timed
            if sprung and relaxed != fields.get("rest", (0.0,)):
                fields["spring_rest"] = relaxed
        self.springs[fields["name"]] = JointSprings(stiffness, damping, relaxed)

    def _set_axis_and_limits(self, tag: Tag, kind: str, name: str, fields: dict[str, Any], body: str) -> Matrix:
        """Set axis, limits and initial value of a hinge or slide; return the (4, 4) motion by −ref that frame a has to
        include."""
        where = f"joint '{name}'"
        angle = self.settings.angle_in_radians if kind == "hinge" else float
        axis = self.reader.vector(tag, "axis", (0.0, 0.0, 1.0), where)
        if not any(axis):
            raise self.reader.error(tag, "An axis of length zero has no direction.", f"{where}, axis", "Use 0 0 1.")
        fields["axis"] = axis
        reference, relaxed = (angle(self.reader.number(tag, key, 0.0, where)) for key in ("ref", "springref"))
        self.references[name], self.relaxed[name] = reference, relaxed
        if reference:
            fields["rest"] = (reference,)
        bounds = self._motor_effort(tag, where)
        limits = read_bounds(self.reader, self.settings, tag, "range", "limited", where)
        if limits is not None and not self.settings.is_disabled("limit"):
            bounds |= {"lower": angle(limits[0]), "upper": angle(limits[1])}
            self.left_out.add("soft stops", tag, int(any(tag.get(key) is not None for key in _SOFTNESS)))
        if bounds:
            fields["limits"] = (Limit(**bounds),)
        unit = np.array(unit_vector(axis))
        position = np.array(self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), where))
        away = _joint_motion(kind, unit, relaxed - reference)
        away[:3, 3] += position - away[:3, :3] @ position
        self.relaxed_poses[body] = self.relaxed_poses[body] @ away
        return _joint_motion(kind, unit, -reference)

    def _motor_effort(self, tag: Tag, where: str) -> dict[str, Any]:
        """Return the largest force of a joint's motors together."""
        limits = read_bounds(self.reader, self.settings, tag, "actuatorfrcrange", "actuatorfrclimited", where)
        if limits is None:
            return {}
        low, high = limits
        self.left_out.add("one-sided motors", tag, int(low != -high))
        return {"effort": max(abs(low), abs(high))}

    def _record_motion_axes(self, tag: Tag, kind: str, fields: dict[str, Any], body: str) -> None:
        """Record the motion axes of a joint in the world at the reference values."""
        X, name, armature = self.poses[body], fields["name"], fields["armature"]
        axes = [X[:3, :3] @ unit_vector(fields["axis"])] if "axis" in fields else list(X[:3, :3].T)
        position = np.zeros(3)
        if kind != "free":
            position = np.array(self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), f"joint '{name}'"))
        at = X[:3, :3] @ position + X[:3, 3]
        if kind != "slide":
            self.freedoms += [MotionAxis(name, body, np.asarray(axis), at, armature) for axis in axes]
        if kind in ("slide", "free"):
            self.freedoms += [MotionAxis(name, body, np.asarray(axis), None, armature) for axis in axes]

    def _set_spring_dampers(self, bodies: list[Body]) -> None:
        """Set springs and dampers given by time constants and damping ratios."""
        if not self.timed:
            return
        felt = effective_inertia(self.freedoms, bodies, self.poses, self.parents, self.timed.keys())
        for k, joint in enumerate(self.joints):
            if joint.name not in self.timed or joint.name not in felt:
                continue
            time, ratio = self.timed[joint.name]
            stiffness = 0.0 if self.settings.is_disabled("spring") else felt[joint.name] / (time * ratio) ** 2
            own = 0.0 if self.settings.is_disabled("damper") else 2.0 * felt[joint.name] / time
            self.joints[k] = dataclasses.replace(joint, stiffness=stiffness, damping=own)


def _joint_motion(kind: str, axis: Matrix, amount: float) -> Matrix:
    """Return the (4, 4) motion of a hinge or slide by an amount."""
    matrix = np.eye(4)
    if kind == "hinge":
        matrix[:3, :3] = rotation_about(axis, amount) if amount else np.eye(3)
    else:
        matrix[:3, 3] = amount * axis
    return matrix
