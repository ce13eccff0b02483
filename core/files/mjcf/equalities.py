"""MJCF equalities: connections that become loop-closing joints, and couplings that tie a joint to another or fix it.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#equality
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.files.mjcf.defaults import quaternion_matrix
from core.files.mjcf.geoms import pose_from_matrix
from core.files.xml_source import Tag, UniqueNames, XmlReader, local_name
from core.model import WORLD, Driver, Frame, Joint, Mimic

Matrix = NDArray[np.float64]
Side = tuple[str, Matrix]
"""A body and a pose on it."""


class EqualityReader:
    """Converter of equalities to joints and drivers.

    names : "body", "site", "joint" of the file → ours, "lost": what of the file may have made bodies that are not here
    poses : world ← body; references : values of joints with one coordinate; both where the machine starts
    """

    def __init__(
        self,
        reader: XmlReader,
        names: Mapping[str, Mapping[str, str]],
        poses: Mapping[str, Matrix],
        frames: Sequence[Frame],
        references: Mapping[str, float],
    ) -> None:
        self.reader, self.names, self.poses, self.references = reader, names, poses, references
        self.frames = {frame.name: frame for frame in frames}
        self.drivers: list[Driver] = []

    def read(self, section: Tag, joints: list[Joint], joint_names: UniqueNames, mimic: bool) -> None:
        """Add a section's joints to `joints`, and couple joints if `mimic`."""
        for tag in section:
            kind = local_name(tag)
            if not kind:
                continue
            if kind not in ("connect", "weld", "joint") or tag.get("active") == "false":
                active = tag.get("active") != "false"
                why = "is not read" if active else "is not active"
                self.reader.add_finding(
                    tag, "warning" if active else "hint", f"The equality <{kind}> {why}; it is left out."
                )
            elif kind == "joint":
                self._add_coupling(tag, joints, mimic)
            else:
                self._add_closing_joint(tag, kind, joints, joint_names)

    def _add_closing_joint(self, tag: Tag, kind: str, joints: list[Joint], joint_names: UniqueNames) -> None:
        ends = self._read_both_sides(tag, kind)
        if ends is None:
            text = f"The equality <{kind}> is left out: it refers to an element that is not read."
            self.reader.add_finding(tag, "warning", text)
            return
        first, second = ends
        a = self.poses[first[0]] @ first[1]
        b = np.linalg.inv(self.poses[second[0]]) @ a if tag.get("site1") is None else second[1]
        if kind == "weld" and tag.get("relpose") is not None:
            seven = self.reader.numbers(tag, "relpose", 7, None, "weld")
            if any(seven[3:]):
                a = np.eye(4)
                a[:3, 3] = seven[:3]
                a[:3, :3] = quaternion_matrix((*seven[4:], seven[3]))
                a, b = self.poses[first[0]] @ a, np.eye(4)
        joints.append(
            Joint(
                name=joint_names.add(tag.get("name") or f"{first[0]}_{second[0]}"),
                kind="spherical" if kind == "connect" else "fixed",
                parent=first[0],
                child=second[0],
                cut="yes",
                a=pose_from_matrix(np.linalg.inv(self.poses[first[0]]) @ a),
                b=pose_from_matrix(b),
            )
        )

    def _read_both_sides(self, tag: Tag, kind: str) -> tuple[Side, Side] | None:
        """Return both sides of an equality, the first with the anchor; None if one may refer to an unsupported
        element."""
        words = ("site1", "site2") if tag.get("site1") is not None else ("body1", "body2")
        sides = [self._read_side(tag, word, kind) for word in words]
        first, second = sides
        if first is None or second is None:
            return None
        if kind == "connect" and words[0] == "body1":
            anchor = np.eye(4)
            anchor[:3, 3] = self.reader.numbers(tag, "anchor", 3, None, kind)
            first = first[0], anchor
        return first, second

    def _read_side(self, tag: Tag, attribute: str, kind: str) -> Side | None:
        what, given = attribute[:-1], tag.get(attribute, "world" if attribute == "body2" else "")
        name = WORLD if (what, given) == ("body", "world") else self.names[what].get(given, "")
        if not name:
            if self.names["lost"]:
                return None
            raise self.reader.error(tag, f"There is no {what} '{given}'.", f"{kind}, {attribute}", "Correct the name.")
        if what == "body":
            return name, np.eye(4)
        frame = self.frames[name]
        X = np.eye(4)
        X[:3, 3] = frame.pose.position
        if len(frame.pose.rotation) == 4:
            X[:3, :3] = Rotation.from_quat(frame.pose.rotation).as_matrix()
        return frame.parent, X

    def _add_coupling(self, tag: Tag, joints: list[Joint], mimic: bool) -> None:
        """Read a coupling joint1 − ref1 = c0 + c1 (joint2 − ref2); without joint2, joint1 is fixed."""
        first, second = (self.names["joint"].get(tag.get(word, ""), "") for word in ("joint1", "joint2"))
        words = (tag.get("polycoef", "0 1 0 0 0").split() + ["0"] * 5)[:5]
        tag.set("polycoef", " ".join(words))
        c0, c1, *higher = self.reader.numbers(tag, "polycoef", 5, None, "equality joint")
        table = {joint.name: k for k, joint in enumerate(joints)}
        start = c0 + self.references.get(first, 0.0)
        if first in table and tag.get("joint2") is None:
            if mimic:
                self.drivers.append(Driver(name=first, joint=first, function=start))
            return
        if first not in table or not second or any(higher) or _is_coupled_to(joints, table, second, first):
            text = "A coupling is left out: only a linear coupling of one independent joint to another is supported."
            self.reader.add_finding(
                tag, "warning", text, "Add a driver, or a constraint on a sensor.", ("joints", first), "mimic"
            )
        elif mimic and joints[table[first]].mimic is not None:
            self.reader.add_finding(
                tag, "warning", "A joint coupled to two others follows only the first.", "", ("joints", first)
            )
        elif mimic:
            offset = start - c1 * self.references.get(second, 0.0)
            follower = Mimic(leader=second, ratio=c1, offset=offset)
            joints[table[first]] = dataclasses.replace(joints[table[first]], mimic=follower)


def _is_coupled_to(joints: Sequence[Joint], index_by_name: Mapping[str, int], name: str, leader: str) -> bool:
    """Return True if a joint is `leader` or is coupled to it directly or through others."""
    while name != leader:
        mimic = joints[index_by_name[name]].mimic
        if mimic is None:
            return False
        name = mimic.leader
    return True
