"""Function that reports the closed loops of a machine: where they are cut, and in which order they are solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.constraints.closed_forms.wording import Step


def loops(context: Context) -> Result:
    """List the loops, cut joints, solution order, and loops that need iteration."""
    mech = context.mech
    if not mech.compiled.lasting.any():
        return Message(title="Loops", text="The model has no closed loop: its joint coordinates determine the pose.")
    context.step(0, 1, "Looking for closed forms")
    steps = mech.solution_order
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(loop.number), " ".join(loop.joints), loop.cut, _closing_kinds(loop.number, steps)) for loop in mech.loops
    )
    columns = (Column("Loop"), Column("Joints"), Column("Cut at"), Column("Closed by"))
    order: tuple[tuple[Cell, ...], ...] = tuple(
        (str(k), ", ".join(step.joints), step.kind, ", ".join(step.follows_from)) for k, step in enumerate(steps, 1)
    )
    return Report(
        title="Loops",
        parts=(
            Message(title="", text=_summary(len(mech.loops), steps)),
            *((Table(title="Closed loops", columns=columns, rows=rows),) if rows else ()),
            Table(
                title="Order of solution",
                rows=order,
                columns=(Column("Step"), Column("Joints"), Column("How"), Column("Depends on")),
            ),
        ),
    )


def _closing_kinds(number: int, steps: tuple[Step, ...]) -> str:
    kinds = dict.fromkeys(step.kind for step in steps if number in step.loops)
    return ", ".join(kinds) or "the other loops"


def _summary(count: int, steps: tuple[Step, ...]) -> str:
    beside = [step.joints[0] for step in steps if step.kind == "iteration" and not step.loops]
    extra = f" Also solved by iteration: {', '.join(beside)}." if beside else ""
    return _summary_of_loops(count, [step for step in steps if step.kind == "iteration" and step.loops]) + extra


def _summary_of_loops(count: int, left: list[Step]) -> str:
    loops = "One loop" if count == 1 else f"{count} loops"
    if not count:
        return "No closed loop of joints."
    if not left:
        return f"{loops}, solved in closed form; no iteration is needed."
    if len(left) == count:
        return f"{loops}, closed by iteration, since no closed form was found."
    cuts = ", ".join(step.joints[0] for step in left)
    return f"{loops}; {count - len(left)} solved in closed form; closed by iteration: those cut at {cuts}."


FUNCTIONS = (
    Function(
        "loops",
        "Loops",
        "Mechanisms",
        "The closed loops, where they are cut, and in which order they are solved.\n\n"
        "One joint of each loop is cut; the others form the tree of bodies. The field “cut” of a joint "
        "prescribes or forbids a cut there. Loops that are chains of dyads (RRR, RRP, SSR, USR, UPS and "
        "others), massless rods and gears are recognised automatically and solved in closed form: their "
        "dependent coordinates are explicit functions of the independent ones, and no constraint is left to "
        "integrate. Other loops are closed by iteration; the list shows which joints these couple.",
        loops,
        needs=(needs_motion,),
        reads="machine",
    ),
)
