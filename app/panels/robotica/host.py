"""Robotica session of the window: it works on the open document in the background and shows its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from app.document.opening import Opened, opened
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
"""Operations up to which an entry of formulas is written in the transcript; longer ones are replaced by their length.
"""


class Done(NamedTuple):
    """Outcome of a line: results and their texts, the file it opened, edits (label, function) of the document, values
    it set, names it cleared, and the error it ended with."""

    results: list[Result]
    texts: list[str]
    opened: Opened | None
    edits: list[tuple[str, Callable[[Model], Model]]]
    given: dict[str, float]
    cleared: list[str]
    error: Exception | None


class WindowHost:
    """The open machine as it was when the line began; a file that the line reads becomes the open document
    afterwards."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self.opened: Opened | None = None
        self.edits: list[tuple[str, Callable[[Model], Model]]] = []

    def begin(self, context: Context) -> None:
        """Take the machine as currently shown."""
        self._context, self.opened, self.edits = context, None, []

    def context(self) -> Context:
        """Return the machine of this line."""
        assert self._context is not None
        return self._context

    def open(self, path: str) -> None:
        """Read a file; the window shows it when the line is finished."""
        before = self.context()
        found = opened(Path(path))
        if found.error is not None:
            raise found.error
        assert found.model is not None
        fresh = Context.of(found.model)
        self._context = dataclasses.replace(
            fresh, progress=before.progress, cancelled=before.cancelled, millimetres=before.millimetres
        )
        self.opened, self.edits = found, []

    def edit(self, label: str, edit: Callable[[Model], Model]) -> None:
        """Change the machine of this line; the document is changed when the line is finished."""
        context = self.context()
        model = edit(context.model)
        self._context = dataclasses.replace(context, model=model, mech=context.mech.updated(model))
        self.edits.append((label, edit))


class RoboticaLine:
    """Runs Robotica lines; `work(text)` returns the job of a line, which does not touch the window."""

    def __init__(self, session: Session, pictures: PictureSettings) -> None:
        self._window, self._pictures = session, pictures
        self.host = WindowHost()
        self.robotica = Robotica(self.host)
        self._document = session.document
        self._before: dict[str, float] = {}
        """Values of the machine before the line changed them."""

    def begin(self, folder: str, place: str) -> Context:
        """Return the machine as shown; if the document changed since the last line, the Robotica state is reset.

        folder : where relative names of files begin; place : where files are written
        """
        s = self._window
        if self._document != s.document:
            self.robotica.reset()
            self._before.clear()
        self._document = s.document
        state, shown = self.robotica.state, s.runs.current
        state.folder, state.place = folder, place
        if state.run is None and shown is not None and not shown.growing:
            state.run = shown.run  # made elsewhere in the window, it can be saved and plotted from here
        return self._pictures.context()

    def work(self, text: str, context: Context) -> Callable[[Progress, Callable[[], bool]], Done]:
        """Return a job that runs the statements in order and stops between them when asked to."""

        def run(progress: Progress, cancelled: Callable[[], bool]) -> Done:
            self.host.begin(dataclasses.replace(context, progress=progress, cancelled=cancelled))
            before = dict(self.robotica.state.given)
            self.robotica.state.cleared = []
            results: list[Result] = []
            texts: list[str] = []
            error: Exception | None = None
            try:
                for result in self.robotica.results(text, cancelled):
                    write_pictures(result, self.robotica.context())
                    texts.append(result.to_text(degrees=True, longest=LONGEST))
                    results.append(result)
            except Cancelled:
                raise
            except KinetostatError as caught:
                error = caught
            given = {name: x for name, x in self.robotica.state.given.items() if before.get(name) != x}
            host = self.host
            return Done(results, texts, host.opened, host.edits, given, list(self.robotica.state.cleared), error)

        return run

    def arrived(self) -> None:
        """Note that the file just read is now the document, so that the state is not reset for a new robot."""
        self._document = self._window.document
        self._before.clear()

    def show_values(self, done: Done) -> None:
        """Apply values of the machine's parameters and coordinates as one undo step. `Clear` restores the values from
        before they were set."""
        s = self._window
        coordinates = self.robotica.coordinates(s.context())
        wanted = {name: x for name, x in done.given.items() if name in s.mech.p_names or name in coordinates}
        back = {name: self._before.pop(name) for name in done.cleared if name in self._before and name not in wanted}
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
            s.cancel()
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


def functions() -> dict[str, Any]:
    """Return Robotica's functions by name."""
    from core.robotica.commands import COMMANDS

    return COMMANDS
