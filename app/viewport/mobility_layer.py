"""Marks of mobility on the components of the machine (degrees of freedom, redundancies, singular directions), updated
with every movement, and their legend.

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
from app.document.revision import Ref, State
from app.widgets.label import Label
from core.analysis.mobility_marks import Diagnosis, Kind, Mark, MobilityMarks, tool_of_arm
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
"""Pause of the thread during a movement, as a multiple of its last computing time."""
EDGE = 60
"""Pixels at the right edge of the view occupied by its toolbar."""
NOTHING = Diagnosis((), None)


@dataclass(frozen=True, eq=False)
class _MarksRequest:
    """A request for the marks of a pose: a copy of all that the thread needs."""

    mech: Mechanism
    frame: str
    p: Mapping[str, float]
    q: NDArray[np.float64]

    def of_machine(self, other: _MarksRequest | None) -> bool:
        """Return True if another request is for the same machine."""
        return other is not None and self.mech is other.mech

    def same_but_pose(self, other: _MarksRequest | None) -> bool:
        """Return True if another request differs in its pose only."""
        return other is not None and self.of_machine(other) and (self.frame, self.p) == (other.frame, other.p)

    def same(self, other: _MarksRequest | None) -> bool:
        """Return True if another request is for the same marks."""
        return other is not None and self.same_but_pose(other) and np.array_equal(self.q, other.q)


class MobilityLayer:
    """The mobility marks of the machine shown; `diagnosis` holds them, `changed` is emitted for new ones."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.diagnosis = NOTHING
        self._asked: _MarksRequest | None = None
        """Current request."""
        self._answer: tuple[_MarksRequest, Diagnosis] | None = None
        """Last result of the thread."""
        self._rested = 0.0
        """Time from which the thread may work again, on the clock of `time.monotonic`."""
        self._shown: _MarksRequest | None = None
        self._maker: tuple[_MarksRequest, MobilityMarks] | None = None
        """The thread's own: what it needs of a machine for all its poses."""
        self._worker = Worker("mobility marks", self._failed)
        self._timer = QTimer(view.widget, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._take_marks)
        session = view.session
        self._life = Lifetime()
        self._life.callback(self._worker.close)
        self._life.callback(self._timer.stop)
        self._life.listen(
            (session.moved, self.refresh),
            (session.changed, self._document_changed),
            (session.selected, self._selection_changed),
            (session.hovered, self._look_at),
            (session.pointed_out, self._look_at),
            (view.settings.changed, self._setting_changed),
        )
        self.refresh()

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._life.close()

    @property
    def on(self) -> bool:
        """True if the marks are switched on."""
        return self._view.settings.flag(FLAG)

    @property
    def settled(self) -> bool:
        """True if the marks shown belong to the present pose."""
        return not self.on or (self._asked is not None and self._asked.same(self._shown))

    @property
    def frame(self) -> str:
        """Frame whose lost directions are marked: the selected body or frame, else the tool of an arm."""
        session = self._view.session
        ref = session.selection
        if ref is not None and ref.collection in ("bodies", "frames") and ref.name in session.mech.frame_names:
            return ref.name
        return tool_of_arm(session.mech)

    def refresh(self) -> None:
        """Request the marks of the present pose."""
        if not self.on:
            if self._asked is not None:
                self._asked = None
                self._show(None, NOTHING)
            return
        session = self._view.session
        asked = _MarksRequest(session.mech, self.frame, dict(session.p), np.array(session.q))
        if asked.same(self._asked):
            return
        self._asked = asked
        if not asked.of_machine(self._shown):
            self._show(None, NOTHING)
        self._view.scene.mobility_marks.age()
        self._begin_request()
        self._timer.start()

    def _begin_request(self) -> None:
        """Start the pending request in the thread, if its pause is over."""
        asked = self._asked
        if asked is not None and not self._worker.busy and time.monotonic() >= self._rested:
            self._worker.do(lambda: self._compute_marks(asked))

    def _compute_marks(self, asked: _MarksRequest) -> None:
        """Compute the marks of a pose (in the thread)."""
        begun = time.monotonic()
        try:
            if self._maker is None or not asked.same_but_pose(self._maker[0]):
                self._maker = asked, MobilityMarks(asked.mech, asked.frame, asked.p)
            self._answer = asked, self._maker[1].at(asked.q)
        finally:
            now = time.monotonic()
            self._rested = now + REST * (now - begun)

    def _failed(self, error: Exception) -> None:
        """Show an error instead of marks (called in the thread)."""
        asked = self._asked
        if asked is not None:
            self._answer = asked, Diagnosis((), None, f"The marks could not be computed: {error}")

    def _take_marks(self) -> None:
        """Take a result from the thread."""
        answer, self._answer = self._answer, None
        if answer is not None and answer[0].of_machine(self._asked):
            self._show(*answer)
        if self.settled or self._asked is None:
            self._timer.stop()
        else:
            self._begin_request()

    def _show(self, shown: _MarksRequest | None, diagnosis: Diagnosis) -> None:
        self._shown, self.diagnosis = shown, diagnosis
        scene = self._view.scene
        scene.mobility_marks.words, scene.mobility_marks.edge = scene.words, EDGE
        scene.mobility_marks.show(diagnosis.marks, self._refs(), old=not self.settled)
        self._view.update()
        self.changed.emit()

    def _refs(self) -> set[tuple[str, str]]:
        """Return the elements that are selected or hovered."""
        session = self._view.session
        refs = (session.selection, session.hover, *session.pointed_out_refs)
        return {(ref.collection, ref.name) for ref in refs if ref is not None}

    def _look_at(self, _: object) -> None:
        if self.on:
            self._view.scene.mobility_marks.look_at(self._refs())
            self._view.update()

    def _selection_changed(self, ref: Ref | None) -> None:
        if self.on:
            self._look_at(ref)
            self.refresh()

    def _document_changed(self, old: State, new: State) -> None:
        self.refresh()

    def _setting_changed(self, key: str) -> None:
        if key == f"view/{FLAG}":
            self.refresh()
        elif key.startswith("units/") and self.on and self._shown is not None:
            self._show(self._shown, self.diagnosis)


LEGEND_MARGIN = 12
WIDEST_LEGEND = 420


class LegendLine(NamedTuple):
    """A line of the legend: its text, the kind that gives its colour, and the elements it points out."""

    text: str
    kind: Kind
    refs: tuple[Ref, ...] = ()


def legend_lines(diagnosis: Diagnosis) -> Iterator[LegendLine]:
    """Yield the legend lines of a diagnosis."""
    found = diagnosis.mobility
    if found is None:
        if diagnosis.problem:
            yield LegendLine(diagnosis.problem, "conflict", _refs_of_marks(diagnosis.marks))
        return

    def of(*kinds: str) -> tuple[Mark, ...]:
        return tuple(mark for mark in diagnosis.marks if mark.kind in kinds and mark.chief)

    free = of("free", "idle", *(("singular",) if found.singular else ()))
    idle = f", {_count_text(len(found.idle), 'body turns', 'bodies turn')} idly" if found.idle else ""
    yield LegendLine(
        f"{_count_text(found.dof, 'degree')} of freedom{idle}", "free", _refs_of_marks(m for m in free if m.motion)
    )
    if found.redundant:
        several = _count_text(len(found.redundant), "redundant constraint")
        yield LegendLine(several, "redundant", _refs_of_marks(of("redundant")))
    yield from (LegendLine(f"{mark.text}.", "conflict", _refs_of_marks((mark,))) for mark in of("conflict"))
    if found.singular:
        text = f"singular pose: {found.at_pose} instantaneous degrees of freedom"
        yield LegendLine(text, "singular", _refs_of_marks(of("singular")))
    elif lost := of("singular"):
        gone = [mark for mark in lost if not mark.share]
        text = f"{_count_text(len(gone), 'direction')} lost at this pose" if gone else "near a singular pose"
        yield LegendLine(text, "singular", _refs_of_marks(lost))


def _refs_of_marks(marks: Iterator[Mark] | tuple[Mark, ...]) -> tuple[Ref, ...]:
    return tuple(dict.fromkeys(Ref(*mark.ref) for mark in marks))


def _count_text(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


class _LineWidget(QWidget):
    """Widget with a coloured dot and text; hovering points the components out, a click selects the first one."""

    def __init__(self, view: Stage, line: LegendLine) -> None:
        super().__init__()
        self._session, self._refs_of_marks = view.session, line.refs
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 1, 0, 1)
        look = LOOKS["dark" if view.theme.name == "dark" else "light"]
        color = QColor.fromRgbF(*look.colour(COLOURS[line.kind]))
        self.label = Label(f"●  {line.text}")
        self.label.setStyleSheet(f"color: {color.name()}")
        self.label.setWordWrap(len(line.text) > 60)
        self.label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column.addWidget(self.label)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Point the components out."""
        self._session.point_out(self._refs_of_marks)

    def leaveEvent(self, event: QEvent) -> None:
        """Stop pointing components out."""
        self._session.point_out(())

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
        self._widgets: list[_LineWidget] = []
        self._life = Lifetime()
        view.widget.installEventFilter(self)
        self._life.callback(lambda: view.widget.removeEventFilter(self))
        self._life.listen((layer.changed, self.refresh), (view.theme.changed, self._repaint))
        self.hide()
        self.refresh()

    def close(self) -> None:
        """Disconnect from the layer."""
        self._life.close()

    def _repaint(self, _name: str) -> None:
        self.shown = ()
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the legend when the viewport is resized."""
        if event.type() == QEvent.Type.Resize:
            self.place()
        return False

    def refresh(self) -> None:
        """Update the legend to the marks."""
        now = tuple(legend_lines(self._layer.diagnosis))
        if now == self.shown:
            return
        self.shown = now
        for widget in self._widgets:
            widget.hide()
            widget.deleteLater()
        self._widgets = [_LineWidget(self._view, line) for line in now]
        for widget in self._widgets:
            self._column.addWidget(widget)
            widget.show()
        self.setVisible(bool(now))
        self.place()

    def place(self) -> None:
        """Place the legend in the lower left corner."""
        self._column.activate()
        self.adjustSize()
        self.move(LEGEND_MARGIN, max(self._view.widget.height() - self.height() - LEGEND_MARGIN, LEGEND_MARGIN))
