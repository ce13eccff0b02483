"""File operations of the window: open, save, recent files with thumbnails taken when they were closed, unsaved work,
and pictures of the view."""

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
from app.dialogs.leaving import SaveChoice, UnsavedWork, ask
from app.document.kept import companion
from app.document.kept.recovery_copies import DocumentLock, format_count
from app.document.opening import FileOpener, OpenedFile, offer_to_trust_file, open_file, open_filter, save_filter
from app.window.notices import CHANGED, GONE
from core.files import TrustedFile
from core.model import Model
from resources import examples, is_example

if TYPE_CHECKING:
    from app.document.kept.run_keeper import RunSaver
    from app.document.run_tree import RunRecord
    from app.window.status import MessageOutlets
    from app.window.view_state import ViewState
    from app.workbench import Workbench
    from core.simulation import Run


PICTURE_SIZE = QSize(320, 240)
MOST_PICTURES = 40
"""Largest number of thumbnails that are stored."""


def pictures_folder() -> Path:
    """Return the folder of the thumbnails."""
    return Path(platformdirs.user_cache_dir("kinetostat", appauthor=False)) / "pictures"


def picture_path(path: Path) -> Path:
    """Return the path of a file's thumbnail, whether or not it exists."""
    return pictures_folder() / f"{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:32]}.png"


def save_picture(image: QImage, path: Path) -> None:
    """Save the thumbnail of a file; failure to write it is ignored."""
    target = picture_path(path)
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
    """Delete all but the newest thumbnails."""
    found = sorted(pictures_folder().glob("*.png"), key=lambda each: each.stat().st_mtime, reverse=True)
    for each in found[MOST_PICTURES:]:
        each.unlink(missing_ok=True)


SUFFIX = ".kst"
Reader = Callable[[frozenset[TrustedFile]], OpenedFile]
RUNS = (".h5", ".hdf5")
"""Suffixes of run files."""
KEEPING, SHARED = "keeping runs", "shared file"
"""Keys of notices."""


class FileCommands(QObject):
    """Commands of the File menu. `may_close_document` asks about unsaved work before it would be lost."""

    awaited = Signal(bool)
    """Emitted when a document is about to be shown, or failed to open."""
    comparing, recovering = Signal(), Signal()
    """Emitted when the user wants to compare machine and file, or to recover work of programs that ended unexpectedly.
    """

    def __init__(self, bench: Workbench, telling: MessageOutlets, keeper: RunSaver, surroundings: ViewState) -> None:
        super().__init__(bench.widget)
        self._bench, self._telling, self._keeper, self._surroundings = bench, telling, keeper, surroundings
        self._session = bench.session
        self.recoverable = False
        """True if a previous session left work that was neither restored nor discarded."""
        self.source: Path | None = None
        """The file that was opened, of whatever format."""
        self.opening = FileOpener(self)
        self.opening.finished.connect(self.show_document)
        self.lock = DocumentLock()
        self._shared: Path | None = None
        """The file that was saved though another program has it open, too: it is asked once."""
        self._life = Lifetime()
        self._life.callback(self.lock.unlock_document)
        self._life.callback(self.opening.close_and_wait)
        self._life.listen((self._session.changed, self._update_lock_hint))

    def close(self) -> None:
        """Stop reading files, and release the lock hint of the open file."""
        self._life.close()

    # ----------------------------------------------------------------------------- open

    def new_model(self) -> None:
        """Start an empty model, after asking about unsaved work."""

        def start_empty_model() -> None:
            self._telling.messages.dismiss_unless_waiting()
            self.prepare_to_close()
            self.source, self._session.trusted = None, frozenset()
            self._session.start_document(Model(name="untitled"))

        self.confirm_changes_then(start_empty_model)

    def open_with_dialog(self) -> None:
        """Ask for a file and open it."""
        path, _ = QFileDialog.getOpenFileName(
            self._bench.widget, "Open a model", self._dialog_start_folder(), open_filter()
        )
        if path:
            self.open(path)

    def open(self, path: str | Path) -> None:
        """Open a file in the background, after asking about unsaved work. A run file is added to the list of runs."""
        if Path(path).suffix.lower() in RUNS:
            self._bench.panels.run_list.load_from(Path(path))
            return
        self.confirm_changes_then(lambda: self.read_in_background(Path(path)))

    def reload(self) -> None:
        """Read the open file again, as one step that can be undone."""
        if self.source is not None:
            self.read_in_background(
                self.source, then=lambda opened: self.replace_model(opened, "Reload"), trusted=self._session.trusted
            )

    def read_in_background(
        self,
        path: Path,
        read: Reader | None = None,
        then: Callable[[OpenedFile], object] | None = None,
        trusted: frozenset[TrustedFile] = frozenset(),
    ) -> None:
        """Read a file in the background, or call `read` instead; the result is passed to `then`, by default to the
        method that shows it.

        Code of `trusted` files may run; the user is asked about other files that contain code.
        """

        def read_with_trust(allowed: TrustedFile) -> None:
            def start_reading() -> None:
                self.read_in_background(path, read, then, trusted | {allowed})

            self.confirm_changes_then(start_reading) if then is None else start_reading()

        before = self._unsaved_work_key()

        def on_file_read(result: OpenedFile) -> None:
            self._telling.status.show_reading("")
            if (
                then is None and self._unsaved_work_key() != before and not self.may_close_document()
            ):  # there is more now than was asked for
                return
            if result.error is not None and offer_to_trust_file(self._telling.messages, result.error, read_with_trust):
                self.awaited.emit(False)
            else:
                (then or self.show_document)(result)

        self._telling.status.show_reading(f"Reading {path.name} …")
        self.awaited.emit(True)  # something is about to be here
        self.opening.start_reading(
            path, on_file_read, lambda: read(trusted) if read is not None else open_file(path, trusted)
        )

    def _unsaved_work_key(self) -> tuple[object, ...]:
        """Return a key that identifies the unsaved work: while it is unchanged, the user is not asked again."""
        runs = tuple((record, record.version) for record in self._session.runs.items)
        return self._session.state, runs, self._bench.runs.simulation.is_running

    def replace_document(self, opened: OpenedFile) -> None:
        """Show a model that has been read, after asking about unsaved work."""
        self.confirm_changes_then(lambda: self.show_document(opened))

    def replace_model(self, opened: OpenedFile, label: str) -> bool:
        """Replace the model by the content of the file; undo restores the previous model."""
        if opened.error is not None or opened.model is None:
            self.awaited.emit(False)
            if opened.error is not None:
                self._telling.guard.report(opened.error)
            return False
        self._session.trusted = opened.trusted
        return self._session.reload_from_file(
            opened.model, label=label, findings=opened.findings, mech=opened.mech, sources=opened.sources
        )

    def show_document(self, opened: OpenedFile) -> None:
        """Make a model that has been read the open document."""
        if opened.error is not None:
            self.awaited.emit(False)
            self._telling.guard.report(opened.error)
            return
        assert opened.model is not None
        native = opened.path if opened.path.suffix == SUFFIX else None
        self._telling.messages.dismiss_unless_waiting()
        self.prepare_to_close()
        before, self.source = self.source, opened.path
        pose = opened.kept.pose if opened.kept is not None else None
        if not self._session.start_document(
            opened.model, native, findings=opened.findings, mech=opened.mech, sources=opened.sources, pose=pose
        ):
            self.source = before
            self.awaited.emit(False)
            return
        self._session.trusted = opened.trusted
        self._bench.settings.add_recent(opened.path)
        self._bench.runs.simulation.suggest_settings(
            next((e.run_settings for e in examples() if e.path == opened.path), {})
        )
        if opened.kept is not None:
            folder = companion.companion_folder(opened.path)
            self._keeper.read_runs(folder, opened.kept, document=opened.path)
            self._surroundings.restore_view(opened.kept.sections)
        self._report_findings(opened)
        asked = next((each.asked for each in examples() if each.path == opened.path), None)
        if asked is not None:
            self._bench.panels.run_function(*asked)

    def _report_findings(self, opened: OpenedFile) -> None:
        serious = [finding for finding in opened.findings if finding.severity != "hint"]
        if serious:
            more = f" ({len(serious) - 1} more in the findings)" if len(serious) > 1 else ""
            self._session.message.emit("warning", f"{opened.path.name}: {serious[0].text}{more}")

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open: with the run's own model if no document is open, otherwise after
        asking."""

        def open_model_of_run() -> None:
            self.prepare_to_close()
            self.source, self._session.trusted = None, frozenset()
            if self._session.start_document(run.model, mech=run.mech):
                self._bench.panels.show_panel("simulation")
                self._bench.panels.run_list.take(run, path)

        if not self._session.model.expanded.bodies and not self._session.is_unsaved:
            open_model_of_run()
            return
        words = f"{path.name} is a run of another machine, “{run.model.name}”: none of its joints is in this model."
        self._telling.messages.show_message(
            "error", words, {"Open its model": lambda: self.confirm_changes_then(open_model_of_run)}
        )

    def open_example(self, path: Path) -> None:
        """Open an example. Saving asks for a new file, so that the example is never overwritten."""
        self.confirm_changes_then(lambda: self.read_in_background(path))

    def compare_with_file(self) -> None:
        """Show the differences between the machine and its file."""
        self.comparing.emit()

    def offer_recovery(self) -> None:
        """Offer to recover work left by programs that ended unexpectedly."""
        self.recovering.emit()

    # ----------------------------------------------------------------------------- save

    def save(self, save_runs: Callable[[Path], None] | None = None) -> bool:
        """Save to the file of the model, asking for a file name if there is none; return True if the file was written.

        save_runs : function that saves the runs with the document
        """
        if self._session.path is None or is_example(self._session.path):
            return self.save_with_dialog(save_runs)
        return self._write_document(self._session.path, keep=save_runs)

    def save_with_dialog(self, save_runs: Callable[[Path], None] | None = None) -> bool:
        """Ask for a file name and save the model to that file."""
        name = (self._session.path or self.source or Path(self._session.model.name or "untitled")).stem
        start = str(Path(self._dialog_start_folder()) / f"{name}{SUFFIX}")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Save the model", start, save_filter())
        if not path:
            return False
        chosen = Path(path)
        return self._write_document(chosen if chosen.suffix else chosen.with_suffix(SUFFIX), keep=save_runs)

    def export_with_dialog(self, suffix: str) -> bool:
        """Ask for a file name and export the machine to another format; the document keeps its own file."""
        name = (self._session.path or self.source or Path(self._session.model.name or "untitled")).stem
        start = str(Path(self._dialog_start_folder()) / f"{name}{suffix}")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Export the model", start, save_filter(suffix))
        return bool(path) and self._write_document(Path(path) if Path(path).suffix else Path(path).with_suffix(suffix))

    def overwrite(self, path: Path) -> bool:
        """Save to a file although another program has changed it or has it open."""
        self._shared = path
        return self._write_document(path, over=True)

    def _write_document(self, path: Path, *, over: bool = False, keep: Callable[[Path], None] | None = None) -> bool:
        if not over and (doubt := self._reason_to_confirm(path)):
            choices: dict[str, Callable[[], object]] = {"Overwrite": lambda: self.overwrite(path)}
            choices |= {"Save as…": lambda: self.save_with_dialog()}
            if path == self._session.path:
                choices |= {"Reload (undo restores my version)": self.reload, "Compare": self.compare_with_file}
            self._telling.notices.show_notice(CHANGED, "warning", f"{doubt} The file was not overwritten.", choices)
            return False
        if not self._session.save(path, overwrite=over, backup=self._bench.settings.keeps_older):
            words = f"{path.name} could not be written. The machine is still open here, and not saved."
            self._telling.notices.show_notice(
                CHANGED,
                "error",
                words,
                {
                    "Try again": lambda: self._write_document(path, over=over),
                    "Save as…": lambda: self.save_with_dialog(),
                },
            )
            return False
        for key in (CHANGED, GONE):
            self._telling.notices.remove(key)
        self._bench.settings.add_recent(path)
        if path == self._session.path:
            self.source = path
            self._update_lock_hint()
            (keep or self._save_runs)(path)
        return True

    def _reason_to_confirm(self, path: Path) -> str:
        """Return the reason why overwriting a file requires confirmation; "" if it does not."""
        if self._session.sources.changed_files(path) and path.exists():
            return f"Another program changed {path.name} after it was opened here."
        holder = self.lock.check_other_holder() if path == self.lock.path and path != self._shared else None
        return f"{path.name} is also open {holder.description}." if holder is not None else ""

    def _save_runs(self, path: Path) -> None:
        """Save the runs with the document; if they are large, ask first."""
        keeper = self._keeper
        if keeper.needs_size_confirmation and path.suffix == SUFFIX:
            runs = len(keeper.unsaved_runs)
            words = (
                f"{format_count(runs, 'run')} of {keeper.unsaved_size / 1e6:,.0f} MB "
                f"{'are' if runs > 1 else 'is'} unsaved."
            )
            self._telling.notices.show_notice(
                KEEPING, "hint", words, {"Save with the machine": lambda: self._write_runs(path)}
            )
        else:
            self._write_runs(path)

    def _write_runs(self, path: Path, excluded: Container[RunRecord] = (), restore_document: bool = False) -> None:
        if path.suffix == SUFFIX:
            sections = self._surroundings.collect_sections()
            self._keeper.save_runs(path, sections, excluded=excluded, keep_deleted=restore_document)

    def _update_lock_hint(self, *_: object) -> None:
        """Mark the file as open, for other programs, and warn the user if another program already has it open."""
        path = self._session.path
        path = None if path is None or is_example(path) else path
        if path == self.lock.path:
            return
        self.lock.lock_document(path)
        self._shared = None
        if self.lock.holder is not None and path is not None:
            words = f"{path.name} is also open {self.lock.holder.description}. Kinetostat asks before saving to it."
            self._telling.notices.show_notice(SHARED, "warning", words, {"OK": lambda: None})
        else:
            self._telling.notices.remove(SHARED)

    def _dialog_start_folder(self) -> str:
        """Return the folder in which file dialogs start: that of the open file, otherwise the one used last."""
        last = next(
            (path.parent for path in self._bench.settings.recent_files[:1] if not is_example(path)), Path.home()
        )
        return str(self._session.folder or last)

    # ----------------------------------------------------------------------------- unsaved work

    def confirm_changes_then(self, action: Callable[[], None]) -> None:
        """Call a function that replaces the document, once the user has saved or discarded unsaved work."""
        if self.may_close_document():
            action()

    def may_close_document(self) -> bool:
        """Return True if no unsaved work would be lost, because it has just been saved or the user discards it."""
        self._keeper.wait_until_idle(self._telling.status.show_reading)
        self._bench.runs.end_live()
        self._bench.runs.simulation.stop_and_wait()
        loss = self._unsaved_loss()
        if not loss.unsaved_items:
            return True
        answer = ask(self._bench.widget, loss)
        if answer is None:
            return False
        return self._save_checked_items(answer) if answer else True

    def _unsaved_loss(self) -> UnsavedWork:
        session = self._session
        name = session.path.stem if session.path is not None else session.model.name or "untitled"
        return UnsavedWork(name, session.edit_count, len(self._keeper.deleted_files), self._keeper.unsaved_runs)

    def _save_checked_items(self, checked: SaveChoice) -> bool:
        """Save the items that the user checked; return True once all of them are on disk."""
        dropped = tuple(record for record in self._keeper.unsaved_runs if record not in checked.runs)
        path = self._session.path

        def save_checked_runs(path: Path) -> None:
            self._write_runs(path, dropped, not checked.document)

        if checked.runs and (path is None or is_example(path) or path.suffix != SUFFIX):
            done = self.save_with_dialog(save_checked_runs)
        elif checked.document or path is None:
            done = self.save(save_checked_runs)
        else:
            done = True
            save_checked_runs(path)
        if not done:
            return False
        if checked.runs and self._session.path is not None and self._session.path.suffix != SUFFIX:
            self._session.message.emit("error", f"Runs are saved with {SUFFIX} files only. Save the machine as one.")
            return False
        self._telling.notices.remove(KEEPING)
        return self._wait_for_runs(checked.runs)

    def _wait_for_runs(self, runs: tuple[RunRecord, ...]) -> bool:
        """Wait until runs are on disk, while the window keeps redrawing; return False if they could not be written."""
        self._keeper.wait_until_idle(self._telling.status.show_reading)
        return not set(runs) & set(self._keeper.unsaved_runs)

    def prepare_to_close(self) -> None:
        """Save a thumbnail of the document before it is closed, and permanently delete the runs that were removed from
        it."""
        if self.source is not None and not is_example(self.source) and self._session.model.expanded.bodies:
            save_picture(self._bench.scenery.render_picture(), self.source)
        path = self._session.path
        if path is not None and path.suffix == SUFFIX and not is_example(path) and self.lock.holder is None:
            folder = companion.companion_folder(path)
            self._keeper.store.worker.submit(lambda: companion.empty_trash(folder))
        self.opening.cancel_reading()
        self._telling.status.show_reading("")
        for key in (KEEPING, SHARED, CHANGED, GONE):
            self._telling.notices.remove(key)

    # ----------------------------------------------------------------------------- pictures

    def save_picture_with_dialog(self) -> None:
        """Ask for a PNG file and write the view to it, at twice the screen resolution."""
        name = (self.source or Path(self._session.model.name or "picture")).stem
        start = str(Path(self._dialog_start_folder()) / f"{name}.png")
        path, _ = QFileDialog.getSaveFileName(self._bench.widget, "Export picture", start, "PNG picture (*.png)")
        if path:
            chosen = Path(path) if Path(path).suffix else Path(path).with_suffix(".png")
            if self._bench.scenery.render_picture(2).save(str(chosen)):
                self._session.message.emit("done", f"Picture written to {chosen}")
            else:
                self._session.message.emit("error", f"{chosen} cannot be written. Choose another folder or name.")

    def copy_picture(self) -> None:
        """Copy a picture of the view to the clipboard."""
        QGuiApplication.clipboard().setImage(self._bench.scenery.render_picture(2))
        self._session.message.emit("done", "Picture copied to the clipboard.")
