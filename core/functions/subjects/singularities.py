"""Singular poses near the present one, and their loci over two coordinates."""

from __future__ import annotations

from typing import Any

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, FrameName
from core.functions.results import Arrow, Arrows, Message, PoseSequence, Report, Result, Table, to_row_tuples
from core.functions.subjects.actuation import ACTUATORS, LENGTH, split_names
from core.functions.text import Amount, Cell, Column

KINDS = {
    "type 1": "1, the frame loses a direction",
    "type 2": "2, uncontrolled",
    "type 3": "3, both",
    "constraints": "branches of the loops meet",
}


def singularities(context: Context, frame: str, scaling: str, actuators: str, length: float | None) -> Result:
    """Find the singular poses near the present one, with distance and lost direction."""
    from core.analysis.singularities.singularities_call import find_singularities
    from core.mechanism.singularity_results import Singularities

    name = frame or context.tool
    found = find_singularities(
        context.mech,
        context.q,
        name,
        scaling=None if scaling == "automatic" else scaling,
        actuators=split_names(actuators) or None,
        length=length,
        p=context.p,
    )
    assert isinstance(found, Singularities)
    parts: list[Result] = [_summary(name, found)]
    if found.singularities:
        parts.append(_table(found))
    parts.append(_measures(found))
    if found.nearest is not None and found.nearest.lost is not None:
        parts.append(_lost_direction(context, name, found.nearest))
    for each in found.singularities:
        poses = PoseSequence(
            title=f"At the singularity: {each.name}", q=to_row_tuples([each.q]), p=(dict(context.p),), display="single"
        )
        parts.append(poses)
    return Report(title="Singularities", parts=tuple(parts))


def _summary(frame: str, found: Any) -> Message:
    nearest = found.nearest
    if nearest is None:
        text = f"No singular pose of {frame} is found from here."
        return Message(title="Result", text=text, severity="done")
    text = nearest.text
    if found.rank < found.full_rank:
        text += f" Here {frame} moves in {found.rank} of {found.full_rank} directions."
    severity = "warning" if found.rank < found.full_rank or nearest.distance < 1e-6 else "done"
    return Message(title="Result", text=text, severity=severity)


def _table(found: Any) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in found.singularities:
        lost = "" if each.lost is None else _lost_words(each.lost)
        distance = Amount(each.distance, each.dimension)
        rows.append((each.name, KINDS[each.kind], distance, each.coordinate or "", each.measure, lost, each.text))
    columns = (
        Column("Singularity"),
        Column("Type"),
        Column("Distance"),
        Column("Counted in"),
        Column("Measure"),
        Column("Lost direction"),
        Column("In words"),
    )
    note = (
        "nearest first; the measure is zero at the singularity: of arms with named configurations a factor of the "
        "Jacobian determinant, of others the smallest singular value as a share of its value at other poses"
    )
    return Table(title="Singular poses", columns=columns, rows=tuple(rows), note=note)


def _lost_words(lost: Any) -> str:
    axis = ", ".join(f"{x:.3g}".replace("-", "−") for x in lost.direction.round(9) + 0.0)
    return f"{'about' if lost.part == 'rotation' else 'along'} ({axis})"


def _measures(found: Any) -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("Translation", *_cells(found.translation)),
        ("Rotation", *_cells(found.rotation)),
        *((("Together, scaled", *_cells(found.sigma)),) if found.sigma.size else ()),
    ]
    value, unit = found.manipulability
    scaled = {
        "speeds": "shares of 1 rad/s and 0.25 m/s that the speed limits of the joints allow",
        "length": f"lengths divided by {found.length:.4g} m",
        "separate": "translation and rotation each",
    }[found.scaling]
    size = f"{value:.4g} {unit}" if unit != "1" else f"{value:.4g}"
    note = f"singular values per unit speed of the actuators; scaled: {scaled}; w = {size}"
    columns = (Column("Part"), *(Column(f"σ{k}") for k in range(1, 7)))
    return Table(title="Singular values", columns=columns, rows=tuple(rows), note=note)


def _cells(values: Any) -> tuple[Cell, ...]:
    return tuple(float(values[k]) if k < len(values) else "" for k in range(6))


def _lost_direction(context: Context, frame: str, singularity: Any) -> Arrows:
    x, y, z = (float(c) for c in context.mech.frame(singularity.q, frame, p=context.p)[:3, 3])
    u, v, w = (float(c) for c in singularity.lost.direction)
    turning = singularity.lost.part == "rotation"
    arrow = Arrow((x, y, z), (u, v, w), turning=turning, both_directions=not turning)
    words = "rotation in place" if turning else "translation"
    return Arrows(title=f"Lost {words} of {frame} at the nearest singularity: {singularity.name}", arrows=(arrow,))


FUNCTIONS = (
    Function(
        "singularities",
        "Singularities",
        "Kinematics",
        "Singular poses near the present one: by name, with the distance and the direction that is lost.\n\n"
        "For arms with named configurations there is one for each part: the elbow stretched or folded, the "
        "wrist aligned, the wrist's centre above the shoulder. The distance is the change of that one joint, or the "
        "distance of the wrist's centre. For other machines the smallest singular value is followed along its gradient "
        "to zero. In machines with loops a frame can lose a direction (type 1), the machine can move though its "
        "actuators are held (type 2), or both (type 3), and branches of the loops can meet. Translation and rotation "
        "are never added: singular values are given for each, and for both with joint speeds or a length as scale.",
        singularities,
        (
            FrameName("frame", "Frame", "Moving frame; empty: the tool"),
            Choice(
                "scaling",
                "Scaling",
                "speeds: share of the wanted speed of the tool that the joints' speed limits allow; length: lengths "
                "divided by the characteristic length; separate: translation and rotation each; automatic: speeds "
                "where all joints have limits, else length",
                "automatic",
                ("automatic", "speeds", "length", "separate"),
            ),
            ACTUATORS,
            LENGTH,
        ),
        needs=(needs_motion,),
        live=True,
        also=("singular", "lost direction", "type 2", "wrist", "elbow", "shoulder", "dead point"),
    ),
)
