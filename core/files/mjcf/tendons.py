"""Conversion of MJCF tendons to springs, dampers and moving masses that act along a line between two sites, along a
path over several sites, or on a sum of joint coordinates.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#tendon-spatial, #tendon-fixed
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.files.mjcf.defaults import CompilerSettings, read_bounds
from core.files.mjcf.passive import (
    NOTHING,
    Coefficients,
    PassiveForces,
    Rotor,
    add_coefficients,
    add_laws,
    damper_law,
    read_coefficients,
    spring_law,
)
from core.files.xml_source import Tag, XmlReader, local_name
from core.model import Strand


class TendonSites(NamedTuple):
    """Sites and joints to which tendons are attached, with their positions.

    sites, joints : site and joint of the file → our frame and joint; point : frame → (3,) where it is in the world
    while springs are relaxed; relaxed : our joint → its coordinate then; branch : frame or joint → bodies
    that carry it
    """

    sites: Mapping[str, str]
    joints: Mapping[str, str]
    point: Callable[[str], NDArray[np.float64]]
    relaxed: Mapping[str, float]
    branch: Callable[[str], set[str]]


class _TendonPath(NamedTuple):
    """Path of a tendon: joints with their coefficients, or pairs of frames with theirs."""

    joints: list[tuple[str, float]]
    lines: list[tuple[str, str, float]]


class TendonReader:
    """Reader that adds tendons to `passive`; `rotors` holds the inertia and damping of actuators by tendon name."""

    def __init__(
        self,
        reader: XmlReader,
        settings: CompilerSettings,
        sites: TendonSites,
        passive: PassiveForces,
        rotors: Mapping[str, Rotor],
    ) -> None:
        self.reader, self.settings, self.places, self.passive, self.rotors = reader, settings, sites, passive, rotors
        self.bound = self.idle = 0
        """Number of tendons with limits or dry friction, and of those that exert no force by themselves."""

    def read(self, section: Tag) -> None:
        """Read all tendons of a section."""
        for tag in section:
            if local_name(tag) in ("spatial", "fixed"):
                self._read_tendon(tag)

    def _read_tendon(self, tag: Tag) -> None:
        where = f"tendon '{tag.get('name', '')}'".replace(" ''", "")
        reader, off = self.reader, self.settings.is_disabled
        rotor = self.rotors.get(tag.get("name", ""), Rotor())
        limited = read_bounds(reader, self.settings, tag, "range", "limited", where) is not None
        friction = reader.number(tag, "frictionloss", 0.0, where)
        self.bound += bool((limited and not off("limit")) or (friction and not off("frictionloss")))
        stiffness = NOTHING if off("spring") else read_coefficients(reader, tag, "stiffness", where)
        damping = (
            NOTHING
            if off("damper")
            else add_coefficients(read_coefficients(reader, tag, "damping", where), rotor.damping)
        )
        mass = reader.number(tag, "armature", 0.0, where) + rotor.armature
        if not (any(stiffness) or any(damping) or mass):
            self.idle += 1
            return
        path = self._read_path(tag)
        if path is None:
            text = (
                f"The spring, damper and mass of {where} are left out: it wraps around a geom, or refers to a "
                "missing element."
            )
            reader.add_finding(tag, "warning", text, "Add forces instead.")
            return
        if mass and not self._is_on_one_branch(path):
            text = (
                f"The mass of {where} couples different branches of the tree; MuJoCo computes this coupling only "
                f"along one branch."
            )
            reader.add_finding(tag, "warning", text)
        low, high = self._read_slack_lengths(tag, where, self._relaxed_length(path))
        self._add_tendon(tag.get("name") or "tendon", path, (stiffness, damping, mass), (low, high))

    def _read_path(self, tag: Tag) -> _TendonPath | None:
        joints: list[tuple[str, float]] = []
        lines: list[tuple[str, str, float]] = []
        before, factor = "", 1.0
        for child in tag:
            kind = local_name(child)
            if kind == "joint" and child.get("joint") in self.places.joints:
                coefficient = self.reader.number(child, "coef", 1.0, "tendon, joint")
                joints.append((self.places.joints[child.get("joint")], coefficient))
            elif kind == "site" and child.get("site") in self.places.sites:
                here = self.places.sites[child.get("site")]
                lines += [(before, here, factor)] if before else []
                before = here
            elif kind == "pulley":
                before, factor = "", 1.0 / self.reader.number(child, "divisor", 1.0, "tendon, pulley")
            elif kind:
                return None
        return _TendonPath(joints, lines) if joints or lines else None

    def _is_on_one_branch(self, path: _TendonPath) -> bool:
        names = {name for name, _ in path.joints} | {end for line in path.lines for end in line[:2]}
        branches = sorted(map(self.places.branch, names), key=len)
        return all(inner <= outer for inner, outer in itertools.pairwise(branches))

    def _relaxed_length(self, path: _TendonPath) -> float:
        """Return the length of a path with all springs relaxed."""
        point = self.places.point
        own = sum(factor * self.places.relaxed.get(joint, 0.0) for joint, factor in path.joints)
        return own + sum(factor * math.dist(point(a), point(b)) for a, b, factor in path.lines)

    def _read_slack_lengths(self, tag: Tag, where: str, length: float) -> tuple[float, float]:
        """Return the (shortest, longest) length without spring force; the relaxed length if the file gives none or
        −1."""
        count = len(tag.get("springlength", "-1").split())
        low, *high = self.reader.numbers(tag, "springlength", min(count, 2), (-1.0,), where)
        if low == -1.0 and (not high or high[0] == -1.0):
            return length, length
        return low, (high[0] if high else low)

    def _add_tendon(
        self,
        name: str,
        path: _TendonPath,
        values: tuple[Coefficients, Coefficients, float],
        slack: tuple[float, float],
    ) -> None:
        stiffness, damping, mass = values
        low, high = slack
        fields: dict[str, object] = {"damping": damping[0]}
        if low < high:  # without force between two lengths
            stretch = f"(max(length - ({high!r}), 0) - max(({low!r}) - length, 0))"
            linear = f"({stiffness[0]!r})*{stretch}" if stiffness[0] else ""
        else:
            stretch, linear = f"(length - ({low!r}))", ""
            fields |= {"stiffness": stiffness[0], "rest": low}
        fields["law"] = add_laws(linear, spring_law(stiffness, stretch), damper_law(damping))
        if len(path.lines) == 1 and not mass and path.lines[0][2] == 1.0:
            a, b, _ = path.lines[0]
            self.passive.add_force(name, a=a, b=b, **fields)
            return
        strands = [Strand(joint=joint, factor=factor) for joint, factor in path.joints]
        for number, (a, b, factor) in enumerate(path.lines, 1):
            sensor = self.passive.add_sensor(f"{name}_{number}", "distance", a, b)
            strands.append(Strand(sensor=sensor, factor=factor))
        self.passive.add_force(name, kind="tendon", strands=tuple(strands), inertia=mass, **fields)
