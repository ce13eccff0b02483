"""Running a catalogue function as a background job that may show partial results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from app.document.session import Session
from app.panels.output.result_pictures import write_pictures
from app.runs.answers import new_card
from core.apart.work_process import WorkProcess
from core.functions import Context, Function
from core.functions.catalogue import call_in_worker, script_line
from core.functions.context import Asked, Cancelled
from core.functions.diagrams import Diagram, SpaceMap
from core.functions.results import Result, leaves


class GrowingResult:
    """A result that is shown on one card while it grows."""

    def __init__(self, session: Session, function: Function, context: Context, options: dict[str, Any]) -> None:
        self._session, self._card = session, new_card()
        self._call, self._function = script_line(function, options), function.id
        self._asked = Asked(options, context)
        self._made: Result | None = None

    def grow(self, made: Result) -> None:
        """Show the partial result."""
        self._made = dataclasses.replace(
            made, call=self._call, function=self._function, asked=self._asked, card=self._card
        )
        self._session.produced.emit(self._made)

    def end(self, result: Result) -> None:
        """Show the complete result."""
        grown = self._made is not None
        self._session.produced.emit(dataclasses.replace(result, card=self._card) if grown else result)

    def stop(self) -> None:
        """Keep the partial result and mark it as incomplete."""
        if self._made is not None:
            self._session.produced.emit(dataclasses.replace(self._made, title=f"{self._made.title} (stopped)"))


def work_of(id: str, context: Context, options: dict[str, Any], process: WorkProcess) -> Callable[..., Result]:
    """Return the job that calls a function and draws its pictures."""

    def work(progress: Any, cancelled: Callable[[], bool]) -> Result:
        def show(made: Result) -> None:
            _read_cards(made)
            progress.show(made)

        watched = dataclasses.replace(context, progress=progress, cancelled=cancelled, show=show)
        result = call_in_worker(process, id, watched, **options)
        write_pictures(result, watched)
        _read_cards(result)
        if cancelled():
            raise Cancelled
        return result

    return work


def _read_cards(result: Result) -> None:
    """Import the modules of the result's card in the background, so that the window does not freeze."""
    from app.panels.output import card  # noqa: F401

    if any(isinstance(part, Diagram) for part in leaves(result)):
        from app.panels.output import diagram_part  # noqa: F401
    if any(isinstance(part, SpaceMap) for part in leaves(result)):
        from app.panels.output import map_part  # noqa: F401
