"""Linkages are drawn with real mouse and key events; the events of each task are counted."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.tools.draw.tool import hand_of

PLAIN = Qt.KeyboardModifier.NoModifier


class Pen:
    """A hand that counts what it does."""

    def __init__(self, bench):
        self.bench, self.clicks, self.keys = bench, 0, 0

    @property
    def hand(self):
        return hand_of(self.bench.view)

    @property
    def model(self):
        return self.bench.session.model

    def pixel(self, u, v):
        x, y, z = self.hand.drawing.world_point((u, v)).tolist()
        place = self.bench.view.annotations.pixel((x, y, z))
        return round(place.x()), round(place.y())

    def key(self, key):
        self.keys += 1
        target = self.hand.field.line if self.hand.field.isVisible() else self.bench.view
        QTest.keyClick(target, key)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def press_at(self, x, y, keys=PLAIN):
        self.clicks += 1
        self.bench.move(x, y, keys)
        self.bench.press(x, y, keys=keys)
        self.bench.release(x, y, keys=keys)

    def click(self, u, v, keys=PLAIN):
        self.press_at(*self.pixel(u, v), keys)

    def double(self, u, v):
        x, y = self.pixel(u, v)
        self.press_at(x, y)
        self.clicks += 1
        QTest.mouseDClick(self.bench.view, Qt.MouseButton.LeftButton, PLAIN, QPoint(x, y))

    def motor(self):
        """Click the chip that appears."""
        from app.tools.draw.tool import _known

        tags = _known(self.bench.view)[1]

        def chip():
            self.bench.view.annotations.repaint()
            return next((tag for tag in tags.tags if tag.kind == "motor"), None)

        self.bench.wait(lambda: chip() is not None)
        place = chip().box.center()
        self.press_at(round(place.x()), round(place.y()))

    def draw(self):
        """Choose the tool; the flight to the plane is over."""
        self.key("d")
        self.bench.wait(lambda: self.hand.on)
        self.bench.draw()


@pytest.fixture
def pen(bench):
    bench.window.activateWindow()
    bench.view.setFocus()
    return Pen(bench)


def rest_of(model):
    from core.mechanism import Mechanism

    mech = Mechanism(model)
    q = mech.rest()
    gap = np.max(np.abs(mech.constraint_residual(q)), initial=0.0) if mech.constrained else 0.0
    return mech, q, gap


def test_a_four_bar_with_motor_takes_six_clicks_and_two_keys(pen):
    pen.draw()
    pen.click(0.0, 0.0)
    pen.click(0.04, 0.08)
    pen.click(0.2, 0.14)
    pen.double(0.24, 0.0)
    pen.motor()
    model = pen.model
    assert [body.name for body in model.bodies] == ["link1", "link2", "link3"]
    assert [joint.name for joint in model.joints] == ["A", "B", "C", "D"]
    assert [bool(joint.rest) for joint in model.joints] == [True, True, True, False]
    assert [driver.joint for driver in model.drivers] == ["A"]
    lengths = [model.values()[name] for name in ("l1", "l2", "l3")]
    assert lengths == pytest.approx([math.hypot(0.04, 0.08), math.hypot(0.16, 0.06), math.hypot(0.04, 0.14)], abs=1e-8)
    mech, _q, gap = rest_of(model)
    assert gap < 1e-10
    assert mech.mobility().dof == 1
    pen.key(Qt.Key.Key_F5)
    pen.bench.wait(lambda: pen.bench.session.runs.current is not None)
    assert (pen.clicks, pen.keys) == (6, 2)
