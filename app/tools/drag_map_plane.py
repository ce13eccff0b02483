"""Drag the handle of a map's plane: a frame follows the pointer, then the map of the new plane is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.tools.drag_joint import SNAP
from app.viewport.gestures import Gesture
from app.viewport.pointer import Pointer
from viz.drawlist.joint_handles import Drag
from viz.scene.plane_handle import PlanePart

if TYPE_CHECKING:
    from app.viewport.stage import Stage

DIMENSIONS = {"slide": "length", "turn": "angle"}


def drag_map_plane(view: Stage, part: PlanePart, press: Pointer) -> Gesture:
    """Preview the new plane; request the map once, on release."""
    handle, notes = view.scene.plane_handle, view.annotations
    start = handle.place
    assert start is not None
    drag = Drag(handle.grip(part), view.scene.ray(press.x, press.y))
    dimension, verb = DIMENSIONS[part.kind], {"slide": "Moving", "turn": "Turning"}[part.kind]
    place = start
    view.say(f"{verb} the plane of the map · Ctrl snaps · Esc cancels")
    handle.light(part)
    try:
        while (pointer := (yield)) is not None:
            amount = drag.amount(view.scene.ray(pointer.x, pointer.y))
            if pointer.ctrl:
                amount = round(amount / SNAP[dimension]) * SNAP[dimension]
            place = start.moved(part, amount)
            handle.show(place, framed=True)
            notes.show_value(view.settings.shown(amount, dimension), pointer.x, pointer.y)
            view.update()
    except GeneratorExit:
        place = start
        raise
    finally:
        notes.clear()
        handle.show(place)
        handle.light(None)
        view.say()
        view.update()
    if place is not start:
        view.maps.ask_in(place)
