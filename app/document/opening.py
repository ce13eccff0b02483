"""Open a file in the background: a thread reads it and builds its mechanism and meshes, then it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background.errands import BackgroundQueue
from app.document.kept import companion
from app.document.kept.companion import Kept
from app.document.kept.seen_files import Seen, Sources
from app.document.validation import findings_of
from core.errors import FileError
from core.files import Reading, Trusted, read
from core.files.named import Place
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Finding, Model
from viz.scene.prefetch import prepare


@dataclass(frozen=True)
class Opened:
    """The result of reading a file: a model with its mechanism, or the error."""

    path: Path
    model: Model | None = None
    mech: Mechanism | None = None
    findings: tuple[Finding, ...] = ()
    error: BaseException | None = None
    sources: Sources = Sources()
    """Fingerprints of the file and the files it includes, when they were read."""
    trusted: frozenset[Trusted] = frozenset()
    """Those of the files that were allowed to run their code."""
    kept: Kept | None = None
    """The runs and views saved with the document."""


Then = Callable[[Opened], object]


class Opening(QObject):
    """Reads one file at a time; `finished(Opened)` is emitted in the window's thread. A newer request replaces an older
    one."""

    finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.errands = BackgroundQueue("opening", self)
        self._number = 0
        self._wanted: int | None = None

    @property
    def busy(self) -> bool:
        """True while a file is being read."""
        return self._wanted is not None

    def start(self, path: Path, then: Then | None = None, read: Callable[[], Opened] | None = None) -> None:
        """Read a file (or call `read` instead); `then` gets the result in place of the listeners to `finished`."""
        self._number += 1
        number = self._wanted = self._number

        def take(found: Opened) -> None:
            if number == self._wanted:
                self._wanted = None
                (then or self.finished.emit)(found)

        self.errands.do(_with_errors_caught(read or (lambda: opened(path))), take)

    def forget(self) -> None:
        """Drop the file that is being read."""
        self._wanted = None

    def wait(self) -> None:
        """Drop the file that is being read and wait for the end of the thread (when the program closes)."""
        self._wanted = None
        self.errands.close()


def _with_errors_caught(read: Callable[[], Opened]) -> Callable[[], Opened]:
    def guarded() -> Opened:
        try:
            return read()
        except Exception as error:
            return Opened(Path(), error=error)

    return guarded


_asked: dict[str, Place] = {}
"""Package folders and arguments with which files were asked for, by their real paths: they hold whenever such a file is
read again."""


def ask_for(place: Place) -> None:
    """Keep the package folders and the arguments of a Xacro with which a file is to be read."""
    _asked[os.path.realpath(place.file)] = place


def opened(path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """Read a file and build its mechanism; an error is part of the result."""
    own, asked = Seen.now(path), _asked.get(os.path.realpath(path), Place(str(path)))
    found = opened_by(
        lambda: read(path, packages=asked.packages, arguments=asked.arguments, trust=trusted), path, trusted
    )
    if found.model is None:
        return found
    kept, doubts = _companion_of(path)
    taken_in = Sources.now(path, found.model).files[1:]
    return replace(found, kept=kept, findings=(*found.findings, *doubts), sources=Sources((own, *taken_in)))


def opened_by(reader: Callable[[], Reading], path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """Return the model that a reader gives, with its mechanism; an error is part of the result."""
    try:
        reading = reader()
        mech = Mechanism.to_show(reading.model)
        mech.poses(mech.rest())  # traces what the first picture needs
        prepare(reading.model)
        findings_of(reading.model)
        return Opened(path, reading.model, mech, tuple(reading.findings), trusted=trusted)
    except Exception as error:  # our own messages and defects alike: the window tells them, what was open stays
        return Opened(path, error=error, trusted=trusted)


def _companion_of(path: Path) -> tuple[Kept | None, tuple[Finding, ...]]:
    """Return the runs saved with a native document, or a finding that says why they cannot be used."""
    if path.suffix != ".kst":
        return None, ()
    try:
        return companion.read(companion.folder_of(path)), ()
    except FileError as error:
        return None, (Finding("warning", error.what, error.remedy or "", file=error.file or ""),)
