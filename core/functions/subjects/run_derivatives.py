"""Functions for sensitivities of a run (derivatives by parameters and initial values, over time and ranked), and for
the comparison of two runs channel by channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError
from core.functions.context import Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_continuous_signals, needs_mass, needs_motion
from core.functions.options import Choice, Number, Signals, Text, Values
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.identification.sensitivities.gradient import DifferentiatedRun
    from core.identification.sensitivities.start_state_derivatives import InitialState
    from core.simulation import Run


Array = NDArray[np.float64]

POINTS = 400
"""Number of points of a curve."""
NAMES, OUTPUTS = 6, 3
"""Default numbers of parameters and of outputs, if none are named."""
DIAGRAMS = 12
"""Largest number of output components that are plotted."""
BEFORE = 0.999
"""Fraction of the time up to the first non-differentiable event that is shown."""
SAMPLES = 2000
"""Number of times at which two runs are compared."""


def run_derivatives(
    context: Context,
    outputs: Sequence[str],
    by: Sequence[str],
    objective: str,
    speeds: dict[str, float],
    forces: dict[str, float],
    duration: float,
    integrator: str,
    step: float | None,
) -> Result:
    """Compute derivatives of channels over time, rank the parameters by their effect at the end, and compute the
    gradient of a scalar."""
    from core.identification.sensitivities.replay import NotDifferentiableError

    mech = context.mech
    names = tuple(by) or mech.p_names[:NAMES] or _initial_speed_names(context)
    if not names:
        text = (
            "There is no variable to differentiate with respect to: drivers prescribe the whole motion, and "
            "there are no parameters."
        )
        return Message(title="Derivatives of a run", text=text, severity="hint")
    asked = tuple(outputs) or tuple(f"{name}.q" for name in _single_coordinate_joints(mech)[:OUTPUTS])
    if not asked:
        text = "Name outputs: no joint has a single coordinate."
        return Message(title="Derivatives of a run", text=text, severity="hint")
    title = f"Derivatives of a run of {duration:g} s"
    parts: list[Result] = []
    try:
        found = _differentiate_run(context, names, speeds, forces, duration, integrator, step)
    except NotDifferentiableError as refusal:
        return Message(title=title, text=str(refusal), severity="error")
    except SimulationError as ended:
        time = (ended.time or 0.0) - context.t
        if not 0.0 < time < duration:
            return Message(title=title, text=str(ended), severity="error")
        parts.append(Message(text=f"{ended} The results below end before that time.", severity="warning"))
        duration = BEFORE * time
        try:
            found = _differentiate_run(context, names, speeds, forces, duration, integrator, step)
        except (NotDifferentiableError, SimulationError) as again:
            return Message(title=title, text=str(again), severity="error")
    context.step(1, 2, "Derivatives")
    try:
        parts += _table_and_curves(context, found, asked, names)
        if objective.strip():
            parts.append(_gradient_table(context, found, objective, names))
    except SimulationError as ended:
        return Message(title=title, text=str(ended), severity="error")
    return Report(title=title, parts=tuple(parts))


def _initial_speed_names(context: Context) -> tuple[str, ...]:
    """Return the initial speeds of the independent coordinates."""
    from core.analysis.held_state import well_conditioned_speeds
    from core.constraints.mobility.constraint_rank import PositionConstraints
    from core.numerics.rank import null_space

    mech = context.mech
    free = list(range(mech.nv))
    if mech.constrained:
        motions = null_space(mech.constraint_jacobian(context.q, p=dict(context.p) or None))
        free = well_conditioned_speeds(PositionConstraints(mech.compiled, context.p, context.t), motions)
    return tuple(f"{mech.v_names[k]}.v" for k in free)[:NAMES]


def _single_coordinate_joints(mech: Any) -> list[str]:
    """Return the joints with one coordinate, those without a driver first."""
    driven = {driver.joint for driver in mech.model.expanded.drivers}
    both = [name for name in mech.v_names if name in mech.q_names]
    return sorted(both, key=lambda name: name in driven)


def _differentiate_run(
    context: Context,
    names: Sequence[str],
    speeds: Mapping[str, float],
    forces: Mapping[str, float],
    duration: float,
    integrator: str,
    step: float | None,
) -> DifferentiatedRun:
    import numpy as np

    from core.identification.sensitivities.gradient import DifferentiatedRun
    from core.identification.sensitivities.replay import check_differentiable
    from core.identification.sensitivities.start_state_derivatives import InitialState, parse_derivative_variables
    from core.simulation import simulate

    mech, p = context.mech, dict(context.p) or None
    parse_derivative_variables(mech, names)
    check_differentiable(mech, integrator)
    context.step(0, 2, "Run")
    start: InitialState = InitialState(np.array(context.q), dict(speeds) or None, None, context.t)
    run: Run = simulate(
        mech,
        duration,
        method=integrator,
        step=step,
        q0=start.q0,
        v0=start.v0,
        parameters=p,
        torque=dict(forces) or None,
        start=context.t,
    )
    return DifferentiatedRun(run, names, start, dict(forces) or None)


def _table_and_curves(
    context: Context, differentiated_run: DifferentiatedRun, outputs: Sequence[str], names: Sequence[str]
) -> list[Result]:
    """Return a table of the derivatives at the end of the run, and their curves over time."""
    import numpy as np

    from core.functions.text import without_rounding_errors

    times = np.linspace(differentiated_run.first, differentiated_run.last, POINTS + 1)
    eyes, slopes, values = differentiated_run.output_derivatives(outputs, times)
    slopes = without_rounding_errors(slopes)
    sizes = [_reference_change(context, differentiated_run, name) for name in names]
    rows: list[tuple[Cell, ...]] = []
    for k, output in enumerate(eyes.names):
        unit = eyes.units[k]
        order = sorted(range(len(names)), key=lambda m, k=k: -abs(float(slopes[-1, k, m]) * sizes[m]))  # type: ignore[misc]
        for m in order:
            slope = float(slopes[-1, k, m])
            rows.append((output, float(values[-1, k]), unit, names[m], slope, slope * sizes[m]))
    titles = ("Output", "At the end", "Unit", "With respect to", "Derivative", "Change by 1 %")
    note = (
        "SI, exact derivatives; change: by 1 % of the parameter, or by 0.01 rad, m, rad/s or m/s of an "
        "initial value; largest first"
    )
    parts: list[Result] = [
        Table(
            title="Sensitivities of the final values", columns=tuple(map(Column, titles)), rows=tuple(rows), note=note
        )
    ]
    for k, output in enumerate(eyes.names[:DIAGRAMS]):
        series = tuple(Series(name, tuple(times), tuple(slopes[:, k, m])) for m, name in enumerate(names))
        parts.append(Diagram(title=f"∂ {output}", across="t [s]", up="Derivative (SI)", series=series))
    return parts


def _reference_change(context: Context, differentiated_run: DifferentiatedRun, name: str) -> float:
    """Return 1 % of a parameter, or of the unit of an initial value."""
    known = context.mech.p_names
    return 0.01 * (abs(float(differentiated_run.replay.p[known.index(name)])) if name in known else 1.0)


def _gradient_table(
    context: Context, differentiated_run: DifferentiatedRun, objective: str, names: Sequence[str]
) -> Table:
    value, slopes = differentiated_run.objective_gradient(objective, "auto")[:2]
    rows = [
        (name, float(slope), float(slope) * _reference_change(context, differentiated_run, name))
        for name, slope in zip(names, slopes, strict=True)
    ]
    rows.sort(key=lambda row: -abs(row[2]))
    columns = (Column("With respect to"), Column("Derivative"), Column("Change by 1 %"))
    return Table(
        title=f"{objective.strip()} = {value:.8g}", columns=columns, rows=tuple(rows), note="SI, exact derivatives"
    )


def compare_runs(first: Run, second: Run, names: tuple[str, str] = ("first", "second")) -> Table:
    """Tabulate the differences second − first of every usual channel over the common time of both runs: largest
    difference and its time, root mean square, and difference at the end, SI. Values between samples are interpolated
    linearly.

    Raises ModelError if the runs have no time, or no channel, in common.
    """
    start, end = max(first.time[0], second.time[0]), min(first.time[-1], second.time[-1])
    if not start < end:
        raise ModelError(
            f"The runs {names[0]} and {names[1]} have no time in common.",
            where="runs",
            remedy="Compare runs that overlap.",
        )
    times = np.linspace(start, end, SAMPLES)
    one, two = dict(first.table()), dict(second.table())
    rows: list[tuple[Cell, ...]] = []
    for channel in (name for name in one if name in two):
        difference = np.interp(times, second.time, two[channel]) - np.interp(times, first.time, one[channel])
        worst = int(np.argmax(np.abs(difference)))
        rms = float(np.sqrt(np.mean(difference**2)))
        rows.append((channel, float(difference[worst]), float(times[worst]), rms, float(difference[-1])))
    if not rows:
        raise ModelError(
            f"The runs {names[0]} and {names[1]} have no channel in common.",
            where="runs",
            remedy="Compare runs of the same machine.",
        )
    columns = (
        Column("Channel"),
        Column("Largest difference"),
        Column("At time", "time"),
        Column("RMS"),
        Column("At the end"),
    )
    return Table(
        title=f"{names[1]} − {names[0]}",
        columns=columns,
        rows=tuple(rows),
        note=f"From {start:.6g} s to {end:.6g} s, in SI units.",
    )


FUNCTIONS = (
    Function(
        "run_derivatives",
        "Derivatives of a run",
        "Control",
        "Sensitivity of a motion to parameters and initial values: exact derivatives over time, ranked by "
        "their effect.\n\n"
        "The run starts at the present pose. Each integration step is differentiated exactly, including "
        "loops and discontinuities of formulas; no finite differences are used. There is no derivative "
        "across a change of dry friction, a stop or a limit: the results end before the first such event, "
        "which is reported.",
        run_derivatives,
        (
            Signals(
                "outputs",
                "Outputs",
                "Channels or formulas of channels, separated by commas; empty: the first coordinates",
                of="outputs",
            ),
            Signals(
                "by",
                "With respect to",
                "Parameters and initial values (joint.q, joint.v) with respect to which to differentiate; empty: the "
                "first parameters",
                of="run parameters",
            ),
            Text(
                "objective",
                "Objective",
                "Scalar computed from the whole run, such as rms(frame.velocity.z); empty: none",
            ),
            Values(
                "speeds",
                "Initial speeds",
                "Speeds at the start, by name; the others follow from the constraints or are zero",
                rate=1,
            ),
            Values("forces", "Joint forces", "Constant joint forces or torques by name; zero if not given", rate=-1),
            Number("duration", "Duration", "Duration of the run, s", 0.5, "time", 1e-6),
            Choice("integrator", "Method", "Integration method", "rk54", ("rk54", "rk853", "rk32", "rk4")),
            Number(
                "step",
                "Step",
                "Step size of a fixed-step method, s, or largest step size of a variable-step one; empty: chosen "
                "automatically",
                None,
                "time",
                1e-9,
            ),
        ),
        needs=(needs_motion, needs_mass, needs_continuous_signals),
        apart=True,
        also=("sensitivity", "gradient", "parameter study", "adjoint", "variational equations", "tornado"),
    ),
)
