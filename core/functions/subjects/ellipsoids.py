"""Manipulability ellipsoids, at the present pose and over ranges (Robotica's RElp)."""

from __future__ import annotations

from typing import Any

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, Flag, FrameName, OutputFile, Range, Ranges
from core.functions.results import Ellipsoid, EllipsoidField, PoseSequence, Result, Table, to_row_tuples
from core.functions.subjects.actuation import (
    ACTUATORS,
    LENGTH,
    actuators_text,
    find_actuators,
    prismatic_length_scale,
    speed_weights_text,
    with_coordinates_of,
)
from core.functions.text import Amount, Cell, Column

_UNITS = {
    ("velocity", "translation"): "m/s per unit joint speed",
    ("velocity", "rotation"): "rad/s per unit joint speed",
    ("force", "translation"): "N per unit joint force",
    ("force", "rotation"): "N·m per unit joint force",
}
_NOTE = "eccentricity = smallest/largest radius, 1 = sphere"
_SIZE = {1: "Length", 2: "Area", 3: "Volume"}


def manipulability(
    context: Context,
    frame: str,
    kind: str,
    part: str,
    ranges: tuple[Range, ...],
    display: str,
    scale: bool,
    graphics: bool,
    measures: bool,
    file: str,
    actuators: str,
    length: float | None,
) -> Result:
    """Compute manipulability ellipsoids of a frame, at the present pose or over ranges."""
    from core.analysis import manipulability as analysis
    from core.analysis.sweep import sweep

    if display == "single":
        ranges = tuple(Range(r.name, r.start, r.start, 1) for r in ranges)
    own, context = context, with_coordinates_of(context, actuators)
    poses = sweep(context.model, context.mech, context.q, context.p, ranges, t=context.t)
    count = 1 if display == "single" else poses.count
    m = _motion_dimension(poses, frame, part)
    chosen = find_actuators(poses.mech, actuators)
    chosen_kind = {"kind": kind, "part": part, "m": m, "actuators": chosen, "length": prismatic_length_scale(length)}
    found: list[Any] = []
    for k in range(count):
        context.step(k, count, "ellipsoids")
        found.append(analysis.manipulability(poses.mech, poses.q[k], frame, p=poses.p[k], **chosen_kind))  # type: ignore[arg-type]
    sequence = PoseSequence(
        q=to_row_tuples(poses.q[:count]),
        p=poses.p[:count],
        display=display,  # type: ignore[arg-type]
        model=poses.model if poses.model is not own.model else None,
        ranges=ranges,
    )
    note = f"{part} of {frame}; radii in {_UNITS[kind, part]}; {_NOTE}; {_dimension_note(m)}"
    note = "; ".join(filter(None, (note, actuators_text(chosen), speed_weights_text(poses.mech, chosen, length))))
    table = _measures_table(context, poses, found, ranges, m, kind, note)
    if file:
        write_measures(file, table)
    remarks = (
        _singularity_note(found, table, len(ranges), m, part),
        _uncontrolled_motion_note(poses.mech, chosen, found, table, len(ranges)),
        own.assumed_values_text((r.name for r in ranges), _names_in_dh_tables(own)),
    )
    return EllipsoidField(
        title=f"{kind.capitalize()} ellipsoid of {frame}",
        kind=kind,
        part=part,
        frame=frame,
        dimension=m,
        ellipsoids=tuple(map(_ellipsoid_from, found)),
        measures=table,
        poses=sequence,
        scaled=scale,
        graphics=graphics,
        listed=measures,
        remark=" ".join(filter(None, remarks)),
    )


def _motion_dimension(poses: Any, frame: str, motion_part: str) -> int:
    """Return the dimension of the space in which the frame moves at general poses, over all parameter values in the
    ranges."""
    from core.analysis.manipulability import velocity_dimension

    places = dict.fromkeys((0, len(poses.p) // 2, len(poses.p) - 1))
    values = [poses.p[k] for k in places]
    different = [p for k, p in enumerate(values) if p not in values[:k]]
    return max(velocity_dimension(poses.mech, frame, motion_part, p) for p in different)  # type: ignore[arg-type]


def _dimension_note(dimension: int) -> str:
    """State the dimension in which Yoshikawa's w is the product of the radii."""
    if dimension == 3:
        return "w = √det(J Jᵀ)"
    return f"the frame moves in {dimension} dimension{'s' * (dimension != 1)}, in which w = √det(J Jᵀ)"


def _singularity_note(ellipsoids: list[Any], table: Table, range_count: int, dimension: int, motion_part: str) -> str:
    """Describe the poses at which the frame cannot move in some direction, and that direction; '' if there are none."""
    places = [k for k, e in enumerate(ellipsoids) if dimension and sorted(e.singular)[3 - dimension] == 0.0]
    if not places:
        return ""
    first = ellipsoids[places[0]]
    order = sorted(range(3), key=lambda i: -first.singular[i])[dimension - 1]
    axis = ", ".join(f"{x:.3g}".replace("-", "−") for x in _axis_without_noise(first.axes[:, order]))
    motion, load = ("move along", "forces") if motion_part == "translation" else ("turn about", "moments")
    one = " at the first of them" if len(places) > 1 else ""
    where = _describe_poses(places, len(ellipsoids), table, range_count)
    return f"Singular at {where}:{one} the frame cannot {motion} ({axis}), and {load} in that direction load no joint."


def _uncontrolled_motion_note(mech: Any, actuators: Any, ellipsoids: list[Any], table: Table, range_count: int) -> str:
    """Describe the poses at which the machine can move although its actuators are locked; '' if there are none."""
    from core.analysis.actuators import uncontrolled_motion_text

    places = [k for k, e in enumerate(ellipsoids) if e.loose.shape[1]]
    if not places:
        return ""
    words = uncontrolled_motion_text(mech, actuators, ellipsoids[places[0]].loose)
    return (
        words if len(ellipsoids) == 1 else f"At {_describe_poses(places, len(ellipsoids), table, range_count)}: {words}"
    )


def _describe_poses(pose_indices: list[int], count: int, table: Table, range_count: int) -> str:
    """Describe some of the poses by the values of the varied variables."""
    named = [_describe_pose(table, range_count, k) for k in pose_indices[:4]] if range_count else []
    where = f" ({'; '.join(named)}{' …' if len(pose_indices) > len(named) else ''})" if named else ""
    return f"{f'{len(pose_indices)} of {count} poses' if count > 1 else 'this pose'}{where}"


def _describe_pose(table: Table, range_count: int, row: int) -> str:
    """Describe pose k by the values of the varied variables: q1 = 90°, d2 = 3 m."""
    from core.functions.text import format_cell

    pairs = zip(table.columns[:range_count], table.rows[row][:range_count], strict=True)
    return ", ".join(
        f"{column.title} = {format_cell(cell, Column(column.title), degrees=True)}" for column, cell in pairs
    )


def _names_in_dh_tables(context: Context) -> set[str]:
    """Return the names in the DH entries of the chains; an ellipsoid does not depend on masses."""
    from core.model.formula.expression import names_in_formula, parse

    rows = [row for chain in context.model.chains for row in chain.rows]
    texts = [text for row in rows for text in (row.a, row.alpha, row.d, row.theta) if isinstance(text, str)]
    return {name for text in texts for name in names_in_formula(parse(text))}


def _axis_without_noise(axis: Any) -> Any:
    """Return a direction without rounding errors, its first non-zero component positive."""
    import numpy as np

    kept = np.where(np.abs(axis) < 1e-9, 0.0, axis)
    return kept * np.sign(kept[np.flatnonzero(kept)[0]]) + 0.0


def _ellipsoid_from(kernel_ellipsoid: Any) -> Ellipsoid:
    center, radii = tuple(map(float, kernel_ellipsoid.center)), tuple(map(float, kernel_ellipsoid.radii))
    return Ellipsoid(center, to_row_tuples(kernel_ellipsoid.axes), radii)  # type: ignore[arg-type]


def _measures_table(
    context: Context, poses: Any, ellipsoids: list[Any], ranges: tuple[Range, ...], m: int, kind: str, note: str
) -> Table:
    from core.analysis.sweep import variable_dimension, variable_value

    dimensions = {r.name: variable_dimension(context.model, context.mech, r.name) for r in ranges}
    rows: list[tuple[Cell, ...]] = []
    for k, ellipsoid in enumerate(ellipsoids):
        run = [
            Amount(variable_value(poses.model, poses.mech, poses.q[k], poses.p[k], n), d) for n, d in dimensions.items()
        ]
        e = ellipsoid.measures
        radii = sorted(map(float, ellipsoid.radii), reverse=True)
        axes = radii[:m] if kind == "velocity" else radii[3 - m :]
        rows.append((*run, *axes, e.volume, e.eccentricity, e.smallest, e.geometric_mean, e.yoshikawa, e.condition))
    columns = (
        *(Column(name, dimension) for name, dimension in dimensions.items()),
        *(Column(f"Radius {i + 1}") for i in range(m)),
        Column(_SIZE.get(m, "Volume")),
        Column("Eccentricity"),
        Column("Smallest radius"),
        Column("Geometric mean"),
        Column("Yoshikawa w"),
        Column("Condition"),
    )
    return Table(title="Measures", columns=columns, rows=tuple(rows), note=note)


def write_measures(path: str, table: Table) -> None:
    """Write the measures to a new CSV file, or append them as text to a file of another type (Robotica's `file`)."""
    from core.files.source import append_atomically, write_atomically

    if path.lower().endswith(".csv"):
        write_atomically(path, table.to_csv().encode("utf-8"))
    else:
        append_atomically(path, table.to_text() + "\n")


FUNCTIONS = (
    Function(
        "manipulability",
        "Manipulability ellipsoid",
        "Ellipsoids",
        "How easily a frame moves, or resists forces, in each direction.\n\n"
        "The velocity ellipsoid contains all velocities that result from joint speeds of unit norm; the "
        "force ellipsoid contains all forces that joint torques of unit norm can balance (Yoshikawa 1985). "
        "In a machine with loops these are the speeds and forces of its actuators, which determine the "
        "motion of all other joints; poses at which the machine can move with its actuators locked are "
        "reported. Planar arms get ellipses. Measures: radii, volume (area), eccentricity (smallest/largest "
        "radius, 1 = sphere), smallest radius, geometric mean, Yoshikawa's w = √det(J Jᵀ) in the dimensions "
        "in which the frame moves.\n\n"
        "With ranges of joint coordinates, parameters or DH entries (a1, alpha1, d1 …) an ellipsoid is "
        "computed at every division; they are drawn all together (composite) or one after another (animate); "
        "single draws only the first. All ranges are traversed simultaneously and need the same number of "
        "divisions. Scale draws each ellipsoid with its longest axis two units long. Without graphics only "
        "the measures are given; a file gets them appended as text (.txt) or as a table (.csv).",
        manipulability,
        (
            FrameName("frame", "Frame", "Body or frame that moves; empty: the tool"),
            Choice("kind", "Ellipsoid of", "Ellipsoid of velocities or of forces", "velocity", ("velocity", "force")),
            Choice("part", "Part", "Translational or rotational part", "translation", ("translation", "rotation")),
            Ranges("ranges", "Ranges", "Coordinates, parameters or DH entries to vary, with their ranges"),
            Choice(
                "display",
                "Display",
                "Show all poses together, one after another, or only the first",
                "composite",
                ("composite", "animate", "single"),
            ),
            Flag("scale", "Scale", "Draw each ellipsoid with its longest axis two units long"),
            Flag("graphics", "Draw in the scene", "Draw the ellipsoids; off: only list the measures", True),
            Flag("measures", "List measures", "List the measures; off: only draw the ellipsoids", True),
            OutputFile(
                "file",
                "Measures to file",
                "File for the measures: text (.txt, appended to) or CSV; empty: none",
                "",
                (".txt", ".csv"),
            ),
            ACTUATORS,
            LENGTH,
        ),
        needs=(needs_motion,),
        live=True,
        robotica="RElp",
        also=("manipulability", "dexterity", "ellipsoid"),
    ),
)
