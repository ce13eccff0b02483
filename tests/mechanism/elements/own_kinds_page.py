"""The kinds that docs/own_kinds.md makes of forces and constraints, and the machines that it makes of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core import kinds
from core.model import CONSTRAINT_KINDS, FORCE_KINDS

PAGE = (Path(__file__).parents[3] / "docs/own_kinds.md").read_text(encoding="utf-8")
FORCE, CONSTRAINT = "A force element: the Kelvin element", "A constraint: a point on a curve"


def block(heading: str, language: str) -> str:
    """What the page says below a heading in a language."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return str(found)


def register(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the page's code, for one test; what it defines by name."""
    apart(monkeypatch)
    names: dict[str, Any] = {"__name__": __name__}
    for heading in (FORCE, CONSTRAINT):
        exec(compile(block(heading, "python"), "own_kinds.md", "exec"), names)
    return names


def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Families that forget after the test what it adds to them."""
    own = ("kelvin", "on_parabola", "made_up")
    for family in (FORCE_KINDS, CONSTRAINT_KINDS):
        monkeypatch.setattr(family, "_kinds", {name: kind for name, kind in family.items() if name not in own})
    monkeypatch.setattr(kinds, "_own", {})
