"""A search for linkages in a process of its own: where that ends, what was found before is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from core.apart.work_process import Left, Lost, WorkProcess
from core.design.search_tasks import CurveTask
from core.errors import SimulationError

if TYPE_CHECKING:
    from core.design.path_synthesis import Linkage, Progress


class Linkages(NamedTuple):
    """found : the best first; lost : that the process ended, and how, in a sentence."""

    found: tuple[Linkage, ...]
    lost: str = ""


def linkages_apart(
    process: WorkProcess,
    task: CurveTask,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    paused: Callable[[], bool] = lambda: False,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Linkages:
    """As `synthesise` with the same numbers; cancelled, paused : asked again and again, the first may wait; watch :
    hears of each better linkage. Raises KinetostatError as that does, and where nothing was found before the process
    ended, or none can begin."""
    last: list[Progress] = []

    def hear(progress: Progress | None) -> None:
        if progress is not None:
            last[:] = [progress]
            watch(progress)

    try:
        found = process.ask(task, cancelled, hear, paused)
    except OSError as error:
        raise _ended(f"{error.strerror or error}.") from None
    if not isinstance(found, (Left, Lost)):
        return Linkages(found)
    kept = tuple(each for now in last for each in (now.best, *now.found) if each is not None)[: task.most]
    if isinstance(found, Left):
        return Linkages(kept)
    if not kept:
        raise _ended(f"The solver {found.how}.")
    return Linkages(kept, f"The solver {found.how}.")


def _ended(why: str) -> SimulationError:
    return SimulationError(
        f"Nothing was found: {why}", where="linkage", remedy="Search again, or for another kind of linkage."
    )
