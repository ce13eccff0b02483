"""Reading a file beside the window: the file is read, its mechanism and meshes made in a thread, then shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

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
    _read = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._wanted: _Task | None = None
        self._read.connect(self._arrived)

    @property
    def busy(self) -> bool:
        """True while a file is read."""
        return self._wanted is not None

    def start(self, path: Path, then: Then | None = None, read: Callable[[], Opened] | None = None) -> None:
        """Read a file (or otherwise, as `read` does); `then` gets it instead of who listens to `finished`."""
        self._wanted = _Task(read or (lambda: opened(path)), then or self.finished.emit, self._read)
        self._pool.start(self._wanted)

    def forget(self) -> None:
        """What is being read is not wanted any more."""
        self._wanted = None

    def wait(self) -> None:
        """Forget what is being read, and wait for the thread's end (closing the program)."""
        self._wanted = None
        self._pool.clear()
        self._pool.waitForDone(10_000)

    def _arrived(self, task: _Task, found: Opened) -> None:
        if task is self._wanted:
            self._wanted = None
            task.then(found)


class _Task(QRunnable):
    def __init__(self, read: Callable[[], Opened], then: Then, tell: Any) -> None:
        super().__init__()
        self.then = then
        self._do, self._tell = read, tell

    def run(self) -> None:
        """Read, make the mechanism, tell."""
        try:
            found = self._do()
        except Exception as error:
            found = Opened(Path(), error=error)
        self._tell.emit(self, found)


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
