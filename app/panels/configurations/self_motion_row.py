"""Slider that moves the joints of a redundant arm, or of one in a singular pose, while its frame stays."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from app.document.arm_configurations import ArmConfigurations
from app.document.self_motion import SelfMotion
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import Label
from app.widgets.plain_keys import PlainKeyFilter, WheelWhenFocused
from app.widgets.quantities.quantity_text import format_quantity, measure_of

STEPS = 1000
"""Number of positions of the slider."""
PAUSE = 500
"""Milliseconds after which steps by keys or the wheel are one undo step."""
DIGITS = 4


class _Slider(WheelWhenFocused, QSlider):
    """Slider that takes the wheel only with the focus."""


class SelfMotionRow(QWidget):
    """Title, slider and value of the first joint that moves; hidden where there is no self-motion."""

    def __init__(self, listed: ArmConfigurations, settings: Settings) -> None:
        super().__init__()
        self._listed, self._settings = listed, settings
        self.motion = SelfMotion(listed)
        self.slider = _Slider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setAccessibleName("Self-motion")
        self.slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        PlainKeyFilter(self.slider, typing=False)
        self.value = Label(parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 4)
        for widget, stretch in ((Label("Self-motion"), 0), (self.slider, 1), (self.value, 0)):
            row.addWidget(widget, stretch)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self.motion.commit)
        self.slider.valueChanged.connect(self._on_moved)
        self.slider.sliderReleased.connect(self._on_released)
        self.motion.changed.connect(self.show_state)
        self.show_state()

    def close(self) -> None:
        """End the computation."""
        self._pause.stop()
        self.motion.changed.disconnect(self.show_state)
        self.motion.close()

    def show_state(self) -> None:
        """Show the present position on the curve."""
        curve = self.motion.curve
        self.setVisible(curve is not None and len(curve.length) > 1)
        if curve is None or len(curve.length) < 2:
            return
        at = round(STEPS * float(np.clip(self.motion.length / curve.length[-1], 0.0, 1.0)))
        if not self.slider.isSliderDown() and at != self.slider.value():
            blocked = self.slider.blockSignals(True)
            self.slider.setValue(at)
            self.slider.blockSignals(blocked)
        joints = self.motion.joints
        self.value.setText(self._value_text(joints[0]) if joints else "")
        ends = "The motion is closed." if curve.is_closed else f"Ends: {curve.ends[0]}; {curve.ends[1]}."
        words = f"{', '.join(joints)} move while {self._listed.frame} stays. {ends}"
        self.slider.setToolTip(escape_tip(words))
        self.value.setToolTip(escape_tip(words))

    def _value_text(self, joint: str) -> str:
        session = self._listed.session
        coordinate = next(each for each in session.mech.coordinates if each.joint == joint)
        value = float(session.q[coordinate.index])
        return f"{joint} {format_quantity(value, measure_of(coordinate.dimension), self._settings, DIGITS)}"

    def _on_moved(self, at: int) -> None:
        curve = self.motion.curve
        if curve is None:
            return
        self.motion.preview(float(curve.length[-1]) * at / STEPS)
        if not self.slider.isSliderDown():
            self._pause.start()

    def _on_released(self) -> None:
        self._pause.stop()
        self.motion.commit()
