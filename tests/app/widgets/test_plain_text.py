"""Text of a file is plain text wherever the window shows it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTreeWidget, QTreeWidgetItemIterator

from core.files import loads

HOSTILE = "<img src='file:///nowhere.png'><b>bold</b>"
MACHINE = f"""
kinetostat: 1
name: A
parameters:
  p: {{value: 1, description: "{HOSTILE}"}}
bodies:
  a: {{mass: p}}
"""


def tips(tree):
    """What the rows of a tree tell when pointed at."""
    every, found = QTreeWidgetItemIterator(tree), []
    while (item := every.value()) is not None:
        found += [item.toolTip(column) for column in range(tree.columnCount())]
        every += 1
    return found


def test_a_message_is_shown_as_it_is(bench):
    bench.window.messages.show_message("error", HOSTILE)
    (shown,) = (label for label in bench.window.messages.findChildren(QLabel) if HOSTILE in label.text())
    assert shown.textFormat() == Qt.TextFormat.PlainText


def test_a_description_is_shown_as_it_is_in_the_tips_of_the_tree(bench):
    bench.session.start_document(loads(MACHINE, "kst"))
    about = [tip for tree in bench.window.findChildren(QTreeWidget) for tip in tips(tree) if "nowhere.png" in tip]
    assert about
    assert all("<img" not in tip for tip in about)
