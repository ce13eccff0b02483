"""Searches of the panel Design as work beside the window: what they tell while they run, and what comes of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.widgets.quantities.quantity_text import Units, measure_of
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.model import Aim, Model
from core.model.parameters import value_of
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from core.design.design import Design
    from core.design.designed import Designed
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

Array = NDArray[np.float64]
Asked = Callable[[Any], bool]
"""Whether to stop: of a job's own question for it."""
FIRST = 6
"""Digits of results."""
TOLD_EVERY = 0.1
"""Seconds between two rows of what a machine does that is better."""
MOST_ROWS = 50
"""Results whose poses are computed."""
MOST_LINKAGES = 8
"""Linkages for a curve that are shown."""


class Better(NamedTuple):
    """A better point of a start. rows : what the machine does, in shown units; None: not looked at"""

    start: int
    parameters: Mapping[str, float]
    value: float
    rows: Array | None


class Found(NamedTuple):
    """What a search came to. rows : of starts by their number"""

    designed: Designed
    rows: Mapping[int, Array]


def machine_work(model: Model, aim: Aim, starts: int, units: Units, asked: Asked) -> Any:
    """The search for parameters that a design asks for."""

    def work(progress: Any, cancelled: Any) -> Found:
        from core.design.asked_designs import design_of_aim

        design = design_of_aim(model, aim, "design")
        shown_at = 0.0

        def watch(start: int, parameters: Mapping[str, float], value: float) -> None:
            nonlocal shown_at
            progress(start / starts, f"start {start + 1} of {starts}")
            rows = None
            if time.monotonic() - shown_at > TOLD_EVERY:
                shown_at = time.monotonic()
                rows = _generated(design, aim, parameters, model, units)
            progress.show(Better(start, dict(parameters), value, rows))

        try:
            found = design.solve(starts, cancelled=lambda: asked(cancelled), watch=watch)
        except KinetostatError:
            if asked(cancelled):  # stopped before anything was found
                raise Cancelled from None
            raise
        rows = {}
        for row in found.table[:MOST_ROWS]:
            made = _generated(design, aim, row.parameters, model, units) if row.state != "failed" else None
            if made is not None:
                rows[row.number] = made
        return Found(found, rows)

    return work


def _generated(design: Design, aim: Aim, parameters: Mapping[str, float], model: Model, units: Units) -> Array | None:
    """What a machine does where a function or poses are wanted, in shown units."""
    if aim.kind not in ("function", "motion"):
        return None
    try:
        return design.generated(parameters) / _factors(aim, model, units)
    except (KinetostatError, ArithmeticError, ValueError):
        return None


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


def curve_work(wanted: Target, topology: str, asked: Asked) -> Any:
    """The search for a linkage."""

    def work(progress: Any, cancelled: Any) -> tuple[Linkage, ...]:
        from core.design.path_synthesis import synthesise

        def tell(found: Any) -> None:
            if found.best is not None:
                found.best.curve()  # followed here, not in the window's thread
            progress.show(found)

        result = synthesise(wanted, topology, count=MOST_LINKAGES, stop=lambda: asked(cancelled), tell=tell)
        if not result:
            raise Cancelled
        return result

    return work
