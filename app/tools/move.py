"""The move tool: drag any body; the machine follows by inverse kinematics within joint limits, with loops closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from app.document.hand_freedom import joint_of
from app.document.revision import Ref
from app.tools import selection
from app.tools.drag_handles import INDEPENDENT_DIRECTION, drag_end, drag_handle
from app.viewport.annotations import line
from app.viewport.gestures import Gesture, Pointer
from app.viewport.navigate import orbit
from core.analysis.inverse_kinematics import Reach, reach
from core.mechanism import Mechanism
from viz.drawlist.joint_handles import PointDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Drag a body: the machine follows as far as joints and loops allow · drag elsewhere to orbit"
SETTLE = 1e-5
"""Progress of a step below which the body counts as converged: at most a pixel."""
ITERATIONS = 8
"""Inverse-kinematics steps per pointer movement: enough to follow, few enough for the frame rate."""
GAP = 2e-3
"""Share of the picture's height above which the remaining distance to the pointer is drawn as a line."""

STILL = 1e-3
"""Share of the speed its joints could give a body, below which it counts as stuck at a dead point."""


def press(view: Stage, pointer: Pointer) -> Gesture:
    """Drag the body under the pointer, or orbit."""
    if view.press_cube(pointer):
        return
    end = view.link_end_under(pointer)
    if end is not None:
        yield from selection.click_or_drag(view, pointer, drag_end(view, end, pointer))
        return
    part = view.handle_under(pointer)
    if part is not None:
        yield from selection.click_or_drag(view, pointer, drag_handle(view, part, pointer))
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    free = view.session.mech.implicit_joints
    body = body_of(view, Ref(*hit.ref)) if hit is not None and hit.ref is not None else None
    if hit is None or body is None or joint_of(view.session.model.expanded, Ref("bodies", body), free) is None:
        yield from selection.click_or_drag(view, pointer, orbit(view, pointer))
        return
    yield from selection.click_or_drag(view, pointer, drag_body(view, body, np.asarray(hit.position), pointer))


def body_of(view: Stage, ref: Ref) -> str | None:
    """Return the body or frame that is pulled when an element is grabbed; None if it cannot move."""
    if ref.collection == "joints":
        return view.session.model.expanded.find("joints", ref.name).child
    return ref.name if ref.name in view.session.mech.frame_names else None


def drag_body(view: Stage, body: str, grip: np.ndarray, press: Pointer) -> Gesture:
    """Pull the point `grip` (world) of a body in the plane through it parallel to the screen."""
    session = view.session
    X_WB = np.asarray(session.mech.frame(session.q, body, p=session.p))
    local = X_WB[:3, :3].T @ (grip - X_WB[:3, 3])
    pull = PointDrag(grip, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    view.say(f"Pulling {body} · Esc cancels")
    session.select(Ref("bodies", body))
    try:
        while (pointer := (yield)) is not None:
            target = pull.position(view.scene.ray(pointer.x, pointer.y))
            found = reach(
                session.hands, session.q, body, target, session.p, point=local, iterations=ITERATIONS, settle=SETTLE
            )
            session.preview(q=found.q)
            _show_pull(view, body, local, target, found)
    except GeneratorExit:
        session.cancel()
        raise
    finally:
        view.annotations.clear()
        view.say()
    session.commit(f"Pull {body}")


def _show_pull(view: Stage, body: str, local: np.ndarray, target: np.ndarray, found: Reach) -> None:
    """Draw a line from the gripped point to the pointer if the machine cannot follow, and give the reason in the hint
    line."""
    session = view.session
    X_WB = np.asarray(session.mech.frame(session.q, body, p=session.p))
    now = X_WB[:3, 3] + X_WB[:3, :3] @ local
    gap = float(np.linalg.norm(target - now))
    far = gap > GAP * view.scene.view.half_height * 2.0
    view.annotations.lines = (line(now, target, view.settings.shown(gap, "length")),) if far else ()
    why = "out of reach"
    if found.at_limits:
        why = f"{', '.join(found.at_limits)} at the limit"
    elif far and session.locked:
        why = f"{', '.join(sorted(session.locked))} locked: K unlocks it"
    elif far and is_stuck(session.mech, session.q, session.p, body, local):
        why = "dead point: no motion of the machine moves it from here, pull another body"
    view.say(f"Pulling {body} · {why if far else 'reached'} · Esc cancels")
    x, y, z = map(float, now)
    view.annotations.points = ((x, y, z),)
    view.annotations.update()


def is_stuck(mech: Mechanism, q: np.ndarray, p: Mapping[str, float], body: str, local: np.ndarray) -> bool:
    """Return True if a point of a body (its own axes, m) has no speed in any motion that the loops allow, although its
    joints could move it: J N ≈ 0 with G N = 0."""
    if not mech.constrained:
        return False
    J = np.asarray(mech.jacobian(q, body, p=p))
    arm = np.asarray(mech.frame(q, body, p=p))[:3, :3] @ local
    speed = J[3:] + np.cross(J[:3], arm, axis=0)
    _, sizes, directions = np.linalg.svd(np.asarray(mech.constraint_jacobian(q, p=p)))
    rank = int(np.sum(sizes > INDEPENDENT_DIRECTION * sizes[0])) if len(sizes) else 0
    allowed = speed @ directions[rank:].T
    return bool(allowed.size) and bool(np.linalg.norm(allowed) < STILL * np.linalg.norm(speed))


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Highlight the body that would be pulled."""
    selection.hover(view, pointer)


def leave(view: Stage) -> None:
    """Clean up when another tool is chosen."""
    selection.leave(view)
