"""Keep runs: write them to disk as soon as they are computed, save them with the document, and read them
again with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer

from app.background.jobs import Job, Jobs
from app.background.signals import Lifetime
from app.document.kept import companion
from app.document.kept.companion import Kept, KeptRun
from app.document.kept.run_store import EVERY, RunStore
from app.document.run_tree import Record
from app.document.session import Session
from app.preferences.settings import Settings
from core.errors import FileError
from core.later import dataclass
from core.simulation import Run

KEEP = "runs/keep"
KEEPS = {
    "always": ("Always", "Saving a machine saves its runs next to it, in a folder name.runs."),
    "ask": (
        "Ask above 200 MB",
        "Saving a machine saves its runs in a folder name.runs, after a question if they are larger.",
    ),
    "never": ("Never", "Runs are not kept with the machine, and leaving it does not ask for them."),
}
"""Settings for when runs are saved with the machine: title, explanation."""
LARGE = 200e6
"""Bytes of runs above which the user is asked before they are saved."""
LOOK = 100
"""Milliseconds between two checks for news of the writing thread."""


class SavedRun(NamedTuple):
    """A run saved in the companion folder: the record, its properties when saved, and the version of its samples."""

    record: Record
    facts: tuple[object, ...]
    version: int


@dataclass(frozen=True)
class CompanionState:
    """The content of the document's companion folder as known to this window: rows by file, and the runs that
    are open."""

    folder: Path | None = None
    rows: Mapping[str, KeptRun] = field(default_factory=dict)
    open: Mapping[str, SavedRun] = field(default_factory=dict)

    def file_of(self, record: Record) -> str:
        """Return the file of a run; "" if it is not in the companion folder."""
        return next((name for name, each in self.open.items() if each.record is record), "")


class RunKeeper(QObject):
    """Writes the runs of a session into `folder` as soon as they are computed, and reads runs saved with a document."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs, folder: Path) -> None:
        super().__init__()
        self._session, self._settings, self._jobs = session, settings, jobs
        self._news: deque[Callable[[], object]] = deque()
        """Messages of the thread, which adds to them."""
        self._said: set[str] = set()
        self.store = RunStore(folder, self._failed)
        self._document = session.document
        self._shelf = CompanionState()
        self._adding = False
        self.reading: Job | None = None
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._look)
        self._again = QTimer(self, singleShot=True, interval=round(1e3 * EVERY))
        self._again.timeout.connect(self._keep)
        self._life = Lifetime()
        self._life.listen((session.runs.changed, self._keep), (session.changed, self._changed))

    def close(self) -> bool:
        """Write remaining runs and stop; returns False if they could not all be written in time."""
        self._life.close()
        self._timer.stop()
        self._again.stop()
        return self.store.close()

    # ------------------------------------------------------------------------------- what is wanted

    @property
    def keeps(self) -> str:
        """Setting for when runs are saved with the document: one of `KEEPS`."""
        kept = self._settings.value(KEEP, "ask")
        return kept if kept in KEEPS else "ask"

    @keeps.setter
    def keeps(self, keeps: str) -> None:
        self._settings.remember(KEEP, keeps)

    @property
    def unsaved_runs(self) -> tuple[Record, ...]:
        """Runs that would be lost, entirely or in part, with the document; none if the user chose not to save runs."""
        if self.keeps == "never":
            return ()
        shelved = {each.record: each.facts for each in self._shelf.open.values()}
        return tuple(r for r in self._records() if shelved.get(r) != r.facts and (r.note or not r.source))

    @property
    def deleted(self) -> tuple[str, ...]:
        """Files of runs that are in the companion folder but no longer in the list."""
        present = set(self._session.runs.items)
        gone = tuple(name for name, each in self._shelf.open.items() if each.record not in present)
        return () if self.keeps == "never" else gone

    @property
    def large(self) -> bool:
        """True if the user is to be asked before the runs are saved with the document."""
        return self.keeps == "ask" and self.size > LARGE

    @property
    def size(self) -> int:
        """Bytes of all runs that are not saved yet."""
        return sum(map(size_of, self.unsaved_runs))

    def _records(self) -> tuple[Record, ...]:
        return tuple(record for record in self._session.runs.items if not record.faint)

    # ------------------------------------------------------------------------------- writing

    def _keep(self) -> None:
        if self._adding:
            return
        done = [self.store.keep(record) for record in self._records()]
        if not all(done) and not self._again.isActive():
            self._again.start()
        if not self._timer.isActive():
            self._timer.start()

    @property
    def stored(self) -> tuple[tuple[Record, int], ...]:
        """Runs, with their versions, that are in no companion folder and therefore must be in the store."""
        shelved = {each.record: each.version for each in self._shelf.open.values()}
        return tuple((r, r.version) for r in self._records() if shelved.get(r) != r.version)

    def listed(self, sections: Mapping[str, Any]) -> Kept:
        """Return the list of runs for a recovery copy: files in its own folder, or where they are saved already."""
        names = {}
        for record in self._records():
            shelved, name = self._shelf.folder, self._shelf.file_of(record)
            whole = bool(name) and self._shelf.open[name].version == record.version
            names[record] = str(shelved / name) if shelved and whole else self.store.place(record).name
        return self._kept_list(names, sections)

    def _kept_list(
        self, names: Mapping[Record, str], sections: Mapping[str, Any], rows: tuple[KeptRun, ...] = ()
    ) -> Kept:
        runs = self._session.runs
        files = {record.id: name for record, name in names.items()}
        own = tuple(_row(record, name, files) for record, name in names.items())
        current = names.get(runs.current, "") if runs.current is not None else ""
        return Kept((*own, *rows), current, runs.time, sections)

    def save(
        self, document: Path, sections: Mapping[str, Any], *, leave: Container[Record] = (), restore: bool = False
    ) -> None:
        """Save the runs with a document, after writing in progress; a message is shown only on failure.

        leave : runs that stay on disk as they are there, or are not; restore : those that were deleted stay there, too
        """
        folder, shelf = companion.folder_of(document), self._shelf
        shelf = shelf if shelf.folder == folder else CompanionState(folder)
        records = tuple(r for r in self._records() if not r.growing and r not in leave)
        if self.keeps == "never" or not (records or folder.is_dir()):
            return
        left = {shelf.file_of(r) for r in self._records() if r not in records} | (
            set(self.deleted) if restore else set()
        )
        stay = {name: row for name, row in shelf.rows.items() if name not in shelf.open or name in left}
        free = iter(companion.unused_file_names(folder, shelf.rows))
        names = {record: shelf.file_of(record) or next(free) for record in records}
        work = _CompanionUpdate(self, folder, self._kept_list(names, sections, tuple(stay.values())), names, shelf)
        self.store.worker.do(work.attempt)
        if not self._timer.isActive():
            self._timer.start()

    def written(self, document: int, shelf: CompanionState) -> None:
        """Take over the new content of the document's companion folder (in the window's thread)."""
        if document == self._session.document:
            self._shelf = shelf
            self._session.runs.changed.emit()

    def tell(self, news: Callable[[], object]) -> None:
        """Have a function called in the window's thread (from the store's thread)."""
        self._news.append(news)

    @property
    def document(self) -> int:
        """The number of the document whose runs are kept."""
        return self._document

    @property
    def message(self) -> Callable[[str, str], None]:
        """The function that shows a message to the user."""
        return self._session.message.emit

    def wait(self, seconds: float = 0.05) -> bool:
        """Wait for writing; returns True once everything is written or has failed."""
        done = self.store.worker.wait(seconds)
        self._look()
        return done

    def settle(self, busy: Callable[[str], object]) -> None:
        """Wait until runs are read and written, while the window keeps drawing."""
        words = "Reading runs …" if self.reading is not None else "Saving runs …"
        while self.reading is not None or not self.wait():
            busy(words)
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, 50)
        busy("")

    def _failed(self, error: Exception) -> None:
        """Report a failure of writing (called in the store's thread)."""
        words = f"Runs cannot be kept on disk for now, only in memory: {error}"
        if words not in self._said:
            self._said.add(words)
            self.tell(lambda: self.message("warning", words))

    def _look(self) -> None:
        """Call the functions that the writing thread queued for the window's thread."""
        if not self.store.worker.busy and not self._news:
            self._timer.stop()
        while self._news:
            self._news.popleft()()

    # ------------------------------------------------------------------------------- reading

    def _changed(self, _old: object, _new: object) -> None:
        if self._document == self._session.document:
            return
        self._document = self._session.document
        self._shelf = CompanionState()
        if self.reading is not None:
            self.reading.cancel()
        self.store.forget()

    def read(
        self, folder: Path, kept: Kept, *, document: Path | None, then: Callable[[bool], object] | None = None
    ) -> None:
        """Read runs in the background and add them to the list.

        folder : where they are, unless the list says a whole path; document : beside which those of its companion
        stand; then : hears, once all that can be read are there, whether all could be
        """
        home = companion.folder_of(document) if document is not None else None
        if home == folder:
            self._shelf = CompanionState(folder, {run.file: run for run in kept.runs})
        if not kept.runs:
            if then is not None:
                then(True)
            return

        def work(progress: Any, cancelled: Any) -> tuple[dict[str, Run], list[str]]:
            found: dict[str, Run] = {}
            failed: list[str] = []
            for k, each in enumerate(kept.runs):
                progress(k / len(kept.runs), f"Reading {each.name} …")
                if cancelled():
                    break
                try:
                    found[each.file] = Run.load(folder / each.file)
                except FileError as error:
                    failed.append(str(error))
            return found, failed

        number = self._session.document
        self.reading = self._jobs.start("Reading runs", work)

        def came(result: tuple[dict[str, Run], list[str]]) -> None:
            if number == self._session.document:
                self._add_read_runs(folder, kept, home, *result)
                if then is not None:
                    then(not result[1])

        self.reading.succeeded.connect(came)
        self.reading.ended.connect(self._read_all)

    def _read_all(self) -> None:
        self.reading = None

    def _add_read_runs(
        self, folder: Path, kept: Kept, home: Path | None, found: Mapping[str, Run], failed: list[str]
    ) -> None:
        self._adding = True
        try:
            records = self._add_records(kept, found)
        finally:
            self._adding = False
        there = {Path(file).name: record for file, record in records.items() if (folder / file).parent == home}
        for record in there.values():
            self.store.knows(record)
        rows = {run.file: run for run in kept.runs if home == folder}
        rows |= {Path(run.file).name: run for run in kept.runs if Path(run.file).name in there}
        if home is not None:
            shelved = {name: SavedRun(record, record.facts, record.version) for name, record in there.items()}
            self._shelf = CompanionState(home, rows, shelved)
        self._session.runs.changed.emit()
        if failed:
            more = f" ({len(failed) - 1} more)" if len(failed) > 1 else ""
            self.message("warning", f"Not all runs can be read: {failed[0]}{more}")

    def _add_records(self, kept: Kept, found: Mapping[str, Run]) -> dict[str, Record]:
        """Add runs that were read to the list as they were; returns the record by file."""
        runs, records = self._session.runs, dict[str, Record]()
        for each in kept.runs:
            if each.file in found and len(found[each.file]):
                record = runs.add(found[each.file], each.name or "Run", None, each.from_time, select=False)
                record.note, record.visible = each.note, each.visible
                record.color = each.color or record.color
                records[each.file] = record
        for each in kept.runs:
            if each.file in records and each.parent in records:
                records[each.file].parent = records[each.parent].id
        current = records.get(kept.current)
        if current is not None:
            runs.select(current)
            runs.seek(kept.time)
        return records


class _CompanionUpdate:
    """One update of a companion folder: prepared in the window's thread, written in the store's thread."""

    def __init__(
        self, keeper: RunKeeper, folder: Path, kept: Kept, names: Mapping[Record, str], shelf: CompanionState
    ) -> None:
        self._keeper, self._folder, self._kept_list, self._names, self._shelf = keeper, folder, kept, names, shelf
        self._document = keeper.document
        self._runs = {record: (record.run, record.version) for record in names}
        self._after = CompanionState(
            folder,
            {run.file: run for run in kept.runs},
            {name: SavedRun(r, r.facts, r.version) for r, name in names.items()},
        )

    def attempt(self) -> None:
        """Write the folder; success and failure are reported in the window's thread."""
        keeper = self._keeper
        try:
            self._write()
        except (FileError, OSError) as error:
            words = f"{error} The runs are still open here."
            keeper.tell(lambda: keeper.message("error", words))
        else:
            keeper.tell(lambda: keeper.written(self._document, self._after))

    def _write(self) -> None:
        self._folder.mkdir(exist_ok=True)
        for record, name in self._names.items():
            run, version = self._runs[record]
            known = self._shelf.open.get(name)
            if known is not None and known.version == version and (self._folder / name).is_file():
                continue
            place = self._keeper.store.whole(record, version)
            if place is not None:
                companion.put(place, self._folder / name)
            else:
                run.save(self._folder / name)
        listed = {run.file for run in self._kept_list.runs}
        companion.write(self._folder, self._kept_list, [name for name in self._shelf.rows if name not in listed])


def _row(record: Record, name: str, files: Mapping[int, str]) -> KeptRun:
    """Return the list row of a run."""
    parent = files.get(record.parent, "") if record.parent is not None else ""
    return KeptRun(name, record.name, record.note, record.color, record.visible, parent, record.from_time)


def size_of(record: Record) -> int:
    """Return the bytes of the samples of a run."""
    run = record.run
    return sum(int(rows.nbytes) for rows in (run.time, run.q, run.v, run.a, run.tau, run.x))
