"""Robotica session of the window: works on the open document in the background; the window shows the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from app.document.opening import OpenedFile, open_file
from app.document.picture_settings import PictureSettings
from app.document.session import Session
from app.panels.output.result_pictures import write_pictures
from core.errors import KinetostatError
from core.functions import Context
from core.functions.context import Cancelled
from core.functions.results import Result
from core.model import Model
from core.robotica.robotica_session import Session as Robotica

Progress = Callable[..., None]
LONGEST = 400
"""Number of operations above which an entry of a matrix is replaced by its length in the transcript."""


class LineOutcome(NamedTuple):
    """Outcome of a Robotica line: its results and their texts, the file it opened, its edits (label, function) of the
    document, the values it set, the names it cleared, and the error that ended it."""

    results: list[Result]
    texts: list[str]
    opened: OpenedFile | None
    edits: list[tuple[str, Callable[[Model], Model]]]
    given: dict[str, float]
    cleared: list[str]
    error: Exception | None


class WindowHost:
    """Host of the Robotica interpreter: holds the machine as it was when the line began; a file that the line reads
    becomes the open document afterwards."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self.opened: OpenedFile | None = None
        self.edits: list[tuple[str, Callable[[Model], Model]]] = []

    def begin_line(self, context: Context) -> None:
        """Prepare for a line that works on the machine as currently shown."""
        self._context, self.opened, self.edits = context, None, []

    def context(self) -> Context:
        """Return the machine on which the line works."""
        assert self._context is not None
        return self._context

    def open(self, path: str) -> None:
        """Read a file; the window shows it after the line has finished."""
        before = self.context()
        found = open_file(Path(path))
        if found.error is not None:
            raise found.error
        assert found.model is not None
        fresh = Context.of(found.model)
        self._context = dataclasses.replace(
            fresh, progress=before.progress, cancelled=before.cancelled, millimetres=before.millimetres
        )
        self.opened, self.edits = found, []

    def edit_machine(self, label: str, change: Callable[[Model], Model]) -> None:
        """Change the machine of the line; the document is changed after the line has finished."""
        context = self.context()
        model = change(context.model)
        self._context = dataclasses.replace(context, model=model, mech=context.mech.updated(model))
        self.edits.append((label, change))


class RoboticaLineRunner:
    """Runs Robotica lines; the work of a line is done in a thread and does not touch the window."""

    def __init__(self, session: Session, pictures: PictureSettings) -> None:
        self._window, self._pictures = session, pictures
        self.host = WindowHost()
        self.robotica = Robotica(self.host)
        self._document = session.document
        self._before: dict[str, float] = {}
        """Values of the machine before the line changed them."""

    def begin_line(self, folder: str, output_folder: str) -> Context:
        """Return the machine as shown; the Robotica state is reset if another document was opened since the last line.

        folder : where relative names of files begin; output_folder : where files are written
        """
        s = self._window
        if self._document != s.document:
            self.robotica.reset()
            self._before.clear()
        self._document = s.document
        state, shown = self.robotica.state, s.runs.current
        state.folder, state.place = folder, output_folder
        if state.run is None and shown is not None and not shown.growing:
            state.run = shown.run  # made elsewhere in the window, it can be saved and plotted from here
        return self._pictures.context()

    def build_work(self, text: str, context: Context) -> Callable[[Progress, Callable[[], bool]], LineOutcome]:
        """Return the work of a line: it runs the statements in order and can be stopped between two of them."""

        def run(progress: Progress, cancelled: Callable[[], bool]) -> LineOutcome:
            self.host.begin_line(dataclasses.replace(context, progress=progress, cancelled=cancelled))
            before = dict(self.robotica.state.given)
            self.robotica.state.cleared = []
            results: list[Result] = []
            texts: list[str] = []
            error: Exception | None = None
            try:
                for result in self.robotica.iterate_results(text, cancelled):
                    write_pictures(result, self.robotica.context())
                    texts.append(result.to_text(degrees=True, longest=LONGEST))
                    results.append(result)
            except Cancelled:
                raise
            except KinetostatError as caught:
                error = caught
            given = {name: x for name, x in self.robotica.state.given.items() if before.get(name) != x}
            host = self.host
            return LineOutcome(results, texts, host.opened, host.edits, given, list(self.robotica.state.cleared), error)

        return run

    def note_document_opened(self) -> None:
        """Note that the file read by a line is now the open document, so that the Robotica state is not reset."""
        self._document = self._window.document
        self._before.clear()

    def apply_values(self, outcome: LineOutcome) -> None:
        """Apply the values of parameters and coordinates set by a line as one undo step; `Clear` restores the values
        they had before."""
        s = self._window
        coordinates = self.robotica.coordinates(s.context())
        wanted = {name: x for name, x in outcome.given.items() if name in s.mech.p_names or name in coordinates}
        back = {name: self._before.pop(name) for name in outcome.cleared if name in self._before and name not in wanted}
        for name in wanted:
            self._before.setdefault(name, self._current_value(name, coordinates))
            self.robotica.state.given.pop(name, None)
        own = {name: x for name, x in {**back, **wanted}.items() if name in s.mech.p_names}
        pose = {coordinates[name]: x for name, x in {**back, **wanted}.items() if name not in own}
        if own:
            s.preview(parameters=own)
        try:
            if pose:
                s.preview_coordinates(pose)
        except KinetostatError as error:  # values that the machine cannot have together
            s.cancel_preview()
            s.message.emit("error", str(error))
            return
        words = ", ".join([f"{name} = {x:g}" for name, x in wanted.items()] + [f"Clear[{name}]" for name in back])
        s.commit(f"Robotica: {words}")

    def _current_value(self, name: str, coordinates: Mapping[str, str]) -> float:
        """Return the current value of a parameter or coordinate."""
        s = self._window
        if name in s.mech.p_names:
            return float(s.p[name])
        return float(s.q[s.mech.q_names.index(coordinates[name])])


def robotica_functions() -> dict[str, Any]:
    """Return Robotica's functions by name."""
    from core.robotica.commands import COMMANDS

    return COMMANDS
