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
CRITERION_TITLES = {"condition": "Least condition", "determinant": "Largest determinant"}
TRACES = (".csv", ".txt", ".sim", ".h5", ".hdf5")
SHOWN = 400
"""Largest number of points of a curve in a diagram."""
DIAGRAMS = 8
"""Largest number of forces or channels that are plotted."""


def parts_of(text: str) -> tuple[str, ...]:
    """Split names separated by commas or blanks."""
    return tuple(part.strip() for part in split_outside_brackets(text.replace(";", ",")) if part.strip())


def columns_of_text(text: str) -> dict[str, str]:
    """Parse "joint1.q=angle [deg], joint1.tau=torque" to a mapping signal → column. Raises ModelError."""
    found = {}
    for part in parts_of(text):
        signal, equals, column = (each.strip() for each in part.partition("="))
        if not equals or not signal:
            raise ModelError(
                f"'{part}' does not assign a column.", where="option 'columns'", remedy="Write joint1.q=angle [deg], …"
            )
        found[signal] = column
    return found


def _trace_columns(context: Context, trace: str, columns: str) -> tuple[dict[str, str], list[Result]]:
    """Return a mapping signal → column, as given and as guessed from column names, with a message on the guesses."""
    from core.identification.measured_trace import guess_columns

    named = columns_of_text(columns)
    guessed = guess_columns(context.mech, trace, named)
    if not guessed:
        return named, []
    pairs = ", ".join(f"{signal} = {column}" for signal, column in guessed.items())
    text = f"Columns by their names: {pairs}. Say otherwise with the option columns."
    return {**guessed, **named}, [Message(text=text, severity="hint")]


def kinds_of(text: str) -> tuple[str, ...]:
    """Parse the kinds of parameters. Raises ModelError for an unknown kind."""
    from core.errors import near_misses

    found = parts_of(text)
    for name in found or ("",):
        if name not in KIND_NAMES:
            raise ModelError(
                f"'{name}' is not a kind of parameter." if name else "No kind of parameter is named.",
                where="option 'kinds'",
                remedy=near_misses(name, KIND_NAMES),
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
        kinds=kinds_of(kinds),
        only=parts_of(only),
        method=method,
        preparation=Preparation(cutoff=cutoff),
        held_back=held_back,
        p=dict(context.p) or None,
    )
    context.step(1, 3, "Making bodies physically consistent")
    parts = [*identification_parts(found), *guessed]
    if save:
        from core.files import save as write

        write(found.model, save)
        parts.append(Message(text=f"The machine with the identified values has been written to {save}."))
    return Report(title="Identification", parts=tuple(parts))


def identification_parts(found: Identification) -> list[Result]:
    """Report an identification from forces."""
    parts: list[Result] = [identification_verdict(found), _base_table(found), _force_table(found)]
    parts += [Message(text=f"{note[:1].upper()}{note[1:]}.", severity="hint") for note in found.notes]
    if found.validation is not None:
        parts += _validation_diagrams(found.validation, found.forces)
    return parts


def identification_verdict(found: Identification) -> Message:
    """Summarise an identification from forces in a sentence or two."""
    text = f"{found.base.rank} base parameters from {len(found.time)} rows"
    worst = _largest_error_text(found.validation, found.forces)
    text += f"; forces that the fit did not see are off by {worst}." if worst else "."
    doubtful = [found.forces[k] for k in found.fit.correlated]
    if doubtful:
        text += f" Residuals of {_some_names(doubtful)} are no white noise: the intervals are too narrow."
    if found.unseen:
        text += f" These data do not show {_some_names(found.unseen)}."
    if found.weak:
        weakest = _some_names(sorted(found.weak, key=len), 3)
        text += f" {len(found.weak)} are weak: zero is within their interval ({weakest})."
    return Message(text=text, severity="warning" if doubtful or found.unseen else "done")


def _some_names(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _largest_error_text(validation: Validation | None, names: Sequence[str]) -> str:
    """Name the largest validation error and its force; "" if no rows were held back."""
    import numpy as np

    if validation is None:
        return ""
    k = int(np.argmax(validation.relative))
    of = f" at most, of {names[k]}" if len(names) > 1 else ""
    return f"{100.0 * validation.relative[k]:.2g} % (rms){of}"


def _base_table(found: Identification) -> Table:
    columns = (Column("Base parameter"), Column("Model"), Column("Estimate"), Column("95 % from"), Column("to"),
               Column("Of bodies that can be"))  # fmt: skip
    values = (found.base.values, found.estimate, *found.intervals.T, found.attained)
    rows = tuple(
        (name, *(float(f"{x:.6g}") for x in row))
        for name, *row in zip(found.names, *(each.tolist() for each in values), strict=True)
    )
    return Table(title="Base parameters", columns=columns, rows=rows, note="SI; combinations as their names say")


def _force_table(found: Identification) -> Table:
    columns = (Column("Force"), Column("Noise"), Column("Correlation of neighbours"), Column("Error on rows held back"))
    relative = found.validation.relative.tolist() if found.validation is not None else [None] * len(found.forces)
    rows: list[tuple[Cell, ...]] = []
    for name, noise, white, error in zip(found.forces, found.fit.sigma, found.fit.whiteness, relative, strict=True):
        shown = None if error is None else float(f"{error:.3g}")
        rows.append((name, float(f"{noise:.4g}"), float(f"{white.neighbours:.3g}"), shown))
    return Table(
        title="Forces", columns=columns, rows=tuple(rows), note="noise in N·m or N; error in parts of the force"
    )


def _validation_diagrams(validation: Validation, names: Sequence[str]) -> list[Result]:
    every = max(1, len(validation.time) // SHOWN)
    return [
        Diagram(
            title=f"{name} on rows held back",
            across="t, s",
            up=name,
            series=(
                _curve("measured", validation.time, validation.measured[:, k], every),
                _curve("by the fit", validation.time, validation.predicted[:, k], every),
            ),
        )
        for k, name in enumerate(names[:DIAGRAMS])
    ]


def _curve(name: str, time: NDArray[np.float64], values: NDArray[np.float64], every: int) -> Series:
    return Series(name, tuple(map(float, time[::every])), tuple(map(float, values[::every])))


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
        names = ", ".join(context.mech.p_names) or "none; give the model parameters"
        text = f"Give a trace, and name what is varied. Free parameters: {names}."
        return Report(title="Fit of a run", parts=(Message(text=text, severity="hint"),))
    context.step(0, 1, "Fit")

    def watch(step: int, values: Mapping[str, float], size: float) -> None:
        context.progress(min(0.95, step / 20.0), f"Step {step}: {size:.4g}")

    named, guessed = _trace_columns(context, trace, columns)
    found = fitted(
        context.mech,
        trace,
        named,
        vary=bounds_of_option(vary),
        free=None if not free.strip() else () if free.strip() == "none" else parts_of(free),
        outputs=parts_of(outputs),
        q0={name.removesuffix(".q"): value for name, value in start.items() if not name.endswith(".v")},
        v0={name.removesuffix(".v"): value for name, value in start.items() if name.endswith(".v")},
        torque=torque_of_text(torque),
        segments=segments,
        held_back=held_back,
        watch=watch,
        cancelled=context.cancelled,
    )
    parts = [*run_fit_parts(found), *guessed]
    if save:
        from core.files import save as write

        write(found.model, save)
        parts.append(Message(text=f"The machine with the identified values has been written to {save}."))
    return Report(title="Fit of a run", parts=tuple(parts))


def bounds_of_option(vary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds for `fit_run`; the bounds of the parameter itself by default."""
    import numpy as np

    return {name: None if not np.any(np.isfinite(ends)) else ends for name, ends in vary.items()}


def torque_of_text(text: str) -> dict[str, str] | None:
    """Parse joint forces from "joint1=10*sin(t); joint2=…"; None for an empty text, since the trace may contain them.
    Raises ModelError."""
    found = {}
    for part in (each.strip() for each in text.split(";") if each.strip()):
        name, equals, formula = (each.strip() for each in part.partition("="))
        if not equals:
            raise ModelError(
                f"'{part}' does not assign a force.", where="option 'torque'", remedy="Write joint1=10*sin(t); …"
            )
        found[name] = formula
    return found or None


def run_fit_parts(found: RunFit) -> list[Result]:
    """Report the fit of a run."""
    rows: list[tuple[Cell, ...]] = [
        (name, float(f"{x:.7g}"), float(f"{low:.6g}"), float(f"{high:.6g}"))
        for name, x, (low, high) in zip(found.names, found.estimate, found.intervals, strict=True)
    ]
    columns = (Column("Name"), Column("Estimate"), Column("95 % from"), Column("to"))
    parts: list[Result] = [
        run_fit_verdict(found),
        Table(title="Estimates", columns=columns, rows=tuple(rows), note="SI"),
    ]
    parts += [Message(text=f"{note[:1].upper()}{note[1:]}.", severity="hint") for note in found.notes]
    every = max(1, len(found.time) // SHOWN)
    for k, name in enumerate(found.outputs[:DIAGRAMS]):
        series = [
            _curve("measured", found.time, found.measured[:, k], every),
            _curve("fitted", found.time, found.predicted[:, k], every),
        ]
        if found.validation is not None:
            series.append(_curve("held back", found.validation.time, found.validation.measured[:, k], every))
            series.append(_curve("foretold", found.validation.time, found.validation.predicted[:, k], every))
        parts.append(Diagram(title=name, across="t, s", up=name, series=tuple(series)))
        residual = _curve("residual", found.time, found.fit.residuals[:, k], every)
        parts.append(Diagram(title=f"Residuals of {name}", across="t, s", up=name, series=(residual,)))
    return parts


def run_fit_verdict(found: RunFit) -> Message:
    """Summarise the fit of a run in a sentence or two."""
    sizes = ", ".join(f"{name} to {size:.3g}" for name, size in zip(found.outputs, found.rms, strict=True))
    text = f"Met in {found.iterations} steps: {sizes} (rms)."
    if not found.converged:
        text = f"Stopped after {found.iterations} steps: {sizes} (rms)."
    if found.validation is not None:
        text += f" Rows that the fit did not see are off by {_largest_error_text(found.validation, found.outputs)}."
    if found.at_bounds:
        text += f" At a bound: {_some_names(found.at_bounds)}."
    if found.doubtful:
        text += f" Residuals of {_some_names(found.doubtful)} are no white noise: the intervals are too narrow."
    if found.weak:
        text += f" Zero is within the interval of {_some_names(found.weak)}."
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
    """Design a periodic motion that excites the parameters well."""
    from core.identification.excitation import excitation as exciting

    context.step(0, 1, "Search")
    found = exciting(
        context.mech,
        kinds=kinds_of(kinds),
        only=parts_of(only),
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
    series = tuple(_curve(name, found.time, found.q[:, k], every) for k, name in enumerate(context.mech.v_names))
    parts.append(Diagram(title="Exciting motion", across="t, s", up="q, rad or m", series=series))
    if save:
        found.save(save)
        parts.append(Message(text=f"The trajectory has been written to {save}."))
    return Report(title="Exciting motion", parts=tuple(parts))


def excitation_summary(found: Excitation) -> str:
    """Summarise an excitation in a sentence or two."""
    text = f"Condition {found.condition:.3g} (that of the first motion tried: {found.before:.3g}) for "
    text += f"{found.base.rank} base parameters."
    return f"{text} Limits that are reached: {_some_names(found.active)}." if found.active else text


def _moves_freely(context: Context) -> str:
    mech = context.mech
    if mech.constrained or mech.nq != mech.nv:
        return "The model is no open chain of joints with one coordinate each, for which exciting motions are made."
    return ""


_TRACE = InputFile("trace", "Trace", "CSV, SIMNON or HDF5 file with the time and signals", suffixes=TRACES)
_COLUMNS = Text(
    "columns",
    "Columns",
    "Signals that are called otherwise: joint.q=angle [deg], joint.tau=torque; what names suggest (torque_2) is found",
    joined=", ",
)
_ONLY = Text("only", "Only", "Bodies and joints; empty: all", joined=", ")
_KINDS = Text("kinds", "Kinds", "Of inertia, armature, damping, friction, stiffness", KINDS, joined=", ")
_SAVE = OutputFile("save", "Save as", "File of the machine with what was found; empty: none", suffixes=(".kst",))
_HELD_BACK = Number("held_back", "Validation", "Fraction of the rows, at the end, used for validation", 0.25,
                    minimum=0.0, maximum=0.8)  # fmt: skip

FUNCTIONS = (
    Function(
        "identify",
        "Identify parameters (forces of a motion)",
        "Dynamics",
        "Masses, inertias, friction and stiffness from a motion with its forces.\n\nForces are linear in combinations "
        "of these (base parameters), which least squares find with 95 % intervals. Positions are smoothed or filtered "
        "and differentiated; rows at the end are held back for validation. Parameters that the data do not show, weak "
        "ones, and ones that the residuals make doubtful are named.",
        identify,
        (
            _TRACE,
            _COLUMNS,
            _KINDS,
            _ONLY,
            Choice("method", "Method", "Least squares", "weighted", choices=tuple(METHOD_TITLES), titles=METHOD_TITLES),
            Number("cutoff", "Cut-off", "Of a filter without delay; empty: smoothing splines", None,
                   dimension="frequency", minimum=1e-6),
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
        "Parameters and start values with which a run meets measured channels.\n\nGauss–Newton steps with exact "
        "derivatives of the run, within bounds; long or unstable traces in segments (multiple shooting). Forces of "
        "joints in the trace drive the run. Estimates have 95 % intervals; rows held back serve as validation.",
        fit_run,
        (
            _TRACE,
            _COLUMNS,
            SignalValues("vary", "Vary", "Parameters: k, c=0:5 … ; without bounds those of the parameter",
                         of="run parameters", ranges=True),
            Text("free", "Free start values", "As joint.q, joint.v; empty: all independent ones; none", joined=", "),
            SignalValues("start", "Known start values", "As pin.q=30 deg, pin.v=0; others as the model says",
                         of="run parameters"),
            Text("outputs", "Channels", "That are met; empty: all of the trace that are no forces", joined=", "),
            Text("torque", "Joint forces", "joint=10*sin(t); … ; empty: those of the trace", joined="; "),
            Integer("segments", "Segments", "Pieces of the trace with their own initial state", 1, 1, 1000),
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
        "A periodic motion that shows the parameters well.\n\nFinite Fourier series in every joint, within limits of "
        "position, speed, acceleration and force, improved until the regressor's condition is least or its determinant "
        "largest. Save it as a trace, let the robot run it, and measure.",
        excitation,
        (
            _KINDS,
            _ONLY,
            Number("period", "Period", "", 10.0, dimension="time", minimum=1e-3),
            Integer("harmonics", "Harmonics", "Of the base frequency", 5, 2, 40),
            Choice("criterion", "Criterion", "What is improved", "condition", choices=tuple(CRITERION_TITLES),
                   titles=CRITERION_TITLES),
            Number("speed", "Largest speed", "Beside the limits of the joints, rad/s or m/s", None, minimum=1e-9),
            Number("acceleration", "Largest acceleration", "rad/s² or m/s²", None, minimum=1e-9),
            Number("rate", "Rate", "Rows a second", 100.0, dimension="frequency", minimum=1e-3),
            Integer("starts", "Starts", "Random motions from which it is improved", 1, 1, 100),
            OutputFile("save", "Save the trace as", "CSV; empty: none", suffixes=(".csv",)),
        ),
        needs=(needs_motion, _moves_freely),
        apart=True,
        reads="machine",
        also=("excitation trajectory", "optimal experiment", "persistent excitation"),
    ),
)  # fmt: skip
