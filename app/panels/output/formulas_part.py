"""`Formulas` on a card: the matrix, its numerical check and collapsible notes; scene elements and terms highlight each
other. A dialog appends the formulas to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.document.revision import ElementRef
from app.document.session import Session
from app.formulas.cells import FOLDED
from app.formulas.formula_view import FormulasView, PointerSpot
from app.panels.output.parts import CardContext, register_part_creator
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import Label, Note
from core.errors import KinetostatError
from core.functions.results import Formulas
from core.functions.subjects.symbols import append_to_file
from core.symbolic.export import EXPORTS

if TYPE_CHECKING:
    from app.document.session import Session


COPIES = {
    "text": "Text",
    "latex": "LaTeX",
    "mathematica": "Mathematica",
    "python": "Python",
    "c": "C",
    "sympy": "SymPy",
}
NAMES = "Common subexpressions"
NAMING = "Introduce names for subexpressions that occur more than once"
NO_NAMES = "No long subexpression occurs more than once"


class FormulasPart(QWidget):
    """Caption, matrix, line with the numerical check, and switches for names, conventions and recognised numbers."""

    def __init__(self, part: Formulas, heading: str, session: Session) -> None:
        super().__init__()
        self._heading, self._session = heading, session
        self.view = FormulasView(part, self)
        self._caption = Label()
        self.proof = Note()
        self.conventions, self.recognised = _create_muted_label(), _create_muted_label()
        self.names = _create_switch(NAMES, NAMING)
        self._conventions = _create_switch("Conventions", "Explain the symbols and signs")
        self._recognised = _create_switch(
            "Recognised numbers", ("Numbers in the file that were recognised as fractions or multiples of π")
        )
        self.all = _create_switch("Show all", "Show entries that are collapsed because they are long")
        for switch, text in ((self._conventions, self.conventions), (self._recognised, self.recognised)):
            switch.toggled.connect(text.setVisible)
        self.names.toggled.connect(self._show_names)
        self.all.toggled.connect(self._expand_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(4)
        for switch in (self.all, self.names, self._recognised, self._conventions):
            row.addWidget(switch)
        row.addStretch(1)
        for widget in (self._caption, self.view, self.proof):
            layout.addWidget(widget)
        layout.addLayout(row)
        layout.addWidget(self.recognised)
        layout.addWidget(self.conventions)
        self.view.pointed.connect(self._on_pointed)
        self.view.settled.connect(self._on_settled)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self._life = Lifetime()
        self._life.listen((session.selected, self._highlight_terms), (session.hovered, self._highlight_terms))
        self.show_part(part)

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def show_part(self, part: Formulas) -> None:
        """Show another matrix."""
        self.part = part
        self._caption.setText(part.title)
        self._caption.setVisible(part.title not in ("", self._heading))
        self.proof.show_text(part.proof, {True: "done", False: "error", None: ""}[part.proved])
        self.conventions.setText("\n".join(part.conventions))
        self.recognised.setText("\n".join(part.recognised))
        self._conventions.setVisible(bool(part.conventions))
        self._recognised.setVisible(bool(part.recognised))
        self._recognised.setText(f"Recognised numbers ({len(part.recognised)})")
        for switch in (self.names, self.all):
            switch.setChecked(False)
        self._enable_naming(True)
        if part is not self.view.formulas:
            self.view.show_formulas(part)
        self._on_settled()
        self._highlight_terms(None)

    def _enable_naming(self, available: bool) -> None:
        """Enable the naming of common subexpressions if there are any."""
        self.names.setEnabled(available)
        self.names.setText(NAMES if available else f"No {NAMES[0].lower()}{NAMES[1:]}")
        self.names.setToolTip(escape_tip(NAMING if available else NO_NAMES))

    def _on_settled(self) -> None:
        if self.names.isChecked() and not self.view.grid.meaning:
            self._enable_naming(False)
            self.names.setChecked(False)
        cells = self.view.grid.all_cells
        self.all.setVisible(self.all.isChecked() or any(cell.shown is False for cell in cells))
        long = sum(cell.operations for row in self.view.grid.cells for cell in row)
        self.names.setVisible(self.names.isChecked() or long > 12)

    # ----------------------------------------------------------------------------- folding

    def _show_names(self, on: bool) -> None:
        self.view.name_subexpressions(on)

    def _expand_all(self, on: bool) -> None:
        for cell in self.view.grid.all_cells:
            if cell.shown is not None:
                cell.shown = on or cell.operations <= FOLDED
        self.view.refresh()

    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        what = "entry" if len(self.view.chosen) == 1 else "entries"
        copies = menu.addMenu(icon("copy"), f"Copy {what} as")
        for language, title in COPIES.items():
            copies.addAction(title, lambda language=language: self.view.copy(language))
        if len(self.view.chosen) == 1:
            i, j = next(iter(self.view.chosen))
            cell = self.view.grid.cells[i][j]
            title = "Fold" if cell.shown else "Show"
            menu.addAction(title, lambda: self.view.show_entry(cell, not cell.shown))
        if self.names.isChecked() and self.view.grid.unfolded:
            menu.addAction("Restore all names", lambda: self._show_names(True))
        menu.addSeparator()
        menu.addAction("Larger", lambda: self.view.zoom(1.2))
        menu.addAction("Smaller", lambda: self.view.zoom(1 / 1.2))
        menu.popup(self.view.viewport().mapToGlobal(position))

    # ----------------------------------------------------------------------------- scene

    def _on_pointed(self, spot: PointerSpot) -> None:
        self._session.set_hovered_element(self.find_element(spot))

    def find_element(self, spot: PointerSpot) -> ElementRef | None:
        """Return the element to which a symbol or an entry belongs."""
        for name in spot.symbols:
            for collection, element in self.part.owners.get(name, ()):
                if self._element_exists(collection, element):
                    return ElementRef(collection, element)
        for labels, k in ((self.part.rows, spot.row), (self.part.columns, spot.column)):
            if labels and k >= 0 and self._element_exists("joints", labels[k]):
                return ElementRef("joints", labels[k])
        return None

    def _element_exists(self, collection: str, name: str) -> bool:
        return any(each.name == name for each in getattr(self._session.model.expanded, collection))

    def _highlight_terms(self, _: object) -> None:
        """Highlight the terms that belong to the selected element or the one under the pointer."""
        symbols: set[str] = set()
        labels: set[str] = set()
        for ref in (self._session.selection, self._session.hover):
            if ref is not None:
                place = ref.collection, ref.name
                symbols |= {name for name, owners in self.part.owners.items() if place in owners}
                labels |= self._element_labels(ref)
        self.view.highlight(symbols, labels)

    def _element_labels(self, ref: ElementRef) -> set[str]:
        if ref.collection == "joints":
            return {ref.name}
        joints = self._session.model.expanded.joints
        return {joint.name for joint in joints if joint.child == ref.name} if ref.collection == "bodies" else set()


def _create_muted_label() -> QLabel:
    label = Label()
    label.setWordWrap(True)
    label.setProperty("muted", True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.hide()
    return label


def _create_switch(text: str, help: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(escape_tip(help))
    button.setCheckable(True)
    return button


@register_part_creator(Formulas)
def _make_part(part: Formulas, place: CardContext) -> FormulasPart:
    return FormulasPart(part, place.whole().title, place.session)


Written = Callable[[str, str], str]
APPEND_FILE_KEY, APPEND_LANGUAGE_KEY = "formulas/file", "formulas/language"
LANGUAGE_SUFFIXES = {"latex": "tex", "mathematica": "m", "python": "py", "sympy": "py", "c": "c"}


class AppendDialog(QDialog):
    """Dialog that asks for label, language and file, and appends formulas to the file.

    written : the formulas, in a language and under a label; own : the label they have, if they have one together
    """

    def __init__(self, parent: QWidget, written: Written, own: str, session: Session, settings: Settings) -> None:
        super().__init__(parent)
        self.setWindowTitle("Append to a file")
        self._written, self._session, self._settings = written, session, settings
        self.label = QLineEdit()
        self.label.setPlaceholderText(own or "its own name")
        self.language = QComboBox()
        for language, (title, _, _) in EXPORTS.items():
            self.language.addItem(title, language)
        self.language.setCurrentIndex(max(0, self.language.findData(settings.value(APPEND_LANGUAGE_KEY, "text"))))
        self.file = QLineEdit(str(settings.value(APPEND_FILE_KEY, "")))
        self.file.setMinimumWidth(340)
        browse = QPushButton("Choose…")
        browse.clicked.connect(self._browse)
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.file, 1)
        row.addWidget(browse)
        form = QFormLayout()
        form.addRow("Label", self.label)
        form.addRow("Language", self.language)
        form.addRow("File", place)
        self.note = Note()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.add = self.buttons.addButton("Append", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.note)
        column.addWidget(self.buttons)

    def _browse(self) -> None:
        suffix = LANGUAGE_SUFFIXES.get(self.language.currentData(), "txt")
        kept = QFileDialog.Option.DontConfirmOverwrite
        start = self.file.text() or str((self._session.folder or Path.home()) / f"formulas.{suffix}")
        path, _ = QFileDialog.getSaveFileName(self, "Append to", start, options=kept)
        if path:
            self.file.setText(path)

    def accept(self) -> None:
        """Write the formulas; errors are shown in the dialog."""
        path, language = self.file.text().strip(), str(self.language.currentData())
        if not path:
            self.note.show_text("Enter a file name.", "error")
            self.file.setFocus()
            return
        try:
            append_to_file(path, self._written(language, self.label.text().strip()))
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self._settings.remember(APPEND_FILE_KEY, path)
        self._settings.remember(APPEND_LANGUAGE_KEY, language)
        self._session.message.emit("done", f"Appended to {path}")
        super().accept()


def append_formulas(
    parent: QWidget, format_formulas: Written, default_label: str, session: Session, settings: Settings
) -> AppendDialog:
    """Open the dialog that appends formulas to a file."""
    dialog = AppendDialog(parent, format_formulas, default_label, session, settings)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
