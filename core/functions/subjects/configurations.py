"""Card of an arm's configurations: all solutions of its inverse kinematics in closed form, by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from core.functions.context import Context
from core.functions.results import Message, PoseSequence, Report, Result, Table, to_row_tuples
from core.functions.text import Amount, Cell, Column

if TYPE_CHECKING:
    from core.mechanism.inverse_kinematics_results import InverseKinematics, Solution

TOLD_ERROR = 1e-9
"""Error of a solution, m or rad, above which it is reported."""


def configurations_report(context: Context, frame: str, target: Any, found: InverseKinematics, show: str) -> Result:
    """Summary, table and poses of solutions. target : (4, 4); show : "nearest" or "all", in the scene"""
    within = [each for each in found.solutions if each.is_within_limits]
    shown = (within or list(found.solutions))[: None if show == "all" else 1]
    title = "Solutions" if show == "all" else "Nearest solution"
    poses = PoseSequence(
        title=f"{title} within limits" if within else f"{title}, beyond limits",
        q=to_row_tuples([each.q for each in shown]),
        p=tuple(dict(context.p) for _ in shown),
        display="composite",
    )
    table = _configurations_table(context, frame, target, found)
    return Report(title="Inverse kinematics", parts=(_summary(frame, found, len(within)), table, poses))


def _summary(frame: str, found: InverseKinematics, within: int) -> Message:
    count = len(found.solutions)
    named = f"{count} configurations" if count > 1 else "one configuration"
    text = f"{count} solution{'s' * (count > 1)}: {frame} reaches the target in {named}, "
    if within == count:
        text += "within the joint limits"
    else:
        text += f"{within} of them within the joint limits" if within else "none of them within the joint limits"
    if found.complete == "all":
        text += f". There are no others ({found.form})."
    elif found.complete == "all for these self-motion values":
        text += f". There are no others for this value of the redundant joint ({found.form})."
    else:
        text += f". There may be others ({found.form})."
    if found.continuum is not None and not any(each.singularity for each in found.solutions):
        text += f" {', '.join(found.continuum.joints)} can move together while {frame} stays."
    elif found.continuum is not None:
        text += (
            f" At a singular pose {' and '.join(found.continuum.joints)} can move while {frame} stays: such a "
            "configuration is one of infinitely many."
        )
    return Message(title="Result", text=text, severity="done" if within else "warning")


def _configurations_table(context: Context, frame: str, target: Any, found: InverseKinematics) -> Table:
    from core.analysis.inverse_kinematics import coordinates_at_limits, count_self_motions
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    mech = context.mech
    size = characteristic_length(mech, context.p)
    rows: list[tuple[Cell, ...]] = []
    for number, each in enumerate(found.solutions, 1):
        pose = pose_without_solver_errors(mech, each.q, size)
        cells = [Amount(float(x), c.dimension) for x, c in zip(pose, mech.coordinates, strict=True)]
        errors = [x if x > TOLD_ERROR else 0.0 for x in (each.position_error, each.orientation_error)]
        left = count_self_motions(mech, each.q, frame, target, context.p, t=context.t) if each.singularity else 0
        beyond = {violation.joint for violation in each.violations}
        at_limits = [name for name in coordinates_at_limits(mech, each.q) if name not in beyond]
        words = (
            ", ".join(at_limits),
            "" if each.configuration is None else str(each.configuration),
            _violations_text(context, each),
        )
        rows.append((number, *cells, *errors, left, *words))
    columns = (
        Column("Solution"),
        *(Column(c.name, c.dimension) for c in mech.coordinates),
        Column("Position error", "length"),
        Column("Orientation error", "angle"),
        Column("Remaining degrees of freedom"),
        Column("At limits"),
        Column("Configuration"),
        Column("Beyond limits"),
    )
    note = (
        "nearest to the present pose first, solutions beyond joint limits last; angles that differ by whole turns are "
        "the same pose and are listed once"
    )
    return Table(title="Solutions", columns=columns, rows=tuple(rows), note=note)


def _violations_text(context: Context, found: Solution) -> str:
    """Joints beyond their limits, with the distances."""
    dimensions = {c.joint: c.dimension for c in context.mech.coordinates}
    return ", ".join(
        f"{each.joint} by "
        + (f"{math.degrees(each.by):.3g}°" if dimensions[each.joint] == "angle" else f"{each.by * 1e3:.3g} mm")
        for each in found.violations
    )
