"""Study as a background job: it reports partial results, can be paused, and asks the user what to do after failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from core.errors import FileError
    from core.model import Model
    from core.studies.study_result import StudyResult
    from core.studies.study_text import StudyText
    from core.studies.study_work import Progress

LOOK = 0.02
"""Interval at which a waiting study checks for an answer or for the end of the pause, s."""


class StudyProgress(NamedTuple):
    """Progress of a study with the results computed so far."""

    progress: Progress
    result: StudyResult


class StudyQuestion(NamedTuple):
    """Question of a study to the user: its text, the title of the button that continues, and whether continuing needs a
    file name."""

    words: str
    yes: str
    asks_file: bool = False


class StudyJob:
    """Work of a study's job. `stop`, `set_paused` and `answer` are called in the window's thread."""

    def __init__(
        self, model: Model, text: StudyText, file: str | None, cores: int, cluster: str | None, shown_every: float
    ) -> None:
        """Create the job. shown_every : interval between updates of the results, s."""
        self._model, self._text, self._file, self._cores, self._cluster = model, text, file, cores, cluster
        self._every, self._shown = shown_every, 0.0
        self._stopped, self._paused, self._answered = threading.Event(), threading.Event(), threading.Event()
        self._said: tuple[bool, str] = (False, "")

    def __call__(self, progress: Any, cancelled: Callable[[], bool]) -> StudyResult:
        """Compute all rows (in the job's thread)."""
        from core.studies.study import Study
        from core.studies.study_result import StudyResult

        study = Study.of_text(self._model, self._text)

        def report_progress(state: Progress) -> None:
            progress(state.done / state.total, f"{state.done} of {state.total} rows, {state.rate:.3g} rows/s")
            if time.monotonic() - self._shown > self._every:
                self._shown = time.monotonic()
                progress.show(StudyProgress(state, StudyResult(state.table.snapshot())))

        def should_stop() -> bool:
            while self._paused.is_set() and not self._stopped.is_set() and not cancelled():
                self._wait_while_paused()
            return self._stopped.is_set() or cancelled()

        def ask_to_continue(state: Progress) -> bool:
            words = f"{state.failed} of the first {state.done} rows failed. Compute the remaining rows?"
            return self._ask_user(progress, cancelled, StudyQuestion(words, "Continue"))[0]

        def ask_for_other_file(error: FileError) -> str | None:
            yes, file = self._ask_user(progress, cancelled, StudyQuestion(str(error), "Another file…", True))
            return file if yes else None

        return study.run(
            self._file,
            cores=self._cores,
            cluster=self._cluster,
            progress=report_progress,
            cancelled=should_stop,
            elsewhere=ask_for_other_file,
            failing=ask_to_continue,
            aside=True,
            resume=self._file is not None,
        )

    def _wait_while_paused(self) -> None:
        self._stopped.wait(LOOK)

    def _ask_user(self, progress: Any, cancelled: Callable[[], bool], question: StudyQuestion) -> tuple[bool, str]:
        """Return the user's answer (continue or not, file name); (False, "") if the study is stopped."""
        self._answered.clear()
        self._said = False, ""
        progress.show(question)
        while not (self._answered.wait(LOOK) or self._stopped.is_set() or cancelled()):
            pass
        return self._said

    def stop(self) -> None:
        """Stop the study with the rows computed so far."""
        self._stopped.set()

    def set_paused(self, on: bool) -> None:
        """Pause the study, or continue it."""
        self._paused.set() if on else self._paused.clear()

    def answer(self, yes: bool, file: str = "") -> None:
        """Pass on the user's answer to a question."""
        self._said = yes, file
        self._answered.set()


def estimate_duration(model: Model, text: StudyText, cores: int) -> str:
    """Compute three rows of a study and return a sentence on the duration of all rows."""
    from core.studies.study import Study

    study = Study.of_text(model, text)
    machine, values = study.check(), study.declaration.values()[:3]
    machine.rows(values[:1])
    began = time.perf_counter()
    machine.rows(values)
    each = (time.perf_counter() - began) / len(values)
    whole = each * study.size / cores
    words = f"{whole:.2g} s" if whole < 100.0 else f"{whole / 60.0:.3g} min"
    return f"{study.size:,} rows, about {words} on {cores} core{'s' * (cores != 1)} ({1e3 * each:.3g} ms each)."
