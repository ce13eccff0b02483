"""The move tool: drag any body; the machine follows by inverse kinematics within joint limits, with its loops
closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from app.document.hand_freedom import joint_that_moves
from app.document.revision import ElementRef
from app.tools import selection
from app.tools.drag_frame import drag_frame
from app.tools.drag_handles import INDEPENDENT_DIRECTION, drag_handle, drag_link_end
from app.viewport.annotations import annotation_line
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import orbit
from core.analysis.inverse_kinematics import IKResult, move_frame_to_target
from core.mechanism import Mechanism
from viz.drawlist.joint_handles import PointDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Drag a body: the machine follows as far as joints and loops allow · drag elsewhere to orbit"
SETTLE = 1e-5
"""Progress of one step below which the inverse kinematics counts as converged: less than a pixel."""
ITERATIONS = 8
"""Inverse-kinematics steps per pointer movement: enough to follow, few enough for the frame rate."""
GAP = 2e-3
"""Fraction of the picture's height above which the remaining distance to the pointer is drawn as a line."""

STILL = 1e-3
"""Fraction of the speed that its joints could give a body, below which the body counts as stuck at a dead point."""


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Drag the body under the pointer, or orbit."""
    if view.press_orientation_cube(pointer):
        return
    end = view.link_end_under(pointer)
    if end is not None:
        yield from selection.click_or_drag(view, pointer, drag_link_end(view, end, pointer))
        return
    grip = view.frame_handle.handle_under(pointer)
    if grip is not None:
        yield from selection.click_or_drag(view, pointer, drag_frame(view, grip, pointer))
        return
    part = view.handle_under(pointer)
    if part is not None:
        yield from selection.click_or_drag(view, pointer, drag_handle(view, part, pointer))
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    free = view.session.mech.implicit_joints
    body = grabbed_body(view, ElementRef(*hit.ref)) if hit is not None and hit.ref is not None else None
    if (
        hit is None
        or body is None
        or joint_that_moves(view.session.model.expanded, ElementRef("bodies", body), free) is None
    ):
        yield from selection.click_or_drag(view, pointer, orbit(view, pointer))
        return
    yield from selection.click_or_drag(view, pointer, drag_body(view, body, np.asarray(hit.position), pointer))


def grabbed_body(view: Stage, ref: ElementRef) -> str | None:
    """Return the body or frame that is pulled when an element is grabbed; None if it cannot move."""
    if ref.collection == "joints":
        return view.session.model.expanded.find("joints", ref.name).child
    return ref.name if ref.name in view.session.mech.frame_names else None


def drag_body(view: Stage, body: str, grip_point: np.ndarray, press: PointerState) -> Gesture:
    """Pull the point `grip_point` (world) of a body, in the plane through it parallel to the screen."""
    session = view.session
    X_WB = np.asarray(session.mech.frame(session.q, body, p=session.p))
    local = X_WB[:3, :3].T @ (grip_point - X_WB[:3, 3])
    pull = PointDrag(grip_point, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    view.show_hint(f"Pulling {body} · Esc cancels")
    session.select(ElementRef("bodies", body))
    try:
        while (pointer := (yield)) is not None:
            target = pull.target_position(view.scene.ray(pointer.x, pointer.y))
            found = move_frame_to_target(
                session.mech_with_locks,
                session.q,
                body,
                target,
                session.p,
                point=local,
                iterations=ITERATIONS,
                settle=SETTLE,
            )
            session.preview(q=found.q)
            _show_pull(view, body, local, target, found)
    except GeneratorExit:
        session.cancel_preview()
        raise
    finally:
        view.annotations.clear()
        view.show_hint()
    session.commit(f"Pull {body}")


def _show_pull(view: Stage, body: str, local_point: np.ndarray, target: np.ndarray, result: IKResult) -> None:
    """Draw a line from the gripped point to the pointer if the machine cannot follow, and show the reason in the hint
    line."""
    session = view.session
    X_WB = np.asarray(session.mech.frame(session.q, body, p=session.p))
    now = X_WB[:3, 3] + X_WB[:3, :3] @ local_point
    gap = float(np.linalg.norm(target - now))
    far = gap > GAP * view.scene.view.half_height * 2.0
    view.annotations.lines = (annotation_line(now, target, view.settings.format_value(gap, "length")),) if far else ()
    why = "out of reach"
    if result.at_limits:
        why = f"{', '.join(result.at_limits)} at the limit"
    elif far and session.locked_bodies:
        why = f"{', '.join(sorted(session.locked_bodies))} locked: press Shift+K to unlock"
    elif far and is_stuck(session.mech, session.q, session.p, body, local_point):
        why = "dead point: no motion of the machine moves this point; pull another body"
    view.show_hint(f"Pulling {body} · {why if far else 'reached'} · Esc cancels")
    x, y, z = map(float, now)
    view.annotations.points = ((x, y, z),)
    view.annotations.update()


def is_stuck(mech: Mechanism, q: np.ndarray, p: Mapping[str, float], body: str, local_point: np.ndarray) -> bool:
    """Return True if a point of a body (in its own axes, m) has no velocity in any motion that the loops allow,
    although its joints could move it: J N ≈ 0 with G N = 0."""
    if not mech.constrained:
        return False
    J = np.asarray(mech.jacobian(q, body, p=p))
    arm = np.asarray(mech.frame(q, body, p=p))[:3, :3] @ local_point
    speed = J[3:] + np.cross(J[:3], arm, axis=0)
    _, sizes, directions = np.linalg.svd(np.asarray(mech.constraint_jacobian(q, p=p)))
    rank = int(np.sum(sizes > INDEPENDENT_DIRECTION * sizes[0])) if len(sizes) else 0
    allowed = speed @ directions[rank:].T
    return bool(allowed.size) and bool(np.linalg.norm(allowed) < STILL * np.linalg.norm(speed))


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Highlight the body that would be pulled."""
    selection.hover(view, pointer)


def leave(view: Stage) -> None:
    """Clear the highlights when another tool is chosen."""
    selection.leave(view)
