"""Passive effects of MJCF actuators on joints and tendons: rotor inertia and damping.

Both are multiplied by the square of the gear ratio
(https://mujoco.readthedocs.io/en/stable/XMLreference.html#actuator-general-armature).
"""

from __future__ import annotations

from typing import NamedTuple

from core.files.mjcf.passive import NOTHING, Coefficients, added_coefficients, coefficients
from core.files.xml_source import Reader, Tag, local_name


class Rotor(NamedTuple):
    """Inertia and damping that actuators add to the joint or tendon they drive."""

    armature: float = 0.0
    damping: Coefficients = NOTHING


class Rotors:
    """Rotors by the names of joints and tendons in the file."""

    def __init__(self, reader: Reader, root: Tag) -> None:
        self.joints: dict[str, Rotor] = {}
        self.tendons: dict[str, Rotor] = {}
        self.count = 0
        for section in reader.children(root, "actuator"):
            for tag in section:
                if local_name(tag):
                    self.count += 1
                    self._add_actuator(reader, tag)

    def _add_actuator(self, reader: Reader, tag: Tag) -> None:
        where = f"{local_name(tag)} '{tag.get('name', '')}'".replace(" ''", "")
        armature = reader.number(tag, "armature", 0.0, where)
        damping = coefficients(reader, tag, "damping", where)
        if not (armature or any(damping)):
            return
        words = tag.get("gear", "1").split()
        tag.set("gear", " ".join(words[:1]))
        square = reader.number(tag, "gear", 1.0, where) ** 2
        joint = tag.get("joint") or tag.get("jointinparent")
        driven, name = (self.joints, joint) if joint else (self.tendons, tag.get("tendon", ""))
        before = driven.get(name, Rotor())
        driven[name] = Rotor(before.armature + square * armature, added_coefficients(before.damping, damping, square))
