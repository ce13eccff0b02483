"""Recovery of unsaved work: copies are written to the platform's state folder and offered after a crash."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.background.jobs import Worker
from app.background.signals import Lifetime, Signal
from app.document.kept import recovery_copies
from app.document.kept.recovery_copies import RecoveredWork, UnsavedWorkOrigin
from app.document.kept.seen_files import FileFingerprint, SourceFingerprints
from app.document.opening import OpenedFile, open_with_reader
from core.errors import KinetostatError
from core.files import ReadResult, TrustedFile, dumps, loads
from core.files.source import source_from_file
from core.model import Model

if TYPE_CHECKING:
    from app.document.kept.run_keeper import RunSaver
    from app.document.session import Session
    from app.window.files import FileCommands
    from app.window.notices import Notices
    from app.window.view_state import ViewState

SOON = 1000
"""Delay in milliseconds from a change until the copy is written."""
LOOK = 100
"""Interval in milliseconds at which failures of the writing thread are checked."""
CANNOT = "Unsaved work is not protected against a crash at present, because no recovery copy can be written: "


class CrashRecovery(QObject):
    """Writes a recovery copy soon after each change, and removes it when the work is saved or the program ends
    normally."""

    restored = Signal()
    """Emitted when recovered work is open."""

    def __init__(
        self,
        session: Session,
        documents: FileCommands,
        keeper: RunSaver,
        surroundings: ViewState,
        notices: Notices,
        copy: Path,
    ) -> None:
        super().__init__(documents)
        self._session, self._documents, self._keeper = session, documents, keeper
        self._surroundings, self._notices = surroundings, notices
        self.copy, self.folder = copy, copy.parent
        self._own = recovery_copies.writer_lock(self.copy)
        self._worker = Worker("recovery", self._on_write_failed)
        self._news: deque[str] = deque()
        self._said = self._there = False
        self._left: tuple[RecoveredWork, ...] = ()
        self._discarded: list[RecoveredWork] = []
        self._timer = QTimer(self, singleShot=True, interval=SOON)
        self._timer.timeout.connect(self.queue_copy)
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._report_failure)
        self._life = Lifetime()
        self._life.listen(
            (session.saved_changed, self._on_work_changed),
            (session.runs.changed, self._on_work_changed),
            (documents.recovering, self.offer_leftovers),
        )
        self._prepare_folder()

    def _prepare_folder(self) -> None:
        """Create the folder, accessible to the user only. If that fails there are no copies; this is reported when one
        is needed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            return
        self._own.tryLock(0)
        recovery_copies.purge_discarded(self.folder)

    # ------------------------------------------------------------------------------- writing

    @property
    def has_unsaved_work(self) -> bool:
        """True if there is unsaved work."""
        return self._session.is_unsaved or bool(self._keeper.unsaved_runs) or bool(self._keeper.deleted_files)

    def _on_work_changed(self) -> None:
        if not self.has_unsaved_work:
            self.remove_copy()
        elif not self._timer.isActive():
            self._timer.start()

    def queue_copy(self) -> None:
        """Queue the writing of a recovery copy."""
        self._timer.stop()
        if not self.has_unsaved_work:
            return
        model, origin, copy = self._session.model, self._describe_origin(), self.copy
        kept = self._keeper.recovery_run_list(self._surroundings.collect_sections())
        self._there = True

        def write_recovery_copy() -> None:
            if not self.folder.is_dir():
                self._prepare_folder()
            recovery_copies.write_recovery_copy(copy, dumps(model), origin, kept)
            self._said = False

        self._worker.submit(write_recovery_copy, "copy")
        self._look.start()

    def _describe_origin(self) -> UnsavedWorkOrigin:
        session, documents = self._session, self._documents
        path = os.path.abspath(session.path) if session.path is not None else ""
        known = next((each.digest for each in session.sources.files if os.path.abspath(each.path) == path), "")
        source = "" if documents.source is None else os.path.abspath(documents.source)
        return UnsavedWorkOrigin(
            path, source, session.model.name, known, session.edit_count, session.undo_label, time.time()
        )

    def remove_copy(self) -> None:
        """Remove the recovery copy, since there is no unsaved work."""
        self._timer.stop()
        if self._there:
            self._there = False
            copy = self.copy
            self._worker.submit(lambda: recovery_copies.delete_document_copy(copy), "copy")

    def write_now(self) -> None:
        """Write unsaved work to disk immediately, because the program is about to end."""
        self._keeper.store.worker.wait()
        self.queue_copy()
        self._worker.wait()

    def close(self, *, keep: bool = False) -> None:
        """Stop when the program ends: remove the recovery copy, or keep it to be offered at the next start."""
        self._timer.stop()
        self._look.stop()
        self._life.close()
        if keep:
            self.write_now()
        self._worker.close()
        kept = keep and self.has_unsaved_work
        if self._keeper.close() and not kept:
            recovery_copies.delete_copy(self.copy)
        for left in self._discarded:
            recovery_copies.delete_copy(left.copy)
        self._own.unlock()

    def _on_write_failed(self, error: Exception) -> None:
        """Store a write failure to be reported (called in the writing thread)."""
        if not self._said:
            self._said = True
            self._news.append(f"{CANNOT}{error}")

    def _report_failure(self) -> None:
        if not self._worker.is_busy and not self._news:
            self._look.stop()
        while self._news:
            self._session.message.emit("warning", self._news.popleft())

    # ------------------------------------------------------------------------------- offering

    def offer_leftovers(self) -> None:
        """Show a notice for each recovery copy left by earlier programs."""
        self._update_leftovers(recovery_copies.find_recovered_work(self.folder))
        for left in self._left:
            text = f"Unsaved work was kept when the program ended unexpectedly: {left.description}."
            answers = {
                "Restore": lambda left=left: self.restore_leftover(left),
                "Discard": lambda left=left: self.discard_leftover(left),
            }
            self._notices.show_notice(str(left.copy), "warning", text, answers)

    def _update_leftovers(self, leftovers: tuple[RecoveredWork, ...]) -> None:
        """Set the recovery copies that the user has not answered yet."""
        self._left, self._documents.recoverable = leftovers, bool(leftovers)

    def restore_leftover(self, leftover: RecoveredWork) -> None:
        """Open a recovery copy under the file name of its document."""
        self._documents.confirm_changes_then(lambda: self._read_copy(leftover))

    def _read_copy(self, leftover: RecoveredWork) -> None:
        origin = leftover.origin.path or leftover.origin.source

        def read_leftover(trusted: frozenset[TrustedFile]) -> OpenedFile:
            def load_copy() -> ReadResult:
                return ReadResult(loads(source_from_file(leftover.copy).text, "kst", origin, trust=trusted))

            return open_with_reader(load_copy, leftover.copy, trusted)

        self._documents.read_in_background(
            Path(origin or leftover.copy), read_leftover, lambda opened: self._show_restored(leftover, opened)
        )

    def _show_restored(self, leftover: RecoveredWork, opened: OpenedFile) -> None:
        if opened.error is not None:
            words = opened.error if isinstance(opened.error, KinetostatError) else "The file is damaged."
            self._notices.show_notice(
                str(leftover.copy),
                "error",
                f"The recovery copy of {leftover.description} cannot be opened. It remains at {leftover.copy}. {words}",
                {
                    "Try again": lambda: self.restore_leftover(leftover),
                    "Discard": lambda: self.discard_leftover(leftover),
                },
            )
            return
        assert opened.model is not None
        path = Path(leftover.origin.path) if leftover.origin.path else None
        self._documents.prepare_to_close()
        self._documents.source = path or (Path(leftover.origin.source) if leftover.origin.source else None)
        if not self._session.start_document(
            opened.model,
            path,
            sources=_restored_sources(path, leftover, opened.model),
            pose=leftover.kept.pose,
            mech=opened.mech,
            has_file=False,
        ):
            return
        self._session.trusted = opened.trusted
        self._keeper.read_runs(
            leftover.runs_folder,
            leftover.kept,
            document=path,
            then=lambda whole: self._remove_when_recopied(leftover, whole),
        )
        self._surroundings.restore_view(leftover.kept.sections)
        self.restored.emit()
        self._session.message.emit("done", f"Restored: {leftover.description}. It is not saved yet.")

    def _remove_when_recopied(self, leftover: RecoveredWork, complete: bool) -> None:
        """Delete an old recovery copy once all of its content is in a new one; otherwise keep it, to be offered
        again."""
        self._update_leftovers(tuple(each for each in self._left if each != leftover))
        self.queue_copy()
        store, records = self._keeper.store, self._keeper.runs_in_store_only

        def remove_if_recopied() -> None:
            there = all(store.complete_file(record, version) is not None for record, version in records)
            if complete and there and self.copy.with_suffix(".json").is_file():
                recovery_copies.delete_copy(leftover.copy)

        def queue_removal() -> None:  # behind the runs that are being written
            self._worker.submit(remove_if_recopied)

        store.worker.submit(queue_removal)

    def discard_leftover(self, leftover: RecoveredWork) -> None:
        """Discard a recovery copy; it can be restored until the program ends."""
        try:
            gone = recovery_copies.discard_copy(leftover)
        except OSError as error:
            self._session.message.emit("error", f"{leftover.copy} cannot be deleted: {error.strerror}.")
            return
        self._discarded.append(gone)
        self._update_leftovers(tuple(each for each in self._left if each != leftover))
        self._notices.show_notice(
            str(leftover.copy),
            "hint",
            f"Discarded: {leftover.description}.",
            {"Restore it": lambda: self._restore_discarded(gone)},
        )

    def _restore_discarded(self, leftover: RecoveredWork) -> None:
        self._discarded.remove(leftover)
        recovery_copies.restore_discarded(leftover)
        self.offer_leftovers()


def _restored_sources(path: Path | None, leftover: RecoveredWork, model: Model) -> SourceFingerprints:
    """Return the files of restored work. That of the document has the fingerprint it had when the work began."""
    if path is None:
        return SourceFingerprints()
    known = FileFingerprint(path, leftover.origin.digest, (-1, -1, -1))
    return SourceFingerprints((known, *SourceFingerprints.take_now(path, model).files[1:]))
