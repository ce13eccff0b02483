"""Choose the working plane by a flat face: previewed under the pointer, created by a click as a frame of the body."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from app.tools.candidates import Face, face_under
from app.tools.draw.hand import Hand
from app.tools.draw.snapping import Snap, grid_step
from app.tools.draw.sub_tools import SubTool
from app.viewport.annotations import Line, line
from core.design.linkage import plane_at
from viz.camera import metres_per_pixel
from viz.placement import inverse

if TYPE_CHECKING:
    from app.viewport.pointer import Pointer

NO_FACE = "There is no flat face here: click the side of a box, the end of a cylinder, a flat part of a mesh."
AXIS = 46.0
"""Length of the axes in a face, pixels (at 100 %)."""


class OnFace(SubTool):
    """Sub-tool of the menu of planes: a click makes the face the working plane, and drawing links continues on it."""

    key, title = "", "Working plane on a face"
    short = "Face"
    icon = "shape"
    in_plane = False
    help = "Point at a flat face of a shape: the plane that you would draw in is shown; a click takes it."
    words = ("click a flat face of a shape · drag: look from elsewhere · Esc: as before",)

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Make the face under the pointer the working plane."""
        take_face(hand, face_under(hand.view, pointer))

    def point(self, hand: Hand, pointer: Pointer | None) -> None:
        """Preview the plane that a click would take."""
        view = hand.view
        face = face_under(view, pointer) if pointer is not None else None
        view.annotations.clear()
        if face is None or pointer is None:
            view.scene.working_plane.hide()
        else:
            view.annotations.lines = _face_lines(hand, face)
            view.annotations.show_value(f"face of {face.body}", pointer.x, pointer.y)
            local = np.vstack(face.outlines) - face.X_WF[:3, 3]
            flat, step = (local @ face.X_WF[:3, :3])[:, :2], grid_step(hand.pixel)
            view.scene.working_plane.show(face.X_WF, flat.min(axis=0), flat.max(axis=0), step, view.scene.palette)
        view.update()


def take_face(hand: Hand, face: Face | None) -> None:
    """Make a face the working plane."""
    if face is None:
        hand.view.session.message.emit("hint", NO_FACE)
        return
    X_BF = inverse(hand.drawing.poses[face.body]) @ face.X_WF
    hand.make_plane_with(lambda model: plane_at(model, face.body, X_BF[:3, 3], X_BF[:3, :3]))


def _face_lines(hand: Hand, face: Face) -> tuple[Line, ...]:
    """Return the outline of the face and its axes."""
    place, scene = face.X_WF[:3, 3], hand.view.scene
    reach = AXIS * metres_per_pixel(scene.view, scene.size, place) * scene.pixel_ratio
    around = [line(a, b) for outline in face.outlines for a, b in pairwise(outline)]
    axes = [line(place, place + reach * face.X_WF[:3, k]) for k in range(2)]
    return (*around, *axes)
