"""Included files of MJCF: their content is read as part of the main file, while messages name the included file.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#include
"""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import FileError
from core.files.source import Source, source_from_file
from core.files.xml_source import Tag, XmlReader, local_name, parse_xml
from core.model import Finding

MAX_INCLUDES = 1000
MOST_INCLUDED, INCLUDE = 50_000_000, 10_000
"""Maximum bytes of all included files together; bytes that each inclusion adds to the count."""
ORIGIN = "{kinetostat}origin"
"""Attribute that stores the source file of an element where it differs from its parent's."""


class MjcfReader(XmlReader):
    """Reader whose messages name the file that contains an element, and its line there."""

    def file_of(self, tag: Tag) -> str:
        """Return the file of an element: the main file or an included one."""
        while tag is not None:
            if tag.get(ORIGIN) is not None:
                return str(tag.get(ORIGIN))
            tag = tag.getparent()
        return self.file


def mark_source_file(tag: Tag, parts: list[Tag]) -> None:
    """Record the source file in elements that are moved out of their parent."""
    for part in parts:
        if tag.get(ORIGIN) is not None and part.get(ORIGIN) is None:
            part.set(ORIGIN, tag.get(ORIGIN))


class IncludeExpander:
    """Replaces every `<include file="…"/>` by the content of that file.

    A name counts from the folder of the main file, or else of the file that includes. Each file may be included once.
    """

    def __init__(self, main: Source) -> None:
        self.folder = os.path.dirname(os.path.abspath(main.file)) if main.file else ""
        self.seen = {os.path.realpath(main.file)}
        self.left = MOST_INCLUDED
        self.findings: list[Finding] = []

    def expand_includes(self, root: Tag, source: Source) -> Tag:
        """Return the tree with all includes replaced. Raises FileError."""
        for tag in [tag for tag in root.iter() if local_name(tag) == "include"]:
            inner = self._open_included_file(tag, source)
            found, findings = parse_xml(inner, recover=True)
            self.findings += findings
            children = list(self.expand_includes(found, inner))
            for child in children:
                if local_name(child) and child.get(ORIGIN) is None:
                    child.set(ORIGIN, inner.file)
            parent = tag.getparent()
            at = parent.index(tag)
            parent.remove(tag)
            for offset, child in enumerate(children):
                parent.insert(at + offset, child)
        return root

    def _open_included_file(self, tag: Tag, source: Source) -> Source:
        name = tag.get("file", "")
        folders = (self.folder, os.path.dirname(os.path.abspath(source.file))) if source.file else ("",)
        places = [Path(folder, name) for folder in folders]
        place = next((each for each in places if name and each.is_file()), None)
        if place is None:
            raise _include_error(
                tag, source, f"There is no file '{name}'.", "Put it in the folder of the main file or correct its name."
            )
        key = os.path.realpath(place)
        if key in self.seen:
            raise _include_error(
                tag, source, f"'{name}' is included twice, or within itself.", "Remove one of the includes."
            )
        self.seen.add(key)
        inner = source_from_file(place)
        self.left -= INCLUDE + len(inner.data)
        if self.left < 0 or len(self.seen) > MAX_INCLUDES:
            what = "The included files are too many or too large in total."
            raise _include_error(tag, source, what, "Include fewer of them.")
        return inner


def _include_error(tag: Tag, source: Source, message: str, remedy: str) -> FileError:
    return FileError(message, where="include", file=source.file, line=tag.sourceline, remedy=remedy)
