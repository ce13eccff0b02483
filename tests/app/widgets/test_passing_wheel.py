"""The wheel changes a field only when the field has the focus."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QSlider

from app.panels.sliders.row import QuantitySpinBox
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.plain_keys import WheelWhenFocused


class Slider(WheelWhenFocused, QSlider):
    pass


def combo():
    widget = NarrowCombo()
    widget.addItems(["a", "b", "c"])
    widget.setCurrentIndex(1)
    return widget, widget.currentIndex


def box():
    widget = QuantitySpinBox("angle")
    return widget, widget.value


def slider():
    widget = Slider()
    return widget, widget.value


@pytest.mark.parametrize("make", [combo, box, slider])
@pytest.mark.parametrize("focused", [False, True])
def test_the_wheel_passes_over_what_is_not_focused(qtbot, monkeypatch, make, focused):
    widget, value = make()
    qtbot.addWidget(widget)
    monkeypatch.setattr(type(widget), "hasFocus", lambda _self: focused)
    before = value()
    notch = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, notch)
    assert (value() != before) == focused
    assert notch.isAccepted() == focused
