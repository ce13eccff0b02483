"""Sections of docs/benchmarks.md: each command writes its own and leaves the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def sections(text: str) -> dict[str, str]:
    """Title → text of a section; what stands before the first one has the title ''."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def merged(old: str, new: str) -> str:
    """The old text with the sections of the new one in the place of those of the same title, others at the end."""
    found = {**sections(old), **{title: text for title, text in sections(new).items() if title or text.strip()}}
    parts = [found.pop("").strip(), *(f"## {title}\n\n{text.strip()}" for title, text in found.items())]
    return "\n\n".join(parts) + "\n"


def put(text: str, path: Path = DOCUMENT) -> None:
    """Write sections into the document."""
    path.write_text(merged(path.read_text(encoding="utf-8") if path.exists() else "", text), encoding="utf-8")


def tell(title: str, command: str, lines: Sequence[str], path: Path = DOCUMENT) -> None:
    """Print the lines of a section; with --write, put them into a document."""
    body = "\n".join(lines)
    print(body, flush=True)
    if "--write" in sys.argv:
        put(f"## {title}\n\nMade by `python -m benchmarks.{command} --write`.\n\n{body}\n", path)
