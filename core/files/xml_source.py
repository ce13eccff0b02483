"""Safe reading of XML files with line numbers: no entities, no network, no oversized trees.

`Reader` turns attributes into numbers and names, with messages that name file, line, component and field.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

from lxml import etree

from core.errors import FileError
from core.files.source import Source
from core.model import Finding
from core.model.validation.findings import Severity

Tag = Any
"""An lxml element."""

Vector3 = tuple[float, float, float]

_ENTITY = re.compile(rb"<!\s*ENTITY", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
_BAD_NAME = re.compile(r"[^\w\-]+")


def parse_xml(source: Source, recover: bool = False) -> tuple[Tag, list[Finding]]:
    """Return the root element and findings. Raises FileError naming the line.

    recover : what stands behind the end of the root element, such as a stray end tag, is left out and told
    """
    source, late = _skip_to_declaration(source)
    root, findings = _parse_tree(source, recover)
    return _remove_default_namespace(root), late + findings


def _remove_default_namespace(root: Tag) -> Tag:
    """Return the tree with the elements of the root's default namespace (`xmlns="…"`) as elements without a
    namespace."""
    default = root.nsmap.get(None)
    for tag in root.iter() if default else ():
        if isinstance(tag.tag, str) and tag.tag.startswith(f"{{{default}}}"):
            tag.tag = local_name(tag)
    return root


_LATE = re.compile(rb"(?:\xef\xbb\xbf)?(?>\s|<!--.*?-->)+(?=<\?xml\s)", re.DOTALL)
"""Content that must not precede an XML declaration but often does."""


def _skip_to_declaration(source: Source) -> tuple[Source, list[Finding]]:
    """Return the source from its XML declaration on, keeping the line numbers."""
    late = _LATE.match(source.data)
    declared = None if late is None else re.compile(rb"<\?xml.*?\?>", re.DOTALL).match(source.data, late.end())
    if late is None or declared is None:
        return source, []
    line = source.data.count(b"\n", 0, late.end()) + 1
    text = "The XML declaration is not at the very beginning of the file."
    kept = re.sub(rb"[^\n]", b" ", late.group())
    data = declared.group().replace(b"\n", b" ") + kept + source.data[declared.end() :]
    return dataclasses.replace(source, data=data), [Finding("hint", text, file=source.file, line=line)]


def _parse_tree(source: Source, recover: bool) -> tuple[Tag, list[Finding]]:
    if b"\0" in source.data and not source.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        source.text  # noqa: B018  (raises the message about NUL bytes)
    if (found := _ENTITY.search(source.data)) is not None:
        raise FileError(
            "The file declares XML entities; they are not expanded here.",
            file=source.file,
            line=source.data.count(b"\n", 0, found.start()) + 1,
            remedy="Remove the <!ENTITY …> lines and write the values out.",
        )
    parser = _make_parser(source)
    try:
        return _check_root(etree.fromstring(source.data, parser), source), []
    except etree.XMLSyntaxError as error:
        if parser.error_log and all(entry.type_name.startswith("NS_") for entry in parser.error_log):
            root = etree.fromstring(source.data, _make_parser(source, recover=True))
            text = f"The file uses a namespace prefix that it does not declare ({error.msg})."
            return _check_root(root, source), [Finding("hint", text, file=source.file, line=error.lineno)]
        if recover and error.code == etree.ErrorTypes.ERR_DOCUMENT_END:
            root = etree.fromstring(source.data, _make_parser(source, recover=True))
            text = "Content after the end of the root element, such as a stray end tag, is ignored."
            return _check_root(root, source), [Finding("warning", text, file=source.file, line=error.lineno)]
        what = re.sub(r", line \d+, column \d+.*", "", error.msg or "it is empty")
        raise FileError(
            f"The file is not well-formed XML: {what}.",
            file=source.file,
            line=error.lineno or None,
            remedy="Correct the tags in this line.",
        ) from None
    except (ValueError, LookupError) as error:
        raise FileError(f"The file is not XML: {error}.", file=source.file, remedy="Save it as UTF-8.") from None


def _make_parser(source: Source, recover: bool = False) -> Any:
    return etree.XMLParser(
        encoding="utf-8" if source.decoded else None,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _check_root(root: Tag, source: Source) -> Tag:
    if root is None:
        raise FileError("The file contains no XML element.", file=source.file, remedy="Choose another file.")
    info = root.getroottree().docinfo
    if info.internalDTD is not None and list(info.internalDTD.iterentities()):
        raise FileError(
            "The file declares XML entities; they are not expanded here.",
            file=source.file,
            remedy="Remove the <!ENTITY …> lines and write the values out.",
        )
    return root


def local_name(tag: Tag) -> str:
    """Return the name of an element without its namespace; "" for a node that is not an element."""
    return tag.tag.rpartition("}")[2] if isinstance(tag.tag, str) else ""


def has_namespace(tag: Tag) -> bool:
    """Return True if an element has a namespace and so belongs to another vocabulary."""
    return isinstance(tag.tag, str) and (tag.tag.startswith("{") or ":" in tag.tag)


class XmlReader:
    """Reader of attributes as values, which collects findings."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []

    def error(self, tag: Tag, message: str, where: str = "", remedy: str = "") -> FileError:
        """Return the error about an element."""
        return FileError(message, where=where, remedy=remedy, file=self.file_of(tag), line=tag.sourceline)

    def file_of(self, tag: Tag) -> str:
        """Return the file that contains an element."""
        return self.file

    def add_finding(
        self,
        tag: Tag,
        severity: Severity,
        text: str,
        remedy: str = "",
        location: tuple[str, str] = ("", ""),
        field: str = "",
    ) -> None:
        """Add a finding."""
        self.findings.append(Finding(severity, text, remedy, *location, field, self.file_of(tag), tag.sourceline))

    def children(self, tag: Tag, name: str) -> list[Tag]:
        """Return the child elements with a name."""
        return [child for child in tag if local_name(child) == name and not has_namespace(child)]

    def child(self, tag: Tag, name: str, where: str) -> Tag | None:
        """Return the child element with a name, or None; if there are several, the first is used and a finding
        added."""
        found = self.children(tag, name)
        if len(found) > 1:
            self.add_finding(
                found[1], "warning", f"{where} has {len(found)} <{name}>; the first one is used.", "Remove the others."
            )
        return found[0] if found else None

    def text(self, tag: Tag, attribute: str, where: str) -> str:
        """Return a required attribute."""
        value = tag.get(attribute)
        if value is None:
            raise self.error(tag, f"<{local_name(tag)}> has no '{attribute}'.", where, f'Add {attribute}="…".')
        return str(value)

    def numbers(
        self,
        tag: Tag,
        attribute: str,
        count: int,
        default: Sequence[float] | None,
        where: str,
        *,
        infinite: bool = False,
    ) -> tuple[float, ...]:
        """Return `count` numbers of an attribute separated by blanks; the default if the attribute is missing or
        empty."""
        value = tag.get(attribute)
        if value is None or not value.strip():
            if default is None:
                raise self.error(tag, f"<{local_name(tag)}> has no '{attribute}'.", where, f'Add {attribute}="…".')
            return tuple(default)
        words = value.split()
        if len(words) != count:
            raise self.error(
                tag,
                f'{attribute}="{shorten(value)}" has {len(words)} numbers instead of {count}.',
                where,
                f"Give {count} number{'s' * (count > 1)} separated by blanks.",
            )
        return tuple(self._parse_number(tag, attribute, word, where, infinite) for word in words)

    def vector(self, tag: Tag, attribute: str, default: Vector3 | None, where: str) -> Vector3:
        """Return the three numbers of an attribute."""
        x, y, z = self.numbers(tag, attribute, 3, default, where)
        return x, y, z

    def number(self, tag: Tag, attribute: str, default: float | None, where: str, *, infinite: bool = False) -> float:
        """Return the number in an attribute."""
        return self.numbers(tag, attribute, 1, None if default is None else (default,), where, infinite=infinite)[0]

    def _parse_number(self, tag: Tag, attribute: str, word: str, where: str, infinite: bool) -> float:
        value = float(word) if NUMBER.fullmatch(word) else math.nan
        if infinite and (math.isinf(value) or word.lower().lstrip("+-") in ("inf", "infinity", ".inf")):
            return -math.inf if word.startswith("-") else math.inf
        if not math.isfinite(value):
            comma = "," in word
            remedy = "Use a decimal point, not a comma." if comma else "Write a finite number such as 0.5 or 1e-3."
            raise self.error(tag, f"'{shorten(word)}' in {attribute} is not a number.", f"{where}, {attribute}", remedy)
        return value


def shorten(text: str) -> str:
    """Return text of a file cut to 40 characters, for a message."""
    return text if len(text) <= 40 else text[:37] + "…"


class UniqueNames:
    """Names from a file, made valid and unique, with a record of those that were changed."""

    def __init__(self, reserved: Sequence[str] = ()) -> None:
        self.taken = set(reserved)
        self.of: dict[str, str] = {}

    def add(self, original: str) -> str:
        """Return a valid, unused name for a name in the file."""
        stem = _BAD_NAME.sub("_", original).strip("_-")[:150] or "unnamed"
        stem = stem if stem[0].isalpha() or original.startswith("_") else f"_{stem}"
        name, number = (original if _is_usable_name(original) else stem), 2
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        self.of[original] = name
        return name


def _is_usable_name(name: str) -> bool:
    from core.model.fields import check_name

    try:
        check_name(name)
    except Exception:
        return False
    return True
