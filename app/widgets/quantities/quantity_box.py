"""Editor of one number next to a slider: a spin box in the preferred unit."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QWidget

from app.widgets.passing_wheel import PassingWheel
from app.widgets.plain_keys import FieldEnds, FieldKeys
from app.widgets.quantities.quantity_text import Measure, SIUnits, Units, quantity, read, step_of, value_in
from core.errors import KinetostatError

_NOTHING: Mapping[str, float] = {}


class QuantitySpinBox(PassingWheel, QDoubleSpinBox):
    """Spin box for a number in SI, shown and typed in the preferred unit. `value()`, `setRange` and `setSingleStep` are
    SI.

    `valueEdited(float)`: the person changed it, also while stepping; `committed()`: the change is finished.
    Programmatic `show_value` emits neither.
    """

    valueEdited = Signal(float)
    committed = Signal()
    refused = Signal(str)
    """Emitted with the reason why typed text is refused; the value stays."""

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
        self.setSingleStep(step_of(0.0, self.measure, self.settings))
        self._shown = 0.0
        self._made = True
        FieldKeys(self, self.lineEdit().isModified)
        FieldEnds(self)
        self.lineEdit().setText(self.textFromValue(0.0))
        self._pause = QTimer(self, singleShot=True, interval=self.PAUSE_MS)
        self._pause.timeout.connect(self.committed)
        self.valueChanged.connect(self._on_value_changed)
        self.editingFinished.connect(self._finished)

    def show_value(self, value: float) -> None:
        """Show a value (SI) without reporting it as edited."""
        self._shown = value
        blocker = QSignalBlocker(self)  # QDoubleSpinBox has no signal for edits alone
        self.setValue(value)
        blocker.unblock()
        self._shown = self.value()

    def refresh(self) -> None:
        """Show the number again after a change of units."""
        self.setSingleStep(step_of(0.0, self.measure, self.settings))
        if not (self.hasFocus() and self.lineEdit().isModified()):
            self.lineEdit().setText(self.textFromValue(self.value()))
            self.lineEdit().setModified(False)

    def textFromValue(self, value: float) -> str:
        return quantity(value, self.measure, self.settings, 6) if self._made else ""

    def valueFromText(self, text: str) -> float:
        try:
            result = read(text, self.measure, self.settings, self.values, fold=True)
            return float(result) if not isinstance(result, str) else (value_in(result, self.values) or 0.0)
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

    def _finished(self) -> None:
        self._pause.stop()
        self.committed.emit()
