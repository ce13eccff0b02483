"""Findings: questionable parts of a model, identified by element and field, with a remedy.

Severity: error (cannot be used), warning (used; look at it), hint.
"""

from __future__ import annotations

from typing import Literal

from core.later import dataclass

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A questionable part of a model. `collection` and `name` identify the element ("" for the whole model); `others`
    lists further elements involved, as (collection, name)."""

    severity: Severity
    text: str
    remedy: str = ""
    collection: str = ""
    name: str = ""
    field: str = ""
    file: str = ""
    line: int | None = None
    others: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> str:
        """Return element and field in words, e.g. "body 'link2', inertia"."""
        from core.model.model import WORDS

        word = WORDS.get(self.collection, self.collection)
        head = f"{word} '{self.name}'" if self.name else word
        place = ", ".join(part for part in (head, self.field) if part)
        position = f"{self.file}:{self.line}" if self.line is not None else self.file
        return ", ".join(part for part in (position, place) if part)

    def __str__(self) -> str:
        head = f"{self.severity}: {self.place}: " if self.place else f"{self.severity}: "
        return f"{head}{self.text} {self.remedy}".rstrip()
