"""Recovery of unsaved work: copied to the platform's state folder, and offered after a crash."""

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
from app.document.kept.recovery_copies import Leftover, Origin
from app.document.kept.seen_files import Seen, Sources
from app.document.opening import Opened, opened_by
from core.errors import KinetostatError
from core.files import Reading, Trusted, dumps, loads
from core.files.source import source_of_file
from core.model import Model

if TYPE_CHECKING:
    from app.document.kept.run_keeper import RunKeeper
    from app.document.session import Session
    from app.window.files import Documents
    from app.window.notices import Notices
    from app.window.view_state import Surroundings

SOON = 1000
"""Milliseconds after a change until the copy is written."""
LOOK = 100
"""Milliseconds between two checks for news of the writing thread."""
CANNOT = "Unsaved work is not safe from a crash for now, since no copy of it can be written: "


class Recovery(QObject):
    """Writes a copy soon after a change; removes it when the work is saved or the program ends normally."""

    restored = Signal()
    """Emitted when recovered work is open."""

    def __init__(
        self,
        session: Session,
        documents: Documents,
        keeper: RunKeeper,
        surroundings: Surroundings,
        notices: Notices,
        copy: Path,
    ) -> None:
        super().__init__(documents)
        self._session, self._documents, self._keeper = session, documents, keeper
        self._surroundings, self._notices = surroundings, notices
        self.copy, self.folder = copy, copy.parent
        self._own = recovery_copies.lock_of(self.copy)
        self._worker = Worker("recovery", self._failed)
        self._news: deque[str] = deque()
        self._said = self._there = False
        self._left: tuple[Leftover, ...] = ()
        self._discarded: list[Leftover] = []
        self._timer = QTimer(self, singleShot=True, interval=SOON)
        self._timer.timeout.connect(self.write)
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._report_failure)
        self._life = Lifetime()
        self._life.listen(
            (session.saved_changed, self._changed),
            (session.runs.changed, self._changed),
            (documents.recovering, self.offer),
        )
        self._prepare_folder()

    def _prepare_folder(self) -> None:
        """Create the folder with access for the user only; if that fails, there are no copies, which is reported when
        one is needed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            return
        self._own.tryLock(0)
        recovery_copies.purge_discarded(self.folder)

    # ------------------------------------------------------------------------------- writing

    @property
    def needed(self) -> bool:
        """True if there is unsaved work."""
        return self._session.unsaved or bool(self._keeper.unsaved_runs) or bool(self._keeper.deleted)

    def _changed(self) -> None:
        if not self.needed:
            self.clear()
        elif not self._timer.isActive():
            self._timer.start()

    def write(self) -> None:
        """Queue the copy for writing."""
        self._timer.stop()
        if not self.needed:
            return
        model, origin, copy = self._session.model, self._origin(), self.copy
        kept = self._keeper.listed(self._surroundings.kept())
        self._there = True

        def work() -> None:
            if not self.folder.is_dir():
                self._prepare_folder()
            recovery_copies.write_copy(copy, dumps(model), origin, kept)
            self._said = False

        self._worker.do(work, "copy")
        self._look.start()

    def _origin(self) -> Origin:
        session, documents = self._session, self._documents
        path = os.path.abspath(session.path) if session.path is not None else ""
        known = next((each.digest for each in session.sources.files if os.path.abspath(each.path) == path), "")
        source = "" if documents.source is None else os.path.abspath(documents.source)
        return Origin(path, source, session.model.name, known, session.edits, session.undo_label, time.time())

    def clear(self) -> None:
        """Remove the copy, as nothing is unsaved."""
        self._timer.stop()
        if self._there:
            self._there = False
            copy = self.copy
            self._worker.do(lambda: recovery_copies.remove_document(copy), "copy")

    def flush(self) -> None:
        """Write unsaved work to disk now (the program is being ended)."""
        self._keeper.store.worker.wait()
        self.write()
        self._worker.wait()

    def close(self, *, keep: bool = False) -> None:
        """End with the program: remove the copy, or keep it to be offered at the next start."""
        self._timer.stop()
        self._look.stop()
        self._life.close()
        if keep:
            self.flush()
        self._worker.close()
        kept = keep and self.needed
        if self._keeper.close() and not kept:
            recovery_copies.remove_copy(self.copy)
        for left in self._discarded:
            recovery_copies.remove_copy(left.copy)
        self._own.unlock()

    def _failed(self, error: Exception) -> None:
        """Report a failure of writing (called in the writing thread)."""
        if not self._said:
            self._said = True
            self._news.append(f"{CANNOT}{error}")

    def _report_failure(self) -> None:
        if not self._worker.busy and not self._news:
            self._look.stop()
        while self._news:
            self._session.message.emit("warning", self._news.popleft())

    # ------------------------------------------------------------------------------- offering

    def offer(self) -> None:
        """Offer work left by earlier programs in a notice."""
        self._update_offer(recovery_copies.leftovers(self.folder))
        for left in self._left:
            text = f"Unsaved work was kept when the program ended unexpectedly: {left.words}."
            answers = {"Restore": lambda left=left: self.restore(left), "Discard": lambda left=left: self.discard(left)}
            self._notices.tell(str(left.copy), "warning", text, answers)

    def _update_offer(self, left: tuple[Leftover, ...]) -> None:
        """Update the notice to the copies that still wait for an answer."""
        self._left, self._documents.recoverable = left, bool(left)

    def restore(self, left: Leftover) -> None:
        """Open a copy under the name of its document."""
        self._documents.keep_changes(lambda: self._read_copy(left))

    def _read_copy(self, left: Leftover) -> None:
        origin = left.origin.path or left.origin.source

        def read(trusted: frozenset[Trusted]) -> Opened:
            def loaded() -> Reading:
                return Reading(loads(source_of_file(left.copy).text, "kst", origin, trust=trusted))

            return opened_by(loaded, left.copy, trusted)

        self._documents.read(Path(origin or left.copy), read, lambda opened: self._show_restored(left, opened))

    def _show_restored(self, left: Leftover, opened: Opened) -> None:
        if opened.error is not None:
            words = opened.error if isinstance(opened.error, KinetostatError) else "Something in it is damaged."
            self._notices.tell(
                str(left.copy),
                "error",
                f"The copy of {left.words} cannot be opened. It stays as {left.copy}. {words}",
                {"Try again": lambda: self.restore(left), "Discard": lambda: self.discard(left)},
            )
            return
        assert opened.model is not None
        path = Path(left.origin.path) if left.origin.path else None
        self._documents.leave()
        self._documents.source = path or (Path(left.origin.source) if left.origin.source else None)
        if not self._session.start(
            opened.model,
            path,
            sources=_sources(path, left, opened.model),
            pose=left.kept.pose,
            mech=opened.mech,
            filed=False,
        ):
            return
        self._session.trusted = opened.trusted
        self._keeper.read(left.runs, left.kept, document=path, then=lambda whole: self._remove_when_copied(left, whole))
        self._surroundings.put_back(left.kept.sections)
        self.restored.emit()
        self._session.message.emit("done", f"Restored: {left.words}. It is not saved yet.")

    def _remove_when_copied(self, left: Leftover, whole: bool) -> None:
        """Delete the old copy once all of it is in a new one; else keep it to be offered again."""
        self._update_offer(tuple(each for each in self._left if each != left))
        self.write()
        store, records = self._keeper.store, self._keeper.stored

        def go() -> None:
            there = all(store.whole(record, version) is not None for record, version in records)
            if whole and there and self.copy.with_suffix(".json").is_file():
                recovery_copies.remove_copy(left.copy)

        def then() -> None:  # behind the runs that are being written
            self._worker.do(go)

        store.worker.do(then)

    def discard(self, left: Leftover) -> None:
        """Stop offering a copy; it can be restored until the program ends."""
        try:
            gone = recovery_copies.discard_copy(left)
        except OSError as error:
            self._session.message.emit("error", f"{left.copy} cannot be deleted: {error.strerror}.")
            return
        self._discarded.append(gone)
        self._update_offer(tuple(each for each in self._left if each != left))
        self._notices.tell(
            str(left.copy),
            "hint",
            f"Discarded: {left.words}.",
            {"Bring it back": lambda: self._restore_discarded(gone)},
        )

    def _restore_discarded(self, left: Leftover) -> None:
        self._discarded.remove(left)
        recovery_copies.restore_discarded(left)
        self.offer()


def _sources(path: Path | None, left: Leftover, model: Model) -> Sources:
    """Return the files of restored work, with the fingerprint of its own file from when the work began."""
    if path is None:
        return Sources()
    known = Seen(path, left.origin.digest, (-1, -1, -1))
    return Sources((known, *Sources.now(path, model).files[1:]))
