"""Default frame of analyses, the tool, the joints that lead to it, and what it carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import ModelError
from core.mechanics.multibody.topology import Topology, build_topology
from core.mechanism import Mechanism
from core.model import WORLD, Model
from core.model.edits.payloads import MOUNT, with_payload

_TOOL_WORDS = ("tool", "tcp", "tool0", "ee", "end_effector", "hand", "gripper", "flange", "ee_link")


def tool_frame(model: Model) -> str:
    """Name of the default tool frame: the tool of the first DH chain; else a frame or body with a typical tool name;
    else a frame fixed to the body at the end of the longest chain of moving joints; else that body, or the last one
    fixed to it; "world" if there are no bodies."""
    if model.chains:
        return f"{model.chains[0].prefix}tool"
    plain = model.expanded
    names = [frame.name for frame in plain.frames] + [body.name for body in plain.bodies]
    depths = _joint_depths(plain)
    for word in _TOOL_WORDS:
        called = [n for n in names if n.lower() == word or n.lower().endswith((f"_{word}", f"-{word}"))]
        if called:
            return max(called, key=lambda name: depths.get(name, (0, 0))[0])
    if not depths:
        return WORLD
    deepest = max(moving for moving, _ in depths.values())
    frames = [frame.name for frame in plain.frames if depths[frame.name][0] == deepest]
    return frames[0] if frames else max((body.name for body in plain.bodies), key=lambda name: depths[name])


def _joint_depths(model: Model) -> dict[str, tuple[int, int]]:
    """Number of moving joints, and of joints, between the ground and each body or frame, along the first path found."""
    children: dict[str, list[tuple[str, int]]] = {}
    for joint in model.joints:
        moves = int(joint.info.nv > 0)
        children.setdefault(joint.parent, []).append((joint.child, moves))
        children.setdefault(joint.child, []).append((joint.parent, moves))
    for frame in model.frames:
        children.setdefault(frame.parent, []).append((frame.name, 0))
        children.setdefault(frame.name, []).append((frame.parent, 0))
    depths = {WORLD: (0, 0)}
    for root in (WORLD, *(body.name for body in model.bodies)):
        waiting = [root]
        depths.setdefault(root, (0, 0))
        while waiting:
            current = waiting.pop(0)
            for name, moves in children.get(current, ()):
                if name not in depths:
                    depths[name] = depths[current][0] + moves, depths[current][1] + 1
                    waiting.append(name)
    del depths[WORLD]
    return depths


def chain_obstacle_text(model: Model) -> str:
    """Reason why no symbolic chain can be built of a model; '' if one can."""
    try:
        topology = build_topology(model)
        moving_joints_to_tip(topology, tool_frame(model))
    except ModelError as error:
        return f"The model has no symbolic chain: {error}"
    if closure_text(topology) is None:
        return ""
    return "The model has closed loops or constraints; this is for open chains. See “Loops in symbols”."


def closure_text(topology: Topology) -> str | None:
    """Description of the loop or constraint due to which a model is not an open chain; None for an open chain."""
    if topology.cuts:
        return f"joint '{topology.cuts[0].name}'"
    return next((f"constraint '{each.name}'" for each in topology.model.constraints), None)


def moving_joints_to_tip(topology: Topology, tip: str) -> list[str]:
    """Names of the joints with coordinates from the world to the tip, without free (floating) joints."""
    kinds = {branch.joint.name: branch.joint for branch in topology.branches}
    path = [name for name in reversed(topology.path(tip)) if kinds[name].info.nq]
    while path and not kinds[path[0]].info.constraints:
        path.pop(0)
    for name in path:
        if kinds[name].info.nq != kinds[name].info.nv:
            raise ModelError(
                f"A {kinds[name].kind} joint has a quaternion, for which there is no textbook form.",
                where=f"joint '{name}'",
                remedy="Replace it by three revolute joints.",
            )
    if not path:
        raise ModelError(f"No joint moves '{tip}'.", where="tip", remedy="Choose another frame.")
    return path


def put_payload(
    mech: Mechanism, mass: float, center: Sequence[float], inertia: Any = None, frame: str | None = None
) -> Mechanism:
    """Mechanism with a payload, see `Mechanism.with_payload`; without a frame where one is, else on the tool."""
    if frame is None:
        is_there = any(joint.name == MOUNT for joint in mech.model.joints)
        frame = "" if is_there else tool_frame(mech.model)
    return mech.updated(with_payload(mech.model, mass, center, inertia, frame))
