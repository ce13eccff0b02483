"""Function that computes operating points (trim) of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.functions.context import Context
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import ElementName, Signals, SignalValues, Values
from core.functions.results import Message, PoseSequence, Report, Result, Table
from core.functions.text import Column

if TYPE_CHECKING:
    from core.control.operating_point import OperatingPoint, OperatingPointResult


def trim(
    context: Context,
    point: str,
    fixed: dict[str, float],
    target: dict[str, float],
    free: dict[str, tuple[float, float]],
    steady: Sequence[str],
    speeds: dict[str, float],
    forces: dict[str, float],
) -> Result:
    """Find the operating point that fulfils the requirements."""
    context.step(0, 1, "Solving for the operating point")
    problem = operating_point(context, fixed, target, free, steady, speeds, forces, point)
    return build_report(context, problem, problem.solve())


def operating_point(
    context: Context,
    fixed: Mapping[str, float],
    target: Mapping[str, float],
    free: Mapping[str, tuple[float, float]],
    steady: Sequence[str] = (),
    speeds: Mapping[str, float] | None = None,
    forces: Mapping[str, float] | None = None,
    point: str = "",
) -> OperatingPoint:
    """Build the trim problem, starting at the present pose, from a named operating point of the document and further
    requirements."""
    from core.control.operating_point import OperatingPoint

    twice = next((name for name in {**target, **free} if name in fixed or (name in target and name in free)), "")
    if twice:
        raise ModelError(
            f"'{twice}' has two requirements.",
            where="trim",
            remedy="Make it fixed, a target or free, but only one of these.",
        )
    begin: dict[str, Any] = {"v": dict(speeds or {}), "tau": dict(forces or {})}
    op = OperatingPoint(context.mech, context.q, name=point, p=dict(context.p) or None, t=context.t, **begin)
    for name, value in fixed.items():
        op[name].fixed(value)
    for name, value in target.items():
        op[name].target(value)
    for name, (low, high) in free.items():
        op[name].free(low, high)
    for name in steady:
        op[name].steady()
    return op


def build_report(context: Context, problem: OperatingPoint, found: OperatingPointResult) -> Report:
    """Report an operating point."""
    parts: list[Result] = [_verdict_message(found), _requirement_table(problem, found)]
    q = tuple(float(each) for each in found.q)
    p = {name: value for name, value in found.parameters.items() if name in context.mech.p_names}
    title = "The operating point" if found.solved else "The nearest point"
    parts.append(PoseSequence(title=title, q=(q,), p=(p,), display="single"))
    return Report(title="Operating point", parts=tuple(parts))


def _verdict_message(result: OperatingPointResult) -> Message:
    return Message(
        text=result.summary_text, severity="error" if not result.solved else "done" if result.stable else "hint"
    )


def _requirement_table(problem: OperatingPoint, result: OperatingPointResult) -> Table:
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    system = result.system
    units = dict(zip(system.output_names, system.units.outputs, strict=True))
    units |= dict(zip(system.input_names, system.units.inputs, strict=True))
    roles = {name: row.kind or "free" for name, row in problem.rows.items()}
    listed = [(name, roles[name], value, result.residuals.get(name)) for name, value in result.values.items()]
    known = {name for name, *_ in listed}
    for k, state in enumerate(system.state_names):
        if state not in known and state.removesuffix(".q") not in known:
            role = "steady" if state.endswith(".v") else "solved for"
            listed.append((state, role, float(system.x0[k]), None))
            units[state] = system.units.states[k]
    values = without_rounding_errors([value for _, _, value, _ in listed], SOLVED_FRACTION)
    rows = [
        (
            name,
            role,
            float(value),
            units.get(name, ""),
            None if off is None else float(without_rounding_errors([off], 1e-9)[0]),
        )
        for (name, role, _, off), value in zip(listed, values, strict=True)
    ]
    columns = (Column("Quantity"), Column("Role"), Column("Value"), Column("Unit"), Column("Residual"))
    return Table(title="Quantities", columns=columns, rows=tuple(rows), note="SI")


_FORCES = Values("forces", "Joint forces", "Constant joint forces or torques by name; zero if not given", rate=-1)

FUNCTIONS = (
    Function(
        "trim",
        "Operating point (trim)",
        "Control",
        "Poses, speeds, forces and parameters for which the machine is in a required steady state.\n\n"
        "Each quantity is fixed, a target, or free (optionally within bounds). Joints that are not named are "
        "at rest in a free pose; forces that are not named keep their values. The unknowns are counted "
        "first: if there are too few inputs, the report names the quantities that nothing can balance and "
        "those to free. If there is no operating point, the nearest one is shown with its residuals. For "
        "rotating machines fix a speed, for accelerated ones an acceleration. An operating point of the "
        "document is chosen by its name.",
        trim,
        (
            ElementName(
                "point",
                "Point",
                "Operating point of the document; the options below are added to its own requirements; empty: none",
            ),
            SignalValues("fixed", "Fixed", 'Fixed quantities by name, e.g. joint.q="30 deg"'),
            SignalValues("target", "Targets", "Target values by name, met as closely as possible"),
            SignalValues("free", "Free", "Free quantities: names, or name=low:high for bounds", ranges=True),
            Signals("steady", "Steady", "Speeds that are constant, with any value", of="quantities"),
            Values(
                "speeds", "Joint speeds", "Joint speeds at the start of the search, by name; zero if not given", rate=1
            ),
            _FORCES,
        ),
        needs=(needs_motion, needs_mass),
        apart=True,
        also=("trim", "equilibrium", "steady state", "inverse dynamics", "static balance"),
    ),
)
