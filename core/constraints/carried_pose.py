"""Pose of a machine after an edit: bodies stay in place although the coordinates may belong to other joints.

An edit may change the spanning tree: a new joint closes a loop and takes the place of another in the tree, a body loses
its joint and becomes free. Coordinates that are still there keep their values; those of joints that had none are
measured between the bodies as the old machine stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.constraints import cut_coordinates
from core.constraints.named_positions import moved
from core.constraints.rest_position import rest
from core.joints.kind import coordinates_of
from core.mechanics.multibody.tree_of_model import sides_of
from core.model import WORLD, Joint
from core.numerics.spatial.pose import IDENTITY, from_matrix
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


def has_same_tree(old: Compiled, new: Compiled) -> bool:
    """Return True if two machines have the same coordinates and cut the same joints."""
    return old.q_names == new.q_names and [x.cut for x in old.loops] == [x.cut for x in new.loops]


def carried_pose(old: Compiled, q: Array, new: Compiled, renamed: Mapping[str, str]) -> Array:
    """(nq,) coordinates of the new machine with its bodies where they are in the old one at q, loops closed if
    possible.

    renamed : old name → new name of joints that only changed their names
    """
    before = {renamed.get(name, name): name for name in old.joint_names}
    kinds = {joint.name: joint.kind for joint in (*old.implicit_joints, *old.model.expanded.joints)}
    result = rest(new)
    for name, joint in new.coordinates.joints.items():
        then = before.get(name, "")
        at = new.joint_q(name)
        if then in old.coordinates.joints and kinds[then] == joint.kind:
            result[at] = cut_coordinates.coordinate(old, q, then)
            continue
        measured = _measured_coordinates(old, q, new, joint)
        if measured is not None and np.isfinite(measured).all():
            result[at] = _turned_inside_limits(new, joint, measured, result[at])
    return moved(new, new.coordinates.clamp(result), {}, None)


def _measured_coordinates(old: Compiled, q: Array, new: Compiled, joint: Joint) -> Array | None:
    """Coordinates of a joint measured between its bodies in the old machine; None if a body is missing there or the
    bodies are half a turn apart, where an angle about the axis is undefined."""
    topology = new.topology
    poses = dict(zip(old.frame_names, np.asarray(old.call("poses", q)), strict=True))
    bodies = [topology.carriers[name] for name in (joint.parent, joint.child)]
    if not all(body == WORLD or body in poses for body in bodies):
        return None
    law, a, b = sides_of(topology, new.coordinates.numbers)[joint.name]
    X_Wa, X_Wb = (
        (from_matrix(poses[body]) if body != WORLD else IDENTITY) @ side
        for body, side in zip(bodies, (a, b), strict=True)
    )
    try:
        return np.array(coordinates_of(X_Wa, X_Wb, law, None).values, dtype=float)
    except ZeroDivisionError:
        return None


def _turned_inside_limits(compiled: Compiled, joint: Joint, values: Array, rest: Array) -> Array:
    """Joint values with angles shifted by whole turns to lie inside the limits, as near to the reference position as
    possible."""
    result = values.copy()
    for k, coordinate in enumerate(compiled.coordinates.table[compiled.joint_q(joint.name)]):
        if not joint.info.wraps_around(k):
            continue
        turn = 2.0 * math.pi
        nearest = values[k] + turn * round((rest[k] - values[k]) / turn)
        lower = -math.inf if coordinate.lower is None else coordinate.lower
        upper = math.inf if coordinate.upper is None else coordinate.upper
        tried = (nearest, values[k], nearest - turn, nearest + turn)
        result[k] = next((x for x in tried if lower <= x <= upper), values[k])
    return result
