"""Runs are kept: on disk as soon as they are made, beside the document when it is saved, and read again with it."""

from __future__ import annotations

import contextlib
import shutil
from collections import deque
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.document import companion
from app.document.companion import Kept, KeptRun
from app.document.run_store import EVERY, RunStore
from app.jobs import Job, Jobs
from app.runs import Record, Runs
from app.session import Session
from app.settings import Settings
from core.errors import FileError, KinetostatError
from core.simulation import Run

KEEP = "runs/keep"
KEEPS = {
    "always": ("Always", "Saving a machine saves its runs beside it, in a folder name.runs."),
    "ask": ("Ask above 200 MB", "Saving a machine saves its runs in a folder name.runs; of larger ones it is asked."),
    "never": ("Never", "Runs are not kept with the machine, and leaving it does not ask for them."),
}
"""When runs are kept with the machine: title, explanation."""
LARGE = 200e6
"""Bytes of runs above which it is asked whether they shall be kept."""
UNKEPT = "unkept"
LOOK = 100
"""Milliseconds between two looks at what the writing thread has to say."""


class RunKeeper(QObject):
    """Writes the runs of a session, into `folder` as soon as they are there, and reads those beside a document."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs, folder: Path) -> None:
        super().__init__()
        self._session, self._settings, self._jobs = session, settings, jobs
        self._news: deque[tuple[str, str]] = deque()
        """What the thread has to tell; it adds to it."""
        self._said: set[str] = set()
        self.store = RunStore(folder, self._failed)
        self._document = session.document
        self._absent: tuple[KeptRun, ...] = ()
        """Runs of the companion that could not be read, or are not read yet: it keeps them."""
        self._absent_in = Path()
        self._reading: Job | None = None
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._look)
        self._again = QTimer(self, singleShot=True, interval=round(1e3 * EVERY))
        self._again.timeout.connect(self._keep)
        session.runs.changed.connect(self._keep)
        session.changed.connect(self._changed)

    def close(self) -> None:
        """Write what is left, and stop."""
        self._session.runs.changed.disconnect(self._keep)
        self._session.changed.disconnect(self._changed)
        self._timer.stop()
        self._again.stop()
        self.store.close()

    # ------------------------------------------------------------------------------- what is wanted

    @property
    def wish(self) -> str:
        """When runs are kept beside the document: one of `KEEPS`."""
        wish = self._settings.value(KEEP, "ask")
        return wish if wish in KEEPS else "ask"

    @wish.setter
    def wish(self, wish: str) -> None:
        self._settings.remember(KEEP, wish)

    @property
    def unkept(self) -> tuple[Record, ...]:
        """Runs that would be lost with the document; none where the person does not want them kept."""
        return () if self.wish == "never" else self._session.runs.unkept

    @property
    def deleted(self) -> int:
        """How many runs that lie beside the document are no longer in the list."""
        return 0 if self.wish == "never" else self._session.runs.removed

    @property
    def large(self) -> bool:
        """Whether it is asked before the runs are written beside the document."""
        return self.wish == "ask" and self.size > LARGE

    @property
    def size(self) -> int:
        """Bytes of all runs that are not kept yet."""
        return sum(map(size_of, self._session.runs.unkept))

    # ------------------------------------------------------------------------------- writing

    def _keep(self) -> None:
        for record in self._session.runs.items:
            if not record.faint:
                self.store.keep(record)
        if any(record.growing for record in self._session.runs.items):
            self._again.start()
        self._timer.start()

    def names(self) -> dict[int, str]:
        """Names of the files of the runs that are on disk, by id, as the recovery folder has them."""
        runs = [record for record in self._session.runs.items if not record.faint]
        return {record.id: self.store.place(record).name for record in runs}

    def save(self, document: Path, sections: Mapping[str, Any], without: Container[Record] = ()) -> None:
        """Write the runs (but those `without`) beside a document, after what is still being written; says so only if it
        fails."""
        runs, folder = self._session.runs, companion.folder_of(document)
        records = tuple(r for r in runs.items if not r.faint and not r.growing and r not in without)
        if self.wish == "never" or not (records or self._absent or folder.is_dir()):
            return
        absent, before = self._absent, self._absent_in
        names = companion.named(records, folder, [each.file for each in absent])
        rows = {record.id: row for record, row in zip(records, companion.rows(records, names), strict=True)}
        content = companion.told(runs, rows, sections)
        runs.mark_kept(records)

        def write() -> None:
            files = {each.file: before / each.file for each in absent if (before / each.file).is_file()}
            known = [*(rows[record.id] for record in records), *(each for each in absent if each.file in files)]
            for record in records:
                place = companion.found(record.file)
                if place is None:  # never written, or taken away by somebody
                    place = self.store.place(record)
                    record.run.save(place)
                files[names[record.id]] = place
            companion.write(folder, companion.listed(content, known), files)
            for record in records:
                record.file = folder / names[record.id]

        def attempt() -> None:
            try:
                write()
            except KinetostatError as error:
                self._news += (("error", f"{error} They are still open here."), (UNKEPT, ""))

        self.store.worker.do(attempt)
        self._timer.start()

    def wait(self, seconds: float = 0.05) -> bool:
        """Wait for what is written; True once it is all there and nothing went wrong."""
        done = self.store.worker.wait(seconds)
        self._look()
        return done

    def _failed(self, error: Exception) -> None:
        """(In the store's thread.)"""
        words = f"Runs cannot be kept on disk for now, only in memory: {error}"
        if words not in self._said:
            self._said.add(words)
            self._news.append(("warning", words))

    def _look(self) -> None:
        """Tell what the thread has to say."""
        if not self.store.worker.busy and not self._news:
            self._timer.stop()
        while self._news:
            severity, words = self._news.popleft()
            if severity == UNKEPT:
                self._session.runs.mark_kept(())
            else:
                self._session.told.emit(severity, words)

    # ------------------------------------------------------------------------------- reading

    def _changed(self, _old: object, _new: object) -> None:
        if self._document == self._session.document:
            return
        self._document = self._session.document
        self._absent = ()
        if self._reading is not None:
            self._reading.cancel()
        self.store.forget()

    def read(self, folder: Path, kept: Kept, *, adopt: bool = False) -> None:
        """Read the runs of a folder beside the window and put them into the list; `adopt`: their files come along, the
        folder goes (it was left behind by a program that ended)."""
        self._absent, self._absent_in = () if adopt else kept.runs, folder
        if not kept.runs:
            return

        def work(progress: Any, cancelled: Any) -> tuple[dict[int, Run], list[str]]:
            found: dict[int, Run] = {}
            failed: list[str] = []
            for k, each in enumerate(kept.runs):
                progress(k / len(kept.runs), f"Reading {each.name} …")
                if cancelled():
                    break
                try:
                    found[each.id] = Run.load(folder / each.file)
                except FileError as error:
                    failed.append(str(error))
            return found, failed

        document = self._session.document
        self._reading = self._jobs.start("Reading runs", work)

        def came(result: tuple[dict[int, Run], list[str]]) -> None:
            if document == self._session.document:
                self._put(folder, kept, *result, adopt)

        self._reading.succeeded.connect(came)
        self._reading.ended.connect(self._read_all)

    def _read_all(self) -> None:
        self._reading = None

    def when_read(self, then: Callable[[], object]) -> None:
        """Do something once the runs that are being read are there."""
        if self._reading is None:
            then()
        else:
            self._reading.ended.connect(then)

    def _put(self, folder: Path, kept: Kept, found: Mapping[int, Run], failed: list[str], adopt: bool) -> None:
        runs = self._session.runs
        records = add(runs, kept, found)
        for each in kept.runs:
            if each.id not in records:
                continue
            if adopt:
                self.store.adopt(records[each.id], folder / each.file)
            else:
                self.store.knows(records[each.id], folder / each.file)
        if adopt:
            if not failed:
                with contextlib.suppress(OSError):
                    shutil.rmtree(folder)
        else:
            self._absent = tuple(each for each in kept.runs if each.id not in records)
            runs.mark_kept(records.values())
        if failed:
            more = f" ({len(failed) - 1} more)" if len(failed) > 1 else ""
            self._session.told.emit("warning", f"Not all runs can be read: {failed[0]}{more}")


def size_of(record: Record) -> int:
    """Bytes of the samples of a run."""
    run = record.run
    return sum(int(rows.nbytes) for rows in (run.time, run.q, run.v, run.a, run.tau, run.x))


def add(runs: Runs, kept: Kept, found: Mapping[int, Run]) -> dict[int, Record]:
    """Put runs that were read into the list as they were; record by the id it had then."""
    records: dict[int, Record] = {}
    for each in kept.runs:
        if each.id in found and len(found[each.id]):
            parent = records.get(each.parent) if each.parent is not None else None
            record = runs.add(found[each.id], each.name or "Run", parent, each.from_time, select=False)
            record.note, record.visible = each.note, each.visible
            record.color = each.color or record.color
            records[each.id] = record
    current = records.get(kept.current) if kept.current is not None else None
    if current is not None:
        runs.select(current)
        runs.seek(kept.time)
    runs.changed.emit()
    return records
