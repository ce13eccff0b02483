"""Base of a machine that was read: free or fixed to the ground, as the user says."""

from __future__ import annotations

import dataclasses

from core.files.source import ReadResult
from core.model import WORLD, Finding, Joint, Pose

WITH_BASE = ("urdf", "xacro", "mjcf")
"""Formats whose files may leave open if the base moves."""


def set_base(reading: ReadResult, floating: bool) -> ReadResult:
    """Return a reading with the joint of its only base on the ground free or fixed; a warning if there are several."""
    model = reading.model
    other = "fixed" if floating else "free"
    bases = [joint for joint in model.joints if joint.parent == WORLD]
    changed = [joint for joint in bases if joint.kind == other]
    if not changed:
        return reading
    if floating and len(bases) > 1:
        text = f"{len(bases)} joints lead to the ground, so that no single base could be freed."
        remedy = "Set the kind of the joint of the base to free."
        finding = Finding("warning", text, remedy, "joints", changed[0].name, "kind")
        return dataclasses.replace(reading, findings=(*reading.findings, finding))
    made = {joint.name: dataclasses.replace(joint, kind="free") if floating else _fixed(joint) for joint in changed}
    joints = tuple(made.get(joint.name, joint) for joint in model.joints)
    return dataclasses.replace(reading, model=dataclasses.replace(model, joints=joints))


def _fixed(joint: Joint) -> Joint:
    """Return a fixed joint that holds the child where a free joint has it at rest."""
    from scipy.spatial.transform import Rotation

    placed = joint.a
    if joint.rest:
        rest, before = [float(x) for x in joint.rest], Rotation.from_euler("xyz", [float(x) for x in joint.a.rotation])
        turned = before * Rotation.from_quat(rest[3:])
        position = before.apply(rest[:3]) + [float(x) for x in joint.a.position]
        placed = Pose(position=tuple(position.tolist()), rotation=tuple(turned.as_euler("xyz").tolist()))
    fixed = Joint(name=joint.name, kind="fixed", parent=joint.parent, child=joint.child, a=placed, b=joint.b)
    return dataclasses.replace(fixed, given_in=joint.given_in, description=joint.description)
