"""Linkage search in a subprocess; if the process crashes on one kind of linkage, its results are kept and the other
kinds are searched in a new process."""

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
    """Result of a linkage search. found : linkages, the best first; lost : sentences naming the kinds on which the
    process crashed, and how."""

    found: tuple[Linkage, ...]
    lost: str = ""


def search_linkages_in_subprocess(
    process: WorkProcess,
    task: CurveTask,
    *,
    cancelled: Asked = lambda: False,
    paused: Asked = lambda: False,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Linkages:
    """Run `synthesise` in a subprocess, with identical results; cancelled, paused : polled, the first may block; watch
    : called with each better linkage. Raises KinetostatError as `synthesise` does, and if the process crashed without a
    result or cannot be started."""
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
            own, how = _search_kind(process, kind, best_of(found, task.most), cancelled, paused, watch)
        except OSError as error:
            lost.append(f"The search process could not be started ({error.strerror or error}).")
            break
        found += own
        if how:
            over = f"{topology_named(name).title}: the" if len(names) > 1 else "The"
            lost.append(f"{over} solver {how}.")
    if lost and not found:
        raise SimulationError(
            f"No linkage was found: {' '.join(lost)}",
            where="linkage",
            remedy="Search again, or choose another kind of linkage.",
        )
    return Linkages(best_of(found, task.most), " ".join(lost))


def _search_kind(
    process: WorkProcess,
    task: CurveTask,
    before: tuple[Linkage, ...],
    cancelled: Asked,
    paused: Asked,
    watch: Callable[[Progress], None],
) -> tuple[tuple[Linkage, ...], str]:
    """Search linkages of one kind in the process; return them and how the process crashed (words that follow "The
    solver"). before : linkages of the earlier kinds. Raises the errors of the search, and OSError if no process can be
    started."""
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
