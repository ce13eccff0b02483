"""YAML text as a tree with line numbers: mappings, lists and texts only.

No tags, anchors or aliases, no types guessed from the look of a value: what a text means is decided by the
field it stands in. Depth is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.errors import FileError
from core.files.source import Source
from core.later import dataclass, patterns

with patterns("yaml."):  # of its reader in Python, and of kinds that we do not tell apart
    import yaml

MAX_DEPTH = 50
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class Text:
    """Scalar node; `plain` if it was not quoted."""

    value: str
    line: int
    plain: bool = True

    @property
    def empty(self) -> bool:
        """Return True for YAML's null: nothing, ~ or null without quotes."""
        return self.plain and self.value in NULLS


@dataclass(frozen=True)
class Entries:
    """Mapping node: key → (line of the key, node)."""

    items: dict[str, tuple[int, Node]]
    line: int


@dataclass(frozen=True)
class Items:
    """List node."""

    items: tuple[Node, ...]
    line: int


Node = Text | Entries | Items


def tree_of(source: Source) -> Node:
    """Return the tree of a YAML text with one document. Raises FileError naming the line."""
    try:
        return _Builder(source).whole()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        what = str(error.problem or error.context)
        if "nesting" in what:  # libyaml's own bound: brackets that could begin a key are read ahead
            raise _too_deep(source.file, line) from None
        raise FileError(
            f"The text is not valid YAML: {what}.",
            file=source.file,
            line=line,
            remedy="Check indentation, colons, quotes and brackets there.",
        ) from None
    except yaml.YAMLError as error:
        raise FileError(
            f"The text is not valid YAML: {str(error).splitlines()[0]}.",
            file=source.file,
            remedy="Remove the special characters.",
        ) from None


def _too_deep(file: str, line: int | None) -> FileError:
    return FileError(
        f"The text is nested more than {MAX_DEPTH} levels deep.", file=file, line=line, remedy="Remove brackets."
    )


class _Builder:
    """Builder of nodes from YAML's event stream, which rejects unsupported YAML features."""

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.events: Iterator[Any] = yaml.parse(source.text, Loader=_Loader)

    def whole(self) -> Node:
        next(self.events)  # start of stream
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            raise FileError("The file is empty.", file=self.file, remedy="Choose another file.")
        node = self.node(next(self.events), 1)
        next(self.events)  # end of document
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.refusal(event, "A second document begins here.", "Keep one document per file.")
        return node

    def refusal(self, event: Any, what: str, remedy: str) -> FileError:
        return FileError(what, file=self.file, line=event.start_mark.line + 1, remedy=remedy)

    def node(self, event: Any, depth: int) -> Node:
        if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None and depth <= MAX_DEPTH:
            return Text(event.value, event.start_mark.line + 1, plain=not event.style)
        line = event.start_mark.line + 1
        if event.anchor is not None or getattr(event, "tag", None) is not None or depth > MAX_DEPTH:
            self.check(event, line, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                items.append(self.node(item, depth + 1))
            return Items(tuple(items), line)
        return self.entries(line, depth)

    def check(self, event: Any, line: int, depth: int) -> None:
        """Raise FileError for YAML features that native files do not use."""
        if event.anchor is not None:  # of an alias, too
            raise self.refusal(
                event,
                "Anchors (&) and aliases (*) are not supported.",
                "Write the value out, and put texts that begin with & or * in quotes.",
            )
        if getattr(event, "tag", None) is not None:
            raise self.refusal(
                event,
                f"Tags ({str(event.tag)[:40]}) are not supported.",
                "Remove it, and put texts that begin with ! in quotes.",
            )
        if depth > MAX_DEPTH:
            raise _too_deep(self.file, line)

    def entries(self, line: int, depth: int) -> Entries:
        items: dict[str, tuple[int, Node]] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None:
                name = event.value
            else:
                name = self.name(event, depth)
            if name in items:
                raise self.refusal(
                    event,
                    f"'{name[:60]}' is given twice (first in line {items[name][0]}).",
                    "Remove or rename one of them.",
                )
            items[name] = (event.start_mark.line + 1, self.node(next(self.events), depth + 1))
        return Entries(items, line)

    def name(self, event: Any, depth: int) -> str:
        """Return a key. Raises FileError if it is not a plain scalar."""
        key = self.node(event, depth + 1)
        if not isinstance(key, Text):
            raise self.refusal(event, "A list or mapping cannot be a key.", "Write a name before the colon.")
        return key.value
