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
    from core.control.operating_point import Found, OperatingPoint


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
    """Find the operating point that fulfils the requests."""
    context.step(0, 1, "Balance")
    problem = operating_point(context, fixed, target, free, steady, speeds, forces, point)
    return report_of(context, problem, problem.solve())


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
    """Build the trim problem, starting at the present pose, from a named point of the document and further requests."""
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


def report_of(context: Context, problem: OperatingPoint, found: Found) -> Report:
    """Report an operating point."""
    parts: list[Result] = [_verdict(found), _row_table(problem, found)]
    q = tuple(float(each) for each in found.q)
    p = {name: value for name, value in found.parameters.items() if name in context.mech.p_names}
    title = "The operating point" if found.solved else "The nearest point"
    parts.append(PoseSequence(title=title, q=(q,), p=(p,), display="single"))
    return Report(title="Operating point", parts=tuple(parts))


def _verdict(found: Found) -> Message:
    return Message(text=found.verdict, severity="error" if not found.solved else "done" if found.stable else "hint")


def _row_table(problem: OperatingPoint, found: Found) -> Table:
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    system = found.system
    units = dict(zip(system.output_names, system.units.outputs, strict=True))
    units |= dict(zip(system.input_names, system.units.inputs, strict=True))
    roles = {name: row.kind or "free" for name, row in problem.rows.items()}
    listed = [(name, roles[name], value, found.residuals.get(name)) for name, value in found.values.items()]
    known = {name for name, *_ in listed}
    for k, state in enumerate(system.state_names):
        if state not in known and state.removesuffix(".q") not in known:
            role = "steady" if state.endswith(".v") else "found"
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
    columns = (Column("Quantity"), Column("Role"), Column("Value"), Column("Unit"), Column("Off by"))
    return Table(title="Quantities", columns=columns, rows=tuple(rows), note="SI")


_FORCES = Values("forces", "Joint forces", "Constant forces or torques by name; those not given are zero", rate=-1)

FUNCTIONS = (
    Function(
        "trim",
        "Operating point (trim)",
        "Control",
        "Poses, speeds, forces and parameters at which the machine stays as asked.\n\nQuantities are fixed, a target, "
        "or free (perhaps within bounds); what is not named is at rest, its pose free, its forces unchanged. "
        "Counting comes first: where inputs are too few it is said what nothing balances, and what to free. Where no "
        "point is, the nearest one is shown with what is missing. Turning machines: fix a speed; accelerated ones: fix "
        "an acceleration. A point of the document is chosen by its name.",
        trim,
        (
            ElementName("point", "Point", "One of the document; further rows are added to its own"),
            SignalValues("fixed", "Fixed", 'By name, as joint.q="30 deg"'),
            SignalValues("target", "Targets", "By name, as near as can be"),
            SignalValues("free", "Free", "Names, or name=low:high", ranges=True),
            Signals("steady", "Steady", "Speeds that do not change, whatever their value", of="quantities"),
            Values("speeds", "Joint speeds", "Where to begin; those not given are zero", rate=1),
            _FORCES,
        ),
        needs=(needs_motion, needs_mass),
        apart=True,
        also=("trim", "equilibrium", "steady state", "inverse dynamics", "static balance"),
    ),
)
