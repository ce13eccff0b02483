"""Copies of unsaved work in the recovery folder, copies left there by a program that ended unexpectedly, and lock files
next to open documents.

Each program has a name of its own there (`id`): `id.kst` is the document, `id.json` what it was and was seen with,
`id.runs` its runs, `id.lock` tells that the program lives. What is discarded waits in `discarded` until the end.

The file `name.kst.lock` next to an open document tells other programs who has it open. It is a hint and blocks nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import uuid
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QLockFile

from app.document.kept import companion
from app.document.kept.companion import Kept
from core.errors import FileError
from core.files.source import source_of_file, write_whole
from core.later import dataclass

STALE_LOCK_MS = 7 * 24 * 3600 * 1000
"""Milliseconds after which the hint of another computer, which cannot be asked, is ignored."""


class LockHolder(NamedTuple):
    """The user and computer that have a document open elsewhere."""

    host: str
    process: int
    who: str
    since: datetime

    @property
    def words(self) -> str:
        """Description, e.g. "at LAB-3 by anna since 10:12"."""
        return (
            f"at {self.host or 'another computer'}{f' by {self.who}' if self.who else ''} since {time_text(self.since)}"
        )


class LockHint:
    """The hint of one window for its open document."""

    def __init__(self) -> None:
        self._lock: QLockFile | None = None
        self.path: Path | None = None
        self.holder: LockHolder | None = None
        """User who had the document open first; None if nobody had."""

    def hold(self, path: Path | None) -> None:
        """Move the hint to another document (None: to none). Failure to write it is ignored."""
        if path == self.path:
            return
        self.release()
        self.path = path
        if path is None:
            return
        place = path.with_name(f"{path.name}.lock")
        lock = QLockFile(str(place))
        if os.path.lexists(place) and not _is_lock(place, lock):
            return
        lock.setStaleLockTime(STALE_LOCK_MS)
        if lock.tryLock(0):
            self._lock = lock
        elif lock.error() == QLockFile.LockError.LockFailedError:
            self.holder = _lock_holder(lock, place)

    def asked(self) -> LockHolder | None:
        """Return who else has the document open; if nobody has, take the hint for this window and return None."""
        if self.holder is not None:
            path, self.path = self.path, None
            self.hold(path)
        return self.holder

    def release(self) -> None:
        """Remove the hint."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock, self.path, self.holder = None, None, None


def _is_lock(place: Path, lock: QLockFile) -> bool:
    """Return True if a file is a lock file written by a program; other files must not be replaced, and reading a pipe
    would block."""
    return place.is_file() and not place.is_symlink() and bool(lock.getLockInfo()[0])


def _lock_holder(lock: QLockFile, place: Path) -> LockHolder | None:
    process, host, _program = lock.getLockInfo()
    try:
        since = datetime.fromtimestamp(place.stat().st_mtime)
        who = place.owner()
    except (OSError, KeyError, NotImplementedError):
        since, who = datetime.now(), ""
    return LockHolder(str(host), int(process), who, since)


def time_text(time: datetime) -> str:
    """Format a time: "14:03" for today, "21 Nov 14:03" for other days."""
    today = time.date() == datetime.now().date()
    return f"{time:%H:%M}" if today else f"{time.day} {time:%b} {time:%H:%M}"


VERSION = 1
DISCARDED = "discarded"
KEPT_FOR = 7 * 24 * 3600.0
"""Seconds after which discarded copies that could not be deleted are removed."""
_FILES = (".kst", ".json", ".runs", ".lock")


@dataclass(frozen=True)
class Origin:
    """The document of unsaved work: path of its file ("" if it has none yet), the file it was opened from, title,
    digest of the known file, edits since, name of the last step, and time (s since 1970)."""

    path: str = ""
    source: str = ""
    title: str = ""
    digest: str = ""
    edits: int = 0
    label: str = ""
    time: float = 0.0


@dataclass(frozen=True)
class Leftover:
    """Unsaved work of a program that has ended."""

    copy: Path
    origin: Origin = field(default_factory=Origin)
    kept: Kept = field(default_factory=Kept)

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return runs_of(self.copy)

    @property
    def words(self) -> str:
        """Description, e.g. "four_bar, 14:03, 6 edits, 2 runs"."""
        origin = self.origin
        name = Path(origin.path or origin.source).stem or origin.title or "untitled"
        parts = [name, *time_texts(origin.time)]
        parts += [counted(origin.edits, "edit")] if origin.edits else []
        parts += [counted(len(self.kept.runs), "run")] if self.kept.runs else []
        return ", ".join(parts)


def time_texts(time: float) -> tuple[str, ...]:
    """Return a time formatted for display, as a tuple of one text; () for a time out of range."""
    try:
        return (time_text(datetime.fromtimestamp(time)),)
    except (OverflowError, ValueError, OSError):
        return ()


def new_copy(folder: Path) -> Path:
    """Return the path at which a newly started program copies its unsaved work."""
    return folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.kst"


def runs_of(copy: Path) -> Path:
    """Return the folder of the runs of a copy."""
    return copy.with_suffix(".runs")


def counted(count: int, word: str) -> str:
    """Return a count with its noun, e.g. "1 edit", "3 edits"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def lock_of(copy: Path) -> QLockFile:
    """Return the lock file that the program writing a copy holds as long as it lives."""
    lock = QLockFile(str(copy.with_suffix(".lock")))
    lock.setStaleLockTime(0)
    return lock


def write_copy(copy: Path, text: str, origin: Origin, kept: Kept) -> None:
    """Write a copy: the document, then the description of its origin. Raises FileError."""
    write_whole(copy, text.encode())
    content = {"kinetostat recovery": VERSION, **vars(origin), "session": companion.content_of(kept)}
    write_whole(copy.with_suffix(".json"), json.dumps(content, ensure_ascii=False).encode())


def leftovers(folder: Path) -> tuple[Leftover, ...]:
    """Return copies whose programs are no longer running, newest first."""
    try:
        copies = {path.with_suffix(".kst") for path in folder.iterdir() if path.suffix in (".kst", ".json")}
    except OSError:
        return ()
    found = [_leftover_of(copy) for copy in copies if copy.is_file() and not _is_writer_alive(copy)]
    return tuple(sorted(found, key=lambda each: each.origin.time, reverse=True))


def _leftover_of(copy: Path) -> Leftover:
    """Return a copy as a leftover, also if its description is missing."""
    known: dict[str, Any] = {"title": "a machine", "time": copy.stat().st_mtime}
    kept = Kept()
    with contextlib.suppress(FileError, ValueError, RecursionError):
        content = json.loads(source_of_file(copy.with_suffix(".json")).text)
        if isinstance(content, dict):
            known |= {name: content[name] for name, kind in _TYPES.items() if isinstance(content.get(name), kind)}
            kept = companion.understood(content.get("session"), anywhere=True)
    return Leftover(copy, Origin(**known), kept)


_TYPES: dict[str, Any] = {
    "path": str,
    "source": str,
    "title": str,
    "digest": str,
    "edits": int,
    "label": str,
    "time": float,
}


def _is_writer_alive(copy: Path) -> bool:
    lock = lock_of(copy)
    if not lock.tryLock(0):
        return True
    lock.unlock()
    return False


# ------------------------------------------------------------------------------------------ taking away


def remove_copy(copy: Path) -> None:
    """Delete a copy and all its files."""
    for suffix in _FILES:
        place = copy.with_suffix(suffix)
        with contextlib.suppress(OSError):
            shutil.rmtree(place) if place.is_dir() else place.unlink()


def remove_document(copy: Path) -> None:
    """Delete a copy, but not the runs of the running program."""
    for suffix in (".kst", ".json"):
        with contextlib.suppress(OSError):
            copy.with_suffix(suffix).unlink()


def discard_copy(left: Leftover) -> Leftover:
    """Move a leftover to a folder where it is no longer offered but can still be restored. Raises OSError."""
    return _moved_leftover(left, left.copy.parent / DISCARDED)


def restore_discarded(left: Leftover) -> Leftover:
    """Undo `discard_copy`. Raises OSError."""
    return _moved_leftover(left, left.copy.parent.parent)


def _moved_leftover(left: Leftover, folder: Path) -> Leftover:
    folder.mkdir(exist_ok=True)
    for suffix in _FILES:
        place = left.copy.with_suffix(suffix)
        if place.exists():
            os.replace(place, folder / place.name)
            os.utime(folder / place.name)  # `purge_discarded` counts from now
    return Leftover(folder / left.copy.name, left.origin, left.kept)


def purge_discarded(folder: Path) -> None:
    """Delete copies that earlier programs discarded long ago, and files that belong to no copy."""
    with contextlib.suppress(OSError):
        old = [each for each in (*folder.iterdir(), *(folder / DISCARDED).glob("*")) if _is_old(each)]
        for place in old:
            lonely = place.suffix in (".runs", ".lock", ".part") and not place.with_suffix(".kst").exists()
            if place.parent.name == DISCARDED or (lonely and not _is_writer_alive(place)):
                remove_copy(place)
                place.unlink(missing_ok=True)


def _is_old(place: Path) -> bool:
    return time.time() - place.stat().st_mtime > KEPT_FOR
