"""The measure tool: two clicks give the distance between two points and its components along x, y, z."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.viewport.annotations import annotation_line
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import click_or_orbit

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Point = tuple[float, float, float]
EXPECTS = "Click the first point, then the second · points snap to the origins of bodies, frames and joints · Esc ends"
SNAP = 9.0
"""Distance in pixels (at 100 %) within which the pointer snaps to the origin of a body, frame or joint."""


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Set a point on a click; orbit on a drag."""
    if view.press_orientation_cube(pointer):
        return
    if (yield from click_or_orbit(view, pointer)):
        _set_point(view, pointer)


def _set_point(view: Stage, pointer: PointerState) -> None:
    point, notes = point_to_measure(view, pointer), view.annotations
    if point is None:
        return
    if len(notes.points) == 1:
        notes.points = (notes.points[0], point)
        notes.lines = (annotation_line(notes.points[0], point, distance_text(view, notes.points[0], point)),)
        view.session.message.emit(
            "hint", "Distance " + distance_text(view, notes.points[0], point).replace("\n", " · ")
        )
    else:
        notes.points, notes.lines = (point,), ()
    notes.update()


def point_to_measure(view: Stage, pointer: PointerState) -> Point | None:
    """Return the point to measure from or to: a nearby origin, otherwise the surface point under the pointer."""
    session = view.session
    poses = np.asarray(session.mech.poses(session.q, p=session.p))
    joints = [a for a, _b in session.mech.joint_poses(session.q, p=session.p).values()]
    origins = [*poses[:, :3, 3], *(np.asarray(X)[:3, 3] for X in joints)]
    best, near = None, SNAP * pointer.scale
    for origin in origins:
        x, y = view.scene.project(origin)
        distance = float(np.hypot(x - pointer.x, y - pointer.y))
        if distance < near:
            best, near = origin, distance
    found = best if best is not None else view.point_under(pointer)
    if found is None:
        return None
    x, y, z = map(float, found)
    return x, y, z


def distance_text(view: Stage, start: Point, end: Point) -> str:
    """Return a distance and its components as text."""
    shown = view.settings.format_value
    parts = [b - a for a, b in zip(start, end, strict=True)]
    each = "  ".join(f"Δ{axis} {shown(part, 'length')}" for axis, part in zip("xyz", parts, strict=True))
    return f"{shown(float(np.linalg.norm(parts)), 'length')}\n{each}"


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Show the distance from the first point to the pointer."""
    notes = view.annotations
    if pointer is None or len(notes.points) != 1:
        return
    point = point_to_measure(view, pointer)
    notes.lines = (
        (annotation_line(notes.points[0], point, distance_text(view, notes.points[0], point)),)
        if point is not None
        else ()
    )
    notes.update()


def leave(view: Stage) -> None:
    """Remove the measurement when another tool is chosen."""
    view.annotations.clear()
