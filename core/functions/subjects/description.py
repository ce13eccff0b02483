"""Functions that describe the robot: its DH table (also fitted to any serial chain), coordinates, parameters and mass
properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_chain, needs_motion
from core.functions.options import Choice, FrameName, OutputFile
from core.functions.results import FrameTable, Matrix, Message, PlacedFrame, Report, Result, Table, to_row_tuples
from core.functions.text import Amount, Cell, Column
from core.joints import Free
from core.model.formula.numerals import format_readable

if TYPE_CHECKING:
    from core.analysis.dh_fit import DHFit
    from core.model import Body, DHChain, Finding, Model


def dh_table(context: Context, numbers: str = "as written") -> Result:
    """Show the rows of every DH chain, each with the joint variable in its entry."""
    parts = []
    for chain in context.model.chains:
        rows = []
        for i, (row, variable) in enumerate(zip(chain.rows, chain.variables(), strict=True), 1):
            own = "theta" if row.kind == "revolute" else "d"
            cells: list[Cell] = [f"{chain.prefix}joint{i}", row.kind]
            for entry, dimension in (("a", "length"), ("alpha", "angle"), ("d", "length"), ("theta", "angle")):
                value = getattr(row, entry)
                shown = _entry_cell(context, value, dimension, numbers)
                if entry == own:
                    cells.append(
                        _cell_with_joint_variable(variable, value, shown, dimension, numbers, context, chain.prefix, i)
                    )
                else:
                    cells.append(shown)
            rows.append(tuple(cells))
        columns = tuple(Column(t) for t in ("Joint", "Type", "a", "α", "d", "θ"))
        note = f"{chain.convention} convention; lengths in m, angles in rad unless a unit is shown"
        parts.append(Table(title=f"DH table of {chain.name}", columns=columns, rows=tuple(rows), note=note))
    return parts[0] if len(parts) == 1 else Report(title="DH tables", parts=tuple(parts))


def _entry_cell(context: Context, value: float | str, dimension: str, numbers: str) -> Cell:
    if isinstance(value, str) and numbers == "as written":
        return value
    return Amount(_number_cell(context, value), dimension)


def _number_cell(context: Context, value: float | str) -> float:
    from core.model.parameters import evaluate_field

    return float(evaluate_field(value, context.values))


def _cell_with_joint_variable(
    variable: str,
    value: float | str,
    offset_cell: Cell,
    dimension: str,
    numbers: str,
    context: Context,
    prefix: str,
    i: int,
) -> Cell:
    if numbers == "values":
        at = context.mech.joint_q(f"{prefix}joint{i}")
        return Amount(float(context.q[at][0]) + _number_cell(context, value), dimension)
    if value == 0.0:
        return variable
    from core.model.formula.expression import format_number

    offset = offset_cell if isinstance(offset_cell, str) else format_number(_number_cell(context, value))
    return f"{variable} + {offset}" if not offset.startswith("-") else f"{variable} - {offset[1:]}"


def link_transforms(context: Context) -> Result:
    """Compute A_i of every DH joint: the present pose of frame i in frame i − 1."""
    import numpy as np

    from core.functions.text import without_rounding_errors

    parts = []
    for chain in context.model.chains:
        poses = [np.array(context.mech.frame(context.q, name, p=context.p)) for name in chain.bodies]
        for i in range(1, len(poses)):
            A = np.linalg.inv(poses[i - 1]) @ poses[i]
            parts.append(
                Matrix(
                    title=f"Frame {i} in frame {i - 1}",
                    symbol=f"A_{{{i}}}",
                    entries=to_row_tuples(without_rounding_errors(A)),
                    note="positions in m",
                )
            )
    return Report(title="A matrices", parts=tuple(parts))


def coordinates(context: Context) -> Result:
    """List every joint coordinate with its value, its limits, and whether it is within them."""
    from core.analysis.inverse_kinematics import coordinates_at_limits
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    limited, present = coordinates_at_limits(context.mech, context.q), context.q
    if context.mech.constrained:  # an iteration has closed it
        present = pose_without_solver_errors(context.mech, present, characteristic_length(context.mech, context.p))
    rows: list[tuple[Cell, ...]] = []
    for c, value in zip(context.mech.coordinates, present, strict=True):
        state = "at its limit" if c.name in limited else ""
        rows.append(
            (
                c.name,
                context.model.joint(c.joint).kind if _is_joint(context, c.joint) else Free.name,
                Amount(float(value), c.dimension),
                Amount(c.lower, c.dimension),
                Amount(c.upper, c.dimension),
                state,
            )
        )
    for joint in context.model.expanded.joints:
        if joint.mimic is not None:
            value = float(context.mech.coordinate(context.q, joint.name)[0])
            rows.append(
                (
                    joint.name,
                    joint.kind,
                    Amount(value, joint.info.coordinate_dimensions[0]),
                    None,
                    None,
                    f"follows {joint.mimic.leader}",
                )
            )
    titles = ("Coordinate", "Joint", "Value", "Lower limit", "Upper limit", "State")
    return Table(title="Joint coordinates", columns=tuple(map(Column, titles)), rows=tuple(rows))


def _is_joint(context: Context, joint: str) -> bool:
    return any(joint == j.name for j in context.model.expanded.joints)


def parameters(context: Context) -> Result:
    """List every parameter with its formula, present value and unit."""
    from core.model.units import SI

    values = context.values
    rows = tuple(
        (
            p.name,
            "" if p.independent else p.value,
            Amount(float(values[p.name]), p.dimension),
            SI.get(p.dimension, ""),
            "assumed" if p.assumed else p.description,
        )
        for p in context.model.parameters
    )
    titles = ("Parameter", "Formula", "Value", "SI unit", "Notes")
    return Table(title="Parameters", columns=tuple(map(Column, titles)), rows=rows)


def _needs_parameters(context: Context) -> str:
    return "" if context.model.parameters else "The model has no named parameters."


def mass_properties(context: Context) -> Result:
    """List mass, centre of mass and inertia of every body, as the solver uses them."""
    rows: list[tuple[Cell, ...]] = []
    total = 0.0
    for body in context.model.expanded.bodies:
        mass, center, inertia = _mass_properties_of(context, body)
        rows.append((body.name, mass, *center, *inertia))
        total += mass
    columns = (
        Column("Body"),
        Column("Mass", "mass"),
        *(Column(f"Centre {axis}", "length") for axis in "xyz"),
        *(Column(name, "inertia") for name in ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")),
    )
    note = f"total mass {total:.6g} kg; inertia about the centre of mass, body axes, Ixy = −∫xy dm"
    return Table(title="Mass properties", columns=columns, rows=tuple(rows), note=note)


def _mass_properties_of(context: Context, body: Body) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return mass, centre of mass (body frame) and inertia about it."""
    from core.files.meshes.body_inertia import body_inertia
    from core.functions.text import without_rounding_errors
    from core.model.formula.evaluation import FieldEvaluator
    from core.numerics.spatial.inertia import split_inertia

    mass, center, tensor = split_inertia(body_inertia(body, FieldEvaluator(context.values, context.model.origin)))
    return float(mass), tuple(map(float, center)), tuple(map(float, without_rounding_errors(tensor)))


def fit_dh_table(context: Context, convention: str, tip: str, file: str) -> Result:
    """Compute the DH parameters of the chain to a frame, base and tool transforms and the residual; write a file if one
    is named."""
    from core.analysis.dh_fit import fit

    found = fit(context.mech, tip, convention)
    rows = tuple(
        (
            row.joint,
            row.kind,
            Amount(row.a, "length"),
            Amount(row.alpha, "angle"),
            Amount(row.d, "length"),
            Amount(row.theta, "angle"),
        )
        for row in found.rows
    )
    columns = tuple(map(Column, ("Joint", "Type", "a", "α", "d", "θ")))
    note = (
        f"{convention} convention; θ of a revolute and d of a prismatic joint are added to its coordinate; "
        f"residual of '{found.tip}' over poses {_format_residual(found.position)} m, "
        f"{_format_residual(found.rotation)} rad"
    )
    parts: list[Result] = [
        FrameTable(
            title=f"DH table to {found.tip}",
            columns=columns,
            rows=rows,
            note=note,
            convention=convention,
            joints=tuple(row.joint for row in found.rows),
            own=found.bodies,
            frames=_frames_on_bodies(found),
            chain=found.to_dh_chain(),
        ),
        Matrix(title="Base", symbol="X_{W0}", entries=to_row_tuples(found.base), note="frame 0 in the world"),
        Matrix(
            title="Tool",
            symbol=f"X_{{{len(rows)}T}}",
            entries=to_row_tuples(found.tool),
            note=f"{found.tip} in frame {len(rows)}",
        ),
    ]
    if file:
        write_dh_table(context.model, found.to_dh_chain(), file)
        parts.append(Message(text=f"Written to {file}."))
    return Report(title="DH table of the chain", parts=tuple(parts))


def _format_residual(residual: float) -> str:
    """Format a residual; a residual at the level of rounding errors is shown without digits."""
    return format_readable(f"{residual:.1e}") if residual > 1e-12 else "under 10⁻¹²"


def _frames_on_bodies(fit: DHFit) -> tuple[PlacedFrame, ...]:
    """Return frames 0 … n as frames fixed to their bodies."""
    assert fit.attached is not None
    return tuple(
        PlacedFrame(str(i), body, to_row_tuples(X))
        for i, (body, X) in enumerate(zip(fit.bodies, fit.attached, strict=True))
    )


def write_dh_table(model: Model, chain: DHChain, file: str) -> tuple[Finding, ...]:
    """Write a model file that contains only the DH table (native, CSV, TOML or Robotica); return notes on what the
    format cannot store.

    Raises FileError if it cannot be written.
    """
    from core.files import save
    from core.model import Model

    return tuple(save(Model(name=f"{model.name} (DH)", world=model.world, chains=(chain,)), file))


def needs_serial_chain(context: Context) -> str:
    """Check that only revolute and prismatic joints lead to the tool; return the reason if not, else ''."""
    from core.analysis.dh_fit import dh_obstacle_text

    return dh_obstacle_text(context.model, context.mech)


FUNCTIONS = (
    Function(
        "dh_table",
        "DH table",
        "Robot description",
        "The Denavit–Hartenberg table of every chain.\n\n"
        "Each row is a joint with link length a, twist α, offset d and angle θ; the joint variable appears "
        "in its own entry. The convention (standard or modified) is given below the table. With numbers = "
        "values, symbols are replaced by their present values.",
        dh_table,
        (
            Choice(
                "numbers",
                "Entries",
                "Show entries as written (formulas and symbols), or their present values",
                "as written",
                ("as written", "values"),
            ),
        ),
        needs=(needs_chain,),
        live=True,
        robotica="PrintInputData",
        also=("Denavit–Hartenberg",),
    ),
    Function(
        "link_transforms",
        "A matrices",
        "Robot description",
        "The transformation A_i of every DH joint at the present pose.\n\nA_i is the pose of frame i in frame i−1. "
        "Standard convention: A_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α); modified: A_i = Trans_x(a) Rot_x(α) "
        "Rot_z(θ) Trans_z(d).",
        link_transforms,
        needs=(needs_chain,),
        live=True,
        robotica="APrint",
    ),
    Function(
        "coordinates",
        "Joint coordinates and limits",
        "Robot description",
        "Every joint coordinate with its present value and its limits.\n\n"
        "Coordinates that follow another joint (mimic) and coordinates at a limit are marked.",
        coordinates,
        needs=(needs_motion,),
        live=True,
    ),
    Function(
        "parameters",
        "Parameters",
        "Robot description",
        "Every named parameter of the model with its formula and its present value.\n\n"
        "A parameter given as a number can be changed with a slider; one given as a formula depends on other "
        "parameters.",
        parameters,
        needs=(_needs_parameters,),
        live=True,
        reads="machine",
    ),
    Function(
        "mass_properties",
        "Mass properties",
        "Robot description",
        "Mass, centre of mass and inertia of every body.\n\n"
        "The inertia tensor is about the centre of mass, in the axes of the body; products of inertia carry "
        "the minus sign. The mass of a body with a density is computed from its shapes.",
        mass_properties,
        needs=(needs_bodies,),
        reads="machine",
        also=("weigh", "moments of inertia", "centre of gravity"),
    ),
    Function(
        "fit_dh_table",
        "Find DH table",
        "Robot description",
        "Denavit–Hartenberg parameters, standard or modified, of the chain to any frame, for a machine from "
        "any file.\n\n"
        "Frames are placed on the common normals of successive axes; the base and tool transforms account "
        "for the rest. The residual is the largest deviation of the tip over random poses. Joints that a DH "
        "table cannot represent are reported.",
        fit_dh_table,
        (
            Choice(
                "convention",
                "Convention",
                "Standard (distal) or modified (Craig) convention",
                "standard",
                ("standard", "modified"),
            ),
            FrameName("tip", "Tip", "Body or frame at the end of the chain; empty: the tool"),
            OutputFile(
                "file",
                "File",
                "File for the table, in a format given by its suffix; empty: none",
                suffixes=(".kst", ".csv", ".toml", ".rob"),
            ),
        ),
        (needs_motion, needs_serial_chain),
        robotica="DataFile",
        reads="machine",
    ),
)
