"""Functions about closed loops: mobility, assembly branches, instantaneous screw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ModelError
from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Flag, FrameName, Integer, Text, Values
from core.functions.results import Arrow, Arrows, Message, PoseSequence, Report, Result, Table, to_row_tuples
from core.functions.subjects.actuation import split_names
from core.functions.subjects.dynamics import SPEEDS_FOLLOW, speed_dimensions
from core.functions.text import Amount, Cell, Column

if TYPE_CHECKING:
    from core.analysis.body_motions import Screw
    from core.constraints.mobility.mobility import Mobility

MOST_SHOWN = 12
"""Largest number of motions offered as animations."""


def mobility(context: Context, friction: bool) -> Result:
    """Determine degrees of freedom, redundant constraints and the independent motions."""
    from core.analysis.body_motions import oscillating_poses

    context.step(0, 2, "Determining ranks at assembled poses")
    found = context.mech.mobility(context.q, context.p, context.t, friction=friction)
    parts: list[Result] = [_summary_message(found)]
    if found.redundant:
        parts.append(_redundant_constraint_table(found))
    if found.motions:
        parts.append(_motion_table(context, found))
    for k, motion in enumerate(found.motions[:MOST_SHOWN]):
        context.step(1 + k, 1 + len(found.motions), "Free motions")
        poses = oscillating_poses(context.mech, found.q, motion.speeds, context.p, context.t)
        p = tuple(dict(context.p) for _ in poses)
        parts.append(
            PoseSequence(title=f"Motion {k + 1}: {motion.text}", q=to_row_tuples(poses), p=p, display="animate")
        )
    return Report(title="Mobility", parts=tuple(parts))


def _summary_message(result: Mobility) -> Message:
    skip = {item.text + "." for item in result.redundant}
    lines = [line for line in str(result).split("\n") if line not in skip and not line.startswith("Motion ")]
    if result.redundant:
        count = len(result.redundant)
        lines.insert(1, f"{count} constraint{'s are' if count > 1 else ' is'} redundant.")
    severity = "warning" if result.inconsistent else "hint" if result.redundant or result.singular else "done"
    return Message(title="Mobility", text=" ".join(lines), severity=severity)


def _redundant_constraint_table(result: Mobility) -> Table:
    rows = tuple(
        (item.joint, item.component, ", ".join(item.imposing_elements), ", ".join(name for name, _ in item.instead))
        for item in result.redundant
    )
    titles = ("Joint", "Redundant constraint", "Already fixed by", "Could be removed instead in")
    note = "a constraint is redundant if the constraints before it already imply it; joints in the order of the model"
    elements = tuple(((item.collection, item.joint), *item.others) for item in result.redundant)
    columns = tuple(map(Column, titles))
    return Table(title="Redundant constraints", columns=columns, rows=rows, note=note, elements=elements)


def _motion_table(context: Context, result: Mobility) -> Table:
    dimensions = dict(zip(context.mech.v_names, speed_dimensions(context), strict=True))
    rows: list[tuple[Cell, ...]] = []
    elements: list[tuple[tuple[str, str], ...]] = []
    owners = _owners_of_speeds(context)
    for k, motion in enumerate(result.motions, 1):
        for i, name in enumerate(context.mech.v_names):
            speed = float(motion.speeds[i])
            if abs(speed) > 1e-9:
                rows.append((f"{k}{' (idle)' if motion.idle else ''}", name, Amount(speed, dimensions[name])))
                elements.append((owners[name],))
    note = (
        "each free motion moves as few joints as possible; its fastest joint has a speed of 1 rad/s or one "
        "machine size per second"
    )
    return Table(
        title="Free motions",
        columns=(Column("Motion"), Column("Joint"), Column("Speed")),
        rows=tuple(rows),
        note=note,
        elements=tuple(elements),
    )


def _owners_of_speeds(context: Context) -> dict[str, tuple[str, str]]:
    """Map each speed to (collection, name) of its joint, or of the free body."""
    mech = context.mech
    free = {joint.name: ("bodies", joint.child) for joint in mech.implicit_joints}
    joints = dict.fromkeys(coordinate.joint for coordinate in mech.coordinates)
    return {name: free.get(joint, ("joints", joint)) for joint in joints for name in mech.v_names[mech.joint_v(joint)]}


def assembly_branches(context: Context, hold: str) -> Result:
    """Find the configurations in which the loops close for the present values of some coordinates."""
    import numpy as np

    from core.analysis.branches import STARTS, find_branches, independent_coordinates
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    size = characteristic_length(mech, p)
    if not mech.constrained:
        return Message(
            title="Assembly branches", text="The model has no closed loop: its joint coordinates determine the pose."
        )
    names = split_names(hold) or independent_coordinates(mech, q, p, context.t)
    try:
        found = find_branches(
            mech, names, q, p, context.t, step=lambda k, n: context.step(k, n, "Closing the loops from random poses")
        )
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
    count = f"{len(found)} configurations" if len(found) != 1 else "one configuration"
    held = f"{', '.join(names)} as {'it is' if len(names) == 1 else 'they are'}"
    text = f"The loops close in at least {count} with {held}: so many were found from {STARTS} starts at most."
    poses = PoseSequence(
        title="Assembly branches", q=to_row_tuples(found), p=tuple(dict(p) for _ in found), display="composite"
    )
    table = Table(title="Coordinates", columns=columns, rows=rows, note="nearest to the present pose first")
    return Report(title="Assembly branches", parts=(Message(title="", text=text), table, poses))


def instantaneous_screw(context: Context, frame: str, reference: str, motion: int, speeds: dict[str, float]) -> Result:
    """Compute axis and pitch of the instantaneous motion of one frame relative to another."""
    from core.analysis.body_motions import screw
    from core.analysis.manipulability import characteristic_length

    mech, q, p = context.mech, context.q, context.p
    if speeds:
        v = mech.speeds(q, speeds, p=p, t=context.t)
        title = f"Motion of {frame} relative to {reference}"
    else:
        found = mech.mobility(q, p, context.t)
        if not 1 <= motion <= len(found.motions):
            raise ModelError(
                f"There is no independent motion {motion}; the machine has {len(found.motions)} here.",
                where="option 'motion'",
                remedy="The function Mobility lists the independent motions.",
            )
        v = found.motions[motion - 1].speeds
        title = f"Motion of {frame} relative to {reference} in free motion {motion}"
    value = _screw_without_noise(screw(mech, q, v, frame, reference, p), characteristic_length(mech, p))
    return Report(title="Instantaneous screw", parts=(_screw_table(title, value), *_screw_arrows(value, title)))


def _screw_without_noise(screw: Screw, machine_size: float) -> Screw:
    """Return the screw without rounding errors in its direction and point. machine_size : m"""
    import dataclasses

    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    direction = without_rounding_errors(screw.direction, SOLVED_FRACTION)
    return dataclasses.replace(
        screw, direction=direction, point=without_rounding_errors(screw.point, SOLVED_FRACTION, machine_size)
    )


def _screw_table(title: str, screw: Screw) -> Result:
    if screw.kind == "rest":
        return Message(title=title, text="The frame is at rest.")
    axes = zip("xyz", screw.direction, strict=True)
    rows: list[tuple[Cell, ...]] = [("Kind of motion", screw.kind)]
    rows += [(f"Direction {axis}", float(x)) for axis, x in axes]
    if screw.kind != "translation":
        rows += [
            (f"Point of the axis {axis}", Amount(float(x), "length"))
            for axis, x in zip("xyz", screw.point, strict=True)
        ]
        rows += [
            ("Pitch (advance per turn)", Amount(screw.advance_per_turn, "length")),
            ("Angular velocity", Amount(screw.angular, "angular_velocity")),
        ]
    rows.append(("Velocity along the axis", Amount(screw.linear, "velocity")))
    note = "world axes; the point is the one nearest to the frame"
    return Table(title=title, columns=(Column("Quantity"), Column("Value")), rows=tuple(rows), note=note)


def _screw_arrows(screw: Screw, title: str) -> tuple[Result, ...]:
    if screw.kind == "rest":
        return ()
    origin = (float(screw.point[0]), float(screw.point[1]), float(screw.point[2]))
    x, y, z = (float(c) for c in screw.direction)
    arrow = Arrow(origin, (x, y, z), turning=screw.kind != "translation", both_directions=screw.kind != "translation")
    return (Arrows(title=f"Axis: {title}", arrows=(arrow,)),)


FUNCTIONS = (
    Function(
        "mobility",
        "Mobility",
        "Mechanisms",
        "Degrees of freedom, redundant constraints, and independent motions.\n\n"
        "They are determined from ranks at the present pose and at assembled poses near it, not by counting "
        "bodies and joints, so planar loops in space and the linkages of Bennett and Bricard are treated "
        "correctly. Each redundant constraint is reported with its joint and direction, the joints that "
        "already impose it, and a constraint that could be removed to make the machine isostatic. Every "
        "independent motion can be played in the scene.",
        mobility,
        (
            Flag(
                "friction",
                "Lock joints with friction",
                "Treat joints with dry friction as locked, as if by brakes",
                False,
            ),
        ),
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
        "The different configurations (assembly modes) in which the loops close.\n\n"
        "Some coordinates are held at their present values (the independent ones by default), and the loops "
        "are closed from many random poses. A four-bar with a fixed crank has two branches, a six-legged "
        "platform up to forty. Configurations with all joints in the same positions count as one branch: whole "
        "turns, rotation of a rod about its own axis, and the orientation of massless crosses of universal "
        "joints are ignored.",
        assembly_branches,
        (
            Text(
                "hold",
                "Held coordinates",
                "Names of the coordinates to hold, separated by commas; empty: the independent ones",
                joined=", ",
            ),
        ),
        needs=(needs_motion,),
        also=("branch", "circuit", "assembly mode", "configuration"),
    ),
    Function(
        "instantaneous_screw",
        "Instantaneous screw",
        "Mechanisms",
        "Instantaneous screw axis of a body: the line about which it turns and along which it slides.\n\n"
        "Every instantaneous motion of a body is a screw: rotation about an axis combined with translation "
        "along it. The motion results from given joint speeds, or is one of the machine's free motions. The "
        "axis is drawn in the scene. " + SPEEDS_FOLLOW,
        instantaneous_screw,
        (
            FrameName("frame", "Frame", "Moving frame; empty: the tool"),
            FrameName(
                "reference",
                "Relative to",
                "Frame relative to which the motion is measured; empty: world",
                fallback="world",
            ),
            Integer(
                "motion", "Free motion", "Number of the free motion (see Mobility), used if no speeds are given", 1, 1
            ),
            Values("speeds", "Joint speeds", "Joint speeds by name; empty: the free motion", rate=1),
        ),
        needs=(needs_motion,),
        live=True,
        also=("twist", "screw axis", "instant centre"),
    ),
)
