"""One row of the Sliders panel: name, slider, and spin box in the display unit; the value itself is in SI."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, QRect, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QMouseEvent, QValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDoubleSpinBox,
    QGridLayout,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)

from app.document.revision import ElementRef
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import Label
from app.widgets.plain_keys import SpinBoxKeyFilter, TextFieldKeyFilter, WheelWhenFocused
from app.widgets.quantities.quantity_text import (
    Measure,
    SIUnits,
    Units,
    default_step,
    evaluate_value,
    format_quantity,
    read,
)
from core.errors import KinetostatError

_NOTHING: Mapping[str, float] = {}


class QuantitySpinBox(WheelWhenFocused, QDoubleSpinBox):
    """Spin box for a number in SI that is shown and typed in the display unit; `value()`, `setRange` and
    `setSingleStep` use SI.

    `valueEdited(float)`: the person changed it, also while stepping; `committed()`: the change is finished.
    Programmatic `show_value` emits neither.
    """

    valueEdited = Signal(float)
    committed = Signal()
    refused = Signal(str)
    """Emitted with the reason why typed text is not accepted; the value stays unchanged."""

    _made = False  # while it is set up Qt asks for the text of every bound
    PAUSE_MS = 500  # after which a run of steps is finished

    def __init__(
        self, dimension: str | Measure = "none", settings: Units | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.measure = Measure(dimension) if isinstance(dimension, str) else dimension
        self.settings: Units = settings or SIUnits()
        self.values: Mapping[str, float] = _NOTHING
        self.setDecimals(15)
        self.setKeyboardTracking(False)
        self.setRange(-1e12, 1e12)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setStepType(QAbstractSpinBox.StepType.DefaultStepType)
        self.setSingleStep(default_step(0.0, self.measure, self.settings))
        self._shown = 0.0
        self._made = True
        TextFieldKeyFilter(self, self.lineEdit().isModified)
        SpinBoxKeyFilter(self)
        self.lineEdit().setText(self.textFromValue(0.0))
        self._pause = QTimer(self, singleShot=True, interval=self.PAUSE_MS)
        self._pause.timeout.connect(self.committed)
        self.valueChanged.connect(self._on_value_changed)
        self.editingFinished.connect(self._on_editing_finished)

    def show_value(self, value: float) -> None:
        """Show a value (SI) without emitting a change."""
        self._shown = value
        blocker = QSignalBlocker(self)  # QDoubleSpinBox has no signal for edits alone
        self.setValue(value)
        blocker.unblock()
        self._shown = self.value()

    def refresh(self) -> None:
        """Show the number again after a change of units."""
        self.setSingleStep(default_step(0.0, self.measure, self.settings))
        if not (self.hasFocus() and self.lineEdit().isModified()):
            self.lineEdit().setText(self.textFromValue(self.value()))
            self.lineEdit().setModified(False)

    def textFromValue(self, value: float) -> str:
        return format_quantity(value, self.measure, self.settings, 6) if self._made else ""

    def valueFromText(self, text: str) -> float:
        try:
            result = read(text, self.measure, self.settings, self.values, fold=True)
            return float(result) if not isinstance(result, str) else (evaluate_value(result, self.values) or 0.0)
        except KinetostatError:
            return self.value()

    def validate(self, text: str, position: int) -> object:
        try:
            read(text, self.measure, self.settings, self.values, fold=True)
        except KinetostatError:
            return QValidator.State.Intermediate, text, position
        return QValidator.State.Acceptable, text, position

    def fixup(self, text: str) -> str:
        try:
            read(text, self.measure, self.settings, self.values, fold=True)
        except KinetostatError as error:
            self.refused.emit(f"{error.what} {error.remedy}".strip())
        return self.textFromValue(self.value())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        line = self.lineEdit()
        if event.key() == Qt.Key.Key_Escape and line.isModified():
            line.setText(self.textFromValue(self.value()))
            line.setModified(False)
        else:
            super().keyPressEvent(event)

    def stepBy(self, steps: int) -> None:
        super().stepBy(steps)
        self._pause.start()

    def _on_value_changed(self, value: float) -> None:
        if value != self._shown:
            self._shown = value
            self.valueEdited.emit(value)

    def _on_editing_finished(self) -> None:
        self._pause.stop()
        self.committed.emit()


STEPS = 4000
"""Number of positions of a slider over its range."""
WIDEST = 116
"""Largest width at which a name is shown in full, pixels."""
DRIVEN = " · driven"
PAUSE = 500
"""Time after the last key press or wheel step before the change is committed, ms."""


class SliderQuantity(NamedTuple):
    """Quantity shown in a row. lower, upper: SI range of the slider; moved: what moves it if not the user ("follows
    grip", "is driven by motor"), or ""; lower_bound, upper_bound: hard limits."""

    name: str
    title: str
    dimension: str
    lower: float
    upper: float
    ref: ElementRef
    moved: str = ""
    lower_bound: float | None = None
    upper_bound: float | None = None


LONGEST = "-0.0444444 m"
"""Longest text for which the spin box has room."""
FINEST = 2e-7
"""Step (rad or m) to which a joint's value is rounded for display, a round number in the unit; smaller digits are
rounding errors of loop closure or of a run."""
BUTTONS = 30
"""Width of the spin box's step buttons and frame, pixels."""


if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Widget
else:
    _Widget = object  # a Qt object has one base of Qt; what stands beside it is plain Python


class _HoverReporter(_Widget):
    """Widget that reports pointer events to its row. (A Python event filter would be called for every event of every
    row.)"""

    row: SliderRow

    def enterEvent(self, event: QEnterEvent) -> None:
        """Highlight the row's element in the scene."""
        self.row.set_highlighted(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the highlight."""
        self.row.set_highlighted(False)
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit the pending change."""
        self.row.commit_pending()
        super().focusOutEvent(event)


class _NameLabel(_HoverReporter, Label):
    """Name of the quantity; a click selects its element."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the row's element."""
        self.row.select()
        super().mousePressEvent(event)


class _ValueBox(_HoverReporter, QuantitySpinBox):
    """Spin box of the value."""


class _Slider(_HoverReporter, WheelWhenFocused, QSlider):
    """Slider that jumps to the position clicked and can be dragged from there; without the keyboard focus it leaves the
    wheel to the surrounding list."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the knob to the pointer and start dragging."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)

        def part(which: QStyle.SubControl) -> QRect:
            return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, which, self)

        knob, groove = part(QStyle.SubControl.SC_SliderHandle), part(QStyle.SubControl.SC_SliderGroove)
        if event.button() == Qt.MouseButton.LeftButton and not knob.contains(event.position().toPoint()):
            x, room = round(event.position().x()) - groove.x() - knob.width() // 2, groove.width() - knob.width()
            self.setSliderPosition(
                QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), x, room, option.upsideDown)
            )
        super().mousePressEvent(event)


class SliderRow(QObject):
    """Shows one quantity; `preview(value)` is called while it moves, and the session commits once the movement has
    ended."""

    def __init__(
        self, quantity: SliderQuantity, session: Session, settings: Settings, preview: Callable[[float], object]
    ) -> None:
        super().__init__()
        self.quantity = quantity
        self._session, self._settings, self.preview = session, settings, preview
        self._range = quantity.lower, quantity.upper
        self._position = -1
        self._value = math.nan
        self.label = _NameLabel()
        self.label.setText(self._displayed_name())
        self.label.setAccessibleName(quantity.name)
        self.label.setCursor(Qt.CursorShape.PointingHandCursor)
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, STEPS)
        self.slider.setSingleStep(STEPS // 200)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.slider.setAccessibleName(quantity.name)
        self.box = _ValueBox(quantity.dimension, settings)
        self.box.setAccessibleName(quantity.name)
        self.box.setFixedWidth(self.box.fontMetrics().horizontalAdvance(LONGEST) + BUTTONS)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._connect()
        self._update_tool_tips(settings)

    def _connect(self) -> None:
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.slider.sliderPressed.connect(self._pause.stop)
        self.slider.sliderReleased.connect(self._commit)
        self.box.valueEdited.connect(self._on_typed)
        self.box.committed.connect(self._commit)
        self.box.refused.connect(self._show_refusal)
        self._pause.timeout.connect(self._commit)
        for widget in (self.label, self.slider, self.box):
            widget.row = self
        for widget in (self.slider, self.box):
            widget.setEnabled(not self.quantity.moved)

    def _show_refusal(self, problem: str) -> None:
        self._session.message.emit(
            "warning", f"{self.quantity.name} stays at {self.box.textFromValue(self.box.value())}: {problem}"
        )

    def _displayed_name(self) -> str:
        """Return the name, shortened to fit, with a mark if a driver moves the quantity."""
        metrics, mark = self.label.fontMetrics(), DRIVEN if self.quantity.moved.startswith("is driven") else ""
        room = WIDEST - metrics.horizontalAdvance(mark)
        return metrics.elidedText(self.quantity.title, Qt.TextElideMode.ElideMiddle, room) + mark

    def _update_tool_tips(self, settings: Settings) -> None:
        q = self.quantity
        bounds = [settings.format_value(x, q.dimension) for x in (q.lower_bound, q.upper_bound) if x is not None]
        text = f"{q.name}: {' … '.join(bounds)}" if len(bounds) == 2 else f"{q.name}: no limits"
        self.label.setToolTip(escape_tip(f"{q.name} {q.moved}" if q.moved else text))
        self.slider.setToolTip(self.label.toolTip())

    def add_to_grid(self, grid: QGridLayout, row: int) -> None:
        """Put the widgets into a row of a grid."""
        grid.addWidget(self.label, row, 0)
        grid.addWidget(self.slider, row, 1)
        grid.addWidget(self.box, row, 2)

    def show_value(self, value: float) -> None:
        """Show a value (SI)."""
        if value == self._value:
            return
        self._value = value
        low, high = self._range if self.is_moving else (self.quantity.lower, self.quantity.upper)
        low, high = self._range = min(low, value), max(high, value)
        share = (value - low) / (high - low) if high > low else 0.0
        self._position = round(share * STEPS)
        self.slider.setValue(self._position)
        self.box.show_value(self._displayed_value(value))

    def _displayed_value(self, value: float) -> float:
        """Return the value as displayed; a joint's value is rounded to `FINEST`."""
        if self.quantity.ref.collection == "parameters":
            return value
        factor = self._settings.display(self.quantity.dimension).factor
        return round(value / factor, math.ceil(math.log10(factor / FINEST))) * factor

    def refresh(self, settings: Settings) -> None:
        """Update the displayed value after a change of units."""
        self._update_tool_tips(settings)
        if math.isfinite(self._value):
            self.box.show_value(self._displayed_value(self._value))
        self.box.refresh()

    @property
    def is_moving(self) -> bool:
        """True between the first movement and the commit."""
        return self.slider.isSliderDown() or self._pause.isActive()

    def _on_slider_moved(self, position: int) -> None:
        if position == self._position:
            return
        self._position = position
        low, high = self._range
        self.preview(low + (high - low) * position / STEPS)
        if not self.slider.isSliderDown():
            self._pause.start()

    def _on_typed(self, value: float) -> None:
        q = self.quantity
        low = -math.inf if q.lower_bound is None else q.lower_bound
        high = math.inf if q.upper_bound is None else q.upper_bound
        self._value = math.nan
        self.preview(min(max(value, low), high))

    def _commit(self) -> None:
        self._pause.stop()
        if self._session.has_preview:
            self._session.commit(f"Move {self.quantity.name}")

    def set_highlighted(self, on: bool) -> None:
        """Highlight the row's element in the scene, or remove the highlight."""
        self._session.set_hovered_element(self.quantity.ref if on else None)

    def select(self) -> None:
        """Select the row's element."""
        self._session.select(self.quantity.ref)

    def commit_pending(self) -> None:
        """Commit a pending change made by keys or wheel."""
        if self._pause.isActive():
            self._commit()
