"""Marks of mobility on the components of the machine (degrees of freedom, redundancies, singular directions), updated
as the machine moves, and their legend.

The marks are made in a thread of their own from a copy of the pose. While something moves only the newest pose waits
its turn; marks of a pose that is no longer shown are faded until the next are known, those of another machine dropped.
The thread rests longer than it works, so that the hand does not feel it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QColor, QEnterEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.background.jobs import Worker
from app.background.signals import Lifetime, Signal
from app.document.revision import DocumentState, ElementRef
from app.widgets.label import Label
from core.analysis.mobility_marks import Kind, MobilityMark, MobilityMarker, PoseDiagnosis, default_marked_frame
from core.later import dataclass
from core.mechanism import Mechanism
from viz.look import LOOKS
from viz.scene.mark_figures import COLOURS

if TYPE_CHECKING:
    from app.viewport.stage import Stage


FLAG = "mobility"
"""Setting that shows the marks."""
LOOK_EVERY = 15
"""Milliseconds between two checks of the thread."""
REST = 1.5
"""Pause of the thread while the machine moves, as a multiple of its last computing time."""
EDGE = 60
"""Width in pixels of the toolbar at the right edge of the view."""
NOTHING = PoseDiagnosis((), None)


@dataclass(frozen=True, eq=False)
class _MarksRequest:
    """A request for the marks of a pose, with copies of all data that the thread needs."""

    mech: Mechanism
    frame: str
    p: Mapping[str, float]
    q: NDArray[np.float64]

    def is_for_same_machine(self, other: _MarksRequest | None) -> bool:
        """Return True if another request is for the same machine."""
        return other is not None and self.mech is other.mech

    def differs_in_pose_only(self, other: _MarksRequest | None) -> bool:
        """Return True if another request differs only in the pose."""
        return other is not None and self.is_for_same_machine(other) and (self.frame, self.p) == (other.frame, other.p)

    def is_for_same_marks(self, other: _MarksRequest | None) -> bool:
        """Return True if another request is for the same marks."""
        return other is not None and self.differs_in_pose_only(other) and np.array_equal(self.q, other.q)


class MobilityLayer:
    """Mobility marks of the machine shown; `diagnosis` holds them, `changed` is emitted when there are new ones."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.diagnosis = NOTHING
        self._asked: _MarksRequest | None = None
        """Current request."""
        self._answer: tuple[_MarksRequest, PoseDiagnosis] | None = None
        """Last result of the thread."""
        self._rested = 0.0
        """Time from which the thread may work again, on the clock of `time.monotonic`."""
        self._shown: _MarksRequest | None = None
        self._maker: tuple[_MarksRequest, MobilityMarker] | None = None
        """The thread's own: what it needs of a machine for all its poses."""
        self._worker = Worker("mobility marks", self._on_marks_failed)
        self._timer = QTimer(view.widget, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._show_computed_marks)
        session = view.session
        self._life = Lifetime()
        self._life.callback(self._worker.close)
        self._life.callback(self._timer.stop)
        self._life.listen(
            (session.moved, self.request_marks),
            (session.changed, self._on_document_changed),
            (session.selected, self._on_selection_changed),
            (session.hovered, self._update_highlights),
            (session.pointed_out, self._update_highlights),
            (view.settings.changed, self._on_setting_changed),
        )
        self.request_marks()

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._life.close()

    @property
    def is_on(self) -> bool:
        """True if the marks are switched on."""
        return self._view.settings.view_flag(FLAG)

    @property
    def is_up_to_date(self) -> bool:
        """True if the marks shown belong to the present pose."""
        return not self.is_on or (self._asked is not None and self._asked.is_for_same_marks(self._shown))

    @property
    def marked_frame(self) -> str:
        """Frame whose lost directions of motion are marked: the selected body or frame, else the tool of an arm."""
        session = self._view.session
        ref = session.selection
        if ref is not None and ref.collection in ("bodies", "frames") and ref.name in session.mech.frame_names:
            return ref.name
        return default_marked_frame(session.mech)

    def request_marks(self) -> None:
        """Request the marks of the present pose."""
        if not self.is_on:
            if self._asked is not None:
                self._asked = None
                self._show_marks(None, NOTHING)
            return
        session = self._view.session
        asked = _MarksRequest(session.mech, self.marked_frame, dict(session.p), np.array(session.q))
        if asked.is_for_same_marks(self._asked):
            return
        self._asked = asked
        if not asked.is_for_same_machine(self._shown):
            self._show_marks(None, NOTHING)
        self._view.scene.mobility_marks.fade()
        self._start_pending_request()
        self._timer.start()

    def _start_pending_request(self) -> None:
        """Start the pending request in the thread if the pause after the last one is over."""
        asked = self._asked
        if asked is not None and not self._worker.is_busy and time.monotonic() >= self._rested:
            self._worker.submit(lambda: self._compute_marks(asked))

    def _compute_marks(self, request: _MarksRequest) -> None:
        """Compute the marks of a pose (in the thread)."""
        begun = time.monotonic()
        try:
            if self._maker is None or not request.differs_in_pose_only(self._maker[0]):
                self._maker = request, MobilityMarker(request.mech, request.frame, request.p)
            self._answer = request, self._maker[1].at(request.q)
        finally:
            now = time.monotonic()
            self._rested = now + REST * (now - begun)

    def _on_marks_failed(self, error: Exception) -> None:
        """Show an error in place of the marks (called in the thread)."""
        asked = self._asked
        if asked is not None:
            self._answer = asked, PoseDiagnosis((), None, f"The marks could not be computed: {error}")

    def _show_computed_marks(self) -> None:
        """Show the marks that the thread has computed, if they belong to this machine."""
        answer, self._answer = self._answer, None
        if answer is not None and answer[0].is_for_same_machine(self._asked):
            self._show_marks(*answer)
        if self.is_up_to_date or self._asked is None:
            self._timer.stop()
        else:
            self._start_pending_request()

    def _show_marks(self, request: _MarksRequest | None, diagnosis: PoseDiagnosis) -> None:
        self._shown, self.diagnosis = request, diagnosis
        scene = self._view.scene
        scene.mobility_marks.words, scene.mobility_marks.edge = scene.words, EDGE
        scene.mobility_marks.show_marks(diagnosis.marks, self._highlighted_elements(), old=not self.is_up_to_date)
        self._view.update()
        self.changed.emit()

    def _highlighted_elements(self) -> set[tuple[str, str]]:
        """Return the elements that are selected, hovered or highlighted."""
        session = self._view.session
        refs = (session.selection, session.hover, *session.pointed_out_refs)
        return {(ref.collection, ref.name) for ref in refs if ref is not None}

    def _update_highlights(self, _: object) -> None:
        if self.is_on:
            self._view.scene.mobility_marks.show_details(self._highlighted_elements())
            self._view.update()

    def _on_selection_changed(self, ref: ElementRef | None) -> None:
        if self.is_on:
            self._update_highlights(ref)
            self.request_marks()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        self.request_marks()

    def _on_setting_changed(self, key: str) -> None:
        if key == f"view/{FLAG}":
            self.request_marks()
        elif key.startswith("units/") and self.is_on and self._shown is not None:
            self._show_marks(self._shown, self.diagnosis)


LEGEND_MARGIN = 12
WIDEST_LEGEND = 420


class LegendLine(NamedTuple):
    """A line of the legend: its text, the kind of mark that gives its colour, and the elements to which it refers."""

    text: str
    kind: Kind
    refs: tuple[ElementRef, ...] = ()


def legend_lines(diagnosis: PoseDiagnosis) -> Iterator[LegendLine]:
    """Yield the lines of the legend for a diagnosis."""
    found = diagnosis.mobility
    if found is None:
        if diagnosis.problem:
            yield LegendLine(diagnosis.problem, "conflict", _elements_of_marks(diagnosis.marks))
        return

    def marks_of_kinds(*kinds: str) -> tuple[MobilityMark, ...]:
        return tuple(mark for mark in diagnosis.marks if mark.kind in kinds and mark.chief)

    free = marks_of_kinds("free", "idle", *(("singular",) if found.singular else ()))
    idle = f", {_count_text(len(found.idle), 'body turns', 'bodies turn')} idly" if found.idle else ""
    yield LegendLine(
        f"{_count_text(found.dof, 'degree')} of freedom{idle}", "free", _elements_of_marks(m for m in free if m.motion)
    )
    if found.redundant:
        several = _count_text(len(found.redundant), "redundant constraint")
        yield LegendLine(several, "redundant", _elements_of_marks(marks_of_kinds("redundant")))
    yield from (
        LegendLine(f"{mark.text}.", "conflict", _elements_of_marks((mark,))) for mark in marks_of_kinds("conflict")
    )
    if found.singular:
        text = f"singular pose: {found.at_pose} instantaneous degrees of freedom"
        yield LegendLine(text, "singular", _elements_of_marks(marks_of_kinds("singular")))
    elif lost := marks_of_kinds("singular"):
        gone = [mark for mark in lost if not mark.share]
        text = f"{_count_text(len(gone), 'direction')} lost in this pose" if gone else "near a singular pose"
        yield LegendLine(text, "singular", _elements_of_marks(lost))


def _elements_of_marks(marks: Iterator[MobilityMark] | tuple[MobilityMark, ...]) -> tuple[ElementRef, ...]:
    return tuple(dict.fromkeys(ElementRef(*mark.ref) for mark in marks))


def _count_text(count: int, singular: str, plural: str = "") -> str:
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


class _LegendLineWidget(QWidget):
    """Legend line with a coloured dot and text; hovering highlights its components, a click selects the first one."""

    def __init__(self, view: Stage, line: LegendLine) -> None:
        super().__init__()
        self._session, self._refs_of_marks = view.session, line.refs
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 1, 0, 1)
        look = LOOKS["dark" if view.theme.name == "dark" else "light"]
        color = QColor.fromRgbF(*look.resolve_colour(COLOURS[line.kind]))
        self.label = Label(f"●  {line.text}")
        self.label.setStyleSheet(f"color: {color.name()}")
        self.label.setWordWrap(len(line.text) > 60)
        self.label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column.addWidget(self.label)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Highlight the components."""
        self._session.highlight_elements(self._refs_of_marks)

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the highlight of the components."""
        self._session.highlight_elements(())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the first component."""
        if self._refs_of_marks:
            self._session.select(self._refs_of_marks[0])


class MobilityLegend(QFrame):
    """Legend in the lower left corner of the viewport while the marks are shown."""

    def __init__(self, view: Stage, layer: MobilityLayer) -> None:
        super().__init__(view.widget)
        self.setObjectName("overlay")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setMaximumWidth(WIDEST_LEGEND)
        self._view, self._layer = view, layer
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 5, 10, 5)
        self._column.setSpacing(0)
        self.shown: tuple[LegendLine, ...] = ()
        self._widgets: list[_LegendLineWidget] = []
        self._life = Lifetime()
        view.widget.installEventFilter(self)
        self._life.callback(lambda: view.widget.removeEventFilter(self))
        self._life.listen((layer.changed, self.refresh_legend), (view.theme.changed, self._on_theme_changed))
        self.hide()
        self.refresh_legend()

    def close(self) -> None:
        """Disconnect from the layer."""
        self._life.close()

    def _on_theme_changed(self, _name: str) -> None:
        self.shown = ()
        self.refresh_legend()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the legend when the viewport is resized."""
        if event.type() == QEvent.Type.Resize:
            self.move_to_lower_left()
        return False

    def refresh_legend(self) -> None:
        """Update the legend to the present marks."""
        now = tuple(legend_lines(self._layer.diagnosis))
        if now == self.shown:
            return
        self.shown = now
        for widget in self._widgets:
            widget.hide()
            widget.deleteLater()
        self._widgets = [_LegendLineWidget(self._view, line) for line in now]
        for widget in self._widgets:
            self._column.addWidget(widget)
            widget.show()
        self.setVisible(bool(now))
        self.move_to_lower_left()

    def move_to_lower_left(self) -> None:
        """Move the legend to the lower left corner."""
        self._column.activate()
        self.adjustSize()
        self.move(LEGEND_MARGIN, max(self._view.widget.height() - self.height() - LEGEND_MARGIN, LEGEND_MARGIN))
