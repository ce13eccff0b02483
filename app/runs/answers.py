"""Results that are kept up to date: live ones follow pose, parameters and edits; others are computed again on request.

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
from app.document.provenance import gives_same_result, options_for_repeat
from app.document.revision import DocumentState
from app.document.session import Session
from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context, Function, call
from core.functions.catalogue import call_in_worker, script_line
from core.functions.context import FunctionCall
from core.functions.options import OutputFile
from core.functions.results import Result
from core.later import dataclass

PAUSE = 15
"""Shortest interval between two updates, ms."""
QUICK = 0.02
"""Duration up to which a function is computed at once, s; slower ones, and those not yet timed, run in the background
and follow as fast as they can."""
TURN = 0.02
"""Time for quick functions in one update, s; the remaining ones wait for the next update."""

new_card = itertools.count(1).__next__
"""Return an unused card number."""


@dataclass(eq=False)
class _LiveResult:
    """Result that is updated live. asked : options used last; answered : machine state of the result shown; seconds :
    its computing time; problem : reason why it currently cannot be computed; behind : True if something has changed
    since."""

    function: Function
    asked: FunctionCall
    answered: Context | None = None
    seconds: float = math.inf
    problem: str = ""
    behind: bool = True
    job: Job | None = None


class ResultUpdater(QObject):
    """Keeps results up to date; recomputed results are delivered by `session.produced`."""

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
        self._life.listen((session.moved, self._on_pose_changed), (session.changed, self._on_document_changed))

    def close(self) -> None:
        """Stop all live updates."""
        self._life.close()
        self._soon.stop()
        self._following.clear()

    # ----------------------------------------------------------------------------- verbs

    def start_live_updates(self, function: Function, options: Mapping[str, Any], card: int) -> None:
        """Start updating the result on a card live."""
        asked = FunctionCall(options_without_files(function, options), self._context())
        before = self._following.get(card)
        seconds = before.seconds if before is not None else math.inf
        self._following[card] = _LiveResult(function, asked, seconds=seconds)
        self._schedule_update()
        self.changed.emit()

    def stop_live_updates(self, card: int) -> None:
        """Stop updating the result on a card live."""
        if self._following.pop(card, None) is not None:
            self.changed.emit()

    def is_live(self, card: int) -> bool:
        """Return True if the result on a card is updated live."""
        return card in self._following

    def can_update(self, card: int) -> bool:
        """Return True if the result on a card is updated live and can currently be computed."""
        return self.is_live(card) and not self.update_problem(card)

    def update_problem(self, card: int) -> str:
        """Return why the result on a card currently cannot be updated; "" if it can be."""
        question = self._following.get(card)
        return question.problem if question is not None else ""

    def recompute(self, result: Result, changed: Mapping[str, Any] = MappingProxyType({})) -> Job | None:
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
            function.title, lambda progress, off: self._run_with_progress(function, now, options, progress, off)
        )
        asked = FunctionCall(options, now)
        own: dict[str, Any] = {"card": result.card, "function": function.id, "call": script_line(function, options)}
        job.grown.connect(lambda made: self._session.produced.emit(dataclasses.replace(made, asked=asked, **own)))
        job.succeeded.connect(lambda made: self._session.produced.emit(dataclasses.replace(made, card=result.card)))
        job.failed.connect(self._guard.report)
        return job

    def _run_with_progress(
        self,
        function: Function,
        context: Context,
        options: Mapping[str, Any],
        progress: Any,
        cancelled: Callable[[], bool],
    ) -> Result:
        """Compute a result with progress reports and partial results."""
        watched = dataclasses.replace(context, progress=progress, cancelled=cancelled, show=progress.show)
        return call_in_worker(self._jobs.process, function.id, watched, **options)

    # ----------------------------------------------------------------------------- following

    def _schedule_update(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _on_pose_changed(self) -> None:
        if self._following:
            for question in self._following.values():
                question.behind = True
            self._schedule_update()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
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
        """Update outdated results, the longest-waiting first, within the time for one update."""
        until = time.perf_counter() + TURN
        for card, question in tuple(self._following.items()):
            if not question.behind or question.job is not None:
                continue
            if time.perf_counter() > until:
                self._schedule_update()
                return
            self._following[card] = self._following.pop(card)
            self._update_result(card, question)

    def _update_result(self, card: int, live_result: _LiveResult) -> None:
        """Compute a quick result at once, a slow one in the background."""
        live_result.behind = False
        function, now, before = live_result.function, self._context(), live_result.answered
        if before is not None and before.moment == now.moment and gives_same_result(before, now, function.reads):
            return
        reason = function.unavailability_reason(now)
        if reason:
            self._set_problem(live_result, reason)
            return
        options = options_for_repeat(function.id, live_result.asked, now.model)
        live_result.asked = FunctionCall(options, now)
        if live_result.seconds < QUICK:
            try:
                self._on_computed(card, live_result, compute_timed(function, now, options))
            except Exception as error:  # told, and why on the card
                self._on_failed(card, live_result, error)
            return
        job = live_result.job = self._jobs.start(
            f"{function.title}, live", lambda *_: compute_timed(function, now, options)
        )
        job.succeeded.connect(lambda made: self._on_computed(card, live_result, made))
        job.failed.connect(lambda error: self._on_failed(card, live_result, error))
        job.ended.connect(lambda: self._finish_update(live_result))

    def _on_computed(self, card: int, live_result: _LiveResult, timed_result: tuple[Result, float]) -> None:
        result, live_result.seconds = timed_result
        if self._following.get(card) is not live_result:
            return
        live_result.answered = result.asked.context if result.asked is not None else None
        self._set_problem(live_result, "")
        self._session.produced.emit(dataclasses.replace(result, live=True, card=card))

    def _on_failed(self, card: int, live_result: _LiveResult, error: BaseException) -> None:
        if isinstance(error, KinetostatError):
            self._set_problem(live_result, _error_text(error))
        else:
            self.stop_live_updates(card)
            self._guard.report(error)

    def _set_problem(self, live_result: _LiveResult, problem: str) -> None:
        if problem:
            live_result.answered = None
        if problem != live_result.problem:
            live_result.problem = problem
            self.changed.emit()

    def _finish_update(self, live_result: _LiveResult) -> None:
        live_result.job = None
        if live_result.behind:
            self._schedule_update()


def compute_timed(function: Function, context: Context, options: Mapping[str, Any]) -> tuple[Result, float]:
    """Compute a result and return it with its computing time, s."""
    begin = time.perf_counter()
    result = call(function.id, context, **options)
    return result, time.perf_counter() - begin


def options_without_files(function: Function, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without output files, which automatic updates must not write."""
    files = {option.id for option in function.options if isinstance(option, OutputFile)}
    return {key: value for key, value in options.items() if key not in files}


def _error_text(error: KinetostatError) -> str:
    return f"{error.what} {error.remedy}".strip()
