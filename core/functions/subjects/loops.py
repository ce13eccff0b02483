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
                columns=(Column("Step"), Column("Joints"), Column("How"), Column("Follows from")),
            ),
        ),
    )


def _closing_kinds(number: int, steps: tuple[Step, ...]) -> str:
    kinds = dict.fromkeys(step.kind for step in steps if number in step.loops)
    return ", ".join(kinds) or "the others"


def _summary(count: int, steps: tuple[Step, ...]) -> str:
    beside = [step.joints[0] for step in steps if step.kind == "iteration" and not step.loops]
    extra = f" Left to iteration beside loops: {', '.join(beside)}." if beside else ""
    return _summary_of_loops(count, [step for step in steps if step.kind == "iteration" and step.loops]) + extra


def _summary_of_loops(count: int, left: list[Step]) -> str:
    loops = "One loop" if count == 1 else f"{count} loops"
    if not count:
        return "No closed loop of joints."
    if not left:
        return f"{loops}, closed in closed form: nothing is left to iteration."
    if len(left) == count:
        return f"{loops}, closed by iteration: no closed form was found."
    cuts = ", ".join(step.joints[0] for step in left)
    return f"{loops}; {count - len(left)} in closed form, left to iteration: the cut at {cuts}."


FUNCTIONS = (
    Function(
        "loops",
        "Loops",
        "Mechanisms",
        "The closed loops, where they are cut, and in which order they are solved.\n\nA joint of each loop is cut, the "
        "others carry the tree of bodies; a joint's field “cut” says where to cut or where not. Loops that are chains "
        "of dyads (RRR, RRP, SSR, USR, UPS and others), massless rods and gears are found by themselves and solved by "
        "formulas: their dependent coordinates follow explicitly from the independent ones, and no constraint is left "
        "to integrate. What has no "
        "such form is closed by iteration, and the list says which joints that ties together.",
        loops,
        needs=(needs_motion,),
        reads="machine",
    ),
)
