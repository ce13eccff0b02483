"""Camera movement by the mouse: orbit, pan, zoom; and the context menu on a right click."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING

from app.viewport.gestures import Gesture, PointerState
from viz import camera

if TYPE_CHECKING:
    from app.viewport.stage import Stage

TURN = pi
"""Rotation in rad for a drag over the whole height of the viewport."""
WHEEL_STEP = 1.15
"""Factor applied to the camera's distance by one notch of the wheel."""


def orbit(view: Stage, press: PointerState) -> Gesture:
    """Rotate the view about its centre."""
    before, last = view.scene.view, press
    try:
        while (pointer := (yield)) is not None:
            height = view.scene.size[1]
            yaw, pitch = (last.x - pointer.x) / height * TURN, (pointer.y - last.y) / height * TURN
            view.viewpoint.set_view(camera.orbit(view.scene.view, yaw, pitch))
            last = pointer
    except GeneratorExit:
        view.viewpoint.set_view(before)
        raise


def click_or_orbit(view: Stage, press: PointerState) -> Generator[None, PointerState | None, bool]:
    """Orbit on a drag; return True if the press was a click."""
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


def pan(view: Stage, press: PointerState) -> Gesture:
    """Move the view in its own plane, so that the point of the scene stays under the pointer."""
    before, last = view.scene.view, press
    try:
        while (pointer := (yield)) is not None:
            height = view.scene.size[1]
            right, up = (pointer.x - last.x) / height, (last.y - pointer.y) / height
            view.viewpoint.set_view(camera.pan(view.scene.view, right, up))
            last = pointer
    except GeneratorExit:
        view.viewpoint.set_view(before)
        raise


def zoom_to(view: Stage, pointer: PointerState, factor: float) -> None:
    """Scale the distance of the camera by a factor while the point under the pointer stays in place."""
    view.viewpoint.set_view(camera.zoom(view.scene.view, factor, view.point_under(pointer)))


def set_centre(view: Stage, pointer: PointerState) -> None:
    """Make the point under the pointer the centre of rotation of the view."""
    hit = view.scene.pick(pointer.x, pointer.y)
    if hit is not None:
        x, y, z = map(float, hit.position)
        view.viewpoint.fly_to(replace(view.scene.view, target=(x, y, z)))


def navigate_with_other_buttons(view: Stage, press: PointerState) -> Gesture:
    """Pan with the middle button or Shift + left button; orbit with a right drag, or open the menu with a right
    click."""
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
        view.open_context_menu(last)
