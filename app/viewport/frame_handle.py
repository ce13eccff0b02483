"""The handle of the frame whose configurations are shown: arrows and rings along the axes of the world or its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.document.arm_configurations import arm_configurations_of

if TYPE_CHECKING:
    from app.viewport.gestures import PointerState
    from app.viewport.stage import Stage
    from viz.scene.axis_handle import AxisPart

HANDLE_TOOLS = ("select", "move")
"""Tools with which the handle is shown."""
HINTS = {
    "slide": "Drag to move {frame} along {axis} with its orientation held · Ctrl snaps · arrow keys and Page keys step",
    "turn": "Drag to turn {frame} about {axis} with its origin held · Ctrl snaps · Shift+arrow keys step",
}


class FrameHandleLayer:
    """Shows the handle while the list of configurations is shown and a tool is chosen that drags handles."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._listed = arm_configurations_of(view.session)
        self._is_drawn = False
        self._life = Lifetime()
        self._life.listen(
            (view.session.moved, self.refresh_handle),
            (view.session.changed, self.refresh_handle),
            (view.session.selected, self.refresh_handle),
            (self._listed.changed, self.refresh_handle),
            (self._listed.options_changed, self.refresh_handle),
            (view.gestures.chosen, self.refresh_handle),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    @property
    def is_shown(self) -> bool:
        """True while the handle is in the scene."""
        return self._listed.is_wanted and self._listed.can_move and self._view.gestures.tool.id in HANDLE_TOOLS

    def refresh_handle(self, *_: object) -> None:
        """Show the handle at the frame as it is now, or hide it."""
        if self.is_shown or self._is_drawn:
            self._view.call_when_up_to_date(self._draw)

    def _draw(self) -> None:
        handle, session = self._view.scene.frame_handle, self._view.session
        self._is_drawn = self.is_shown
        if not self._is_drawn:
            handle.show_at(None, None)
        else:
            X = np.asarray(session.mech.frame(session.q, self._listed.frame, p=session.p, t=session.t))
            handle.show_at(X[:3, 3], X[:3, :3] if self._listed.jog_options.axes == "tool" else np.eye(3))
        self._view.update()

    def handle_under(self, pointer: PointerState) -> AxisPart | None:
        """Return the part of the handle under the pointer."""
        if not self.is_shown:
            return None
        return self._view.scene.frame_handle.pick(self._view.scene.ray(pointer.x, pointer.y))

    def highlight_handle(self, part: AxisPart | None) -> bool:
        """Highlight a part of the handle in yellow (None: none); returns True if there is one."""
        handle = self._view.scene.frame_handle
        if part is not handle.lit:
            handle.highlight(part)
            if part is not None:
                self._view.show_hint(HINTS[part.kind].format(frame=self._listed.frame, axis="xyz"[part.axis]))
            self._view.update()
        return part is not None
