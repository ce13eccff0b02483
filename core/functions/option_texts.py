"""Parsing of option values from the panel, console or command line: numbers with units, pairs, lists, choices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from core.errors import KinetostatError, ModelError, near_misses
from core.functions.context import Context


class Option(Protocol):
    """Interface of an option that parsing needs."""

    def refuse(self, what: str, remedy: str = "") -> ModelError:
        """Return an error with a message about this option."""
        ...


def quantity(value: Any, context: Context, option: Option) -> float:
    """Return a finite float from a number, or from a formula (with unit) in the model's parameters."""
    if isinstance(value, str):
        from core.model.formula.expression import evaluate, parse
        from core.model.validation.formulas import wrong_dimension

        try:
            if (said := wrong_dimension(value, getattr(option, "dimension", "none"))) is not None:
                raise option.refuse(*said)
            value = evaluate(parse(value), context.values)
        except KinetostatError as error:
            raise option.refuse(error.what, error.remedy) from None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise option.refuse(f"{clip(value)} is not a number.", "Give a number or a formula.") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise option.refuse(f"{clip(value)} is not a finite number.", "Give a finite number.")
    return number


def clip(value: Any) -> str:
    """Show a value in a message, shortened to one line."""
    shown = repr(value)
    return shown if len(shown) < 60 else shown[:57] + "…"


def items(value: Any) -> tuple[Any, ...]:
    """Split a sequence or a comma-separated text into its items; a sequence of one text counts as that text."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        found = tuple(value)
        if len(found) != 1 or not isinstance(found[0], str):
            return found
        value = found[0]
    text = str(value).strip().strip("()[]")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def split_outside_brackets(text: str) -> tuple[str, ...]:
    """Split a text at its commas, except those inside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def pair(option: Option, text: Any) -> tuple[str, str]:
    """Split "name=value" into name and value."""
    name, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
    if not equals:
        raise option.refuse(f"{clip(text)} is not of the form name=value.", "Write it as name=value.")
    return name.strip(), value.strip()


def pairs_of(option: Option, texts: Iterable[Any]) -> list[tuple[str, Any]]:
    """Split several "name=value" texts into names and values. Raises ModelError if a name has two values."""
    found: dict[str, str] = {}
    for name, value in (pair(option, text) for text in texts):
        if name in found:
            raise option.refuse(f"'{name}' is given twice: {found[name]} and {value}.", "Give it once.")
        found[name] = value
    return list(found.items())


def one_of(option: Option, value: Any, names: Sequence[str], word: str) -> str:
    """Return the value if it is one of the names; else raise ModelError with similar names."""
    if value in names:
        return str(value)
    raise option.refuse(f"There is no {word} {clip(value)}.", near_misses(str(value), names))


def listed(names: Sequence[str]) -> str:
    """List names in a message, twelve at most."""
    shown = ", ".join(names[:12])
    return f"{shown} …" if len(names) > 12 else shown or "(none)"


def range_text(minimum: float, maximum: float) -> str:
    """Describe a range of numbers in words."""
    if math.isinf(minimum):
        return f"at most {maximum:g}" if not math.isinf(maximum) else "any number"
    return f"at least {minimum:g}" if math.isinf(maximum) else f"{minimum:g} … {maximum:g}"
