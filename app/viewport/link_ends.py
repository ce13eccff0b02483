"""Grips at the ends of the selected link for dragging its length; hidden if that would overwrite formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.lifetime import Lifetime
from app.document.link_lengths import LinkEnd, has_length
from core.model.edits.lengths import LinkPoint, is_locked, link_points

if TYPE_CHECKING:
    from app.document.revision import Ref
    from app.viewport.pointer import Pointer
    from app.viewport.stage import Stage
    from core.model import Model

REACH = 9.0
"""Distance in pixels (at 100 %) within which the pointer is on an end."""


class LinkEnds:
    """Shows the grips of the selected link over the scene."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.ends: tuple[LinkEnd, ...] = ()
        self._of: tuple[Model, Ref] | None = None
        self._points: tuple[LinkPoint, ...] = ()
        """Of the selected link: what does not change while it moves."""
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.selected, self._changed),
            (session.moved, self._changed),
            (view.gestures.chosen, self._changed),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _changed(self, *_: object) -> None:
        self.ends = self._draggable_ends()
        notes = self._view.annotations
        grips = tuple((float(x), float(y), float(z)) for x, y, z in (end.place for end in self.ends))
        if grips != notes.grips:
            notes.grips, notes.lit = grips, None
            notes.update()

    def _draggable_ends(self) -> tuple[LinkEnd, ...]:
        session = self._view.session
        ref, model = session.selection, session.model
        if ref is None or not self._view.gestures.tool.ends or session.following or ref.name in session.locked:
            return ()
        if self._of is None or self._of[0] is not model or self._of[1] != ref:
            self._of, self._points = (model, ref), draggable_points(model, ref)
        if not self._points:
            return ()
        X_WB, values = np.asarray(session.mech.frame(session.q, ref.name, p=session.p)), model.values(session.p)
        near, *others = (X_WB[:3, :3] @ point.at(values) + X_WB[:3, 3] for point in self._points)
        joints = [point.joint for point in self._points[1:]]
        return tuple(LinkEnd(ref.name, joint, near, place) for joint, place in zip(joints, others, strict=True))

    def under(self, pointer: Pointer) -> LinkEnd | None:
        """Return the link end under the pointer."""
        for end in self.ends:
            x, y = self._view.scene.project(end.place)
            if float(np.hypot(x - pointer.x, y - pointer.y)) < REACH * pointer.scale:
                return end
        return None

    def light(self, end: LinkEnd | None) -> bool:
        """Highlight a link end in yellow (None: none); returns True if there is one."""
        notes = self._view.annotations
        lit = None if end is None else self.ends.index(end)
        if lit != notes.lit:
            notes.lit = lit
            notes.update()
        return end is not None


def draggable_points(model: Model, ref: Ref) -> tuple[LinkPoint, ...]:
    """Return the joint that carries a body, and the ends at which its length can be dragged; () if there are none."""
    if ref.collection != "bodies" or not has_length(model, ref.name):
        return ()
    first, *others = link_points(model, ref.name)
    free = [point for point in others if not is_locked(model, ref.name, point.joint)]
    return (first, *free) if free else ()
