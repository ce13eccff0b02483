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
from app.plain_text import as_tip
from app.plotting.curves import shown_number
from app.preferences.icons import icon
from app.viewport.annotations import Name
from app.widgets.label import Label
from core.errors import KinetostatError
from core.simulation.run.resampling import at_rest, resampled
from viz.camera import extent
from viz.film.film import PointPath, drawn
from viz.film.footage import FollowedPoint, names, path_of, poses
from viz.look import LOOKS, Colour
from viz.scene import vectors
from viz.scene.vectors import KINDS, VectorGlyph, Wanted, reference

if TYPE_CHECKING:
    from app.document.revision import Ref, State
    from app.document.run_tree import Record
    from app.document.session import Session
    from app.viewport.stage import Stage
    from core.simulation.run.run import Run


SOURCE = "runs"
MOST_GHOSTS = 6
"""Largest number of other runs shown at once; the newest ones."""
GHOST, FAINT_GHOST = 0.28, 0.14
"""Opacity."""
VALUES = "vectors/values"
"""Setting: True if values are written at arrows."""
MOST_VALUES = 24
SHORTEST = 0.02
"""Share of the machine's size; shorter arrows have no value."""
FACTORS = (0.1, 10.0)
"""Range of the user's scale factor of arrows."""


class RunScene:
    """Vectors, paths and ghosts of runs; emits `changed` when other vectors are shown or rescaled."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.session, self.runs = view.session, view.session.runs
        self.whole_kinds: frozenset[str] = frozenset()
        """Kinds of which all elements show their vectors."""
        self.single: frozenset[Wanted] = frozenset()
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
            (self.runs.moved, self._moved),
            (self.runs.changed, self._runs_changed),
            (self.session.moved, self._pose_moved),
            (self.session.changed, self._document_changed),
            (view.settings.changed, self._setting_changed),
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    # ----------------------------------------------------------------------------- which vectors

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """Return all vectors shown, in a stable order."""
        every: dict[Wanted, None] = {}
        for kind in KINDS:
            if kind in self.whole_kinds:
                every.update(dict.fromkeys(vectors.possible(self.session.model, kind)))
        every.update(dict.fromkeys(sorted(self.single)))
        return tuple(every)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of vectors shown."""
        shown = {each.kind for each in self.wanted}
        return tuple(kind for kind in KINDS if kind in shown)

    def shows(self, kind: str, ref: Ref | None = None) -> bool:
        """Return True if all vectors of a kind, or the one of an element, are shown."""
        return kind in self.whole_kinds or (ref is not None and Wanted(kind, *ref) in self.single)

    def toggle(self, kind: str, ref: Ref | None = None) -> None:
        """Show or hide all vectors of a kind, or the one of an element."""
        if ref is None:
            self.whole_kinds = self.whole_kinds ^ {kind}
            self.single = frozenset(each for each in self.single if each.kind != kind)
        elif kind in self.whole_kinds:
            self.whole_kinds = self.whole_kinds - {kind}
            rest = set(vectors.possible(self.session.model, kind)) - {Wanted(kind, *ref)}
            self.single = self.single | rest
        else:
            self.single = self.single ^ {Wanted(kind, *ref)}
        self.refresh()
        self.changed.emit()

    def show(self, whole_kinds: frozenset[str], single: frozenset[Wanted]) -> None:
        """Show these vectors only."""
        self.whole_kinds, self.single = whole_kinds, single
        self.refresh()
        self.changed.emit()

    def hide(self, kind: str) -> None:
        """Hide the vectors of a kind."""
        self.show(self.whole_kinds - {kind}, frozenset(each for each in self.single if each.kind != kind))

    def hide_all(self) -> None:
        """Hide all vectors."""
        self.show(frozenset(), frozenset())

    def factor(self, kind: str) -> float:
        """Return the user's scale factor for the arrows of a kind."""
        return float(self._view.settings.value(f"vectors/{kind}", 1.0))

    def lengthen(self, kind: str, factor: float) -> None:
        """Set the scale factor for the arrows of a kind."""
        low, high = FACTORS
        self._view.settings.remember(f"vectors/{kind}", min(max(factor, low), high))

    # ----------------------------------------------------------------------------- drawing

    def refresh(self) -> None:
        """Draw everything for the playhead, or for the pose."""
        self._followed, self._drawn = self.session.following, self._drawn_key()
        self._view.afterwards(self._draw)

    def _draw(self) -> None:
        record = self._shown_record()
        time = self.runs.time
        self._show_vectors(record, time)
        self._show_paths(record, time)
        self._show_ghosts(record, time)
        self._view.update()

    def _shown_record(self) -> Record | None:
        """Return the run that is shown; None if the pose does not come from it."""
        record = self.runs.current
        shown = record is not None and self.session.following and len(record.run.time) > 0
        return record if shown else None

    def _show_vectors(self, record: Record | None, time: float) -> None:
        overlays, wanted = self._view.scene.overlays, self.wanted
        if not wanted:
            overlays.vectors((), source=SOURCE)
            self._show_values([], [])
            return
        try:
            run = at_rest(self.session.mech, self.session.q, self.session.p) if record is None else record.run
            self._rescale_arrows(run, wanted, record)
            moment = run if record is None else resampled(run, [time])
            found = vectors.fields(moment, wanted)
        except KinetostatError:
            found = []
        glyphs = vectors.glyphs(found, self.scale, 0)
        overlays.vectors(glyphs, SOURCE, self.size)
        self._show_values(found, glyphs)

    @property
    def shows_values(self) -> bool:
        """True if the values of vectors are written at their arrows."""
        return bool(self._view.settings.value(VALUES, True))

    def _show_values(self, found: list[vectors.Field], glyphs: list[VectorGlyph]) -> None:
        """Write the magnitude of each vector at the tip of its arrow; only for the longest ones if there are many."""
        lengths = [float(np.linalg.norm(glyph.vector)) for glyph in glyphs]
        seen = [k for k in range(len(glyphs)) if SHORTEST * self.size < lengths[k]] if self.shows_values else []
        seen = sorted(seen, key=lambda k: -lengths[k])[:MOST_VALUES]
        self._view.annotations.values = tuple(
            Name(
                tuple((np.asarray(glyphs[k].origin) + glyphs[k].vector).tolist()),
                f"{float(np.linalg.norm(found[k].vectors[0])):.3g}\u202f{KINDS[found[k].wanted.kind].unit}",
            )
            for k in seen
        )
        self._view.annotations.update()

    def _rescale_arrows(self, run: Run, wanted: tuple[Wanted, ...], record: Record | None) -> None:
        """Scale arrows by the typical magnitudes of the whole run, once per run and set of vectors; for a pose the
        scale is kept while it moves, unless an arrow would leave the picture."""
        factors = {kind: self.factor(kind) for kind in KINDS}
        kept = (run.settings, len(run.time)) if record is not None else ()
        key = (kept, wanted, tuple(factors.values()))
        if key == self._scaled_for and record is not None:
            return
        found = vectors.fields(vectors.thinned(run), wanted)
        if key == self._scaled_for and vectors.legible(found, self.scale, self.size):
            return
        self._scaled_for = key
        self.size = extent(self._view.scene.bounds())
        largest = vectors.usual(found)
        before, self.scale = self.scale, vectors.scales(largest, self.size)
        self.scale = {
            kind: factors[kind] * vectors.rounded(scale) if scale > 0.0 else 0.0 for kind, scale in self.scale.items()
        }
        if before != self.scale:
            self.changed.emit()

    # ----------------------------------------------------------------------------- paths of points

    @property
    def followed_points(self) -> tuple[FollowedPoint, ...]:
        """Return the points whose paths are drawn."""
        whole = bool(self._view.settings.value("traces/whole", False))
        tracks = self._view.scene.tracks
        return tuple(FollowedPoint(frame, point, whole=whole) for frame, point in tracks.points)

    def _show_paths(self, record: Record | None, time: float) -> None:
        """Draw the paths of points of a run from its samples, independent of how the playhead was moved."""
        scene = self._view.scene
        if record is None or not scene.tracks.frames:
            self._pause_paths(False)
            scene.overlays.paths({}, source=SOURCE)
            self._computed_paths = {}
            return
        self._pause_paths(True)
        shown = [each for each in (record, *self.others(record)) if not each.faint]
        trajectories, kept = {}, {}
        colours: dict[str, Colour] = {}
        for each in shown:
            for point in self.followed_points:
                if point.frame not in each.run.mech.frame_names:
                    continue
                key = each.run, point
                kept[key] = self._computed_paths.get(key) or path_of(each.run, point)
                name = f"{each.id} {point.frame} {point.point}"
                trajectories[name] = drawn(kept[key], time)
                colours[name] = rgb(each.color) if len(shown) > 1 else "trace"
        self._computed_paths = kept
        scene.overlays.paths(trajectories, colours, source=SOURCE)

    def _pause_paths(self, paused: bool) -> None:
        """Hide or show the paths that are recorded while the machine moves."""
        scene = self._view.scene
        if paused != scene.tracks.paused:
            scene.tracks.paused = paused
            scene.overlays.paths(scene.tracks.trajectories)

    # ----------------------------------------------------------------------------- other runs

    def others(self, record: Record) -> list[Record]:
        """Return visible runs of machines with the same bodies, only the newest few."""
        bodies = record.run.mech.frame_names
        found = [
            other
            for other in self.runs.items
            if other is not record and other.visible and len(other.run.time) and other.run.mech.frame_names == bodies
        ]
        return found[-MOST_GHOSTS:]

    def _show_ghosts(self, record: Record | None, time: float) -> None:
        overlays = self._view.scene.overlays
        others = self.others(record) if record is not None else []
        if record is None or not others or record.run.mech.frame_names != self.session.mech.frame_names:
            for source in (SOURCE, f"{SOURCE} faint"):
                overlays.ghosts((), (), source=source)
            return
        shown = names(record.run)
        self._places = {run: self._places_at(run, time) for run in (other.run for other in others)}
        for source, faint, opacity in ((SOURCE, False, GHOST), (f"{SOURCE} faint", True, FAINT_GHOST)):
            chosen = [other.run for other in others if other.faint is faint]
            overlays.ghosts(
                shown,
                [self._places[run][1] for run in chosen],
                opacity,
                parameters=[_differing_parameters(run, record.run, self.session) for run in chosen],
                source=source,
            )

    def _places_at(self, run: Run, time: float) -> tuple[float, NDArray[np.float64]]:
        """Return the time, and the poses (n, 4, 4) of all bodies of a run at that time, cached."""
        known = self._places.get(run)
        return known if known is not None and known[0] == time else (time, poses(resampled(run, [time]))[0])

    # ----------------------------------------------------------------------------- hearing

    def _drawn_key(self) -> tuple[object, ...]:
        """Return a key of what is drawn of the runs."""
        record = self.runs.current
        return record, record and record.run, self.runs.time, self.session.following

    def _moved(self, _time: float) -> None:
        if self._drawn_key() != self._drawn:  # a run that is put in place of another tells both
            self.refresh()

    def _runs_changed(self) -> None:
        self.refresh()

    def _pose_moved(self) -> None:
        if self.session.following != self._followed:
            self.refresh()
        elif not self._followed and self.wanted:
            self._view.afterwards(self._show_vectors_of_pose)

    def _show_vectors_of_pose(self) -> None:
        self._show_vectors(None, 0.0)

    def _document_changed(self, old: State, new: State) -> None:
        if (old.model.name, old.model.origin) != (new.model.name, new.model.origin):
            self.whole_kinds, self.single = frozenset(), frozenset()
            self.changed.emit()
        self._scaled_for = ()
        self.refresh()

    def _setting_changed(self, key: str) -> None:
        if key.startswith(("vectors/", "traces/")):
            self.refresh()


def _differing_parameters(run: Run, shown: Run, session: Session) -> dict[str, float]:
    """Return the parameter values of a run that differ from those of the run shown, for parameters that the machine
    still has."""
    return dict(shared_parameters(session, run)) if run.settings.parameters != shown.settings.parameters else {}


def rgb(color: str) -> tuple[float, float, float]:
    """Return red, green, blue (0 … 1) of "#rrggbb"."""
    return int(color[1:3], 16) / 255.0, int(color[3:5], 16) / 255.0, int(color[5:7], 16) / 255.0


def kinds_of(ref: Ref | None) -> Iterable[str]:
    """Return the kinds of vectors that an element can show."""
    return [kind.id for kind in KINDS.values() if ref is not None and ref.collection in kind.collections]


LEGEND_MARGIN = 12
SLIDER_STEPS = 200


class _ArrowIcon(QWidget):
    """An arrow in the colour of a kind; with two heads for rotational quantities."""

    def __init__(self, color: QColor, turning: bool) -> None:
        super().__init__()
        self._color, self._turning = color, turning
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

    def __init__(self, view: Stage, scene: RunScene) -> None:
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
            (scene.changed, self.refresh),
            (view.theme.changed, self._repaint),
            (view.session.runs.changed, self.refresh),
        )
        self.hide()

    def close(self) -> None:
        """Disconnect from the scene."""
        self._life.close()

    def _repaint(self, _name: str) -> None:
        self._words.clear()
        self.refresh()

    def refresh(self) -> None:
        """Update the legend to the kinds shown and their scales."""
        kinds = self._scene.kinds
        if tuple(self._words) != kinds:
            self._fill(kinds)
        for kind in kinds:
            self._words[kind].setText(self._meaning_text(kind))
        self.setVisible(bool(kinds))
        for part in self._parts:
            part.show()
        self._grid.activate()
        self.adjustSize()
        self.move(LEGEND_MARGIN, LEGEND_MARGIN)

    def _meaning_text(self, kind: str) -> str:
        value, length = reference(self._scene.scale.get(kind, 0.0), self._scene.size)
        if value <= 0.0:
            return "zero everywhere"
        settings = self._view.settings
        return f"{shown_number(value)}\u202f{KINDS[kind].unit} ≙ {settings.shown(length, 'length')}"

    def _fill(self, kinds: tuple[str, ...]) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts, self._words, self.sliders = [], {}, {}
        look = LOOKS["dark" if self._view.theme.name == "dark" else "light"]
        for row, kind in enumerate(kinds):
            facts = KINDS[kind]
            arrow = _ArrowIcon(QColor.fromRgbF(*look.colour(facts.colour)), facts.turning)
            title, self._words[kind] = Label(facts.title), Label()
            self._words[kind].setProperty("muted", True)
            close = QToolButton(icon=icon("close"), autoRaise=True, toolTip=as_tip(f"Hide: {facts.title}"))
            close.setIconSize(QSize(12, 12))
            close.clicked.connect(lambda _=False, kind=kind: self._scene.hide(kind))
            for column, part in enumerate((arrow, title, self._words[kind], self._length_slider(kind), close)):
                self._grid.addWidget(part, row, column)
                self._parts.append(part)

    def _length_slider(self, kind: str) -> QSlider:
        """Return a slider for the length of arrows, from a tenth to ten times."""
        low, high = (math.log(factor) for factor in FACTORS)
        slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=SLIDER_STEPS)
        slider.setFixedWidth(80)
        slider.setToolTip("Length of these arrows")
        slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        slider.setValue(round(SLIDER_STEPS * (math.log(self._scene.factor(kind)) - low) / (high - low)))
        slider.valueChanged.connect(
            lambda value: self._scene.lengthen(kind, math.exp(low + value / SLIDER_STEPS * (high - low)))
        )
        self.sliders[kind] = slider
        return slider
