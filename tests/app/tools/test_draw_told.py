"""What Draw tells whoever draws, and what is seen when one leaves: told in words, whole, and where one looks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.design import linkage
from core.model import Model
from resources import EXAMPLES
from tests.app.tools.test_draw import Pen


@pytest.fixture
def pen(bench):
    bench.window.activateWindow()
    bench.view.setFocus()
    return Pen(bench)


def test_what_a_formula_is_worth_is_read_beside_it(pen):
    pen.draw()
    for point in ((0.0, 0.0), (0.06, 0.08)):
        pen.click(*point)
    pen.aim(0.1, 0.1)
    pen.type("=2*l1")
    field = pen.hand.field
    assert field.worth.text() == "= 0.2 m"
    assert not field.worth.geometry().intersects(field.line.geometry())
    assert field.worth.width() >= field.worth.fontMetrics().horizontalAdvance(field.worth.text())
    assert pen.bench.view.rect().contains(field.geometry())


def test_the_view_of_a_machine_comes_back_unless_it_was_turned(pen):
    pen.bench.open(EXAMPLES / "four_bar.kst")
    pen.bench.view.viewpoint.look_from("iso")
    pen.bench.draw()
    seen = pen.bench.view.viewpoint.target_view
    for turned in (False, True):
        pen.draw()
        assert pen.bench.view.viewpoint.target_view.parallel
        if turned:
            pen.bench.view.viewpoint.look_from("right")
            pen.bench.draw()
        goal = pen.bench.view.viewpoint.target_view
        QTest.keyClick(pen.bench.view, Qt.Key.Key_Escape)
        pen.bench.draw()
        assert pen.bench.view.gestures.tool.id == "select"
        assert pen.bench.view.viewpoint.target_view == (goal if turned else seen)


def test_a_motor_that_cannot_turn_its_link_says_so(pen):
    """0.1 + 0.3 > 0.2 + 0.15 (Grashof): a triple rocker; with a crank of 0.05 it turns."""
    hints = []
    pen.bench.session.message.connect(lambda severity, text: hints.append(text))
    for length, turns in ((0.1, False), (0.05, True)):
        model = linkage.link(Model(), [(0.0, 0.0), (0.06, 0.08), (0.2, 0.12), linkage.ground(0.3, 0.0)])
        for name, value in (("l1", length), ("l2", 0.2), ("l3", 0.15)):
            model = linkage.dimension(model, name, value)
        pen.bench.session.start_document(model)
        pen.bench.draw()
        pen.draw()
        pen.bench.wait(lambda: pen.hand.freedoms is not None)
        pen.key("a")
        pen.click(0.0, 0.0)
        assert [driver.joint for driver in pen.model.drivers] == ["A"]
        assert ("cannot turn fully" in hints[-1]) != turns
        assert hints[-1].startswith("A has a motor")


def test_the_pin_that_a_double_click_made_is_named(pen):
    pen.four_bar()
    assert pen.hand.snap.kind == "pin"
    assert pen.hand.snap.name == "D"


def test_a_slider_asks_for_a_direction_once_its_place_is_known(pen):
    pen.draw()
    for point in ((0.0, 0.0), (0.04, 0.04)):
        pen.click(*point)
    pen.key("s")
    assert not pen.hand.sub.asks_direction(pen.hand)
    pen.click(0.2, 0.0)
    assert pen.hand.sub.asks_direction(pen.hand)
    pen.click(0.26, 0.0)
    assert not pen.hand.sub.asks_direction(pen.hand)


def test_sub_tools_have_their_names_where_there_is_room(pen):
    """Each name and each letter is seen whole; the line of the freedoms is not cut in a wide window."""
    from app.tools.draw.bar import DrawOptionBar

    pen.bench.window.resize(1700, 900)
    pen.four_bar()
    bar = pen.bench.window.findChild(DrawOptionBar)
    pen.bench.wait(lambda: "rocker" in bar.freedoms.text())
    pen.bench.draw()
    assert [button.text() for button in bar.subs.values()] == [
        *("Link", "Ground", "Slider", "Slot", "Gears", "Mass", "Spring", "Tracer", "Motor"),
    ]
    for button in bar.subs.values():
        assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextUnderIcon
        assert button.width() >= button.fontMetrics().horizontalAdvance(button.text())
        assert bar.rect().contains(button.geometry())
    assert bar.freedoms.elided_text.split("\n")[0] == bar.freedoms.text().split("\n")[0]


@pytest.mark.parametrize(("length", "angle", "told"), [("0.1 m", "5 mm", "mm"), ("30 deg", "30", "deg")])
def test_a_number_in_the_wrong_unit_is_told_and_makes_nothing(pen, length, angle, told):
    from app.tools.draw.bar import DrawOptionBar

    pen.bench.window.resize(1700, 900)
    pen.draw()
    bar = pen.bench.window.findChild(DrawOptionBar)
    pen.click(0.0, 0.0)
    before, hints = pen.model, []
    pen.bench.session.message.connect(lambda severity, text: hints.append((severity, text)))
    QTest.keyClicks(bar.length, length)
    QTest.keyClicks(bar.angle, angle)
    QTest.keyClick(bar.angle, Qt.Key.Key_Return)
    assert pen.model is before
    assert bar.length.isVisible()  # what was begun goes on
    assert [severity for severity, _ in hints] == ["error"]
    assert told in hints[0][1]
    pen.click(0.1, 0.05)
    assert len(pen.model.bodies) == 1
