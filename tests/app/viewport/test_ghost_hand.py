"""The hand that shows how a tool is used, once."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.tools import TOOLS
from app.viewport.ghost_hand import DemonstrationHand


@pytest.fixture
def hand(bench):
    settings = bench.window.settings
    settings.shows_hands = False
    bench.window.run_command("help.hands")  # on, and none was shown
    yield bench.window.viewport.widget.findChild(DemonstrationHand)
    settings.shows_hands = False
    bench.window.run_command("tool.select")


@pytest.mark.parametrize("tool", [name for name, each in TOOLS.items() if each.hand])
def test_it_comes_with_the_first_use_of_a_tool_and_goes(bench, hand, tool):
    bench.example("four_bar")
    bench.window.run_command(f"tool.{tool}")
    assert hand.is_playing
    assert hand.isVisible()
    assert all(hand.rect().contains(hand.at(k / 20)[0].toPoint()) for k in range(21))
    assert any(hand.at(k / 20)[1] for k in range(21))
    bench.draw()
    bench.wait(lambda: not hand.is_playing)
    bench.window.run_command("tool.select")
    bench.window.run_command(f"tool.{tool}")
    assert not hand.is_playing


def test_a_press_ends_it_and_another_tool_too(bench, hand):
    bench.example("four_bar")
    bench.window.run_command("tool.move")
    QTest.mousePress(bench.window.viewport.widget, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not hand.is_playing
    QTest.mouseRelease(bench.window.viewport.widget, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    bench.window.run_command("tool.connect")
    assert hand.is_playing
    bench.window.run_command("tool.select")
    assert not hand.is_playing


def test_it_can_be_switched_off(bench, hand):
    bench.window.run_command("help.hands")
    assert not bench.window.settings.shows_hands
    bench.window.run_command("tool.pull")
    assert not hand.is_playing
