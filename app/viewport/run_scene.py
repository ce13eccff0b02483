"""Display of runs in the scene: vectors with their legend, paths of points, and other visible runs as ghosts.

Follows the playhead; without a run vectors are those of the present pose, held still by its joint forces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSlider, QToolButton, QWidget

from app.background.signals import Lifetime, Signal
from app.document.run_pose import shared_parameters
from app.plain_text import escape_tip
from app.plotting.curves import format_number
from app.preferences.icons import icon
from app.viewport.annotations import PointLabel
from app.widgets.label import Label
from core.errors import KinetostatError
from core.simulation.run.resampling import equilibrium_run, resample_run
from viz.film.film import PointPath, visible_path
from viz.film.footage import FollowedPoint, object_names, object_poses, point_path
from viz.look import LOOKS, Colour
from viz.placement import longest_edge
from viz.scene import vectors
from viz.scene.vectors import KINDS, RequestedArrow, VectorGlyph, legend_arrow

if TYPE_CHECKING:
    from app.document.revision import DocumentState, ElementRef
    from app.document.run_tree import RunRecord
    from app.document.session import Session
    from app.viewport.stage import Stage
    from core.simulation.run.run import Run


SOURCE = "runs"
MOST_GHOSTS = 6
"""Largest number of other runs shown at once (the newest ones)."""
GHOST, FAINT_GHOST = 0.28, 0.14
"""Opacity."""
VALUES = "vectors/values"
"""Setting that is True if values are written at arrows."""
MOST_VALUES = 24
SHORTEST = 0.02
"""Length, as a fraction of the machine's size, below which an arrow has no value written at it."""
FACTORS = (0.1, 10.0)
"""Smallest and largest scale factor of arrows that the user can set."""


class RunDisplay:
    """Vectors, paths and ghosts of runs in the scene; emits `changed` when other vectors are shown or arrows are
    rescaled."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.session, self.runs = view.session, view.session.runs
        self.whole_kinds: frozenset[str] = frozenset()
        """Kinds of which all elements show their vectors."""
        self.single: frozenset[RequestedArrow] = frozenset()
        """Vectors of single elements."""
        self.scale: dict[str, float] = {}
        """Metres of arrow per SI unit, by kind."""
        self.size = 1.0
        self._followed = False
        self._drawn: tuple[object, ...] = ()
        self._scaled_for: tuple[object, ...] = ()
        self._places: dict[Run, tuple[float, NDArray[np.float64]]] = {}
        self._computed_paths: dict[tuple[Run, FollowedPoint], PointPath] = {}
        self._life = Lifetime()
        self._life.listen(
            (self.runs.moved, self._on_playhead_moved),
            (self.runs.changed, self._on_runs_changed),
            (self.session.moved, self._on_pose_moved),
            (self.session.changed, self._on_document_changed),
            (view.settings.changed, self._on_setting_changed),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    # ----------------------------------------------------------------------------- which vectors

    @property
    def shown_vectors(self) -> tuple[RequestedArrow, ...]:
        """All vectors that are shown, in a fixed order."""
        every: dict[RequestedArrow, None] = {}
        for kind in KINDS:
            if kind in self.whole_kinds:
                every.update(dict.fromkeys(vectors.possible_arrows(self.session.model, kind)))
        every.update(dict.fromkeys(sorted(self.single)))
        return tuple(every)

    @property
    def shown_kinds(self) -> tuple[str, ...]:
        """Kinds of vectors that are shown."""
        shown = {each.kind for each in self.shown_vectors}
        return tuple(kind for kind in KINDS if kind in shown)

    def shows_vectors(self, kind: str, ref: ElementRef | None = None) -> bool:
        """Return True if all vectors of a kind, or the one of an element, are shown."""
        return kind in self.whole_kinds or (ref is not None and RequestedArrow(kind, *ref) in self.single)

    def toggle_vectors(self, kind: str, ref: ElementRef | None = None) -> None:
        """Show or hide all vectors of a kind, or the one of an element."""
        if ref is None:
            self.whole_kinds = self.whole_kinds ^ {kind}
            self.single = frozenset(each for each in self.single if each.kind != kind)
        elif kind in self.whole_kinds:
            self.whole_kinds = self.whole_kinds - {kind}
            rest = set(vectors.possible_arrows(self.session.model, kind)) - {RequestedArrow(kind, *ref)}
            self.single = self.single | rest
        else:
            self.single = self.single ^ {RequestedArrow(kind, *ref)}
        self.redraw()
        self.changed.emit()

    def show_only_vectors(self, whole_kinds: frozenset[str], single_vectors: frozenset[RequestedArrow]) -> None:
        """Show exactly these vectors."""
        self.whole_kinds, self.single = whole_kinds, single_vectors
        self.redraw()
        self.changed.emit()

    def hide_kind(self, kind: str) -> None:
        """Hide the vectors of a kind."""
        self.show_only_vectors(self.whole_kinds - {kind}, frozenset(each for each in self.single if each.kind != kind))

    def hide_all_vectors(self) -> None:
        """Hide all vectors."""
        self.show_only_vectors(frozenset(), frozenset())

    def arrow_scale_factor(self, kind: str) -> float:
        """Return the user's scale factor for the arrows of a kind."""
        return float(self._view.settings.value(f"vectors/{kind}", 1.0))

    def set_arrow_scale_factor(self, kind: str, factor: float) -> None:
        """Set the scale factor for the arrows of a kind."""
        low, high = FACTORS
        self._view.settings.remember(f"vectors/{kind}", min(max(factor, low), high))

    # ----------------------------------------------------------------------------- drawing

    def redraw(self) -> None:
        """Draw vectors, paths and ghosts for the playhead, or for the present pose."""
        self._followed, self._drawn = self.session.shows_run_pose, self._drawing_key()
        self._view.call_when_up_to_date(self._draw_runs)

    def _draw_runs(self) -> None:
        record = self._shown_record()
        time = self.runs.time
        self._show_vectors(record, time)
        self._show_paths(record, time)
        self._show_ghosts(record, time)
        self._view.update()

    def _shown_record(self) -> RunRecord | None:
        """Return the run that is shown; None if the pose does not come from it."""
        record = self.runs.current
        shown = record is not None and self.session.shows_run_pose and len(record.run.time) > 0
        return record if shown else None

    def _show_vectors(self, record: RunRecord | None, time: float) -> None:
        overlays, wanted = self._view.scene.overlays, self.shown_vectors
        if not wanted:
            overlays.show_vectors((), source=SOURCE)
            self._show_values([], [])
            return
        try:
            run = equilibrium_run(self.session.mech, self.session.q, self.session.p) if record is None else record.run
            self._rescale_arrows(run, wanted, record)
            moment = run if record is None else resample_run(run, [time])
            found = vectors.compute_arrow_fields(moment, wanted)
        except KinetostatError:
            found = []
        glyphs = vectors.build_glyphs(found, self.scale, 0)
        overlays.show_vectors(glyphs, SOURCE, self.size)
        self._show_values(found, glyphs)

    @property
    def shows_values(self) -> bool:
        """True if the values of vectors are written at their arrows."""
        return bool(self._view.settings.value(VALUES, True))

    def _show_values(self, fields: list[vectors.ArrowField], glyphs: list[VectorGlyph]) -> None:
        """Write the magnitude of each vector at the tip of its arrow; only for the longest ones if there are many."""
        lengths = [float(np.linalg.norm(glyph.vector)) for glyph in glyphs]
        seen = [k for k in range(len(glyphs)) if SHORTEST * self.size < lengths[k]] if self.shows_values else []
        seen = sorted(seen, key=lambda k: -lengths[k])[:MOST_VALUES]
        self._view.annotations.values = tuple(
            PointLabel(
                tuple((np.asarray(glyphs[k].origin) + glyphs[k].vector).tolist()),
                f"{float(np.linalg.norm(fields[k].vectors[0])):.3g}\u202f{KINDS[fields[k].wanted.kind].unit}",
            )
            for k in seen
        )
        self._view.annotations.update()

    def _rescale_arrows(self, run: Run, vectors_shown: tuple[RequestedArrow, ...], record: RunRecord | None) -> None:
        """Scale the arrows by the typical magnitudes of the whole run, once per run and set of vectors. For a pose the
        scale is kept while it moves, unless an arrow would leave the picture."""
        factors = {kind: self.arrow_scale_factor(kind) for kind in KINDS}
        kept = (run.settings, len(run.time)) if record is not None else ()
        key = (kept, vectors_shown, tuple(factors.values()))
        if key == self._scaled_for and record is not None:
            return
        found = vectors.compute_arrow_fields(vectors.sample_run(run), vectors_shown)
        if key == self._scaled_for and vectors.is_legible(found, self.scale, self.size):
            return
        self._scaled_for = key
        self.size = longest_edge(self._view.scene.bounds())
        largest = vectors.reference_magnitudes(found)
        before, self.scale = self.scale, vectors.arrow_scales(largest, self.size)
        self.scale = {
            kind: factors[kind] * vectors.round_down(scale) if scale > 0.0 else 0.0
            for kind, scale in self.scale.items()
        }
        if before != self.scale:
            self.changed.emit()

    # ----------------------------------------------------------------------------- paths of points

    @property
    def followed_points(self) -> tuple[FollowedPoint, ...]:
        """Points whose paths are drawn."""
        whole = bool(self._view.settings.value("traces/whole", False))
        tracks = self._view.scene.tracks
        return tuple(FollowedPoint(frame, point, whole=whole) for frame, point in tracks.followed_points)

    def _show_paths(self, record: RunRecord | None, time: float) -> None:
        """Draw the paths of points from the samples of a run, regardless of how the playhead has moved."""
        scene = self._view.scene
        if record is None or not scene.tracks.followed_frames:
            self._set_recorded_paths_hidden(False)
            scene.overlays.show_paths({}, source=SOURCE)
            self._computed_paths = {}
            return
        self._set_recorded_paths_hidden(True)
        shown = [each for each in (record, *self.other_visible_runs(record)) if not each.faint]
        trajectories, kept = {}, {}
        colours: dict[str, Colour] = {}
        for each in shown:
            for point in self.followed_points:
                if point.frame not in each.run.mech.frame_names:
                    continue
                key = each.run, point
                kept[key] = self._computed_paths.get(key) or point_path(each.run, point)
                name = f"{each.id} {point.frame} {point.point}"
                trajectories[name] = visible_path(kept[key], time)
                colours[name] = rgb_from_hex(each.color) if len(shown) > 1 else "trace"
        self._computed_paths = kept
        scene.overlays.show_paths(trajectories, colours, source=SOURCE)

    def _set_recorded_paths_hidden(self, hidden: bool) -> None:
        """Hide or show the paths that are recorded while the machine moves."""
        scene = self._view.scene
        if hidden != scene.tracks.paused:
            scene.tracks.paused = hidden
            scene.overlays.show_paths(scene.tracks.trajectories)

    # ----------------------------------------------------------------------------- other runs

    def other_visible_runs(self, record: RunRecord) -> list[RunRecord]:
        """Return the newest visible runs of machines with the same bodies, except the given one."""
        bodies = record.run.mech.frame_names
        found = [
            other
            for other in self.runs.items
            if other is not record and other.visible and len(other.run.time) and other.run.mech.frame_names == bodies
        ]
        return found[-MOST_GHOSTS:]

    def _show_ghosts(self, record: RunRecord | None, time: float) -> None:
        overlays = self._view.scene.overlays
        others = self.other_visible_runs(record) if record is not None else []
        if record is None or not others or record.run.mech.frame_names != self.session.mech.frame_names:
            for source in (SOURCE, f"{SOURCE} faint"):
                overlays.show_ghosts((), (), source=source)
            return
        shown = object_names(record.run)
        self._places = {run: self._body_poses_at(run, time) for run in (other.run for other in others)}
        for source, faint, opacity in ((SOURCE, False, GHOST), (f"{SOURCE} faint", True, FAINT_GHOST)):
            chosen = [other.run for other in others if other.faint is faint]
            overlays.show_ghosts(
                shown,
                [self._places[run][1] for run in chosen],
                opacity,
                parameters=[_differing_parameters(run, record.run, self.session) for run in chosen],
                source=source,
            )

    def _body_poses_at(self, run: Run, time: float) -> tuple[float, NDArray[np.float64]]:
        """Return the time, and the poses (n, 4, 4) of all bodies of a run at that time, from the cache if possible."""
        known = self._places.get(run)
        return known if known is not None and known[0] == time else (time, object_poses(resample_run(run, [time]))[0])

    # ----------------------------------------------------------------------------- hearing

    def _drawing_key(self) -> tuple[object, ...]:
        """Return a key that changes whenever the runs must be redrawn."""
        record = self.runs.current
        return record, record and record.run, self.runs.time, self.session.shows_run_pose

    def _on_playhead_moved(self, _time: float) -> None:
        if self._drawing_key() != self._drawn:  # a run that is put in place of another tells both
            self.redraw()

    def _on_runs_changed(self) -> None:
        self.redraw()

    def _on_pose_moved(self) -> None:
        if self.session.shows_run_pose != self._followed:
            self.redraw()
        elif not self._followed and self.shown_vectors:
            self._view.call_when_up_to_date(self._show_vectors_of_pose)

    def _show_vectors_of_pose(self) -> None:
        self._show_vectors(None, 0.0)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if (old.model.name, old.model.origin) != (new.model.name, new.model.origin):
            self.whole_kinds, self.single = frozenset(), frozenset()
            self.changed.emit()
        self._scaled_for = ()
        self.redraw()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith(("vectors/", "traces/")):
            self.redraw()


def _differing_parameters(run: Run, shown_run: Run, session: Session) -> dict[str, float]:
    """Return the parameter values of a run that differ from those of the run shown, as far as the machine still has the
    parameters."""
    return dict(shared_parameters(session, run)) if run.settings.parameters != shown_run.settings.parameters else {}


def rgb_from_hex(color: str) -> tuple[float, float, float]:
    """Return red, green, blue (0 … 1) of "#rrggbb"."""
    return int(color[1:3], 16) / 255.0, int(color[3:5], 16) / 255.0, int(color[5:7], 16) / 255.0


def vector_kinds_of(ref: ElementRef | None) -> Iterable[str]:
    """Return the kinds of vectors that an element can show."""
    return [kind.id for kind in KINDS.values() if ref is not None and ref.collection in kind.collections]


LEGEND_MARGIN = 12
SLIDER_STEPS = 200


class _ArrowIcon(QWidget):
    """Icon of an arrow in the colour of a kind of vector; with two heads for rotational quantities."""

    def __init__(self, color: QColor, is_rotational: bool) -> None:
        super().__init__()
        self._color, self._turning = color, is_rotational
        self.setFixedSize(QSize(26, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._color, 2.0))
        painter.drawLine(QPointF(1, 7), QPointF(18, 7))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._color)
        for tip in (25.0, 18.0) if self._turning else (25.0,):
            painter.drawPolygon(QPolygonF([QPointF(tip, 7), QPointF(tip - 9, 3), QPointF(tip - 9, 11)]))
        painter.end()


class VectorLegend(QFrame):
    """Legend in the upper left corner of the viewport while vectors are shown."""

    def __init__(self, view: Stage, scene: RunDisplay) -> None:
        super().__init__(view.widget)
        self.setObjectName("overlay")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._view, self._scene = view, scene
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(8, 5, 5, 5)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(1)
        self._parts: list[QWidget] = []
        self._words: dict[str, QLabel] = {}
        self.sliders: dict[str, QSlider] = {}
        self._life = Lifetime()
        self._life.listen(
            (scene.changed, self.refresh_legend),
            (view.theme.changed, self._on_theme_changed),
            (view.session.runs.changed, self.refresh_legend),
        )
        self.hide()

    def close(self) -> None:
        """Disconnect from the scene."""
        self._life.close()

    def _on_theme_changed(self, _name: str) -> None:
        self._words.clear()
        self.refresh_legend()

    def refresh_legend(self) -> None:
        """Update the legend to the kinds of vectors shown and their scales."""
        kinds = self._scene.shown_kinds
        if tuple(self._words) != kinds:
            self._build_rows(kinds)
        for kind in kinds:
            self._words[kind].setText(self._scale_text(kind))
        self.setVisible(bool(kinds))
        for part in self._parts:
            part.show()
        self._grid.activate()
        self.adjustSize()
        self.move(LEGEND_MARGIN, LEGEND_MARGIN)

    def _scale_text(self, kind: str) -> str:
        value, length = legend_arrow(self._scene.scale.get(kind, 0.0), self._scene.size)
        if value <= 0.0:
            return "zero everywhere"
        settings = self._view.settings
        return f"{format_number(value)}\u202f{KINDS[kind].unit} ≙ {settings.format_value(length, 'length')}"

    def _build_rows(self, kinds: tuple[str, ...]) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts, self._words, self.sliders = [], {}, {}
        look = LOOKS["dark" if self._view.theme.name == "dark" else "light"]
        for row, kind in enumerate(kinds):
            facts = KINDS[kind]
            arrow = _ArrowIcon(QColor.fromRgbF(*look.resolve_colour(facts.colour)), facts.turning)
            title, self._words[kind] = Label(facts.title), Label()
            self._words[kind].setProperty("muted", True)
            close = QToolButton(icon=icon("close"), autoRaise=True, toolTip=escape_tip(f"Hide: {facts.title}"))
            close.setIconSize(QSize(12, 12))
            close.clicked.connect(lambda _=False, kind=kind: self._scene.hide_kind(kind))
            for column, part in enumerate((arrow, title, self._words[kind], self._build_length_slider(kind), close)):
                self._grid.addWidget(part, row, column)
                self._parts.append(part)

    def _build_length_slider(self, kind: str) -> QSlider:
        """Return a slider that scales the arrows by a factor of 0.1 to 10."""
        low, high = (math.log(factor) for factor in FACTORS)
        slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=SLIDER_STEPS)
        slider.setFixedWidth(80)
        slider.setToolTip("Length of these arrows")
        slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        slider.setValue(round(SLIDER_STEPS * (math.log(self._scene.arrow_scale_factor(kind)) - low) / (high - low)))
        slider.valueChanged.connect(
            lambda value: self._scene.set_arrow_scale_factor(kind, math.exp(low + value / SLIDER_STEPS * (high - low)))
        )
        self.sliders[kind] = slider
        return slider
