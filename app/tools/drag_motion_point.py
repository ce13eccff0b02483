"""The gesture that drags a point of a motion: its pose or target moves parallel to the screen, and the path follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.document.motion_plans import motion_plans_of
from app.viewport.gestures import Gesture, PointerState
from core.analysis.inverse_kinematics import move_frame_to_target
from core.model import Model
from core.model.motions import Target
from core.motions import keyframes

if TYPE_CHECKING:
    from app.document.session import Session
    from app.viewport.stage import Stage

HELD = 1e-5
"""Error (m, rad) up to which the tool counts as at the pointer."""


def drag_motion_point(view: Stage, point: int, press: PointerState) -> Gesture:
    """Move the pose or target of a point with the pointer, previewing machine and path; commit on release."""
    from core.motions.plan import place_position

    session, plans = view.session, motion_plans_of(view.session)
    motion, planned = plans.motion, plans.planned
    if motion is None or planned is None:
        return
    plans.choose_point(point)
    place, frame = keyframes.place_at(motion, point), plans.frame
    session.show_run_pose(None)
    start = place_position(session.mech, place, planned.trajectory.at(planned.points[point])[0], frame, session.p)
    X = np.asarray(session.mech.frame(start, frame, p=session.p))
    grip = _Plane(view, X[:3, 3], press)
    made: Model | None = None
    try:
        while (pointer := (yield)) is not None:
            moved = X.copy()
            moved[:3, 3] = grip.point_under(view, pointer)
            found = move_frame_to_target(session.mech, start, frame, moved, session.p, iterations=30)
            if found.residual > HELD:
                view.show_hint(f"{place}: out of reach here · Esc cancels")
                continue
            session.preview(q=found.q)
            made = _with_place(session, session.model, place, found.q, frame)
            plans.try_model(made)
            view.show_hint(f"Moving {place} · Esc cancels")
            view.update()
    finally:
        session.cancel_preview()
        plans.try_model(None)
        view.show_hint()
        view.update()
    if made is not None:
        wanted = made
        session.apply(f"Move {place}", lambda _model: wanted)


def _with_place(session: Session, model: Model, place: str, q: NDArray[np.float64], frame: str) -> Model:
    element = keyframes.places_of(model)[place]
    if isinstance(element, Target):
        return keyframes.place_target(model, session.mech, element, np.asarray(session.mech.frame(q, frame)), q)
    return keyframes.overwrite_place(model, session.mech, place, q, frame)


class _Plane:
    """The plane through a point (3,), parallel to the screen."""

    def __init__(self, view: Stage, point: NDArray[np.float64], press: PointerState) -> None:
        self._point = point
        self._normal = np.asarray(view.scene.view.axes)[:, 2]
        self._offset = np.zeros(3)
        self._offset = point - self.point_under(view, press)

    def point_under(self, view: Stage, pointer: PointerState) -> NDArray[np.float64]:
        """(3,) point of the plane under the pointer, shifted so that it begins at the point."""
        ray = view.scene.ray(pointer.x, pointer.y)
        along = float(self._normal @ ray.direction)
        distance = float(self._normal @ (self._point - ray.origin)) / (along if abs(along) > 1e-9 else 1e-9)
        return np.asarray(ray.at(distance)) + self._offset
