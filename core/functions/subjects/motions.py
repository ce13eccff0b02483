"""The function that plans a motion of the document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import ElementName, Number
from core.functions.results import Motion, Report, Result, Table
from core.functions.text import Amount, Cell, Column

if TYPE_CHECKING:
    from core.motions.trajectory import Trajectory


def _needs_planned_motion(context: Context) -> str:
    """Check that the document has a motion; return the reason if it has none, else ''."""
    return "" if context.model.motions else "The model has no motion; add one."


def plan_motion(context: Context, motion: str = "", step: float = 0.01) -> Result:
    """Plan a motion; returns a report with its segments, margins, and the run with its forces."""
    from core.motions.plan import plan

    name = motion or context.model.motions[0].name
    planned = plan(context.mech, name, p=context.p)
    segments = context.model.find("motions", name).segments
    rows: list[tuple[Cell, ...]] = [
        (
            piece.number,
            segment.kind,
            segment.to,
            segment.law if segment.to else "",
            Amount(piece.start, "time"),
            Amount(piece.law.duration, "time"),
        )
        for piece, segment in zip(planned.pieces, segments, strict=True)
    ]
    columns = (
        Column("Segment"),
        Column("Path"),
        Column("To"),
        Column("Law"),
        Column("Start", "time"),
        Column("Duration", "time"),
    )
    table = Table(
        title=f"{name}: {planned.duration:.4g} s", columns=columns, rows=tuple(rows), note=" ".join(planned.notes)
    )
    run = replace(planned.run(step), mech=context.mech)
    curves = tuple(("time", f"{each}.q") for each in context.mech.q_names)
    played = Motion(title=f"Motion '{name}'", run=run, curves=curves, animate=True)
    return Report(title="Planned motion", parts=(table, _margins_table(planned), played))


def _margins_table(planned: Trajectory) -> Table:
    rows = tuple((each.joint, each.quantity, each.share, Amount(each.time, "time")) for each in planned.margins())
    columns = (Column("Joint"), Column("Quantity"), Column("Share of its limit"), Column("At", "time"))
    return Table(
        title="Largest shares of limits",
        columns=columns,
        rows=rows,
        note="speeds and accelerations within the motion's plan; forces as inverse dynamics finds them, which the plan "
        "does not limit",
    )


FUNCTIONS = (
    Function(
        "plan_motion",
        "Plan motion",
        "Control",
        "Trajectory of a motion of the document, with the joint forces that it needs.\n\n"
        "Each segment goes from rest to rest, straight in joint coordinates, or with the tool on a line or an arc, as "
        "fast as the limits of joints and tool allow or in the given duration. The report lists the segments and the "
        "shares of limits that are used; the motion plays like a run, with plots and export.",
        plan_motion,
        (
            ElementName(
                "motion", "Motion", "Motion of the document; empty: the first", collection="motions", none="First"
            ),
            Number("step", "Step", "Time between samples", 0.01, "time", minimum=1e-5),
        ),
        needs=(needs_motion, _needs_planned_motion),
        reads="machine",
        also=("trajectory", "path", "time law", "pick and place"),
        argument="motion",
    ),
)
