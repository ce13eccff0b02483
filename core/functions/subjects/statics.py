"""Functions for static equilibrium and small motions about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from core.errors import SimulationError, join_words
from core.functions.context import Context
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, Flag, Text, Values
from core.functions.results import Matrix, Message, PoseSequence, Report, Result, Table, to_row_tuples
from core.functions.subjects.actuation import split_names
from core.functions.subjects.dynamics import SPEEDS_FOLLOW
from core.functions.text import Amount, Cell, Column, format_number
from core.model.formula.numerals import format_readable

if TYPE_CHECKING:
    from core.analysis.forces_at_rest import FrictionBalance
    from core.analysis.linearisation import Linearisation, Mode
    from core.analysis.poses_of_rest import Equilibrium

FRAMES = 24
"""Number of poses in one oscillation of a vibration mode."""
MOST_SHOWN = 12
"""Largest number of vibration modes offered as animations."""
AMPLITUDE = 0.25
"""Amplitude of an animated vibration mode, rad or fractions of the machine's size."""
MOVED_FRACTION = 1e-7
"""Displacement of a coordinate, in rad or fractions of the machine's size, below which it counts as not moved, for
instance in an indifferent equilibrium."""

ZERO_EIGENVALUE_FRACTION = 3e-8
"""Fraction of the largest eigenvalue below which an eigenvalue is reported as zero; a rounding error ε splits a double
zero by √ε."""
REAL_PART_FRACTION = 1e-11
"""Fraction of the imaginary part of an eigenvalue below which its real part is rounding error."""
TOUCH_TOLERANCE = 1e-9
"""Distance (rad or m) to a limit within which a coordinate counts as touching it."""
JUST_HELD_FRACTION = 1e-6
"""Fraction by which the load could still grow, below which friction counts as only just holding the machine."""
LEFT_OVER_FRACTION = 1e-8
"""Fraction of the largest acting force below which the residual force is not reported."""

_WORDS = {
    "stable": "It is stable to first order: a small disturbance neither grows nor decays; forces that grow with a "
    "higher power of displacement or speed are not judged.",
    "asymptotically stable": "It is asymptotically stable: after a small disturbance the machine returns to it.",
    "indifferent": "It is indifferent to first order: along some motions no force grows in proportion to the "
    "displacement; higher powers decide whether the machine returns to it.",
    "unstable": "It is unstable: the smallest disturbance makes the machine leave it.",
    "held": "Friction holds the machine there.",
}


def static_equilibrium(context: Context, search: str, friction: bool, forces: dict[str, float]) -> Result:
    """Find the pose in which all forces balance."""
    import numpy as np

    from core.analysis.equilibrium import equilibrium

    mech, p = context.mech, context.p
    context.step(0, 1, "Balancing forces")
    tau = np.array([forces.get(name, 0.0) for name in mech.v_names])
    try:
        found = equilibrium(mech, context.q, p, context.t, tau=tau, nearest=search == "nearest", friction=friction)
    except SimulationError as error:
        return Message(title="Static equilibrium", text=str(error), severity="error")
    rests = "; ".join(
        f"{name} rests against its limit, which exerts {abs(force):.4g} "
        f"{'N' if _force_dimension(mech, name) == 'length' else 'N·m'}"
        for name, force in found.limits.items()
    )
    left = format_readable(f"{found.residual:.0e}")
    but = f", with a residual of {left} of the largest force" if found.residual > LEFT_OVER_FRACTION else ""
    verdict = (
        _WORDS[found.stability] if found.friction is None else _friction_margin_text(found.friction, found.stability)
    )
    weak = "".join(
        f"The motor of {name} would need {asked:.4g} {unit} and gives its limit, {given:.4g} {unit}. "
        for name, (asked, given) in found.saturated.items()
        for unit in ("N" if _is_linear_velocity(mech, name) else "N·m",)
    )
    text = f"All forces balance in this pose{but}. {f'{rests}. ' if rests else ''}{weak}{verdict}"
    note = "" if search != "nearest" or friction else "joint limits are ignored in this search"
    table = _coordinates_table(context, found, note)
    pose = PoseSequence(title="Equilibrium pose", q=to_row_tuples([found.q]), p=(dict(p),), display="single")
    parts: list[Result] = [Message(title="", text=text, severity=_severity_of_stability(found.stability)), table]
    if found.friction is not None and found.friction.forces:
        parts.append(_friction_table(mech, p, found.friction))
    if found.linear is not None and found.linear.modes:
        parts.append(_mode_table(found.linear))
    return Report(title="Static equilibrium", parts=(*parts, pose))


def _coordinates_table(context: Context, equilibrium: Equilibrium, note: str) -> Table:
    """Table of the coordinates at the present pose and in equilibrium."""
    import numpy as np

    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    mech, p = context.mech, context.p
    size = characteristic_length(mech, p)
    present, rest = (pose_without_solver_errors(mech, q, size) for q in (context.q, equilibrium.q))
    scales = [size if c.dimension == "length" else 1.0 for c in mech.coordinates]
    rest = np.where(np.abs(rest - present) < MOVED_FRACTION * np.array(scales), present, rest)
    rows = tuple(
        (
            c.name,
            Amount(float(before), c.dimension),
            Amount(float(after), c.dimension),
            _limit_text(c, float(after), equilibrium.limits),
        )
        for c, before, after in zip(mech.coordinates, present, rest, strict=True)
    )
    measured = (
        (c, c.value(mech.compiled, context.q, p), c.value(mech.compiled, equilibrium.q, p)) for c in mech.cut_limits
    )
    rows += tuple(
        (c.name, Amount(before, c.dimension), Amount(after, c.dimension), _limit_text(c, after, equilibrium.limits))
        for c, before, after in measured
    )
    titles = ("Coordinate", "Present", "In equilibrium", "Limit")
    return Table(title="Coordinates", columns=tuple(map(Column, titles)), rows=rows, note=note)


def _friction_margin_text(balance: FrictionBalance, stability: str) -> str:
    """Describe the margin with which friction holds the machine."""
    if not balance.forces:
        return f"No joint has friction. {_WORDS[stability]}"
    if math.isinf(balance.safety):
        return "Friction, together with any limits that the machine rests against, holds any multiple of the load."
    if balance.safety < 1.0 + JUST_HELD_FRACTION:
        return "Friction just holds the machine here: this is the nearest pose found in which it does."
    return f"Friction holds the machine up to {balance.safety:.4g} times its load."


def _friction_table(mech: Any, p: Any, balance: FrictionBalance) -> Table:
    """Table of the friction force in each joint."""
    from core.constraints.joint_modes import build_joint_row_table
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    modes = build_joint_row_table(mech.compiled, mech.compiled.parameter_values(p))
    dimensions = {row.name: "force" if row.dimension == "length" else "torque" for row in modes.rows}
    numbers = [(balance.forces[name], *balance.ranges[name], balance.limits[name]) for name in balance.forces]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(Amount(float(x), dimensions[name]) for x in row))
        for name, row in zip(balance.forces, without_rounding_errors(numbers, SOLVED_FRACTION, 0.0), strict=True)
    )
    note = "positive in the direction of increasing coordinate"
    if not balance.is_unique:
        note += (
            "; friction can share the load in many ways: shown are the least-squares solution and the range of "
            "each force"
        )
    titles = ("Coordinate", "Friction", "Lower bound", "Upper bound", "Friction limit")
    return Table(title="Friction forces", columns=tuple(map(Column, titles)), rows=rows, note=note)


def _severity_of_stability(stability: str) -> str:
    return {"unstable": "warning", "indifferent": "hint"}.get(stability, "done")


def _force_dimension(mech: Any, name: str) -> str:
    return next(c.dimension for c in (*mech.coordinates, *mech.cut_limits) if c.name == name)


def _is_linear_velocity(mech: Any, speed: str) -> bool:
    """Return True if the speed is a linear velocity, so that the corresponding force is in N."""
    return bool(mech.compiled.coordinates.speed_dimensions[mech.v_names.index(speed)] == "velocity")


def _limit_text(coordinate: Any, value: float, limits: dict[str, float]) -> str:
    if coordinate.name in limits:
        return "rests against it"
    return _exceeded_limit_text(coordinate, value) or ("touches it" if _is_at_limit(coordinate, value) else "")


def _is_at_limit(coordinate: Any, value: float) -> bool:
    bounds = [bound for bound in (coordinate.lower, coordinate.upper) if bound is not None]
    return any(abs(value - bound) < TOUCH_TOLERANCE for bound in bounds)


def _exceeded_limit_text(coordinate: Any, value: float) -> str:
    low = coordinate.lower is not None and value < coordinate.lower - TOUCH_TOLERANCE
    high = coordinate.upper is not None and value > coordinate.upper + TOUCH_TOLERANCE
    return "below" if low else "above" if high else ""


def linearise(
    context: Context, coordinates: str, speeds: dict[str, float], forces: dict[str, float], friction: bool
) -> Result:
    """Compute state matrix, eigenvalues and vibration modes about the present pose."""
    import numpy as np

    from core.analysis.linearisation import linearise as linearised
    from core.functions.text import without_rounding_errors

    mech, p = context.mech, context.p
    context.step(0, 2, "Derivatives of the motion")
    tau = np.array([forces.get(name, 0.0) for name in mech.v_names])
    named = split_names(coordinates)
    found = linearised(mech, context.q, speeds, tau, p, context.t, coordinates=named, friction=friction)
    names = (*found.coordinates, *(f"{name}'" for name in found.coordinates), *found.states)
    matrix = Matrix(
        title="State matrix",
        symbol="A",
        entries=to_row_tuples(without_rounding_errors(found.A)),
        rows=names,
        columns=names,
        note="ẏ = A y for displacements of the independent coordinates and their speeds, SI",
    )
    parts: list[Result] = [_equilibrium_message(context, found), matrix, _mode_table(found)]
    for k, mode in enumerate(found.modes[:MOST_SHOWN]):
        parts.append(_mode_poses(context, found, k))
        context.step(1 + k, 1 + len(found.modes), f"Mode {k + 1}")
        del mode
    return Report(title="Linearisation", parts=tuple(parts))


def _equilibrium_message(context: Context, linearisation: Linearisation) -> Message:
    """State whether the machine is in equilibrium at this pose, and whether small motions are stable."""
    import numpy as np

    modes = _contact_text(linearisation)
    largest = float(np.max(np.abs(linearisation.residual), initial=0.0))
    scale = max(1.0, float(np.max(np.abs(linearisation.A), initial=0.0)))
    if largest > 1e-6 * scale:
        text = (
            "The machine is not in equilibrium here: the linearisation is about its present acceleration. Use Static "
            "equilibrium to find an equilibrium pose."
        )
        return Message(title="", text=f"{text}{modes}", severity="hint")
    text = (
        f"The machine is in equilibrium here. {_WORDS[linearisation.stability]}"
        if linearisation.modes
        else "The machine cannot move here."
    )
    return Message(title="", text=f"{text}{modes}", severity=_severity_of_stability(linearisation.stability))


def _contact_text(linearisation: Linearisation) -> str:
    """Describe the joints that stick, slide or press against a stop, and the motors at their limits."""
    parts = (
        (linearisation.stuck, "Dry friction holds {} against small disturbances."),
        (linearisation.sliding, "{}: sliding, with friction of constant direction."),
        (linearisation.pressed, "Compressed stop, acting as a spring: {}."),
        (linearisation.saturated, "Motor at its effort limit, so that its force is constant: {}."),
        (linearisation.limited, "Motor at its speed limit, so that the speed of its joint stays constant: {}."),
        (linearisation.overrun, "Motor driven by the load at its speed limit, so that it exerts no force: {}."),
    )
    return "".join(f" {words.format(join_words(names))}" for names, words in parts if names)


def _mode_table(linearisation: Linearisation) -> Table:
    columns = (
        Column("Mode"),
        Column("Re λ [1/s]"),
        Column("Im λ [1/s]"),
        Column("Frequency [Hz]"),
        Column("Damping ratio"),
        Column("Dominant coordinate"),
    )
    rows = tuple((str(k), *_mode_cells(linearisation, mode)) for k, mode in enumerate(linearisation.modes, 1))
    note = "one of each conjugate pair; damping ratio −Re λ/|λ|"
    return Table(title="Eigenvalues and modes", columns=columns, rows=rows, note=note)


def _mode_cells(linearisation: Linearisation, mode: Mode) -> tuple[Cell, ...]:
    """Return Re λ, Im λ, frequency, damping ratio and the dominant coordinate of a vibration mode."""
    shown = _mode_without_rounding_errors(linearisation, mode)
    ratio = shown.damping if shown.eigenvalue else None
    return shown.eigenvalue.real, shown.eigenvalue.imag, shown.frequency, ratio, mode.largest_in


def _mode_without_rounding_errors(linearisation: Linearisation, mode: Mode) -> Mode:
    """Return the vibration mode with rounding errors of its eigenvalue set to zero."""
    import dataclasses

    largest = max(abs(each.eigenvalue) for each in linearisation.modes)
    parts = mode.eigenvalue.real, mode.eigenvalue.imag
    real, imaginary = (0.0 if abs(x) <= ZERO_EIGENVALUE_FRACTION * largest else x for x in parts)
    real = 0.0 if abs(real) <= REAL_PART_FRACTION * abs(imaginary) else real
    return dataclasses.replace(mode, eigenvalue=complex(real, imaginary))


def _mode_poses(context: Context, linearisation: Linearisation, index: int) -> PoseSequence:
    """Return the poses over one oscillation of a vibration mode (for a real eigenvalue, out and back), with loops
    closed."""
    import numpy as np

    from core.constraints.mobility.constraint_rank import PositionConstraints

    mech, mode = context.mech, _mode_without_rounding_errors(linearisation, linearisation.modes[index])
    constraints = PositionConstraints(mech.compiled, context.p, context.t)
    oscillates = mode.frequency > 0.0
    poses = []
    for phase in np.linspace(0.0, 2.0 * math.pi, FRAMES + 1):
        factor = np.exp(1j * phase) if oscillates else complex(math.sin(phase))
        displacement = AMPLITUDE * (mode.shape * factor).real
        poses.append(constraints.closed(mech.integrate(linearisation.q, displacement))[0])
    kind = f"{mode.frequency:.4g} Hz" if oscillates else f"λ = {format_number(mode.eigenvalue.real, 4)} 1/s"
    return PoseSequence(
        title=f"Mode {index + 1}: {kind}",
        q=to_row_tuples(poses),
        p=tuple(dict(context.p) for _ in poses),
        display="animate",
    )


_TORQUES = Values("forces", "Joint forces", "Constant joint forces or torques by name; zero if not given", rate=-1)

FUNCTIONS = (
    Function(
        "static_equilibrium",
        "Static equilibrium",
        "Mechanisms",
        "A pose in which the machine stays at rest.\n\n"
        "Gravity, springs, force elements and given joint forces are in balance, with the loops closed. From "
        "the present pose the search either descends in energy within the joint limits to a stable pose, "
        "possibly against limits, whose forces are reported; or it finds the nearest equilibrium, stable or "
        "not, and ignores the joint limits. Elastic stops are compressed by what rests against them, and "
        "motors do not exceed their effort limits, as in runs.\n\n"
        "With friction the machine stays where it is if dry friction can hold it there; otherwise the "
        "nearest pose in which it can is shown. The friction force in each joint, its bounds, and the "
        "multiple of the load up to which friction holds are reported.",
        static_equilibrium,
        (
            Choice(
                "search",
                "Search",
                "Descend in energy to a stable pose, or find the nearest equilibrium",
                "stable",
                ("stable", "nearest"),
            ),
            Flag(
                "friction",
                "Dry friction",
                "Include dry friction: stay if it can hold the machine, else find the nearest pose in which it can",
                False,
            ),
            _TORQUES,
        ),
        needs=(needs_motion,),
        also=("equilibrium", "trim", "statics", "stiction", "safety factor", "brake", "self-locking"),
    ),
    Function(
        "linearise",
        "Linearise",
        "Mechanisms",
        (
            "Small motions about the present pose: state matrix, eigenvalues, frequencies, damping and modes.\n\n"
            "The equations of motion are differentiated exactly along the motions that the constraints allow, in "
            "independent coordinates that are chosen automatically or named. Joints stuck by dry friction remove "
            "degrees of freedom; friction in sliding joints keeps its direction; compressed stops are springs; "
            "motors at their speed limit keep this speed. Each mode can be played in the scene. Frequencies are "
            "most meaningful about an equilibrium, see Static equilibrium. "
        )
        + SPEEDS_FOLLOW,
        linearise,
        (
            Text(
                "coordinates",
                "Independent coordinates",
                "Names of the independent coordinates, separated by commas; empty: chosen automatically",
                joined=", ",
            ),
            Values(
                "speeds",
                "Joint speeds",
                "Joint speeds of the state about which to linearise; the others follow from the constraints or are "
                "zero",
                rate=1,
            ),
            _TORQUES,
            Flag("friction", "Dry friction", "Joints at rest stick if dry friction can hold them", True),
        ),
        needs=(needs_motion, needs_mass),
        also=(
            "eigenfrequency",
            "natural frequencies",
            "vibration",
            "modal analysis",
            "eigenvalues",
            "modes",
            "state space",
            "ABCD",
            "linearize",
        ),
    ),
)
