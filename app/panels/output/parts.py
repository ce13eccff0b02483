"""Parts of result cards: the registry of the widgets for each kind of result, and the widgets for text, message,
matrix, table, poses and picture. (Formulas, frame tables, diagrams and maps have files of their own.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QModelIndex, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPixmap
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.document.provenance import is_from_closed_document
from app.document.revision import ElementRef
from app.formulas.matrix import MatrixView
from app.panels.output.tables import TableView
from app.widgets.label import Label, Note
from app.widgets.panel_parts import RowHighlighter
from core.functions.results import Matrix, Message, Motion, Picture, PoseSequence, Result, Table, leaf_results

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings


Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class CardContext:
    """Context of a part on a card: session, settings, and the whole result being shown; renew(options) computes the
    result again with some options changed."""

    session: Session
    settings: Settings
    whole: Callable[[], Result]
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


class CardPart(Protocol):
    """Protocol of widgets that show a part of a result on a card.

    Widgets that take long to create also have a method `create_next_piece() -> bool`, which creates a part of the
    content and returns True when all is done.
    """

    def show_part(self, part: Any) -> None:
        """Show another result of the same kind."""

    def close(self) -> object:
        """Disconnect from all signals; does nothing by default."""


_MAKERS: dict[type[Result], Callable[[Any, CardContext], Any]] = {}


def register_part_creator(kind: type[Any]) -> Callable[[Maker], Maker]:
    """Return a decorator that registers the function creating the widget (a `CardPart`) for a kind of result."""

    def register(make: Maker) -> Maker:
        _MAKERS[kind] = make
        return make

    return register


def create_part(result: Result, card: CardContext) -> QWidget:
    """Create the widget for a result: the one for its own kind, or for the nearest kind it derives from (text for any
    other).

    Raises TypeError for anything but a result.
    """
    make = next((_MAKERS[kind] for kind in type(result).__mro__ if kind in _MAKERS), None)
    if make is None:
        raise TypeError(f"A card can only show results, not {type(result).__name__}.")
    return make(result, card)


PREVIEW_WIDTH = 360
"""Width of a picture's preview, pixels."""


def _create_muted_label(text: str) -> QLabel:
    label = Label(text)
    label.setWordWrap(True)
    label.setProperty("muted", True)
    return label


@register_part_creator(Result)
class TextPart(Label):
    """A result as text."""

    def __init__(self, part: Result, place: CardContext) -> None:
        super().__init__()
        self._settings = place.settings
        self.show_part(part)

    def show_part(self, part: Result) -> None:
        """Show another text in display units."""
        self.part = part
        self.setText(part.to_text(degrees=self._settings.degrees, millimetres=self._settings.millimetres))


@register_part_creator(Message)
@register_part_creator(Motion)
class MessagePart(Note):
    """A message in the colour of its severity, or the summary of a run."""

    def __init__(self, part: Message | Motion, place: CardContext) -> None:
        super().__init__()
        self.show_part(part)

    def show_part(self, part: Message | Motion) -> None:
        """Show another message or summary."""
        self.show_text(part.to_text(), part.severity)


class _CaptionedPart(QWidget):
    """Widget with a caption (unless that only repeats the card's title), its content, and a note."""

    def __init__(self, content: QWidget, heading: str) -> None:
        super().__init__()
        self._heading = heading
        self._caption, self._note = Label(), _create_muted_label("")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._caption, content, self._note):
            layout.addWidget(widget)

    def set_caption(self, title: str, note: str) -> None:
        """Set caption and note."""
        self._caption.setText(title)
        self._caption.setVisible(title not in ("", self._heading))
        self._note.setText(note)
        self._note.setVisible(bool(note))


@register_part_creator(Matrix)
class MatrixPart(_CaptionedPart):
    """A matrix; it scrolls horizontally when it is wide."""

    def __init__(self, part: Matrix, place: CardContext) -> None:
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
        self.set_caption(part.title, part.note)
        self.view.show_matrix(part)
        self._area.setFixedHeight(self.view.height() + self._area.horizontalScrollBar().sizeHint().height())


@register_part_creator(Table)
class TablePart(_CaptionedPart):
    """A table whose rows are linked to elements in the scene."""

    def __init__(self, table: Table, place: CardContext) -> None:
        self.view = TableView(table, place.settings)
        super().__init__(self.view, place.whole().title)
        self._table = table
        RowHighlighter(self.view, place.session, self._row_elements)
        self.show_part(table)

    def _row_elements(self, index: QModelIndex) -> tuple[ElementRef, ...]:
        """Return the elements that a row refers to."""
        row = self.view.source_row(index)
        elements = self._table.elements
        return tuple(ElementRef(*each) for each in elements[row]) if 0 <= row < len(elements) else ()

    def show_part(self, part: Table) -> None:
        """Show another table."""
        self._table = part
        self.set_caption(part.title, part.note)
        self.view.show_table(part)


STRANGE = "This pose belongs to another machine. Run the function again."


@register_part_creator(PoseSequence)
class PosesPart(QWidget):
    """List of the poses of a result; one can be applied to the machine, and all can be shown in the scene."""

    def __init__(self, poses: PoseSequence, place: CardContext) -> None:
        super().__init__()
        self._session, self._result = place.session, place.whole
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._name, self._number = Label(), QComboBox()
        take = QPushButton("Use this pose")
        take.setToolTip("Move the machine to this pose (can be undone)")
        take.clicked.connect(self.use_pose)
        again = QPushButton("Show in scene")
        again.setToolTip("Show these poses in the scene again")
        again.clicked.connect(self._show_in_scene)
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
        self._name.setVisible(sum(isinstance(other, PoseSequence) for other in leaf_results(self._result())) > 1)
        self.setVisible(not (self._result().live and len(part.q) == 1))

    def use_pose(self) -> None:
        """Apply the selected pose and its parameter values to the machine."""
        k = self._number.currentIndex()
        q, session = self._poses.q[k], self._session
        if self._is_foreign() or len(q) != session.mech.nq:
            session.message.emit("warning", STRANGE)
            return
        known = set(session.mech.p_names)
        values = {name: value for name, value in self._poses.p[k].items() if name in known and value != session.p[name]}
        session.preview(q=q, parameters=values or None)  # type: ignore[arg-type]
        session.commit(f"Pose {k + 1} of {self._result().title}")

    def _show_in_scene(self) -> None:
        mech, poses = self._session.mech, self._poses
        known = set(mech.p_names)
        if self._is_foreign() or not all(
            len(q) == mech.nq and known.issuperset(p) for q, p in zip(poses.q, poses.p, strict=True)
        ):
            self._session.message.emit("warning", STRANGE)
            return
        self._session.shown_again.emit(self._result(), poses)

    def _is_foreign(self) -> bool:
        """Return True if the poses belong to another machine."""
        asked = self._result().asked
        if asked is None:
            return False
        return is_from_closed_document(asked, self._session) or asked.context.mech.q_names != self._session.mech.q_names


@register_part_creator(Picture)
class PicturePart(QWidget):
    """Preview of a picture that was written, with the path of its file."""

    def __init__(self, picture: Picture, place: CardContext) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._image, self._about = Label(), _create_muted_label("")
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
