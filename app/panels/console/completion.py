"""Completion in the Python console: names, attributes, options of functions, and the values that an option accepts."""

from __future__ import annotations

import re
import rlcompleter
from typing import Any

from core.functions import FUNCTIONS, Context
from core.functions.options import Choice, ElementName, Flag, FrameName, FrameNames

_WORD = re.compile(r"[\w.]*$")
_CALL = re.compile(r"(\w+)\(([^()]*)$")
_VALUE = re.compile(r"""(\w+)\s*=\s*["']([^"']*)$""")
MOST = 200


def completions(before: str, namespace: dict[str, Any]) -> tuple[str, list[str]]:
    """Return (the word before the cursor, its possible completions) for the text of a line up to the cursor."""
    called = _CALL.search(before)
    function = FUNCTIONS.get(called.group(1)) if called else None
    if called and function is not None:
        value = _VALUE.search(called.group(2))
        if value:
            return value.group(2), _option_values(function.option(value.group(1)), namespace, value.group(2)) if any(
                o.id == value.group(1) for o in function.options
            ) else []
        stem = _last_word(called.group(2))
        options = [f"{o.id}=" for o in function.options if o.id.startswith(stem)]
        if options and "." not in stem:
            return stem, options
    stem = _last_word(before)
    completer = rlcompleter.Completer(namespace)
    found: list[str] = []
    for state in range(MOST):
        word = completer.complete(stem, state)
        if word is None:
            break
        found.append(word)
    public = [word for word in found if not word.rpartition(".")[2].startswith("_")]
    return stem, sorted(dict.fromkeys(public or found))


def _last_word(text: str) -> str:
    match = _WORD.search(text)
    return match.group() if match else ""


def _option_values(option: Any, namespace: dict[str, Any], stem: str) -> list[str]:
    """Return the names or words that an option accepts."""
    words: tuple[str, ...] = ()
    if isinstance(option, Choice):
        words = option.choices
    elif isinstance(option, Flag):
        words = ("yes", "no")
    elif isinstance(option, ElementName | FrameName | FrameNames):
        words = option.names(Context(namespace["model"], namespace["mech"], namespace["q"]))
    return [word for word in words if word.startswith(stem)]
