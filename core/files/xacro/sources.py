"""Reading of the files that a Xacro expansion needs, within limits: XML without entities, YAML without Python
objects."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.dom import expatbuilder
from xml.parsers.expat import ErrorString, ExpatError

import yaml

from core.errors import FileError
from core.files.source import source_from_file
from core.files.xacro.bounds import EvaluationBudget, charge_value


class SourceTexts:
    """Texts of files by path, kept so that messages can give the line of an expression."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def text(self, file: str) -> str:
        """Return the text of a regular file within the size limit. Raises FileError with the full path."""
        if file not in self._texts:
            self.store_text(file, source_from_file(os.path.abspath(file)).text)
        return self._texts[file]

    def store_text(self, file: str, text: str) -> None:
        """Store a text that was read elsewhere."""
        self._texts[file] = text

    def line(self, file: str, expression: str) -> int | None:
        """Return the line of an expression in a file; None if it cannot be found."""
        words = [re.escape(word) for word in expression.split()]
        text = self._texts.get(file, "")
        for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
            text = text.replace(entity, sign)
        found = re.search(r"\s+".join(words), text) if words else None
        return None if found is None else text.count("\n", 0, found.start()) + 1


class _PlainBuilder(expatbuilder.ExpatBuilderNS):
    """Builder of XML documents that rejects entity declarations and never fetches external files."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def entity_decl_handler(self, *declared: Any) -> None:
        raise FileError(
            "The file declares XML entities; they are not expanded here.",
            file=self._file,
            line=self.getParser().CurrentLineNumber,
            remedy="Remove the <!ENTITY …> lines and write the values out.",
        )


def parse_xml(text: str, file: str) -> Any:
    """Return the XML document (of `xml.dom.minidom`) of a text. Raises FileError."""
    try:
        return _PlainBuilder(file).parseString(text)
    except ExpatError as error:
        reason = ErrorString(error.code)
        raise FileError(
            f"This is not valid XML: {reason}.",
            file=file,
            line=error.lineno,
            remedy="Correct this line or the one before it.",
        ) from None


def parse_yaml(text: str, units: Mapping[str, Callable[[str], float]], file: str) -> Any:
    """Return the content of a YAML text, plain values only. `units`: conversions for tags such as !degrees. Raises
    FileError."""

    loader: Any = type("UnitLoader", (yaml.SafeLoader,), {})
    for tag, made in units.items():
        loader.add_constructor(tag, lambda within, node, made=made: made(str(within.construct_scalar(node))))
    try:
        return charge_value(yaml.load(text, loader), EvaluationBudget())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise FileError(
            f"This YAML cannot be read: {error.problem or error.context}.",
            file=file,
            line=line,
            remedy="Correct this line.",
        ) from None
    except yaml.YAMLError as error:
        raise FileError(f"This YAML cannot be read: {error}.", file=file, remedy="Correct it.") from None
