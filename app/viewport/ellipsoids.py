"""The manipulability ellipsoid that is updated with every movement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.document.revision import Ref, State
from core.analysis.manipulability import dimension, manipulability
from core.analysis.tool_frame import tool_frame
from core.errors import KinetostatError
from viz.camera import extent

if TYPE_CHECKING:
    from app.viewport.stage import Stage

FIRST = {"kind": "velocity", "part": "translation"}
"""Default choice of the ellipsoid shown."""
REACH = 0.35
"""Drawn length of the largest radius as a share of the machine's size, regardless of its unit."""


class LiveEllipsoid:
    """Ellipsoid at the selected body or frame, else at the tool. Drawn in true proportions; in the reference
    configuration its largest radius is a fixed share of the machine's size, so that its size changes with the pose."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.moved, self.refresh),
            (session.selected, self._selection_changed),
            (session.changed, self._document_changed),
            (view.settings.changed, self._settings),
        )
        self._frame = ""
        self._key: tuple[object, ...] = ()
        self._dimension = 3
        self._scale = 1.0
        self._shown = False
        self.refresh()

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    @property
    def on(self) -> bool:
        """True if the ellipsoid is switched on."""
        return bool(self._view.settings.value("ellipsoid/shown", False))

    def _choice(self, key: str) -> str:
        return str(self._view.settings.value(f"ellipsoid/{key}", FIRST[key]))

    def frame(self) -> str:
        """Name of the frame of the ellipsoid; '' if there is none."""
        session = self._view.session
        ref = session.selection
        if ref is not None and ref.collection in ("bodies", "frames") and ref.name in session.mech.frame_names:
            return ref.name
        return tool_frame(session.model) or ""

    def refresh(self) -> None:
        """Draw the ellipsoid for the present pose."""
        if not self.on:
            if self._shown:
                self._shown = False
                self._view.show_ellipsoids("live", [])
            return
        session, frame = self._view.session, self.frame()
        kind, part = self._choice("kind"), self._choice("part")
        if not frame or session.mech.nv == 0:
            self._view.show_ellipsoids("live", [])
            return
        try:
            self._prepare_scale(frame, kind, part)
            found = manipulability(session.mech, session.q, frame, kind=kind, part=part, p=session.p, m=self._dimension)  # type: ignore[arg-type]
        except KinetostatError:
            self._view.show_ellipsoids("live", [])
            return
        radii = self._drawn_radii(np.asarray(found.radii))
        self._shown = True
        self._view.show_ellipsoids("live", [(found.center, found.axes, radii, kind)])

    def _drawn_radii(self, radii: np.ndarray) -> np.ndarray:
        """Return the radii in m as drawn: infinite ones are drawn as long as the machine is large."""
        size = extent(self._view.scene.bounds())
        return np.minimum(np.where(np.isfinite(radii), radii * self._scale, size), size)

    def _prepare_scale(self, frame: str, kind: str, part: str) -> None:
        """Compute dimension and scale, once per model, frame and choice."""
        session = self._view.session
        key = (session.model, frame, kind, part)
        if (
            self._key
            and all(a is b or a == b for a, b in zip(key[1:], self._key[1:], strict=True))
            and (key[0] is self._key[0])
        ):
            return
        self._key = key
        self._dimension = dimension(session.mech, frame, part)  # type: ignore[arg-type]
        rest = manipulability(session.mech, session.rest, frame, kind=kind, part=part, m=self._dimension)  # type: ignore[arg-type]
        finite = [float(radius) for radius in rest.radii if math.isfinite(radius) and radius > 0.0]
        self._scale = REACH * extent(self._view.scene.bounds()) / max(finite) if finite else 1.0

    def _selection_changed(self, ref: Ref | None) -> None:
        if self.on:
            self.refresh()

    def _document_changed(self, old: State, new: State) -> None:
        if self.on:
            self.refresh()

    def _settings(self, key: str) -> None:
        if key.startswith("ellipsoid/"):
            self.refresh()
