"""Texts that name quantities of a machine: a channel (`crank.q`, `tool.position.x`), an input (`crank.tau`,
`spring.input`), a parameter, or a formula of such (`max(abs(elbow.tau))`). What elements of the document ask for
stands in them; which names there are is known only to who computes them, whose they are is known here.

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
"""What a name of a body or frame goes on with."""
OF_JOINTS = ("q", "v", "a", "tau", "reaction", "friction", "stop", "speed_limit", "effort_limit")
"""What the name of a joint goes on with, beside its coordinates."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*(?P<unit>[^\W\d]\w*))?)"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[^\W\d]\w*(?:\[\d+\])?(?:\.[^\W\d]\w*)*)(?P<call>\s*(?:\(|=(?!=)))?"
)


class Owner(NamedTuple):
    """Whose a name is: the namespace and name of an element."""

    namespace: str
    name: str


class Owners:
    """Whose the names in texts about a model are."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @cached_property
    def _spaces(self) -> dict[str, dict[str, Any]]:
        """Elements by namespace and name."""
        plain = self._model.expanded
        return {space: plain.index(space) for space in ("parameter", "sensor", "joint", "force", "frame")}

    def __call__(self, name: str) -> Owner | None:
        """The owner of a name; None if no element has it."""
        head = name
        while head:
            found = [space for space, elements in self._spaces.items() if head in elements]
            if found:
                rest = name[len(head) + 1 :].split(".")
                fitting = [space for space in found if self._fits(space, head, rest)]
                return Owner((fitting or found)[0], head)
            head = head.rpartition(".")[0]
        return None

    def whole(self, text: str) -> bool:
        """Whether a text is one name, though it holds signs as formulas do (names of elements may: - / : |)."""
        owner = self(text)
        return owner is not None and re.fullmatch(r"(\.\w+)*", text[len(owner.name) :]) is not None

    def _fits(self, space: str, name: str, rest: list[str]) -> bool:
        """Whether the name of an element of a namespace may go on so."""
        first = rest[0]
        match space:
            case "parameter":
                return not first
            case "sensor":
                return first in ("", "rate", *self._spaces[space][name].info.components)
            case "joint":
                info = self._spaces[space][name].info
                return first in ("", *OF_JOINTS, *info.coordinates, *info.speeds)
            case "force":
                return first not in OF_FRAMES and (first != "force" or len(rest) == 1)
            case _:
                return first in OF_FRAMES or first == "force"


def texts_with(text: str, owners: Owners, new: Callable[[str], str]) -> str:
    """The text with every name in it replaced by what `new` makes of it; all else stays as it was written."""
    if owners.whole(text):
        return new(text)

    def put(match: re.Match[str]) -> str:
        name, quoted = match["name"], match["quoted"]
        if quoted and quoted[1:-1]:
            return f"{quoted[0]}{new(quoted[1:-1])}{quoted[0]}"
        return match[0] if not name or match["call"] or name in CONSTANTS else new(name)

    return _TOKEN.sub(put, text)


def names_in(text: str, owners: Owners) -> list[str]:
    """The names in a text, one after the other."""
    found: list[str] = []

    def take(name: str) -> str:
        found.append(name)
        return name

    texts_with(text, owners, take)
    return found


def unknown_names(text: str, owners: Owners) -> list[str]:
    """Names in a text that neither an element nor the whole machine has."""
    names = names_in(text, owners)
    return [name for name in names if owners(name) is None and re.split(r"[.[]", name)[0] not in OF_ALL]
