"""Writer of the native format: stable order, only values that differ from the defaults, exact numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from core.files.native.reader import HEADER, VERSION
from core.files.source import Writing
from core.model import COLLECTIONS, Model, Setting, Shape
from core.model.bodies import Body, Frame
from core.model.chains import DHChain
from core.model.fields import Element, NameKind, fields_of
from core.model.formula.expression import number_text
from core.model.joints import Joint
from core.model.model import Annotation

WIDTH = 110
"""Maximum columns of a nested element written on one line."""

_BLOCK_ONLY = (Body, Frame, Joint, DHChain, Annotation)
_PLAIN = re.compile(r"[\w(](?:[\w.+/()*^|%=~<>-]| (?=[\w.+/()*^<>=-]))*", re.ASCII)
_SPECIAL = {"null", "true", "false", "yes", "no", "on", "off", "nan", "inf", ".nan", ".inf", "y", "n", "~"}
_LOOKS_LIKE_NUMBER = re.compile(r"[-+.]?[\d.][\d_.xXobeE+:-]*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

Pair = tuple[str, Any]


def write_native(model: Model) -> Writing:
    """Return the native text of a model; the format holds everything, so there are no findings."""
    lines = [f"{HEADER}: {VERSION}"]
    for field in fields_of(Model):
        value = getattr(model, field.name)
        if value == field.default and field.name != "name":
            continue
        if field.name in COLLECTIONS:
            lines += ["", f"{field.name}:"]
            for element in value:
                lines += _entry_lines(_scalar_text(element.name), element, 2)
        elif field.name == "annotations":
            lines.append("")
            lines += _field_lines(field.name, value, 0)
        else:
            lines += _field_lines(field.name, value, 0)
    return Writing("\n".join(lines) + "\n")


def _entry_lines(key: str, element: Element, indent: int) -> list[str]:
    """Return the lines of `key: element`; a single line if it is short."""
    pad = " " * indent
    pairs = _given_fields(element)
    if not pairs:
        return [f"{pad}{key}: {{}}"]
    line = f"{pad}{key}: {_flow_fields(element)}"
    if not isinstance(element, _BLOCK_ONLY) and len(line) <= WIDTH and "\n" not in line:
        return [line]
    lines = [f"{pad}{key}:"]
    for name, value in pairs:
        lines += _field_lines(name, value, indent + 2)
    return lines


def _given_fields(element: Element) -> list[Pair]:
    """Return the fields that differ from their defaults, without the name."""
    return [
        (field.name, value)
        for field in fields_of(type(element))
        if not isinstance(field.kind, NameKind)
        and (field.required or (value := getattr(element, field.name)) != field.default)
        and (value := getattr(element, field.name)) is not None
    ]


def _field_lines(name: str, value: Any, indent: int) -> list[str]:
    pad = " " * indent
    if isinstance(value, Element):
        return _entry_lines(name, value, indent)
    if isinstance(value, tuple) and value and isinstance(value[0], Element):
        lines = [f"{pad}{name}:"]
        for item in value:
            setting = isinstance(item, Setting)
            lines += [f"{pad}  {_flow_setting(item)}"] if setting else _item_lines(item, indent + 2)
        return lines
    if isinstance(value, str) and _is_literal(value):
        return [f"{pad}{name}: {_literal_block(value, indent + 2)}"]
    return [f"{pad}{name}: {_flow_text(value)}"]


def _item_lines(element: Element, indent: int) -> list[str]:
    """Return the lines of a list item `- element`; a shape is written `- box: {…}`."""
    pad = " " * indent
    if isinstance(element, Shape):
        lines = _entry_lines(element.word, element, indent + 2)
    else:
        line = f"{pad}- {_flow_text(element)}"
        if not isinstance(element, _BLOCK_ONLY) and len(line) <= WIDTH:
            return [line]
        lines = [line for name, value in _given_fields(element) for line in _field_lines(name, value, indent + 2)]
        if not lines:
            return [f"{pad}- {{}}"]
    return [f"{pad}- {lines[0].lstrip()}", *lines[1:]]


def _flow_text(value: Any) -> str:
    """Return a value written on one line."""
    if isinstance(value, Shape):
        return f"{{{value.word}: {_flow_fields(value)}}}"
    if isinstance(value, Element):
        return _flow_fields(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Setting):
        return "{" + ", ".join(map(_flow_setting, value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_flow_text, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    return _scalar_text(str(value))


def _flow_fields(element: Element) -> str:
    shown = [f"{name}: {_flow_part(value)}" for name, value in _given_fields(element)]
    return "{" + ", ".join(shown) + "}"


def _flow_setting(setting: Setting) -> str:
    """Return the text `name: value` of a setting."""
    return f"{_scalar_text(setting.parameter)}: {_flow_text(setting.value)}"


def _flow_part(value: Any) -> str:
    return _flow_fields(value) if isinstance(value, Element) else _flow_text(value)


# ------------------------------------------------------------------------------------------ texts


def _scalar_text(value: str) -> str:
    """Return a text without quotes if every YAML reader takes it as text, else in double quotes."""
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _SPECIAL and not _LOOKS_LIKE_NUMBER.fullmatch(value)
    return value if is_plain else '"' + "".join(map(_escape_sequence, value)) + '"'


def _escape_sequence(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if _is_printable(character):
        return character
    return f"\\U{code:08X}" if code > 0xFFFF else f"\\u{code:04X}"


def _is_printable(character: str) -> bool:
    """Return True if a character may be written in YAML unescaped (and is no line break or byte-order mark)."""
    code = ord(character)
    return 0x20 <= code < 0x7F or (code >= 0xA0 and character.isprintable() and code not in (0x2028, 0x2029, 0xFEFF))


def _is_literal(value: str) -> bool:
    """Return True if the text can be written as an indented block (several lines, no special characters)."""
    body = value[:-1] if value.endswith("\n") else value
    lines = body.split("\n")
    ordinary = all(line.strip(" ") or not line for line in lines) and all(map(_is_printable, body.replace("\n", "")))
    return len(lines) > 1 and ordinary and bool(lines[0]) and lines[0][0] != " " and bool(lines[-1])


def _literal_block(value: str, indent: int) -> str:
    pad = " " * indent
    keep = "|" if value.endswith("\n") else "|-"
    body = value[:-1] if value.endswith("\n") else value
    return "\n".join([keep, *_padded_lines(body.split("\n"), pad)])


def _padded_lines(lines: list[str], pad: str) -> Iterator[str]:
    for line in lines:
        yield pad + line if line else ""
