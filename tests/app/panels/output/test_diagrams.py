"""Diagrams on cards: curves and points that stand where their numbers say, and the pointer tells them."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app.panels.output.diagram_part import DiagramPart
from core.functions.diagrams import Diagram, Series


@pytest.fixture
def shown(qtbot):
    def show(diagram):
        part = DiagramPart(diagram, None)
        while not part.create_next_piece():
            pass
        qtbot.addWidget(part)
        part.resize(500, 320)
        part.show()
        qtbot.waitExposed(part)
        return part

    return show


def test_the_pointer_tells_the_nearest_pole(shown, qtbot):
    poles = Series("poles", (-1.0, -1.0), (2.0, -2.0), "x")
    part = shown(Diagram(title="Poles", across="Re", up="Im", series=(poles,), square=True))
    qtbot.wait(50)
    part._on_pointer_moved(part.item.vb.mapViewToScene(QPointF(-1.0, 2.0)))
    assert part.nearest.text() == "poles: λ = −1 + 2 i 1/s, 0.31831 Hz"
    part._on_pointer_moved(part.item.vb.mapViewToScene(QPointF(-1.0, 0.0)))
    assert part.nearest.text() == ""


def test_a_gain_over_a_logarithmic_axis_leaves_out_what_is_not_finite(shown, qtbot):
    omega = np.geomspace(0.1, 100.0, 31)
    gain = np.where(omega > 50.0, -np.inf, -20.0 * np.log10(omega))
    curve = Series("y / w", tuple(omega), tuple(gain))
    part = shown(Diagram(title="Bode: gain", across="ω", up="Gain [dB]", series=(curve,), log_across=True))
    qtbot.wait(50)
    assert [text for _, text in part._decade_ticks()[0]] == [
        "0.1",
        "0.2",
        "0.5",
        "1",
        "2",
        "5",
        "10",
        "20",
        "50",
        "100",
    ]
    part._on_pointer_moved(part.item.vb.mapViewToScene(QPointF(0.0, 0.0)))
    assert part.nearest.text().endswith("at ω 1")
    assert part.part.to_table().rows[0][1] == pytest.approx(20.0)
