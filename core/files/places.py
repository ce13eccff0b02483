"""Names of files as one writes them in another file."""

from __future__ import annotations

import os
from pathlib import Path


def relative(place: Path, folder: str) -> str:
    """The path from a folder to a file, with forward slashes; the full path on another drive."""
    try:
        return Path(os.path.relpath(place.resolve(), Path(folder).resolve())).as_posix()
    except ValueError:
        return place.resolve().as_posix()


def beside(file: str, origin: str) -> str:
    """The path of a file that a document at `origin` names: full, in the home folder (~), or from the document's."""
    path = os.path.expanduser(file)
    return path if os.path.isabs(path) else os.path.join(os.path.dirname(origin), path)
