"""The pose of the frame as six numbers that can be typed, with buttons that move it by steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QToolButton, QWidget

from app.document.arm_configurations import ArmConfigurations
from app.document.frame_moves import DIRECTIONS, JogAxes, pose_from_numbers, pose_numbers
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Label
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import measure_of
from core.model.fields import Value

TIPS = ("position along x", "position along y", "position along z")
TURNS = ("rotation about the fixed axis x", "rotation about the fixed axis y", "rotation about the fixed axis z")
REPEAT_DELAY, REPEAT_EVERY = 350, 60
"""Times in ms after which, and in which, a pressed button repeats its step."""
BUTTON = 18
"""Width of a button, pixels."""
AXES = {"base": "World axes", "tool": "Tool axes"}


class PoseForm(QWidget):
    """Fields and buttons for the pose of the frame in the world. `say(words, severity)` shows a message."""

    def __init__(self, configurations: ArmConfigurations, settings: Settings, say: Callable[[str, str], None]) -> None:
        super().__init__()
        self._listed, self._say = configurations, say
        self.fields: list[QuantityEdit] = []
        self.buttons: dict[tuple[int, int], QToolButton] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(8, 0, 8, 4)
        grid.setHorizontalSpacing(3)
        grid.setVerticalSpacing(3)
        for k, name in enumerate(DIRECTIONS):
            self._add_number(grid, settings, k, name)
        self._add_steps(grid, settings)

    def _add_number(self, grid: QGridLayout, settings: Settings, k: int, name: str) -> None:
        column, dimension = 4 * (k // 3), "length" if k < 3 else "angle"
        tip = (TIPS + TURNS)[k]
        field = QuantityEdit(measure_of(dimension), settings, partial(self._on_typed, k), digits=5)
        field.setAccessibleName(f"{name} of the frame")
        field.setToolTip(escape_tip(f"{tip.capitalize()} in the world; type another number and press Enter"))
        field.explained.connect(self._say)
        self.fields.append(field)
        grid.addWidget(Label(name), k % 3, column)
        grid.addWidget(field, k % 3, column + 1)
        grid.setColumnStretch(column + 1, 1)
        for place, sign in ((2, -1), (3, 1)):
            button = QToolButton(self, text="−" if sign < 0 else "+", autoRepeat=True, autoRaise=True)
            button.setFixedWidth(BUTTON)
            button.setAutoRepeatDelay(REPEAT_DELAY)
            button.setAutoRepeatInterval(REPEAT_EVERY)
            verb = "Move along" if k < 3 else "Turn about"
            button.setToolTip(
                escape_tip(f"{verb} {'−' if sign < 0 else '+'}{'xyz'[k % 3]} by one step; hold to repeat")
            )
            button.setAccessibleName(f"{verb} {'minus' if sign < 0 else 'plus'} {'xyz'[k % 3]}")
            button.clicked.connect(partial(self._on_step, k, float(sign)))
            button.released.connect(partial(self._on_released, button))
            self.buttons[k, sign] = button
            grid.addWidget(button, k % 3, column + place)

    def _add_steps(self, grid: QGridLayout, settings: Settings) -> None:
        self.steps = {
            name: QuantityEdit(measure_of(dimension), settings, partial(self._on_step_typed, name), digits=4)
            for name, dimension in (("length", "length"), ("angle", "angle"))
        }
        for name, edit in self.steps.items():
            edit.setAccessibleName(f"Step, {name}")
            edit.setToolTip("Step of the buttons + and −")
            edit.explained.connect(self._say)
        self.axes = NarrowCombo(self)
        self.axes.setAccessibleName("Axes of the steps")
        self.axes.setToolTip("Axes along and about which the buttons move the frame")
        for key, title in AXES.items():
            self.axes.addItem(title, key)
        self.axes.activated.connect(self._on_axes_chosen)
        row = QHBoxLayout()
        row.setContentsMargins(0, 2, 0, 0)
        for widget in (Label("Step"), self.steps["length"], self.steps["angle"], self.axes):
            row.addWidget(widget)
        grid.addLayout(row, 3, 0, 1, 8)

    # ----------------------------------------------------------------------------- showing

    def show_pose(self) -> None:
        """Show the pose of the frame as it is now."""
        numbers = self._numbers_now()
        for field, value in zip(self.fields, numbers, strict=True):
            if not field.hasFocus() or not field.isModified():
                field.show_value(value)

    def show_options(self) -> None:
        """Show the step sizes and axes."""
        options = self._listed.jog_options
        self.steps["length"].show_value(options.length)
        self.steps["angle"].show_value(options.angle)
        self.axes.setCurrentIndex(self.axes.findData(options.axes))

    def refresh_units(self) -> None:
        """Show the numbers in the present display units."""
        for field in (*self.fields, *self.steps.values()):
            field.refresh_text()

    def _numbers_now(self) -> tuple[float, ...]:
        session, frame = self._listed.session, self._listed.frame
        if frame not in session.mech.frame_names:
            return (0.0,) * 6
        X = np.asarray(session.mech.frame(session.q, frame, p=session.p, t=session.t))
        return tuple(0.0 if abs(x) < 1e-12 else x for x in pose_numbers(X))

    # ----------------------------------------------------------------------------- moving

    def _on_typed(self, k: int, value: Value | None, _gesture: object) -> str:
        numbers = list(self._numbers_now())
        if not isinstance(value, (int, float)):
            return "A pose takes numbers."
        numbers[k] = float(value)
        frame = self._listed.frame
        problem = self._listed.move_frame(pose_from_numbers(tuple(numbers)), f"Move {frame}")
        if not problem:
            self._say("", "")
        return problem

    def _on_step(self, k: int, sign: float) -> None:
        problem = self._listed.jog(k, sign)
        self._say(problem, "warning" if problem else "")

    def _on_released(self, button: QToolButton) -> None:
        """Make one undo step of the steps when the button is let go, not at its repetitions."""
        if not button.isDown():
            QTimer.singleShot(0, self, self._listed.end_jog)  # the last step comes with `clicked`, after `released`

    def _on_step_typed(self, name: str, value: Value | None, _gesture: object) -> str:
        if not isinstance(value, (int, float)) or not value > 0.0:
            return "A step is a positive number."
        options = self._listed.jog_options
        self._listed.set_jog_options(
            replace(options, length=float(value)) if name == "length" else replace(options, angle=float(value))
        )
        return ""

    def _on_axes_chosen(self) -> None:
        axes: JogAxes = "tool" if self.axes.currentData() == "tool" else "base"
        self._listed.set_jog_options(replace(self._listed.jog_options, axes=axes))
