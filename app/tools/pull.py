"""The pull tool: drag a body of the running machine with a spring between the gripped point and the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.document.revision import ElementRef
from app.tools import move, selection
from app.tools.drag_handles import drag_handle
from app.tools.move import grabbed_body
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import orbit
from viz.drawlist.joint_handles import PointDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from viz.drawlist.joint_look import HandlePart
    from viz.scene.pointing import Hit

EXPECTS = "Drag a body: a spring pulls it while the machine runs in real time · drag elsewhere to orbit · Esc ends"


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Pull the body under the pointer, or orbit. While the run is paused, handles and bodies are moved directly; while
    it runs, a body has priority over a handle in front of it."""
    if view.press_orientation_cube(pointer):
        return
    hit, body, part = _pull_candidate(view, pointer)
    if part is not None:
        yield from selection.click_or_drag(view, pointer, drag_handle(view, part, pointer))
        return
    if _is_paused(view) and not pointer.ctrl:
        yield from move.press(view, pointer)
        return
    if hit is None or body is None or view.interactive is None:
        yield from selection.click_or_drag(view, pointer, orbit(view, pointer))
        return
    yield from selection.click_or_drag(view, pointer, pull_body(view, body, np.asarray(hit.position), pointer))


def _is_paused(view: Stage) -> bool:
    """Return True if the real-time run is paused, in which case dragging moves the machine directly."""
    return view.interactive is not None and view.interactive.on and not view.interactive.running


def _pull_candidate(view: Stage, pointer: PointerState) -> tuple[Hit | None, str | None, HandlePart | None]:
    """Return the hit under the pointer, the body that would be pulled, and the handle that has priority over it, if
    any."""
    hit = view.scene.pick(pointer.x, pointer.y, handles=False)
    body = grabbed_body(view, ElementRef(*hit.ref)) if hit is not None and hit.ref is not None else None
    part = None if pointer.ctrl or (body is not None and not _is_paused(view)) else view.handle_under(pointer)
    return hit, body, part


def pull_body(view: Stage, body: str, grip_point: np.ndarray, press: PointerState) -> Gesture:
    """Pull the point `grip_point` (world) of a body toward the pointer, in the plane through it parallel to the screen.
    The real-time run is started if necessary."""
    interactive = view.interactive
    assert interactive is not None
    X_WB = np.asarray(view.session.mech.frame(view.session.q, body, p=view.session.p))
    local = X_WB[:3, :3].T @ (grip_point - X_WB[:3, 3])
    hand = PointDrag(grip_point, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    if not interactive.on:
        interactive.start()
    view.highlight_handle(None)  # the value beside a handle is not the one of a machine that runs
    view.session.select(ElementRef("bodies", body))
    target = grip_point
    try:
        while (pointer := (yield)) is not None:
            target = hand.target_position(view.scene.ray(pointer.x, pointer.y))
            live = interactive.live
            if live is None:
                continue
            if live.pull is None:
                live.grab(body, local, target)
                interactive.resume()
            live.hold(target)
    finally:
        interactive.let_go()


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Highlight the body that would be pulled."""
    if pointer is None or view.hover_orientation_cube(pointer):
        selection.hover(view, None)
        return
    hit, _, part = _pull_candidate(view, pointer)
    lit = view.highlight_handle(part)
    view.session.set_hovered_element(None if lit or hit is None or hit.ref is None else ElementRef(*hit.ref))


def leave(view: Stage) -> None:
    """Clear the highlights when another tool is chosen."""
    selection.leave(view)
