"""Jobs run in the window's worker process: work that would block other threads for long, or might crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.background.jobs import Jobs
from core.apart.talk import Progress, Task
from core.functions.context import Cancelled

if TYPE_CHECKING:
    from core.mechanism import Mechanism
    from core.mechanism.work_apart import Work

Asked = Callable[[Any], bool]


def apart(
    jobs: Jobs,
    mech: Mechanism,
    work: Callable[[], Work],
    asked: Asked = lambda cancelled: bool(cancelled()),
    patience: float = Task.patience,
) -> Callable[[Any, Callable[[], bool]], Any]:
    """Return a job that runs work(mech, line) in the worker process; the work may return None when it was stopped. work
    : is looked up in the job; asked : returns True if a job of its own kind should stop; patience : seconds after which
    a stopped job ends by itself."""

    def job(progress: Any, cancelled: Callable[[], bool]) -> Any:
        from core.mechanism.work_apart import Stopped, work_apart

        def hear(what: Any) -> None:
            progress(*what) if isinstance(what, Progress) else progress.show(what)

        try:
            found = work_apart(
                jobs.process, mech, work(), cancelled=lambda: asked(cancelled), hear=hear, patience=patience
            )
        except Stopped:
            raise Cancelled from None
        if found is None:
            raise Cancelled
        return found

    return job
