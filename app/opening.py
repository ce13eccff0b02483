"""Reading a file beside the window: the file is read, its mechanism and meshes made in a thread, then shown."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from app.diagnosis import findings_of
from core.errors import KinetostatError
from core.files import read
from core.kernel import Mechanism
from core.kernel.closed_forms import closed_forms_of
from core.model import Finding, Model
from viz.preparation import prepare


@dataclass(frozen=True)
class Opened:
    """What came of reading a file: a model with its mechanism, or the error."""

    path: Path
    model: Model | None = None
    mech: Mechanism | None = None
    findings: tuple[Finding, ...] = ()
    error: BaseException | None = None


class Opening(QObject):
    """Reads one file at a time; `finished(Opened)` arrives in the window's thread. A newer wish replaces an older."""

    finished = Signal(object)
    _read = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._wanted: Path | None = None
        self._read.connect(self._arrived)

    @property
    def busy(self) -> bool:
        """True while a file is read."""
        return self._wanted is not None

    def start(self, path: Path) -> None:
        """Read a file."""
        self._wanted = path
        self._pool.start(_Task(path, self._read))

    def wait(self) -> None:
        """Forget what is being read, and wait for the thread's end (closing the program)."""
        self._wanted = None
        self._pool.clear()
        self._pool.waitForDone(10_000)

    def _arrived(self, opened: Opened) -> None:
        if opened.path == self._wanted:
            self._wanted = None
            self.finished.emit(opened)


class _Task(QRunnable):
    def __init__(self, path: Path, tell: Signal) -> None:
        super().__init__()
        self._path, self._tell = path, tell

    def run(self) -> None:
        """Read, make the mechanism, tell; then, while it is looked at, make ready what comes next."""
        found = opened(self._path)
        self._tell.emit(found)
        if found.mech is not None:
            make_ready(found.mech)


def make_ready(mech: Mechanism) -> None:
    """Trace and seek what the first drag of a joint and the first plot of energies need. May run in a thread."""
    with suppress(KinetostatError):  # told where it is asked for
        if mech.loops:
            closed_forms_of(mech._program).make_ready()
        mech.energy(mech.rest(), np.zeros(mech.nv))


def opened(path: Path) -> Opened:
    """Read a file and make its mechanism; what goes wrong is in the result."""
    try:
        reading = read(path)
        mech = Mechanism(reading.model)
        mech.poses(mech.rest())  # traces what the first picture needs
        prepare(reading.model)
        findings_of(reading.model)
        return Opened(path, reading.model, mech, tuple(reading.findings))
    except Exception as error:  # our own messages and defects alike: the window tells them, what was open stays
        return Opened(path, error=error)
