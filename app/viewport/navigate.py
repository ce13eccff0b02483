"""Camera movement by the mouse: orbit, pan, zoom; and the context menu on a right click."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING

from app.viewport.gestures import Gesture, Pointer
from viz import camera

if TYPE_CHECKING:
    from app.viewport.stage import Stage

TURN = pi
"""Rotation for a drag over the whole height of the viewport, rad."""
WHEEL_STEP = 1.15
"""Factor of the camera's distance for one notch of the wheel."""


def orbit(view: Stage, press: Pointer) -> Gesture:
    """Rotate the view about its centre."""
    before, last = view.scene.view, press
    try:
        while (pointer := (yield)) is not None:
            height = view.scene.size[1]
            yaw, pitch = (last.x - pointer.x) / height * TURN, (pointer.y - last.y) / height * TURN
            view.viewpoint.look(camera.orbit(view.scene.view, yaw, pitch))
            last = pointer
    except GeneratorExit:
        view.viewpoint.look(before)
        raise


def clicked(view: Stage, press: Pointer) -> Generator[None, Pointer | None, bool]:
    """Return True if the press was a click; orbit on a drag."""
    drag, moved = orbit(view, press), False
    next(drag)
    try:
        while (move := (yield)) is not None:
            moved = moved or not move.is_click_after(press)
            if moved:
                drag.send(move)
    except GeneratorExit:
        drag.close()
        raise
    with suppress(StopIteration):
        drag.send(None)
    return not moved


def pan(view: Stage, press: Pointer) -> Gesture:
    """Move the view in its own plane, so that the point under the pointer stays there."""
    before, last = view.scene.view, press
    try:
        while (pointer := (yield)) is not None:
            height = view.scene.size[1]
            right, up = (pointer.x - last.x) / height, (last.y - pointer.y) / height
            view.viewpoint.look(camera.pan(view.scene.view, right, up))
            last = pointer
    except GeneratorExit:
        view.viewpoint.look(before)
        raise


def zoom_to(view: Stage, pointer: Pointer, factor: float) -> None:
    """Scale the distance of the camera by a factor; the point under the pointer stays in place."""
    view.viewpoint.look(camera.zoom(view.scene.view, factor, view.point_under(pointer)))


def set_centre(view: Stage, pointer: Pointer) -> None:
    """Make the point under the pointer the centre of rotation of the view."""
    hit = view.scene.pick(pointer.x, pointer.y)
    if hit is not None:
        x, y, z = map(float, hit.position)
        view.viewpoint.fly_to(replace(view.scene.view, target=(x, y, z)))


def other_buttons(view: Stage, press: Pointer) -> Gesture:
    """Pan with the middle button or Shift+left; orbit by a right drag, open the menu by a right click."""
    if press.button in ("middle", "left"):
        yield from pan(view, press)
        return
    gesture, moved, last = orbit(view, press), False, press
    next(gesture)
    try:
        while (pointer := (yield)) is not None:
            last = pointer
            moved = moved or not pointer.is_click_after(press)
            if moved:
                gesture.send(pointer)
    except GeneratorExit:
        gesture.close()
        raise
    if not moved:
        view.open_menu(last)
