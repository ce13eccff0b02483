"""The text of a file of numbers that a person chose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.errors import KinetostatError


def text_of(path: Path, refused: Callable[[str], object]) -> str | None:
    """The text; None where the file cannot be read, and why is told to refused(words)."""
    from core.files.regular_file import SIGNAL, text_content_of

    try:
        return text_content_of(path, SIGNAL)
    except KinetostatError as error:
        refused(str(error))
        return None
