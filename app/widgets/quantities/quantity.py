"""Editor for one number: a text field that accepts units and formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from app.plain_text import escape_tip
from app.widgets.label import fitting_number_text, severity_color
from app.widgets.plain_keys import TextFieldKeyFilter, return_focus_to_scene
from app.widgets.quantities.quantity_text import (
    PLAIN,
    Measure,
    SIUnits,
    Units,
    append_unit,
    default_step,
    evaluate_value,
    format_number,
    format_quantity,
    read,
)
from core.errors import KinetostatError
from core.model.fields import Value

MARGIN = 5
"""Distance between the frame of a field and its text, pixels."""
_NOTHING: Mapping[str, float] = {}


class QuantityEdit(QLineEdit):
    """Field for a number in the preferred unit, or for a formula. `commit(value)` is called with a float in SI, the
    text of a formula, or None (an emptied optional field); it returns the reason if the value is refused.

    Signals: `explained(words, severity)` — text shown next to the field (a reason, or a formula's value).
    """

    explained = Signal(str, str)

    def __init__(
        self,
        measure: Measure = PLAIN,
        settings: Units | None = None,
        commit: Callable[[Value | None, object], str] | None = None,
        *,
        optional: bool = False,
        fold: bool = False,
        show_unit: bool = True,
        digits: int = 8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings: Units = settings or SIUnits()
        self.measure, self.optional, self.fold = measure, optional, fold
        self.show_unit, self.digits = show_unit, digits
        self.commit = commit or (lambda _value, _gesture: "")
        self.value: Value | None = None if optional else 0.0
        self.values: Mapping[str, float] = _NOTHING
        self.problem = ""
        self.add_actions: Callable[[QMenu], None] | None = None
        self._gesture: object = object()
        self._clicked_into = False
        self.setMinimumWidth(30)
        self.setPlaceholderText("none" if optional else "")
        TextFieldKeyFilter(self, lambda: self.isModified() or bool(self.problem))
        self.textEdited.connect(self._on_typed)
        self.returnPressed.connect(self.commit_text)

    # --------------------------------------------------------------------------- showing

    def show_value(self, value: Value | None, values: Mapping[str, float] | None = None) -> None:
        """Show the value of a field; formulas are evaluated with `values`. Text being typed or refused stays until the
        value itself changes."""
        changed = value != self.value
        self.value = value
        self.values = self.values if values is None else values
        if (self.isModified() or self.problem) and not changed:
            return
        self._set_problem("")
        self._update_text()

    def discard_text(self) -> None:
        """Discard typed or refused text."""
        self.setModified(False)
        self._set_problem("")
        self._update_text()

    def refresh_text(self) -> None:
        """Show the value again after a change of units."""
        if not (self.isModified() or self.problem):
            self._update_text()

    def _update_text(self) -> None:
        text = self.format_value(self.value)
        if text != self.text():
            cursor = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(cursor, len(text)) if self.hasFocus() else 0)
        self.setModified(False)
        self._update_explanation()

    def format_value(self, value: Value | None) -> str:
        """Return the text that shows a value."""
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if self.hasFocus():
            return self._format_number(value, 12)
        room = self.width() - 2 * MARGIN
        return fitting_number_text(
            lambda digits: self._format_number(value, digits), self.digits, room, self.fontMetrics()
        )

    def _format_number(self, value: float, digits: int) -> str:
        text = format_number(value, self.measure, self.settings, digits)
        return append_unit(text, self.measure, self.settings) if self.show_unit else text

    def _update_explanation(self) -> None:
        """Show the value of a formula, and put the number with all digits into the tool tip."""
        worth = evaluate_value(self.value, self.values)
        text = "" if worth is None else format_quantity(worth, self.measure, self.settings)
        if isinstance(self.value, str):
            self.explained.emit(f"= {text}" if text else "", "")
            self.setToolTip(escape_tip(f"{self.value} = {text}"))
        else:
            self.explained.emit("", "")
            self.setToolTip(
                escape_tip("" if worth is None else format_quantity(worth, self.measure, self.settings, 15))
            )

    # --------------------------------------------------------------------------- typing

    def _on_typed(self, text: str) -> None:
        try:
            value = self._parse_text(text)
        except KinetostatError as error:
            if self.problem:  # the person is correcting a refused text: keep the reason up to date
                self._set_problem(_error_sentence(error))
            return
        self._set_problem("")
        if isinstance(value, str):
            worth = evaluate_value(value, self.values)
            self.explained.emit(f"= {format_quantity(worth or 0.0, self.measure, self.settings)}", "")

    def _parse_text(self, text: str) -> Value | None:
        if self.optional and not text.strip():
            return None
        return read(text, self.measure, self.settings, self.values, fold=self.fold)

    def commit_text(self) -> None:
        """Commit the typed text, or show the reason why it is refused."""
        if self.isModified() or self.problem:
            self._gesture = object()
            self._try_commit(self.text())

    def _try_commit(self, text: str) -> None:
        try:
            value = self._parse_text(text)
        except KinetostatError as error:
            self._set_problem(_error_sentence(error))
            return
        if value == self.value:
            self._set_problem("")
            self._update_text()
            return
        self.setModified(False)
        self.problem = ""
        problem = self.commit(value, self._gesture)
        if problem:
            self.setText(text)
            self.setModified(True)
            self._set_problem(problem)
        else:
            self.value = value
            self._set_problem("")
            self._update_text()

    def _set_problem(self, problem: str) -> None:
        self.problem = problem
        self.explained.emit(problem, "error" if problem else "")
        self._update_color()

    def _update_color(self) -> None:
        palette = QPalette()  # the parent's
        if self.problem:
            palette.setColor(QPalette.ColorRole.Text, severity_color("error", QGuiApplication.palette()))
        self.setPalette(palette)

    # --------------------------------------------------------------------------- stepping

    def begin_gesture(self) -> None:
        """Start a new undo step for the following changes."""
        self._gesture = object()

    def step_value(self, steps: float) -> None:
        """Change a plain number by the given number of steps; a continuous turn of the wheel or repeat of a key is one
        undo step."""
        if isinstance(self.value, str) or self.isReadOnly() or self.problem:
            return
        if self.isModified():
            self.commit_text()
        value = self.value or 0.0
        size = default_step(value, self.measure, self.settings)
        factor = self.measure.display_unit(self.settings).factor
        moved = round((value + steps * size) / factor, 12) * factor
        if not self.commit(moved, self._gesture):
            self.value = moved
            self._update_text()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        size = 10.0 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1.0
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            size = 0.1
        match event.key():
            case Qt.Key.Key_Up:
                self.step_value(size)
            case Qt.Key.Key_Down:
                self.step_value(-size)
            case Qt.Key.Key_Escape if self.isModified() or self.problem:
                self.discard_text()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                super().keyPressEvent(event)
                if not self.problem:
                    QTimer.singleShot(0, self, self._return_focus)
            case _:
                super().keyPressEvent(event)

    def _return_focus(self) -> None:
        """Return the focus to the scene after a number is finished, unless the focus has moved elsewhere."""
        if self.hasFocus():
            return_focus_to_scene(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus() and event.angleDelta().y():
            self.step_value(math.copysign(1.0, event.angleDelta().y()))
            event.accept()
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.build_context_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def build_context_menu(self) -> QMenu:
        """Return the context menu: cut, copy, paste … and actions on the number."""
        menu = self.createStandardContextMenu()
        if not self.isReadOnly():
            menu.addSeparator()
            if isinstance(self.value, str):
                worth = evaluate_value(self.value, self.values)
                if worth is not None:
                    text = format_quantity(worth, self.measure, self.settings)
                    menu.addAction(f"Replace the formula with {text}", lambda: self.commit(worth, object()))
            if self.add_actions is not None:
                self.add_actions(menu)
        return menu

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._gesture = object()
        self._clicked_into = event.reason() == Qt.FocusReason.MouseFocusReason
        if not (self.isModified() or self.problem):
            selected = self.hasSelectedText()
            self._update_text()
            if selected or event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
                self.selectAll()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select the whole number on the first click, so that typing replaces it; the next click sets the cursor."""
        super().mouseReleaseEvent(event)
        if self._clicked_into and not (self.isModified() or self.problem or self.hasSelectedText()):
            self.selectAll()
        self._clicked_into = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            if self.isModified():
                self.commit_text()
            self.refresh_text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.hasFocus():
            self.refresh_text()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._update_color()


def _error_sentence(error: KinetostatError) -> str:
    return f"{error.what} {error.remedy}".strip()
