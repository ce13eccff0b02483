"""The select tool: a click selects, a drag of a handle moves its joint, any other drag orbits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.document.revision import ElementRef
from app.tools.drag_frame import drag_frame
from app.tools.drag_handles import drag_handle, drag_link_end, drag_map_plane
from app.tools.drag_motion_point import drag_motion_point
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import orbit, set_centre

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Rest on a part to show the handle of its joint, drag that to move it · click selects · drag elsewhere orbits"


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Choose the gesture for a press of the left button."""
    if view.press_orientation_cube(pointer):
        return
    end = view.link_end_under(pointer)
    if end is not None:
        yield from click_or_drag(view, pointer, drag_link_end(view, end, pointer))
        return
    point = view.motion_points.point_under(pointer)
    if point is not None:
        yield from click_or_drag(view, pointer, drag_motion_point(view, point, pointer))
        return
    grip = view.frame_handle.handle_under(pointer)
    if grip is not None:
        yield from click_or_drag(view, pointer, drag_frame(view, grip, pointer))
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


def click_or_drag(view: Stage, press: PointerState, drag: Gesture) -> Gesture:
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
        _finish_drag(drag)
    else:
        drag.close()
        hit = view.scene.pick(press.x, press.y, handles=False) or view.scene.pick(press.x, press.y)
        if hit is None and (place := view.maps.sample_under(press)) is not None:
            view.maps.move_to_sample(place)
            return
        if hit is None and (ghost := view.configurations.ghost_under(press)) is not None:
            view.configurations.choose(ghost)
            return
        view.session.select(ElementRef(*hit.ref) if hit is not None and hit.ref is not None else None)


def double_click(view: Stage, pointer: PointerState) -> None:
    """Take the configuration under the pointer, or make the point there the centre of orbiting."""
    ghost = view.configurations.ghost_under(pointer)
    if ghost is not None and view.scene.pick(pointer.x, pointer.y) is None:
        view.configurations.take(ghost)
    else:
        set_centre(view, pointer)


def _finish_drag(drag: Gesture) -> None:
    try:
        drag.send(None)
    except StopIteration:
        return


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Highlight the item under the pointer: a handle if there is one, otherwise an element."""
    if pointer is None:
        view.hover_orientation_cube(None)
        view.highlight_handle(None)
        view.highlight_link_end(None)
        view.motion_points.highlight_point(None)
        view.frame_handle.highlight_handle(None)
        view.maps.highlight_handle(None)
        view.configurations.point_at(None)
        view.session.set_hovered_element(None)
        return
    if view.highlight_link_end(view.link_end_under(pointer)):
        view.highlight_handle(None)
        view.session.set_hovered_element(None)
        return
    if view.motion_points.highlight_point(view.motion_points.point_under(pointer)):
        view.highlight_handle(None)
        view.session.set_hovered_element(None)
        return
    if view.frame_handle.highlight_handle(view.frame_handle.handle_under(pointer)):
        view.highlight_handle(None)
        view.configurations.point_at(None)
        view.session.set_hovered_element(None)
        return
    if view.hover_orientation_cube(pointer) or view.highlight_handle(view.handle_under(pointer)):
        view.session.set_hovered_element(None)
        return
    if view.maps.highlight_handle(view.maps.handle_under(pointer)):
        view.session.set_hovered_element(None)
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    if view.maps.shown is not None:
        place = view.maps.sample_under(pointer) if hit is None else None
        view.show_hint(view.maps.describe_sample(place) if place is not None else "")
    view.configurations.point_at(view.configurations.ghost_under(pointer) if hit is None else None)
    view.session.set_hovered_element(ElementRef(*hit.ref) if hit is not None and hit.ref is not None else None)


def leave(view: Stage) -> None:
    """Clear the highlights when another tool is chosen."""
    hover(view, None)
