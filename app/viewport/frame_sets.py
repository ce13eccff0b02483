"""Frames of a Denavit–Hartenberg table and of the robot, drawn as ghosts in the scene while the table is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Lifetime
from app.document.revision import DocumentState
from app.viewport.annotations import PointLabel
from core.functions.results import FrameTable
from viz.placement import longest_edge
from viz.scene.vectors import VectorGlyph

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Array = NDArray[np.float64]
SOURCE = "frame sets"
GEOMETRY = ("parameters", "bodies", "frames", "joints", "chains", "assemblies")
"""Collections that determine the frames; an edit of one of them makes the table outdated."""
AXES = ((0.84, 0.27, 0.27), (0.25, 0.62, 0.30), (0.23, 0.45, 0.82))
"""Colours of x, y, z."""
AXIS = (0.12, 0.62, 0.71)
SIZE, OWN, LIT = 0.11, 0.06, 0.17
"""Lengths of the table's frames, the robot's own and the ones of the row that is pointed at: shares of the machine."""
AXIS_LENGTH = 0.5
"""Length of the highlighted joint axis, as a fraction of the machine's size."""
GHOST, OWN_GHOST, FAINT = 0.6, 0.35, 0.22
"""Opacity of the frames; `FAINT` while the pointer is on another row."""


class ShownFrameTable(NamedTuple):
    """A DH table whose frames are shown, and the row under the pointer (from 1; 0: none)."""

    table: FrameTable
    row: int = 0


class FrameTableLayer:
    """Shows the frames of the table that the session requests, at the present pose of the machine."""

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self._shown: ShownFrameTable | None = None
        self._life = Lifetime()
        self._life.listen(
            (self._session.framed, self.show_table),
            (self._session.moved, self._on_pose_moved),
            (self._session.changed, self._on_document_changed),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def show_table(self, table: ShownFrameTable | None) -> None:
        """Show the frames of a table, or none."""
        if table is None and self._shown is None:
            return
        self._shown = table
        arrows, names = self._build_arrows_and_labels()
        self._view.scene.overlays.show_vectors(
            arrows, SOURCE, longest_edge(self._view.scene.bounds()) if arrows else None
        )
        self._view.annotations.names = tuple(names)
        self._view.annotations.update()
        self._view.update()

    def _on_pose_moved(self) -> None:
        if self._shown is not None:
            self.show_table(self._shown)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if self._shown is not None and any(getattr(old.model, each) != getattr(new.model, each) for each in GEOMETRY):
            self._session.framed.emit(None)

    def _build_arrows_and_labels(self) -> tuple[list[VectorGlyph], list[PointLabel]]:
        if self._shown is None:
            return [], []
        table, row = self._shown
        mech, size = self._session.mech, longest_edge(self._view.scene.bounds())
        poses = dict(zip(mech.frame_names, mech.poses(self._session.q, p=self._session.p), strict=True))
        placed = [np.asarray(poses[frame.body]) @ np.array(frame.pose) for frame in table.frames]
        arrows: list[VectorGlyph] = []
        names: list[PointLabel] = []
        for body in dict.fromkeys(table.own):
            X = np.asarray(poses[body])
            arrows += _triad_glyphs(X, OWN * size, OWN_GHOST if not row else FAINT)
            if not any(np.allclose(X, Y, atol=1e-9) for Y in placed):
                names.append(PointLabel(_origin_of(X), body, quiet=True))
        for i, X in enumerate(placed):
            lit = bool(row) and i in (row - 1, row)
            arrows += _triad_glyphs(
                X, (LIT if i == row and row else SIZE) * size, 1.0 if lit else GHOST if not row else FAINT
            )
            names.append(PointLabel(_origin_of(X), f"{{{i}}}", quiet=bool(row) and not lit))
        if row:
            arrows += _axis_glyphs(placed[row if table.uses_axis_of_own_frame else row - 1], AXIS_LENGTH * size)
        return arrows, names


def _origin_of(X: Array) -> tuple[float, float, float]:
    x, y, z = map(float, X[:3, 3])
    return x, y, z


def _triad_glyphs(X: Array, length: float, opacity: float) -> list[VectorGlyph]:
    return [VectorGlyph(X[:3, 3], length * X[:3, k], AXES[k], opacity=opacity) for k in range(3)]


def _axis_glyphs(X: Array, length: float) -> list[VectorGlyph]:
    """Return the arrow of a joint axis, along z through the origin."""
    z = length * X[:3, 2]
    return [VectorGlyph(X[:3, 3] - 0.5 * z, z, AXIS, opacity=0.85)]
