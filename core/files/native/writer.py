"""Writer of the native format: stable order, only values that differ from the defaults, exact numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from core.files.native.reader import HEADER, VERSION
from core.files.source import WriteResult
from core.model import COLLECTIONS, Model, Setting, Shape
from core.model.bodies import Body, Frame
from core.model.chains import DHChain
from core.model.fields import Element, NameKind, declared_fields
from core.model.formula.expression import format_number
from core.model.joints import Joint
from core.model.model import Annotation

WIDTH = 110
"""Maximum columns of a nested element written on one line."""

_BLOCK_ONLY = (Body, Frame, Joint, DHChain, Annotation)
_PLAIN = re.compile(r"[\w(](?:[\w.+/()*^|%=~<>-]| (?=[\w.+/()*^<>=-]))*", re.ASCII)
_SPECIAL = {"null", "true", "false", "yes", "no", "on", "off", "nan", "inf", ".nan", ".inf", "y", "n", "~"}
_LOOKS_LIKE_NUMBER = re.compile(r"[-+.]?[\d.][\d_.xXobeE+:-]*")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"})

Pair = tuple[str, Any]


def write_native(model: Model) -> WriteResult:
    """Return the native text of a model; the format represents everything, so there are no findings."""
    lines = [f"{HEADER}: {VERSION}"]
    for field in declared_fields(Model):
        value = getattr(model, field.name)
        if value == field.default and field.name != "name":
            continue
        if field.name in COLLECTIONS:
            lines += ["", f"{field.name}:"]
            for element in value:
                lines += _format_entry(_quote_scalar(element.name), element, 2)
        elif field.name == "annotations":
            lines.append("")
            lines += _format_field(field.name, value, 0)
        else:
            lines += _format_field(field.name, value, 0)
    return WriteResult("\n".join(lines) + "\n")


def _format_entry(key: str, element: Element, indent: int) -> list[str]:
    """Return the lines of `key: element`; a single line if it is short."""
    pad = " " * indent
    pairs = _non_default_fields(element)
    if not pairs:
        return [f"{pad}{key}: {{}}"]
    if not isinstance(element, _BLOCK_ONLY):
        line = f"{pad}{key}: {_format_fields_on_one_line(pairs)}"
        if len(line) <= WIDTH and "\n" not in line:
            return [line]
    lines = [f"{pad}{key}:"]
    for name, value in pairs:
        lines += _format_field(name, value, indent + 2)
    return lines


def _non_default_fields(element: Element) -> list[Pair]:
    """Return the fields that differ from their defaults, without the name."""
    return [
        (field.name, value)
        for field in declared_fields(type(element))
        if not isinstance(field.kind, NameKind)
        and (field.required or (value := getattr(element, field.name)) != field.default)
        and (value := getattr(element, field.name)) is not None
    ]


def _format_field(name: str, value: Any, indent: int) -> list[str]:
    pad = " " * indent
    if isinstance(value, Element):
        return _format_entry(name, value, indent)
    if isinstance(value, tuple) and value and isinstance(value[0], Element):
        lines = [f"{pad}{name}:"]
        for item in value:
            setting = isinstance(item, Setting)
            lines += [f"{pad}  {_format_setting(item)}"] if setting else _format_list_item(item, indent + 2)
        return lines
    if isinstance(value, str) and _can_be_literal_block(value):
        return [f"{pad}{name}: {_format_literal_block(value, indent + 2)}"]
    return [f"{pad}{name}: {_format_on_one_line(value)}"]


def _format_list_item(element: Element, indent: int) -> list[str]:
    """Return the lines of a list item `- element`; a shape is written `- box: {…}`."""
    pad = " " * indent
    if isinstance(element, Shape):
        lines = _format_entry(element.word, element, indent + 2)
    else:
        pairs = _non_default_fields(element)
        if not isinstance(element, _BLOCK_ONLY):
            line = f"{pad}- {_format_fields_on_one_line(pairs)}"
            if len(line) <= WIDTH:
                return [line]
        lines = [line for name, value in pairs for line in _format_field(name, value, indent + 2)]
        if not lines:
            return [f"{pad}- {{}}"]
    return [f"{pad}- {lines[0].lstrip()}", *lines[1:]]


def _format_on_one_line(value: Any) -> str:
    """Return a value written on one line."""
    if isinstance(value, Shape):
        return f"{{{value.word}: {_format_fields_on_one_line(_non_default_fields(value))}}}"
    if isinstance(value, Element):
        return _format_fields_on_one_line(_non_default_fields(value))
    if isinstance(value, tuple) and value and isinstance(value[0], Setting):
        return "{" + ", ".join(map(_format_setting, value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_format_on_one_line, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_number(value)
    return _quote_scalar(str(value))


def _format_fields_on_one_line(pairs: list[Pair]) -> str:
    shown = [f"{name}: {_format_nested_value(value)}" for name, value in pairs]
    return "{" + ", ".join(shown) + "}"


def _format_setting(setting: Setting) -> str:
    """Return the text `name: value` of a setting."""
    return f"{_quote_scalar(setting.parameter)}: {_format_on_one_line(setting.value)}"


def _format_nested_value(value: Any) -> str:
    """Return a nested element without the word of a shape, or a value, on one line."""
    if isinstance(value, Element):
        return _format_fields_on_one_line(_non_default_fields(value))
    return _format_on_one_line(value)


# ------------------------------------------------------------------------------------------ texts


def _quote_scalar(value: str) -> str:
    """Return a string unquoted if every YAML reader takes it as a string, else in double quotes."""
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _SPECIAL and not _LOOKS_LIKE_NUMBER.fullmatch(value)
    if is_plain:
        return value
    escaped = value.translate(_ESCAPES) if value.isprintable() else "".join(map(_escape_sequence, value))
    return f'"{escaped}"'


def _escape_sequence(character: str) -> str:
    """Return a character as it is written between quotes; line breaks and byte-order marks, e.g., by their codes."""
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if character.isprintable():
        return character
    return f"\\U{code:08X}" if code > 0xFFFF else f"\\u{code:04X}"


def _can_be_literal_block(value: str) -> bool:
    """Return True if the string can be written as an indented block (several lines, no special characters)."""
    body = value[:-1] if value.endswith("\n") else value
    lines = body.split("\n")
    if len(lines) == 1 or not lines[0] or lines[0][0] == " " or not lines[-1]:
        return False
    return body.replace("\n", "").isprintable() and all(line.strip(" ") or not line for line in lines)


def _format_literal_block(value: str, indent: int) -> str:
    pad = " " * indent
    keep = "|" if value.endswith("\n") else "|-"
    body = value[:-1] if value.endswith("\n") else value
    return "\n".join([keep, *_indent_lines(body.split("\n"), pad)])


def _indent_lines(lines: list[str], indent: str) -> Iterator[str]:
    for line in lines:
        yield indent + line if line else ""
