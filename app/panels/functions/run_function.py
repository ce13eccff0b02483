"""How a catalogue function is run: as a job that may show what it has so far, or timed, to follow the pose."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from typing import Any

from app.document.session import Session
from app.panels.output.result_pictures import write_pictures
from core.functions import Context, Function, call
from core.functions.catalogue import script_line
from core.functions.context import Cancelled
from core.functions.options import OutputFile
from core.functions.results import Result


def timed(id: str, context: Context, options: dict[str, Any]) -> tuple[Result, float]:
    """A result and the seconds it took."""
    begin = time.perf_counter()
    result = call(id, context, **options)
    return result, time.perf_counter() - begin


def without_files(function: Function, options: dict[str, Any]) -> dict[str, Any]:
    """Options for a run that follows the pose: it writes no files."""
    files = {option.id for option in function.options if isinstance(option, OutputFile)}
    return {key: value for key, value in options.items() if key not in files}


class Growth:
    """A result that is shown while it grows, on one card."""

    _count = itertools.count(1)

    def __init__(self, session: Session, function: Function, options: dict[str, Any]) -> None:
        self._session, self._number = session, next(self._count)
        self._call, self._function = script_line(function, options), function.id
        self._made: Result | None = None

    def grow(self, made: Result) -> None:
        """Show what is there."""
        self._made = dataclasses.replace(made, call=self._call, function=self._function, growth=self._number)
        self._session.produced.emit(self._made)

    def end(self, result: Result) -> None:
        """Show the whole."""
        grown = self._made is not None
        self._session.produced.emit(dataclasses.replace(result, growth=self._number) if grown else result)

    def stop(self) -> None:
        """What is there stays, and says that it is not all."""
        if self._made is not None:
            self._session.produced.emit(dataclasses.replace(self._made, title=f"{self._made.title} (stopped)"))


def work_of(id: str, context: Context, options: dict[str, Any]) -> Callable[..., Result]:
    """The job of calling a function; pictures are drawn in it, too."""

    def work(progress: Any, cancelled: Callable[[], bool]) -> Result:
        watched = dataclasses.replace(context, progress=progress, cancelled=cancelled, show=progress.show)
        result = call(id, watched, **options)
        write_pictures(result, watched)
        if cancelled():
            raise Cancelled
        return result

    return work
