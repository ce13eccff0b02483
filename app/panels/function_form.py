"""The options of one function: a form made from its declaration, remembered from the last use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.panels.option_editor import OptionEditor
from app.panels.option_editors import editor_of
from app.settings import Settings
from app.widgets.note import Note
from core.errors import ModelError
from core.functions import Context, Function


class FunctionForm(QWidget):
    """Title, what it does, options, Run."""

    wanted = Signal()
    stopped = Signal()
    live_switched = Signal(bool)
    edited = Signal()

    def __init__(self, function: Function, context: Callable[[], Context], settings: Settings) -> None:
        super().__init__()
        self.function = function
        self._settings = settings
        self.editors: dict[str, OptionEditor] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 6, 2, 0)
        layout.setSpacing(6)
        layout.addLayout(self._head())
        layout.addWidget(self._scroll(context), 1)
        self.note = Note()
        layout.addWidget(self.note)
        layout.addLayout(self._foot())
        self._recall()

    # ----------------------------------------------------------------------------- building

    def _head(self) -> QHBoxLayout:
        title = QLabel(self.function.title)
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        help_button = QToolButton()
        help_button.setIcon(icon("help"))
        help_button.setToolTip("What this function does")
        help_button.clicked.connect(self._toggle_help)
        row = QHBoxLayout()
        row.addWidget(title, 1)
        row.addWidget(help_button)
        return row

    def _scroll(self, context: Callable[[], Context]) -> QScrollArea:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 6, 0)
        self._help = QLabel(self.function.summary)
        self._help.setWordWrap(True)
        self._help.setProperty("muted", True)
        self._help.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self._help)
        form = QFormLayout()
        form.setContentsMargins(0, 4, 0, 0)
        form.setVerticalSpacing(5)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for option in self.function.options:
            editor = self.editors[option.id] = editor_of(option, context, self._settings)
            editor.changed.connect(self._edited)
            if editor.labelled:
                label = QLabel(option.title)
                label.setToolTip(option.help)
                form.addRow(label, editor)
            else:
                form.addRow("", editor)
        column.addLayout(form)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self._inside, self._area = inside, area
        return area

    def _foot(self) -> QHBoxLayout:
        self.run_button = QPushButton(icon("play"), "Run")
        self.run_button.setDefault(True)
        self.run_button.clicked.connect(self.wanted)
        self.stop_button = QPushButton(icon("stop"), "Stop")
        self.stop_button.clicked.connect(self.stopped)
        self.stop_button.hide()
        self.live_box = QCheckBox("Live")
        self.live_box.setToolTip("Run again whenever the pose moves, also while dragging")
        self.live_box.setVisible(self.function.live)
        self.live_box.toggled.connect(self.live_switched)
        self.progress = QProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(True)
        self.progress.hide()
        reset = QToolButton()
        reset.setIcon(icon("reset"))
        if reset.icon().isNull():
            reset.setText("Defaults")
        reset.setToolTip("Put all options back to their defaults")
        reset.clicked.connect(self.reset)
        reset.setVisible(bool(self.function.options))
        row = QHBoxLayout()
        for widget in (self.run_button, self.stop_button, self.live_box):
            row.addWidget(widget)
        row.addWidget(self.progress, 1)
        row.addStretch(1)
        row.addWidget(reset)
        return row

    def wanted_height(self) -> int:
        """Height in which all options are seen without scrolling."""
        around = self.sizeHint().height() - self._area.sizeHint().height()
        return around + self._inside.sizeHint().height() + 12

    # ----------------------------------------------------------------------------- values

    @property
    def live(self) -> bool:
        """Whether the function follows the pose."""
        return self.live_box.isChecked()

    def options(self) -> dict[str, Any]:
        """What the person chose, by option; raises ModelError for a text that is no value."""
        for editor in self.editors.values():
            problem = editor.problem()
            if problem:
                raise ModelError(problem, where=f"option '{editor.option.id}'")
        return {key: editor.value() for key, editor in self.editors.items()}

    def show_options(self, options: dict[str, Any]) -> None:
        """Put values into the form."""
        for key, value in options.items():
            if key in self.editors:
                self.editors[key].show_value(value)

    def remember(self) -> None:
        """Keep the options for the next use."""
        self._settings.remember(f"functions/{self.function.id}", self.options())

    def _recall(self) -> None:
        kept = self._settings.value(f"functions/{self.function.id}", {})
        if isinstance(kept, dict):
            for key, value in kept.items():
                try:
                    self.show_options({key: value})
                except (TypeError, ValueError, LookupError):  # kept by another version: the default stays
                    self.editors[key].show_value(self.editors[key].option.default)

    def reset(self) -> None:
        """Defaults everywhere."""
        for editor in self.editors.values():
            editor.show_value(editor.option.default)
        self._edited()

    def refresh(self) -> None:
        """The machine or the units changed."""
        for editor in self.editors.values():
            editor.refresh()

    def _edited(self) -> None:
        self.show_problem("")
        self.edited.emit()
        if self.live:
            self.live_switched.emit(True)

    # ----------------------------------------------------------------------------- showing

    def show_problem(self, text: str) -> None:
        """Say below the options what is wrong with them."""
        self.note.say(text, "error" if text else "")

    def show_reason(self, reason: str) -> None:
        """Why the function is not available; '' if it is."""
        self.run_button.setEnabled(not reason)
        self.live_box.setEnabled(not reason)
        self.note.say(reason, "hint" if reason else "")

    def show_busy(self, busy: bool) -> None:
        """A function runs, or none."""
        self.run_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
        if not busy:
            self.progress.hide()

    def show_progress(self, fraction: float, text: str, seconds_left: float | None) -> None:
        """How far the running function is."""
        self.progress.show()
        self.progress.setValue(round(1000 * fraction))
        left = f", {seconds_left:.0f} s left" if seconds_left and seconds_left > 2.0 else ""
        self.progress.setFormat(f"{text or 'Working'} %p %{left}")

    def _toggle_help(self) -> None:
        short = self._help.text() == self.function.summary
        self._help.setText(self.function.help if short else self.function.summary)
