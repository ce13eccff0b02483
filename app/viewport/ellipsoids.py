"""The live manipulability ellipsoid, which is updated as the machine moves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.document.revision import DocumentState, ElementRef
from core.analysis.manipulability import manipulability, velocity_dimension
from core.analysis.tool_frame import tool_frame
from core.errors import KinetostatError
from viz.placement import longest_edge

if TYPE_CHECKING:
    from app.viewport.stage import Stage

FIRST = {"kind": "velocity", "part": "translation"}
"""Default settings of the ellipsoid."""
REACH = 0.35
"""Length at which the largest radius is drawn, as a fraction of the machine's size and independent of the radius's
unit."""


class LiveEllipsoid:
    """Ellipsoid at the selected body or frame, otherwise at the tool, drawn in true proportions. In the reference
    configuration its largest radius is a fixed fraction of the machine's size, so that its size changes with the pose.
    """

    def __init__(self, view: Stage) -> None:
        self._view = view
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.moved, self.refresh_ellipsoid),
            (session.selected, self._on_selection_changed),
            (session.changed, self._on_document_changed),
            (view.settings.changed, self._on_setting_changed),
        )
        self._frame = ""
        self._key: tuple[object, ...] = ()
        self._dimension = 3
        self._scale = 1.0
        self._shown = False
        self.refresh_ellipsoid()

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    @property
    def is_on(self) -> bool:
        """True if the ellipsoid is switched on."""
        return bool(self._view.settings.value("ellipsoid/shown", False))

    def _chosen_setting(self, key: str) -> str:
        return str(self._view.settings.value(f"ellipsoid/{key}", FIRST[key]))

    def frame_name(self) -> str:
        """Return the name of the ellipsoid's frame; '' if there is none."""
        session = self._view.session
        ref = session.selection
        if ref is not None and ref.collection in ("bodies", "frames") and ref.name in session.mech.frame_names:
            return ref.name
        return tool_frame(session.model) or ""

    def refresh_ellipsoid(self) -> None:
        """Draw the ellipsoid for the present pose."""
        if not self.is_on:
            if self._shown:
                self._shown = False
                self._view.show_ellipsoids("live", [])
            return
        session, frame = self._view.session, self.frame_name()
        kind, part = self._chosen_setting("kind"), self._chosen_setting("part")
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
        """Return the radii in m as drawn; infinite ones are limited to the size of the machine."""
        size = longest_edge(self._view.scene.bounds())
        return np.minimum(np.where(np.isfinite(radii), radii * self._scale, size), size)

    def _prepare_scale(self, frame: str, kind: str, part: str) -> None:
        """Compute dimension and scale of the ellipsoid, once per model, frame and choice of ellipsoid."""
        session = self._view.session
        key = (session.model, frame, kind, part)
        if (
            self._key
            and all(a is b or a == b for a, b in zip(key[1:], self._key[1:], strict=True))
            and (key[0] is self._key[0])
        ):
            return
        self._key = key
        self._dimension = velocity_dimension(session.mech, frame, part)  # type: ignore[arg-type]
        rest = manipulability(
            session.mech,
            session.reference_configuration,
            frame,
            kind=kind,  # type: ignore[arg-type]
            part=part,  # type: ignore[arg-type]
            m=self._dimension,
        )
        finite = [float(radius) for radius in rest.radii if math.isfinite(radius) and radius > 0.0]
        self._scale = REACH * longest_edge(self._view.scene.bounds()) / max(finite) if finite else 1.0

    def _on_selection_changed(self, ref: ElementRef | None) -> None:
        if self.is_on:
            self.refresh_ellipsoid()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if self.is_on:
            self.refresh_ellipsoid()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("ellipsoid/"):
            self.refresh_ellipsoid()
