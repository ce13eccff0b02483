"""A tour that begins, is left or goes on while links are drawn leaves the chain in the hand, and the keys with it."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.tools.draw.tool import draw_controller
from core.mechanism import Mechanism
from tests.app.tools.test_draw import Pen


@pytest.fixture
def pen(bench):
    bench.window.activateWindow()
    bench.view.setFocus()
    yield Pen(bench)
    if bench.window.dialogs.tour_card is not None:
        bench.window.dialogs.tour_card.leave()


def half_a_chain(pen):
    """Two links, and the tour over them."""
    pen.draw()
    for point in ((0.0, 0.0), (0.04, 0.08), (0.2, 0.14)):
        pen.click(*point)
    pen.bench.window.settings.remember("tour/four_bar", 0)
    pen.bench.window.run_command("help.tour_four_bar")
    return pen.bench.window.dialogs.tour_card


def press(pen, key):
    """A key, to whatever has the keyboard."""
    QTest.keyClick(pen.bench.window.focusWidget() or pen.bench.view, key)


def test_the_chain_goes_on_and_closing_it_is_the_first_step(pen):
    card = half_a_chain(pen)
    assert [anchor.body for anchor in draw_controller(pen.bench.view).chain] == ["", "link1", "link2"]
    card.check_step()
    assert not card.praised
    pen.double(0.24, 0.0)
    pen.bench.wait(lambda: card.check_step() or card.praised)
    mech = Mechanism(pen.model)
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-10


def test_escape_drops_the_chain_then_leaves_draw_and_never_the_tour(pen):
    card = half_a_chain(pen)
    press(pen, Qt.Key.Key_Escape)
    assert not pen.hand.chain
    assert (pen.bench.view.gestures.tool.id, len(pen.model.bodies), card.on) == ("draw", 2, True)
    press(pen, Qt.Key.Key_Escape)
    assert (pen.bench.view.gestures.tool.id, card.on) == ("select", True)


@pytest.mark.parametrize("way", ["undo", "backspace"])
def test_what_is_taken_back_in_the_middle_goes_from_the_chain_too(pen, way):
    card = half_a_chain(pen)
    for bodies in (["", "link1"], [""]):
        pen.bench.window.run_command("edit.undo") if way == "undo" else press(pen, Qt.Key.Key_Backspace)
        assert [anchor.body for anchor in pen.hand.chain] == bodies
        card.check_step()
        assert not card.praised
    pen.click(0.04, 0.08)
    pen.click(0.2, 0.14)
    pen.double(0.24, 0.0)
    assert [body.name for body in pen.model.bodies] == ["link1", "link2", "link3"]
    pen.bench.wait(lambda: card.check_step() or card.praised)


def test_a_click_on_the_card_leaves_the_keys_with_the_drawing(pen):
    card = half_a_chain(pen)
    QTest.mouseClick(card.skip, Qt.MouseButton.LeftButton)
    assert card.step == 1
    assert not card.skip.hasFocus(), "Space plays; it does not skip the next step, too"
    assert pen.hand.chain
    press(pen, Qt.Key.Key_Backspace)
    assert [anchor.body for anchor in pen.hand.chain] == ["", "link1"]
    QTest.mouseClick(card.back, Qt.MouseButton.LeftButton)
    press(pen, Qt.Key.Key_Return)
    assert (pen.hand.chain, pen.bench.view.gestures.tool.id) == ([], "draw")


def test_another_tour_and_a_new_document_meet_no_half_chain(pen):
    half_a_chain(pen)
    pen.bench.window.run_command("help.tour_two_link_arm")
    assert pen.hand.chain
    pen.bench.example("four_bar")
    assert not pen.hand.chain
    assert pen.bench.view.gestures.tool.id == "select"
