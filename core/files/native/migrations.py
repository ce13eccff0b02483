"""Migration of older versions of the native format, one version at a time.

A migration takes the tree of a file of version n and returns the tree of version n + 1; lines are kept, so
that messages still point into the person's file.

Version 0 (the draft): collections were lists of entries with a `name`; gravity stood at the top as a vector.
Version 1: collections are mappings name → fields; gravity is a part of `world`.
"""

from __future__ import annotations

from collections.abc import Callable

from core.errors import FileError
from core.files.native.yaml_tree import Entries, Items, Node, Text

VERSION = 1
"""Version that is written."""

_NAMED = ("parameters", "materials", "bodies", "frames", "joints", "chains")


def _from_0(tree: Entries) -> Entries:
    items = dict(tree.items)
    for collection in _NAMED:
        line, node = items.get(collection, (0, None))
        if isinstance(node, Items):
            items[collection] = (line, _entries_by_name(node))
    if "gravity" in items:
        line, vector = items.pop("gravity")
        gravity = Entries({"acceleration": (line, vector)}, line)
        items["world"] = (line, Entries({"gravity": (line, gravity)}, line))
    return Entries(items, tree.line)


def _entries_by_name(node: Items) -> Entries:
    items: dict[str, tuple[int, Node]] = {}
    for item in node.items:
        name = item.items.get("name", (0, None))[1] if isinstance(item, Entries) else None
        if not isinstance(item, Entries) or not isinstance(name, Text):
            raise FileError("This entry has no name.", line=item.line, remedy="Add name: …")
        if name.value in items:
            raise FileError(f"'{name.value}' is given twice.", line=item.line, remedy="Rename one of them.")
        fields = {key: value for key, value in item.items.items() if key != "name"}
        items[name.value] = (name.line, Entries(fields, item.line))
    return Entries(items, node.line)


MIGRATIONS: dict[int, Callable[[Entries], Entries]] = {0: _from_0}


def migrated(
    tree: Entries, version: int, to: int = VERSION, steps: dict[int, Callable[[Entries], Entries]] | None = None
) -> Entries:
    """Return the tree converted to version `to`. Raises FileError if a step is missing."""
    steps = MIGRATIONS if steps is None else steps
    for number in range(version, to):
        if number not in steps:
            raise FileError(
                f"Files of version {number} can no longer be read.",
                line=tree.line,
                remedy="Open it with an older release and save it again.",
            )
        tree = steps[number](tree)
    return tree
