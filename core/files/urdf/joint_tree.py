"""Conversion of a machine's joints to URDF's tree: one joint to every link but the root, from the link nearer to the
root."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.model import WORLD, Joint, Model, Pose
from core.model.fields import Value
from core.model.matrix_pose import pose_of

Matrix = NDArray[np.float64]

TURNED = ("fixed", "revolute", "continuous", "prismatic", "free")
"""Joint kinds that keep their kind when parent and child are swapped."""


class LinkTree(NamedTuple):
    """Joints of the model as a tree: `turned` names the joints with parent and child swapped, `roots` the bodies
    without a parent joint."""

    joints: tuple[Joint, ...]
    turned: tuple[str, ...]
    roots: tuple[str, ...]


def link_tree(model: Model, matrix: Callable[[Pose], Matrix]) -> LinkTree:
    """Return the joints of an expanded model as a tree. matrix : (4, 4) of a pose. Raises FileError naming a joint that
    closes a loop, or that URDF cannot hold with parent and child swapped."""
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
                found[joint.name] = _with_body_as_child(
                    model, _reversed_joint(joint) if child == here else joint, matrix
                )
                beyond = parent if child == here else child
                reached.add(beyond)
                outermost.append(beyond)
    return LinkTree(tuple(found[joint.name] for joint in model.joints), tuple(turned), tuple(roots[1:]))


def _loop_error(joint: Joint, parent: str, child: str) -> FileError:
    text = f"URDF can only describe trees; this joint closes a loop between '{parent}' and '{child}'."
    return FileError(text, where=f"joint '{joint.name}'", remedy="Write it as .kst.")


def _preferred_roots(model: Model) -> list[str]:
    """Return the bodies in order of preference as roots, those without a parent joint first."""
    children = {model.carrier(joint.child).name for joint in model.joints}
    names = [body.name for body in model.bodies]
    return sorted(names, key=lambda name: name in children)


def _reversed_joint(joint: Joint) -> Joint:
    """Return the joint with parent and child swapped; its axis is reversed, so that the coordinate is unchanged."""
    if joint.kind not in TURNED:
        raise FileError(
            f"URDF can only describe trees; this {joint.kind} joint has parent and child the wrong way round.",
            where=f"joint '{joint.name}'",
            remedy=f"Swap parent and child ('{joint.child}' is nearer to the root).",
        )
    x, y, z = joint.axis
    axis = joint.axis if joint.kind in ("fixed", "free") else (_negated_value(x), _negated_value(y), _negated_value(z))
    return dataclasses.replace(joint, parent=joint.child, child=joint.parent, a=joint.b, b=joint.a, axis=axis)


def _negated_value(value: Value) -> Value:
    return f"-({value})" if isinstance(value, str) else -value + 0.0


def _with_body_as_child(model: Model, joint: Joint, matrix: Callable[[Pose], Matrix]) -> Joint:
    """Return the joint with the body itself as its child, where it leads to a frame of the body."""
    carrier, frames = model.placement(joint.child)
    if not frames:
        return joint
    place = np.eye(4)
    for frame in frames:
        place = place @ matrix(frame.pose)
    return dataclasses.replace(joint, child=carrier.name, b=pose_of(place @ matrix(joint.b)))
