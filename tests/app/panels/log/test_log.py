"""The log: all messages with their times; filtered, copied, cleared, and followed to what they speak of."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.document.session import ElementRef
from app.panels.log.panel import LogPanel, find_named_element


def log_of(bench):
    panel = bench.window.panels.get_panel(LogPanel)
    panel.clear()
    return panel


def shown(panel):
    return [panel.list.topLevelItem(k).text(1) for k in range(panel.list.topLevelItemCount())]


def test_every_message_of_the_session_is_in_it_with_its_time(bench):
    panel = log_of(bench)
    bench.session.message.emit("done", "Saved it.")
    bench.window.show_message("hint", "Shall it?", {"Yes": lambda: None})
    bench.session.message.emit("warning", "Look\nat it.")
    assert shown(panel) == ["Saved it.", "Shall it?", "Look at it."]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", panel.list.topLevelItem(0).text(0))


def test_what_is_shown_can_be_chosen_copied_and_cleared(bench):
    panel = log_of(bench)
    for severity, text in (("done", "Saved."), ("warning", "A doubt."), ("error", "A fault."), ("hint", "A fault?")):
        bench.session.message.emit(severity, text)
    panel.level.setCurrentText("Warnings and errors")
    assert shown(panel) == ["A doubt.", "A fault."]
    panel.search.setText("FAULT")
    assert shown(panel) == ["A fault."]
    panel.copy_button.click()
    assert re.fullmatch(r"\d\d:\d\d:\d\d  error    A fault\.", QGuiApplication.clipboard().text())
    panel.level.setCurrentText("All messages")
    assert shown(panel) == ["A fault.", "A fault?"]
    bench.session.message.emit("done", "Something else.")
    assert shown(panel) == ["A fault.", "A fault?"]
    panel.search.clear()
    assert len(shown(panel)) == 5
    panel.clear_button.click()
    assert shown(panel) == []
    assert panel.entries == []


def test_a_click_selects_what_a_message_names_and_a_double_click_goes_to_its_field(bench):
    bench.example("four_bar")
    panel = log_of(bench)
    bench.session.message.emit("error", "joint 'rocker_pin', damping: Its damping is negative.")
    bench.session.message.emit("error", "joint 'gone', rest: It is no more.")
    first, second = (panel.list.topLevelItem(k) for k in range(2))
    bench.session.select(None)
    panel.list.itemClicked.emit(second, 1)
    assert bench.session.selection is None
    panel.list.itemClicked.emit(first, 1)
    assert bench.session.selection == ElementRef("joints", "rocker_pin")
    bench.session.select(None)
    panel.list.itemActivated.emit(first, 1)
    assert bench.session.selection == ElementRef("joints", "rocker_pin")
    assert not bench.window.docks.docks["properties"].visibleRegion().isEmpty()
    assert find_named_element(bench.session.model, "body 'crank', mass: …") == (ElementRef("bodies", "crank"), "mass")


def test_the_menu_opens_it_where_other_panels_are(bench):
    bench.window.run_command("help.messages")
    dock = bench.window.docks.docks["log"]
    bench.wait(lambda: not dock.visibleRegion().isEmpty())
    assert bench.window.dockWidgetArea(dock) == Qt.DockWidgetArea.BottomDockWidgetArea
    assert dock.toggleViewAction() in bench.window.actions_.find_or_create_menu("View/Panels").actions()


def test_the_oldest_go_where_there_are_too_many(bench, monkeypatch):
    monkeypatch.setattr("app.panels.log.panel.MOST", 3)
    panel = log_of(bench)
    for number in range(5):
        bench.session.message.emit("done", f"Message {number}")
    assert shown(panel) == ["Message 2", "Message 3", "Message 4"]
    panel.refresh()
    assert shown(panel) == ["Message 2", "Message 3", "Message 4"]


def test_an_empty_log_says_what_it_is_for(bench):
    panel = log_of(bench)
    bench.window.docks.show_panel("log")
    assert panel._empty.isVisible()
    assert "hints, warnings, errors" in panel._empty.text()
    bench.session.message.emit("done", "Saved it.")
    assert panel.list.isVisible()
    assert not panel._empty.isVisible()
    panel.search.setText("nothing of the kind")
    assert panel._empty.text() == "No message matches the filter."
    panel.search.clear()
    assert panel.list.isVisible()
