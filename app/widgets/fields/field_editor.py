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
"""commit(new value, gesture) returns '' when accepted, otherwise the reason in words."""
Promote = Callable[[str], None]
"""promote(path) makes the number at a path such as "shapes.0.radius" a named parameter."""


@dataclass(frozen=True)
class Context:
    """Data that an editor needs besides its value."""

    model: Model
    settings: Units
    values: Mapping[str, float] = field(default_factory=dict)
    """Parameter values of the model."""
    owners: Owners = ()
    """The element that has the field, last in the chain of elements that contain one another."""
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    """Findings by the path of the field."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Notes on consequences of a field's value, by the path of the field."""
    defaults: Mapping[str, Value] = field(default_factory=dict)
    """Values that apply where a field is empty, SI, by the path of the field."""
    read_only: bool = False
    promote: Promote | None = None
    suggest: Callable[[str], str] | None = None
    """suggest(path) returns the name that a promoted number would get."""

    def measure(self, field: Field, index: int | None = None) -> Measure:
        """Return the physical dimension of a number in a field of the owner (`index` as in
        `core.model.dimensions.dimension_of`)."""
        return measure_of(dimension_of(self.model, self.owners, field, index))

    def inside(self, element: Element) -> Context:
        """Return the context of the fields of an element that the owner contains."""
        return self if self.owners and self.owners[-1] is element else replace(self, owners=(*self.owners, element))


class Together(dict[str, Any]):
    """Values of several fields that change together, committed as the value of one of them."""


class FieldEditor(QWidget):
    """Edits one field of an element. `broad` editors are placed beneath their label instead of next to it; `wide` ones
    have their own title."""

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
        """Show the field's value of `owner`, keeping focus and text being typed."""

    def forget(self) -> None:
        """Discard typed or refused text because another element will be shown."""

    def unit(self) -> str:
        """Return the unit to be shown in the label; '' when the editor shows it."""
        return ""

    problem = ""
    """Reason why the typed text is refused."""

    def refused_text(self) -> str:
        """Return why text in the editor is not the field's value; "" if all of it was accepted."""
        return self.problem or next((edit.problem for edit in self.findChildren(QuantityEdit) if edit.problem), "")

    def explain(self, words: str, severity: str = "") -> None:
        """Show text beneath the field: a reason or a formula's value; without text the finding is shown."""
        self._said = (words, severity)
        self._update_note()

    def show_findings(self, findings: tuple[Finding, ...], follows: str = "") -> None:
        """Show findings about this field and notes on consequences of its value."""
        self._follows = follows
        words = "\n".join(f"{f.text} {f.remedy}".strip() for f in findings)
        self._finding = (words, findings[0].severity if findings else "")
        self._update_note()

    @property
    def note(self) -> Note:
        """Return the note beneath the editor, created on first use, because most fields never need one."""
        if self._note is None:
            self._note = Note(self)
            self.column.addWidget(self._note)
        return self._note

    def _update_note(self) -> None:
        said, severity = self._said
        found, found_severity = self._finding
        if said and found and severity != "error":
            self._say(f"{found}\n{said}", found_severity)
        elif said:
            self._say(said, severity)
        else:
            self._say(found or self._follows, found_severity)

    def _say(self, words: str, severity: str) -> None:
        if words or self._note is not None:
            self.note.say(words, severity)

    def attempt(self, value: Any, gesture: object = None) -> str:
        """Commit a value; show and return the reason if it is refused."""
        problem = self.commit(value, gesture if gesture is not None else object())
        self.explain(problem, "error" if problem else "")
        return problem
