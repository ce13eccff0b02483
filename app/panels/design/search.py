"""Searches of the panel Design as work beside the window: what they tell while they run, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.widgets.quantities.quantity_text import Units, measure_of
from core.design.search_tasks import CurveTask
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.model import Aim, Model
from core.model.parameters import value_of
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from core.apart.work_process import WorkProcess
    from core.design import search_tasks
    from core.design.designed import Designed, Start
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

Array = NDArray[np.float64]
Asked = Callable[[Any], bool]
"""Whether to stop: of a job's own question for it."""
FIRST = 6
"""Digits of results."""
MOST_LINKAGES = 8
"""Linkages for a curve that are shown."""


class Better(NamedTuple):
    """A better point of a start. rows : what the machine does, in shown units; None: not looked at; lost : the last
    start over which the search's process ended, in a sentence"""

    start: int
    parameters: Mapping[str, float]
    value: float
    rows: Array | None
    lost: str = ""


class Curves(NamedTuple):
    """Linkages for a curve, the best first; lost : that the search's process ended, and how, in a sentence."""

    linkages: tuple[Linkage, ...]
    lost: str = ""


class Found(NamedTuple):
    """What a search came to. rows : of starts by their number; lost : starts over which the search's process ended"""

    designed: Designed
    rows: Mapping[int, Array]
    lost: tuple[Start, ...] = ()


def machine_work(
    process: WorkProcess, model: Model, aim: Aim, starts: int, units: Units, asked: Asked, paused: Callable[[], bool]
) -> Any:
    """The search for parameters that a design asks for, in a process."""

    def shown(rows: Array | None) -> Array | None:
        return None if rows is None else rows / _factors(aim, model, units)

    def work(progress: Any, cancelled: Any) -> Found:
        from core.design.search_apart import design_apart

        words = ""

        def watch(what: search_tasks.Better) -> None:
            progress(what.start / starts, f"start {what.start + 1} of {starts}")
            progress.show(Better(what.start, dict(what.parameters), what.value, shown(what.rows), words))

        def lost(row: Start) -> None:
            nonlocal words
            words = f" {lost_words(row)}"

        def stop() -> bool:
            return asked(cancelled)

        try:
            found = design_apart(process, model, aim, starts, cancelled=stop, paused=paused, watch=watch, lost=lost)
        except KinetostatError:
            if stop():  # stopped before anything was found
                raise Cancelled from None
            raise
        return Found(
            found.designed, {k: rows / _factors(aim, model, units) for k, rows in found.rows.items()}, found.lost
        )

    return work


def lost_words(row: Start) -> str:
    """That the process ended over a start, and how."""
    return f"Start {row.number + 1}: {row.message}"


def _factors(aim: Aim, model: Model, units: Units) -> Array:
    """(2,) or (4,) SI per shown unit; angles of poses stay in rad."""
    x, y = (measure_of(dimension_of_signal(model, name)).display(units).factor for name in (aim.coordinate, aim.output))
    length = measure_of("length").display(units).factor
    return np.array([x, length, length, 1.0] if aim.kind == "motion" else [x, y])


def shown_rows(aim: Aim, model: Model, units: Units) -> Array:
    """(n, 2) or (n, 4) what is wanted, in shown units; rows without a value are left out."""
    values = model.values()
    asked = (
        [(row.x, row.u, row.v, row.angle) for row in aim.poses]
        if aim.kind == "motion"
        else [(row.x, row.y) for row in aim.function]
    )
    rows = np.array([[float(value_of(each, values)) for each in row] for row in asked], dtype=float)
    return rows.reshape(len(asked), 4 if aim.kind == "motion" else 2) / _factors(aim, model, units)


def curve_work(process: WorkProcess, wanted: Target, topology: str, asked: Asked, paused: Callable[[], bool]) -> Any:
    """The search for a linkage, in a process."""

    def work(progress: Any, cancelled: Any) -> Curves:
        from core.design.curve_apart import linkages_apart

        def stop() -> bool:
            return asked(cancelled)

        task = CurveTask(wanted, topology, MOST_LINKAGES)
        found, lost = linkages_apart(process, task, cancelled=stop, paused=paused, watch=progress.show)
        if not found:
            raise Cancelled
        return Curves(found, lost)

    return work
