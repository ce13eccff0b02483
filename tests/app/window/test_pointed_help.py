"""F1 explains what is under the pointer: buttons, rows, fields, panels; every panel and field has words."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QToolButton, QWidget

from app.dialogs.help import HelpDialog, help_topics
from app.document.session import ElementRef
from app.panels import declared_panels
from app.widgets.fields.field_editor import FieldEditor
from app.window.dialog_opener import find_help_topic, help_topic_under_pointer
from core.model import COLLECTIONS
from core.model.fields import declared_fields


def shown_editor(window, path):
    editors = window.properties.findChildren(FieldEditor)
    return next(each for each in editors if each.path == path and each.isVisible())


def middle(widget: QWidget) -> QPoint:
    return widget.mapToGlobal(widget.rect().center())


def test_every_panel_and_every_element_has_a_page():
    pages = help_topics()
    assert {f"panel.{place.id}" for place in declared_panels()} <= set(pages)
    for collection, element in COLLECTIONS.items():
        page = pages[f"element.{collection}"][1]
        for field in declared_fields(element):
            assert f'name="{field.name}"' in page
    wordless = [title for topic, (title, page) in pages.items() if topic.startswith("element.") and "<td></td>" in page]
    assert not wordless


def test_buttons_panels_and_bars_are_known(bench):
    bench.example("four_bar")
    window = bench.window
    buttons = [each for each in window.actions_.toolbar.findChildren(QToolButton) if each.defaultAction()]
    assert "simulation.run" in [find_help_topic(window, window.functions, button, middle(button)) for button in buttons]
    assert find_help_topic(window, window.functions, window.viewport, middle(window.viewport)) == "panel.scene"
    for place in declared_panels():
        panel = window.docks.panels[place.id]
        assert find_help_topic(window, window.functions, panel, QPoint(-1, -1)) == f"panel.{place.id}"


def test_rows_and_fields_are_known(bench):
    bench.example("four_bar")
    window = bench.window
    window.docks.show_panel("functions")
    bench.draw()
    tree = window.functions.tree
    row = tree.topLevelItem(1).child(1)
    tree.scrollToItem(row)
    at = tree.viewport().mapToGlobal(tree.visualItemRect(row).center())
    assert find_help_topic(window, window.functions, tree.viewport(), at) == "jacobian"

    bench.session.select(ElementRef("joints", "crank_pin"))
    bench.draw()
    axis = next(
        each for each in window.properties.findChildren(FieldEditor) if each.path == "axis" and each.isVisible()
    )
    assert find_help_topic(window, window.functions, axis, middle(axis)) == "element.joints#axis"
    bench.session.select(None)
    window.docks.show_panel("tree")
    bench.draw()
    view = window.tree.view
    rows = [view.topLevelItem(k) for k in range(view.topLevelItemCount())]
    named = next(row.child(0) for row in rows if row.text(0) == "Parameters")
    view.scrollToItem(named)
    at = view.viewport().mapToGlobal(view.visualItemRect(named).center())
    assert find_help_topic(window, window.functions, view.viewport(), at) == "element.parameters"


def test_the_key_opens_the_page_at_the_field(bench, monkeypatch):
    bench.example("four_bar")
    window = bench.window
    bench.session.select(ElementRef("joints", "crank_pin"))
    bench.draw()
    axis = next(
        each for each in window.properties.findChildren(FieldEditor) if each.path == "axis" and each.isVisible()
    )
    monkeypatch.setattr(QCursor, "pos", lambda: middle(axis))
    assert help_topic_under_pointer(window, window.functions) == "element.joints#axis"
    window.run_command("help.help")
    dialog = next(iter(window.findChildren(HelpDialog)))
    assert dialog.list.currentItem().text() == "Joint"
    assert "Axis in frame a" in dialog.text.toPlainText()
    dialog.close()


def test_in_the_scene_the_key_explains_the_tool_in_hand(bench, monkeypatch):
    bench.example("four_bar")
    window = bench.window
    monkeypatch.setattr(QCursor, "pos", lambda: middle(window.viewport.widget))
    window.run_command("tool.draw")
    assert help_topic_under_pointer(window, window.functions) == "tool.draw"
    window.run_command("tool.select")
    assert help_topic_under_pointer(window, window.functions) == "panel.scene"
    dialog = HelpDialog.open_topic(window, "tool.draw")
    for word in ("Pin in slot", "Backspace", "other branch"):
        assert word in dialog.text.toPlainText()
    dialog.close()


@pytest.mark.parametrize("topic", ["element.joints#axis", "panel.plots", "view.fit", "jacobian", "no such thing", ""])
def test_every_topic_shows_something(bench, topic):
    dialog = HelpDialog.open_topic(bench.window, topic)
    assert dialog.text.toPlainText()
    dialog.close()
