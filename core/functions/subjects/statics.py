"""Functions for static equilibrium and small motions about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from core.errors import SimulationError, listed
from core.functions.context import Context
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, Flag, Text, Values
from core.functions.results import Matrix, Message, PoseSequence, Report, Result, Table, rows_of
from core.functions.subjects.actuation import names_of
from core.functions.subjects.dynamics import SPEEDS_FOLLOW
from core.functions.text import Amount, Cell, Column, number
from core.model.formula.numerals import readable

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
"""Displacement of a coordinate, in rad or fractions of the machine's size, below which it counts as not moved, as in an
indifferent pose."""

ZERO_EIGENVALUE_FRACTION = 3e-8
"""Fraction of the largest eigenvalue below which an eigenvalue is reported as zero; a rounding error ε splits a double
zero by √ε."""
REAL_PART_FRACTION = 1e-11
"""Fraction of the imaginary part of an eigenvalue below which its real part is rounding error."""
TOUCH_TOLERANCE = 1e-9
"""Distance (rad or m) to a limit within which a coordinate counts as touching it."""
JUST_HELD_FRACTION = 1e-6
"""Fraction by which the load may still grow where friction counts as just holding it."""
LEFT_OVER_FRACTION = 1e-8
"""Fraction of the largest acting force below which the residual is not reported."""

_WORDS = {
    "stable": "It is stable: a push makes the machine oscillate about it.",
    "asymptotically stable": "It is stable: after a push the machine comes back to it.",
    "indifferent": "It is indifferent: nothing brings the machine back along some of its motions.",
    "unstable": "It is unstable: the least push makes the machine leave it.",
    "held": "Friction holds it.",
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
        f"{name} rests against its limit, which pushes with {abs(force):.4g} "
        f"{'N' if _dimension_of(mech, name) == 'length' else 'N·m'}"
        for name, force in found.limits.items()
    )
    left = readable(f"{found.residual:.0e}")
    but = f", up to {left} of the largest one" if found.residual > LEFT_OVER_FRACTION else ""
    verdict = _WORDS[found.stability] if found.friction is None else _holding_text(found.friction, found.stability)
    weak = "".join(
        f"The motor of {name} is asked for {asked:.4g} {unit} and gives its limit, {given:.4g} {unit}. "
        for name, (asked, given) in found.saturated.items()
        for unit in ("N" if _is_linear(mech, name) else "N·m",)
    )
    text = f"All forces balance in this pose{but}. {f'{rests}. ' if rests else ''}{weak}{verdict}"
    note = "" if search != "nearest" or friction else "limits of joints do not hold in this search"
    table = _coordinates_table(context, found, note)
    pose = PoseSequence(title="Pose of rest", q=rows_of([found.q]), p=(dict(p),), display="single")
    parts: list[Result] = [Message(title="", text=text, severity=_severity(found.stability)), table]
    if found.friction is not None and found.friction.forces:
        parts.append(_friction_table(mech, p, found.friction))
    if found.linear is not None and found.linear.modes:
        parts.append(_mode_table(found.linear))
    return Report(title="Static equilibrium", parts=(*parts, pose))


def _coordinates_table(context: Context, found: Equilibrium, note: str) -> Table:
    """Table of the coordinates at present and in equilibrium."""
    import numpy as np

    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    mech, p = context.mech, context.p
    size = characteristic_length(mech, p)
    present, rest = (pose_without_solver_errors(mech, q, size) for q in (context.q, found.q))
    scales = [size if c.dimension == "length" else 1.0 for c in mech.coordinates]
    rest = np.where(np.abs(rest - present) < MOVED_FRACTION * np.array(scales), present, rest)
    rows = tuple(
        (
            c.name,
            Amount(float(before), c.dimension),
            Amount(float(after), c.dimension),
            _limit_text(c, float(after), found.limits),
        )
        for c, before, after in zip(mech.coordinates, present, rest, strict=True)
    )
    measured = ((c, c.value(mech.compiled, context.q, p), c.value(mech.compiled, found.q, p)) for c in mech.cut_limits)
    rows += tuple(
        (c.name, Amount(before, c.dimension), Amount(after, c.dimension), _limit_text(c, after, found.limits))
        for c, before, after in measured
    )
    titles = ("Coordinate", "Present", "At rest", "Limit")
    return Table(title="Coordinates", columns=tuple(map(Column, titles)), rows=rows, note=note)


def _holding_text(found: FrictionBalance, stability: str) -> str:
    """Describe with how much margin friction holds the machine."""
    if not found.forces:
        return f"No joint has friction. {_WORDS[stability]}"
    if math.isinf(found.safety):
        return "Friction, and limits where it rests against them, hold any multiple of its load."
    if found.safety < 1.0 + JUST_HELD_FRACTION:
        return "Friction just holds it: of all poses where it does this is the nearest."
    return f"Friction holds it up to {found.safety:.4g} times its load."


def _friction_table(mech: Any, p: Any, found: FrictionBalance) -> Table:
    """Table of the friction force in each joint."""
    from core.constraints.joint_modes import joint_modes
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    modes = joint_modes(mech.compiled, mech.compiled.parameter_values(p))
    dimensions = {row.name: "force" if row.dimension == "length" else "torque" for row in modes.rows}
    numbers = [(found.forces[name], *found.ranges[name], found.limits[name]) for name in found.forces]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(Amount(float(x), dimensions[name]) for x in row))
        for name, row in zip(found.forces, without_rounding_errors(numbers, SOLVED_FRACTION, 0.0), strict=True)
    )
    note = "along the growth of the coordinate"
    if not found.unique:
        note += "; one of many ways to share the load, that of least squares, with what each force may be"
    titles = ("Coordinate", "Friction", "At least", "At most", "Largest possible")
    return Table(title="Holding forces", columns=tuple(map(Column, titles)), rows=rows, note=note)


def _severity(stability: str) -> str:
    return {"unstable": "warning", "indifferent": "hint"}.get(stability, "done")


def _dimension_of(mech: Any, name: str) -> str:
    return next(c.dimension for c in (*mech.coordinates, *mech.cut_limits) if c.name == name)


def _is_linear(mech: Any, speed: str) -> bool:
    """Return True if the speed is a linear velocity, so that its force is in N."""
    return bool(mech.compiled.coordinates.speed_dimensions[mech.v_names.index(speed)] == "velocity")


def _limit_text(coordinate: Any, value: float, limits: dict[str, float]) -> str:
    if coordinate.name in limits:
        return "rests against it"
    return _exceeded_limit(coordinate, value) or ("touches it" if _touches(coordinate, value) else "")


def _touches(coordinate: Any, value: float) -> bool:
    bounds = [bound for bound in (coordinate.lower, coordinate.upper) if bound is not None]
    return any(abs(value - bound) < TOUCH_TOLERANCE for bound in bounds)


def _exceeded_limit(coordinate: Any, value: float) -> str:
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
    named = names_of(coordinates)
    found = linearised(mech, context.q, speeds, tau, p, context.t, coordinates=named, friction=friction)
    names = (*found.coordinates, *(f"{name}'" for name in found.coordinates), *found.states)
    matrix = Matrix(
        title="State matrix",
        symbol="A",
        entries=rows_of(without_rounding_errors(found.A)),
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


def _equilibrium_message(context: Context, found: Linearisation) -> Message:
    """State whether the machine is at rest in this pose, and whether small motions are stable."""
    import numpy as np

    modes = _contact_text(found)
    largest = float(np.max(np.abs(found.residual), initial=0.0))
    scale = max(1.0, float(np.max(np.abs(found.A), initial=0.0)))
    if largest > 1e-6 * scale:
        text = (
            "The machine is not in equilibrium here: the linearisation is about its present acceleration. "
            "Static equilibrium finds a pose of rest."
        )
        return Message(title="", text=f"{text}{modes}", severity="hint")
    text = f"The machine rests here. {_WORDS[found.stability]}" if found.modes else "The machine cannot move here."
    return Message(title="", text=f"{text}{modes}", severity=_severity(found.stability))


def _contact_text(found: Linearisation) -> str:
    """Describe the joints that stick, slide or press on a stop, and motors at their limits."""
    parts = (
        (found.stuck, "Friction holds {}, which leaves no small motion there."),
        (found.sliding, "Friction slides in {}: it keeps its direction."),
        (found.pressed, "Pushed in, and a spring here: the stop of {}."),
        (found.saturated, "At its limit of effort, where asking for more changes nothing: the motor of {}."),
        (found.limited, "At its limit of speed, which leaves no small motion there: the motor of {}."),
        (found.overrun, "Moved by loads as fast as it may drive, where it gives nothing: the motor of {}."),
    )
    return "".join(f" {words.format(listed(names))}" for names, words in parts if names)


def _mode_table(found: Linearisation) -> Table:
    columns = (
        Column("Mode"),
        Column("Re λ [1/s]"),
        Column("Im λ [1/s]"),
        Column("Frequency [Hz]"),
        Column("Damping ratio"),
        Column("Largest in"),
    )
    rows = tuple((str(k), *_mode_cells(found, mode)) for k, mode in enumerate(found.modes, 1))
    note = "conjugate eigenvalues once; damping ratio −Re λ/|λ|"
    return Table(title="Eigenvalues and modes", columns=columns, rows=rows, note=note)


def _mode_cells(found: Linearisation, mode: Mode) -> tuple[Cell, ...]:
    """Return Re λ, Im λ, frequency, damping ratio and the dominant coordinate of a vibration mode."""
    shown = _without_rounding(found, mode)
    ratio = shown.damping if shown.eigenvalue else None
    return shown.eigenvalue.real, shown.eigenvalue.imag, shown.frequency, ratio, mode.largest_in


def _without_rounding(found: Linearisation, mode: Mode) -> Mode:
    """Return the vibration mode with rounding errors of its eigenvalue set to zero."""
    import dataclasses

    largest = max(abs(each.eigenvalue) for each in found.modes)
    parts = mode.eigenvalue.real, mode.eigenvalue.imag
    real, imaginary = (0.0 if abs(x) <= ZERO_EIGENVALUE_FRACTION * largest else x for x in parts)
    real = 0.0 if abs(real) <= REAL_PART_FRACTION * abs(imaginary) else real
    return dataclasses.replace(mode, eigenvalue=complex(real, imaginary))


def _mode_poses(context: Context, found: Linearisation, index: int) -> PoseSequence:
    """Return the poses of one oscillation of a vibration mode (of a real mode, out and back), with loops closed."""
    import numpy as np

    from core.constraints.mobility.constraint_rank import PositionConstraints

    mech, mode = context.mech, _without_rounding(found, found.modes[index])
    constraints = PositionConstraints(mech.compiled, context.p, context.t)
    oscillates = mode.frequency > 0.0
    poses = []
    for phase in np.linspace(0.0, 2.0 * math.pi, FRAMES + 1):
        factor = np.exp(1j * phase) if oscillates else complex(math.sin(phase))
        displacement = AMPLITUDE * (mode.shape * factor).real
        poses.append(constraints.closed(mech.integrate(found.q, displacement))[0])
    kind = f"{mode.frequency:.4g} Hz" if oscillates else f"λ = {number(mode.eigenvalue.real, 4)} 1/s"
    return PoseSequence(
        title=f"Mode {index + 1}: {kind}", q=rows_of(poses), p=tuple(dict(context.p) for _ in poses), display="animate"
    )


_TORQUES = Values("forces", "Joint forces", "Constant forces or torques by name; those not given are zero", rate=-1)

FUNCTIONS = (
    Function(
        "static_equilibrium",
        "Static equilibrium",
        "Mechanisms",
        "The pose in which the machine stays where it is.\n\nGravity, springs, force elements and given joint forces "
        "balance there; loops are closed. From the present pose the search goes downhill in energy within the "
        "limits of joints and ends in a stable pose, perhaps against limits, whose forces are reported; or it "
        "goes to the "
        "nearest balance, whether stable or not, where limits do not hold. Elastic stops give way to what rests "
        "against them, and motors give no more than their limits of effort, as in runs.\n\nWith friction the machine "
        "stays where it is if dry friction can hold it there; otherwise the nearest pose is shown where it can. What "
        "friction does in each joint, in which bounds, and up to which multiple of the load it holds, are reported.",
        static_equilibrium,
        (
            Choice(
                "search", "Search", "Downhill to a stable pose, or the nearest balance", "stable", ("stable", "nearest")
            ),
            Flag("friction", "Friction holds", "Stay where dry friction holds, or go to the nearest such pose", False),
            _TORQUES,
        ),
        needs=(needs_motion,),
        also=("equilibrium", "trim", "statics", "stiction", "safety factor", "brake", "self-locking"),
    ),
    Function(
        "linearise",
        "Linearise",
        "Mechanisms",
        "Small motions about the present pose: state matrix, eigenvalues, frequencies, damping and modes.\n\nThe "
        "equations of motion are differentiated exactly on the manifold of closed poses, in independent coordinates "
        "that are chosen or named. Joints stuck by dry friction remove degrees of freedom; sliding ones keep their "
        "direction; stops that are pushed in are springs; motors at a limit of speed keep it. Each mode can be played "
        "in the scene. Frequencies are most meaningful about an equilibrium, see Static equilibrium. " + SPEEDS_FOLLOW,
        linearise,
        (
            Text("coordinates", "Independent coordinates", "Names with commas; empty: chosen for you", joined=", "),
            Values(
                "speeds", "Joint speeds", "Of the state about which is linearised; others follow, or are zero", rate=1
            ),
            _TORQUES,
            Flag("friction", "Friction holds", "Joints at rest stick where dry friction holds them", True),
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
