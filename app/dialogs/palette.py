"""The command palette: any command, function, element or example by some letters of its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout

from app.commands import table
from app.dialogs.searching import plain_words
from app.document.session import Ref
from app.panels.panel import panels
from app.preferences.element_icons import icon_of
from app.preferences.icons import icon
from app.widgets.label import Label
from core.model import QUESTIONS, WORDS
from resources import examples

if TYPE_CHECKING:
    from app.workbench import Workbench

SHOWN = 60
"""Most entries shown."""
SIZE = QSize(620, 440)
COLLECTIONS_FOUND = (
    "bodies",
    "joints",
    "frames",
    "forces",
    "sensors",
    "constraints",
    "drivers",
    "assemblies",
    "junctions",
    "chains",
    "parameters",
    "materials",
    *QUESTIONS,
)
"""Whose elements are found."""


class Entry(NamedTuple):
    """Something the palette offers."""

    title: str
    place: str
    picture: str
    keys: str
    run: Callable[[], object]
    also: tuple[str, ...] = ()
    now: bool = True
    """Whether it can be done now."""

    def found_by(self, typed: str) -> tuple[float, str] | None:
        """How well what is typed fits, and by which of its names: the title or what others call it."""
        fits = [(points, name) for name in (self.title, *self.also) if (points := score(typed, name)) is not None]
        return max(fits, key=lambda fit: (is_meant(typed, fit[1]), fit[0])) if fits else None

    def words(self, name: str) -> str:
        """What its row says, if it was found by a name."""
        title = self.title if name in ("", self.title) else f"{name[:1].upper()}{name[1:]} — {self.title}"
        now = "" if self.now else "    not possible now"
        return f"{title}      {self.place}{f'    {self.keys}' if self.keys else ''}{now}"


ELSEWHERE = 8.0
"""Points less for letters that are found in the place of a command only."""
NOT_NOW = 950.0
"""Points less for what cannot be done now."""
EXACT, BEGUN = 1000.0, 100.0
"""Points of a text that is what was typed, and of one that begins with it, as whole words."""


def score(typed: str, text: str) -> float | None:
    """How well typed letters fit a text: all must appear in order, or else all words, each in one piece, in any
    order. Starts of words and runs count more, the very text most. None: no."""
    plain, whole = plain_words(typed), plain_words(text)
    fit = _fit(plain, whole)
    if fit is None:
        return None
    if plain == whole:
        return fit + EXACT
    return fit + BEGUN if whole.startswith(plain) and not whole[len(plain)].isalnum() else fit


ALIKE = 0.8
"""How much of a word must be as typed to be that word with a slip."""
NEAREST = 8
"""Entries shown where nothing is called so."""


def is_meant(typed: str, text: str) -> bool:
    """Whether a text can be meant by what is typed: it holds it, or each of its words (one letter may be wrong), or
    the letters are beginnings of its words one after another ("expic": export picture)."""
    plain, whole = plain_words(typed), plain_words(text)
    if plain in whole or _abbreviates(plain.replace(" ", ""), re.findall(r"\w+", whole)):
        return True
    words = re.findall(r"\w+", whole)
    return all(word in whole or any(_slipped(word, other) for other in words) for word in plain.split())


def _slipped(word: str, other: str) -> bool:
    """Whether a word may be another one with a letter too few, too many or wrong."""
    return len(word) > 3 and word[0] == other[0] and SequenceMatcher(None, word, other).ratio() >= ALIKE


def _abbreviates(letters: str, words: list[str]) -> bool:
    """Whether letters are beginnings of some of the words, in order."""
    if not letters:
        return True
    for k, word in enumerate(words):
        begun = 0
        while begun < min(len(word), len(letters)) and word[begun] == letters[begun]:
            begun += 1
        if any(_abbreviates(letters[n:], words[k + 1 :]) for n in range(begun, 0, -1)):
            return True
    return False


def _fit(typed: str, text: str) -> float | None:
    together = _in_order(typed.lower().replace(" ", ""), text.lower())
    words = typed.lower().split()
    if together is not None or len(words) < 2 or not all(word in text for word in words):
        return together
    return sum(_in_order(word, text.lower()) or 0.0 for word in words)


def _in_order(typed: str, text: str) -> float | None:
    points, last = 0.0, -2
    for letter in typed:
        found = _find(text, letter, last + 1)
        if found < 0:
            return None
        start = found == 0 or not text[found - 1].isalnum()
        points += 1.0 + (2.0 if start else 0.0) + (0.5 if found == 0 else 0.0) + (1.5 if found == last + 1 else 0.0)
        last = found
    return points - 0.01 * len(text)


def _find(text: str, letter: str, begin: int) -> int:
    """The next place of a letter: the one right here, else at the start of a word, else the next."""
    begin = max(begin, 0)
    nearest = text.find(letter, begin)
    if nearest in (-1, begin):
        return nearest
    for i in range(nearest, len(text)):
        if text[i] == letter and not text[i - 1].isalnum():
            return i
    return nearest


class CommandPalette(QFrame):
    """Floats over the window; Enter runs, Esc closes."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench.widget, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("overlay")
        self._bench = bench
        self._entries = [*self._commands(), *self._elements(), *self._examples()]
        self.line = QLineEdit(placeholderText="Type some letters of a command, function, element or example")
        self.line.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.line.textChanged.connect(self._filter)
        self.line.installEventFilter(self)
        self.list = QListWidget()
        self.list.setIconSize(QSize(18, 18))
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(lambda _: self._take())
        self.about = Label(wordWrap=True)
        self.about.setObjectName("muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.line)
        column.addWidget(self.list)
        self._filter("")

    def open_palette(self) -> None:
        """Show it at the top of the window."""
        host = self._bench.widget
        self.resize(SIZE.boundedTo(host.size() * 0.9))
        corner = host.mapToGlobal(host.rect().topLeft())
        self.move(corner.x() + (host.width() - self.width()) // 2, corner.y() + 90)
        self.show()
        self.line.setFocus()

    def _commands(self) -> list[Entry]:
        bench = self._bench
        entries = []
        for command in table().values():
            first = command.shortcut.split(",")[0].strip()
            keys = QKeySequence(first).toString(QKeySequence.SequenceFormat.NativeText) if first else ""
            place = command.menu.replace("/", " ▸ ")
            run = partial(bench.run, command.id)
            title, now = command.title.rstrip("…"), command.applies(bench)
            entries.append(Entry(title, place, command.icon, keys, run, command.also, now))
        names = {panel.id: panel.also for panel in panels()}
        for panel, title in bench.panels.titles.items():
            show = partial(bench.panels.show, panel)
            also = (title, *names.get(panel, ()))
            entries.append(Entry(f"Show panel {title}", "View ▸ Panels", "properties", "", show, also))
        return entries

    def _elements(self) -> list[Entry]:
        session = self._bench.session
        entries = []
        for collection in COLLECTIONS_FOUND:
            own = {element.name: element for element in getattr(session.model, collection)}
            brought = {element.name: element for element in getattr(session.model.expanded, collection)}
            for name, element in (brought | own).items():
                picture = icon_of(collection, element)
                run = lambda name=name, collection=collection: session.select(Ref(collection, name))  # noqa: E731
                entries.append(Entry(name, f"select {WORDS[collection]}", picture, "", run))
        return entries

    def _examples(self) -> list[Entry]:
        files = self._bench.files
        return [
            Entry(example.title, "open example", "examples", "", partial(files.start_example, example.path))
            for example in examples()
        ]

    def _filter(self, typed: str) -> None:
        self.list.clear()
        found = self.found(typed)
        if typed.strip() and not any(self._is_called(typed, *each) for each in found[:1]):
            nearest = "; nearest:" if found else ", and nothing that is written like it."
            self._add(QListWidgetItem(f"Kinetostat has no “{typed.strip()}” here{nearest}"), None)
            found = found[:NEAREST]
        for name, entry in found[:SHOWN]:
            self._add(QListWidgetItem(icon(entry.picture), entry.words(name)), entry)
        self.list.setCurrentRow(0)  # Enter does nothing on a row that is no entry

    def _add(self, item: QListWidgetItem, entry: Entry | None) -> None:
        """Add a row; one that cannot be taken is grey."""
        if entry is not None:
            item.setData(Qt.ItemDataRole.UserRole, entry)
        if entry is None or not entry.now:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    @staticmethod
    def _is_called(typed: str, name: str, entry: Entry) -> bool:
        return is_meant(typed, name or f"{entry.place} {entry.title}")

    def found(self, typed: str) -> list[tuple[str, Entry]]:
        """What fits, each with the name it was found by: what can be meant first, then what only has the letters; what
        cannot be done now only by a name of its own, and behind what begins so."""
        found = []
        for number, entry in enumerate(self._entries):
            fit = entry.found_by(typed) if typed else (0.0, "")
            elsewhere = f"{entry.place} {entry.title}"
            if (fit is None or not is_meant(typed, fit[1])) and (rough := score(typed, elsewhere)) is not None:
                fit = (rough - ELSEWHERE, "") if fit is None or is_meant(typed, elsewhere) else fit
            if fit is not None and (entry.now or fit[0] >= BEGUN):
                scattered = bool(typed) and not self._is_called(typed, fit[1], entry)
                points = -fit[0] if entry.now else NOT_NOW - fit[0]
                found.append((scattered, points, number, fit[1], entry))
        found.sort(key=lambda each: each[:3])
        return [each[3:] for each in found]

    def _take(self) -> None:
        item = self.list.currentItem()
        entry = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if entry is not None and entry.now:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys move in the list, Enter takes, while one types."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = Qt.Key
            if event.key() in (key.Key_Up, key.Key_Down, key.Key_PageUp, key.Key_PageDown):
                step = {key.Key_Up: -1, key.Key_Down: 1, key.Key_PageUp: -10, key.Key_PageDown: 10}[key(event.key())]
                self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
                return True
            if event.key() in (key.Key_Return, key.Key_Enter):
                self._take()
                return True
        return False
