"""Runs on disk as soon as there is something of them, so that a crash keeps them. Knows no Qt.

A thread of its own writes each run into a file that grows with it; a run that is over is closed there, and others may
then copy or link the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.document.worker import Worker
from app.runs import Record
from core.errors import KinetostatError
from core.simulation.run import Run
from core.simulation.run_file import RunFile

EVERY = 2.0
"""Seconds between two writings of a run that is still computed."""


class RunStore:
    """Keeps runs as `NNN.h5` in a folder, which is made when it is needed. `told(error)` hears, in the store's thread,
    what cannot be written."""

    def __init__(self, folder: Path, told: Callable[[Exception], object]) -> None:
        self.folder = folder
        self.worker = Worker("run store", told)
        self._files: dict[Record, _Growing] = {}
        self._asked: dict[Record, tuple[Run | None, bool, float]] = {}
        """What was to be written last of each: its samples, whether it still grew, and when."""

    def keep(self, record: Record) -> None:
        """Write what is new of a run, soon; of one that grows, now and then."""
        last, grew, when = self._asked.get(record, (None, True, -EVERY))
        now = time.monotonic()
        if (record.run is last and record.growing is grew) or (record.growing and now - when < EVERY):
            return
        self._asked[record] = record.run, record.growing, now
        self.worker.do(lambda run=record.run, over=not record.growing: self._write(record, run, over))

    def place(self, record: Record) -> Path:
        """Where a run is kept."""
        return self.folder / f"{record.id:03d}.h5"

    def adopt(self, record: Record, file: Path) -> None:
        """Take over the file of a run that another program left behind."""
        self.folder.mkdir(parents=True, exist_ok=True)
        os.replace(file, self.place(record))
        self.knows(record, self.place(record))

    def knows(self, record: Record, file: Path) -> None:
        """A run is in a file already."""
        record.file = file
        self._asked[record] = record.run, False, time.monotonic()

    def forget(self) -> None:
        """Another document: its runs are written no further, and their files go."""
        self._asked.clear()
        self.worker.do(self._forget)

    def close(self) -> None:
        """End the thread; what waits is written first."""
        self.worker.close()

    # ------------------------------------------------------------------------------- in the store's thread

    def _write(self, record: Record, run: Run, over: bool) -> None:
        growing = self._files.get(record)
        if growing is None or not growing.continues(run):
            self.folder.mkdir(parents=True, exist_ok=True)
            growing = self._files[record] = _Growing(self.place(record))
        try:
            growing.append(run, over)
        except (KinetostatError, OSError):
            del self._files[record]
            raise
        if over:
            del self._files[record]
            record.file = growing.path

    def _forget(self) -> None:
        for growing in self._files.values():
            growing.close()
        self._files.clear()
        with contextlib.suppress(OSError):
            if self.folder.is_dir():
                shutil.rmtree(self.folder)


class _Growing:
    """The file of one run, and how much of it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: RunFile | None = None
        self._last: Run | None = None

    def continues(self, run: Run) -> bool:
        """Whether the run begins with what is written: another one may have been computed in its place."""
        if self._last is None:
            return True
        count = len(self._last)
        if len(run) < count:
            return False
        ends = ((run.time, self._last.time), (run.q, self._last.q), (run.v, self._last.v))
        return all(np.array_equal(new[[0, count - 1]], old[[0, -1]]) for new, old in ends)

    def append(self, run: Run, over: bool) -> None:
        """Write the samples that are new."""
        if self._file is None:
            self._file = RunFile(str(self.path), run.mech, run.settings)
        count = 0 if self._last is None else len(self._last)
        if len(run) > count:
            names = ("time", "q", "v", "a", "tau", "x")
            rows = {name: rows[count:] for name in names if len(rows := getattr(run, name)) == len(run)}
            self._file.append(dataclasses.replace(run, **rows))
            self._last = run
        if over:
            self._file.finish(run)

    def close(self) -> None:
        """Write no more."""
        if self._file is not None and self._file.file is not None:
            self._file.file.close()
