"""Editors for choices: one of several options, another element, or yes/no."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QSizePolicy, QWidget

from app.plain_text import escape_tip
from app.preferences.element_icons import option_icon
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.plain_keys import PlainKeyFilter, TextFieldKeyFilter, WheelWhenFocused
from core.model import (
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    SENSOR_KINDS,
    WORLD,
    Constraint,
    Force,
    Joint,
    Model,
    Sensor,
    Strand,
)
from core.model import Signal as DocumentSignal
from core.model.edits.rewiring import geometric_sensors, scalar_sensors
from core.model.element_kinds import ElementKind
from core.model.fields import ChoiceKind, Element, Field, ReferenceKind
from core.model.signal_elements import BLOCK_KINDS


class NarrowCombo(WheelWhenFocused, QComboBox):
    """Combo box that ignores the mouse wheel unless focused, and that may become narrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        PlainKeyFilter(self)


class ChoiceEditor(FieldEditor):
    """Editor for one of several options."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, ChoiceKind)
        self.kind: ChoiceKind = field.kind
        self.combo = NarrowCombo(self)
        self.offered: tuple[str, ...] = ()
        self._fill_options(field.kind.options)
        self.combo.activated.connect(self._on_chosen)
        self.column.addWidget(self.combo)
        self.setFocusProxy(self.combo)
        self.value = ""

    def show_value(self, value: str, owner: Element, context: Context) -> None:
        self.value = value
        options = self.kind.options
        self._fill_options(options if value in options else (*options, value))
        self.combo.setCurrentIndex(self.combo.findData(value))
        self.combo.setEnabled(not context.read_only)
        self.show_note("")

    def _fill_options(self, options: tuple[str, ...]) -> None:
        """Fill the list with these options, which may have changed: the user may have added kinds, or the element's own
        kind may be unknown."""
        if options == self.offered:
            return
        self.combo.clear()
        for option in options:
            drawing, title = icon(option_icon(self.owner, option)), option_title(self.owner, self.field.name, option)
            self.combo.addItem(drawing, title, option)
            about = kind_title(self.owner, option) if self.field.name == "kind" else ""
            self.combo.setItemData(self.combo.count() - 1, escape_tip(about), Qt.ItemDataRole.ToolTipRole)
        self.offered = options

    def _on_chosen(self, index: int) -> None:
        option = self.combo.itemData(index)
        if option != self.value and self.try_commit(option):
            self.combo.setCurrentIndex(self.combo.findData(self.value))


def option_title(owner: type, field: str, option: str) -> str:
    """Return the title of an option; kinds of forces and constraints may declare their own short title."""
    kinds: dict[str, Mapping[str, type[ElementKind]]] = {
        "Force": FORCE_KINDS,
        "Constraint": CONSTRAINT_KINDS,
        "Signal": BLOCK_KINDS,
    }
    if field == "kind" and (kind := kinds.get(owner.__name__, {}).get(option)) is not None and kind.short_title:
        return kind.short_title
    words = {
        ("LineMass", "from_a"): "distance from the first end",
        ("LineMass", "from_b"): "distance from the second end",
        ("LineMass", "fraction"): "fraction of the length",
    }
    return words.get((owner.__name__, option), option.replace("_", " "))


def kind_title(owner: type, option: str) -> str:
    """Return the title of a kind of force, sensor or constraint."""
    kinds: dict[type, Mapping[str, Any]] = {
        Sensor: SENSOR_KINDS,
        Force: FORCE_KINDS,
        Constraint: CONSTRAINT_KINDS,
        DocumentSignal: BLOCK_KINDS,
    }
    if owner not in kinds:
        return ""
    return str(kinds[owner][option].title) if option in kinds[owner] else "This kind is unknown to this program"


def selectable_names(model: Model, target: str) -> list[str]:
    """Return the names that a reference to an element of type `target` may hold, the ground first where it is
    allowed."""
    expanded = model.expanded
    bodies = [body.name for body in expanded.bodies]
    match target:
        case "body":
            return [WORLD, *bodies]
        case "frame":
            return [WORLD, *bodies, *(frame.name for frame in expanded.frames)]
        case "point":
            return [*selectable_names(model, "frame"), *(junction.name for junction in expanded.junctions)]
        case "joint":
            return [joint.name for joint in expanded.joints]
        case "sensor":
            return [sensor.name for sensor in expanded.sensors]
        case "force":
            return [force.name for force in expanded.forces]
        case "motion":
            return [motion.name for motion in model.motions]
        case "parameter":
            return [parameter.name for parameter in expanded.parameters]
        case "place":
            return [*(pose.name for pose in model.poses), *(target.name for target in model.targets)]
        case _:
            return [material.name for material in model.materials]


class NameCombo(NarrowCombo):
    """Searchable combo box of element names. `names` is called whenever the list is opened or focused; Escape discards
    typed or refused text."""

    taken_back = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: Callable[[], list[str]] = list
        self.refused = False
        self.setEditable(True)
        TextFieldKeyFilter(self, self.has_edited_text)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)

    def has_edited_text(self) -> bool:
        """Return True if the text differs from the committed value."""
        return self.refused or self.lineEdit().isModified()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.has_edited_text():
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)

    def showPopup(self) -> None:
        self.fill_names()
        super().showPopup()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.fill_names()
        super().focusInEvent(event)

    def fill_names(self) -> None:
        """Update the list of names without changing the typed text."""
        names = self.names()
        if names == [self.itemText(i) for i in range(self.count())]:
            return
        text, modified = self.currentText(), self.lineEdit().isModified()
        self.clear()
        self.addItems(names)
        completer = QCompleter(names, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.popup().setObjectName("completions")
        self.setCompleter(completer)
        self.setCurrentIndex(self.findText(text))
        self.setEditText(text)
        self.lineEdit().setModified(modified)


class NameEditor(FieldEditor):
    """Editor for a name that is chosen from a list or typed; `names` of the combo box returns the existing names."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.combo = NameCombo(self)
        self.combo.activated.connect(lambda _index: self._commit_text())
        self.combo.lineEdit().editingFinished.connect(self._on_typed)
        self.combo.taken_back.connect(self._write_name)
        self.column.addWidget(self.combo)
        self.setFocusProxy(self.combo)
        self.value, self.problem = "", ""
        self.words = ""
        """Explain the name that is taken."""

    def show_name(self, value: str, context: Context) -> None:
        """Show the committed name, unless another text is being typed or was refused."""
        self.combo.setEnabled(not context.read_only)
        if value != self.value or not (self.problem or self.combo.lineEdit().isModified()):
            self.value = value
            self._write_name()

    def discard_text(self) -> None:
        self._write_name()

    def _write_name(self) -> None:
        self.problem, self.combo.refused = "", False
        self.combo.setEditText(self.value)
        self.combo.lineEdit().setModified(False)
        self.combo.lineEdit().setCursorPosition(0)
        self.show_note(self.words)

    def _on_typed(self) -> None:
        if self.combo.lineEdit().isModified():
            self._commit_text()

    def _commit_text(self) -> None:
        text = self.combo.currentText().strip()
        if text == self.value:
            self._write_name()
            return
        self.problem = ""
        self.combo.lineEdit().setModified(False)
        self.problem = self.try_commit(text)
        self.combo.refused = bool(self.problem)
        if self.problem:
            self.combo.setEditText(text)
            self.combo.lineEdit().setModified(False)


class ReferenceEditor(NameEditor):
    """Editor for the name of another element."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, ReferenceKind)
        self.kind: ReferenceKind = field.kind
        if self.kind.optional:
            said = field.help.partition("; empty: ")[2]
            place = self.kind.target in ("frame", "point")
            self.combo.lineEdit().setPlaceholderText(said or ("world" if place else "none"))

    def show_value(self, value: str, owner: Element, context: Context) -> None:
        itself = getattr(owner, "name", "")
        child = owner.child if isinstance(owner, Joint) else ""

        def names() -> list[str]:
            found = [name for name in selectable_names(context.model, self.kind.target) if name != itself]
            if self.kind.target == "sensor":
                found = [name for name in found if name in compatible_sensors(context.model, owner)]
            if self.field.name == "child":
                found = [name for name in found if name != WORLD]
            elif child and self.kind.target == "frame":
                found = [name for name in found if name != child]
            return ["", *found] if self.kind.optional and WORLD not in found else found

        self.combo.names = names
        self.show_name(value, context)


def compatible_sensors(model: Model, owner: Element) -> list[str]:
    """Return the names of the sensors that an element of this kind can refer to."""
    if isinstance(owner, Sensor):
        return [sensor.name for sensor in model.expanded.sensors if sensor.kind == owner.kind]
    return scalar_sensors(model) if isinstance(owner, Force | Strand) else geometric_sensors(model)


class CoordinateEditor(FieldEditor):
    """Editor for the choice of a joint's coordinate."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.combo = NarrowCombo(self)
        self.combo.activated.connect(self._on_chosen)
        self.column.addWidget(self.combo)
        self.setFocusProxy(self.combo)

    def show_value(self, value: str, owner: Element, context: Context) -> None:
        named = getattr(owner, "joint", "")
        joint = next((each for each in context.model.expanded.joints if each.name == named), None)
        names = joint.info.coordinates if joint is not None else ()
        if [self.combo.itemText(i) for i in range(self.combo.count())] != list(names):
            self.combo.clear()
            self.combo.addItems(list(names))
        self.combo.setCurrentIndex(self.combo.findText(value))
        self.combo.setEnabled(not context.read_only)
        self.show_note("")

    def _on_chosen(self, index: int) -> None:
        self.try_commit(self.combo.itemText(index))


class FlagEditor(FieldEditor):
    """Editor for yes or no."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.box = QCheckBox(self)
        self.box.clicked.connect(self.try_commit)
        PlainKeyFilter(self.box)
        self.column.addWidget(self.box)
        self.setFocusProxy(self.box)

    def show_value(self, value: bool, owner: Element, context: Context) -> None:
        self.box.setChecked(value)
        self.box.setEnabled(not context.read_only)
        self.show_note("")
