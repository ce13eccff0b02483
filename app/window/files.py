"""File operations of the window: open, save, recent files with small pictures of how they looked when closed, unsaved
work, pictures."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from app.background.signals import Lifetime, Signal
from app.dialogs.leaving import Loss, Wanted, ask
from app.document.kept import companion
from app.document.kept.recovery_copies import LockHint, counted
from app.document.opening import Opened, Opening, offer_trust, open_filter, opened, save_filter
from app.window.notices import CHANGED, GONE
from core.files import Trusted
from core.model import Model
from resources import examples, is_example

if TYPE_CHECKING:
    from app.document.kept.run_keeper import RunKeeper
    from app.document.run_tree import Record
    from app.window.status import MessagePlaces
    from app.window.view_state import Surroundings
    from app.workbench import Workbench
    from core.simulation import Run


PICTURE_SIZE = QSize(320, 240)
MOST_PICTURES = 40
"""Largest number of pictures kept."""


def pictures_folder() -> Path:
    """Return the folder of the pictures."""
    return Path(platformdirs.user_cache_dir("kinetostat", appauthor=False)) / "pictures"


def picture_of(path: Path) -> Path:
    """Return the path of a file's picture, which may not exist."""
    return pictures_folder() / f"{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:32]}.png"


def keep_picture(image: QImage, path: Path) -> None:
    """Save a picture of a file; if it cannot be written, nothing else is affected."""
    target = picture_of(path)
    whole = image.scaled(
        PICTURE_SIZE, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    )
    x, y = (whole.width() - PICTURE_SIZE.width()) // 2, (whole.height() - PICTURE_SIZE.height()) // 2
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        whole.copy(x, y, PICTURE_SIZE.width(), PICTURE_SIZE.height()).save(str(target))
        delete_oldest_pictures()
    except OSError:
        return


def delete_oldest_pictures() -> None:
    """Delete all but the newest pictures."""
    found = sorted(pictures_folder().glob("*.png"), key=lambda each: each.stat().st_mtime, reverse=True)
    for each in found[MOST_PICTURES:]:
        each.unlink(missing_ok=True)


SUFFIX = ".kst"
Reader = Callable[[frozenset[Trusted]], Opened]
RUNS = (".h5", ".hdf5")
"""File suffixes of runs."""
KEEPING, SHARED = "keeping runs", "shared file"
"""Keys of notices."""


class Documents(QObject):
    """The commands of the File menu. `may_close_document` asks once before unsaved work would be lost."""

    awaited = Signal(bool)
    """Emitted when a document is about to be shown, or failed to open."""
    comparing, recovering = Signal(), Signal()
    """Emitted when the user wants to compare machine and file, or to recover work of programs that ended unexpectedly.
    """

    def __init__(self, bench: Workbench, telling: MessagePlaces, keeper: RunKeeper, surroundings: Surroundings) -> None:
        super().__init__(bench.widget)
        self._bench, self._telling, self._keeper, self._surroundings = bench, telling, keeper, surroundings
        self._session = bench.session
        self.recoverable = False
        """True if a previous session left work that was neither restored nor discarded."""
        self.source: Path | None = None
        """The file that was opened, of whatever format."""
        self.opening = Opening(self)
        self.opening.finished.connect(self.show)
        self.lock = LockHint()
        self._shared: Path | None = None
        """The file that was saved though another program has it open, too: it is asked once."""
        self._life = Lifetime()
        self._life.callback(self.lock.release)
        self._life.callback(self.opening.wait)
        self._life.listen((self._session.changed, self._hold_lock_hint))

    def close(self) -> None:
        """Stop reading, and release the lock hint of the file."""
        self._life.close()

    # ----------------------------------------------------------------------------- open

    def new(self) -> None:
        """Start an empty model, after asking about unsaved work."""

        def begin() -> None:
            self._telling.messages.outdate()
            self.leave()
            self.source, self._session.trusted = None, frozenset()
            self._session.start(Model(name="untitled"))

        self.keep_changes(begin)

    def ask_open(self) -> None:
        """Ask for a file and open it."""
        path, _ = QFileDialog.getOpenFileName(self._bench.widget, "Open a model", self._start_folder(), open_filter())
        if path:
            self.open(path)

    def open(self, path: str | Path) -> None:
        """Open a file in the background, after asking about unsaved work; a run is added to the list of runs."""
        if Path(path).suffix.lower() in RUNS:
            self._bench.panels.runs.load_from(Path(path))
            return
        self.keep_changes(lambda: self.read(Path(path)))

    def reload(self) -> None:
        """Read the open file again, as one undoable step."""
        if self.source is not None:
            self.read(self.source, then=lambda opened: self.take_over(opened, "Reload"), trusted=self._session.trusted)

    def read(
        self,
        path: Path,
        read: Reader | None = None,
        then: Callable[[Opened], object] | None = None,
        trusted: frozenset[Trusted] = frozenset(),
    ) -> None:
        """Read a file in the background (or call `read` instead); `then` (default: `show`) gets the result.

        Code of `trusted` files may run; for another one that has some the person is asked.
        """

        def again(allowed: Trusted) -> None:
            def read_it() -> None:
                self.read(path, read, then, trusted | {allowed})

            self.keep_changes(read_it) if then is None else read_it()

        before = self._unsaved_work_key()

        def came(found: Opened) -> None:
            self._telling.status.busy("")
            if (
                then is None and self._unsaved_work_key() != before and not self.may_close_document()
            ):  # there is more now than was asked for
                return
            if found.error is not None and offer_trust(self._telling.messages, found.error, again):
                self.awaited.emit(False)
            else:
                (then or self.show)(found)

        self._telling.status.busy(f"Reading {path.name} …")
        self.awaited.emit(True)  # something is about to be here
        self.opening.start(path, came, lambda: read(trusted) if read is not None else opened(path, trusted))

    def _unsaved_work_key(self) -> tuple[object, ...]:
        """Return a key of the unsaved work: while it stays the same, the user need not be asked again."""
        runs = tuple((record, record.version) for record in self._session.runs.items)
        return self._session.state, runs, self._bench.runs.simulation.running

    def replace(self, opened: Opened) -> None:
        """Show a model that was read, after asking about unsaved work."""
        self.keep_changes(lambda: self.show(opened))

    def take_over(self, opened: Opened, label: str) -> bool:
        """Replace the model by the file's content; undo returns to the former model."""
        if opened.error is not None or opened.model is None:
            self.awaited.emit(False)
            if opened.error is not None:
                self._telling.guard.report(opened.error)
            return False
        self._session.trusted = opened.trusted
        return self._session.take_over(
            opened.model, label=label, findings=opened.findings, mech=opened.mech, sources=opened.sources
        )

    def show(self, opened: Opened) -> None:
        """Make a model that was read the open document."""
        if opened.error is not None:
            self.awaited.emit(False)
            self._telling.guard.report(opened.error)
            return
        assert opened.model is not None
        native = opened.path if opened.path.suffix == SUFFIX else None
        self._telling.messages.outdate()
        self.leave()
        before, self.source = self.source, opened.path
        pose = opened.kept.pose if opened.kept is not None else None
        if not self._session.start(
            opened.model, native, findings=opened.findings, mech=opened.mech, sources=opened.sources, pose=pose
        ):
            self.source = before
            self.awaited.emit(False)
            return
        self._session.trusted = opened.trusted
        self._bench.settings.add_recent(opened.path)
        self._bench.runs.simulation.suggest(next((e.run_settings for e in examples() if e.path == opened.path), {}))
        if opened.kept is not None:
            folder = companion.folder_of(opened.path)
            self._keeper.read(folder, opened.kept, document=opened.path)
            self._surroundings.put_back(opened.kept.sections)
        self._report_findings(opened)
        asked = next((each.asked for each in examples() if each.path == opened.path), None)
        if asked is not None:
            self._bench.panels.ask_function(*asked)

    def _report_findings(self, opened: Opened) -> None:
        serious = [finding for finding in opened.findings if finding.severity != "hint"]
        if serious:
            more = f" ({len(serious) - 1} more in the findings)" if len(serious) > 1 else ""
            self._session.message.emit("warning", f"{opened.path.name}: {serious[0].text}{more}")

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open: with its own model if nothing is open, else after asking."""

        def begin() -> None:
            self.leave()
            self.source, self._session.trusted = None, frozenset()
            if self._session.start(run.model, mech=run.mech):
                self._bench.panels.show("simulation")
                self._bench.panels.runs.take(run, path)

        if not self._session.model.expanded.bodies and not self._session.unsaved:
            begin()
            return
        words = f"{path.name} is a run of another machine, “{run.model.name}”: none of its joints is in this model."
        self._telling.messages.tell("error", words, {"Open its model": lambda: self.keep_changes(begin)})

    def start_example(self, path: Path) -> None:
        """Open an example as a copy, which is never saved over the example."""
        self.keep_changes(lambda: self.read(path))

    def compare(self) -> None:
        """Show how the machine differs from its file."""
        self.comparing.emit()

    def recover(self) -> None:
        """Offer to recover work left by programs that ended unexpectedly."""
        self.recovering.emit()

    # ----------------------------------------------------------------------------- save

    def save(self, keep: Callable[[Path], None] | None = None) -> bool:
        """Save to the model's file, asking for one if there is none; returns True if it was written.

        keep : how the runs are saved beside it
        """
        if self._session.path is None or is_example(self._session.path):
            return self.ask_save_as(keep)
        return self._write_document(self._session.path, keep=keep)

    def ask_save_as(self, keep: Callable[[Path], None] | None = None) -> bool:
        """Ask for a file and save to it."""
        name = (self._session.path or self.source or Path(self._session.model.name or "untitled")).stem
        start = str(Path(self._start_folder()) / f"{name}{SUFFIX}")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Save the model", start, save_filter())
        if not path:
            return False
        chosen = Path(path)
        return self._write_document(chosen if chosen.suffix else chosen.with_suffix(SUFFIX), keep=keep)

    def ask_export(self, suffix: str) -> bool:
        """Ask for a file of another format and write the machine to it; the document keeps its own file."""
        name = (self._session.path or self.source or Path(self._session.model.name or "untitled")).stem
        start = str(Path(self._start_folder()) / f"{name}{suffix}")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Export the model", start, save_filter(suffix))
        return bool(path) and self._write_document(Path(path) if Path(path).suffix else Path(path).with_suffix(suffix))

    def overwrite(self, path: Path) -> bool:
        """Save over a file that another program changed or has open."""
        self._shared = path
        return self._write_document(path, over=True)

    def _write_document(self, path: Path, *, over: bool = False, keep: Callable[[Path], None] | None = None) -> bool:
        if not over and (doubt := self._reason_to_ask(path)):
            choices: dict[str, Callable[[], object]] = {"Overwrite": lambda: self.overwrite(path)}
            choices |= {"Save as…": lambda: self.ask_save_as()}
            if path == self._session.path:
                choices |= {"Reload (undo returns to mine)": self.reload, "Compare": self.compare}
            self._telling.notices.tell(CHANGED, "warning", f"{doubt} It was not overwritten.", choices)
            return False
        if not self._session.save(path, over=over, backup=self._bench.settings.keeps_older):
            words = f"{path.name} was not written; the machine is still open here, unsaved."
            self._telling.notices.tell(
                CHANGED,
                "error",
                words,
                {
                    "Try again": lambda: self._write_document(path, over=over),
                    "Save as…": lambda: self.ask_save_as(),
                },
            )
            return False
        for key in (CHANGED, GONE):
            self._telling.notices.remove(key)
        self._bench.settings.add_recent(path)
        if path == self._session.path:
            self.source = path
            self._hold_lock_hint()
            (keep or self._save_runs)(path)
        return True

    def _reason_to_ask(self, path: Path) -> str:
        """Return why overwriting a file needs confirmation; "" if it does not."""
        if self._session.sources.changed(path) and path.exists():
            return f"Another program changed {path.name} since it was read here."
        holder = self.lock.asked() if path == self.lock.path and path != self._shared else None
        return f"{path.name} is open {holder.words}, too." if holder is not None else ""

    def _save_runs(self, path: Path) -> None:
        """Save the runs with the document, after asking if they are large."""
        keeper = self._keeper
        if keeper.large and path.suffix == SUFFIX:
            runs = len(keeper.unsaved_runs)
            words = f"{counted(runs, 'run')} of {keeper.size / 1e6:,.0f} MB {'are' if runs > 1 else 'is'} not kept yet."
            self._telling.notices.tell(KEEPING, "hint", words, {"Save with the machine": lambda: self._keep_runs(path)})
        else:
            self._keep_runs(path)

    def _keep_runs(self, path: Path, leave: Container[Record] = (), restore: bool = False) -> None:
        if path.suffix == SUFFIX:
            sections = self._surroundings.kept()
            self._keeper.save(path, sections, leave=leave, restore=restore)

    def _hold_lock_hint(self, *_: object) -> None:
        """Mark the file as open for other programs, and warn the user if another one has it open already."""
        path = self._session.path
        path = None if path is None or is_example(path) else path
        if path == self.lock.path:
            return
        self.lock.hold(path)
        self._shared = None
        if self.lock.holder is not None and path is not None:
            words = f"{path.name} is open {self.lock.holder.words}, too. The last save would win, so saving asks first."
            self._telling.notices.tell(SHARED, "warning", words, {"All right": lambda: None})
        else:
            self._telling.notices.remove(SHARED)

    def _start_folder(self) -> str:
        """Return the start folder of file dialogs: that of the open file, else the last one used."""
        last = next((path.parent for path in self._bench.settings.recent[:1] if not is_example(path)), Path.home())
        return str(self._session.folder or last)

    # ----------------------------------------------------------------------------- unsaved work

    def keep_changes(self, then: Callable[[], None]) -> None:
        """Call a function that replaces the document, once unsaved work is saved or given up."""
        if self.may_close_document():
            then()

    def may_close_document(self) -> bool:
        """Return True if no unsaved work would be lost: it was saved now, or the user gives it up."""
        self._keeper.settle(self._telling.status.busy)
        self._bench.runs.stop_live()
        self._bench.runs.simulation.finish()
        loss = self._unsaved_loss()
        if not loss.items:
            return True
        answer = ask(self._bench.widget, loss)
        if answer is None:
            return False
        return self._save_wanted(answer) if answer else True

    def _unsaved_loss(self) -> Loss:
        session = self._session
        name = session.path.stem if session.path is not None else session.model.name or "untitled"
        return Loss(name, session.edits, len(self._keeper.deleted), self._keeper.unsaved_runs)

    def _save_wanted(self, wanted: Wanted) -> bool:
        """Save the checked items; returns True once all of them are on disk."""
        dropped = tuple(record for record in self._keeper.unsaved_runs if record not in wanted.runs)
        path = self._session.path

        def keep(place: Path) -> None:
            self._keep_runs(place, dropped, not wanted.document)

        if wanted.runs and (path is None or is_example(path) or path.suffix != SUFFIX):
            done = self.ask_save_as(keep)
        elif wanted.document or path is None:
            done = self.save(keep)
        else:
            done = True
            keep(path)
        if not done:
            return False
        if wanted.runs and self._session.path is not None and self._session.path.suffix != SUFFIX:
            self._session.message.emit("error", f"Runs are saved with {SUFFIX} files only. Save the machine as one.")
            return False
        self._telling.notices.remove(KEEPING)
        return self._wait_for_runs(wanted.runs)

    def _wait_for_runs(self, runs: tuple[Record, ...]) -> bool:
        """Wait until runs are on disk, while the window keeps drawing; returns False if they could not be written."""
        self._keeper.settle(self._telling.status.busy)
        return not set(runs) & set(self._keeper.unsaved_runs)

    def leave(self) -> None:
        """Save a picture of the document before it is closed, and delete its removed runs for good."""
        if self.source is not None and not is_example(self.source) and self._session.model.expanded.bodies:
            keep_picture(self._bench.scenery.picture(), self.source)
        path = self._session.path
        if path is not None and path.suffix == SUFFIX and not is_example(path) and self.lock.holder is None:
            folder = companion.folder_of(path)
            self._keeper.store.worker.do(lambda: companion.empty_trash(folder))
        self.opening.forget()
        self._telling.status.busy("")
        for key in (KEEPING, SHARED, CHANGED, GONE):
            self._telling.notices.remove(key)

    # ----------------------------------------------------------------------------- pictures

    def ask_picture(self) -> None:
        """Ask for a PNG file and write the view to it, at twice its screen resolution."""
        name = (self.source or Path(self._session.model.name or "picture")).stem
        start = str(Path(self._start_folder()) / f"{name}.png")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Export picture", start, "PNG picture (*.png)")
        if path:
            chosen = Path(path) if Path(path).suffix else Path(path).with_suffix(".png")
            if self._bench.scenery.picture(2).save(str(chosen)):
                self._session.message.emit("done", f"Picture written to {chosen}")
            else:
                self._session.message.emit("error", f"{chosen} cannot be written. Choose another folder or name.")

    def copy_picture(self) -> None:
        """Copy the picture of the view to the clipboard."""
        QGuiApplication.clipboard().setImage(self._bench.scenery.picture(2))
        self._session.message.emit("done", "The picture is on the clipboard.")
