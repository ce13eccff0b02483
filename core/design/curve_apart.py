"""A search for linkages in a process of its own: where that ends over one kind of linkage, what was found is kept, and
the other kinds are tried in a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from core.apart.work_process import Left, Lost, WorkProcess
from core.design.search_tasks import CurveTask
from core.errors import SimulationError

if TYPE_CHECKING:
    from core.design.path_synthesis import Linkage, Progress

Asked = Callable[[], bool]


class Linkages(NamedTuple):
    """found : the best first; lost : over which kinds the process ended, and how, in a sentence or more."""

    found: tuple[Linkage, ...]
    lost: str = ""


def linkages_apart(
    process: WorkProcess,
    task: CurveTask,
    *,
    cancelled: Asked = lambda: False,
    paused: Asked = lambda: False,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Linkages:
    """As `synthesise` with the same numbers; cancelled, paused : asked again and again, the first may wait; watch :
    hears of each better linkage. Raises KinetostatError as that does, and where the process ended and nothing was
    found, or none can begin."""
    from core.design.path_synthesis import best_of, exact, kinds_of
    from core.design.topologies import topology_named

    names = kinds_of(task.topology)
    found: tuple[Linkage, ...] = ()
    lost: list[str] = []
    for name in names:
        if name != names[0] and (cancelled() or exact(found)):
            break
        kind = replace(task, topology=name)
        try:
            own, how = _of_kind(process, kind, best_of(found, task.most), cancelled, paused, watch)
        except OSError as error:
            lost.append(f"No process could begin ({error.strerror or error}).")
            break
        found += own
        if how:
            over = f"{topology_named(name).title}: the" if len(names) > 1 else "The"
            lost.append(f"{over} solver {how}.")
    if lost and not found:
        raise SimulationError(
            f"Nothing was found: {' '.join(lost)}",
            where="linkage",
            remedy="Search again, or for another kind of linkage.",
        )
    return Linkages(best_of(found, task.most), " ".join(lost))


def _of_kind(
    process: WorkProcess,
    task: CurveTask,
    before: tuple[Linkage, ...],
    cancelled: Asked,
    paused: Asked,
    watch: Callable[[Progress], None],
) -> tuple[tuple[Linkage, ...], str]:
    """(linkages of one kind, how the process ended over it: words that follow "The solver"); before : those of the
    kinds before. Raises what the search raises, and OSError where no process can begin."""
    last: list[Progress] = []

    def hear(progress: Progress | None) -> None:
        if progress is not None:
            last[:] = [progress]
            watch(replace(progress, found=before))

    found = process.ask(task, cancelled, hear, paused)
    if not isinstance(found, (Left, Lost)):
        return found, ""
    kept = tuple(now.best for now in last if now.best is not None)
    return kept, found.how if isinstance(found, Lost) else ""
