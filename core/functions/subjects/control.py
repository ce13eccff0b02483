"""Functions for control: linear systems with inputs and outputs, feedback, operating points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.functions.context import Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_continuous_signals, needs_mass, needs_motion
from core.functions.options import (
    Choice,
    ElementName,
    Flag,
    Number,
    OutputFile,
    Range,
    Ranges,
    Signals,
    SignalValues,
    Text,
    Values,
)
from core.functions.results import Matrix, Message, PoseSequence, Report, Result, Table, to_row_tuples
from core.functions.subjects.dynamics import SPEEDS_FOLLOW
from core.functions.text import Cell, Column, format_number

if TYPE_CHECKING:
    from core.control.linear_system import LinearSystem
    from core.control.root_locus import RootLocus

PAIRS = 6
"""Largest number of input–output pairs shown in diagrams."""
POINTS = 400
"""Number of points per curve."""
FRAMES = 32
"""Number of poses in the animation of a vibration mode."""
AMPLITUDE = 0.25
"""Largest coordinate in the animation of a vibration mode, rad or fractions of the machine's size."""
MODES = 12
"""Largest number of vibration modes offered as animations."""


def linear_system(
    context: Context,
    point: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    coordinates: str,
    speeds: dict[str, float],
    forces: dict[str, float],
    driver_as: str,
    friction: bool,
    duration: float | None,
    file: str,
) -> Result:
    """Compute A, B, C, D about the present pose or an operating point, with poles, zeros and responses."""
    from core.functions.text import without_rounding_errors

    context.step(0, 3, "Derivatives of the motion")
    system = _linear_system_at(context, inputs, outputs, coordinates, speeds, forces, driver_as, friction, point)
    context.step(1, 3, "Responses")
    parts: list[Result] = [_point_message(system)]
    sides = {"A": (system.state_names,) * 2, "B": (system.state_names, system.input_names)}
    sides |= {"C": (system.output_names, system.state_names), "D": (system.output_names, system.input_names)}
    notes = {"A": "ẋ = A x + B w", "B": "by inputs w", "C": "y = C x + D w", "D": "direct feedthrough"}
    for name, (rows, columns) in sides.items():
        if rows and columns:
            entries = to_row_tuples(without_rounding_errors(getattr(system, name)))
            parts.append(Matrix(title=name, symbol=name, entries=entries, rows=rows, columns=columns, note=notes[name]))
    parts += [_point_table(system), mode_table(system)]
    parts += _system_diagrams(system, duration)
    parts += _mode_animations(context, system)
    if file:
        parts.append(_write_system_file(system, file))
    return Report(title="Linear system", parts=tuple(parts))


def _linear_system_at(
    context: Context,
    inputs: Sequence[str],
    outputs: Sequence[str],
    coordinates: str,
    speeds: Mapping[str, float],
    forces: Mapping[str, float],
    driver_as: str = "signal",
    friction: bool = True,
    point: str = "",
) -> LinearSystem:
    from core.control.linear_system import LinearSystem
    from core.control.linearise import linearise
    from core.functions.subjects.operating_points import operating_point

    at = (
        operating_point(context, {}, {}, {}, (), speeds, forces, point).solve().raise_unless_fulfilled()
        if point
        else context.q
    )
    named = [part.strip() for part in coordinates.split(",") if part.strip()] or "auto"
    found = linearise(
        context.mech,
        at,
        inputs=inputs,
        outputs=outputs,
        coordinates=named,
        v=dict(speeds),
        tau=dict(forces),
        p=dict(context.p) or None,
        t=context.t,
        driver_as="acceleration" if driver_as == "acceleration" else "signal",
        friction=friction,
    )
    assert isinstance(found, LinearSystem)
    return found


def _point_message(system: LinearSystem) -> Message:
    """State whether the pose is an operating point, and which modes are uncontrollable or unobservable."""
    words = " ".join(system.remarks())
    if not system.at_rest:
        worst = max(range(len(system.residual)), key=lambda k: abs(system.residual[k]))
        name, rate = system.state_names[worst], system.residual[worst]
        unit = _unit_of_rate(system.units.states[worst])
        text = f"This is not an operating point: {name} changes at a rate of {rate:.4g} {unit}. The linear "
        text += "system describes deviations from the motion that starts here. Use Operating point (trim) to find one."
        return Message(text=f"{text} {words}".rstrip(), severity="hint")
    text = "This is an operating point. All modes are controllable and observable."
    if words or not (system.input_names and system.output_names):
        text = f"This is an operating point. {words}".rstrip()
    return Message(text=text, severity="hint" if words else "done")


def _point_table(system: LinearSystem) -> Table:
    """Table of the operating point from which deviations are measured."""
    from core.functions.text import without_rounding_errors

    groups = (
        ("State", system.state_names, system.x0, system.units.states),
        ("Input", system.input_names, system.u0, system.units.inputs),
        ("Output", system.output_names, system.y0, system.units.outputs),
    )
    rows = [
        (kind, name, float(value), unit)
        for kind, names, values, units in groups
        for name, value, unit in zip(names, without_rounding_errors(values), units, strict=True)
    ]
    columns = (Column("Kind"), Column("Name"), Column("Value"), Column("Unit"))
    return Table(title="Operating point of the deviations", columns=columns, rows=tuple(rows), note="SI")


def mode_table(system: LinearSystem) -> Table:
    """Table of poles with their controllability and observability, and of zeros."""
    rows: list[tuple[Cell, ...]] = []
    size = max((abs(pole) for pole in system.poles), default=1.0)
    for mode in system.mode_views():
        real, imaginary = (0.0 if abs(x) <= 1e-9 * size else float(x) for x in (mode.pole.real, mode.pole.imag))
        reached = mode.controllability if system.input_names else None
        seen = mode.observability if system.output_names else None
        damping = -real / math.hypot(real, imaginary) if real or imaginary else None
        frequency = abs(imaginary) / (2.0 * math.pi)
        rows.append((f"Pole {mode.number}", real, imaginary, frequency, damping, reached, seen))
    if system.input_names and system.output_names:
        for k, zero in enumerate(system.zeros, 1):
            real, imaginary = (0.0 if abs(x) <= 1e-9 * size else float(x) for x in (zero.real, zero.imag))
            if imaginary >= 0.0:
                rows.append((f"Zero {k}", real, imaginary, abs(imaginary) / (2.0 * math.pi), None, None, None))
    titles = ("", "Re [1/s]", "Im [1/s]", "Frequency [Hz]", "Damping ratio", "Controllability", "Observability")
    note = (
        "one of each conjugate pair; controllability and observability relative to the most controllable and "
        "the most observable mode"
    )
    return Table(title="Poles and zeros", columns=tuple(map(Column, titles)), rows=tuple(rows), note=note)


def _system_diagrams(system: LinearSystem, duration: float | None) -> list[Result]:
    """Diagrams of poles and zeros, frequency response and step response."""
    import numpy as np

    poles = system.poles
    series = [Series("poles", tuple(poles.real), tuple(poles.imag), "x")]
    pairs = [(p, m) for p in range(len(system.output_names)) for m in range(len(system.input_names))][:PAIRS]
    if pairs and len(system.zeros):
        series.append(Series("zeros", tuple(system.zeros.real), tuple(system.zeros.imag), "o"))
    found: list[Result] = []
    if len(poles):
        found.append(pole_zero_diagram("Poles and zeros", series))
    if not pairs:
        return found
    omega = _plot_frequencies(poles, system.zeros)
    response = system.frequency_response(omega)
    pairs = [pair for pair in pairs if np.any(np.abs(response[:, pair[0], pair[1]]) > 0.0)]
    if not pairs:
        return [*found, Message(text="None of the inputs affects any of the outputs.", severity="hint")]
    names = {pair: f"{system.output_names[pair[0]]} / {system.input_names[pair[1]]}" for pair in pairs}
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = {pair: 20.0 * np.log10(np.abs(response[:, pair[0], pair[1]])) for pair in pairs}
    phases = {pair: np.degrees(np.unwrap(np.angle(response[:, pair[0], pair[1]]))) for pair in pairs}
    for title, up, values in (("Bode: gain", "Gain [dB]", gains), ("Bode: phase", "Phase [°]", phases)):
        curves = tuple(Series(names[pair], tuple(omega), tuple(values[pair])) for pair in pairs)
        found.append(Diagram(title=title, across="ω [rad/s]", up=up, series=curves, log_across=True))
    time = np.linspace(0.0, duration or _response_duration(poles), POINTS)
    steps = system.step_response(time)
    curves = tuple(Series(names[p, m], tuple(time), tuple(steps[:, p, m])) for p, m in pairs)
    units = {system.units.outputs[p] for p, _ in pairs}
    up = f"Deviation [{units.pop()}]" if len(units) == 1 else "Deviation (SI)"
    found.append(Diagram(title="Step response", across="t [s]", up=up, series=curves))
    return found


def pole_zero_diagram(title: str, series: Sequence[Series]) -> Diagram:
    """Diagram of points in the complex plane (s-plane)."""
    return Diagram(title=title, across="Re [1/s]", up="Im [1/s]", series=tuple(series), square=True)


def _plot_frequencies(poles: Any, zeros: Any) -> Any:
    """Return frequencies ω from a decade below the slowest to a decade above the fastest pole or zero."""
    import numpy as np

    sizes = np.abs(np.concatenate([poles, zeros]))
    sizes = sizes[sizes > 1e-6 * max(float(np.max(sizes, initial=0.0)), 1e-300)]
    low, high = (float(np.min(sizes)), float(np.max(sizes))) if len(sizes) else (1.0, 1.0)
    return np.geomspace(0.1 * low, 10.0 * high, POINTS)


def _response_duration(poles: Any) -> float:
    """Return the duration of the step response in s: three time constants of the fastest growth, or, without growth, a
    time set by the slowest decay."""
    import numpy as np

    size = float(np.max(np.abs(poles), initial=0.0)) or 1.0
    growing = poles.real[poles.real > 1e-6 * size]
    if len(growing):
        return 3.0 / float(np.max(growing))
    dying = -poles.real[poles.real < -1e-3 * size]
    turning = np.abs(poles[np.abs(poles) > 1e-6 * size])
    slowest = 20.0 * math.pi / float(np.min(turning)) if len(turning) else 10.0
    return min(6.0 / float(np.min(dying)), slowest) if len(dying) else slowest


def _mode_animations(context: Context, system: LinearSystem) -> list[Result]:
    """Return the vibration modes as animations."""
    import numpy as np

    from core.constraints.mobility.constraint_rank import PositionConstraints

    if not len(system.A):
        return []
    constraints = PositionConstraints(context.mech.compiled, context.p, context.t)
    values, vectors = np.linalg.eig(system.A)
    order = [k for k in np.lexsort((values.imag, np.round(np.abs(values), 9))) if values[k].imag >= 0.0]
    found: list[Result] = []
    for rank, k in enumerate(order[:MODES], 1):
        shape = system.basis @ vectors[:, k]
        largest = shape[int(np.argmax(np.abs(shape / constraints.speed_units)))]
        if abs(largest) < 1e-12:
            continue
        shape = shape / (largest / constraints.speed_units[int(np.argmax(np.abs(shape / constraints.speed_units)))])
        oscillates = values[k].imag > 1e-9 * max(abs(values[k]), 1e-300)
        poses = []
        for phase in np.linspace(0.0, 2.0 * math.pi, FRAMES + 1):
            factor = np.exp(1j * phase) if oscillates else complex(math.sin(phase))
            poses.append(constraints.closed(context.mech.integrate(system.q, AMPLITUDE * (shape * factor).real))[0])
        frequency = abs(values[k].imag) / (2.0 * math.pi)
        kind = f"{frequency:.4g} Hz" if oscillates else f"λ = {format_number(values[k].real, 4)} 1/s"
        p = tuple(dict(context.p) for _ in poses)
        found.append(PoseSequence(title=f"Mode {rank}: {kind}", q=to_row_tuples(poses), p=p, display="animate"))
    return found


def _write_system_file(system: LinearSystem, file: str) -> Message:
    if file.lower().endswith(".mat"):
        system.to_mat(file)
    else:
        system.to_npz(file)
    return Message(text=f"Written to {file}.")


# ------------------------------------------------------------------------------------------------- feedback


def _system_with_forces(
    context: Context, inputs: Sequence[str], coordinates: str, forces: Mapping[str, float], friction: bool
) -> LinearSystem:
    """Return the linear system with the given inputs, or with the forces at the independent coordinates by default."""
    if not inputs:
        own = _linear_system_at(context, (), (), coordinates, {}, forces, friction=friction)
        inputs = [f"{name}.tau" for name in own.coordinates]
    return _linear_system_at(context, inputs, (), coordinates, {}, forces, friction=friction)


def lqr(
    context: Context,
    inputs: Sequence[str],
    states: dict[str, float],
    efforts: dict[str, float],
    coordinates: str,
    forces: dict[str, float],
    friction: bool,
    file: str,
) -> Result:
    """Compute LQR gains and closed-loop poles; write the machine with its feedback to a file if one is named."""
    from core.control.feedback import lqr as best
    from core.functions.text import without_rounding_errors

    context.step(0, 2, "Linear system")
    system = _system_with_forces(context, inputs, coordinates, forces, friction)
    if not len(system.A):
        return _immovable_message("Feedback (LQR)", system)
    context.step(1, 2, "Riccati equation")
    found = best(system, states or None, efforts or None)
    loop = found.closed_loop()
    parts: list[Result] = _sticking_joints_messages(system)
    if not system.at_rest:
        text = (
            "This is not an operating point, so the feedback can hold it only with additional constant forces. "
            "Use Operating point (trim) to find one."
        )
        parts.append(Message(text=text, severity="warning"))
    gains = Matrix(
        title="Gains",
        symbol="K",
        entries=to_row_tuples(without_rounding_errors(found.K)),
        rows=system.input_names,
        columns=system.state_names,
        note="w = u0 − K (x − x0), SI",
    )
    weights = Table(
        title="Weights of the squares",
        columns=(Column("Kind"), Column("Weight"), Column("Unit")),
        rows=found.weights,
        note="each weight times the square of its quantity is dimensionless, so that the terms can be added",
    )
    parts += [gains, weights, mode_table(loop)]
    poles = (system.poles, found.poles)
    series = (
        Series("open", tuple(poles[0].real), tuple(poles[0].imag), "x"),
        Series("closed", tuple(poles[1].real), tuple(poles[1].imag), "x"),
    )
    parts.append(pole_zero_diagram("Poles", series))
    if file:
        from core.files import save

        save(found.applied(context.model), file)
        parts.append(Message(text=f"The machine with its feedback has been written to {file}."))
    return Report(title="Feedback (LQR)", parts=tuple(parts))


# ------------------------------------------------------------------------------------------------- root locus


def root_locus(
    context: Context,
    ranges: Sequence[Range],
    follow: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    gain: float | None,
    friction: bool,
) -> Result:
    """Compute poles while a parameter, a coordinate or a feedback gain varies."""
    import numpy as np

    from core.analysis.sweep import variable_dimension
    from core.control.root_locus import DIVISIONS
    from core.control.root_locus import root_locus as random_closed_pose_from
    from core.model.units import SI

    if len(ranges) > 1:
        raise ModelError(
            "Only one parameter or coordinate can be varied at a time.",
            where="option 'ranges'",
            remedy="Give one range.",
        )
    if ranges:
        name, start, stop, divisions = ranges[0]
        context.step(0, 1, f"Root locus versus {name}")
        found = random_closed_pose_from(
            context.mech,
            name,
            np.linspace(start, stop, divisions + 1),
            q=context.q,
            p=context.p,
            t=context.t,
            follow="equilibrium" if follow == "equilibrium" else "pose",
            friction=friction,
        )
        unit = SI.get(variable_dimension(context.model, context.mech, name), "")
    else:
        if len(inputs) > 1 or len(outputs) > 1:
            raise ModelError(
                "A feedback gain connects exactly one output to one input.",
                where="option 'inputs'",
                remedy="Name one input and one output.",
            )
        free = _linear_system_at(context, (), (), "", {}, {}, friction=friction)
        if not (own := free.coordinates):
            return _immovable_message("Root locus", free)
        first = next((name for name in own if name in context.mech.q_names), own[0])
        inputs = inputs or [f"{first}.tau"]
        outputs = outputs or [f"{first}.q" if first in context.mech.q_names else f"{first}.v"]
        context.step(0, 1, "Root locus")
        system = _linear_system_at(context, inputs, outputs, "", {}, {}, friction=friction)
        gains = None if gain is None else np.linspace(0.0, gain, DIVISIONS + 1)
        found, unit = random_closed_pose_from(system, values=gains), ""
    return _locus_report(found, unit)


def _sticking_joints_messages(system: LinearSystem) -> list[Result]:
    """Return a message that names the joints stuck by friction; empty if there are none."""
    from core.control.linear_system import sticking_joints_sentence

    return [Message(text=sticking_joints_sentence(system.stuck), severity="hint")] if system.stuck else []


def _immovable_message(title: str, system: LinearSystem) -> Message:
    from core.control.linear_system import sticking_joints_sentence

    words = f" {sticking_joints_sentence(system.stuck)}" if system.stuck else ""
    return Message(title=title, text=f"The machine cannot move here.{words}", severity="hint")


def _locus_report(locus: RootLocus, unit: str) -> Report:
    """Report changes of stability, the paths of the poles, and their real and imaginary parts versus the varied
    value."""
    if not locus.poles.size:
        return Report(title="Root locus", parts=(Message(text="The machine cannot move here.", severity="hint"),))
    in_unit = f" {unit}" if unit else ""
    texts = [
        f"At {locus.name} = {value:.5g}{in_unit} a {'pair of poles' if rate else 'pole'} "
        f"{'becomes unstable' if lost else 'becomes stable'}{f', ω = {rate:.4g} rad/s' if rate else ''}."
        for value, rate, lost in locus.crossings
    ]
    edge = 1e-9 * float(abs(locus.poles).max())
    unstable = int((locus.poles[0].real > edge).sum())
    opening = f"At {locus.name} = {locus.values[0]:.5g}{in_unit}, {unstable or 'none'} of {locus.poles.shape[1]} poles "
    opening += "is unstable." if unstable <= 1 else "are unstable."
    text = " ".join([opening, *(texts or ["No pole crosses the imaginary axis."])])
    names = [f"pole {k + 1}" for k in range(locus.poles.shape[1])]
    paths = [Series(n, tuple(c.real), tuple(c.imag)) for n, c in zip(names, locus.poles.T, strict=True)]
    ends = [
        Series(what, tuple(row.real), tuple(row.imag), mark)
        for what, row, mark in (("first", locus.poles[0], "x"), ("last", locus.poles[-1], "o"))
    ]
    across = f"{locus.name} [{unit}]" if unit else locus.name
    parts: list[Result] = [Message(text=text), pole_zero_diagram("Root locus", [*paths, *ends])]
    for title, up, values in (
        ("Real parts", "Re [1/s]", locus.poles.real),
        ("Imaginary parts", "Im [1/s]", locus.poles.imag),
    ):
        curves = tuple(Series(n, tuple(locus.values), tuple(c)) for n, c in zip(names, values.T, strict=True))
        parts.append(Diagram(title=title, across=across, up=up, series=curves))
    return Report(title="Root locus", parts=tuple(parts))


_FORCES = Values("forces", "Joint forces", "Constant joint forces or torques by name; zero if not given", rate=-1)
_COORDINATES = Text(
    "coordinates",
    "Independent coordinates",
    "Names of the independent coordinates, separated by commas; empty: chosen automatically",
    joined=", ",
)
_FRICTION = Flag("friction", "Dry friction", "Joints at rest stick if dry friction can hold them", True)
_INPUTS = Signals(
    "inputs",
    "Inputs",
    "Names separated by commas: joint.tau, force.input, driver.signal, parameters, gravity.x, frame.force.x",
    of="inputs",
)


def _unit_of_rate(unit: str) -> str:
    """Return the unit of the rate of a quantity with this unit."""
    return f"{unit.removesuffix('/s')}/s²" if unit.endswith("/s") else f"{unit or '1'}/s"


FUNCTIONS = (
    Function(
        "linear_system",
        "Linear system",
        "Control",
        "State-space model about the present pose: A, B, C, D, poles and zeros, Bode diagram, step response "
        "and modes.\n\n"
        "Inputs are joint forces, force elements, drivers, parameters, gravity and forces on frames; outputs "
        "are channels of runs or formulas of channels. The equations are differentiated exactly along the "
        "motions that the constraints allow. Uncontrollable and unobservable modes are reported. " + SPEEDS_FOLLOW,
        linear_system,
        (
            ElementName(
                "point",
                "About",
                "Operating point of the document about which to linearise; none: the present pose",
                none="Pose",
            ),
            _INPUTS,
            Signals(
                "outputs",
                "Outputs",
                "Names of run channels, or formulas of channels, separated by commas",
                of="outputs",
            ),
            _COORDINATES,
            Values(
                "speeds",
                "Joint speeds",
                "Joint speeds of the state about which to linearise; the others follow from the constraints or are "
                "zero",
                rate=1,
            ),
            _FORCES,
            Choice(
                "driver_as",
                "Drivers",
                "Input of a driver: its signal together with the signal's rates, or its acceleration, with position "
                "and speed as states",
                "signal",
                ("signal", "acceleration"),
            ),
            _FRICTION,
            Number(
                "duration",
                "Step response",
                "Duration of the step response, s; empty: chosen automatically",
                None,
                "time",
                1e-9,
            ),
            OutputFile(
                "file",
                "Save to",
                "File for the system, as NumPy archive (.npz) or MATLAB file (.mat); empty: none",
                "",
                (".npz", ".mat"),
            ),
        ),
        needs=(needs_motion, needs_mass, needs_continuous_signals),
        apart=True,
        also=("state space", "ABCD", "transfer function", "bode", "poles", "zeros", "step response", "linearize"),
    ),
    Function(
        "lqr",
        "Feedback (LQR)",
        "Control",
        "State feedback that holds the present pose at minimum quadratic cost.\n\n"
        "The gain K of w = u0 − K (x − x0) minimises the integral of the weighted squares of states and "
        "inputs. When saved to a file, the machine contains the feedback as formulas of its actuators, with "
        "each gain as a parameter, and can be simulated as it is.",
        lqr,
        (
            Signals(
                "inputs",
                "Inputs",
                "Names separated by commas; empty: the forces of the independent coordinates",
                of="inputs",
            ),
            SignalValues(
                "states",
                "State weights",
                "Weights of states by name, e.g. joint.q=10; zero for the others; if none is given, 1 for all",
            ),
            SignalValues("efforts", "Input weights", "Weights of inputs by name, e.g. joint.tau=0.1; 1 for the others"),
            _COORDINATES,
            _FORCES,
            _FRICTION,
            OutputFile("file", "Save to", "Machine file (.kst) with the feedback; empty: none", "", (".kst",)),
        ),
        needs=(needs_motion, needs_mass, needs_continuous_signals),
        apart=True,
        also=("regulator", "controller", "state feedback", "gain", "Riccati"),
    ),
    Function(
        "root_locus",
        "Root locus",
        "Control",
        "Motion of the poles as a parameter, a coordinate or a feedback gain varies.\n\n"
        "The machine is linearised again at each value, with its loops closed or in static equilibrium. If "
        "no range is given, the gain k of the feedback w = −k y varies, from one output to one input: by "
        "default a proportional feedback of the first independent coordinate. Changes of stability are "
        "reported.",
        root_locus,
        (
            Ranges("ranges", "Range", "Parameter, coordinate or DH entry to vary; empty: the gain of a feedback"),
            Choice(
                "follow",
                "Pose",
                "Pose of the machine at each value",
                "pose",
                ("pose", "equilibrium"),
                titles={"pose": "present pose (loops closed)", "equilibrium": "static equilibrium"},
            ),
            Signals(
                "inputs",
                "Feedback to",
                "Input on which the feedback acts when a gain is varied; empty: the force of the first independent "
                "joint",
                of="inputs",
            ),
            Signals(
                "outputs",
                "Feedback from",
                "Output to feed back when a gain is varied; empty: the coordinate of that joint",
                of="outputs",
            ),
            Number(
                "gain", "Largest gain", "Largest feedback gain, SI; empty: chosen so that the poles move visibly", None
            ),
            _FRICTION,
        ),
        needs=(needs_motion, needs_mass, needs_continuous_signals),
        apart=True,
        also=("Evans", "pole paths", "stability", "poles over a parameter", "critical speed"),
    ),
)
