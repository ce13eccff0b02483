"""Editor for the length of a link: the distance between two of its joints, or between a joint and its tip."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app.document.link_lengths import LinkLength
from app.widgets.fields.field_editor import Commit, Context
from app.widgets.fields.number_editors import NumberEditor
from core.model import Model
from core.model.bodies import Body
from core.model.edits.lengths import is_locked, length_of, length_parameter, length_parameters, link_points
from core.model.fields import Element, Field, Value


class LengthEditor(NumberEditor):
    """Number field, with a menu of the joints to which the length is measured if there are several."""

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
        self.to.menu().aboutToShow.connect(self._offer_joints)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        self.column.removeWidget(self.edit)
        row.addWidget(self.edit, 1)
        row.addWidget(self.to)
        self.column.insertLayout(0, row)
        self.choices: QMenu | None = None

    def forget(self) -> None:
        super().forget()
        self.far = ""

    def show_value(self, value: Value | None, owner: Element, context: Context) -> None:
        assert isinstance(owner, Body)
        self._model, self._body = context.model, owner.name
        joints = [point.joint for point in link_points(context.model, owner.name)[1:]]
        self.far = self.far if self.far in joints else joints[0]
        self.to.setText(f"to {self.far}")
        self.to.setVisible(len(joints) > 1)
        super().show_value(length_of(context.model, owner.name, self.far), owner, context)
        self.edit.add_actions = None  # the length is no number of the document by itself
        self.show_findings((), words(context.model, owner.name, self.far))

    def _offer_joints(self) -> None:
        menu = self.to.menu()
        menu.clear()
        assert self._model is not None
        for point in link_points(self._model, self._body)[1:]:
            menu.addAction(point.joint, lambda joint=point.joint: self._measure_to(joint))

    def _measure_to(self, joint: str) -> None:
        self.far = joint
        model = self._model
        assert model is not None
        self.to.setText(f"to {joint}")
        self.edit.show_value(length_of(model, self._body, joint), model.values())
        self.show_findings((), words(model, self._body, joint))

    def _set_length(self, value: Value | None, gesture: object) -> str:
        """Request a length; if formulas would be replaced, offer choices of what to do with them."""
        if value is None:
            return "The length cannot be empty. Give a number."
        if self._model is not None and (name := _determining_parameter(self._model, self._body, self.far)):
            self._offer_choices(value)
            return f"The length depends on {name}, which other elements may use too. Choose what to change."
        problem = self.commit(LinkLength(value, self.far), gesture)
        if problem and self._model is not None and is_locked(self._model, self._body, self.far):
            self._offer_choices(value)
        return problem

    def _offer_choices(self, value: Value) -> None:
        """Open a menu of choices for the formulas that determine the length."""
        assert self._model is not None
        menu = self.choices = QMenu(self)
        for name in length_parameters(self._model, self._body, self.far):
            menu.addAction(
                f"Change the parameter {name}", self._choice_action(LinkLength(value, self.far, parameter=name))
            )
        menu.addAction("Add an offset to the formulas", self._choice_action(LinkLength(value, self.far, "offset")))
        menu.addAction("Replace the formulas by numbers", self._choice_action(LinkLength(value, self.far, "number")))
        menu.popup(self.edit.mapToGlobal(QPoint(0, self.edit.height())))

    def _choice_action(self, wanted: LinkLength) -> Callable[[], None]:
        def take() -> None:
            self.edit.forget()
            self.attempt(wanted)

        return take


def _determining_parameter(model: Model, body: str, far: str) -> str:
    """Return the parameter that determines a length through a formula; "" if the length is that parameter itself, or
    none determines it."""
    affine = length_parameter(model, body, far)
    return "" if affine is None or (affine.slope, affine.rest) == (1.0, 0.0) else affine.parameter.name


def words(model: Model, body: str, far: str) -> str:
    """Describe what determines the length of a link."""
    if name := _determining_parameter(model, body, far):
        return f"Follows the parameter {name}."
    if (affine := length_parameter(model, body, far)) is not None:
        return f"This is the parameter {affine.parameter.name}."
    return "Locked: the length follows from formulas, which are not changed." if is_locked(model, body, far) else ""
