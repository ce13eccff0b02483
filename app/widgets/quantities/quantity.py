"""Editor of one number: a text field that accepts units and formulas."""

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

from app.plain_text import as_tip
from app.widgets.label import fitting_number_text, severity_color
from app.widgets.plain_keys import FieldKeys, return_focus_to_scene
from app.widgets.quantities.quantity_text import (
    PLAIN,
    Measure,
    SIUnits,
    Units,
    number,
    quantity,
    read,
    step_of,
    value_in,
    with_unit,
)
from core.errors import KinetostatError
from core.model.fields import Value

MARGIN = 5
"""Distance between the frame of a field and its text, pixels."""
_NOTHING: Mapping[str, float] = {}


class QuantityEdit(QLineEdit):
    """A number in the preferred unit, or a formula. `commit(value)` is called with a float in SI, the text of a
    formula, or None (an emptied optional field); it returns the reason when the value is refused.

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
        FieldKeys(self, lambda: self.isModified() or bool(self.problem))
        self.textEdited.connect(self._typed)
        self.returnPressed.connect(self.finish)

    # --------------------------------------------------------------------------- showing

    def show_value(self, value: Value | None, values: Mapping[str, float] | None = None) -> None:
        """Show a field's value; formulas are evaluated over `values`. Text being typed or refused stays until the value
        itself changes."""
        changed = value != self.value
        self.value = value
        self.values = self.values if values is None else values
        if (self.isModified() or self.problem) and not changed:
            return
        self._say("")
        self._write()

    def forget(self) -> None:
        """Discard typed or refused text."""
        self.setModified(False)
        self._say("")
        self._write()

    def refresh(self) -> None:
        """Show the value again after a change of units."""
        if not (self.isModified() or self.problem):
            self._write()

    def _write(self) -> None:
        text = self.text_of(self.value)
        if text != self.text():
            cursor = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(cursor, len(text)) if self.hasFocus() else 0)
        self.setModified(False)
        self._explain()

    def text_of(self, value: Value | None) -> str:
        """Return the text in which a value is shown."""
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if self.hasFocus():
            return self._digits(value, 12)
        room = self.width() - 2 * MARGIN
        return fitting_number_text(lambda digits: self._digits(value, digits), self.digits, room, self.fontMetrics())

    def _digits(self, value: float, digits: int) -> str:
        text = number(value, self.measure, self.settings, digits)
        return with_unit(text, self.measure, self.settings) if self.show_unit else text

    def _explain(self) -> None:
        """Show the value of a formula, and put the full number in the tool tip."""
        worth = value_in(self.value, self.values)
        text = "" if worth is None else quantity(worth, self.measure, self.settings)
        if isinstance(self.value, str):
            self.explained.emit(f"= {text}" if text else "", "")
            self.setToolTip(as_tip(f"{self.value} = {text}"))
        else:
            self.explained.emit("", "")
            self.setToolTip(as_tip("" if worth is None else quantity(worth, self.measure, self.settings, 15)))

    # --------------------------------------------------------------------------- typing

    def _typed(self, text: str) -> None:
        try:
            value = self._read(text)
        except KinetostatError as error:
            if self.problem:  # the person is correcting a refused text: keep the reason up to date
                self._say(_sentence(error))
            return
        self._say("")
        if isinstance(value, str):
            worth = value_in(value, self.values)
            self.explained.emit(f"= {quantity(worth or 0.0, self.measure, self.settings)}", "")

    def _read(self, text: str) -> Value | None:
        if self.optional and not text.strip():
            return None
        return read(text, self.measure, self.settings, self.values, fold=self.fold)

    def finish(self) -> None:
        """Commit the typed text, or show why it is refused."""
        if self.isModified() or self.problem:
            self._gesture = object()
            self._try_text(self.text())

    def _try_text(self, text: str) -> None:
        try:
            value = self._read(text)
        except KinetostatError as error:
            self._say(_sentence(error))
            return
        if value == self.value:
            self._say("")
            self._write()
            return
        self.setModified(False)
        self.problem = ""
        problem = self.commit(value, self._gesture)
        if problem:
            self.setText(text)
            self.setModified(True)
            self._say(problem)
        else:
            self.value = value
            self._say("")
            self._write()

    def _say(self, problem: str) -> None:
        self.problem = problem
        self.explained.emit(problem, "error" if problem else "")
        self._paint()

    def _paint(self) -> None:
        palette = QPalette()  # the parent's
        if self.problem:
            palette.setColor(QPalette.ColorRole.Text, severity_color("error", QGuiApplication.palette()))
        self.setPalette(palette)

    # --------------------------------------------------------------------------- stepping

    def begin_gesture(self) -> None:
        """Start a new undo step for the following changes."""
        self._gesture = object()

    def step(self, steps: float) -> None:
        """Change a plain number by some steps; one turn of the wheel or run of keys is one undo step."""
        if isinstance(self.value, str) or self.isReadOnly() or self.problem:
            return
        if self.isModified():
            self.finish()
        value = self.value or 0.0
        size = step_of(value, self.measure, self.settings)
        factor = self.measure.display(self.settings).factor
        moved = round((value + steps * size) / factor, 12) * factor
        if not self.commit(moved, self._gesture):
            self.value = moved
            self._write()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        size = 10.0 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1.0
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            size = 0.1
        match event.key():
            case Qt.Key.Key_Up:
                self.step(size)
            case Qt.Key.Key_Down:
                self.step(-size)
            case Qt.Key.Key_Escape if self.isModified() or self.problem:
                self.forget()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                super().keyPressEvent(event)
                if not self.problem:
                    QTimer.singleShot(0, self, self._leave)
            case _:
                super().keyPressEvent(event)

    def _leave(self) -> None:
        """Return the focus to the scene after a number is finished, unless it has gone elsewhere meanwhile."""
        if self.hasFocus():
            return_focus_to_scene(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus() and event.angleDelta().y():
            self.step(math.copysign(1.0, event.angleDelta().y()))
            event.accept()
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def menu(self) -> QMenu:
        """Return the context menu: cut, copy, paste … and actions on the number."""
        menu = self.createStandardContextMenu()
        if not self.isReadOnly():
            menu.addSeparator()
            if isinstance(self.value, str):
                worth = value_in(self.value, self.values)
                if worth is not None:
                    text = quantity(worth, self.measure, self.settings)
                    menu.addAction(f"Replace the formula by {text}", lambda: self.commit(worth, object()))
            if self.add_actions is not None:
                self.add_actions(menu)
        return menu

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._gesture = object()
        self._clicked_into = event.reason() == Qt.FocusReason.MouseFocusReason
        if not (self.isModified() or self.problem):
            selected = self.hasSelectedText()
            self._write()
            if selected or event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
                self.selectAll()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select a number that was clicked for the first time, so that typing replaces it; the next click sets the
        cursor."""
        super().mouseReleaseEvent(event)
        if self._clicked_into and not (self.isModified() or self.problem or self.hasSelectedText()):
            self.selectAll()
        self._clicked_into = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            if self.isModified():
                self.finish()
            self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.hasFocus():
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._paint()


def _sentence(error: KinetostatError) -> str:
    return f"{error.what} {error.remedy}".strip()
