"""Panels that stand behind others are made when they are seen, asked for, or after the first picture."""

import pytest
from PySide6.QtWidgets import QTabBar

from app.background.slices import shared_slices
from app.panels import BOTTOM, declared_panels
from app.window.docks import HIGHEST
from app.window.window import Window
from core.files import load
from resources import EXAMPLES
from tests.app.conftest import pump, settle

IN_FRONT = {place.id for place in declared_panels() if not place.tab_with}


@pytest.fixture
def window(qtbot, settings):
    window = Window(settings=settings, at_once=False)
    window.show()
    settle()
    yield window
    window.dispose()


def choose_tab(window, title):
    """As a click on it does."""
    bar, place = next(
        (bar, k)
        for bar in window.docks.tab_bars()
        for k in range(bar.count())
        if bar.tabText(k) == title and not bar.isHidden()
    )
    assert isinstance(bar, QTabBar)
    bar.setCurrentIndex(place)


def test_only_what_is_in_front_is_made_at_first(window):
    assert set(window.docks.panels) == IN_FRONT
    window.session.start_document(load(EXAMPLES / "puma560.kst"))
    settle()
    assert set(window.docks.panels) == IN_FRONT  # neither the machine nor what commands look at needs the others
    assert not window.panels.has_plotted_channels
    assert not window.panels.is_derivation_open


def test_a_panel_is_made_when_its_tab_is_chosen_or_it_is_asked_for(window):
    choose_tab(window, "Studies")
    assert pump(lambda: "studies" in window.docks.panels)
    assert window.docks.docks["studies"].widget() is window.docks.panels["studies"]
    assert window.docks.panels["studies"].isVisible()
    window.docks.show_panel("console")
    assert window.console.isVisible()
    assert set(window.docks.panels) == IN_FRONT | {"studies", "console"}
    with pytest.raises(KeyError, match="nothing"):
        _ = window.docks.panels["nothing"]


def test_the_others_come_one_by_one_with_what_is_open_then(window):
    window.session.start_document(load(EXAMPLES / "four_bar.kst"))
    counts = []
    waiting = shared_slices()._run_next_slice
    window.create_missing_panels_soon()
    while any(not place.seldom for place in window.docks.missing_panels):
        before = len(window.docks.panels)
        waiting()
        counts.append(len(window.docks.panels) - before)
    assert max(counts) == 1  # never two in a turn of the window
    assert set(window.docks.panels) == {place.id for place in declared_panels() if not place.seldom}
    names = {item.text(0) for item in window.tree.items.values()}
    assert {joint.name for joint in window.session.model.joints} <= names
    assert window.docks.docks["findings"].windowTitle() == window.findings.tab_title
    assert pump(lambda: not shared_slices().has_work)


def test_a_message_is_in_the_log_that_is_made_for_it(window):
    window.show_message("warning", "It is late.")
    assert [entry.text for entry in window.log.entries] == ["It is late."]


def test_what_the_window_hears_of_panels_is_heard_of_those_made_later(window):
    window.session.start_document(load(EXAMPLES / "puma560.kst"))
    assert not window.command_actions()["derivation.close"].isEnabled()
    window.run_command("derivation.replay")
    assert window.panels.is_derivation_open
    assert window.actions_.by_id["derivation.close"].isEnabled()


def test_nothing_moves_when_the_panels_below_the_picture_are_made(window):
    size = window.viewport.size()
    window.docks.create_missing_panels()
    settle()
    below = {
        place.id: window.docks.panels[place.id].minimumSizeHint().height()
        for place in declared_panels()
        if place.area == BOTTOM
    }
    assert max(below.values()) <= HIGHEST, below
    assert window.viewport.size() == size
