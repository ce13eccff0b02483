"""Editors of formulas of time and state, with completion of names and immediate checks."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QWidget

from app.plain_text import escape_tip
from app.widgets.fields.field_editor import Commit, Context
from app.widgets.fields.number_editors import NumberEditor, VectorEditor
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import evaluate_value, format_quantity, read
from core.errors import ExpressionError, KinetostatError, find_likely_names
from core.model.fields import Element, Field, ScalarKind, Value, VectorKind
from core.model.formula.expression import FUNCTIONS, names_in_formula, parse
from core.model.model import FormulaNames, signal_names
from core.model.signals import TIME
from core.model.units import SI

WORD = re.compile(r"[^\W\d][\w.\-]*$")
"""Pattern of the name before the cursor."""
ENOUGH = 2
"""Number of typed letters from which names are proposed (Ctrl+Space proposes immediately)."""


class FormulaEdit(QuantityEdit):
    """Field for a number or a formula in the `known` names, with completion of names."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.known: frozenset[str] = frozenset()
        self._words = QStringListModel(self)
        self.completer_list = QCompleter(self._words, self)
        self.completer_list.setWidget(self)
        self.completer_list.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.completer_list.setFilterMode(Qt.MatchFlag.MatchContains)
        self.completer_list.popup().setObjectName("completions")
        self.completer_list.activated.connect(self._insert_completion)
        self.textEdited.connect(lambda _text: self.show_completions())

    def set_known_names(self, known: frozenset[str]) -> None:
        """Set the names that formulas may contain."""
        if known != self.known:
            self.known = known
            self._words.setStringList(sorted(known | set(FUNCTIONS), key=lambda n: (n.count("."), n)))

    # --------------------------------------------------------------------------- reading

    def _parse_text(self, text: str) -> Value | None:
        if self.optional and not text.strip():
            return None
        plain = text.strip().replace("−", "-").replace("·", "*")
        try:
            used = names_in_formula(parse(plain))
        except ExpressionError:
            return read(text, self.measure, self.settings, self.values, fold=self.fold)
        for name in sorted(used - self.known):
            close = find_likely_names(name, sorted(self.known))
            meant = f"Did you mean {', '.join(close)}?" if close else ""
            if self.known <= {*self.values, *TIME}:
                raise ExpressionError(
                    f"'{name}' is neither t nor a parameter.", remedy=meant or "Use t and parameters."
                )
            raise ExpressionError(
                f"The name '{name}' is not defined.", remedy=meant or "Use t, parameters, joints and sensors."
            )
        if used <= self.values.keys():
            return read(text, self.measure, self.settings, self.values, fold=self.fold)
        return plain

    def _on_typed(self, text: str) -> None:
        try:
            value = self._parse_text(text)
        except KinetostatError as error:
            typing = WORD.search(text[: self.cursorPosition()])
            begun = typing is not None and any(name.startswith(typing.group()) for name in self.known | set(FUNCTIONS))
            if not begun and not _is_unfinished_formula(text):
                self.explained.emit(f"{error.what} {error.remedy}".strip(), "error")
            return
        self._set_problem("")
        self._show_formula_value(value)

    def _update_explanation(self) -> None:
        self._show_formula_value(self.value)
        self.setToolTip(escape_tip(self.value if isinstance(self.value, str) else ""))

    def _show_formula_value(self, value: Value | None) -> None:
        worth = evaluate_value(value, self.values)
        if not isinstance(value, str):
            self.explained.emit("", "")
        elif worth is not None:
            self.explained.emit(f"= {format_quantity(worth, self.measure, self.settings)}", "")
        else:
            symbol = self.measure.symbol or SI.get(self.measure.dimension, "")
            self.explained.emit(f"formula, in {symbol}" if symbol else "formula, in SI units", "")

    # --------------------------------------------------------------------------- completing

    def show_completions(self, immediately: bool = False) -> None:
        """Open the list of names that match the word before the cursor."""
        found = WORD.search(self.text()[: self.cursorPosition()])
        word = found.group() if found else ""
        popup = self.completer_list.popup()
        if (len(word) < ENOUGH and not immediately) or word in self.known or word in FUNCTIONS:
            popup.hide()
            return
        self.completer_list.setCompletionPrefix(word)
        if self.completer_list.completionCount() == 0:
            popup.hide()
            return
        room = self.cursorRect()
        room.setWidth(popup.sizeHintForColumn(0) + popup.verticalScrollBar().sizeHint().width() + 12)
        self.completer_list.complete(room)

    def _insert_completion(self, name: str) -> None:
        before, after = self.text()[: self.cursorPosition()], self.text()[self.cursorPosition() :]
        head = WORD.sub("", before)
        tail = "(" if name in FUNCTIONS and not after.startswith("(") else ""
        self.setText(head + name + tail + after)
        self.setCursorPosition(len(head + name + tail))
        self.setModified(True)
        self._on_typed(self.text())

    def event(self, event: QEvent) -> bool:
        tab = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Tab
        if tab and self.completer_list.popup().isVisible():
            self.completer_list.popup().hide()
            self._insert_completion(self.completer_list.currentCompletion())
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        popup = self.completer_list.popup()
        if popup.isVisible():
            chosen = popup.currentIndex().isValid() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if chosen or event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Up, Qt.Key.Key_Down):
                event.ignore()  # the list takes it
                return
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                popup.hide()
        if event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.show_completions(immediately=True)
            return
        super().keyPressEvent(event)


def allowed_formula_names(context: Context, kind: ScalarKind | VectorKind) -> frozenset[str]:
    """Return the names that formulas in a field of this kind may contain."""
    expanded = context.model.expanded
    return FormulaNames(frozenset(expanded.values()), signal_names(expanded)).of(kind)


class FormulaEditor(NumberEditor):
    """Editor for one formula."""

    broad = True

    def create_field(self, kind: ScalarKind) -> QuantityEdit:
        return FormulaEdit(optional=kind.optional, parent=self)

    def show_value(self, value: Value | None, owner: Element, context: Context) -> None:
        assert isinstance(self.edit, FormulaEdit)
        self.edit.set_known_names(allowed_formula_names(context, self.kind))
        super().show_value(value, owner, context)


class FormulaVectorEditor(VectorEditor):
    """Editor for three formulas, each in its own row."""

    PER_ROW = 1

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.names: frozenset[str] = frozenset()

    def create_field(self) -> QuantityEdit:
        edit = FormulaEdit(show_unit=False, parent=self)
        edit.set_known_names(self.names)
        return edit

    def show_value(self, value: object, owner: Element, context: Context) -> None:
        self.names = allowed_formula_names(context, self.kind)
        for edit in self.edits:
            if isinstance(edit, FormulaEdit):
                edit.set_known_names(self.names)
        super().show_value(value, owner, context)  # type: ignore[arg-type]


def _is_unfinished_formula(text: str) -> bool:
    """Return True if the text is a formula that is not complete yet, e.g. one that ends with an operator."""
    return text.rstrip().endswith((*"+-*/(,^<>=!", " and", " or", " not")) or text.count("(") > text.count(")")
