"""Functions about closed loops: mobility, assembly branches, instantaneous screw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ModelError
from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Flag, FrameName, Integer, Text, Values
from core.functions.results import Arrow, Arrows, Message, PoseSequence, Report, Result, Table, rows_of
from core.functions.subjects.actuation import names_of
from core.functions.subjects.dynamics import SPEEDS_FOLLOW, speed_dimensions
from core.functions.text import Amount, Cell, Column

if TYPE_CHECKING:
    from core.analysis.body_motions import Screw
    from core.constraints.mobility.mobility import Mobility

MOST_SHOWN = 12
"""Largest number of motions offered as animations."""


def mobility(context: Context, friction: bool) -> Result:
    """Determine degrees of freedom, redundant constraints and the independent motions."""
    from core.analysis.body_motions import swing

    context.step(0, 2, "Ranks at assembled poses")
    found = context.mech.mobility(context.q, context.p, context.t, friction=friction)
    parts: list[Result] = [_summary(found)]
    if found.redundant:
        parts.append(_redundant(found))
    if found.motions:
        parts.append(_motions(context, found))
    for k, motion in enumerate(found.motions[:MOST_SHOWN]):
        context.step(1 + k, 1 + len(found.motions), "Free motions")
        poses = swing(context.mech, found.q, motion.speeds, context.p, context.t)
        p = tuple(dict(context.p) for _ in poses)
        parts.append(PoseSequence(title=f"Motion {k + 1}: {motion.text}", q=rows_of(poses), p=p, display="animate"))
    return Report(title="Mobility", parts=tuple(parts))


def _summary(found: Mobility) -> Message:
    skip = {item.text + "." for item in found.redundant}
    lines = [line for line in str(found).split("\n") if line not in skip and not line.startswith("Motion ")]
    if found.redundant:
        count = len(found.redundant)
        lines.insert(1, f"{count} constraint{'s are' if count > 1 else ' is'} redundant.")
    severity = "warning" if found.inconsistent else "hint" if found.redundant or found.singular else "done"
    return Message(title="Mobility", text=" ".join(lines), severity=severity)


def _redundant(found: Mobility) -> Table:
    rows = tuple(
        (item.joint, item.component, ", ".join(item.fixed_by), ", ".join(name for name, _ in item.instead))
        for item in found.redundant
    )
    titles = ("Joint", "Redundant constraint", "Already fixed by", "Could be given up in")
    note = "a constraint counts as redundant if the ones listed before it hold already: joint by joint, as in the model"
    elements = tuple(((item.collection, item.joint), *item.others) for item in found.redundant)
    columns = tuple(map(Column, titles))
    return Table(title="Redundant constraints", columns=columns, rows=rows, note=note, elements=elements)


def _motions(context: Context, found: Mobility) -> Table:
    dimensions = dict(zip(context.mech.v_names, speed_dimensions(context), strict=True))
    rows: list[tuple[Cell, ...]] = []
    elements: list[tuple[tuple[str, str], ...]] = []
    owners = _owners(context)
    for k, motion in enumerate(found.motions, 1):
        for i, name in enumerate(context.mech.v_names):
            speed = float(motion.speeds[i])
            if abs(speed) > 1e-9:
                rows.append((f"{k}{' (idle)' if motion.idle else ''}", name, Amount(speed, dimensions[name])))
                elements.append((owners[name],))
    note = "each free motion moves as few joints as possible; the fastest turns 1 rad or goes one machine size a second"
    return Table(
        title="Free motions",
        columns=(Column("Motion"), Column("Joint"), Column("Speed")),
        rows=tuple(rows),
        note=note,
        elements=tuple(elements),
    )


def _owners(context: Context) -> dict[str, tuple[str, str]]:
    """Map each speed to (collection, name) of its joint, or of the free body."""
    mech = context.mech
    free = {joint.name: ("bodies", joint.child) for joint in mech.implicit_joints}
    joints = dict.fromkeys(coordinate.joint for coordinate in mech.coordinates)
    return {name: free.get(joint, ("joints", joint)) for joint in joints for name in mech.v_names[mech.joint_v(joint)]}


def assembly_branches(context: Context, hold: str) -> Result:
    """Find the configurations in which the loops close for the present values of some coordinates."""
    import numpy as np

    from core.analysis.branches import branches, independent_coordinates
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    size = characteristic_length(mech, p)
    if not mech.constrained:
        return Message(
            title="Assembly branches", text="The model has no closed loop: its joint coordinates determine the pose."
        )
    names = names_of(hold) or independent_coordinates(mech, q, p, context.t)
    try:
        found = branches(mech, names, q, p, context.t, step=lambda k, n: context.step(k, n, "Closing from other poses"))
    except ModelError as error:
        if hold:
            raise
        return Message(title="Assembly branches", text=f"{error.what} Name coordinates to hold.", severity="hint")
    present = np.asarray(q)
    columns = (
        Column("Branch"),
        *(Column(c.name, c.dimension) for c in mech.coordinates),
        Column("Present"),
    )
    rows = tuple(
        (
            str(k),
            *map(float, pose_without_solver_errors(mech, pose, size)),
            "yes" if np.max(np.abs(pose - present)) < 1e-6 else "",
        )
        for k, pose in enumerate(found, 1)
    )
    count = f"{len(found)} ways" if len(found) != 1 else "one way"
    text = f"The loops close in {count} with {', '.join(names)} as {'it is' if len(names) == 1 else 'they are'}."
    poses = PoseSequence(
        title="Assembly branches", q=rows_of(found), p=tuple(dict(p) for _ in found), display="composite"
    )
    table = Table(title="Coordinates", columns=columns, rows=rows, note="the nearest to the present pose first")
    return Report(title="Assembly branches", parts=(Message(title="", text=text), table, poses))


def instantaneous_screw(context: Context, frame: str, reference: str, motion: int, speeds: dict[str, float]) -> Result:
    """Compute axis and pitch of the instantaneous motion of one frame relative to another."""
    from core.analysis.body_motions import screw
    from core.analysis.manipulability import characteristic_length

    mech, q, p = context.mech, context.q, context.p
    if speeds:
        v = mech.speeds(q, speeds, p=p, t=context.t)
        title = f"Motion of {frame} against {reference}"
    else:
        found = mech.mobility(q, p, context.t)
        if not 1 <= motion <= len(found.motions):
            raise ModelError(
                f"There is no independent motion {motion}; the machine has {len(found.motions)} here.",
                where="option 'motion'",
                remedy="The function Mobility lists the independent motions.",
            )
        v = found.motions[motion - 1].speeds
        title = f"Motion of {frame} against {reference} in free motion {motion}"
    value = _clean_screw(screw(mech, q, v, frame, reference, p), characteristic_length(mech, p))
    return Report(title="Instantaneous screw", parts=(_screw_table(title, value), *_arrows(value, title)))


def _clean_screw(value: Screw, size: float) -> Screw:
    """Return the screw without rounding errors in direction and point. size : of the machine, m."""
    import dataclasses

    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    direction = without_rounding_errors(value.direction, SOLVED_FRACTION)
    return dataclasses.replace(
        value, direction=direction, point=without_rounding_errors(value.point, SOLVED_FRACTION, size)
    )


def _screw_table(title: str, value: Screw) -> Result:
    if value.kind == "rest":
        return Message(title=title, text="The frame is at rest.")
    axes = zip("xyz", value.direction, strict=True)
    rows: list[tuple[Cell, ...]] = [("Kind of motion", value.kind)]
    rows += [(f"Direction {axis}", float(x)) for axis, x in axes]
    if value.kind != "translation":
        rows += [
            (f"Point of the axis {axis}", Amount(float(x), "length"))
            for axis, x in zip("xyz", value.point, strict=True)
        ]
        rows += [
            ("Pitch (advance per turn)", Amount(value.lead, "length")),
            ("Angular velocity", Amount(value.angular, "angular_velocity")),
        ]
    rows.append(("Velocity along the axis", Amount(value.linear, "velocity")))
    note = "world axes; the point is the one nearest to the frame"
    return Table(title=title, columns=(Column("Quantity"), Column("Value")), rows=tuple(rows), note=note)


def _arrows(value: Screw, title: str) -> tuple[Result, ...]:
    if value.kind == "rest":
        return ()
    origin = (float(value.point[0]), float(value.point[1]), float(value.point[2]))
    x, y, z = (float(c) for c in value.direction)
    arrow = Arrow(origin, (x, y, z), turning=value.kind != "translation", both_directions=value.kind != "translation")
    return (Arrows(title=f"Axis: {title}", arrows=(arrow,)),)


FUNCTIONS = (
    Function(
        "mobility",
        "Mobility",
        "Mechanisms",
        "Degrees of freedom, redundant constraints, and independent motions.\n\nThey are found from ranks at assembled "
        "poses near the present one and at it, never a count of bodies and joints: planar loops drawn in space, "
        "Bennett's and Bricard's linkages come out right. Each redundant constraint is named by joint and direction, "
        "with the joints that fix it already and a proposal that makes the machine isostatic. Every independent "
        "motion can be "
        "played in the scene.",
        mobility,
        (Flag("friction", "Friction holds", "Joints with dry friction are locked, as by brakes", False),),
        needs=(needs_motion,),
        also=(
            "DOF",
            "degrees of freedom",
            "freedom",
            "Grübler",
            "Grashof",
            "Kutzbach",
            "Chebyshev",
            "overconstrained",
            "redundant",
            "singularity",
            "dead point",
            "toggle",
        ),
    ),
    Function(
        "assembly_branches",
        "Assembly branches",
        "Mechanisms",
        "The different ways in which the loops close.\n\nSome coordinates are held at their present values "
        "(independent ones, if none are named) and closing is tried from many random poses. A four-bar with a held "
        "crank has two branches, a six-legged platform up to forty. Branches count as one if all joints lie in the "
        "same places: whole turns, a rod turned about its own line and weightless crosses between hinges that meet do "
        "not count.",
        assembly_branches,
        (Text("hold", "Held coordinates", "Names with commas; empty: independent ones", joined=", "),),
        needs=(needs_motion,),
        also=("branch", "circuit", "assembly mode", "configuration"),
    ),
    Function(
        "instantaneous_screw",
        "Instantaneous screw",
        "Mechanisms",
        "The line about which a body turns and along which it slides at this instant.\n\nEvery motion of a body is a "
        "screw: rotation about an axis and translation along it. The motion is that of given joint speeds, or else one "
        "of the machine's free motions. The axis is drawn in the scene. " + SPEEDS_FOLLOW,
        instantaneous_screw,
        (
            FrameName("frame", "Frame", "The frame that moves"),
            FrameName("reference", "Against", "The frame from which it is seen", fallback="world"),
            Integer("motion", "Free motion", "Number of the free motion (see Mobility), unless speeds are given", 1, 1),
            Values("speeds", "Joint speeds", "Speeds by name; empty: the free motion", rate=1),
        ),
        needs=(needs_motion,),
        live=True,
        also=("twist", "screw axis", "instant centre"),
    ),
)
