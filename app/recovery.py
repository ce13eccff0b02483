"""Recovery: unsaved work is copied to the platform's state folder and offered after a crash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, QTimer

from app.settings import recovery_folder
from core.errors import KinetostatError
from core.files import load, save

if TYPE_CHECKING:
    from app.window import Window

PERIOD = 20_000
"""Milliseconds after a change until the copy is written."""


class Recovery(QObject):
    """Writes a copy some time after a change; removes it when the work is saved or the program ends in order."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._file = recovery_folder() / f"{os.getpid()}.kst"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._own = _lock(self._file)
        self._own.tryLock(0)
        self._timer = QTimer(self, singleShot=True, interval=PERIOD)
        self._timer.timeout.connect(self.write)
        window.session.saved_changed.connect(self._changed)

    def _changed(self) -> None:
        if not self._window.session.unsaved:
            self.clear()
        elif not self._timer.isActive():
            self._timer.start()

    def write(self) -> None:
        """Write the copy now."""
        try:
            save(self._window.session.model, self._file)
        except (KinetostatError, OSError) as error:
            self._window.session.told.emit("warning", f"No recovery copy could be written: {error}")

    def clear(self) -> None:
        """Remove the copy: nothing is unsaved."""
        self._timer.stop()
        self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """End of the program in order."""
        self._window.session.saved_changed.disconnect(self._changed)
        self.clear()
        self._own.unlock()

    def offer(self) -> None:
        """Offer what an earlier run left behind, in place."""
        for path in left_behind(self._file.parent):
            self._window.messages.tell(
                "warning",
                "The program ended unexpectedly last time; unsaved work was kept.",
                {"Restore": lambda path=path: self._restore(path), "Discard": lambda path=path: path.unlink()},
            )
            return

    def _restore(self, path: Path) -> None:
        try:
            model = load(path)
        except KinetostatError as error:
            self._window.session.told.emit("error", str(error))
            return
        if self._window.session.restore(model):
            self._window.documents.source = None
            path.unlink(missing_ok=True)


def left_behind(folder: Path) -> list[Path]:
    """Copies of runs that are no longer alive, newest first."""
    found = [path for path in folder.glob("*.kst") if not _alive(path)]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _alive(path: Path) -> bool:
    """Whether the program that writes this copy still runs: then it holds the lock beside it."""
    lock = _lock(path)
    if not lock.tryLock(0):
        return True
    lock.unlock()
    return False


def _lock(path: Path) -> QLockFile:
    lock = QLockFile(str(path.with_suffix(".lock")))
    lock.setStaleLockTime(0)
    return lock
