"""Saving of runs: they are written to disk as soon as they are computed, saved with the document, and read again with
it."""

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
from app.document.kept.companion import CompanionContent, CompanionRun
from app.document.kept.run_store import EVERY, RunStore
from app.document.run_tree import RunRecord
from app.document.session import Session
from app.preferences.settings import Settings
from core.errors import FileError
from core.later import dataclass
from core.simulation import Run

KEEP = "runs/keep"
KEEPS = {
    "always": ("Always", "Saving a machine also saves its runs, in a folder name.runs next to it."),
    "ask": (
        "Ask above 200 MB",
        "Saving a machine also saves its runs, in a folder name.runs; if they are larger, you are asked.",
    ),
    "never": ("Never", "Runs are not saved with the machine, and you are not asked about them when you close it."),
}
"""Settings for when runs are saved with the machine, with title and explanation."""
LARGE = 200e6
"""Size of runs in bytes above which the user is asked before they are saved."""
LOOK = 100
"""Milliseconds between two checks for results of the writing thread."""


class SavedRun(NamedTuple):
    """A run saved in the companion folder: the record, its properties when saved, and the version of its samples."""

    record: RunRecord
    facts: tuple[object, ...]
    version: int


@dataclass(frozen=True)
class CompanionState:
    """Content of the document's companion folder as known to this window: rows by file, and the runs that are open."""

    folder: Path | None = None
    rows: Mapping[str, CompanionRun] = field(default_factory=dict)
    open: Mapping[str, SavedRun] = field(default_factory=dict)

    def run_file(self, record: RunRecord) -> str:
        """Return the file name of a run; "" if it is not in the companion folder."""
        return next((name for name, each in self.open.items() if each.record is record), "")


class RunSaver(QObject):
    """Writes the runs of a session into `folder` as soon as they are computed, and reads runs saved with a document."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs, folder: Path) -> None:
        super().__init__()
        self._session, self._settings, self._jobs = session, settings, jobs
        self._news: deque[Callable[[], object]] = deque()
        """Messages of the thread, which adds to them."""
        self._said: set[str] = set()
        self.store = RunStore(folder, self._report_write_failure)
        self._document = session.document
        self._shelf = CompanionState()
        self._adding = False
        self.reading: Job | None = None
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._run_queued_calls)
        self._again = QTimer(self, singleShot=True, interval=round(1e3 * EVERY))
        self._again.timeout.connect(self._write_new_samples)
        self._life = Lifetime()
        self._life.listen((session.runs.changed, self._write_new_samples), (session.changed, self._on_document_changed))

    def close(self) -> bool:
        """Write the remaining runs and stop; returns False if not all could be written in time."""
        self._life.close()
        self._timer.stop()
        self._again.stop()
        return self.store.close()

    # ------------------------------------------------------------------------------- what is wanted

    @property
    def save_policy(self) -> str:
        """Setting for when runs are saved with the document: one of `KEEPS`."""
        kept = self._settings.value(KEEP, "ask")
        return kept if kept in KEEPS else "ask"

    @save_policy.setter
    def save_policy(self, keeps: str) -> None:
        self._settings.remember(KEEP, keeps)

    @property
    def unsaved_runs(self) -> tuple[RunRecord, ...]:
        """Runs that would be lost, entirely or in part, when the document is closed; none if the user chose not to save
        runs."""
        if self.save_policy == "never":
            return ()
        shelved = {each.record: each.facts for each in self._shelf.open.values()}
        return tuple(
            r for r in self._lasting_records() if shelved.get(r) != r.saved_properties and (r.note or not r.source)
        )

    @property
    def deleted_files(self) -> tuple[str, ...]:
        """Files of runs that are in the companion folder but no longer in the list of runs."""
        present = set(self._session.runs.items)
        gone = tuple(name for name, each in self._shelf.open.items() if each.record not in present)
        return () if self.save_policy == "never" else gone

    @property
    def needs_size_confirmation(self) -> bool:
        """True if the user must confirm before the runs are saved with the document."""
        return self.save_policy == "ask" and self.unsaved_size > LARGE

    @property
    def unsaved_size(self) -> int:
        """Size in bytes of all runs that are not saved yet."""
        return sum(map(sample_bytes, self.unsaved_runs))

    def _lasting_records(self) -> tuple[RunRecord, ...]:
        return tuple(record for record in self._session.runs.items if not record.faint)

    # ------------------------------------------------------------------------------- writing

    def _write_new_samples(self) -> None:
        if self._adding:
            return
        done = [self.store.queue_new_samples(record) for record in self._lasting_records()]
        if not all(done) and not self._again.isActive():
            self._again.start()
        if not self._timer.isActive():
            self._timer.start()

    @property
    def runs_in_store_only(self) -> tuple[tuple[RunRecord, int], ...]:
        """Runs, with their versions, that are in no companion folder and therefore must be in the store."""
        shelved = {each.record: each.version for each in self._shelf.open.values()}
        return tuple((r, r.version) for r in self._lasting_records() if shelved.get(r) != r.version)

    def recovery_run_list(self, sections: Mapping[str, Any]) -> CompanionContent:
        """Return the list of runs for a recovery copy, with files in its own folder or where they are already saved."""
        names = {}
        for record in self._lasting_records():
            shelved, name = self._shelf.folder, self._shelf.run_file(record)
            whole = bool(name) and self._shelf.open[name].version == record.version
            names[record] = str(shelved / name) if shelved and whole else self.store.run_path(record).name
        return self._build_run_list(names, sections)

    def _build_run_list(
        self, names: Mapping[RunRecord, str], sections: Mapping[str, Any], other_rows: tuple[CompanionRun, ...] = ()
    ) -> CompanionContent:
        runs = self._session.runs
        files = {record.id: name for record, name in names.items()}
        own = tuple(_companion_row(record, name, files) for record, name in names.items())
        current = names.get(runs.current, "") if runs.current is not None else ""
        return CompanionContent((*own, *other_rows), current, runs.time, sections)

    def save_runs(
        self,
        document: Path,
        sections: Mapping[str, Any],
        *,
        excluded: Container[RunRecord] = (),
        keep_deleted: bool = False,
    ) -> None:
        """Save the runs with a document, after any writing in progress; a message is shown only on failure.

        excluded : runs whose files are left unchanged; keep_deleted : files of deleted runs are kept as well
        """
        folder, shelf = companion.companion_folder(document), self._shelf
        shelf = shelf if shelf.folder == folder else CompanionState(folder)
        records = tuple(r for r in self._lasting_records() if not r.growing and r not in excluded)
        if self.save_policy == "never" or not (records or folder.is_dir()):
            return
        left = {shelf.run_file(r) for r in self._lasting_records() if r not in records} | (
            set(self.deleted_files) if keep_deleted else set()
        )
        stay = {name: row for name, row in shelf.rows.items() if name not in shelf.open or name in left}
        free = iter(companion.unused_run_file_names(folder, shelf.rows))
        names = {record: shelf.run_file(record) or next(free) for record in records}
        work = _CompanionUpdate(self, folder, self._build_run_list(names, sections, tuple(stay.values())), names, shelf)
        self.store.worker.submit(work.run_update)
        if not self._timer.isActive():
            self._timer.start()

    def on_companion_written(self, document: int, state: CompanionState) -> None:
        """Take over the new content of the document's companion folder (called in the window's thread)."""
        if document == self._session.document:
            self._shelf = state
            self._session.runs.changed.emit()

    def call_in_window_thread(self, function: Callable[[], object]) -> None:
        """Queue a function to be called in the window's thread (called from the store's thread)."""
        self._news.append(function)

    @property
    def document_number(self) -> int:
        """Number of the document whose runs are saved."""
        return self._document

    @property
    def show_message(self) -> Callable[[str, str], None]:
        """Function that shows a message to the user."""
        return self._session.message.emit

    def wait_for_writing(self, seconds: float = 0.05) -> bool:
        """Wait for the writing thread; returns True once everything is written or has failed."""
        done = self.store.worker.wait(seconds)
        self._run_queued_calls()
        return done

    def wait_until_idle(self, show_busy: Callable[[str], object]) -> None:
        """Wait until all runs are read and written, while the window keeps redrawing."""
        words = "Reading runs …" if self.reading is not None else "Saving runs …"
        while self.reading is not None or not self.wait_for_writing():
            show_busy(words)
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, 50)
        show_busy("")

    def _report_write_failure(self, error: Exception) -> None:
        """Report a write failure (called in the store's thread)."""
        words = f"Runs cannot be written to disk at present and are kept only in memory: {error}"
        if words not in self._said:
            self._said.add(words)
            self.call_in_window_thread(lambda: self.show_message("warning", words))

    def _run_queued_calls(self) -> None:
        """Call the functions that the writing thread has queued for the window's thread."""
        if not self.store.worker.is_busy and not self._news:
            self._timer.stop()
        while self._news:
            self._news.popleft()()

    # ------------------------------------------------------------------------------- reading

    def _on_document_changed(self, _old: object, _new: object) -> None:
        if self._document == self._session.document:
            return
        self._document = self._session.document
        self._shelf = CompanionState()
        if self.reading is not None:
            self.reading.cancel()
        self.store.delete_runs()

    def read_runs(
        self,
        folder: Path,
        companion_content: CompanionContent,
        *,
        document: Path | None,
        then: Callable[[bool], object] | None = None,
    ) -> None:
        """Read runs in the background and add them to the list.

        folder : where they are, unless the list says a whole path; document : beside which those of its companion
        stand; then : hears, once all that can be read are there, whether all could be
        """
        home = companion.companion_folder(document) if document is not None else None
        if home == folder:
            self._shelf = CompanionState(folder, {run.file: run for run in companion_content.runs})
        if not companion_content.runs:
            if then is not None:
                then(True)
            return

        def read_files(progress: Any, cancelled: Any) -> tuple[dict[str, Run], list[str]]:
            found: dict[str, Run] = {}
            failed: list[str] = []
            for k, each in enumerate(companion_content.runs):
                progress(k / len(companion_content.runs), f"Reading {each.name} …")
                if cancelled():
                    break
                try:
                    found[each.file] = Run.load(folder / each.file)
                except FileError as error:
                    failed.append(str(error))
            return found, failed

        number = self._session.document
        self.reading = self._jobs.start("Reading runs", read_files)

        def on_read(result: tuple[dict[str, Run], list[str]]) -> None:
            if number == self._session.document:
                self._add_read_runs(folder, companion_content, home, *result)
                if then is not None:
                    then(not result[1])

        self.reading.succeeded.connect(on_read)
        self.reading.ended.connect(self._on_reading_ended)

    def _on_reading_ended(self) -> None:
        self.reading = None

    def _add_read_runs(
        self,
        folder: Path,
        companion_content: CompanionContent,
        home: Path | None,
        runs: Mapping[str, Run],
        failed: list[str],
    ) -> None:
        self._adding = True
        try:
            records = self._add_records(companion_content, runs)
        finally:
            self._adding = False
        there = {Path(file).name: record for file, record in records.items() if (folder / file).parent == home}
        for record in there.values():
            self.store.mark_as_saved(record)
        rows = {run.file: run for run in companion_content.runs if home == folder}
        rows |= {Path(run.file).name: run for run in companion_content.runs if Path(run.file).name in there}
        if home is not None:
            shelved = {
                name: SavedRun(record, record.saved_properties, record.version) for name, record in there.items()
            }
            self._shelf = CompanionState(home, rows, shelved)
        self._session.runs.changed.emit()
        if failed:
            more = f" ({len(failed) - 1} more)" if len(failed) > 1 else ""
            self.show_message("warning", f"Not all runs can be read: {failed[0]}{more}")

    def _add_records(self, companion_content: CompanionContent, read_runs: Mapping[str, Run]) -> dict[str, RunRecord]:
        """Add the runs that were read to the list with their saved properties; returns the records by file."""
        runs, records = self._session.runs, dict[str, RunRecord]()
        for each in companion_content.runs:
            if each.file in read_runs and len(read_runs[each.file]):
                record = runs.add(read_runs[each.file], each.name or "Run", None, each.from_time, select=False)
                record.note, record.visible = each.note, each.visible
                record.color = each.color or record.color
                records[each.file] = record
        for each in companion_content.runs:
            if each.file in records and each.parent in records:
                records[each.file].parent = records[each.parent].id
        current = records.get(companion_content.current)
        if current is not None:
            runs.select(current)
            runs.seek(companion_content.time)
        return records


class _CompanionUpdate:
    """One update of a companion folder: prepared in the window's thread, written in the store's thread."""

    def __init__(
        self,
        keeper: RunSaver,
        folder: Path,
        companion_content: CompanionContent,
        names: Mapping[RunRecord, str],
        state: CompanionState,
    ) -> None:
        self._keeper, self._folder, self._kept_list, self._names, self._shelf = (
            keeper,
            folder,
            companion_content,
            names,
            state,
        )
        self._document = keeper.document_number
        self._runs = {record: (record.run, record.version) for record in names}
        self._after = CompanionState(
            folder,
            {run.file: run for run in companion_content.runs},
            {name: SavedRun(r, r.saved_properties, r.version) for r, name in names.items()},
        )

    def run_update(self) -> None:
        """Write the folder; success or failure is reported in the window's thread."""
        keeper = self._keeper
        try:
            self._write_files()
        except (FileError, OSError) as error:
            words = f"{error} The runs are still open here."
            keeper.call_in_window_thread(lambda: keeper.show_message("error", words))
        else:
            keeper.call_in_window_thread(lambda: keeper.on_companion_written(self._document, self._after))

    def _write_files(self) -> None:
        self._folder.mkdir(exist_ok=True)
        for record, name in self._names.items():
            run, version = self._runs[record]
            known = self._shelf.open.get(name)
            if known is not None and known.version == version and (self._folder / name).is_file():
                continue
            place = self._keeper.store.complete_file(record, version)
            if place is not None:
                companion.link_or_copy_file(place, self._folder / name)
            else:
                run.save(self._folder / name)
        listed = {run.file for run in self._kept_list.runs}
        companion.write_companion(
            self._folder, self._kept_list, [name for name in self._shelf.rows if name not in listed]
        )


def _companion_row(record: RunRecord, name: str, files: Mapping[int, str]) -> CompanionRun:
    """Return the entry of a run in the companion folder's list."""
    parent = files.get(record.parent, "") if record.parent is not None else ""
    return CompanionRun(name, record.name, record.note, record.color, record.visible, parent, record.from_time)


def sample_bytes(record: RunRecord) -> int:
    """Return the size in bytes of the samples of a run."""
    run = record.run
    return sum(int(rows.nbytes) for rows in (run.time, run.q, run.v, run.a, run.tau, run.x))
