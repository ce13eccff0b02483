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
from app.document.revision import DocumentState
from app.preferences.icons import icon
from app.viewport.gestures import PointerState
from app.widgets.label import Label, Note
from core.functions import FUNCTIONS
from core.functions.diagrams import SpaceMap
from core.functions.text import format_number
from viz import camera
from viz.look import LookName, map_colours
from viz.scene.axis_handle import AxisPart
from viz.scene.map_figures import Form, MapPicture
from viz.scene.plane_handle import PlanePosition

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.studies.workspace.workspace_map import WorkspaceMap


Array = NDArray[np.float64]
COMPARE = 120
"""Delay in ms after a movement before a map is checked for being outdated."""
MEANT = 9.0
"""Distance in pixels within which the pointer selects a sample."""
MANY_TIMES = 25.0
"""Multiple of the median at which the colour scale ends, because condition numbers are unbounded."""
NO_SLICE = "none"
HANDLE_WORDS = {
    "slide": "Drag to move the plane of the map along its normal · Ctrl snaps",
    "turn": "Drag to turn the plane of the map · Ctrl snaps",
}
FORMS: tuple[Form, ...] = ("points", "squares", "surface")


class ShownMap(NamedTuple):
    """A map and the form in which it is drawn; renew(options) requests the map again with some options changed."""

    result: SpaceMap
    form: Form
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


def available_map_forms(workspace_map: WorkspaceMap) -> tuple[Form, ...]:
    """Return the forms in which a map can be drawn, the default first."""
    if workspace_map.inside.ndim == 2:
        return ("squares", "points")
    return ("points", "surface")


def color_scale_range(workspace_map: WorkspaceMap) -> tuple[float, float]:
    """Return the lower and upper end of the colour scale."""
    low, high = workspace_map.range
    values = workspace_map.values[workspace_map.shown]
    finite = values[np.isfinite(values)]
    if workspace_map.best == "least" and len(finite):
        high = min(high, MANY_TIMES * float(np.median(finite)))
    return low, high


def shows_difference(workspace_map: WorkspaceMap) -> bool:
    """Return True if the values are differences between two maps."""
    return workspace_map.title.startswith("Change")


def has_no_values(workspace_map: WorkspaceMap) -> bool:
    """Return True if the values carry no information, as in a map of reach."""
    return workspace_map.kind == "reach" and not shows_difference(workspace_map)


def build_map_picture(workspace_map: WorkspaceMap) -> MapPicture:
    """Return the data with which a map is drawn."""
    from scipy.ndimage import binary_closing

    low, high = color_scale_range(workspace_map)
    plane, cells = workspace_map.plane, workspace_map.cells
    flat = plane is not None and cells.filled.ndim == 2
    corner = plane.to_world_points(cells.origin) if plane is not None and flat else np.resize(cells.origin, 3)
    return MapPicture(
        points=workspace_map.points[workspace_map.shown],
        values=workspace_map.values[workspace_map.shown],
        low=low,
        high=high,
        size=cells.size,
        axes=plane.axes if plane is not None and flat else None,
        filled=cells.filled,
        corner=corner,
        borders=workspace_map.boundary,
        solid=binary_closing(cells.filled, np.ones((3,) * cells.filled.ndim), 2) | cells.filled,
        parted=shows_difference(workspace_map),
        plain=has_no_values(workspace_map),
    )


class MapLayer:
    """Shows the map that the session requests, until its result card is removed or hides it."""

    changed = Signal()
    """Emitted when another map, or none, is shown, or the style of the map changes."""

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self.shown: ShownMap | None = None
        self._document = self._session.document
        """That which was open when the map came."""
        self.old = ""
        """Differences of the machine since the map was made; "" if the map is valid."""
        self._late = QTimer(view.widget, singleShot=True, interval=COMPARE)
        self._late.timeout.connect(self._update_outdated_state)
        self._life = Lifetime()
        self._life.callback(self._late.stop)
        self._life.listen(
            (self._session.mapped, self.show_map),
            (self._session.changed, self._on_document_changed),
            (self._session.moved, self._on_pose_moved),
        )
        self._life.listen((view.theme.changed, lambda _name: self.changed.emit()))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def show_map(self, shown_map: ShownMap | None) -> None:
        """Show a map, or none."""
        if shown_map is None and self.shown is None:
            return
        new = shown_map is not None and (self.shown is None or self.shown.result.map is not shown_map.result.map)
        self.shown, self._document = shown_map, self._session.document
        self._view.call_when_up_to_date(lambda: self._draw_map(new))
        self.old = self._describe_changes()
        self.changed.emit()

    def _draw_map(self, is_new_map: bool) -> None:
        scene = self._view.scene
        scene.map.pixel_ratio = scene.pixel_ratio
        scene.plane_handle.show_handle(self._plane_handle_position())
        if self.shown is None:
            scene.map.show_map(None)
        else:
            scene.map.show_map(build_map_picture(self.shown.result.map), self.shown.form)
            if is_new_map and not camera.contains_box(
                self._view.viewpoint.target_view, scene.size, scene.bounds(overlays=True).tolist()
            ):
                self._view.viewpoint.fit_view()
        self._view.update()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        """Remove the map when another document is opened."""
        if self.shown is not None and self._document != self._session.document:
            self._session.mapped.emit(None)
        elif old.model is not new.model:
            self._on_pose_moved()

    # ------------------------------------------------------------------------------ whether it still holds

    def _on_pose_moved(self) -> None:
        if self.shown is not None and not self._late.isActive():
            self._late.start()

    def _update_outdated_state(self) -> None:
        old = self._describe_changes()
        if old != self.old:
            self.old = old
            self.changed.emit()

    def _describe_changes(self) -> str:
        """Describe briefly what has changed since the map was computed."""
        asked = self.shown.result.asked if self.shown is not None else None
        if self.shown is None or asked is None:
            return ""
        function = FUNCTIONS.get(self.shown.result.function)
        reads = function.reads if function is not None else "machine"
        return provenance.describe_changes(asked, reads, self._session.context(), self._view.settings)

    # ------------------------------------------------------------------------------ the handle of its plane

    def _plane_handle_position(self) -> PlanePosition | None:
        """Return the position of the plane's handle, at the centre of a map computed in a plane; otherwise None."""
        if self.shown is None or self.shown.result.asked is None:
            return None
        found: WorkspaceMap = self.shown.result.map
        if found.plane is None or self.shown.result.asked.options.get("slice", NO_SLICE) == NO_SLICE:
            return None
        flat = found.plane.to_plane_coordinates(found.points)
        low, high = flat.min(axis=0), flat.max(axis=0)
        return PlanePosition(
            found.plane.to_world_points(0.5 * (low + high)), found.plane.axes, 0.55 * float(np.max(high - low))
        )

    def handle_under(self, pointer: PointerState) -> AxisPart | None:
        """Return the part of the plane's handle under the pointer."""
        if self.shown is None or self._view.scene.plane_handle.place is None:
            return None
        return self._view.scene.plane_handle.pick(self._view.scene.ray(pointer.x, pointer.y))

    def highlight_handle(self, part: AxisPart | None) -> bool:
        """Highlight a part of the plane's handle in yellow (None: none); returns True if there is one."""
        handle = self._view.scene.plane_handle
        if part is not handle.lit:
            handle.highlight(part)
            if part is not None:
                self._view.show_hint(HANDLE_WORDS[part.kind])
            self._view.update()
        return part is not None

    def request_in_plane(self, plane: PlanePosition) -> None:
        """Request the same map in another plane."""
        if self.shown is None:
            return
        normal = plane.axes_and_normal[:, 2]
        normal = normal * (np.sign(normal[np.argmax(np.abs(normal))]) or 1.0)
        text = ", ".join(f"{x:.6g}" for x in np.round(normal, 6) + 0.0)
        at = round(float(normal @ plane.centre), 9)
        axis = next((name for name, e in zip("xyz", np.eye(3), strict=True) if np.abs(normal - e).max() < 1e-6), None)
        chosen = {"slice": axis, "normal": ""} if axis is not None else {"slice": "normal", "normal": text}
        self.shown.renew({**chosen, "at": at})

    # ------------------------------------------------------------------------------ the place under the pointer

    def sample_under(self, pointer: PointerState) -> int | None:
        """Return the index of the sample under the pointer, the nearest to the camera if there are several; None if
        there is none."""
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

    def describe_sample(self, sample: int) -> str:
        """Describe a sample by its value and position."""
        assert self.shown is not None
        found: WorkspaceMap = self.shown.result.map
        place = ", ".join(
            f"{axis} {self._view.settings.format_value(float(x), 'length')}"
            for axis, x in zip("xyz", found.points[sample], strict=True)
        )
        value = float(found.values[sample])
        shown = "" if has_no_values(found) else f"{value:.4g} {found.unit}".strip() if math.isfinite(value) else "∞"
        return " · ".join(filter(None, (shown, place, "click to move the machine to this pose")))

    def move_to_sample(self, sample: int) -> bool:
        """Move the machine to the pose that reaches a sample, as one undo step."""
        assert self.shown is not None
        found: WorkspaceMap = self.shown.result.map
        session = self._session
        if tuple(session.mech.q_names) != found.names:
            session.message.emit("warning", "This map was computed for another machine. Compute it again.")
            return False
        session.preview(q=found.q[sample])
        session.commit(f"Pose of {self.shown.result.title[:1].lower()}{self.shown.result.title[1:]}")
        return True


LEGEND_MARGIN = 12
BAR_SIZE = QSize(220, 10)
COLOR_STOPS = 24


class _ColorBar(QWidget):
    """Colour bar of the legend."""

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
        self.update_button.clicked.connect(self._request_updated_map)
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
        self._life.listen((layer.changed, self.refresh_legend))
        self.hide()

    def close(self) -> None:
        """Disconnect from the map layer."""
        self._life.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the legend when the viewport is resized."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.move_to_lower_edge()
        return False

    def refresh_legend(self) -> None:
        """Update the legend to the present map."""
        shown = self._layer.shown
        self.setVisible(shown is not None)
        if shown is None:
            return
        found = shown.result.map
        plain = has_no_values(found)
        self.title.setText(shown.result.title)
        self.size_label.setText(" · ".join(filter(None, (shown.result.size, _incomplete_map_text(found)))))
        self.size_label.setVisible(bool(self.size_label.text()))
        old = self._layer.old
        self.note.show_text(f"Outdated: {old}." if old and not found.growing else "", "hint")
        self.update_button.setVisible(bool(self.note.words))
        for part in (self.bar, self.low, self.middle, self.high):
            part.setVisible(not plain)
        if not plain:
            self._update_color_scale()
        self.move_to_lower_edge()

    def _request_updated_map(self) -> None:
        """Request the same map for the present machine."""
        if self._layer.shown is not None:
            self._layer.shown.renew({})

    def _update_color_scale(self) -> None:
        """Show the colours, with the values at the ends and in the middle of the scale."""
        assert self._layer.shown is not None
        found = self._layer.shown.result.map
        parted = shows_difference(found)
        low, high = color_scale_range(found)
        if parted:
            high = max(abs(low), abs(high))
            low = -high
        look: LookName = "dark" if self._view.theme.name == "dark" else "light"
        table = map_colours(np.linspace(low, high, COLOR_STOPS), low, high, look, parted)
        self.bar.stops = [QColor.fromRgbF(*map(float, each)) for each in table]
        self.bar.update()
        beyond = math.isfinite(found.range[1]) and found.range[1] > high * (1.0 + 1e-9)
        unit = f" {found.unit}" if found.unit else ""
        self.low.setText(format_number(low, 3))
        self.middle.setText(format_number(0.5 * (low + high), 3))
        self.high.setText(f"{'≥ ' if beyond else ''}{format_number(high, 3)}{unit}")

    def move_to_lower_edge(self) -> None:
        """Move the legend to the middle of the lower edge."""
        self.layout().activate()
        self.adjustSize()
        host = self._view.widget
        self.move(
            max((host.width() - self.width()) // 2, LEGEND_MARGIN),
            max(host.height() - self.height() - LEGEND_MARGIN, LEGEND_MARGIN),
        )
        self.raise_()


def _incomplete_map_text(workspace_map: WorkspaceMap) -> str:
    """Return a note on an incomplete map: being refined, or stopped; "" if it is complete."""
    if workspace_map.complete:
        return ""
    return "being refined …" if workspace_map.growing else "stopped"
