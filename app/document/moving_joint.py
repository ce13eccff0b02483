"""Find the joint that moves a selected element."""

from __future__ import annotations

from collections.abc import Callable

from app.document.revision import Ref
from core.model import WORLD, Joint, Model


def joint_of(
    model: Model, ref: Ref | None, free: tuple[Joint, ...] = (), moves: Callable[[str], bool] = lambda joint: True
) -> str | None:
    """Return the joint that moves an element: the element itself, or the joint that carries the body, past fixed joints
    toward the ground. None if no joint does. `model` is expanded; `free` are the joints of free bodies; joints for
    which `moves` is false are skipped."""
    if ref is None:
        return None
    joints = [joint for joint in model.joints if not joint.info.nq or moves(joint.name)]
    if ref.collection == "joints":
        found = next((joint for joint in joints if joint.name == ref.name), None)
        return found.name if found is not None and found.info.nq else None
    if ref.collection == "chains":
        return next((joint.name for joint in joints if joint.info.nq), None)
    if ref.collection not in ("bodies", "frames") or ref.name not in model.placements:
        return None
    carried = {model.carrier(joint.child).name: joint for joint in reversed((*free, *joints))}
    body, seen = model.carrier(ref.name).name, set()
    while body in carried and body not in seen and body != WORLD:
        seen.add(body)
        if carried[body].info.nq:
            return carried[body].name
        body = model.carrier(carried[body].parent).name
    return None
