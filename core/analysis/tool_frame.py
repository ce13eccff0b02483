"""Default frame of analyses: the tool."""

from __future__ import annotations

from core.model import WORLD, Model

_TOOL_WORDS = ("tool", "tcp", "tool0", "ee", "end_effector", "hand", "gripper", "flange", "ee_link")


def tool_frame(model: Model) -> str:
    """Name of the default tool frame: the tool of the first DH chain; else a frame or body with such a name; else a
    frame fixed to the body at the end of the longest chain of moving joints; else that body, or the last one fixed to
    it; "world" without bodies."""
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
