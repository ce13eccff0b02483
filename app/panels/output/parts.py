"""Parts of result cards: the registry of widgets that show each kind of result, and those for text, message, matrix,
table, poses, picture. (Formulas, frame tables, diagrams and maps have separate files.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QModelIndex, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPixmap
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.document.provenance import gone
from app.document.revision import Ref
from app.formulas.matrix import MatrixView
from app.panels.output.tables import TableView
from app.widgets.label import Label, Note
from app.widgets.panel_parts import PointingRows
from core.functions.results import Matrix, Message, Motion, Picture, PoseSequence, Result, Table, leaves

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings


Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class CardPlace:
    """Context of a part on a card: session, settings and the whole result currently shown; renew(options) computes the
    result again with some options changed."""

    session: Session
    settings: Settings
    whole: Callable[[], Result]
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


class CardPart(Protocol):
    """Protocol of widgets that show a part of a result on a card.

    One that takes long to make has a method `go_on() -> bool`, too, which makes a little more of it, until it is True.
    """

    def show_part(self, part: Any) -> None:
        """Show another result of the same kind."""

    def close(self) -> object:
        """Disconnect from all signals; does nothing by default."""


_MAKERS: dict[type[Result], Callable[[Any, CardPlace], Any]] = {}


def card_of(kind: type[Any]) -> Callable[[Maker], Maker]:
    """Register the function that creates the widget (a `CardPart`) for a kind of result."""

    def registered(make: Maker) -> Maker:
        _MAKERS[kind] = make
        return make

    return registered


def part_of(result: Result, place: CardPlace) -> QWidget:
    """Return the widget for a result: for its own kind, or the nearest kind it derives from (text for any other).

    Raises TypeError for anything but a result.
    """
    make = next((_MAKERS[kind] for kind in type(result).__mro__ if kind in _MAKERS), None)
    if make is None:
        raise TypeError(f"A card shows results, not {type(result).__name__}.")
    return make(result, place)


PREVIEW_WIDTH = 360
"""Width of a picture's preview, pixels."""


def _muted_label(text: str) -> QLabel:
    label = Label(text)
    label.setWordWrap(True)
    label.setProperty("muted", True)
    return label


@card_of(Result)
class TextPart(Label):
    """A result as text."""

    def __init__(self, part: Result, place: CardPlace) -> None:
        super().__init__()
        self._settings = place.settings
        self.show_part(part)

    def show_part(self, part: Result) -> None:
        """Show another text in display units."""
        self.part = part
        self.setText(part.to_text(degrees=self._settings.degrees, millimetres=self._settings.millimetres))


@card_of(Message)
@card_of(Motion)
class MessagePart(Note):
    """A sentence in the colour of its severity, or a summary of a run."""

    def __init__(self, part: Message | Motion, place: CardPlace) -> None:
        super().__init__()
        self.show_part(part)

    def show_part(self, part: Message | Motion) -> None:
        """Show another sentence."""
        self.say(part.to_text(), part.severity)


class _CaptionedPart(QWidget):
    """Widget with a caption (unless it only repeats the heading of the card), its content, and a note."""

    def __init__(self, content: QWidget, heading: str) -> None:
        super().__init__()
        self._heading = heading
        self._caption, self._note = Label(), _muted_label("")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._caption, content, self._note):
            layout.addWidget(widget)

    def say(self, title: str, note: str) -> None:
        """Set caption and note."""
        self._caption.setText(title)
        self._caption.setVisible(title not in ("", self._heading))
        self._note.setText(note)
        self._note.setVisible(bool(note))


@card_of(Matrix)
class MatrixPart(_CaptionedPart):
    """A matrix; it scrolls horizontally when it is wide."""

    def __init__(self, part: Matrix, place: CardPlace) -> None:
        self._area = QScrollArea()
        super().__init__(self._area, place.whole().title)
        self.view = MatrixView(part)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self.view)
        self._area.viewport().setAutoFillBackground(False)
        self.view.setAutoFillBackground(False)
        self.show_part(part)

    def show_part(self, part: Matrix) -> None:
        """Show another matrix."""
        self.say(part.title, part.note)
        self.view.show_matrix(part)
        self._area.setFixedHeight(self.view.height() + self._area.horizontalScrollBar().sizeHint().height())


@card_of(Table)
class TablePart(_CaptionedPart):
    """A table with rows linked to elements in the scene."""

    def __init__(self, table: Table, place: CardPlace) -> None:
        self.view = TableView(table, place.settings)
        super().__init__(self.view, place.whole().title)
        self._table = table
        PointingRows(self.view, place.session, self._elements)
        self.show_part(table)

    def _elements(self, index: QModelIndex) -> tuple[Ref, ...]:
        """Return the elements that a row refers to."""
        row = self.view.source_row(index)
        elements = self._table.elements
        return tuple(Ref(*each) for each in elements[row]) if 0 <= row < len(elements) else ()

    def show_part(self, part: Table) -> None:
        """Show another table."""
        self._table = part
        self.say(part.title, part.note)
        self.view.show_table(part)


STRANGE = "This pose belongs to another machine. Run the function again."


@card_of(PoseSequence)
class PosesPart(QWidget):
    """List of the poses of a result; one can be applied to the machine, all can be shown in the scene again."""

    def __init__(self, poses: PoseSequence, place: CardPlace) -> None:
        super().__init__()
        self._session, self._result = place.session, place.whole
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._name, self._number = Label(), QComboBox()
        take = QPushButton("Use this pose")
        take.setToolTip("Move the machine to this pose (can be undone)")
        take.clicked.connect(self.take)
        again = QPushButton("Show again")
        again.setToolTip("Show these poses in the scene again")
        again.clicked.connect(self._show_again)
        for widget in (self._name, self._number, take, again):
            row.addWidget(widget)
        row.addStretch(1)
        self.show_part(poses)

    def show_part(self, part: PoseSequence) -> None:
        """Show another sequence."""
        self._poses = part
        if self._number.count() != len(part.q):
            self._number.clear()
            self._number.addItems([f"Pose {k + 1} of {len(part.q)}" for k in range(len(part.q))])
        self._name.setText(part.title)
        self._name.setVisible(sum(isinstance(other, PoseSequence) for other in leaves(self._result())) > 1)
        self.setVisible(not (self._result().live and len(part.q) == 1))

    def take(self) -> None:
        """Commit the chosen pose together with its parameter values."""
        k = self._number.currentIndex()
        q, session = self._poses.q[k], self._session
        if self._is_foreign() or len(q) != session.mech.nq:
            session.message.emit("warning", STRANGE)
            return
        known = set(session.mech.p_names)
        values = {name: value for name, value in self._poses.p[k].items() if name in known and value != session.p[name]}
        session.preview(q=q, parameters=values or None)  # type: ignore[arg-type]
        session.commit(f"Pose {k + 1} of {self._result().title}")

    def _show_again(self) -> None:
        mech, poses = self._session.mech, self._poses
        known = set(mech.p_names)
        if self._is_foreign() or not all(
            len(q) == mech.nq and known.issuperset(p) for q, p in zip(poses.q, poses.p, strict=True)
        ):
            self._session.message.emit("warning", STRANGE)
            return
        self._session.shown_again.emit(self._result(), poses)

    def _is_foreign(self) -> bool:
        """Return True if the poses do not fit the open machine."""
        asked = self._result().asked
        if asked is None:
            return False
        return gone(asked, self._session) or asked.context.mech.q_names != self._session.mech.q_names


@card_of(Picture)
class PicturePart(QWidget):
    """Preview of a picture that was written, with the path of its file."""

    def __init__(self, picture: Picture, place: CardPlace) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._image, self._about = Label(), _muted_label("")
        show = QPushButton("Open")
        show.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path))))
        row = QHBoxLayout()
        row.addWidget(show)
        row.addStretch(1)
        column.addWidget(self._image)
        column.addWidget(self._about)
        column.addLayout(row)
        self.show_part(picture)

    def show_part(self, part: Picture) -> None:
        """Show another picture."""
        self._path = Path(part.path).absolute()
        pixmap = QPixmap(str(self._path))
        self._image.setVisible(not pixmap.isNull())
        if not pixmap.isNull():
            ratio = self._image.devicePixelRatioF()
            scaled = pixmap.scaledToWidth(int(PREVIEW_WIDTH * ratio), Qt.TransformationMode.SmoothTransformation)
            scaled.setDevicePixelRatio(ratio)
            self._image.setPixmap(scaled)
        self._about.setText(f"{self._path}, {part.size[0]} × {part.size[1]} pixels")
