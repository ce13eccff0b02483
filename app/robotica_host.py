"""Robotica's session in the window: it works on the open document, beside the window, and shows what it made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from app.opening import Opened, opened
from app.session import Session
from core.errors import KinetostatError
from core.functions import Context
from core.functions.function import Cancelled
from core.functions.results import Picture, Result, leaves
from core.robotica.session import Session as Robotica
from core.robotica.syntax import parse_all

Progress = Callable[..., None]


class Done(NamedTuple):
    """What a line did: results, the file it opened, values it gave, and the error it ended with."""

    results: list[Result]
    opened: Opened | None
    given: dict[str, float]
    error: Exception | None


class WindowHost:
    """The open machine as it was when the line began; a file that is read becomes the open one afterwards."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self.opened: Opened | None = None

    def begin(self, context: Context) -> None:
        """Take the machine as shown now."""
        self._context, self.opened = context, None

    def context(self) -> Context:
        """The machine of this line."""
        assert self._context is not None
        return self._context

    def open(self, path: str) -> None:
        """Read a file; the window shows it when the line is done."""
        before = self.context()
        found = opened(Path(path))
        if found.error is not None:
            raise found.error
        assert found.model is not None
        fresh = Context.of(found.model)
        self._context = dataclasses.replace(fresh, progress=before.progress, cancelled=before.cancelled)
        self.opened = found


class RoboticaLine:
    """`work(text)` is the job of a line: it touches nothing of the window."""

    def __init__(self, session: Session) -> None:
        self._window = session
        self.host = WindowHost()
        self.robotica = Robotica(self.host)
        self._document = session.document

    def begin(self, folder: str) -> Context:
        """The machine as shown; another document than at the last line is another robot: the state is reset."""
        s = self._window
        if self._document != s.document:
            self.robotica.reset()
        self._document = s.document
        self.robotica.state.folder = folder
        return Context(s.model, s.mech, s.q.copy(), dict(s.p))

    def work(self, text: str, context: Context) -> Callable[[Progress, Callable[[], bool]], Done]:
        """A job that runs the statements in order, and stops between them when asked to."""

        def run(progress: Progress, cancelled: Callable[[], bool]) -> Done:
            self.host.begin(dataclasses.replace(context, progress=progress, cancelled=cancelled))
            before = dict(self.robotica.state.given)
            results: list[Result] = []
            error: Exception | None = None
            try:
                for statement in parse_all(text):
                    if cancelled():
                        raise Cancelled
                    result = self.robotica.statement(statement)
                    if result is not None:
                        _draw(result, self.host.context())
                        results.append(result)
            except KinetostatError as caught:
                error = caught
            given = {name: x for name, x in self.robotica.state.given.items() if before.get(name) != x}
            return Done(results, self.host.opened, given, error)

        return run

    def arrived(self) -> None:
        """The file that was read is the document now: that is no other robot."""
        self._document = self._window.document

    def show_values(self, given: dict[str, float]) -> None:
        """Values that belong to the machine move it: parameters and coordinates, one undo step."""
        s = self._window
        context = Context(s.model, s.mech, s.q.copy(), dict(s.p))
        coordinates = self.robotica.coordinates(context)
        own = {name: x for name, x in given.items() if name in s.mech.p_names}
        pose = {coordinates[name]: x for name, x in given.items() if name in coordinates}
        if own:
            s.preview(parameters=own)
        if pose:
            s.preview_coordinates(pose)
        if own or pose:
            s.commit("Robotica: " + ", ".join(f"{name} = {given[name]:g}" for name in (*own, *pose) if name in given))


def _draw(result: Result, context: Context) -> None:
    """Write the pictures a result asks for."""
    for part in leaves(result):
        if isinstance(part, Picture):
            from app.pictures import write_picture

            write_picture(part, context)


def functions() -> dict[str, Any]:
    """Robotica's functions by name."""
    from core.robotica.commands import COMMANDS

    return COMMANDS
