"""Reader of MuJoCo's MJCF: bodies, joints, inertia, geoms as shapes, sites as frames, default classes, included files,
equalities as loops, tendons between two sites as springs (https://mujoco.readthedocs.io/en/stable/XMLreference.html).

A body with several joints becomes a chain of massless parts; a joint's reference value shifts its zero, so that our
coordinates are MuJoCo's. Actuators, other tendons, contacts and sensors are told and left out.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import FileError, ModelError
from core.files.mjcf.defaults import Defaults, Settings, with_includes
from core.files.mjcf.frames import unfold
from core.files.mjcf.geoms import Geoms, pose_of
from core.files.mjcf.tendons import springs
from core.files.source import Options, Reading, Source
from core.files.xml_source import Names, Reader, Tag, local_name, parse_xml
from core.model import WORLD, Body, Frame, Gravity, Joint, Limit, Mimic, Model, World
from core.model.shapes import Shape
from core.spatial.rotation import normalised

Matrix = NDArray[np.float64]

KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
_MADE_ELSEWHERE = ("attach", "composite", "flexcomp")
_LEFT_OUT = ("actuator", "tendon", "contact", "sensor", "keyframe", "deformable", "custom", "extension")


def read_mjcf(source: Source, options: Options) -> Reading:
    """The model of an MJCF text. Raises FileError naming file, line, component."""
    root, findings = parse_xml(source)
    if local_name(root) != "mujoco":
        raise FileError(
            f"The root element is <{local_name(root)[:40]}>, not <mujoco>.",
            file=source.file,
            line=root.sourceline,
            remedy="Choose an MJCF file.",
        )
    build = _Build(with_includes(root, source), source, options)
    build.reader.findings += findings
    try:
        return build.reading()
    except ModelError as error:
        raise FileError(error.what, where=error.where, remedy=error.remedy, file=source.file) from None


class _Build:
    """One pass over the file."""

    def __init__(self, root: Tag, source: Source, options: Options) -> None:
        self.root, self.source, self.options = root, source, options
        self.reader = Reader(source.file)
        Defaults(self.reader, root).apply(root)
        self.settings = Settings(self.reader, root)
        unfold(root, self.reader, self.settings)
        self.geoms = Geoms(self.reader, self.settings, options, root)
        self.frame_names, self.joint_names = Names([WORLD]), Names()
        worlds = self.reader.children(root, "worldbody")
        bodies = [tag for world in worlds for tag in world.iter() if local_name(tag) == "body"]
        self.body_names: dict[Tag, str] = {
            tag: self.frame_names.add(tag.get("name") or f"body{number}") for number, tag in enumerate(bodies, 1)
        }
        """Bodies come first: a site of the same name, which MJCF allows, is the one that is renamed."""
        self.bodies: list[Body] = []
        self.frames: list[Frame] = []
        self.joints: list[Joint] = []
        self.poses: dict[str, Matrix] = {WORLD: np.eye(4)}
        """world ← body at the reference values of all joints."""
        self.sites: dict[str, str] = {}
        self.references: dict[str, float] = {}
        """Reference value of each joint with one coordinate."""

    def reading(self) -> Reading:
        for world in self.reader.children(self.root, "worldbody"):
            self._ground(world)
        for equality in self.reader.children(self.root, "equality"):
            for tag in equality:
                self._equality(tag)
        forces = [
            force
            for tag in self.reader.children(self.root, "tendon")
            for force in springs(tag, self.reader, self.sites, self._site_place)
        ]
        for section in self.root:
            kind, left = local_name(section), len(section)
            left -= len(forces) if kind == "tendon" else 0
            if kind in _LEFT_OUT and left > 0:
                self.reader.note(section, "hint", f"<{kind}> is not read ({left} entries).")
        model = Model(
            name=self.root.get("model", "") or self.source.stem or "model",
            world=World(gravity=self._gravity()),
            materials=tuple(self.geoms.materials.values()),
            bodies=tuple(self.geoms.scaled(self.bodies)),
            frames=tuple(self.frames),
            joints=tuple(self.joints),
            forces=tuple(forces),
            origin=self.source.file,
        )
        return Reading(model, tuple(self.reader.findings))

    def _site_place(self, name: str) -> Matrix:
        """(3,) of a site's frame in the world, at the reference values of all joints."""
        frame = next(frame for frame in self.frames if frame.name == name)
        X = self.poses[frame.parent]
        return X[:3, :3] @ np.array(frame.pose.position, dtype=float) + X[:3, 3]

    def _gravity(self) -> Gravity:
        vector = (0.0, 0.0, -9.81)
        for option in self.reader.children(self.root, "option"):
            vector = self.reader.vector(option, "gravity", vector, "option")
            if any(flag.get("gravity") == "disable" for flag in self.reader.children(option, "flag")):
                return Gravity(kind="none")
            if any(self.reader.number(option, key, 0.0, "option") for key in ("density", "viscosity")):
                self.reader.note(
                    option,
                    "warning",
                    "The drag of a fluid (density, viscosity) is not read.",
                    "Add forces with formulas of speeds.",
                )
        return Gravity(acceleration=vector) if any(vector) else Gravity(kind="none")

    # ------------------------------------------------------------------------------- bodies

    def _ground(self, world: Tag) -> None:
        """What stands in the world: bodies, sites, and geoms as a body fixed to the ground."""
        shapes = self._shapes(world, "ground")
        if shapes:
            name = self.frame_names.add("ground")
            self.bodies.append(Body(name=name, shapes=tuple(shape for _, shape in shapes)))
            self.joints.append(Joint(name=self.joint_names.add(name), kind="fixed", parent=WORLD, child=name))
        self._members(world, WORLD)

    def _members(self, tag: Tag, name: str) -> None:
        """Bodies and sites inside a body or the world."""
        for child in tag:
            kind = local_name(child)
            if kind == "body":
                self._body(child, name)
            elif kind == "site" and child.get("name"):
                given = child.get("name", "")
                self.sites[given] = self.frame_names.add(given)
                pose = self.settings.pose(child, f"site '{given}'")
                self.frames.append(Frame(name=self.sites[given], parent=name, pose=pose_of(pose)))
            elif kind in _MADE_ELSEWHERE:
                self.reader.note(
                    child,
                    "warning",
                    f"<{kind}> is not read; what it makes is left out.",
                    "Save the compiled model with MuJoCo and open that.",
                )

    def _body(self, tag: Tag, parent: str) -> None:
        name = self.body_names[tag]
        placement = self.settings.pose(tag, f"body '{name}'")
        self.poses[name] = self.poses[parent] @ placement
        shapes = self._shapes(tag, name)
        fields = self.geoms.mass(tag, name, shapes)
        carriers = self._joints(tag, name, parent, placement)
        self.bodies += [Body(name=carrier) for carrier in carriers]
        self.bodies.append(Body(name=name, shapes=tuple(shape for _, shape in shapes), **fields))
        self._members(tag, name)

    def _shapes(self, tag: Tag, name: str) -> list[tuple[Tag, Shape]]:
        found: list[tuple[Tag, Any]] = [
            (geom, self.geoms.shape(geom, name)) for geom in self.reader.children(tag, "geom")
        ]
        return [(geom, shape) for geom, shape in found if shape is not None]

    # ------------------------------------------------------------------------------- joints

    def _joints(self, tag: Tag, name: str, parent: str, placement: Matrix) -> list[str]:
        """The joints between a body and its parent; returns the massless parts between several of them."""
        tags = [child for child in tag if local_name(child) in ("joint", "freejoint")]
        if not tags:
            joint = Joint(
                name=self.joint_names.add(name), kind="fixed", parent=parent, child=name, a=pose_of(placement)
            )
            self.joints.append(joint)
            return []
        carriers = [self.frame_names.add(f"{name}_{number}") for number in range(1, len(tags))]
        for number, joint_tag in enumerate(tags):
            child = carriers[number] if number < len(carriers) else name
            self._joint(joint_tag, parent, child, placement if number == 0 else np.eye(4), name)
            parent = child
        return carriers

    def _joint(self, tag: Tag, parent: str, child: str, placement: Matrix, body: str) -> None:
        word = "free" if local_name(tag) == "freejoint" else tag.get("type", "hinge")
        if word not in KINDS:
            raise self.reader.error(
                tag, f"'{word}' is not a joint type.", f"body '{body}', joint", f"Use one of {', '.join(KINDS)}."
            )
        name = self.joint_names.add(tag.get("name") or body)
        where = f"joint '{name}'"
        fields: dict[str, Any] = {"name": name, "kind": KINDS[word], "parent": parent, "child": child}
        fields["armature"] = self.reader.number(tag, "armature", 0.0, where) if word != "free" else 0.0
        fields["damping"] = self._first(tag, "damping", where) if word != "free" else 0.0
        fields["friction"] = self.reader.number(tag, "frictionloss", 0.0, where) if word != "free" else 0.0
        if word == "free":
            position, quaternion = placement[:3, 3], Rotation.from_matrix(placement[:3, :3]).as_quat()
            fields["rest"] = tuple(float(x) for x in (*position, *quaternion))
        else:
            shift = np.eye(4)
            shift[:3, 3] = self.reader.numbers(tag, "pos", 3, (0.0, 0.0, 0.0), where)
            fields["b"] = pose_of(shift)
            fields["a"] = pose_of(placement @ shift @ self._one_coordinate(tag, word, name, fields))
        self.joints.append(Joint(**fields))

    def _first(self, tag: Tag, attribute: str, where: str) -> float:
        """The first number of an attribute (newer files may give polynomials)."""
        words = tag.get(attribute, "0").split()
        if len(words) > 1:
            self.reader.note(
                tag, "warning", f"Only the first coefficient of {attribute} is used.", "", ("joints", where)
            )
            tag.set(attribute, words[0])
        return self.reader.number(tag, attribute, 0.0, where)

    def _one_coordinate(self, tag: Tag, word: str, name: str, fields: dict[str, Any]) -> Matrix:
        """Axis, limits, spring of a hinge or slide; returns the motion by −ref, which its frame a needs."""
        where, back = f"joint '{name}'", np.eye(4)
        angle = self.settings.angle if word == "hinge" else float
        fields["stiffness"] = self._first(tag, "stiffness", where)
        if word == "ball":
            if tag.get("range") is not None:
                self.reader.note(tag, "hint", "The cone of a ball joint is left out.", "", ("joints", name), "limits")
            return back
        axis = self.reader.vector(tag, "axis", (0.0, 0.0, 1.0), where)
        if not any(axis):
            raise self.reader.error(tag, "An axis of length zero has no direction.", f"{where}, axis", "Use 0 0 1.")
        fields["axis"] = axis
        reference = angle(self.reader.number(tag, "ref", 0.0, where))
        spring = angle(self.reader.number(tag, "springref", 0.0, where))
        self.references[name] = reference
        rest = spring if fields["stiffness"] else reference
        if rest:
            fields["rest"] = (rest,)
        limited = tag.get("limited", "auto")
        if tag.get("range") is not None and (limited == "true" or (limited == "auto" and self.settings.auto_limits)):
            low, high = (angle(value) for value in self.reader.numbers(tag, "range", 2, None, where))
            fields["limits"] = (Limit(lower=low, upper=high),)
        unit = np.array(normalised(axis))
        if word == "hinge":
            back[:3, :3] = Rotation.from_rotvec(-reference * unit).as_matrix() if reference else np.eye(3)
        else:
            back[:3, 3] = -reference * unit
        return back

    # ------------------------------------------------------------------------------- loops

    def _equality(self, tag: Tag) -> None:
        kind = local_name(tag)
        if kind not in ("connect", "weld", "joint") or tag.get("active") == "false":
            active = tag.get("active") != "false"
            why = "is not read" if active else "is not active"
            self.reader.note(tag, "warning" if active else "hint", f"The equality <{kind}> {why}; it is left out.")
            return
        if kind == "joint":
            self._coupling(tag)
            return
        first, second, at = self._ends(tag, kind)
        a = self.poses[first[0]] @ first[1] @ at
        b = np.linalg.inv(self.poses[second[0]]) @ a if tag.get("site1") is None else second[1]
        if kind == "weld" and tag.get("relpose") is not None:
            seven = self.reader.numbers(tag, "relpose", 7, None, "weld")
            if any(seven[3:]):
                a = np.eye(4)
                a[:3, 3] = seven[:3]
                a[:3, :3] = Rotation.from_quat((*seven[4:], seven[3])).as_matrix()
                a, b = self.poses[first[0]] @ a, np.eye(4)
        name = self.joint_names.add(tag.get("name") or f"{first[0]}_{second[0]}")
        self.joints.append(
            Joint(
                name=name,
                kind="spherical" if kind == "connect" else "fixed",
                parent=first[0],
                child=second[0],
                cut="yes",
                a=pose_of(np.linalg.inv(self.poses[first[0]]) @ a),
                b=pose_of(b),
            )
        )

    def _ends(self, tag: Tag, kind: str) -> tuple[tuple[str, Matrix], tuple[str, Matrix], Matrix]:
        """(body, pose on it) of both sides, and the anchor on the first."""
        at = np.eye(4)
        if tag.get("site1") is not None:
            frames = {frame.name: frame for frame in self.frames}
            sides = []
            for key in ("site1", "site2"):
                site = frames.get(self.sites.get(tag.get(key, ""), ""))
                if site is None:
                    raise self.reader.error(tag, f"There is no site '{tag.get(key, '')}'.", kind, "Correct the name.")
                X = np.eye(4)
                X[:3, 3] = site.pose.position
                if len(site.pose.rotation) == 4:
                    X[:3, :3] = Rotation.from_quat(site.pose.rotation).as_matrix()
                sides.append((site.parent, X))
            return sides[0], sides[1], at
        names = []
        for key in ("body1", "body2"):
            given = tag.get(key, "world")
            name = WORLD if given == "world" else self.frame_names.of.get(given, "")
            if name not in self.poses:
                raise self.reader.error(tag, f"There is no body '{given}'.", f"{kind}, {key}", "Correct the name.")
            names.append(name)
        if kind == "connect":
            at[:3, 3] = self.reader.numbers(tag, "anchor", 3, None, kind)
        return (names[0], np.eye(4)), (names[1], np.eye(4)), at

    def _coupling(self, tag: Tag) -> None:
        """joint1 − ref1 = c0 + c1 (joint2 − ref2): a joint that follows."""
        first = self.joint_names.of.get(tag.get("joint1", ""), "")
        second = self.joint_names.of.get(tag.get("joint2", ""), "")
        words = (tag.get("polycoef", "0 1 0 0 0").split() + ["0"] * 5)[:5]
        tag.set("polycoef", " ".join(words))
        c0, c1, *higher = self.reader.numbers(tag, "polycoef", 5, None, "equality joint")
        index = next((i for i, joint in enumerate(self.joints) if joint.name == first), None)
        if index is None or not second or any(higher):
            self.reader.note(
                tag,
                "warning",
                "A coupling that is no straight line between two joints is left out.",
                "Add a driver or a held sensor.",
                ("joints", first),
                "mimic",
            )
        elif self.options.mimic:
            offset = c0 + self.references.get(first, 0.0) - c1 * self.references.get(second, 0.0)
            mimic = Mimic(leader=second, ratio=c1, offset=offset)
            self.joints[index] = dataclasses.replace(self.joints[index], mimic=mimic)
