"""Texts that name quantities of a machine: a channel (`crank.q`, `tool.position.x`), an input (`crank.tau`,
`spring.input`), a parameter, or a formula of them (`max(abs(elbow.tau))`). Tasks of the document use them. The element
that owns a name is found here; the available names are known only to the computing modules.

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
"""First words of quantities that belong to no element."""
OF_FRAMES = ("position", "orientation", "velocity", "omega", "acceleration", "alpha", "torque", "wrench")
"""Suffixes of quantities of bodies and frames."""
OF_JOINTS = ("q", "v", "a", "tau", "reaction", "friction", "stop", "speed_limit", "effort_limit")
"""Suffixes of quantities of joints, besides their coordinates."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*(?P<unit>[^\W\d]\w*))?)"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[^\W\d]\w*(?:\[\d+\])?(?:\.[^\W\d]\w*)*)(?P<call>\s*(?:\(|=(?!=)))?"
)


class Owner(NamedTuple):
    """The element that a name belongs to: its namespace and name."""

    namespace: str
    name: str


class Owners:
    """Lookup of the elements that own the names in texts about a model."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @cached_property
    def _elements_by_namespace(self) -> dict[str, dict[str, Any]]:
        """Return the elements by namespace and name."""
        plain = self._model.expanded
        return {space: plain.index(space) for space in ("parameter", "sensor", "joint", "force", "frame")}

    def __call__(self, name: str) -> Owner | None:
        """Return the owner of a name; None if no element has it."""
        head = name
        while head:
            found = [space for space, elements in self._elements_by_namespace.items() if head in elements]
            if found:
                rest = name[len(head) + 1 :].split(".")
                fitting = [space for space in found if self._is_quantity_of(space, head, rest)]
                return Owner((fitting or found)[0], head)
            head = head.rpartition(".")[0]
        return None

    def whole(self, text: str) -> bool:
        """Return True if a text is a single name, although it contains operator signs (element names may contain - / :
        |)."""
        owner = self(text)
        return owner is not None and re.fullmatch(r"(\.\w+)*", text[len(owner.name) :]) is not None

    def _is_quantity_of(self, space: str, name: str, rest: list[str]) -> bool:
        """Return True if the rest of a name is a quantity of an element in a namespace."""
        first = rest[0]
        match space:
            case "parameter":
                return not first
            case "sensor":
                return first in ("", "rate", *self._elements_by_namespace[space][name].info.components)
            case "joint":
                info = self._elements_by_namespace[space][name].info
                return first in ("", *OF_JOINTS, *info.coordinates, *info.speeds)
            case "force":
                return first not in OF_FRAMES and (first != "force" or len(rest) == 1)
            case _:
                return first in OF_FRAMES or first == "force"


def text_with_new_names(text: str, owners: Owners, new: Callable[[str], str]) -> str:
    """Return the text with every name replaced by `new(name)`; everything else unchanged."""
    if owners.whole(text):
        return new(text)

    def put(match: re.Match[str]) -> str:
        name, quoted = match["name"], match["quoted"]
        if quoted and quoted[1:-1]:
            return f"{quoted[0]}{new(quoted[1:-1])}{quoted[0]}"
        return match[0] if not name or match["call"] or name in CONSTANTS else new(name)

    return _TOKEN.sub(put, text)


def names_in(text: str, owners: Owners) -> list[str]:
    """Return the names in a text, in order."""
    found: list[str] = []

    def take(name: str) -> str:
        found.append(name)
        return name

    text_with_new_names(text, owners, take)
    return found


def unknown_names(text: str, owners: Owners) -> list[str]:
    """Return the names in a text that belong neither to an element nor to the whole machine."""
    names = names_in(text, owners)
    return [name for name in names if owners(name) is None and re.split(r"[.[]", name)[0] not in OF_ALL]
