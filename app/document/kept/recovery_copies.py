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
from app.document.kept.companion import CompanionContent
from core.errors import FileError
from core.files.source import source_from_file, write_atomically
from core.later import dataclass

STALE_LOCK_MS = 7 * 24 * 3600 * 1000
"""Age in ms from which the lock of another computer, which cannot be asked, is ignored."""


class LockHolder(NamedTuple):
    """The user and computer that have a document open elsewhere."""

    host: str
    process: int
    who: str
    since: datetime

    @property
    def description(self) -> str:
        """Description, e.g. "at LAB-3 by anna since 10:12"."""
        return (
            f"at {self.host or 'another computer'}{f' by {self.who}' if self.who else ''} since "
            f"{format_time(self.since)}"
        )


class DocumentLock:
    """Lock file of one window for its open document; it is only a hint to other users."""

    def __init__(self) -> None:
        self._lock: QLockFile | None = None
        self.path: Path | None = None
        self.holder: LockHolder | None = None
        """User who had the document open first; None if nobody had."""

    def lock_document(self, path: Path | None) -> None:
        """Move the lock to another document (None: to none). Failure to write the lock file is ignored."""
        if path == self.path:
            return
        self.unlock_document()
        self.path = path
        if path is None:
            return
        place = path.with_name(f"{path.name}.lock")
        lock = QLockFile(str(place))
        if os.path.lexists(place) and not _is_lock_file(place, lock):
            return
        lock.setStaleLockTime(STALE_LOCK_MS)
        if lock.tryLock(0):
            self._lock = lock
        elif lock.error() == QLockFile.LockError.LockFailedError:
            self.holder = _lock_holder(lock, place)

    def check_other_holder(self) -> LockHolder | None:
        """Return who else has the document open; if nobody has, take the lock for this window and return None."""
        if self.holder is not None:
            path, self.path = self.path, None
            self.lock_document(path)
        return self.holder

    def unlock_document(self) -> None:
        """Remove the lock."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock, self.path, self.holder = None, None, None


def _is_lock_file(path: Path, lock: QLockFile) -> bool:
    """Return True if a file is a lock file written by a program; other files must not be replaced, and reading a pipe
    would block."""
    return path.is_file() and not path.is_symlink() and bool(lock.getLockInfo()[0])


def _lock_holder(lock: QLockFile, path: Path) -> LockHolder | None:
    process, host, _program = lock.getLockInfo()
    try:
        since = datetime.fromtimestamp(path.stat().st_mtime)
        who = path.owner()
    except (OSError, KeyError, NotImplementedError):
        since, who = datetime.now(), ""
    return LockHolder(str(host), int(process), who, since)


def format_time(time: datetime) -> str:
    """Format a time: "14:03" for today, "21 Nov 14:03" for other days."""
    today = time.date() == datetime.now().date()
    return f"{time:%H:%M}" if today else f"{time.day} {time:%b} {time:%H:%M}"


VERSION = 1
DISCARDED = "discarded"
KEPT_FOR = 7 * 24 * 3600.0
"""Age in seconds from which discarded copies that could not be deleted are removed."""
_FILES = (".kst", ".json", ".runs", ".lock")


@dataclass(frozen=True)
class UnsavedWorkOrigin:
    """Origin of unsaved work: path of the document's file ("" if it has none yet), the file it was opened from, title,
    digest of the known file, number of edits since, name of the last step, and time (s since 1970)."""

    path: str = ""
    source: str = ""
    title: str = ""
    digest: str = ""
    edits: int = 0
    label: str = ""
    time: float = 0.0


@dataclass(frozen=True)
class RecoveredWork:
    """Unsaved work of a program that has ended."""

    copy: Path
    origin: UnsavedWorkOrigin = field(default_factory=UnsavedWorkOrigin)
    kept: CompanionContent = field(default_factory=CompanionContent)

    @property
    def runs_folder(self) -> Path:
        """Folder of the runs."""
        return runs_folder_of(self.copy)

    @property
    def description(self) -> str:
        """Description, e.g. "four_bar, 14:03, 6 edits, 2 runs"."""
        origin = self.origin
        name = Path(origin.path or origin.source).stem or origin.title or "untitled"
        parts = [name, *format_timestamp(origin.time)]
        parts += [format_count(origin.edits, "edit")] if origin.edits else []
        parts += [format_count(len(self.kept.runs), "run")] if self.kept.runs else []
        return ", ".join(parts)


def format_timestamp(time: float) -> tuple[str, ...]:
    """Format a timestamp for display, as a tuple of one string; () if it is out of range."""
    try:
        return (format_time(datetime.fromtimestamp(time)),)
    except (OverflowError, ValueError, OSError):
        return ()


def new_copy_path(folder: Path) -> Path:
    """Return the path to which a newly started program copies its unsaved work."""
    return folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.kst"


def runs_folder_of(copy: Path) -> Path:
    """Return the folder for the runs of a recovery copy."""
    return copy.with_suffix(".runs")


def format_count(count: int, word: str) -> str:
    """Return a count with its noun, e.g. "1 edit", "3 edits"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def writer_lock(copy: Path) -> QLockFile:
    """Return the lock file that the program writing a copy holds as long as it runs."""
    lock = QLockFile(str(copy.with_suffix(".lock")))
    lock.setStaleLockTime(0)
    return lock


def write_recovery_copy(copy: Path, text: str, origin: UnsavedWorkOrigin, companion_content: CompanionContent) -> None:
    """Write a recovery copy: the document, then the description of its origin. Raises FileError."""
    write_atomically(copy, text.encode())
    content = {
        "kinetostat recovery": VERSION,
        **vars(origin),
        "session": companion.session_json_content(companion_content),
    }
    write_atomically(copy.with_suffix(".json"), json.dumps(content, ensure_ascii=False).encode())


def find_recovered_work(folder: Path) -> tuple[RecoveredWork, ...]:
    """Return the recovery copies whose programs are no longer running, newest first."""
    try:
        copies = {path.with_suffix(".kst") for path in folder.iterdir() if path.suffix in (".kst", ".json")}
    except OSError:
        return ()
    found = [_read_recovered_work(copy) for copy in copies if copy.is_file() and not _is_writer_alive(copy)]
    return tuple(sorted(found, key=lambda each: each.origin.time, reverse=True))


def _read_recovered_work(copy: Path) -> RecoveredWork:
    """Read a recovery copy, even if its description is missing."""
    known: dict[str, Any] = {"title": "a machine", "time": copy.stat().st_mtime}
    kept = CompanionContent()
    with contextlib.suppress(FileError, ValueError, RecursionError):
        content = json.loads(source_from_file(copy.with_suffix(".json")).text)
        if isinstance(content, dict):
            known |= {name: content[name] for name, kind in _TYPES.items() if isinstance(content.get(name), kind)}
            kept = companion.parse_session_json(content.get("session"), allow_other_folders=True)
    return RecoveredWork(copy, UnsavedWorkOrigin(**known), kept)


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
    lock = writer_lock(copy)
    if not lock.tryLock(0):
        return True
    lock.unlock()
    return False


# ------------------------------------------------------------------------------------------ taking away


def delete_copy(copy: Path) -> None:
    """Delete a copy and all its files."""
    for suffix in _FILES:
        place = copy.with_suffix(suffix)
        with contextlib.suppress(OSError):
            shutil.rmtree(place) if place.is_dir() else place.unlink()


def delete_document_copy(copy: Path) -> None:
    """Delete a recovery copy of the document, but not the runs of the running program."""
    for suffix in (".kst", ".json"):
        with contextlib.suppress(OSError):
            copy.with_suffix(suffix).unlink()


def discard_copy(work: RecoveredWork) -> RecoveredWork:
    """Move recovered work to a folder from which it is no longer offered but can still be restored. Raises OSError."""
    return _move_copy(work, work.copy.parent / DISCARDED)


def restore_discarded(work: RecoveredWork) -> RecoveredWork:
    """Undo `discard_copy`. Raises OSError."""
    return _move_copy(work, work.copy.parent.parent)


def _move_copy(work: RecoveredWork, folder: Path) -> RecoveredWork:
    folder.mkdir(exist_ok=True)
    for suffix in _FILES:
        place = work.copy.with_suffix(suffix)
        if place.exists():
            os.replace(place, folder / place.name)
            os.utime(folder / place.name)  # `purge_discarded` counts from now
    return RecoveredWork(folder / work.copy.name, work.origin, work.kept)


def purge_discarded(folder: Path) -> None:
    """Delete recovery copies that were discarded long ago, and files that belong to no copy."""
    with contextlib.suppress(OSError):
        old = [each for each in (*folder.iterdir(), *(folder / DISCARDED).glob("*")) if _is_past_retention(each)]
        for place in old:
            lonely = place.suffix in (".runs", ".lock", ".part") and not place.with_suffix(".kst").exists()
            if place.parent.name == DISCARDED or (lonely and not _is_writer_alive(place)):
                delete_copy(place)
                place.unlink(missing_ok=True)


def _is_past_retention(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > KEPT_FOR
