"""Functions about masses, forces and energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import ModelError, SimulationError, join_words
from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_motion
from core.functions.options import Choice, Flag, FrameName, Values
from core.functions.results import Matrix, Message, Report, Result, Table, to_row_tuples
from core.functions.subjects.actuation import ACTUATORS, actuators_text, find_actuators, with_coordinates_of
from core.functions.text import Amount, Cell, Column

_SECOND_RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
_FORCES = {"angular_velocity": "torque", "velocity": "force"}


def speed_dimensions(context: Context) -> tuple[str, ...]:
    """Return the dimension of each speed of the machine ("angular_velocity" or "velocity")."""
    return context.mech.compiled.coordinates.speed_dimensions


def energy(context: Context, speeds: dict[str, float]) -> Result:
    """Compute the centre of mass, kinetic energy and potential energy; only energies if nothing has mass."""
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    v = mech.speeds(q, speeds, p=p, t=context.t)
    kinetic, potential = (float(e) for e in mech.energy(q, v, p=p, t=context.t))
    try:
        center = tuple(
            map(float, without_solver_errors(mech, mech.center_of_mass(q, p=p), characteristic_length(mech, p)))
        )
    except ModelError:
        center = ()
    rows = (
        *((f"Centre of mass {axis}", Amount(x, "length")) for axis, x in zip("xyz", center, strict=False)),
        ("Kinetic energy", Amount(kinetic, "energy")),
        ("Potential energy", Amount(potential, "energy")),
        ("Total energy", Amount(kinetic + potential, "energy")),
    )
    note = "potential energy of gravity (zero at the world's origin), springs and stops"
    note = f"world axes; {note}" if center else f"nothing has mass, so there is no centre of mass; {note}"
    note += _compressed_stops_text(context)
    return Table(title="Centre of mass and energy", columns=(Column("Quantity"), Column("Value")), rows=rows, note=note)


def inverse_dynamics(
    context: Context, speeds: dict[str, float], accelerations: dict[str, float], passive: bool, actuators: str
) -> Result:
    """Compute the joint forces of a given motion."""
    import numpy as np

    from core.constraints.force_ranges import compute_joint_forces
    from core.functions.text import without_solver_errors

    context = with_coordinates_of(context, actuators)
    mech, q, p = context.mech, context.q, context.p
    v = mech.speeds(q, speeds, p=p, t=context.t)
    a = mech.accelerations(q, v, accelerations, p=p, t=context.t, steady=tuple(speeds))
    acting, where = _actuated_speeds(context, actuators)
    forces = compute_joint_forces(mech.compiled, q, v, a, acting, p, passive, context.t)
    of_tree = mech.mass_matrix(q, p=p) @ a + mech.bias(q, v, p=p, t=context.t, passive=passive)
    largest = float(np.max(np.abs(of_tree), initial=0.0))
    columns, titles, held = [forces], ["Torque or force"], ""
    found = _friction_force_bounds(context, (q, v, a), acting) if passive else None
    if isinstance(found, str):
        held = f"; {found}"
    elif found is not None and ((found.tau_min != found.tau).any() or (found.tau_max != found.tau).any()):
        columns += [found.tau_min, found.tau_max]
        titles += ["Lower bound", "Upper bound"]
        held = "; joints held at rest by friction or rigid stops: the motion is the same for any force between "
        held += "the bounds"
    v, a, *columns = (
        without_solver_errors(mech, v),
        without_solver_errors(mech, a),
        *(without_solver_errors(mech, column, largest) for column in columns),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name,
            Amount(float(v[i]), d),
            Amount(float(a[i]), _SECOND_RATES[d]),
            *(Amount(float(column[i]), _FORCES[d]) for column in columns),
        )
        for i, (name, d) in enumerate(zip(mech.v_names, speed_dimensions(context), strict=True))
    )
    note = "M q̈ + C q̇ + G = τ; damping, friction, springs and stops " + ("included" if passive else "left out")
    note += (
        held + (_compressed_stops_text(context) if passive else "") + where + _overloaded_motors_text(context, forces)
    )
    table = Table(
        title="Inverse dynamics",
        columns=tuple(map(Column, ("Joint", "Speed", "Acceleration", *titles))),
        rows=rows,
        note=note,
    )
    return _add_limit_warning(context, table)


def _add_limit_warning(context: Context, table: Table) -> Result:
    """Return a table of forces, preceded by a warning if joints are beyond their limits."""
    import numpy as np

    from core.constraints.elastic_stops import find_passed_limits, passed_limits_text

    words = passed_limits_text(
        find_passed_limits(context.mech.compiled, np.asarray(context.q, dtype=float), context.p or None)
    )
    if not words:
        return table
    return Report(title=table.title, parts=(Message(text=words, severity="warning"), table))


def _friction_force_bounds(context: Context, motion: tuple[Any, ...], actuators: tuple[str, ...] | None) -> Any:
    """Return bounds of the forces within which friction keeps joints at rest, or the reason why they are unknown."""
    try:
        return context.mech.inverse_dynamics_ranges(*motion, p=context.p, t=context.t, actuators=actuators)
    except SimulationError as error:
        return f"bounds of static friction unknown: {error.what[0].lower()}{error.what[1:].rstrip('.')}"


def _overloaded_motors_text(context: Context, forces: Any) -> str:
    """Name the motors whose effort limits the forces exceed."""
    from core.constraints.motor_limits import effort_limits

    most = effort_limits(context.mech.compiled, context.p)
    names = [name for name, force, limit in zip(context.mech.v_names, forces, most, strict=True) if abs(force) > limit]
    return f"; exceeds the effort limit of {join_words(names)}" if names else ""


def _compressed_stops_text(context: Context) -> str:
    """Name the joint stops that are compressed at the present pose."""
    from core.constraints.elastic_stops import find_compressed_stops
    from core.constraints.joint_modes import build_joint_row_table
    from core.constraints.joint_rows import evaluate_joint_rows

    compiled = context.mech.compiled
    p = compiled.parameter_values(context.p)
    at = evaluate_joint_rows(compiled, build_joint_row_table(compiled, p), context.q, p, context.t)
    names = [at.rows[i].name for i, _ in find_compressed_stops(at)]
    return f"; compressed stops: {join_words(names)}" if names else ""


def gravity(context: Context, actuators: str) -> Result:
    """Compute the joint forces that hold the machine against gravity."""
    import numpy as np

    from core.functions.text import without_solver_errors

    context = with_coordinates_of(context, actuators)
    mech, q, p = context.mech, context.q, context.p
    columns = [without_solver_errors(mech, mech.gravity(q, p=p))]
    titles = ["Joint", "Torque or force"]
    note = "τ = G(q): joint forces that hold the machine at rest"
    acting, where = _actuated_speeds(context, actuators)
    if where:
        still = np.zeros(mech.nv)
        forces = mech.inverse_dynamics(q, still, still, p=p, passive=False, actuators=acting)
        columns.insert(0, without_solver_errors(mech, forces, float(np.max(np.abs(columns[0]), initial=0.0))))
        titles.append("Of the tree with loops cut")
        note = f"forces that hold the machine at rest{where}; G(q) is given for the tree with its loops cut"
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(Amount(float(column[i]), _FORCES[d]) for column in columns))
        for i, (name, d) in enumerate(zip(mech.v_names, speed_dimensions(context), strict=True))
    )
    return Table(title="Gravity torques", columns=tuple(map(Column, titles)), rows=rows, note=note)


def _actuated_speeds(context: Context, actuators: str) -> tuple[tuple[str, ...] | None, str]:
    """Return (names of the speeds at which forces act, None for the independent ones; a remark, '' for an open chain).
    These are the speeds of the named actuators, by default those of the usual actuators unless they cannot hold the
    machine at this pose."""
    from core.analysis.actuators import actuator_transmission, uncontrolled_motion_text

    mech = context.mech
    if not actuators and not mech.compiled.lasting.any():
        return None, ""
    chosen = find_actuators(mech, actuators)
    loose = actuator_transmission(mech, context.q, chosen, context.p).loose
    if actuators or not loose.shape[1]:
        return chosen.names, f"; {actuators_text(chosen)}"
    return None, f"; at independent joints. {uncontrolled_motion_text(mech, chosen, loose)}"


def mass_matrix(context: Context) -> Result:
    """Compute the joint-space mass matrix and its eigenvalues; for machines with loops also the mass matrix at the
    actuators."""
    import numpy as np

    from core.analysis.actuators import actuator_transmission, default_actuators
    from core.constraints.consistent_motion import speed_reduction

    mech, q, p = context.mech, context.q, context.p
    M = np.array(mech.mass_matrix(q, p=p))
    if not mech.compiled.lasting.any():
        return Report(
            title="Mass matrix", parts=(_mass_matrix_result("Mass matrix", M, mech.v_names), _eigenvalue_table(M))
        )
    chosen = default_actuators(mech.compiled)
    (follow, loose), indices, remark = actuator_transmission(mech, q, chosen, p), chosen.indices, actuators_text(chosen)
    if loose.shape[1]:
        (indices, follow), remark = speed_reduction(mech.compiled, q, p), "for independent joints; the others follow"
    of_tree = _mass_matrix_result("Mass matrix of the tree with its loops cut", M, mech.v_names)
    if not indices:
        text = (
            "The constraints leave the machine no motion at this pose, so there is only the mass matrix of the "
            "tree with its loops cut."
        )
        return Report(title="Mass matrix", parts=(Message(title="", text=text, severity="warning"), of_tree))
    names, M = [mech.v_names[i] for i in indices], follow.T @ M @ follow
    return Report(
        title="Mass matrix", parts=(_mass_matrix_result("Mass matrix", M, names, remark), _eigenvalue_table(M), of_tree)
    )


def coriolis(context: Context, speeds: dict[str, float]) -> Result:
    """Compute the Coriolis matrix at given speeds, and the Coriolis and centrifugal forces C q̇."""
    from core.functions.text import without_rounding_errors, without_solver_errors

    mech, q, p, names = context.mech, context.q, context.p, tuple(context.mech.v_names)
    v = mech.speeds(q, speeds, p=p, t=context.t)
    C = mech.coriolis(q, v, p=p)
    of_tree = "of the tree with its loops cut" if mech.compiled.lasting.any() else ""
    at_rest = "" if v.any() else "zero, since no joint moves: give joint speeds"
    matrix = Matrix(
        title="Coriolis matrix",
        symbol="C(q, \\dot{q})",
        entries=to_row_tuples(without_rounding_errors(C)),
        rows=names,
        columns=names,
        note="; ".join(filter(None, ("from Christoffel symbols, so that Ṁ − 2 C is skew-symmetric", of_tree, at_rest))),
    )
    speed, force = without_solver_errors(mech, v), without_solver_errors(mech, C @ v)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, Amount(float(speed[i]), d), Amount(float(force[i]), _FORCES[d]))
        for i, (name, d) in enumerate(zip(names, speed_dimensions(context), strict=True))
    )
    table = Table(
        title="Coriolis and centrifugal forces",
        columns=tuple(map(Column, ("Joint", "Speed", "C q̇"))),
        rows=rows,
        note="; ".join(filter(None, ("M q̈ + C q̇ + G = τ", of_tree))),
    )
    return Report(title="Coriolis matrix", parts=(matrix, table))


def momentum(context: Context, speeds: dict[str, float], about: str, frame: str) -> Result:
    """Compute linear and angular momentum of all bodies at given speeds."""
    from core.functions.text import without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    v = mech.speeds(q, speeds, p=p, t=context.t)
    place = frame if about == "frame" else about
    found = mech.momentum(q, v, place, p=p)
    center = mech.center_of_mass(q, p=p) if about == "center" else mech.frame(q, place, p=p)[:3, 3]
    angular, linear, point = (without_solver_errors(mech, each) for each in (found[:3], found[3:], center))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{word} {axis}", Amount(float(x), dimension))
        for word, values, dimension in (
            ("Linear momentum", linear, "momentum"),
            ("Angular momentum", angular, "angular_momentum"),
            ("Reference point", point, "length"),
        )
        for axis, x in zip("xyz", values, strict=True)
    )
    words = "the centre of mass" if about == "center" else f"the origin of {place}"
    return Table(
        title="Momentum",
        columns=(Column("Quantity"), Column("Value")),
        rows=rows,
        note=f"world axes; angular momentum about {words}; rotors of motors are not included",
    )


def _mass_matrix_result(title: str, M: Any, names: Sequence[str], remark: str = "") -> Matrix:
    """Return a mass matrix (n, n) as a result, labelled with the names of the speeds."""
    from core.functions.text import without_rounding_errors

    note = "; ".join(filter(None, ("kg·m², kg·m, kg; rotor inertia included", remark)))
    names = tuple(names)
    return Matrix(
        title=title,
        symbol="M(q)",
        entries=to_row_tuples(without_rounding_errors(M)),
        rows=names,
        columns=names,
        note=note,
    )


def _eigenvalue_table(M: Any) -> Table:
    """Return the eigenvalues of a mass matrix (n, n) and a remark on whether it is positive definite."""
    import numpy as np

    eigenvalues = np.linalg.eigvalsh(0.5 * (M + M.T))
    low, high = float(eigenvalues[0]), float(eigenvalues[-1])
    rows = (
        *((f"Eigenvalue {i + 1}", float(x)) for i, x in enumerate(eigenvalues[::-1])),
        ("Condition number", high / low if low > 1e-12 * abs(high) else float("inf")),
        ("Positive definite", "yes" if low > 1e-12 * abs(high) and high > 0.0 else "no: some motion moves no mass"),
    )
    return Table(title="Properties of M", columns=(Column("Property"), Column("Value")), rows=rows)


SPEEDS_FOLLOW = (
    "In a machine with loops, constraints or drivers, speeds that are given are kept and those that "
    "depend on them follow; independent speeds that are not given are zero."
)
_SPEEDS = Values(
    "speeds", "Joint speeds", "Joint speeds by name; the others follow from the constraints or are zero", rate=1
)

FUNCTIONS = (
    Function(
        "energy",
        "Centre of mass and energy",
        "Dynamics",
        "Centre of mass, kinetic energy and potential energy of the machine.\n\n"
        "The kinetic energy is that of the given joint speeds; it is zero at rest. The potential energy is "
        "that of gravity, springs and compressed elastic stops. " + SPEEDS_FOLLOW,
        energy,
        (_SPEEDS,),
        needs=(needs_bodies,),
        live=True,
    ),
    Function(
        "inverse_dynamics",
        "Inverse dynamics",
        "Dynamics",
        (
            "Joint torques and forces required for a motion.\n\n"
            "For given speeds and accelerations at the present pose, the torques follow from M q̈ + C q̇ + G = "
            "τ. Damping, friction, springs and stops of the joints can be left out. For joints held at rest by "
            "dry friction, the torques may lie anywhere between two bounds; a joint that rests against a rigid "
            "stop may have any torque that pushes into the stop. "
        )
        + SPEEDS_FOLLOW
        + (
            " If accelerations are not given, joints with a given speed keep it (zero acceleration). In a "
            "machine with loops or constraints the torques are those of the actuators, which move the whole "
            "machine."
        ),
        inverse_dynamics,
        (
            _SPEEDS,
            Values(
                "accelerations",
                "Joint accelerations",
                "Joint accelerations by name; the others follow from the constraints or are zero",
                rate=2,
            ),
            Flag(
                "passive",
                "Damping, friction, springs, stops",
                "Include damping, friction, springs and stops of the joints",
                True,
            ),
            ACTUATORS,
        ),
        needs=(needs_motion,),
        live=True,
        also=("ID", "required torque", "computed torque"),
    ),
    Function(
        "gravity",
        "Gravity torques",
        "Dynamics",
        "Joint torques and forces that hold the machine at rest against gravity.\n\n"
        "They are the vector G(q) of the equations of motion M q̈ + C q̇ + G = τ. A machine with loops or "
        "constraints is held by its actuators alone; G(q) of the tree with its loops cut is shown next to "
        "their torques.",
        gravity,
        (ACTUATORS,),
        needs=(needs_motion,),
        live=True,
        robotica="ELDynamics",
    ),
    Function(
        "mass_matrix",
        "Mass matrix",
        "Dynamics",
        "The symmetric matrix M(q) of the equations of motion.\n\n"
        "Its eigenvectors with small and large eigenvalues are joint motions with little and much inertia; "
        "the condition number is the ratio of the largest to the smallest eigenvalue. Rotor inertia is "
        "included on the diagonal. For a machine with loops or constraints M is reduced to the actuators, "
        "with all other joints moving along; the matrix of the tree with its loops cut is shown below it.",
        mass_matrix,
        needs=(needs_motion,),
        live=True,
        robotica="ELDynamics",
        also=("inertia matrix", "generalised inertia"),
    ),
    Function(
        "coriolis",
        "Coriolis matrix",
        "Dynamics",
        "The matrix C(q, q̇) of the equations of motion M q̈ + C q̇ + G = τ.\n\n"
        "C is formed with Christoffel symbols of M, so that Ṁ − 2 C is skew-symmetric; C q̇ are the Coriolis and "
        "centrifugal forces. In a machine with loops it is that of the tree with its loops cut. " + SPEEDS_FOLLOW,
        coriolis,
        (_SPEEDS,),
        needs=(needs_motion,),
        live=True,
        also=("centrifugal forces", "Christoffel symbols"),
    ),
    Function(
        "momentum",
        "Momentum",
        "Dynamics",
        "Linear and angular momentum of all bodies at given joint speeds.\n\n"
        "The linear momentum is the mass times the velocity of the centre of mass. The angular momentum is that "
        "about the centre of mass, the world's origin or a frame's origin; about the centre of mass it changes only "
        "by torques and forces from outside. " + SPEEDS_FOLLOW,
        momentum,
        (
            _SPEEDS,
            Choice("about", "About", "Point of the angular momentum", "center", ("center", "world", "frame")),
            FrameName("frame", "Frame", "Body or frame whose origin is the point, with about = frame; empty: the tool"),
        ),
        needs=(needs_bodies,),
        live=True,
        also=("centroidal momentum", "angular momentum", "impulse"),
    ),
)
