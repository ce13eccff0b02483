"""Paths of files as written in another file."""

from __future__ import annotations

import os
from pathlib import Path


def relative(place: Path, folder: str) -> str:
    """Return the path from a folder to a file, with forward slashes; the full path on another drive."""
    try:
        return Path(os.path.relpath(place.resolve(), Path(folder).resolve())).as_posix()
    except ValueError:
        return place.resolve().as_posix()


def beside(file: str, origin: str) -> str:
    """Return the path of a file named in the document at `origin`: absolute, in the home folder (~), or relative to the
    document."""
    path = os.path.expanduser(file)
    return path if os.path.isabs(path) else os.path.join(os.path.dirname(origin), path)
