"""Base classes of all field editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets.label import Note
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, Units, measure_of
from core.later import dataclass
from core.model import Finding, Model
from core.model.dimensions import Owners, dimension_of
from core.model.fields import Element, Field, Value

Commit = Callable[[Any, object], str]
"""commit(new value, gesture) returns '' when accepted, otherwise the reason for the refusal."""
Promote = Callable[[str], None]
"""promote(path) turns the number at a path such as "shapes.0.radius" into a named parameter."""


@dataclass(frozen=True)
class Context:
    """Data that an editor needs in addition to the field's value."""

    model: Model
    settings: Units
    values: Mapping[str, float] = field(default_factory=dict)
    """Parameter values of the model."""
    owners: Owners = ()
    """The chain of elements that contain one another; the last one has the field."""
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    """Findings by the path of the field."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Notes on the consequences of a field's value, by the path of the field."""
    defaults: Mapping[str, Value] = field(default_factory=dict)
    """Values that apply where a field is empty, in SI, by the path of the field."""
    read_only: bool = False
    promote: Promote | None = None
    suggest: Callable[[str], str] | None = None
    """suggest(path) returns the parameter name that a promoted number would get."""

    def field_measure(self, field: Field, index: int | None = None) -> Measure:
        """Return the physical dimension of a number in a field of the owner (`index` as in
        `core.model.dimensions.dimension_of`)."""
        return measure_of(dimension_of(self.model, self.owners, field, index))

    def nested_context(self, element: Element) -> Context:
        """Return the context for the fields of an element nested in the owner."""
        return self if self.owners and self.owners[-1] is element else replace(self, owners=(*self.owners, element))


class FieldValues(dict[str, Any]):
    """Values of several fields that change together, committed as if they were the value of one of them."""


class FieldEditor(QWidget):
    """Editor for one field of an element. `broad` editors are placed below their label instead of next to it; `wide`
    editors have a title of their own."""

    wide = False
    broad = False

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.owner, self.field, self.path, self.commit = owner, field, path, commit
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(2)
        self._finding: tuple[str, str] = ("", "")
        self._follows = ""
        self._said: tuple[str, str] = ("", "")
        self._note: Note | None = None

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        """Show the value of this field in `owner`, keeping the focus and any text being typed."""

    def discard_text(self) -> None:
        """Discard typed or refused text because another element is about to be shown."""

    def label_unit(self) -> str:
        """Return the unit to show in the label; '' if the editor shows it itself."""
        return ""

    problem = ""
    """Reason why the typed text is refused."""

    def refusal_reason(self) -> str:
        """Return the reason why the text in the editor was refused; "" if all of it was accepted."""
        return self.problem or next((edit.problem for edit in self.findChildren(QuantityEdit) if edit.problem), "")

    def show_note(self, text: str, severity: str = "") -> None:
        """Show text below the field, such as a reason or the value of a formula; with empty text the field's finding is
        shown."""
        self._said = (text, severity)
        self._update_note()

    def show_findings(self, findings: tuple[Finding, ...], consequences: str = "") -> None:
        """Show the findings about this field and notes on the consequences of its value."""
        self._follows = consequences
        words = "\n".join(f"{f.text} {f.remedy}".strip() for f in findings)
        self._finding = (words, findings[0].severity if findings else "")
        self._update_note()

    @property
    def note(self) -> Note:
        """Return the note below the editor, created on first use because most fields never need one."""
        if self._note is None:
            self._note = Note(self)
            self.column.addWidget(self._note)
        return self._note

    def _update_note(self) -> None:
        said, severity = self._said
        found, found_severity = self._finding
        if said and found and severity != "error":
            self._show_note(f"{found}\n{said}", found_severity)
        elif said:
            self._show_note(said, severity)
        else:
            self._show_note(found or self._follows, found_severity)

    def _show_note(self, text: str, severity: str) -> None:
        if text or self._note is not None:
            self.note.show_text(text, severity)

    def try_commit(self, value: Any, gesture: object = None) -> str:
        """Try to commit a value; if it is refused, show and return the reason."""
        problem = self.commit(value, gesture if gesture is not None else object())
        self.show_note(problem, "error" if problem else "")
        return problem
