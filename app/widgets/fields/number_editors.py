"""Editors for number fields: one number, several in a row, rotations, and the length of a link (the distance between
two of its joints, or between a joint and its tip)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from app.document.link_lengths import LinkLength
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.fields.shown_fields import field_title
from app.widgets.label import Label
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, SIUnits, evaluate_value, format_quantity
from core.joints import Revolute
from core.model import Joint, Model, Parameter
from core.model.bodies import Body
from core.model.edits.lengths import (
    current_link_length,
    is_length_locked,
    length_parameter,
    length_parameters,
    link_points,
)
from core.model.fields import Element, Field, ScalarKind, Value, VectorKind

AXIS_COLORS = {"x": "#d0453e", "y": "#3f9a4a", "z": "#3f78d0"}
"""Colours of the axes as in the scene: x red, y green, z blue."""


class LabelDragScrubber(QObject):
    """Changes a number by dragging its label left and right; the whole drag is one undo step."""

    PIXELS_PER_STEP = 4

    def __init__(self, label: QWidget, edit: QuantityEdit) -> None:
        super().__init__(label)
        self.edit = edit
        self._from: float | None = None
        label.setCursor(Qt.CursorShape.SizeHorCursor)
        label.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent) or isinstance(self.edit.value, str) or self.edit.isReadOnly():
            return False
        x = event.globalPosition().x()
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            self.edit.setFocus(Qt.FocusReason.MouseFocusReason)
            self.edit.begin_gesture()
            self._from = x
            return True
        if event.type() == QEvent.Type.MouseMove and self._from is not None:
            steps = int((x - self._from) / self.PIXELS_PER_STEP)
            if steps:
                self._from += steps * self.PIXELS_PER_STEP
                self.edit.step_value(steps)
            return True
        if event.type() == QEvent.Type.MouseButtonRelease and self._from is not None:
            self._from = None
            return True
        return False


class NumberEditor(FieldEditor):
    """Editor for one number or formula."""

    kind: ScalarKind

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, ScalarKind)
        self.kind = field.kind
        self.edit = self.create_field(field.kind)
        self.edit.commit = self.commit
        self.edit.explained.connect(self.show_note)
        self._promote: Callable[[QMenu], None] | None = None
        self.column.addWidget(self.edit)
        self.setFocusProxy(self.edit)

    def create_field(self, kind: ScalarKind) -> QuantityEdit:
        """Create the field in which the number is typed."""
        return QuantityEdit(optional=kind.optional, fold=self.owner is Parameter, parent=self)

    def discard_text(self) -> None:
        self.edit.discard_text()

    def show_value(self, value: Value | None, owner: Element, context: Context) -> None:
        edit = self.edit
        edit.settings = context.settings
        measure = context.field_measure(self.field)
        changed_unit = measure != edit.measure
        edit.measure = measure
        edit.setReadOnly(context.read_only)
        add_promotion_action(edit, self.path, context)
        edit.show_value(value, context.values)
        if changed_unit:
            edit.refresh_text()
        if edit.optional:
            counts = context.defaults.get(self.path)
            edit.setPlaceholderText("none" if counts is None else placeholder_text(counts, edit))


def placeholder_text(value: Value, edit: QuantityEdit) -> str:
    """Return the default value of an empty field as placeholder text."""
    return value if isinstance(value, str) else format_quantity(value, edit.measure, edit.settings, 3)


def add_promotion_action(edit: QuantityEdit, path: str, context: Context) -> None:
    """Add the action "make it a parameter" to a number's context menu, where it is possible."""
    promote, suggest = context.promote, context.suggest
    if promote is None or suggest is None or context.read_only:
        edit.add_actions = None
        return

    def add_action(menu: QMenu) -> None:
        if edit.value is not None:
            menu.addAction(f"Turn it into the parameter “{suggest(path)}”", lambda: promote(path))

    edit.add_actions = add_action


class VectorEditor(FieldEditor):
    """Editor for several numbers in a row, each below its label; the unit is shown in the label of the field."""

    PER_ROW = 3
    broad = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, VectorKind)
        self.kind: VectorKind = field.kind
        self.value: tuple[Value | None, ...] = ()
        self.settings: Any = SIUnits()
        self.measures: list[Measure] = []
        self.edits: list[QuantityEdit] = []
        self.labels: list[QLabel] = []
        self._said_by: dict[QuantityEdit, tuple[str, str]] = {}
        self.grid = QGridLayout()
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(4)
        self.grid.setVerticalSpacing(2)
        self.column.addLayout(self.grid)

    def label_unit(self) -> str:
        symbols = {measure.display_unit(self.settings).symbol for measure in self.measures}
        return symbols.pop() if len(symbols) == 1 else ""

    def show_value(self, value: Sequence[Value], owner: Element, context: Context) -> None:
        self.settings = context.settings
        self.show_numbers(tuple(value), self.kind.labels, self._component_measures(len(value), context), context)

    def _component_measures(self, count: int, context: Context) -> list[Measure]:
        return [context.field_measure(self.field, k) for k in range(count)]

    def show_numbers(
        self, value: tuple[Value | None, ...], labels: Sequence[str], measures: list[Measure], context: Context
    ) -> None:
        """Show numbers with their labels; the widgets are reused while the count stays the same."""
        self.value, self.measures = value, measures
        if len(self.edits) != len(value):
            long = any(len(label) > 2 for label in labels)
            self._build_fields(len(value), 1 if long else self.PER_ROW)
        mixed = not self.label_unit() and len(set(measures)) > 1
        for i, (edit, item, measure) in enumerate(zip(self.edits, value, measures, strict=True)):
            label = labels[i] if i < len(labels) else ""
            if label != self.labels[i].text():
                self.labels[i].setText(label)
                color = AXIS_COLORS.get(label)
                self.labels[i].setStyleSheet(f"color: {color}" if color else "")
            self.labels[i].setVisible(bool(label))
            edit.setAccessibleName(f"{field_title(self.field, self.owner)} {label}".strip())
            changed_unit = measure != edit.measure or edit.show_unit != mixed
            edit.settings, edit.measure, edit.show_unit = context.settings, measure, mixed
            edit.setReadOnly(context.read_only)
            add_promotion_action(edit, f"{self.path}.{i}", context)
            edit.show_value(item, context.values)
            if changed_unit:
                edit.refresh_text()

    def discard_text(self) -> None:
        for edit in self.edits:
            edit.discard_text()

    def _build_fields(self, count: int, per_row: int = PER_ROW) -> None:
        while self.grid.count():
            old = self.grid.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        self.edits, self.labels, self._said_by = [], [], {}
        for i in range(count):
            label = Label(parent=self)
            edit = self.create_field()
            edit.setPlaceholderText("")
            edit.commit = self._commit_function(i)
            edit.explained.connect(lambda words, severity, edit=edit: self._show_field_note(edit, words, severity))
            row, column = divmod(i, per_row)
            self.grid.addWidget(label, row, 2 * column)
            self.grid.addWidget(edit, row, 2 * column + 1)
            self.grid.setColumnStretch(2 * column + 1, 1)
            LabelDragScrubber(label, edit)
            self.labels.append(label)
            self.edits.append(edit)
        if self.edits:
            self.setFocusProxy(self.edits[0])

    optional_items = False

    def create_field(self) -> QuantityEdit:
        """Create the field in which one of the numbers is typed."""
        return QuantityEdit(show_unit=False, optional=self.optional_items, parent=self)

    def _commit_function(self, index: int) -> Callable[[Value | None, object], str]:
        def commit(item: Value | None, gesture: object) -> str:
            return self.commit_component(index, item, gesture)

        return commit

    def commit_component(self, index: int, item: Value | None, gesture: object) -> str:
        """Commit the vector with one number replaced."""
        return self.commit((*self.value[:index], item, *self.value[index + 1 :]), gesture)

    def _show_field_note(self, edit: QuantityEdit, text: str, severity: str) -> None:
        self._said_by[edit] = (text, severity)
        errors = [w for w, s in self._said_by.values() if s == "error" and w]
        if errors:
            self.show_note(errors[-1], "error")
            return
        worths = []
        for label, each in zip(self.labels, self.edits, strict=False):
            said = self._said_by.get(each, ("", ""))[0]
            if said:
                worths.append(f"{label.text()} {said}".strip())
        self.show_note(", ".join(worths))


class CoordinatesEditor(VectorEditor):
    """Editor for one optional number per joint coordinate (reference position) or speed (initial speed); an empty field
    means that no value is given."""

    optional_items = True
    broad = False

    def show_value(self, value: Sequence[Value], owner: Element, context: Context) -> None:
        self.settings = context.settings
        info = owner.info if isinstance(owner, Joint) else Revolute
        rates = self.field.name == "start_speed"
        self.neutral = (0.0,) * info.nv if rates else info.neutral
        labels, dimensions = (
            (info.speeds, info.speed_dimensions) if rates else (info.coordinates, info.coordinate_dimensions)
        )
        numbers: tuple[Value | None, ...] = tuple(value) or (None,) * len(labels)
        self.show_numbers(numbers, labels, [Measure(d) for d in dimensions], context)

    def commit_component(self, index: int, item: Value | None, gesture: object) -> str:
        items = [*self.value[:index], item, *self.value[index + 1 :]]
        if all(each is None for each in items):
            return self.commit((), gesture)
        if item is None:
            return "Enter all numbers or none."
        return self.commit(tuple(self.neutral[i] if x is None else x for i, x in enumerate(items)), gesture)


class RotationEditor(VectorEditor):
    """Editor for a rotation, as angles about the fixed axes x, y, z or as a quaternion x, y, z, w."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.form: QComboBox = NarrowCombo(self)
        self.form.addItems(["Angles x, y, z", "Quaternion"])
        self.form.setItemData(0, "About the fixed axes x, y, z in this order", Qt.ItemDataRole.ToolTipRole)
        self.form.setItemData(1, "x, y, z, w", Qt.ItemDataRole.ToolTipRole)
        self.form.activated.connect(self._switch_representation)
        self.column.insertWidget(0, self.form)
        self._context: Context | None = None

    def show_value(self, value: Sequence[Value], owner: Element, context: Context) -> None:
        self._context = context
        super().show_value(value, owner, context)
        self.form.setCurrentIndex(0 if len(value) == 3 else 1)
        numbers = all(not isinstance(item, str) for item in value)
        self.form.setEnabled(numbers and not context.read_only)
        self.form.setToolTip(
            "Representation of the rotation"
            if numbers
            else "Formulas cannot be converted. Replace them with numbers first."
        )

    def _switch_representation(self, index: int) -> None:
        assert self._context is not None
        numbers = [evaluate_value(item, self._context.values) or 0.0 for item in self.value]
        if index == 1 and len(numbers) == 3:
            self.try_commit(quaternion_from_angles(*numbers))
        elif index == 0 and len(numbers) == 4:
            self.try_commit(angles_from_quaternion(*numbers))


def quaternion_from_angles(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return (x, y, z, w) of R = Rz(yaw)·Ry(pitch)·Rx(roll), angles in rad."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def angles_from_quaternion(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return (roll, pitch, yaw) in rad about the fixed axes x, y, z; at pitch = ±90° the yaw is set to zero."""
    x, y, z, w = np.array([x, y, z, w]) / (math.hypot(x, y, z, w) or 1.0)
    sine = float(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    if abs(sine) > 1 - 1e-12:
        return (2 * math.atan2(x, w), math.copysign(math.pi / 2, sine), 0.0)
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return (roll, math.asin(sine), yaw)


class LinkLengthEditor(NumberEditor):
    """Editor for a link length; if the link has several joints, a menu selects the one to which the length is
    measured."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.edit.commit = self._set_length
        self.far = ""
        self._body = ""
        self._model: Model | None = None
        self.to = QToolButton(self)
        self.to.setToolTip("Joint to which the length is measured")
        self.to.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.to.setMenu(QMenu(self.to))
        self.to.menu().aboutToShow.connect(self._open_joint_menu)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        self.column.removeWidget(self.edit)
        row.addWidget(self.edit, 1)
        row.addWidget(self.to)
        self.column.insertLayout(0, row)
        self.choices: QMenu | None = None

    def discard_text(self) -> None:
        super().discard_text()
        self.far = ""

    def show_value(self, value: Value | None, owner: Element, context: Context) -> None:
        assert isinstance(owner, Body)
        self._model, self._body = context.model, owner.name
        joints = [point.joint for point in link_points(context.model, owner.name)[1:]]
        self.far = self.far if self.far in joints else joints[0]
        self.to.setText(f"to {self.far}")
        self.to.setVisible(len(joints) > 1)
        super().show_value(current_link_length(context.model, owner.name, self.far), owner, context)
        self.edit.add_actions = None  # the length is no number of the document by itself
        self.show_findings((), describe_link_length(context.model, owner.name, self.far))

    def _open_joint_menu(self) -> None:
        menu = self.to.menu()
        menu.clear()
        assert self._model is not None
        for point in link_points(self._model, self._body)[1:]:
            menu.addAction(point.joint, lambda joint=point.joint: self._set_measured_joint(joint))

    def _set_measured_joint(self, joint: str) -> None:
        self.far = joint
        model = self._model
        assert model is not None
        self.to.setText(f"to {joint}")
        self.edit.show_value(current_link_length(model, self._body, joint), model.values())
        self.show_findings((), describe_link_length(model, self._body, joint))

    def _set_length(self, value: Value | None, gesture: object) -> str:
        """Request a new length; if this would replace formulas, offer choices of how to treat them."""
        if value is None:
            return "The length cannot be empty. Enter a number."
        if self._model is not None and (name := _determining_parameter(self._model, self._body, self.far)):
            self._open_formula_menu(value)
            return f"The length depends on {name}, which other elements may also use. Choose what to change."
        problem = self.commit(LinkLength(value, self.far), gesture)
        if problem and self._model is not None and is_length_locked(self._model, self._body, self.far):
            self._open_formula_menu(value)
        return problem

    def _open_formula_menu(self, value: Value) -> None:
        """Open a menu of ways to treat the formulas that determine the length."""
        assert self._model is not None
        menu = self.choices = QMenu(self)
        for name in length_parameters(self._model, self._body, self.far):
            menu.addAction(
                f"Change the parameter {name}", self._choice_action(LinkLength(value, self.far, parameter=name))
            )
        menu.addAction("Add an offset to the formulas", self._choice_action(LinkLength(value, self.far, "offset")))
        menu.addAction("Replace the formulas with numbers", self._choice_action(LinkLength(value, self.far, "number")))
        menu.popup(self.edit.mapToGlobal(QPoint(0, self.edit.height())))

    def _choice_action(self, length: LinkLength) -> Callable[[], None]:
        def apply_choice() -> None:
            self.edit.discard_text()
            self.try_commit(length)

        return apply_choice


def _determining_parameter(model: Model, body: str, far_joint: str) -> str:
    """Return the parameter that determines a length through a formula; "" if the length itself is the parameter, or no
    parameter determines it."""
    affine = length_parameter(model, body, far_joint)
    return "" if affine is None or (affine.slope, affine.rest) == (1.0, 0.0) else affine.parameter.name


def describe_link_length(model: Model, body: str, far_joint: str) -> str:
    """Describe which parameter or formula determines the length of a link."""
    if name := _determining_parameter(model, body, far_joint):
        return f"Determined by the parameter {name}."
    if (affine := length_parameter(model, body, far_joint)) is not None:
        return f"The length is the parameter {affine.parameter.name}."
    return (
        "Locked: the length is determined by formulas, which are not changed."
        if is_length_locked(model, body, far_joint)
        else ""
    )
