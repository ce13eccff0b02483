"""Legend of the mobility marks: one line for each kind with its count, which points out the components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QEnterEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.background.lifetime import Lifetime
from app.document.revision import Ref
from app.viewport.mobility_layer import MobilityLayer
from app.widgets.label import Label
from core.analysis.mobility_marks import Diagnosis, Kind, Mark
from viz.look import LOOKS
from viz.scene.mark_figures import COLOURS

if TYPE_CHECKING:
    from app.viewport.stage import Stage

MARGIN = 12
WIDEST = 420


class Line(NamedTuple):
    """A line of the legend: its text, the kind that gives its colour, and the elements it points out."""

    text: str
    kind: Kind
    refs: tuple[Ref, ...] = ()


def lines(diagnosis: Diagnosis) -> Iterator[Line]:
    """Yield the legend lines of a diagnosis."""
    found = diagnosis.mobility
    if found is None:
        if diagnosis.problem:
            yield Line(diagnosis.problem, "conflict", _refs_of_marks(diagnosis.marks))
        return

    def of(*kinds: str) -> tuple[Mark, ...]:
        return tuple(mark for mark in diagnosis.marks if mark.kind in kinds and mark.chief)

    free = of("free", "idle", *(("singular",) if found.singular else ()))
    idle = f", {_count_text(len(found.idle), 'body turns', 'bodies turn')} idly" if found.idle else ""
    yield Line(
        f"{_count_text(found.dof, 'degree')} of freedom{idle}", "free", _refs_of_marks(m for m in free if m.motion)
    )
    if found.redundant:
        several = _count_text(len(found.redundant), "redundant constraint")
        yield Line(several, "redundant", _refs_of_marks(of("redundant")))
    yield from (Line(f"{mark.text}.", "conflict", _refs_of_marks((mark,))) for mark in of("conflict"))
    if found.singular:
        text = f"singular pose: {found.at_pose} instantaneous degrees of freedom"
        yield Line(text, "singular", _refs_of_marks(of("singular")))
    elif lost := of("singular"):
        gone = [mark for mark in lost if not mark.share]
        text = f"{_count_text(len(gone), 'direction')} lost at this pose" if gone else "near a singular pose"
        yield Line(text, "singular", _refs_of_marks(lost))


def _refs_of_marks(marks: Iterator[Mark] | tuple[Mark, ...]) -> tuple[Ref, ...]:
    return tuple(dict.fromkeys(Ref(*mark.ref) for mark in marks))


def _count_text(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


class _LineWidget(QWidget):
    """Widget with a coloured dot and text; hovering points the components out, a click selects the first one."""

    def __init__(self, view: Stage, line: Line) -> None:
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
        self.setMaximumWidth(WIDEST)
        self._view, self._layer = view, layer
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 5, 10, 5)
        self._column.setSpacing(0)
        self.shown: tuple[Line, ...] = ()
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
        now = tuple(lines(self._layer.diagnosis))
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
        self.move(MARGIN, max(self._view.widget.height() - self.height() - MARGIN, MARGIN))
