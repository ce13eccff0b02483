"""Writing of runs to disk while they are computed, so that they survive a crash. Independent of Qt.

A thread of its own writes each run into a file that grows with it; a run that is over is closed there, and may then be
linked or copied elsewhere, by the same thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.background.jobs import Worker
from app.document.run_tree import RunRecord
from core.errors import KinetostatError
from core.simulation.run.run import Run
from core.simulation.run.run_file import RunFile

EVERY = 2.0
"""Smallest interval in seconds between two writes of one run."""


class RunStore:
    """Writes runs as `NNN.h5` into a folder, which is created when needed. `on_failure(error)` is called in the store's
    thread if writing fails."""

    def __init__(self, folder: Path, on_failure: Callable[[Exception], object]) -> None:
        self.folder = folder
        self.worker = Worker("run store", on_failure)
        self._files: dict[RunRecord, _GrowingRunFile] = {}
        self._asked: dict[RunRecord, tuple[int, bool, float]] = {}
        """Last version of each run to be written, with True if it was still growing, and the time."""
        self._done: dict[RunRecord, int] = {}
        """Versions of runs that are whole on disk."""

    def queue_new_samples(self, record: RunRecord) -> bool:
        """Queue the new samples of a run for writing; returns False if that must wait because the run was written a
        moment ago."""
        version, grew, when = self._asked.get(record, (-1, True, -EVERY))
        if (record.version, record.growing) == (version, grew):
            return True
        now = time.monotonic()
        if now - when < EVERY:
            return False
        self._asked[record] = record.version, record.growing, now
        self.worker.submit(lambda: self._write_run(record), record)
        return True

    def mark_as_saved(self, record: RunRecord) -> None:
        """Note that the present samples of a run are already saved elsewhere."""
        self._asked[record] = record.version, record.growing, time.monotonic()

    def run_path(self, record: RunRecord) -> Path:
        """Return the path of a run's file."""
        return self.folder / f"{record.id:03d}.h5"

    def delete_runs(self) -> None:
        """Stop writing runs and delete their files, because another document was opened."""
        self._asked.clear()
        self.worker.submit(self._delete_files)

    def close(self) -> bool:
        """Write the queued samples and end the thread; returns False on timeout."""
        done = self.worker.wait()
        self.worker.submit(self._close_files)
        self.worker.close()
        return done

    # ------------------------------------------------------------------------------- in the store's thread

    def complete_file(self, record: RunRecord, version: int) -> Path | None:
        """Return the file that holds all samples of a version of a run; None if there is none."""
        place = self.run_path(record)
        return place if self._done.get(record) == version and place.is_file() else None

    def _write_run(self, record: RunRecord) -> None:
        version, over, run = record.version, not record.growing, record.run
        growing = self._files.get(record)
        try:
            if growing is None or not growing.is_continued_by(run):
                self.folder.mkdir(parents=True, exist_ok=True)
                growing = self._files[record] = _GrowingRunFile(self.run_path(record))
                self._done.pop(record, None)
            growing.append_samples(run, over)
        except (KinetostatError, OSError):
            self._files.pop(record, None)
            self._asked.pop(record, None)  # tried again with the next change
            raise
        if over:
            del self._files[record]
            self._done[record] = version

    def _close_files(self) -> None:
        for growing in self._files.values():
            growing.close()
        self._files.clear()

    def _delete_files(self) -> None:
        self._close_files()
        self._done.clear()
        with contextlib.suppress(OSError):
            if self.folder.is_dir():
                shutil.rmtree(self.folder)


class _GrowingRunFile:
    """File of one run, and the samples written so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: RunFile | None = None
        self._last: Run | None = None

    def is_continued_by(self, run: Run) -> bool:
        """Return True if a run begins with the samples already written; False if another run was computed in its
        place."""
        if self._last is None:
            return True
        count = len(self._last)
        if len(run) < count:
            return False
        ends = ((run.time, self._last.time), (run.q, self._last.q), (run.v, self._last.v))
        return all(np.array_equal(new[[0, count - 1]], old[[0, -1]]) for new, old in ends)

    def append_samples(self, run: Run, is_finished: bool) -> None:
        """Write the samples that are new; is_finished : the run gets no further samples."""
        if self._file is None:
            self.path.unlink(missing_ok=True)  # it may have another name elsewhere, where it must stay as it is
            self._file = RunFile(str(self.path), run.mech, run.settings)
        count = 0 if self._last is None else len(self._last)
        if len(run) > count:
            names = ("time", "q", "v", "a", "tau", "x", "modes")
            rows = {name: rows[count:] for name in names if len(rows := getattr(run, name)) == len(run)}
            self._file.append(dataclasses.replace(run, **rows))
            self._last = run
        if is_finished:
            self._file.finish(run)

    def close(self) -> None:
        """Stop writing and close the file."""
        if self._file is not None and self._file.file is not None:
            self._file.file.close()
