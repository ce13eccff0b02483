"""The command palette: finds commands, functions, elements and examples by parts of their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout

from app.commands import command_table
from app.dialogs.matching import BEGUN, EXACT, PARTS, best_similarity, match_score
from app.document.revision import ElementRef
from app.panels import declared_panels
from app.preferences.element_icons import element_icon
from app.preferences.icons import icon
from app.widgets.label import Label
from core.model import QUESTIONS, WORDS
from resources import examples

if TYPE_CHECKING:
    from app.workbench import Workbench

SHOWN = 60
"""Largest number of entries listed."""
SIZE = QSize(620, 440)
COLLECTIONS_FOUND = (
    "bodies",
    "joints",
    "frames",
    "forces",
    "sensors",
    "constraints",
    "drivers",
    "signals",
    "assemblies",
    "junctions",
    "chains",
    "parameters",
    "materials",
    *QUESTIONS,
)
"""Collections whose elements are searched."""


class PaletteEntry(NamedTuple):
    """An entry of the palette."""

    title: str
    place: str
    picture: str
    keys: str
    run: Callable[[], object]
    also: tuple[str, ...] = ()
    now: bool = True
    """True if the action is available now."""

    def match(self, typed: str) -> tuple[float, str] | None:
        """Return (score, matching name) for typed text: the name is the title, a synonym, or "" if only the description
        matches; None for no match."""
        fits = [(points, name) for name in (self.title, *self.also) if (points := match_score(typed, name)) is not None]
        everything = match_score(typed, " ".join((self.place, self.title, *self.also)))
        if everything is not None and everything >= PARTS:
            fits.append((min(everything, PARTS), ""))
        return max(fits, key=lambda fit: fit[0]) if fits else None

    def row_text(self, name: str) -> str:
        """Return the text of the entry's row for the name that matched."""
        title = self.title if name in ("", self.title) else f"{name[:1].upper()}{name[1:]} — {self.title}"
        now = "" if self.now else "    not available now"
        return f"{title}      {self.place}{f'    {self.keys}' if self.keys else ''}{now}"


NEAREST = 6
"""Number of similar entries suggested if no entry matches."""


class CommandPalette(QFrame):
    """Search box and list floating over the window; Enter runs the selected entry, Esc closes."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench.widget, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("overlay")
        self._bench = bench
        self._entries = [*self._command_entries(), *self._element_entries(), *self._example_entries()]
        self.line = QLineEdit(placeholderText="Search for a command, function, element or example")
        self.line.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.line.textChanged.connect(self._filter_entries)
        self.line.installEventFilter(self)
        self.list = QListWidget()
        self.list.setIconSize(QSize(18, 18))
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(lambda _: self._run_selected_entry())
        self.about = Label(wordWrap=True)
        self.about.setObjectName("muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.line)
        column.addWidget(self.list)
        self._filter_entries("")

    def open_palette(self) -> None:
        """Show the palette at the top of the window."""
        host = self._bench.widget
        self.resize(SIZE.boundedTo(host.size() * 0.9))
        corner = host.mapToGlobal(host.rect().topLeft())
        self.move(corner.x() + (host.width() - self.width()) // 2, corner.y() + 90)
        self.show()
        self.line.setFocus()

    def _command_entries(self) -> list[PaletteEntry]:
        bench = self._bench
        entries = []
        for command in command_table().values():
            first = command.shortcut.split(",")[0].strip()
            keys = QKeySequence(first).toString(QKeySequence.SequenceFormat.NativeText) if first else ""
            place = command.menu.replace("/", " ▸ ")
            run = partial(bench.run_command, command.id)
            title, now = command.title.rstrip("…"), command.is_available(bench)
            entries.append(PaletteEntry(title, place, command.icon, keys, run, command.also, now))
        names = {panel.id: panel.also for panel in declared_panels()}
        for panel, title in bench.panels.panel_titles.items():
            show = partial(bench.panels.show_panel, panel)
            also = (title, *names.get(panel, ()))
            entries.append(PaletteEntry(f"Show panel {title}", "View ▸ Panels", "properties", "", show, also))
        return entries

    def _element_entries(self) -> list[PaletteEntry]:
        session = self._bench.session
        entries = []
        for collection in COLLECTIONS_FOUND:
            own = {element.name: element for element in getattr(session.model, collection)}
            brought = {element.name: element for element in getattr(session.model.expanded, collection)}
            for name, element in (brought | own).items():
                picture = element_icon(collection, element)
                run = lambda name=name, collection=collection: session.select(ElementRef(collection, name))  # noqa: E731
                entries.append(PaletteEntry(name, f"select {WORDS[collection]}", picture, "", run))
        return entries

    def _example_entries(self) -> list[PaletteEntry]:
        files = self._bench.files
        return [
            PaletteEntry(example.title, "open example", "examples", "", partial(files.open_example, example.path))
            for example in examples()
        ]

    def _filter_entries(self, typed: str) -> None:
        self.list.clear()
        found = self.find_entries(typed)
        if typed.strip() and not found:
            found = [("", entry) for entry in self.find_similar_entries(typed)]
            nearest = "; nearest:" if found else " or anything similar."
            self._add_row(QListWidgetItem(f"Kinetostat has no “{typed.strip()}” here{nearest}"), None)
        for name, entry in found[:SHOWN]:
            self._add_row(QListWidgetItem(icon(entry.picture), entry.row_text(name)), entry)
        self.list.setCurrentRow(0)  # Enter does nothing on a row that is no entry

    def _add_row(self, item: QListWidgetItem, entry: PaletteEntry | None) -> None:
        """Add a row; an unavailable entry is grey."""
        if entry is not None:
            item.setData(Qt.ItemDataRole.UserRole, entry)
        if entry is None or not entry.now:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def find_entries(self, typed: str) -> list[tuple[str, PaletteEntry]]:
        """Return the matching entries, each with the name that matched, best first: exact matches, then available
        entries. If available entries match, unavailable ones are listed only if whole words of their own names match.
        """
        found = []
        for number, entry in enumerate(self._entries):
            fit = entry.match(typed) if typed.strip() else (0.0, "")
            if fit is not None:
                found.append((fit[0] < EXACT, not entry.now, -fit[0], number, fit[1], entry))
        if any(entry.now for *_, entry in found):
            found = [each for each in found if each[5].now or -each[2] >= BEGUN]
        found.sort(key=lambda each: each[:4])
        return [each[4:] for each in found]

    def find_similar_entries(self, typed: str) -> list[PaletteEntry]:
        """Return the entries whose names are most similar to typed text that matches none."""
        near = [
            (-points, number, entry)
            for number, entry in enumerate(self._entries)
            if entry.now and (points := best_similarity(typed, (entry.title, *entry.also)))
        ]
        return [entry for *_, entry in sorted(near, key=lambda each: each[:2])[:NEAREST]]

    def _run_selected_entry(self) -> None:
        item = self.list.currentItem()
        entry = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if entry is not None and entry.now:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Use the arrow keys and Enter for the list while the user types."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = Qt.Key
            if event.key() in (key.Key_Up, key.Key_Down, key.Key_PageUp, key.Key_PageDown):
                step = {key.Key_Up: -1, key.Key_Down: 1, key.Key_PageUp: -10, key.Key_PageDown: 10}[key(event.key())]
                self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
                return True
            if event.key() in (key.Key_Return, key.Key_Enter):
                self._run_selected_entry()
                return True
        return False
