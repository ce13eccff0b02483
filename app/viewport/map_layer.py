"""The workspace map in the scene (its points, squares or surface, and the sample under the pointer), and its legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QToolButton, QWidget

from app.background.signals import Lifetime, Signal
from app.document import provenance
from app.document.revision import State
from app.preferences.icons import icon
from app.viewport.gestures import Pointer
from app.widgets.label import Label, Note
from core.functions import FUNCTIONS
from core.functions.diagrams import SpaceMap
from core.functions.text import number
from viz import camera
from viz.look import LookName, colours
from viz.scene.map_figures import Form, MapPicture
from viz.scene.plane_handle import PlanePart, PlanePlace

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.studies.workspace.workspace_map import WorkspaceMap


Array = NDArray[np.float64]
COMPARE = 120
"""Milliseconds after a movement until a map is checked for being outdated."""
MEANT = 9.0
"""Distance in pixels within which the pointer selects a sample."""
MANY_TIMES = 25.0
"""Multiple of the median at which the colour scale ends: condition numbers are unbounded."""
NO_SLICE = "none"
HANDLE_WORDS = {
    "slide": "Drag moves the plane of the map along its normal · Ctrl snaps",
    "turn": "Drag turns the plane of the map · Ctrl snaps",
}
FORMS: tuple[Form, ...] = ("points", "squares", "surface")


class ShownMap(NamedTuple):
    """A map and the form in which it is drawn; renew(options) requests it again with some options changed."""

    result: SpaceMap
    form: Form
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


def forms_of(found: WorkspaceMap) -> tuple[Form, ...]:
    """Return the forms in which a map can be drawn, the default first."""
    if found.inside.ndim == 2:
        return ("squares", "points")
    return ("points", "surface")


def scale_of(found: WorkspaceMap) -> tuple[float, float]:
    """Return the ends of the colour scale."""
    low, high = found.range
    values = found.values[found.shown]
    finite = values[np.isfinite(values)]
    if found.best == "least" and len(finite):
        high = min(high, MANY_TIMES * float(np.median(finite)))
    return low, high


def is_change(found: WorkspaceMap) -> bool:
    """Return True if the values are differences of two maps."""
    return found.title.startswith("Change")


def is_plain(found: WorkspaceMap) -> bool:
    """Return True if the values carry no information."""
    return found.kind == "reach" and not is_change(found)


def glyph_of(found: WorkspaceMap) -> MapPicture:
    """Return the drawing of a map."""
    from scipy.ndimage import binary_closing

    low, high = scale_of(found)
    plane, cells = found.plane, found.cells
    flat = plane is not None and cells.filled.ndim == 2
    corner = plane.up(cells.origin) if plane is not None and flat else np.resize(cells.origin, 3)
    return MapPicture(
        points=found.points[found.shown],
        values=found.values[found.shown],
        low=low,
        high=high,
        size=cells.size,
        axes=plane.axes if plane is not None and flat else None,
        filled=cells.filled,
        corner=corner,
        borders=found.boundary,
        solid=binary_closing(cells.filled, np.ones((3,) * cells.filled.ndim), 2) | cells.filled,
        parted=is_change(found),
        plain=is_plain(found),
    )


class MapLayer:
    """Shows the map that the session requests, until its result card is removed or hides it."""

    changed = Signal()
    """Emitted when another map, or none, is shown, or its style changes."""

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self.shown: ShownMap | None = None
        self._document = self._session.document
        """That which was open when the map came."""
        self.old = ""
        """Differences of the machine since the map was made; "" if the map is valid."""
        self._late = QTimer(view.widget, singleShot=True, interval=COMPARE)
        self._late.timeout.connect(self._compare)
        self._life = Lifetime()
        self._life.callback(self._late.stop)
        self._life.listen(
            (self._session.mapped, self.show),
            (self._session.changed, self._document_changed),
            (self._session.moved, self._pose_moved),
        )
        self._life.listen((view.theme.changed, lambda _name: self.changed.emit()))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def show(self, wanted: ShownMap | None) -> None:
        """Show a map, or none."""
        if wanted is None and self.shown is None:
            return
        new = wanted is not None and (self.shown is None or self.shown.result.map is not wanted.result.map)
        self.shown, self._document = wanted, self._session.document
        self._view.afterwards(lambda: self._draw(new))
        self.old = self._changes_text()
        self.changed.emit()

    def _draw(self, new: bool) -> None:
        scene = self._view.scene
        scene.map.pixel_ratio = scene.pixel_ratio
        scene.plane_handle.show(self._plane_place())
        if self.shown is None:
            scene.map.show(None)
        else:
            scene.map.show(glyph_of(self.shown.result.map), self.shown.form)
            if new and not camera.sees(self._view.viewpoint.goal, scene.size, scene.bounds(overlays=True).tolist()):
                self._view.viewpoint.fit()
        self._view.update()

    def _document_changed(self, old: State, new: State) -> None:
        """Remove the map when another document is opened."""
        if self.shown is not None and self._document != self._session.document:
            self._session.mapped.emit(None)
        elif old.model is not new.model:
            self._pose_moved()

    # ------------------------------------------------------------------------------ whether it still holds

    def _pose_moved(self) -> None:
        if self.shown is not None and not self._late.isActive():
            self._late.start()

    def _compare(self) -> None:
        old = self._changes_text()
        if old != self.old:
            self.old = old
            self.changed.emit()

    def _changes_text(self) -> str:
        """Describe briefly what has changed since the map was computed."""
        asked = self.shown.result.asked if self.shown is not None else None
        if self.shown is None or asked is None:
            return ""
        function = FUNCTIONS.get(self.shown.result.function)
        reads = function.reads if function is not None else "machine"
        return provenance.changes(asked, reads, self._session.context(), self._view.settings)

    # ------------------------------------------------------------------------------ the handle of its plane

    def _plane_place(self) -> PlanePlace | None:
        """Return the position of the plane's handle: the centre of a map computed in a plane; else None."""
        if self.shown is None or self.shown.result.asked is None:
            return None
        found: WorkspaceMap = self.shown.result.map
        if found.plane is None or self.shown.result.asked.options.get("slice", NO_SLICE) == NO_SLICE:
            return None
        flat = found.plane.down(found.points)
        low, high = flat.min(axis=0), flat.max(axis=0)
        return PlanePlace(found.plane.up(0.5 * (low + high)), found.plane.axes, 0.55 * float(np.max(high - low)))

    def handle_under(self, pointer: Pointer) -> PlanePart | None:
        """Return the part of the plane's handle under the pointer."""
        if self.shown is None or self._view.scene.plane_handle.place is None:
            return None
        return self._view.scene.plane_handle.pick(self._view.scene.ray(pointer.x, pointer.y))

    def light(self, part: PlanePart | None) -> bool:
        """Highlight a part of the plane's handle in yellow (None: none); returns True if there is one."""
        handle = self._view.scene.plane_handle
        if part is not handle.lit:
            handle.light(part)
            if part is not None:
                self._view.say(HANDLE_WORDS[part.kind])
            self._view.update()
        return part is not None

    def ask_in(self, place: PlanePlace) -> None:
        """Request the same map in another plane."""
        if self.shown is None:
            return
        normal = place.frame[:, 2]
        normal = normal * (np.sign(normal[np.argmax(np.abs(normal))]) or 1.0)
        text = ", ".join(f"{x:.6g}" for x in np.round(normal, 6) + 0.0)
        at = round(float(normal @ place.centre), 9)
        axis = next((name for name, e in zip("xyz", np.eye(3), strict=True) if np.abs(normal - e).max() < 1e-6), None)
        chosen = {"slice": axis, "normal": ""} if axis is not None else {"slice": "normal", "normal": text}
        self.shown.renew({**chosen, "at": at})

    # ------------------------------------------------------------------------------ the place under the pointer

    def under(self, pointer: Pointer) -> int | None:
        """Return the sample under the pointer, of several the nearest to the camera; None if there is none."""
        if self.shown is None:
            return None
        found: WorkspaceMap = self.shown.result.map
        points = found.points[found.shown]
        if not len(points):
            return None
        ray = self._view.scene.ray(pointer.x, pointer.y)
        origin, along = np.asarray(ray.origin, dtype=float), np.asarray(ray.direction, dtype=float)
        depth = (points - origin) @ along
        beside = np.linalg.norm(points - origin - depth[:, None] * along, axis=1)
        middle = points.mean(axis=0)
        reach = MEANT * self._view.scene.pixel_ratio * self._pixel_width(middle)
        if found.inside.ndim == 2:
            reach = max(reach, 0.75 * found.cells.size)
        near = np.flatnonzero(beside < reach)
        if not len(near):
            return None
        best = near[np.argmin(beside[near])] if found.inside.ndim == 2 else near[np.argmin(depth[near])]
        return int(found.shown[best])

    def _pixel_width(self, point: Array) -> float:
        """Return the width of a pixel at a point, m."""
        scene = self._view.scene
        x, y = scene.project(point)
        here, there = scene.ray(x, y), scene.ray(x + 1.0, y)
        depth = float((point - np.asarray(here.origin)) @ np.asarray(here.direction))
        a = np.asarray(here.origin) + depth * np.asarray(here.direction)
        b = np.asarray(there.origin) + depth * np.asarray(there.direction)
        return float(np.linalg.norm(b - a))

    def words(self, sample: int) -> str:
        """Describe a sample: its value and its position."""
        assert self.shown is not None
        found: WorkspaceMap = self.shown.result.map
        place = ", ".join(
            f"{axis} {self._view.settings.shown(float(x), 'length')}"
            for axis, x in zip("xyz", found.points[sample], strict=True)
        )
        value = float(found.values[sample])
        shown = "" if is_plain(found) else f"{value:.4g} {found.unit}".strip() if math.isfinite(value) else "∞"
        return " · ".join(filter(None, (shown, place, "click takes the pose that reaches it")))

    def take(self, sample: int) -> bool:
        """Move the machine into the pose that reaches a sample, as one undo step."""
        assert self.shown is not None
        found: WorkspaceMap = self.shown.result.map
        session = self._session
        if tuple(session.mech.q_names) != found.names:
            session.message.emit("warning", "This map belongs to another machine. Compute it again.")
            return False
        session.preview(q=found.q[sample])
        session.commit(f"Pose of {self.shown.result.title[:1].lower()}{self.shown.result.title[1:]}")
        return True


LEGEND_MARGIN = 12
BAR_SIZE = QSize(220, 10)
COLOR_STOPS = 24


class _ColorBar(QWidget):
    """The colour bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(BAR_SIZE.height())
        self.setMinimumWidth(BAR_SIZE.width())
        self.stops: list[QColor] = []

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shade = QLinearGradient(0.0, 0.0, float(self.width()), 0.0)
        for k, color in enumerate(self.stops):
            shade.setColorAt(k / max(len(self.stops) - 1, 1), color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shade)
        painter.drawRoundedRect(self.rect(), 3.0, 3.0)
        painter.end()


class MapLegend(QFrame):
    """Legend at the lower edge of the viewport while a map is shown."""

    def __init__(self, view: Stage, layer: MapLayer) -> None:
        super().__init__(view.widget)
        self.setObjectName("overlay")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._view, self._layer = view, layer
        self.title, self.size_label, self.low, self.middle, self.high = (Label() for _ in range(5))
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.size_label.setProperty("muted", True)
        self.bar = _ColorBar()
        self.note = Note()
        self.update_button = QPushButton("Update", toolTip="Compute the same map for the present machine")
        self.update_button.clicked.connect(self._request_again)
        self._hide = QToolButton(icon=icon("close"), autoRaise=True, toolTip="Hide this map")
        self._hide.setIconSize(QSize(12, 12))
        self._hide.clicked.connect(lambda: view.session.mapped.emit(None))
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 5, 6, 7)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.title, 0, 0, 1, 2)
        grid.addWidget(self._hide, 0, 2, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.bar, 1, 0, 1, 3)
        for column, label in enumerate((self.low, self.middle, self.high)):
            side = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)[column]
            grid.addWidget(label, 2, column, side)
        grid.addWidget(self.size_label, 3, 0, 1, 3)
        grid.addWidget(self.note, 4, 0, 1, 2)
        grid.addWidget(self.update_button, 4, 2, Qt.AlignmentFlag.AlignRight)
        self._life = Lifetime()
        view.widget.installEventFilter(self)
        self._life.callback(lambda: view.widget.removeEventFilter(self))
        self._life.listen((layer.changed, self.refresh))
        self.hide()

    def close(self) -> None:
        """Disconnect from the map layer."""
        self._life.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the legend when the viewport is resized."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.place()
        return False

    def refresh(self) -> None:
        """Show the legend of the present map."""
        shown = self._layer.shown
        self.setVisible(shown is not None)
        if shown is None:
            return
        found = shown.result.map
        plain = is_plain(found)
        self.title.setText(shown.result.title)
        self.size_label.setText(" · ".join(filter(None, (shown.result.size, _state_text(found)))))
        self.size_label.setVisible(bool(self.size_label.text()))
        old = self._layer.old
        self.note.say(f"Outdated: {old}." if old and not found.growing else "", "hint")
        self.update_button.setVisible(bool(self.note.words))
        for part in (self.bar, self.low, self.middle, self.high):
            part.setVisible(not plain)
        if not plain:
            self._write_scale()
        self.place()

    def _request_again(self) -> None:
        """Request the same map for the present machine."""
        if self._layer.shown is not None:
            self._layer.shown.renew({})

    def _write_scale(self) -> None:
        """Show the colours, and the values at the ends and in the middle."""
        assert self._layer.shown is not None
        found = self._layer.shown.result.map
        parted = is_change(found)
        low, high = scale_of(found)
        if parted:
            high = max(abs(low), abs(high))
            low = -high
        look: LookName = "dark" if self._view.theme.name == "dark" else "light"
        table = colours(np.linspace(low, high, COLOR_STOPS), low, high, look, parted)
        self.bar.stops = [QColor.fromRgbF(*map(float, each)) for each in table]
        self.bar.update()
        beyond = math.isfinite(found.range[1]) and found.range[1] > high * (1.0 + 1e-9)
        unit = f" {found.unit}" if found.unit else ""
        self.low.setText(number(low, 3))
        self.middle.setText(number(0.5 * (low + high), 3))
        self.high.setText(f"{'≥ ' if beyond else ''}{number(high, 3)}{unit}")

    def place(self) -> None:
        """Place the legend at the middle of the lower edge."""
        self.layout().activate()
        self.adjustSize()
        host = self._view.widget
        self.move(
            max((host.width() - self.width()) // 2, LEGEND_MARGIN),
            max(host.height() - self.height() - LEGEND_MARGIN, LEGEND_MARGIN),
        )
        self.raise_()


def _state_text(found: WorkspaceMap) -> str:
    """Return the state of a map that is incomplete."""
    if found.complete:
        return ""
    return "getting finer …" if found.growing else "stopped"
