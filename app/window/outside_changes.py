"""Detect, report and load changes that other programs make to the open file and the files it includes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from app.background.signals import Lifetime
from app.document.kept.recovery_copies import format_count
from app.document.opening import OpenedFile
from app.window.notices import CHANGED, GONE
from core.errors import KinetostatError, join_words
from core.functions.results import Table
from core.functions.text import Column
from core.model.differences import find_differences
from resources import is_example

if TYPE_CHECKING:
    from app.window.files import FileCommands
    from app.window.status import MessageOutlets
    from app.workbench import Workbench
    from core.model import Model

SETTLE = 300
"""Delay in milliseconds after a file notification, because the file may still be in the process of being written."""
TRIES = 4
"""Number of retries for a missing or unreadable file before it is reported."""


class ExternalChangeWatcher(QObject):
    """Watches the files of the document. An unedited document is reloaded immediately, as a step that can be undone;
    otherwise a notice asks the user."""

    def __init__(self, bench: Workbench, documents: FileCommands, telling: MessageOutlets) -> None:
        super().__init__(bench.widget)
        self._bench, self._session, self._documents, self._telling = bench, bench.session, documents, telling
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True, interval=SETTLE)
        self._timer.timeout.connect(self.check_files)
        self._watcher.fileChanged.connect(lambda _: self._timer.start())
        self._watcher.directoryChanged.connect(lambda _: self._timer.start())
        self._life = Lifetime()
        self._life.listen(
            (self._session.saved_changed, self._update_watched_files), (documents.comparing, self.compare_with_file)
        )
        self._life.callback(self._timer.stop)
        self._tries = TRIES

    def close(self) -> None:
        """Stop watching."""
        self._life.close()

    def _update_watched_files(self) -> None:
        """Watch the files of the document, and also their folders, because editors replace a file by a new one."""
        files = [each.path for each in self._session.sources.files if not is_example(each.path)]
        wanted = {str(place) for file in files for place in (file, file.parent) if place.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        if wanted - watched:
            self._watcher.addPaths(sorted(wanted - watched))

    # ------------------------------------------------------------------------------- noticing

    def check_files(self) -> None:
        """Check the files for changes."""
        changed = self._session.sources.changed_files()
        if not changed or self._documents.opening.is_busy:
            self._tries = TRIES
            self._update_watched_files()
            return
        gone = [path for path in changed if not path.exists()]
        if gone and self._check_again_later():
            return
        if gone:
            self._report_missing_files(gone)
        elif self._session.is_unsaved:
            self._ask_about_change(changed)
        else:
            self._read_document_file(self._reload_if_unedited)

    def _check_again_later(self) -> bool:
        """Schedule another check, because a file may be in the process of being replaced; return False after the last
        retry."""
        self._tries -= 1
        if self._tries > 0:
            self._timer.start()
            return True
        self._tries = TRIES
        return False

    def _document_path(self) -> Path:
        return self._documents.source or self._session.sources.files[0].path

    def _read_document_file(self, then: Callable[[OpenedFile], object]) -> None:
        self._documents.read_in_background(self._document_path(), then=then, trusted=self._session.trusted)

    def _reload_if_unedited(self, opened: OpenedFile) -> None:
        """Replace the document by the content of the file, unless the document has been edited meanwhile or the file
        cannot be read."""
        if opened.error is not None:
            if not self._check_again_later():
                self._ask_about_change(
                    self._session.sources.changed_files(),
                    f" The changed file cannot be read: {_error_text(opened.error)}",
                )
            return
        self._tries = TRIES
        changed = self._session.sources.changed_files()
        if self._session.is_unsaved:
            self._ask_about_change(changed)
        elif self._documents.replace_model(opened, "Changed outside"):
            names = [path.name for path in changed] or [opened.path.name]
            were = "was" if len(names) == 1 else "were"
            self._session.message.emit(
                "done",
                f"{join_words(names)} {were} changed by another program and reloaded. "
                "Undo restores the previous version.",
            )

    # ------------------------------------------------------------------------------- telling

    def _ask_about_change(self, changed: tuple[Path, ...], detail: str = "") -> None:
        if not changed:
            return
        names = ", ".join(path.name for path in changed[:3])
        words = f"Another program changed {names}, and you have unsaved changes.{detail}"
        if not self._session.is_unsaved:
            words = f"Another program changed {names}.{detail}"
        choices = {
            "Reload (undo restores my version)": self.reload_file,
            "Keep my version": self.keep_open_document,
            "Save as…": lambda: self._documents.save_with_dialog(),
            "Compare": self.compare_with_file,
        }
        self._telling.notices.show_notice(CHANGED, "warning", words, choices)

    def _report_missing_files(self, missing: list[Path]) -> None:
        documents = self._documents
        path = self._session.path if self._session.path in missing else missing[0]
        self._session.sources = self._session.sources.updated_for(*missing)
        self._session.mark_unsaved()
        if self._session.sources.changed_files():  # others are changed: that is asked for next
            self._timer.start()
        if path == self._session.path:
            words = f"{path.name} was deleted or moved by another program. The machine is still open here, unsaved."
            choices = {"Save": lambda: documents.save(), "Save as…": lambda: documents.save_with_dialog()}
        else:
            words = f"{path.name}, an included file, was deleted or moved. Its content is still used here."
            choices = {"OK": lambda: True}
        self._telling.notices.show_notice(GONE, "warning", words, choices)

    # ------------------------------------------------------------------------------- answers

    def reload_file(self) -> None:
        """Replace the document by the content of the file; undo restores the user's version."""
        self._telling.notices.remove(CHANGED)
        self._documents.reload()

    def keep_open_document(self) -> None:
        """Keep the open document; saving will overwrite the changes of the other program."""
        self._session.sources = self._session.sources.updated_for()
        self._session.mark_unsaved()

    def compare_with_file(self) -> None:
        """Show a table of the differences between document and file; the notice stays open."""
        changed = self._session.sources.changed_files()
        self._read_document_file(lambda found: self._show_differences(found, changed))

    def _show_differences(self, opened: OpenedFile, changed: tuple[Path, ...]) -> None:
        if opened.model is None:
            self._telling.guard.report(opened.error or RuntimeError("nothing was read"))
        else:
            self._session.produced.emit(difference_table(opened, self._session.model))
            self._bench.panels.show_panel("output")
        self._ask_about_change(changed)


def difference_table(opened: OpenedFile, model: Model) -> Table:
    """Return a table that compares the values of the document with those of the file, field by field."""
    assert opened.model is not None
    rows = [
        (each.place, each.field or "(whole element)", each.after or "—", each.before or "—")
        for each in find_differences(opened.model, model)
    ]
    columns = (Column("Element"), Column("Field"), Column("Open document"), Column("File"))
    note = f"{format_count(len(rows), 'difference')}." if rows else "The open document and the file are identical."
    return Table(title=f"Open document compared with {opened.path.name}", columns=columns, rows=tuple(rows), note=note)


def _error_text(error: BaseException) -> str:
    return str(error) if isinstance(error, KinetostatError) else "it is damaged."
