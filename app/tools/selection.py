"""The select tool: a click selects, a drag of a handle moves its joint, any other drag orbits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.document.revision import Ref
from app.tools.drag_handles import drag_end, drag_handle, drag_map_plane
from app.viewport.gestures import Gesture, Pointer
from app.viewport.navigate import orbit

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Rest on a part: its joint's handle appears, drag that to move it · click selects · drag elsewhere orbits"


def press(view: Stage, pointer: Pointer) -> Gesture:
    """Choose the gesture for a press of the left button."""
    if view.press_cube(pointer):
        return
    end = view.link_end_under(pointer)
    if end is not None:
        yield from click_or_drag(view, pointer, drag_end(view, end, pointer))
        return
    part = view.handle_under(pointer)
    if part is not None:
        yield from click_or_drag(view, pointer, drag_handle(view, part, pointer))
        return
    held = view.maps.handle_under(pointer)
    if held is not None:
        yield from click_or_drag(view, pointer, drag_map_plane(view, held, pointer))
        return
    yield from click_or_drag(view, pointer, orbit(view, pointer))


def click_or_drag(view: Stage, press: Pointer, drag: Gesture) -> Gesture:
    """Select on a click (also the element behind a handle); run the drag gesture once the pointer moves."""
    next(drag)
    moved = False
    try:
        while (pointer := (yield)) is not None:
            moved = moved or not pointer.is_click_after(press)
            if moved:
                drag.send(pointer)
    except GeneratorExit:
        drag.close()
        raise
    if moved:
        _finish(drag)
    else:
        drag.close()
        hit = view.scene.pick(press.x, press.y, handles=False) or view.scene.pick(press.x, press.y)
        if hit is None and (place := view.maps.under(press)) is not None:
            view.maps.take(place)
            return
        view.session.select(Ref(*hit.ref) if hit is not None and hit.ref is not None else None)


def _finish(drag: Gesture) -> None:
    try:
        drag.send(None)
    except StopIteration:
        return


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Highlight the item under the pointer: a handle first, else an element."""
    if pointer is None:
        view.hover_cube(None)
        view.light_handle(None)
        view.light_link_end(None)
        view.maps.light(None)
        view.session.point_at(None)
        return
    if view.light_link_end(view.link_end_under(pointer)):
        view.light_handle(None)
        view.session.point_at(None)
        return
    if view.hover_cube(pointer) or view.light_handle(view.handle_under(pointer)):
        view.session.point_at(None)
        return
    if view.maps.light(view.maps.handle_under(pointer)):
        view.session.point_at(None)
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    if view.maps.shown is not None:
        place = view.maps.under(pointer) if hit is None else None
        view.say(view.maps.words(place) if place is not None else "")
    view.session.point_at(Ref(*hit.ref) if hit is not None and hit.ref is not None else None)


def leave(view: Stage) -> None:
    """Clean up when another tool is chosen."""
    hover(view, None)
