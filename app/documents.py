"""Files from the person's side: open, save, recent files, unsaved changes, pictures, recovery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.opening import Opened, Opening
from core.files import FORMATS
from core.model import Model
from resources import examples, is_example

if TYPE_CHECKING:
    from app.window import Window
    from core.simulation import Run

SUFFIX = ".kst"
RUNS = (".h5", ".hdf5")
"""Suffixes of runs."""


class Documents(QObject):
    """Verbs of the File menu. Questions are asked in one place: `_keep_changes`."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self.source: Path | None = None
        """The file that was opened, of whatever format."""
        self.opening = Opening(self)
        self.opening.finished.connect(self.show)
        self._then: Callable[[], None] | None = None

    # ----------------------------------------------------------------------------- open

    def new(self) -> None:
        """An empty model, after asking for unsaved changes."""

        def begin() -> None:
            self.source = None
            self._window.messages.outdate()
            self._session.start(Model(name="untitled"))

        self._keep_changes(begin)

    def ask_open(self) -> None:
        """Choose a file and open it."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a model", self._folder(), open_filter())
        if path:
            self.open(path)

    def open(self, path: str | Path) -> None:
        """Open a file beside the window, after asking for unsaved changes; a run is added to those there are."""
        if Path(path).suffix.lower() in RUNS:
            self._window.simulation_panel.runs.load_from(Path(path))
            return
        self._keep_changes(lambda: self._read(Path(path)))

    def reload(self) -> None:
        """Read the open file again."""
        if self.source is not None:
            self.open(self.source)

    def _read(self, path: Path) -> None:
        self._window.status.busy(f"Reading {path.name} …")
        self._window.welcome.hide()  # something is about to be here
        self.opening.start(path)

    def replace(self, opened: Opened) -> None:
        """Show what was read, after asking for unsaved changes."""
        self._keep_changes(lambda: self.show(opened))

    def show(self, opened: Opened) -> None:
        """Make what was read the open document."""
        self._window.status.busy("")
        if opened.error is not None:
            self._window.welcome.refresh()
            self._window.guard.report(opened.error)
            return
        assert opened.model is not None
        native = opened.path if opened.path.suffix == SUFFIX else None
        self._window.messages.outdate()
        before, self.source = self.source, opened.path
        if not self._session.start(opened.model, native, findings=opened.findings, mech=opened.mech):
            self.source = before
            self._window.welcome.refresh()
            return
        self._window.settings.add_recent(opened.path)
        self._window.simulation.suggest(next((e.wishes for e in examples() if e.path == opened.path), {}))
        serious = [finding for finding in opened.findings if finding.severity != "hint"]
        if serious:
            more = f" ({len(serious) - 1} more in the findings)" if len(serious) > 1 else ""
            self._session.told.emit("warning", f"{opened.path.name}: {serious[0].text}{more}")

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open: with its own model if nothing is open, else after asking."""

        def begin() -> None:
            self.source = None
            if self._session.start(run.model, mech=run.mech):
                self._window.docks.show("simulation")
                self._window.simulation_panel.runs.take(run, path)

        if not self._session.model.expanded.bodies and not self._session.unsaved:
            begin()
            return
        words = f"{path.name} is a run of another machine, “{run.model.name}”: none of its joints is in this model."
        self._window.messages.tell("error", words, {"Open its model": lambda: self._keep_changes(begin)})

    def start_example(self, path: Path) -> None:
        """Open an example; it is saved elsewhere, never over the example."""
        self._keep_changes(lambda: self._read(path))

    # ----------------------------------------------------------------------------- save

    def save(self) -> bool:
        """Save to the file of the model; asks for one if there is none. True if it was written."""
        if self._session.path is None or is_example(self._session.path):
            return self.ask_save_as()
        return self._write(self._session.path)

    def ask_save_as(self) -> bool:
        """Choose a file and save there."""
        name = (self._session.path or self.source or Path(self._session.model.name or "untitled")).stem
        start = str(Path(self._folder()) / f"{name}{SUFFIX}")
        path, _ = QFileDialog.getSaveFileName(self._window, "Save the model", start, save_filter())
        if not path:
            return False
        chosen = Path(path)
        return self._write(chosen if chosen.suffix else chosen.with_suffix(SUFFIX))

    def _write(self, path: Path) -> bool:
        if not self._session.save(path):
            return False
        self.source = path
        self._window.settings.add_recent(path)
        self._window.recovery.clear()
        return True

    def _folder(self) -> str:
        """Where dialogs of files begin: beside the open file, else the last one."""
        last = next((path.parent for path in self._window.settings.recent[:1] if not is_example(path)), Path.home())
        return str(self._session.folder or last)

    # ----------------------------------------------------------------------------- unsaved changes

    def _keep_changes(self, then: Callable[[], None]) -> None:
        if self.may_go():
            then()

    def may_go(self) -> bool:
        """True if nothing unsaved would be lost: it was saved now, or the person lets it go."""
        if not self._session.unsaved:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Unsaved changes")
        box.setText(f"Save the changes to “{self._session.model.name or 'untitled'}”?")
        box.setInformativeText("Otherwise they are lost.")
        button = QMessageBox.StandardButton
        box.setStandardButtons(button.Save | button.Discard | button.Cancel)
        box.setDefaultButton(button.Save)
        answer = box.exec()
        if answer == button.Save:
            return self.save()
        if answer == button.Discard:
            self._window.recovery.clear()
            return True
        return False

    # ----------------------------------------------------------------------------- pictures

    def ask_picture(self) -> None:
        """Choose a PNG file and write the view there, twice its size on the screen."""
        name = (self.source or Path(self._session.model.name or "picture")).stem
        start = str(Path(self._folder()) / f"{name}.png")
        path, _ = QFileDialog.getSaveFileName(self._window, "Export picture", start, "PNG picture (*.png)")
        if path:
            chosen = Path(path) if Path(path).suffix else Path(path).with_suffix(".png")
            if self._window.viewport.picture(2).save(str(chosen)):
                self._session.told.emit("done", f"Picture written to {chosen}")
            else:
                self._session.told.emit("error", f"{chosen} cannot be written. Choose another folder or name.")

    def copy_picture(self) -> None:
        """Put the view on the clipboard."""
        QGuiApplication.clipboard().setImage(self._window.viewport.picture(2))
        self._session.told.emit("done", "The picture is on the clipboard.")


def _patterns(writing: bool) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for each in FORMATS.values():
        if (each.write if writing else each.read) is not None:
            table[each.title] = [f"*{suffix}" for suffix in each.suffixes]
    return table


def open_filter() -> str:
    """File dialog filter of everything that can be read."""
    table = _patterns(writing=False)
    every = " ".join(sorted({pattern for patterns in table.values() for pattern in patterns}))
    single = [f"{title} ({' '.join(patterns)})" for title, patterns in table.items()]
    return ";;".join([f"All models ({every})", *single, "All files (*)"])


def save_filter() -> str:
    """File dialog filter of everything that can be written, the native format first."""
    table = _patterns(writing=True)
    return ";;".join(f"{title} ({' '.join(patterns)})" for title, patterns in table.items())
