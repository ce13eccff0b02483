"""Reading a file beside the window: the file is read, its mechanism and meshes made in a thread, then shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background.errands import Errands
from app.document.kept import companion
from app.document.kept.companion import Kept
from app.document.kept.seen_files import Seen, Sources
from app.document.validation import findings_of
from core.errors import FileError
from core.files import Reading, Trusted, read
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Finding, Model
from viz.scene.prefetch import prepare


@dataclass(frozen=True)
class Opened:
    """What came of reading a file: a model with its mechanism, or the error."""

    path: Path
    model: Model | None = None
    mech: Mechanism | None = None
    findings: tuple[Finding, ...] = ()
    error: BaseException | None = None
    sources: Sources = Sources()
    """The file, and those it takes in, as they were when they were read."""
    trusted: frozenset[Trusted] = frozenset()
    """Those of them that were allowed to run their code."""
    kept: Kept | None = None
    """What lies beside the document."""


Then = Callable[[Opened], object]


class Opening(QObject):
    """Reads one file at a time; `finished(Opened)` arrives in the window's thread. A newer wish replaces an older."""

    finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.errands = Errands("opening", self)
        self._number = 0
        self._wanted: int | None = None

    @property
    def busy(self) -> bool:
        """True while a file is read."""
        return self._wanted is not None

    def start(self, path: Path, then: Then | None = None, read: Callable[[], Opened] | None = None) -> None:
        """Read a file (or otherwise, as `read` does); `then` gets it instead of who listens to `finished`."""
        self._number += 1
        number = self._wanted = self._number

        def take(found: Opened) -> None:
            if number == self._wanted:
                self._wanted = None
                (then or self.finished.emit)(found)

        self.errands.do(_guarded(read or (lambda: opened(path))), take)

    def forget(self) -> None:
        """What is being read is not wanted any more."""
        self._wanted = None

    def wait(self) -> None:
        """Forget what is being read, and wait for the thread's end (closing the program)."""
        self._wanted = None
        self.errands.close()


def _guarded(read: Callable[[], Opened]) -> Callable[[], Opened]:
    def guarded() -> Opened:
        try:
            return read()
        except Exception as error:
            return Opened(Path(), error=error)

    return guarded


def opened(path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """Read a file and make its mechanism; what goes wrong is in the result."""
    own = Seen.now(path)
    found = opened_by(lambda: read(path, trust=trusted), path, trusted)
    if found.model is None:
        return found
    kept, doubts = _beside(path)
    taken_in = Sources.now(path, found.model).files[1:]
    return replace(found, kept=kept, findings=(*found.findings, *doubts), sources=Sources((own, *taken_in)))


def opened_by(reader: Callable[[], Reading], path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """What a reader gives, with its mechanism; what goes wrong is in the result."""
    try:
        reading = reader()
        mech = Mechanism.to_show(reading.model)
        mech.poses(mech.rest())  # traces what the first picture needs
        prepare(reading.model)
        findings_of(reading.model)
        return Opened(path, reading.model, mech, tuple(reading.findings), trusted=trusted)
    except Exception as error:  # our own messages and defects alike: the window tells them, what was open stays
        return Opened(path, error=error, trusted=trusted)


def _beside(path: Path) -> tuple[Kept | None, tuple[Finding, ...]]:
    """What lies beside a native document, or why it cannot be used."""
    if path.suffix != ".kst":
        return None, ()
    try:
        return companion.read(companion.folder_of(path)), ()
    except FileError as error:
        return None, (Finding("warning", error.what, error.remedy or "", file=error.file or ""),)
