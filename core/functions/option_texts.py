"""Parsing of option values from the panel, console or command line: numbers with units, pairs, lists, choices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from core.errors import KinetostatError, ModelError, suggest_names
from core.functions.context import Context


class Option(Protocol):
    """Properties of an option that its parsing needs."""

    def make_error(self, problem: str, remedy: str = "") -> ModelError:
        """Create an error whose message names this option."""
        ...


def parse_quantity(value: Any, context: Context, option: Option) -> float:
    """Convert a number, or a formula of the model's parameters (with unit), to a finite float, SI."""
    if isinstance(value, str):
        from core.model.formula.expression import evaluate, parse
        from core.model.validation.formulas import find_wrong_dimension

        try:
            if (said := find_wrong_dimension(value, getattr(option, "dimension", "none"))) is not None:
                raise option.make_error(*said)
            value = evaluate(parse(value), context.values)
        except KinetostatError as error:
            raise option.make_error(error.what, error.remedy) from None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise option.make_error(
            f"{shorten_for_message(value)} is not a number.", "Give a number or a formula."
        ) from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise option.make_error(f"{shorten_for_message(value)} is not a finite number.", "Give a finite number.")
    return number


def shorten_for_message(value: Any) -> str:
    """Format a value for a message, shortened to one line."""
    shown = repr(value)
    return shown if len(shown) < 60 else shown[:57] + "…"


def split_items(value: Any) -> tuple[Any, ...]:
    """Split a sequence or a comma-separated string into its items; a sequence that holds one string is split like that
    string."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        found = tuple(value)
        if len(found) != 1 or not isinstance(found[0], str):
            return found
        value = found[0]
    text = str(value).strip().strip("()[]")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def split_outside_brackets(text: str) -> tuple[str, ...]:
    """Split a string at its commas, except those inside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def split_name_and_value(option: Option, text: Any) -> tuple[str, str]:
    """Split "name=value" into name and value."""
    name, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
    if not equals:
        raise option.make_error(
            f"{shorten_for_message(text)} is not of the form name=value.", "Write it as name=value."
        )
    return name.strip(), value.strip()


def parse_name_value_pairs(option: Option, strings: Iterable[Any]) -> list[tuple[str, Any]]:
    """Split several strings "name=value" into names and values. Raises ModelError if a name occurs twice."""
    found: dict[str, str] = {}
    for name, value in (split_name_and_value(option, text) for text in strings):
        if name in found:
            raise option.make_error(f"'{name}' is given twice: {found[name]} and {value}.", "Give it once.")
        found[name] = value
    return list(found.items())


def check_name_in_list(option: Option, value: Any, names: Sequence[str], noun: str) -> str:
    """Return the value if it is one of the names; otherwise raise a ModelError that suggests similar names."""
    if value in names:
        return str(value)
    raise option.make_error(f"There is no {noun} {shorten_for_message(value)}.", suggest_names(str(value), names))


def format_name_list(names: Sequence[str]) -> str:
    """Format names as a list for a message, twelve at most."""
    shown = ", ".join(names[:12])
    return f"{shown} …" if len(names) > 12 else shown or "(none)"


def format_range(minimum: float, maximum: float) -> str:
    """Describe a range of numbers in words."""
    if math.isinf(minimum):
        return f"at most {maximum:g}" if not math.isinf(maximum) else "any number"
    return f"at least {minimum:g}" if math.isinf(maximum) else f"{minimum:g} … {maximum:g}"
