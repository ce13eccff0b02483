"""The file `name.kst.lock` next to an open document tells other programs who has it open. It is a hint and blocks
nobody."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLockFile

STALE = 7 * 24 * 3600 * 1000
"""Milliseconds after which the hint of another computer, which cannot be asked, is ignored."""


class Holder(NamedTuple):
    """The user and computer that have a document open elsewhere."""

    host: str
    process: int
    who: str
    since: datetime

    @property
    def words(self) -> str:
        """Description, e.g. "at LAB-3 by anna since 10:12"."""
        return f"at {self.host or 'another computer'}{f' by {self.who}' if self.who else ''} since {moment(self.since)}"


class LockHint:
    """The hint of one window for its open document."""

    def __init__(self) -> None:
        self._lock: QLockFile | None = None
        self.path: Path | None = None
        self.holder: Holder | None = None
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
        lock.setStaleLockTime(STALE)
        if lock.tryLock(0):
            self._lock = lock
        elif lock.error() == QLockFile.LockError.LockFailedError:
            self.holder = _holder(lock, place)

    def asked(self) -> Holder | None:
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


def _holder(lock: QLockFile, place: Path) -> Holder | None:
    process, host, _program = lock.getLockInfo()
    try:
        since = datetime.fromtimestamp(place.stat().st_mtime)
        who = place.owner()
    except (OSError, KeyError, NotImplementedError):
        since, who = datetime.now(), ""
    return Holder(str(host), int(process), who, since)


def moment(time: datetime) -> str:
    """Format a time: "14:03" for today, "21 Nov 14:03" for other days."""
    today = time.date() == datetime.now().date()
    return f"{time:%H:%M}" if today else f"{time.day} {time:%b} {time:%H:%M}"
