"""Object code on disk, so that a machine opened before runs at full speed at once.

Files are named by the hash of everything the code depends on, begin with the hash of their content, and are written
whole or not at all. Anything unreadable is ignored. `KINETOSTAT_CACHE` names another folder
("" switches the cache off).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_dir

from core.kernel.ir import VERSION

_HASH = 32
_LARGEST = 200_000_000
"""Bytes the folder may hold before the oldest files go."""


def folder() -> Path | None:
    """Where code is kept; None if nowhere."""
    given = os.environ.get("KINETOSTAT_CACHE")
    if given is None:
        return Path(user_cache_dir("kinetostat", appauthor=False)) / "code"
    return Path(given) if given else None


def key(processor: str, ir: str) -> str:
    """Name of the code of an IR text on a processor."""
    return hashlib.sha256(f"{VERSION}\n{processor}\n{ir}".encode()).hexdigest()


def load(name: str) -> bytes | None:
    """The code, if it is there and whole."""
    place = folder()
    if place is None:
        return None
    try:
        data = (place / f"{name}.o").read_bytes()
    except OSError:
        return None
    head, body = data[:_HASH], data[_HASH:]
    return body if body and hashlib.sha256(body).digest() == head else None


def store(name: str, body: bytes) -> None:
    """Keep the code; a folder that cannot be written is no failure."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).digest() + body)
            os.replace(temporary, place / f"{name}.o")
        except OSError:
            os.unlink(temporary)
            raise
        _prune(place)


def _prune(place: Path) -> None:
    """Delete the oldest files while the folder is too large."""
    files = sorted(((f.stat().st_mtime, f.stat().st_size, f) for f in place.glob("*.o")), reverse=True)
    total = 0
    for _, size, file in files:
        total += size
        if total > _LARGEST:
            file.unlink(missing_ok=True)
