"""Functions about masses and forces."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError
from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_motion
from core.functions.options import Flag, Values
from core.functions.results import Matrix, Report, Result, Table, rows_of
from core.functions.text import Amount, Column


def _vector(mech: Any, given: dict[str, float]) -> Any:
    import numpy as np

    return np.array([given.get(name, 0.0) for name in mech.v_names])


_SECOND_RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
_FORCES = {"angular_velocity": "torque", "velocity": "force"}


def speed_dimensions(context: Context) -> tuple[str, ...]:
    """Dimension of each speed of the machine ("angular_velocity" or "velocity")."""
    from core.joints import Free

    joints = {joint.name: joint for joint in context.model.expanded.joints}
    found: dict[int, str] = {}
    for name in dict.fromkeys(coordinate.joint for coordinate in context.mech.coordinates):
        kind = joints[name].info if name in joints else Free
        at = context.mech.joint_v(name)
        found.update(zip(range(at.start, at.stop), kind.speed_dimensions, strict=False))
    return tuple(found[i] for i in range(context.mech.nv))


def energy(context: Context, speeds: dict[str, float]) -> Result:
    """Centre of mass, kinetic and potential energy; energies alone where nothing has mass."""
    mech, q, p = context.mech, context.q, context.p
    v = _vector(mech, speeds)
    kinetic, potential = (float(e) for e in mech.energy(q, v, p=p))
    try:
        center = tuple(float(x) for x in mech.center_of_mass(q, p=p))
    except ModelError:
        center = ()
    rows = (
        *((f"Centre of mass {axis}", Amount(x, "length")) for axis, x in zip("xyz", center, strict=False)),
        ("Kinetic energy", Amount(kinetic, "energy")),
        ("Potential energy", Amount(potential, "energy")),
        ("Total energy", Amount(kinetic + potential, "energy")),
    )
    note = "potential energy of gravity, zero at the world's origin"
    note = f"world axes; {note}" if center else f"nothing has mass, so there is no centre of mass; {note}"
    return Table(title="Centre of mass and energy", columns=(Column("Quantity"), Column("Value")), rows=rows, note=note)


def inverse_dynamics(
    context: Context, speeds: dict[str, float], accelerations: dict[str, float], passive: bool
) -> Result:
    """Joint torques of a given motion."""
    from core.functions.rounding import without_dust

    mech, q, p = context.mech, context.q, context.p
    v, a = _vector(mech, speeds), _vector(mech, accelerations)
    tau = without_dust(mech.inverse_dynamics(q, v, a, p=p, passive=passive))
    rows = tuple(
        (name, Amount(float(v[i]), d), Amount(float(a[i]), _SECOND_RATES[d]), Amount(float(tau[i]), _FORCES[d]))
        for i, (name, d) in enumerate(zip(mech.v_names, speed_dimensions(context), strict=True))
    )
    note = "M q̈ + C q̇ + G = τ; damping, friction and springs " + ("included" if passive else "left out")
    titles = ("Joint", "Speed", "Acceleration", "Torque or force")
    return Table(title="Inverse dynamics", columns=tuple(map(Column, titles)), rows=rows, note=note)


def gravity(context: Context) -> Result:
    """Joint torques that hold the machine against gravity."""
    from core.functions.rounding import without_dust

    mech = context.mech
    tau = without_dust(mech.gravity(context.q, p=context.p))
    rows = tuple(
        (name, Amount(float(tau[i]), _FORCES[d]))
        for i, (name, d) in enumerate(zip(mech.v_names, speed_dimensions(context), strict=True))
    )
    note = "τ = G(q): what the joints must exert to stand still"
    return Table(title="Gravity torques", columns=(Column("Joint"), Column("Torque or force")), rows=rows, note=note)


def mass_matrix(context: Context) -> Result:
    """The joint-space mass matrix and its eigenvalues."""
    import numpy as np

    from core.functions.rounding import without_dust

    mech = context.mech
    M = np.array(mech.mass_matrix(context.q, p=context.p))
    matrix = Matrix(
        title="Mass matrix",
        symbol="M(q)",
        entries=rows_of(without_dust(M)),
        rows=tuple(mech.v_names),
        columns=tuple(mech.v_names),
        note="kg·m², kg·m, kg; rotor inertia included",
    )
    eigenvalues = np.linalg.eigvalsh(0.5 * (M + M.T))
    low, high = float(eigenvalues[0]), float(eigenvalues[-1])
    rows = (
        *((f"Eigenvalue {i + 1}", float(x)) for i, x in enumerate(eigenvalues[::-1])),
        ("Condition number", high / low if low > 1e-12 * abs(high) else float("inf")),
        ("Positive definite", "yes" if low > 1e-12 * abs(high) and high > 0.0 else "no: some motion moves no mass"),
    )
    table = Table(title="Properties of M", columns=(Column("Property"), Column("Value")), rows=rows)
    return Report(title="Mass matrix", parts=(matrix, table))


_SPEEDS = Values("speeds", "Joint speeds", "Speeds by name; those not given are zero", rate=1)

FUNCTIONS = (
    Function(
        "energy",
        "Centre of mass and energy",
        "Dynamics",
        "Where the machine's centre of mass is, and its kinetic and potential energy.\n\nThe kinetic energy belongs to "
        "the joint speeds given; at rest it is zero. The potential energy is that of gravity.",
        energy,
        (_SPEEDS,),
        needs=(needs_bodies,),
        live=True,
    ),
    Function(
        "inverse_dynamics",
        "Inverse dynamics",
        "Dynamics",
        "The joint torques and forces that a motion needs.\n\nGiven speeds and accelerations at the present pose, the "
        "torques follow from M q̈ + C q̇ + G = τ. The model's own damping, friction and springs can be left out.",
        inverse_dynamics,
        (
            _SPEEDS,
            Values("accelerations", "Joint accelerations", "Accelerations by name; others are zero", rate=2),
            Flag("passive", "Damping, friction, springs", "Include the joints' own forces", True),
        ),
        needs=(needs_motion,),
        live=True,
    ),
    Function(
        "gravity",
        "Gravity torques",
        "Dynamics",
        "The joint torques and forces that hold the machine still against gravity.\n\nThis is the vector G(q) of the "
        "equations of motion M q̈ + C q̇ + G = τ.",
        gravity,
        needs=(needs_motion,),
        live=True,
        robotica="ELDynamics",
    ),
    Function(
        "mass_matrix",
        "Mass matrix",
        "Dynamics",
        "The symmetric matrix M(q) of the equations of motion.\n\nIts eigenvalues tell in which joint directions the "
        "machine is light or heavy; its condition number how unlike they are. Rotor inertia is on the diagonal.",
        mass_matrix,
        needs=(needs_motion,),
        live=True,
        robotica="ELDynamics",
    ),
)
