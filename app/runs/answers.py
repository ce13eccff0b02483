"""Results that are kept up to date: some follow pose, parameters and edits live, others are computed again on request.

Each answer has a card, whose number stands in its results. What is quick is computed between two turns of the event
loop, all else beside the window; the newest state is never missed.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.background.guard import Guard
from app.background.jobs import Job, Jobs
from app.background.signals import Lifetime, Signal
from app.document.provenance import options_for_repeat, same
from app.document.revision import State
from app.document.session import Session
from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context, Function, call
from core.functions.catalogue import call_in_worker, script_line
from core.functions.context import Asked
from core.functions.options import OutputFile
from core.functions.results import Result
from core.later import dataclass

PAUSE = 15
"""Shortest interval between two updates, ms."""
QUICK = 0.02
"""Duration above which a function, or one not yet timed, runs in the background and follows as fast as it can, s."""
TURN = 0.02
"""Time for quick functions in one update, s; the rest waits for the next one."""

new_card = itertools.count(1).__next__
"""Return a card number that is not in use yet."""


@dataclass(eq=False)
class _LiveResult:
    """A result that is updated live. asked : options last requested; answered : machine state of the shown result;
    seconds : its computing time; problem : reason why there is none now; behind : True if something moved since."""

    function: Function
    asked: Asked
    answered: Context | None = None
    seconds: float = math.inf
    problem: str = ""
    behind: bool = True
    job: Job | None = None


class Answers(QObject):
    """Computes results again; they are delivered by `session.produced`."""

    changed = Signal()
    """Emitted when a result starts or stops being updated live, or when its availability changes."""

    def __init__(self, session: Session, jobs: Jobs, context: Callable[[], Context] | None = None) -> None:
        super().__init__()
        self._session, self._jobs = session, jobs
        self._context = context or session.context
        self._guard = Guard(session.message.emit)
        self._following: dict[int, _LiveResult] = {}
        self._soon = QTimer(self, singleShot=True, interval=PAUSE)
        self._soon.timeout.connect(self._update_results)
        self._life = Lifetime()
        self._life.listen((session.moved, self._moved), (session.changed, self._changed))

    def close(self) -> None:
        """Stop all updates."""
        self._life.close()
        self._soon.stop()
        self._following.clear()

    # ----------------------------------------------------------------------------- verbs

    def follow(self, function: Function, options: Mapping[str, Any], card: int) -> None:
        """Update the result on a card live from now on."""
        asked = Asked(options_without_files(function, options), self._context())
        before = self._following.get(card)
        seconds = before.seconds if before is not None else math.inf
        self._following[card] = _LiveResult(function, asked, seconds=seconds)
        self._begin()
        self.changed.emit()

    def leave(self, card: int) -> None:
        """Stop updating the result on a card."""
        if self._following.pop(card, None) is not None:
            self.changed.emit()

    def follows(self, card: int) -> bool:
        """Return True if the result on a card is updated live."""
        return card in self._following

    def answers(self, card: int) -> bool:
        """Return True if the result on a card is updated live and can currently be computed."""
        return self.follows(card) and not self.problem(card)

    def problem(self, card: int) -> str:
        """Return why the result on a card currently cannot be updated; "" if it can."""
        question = self._following.get(card)
        return question.problem if question is not None else ""

    def renew(self, result: Result, changed: Mapping[str, Any] = MappingProxyType({})) -> Job | None:
        """Compute a result again for the current machine, with the same options except `changed`; None if its function
        is unknown.

        changed : options that are otherwise now
        """
        if result.asked is None:
            return None
        function, now = FUNCTIONS[result.function], self._context()
        options = {
            **options_without_files(function, options_for_repeat(result.function, result.asked, now.model)),
            **changed,
        }
        job = self._jobs.start(
            function.title, lambda progress, off: self._run_watched(function, now, options, progress, off)
        )
        asked = Asked(options, now)
        own: dict[str, Any] = {"card": result.card, "function": function.id, "call": script_line(function, options)}
        job.grown.connect(lambda made: self._session.produced.emit(dataclasses.replace(made, asked=asked, **own)))
        job.succeeded.connect(lambda made: self._session.produced.emit(dataclasses.replace(made, card=result.card)))
        job.failed.connect(self._guard.report)
        return job

    def _run_watched(
        self, function: Function, context: Context, options: Mapping[str, Any], progress: Any, off: Callable[[], bool]
    ) -> Result:
        """Return a result that reports progress and may show partial results while it is computed."""
        watched = dataclasses.replace(context, progress=progress, cancelled=off, show=progress.show)
        return call_in_worker(self._jobs.process, function.id, watched, **options)

    # ----------------------------------------------------------------------------- following

    def _begin(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _moved(self) -> None:
        if self._following:
            for question in self._following.values():
                question.behind = True
            self._begin()

    def _changed(self, old: State, new: State) -> None:
        if old.model is new.model:
            return
        document = self._session.document
        left = {card: each for card, each in self._following.items() if each.asked.context.document == document}
        went = len(left) < len(self._following)
        self._following = left
        for question in left.values():
            question.seconds = math.inf
        if went:
            self.changed.emit()

    def _update_results(self) -> None:
        """Update results, the longest-waiting first, for as long as one update may take."""
        until = time.perf_counter() + TURN
        for card, question in tuple(self._following.items()):
            if not question.behind or question.job is not None:
                continue
            if time.perf_counter() > until:
                self._begin()
                return
            self._following[card] = self._following.pop(card)
            self._update_result(card, question)

    def _update_result(self, card: int, question: _LiveResult) -> None:
        """Compute a quick result immediately, otherwise in the background."""
        question.behind = False
        function, now, before = question.function, self._context(), question.answered
        if before is not None and before.moment == now.moment and same(before, now, function.reads):
            return
        reason = function.unavailable(now)
        if reason:
            self._set_problem(question, reason)
            return
        options = options_for_repeat(function.id, question.asked, now.model)
        question.asked = Asked(options, now)
        if question.seconds < QUICK:
            try:
                self._on_answered(card, question, timed(function, now, options))
            except Exception as error:  # told, and why on the card
                self._on_failed(card, question, error)
            return
        job = question.job = self._jobs.start(f"{function.title}, live", lambda *_: timed(function, now, options))
        job.succeeded.connect(lambda made: self._on_answered(card, question, made))
        job.failed.connect(lambda error: self._on_failed(card, question, error))
        job.ended.connect(lambda: self._finish_update(question))

    def _on_answered(self, card: int, question: _LiveResult, made: tuple[Result, float]) -> None:
        result, question.seconds = made
        if self._following.get(card) is not question:
            return
        question.answered = result.asked.context if result.asked is not None else None
        self._set_problem(question, "")
        self._session.produced.emit(dataclasses.replace(result, live=True, card=card))

    def _on_failed(self, card: int, question: _LiveResult, error: BaseException) -> None:
        if isinstance(error, KinetostatError):
            self._set_problem(question, _error_text(error))
        else:
            self.leave(card)
            self._guard.report(error)

    def _set_problem(self, question: _LiveResult, problem: str) -> None:
        if problem:
            question.answered = None
        if problem != question.problem:
            question.problem = problem
            self.changed.emit()

    def _finish_update(self, question: _LiveResult) -> None:
        question.job = None
        if question.behind:
            self._begin()


def timed(function: Function, context: Context, options: Mapping[str, Any]) -> tuple[Result, float]:
    """Return a result and its computing time, s."""
    begin = time.perf_counter()
    result = call(function.id, context, **options)
    return result, time.perf_counter() - begin


def options_without_files(function: Function, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for an automatic update, which writes no files."""
    files = {option.id for option in function.options if isinstance(option, OutputFile)}
    return {key: value for key, value in options.items() if key not in files}


def _error_text(error: KinetostatError) -> str:
    return f"{error.what} {error.remedy}".strip()
