"""Searches of the Design panel as background work: their progress reports and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.widgets.quantities.quantity_text import Units, measure_of
from core.design.search_apart import CurveTask
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.model import Aim, Model
from core.model.parameters import value_of
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from core.apart.work_process import WorkProcess
    from core.design import search_apart
    from core.design.designed import Designed, Start
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

Array = NDArray[np.float64]
Asked = Callable[[Any], bool]
"""Function that tells a search whether to stop, given the cancel function of its job."""
FIRST = 6
"""Significant digits of results."""
MOST_LINKAGES = 8
"""Largest number of linkages shown for a curve."""


class Better(NamedTuple):
    """Improved point of a start. rows : the machine's behaviour in display units, None if not evaluated; lost :
    sentence about the last start whose process ended early."""

    start: int
    parameters: Mapping[str, float]
    value: float
    rows: Array | None
    lost: str = ""


class Curves(NamedTuple):
    """Linkages found for a curve, the best first; lost : sentence saying how the search's process ended early, if it
    did."""

    linkages: tuple[Linkage, ...]
    lost: str = ""


class Found(NamedTuple):
    """Result of a parameter search. rows : the machine's behaviour by number of the start; lost : starts whose process
    ended early."""

    designed: Designed
    rows: Mapping[int, Array]
    lost: tuple[Start, ...] = ()


def machine_work(
    process: WorkProcess, model: Model, aim: Aim, starts: int, units: Units, asked: Asked, paused: Callable[[], bool]
) -> Any:
    """Return the background work of a parameter search for a design, run in a subprocess."""

    def shown(rows: Array | None) -> Array | None:
        return None if rows is None else rows / _factors(aim, model, units)

    def work(progress: Any, cancelled: Any) -> Found:
        from core.design.search_apart import optimise_in_subprocess

        words = ""

        def watch(what: search_apart.Better) -> None:
            progress(what.start / starts, f"start {what.start + 1} of {starts}")
            progress.show(Better(what.start, dict(what.parameters), what.value, shown(what.rows), words))

        def lost(row: Start) -> None:
            nonlocal words
            words = f" {ended_process_text(row)}"

        def stop() -> bool:
            return asked(cancelled)

        try:
            found = optimise_in_subprocess(
                process, model, aim, starts, cancelled=stop, paused=paused, watch=watch, lost=lost
            )
        except KinetostatError:
            if stop():  # stopped before anything was found
                raise Cancelled from None
            raise
        return Found(
            found.designed, {k: rows / _factors(aim, model, units) for k, rows in found.rows.items()}, found.lost
        )

    return work


def ended_process_text(row: Start) -> str:
    """Return a sentence saying that the process ended during a start, and how."""
    return f"Start {row.number + 1}: {row.message}"


def _factors(aim: Aim, model: Model, units: Units) -> Array:
    """Return SI values per display unit, shape (2,) or (4,); angles of poses stay in rad."""
    x, y = (measure_of(dimension_of_signal(model, name)).display(units).factor for name in (aim.coordinate, aim.output))
    length = measure_of("length").display(units).factor
    return np.array([x, length, length, 1.0] if aim.kind == "motion" else [x, y])


def desired_rows(aim: Aim, model: Model, units: Units) -> Array:
    """Return the desired values in display units, shape (n, 2) or (n, 4); rows without a value are left out."""
    values = model.values()
    asked = (
        [(row.x, row.u, row.v, row.angle) for row in aim.poses]
        if aim.kind == "motion"
        else [(row.x, row.y) for row in aim.function]
    )
    rows = np.array([[float(value_of(each, values)) for each in row] for row in asked], dtype=float)
    return rows.reshape(len(asked), 4 if aim.kind == "motion" else 2) / _factors(aim, model, units)


def curve_work(process: WorkProcess, wanted: Target, topology: str, asked: Asked, paused: Callable[[], bool]) -> Any:
    """Return the background work of a linkage search for a curve, run in a subprocess."""

    def work(progress: Any, cancelled: Any) -> Curves:
        from core.design.search_apart import search_linkages_in_subprocess

        def stop() -> bool:
            return asked(cancelled)

        task = CurveTask(wanted, topology, MOST_LINKAGES)
        found, lost = search_linkages_in_subprocess(process, task, cancelled=stop, paused=paused, watch=progress.show)
        if not found:
            raise Cancelled
        return Curves(found, lost)

    return work
