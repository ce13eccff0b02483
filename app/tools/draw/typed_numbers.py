"""Numbers typed while drawing: their input field at the pointer or at a dimension, and their parsing (length, length <
angle, coordinates) in the user's units; formulas are kept as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout

from app.widgets.label import Label
from app.widgets.quantities.quantity_text import Measure, Units, evaluate_value, format_quantity, read
from core.design.linkage import Point
from core.errors import ExpressionError, KinetostatError
from core.later import dataclass
from core.model.fields import Value

if TYPE_CHECKING:
    from app.viewport.stage import Stage


LENGTH, ANGLE = Measure("length"), Measure("angle")


@dataclass(frozen=True)
class TypedNumbers:
    """Numbers typed while drawing; None means: taken from the pointer. angle : from the first axis of the plane; bend :
    from the previous link"""

    length: Value | None = None
    angle: Value | None = None
    bend: Value | None = None
    point: Point | None = None


NOTHING = TypedNumbers()


def parse_typed_numbers(
    text: str, units: Units, values: Mapping[str, float], *, is_first_pin: bool = False
) -> TypedNumbers:
    """Parse a text such as "120", "120 < 30", "< 30", "120 << 30" (angle from the previous link), "0.1, 0.2". Raises
    ExpressionError with a message for the user.

    is_first_pin : the text is the position of the first pin of a link, which has coordinates and no length
    """
    stripped = text.strip().removeprefix("=").strip()
    if not stripped:
        return NOTHING
    decimal = not is_first_pin and re.fullmatch(r"[-+]?\d+,\d+", stripped)  # 0,5 is 0.5, as everywhere
    parts = [stripped] if decimal else _split_outside_brackets(stripped, ",")
    if len(parts) == 2:
        u, v = (_parse_number_in_si(part, LENGTH, units, values) for part in parts)
        return TypedNumbers(point=(u, v))
    if len(parts) > 2:
        raise ExpressionError(
            f"A point of the plane has two coordinates, not {len(parts)}.", remedy="Type two numbers: u, v."
        )
    if is_first_pin:
        raise ExpressionError(
            "The first pin needs two coordinates.", remedy="Type u, v, such as 0, 0, or click the position."
        )
    head, mark, tail = stripped.partition("<")
    length = read(head, LENGTH, units, values) if head.strip() else None
    if not mark:
        return TypedNumbers(length=length)
    bent = tail.startswith("<")
    tail = tail.removeprefix("<").strip()
    if not tail:
        return TypedNumbers(length=length)
    angle = read(tail, ANGLE, units, values)
    return TypedNumbers(length=length, bend=angle) if bent else TypedNumbers(length=length, angle=angle)


def describe_typed_numbers(typed: TypedNumbers, units: Units, values: Mapping[str, float]) -> str:
    """Describe the typed numbers with their units; "" if there are none."""
    if typed.point is not None:
        return "= " + ", ".join(format_quantity(x, LENGTH, units) for x in typed.point)
    parts = []
    if typed.length is not None:
        parts.append(format_quantity(evaluate_value(typed.length, values) or 0.0, LENGTH, units))
    angle = typed.angle if typed.angle is not None else typed.bend
    if angle is not None:
        parts.append(format_quantity(evaluate_value(angle, values) or 0.0, ANGLE, units))
    return f"= {' < '.join(parts)}" if parts else ""


def parse_gear_ratio(text: str) -> float | tuple[float, float]:
    """Parse the ratio of a gear pair: "z1 : z2" as two numbers of teeth, otherwise one number."""
    try:
        if ":" in text:
            first, second = (float(part) for part in text.split(":"))
            return first, second
        return float(text.replace("−", "-"))
    except ValueError:
        raise ExpressionError(
            f"'{text}' is not a gear ratio.", remedy="Type z1 : z2, or a number (negative for external gears)."
        ) from None


def _parse_number_in_si(text: str, measure: Measure, units: Units, values: Mapping[str, float]) -> float:
    found = read(text.strip().removeprefix("=").strip(), measure, units, values)
    worth = evaluate_value(found, values)
    assert worth is not None
    return worth


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split a text at those separators that are not inside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


WIDTH, WIDEST = 150, 300
"""Pixels of the line, and of words below it before they are broken."""
ASIDE, MARGIN = 18, 4
"""Pixels between the pointer and the field, and between this and the edge of the view."""


class NumberInputField(QFrame):
    """Input field with a title. The text is parsed as it is typed; Enter accepts it, Esc closes the field."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view.widget)
        self._view = view
        self.setObjectName("message")
        self.title, self.problem, self.worth = Label(), Label(), Label()
        self.worth.setObjectName("muted")
        self.line = QLineEdit()
        self.line.setFixedWidth(WIDTH)
        self.problem.setObjectName("problem")
        row = QHBoxLayout()
        for widget in (self.title, self.line, self.worth):
            row.addWidget(widget)
        row.addStretch(1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 4, 8, 4)
        rows.addLayout(row)
        rows.addWidget(self.problem)
        self.problem.hide()
        self._accept: Callable[[str], object] = lambda _text: None
        self._read: Callable[[str], str] | None = None
        self._left: Callable[[], object] | None = None
        self.line.textEdited.connect(self._on_text_edited)
        self.line.installEventFilter(self)
        self.hide()

    def open_field(
        self,
        title: str,
        text: str,
        position: tuple[float, float],
        on_accept: Callable[[str], object],
        describe: Callable[[str], str] | None = None,
        on_cancel: Callable[[], object] | None = None,
    ) -> None:
        """Open the field next to a position (pixels of the widget). on_accept : called with the text on Enter; describe
        : called while typing, returns the value as text; on_cancel : called when the field is closed without a value.
        Errors raised by these functions are shown in the field."""
        self._accept, self._read, self._left = on_accept, describe, on_cancel
        self.title.setText(title)
        self._clear_error()
        self.worth.setText("")
        self.line.setText(text)
        self._move_into_view(round(position[0]) + ASIDE, round(position[1]) + ASIDE)
        self.show()
        self.raise_()
        self.line.setFocus()
        if len(text) > 1:
            self.line.selectAll()
        elif describe is not None:
            self._on_text_edited(text)

    def report_error(self, error: KinetostatError) -> None:
        """Show an error next to the typed text, or as a message if the field is closed."""
        if self.isVisible():
            self._show_error(error)
        else:
            self._view.session.message.emit("error", str(error))

    def close_field(self) -> None:
        """Close the field and return the keyboard to the viewport."""
        if self.isVisible():
            self.hide()
            self._view.widget.setFocus()

    def _on_text_edited(self, text: str) -> None:
        read = self._read
        if read is not None:
            self.worth.setText("")
            self._call_with_text(lambda typed: self.worth.setText(read(typed)), text)

    def _call_with_text(self, function: Callable[[str], object], text: str) -> bool:
        try:
            function(text)
        except KinetostatError as error:
            self._show_error(error)
            return False
        self._clear_error()
        return True

    def _clear_error(self) -> None:
        """Clear the error display."""
        self.problem.setText("")
        self.problem.hide()
        self._move_into_view(self.x(), self.y())

    def _show_error(self, error: KinetostatError) -> None:
        words = f"{error.what} {error.remedy}".strip()
        widest = min(WIDEST, self._view.widget.width() - 4 * MARGIN)
        self.problem.setWordWrap(True)
        self.problem.setFixedWidth(min(widest, self.problem.fontMetrics().horizontalAdvance(words) + 4))
        self.problem.setText(words)
        self.problem.show()
        self._move_into_view(self.x(), self.y())

    def _move_into_view(self, x: int, y: int) -> None:
        """Move the field as near to a position as possible without leaving the view."""
        host = self._view.widget
        layout = self.layout()
        assert layout is not None
        layout.activate()  # otherwise the row keeps the size of the previous message
        self.adjustSize()
        self.move(
            max(MARGIN, min(x, host.width() - self.width() - MARGIN)),
            max(MARGIN, min(y, host.height() - self.height() - MARGIN)),
        )

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Handle Enter, Esc and Tab in the field."""
        if not isinstance(event, QKeyEvent) or event.type() not in (
            QEvent.Type.KeyPress,
            QEvent.Type.ShortcutOverride,
        ):
            return False
        key = event.key()
        if key not in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Tab):
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            self._handle_key(Qt.Key(key))
        return True

    def _handle_key(self, key: Qt.Key) -> None:
        if key == Qt.Key.Key_Tab:
            self.line.insert(" < ")
            self._on_text_edited(self.line.text())
        elif key == Qt.Key.Key_Escape:
            self.close_field()
            if self._left is not None:
                self._left()
        elif self._call_with_text(self._accept, self.line.text()):
            self.close_field()
