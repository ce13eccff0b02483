"""The pull tool: drag a body of the running machine by a spring between the gripped point and the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.document.revision import Ref
from app.tools import move, selection
from app.tools.drag_handles import drag_handle
from app.tools.move import body_of
from app.viewport.gestures import Gesture, Pointer
from app.viewport.navigate import orbit
from viz.drawlist.joint_handles import PointDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from viz.drawlist.joint_look import Part
    from viz.scene.pointing import Hit

EXPECTS = "Drag a body: a spring pulls it while the machine runs in real time · drag elsewhere to orbit · Esc ends"


def press(view: Stage, pointer: Pointer) -> Gesture:
    """Pull the body under the pointer, or orbit. While the run is paused, handles and bodies move by hand; while it
    runs, a body has priority over a handle in front of it."""
    if view.press_cube(pointer):
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
    """Return True if the real-time run is paused, in which case the machine is moved by hand."""
    return view.interactive is not None and view.interactive.on and not view.interactive.running


def _pull_candidate(view: Stage, pointer: Pointer) -> tuple[Hit | None, str | None, Part | None]:
    """Return the hit under the pointer, the body that would be pulled, and the handle that has priority over it, if
    any."""
    hit = view.scene.pick(pointer.x, pointer.y, handles=False)
    body = body_of(view, Ref(*hit.ref)) if hit is not None and hit.ref is not None else None
    part = None if pointer.ctrl or (body is not None and not _is_paused(view)) else view.handle_under(pointer)
    return hit, body, part


def pull_body(view: Stage, body: str, grip: np.ndarray, press: Pointer) -> Gesture:
    """Pull the point `grip` (world) of a body toward the pointer, in the plane through it parallel to the screen.
    Starts the real-time run if needed."""
    interactive = view.interactive
    assert interactive is not None
    X_WB = np.asarray(view.session.mech.frame(view.session.q, body, p=view.session.p))
    local = X_WB[:3, :3].T @ (grip - X_WB[:3, 3])
    hand = PointDrag(grip, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    if not interactive.on:
        interactive.start()
    view.light_handle(None)  # the value beside a handle is not the one of a machine that runs
    view.session.select(Ref("bodies", body))
    target = grip
    try:
        while (pointer := (yield)) is not None:
            target = hand.position(view.scene.ray(pointer.x, pointer.y))
            live = interactive.live
            if live is None:
                continue
            if live.pull is None:
                live.grab(body, local, target)
                interactive.resume()
            live.hold(target)
    finally:
        interactive.let_go()


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Highlight the body that would be pulled."""
    if pointer is None or view.hover_cube(pointer):
        selection.hover(view, None)
        return
    hit, _, part = _pull_candidate(view, pointer)
    lit = view.light_handle(part)
    view.session.point_at(None if lit or hit is None or hit.ref is None else Ref(*hit.ref))


def leave(view: Stage) -> None:
    """Clean up when another tool is chosen."""
    selection.leave(view)
