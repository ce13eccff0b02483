"""Reading a file of numbers chosen by the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.errors import KinetostatError


def text_of(path: Path, refused: Callable[[str], object]) -> str | None:
    """Return the text of a file; None if it cannot be read, with the reason passed to refused(words)."""
    from core.files.regular_file import SIGNAL, text_content_of

    try:
        return text_content_of(path, SIGNAL)
    except KinetostatError as error:
        refused(str(error))
        return None
