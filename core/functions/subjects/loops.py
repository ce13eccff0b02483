"""Function that reports the closed loops of a machine: where they are cut, and in which order they are solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.constraints.closed_forms.wording import SolutionStep


def loops(context: Context) -> Result:
    """List the loops, the cut joints, the order of solution, and the loops that require iteration."""
    mech = context.mech
    if not mech.compiled.lasting.any():
        return Message(title="Loops", text="The model has no closed loop: its joint coordinates determine the pose.")
    context.step(0, 1, "Searching for analytic loop closures")
    steps = mech.solution_order
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(loop.number), " ".join(loop.joints), loop.cut, _closure_methods(loop.number, steps)) for loop in mech.loops
    )
    columns = (Column("Loop"), Column("Joints"), Column("Cut at"), Column("Closed by"))
    order: tuple[tuple[Cell, ...], ...] = tuple(
        (str(k), ", ".join(step.joints), step.kind, ", ".join(step.follows_from)) for k, step in enumerate(steps, 1)
    )
    return Report(
        title="Loops",
        parts=(
            Message(title="", text=_summarise_solution(len(mech.loops), steps)),
            *((Table(title="Closed loops", columns=columns, rows=rows),) if rows else ()),
            Table(
                title="Order of solution",
                rows=order,
                columns=(Column("Step"), Column("Joints"), Column("How"), Column("Depends on")),
            ),
        ),
    )


def _closure_methods(loop_number: int, steps: tuple[SolutionStep, ...]) -> str:
    kinds = dict.fromkeys(step.kind for step in steps if loop_number in step.loops)
    return ", ".join(kinds) or "the other loops"


def _summarise_solution(loop_count: int, steps: tuple[SolutionStep, ...]) -> str:
    beside = [step.joints[0] for step in steps if step.kind == "iteration" and not step.loops]
    extra = f" Also solved by iteration: {', '.join(beside)}." if beside else ""
    return _summarise_loops(loop_count, [step for step in steps if step.kind == "iteration" and step.loops]) + extra


def _summarise_loops(loop_count: int, iterated_steps: list[SolutionStep]) -> str:
    loops = "One loop" if loop_count == 1 else f"{loop_count} loops"
    if not loop_count:
        return "No closed loop of joints."
    if not iterated_steps:
        return f"{loops}, solved in closed form; no iteration is needed."
    if len(iterated_steps) == loop_count:
        return f"{loops}, closed by iteration, since no closed form was found."
    cuts = ", ".join(step.joints[0] for step in iterated_steps)
    return (
        f"{loops}; {loop_count - len(iterated_steps)} solved in closed form; closed by iteration: the loops cut "
        f"at {cuts}."
    )


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
