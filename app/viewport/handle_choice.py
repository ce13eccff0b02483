"""Selection of the handles to show: those of the selected joint and of the joint whose body the pointer has rested on
(none for tools that drag no joints or for joints that cannot be dragged), and grips at the ends of the selected link.

In the viewport the joint under the pointer keeps its handle, so that it can be reached; pointed at in a list or a
formula it goes with the pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer

from app.background.signals import Lifetime
from app.document.hand_freedom import ManualMobility, explain_immovable_joint, joint_that_moves
from app.document.link_lengths import LinkEnd, has_link_length
from app.document.revision import DocumentState, ElementRef
from core.model.edits.lengths import LinkPoint, is_length_locked, link_points

if TYPE_CHECKING:
    from app.document.revision import ElementRef
    from app.viewport.gestures import PointerState
    from app.viewport.stage import Stage
    from core.model import Joint, Model
    from viz.drawlist.joint_look import HandlePart


REST_MS = 180
"""Time in ms that the pointer must rest on a body before its handle appears."""


class JointHandleSelector:
    """Updates the joint handles after changes of the selection or the hovered element."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._near: str | None = None
        self._coming: str | None = None
        self._afar = False
        """True if the nearby handle was pointed at outside the viewport."""
        self._freedom = ManualMobility(view.session)
        self._told = ""
        self._document = view.session.document
        self._rest = QTimer(view.widget, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._show_handle_after_rest)
        session = view.session
        self._life = Lifetime()
        self._life.callback(self._rest.stop)
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.selected, self._on_selection_changed),
            (session.hovered, self._on_hover_changed),
            (view.gestures.chosen, self._on_tool_chosen),
            (view.settings.changed, self._on_setting_changed),
        )
        self.refresh_handles()

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def refresh_handles(self) -> None:
        """Show the handles for the present selection and hovered element."""
        self._view.call_when_up_to_date(self._update_handles)

    def _update_handles(self) -> None:
        view = self._view
        model, free = view.session.model.expanded, view.session.mech.implicit_joints
        wanted = self._joints_with_handles(model, free) if view.gestures.tool.handles else []
        handles = view.scene.handles
        fixed = frozenset(
            part for part in handles.get_parts(*wanted) if not self._freedom.can_move(part.joint, part.speed)
        )
        if (tuple(wanted), fixed) != (handles.shown_joints, handles.immovable):
            handles.immovable = fixed
            view.scene.show_handles(*wanted)
            view.update()
        self._explain_missing_handle(model, free)

    def _explain_missing_handle(self, model: Model, free_joints: tuple[Joint, ...]) -> None:
        """Report the reason why the selected element has no handle."""
        view = self._view
        chosen = joint_that_moves(model, view.session.selection, free_joints) if view.gestures.tool.handles else None
        words = (
            "" if chosen is None or self._freedom.can_move(chosen) else explain_immovable_joint(view.session, chosen)
        )
        if words != self._told:
            self._told = words
            view.show_hint(words)

    def _joints_with_handles(self, model: Model, free_joints: tuple[Joint, ...]) -> list[str]:
        """Return the joints whose handles are to be shown."""
        view = self._view
        if view.settings.view_flag("handles"):
            return [
                joint.name
                for joint in (*free_joints, *model.joints)
                if joint.info.nq and self._can_move_joint(joint.name)
            ]
        chosen = joint_that_moves(model, view.session.selection, free_joints, self._can_move_joint)
        return [name for name in dict.fromkeys((chosen, self._near)) if name is not None]

    def _can_move_joint(self, joint: str) -> bool:
        """Return True if a handle can move the joint; False for a cut joint, which has no coordinates of its own."""
        return self._freedom.can_move(joint)

    def handle_under(self, pointer: PointerState) -> HandlePart | None:
        """Return the ring or arrow under the pointer."""
        met = self._view.scene.handles.pick(self._view.scene.ray(pointer.x, pointer.y))
        return None if met is None else met.meaning  # type: ignore[return-value]

    def highlight_handle(self, part: HandlePart | None) -> bool:
        """Highlight a part of a handle in yellow (None: none); returns True if there is one."""
        handles = self._view.scene.handles
        if part != handles.hovered:
            handles.hover(part)
            handles.show_value(self._handle_text(part) if part is not None else "")
            self._view.update()
        if part is not None:
            self._rest.stop()
        return part is not None

    def _handle_text(self, part: HandlePart) -> str:
        view = self._view
        if part.coordinate is None:
            return part.joint
        mech = view.session.mech
        if part.bound:
            low, high = view.scene.handles.get_limits(part)
            edge = (low if part.bound == "lower" else high) or 0.0
            dimension = mech.coordinates[mech.joint_q(part.joint).start + part.coordinate].dimension
            return f"{part.bound} limit  {view.settings.format_value(edge, dimension)}"
        index = mech.joint_q(part.joint).start + part.coordinate
        shown = view.settings.format_value(float(view.session.q[index]), mech.coordinates[index].dimension)
        return f"{mech.coordinates[index].name}  {shown}"

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            session = self._view.session
            known = {joint.name for joint in (*session.mech.implicit_joints, *new.model.expanded.joints)}
            if self._near not in known or self._document != session.document:
                self._near = self._coming = None
            self._document = session.document
        self.refresh_handles()

    def _on_selection_changed(self, ref: ElementRef | None) -> None:
        if ref is None:
            self._near = self._coming = None
            self._rest.stop()
        self.refresh_handles()

    def _on_hover_changed(self, ref: ElementRef | None) -> None:
        if self._view.gestures.is_running or not self._view.gestures.tool.handles:
            return
        session = self._view.session
        self._coming = joint_that_moves(session.model.expanded, ref, session.mech.implicit_joints, self._can_move_joint)
        if self._coming is not None and self._coming != self._near:
            self._rest.start()
        else:
            self._rest.stop()
            if self._coming is None and self._afar:
                self._near, self._afar = None, False
                self.refresh_handles()

    def _on_tool_chosen(self, _tool: object) -> None:
        """Hide handles for a tool that moves no joints."""
        self.refresh_handles()

    def _show_handle_after_rest(self) -> None:
        if self._coming is not None:
            self._near, self._afar = self._coming, not self._view.gestures.is_pointer_inside
            self.refresh_handles()

    def _on_setting_changed(self, key: str) -> None:
        if key == "view/handles":
            self.refresh_handles()


END_REACH = 9.0
"""Distance in pixels (at 100 %) within which the pointer is on a link end."""


class LinkEndGrips:
    """Shows grips at the ends of the selected link over the scene."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.ends: tuple[LinkEnd, ...] = ()
        self._of: tuple[Model, ElementRef] | None = None
        self._points: tuple[LinkPoint, ...] = ()
        """Of the selected link: what does not change while it moves."""
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.selected, self._update_grips),
            (session.moved, self._update_grips),
            (view.gestures.chosen, self._update_grips),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _update_grips(self, *_: object) -> None:
        self.ends = self._draggable_ends()
        notes = self._view.annotations
        grips = tuple((float(x), float(y), float(z)) for x, y, z in (end.place for end in self.ends))
        if grips != notes.grips:
            notes.grips, notes.lit = grips, None
            notes.update()

    def _draggable_ends(self) -> tuple[LinkEnd, ...]:
        session = self._view.session
        ref, model = session.selection, session.model
        if (
            ref is None
            or not self._view.gestures.tool.ends
            or session.shows_run_pose
            or ref.name in session.locked_bodies
        ):
            return ()
        if self._of is None or self._of[0] is not model or self._of[1] != ref:
            self._of, self._points = (model, ref), draggable_link_points(model, ref)
        if not self._points:
            return ()
        X_WB, values = np.asarray(session.mech.frame(session.q, ref.name, p=session.p)), model.values(session.p)
        near, *others = (X_WB[:3, :3] @ point.at(values) + X_WB[:3, 3] for point in self._points)
        joints = [point.joint for point in self._points[1:]]
        return tuple(LinkEnd(ref.name, joint, near, place) for joint, place in zip(joints, others, strict=True))

    def link_end_under(self, pointer: PointerState) -> LinkEnd | None:
        """Return the link end under the pointer."""
        for end in self.ends:
            x, y = self._view.scene.project(end.place)
            if float(np.hypot(x - pointer.x, y - pointer.y)) < END_REACH * pointer.scale:
                return end
        return None

    def highlight_link_end(self, end: LinkEnd | None) -> bool:
        """Highlight a link end in yellow (None: none); returns True if there is one."""
        notes = self._view.annotations
        lit = None if end is None else self.ends.index(end)
        if lit != notes.lit:
            notes.lit = lit
            notes.update()
        return end is not None


def draggable_link_points(model: Model, ref: ElementRef) -> tuple[LinkPoint, ...]:
    """Return the joint that carries a body, followed by the ends at which its length can be dragged; () if there are
    none."""
    if ref.collection != "bodies" or not has_link_length(model, ref.name):
        return ()
    first, *others = link_points(model, ref.name)
    free = [point for point in others if not is_length_locked(model, ref.name, point.joint)]
    return (first, *free) if free else ()
