"""Texts that name quantities of a machine: a channel (`crank.q`, `tool.position.x`), an input (`crank.tau`,
`spring.input`), a parameter, or a formula of them (`max(abs(elbow.tau))`). Tasks of the document use them. This module
finds the element that owns a name; which names exist is known only to the modules that compute them.

A name belongs to the element with the longest name that it begins with. Where elements of several kinds have that name
(a joint and a body `crank`) its ending says whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from core.model.formula.nodes import CONSTANTS

OF_ALL = ("t", "time", "start", "end", "gravity", "energy", "momentum", "mass", "mode", "constraint")
"""First words of quantities that belong to the whole machine."""
OF_FRAMES = ("position", "orientation", "velocity", "omega", "acceleration", "alpha", "torque", "wrench")
"""Suffixes of quantities of bodies and frames."""
OF_JOINTS = ("q", "v", "a", "tau", "reaction", "friction", "stop", "speed_limit", "effort_limit")
"""Suffixes of quantities of joints, besides their coordinates."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*(?P<unit>[^\W\d]\w*))?)"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[^\W\d]\w*(?:\[\d+\])?(?:\.[^\W\d]\w*)*)(?P<call>\s*(?:\(|=(?!=)))?"
)


class NameOwner(NamedTuple):
    """Element that a name belongs to, as namespace and name."""

    namespace: str
    name: str


class NameOwners:
    """Lookup of the elements that own the names used in texts about a model."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @cached_property
    def _elements_by_namespace(self) -> dict[str, dict[str, Any]]:
        """Return the elements by namespace and name."""
        plain = self._model.expanded
        return {space: plain.index(space) for space in ("parameter", "sensor", "joint", "force", "frame")}

    def __call__(self, name: str) -> NameOwner | None:
        """Return the owner of a name; None if no element has it."""
        head = name
        while head:
            found = [space for space, elements in self._elements_by_namespace.items() if head in elements]
            if found:
                rest = name[len(head) + 1 :].split(".")
                fitting = [space for space in found if self._is_quantity_of(space, head, rest)]
                return NameOwner((fitting or found)[0], head)
            head = head.rpartition(".")[0]
        return None

    def is_single_name(self, text: str) -> bool:
        """Return True if a text is a single name, even if it contains operator signs (element names may contain - / :
        |)."""
        owner = self(text)
        return owner is not None and re.fullmatch(r"(\.\w+)*", text[len(owner.name) :]) is not None

    def _is_quantity_of(self, namespace: str, name: str, suffixes: list[str]) -> bool:
        """Return True if the remaining parts of a name are a quantity of an element in this namespace."""
        first = suffixes[0]
        match namespace:
            case "parameter":
                return not first
            case "sensor":
                return first in ("", "rate", *self._elements_by_namespace[namespace][name].info.components)
            case "joint":
                info = self._elements_by_namespace[namespace][name].info
                return first in ("", *OF_JOINTS, *info.coordinates, *info.speeds)
            case "force":
                return first not in OF_FRAMES and (first != "force" or len(suffixes) == 1)
            case _:
                return first in OF_FRAMES or first == "force"


def rename_in_text(text: str, owners: NameOwners, new_name: Callable[[str], str]) -> str:
    """Return the text with every name replaced by `new(name)`; everything else unchanged."""
    if owners.is_single_name(text):
        return new_name(text)

    def replace_match(match: re.Match[str]) -> str:
        name, quoted = match["name"], match["quoted"]
        if quoted and quoted[1:-1]:
            return f"{quoted[0]}{new_name(quoted[1:-1])}{quoted[0]}"
        return match[0] if not name or match["call"] or name in CONSTANTS else new_name(name)

    return _TOKEN.sub(replace_match, text)


def names_in_text(text: str, owners: NameOwners) -> list[str]:
    """Return the names in a text, in order."""
    found: list[str] = []

    def record_name(name: str) -> str:
        found.append(name)
        return name

    rename_in_text(text, owners, record_name)
    return found


def unknown_names(text: str, owners: NameOwners) -> list[str]:
    """Return the names in a text that belong neither to an element nor to the machine as a whole."""
    names = names_in_text(text, owners)
    return [name for name in names if owners(name) is None and re.split(r"[.[]", name)[0] not in OF_ALL]
