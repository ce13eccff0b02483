"""Function for sensitivities of a run: derivatives by parameters and initial values, over time and ranked; and
comparison of two runs, channel by channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError
from core.functions.context import Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, Number, Signals, Text, Values
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column
from core.simulation import Run

if TYPE_CHECKING:
    from core.identification.sensitivities.gradient import Differentiated
    from core.identification.sensitivities.start_state_derivatives import Start
    from core.simulation import Run


Array = NDArray[np.float64]

POINTS = 400
"""Number of points of a curve."""
NAMES, OUTPUTS = 6, 3
"""Default numbers of parameters and of outputs, if none are named."""
DIAGRAMS = 12
"""Largest number of output components that are plotted."""
BEFORE = 0.999
"""Fraction of the time to the first event without derivative that is shown."""
SAMPLES = 2000
"""Number of times at which runs are compared."""


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
    from core.identification.sensitivities.replay import NoDerivative

    mech = context.mech
    names = tuple(by) or mech.p_names[:NAMES] or _start_speeds(context)
    if not names:
        text = "There is nothing to differentiate by: drivers prescribe the whole motion, and there are no parameters."
        return Message(title="Derivatives of a run", text=text, severity="hint")
    asked = tuple(outputs) or tuple(f"{name}.q" for name in _single_coordinate_joints(mech)[:OUTPUTS])
    if not asked:
        text = "Name outputs: no joint has a single coordinate."
        return Message(title="Derivatives of a run", text=text, severity="hint")
    title = f"Derivatives of a run of {duration:g} s"
    parts: list[Result] = []
    try:
        found = _differentiated(context, names, speeds, forces, duration, integrator, step)
    except NoDerivative as refusal:
        return Message(title=title, text=str(refusal), severity="error")
    except SimulationError as ended:
        time = (ended.time or 0.0) - context.t
        if not 0.0 < time < duration:
            return Message(title=title, text=str(ended), severity="error")
        parts.append(Message(text=f"{ended} The results below end before that time.", severity="warning"))
        duration = BEFORE * time
        try:
            found = _differentiated(context, names, speeds, forces, duration, integrator, step)
        except (NoDerivative, SimulationError) as again:
            return Message(title=title, text=str(again), severity="error")
    context.step(1, 2, "Derivatives")
    try:
        parts += _table_and_curves(context, found, asked, names)
        if objective.strip():
            parts.append(_gradient(context, found, objective, names))
    except SimulationError as ended:
        return Message(title=title, text=str(ended), severity="error")
    return Report(title=title, parts=tuple(parts))


def _start_speeds(context: Context) -> tuple[str, ...]:
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
    """Return the joints with one coordinate, those without driver first."""
    driven = {driver.joint for driver in mech.model.expanded.drivers}
    both = [name for name in mech.v_names if name in mech.q_names]
    return sorted(both, key=lambda name: name in driven)


def _differentiated(
    context: Context,
    names: Sequence[str],
    speeds: Mapping[str, float],
    forces: Mapping[str, float],
    duration: float,
    integrator: str,
    step: float | None,
) -> Differentiated:
    import numpy as np

    from core.identification.sensitivities.gradient import Differentiated
    from core.identification.sensitivities.replay import refuse
    from core.identification.sensitivities.start_state_derivatives import Start, columns_of
    from core.simulation import simulate

    mech, p = context.mech, dict(context.p) or None
    columns_of(mech, names)
    refuse(mech, integrator)
    context.step(0, 2, "Run")
    start: Start = Start(np.array(context.q), dict(speeds) or None, None, context.t)
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
    return Differentiated(run, names, start, dict(forces) or None)


def _table_and_curves(
    context: Context, found: Differentiated, asked: Sequence[str], names: Sequence[str]
) -> list[Result]:
    """Return a table of the derivatives at the end, and their curves."""
    import numpy as np

    from core.functions.text import without_rounding_errors

    times = np.linspace(found.first, found.last, POINTS + 1)
    eyes, slopes, values = found.over_time(asked, times)
    slopes = without_rounding_errors(slopes)
    sizes = [_reference_change(context, found, name) for name in names]
    rows: list[tuple[Cell, ...]] = []
    for k, output in enumerate(eyes.names):
        unit = eyes.units[k]
        order = sorted(range(len(names)), key=lambda m, k=k: -abs(float(slopes[-1, k, m]) * sizes[m]))  # type: ignore[misc]
        for m in order:
            slope = float(slopes[-1, k, m])
            rows.append((output, float(values[-1, k]), unit, names[m], slope, slope * sizes[m]))
    titles = ("Output", "At the end", "Unit", "By", "Derivative", "Change with 1 %")
    note = "SI, exact; change with 1 % of the parameter, of start values with 0.01 rad, m, rad/s or m/s; largest first"
    parts: list[Result] = [
        Table(title="What changes the end most", columns=tuple(map(Column, titles)), rows=tuple(rows), note=note)
    ]
    for k, output in enumerate(eyes.names[:DIAGRAMS]):
        series = tuple(Series(name, tuple(times), tuple(slopes[:, k, m])) for m, name in enumerate(names))
        parts.append(Diagram(title=f"∂ {output}", across="t [s]", up="Derivative (SI)", series=series))
    return parts


def _reference_change(context: Context, found: Differentiated, name: str) -> float:
    """Return 1 % of a parameter, or of the unit of an initial value."""
    known = context.mech.p_names
    return 0.01 * (abs(float(found.replay.p[known.index(name)])) if name in known else 1.0)


def _gradient(context: Context, found: Differentiated, objective: str, names: Sequence[str]) -> Table:
    value, slopes = found.gradient(objective, "auto")[:2]
    rows = [
        (name, float(slope), float(slope) * _reference_change(context, found, name))
        for name, slope in zip(names, slopes, strict=True)
    ]
    rows.sort(key=lambda row: -abs(row[2]))
    columns = (Column("By"), Column("Derivative"), Column("Change with 1 %"))
    return Table(title=f"{objective.strip()} = {value:.8g}", columns=columns, rows=tuple(rows), note="SI, exact")


def compared(first: Run, second: Run, names: tuple[str, str] = ("first", "second")) -> Table:
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
        Column("at t", "time"),
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
        "How a motion depends on parameters and on where it begins: exact derivatives over time, and which matters "
        "most.\n\nThe machine runs from the present pose; each step is differentiated, loops and switches of formulas "
        "included, no differences are taken. Dry friction, stops and limits that act have no derivative: the "
        "results end before the first of these events, which is reported.",
        run_derivatives,
        (
            Signals("outputs", "Outputs", "Channels or formulas of them; empty: some coordinates", of="outputs"),
            Signals(
                "by",
                "By",
                "Parameters, and start values as joint.q, joint.v; empty: the first parameters",
                of="run parameters",
            ),
            Text("objective", "Objective", "A number of the whole run, such as rms(frame.velocity.z); empty: none"),
            Values("speeds", "Start speeds", "Others follow, or are zero", rate=1),
            Values("forces", "Joint forces", "Constant forces or torques by name; others are zero", rate=-1),
            Number("duration", "Duration", "Of the run", 0.5, "time", 1e-6),
            Choice("integrator", "Method", "How the run is integrated", "rk54", ("rk54", "rk853", "rk32", "rk4")),
            Number("step", "Step", "Of fixed steps, longest of variable ones; empty: chosen", None, "time", 1e-9),
        ),
        needs=(needs_motion, needs_mass),
        apart=True,
        also=("sensitivity", "gradient", "parameter study", "adjoint", "variational equations", "tornado"),
    ),
)
