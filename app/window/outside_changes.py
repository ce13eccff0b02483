"""Changes by other programs to the open file and the files it includes: detected, reported, taken over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from app.background.signals import Lifetime
from app.document.kept.recovery_copies import counted
from app.document.opening import Opened
from app.window.notices import CHANGED, GONE
from core.errors import KinetostatError, listed
from core.functions.results import Table
from core.functions.text import Column
from core.model.differences import differences
from resources import is_example

if TYPE_CHECKING:
    from app.window.files import Documents
    from app.window.status import MessagePlaces
    from app.workbench import Workbench
    from core.model import Model

SETTLE = 300
"""Milliseconds to wait for a file that is being written or replaced."""
TRIES = 4
"""Number of retries for a missing or unreadable file before it is reported."""


class OutsideChanges(QObject):
    """Watches the files of the document. An unedited document is reloaded at once, as an undo step; else a
    notice asks."""

    def __init__(self, bench: Workbench, documents: Documents, telling: MessagePlaces) -> None:
        super().__init__(bench.widget)
        self._bench, self._session, self._documents, self._telling = bench, bench.session, documents, telling
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True, interval=SETTLE)
        self._timer.timeout.connect(self.look)
        self._watcher.fileChanged.connect(lambda _: self._timer.start())
        self._watcher.directoryChanged.connect(lambda _: self._timer.start())
        self._life = Lifetime()
        self._life.listen((self._session.saved_changed, self._watch), (documents.comparing, self.compare))
        self._life.callback(self._timer.stop)
        self._tries = TRIES

    def close(self) -> None:
        """Stop watching."""
        self._life.close()

    def _watch(self) -> None:
        """Watch the files of the document, and their folders, since editors replace a file by a new one."""
        files = [each.path for each in self._session.sources.files if not is_example(each.path)]
        wanted = {str(place) for file in files for place in (file, file.parent) if place.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        if wanted - watched:
            self._watcher.addPaths(sorted(wanted - watched))

    # ------------------------------------------------------------------------------- noticing

    def look(self) -> None:
        """Check the files for changes."""
        changed = self._session.sources.changed()
        if not changed or self._documents.opening.busy:
            self._tries = TRIES
            self._watch()
            return
        gone = [path for path in changed if not path.exists()]
        if gone and self._check_again_later():
            return
        if gone:
            self._report_missing(gone)
        elif self._session.unsaved:
            self._ask_about_change(changed)
        else:
            self._read_file(self._take_over_if_unedited)

    def _check_again_later(self) -> bool:
        """Schedule another check, since a file may be in the middle of being replaced."""
        self._tries -= 1
        if self._tries > 0:
            self._timer.start()
            return True
        self._tries = TRIES
        return False

    def _own_path(self) -> Path:
        return self._documents.source or self._session.sources.files[0].path

    def _read_file(self, then: Callable[[Opened], object]) -> None:
        self._documents.read(self._own_path(), then=then, trusted=self._session.trusted)

    def _take_over_if_unedited(self, found: Opened) -> None:
        """Take the file's content over, unless the document was edited meanwhile or the file cannot be read."""
        if found.error is not None:
            if not self._check_again_later():
                self._ask_about_change(
                    self._session.sources.changed(), f" It cannot be read as it is now: {_error_text(found.error)}"
                )
            return
        self._tries = TRIES
        changed = self._session.sources.changed()
        if self._session.unsaved:
            self._ask_about_change(changed)
        elif self._documents.take_over(found, "Changed outside"):
            names = [path.name for path in changed] or [found.path.name]
            were = "was" if len(names) == 1 else "were"
            self._session.message.emit(
                "done",
                f"{listed(names)} {were} changed by another program and read again. "
                "Undo returns to the version before.",
            )

    # ------------------------------------------------------------------------------- telling

    def _ask_about_change(self, changed: tuple[Path, ...], more: str = "") -> None:
        if not changed:
            return
        names = ", ".join(path.name for path in changed[:3])
        words = f"Another program changed {names}, and you have changes that are not saved.{more}"
        if not self._session.unsaved:
            words = f"Another program changed {names}.{more}"
        choices = {
            "Reload (undo returns to mine)": self.reload,
            "Keep mine": self.keep_mine,
            "Save as…": lambda: self._documents.ask_save_as(),
            "Compare": self.compare,
        }
        self._telling.notices.tell(CHANGED, "warning", words, choices)

    def _report_missing(self, gone: list[Path]) -> None:
        documents = self._documents
        path = self._session.path if self._session.path in gone else gone[0]
        self._session.sources = self._session.sources.again(*gone)
        self._session.unfile()
        if self._session.sources.changed():  # others are changed: that is asked for next
            self._timer.start()
        if path == self._session.path:
            words = f"{path.name} was deleted or moved by another program. The machine is still open here, unsaved."
            choices = {"Save": lambda: documents.save(), "Save as…": lambda: documents.ask_save_as()}
        else:
            words = f"{path.name}, which this machine includes, was deleted or moved. Its content as read stays here."
            choices = {"All right": lambda: True}
        self._telling.notices.tell(GONE, "warning", words, choices)

    # ------------------------------------------------------------------------------- answers

    def reload(self) -> None:
        """Take the file's content over; undo returns to the user's version."""
        self._telling.notices.remove(CHANGED)
        self._documents.reload()

    def keep_mine(self) -> None:
        """Keep the open document; saving overwrites the changes of the other program."""
        self._session.sources = self._session.sources.again()
        self._session.unfile()

    def compare(self) -> None:
        """Show a table of differences between document and file; the question stays open."""
        changed = self._session.sources.changed()
        self._read_file(lambda found: self._show_differences(found, changed))

    def _show_differences(self, found: Opened, changed: tuple[Path, ...]) -> None:
        if found.model is None:
            self._telling.guard.report(found.error or RuntimeError("nothing was read"))
        else:
            self._session.produced.emit(difference_table(found, self._session.model))
            self._bench.panels.show("output")
        self._ask_about_change(changed)


def difference_table(found: Opened, mine: Model) -> Table:
    """Return a table of the document's and the file's values, field by field."""
    assert found.model is not None
    rows = [
        (each.place, each.field or "(whole element)", each.after or "—", each.before or "—")
        for each in differences(found.model, mine)
    ]
    columns = (Column("Element"), Column("Field"), Column("Mine"), Column("In the file"))
    note = f"{counted(len(rows), 'difference')}." if rows else "The file and the machine here are the same."
    return Table(title=f"Mine and {found.path.name}", columns=columns, rows=tuple(rows), note=note)


def _error_text(error: BaseException) -> str:
    return str(error) if isinstance(error, KinetostatError) else "it is damaged."
