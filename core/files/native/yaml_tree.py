"""YAML text as a tree with line numbers; nodes are mappings, lists and strings only.

No tags, anchors or aliases, no types guessed from the look of a value: what a text means is decided by the
field it stands in. Depth is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.errors import FileError
from core.files.source import Source
from core.later import dataclass, lazy_patterns

with lazy_patterns("yaml."):  # of its reader in Python, and of kinds that we do not tell apart
    import yaml

MAX_DEPTH = 50
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class ScalarNode:
    """Scalar node; `plain` if it was not quoted."""

    value: str
    line: int
    plain: bool = True

    @property
    def is_null(self) -> bool:
        """Return True for YAML's null: nothing, ~ or null without quotes."""
        return self.plain and self.value in NULLS


@dataclass(frozen=True)
class MappingNode:
    """Mapping node: key → (line of the key, node)."""

    items: dict[str, tuple[int, Node]]
    line: int


@dataclass(frozen=True)
class ListNode:
    """List node."""

    items: tuple[Node, ...]
    line: int


Node = ScalarNode | MappingNode | ListNode


def parse_yaml(source: Source) -> Node:
    """Return the tree of a YAML text with one document. Raises FileError naming the line."""
    try:
        return _TreeBuilder(source).build_document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        what = str(error.problem or error.context)
        if "nesting" in what:  # libyaml's own bound: brackets that could begin a key are read ahead
            raise _nesting_error(source.file, line) from None
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


def _nesting_error(file: str, line: int | None) -> FileError:
    return FileError(
        f"The text is nested more than {MAX_DEPTH} levels deep.", file=file, line=line, remedy="Remove brackets."
    )


class _TreeBuilder:
    """Builder of nodes from YAML's event stream, which rejects unsupported YAML features."""

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.events: Iterator[Any] = yaml.parse(source.text, Loader=_Loader)

    def build_document(self) -> Node:
        next(self.events)  # start of stream
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            raise FileError("The file is empty.", file=self.file, remedy="Choose another file.")
        node = self.build_node(next(self.events), 1)
        next(self.events)  # end of document
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.unsupported_feature_error(event, "A second document begins here.", "Keep one document per file.")
        return node

    def unsupported_feature_error(self, event: Any, message: str, remedy: str) -> FileError:
        return FileError(message, file=self.file, line=event.start_mark.line + 1, remedy=remedy)

    def build_node(self, event: Any, depth: int) -> Node:
        if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None and depth <= MAX_DEPTH:
            return ScalarNode(event.value, event.start_mark.line + 1, plain=not event.style)
        line = event.start_mark.line + 1
        if event.anchor is not None or getattr(event, "tag", None) is not None or depth > MAX_DEPTH:
            self.check_event(event, line, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                items.append(self.build_node(item, depth + 1))
            return ListNode(tuple(items), line)
        return self.build_mapping(line, depth)

    def check_event(self, event: Any, line: int, depth: int) -> None:
        """Raise FileError for YAML features that native files do not use."""
        if event.anchor is not None:  # of an alias, too
            raise self.unsupported_feature_error(
                event,
                "Anchors (&) and aliases (*) are not supported.",
                "Write the value out, and put strings that begin with & or * in quotes.",
            )
        if getattr(event, "tag", None) is not None:
            raise self.unsupported_feature_error(
                event,
                f"Tags ({str(event.tag)[:40]}) are not supported.",
                "Remove the tag, and put strings that begin with ! in quotes.",
            )
        if depth > MAX_DEPTH:
            raise _nesting_error(self.file, line)

    def build_mapping(self, line: int, depth: int) -> MappingNode:
        items: dict[str, tuple[int, Node]] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if type(event) is yaml.ScalarEvent and event.anchor is None and event.tag is None:
                name = event.value
            else:
                name = self.read_key(event, depth)
            if name in items:
                raise self.unsupported_feature_error(
                    event,
                    f"'{name[:60]}' is given twice (first in line {items[name][0]}).",
                    "Remove or rename one of them.",
                )
            items[name] = (event.start_mark.line + 1, self.build_node(next(self.events), depth + 1))
        return MappingNode(items, line)

    def read_key(self, event: Any, depth: int) -> str:
        """Return a key. Raises FileError if it is not a plain scalar."""
        key = self.build_node(event, depth + 1)
        if not isinstance(key, ScalarNode):
            raise self.unsupported_feature_error(
                event, "A list or mapping cannot be a key.", "Write a name before the colon."
            )
        return key.value
