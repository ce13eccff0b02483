"""The help on the window, elements, functions and commands, and the page of keys and mouse gestures; mostly generated
from declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.commands import command_table
from app.dialogs.matching import normalised_search_text
from app.panels import declared_panels
from app.tools.draw.sub_tools import SUB_TOOLS
from app.widgets.fields.shown_fields import field_title, type_title
from core.functions import FUNCTIONS, Function
from core.model import COLLECTIONS, JOINT_KINDS, SENSOR_KINDS, Limit, Model
from core.model.constraints import CONSTRAINT_KINDS
from core.model.element_kinds import ElementKind
from core.model.fields import Element, declared_fields
from core.model.forces import FORCE_KINDS
from core.model.signal_elements import BLOCK_KINDS
from resources import Example, examples

if TYPE_CHECKING:
    from app.commands import Command


WINDOW_PARTS = {
    "scene": (
        "3-D view",
        "Left drag orbits, middle drag or Shift+drag pans, the wheel zooms to the pointer; a double click sets the "
        "centre of orbits. A click selects; with the pointer at rest on a link its joint's handle appears: drag its "
        "ring or arrow. A right click offers the actions for the item under the pointer. The cube turns the view, "
        "the buttons next to it choose what is drawn.",
    ),
    "timeline": (
        "Timeline",
        "Plays a run or a sequence of poses. Drag the slider, Space plays and pauses, ← and → step, Home and End go "
        "to the ends. ✓ keeps the pose that is shown, ✕ goes back to the pose before. Flags above the track mark where "
        "joints slipped, stuck or met a stop or a limit: rest on one to read it, click it to go there. The "
        "lanes below show the friction and contact states of each joint; a click goes to the instant, near a change "
        "of colour exactly there. The legend below the lanes names the colours; the link next to it shows all lanes.",
    ),
    "status": (
        "Status line",
        "What the chosen tool does, the computation in progress (with a button that stops it), and the degrees "
        "of freedom of the machine; the function Mobility says which motions they are.",
    ),
}
"""Title and description of each part of the window that is not a panel."""

_MEANT = {
    "parameters": "A named number. It can stand in every formula of the model, and has a slider.",
    "materials": "A named colour of shapes.",
    "bodies": "A rigid body: mass, centre of mass, inertia about it, and shapes. Without shapes a plain link is drawn.",
    "frames": "A named coordinate frame on a body: for tools, sensors, ends of springs.",
    "joints": "Joins two bodies, or a body and the world. A joint that closes a loop is an ordinary joint.",
    "chains": "A Denavit–Hartenberg table, standard or modified: a row makes a joint and a link.",
    "assemblies": "The machine of another file, with values of its own for that file's parameters.",
    "junctions": "A massless point where line forces meet; its position is where these forces balance.",
    "sensors": "Something measured: distances, angles, velocities, forces; for plots, formulas, drivers.",
    "forces": "Springs, dampers, and forces by formulas or tables.",
    "constraints": "Holds a sensor at a value, couples two joints as gears do, or joins two points by a rod.",
    "signals": "A value computed while the machine moves, or a controller of its joints; formulas use it by its name.",
    "drivers": "Moves a joint or a sensor as a function of time; it applies the force needed for that.",
}
"""Descriptions of elements by collection; functions of the machine have their own."""


def _element_kinds() -> dict[str, list[tuple[str, str]]]:
    """Return the kinds of elements with their descriptions, by collection."""
    of_elements: dict[str, Mapping[str, type[ElementKind]]] = {
        "forces": FORCE_KINDS,
        "constraints": CONSTRAINT_KINDS,
        "signals": BLOCK_KINDS,
    }
    return {
        "joints": [
            (kind.name, f"{kind.help[:-1]} ({kind.nv} degree{'s' * (kind.nv != 1)} of freedom)")
            for kind in JOINT_KINDS.values()
        ],
        "sensors": [(kind.name, kind.title) for kind in SENSOR_KINDS.values()],
        **{
            collection: [(kind.name, f"{kind.title}. {kind.help}".rstrip(". ") + ".") for kind in kinds.values()]
            for collection, kinds in of_elements.items()
        },
    }


_DRAWING = (
    ("Double click", "ends the chain on the ground; Enter or a right click leaves its end free"),
    ("Shift+click", "adds a third point to a link, which becomes a plate"),
    ("Digits, signs, =", "a length, length < angle, or u, v of a point, with units and formulas; Enter accepts it"),
    ("Backspace", "removes the last link; Esc drops the link being drawn, a second Esc leaves Draw"),
    ("Arrow keys", "move the pin under the pointer by a step of the grid"),
    ("Tab", "another plane, before the first click; 0 shows it obliquely, 1 face-on again"),
    (
        "… next to the plane",
        "a plane: offset, turned, through the selected joint, or on a face (Shift+D: under the pointer)",
    ),
    ("V", "the other branch of the two links at the pin under the pointer"),
    ("Alt", "a new point even on top of an existing one; Ctrl: no snapping to grid and directions"),
)
"""Keys and mouse actions that all drawing tools share."""


_LAWS = """
<h4>Friction</h4>
<p>At rest, friction takes the value that holds the joint,
at most F<sub>s</sub> (friction at rest). While it slides with the
speed v it acts against the motion with F<sub>k</sub> + (F<sub>s</sub> − F<sub>k</sub>) e<sup>−(v/v<sub>s</sub>)²</sup>
(F<sub>k</sub>: friction while it slides, v<sub>s</sub>: Stribeck speed), besides the viscous damping d v. Without a
friction at rest both are the same. A joint that sticks does not creep.
In a ball joint, and in the plane of a planar joint,
friction is one vector opposite to the speed, at most of that length, however the axes are turned.</p>
<p>A <b>brake</b> is a joint whose friction is a formula of time, coordinates and speeds, such as min(40*t, 12); where
it is zero the joint is free. A <b>clutch</b> is a force element: the same friction between two joints, against
v − ratio · v of the leader. It slips until both turn alike, then holds what its friction at rest can carry. Formulas
of friction must not become negative.</p>
<h4>Stops</h4>
<p>An <b>elastic</b> stop that is pushed in by p presses with k p + d ṗ; it never pulls. Without a damping of its own
d = 2 ζ √(k m) follows from the restitution e and the inertia m that is met: ζ = cos α, e = exp(−2 α cot α), at any
speed. The law <b>hunt_crossley</b>, k p (1 + c ṗ), begins without a jump of the force; there e holds at the speed v
that the limits are made for: (1 + e) δ = ln((1 + δ)/(1 − e δ)) with δ = c v. A joint that hardly
vibrates in its stop any more,
less than the tolerance of the run, is held until its load changes. Where no stiffness is given, k = m (v/p)² with the
inertia m that the machine shows at the joint when it first meets the stop, and a thousandth of the way between the
limits as p; a note of the run reports it. At a <b>rigid</b> stop the
joint rebounds at once: the speed after an impact is −e
times the speed before it; a sequence of ever shorter bounces ends at rest.</p>
<h4>Modes</h4>
<p>Runs record the state of each of them, as channels like <i>elbow.friction.mode</i>: stick, slide+, slide- (onward,
backward; slide of a ball joint), saturated (at rest with all the friction there is, because others hold it), free (of a
brake or clutch that has none); open, closed, leaving (of an
elastic stop, on its way out without a force); free, at limit; overrun (loads are faster than the speed limit);
saturated+, saturated- (the command of a motor is more than its effort limit).</p>
"""
"""Description of the laws of friction and stops in joints."""


def drawing_keys_html() -> str:
    """Return the keys of the drawing tools and further mouse actions (HTML)."""
    rows = [(each.key.upper(), f"{each.title}: {each.help}") for each in SUB_TOOLS.values()]
    listed = "".join(
        f"<tr><td><b>{escape(key)}</b></td><td>{escape(meant)}</td></tr>" for key, meant in (*rows, *_DRAWING)
    )
    return f"<h4>In Draw</h4><table cellspacing='0' cellpadding='4'>{listed}</table>"


def window_topics() -> dict[str, tuple[str, str]]:
    """Return title and text (HTML) by topic id: "panel.<id>" and "element.<collection>"."""
    parts = {**WINDOW_PARTS, **{panel.id: (panel.title, panel.help) for panel in declared_panels()}}
    found = {f"panel.{name}": (title, f"<h2>{title}</h2><p>{text}</p>") for name, (title, text) in parts.items()}
    found["element.model"] = (
        "Whole model",
        _element_text("Whole model", "Settings of the machine as a whole.", Model, []),
    )
    kinds = _element_kinds()
    for collection, element in COLLECTIONS.items():
        title = type_title(element)
        title = title[:1].upper() + title[1:]
        text = _element_text(title, _MEANT.get(collection) or element.meaning, element, kinds.get(collection, []))
        found[f"element.{collection}"] = (title, text + _TEXT_AFTER.get(collection, ""))
    return found


def _field_rows(element: type[Element]) -> str:
    """Return a table row per field of an element; the field's name is the anchor of its row."""
    return "".join(
        f'<tr><td><a name="{field.name}"></a><b>{escape(field_title(field, element))}</b></td>'
        f"<td>{escape(field.help)}</td></tr>"
        for field in declared_fields(element)
        if element is not Model or field.name in ("name", "description", "world")
    )


_TEXT_AFTER = {"joints": f"<h4>Limits</h4><table cellspacing='0' cellpadding='4'>{_field_rows(Limit)}</table>{_LAWS}"}
"""Text that follows the table of fields, by collection."""


def _element_text(title: str, meaning: str, element: type[Element], kinds: list[tuple[str, str]]) -> str:
    """Return the help on an element: heading, meaning, kinds, and a table of its fields, each anchored by name."""
    rows, table = _field_rows(element), "<table cellspacing='0' cellpadding='4'>"
    listed = "".join(f"<tr><td><b>{escape(name)}</b></td><td>{escape(meant)}</td></tr>" for name, meant in kinds)
    said = f"<h4>Kinds</h4>{table}{listed}</table>" if kinds else ""
    return f"<h2>{escape(title)}</h2><p>{escape(meaning)}</p>{said}<h4>Fields</h4>{table}{rows}</table>"


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
        self._texts = help_topics()
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
        """List the topics under the headings of their groups."""
        last = ""
        for topic, (title, _) in self._texts.items():
            group = topic_group(topic)
            if group != last:
                heading = QListWidgetItem(group)
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(heading)
                last = group
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, topic)
            self.list.addItem(item)

    def _row_topic(self, row: int) -> str | None:
        """Return the topic of a row; None for a heading."""
        topic = self.list.item(row).data(Qt.ItemDataRole.UserRole)
        return None if topic is None else str(topic)

    def _follow_link(self, link: QUrl) -> None:
        """Follow a link: open an example, or show the page of a topic."""
        name = link.path()
        if link.scheme() == EXAMPLE:
            self.chosen.emit(next(each.path for each in examples() if each.name == name))
        elif link.scheme() == TOPIC:
            self.go_to(name)
        else:
            QDesktopServices.openUrl(link)

    @staticmethod
    def open_topic(parent: QWidget, topic: str) -> HelpDialog:
        """Open the help on a function or command; on the first page if that has no topic."""
        dialog = HelpDialog(parent)
        dialog.go_to(topic)
        dialog.show()
        return dialog

    def go_to(self, topic: str) -> None:
        """Show a topic; a # and a field's name after it scroll to that field."""
        topic, _, field = topic.partition("#")
        rows = {self._row_topic(row): row for row in range(self.list.count())}
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
        """List only topics whose page contains all typed words; the one with the words in its title is shown."""
        words = normalised_search_text(typed).split()
        heading: QListWidgetItem | None = None
        left: list[QListWidgetItem] = []
        for row in range(self.list.count()):
            item, topic = self.list.item(row), self._row_topic(row)
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
    """Return True if all words occur in a text, with or without its blanks."""
    together = text.replace(" ", "")
    return all(word in text or word in together for word in words)


def topic_group(topic: str) -> str:
    """Return the heading under which a topic is listed; "" for the first page."""
    if topic.startswith("panel."):
        return "The window"
    if topic.startswith("element."):
        return "Elements of a model"
    if topic.startswith("example."):
        return "Examples"
    if topic.startswith("function."):
        return f"Functions: {FUNCTIONS[topic.removeprefix('function.')].group}"
    command = command_table().get(topic)
    if command is None:
        return ""
    return f"Menu {command.menu.partition('/')[0]}" if command.menu else "Other commands"


def help_topics() -> dict[str, tuple[str, str]]:
    """Return title and text (HTML) by topic id."""
    found = {"": ("Getting started", START), **window_topics()}
    for function in FUNCTIONS.values():
        found[f"function.{function.id}"] = (function.title, function_text(function))
    for command in command_table().values():
        if not command.id.startswith("function."):
            found[command.id] = (command.title.rstrip("…"), command_text(command))
    title, text = found["tool.draw"]
    found["tool.draw"] = (title, text + drawing_keys_html())
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
    """Return the help on a command: what it does and in which menu it is."""
    place = f"<p>Menu: {escape(command.menu.replace('/', ' ▸ '))}</p>" if command.menu else ""
    also = _other_names_text(command.also)
    keys = f"<p>Key: {escape(command.shortcut)}</p>" if command.shortcut else ""
    title = escape(command.title.rstrip("…"))
    return f"<h2>{title}</h2><p>{escape(command.help)}</p>{place}{keys}{also}"


MOUSE_GESTURES = (
    ("Left drag", "orbit; on a handle: move the joint; with the Move tool on a body: pull it"),
    ("Middle drag, Shift + left drag", "pan"),
    ("Wheel", "zoom to the pointer"),
    ("Click", "select"),
    ("Double click", "set the centre of orbiting"),
    ("Right click", "menu of actions for the item under the pointer"),
    ("Right drag", "orbit"),
    ("Ctrl while dragging a handle", "snap to 5° or 10 mm"),
    ("Trackpad: two fingers", "pan; with Shift orbit; with Ctrl zoom"),
    ("Trackpad: pinch", "zoom to the pointer"),
)


class KeyboardDialog(QDialog):
    """Dialog with two tables: keys and mouse gestures."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard and mouse")
        self.resize(620, 640)
        text = QTextBrowser()
        text.setHtml(keyboard_page())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(text)
        column.addWidget(buttons)


def keyboard_page() -> str:
    """Return the page of keys and mouse gestures as HTML."""
    rows = []
    for command in command_table().values():
        keys = [QKeySequence(key.strip()) for key in command.shortcut.split(",") if key.strip()]
        if keys:
            shown = " or ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
            rows.append((shown, command.title.rstrip("…")))
    return f"<h3>Mouse and trackpad</h3>{_html_table(MOUSE_GESTURES)}<h3>Keys</h3>{_html_table(rows)}"


def _html_table(rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    inside = "".join(f"<tr><td width='230'><b>{escape(a)}</b></td><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table cellspacing='0' cellpadding='3'>{inside}</table>"
