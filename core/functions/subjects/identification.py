"""Functions for identification: parameters of a machine from measurements, and motions that excite them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.functions.context import Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_motion
from core.functions.option_texts import split_outside_brackets
from core.functions.options import Choice, InputFile, Integer, Number, OutputFile, SignalValues, Text
from core.functions.results import Message, Motion, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.identification.excitation import Excitation
    from core.identification.identify import Identification
    from core.identification.linear_fit import Validation
    from core.identification.output_error import RunFit


KIND_NAMES = ("inertia", "armature", "damping", "friction", "stiffness")
KINDS = "inertia, armature, damping, friction"
"""Kinds of parameters that are identified by default."""
METHOD_TITLES = {"weighted": "Weighted", "ordinary": "Ordinary", "total": "Total least squares"}
CRITERION_TITLES = {"condition": "Smallest condition number", "determinant": "Largest determinant"}
TRACES = (".csv", ".txt", ".sim", ".h5", ".hdf5")
SHOWN = 400
"""Largest number of points of a curve in a diagram."""
DIAGRAMS = 8
"""Largest number of forces or channels that are plotted."""


def split_names(text: str) -> tuple[str, ...]:
    """Split a string of names separated by commas or blanks."""
    return tuple(part.strip() for part in split_outside_brackets(text.replace(";", ",")) if part.strip())


def parse_columns(text: str) -> dict[str, str]:
    """Parse "joint1.q=angle [deg], joint1.tau=torque" to a mapping signal → column. Raises ModelError."""
    found = {}
    for part in split_names(text):
        signal, equals, column = (each.strip() for each in part.partition("="))
        if not equals or not signal:
            raise ModelError(
                f"'{part}' does not assign a column.", where="option 'columns'", remedy="Write joint1.q=angle [deg], …"
            )
        found[signal] = column
    return found


def _trace_columns(context: Context, trace: str, columns: str) -> tuple[dict[str, str], list[Result]]:
    """Return the mapping signal → column, as given and as guessed from column names, with a message that lists the
    guesses."""
    from core.identification.measured_trace import guess_columns

    named = parse_columns(columns)
    guessed = guess_columns(context.mech, trace, named)
    if not guessed:
        return named, []
    pairs = ", ".join(f"{signal} = {column}" for signal, column in guessed.items())
    text = f"Columns recognised by their names: {pairs}. Use the option columns to assign others."
    return {**guessed, **named}, [Message(text=text, severity="hint")]


def parse_kinds(text: str) -> tuple[str, ...]:
    """Parse the kinds of parameters. Raises ModelError for an unknown kind."""
    from core.errors import suggest_names

    found = split_names(text)
    for name in found or ("",):
        if name not in KIND_NAMES:
            raise ModelError(
                f"'{name}' is not a kind of parameter." if name else "No kind of parameter is given.",
                where="option 'kinds'",
                remedy=suggest_names(name, KIND_NAMES),
            )
    return found


def identify(
    context: Context,
    trace: str,
    columns: str,
    kinds: str,
    only: str,
    method: Any,
    cutoff: float | None,
    held_back: float,
    save: str,
) -> Result:
    """Identify parameters of the inverse dynamics from a measured motion with its forces."""
    from core.identification.identify import identify as identified
    from core.identification.measured_motion import Preparation

    if not trace:
        names = ", ".join(f"{name}.q, {name}.tau" for name in context.mech.v_names[:2])
        text = f"Give a file with the columns time, {names} … (CSV, SIMNON or HDF5)."
        return Report(title="Identification", parts=(Message(text=text, severity="hint"),))
    context.step(0, 3, "Trace and fit")
    named, guessed = _trace_columns(context, trace, columns)
    found = identified(
        context.mech,
        trace,
        named,
        kinds=parse_kinds(kinds),
        only=split_names(only),
        method=method,
        preparation=Preparation(cutoff=cutoff),
        held_back=held_back,
        p=dict(context.p) or None,
    )
    context.step(1, 3, "Fitting physically consistent bodies")
    parts = [*identification_results(found), *guessed]
    if save:
        from core.files import save as write

        write(found.model, save)
        parts.append(Message(text=f"The machine with the identified values has been written to {save}."))
    return Report(title="Identification", parts=tuple(parts))


def identification_results(found: Identification) -> list[Result]:
    """Return the tables, diagrams and messages that report an identification from measured forces."""
    parts: list[Result] = [identification_message(found), _base_parameter_table(found), _force_fit_table(found)]
    parts += [Message(text=f"{note[:1].upper()}{note[1:]}.", severity="hint") for note in found.notes]
    if found.validation is not None:
        parts += _validation_diagrams(found.validation, found.forces)
    return parts


def identification_message(found: Identification) -> Message:
    """Summarise an identification from measured forces in a sentence or two."""
    text = f"{found.base.rank} base parameters from {len(found.time)} rows"
    worst = _largest_error_text(found.validation, found.forces)
    text += f"; validation error of the forces {worst}." if worst else "."
    doubtful = [found.forces[k] for k in found.fit.correlated_forces]
    if doubtful:
        text += f" Residuals of {_abbreviate_names(doubtful)} are not white noise, so the intervals are too narrow."
    if found.unseen:
        text += f" The data do not determine {_abbreviate_names(found.unseen)}."
    if found.weak:
        weakest = _abbreviate_names(sorted(found.weak, key=len), 3)
        text += f" {len(found.weak)} are not significant: their intervals contain zero ({weakest})."
    return Message(text=text, severity="warning" if doubtful or found.unseen else "done")


def _abbreviate_names(names: Sequence[str], limit: int = 5) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _largest_error_text(validation: Validation | None, names: Sequence[str]) -> str:
    """Name the force with the largest validation error; "" if no rows were held back."""
    import numpy as np

    if validation is None:
        return ""
    k = int(np.argmax(validation.relative))
    of = f" at most, for {names[k]}" if len(names) > 1 else ""
    return f"{100.0 * validation.relative[k]:.2g} % (rms){of}"


def _base_parameter_table(identification: Identification) -> Table:
    columns = (Column("Base parameter"), Column("Model"), Column("Estimate"), Column("95 % from"), Column("to"),
               Column("Physically consistent"))  # fmt: skip
    values = (identification.base.values, identification.estimate, *identification.intervals.T, identification.attained)
    rows = tuple(
        (name, *(float(f"{x:.6g}") for x in row))
        for name, *row in zip(identification.names, *(each.tolist() for each in values), strict=True)
    )
    return Table(
        title="Base parameters",
        columns=columns,
        rows=rows,
        note="SI; each base parameter is the linear combination given by its name",
    )


def _force_fit_table(identification: Identification) -> Table:
    columns = (
        Column("Force"),
        Column("Noise"),
        Column("Correlation of successive residuals"),
        Column("Validation error"),
    )
    relative = (
        identification.validation.relative.tolist()
        if identification.validation is not None
        else [None] * len(identification.forces)
    )
    rows: list[tuple[Cell, ...]] = []
    for name, noise, white, error in zip(
        identification.forces, identification.fit.sigma, identification.fit.whiteness, relative, strict=True
    ):
        shown = None if error is None else float(f"{error:.3g}")
        rows.append((name, float(f"{noise:.4g}"), float(f"{white.neighbours:.3g}"), shown))
    return Table(
        title="Forces",
        columns=columns,
        rows=tuple(rows),
        note="noise in N·m or N; validation error relative to the force",
    )


def _validation_diagrams(validation: Validation, names: Sequence[str]) -> list[Result]:
    every = max(1, len(validation.time) // SHOWN)
    return [
        Diagram(
            title=f"{name}, validation",
            across="t, s",
            up=name,
            series=(
                _thinned_curve("measured", validation.time, validation.measured[:, k], every),
                _thinned_curve("predicted", validation.time, validation.predicted[:, k], every),
            ),
        )
        for k, name in enumerate(names[:DIAGRAMS])
    ]


def _thinned_curve(name: str, time: NDArray[np.float64], values: NDArray[np.float64], stride: int) -> Series:
    return Series(name, tuple(map(float, time[::stride])), tuple(map(float, values[::stride])))


# --------------------------------------------------------------------------------------------- runs


def fit_run(
    context: Context,
    trace: str,
    columns: str,
    vary: Mapping[str, Any],
    free: str,
    start: Mapping[str, float],
    outputs: str,
    torque: str,
    segments: int,
    held_back: float,
    save: str,
) -> Result:
    """Fit parameters and initial values of a simulated run to measurements."""
    from core.identification.output_error import fit_run as fitted

    if not trace or not vary:
        names = ", ".join(context.mech.p_names) or "none; add parameters to the model"
        text = f"Give a trace and the parameters to vary. Free parameters: {names}."
        return Report(title="Fit of a run", parts=(Message(text=text, severity="hint"),))
    context.step(0, 1, "Fit")

    def watch(step: int, values: Mapping[str, float], size: float) -> None:
        context.progress(min(0.95, step / 20.0), f"Step {step}: {size:.4g}")

    named, guessed = _trace_columns(context, trace, columns)
    found = fitted(
        context.mech,
        trace,
        named,
        vary=parse_bounds(vary),
        free=None if not free.strip() else () if free.strip() == "none" else split_names(free),
        outputs=split_names(outputs),
        q0={name.removesuffix(".q"): value for name, value in start.items() if not name.endswith(".v")},
        v0={name.removesuffix(".v"): value for name, value in start.items() if name.endswith(".v")},
        torque=parse_torques(torque),
        segments=segments,
        held_back=held_back,
        watch=watch,
        cancelled=context.cancelled,
    )
    parts = [*run_fit_results(found), *guessed]
    if save:
        from core.files import save as write

        write(found.model, save)
        parts.append(Message(text=f"The machine with the identified values has been written to {save}."))
    return Report(title="Fit of a run", parts=tuple(parts))


def parse_bounds(vary: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the option to bounds for `fit_run`; a name without bounds takes those of the parameter itself."""
    import numpy as np

    return {name: None if not np.any(np.isfinite(ends)) else ends for name, ends in vary.items()}


def parse_torques(text: str) -> dict[str, str] | None:
    """Parse joint forces such as "joint1=10*sin(t); joint2=…"; None for an empty string, since the trace may contain
    the forces. Raises ModelError."""
    found = {}
    for part in (each.strip() for each in text.split(";") if each.strip()):
        name, equals, formula = (each.strip() for each in part.partition("="))
        if not equals:
            raise ModelError(
                f"'{part}' does not assign a force.", where="option 'torque'", remedy="Write joint1=10*sin(t); …"
            )
        found[name] = formula
    return found or None


def run_fit_results(found: RunFit) -> list[Result]:
    """Return the tables, diagrams and messages that report the fit of a run."""
    rows: list[tuple[Cell, ...]] = [
        (name, float(f"{x:.7g}"), float(f"{low:.6g}"), float(f"{high:.6g}"))
        for name, x, (low, high) in zip(found.names, found.estimate, found.intervals, strict=True)
    ]
    columns = (Column("Name"), Column("Estimate"), Column("95 % from"), Column("to"))
    parts: list[Result] = [
        run_fit_message(found),
        Table(title="Estimates", columns=columns, rows=tuple(rows), note="SI"),
    ]
    parts += [Message(text=f"{note[:1].upper()}{note[1:]}.", severity="hint") for note in found.notes]
    every = max(1, len(found.time) // SHOWN)
    for k, name in enumerate(found.outputs[:DIAGRAMS]):
        series = [
            _thinned_curve("measured", found.time, found.measured[:, k], every),
            _thinned_curve("fitted", found.time, found.predicted[:, k], every),
        ]
        if found.validation is not None:
            series.append(
                _thinned_curve("measured (validation)", found.validation.time, found.validation.measured[:, k], every)
            )
            series.append(
                _thinned_curve("predicted (validation)", found.validation.time, found.validation.predicted[:, k], every)
            )
        parts.append(Diagram(title=name, across="t, s", up=name, series=tuple(series)))
        residual = _thinned_curve("residual", found.time, found.fit.residuals[:, k], every)
        parts.append(Diagram(title=f"Residuals of {name}", across="t, s", up=name, series=(residual,)))
    return parts


def run_fit_message(found: RunFit) -> Message:
    """Summarise the fit of a run in a sentence or two."""
    sizes = ", ".join(f"{name} to {size:.3g}" for name, size in zip(found.outputs, found.rms, strict=True))
    text = f"Converged in {found.iterations} iterations: {sizes} (rms)."
    if not found.converged:
        text = f"Stopped after {found.iterations} iterations without convergence: {sizes} (rms)."
    if found.validation is not None:
        text += f" Validation error {_largest_error_text(found.validation, found.outputs)}."
    if found.at_bounds:
        text += f" At their bounds: {_abbreviate_names(found.at_bounds)}."
    if found.doubtful:
        text += (
            f" Residuals of {_abbreviate_names(found.doubtful)} are not white noise, so the intervals are too narrow."
        )
    if found.weak:
        text += f" Not significant, since the interval contains zero: {_abbreviate_names(found.weak)}."
    clear = found.converged and not found.doubtful and not found.at_bounds
    return Message(text=text, severity="done" if clear else "warning")


# --------------------------------------------------------------------------------------- exciting motions


def excitation(
    context: Context,
    kinds: str,
    only: str,
    period: float,
    harmonics: int,
    criterion: Any,
    speed: float | None,
    acceleration: float | None,
    rate: float,
    starts: int,
    save: str,
) -> Result:
    """Design a periodic motion in which the parameters are well identifiable."""
    from core.identification.excitation import excitation as exciting

    context.step(0, 1, "Search")
    found = exciting(
        context.mech,
        kinds=parse_kinds(kinds),
        only=split_names(only),
        period=period,
        harmonics=harmonics,
        criterion=criterion,
        speed=speed,
        acceleration=acceleration,
        rate=rate,
        starts=starts,
        p=dict(context.p) or None,
        progress=lambda part: context.progress(part, "Search"),
        cancelled=context.cancelled,
    )
    parts: list[Result] = [
        Message(text=excitation_summary(found)),
        Motion(title="Exciting motion", run=found.run(dict(context.p) or None)),
    ]
    every = max(1, len(found.time) // SHOWN)
    series = tuple(
        _thinned_curve(name, found.time, found.q[:, k], every) for k, name in enumerate(context.mech.v_names)
    )
    parts.append(Diagram(title="Exciting motion", across="t, s", up="q, rad or m", series=series))
    if save:
        found.save(save)
        parts.append(Message(text=f"The trajectory has been written to {save}."))
    return Report(title="Exciting motion", parts=tuple(parts))


def excitation_summary(found: Excitation) -> str:
    """Summarise an excitation in a sentence or two."""
    text = f"Condition number {found.condition:.3g} ({found.before:.3g} for the first motion tried) for "
    text += f"{found.base.rank} base parameters."
    return f"{text} Active limits: {_abbreviate_names(found.active)}." if found.active else text


def _needs_open_chain(context: Context) -> str:
    mech = context.mech
    if mech.constrained or mech.nq != mech.nv:
        return "Exciting motions are available only for open chains of joints with one coordinate each."
    return ""


_TRACE = InputFile("trace", "Trace", "CSV, SIMNON or HDF5 file with the time and the measured signals", suffixes=TRACES)
_COLUMNS = Text(
    "columns",
    "Columns",
    "Columns with other names: joint.q=angle [deg], joint.tau=torque; names such as torque_2 are "
    "recognised automatically",
    joined=", ",
)
_ONLY = Text("only", "Bodies and joints", "Bodies and joints whose parameters are identified; empty: all", joined=", ")
_KINDS = Text(
    "kinds",
    "Kinds of parameters",
    "Kinds of parameters: inertia, armature, damping, friction, stiffness",
    KINDS,
    joined=", ",
)
_SAVE = OutputFile("save", "Save as", "Machine file (.kst) with the identified values; empty: none", suffixes=(".kst",))
_HELD_BACK = Number(
    "held_back",
    "Validation",
    "Fraction of the rows, at the end of the trace, that is used for validation only",
    0.25,
    minimum=0.0,
    maximum=0.8,
)

FUNCTIONS = (
    Function(
        "identify",
        "Identify parameters (forces of a motion)",
        "Dynamics",
        "Identify masses, inertias, friction and stiffness from a measured motion with its forces.\n\n"
        "Forces are linear in certain combinations of the parameters (base parameters), which are estimated "
        "by least squares with 95 % confidence intervals. Positions are smoothed or filtered and "
        "differentiated; rows at the end are kept for validation. Parameters that the data do not determine, "
        "that are not significant, or whose residuals are correlated are reported.",
        identify,
        (
            _TRACE,
            _COLUMNS,
            _KINDS,
            _ONLY,
            Choice(
                "method",
                "Method",
                "Kind of least-squares estimate",
                "weighted",
                choices=tuple(METHOD_TITLES),
                titles=METHOD_TITLES,
            ),
            Number(
                "cutoff",
                "Cut-off",
                "Cut-off frequency of a zero-phase filter, Hz; empty: smoothing splines instead of a filter",
                None,
                dimension="frequency",
                minimum=1e-6,
            ),
            _HELD_BACK,
            _SAVE,
        ),
        needs=(needs_motion,),
        apart=True,
        reads="machine",
        argument="trace",
        also=("parameter identification", "system identification", "base parameters", "calibration of dynamics"),
    ),
    Function(
        "fit_run",
        "Fit a run (output error)",
        "Dynamics",
        "Estimate parameters and initial values with which a simulated run reproduces measured channels.\n\n"
        "Gauss–Newton iterations with exact derivatives of the run, within bounds; long or unstable traces "
        "are divided into segments (multiple shooting). Joint forces in the trace are applied in the run. "
        "Estimates have 95 % confidence intervals; rows at the end are kept for validation.",
        fit_run,
        (
            _TRACE,
            _COLUMNS,
            SignalValues(
                "vary",
                "Vary",
                "Parameters to estimate, with bounds: k, c=0:5 …; without bounds, those of the parameter apply",
                of="run parameters",
                ranges=True,
            ),
            Text(
                "free",
                "Initial values to estimate",
                "Initial values to estimate, such as joint.q, joint.v; empty: all independent ones; none: no initial "
                "value",
                joined=", ",
            ),
            SignalValues(
                "start",
                "Known initial values",
                "Initial values that are known, such as pin.q=30 deg, pin.v=0; the others start as in the model",
                of="run parameters",
            ),
            Text(
                "outputs",
                "Channels",
                "Measured channels to fit; empty: all channels of the trace except forces",
                joined=", ",
            ),
            Text(
                "torque",
                "Joint forces",
                "Joint forces as functions of time: joint=10*sin(t); …; empty: the forces in the trace",
                joined="; ",
            ),
            Integer(
                "segments", "Segments", "Number of segments of the trace, each with its own initial state", 1, 1, 1000
            ),
            _HELD_BACK,
            _SAVE,
        ),
        needs=(needs_motion,),
        apart=True,
        reads="machine",
        argument="trace",
        also=("output error", "parameter estimation", "multiple shooting", "curve fit", "grey box"),
    ),
    Function(
        "excitation",
        "Exciting motion",
        "Dynamics",
        "Design a periodic motion in which the parameters are well identifiable.\n\n"
        "Each joint follows a finite Fourier series within the limits of position, speed, acceleration and "
        "force; the series are optimised for the smallest condition number of the regressor or its largest "
        "determinant. Save the motion as a trace, run it on the robot, and measure.",
        excitation,
        (
            _KINDS,
            _ONLY,
            Number("period", "Period", "", 10.0, dimension="time", minimum=1e-3),
            Integer("harmonics", "Harmonics", "Number of harmonics of the base frequency 1/period", 5, 2, 40),
            Choice(
                "criterion",
                "Criterion",
                "Quantity to optimise",
                "condition",
                choices=tuple(CRITERION_TITLES),
                titles=CRITERION_TITLES,
            ),
            Number(
                "speed",
                "Largest speed",
                "Largest speed, rad/s or m/s, in addition to the limits of the joints; empty: only these",
                None,
                minimum=1e-9,
            ),
            Number(
                "acceleration",
                "Largest acceleration",
                "Largest acceleration, rad/s² or m/s²; empty: no limit",
                None,
                minimum=1e-9,
            ),
            Number("rate", "Rate", "Rows per second of the saved trace", 100.0, dimension="frequency", minimum=1e-3),
            Integer("starts", "Starts", "Number of random motions from which the optimisation starts", 1, 1, 100),
            OutputFile("save", "Save the trace as", "CSV file for the trajectory; empty: none", suffixes=(".csv",)),
        ),
        needs=(needs_motion, _needs_open_chain),
        apart=True,
        reads="machine",
        also=("excitation trajectory", "optimal experiment", "persistent excitation"),
    ),
)
