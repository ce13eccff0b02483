"""The other configurations of the arm as transparent copies in the scene: the one pointed at or chosen is emphasised, a
click chooses one, a double click takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.document.arm_configurations import arm_configurations_of

if TYPE_CHECKING:
    from app.viewport.gestures import PointerState
    from app.viewport.stage import Stage

QUIET, EMPHASISED = "configurations", "emphasised configuration"
"""Sources of the copies."""
QUIET_OPACITY, EMPHASISED_OPACITY = 0.13, 0.45
MOST = 16
"""Largest number of configurations that are shown at once; of more only the emphasised one is."""


class ConfigurationLayer:
    """Shows the list of configurations in the scene while it is wanted and up to date."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._configurations = arm_configurations_of(view.session)
        self._shown: tuple[int, ...] = ()
        """Indices of the configurations with a quiet copy."""
        self._is_pointed_from_here = False
        """True while the pointer is on one of the copies."""
        self._life = Lifetime()
        self._life.own(self._configurations)
        self._life.listen(
            (self._configurations.changed, self._refresh),
            (self._configurations.marked, self._on_marked),
            (self._configurations.options_changed, self._refresh),
        )

    def close(self) -> None:
        """Disconnect, and end the computation of configurations."""
        self._life.close()

    # ----------------------------------------------------------------------------- drawing

    def _refresh(self) -> None:
        self._view.call_when_up_to_date(self._draw)

    def _draw(self) -> None:
        listed = self._configurations
        visible = listed.is_wanted and listed.shows_ghosts
        present = listed.present
        if not visible or not listed.solutions:
            self._shown = ()
        elif not listed.is_old:  # otherwise those of the last pose stay until the next ones are known
            others = tuple(k for k in range(len(listed.solutions)) if k != present)
            self._shown = others if len(others) <= MOST else ()
        self._shown = tuple(k for k in self._shown if k < len(listed.solutions))
        self._show(QUIET, self._shown, QUIET_OPACITY)
        self._draw_emphasised(present)
        self._view.update()

    def _draw_emphasised(self, present: int | None) -> None:
        listed = self._configurations
        index = listed.highlighted
        visible = listed.is_wanted and index is not None and index < len(listed.solutions) and index != present
        self._show(EMPHASISED, (index,) if visible and index is not None else (), EMPHASISED_OPACITY)

    def _show(self, source: str, indices: tuple[int, ...], opacity: float) -> None:
        listed, mech, overlays = self._configurations, self._view.session.mech, self._view.scene.overlays
        p = dict(self._view.session.p)
        poses = [np.asarray(mech.poses(listed.solutions[k].q, p=p)) for k in indices]
        overlays.show_ghosts(mech.frame_names, poses, opacity, source=source)

    def _on_marked(self) -> None:
        self._view.call_when_up_to_date(self._redraw_emphasised)

    def _redraw_emphasised(self) -> None:
        self._draw_emphasised(self._configurations.present)
        self._view.update()

    # ----------------------------------------------------------------------------- the pointer

    def ghost_under(self, pointer: PointerState) -> int | None:
        """Return the index of the configuration under the pointer; None if there is none."""
        if not self._shown:
            return None
        met = self._view.scene.overlays.ghost_met_by(self._view.scene.ray(pointer.x, pointer.y), QUIET)
        return None if met is None else self._shown[met]

    def point_at(self, index: int | None) -> bool:
        """Emphasise a configuration (None: none); returns True if there is one."""
        if index is not None or self._is_pointed_from_here:
            self._configurations.point_at(index)
        self._is_pointed_from_here = index is not None
        if index is not None:
            name = self._configurations.name_of(index)
            self._view.show_hint(f"{name} · click chooses · double click takes this configuration")
        return index is not None

    def choose(self, index: int) -> None:
        """Choose a configuration, which stays emphasised."""
        self._configurations.choose(index)

    def take(self, index: int) -> None:
        """Move the machine to a configuration."""
        self._configurations.take(index)
