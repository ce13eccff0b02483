"""Function that derives the equations of motion step by step, each step with explanation, formula and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, Flag
from core.functions.results import Formulas, Matrix, Message, Report, Result, Table, leaf_results, to_row_tuples
from core.functions.subjects.robot_formulas import compute_formulas, needs_open_chain, symbolic_robot
from core.functions.subjects.symbols import RECOGNISE, SYMBOLS, TIP
from core.functions.text import Column

if TYPE_CHECKING:
    from core.symbolic.robot import Robot

PARTS = ("all", "Frames", "A matrices", "Forward kinematics", "Jacobian", "Centres of mass", "Energies", "Dynamics")


def step_formulas(robot: Robot, step: Any, *, check: bool = True) -> Formulas | None:
    """Return the formula of a derivation step as a result; None for the step that assigns the frames."""
    import dataclasses

    if not step.what:
        return None
    whole = compute_formulas(robot, step.what, *step.indices, check=check)
    if not step.column:
        return whole
    entries = tuple((row[step.column - 1],) for row in whole.entries)
    return dataclasses.replace(
        whole,
        title=step.title,
        label=f"J[{step.column}]",
        entries=entries,
        columns=whole.columns[step.column - 1 : step.column],
    )


def frame_assignment_tables(context: Context, robot: Robot) -> tuple[Table, ...]:
    """Describe how frames are assigned: by the DH tables of the robot, otherwise by the position of each frame and its
    joint."""
    if robot.model.chains and not robot.model.bodies:
        from core.functions.subjects.description import dh_table

        return tuple(part for part in leaf_results(dh_table(context)) if isinstance(part, Table))
    chain = robot.chain
    rows: list[tuple[str, ...]] = [("0", chain.frames[0], "", "", "")]
    for i, variable in enumerate(chain.variables, 1):
        verb = "turns" if variable.turns else "slides"
        rows.append((str(i), chain.frames[i], variable.joint, verb, variable.symbol))
    columns = tuple(map(Column, ("Frame", "On", "Joint", "About", "By")))
    note = "body frames as given in the file, not Denavit–Hartenberg frames; Find DH table determines those"
    return (Table(title="Frames", columns=columns, rows=tuple(rows), note=note),)


def derivation(context: Context, part: str, numbers: bool, symbols: str, tip: str, recognise: bool) -> Result:
    """Report all steps of a part of the derivation."""
    from core.symbolic.derivation import derivation_steps, symbol_values_at
    from core.symbolic.derivation import evaluate_step as numbers_of

    robot = symbolic_robot(context, tip, symbols, recognise)
    chosen = [step for step in derivation_steps(robot) if part in ("all", step.part)]
    values = symbol_values_at(robot, context.q, context.p)
    parts: list[Result] = []
    for k, step in enumerate(chosen):
        context.step(k, len(chosen), step.title)
        parts.append(Message(title=step.title, text=f"{k + 1}. {step.title} – {step.text}", severity="hint"))
        formula = step_formulas(robot, step)
        if formula is None:
            parts += frame_assignment_tables(context, robot)
        else:
            parts.append(formula)
            if numbers:
                parts.append(
                    Matrix(
                        title=f"{step.title} at the present pose",
                        symbol="",
                        entries=to_row_tuples(numbers_of(robot, step, values)),
                        rows=formula.rows,
                        columns=formula.columns,
                    )
                )
    return Report(title="Derivation", parts=tuple(parts))


FUNCTIONS = (
    Function(
        "derivation",
        "Derivation step by step",
        "Symbols",
        "Derivation of the equations of motion: frames, A matrices, forward kinematics, the Jacobian column "
        "by column, centres of mass, energies, M, C and G, each with its formula and its numerical values at "
        "the present pose.\n\n"
        "The values of the energies and of C are for joint speeds of 1 rad/s or 1 m/s and zero "
        "accelerations. The panel Derivation (Tools, Derivation replay) shows the same with pictures in the "
        "scene.",
        derivation,
        (
            Choice("part", "Part", "Steps to show", "all", PARTS),
            Flag("numbers", "Numbers", "Show numerical values at the present pose, in SI units", True),
            SYMBOLS,
            TIP,
            RECOGNISE,
        ),
        (needs_motion, needs_open_chain),
        robotica="FKin, ELDynamics",
    ),
)
