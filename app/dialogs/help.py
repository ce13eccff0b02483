"""Help on the window, elements, functions and commands, most of it generated from their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.commands import table
from app.dialogs.searching import normalised_search_text
from app.dialogs.window_topics import drawing_keys, window_topics
from core.functions import FUNCTIONS, Function
from resources import Example, examples

if TYPE_CHECKING:
    from app.commands import Command

EXAMPLE, TOPIC = "example", "topic"
"""Schemes of the links in a page."""
START = """<h2>Kinetostat</h2>
<p>Open a robot or mechanism, take it by the hand, and see its equations, forces and motion.</p>
<ul>
<li><b>Look around:</b> drag to orbit, middle button or Shift+drag to pan, wheel to zoom to the pointer, double click
to set the centre. F frames the selection; 1, 3, 7 look from the front, right, top.</li>
<li><b>Move joints:</b> rest the pointer on a link or click it, then drag its ring or arrow; or use the sliders. With
the Move tool (W) pull any body. Ctrl snaps. One drag is one undo step.</li>
<li><b>Edit:</b> select an element; its fields are on the right. Numbers take units and formulas: <code>30 deg</code>,
<code>2*l1 + 5 mm</code>.</li>
<li><b>Analyse:</b> choose a function on the left, set its options, run it. Results appear below and in the scene.</li>
<li><b>Simulate:</b> F5 lets the machine move; the timeline below the scene plays the run, Plots draw it.</li>
<li><b>Anything else:</b> Ctrl+Shift+P finds every command by some letters of its name; F1 explains what is under the
pointer.</li>
</ul>"""


class HelpDialog(QDialog):
    """Dialog with topics on the left and text on the right; emits `chosen(Path)` to open an example."""

    chosen = Signal(Path)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Help")
        self.resize(860, 580)
        self._texts = topics()
        self.search = QLineEdit(placeholderText="Search the help", clearButtonEnabled=True)
        self.search.textChanged.connect(self._filter_topics)
        self.list = QListWidget()
        self.text = QTextBrowser(openLinks=False)
        self.text.anchorClicked.connect(self._follow_link)
        self._fill_topics()
        self.list.currentItemChanged.connect(self._show_topic)
        split = QSplitter()
        split.addWidget(self.list)
        split.addWidget(self.text)
        split.setSizes([270, 590])
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(split)

    def _fill_topics(self) -> None:
        """Fill the list with topics under the headings of their groups."""
        last = ""
        for topic, (title, _) in self._texts.items():
            group = group_of(topic)
            if group != last:
                heading = QListWidgetItem(group)
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(heading)
                last = group
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, topic)
            self.list.addItem(item)

    def _topic(self, row: int) -> str | None:
        """Return the topic of a row; None for a heading."""
        topic = self.list.item(row).data(Qt.ItemDataRole.UserRole)
        return None if topic is None else str(topic)

    def _follow_link(self, link: QUrl) -> None:
        """Follow a link: to an example by opening it, to any other topic by showing its page."""
        name = link.path()
        if link.scheme() == EXAMPLE:
            self.chosen.emit(next(each.path for each in examples() if each.name == name))
        elif link.scheme() == TOPIC:
            self.go_to(name)
        else:
            QDesktopServices.openUrl(link)

    @staticmethod
    def open_on(parent: QWidget, topic: str) -> HelpDialog:
        """Open the help on a function or command id; on the start page if it has no topic."""
        dialog = HelpDialog(parent)
        dialog.go_to(topic)
        dialog.show()
        return dialog

    def go_to(self, topic: str) -> None:
        """Show a topic; a # after the topic leads to a field on its page."""
        topic, _, field = topic.partition("#")
        rows = {self._topic(row): row for row in range(self.list.count())}
        for name in (topic, f"function.{topic}", ""):
            if name in rows:
                self.list.setCurrentRow(rows[name])
                self.list.scrollToItem(self.list.item(rows[name]))
                if field:
                    self.text.scrollToAnchor(field)
                return

    def _show_topic(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.text.setHtml(self._texts[item.data(Qt.ItemDataRole.UserRole)][1])

    def _filter_topics(self, typed: str) -> None:
        """List only pages that contain all typed words; a page with them in its title is shown."""
        words = normalised_search_text(typed).split()
        heading: QListWidgetItem | None = None
        left: list[QListWidgetItem] = []
        for row in range(self.list.count()):
            item, topic = self.list.item(row), self._topic(row)
            if topic is None:
                heading = item
                item.setHidden(True)
                continue
            found = _contains_words(words, normalised_search_text(" ".join(self._texts[topic])))
            item.setHidden(not found)
            if found:
                left.append(item)
                if heading is not None:
                    heading.setHidden(False)
        named = [item for item in left if _contains_words(words, normalised_search_text(item.text()))]
        if left and self.list.currentItem() not in (named or left):
            self.list.setCurrentItem((named or left)[0])


def _contains_words(words: Iterable[str], text: str) -> bool:
    """Return True if all words occur in a text, or in the text written without blanks."""
    together = text.replace(" ", "")
    return all(word in text or word in together for word in words)


def group_of(topic: str) -> str:
    """Return the heading under which a topic is listed; "" for the first page."""
    if topic.startswith("panel."):
        return "The window"
    if topic.startswith("element."):
        return "Elements of a model"
    if topic.startswith("example."):
        return "Examples"
    if topic.startswith("function."):
        return f"Functions: {FUNCTIONS[topic.removeprefix('function.')].group}"
    command = table().get(topic)
    if command is None:
        return ""
    return f"Menu {command.menu.partition('/')[0]}" if command.menu else "Other commands"


def topics() -> dict[str, tuple[str, str]]:
    """Return title and text (HTML) by topic id."""
    found = {"": ("Getting started", START), **window_topics()}
    for function in FUNCTIONS.values():
        found[f"function.{function.id}"] = (function.title, function_text(function))
    for command in table().values():
        if not command.id.startswith("function."):
            found[command.id] = (command.title.rstrip("…"), command_text(command))
    title, text = found["tool.draw"]
    found["tool.draw"] = (title, text + drawing_keys())
    for example in examples():
        found[f"example.{example.name}"] = (example.title, example_text(example))
    return found


def example_text(example: Example) -> str:
    """Return the description of an example, with its picture and a link that opens it."""
    picture = f'<p><img src="{escape(example.thumbnail.as_uri())}"></p>' if example.thumbnail.is_file() else ""
    link = f'<p><a href="{EXAMPLE}:{escape(example.name)}">Open it</a></p>'
    return f"<h2>{escape(example.title)}</h2><p>{escape(example.about)}.</p>{picture}{link}"


def _other_names_text(also: tuple[str, ...]) -> str:
    return f"<p>Also called: {escape(', '.join(also))}</p>" if also else ""


def function_text(function: Function) -> str:
    """Return the help on a function: what it does, its options, and how to call it without the window."""
    rows = "".join(
        f"<tr><td><b>{escape(str(option.title))}</b></td><td><code>{escape(str(option.id))}</code></td>"
        f"<td>{escape(str(option.help))}</td></tr>"
        for option in function.options
    )
    options = f"<h4>Options</h4><table cellspacing='0' cellpadding='4'>{rows}</table>" if rows else ""
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in function.help.split("\n\n"))
    shell, also = function.id.replace("_", "-"), _other_names_text(function.also)
    return (
        f"<h2>{escape(function.title)}</h2>{paragraphs}{also}{options}<h4>Without the window</h4>"
        f'<p><code>kinetostat {shell} FILE</code><br><code>ks.call("{function.id}", ks.Context.of(model))</code></p>'
    )


def command_text(command: Command) -> str:
    """Return the help on a command: what it does and where to find it."""
    place = f"<p>Menu: {escape(command.menu.replace('/', ' ▸ '))}</p>" if command.menu else ""
    also = _other_names_text(command.also)
    keys = f"<p>Key: {escape(command.shortcut)}</p>" if command.shortcut else ""
    title = escape(command.title.rstrip("…"))
    return f"<h2>{title}</h2><p>{escape(command.help)}</p>{place}{keys}{also}"
