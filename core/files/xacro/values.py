"""Values of Xacro expressions other than Python's plain ones: dictionaries with dot access, methods, functions,
namespaces."""

from __future__ import annotations

import string
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.files.xacro.bounds import BarredError, EvaluationBudget, TooLargeError, charge_value, check_size, text_size


class Namespace(ABC):  # noqa: B024 (classes of the library are registered here)
    """Group of names such as `math`; expressions can use its members, but not the namespace itself as a value."""


class DottedList(list[Any]):
    """List of a YAML file, whose items support access with dots."""

    def __getitem__(self, index: Any) -> Any:
        return with_dot_access(super().__getitem__(index))

    def __iter__(self) -> Any:
        return map(with_dot_access, super().__iter__())


class DottedDict(dict[Any, Any]):
    """Dictionary of a YAML file: `d.key` is `d['key']`."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return with_dot_access(super().__getitem__(key))
        except KeyError:
            raise AttributeError(f"The yaml dictionary has no key '{key}'") from None


def with_dot_access(value: Any) -> Any:
    """Return the value, with dot access if it is a list or dictionary."""
    if isinstance(value, dict):
        return DottedDict(value)
    return DottedList(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class AllowedFunction:
    """Function that expressions may call."""

    name: str
    run: Callable[..., Any]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.run(*arguments, **keywords)


@dataclass(frozen=True, eq=False)
class AllowedMethod:
    """Bound method of a plain value."""

    value: Any
    name: str
    budget: EvaluationBudget

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(self.value, str):
            if self.name == "format":
                return format_template(self.value, arguments, keywords)
            if self.name == "join" and arguments:
                arguments = (list(arguments[0]), *arguments[1:])
            grown = _GROWING.get(self.name)
            if grown is not None:
                check_size(grown(self.value, *arguments))
        result = getattr(self.value, self.name)(*arguments, **keywords)
        if not isinstance(self.value, str):
            charge_value(self.value, self.budget)
        return result


_TEXT = """capitalize casefold center count endswith find format index isalnum isalpha isascii isdecimal isdigit
isidentifier islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix
replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill"""
_LIST = "append clear copy count extend index insert pop remove reverse sort"
_DICT = "clear copy get items keys pop popitem setdefault update values"
_SET = "copy difference intersection isdisjoint issubset issuperset symmetric_difference union"
_CHANGED_SET = "add clear difference_update discard intersection_update pop remove update"
_WHOLE = "as_integer_ratio bit_length conjugate"
_REAL = "as_integer_ratio conjugate hex is_integer"
METHODS: dict[type, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        str: _TEXT,
        list: _LIST,
        DottedList: _LIST,
        tuple: "count index",
        dict: _DICT,
        DottedDict: _DICT,
        set: f"{_SET} {_CHANGED_SET}",
        frozenset: _SET,
        int: _WHOLE,
        bool: _WHOLE,
        float: _REAL,
        complex: "conjugate",
        range: "count index",
    }.items()
}
"""Methods that expressions may call, by the exact type of the value."""

LOOKING = frozenset(("get", "pop", "popitem", "setdefault"))
"""Methods that return existing values instead of creating new ones."""

PARTS: dict[type, frozenset[str]] = {
    int: frozenset(("real", "imag", "numerator", "denominator")),
    float: frozenset(("real", "imag")),
    complex: frozenset(("real", "imag")),
}


def _length_after_replace(text: str, old: str, new: str, count: int = -1) -> int:
    return len(text) + (text.count(old) if count < 0 else min(text.count(old), count)) * len(new)


def _length_after_join(text: str, parts: list[Any]) -> int:
    return text_size(parts) + len(text) * len(parts)


_GROWING: dict[str, Callable[..., int]] = {
    "replace": _length_after_replace,
    "join": _length_after_join,
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), lambda text, width, *_: width),
}
"""Functions that compute the length of the resulting string, by method."""


def read_attribute(value: Any, name: str, budget: EvaluationBudget) -> Any:
    """Return value.name. Raises BarredError for names that are not allowed."""
    kind = type(value)
    if kind is DottedDict and not hasattr(dict, name):
        return value[name]
    if name in PARTS.get(kind, ()):
        return getattr(value, name)
    if name in METHODS.get(kind, ()):
        return AllowedMethod(value, name, budget)
    if name.startswith("_") or kind not in METHODS or hasattr(kind, name):
        raise BarredError(f"the expression accesses '{name}' of a value of type {kind.__name__}")
    raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")


def format_template(template: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> str:
    """Return str.format with fields restricted to numbers and names."""
    pieces, total, following = [], 0, 0
    for literal, field, form, conversion in string.Formatter().parse(template):
        text = ""
        if field is not None:
            if field == "":
                field, following = str(following), following + 1
            if not (field.isdecimal() or field.isidentifier()):
                raise BarredError(f"the expression formats the field '{{{field}}}'")
            found = arguments[int(field)] if field.isdecimal() else keywords[field]
            text = format_value(found, form or "", conversion)
        pieces += [literal, text]
        total += len(literal) + len(text)
        check_size(total)
    return "".join(pieces)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def format_value(value: Any, form: str, conversion: str | None) -> str:
    """Return format(value, form) after the conversion !s, !r or !a."""
    if "{" in form or any(len(digits) > 3 for digits in _find_integers(form)):
        raise TooLargeError("the expression formats very wide text, or takes the width from another field")
    return format(_CONVERSIONS[conversion](value) if conversion else value, form)


def _find_integers(text: str) -> list[str]:
    return "".join(sign if sign.isdecimal() else " " for sign in text).split()
