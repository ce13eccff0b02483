"""Manipulability ellipsoids, at the present pose and over ranges (Robotica's RElp)."""

from __future__ import annotations

from typing import Any

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, Flag, FrameName, OutputFile, Range, Ranges
from core.functions.results import Ellipsoid, EllipsoidField, PoseSequence, Result, Table, rows_of
from core.functions.text import Amount, Cell, Column

_UNITS = {
    ("velocity", "translation"): "m/s per unit joint speed",
    ("velocity", "rotation"): "rad/s per unit joint speed",
    ("force", "translation"): "N per unit joint torque",
    ("force", "rotation"): "N·m per unit joint torque",
}
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
) -> Result:
    """Ellipsoids of a frame along ranges."""
    from core.analysis import manipulability as analysis
    from core.analysis.sweep import sweep

    if display == "single":
        ranges = tuple(Range(r.name, r.start, r.start, 1) for r in ranges)
    poses = sweep(context.model, context.mech, context.q, context.p, ranges, t=context.t)
    count = 1 if display == "single" else poses.count
    m = _dimension(poses, frame, part)
    found = []
    for k in range(count):
        context.step(k, count, "ellipsoids")
        found.append(
            analysis.manipulability(poses.mech, poses.q[k], frame, kind=kind, part=part, p=poses.p[k], m=m)  # type: ignore[arg-type]
        )
    sequence = PoseSequence(
        q=rows_of(poses.q[:count]),
        p=poses.p[:count],
        display=display,  # type: ignore[arg-type]
        model=poses.model if poses.model is not context.model else None,
        ranges=ranges,
    )
    table = _measures(context, poses, found, ranges, m, kind, part, frame)
    if file:
        store(file, table)
    remarks = (
        _singular(found, table, len(ranges), m, part),
        context.assumed_words((r.name for r in ranges), _geometric(context)),
    )
    return EllipsoidField(
        title=f"{kind.capitalize()} ellipsoid of {frame}",
        kind=kind,
        part=part,
        frame=frame,
        dimension=m,
        ellipsoids=tuple(map(_value, found)),
        measures=table,
        poses=sequence,
        scaled=scale,
        graphics=graphics,
        listed=measures,
        remark=" ".join(filter(None, remarks)),
    )


def _dimension(poses: Any, frame: str, part: str) -> int:
    """Of the space the frame can move in at general poses, with the parameter values along the ranges."""
    from core.analysis.manipulability import dimension

    places = dict.fromkeys((0, len(poses.p) // 2, len(poses.p) - 1))
    values = [poses.p[k] for k in places]
    different = [p for k, p in enumerate(values) if p not in values[:k]]
    return max(dimension(poses.mech, frame, part, p) for p in different)  # type: ignore[arg-type]


def _singular(found: list[Any], table: Table, ranges: int, m: int, part: str) -> str:
    """At which poses the frame cannot move in every direction of its space, and in which not; '' if at none."""
    from core.numerics.tolerances import RANK_TOLERANCE

    places = [k for k, e in enumerate(found) if m and sorted(e.singular)[3 - m] <= RANK_TOLERANCE * max(e.singular)]
    if not places:
        return ""
    named = [_place(table, ranges, k) for k in places[:4]] if ranges else []
    where = f" ({'; '.join(named)}{' …' if len(places) > len(named) else ''})" if named else ""
    count = f"{len(places)} of {len(found)} poses" if len(found) > 1 else "this pose"
    first = found[places[0]]
    order = sorted(range(3), key=lambda i: -first.singular[i])[m - 1]
    axis = ", ".join(f"{x:.3g}".replace("-", "−") for x in _tidy(first.axes[:, order]))
    motion, load = ("move along", "forces") if part == "translation" else ("turn about", "moments")
    one = " at the first of them" if len(places) > 1 else ""
    return f"Singular at {count}{where}:{one} the frame cannot {motion} ({axis}), and {load} there load no joint."


def _place(table: Table, ranges: int, k: int) -> str:
    """A pose by the variables that run: q1 = 90°, d2 = 3 m."""
    from core.functions.text import cell_text

    pairs = zip(table.columns[:ranges], table.rows[k][:ranges], strict=True)
    return ", ".join(
        f"{column.title} = {cell_text(cell, Column(column.title), degrees=True)}" for column, cell in pairs
    )


def _geometric(context: Context) -> set[str]:
    """Names in the DH entries of the chains: masses do not matter to an ellipsoid."""
    from core.model.formula.expression import names, parse

    rows = [row for chain in context.model.chains for row in chain.rows]
    texts = [text for row in rows for text in (row.a, row.alpha, row.d, row.theta) if isinstance(text, str)]
    return {name for text in texts for name in names(parse(text))}


def _tidy(axis: Any) -> Any:
    """A direction without rounding errors, its first entry that counts positive."""
    import numpy as np

    kept = np.where(np.abs(axis) < 1e-9, 0.0, axis)
    return kept * np.sign(kept[np.flatnonzero(kept)[0]]) + 0.0


def _value(found: Any) -> Ellipsoid:
    center, radii = tuple(map(float, found.center)), tuple(map(float, found.radii))
    return Ellipsoid(center, rows_of(found.axes), radii)  # type: ignore[arg-type]


def _measures(
    context: Context, poses: Any, found: list[Any], ranges: tuple[Range, ...], m: int, kind: str, part: str, frame: str
) -> Table:
    from core.analysis.sweep import dimension_of, value_of

    dimensions = {r.name: dimension_of(context.model, context.mech, r.name) for r in ranges}
    rows: list[tuple[Cell, ...]] = []
    for k, ellipsoid in enumerate(found):
        run = [Amount(value_of(poses.model, poses.mech, poses.q[k], poses.p[k], n), d) for n, d in dimensions.items()]
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
    note = (
        f"{part} of {frame}; radii in {_UNITS[kind, part]}; eccentricity = smallest/largest radius, 1 = sphere; "
        "w = √det(J Jᵀ)"
    )
    if m < 3:
        note += f"; the frame moves in {m} dimension{'s' * (m != 1)}"
    if len({c.dimension for c in context.mech.coordinates if c.dimension != "none"}) > 1:
        note += "; joints of rad and m are weighed alike"
    return Table(title="Measures", columns=columns, rows=tuple(rows), note=note)


def store(path: str, table: Table) -> None:
    """The measures as text at the end of a file (Robotica's `file`), or as a new CSV file."""
    from core.files.source import append_whole, write_whole

    if path.lower().endswith(".csv"):
        write_whole(path, table.to_csv().encode("utf-8"))
    else:
        append_whole(path, table.to_text() + "\n")


FUNCTIONS = (
    Function(
        "manipulability",
        "Manipulability ellipsoid",
        "Ellipsoids",
        "How easily a frame moves, or holds forces, in each direction.\n\nThe velocity ellipsoid holds all velocities "
        "that joint speeds of unit norm give; the force ellipsoid all forces that joint torques of unit norm hold "
        "(Yoshikawa 1985). Planar arms get ellipses. Measures: radii, volume (area), eccentricity (smallest/largest "
        "radius, 1 = sphere), smallest radius, geometric mean, Yoshikawa's w = √det(J Jᵀ).\n\nWith ranges "
        "of joint coordinates, parameters or DH entries (a1, alpha1, d1 …) it is drawn at every division, all together "
        "(composite) or one after another (animate); single draws only the first. Ranges run together and need equal "
        "divisions. Scale draws every ellipsoid with its largest axis two units long. Without graphics only the "
        "measures are given; a file receives them as text at its end (.txt) or as a table (.csv).",
        manipulability,
        (
            FrameName("frame", "Frame", "Body or frame that moves; empty: the tool"),
            Choice("kind", "Ellipsoid of", "Velocities or forces", "velocity", ("velocity", "force")),
            Choice("part", "Part", "Translation or rotation", "translation", ("translation", "rotation")),
            Ranges("ranges", "Ranges", "Coordinates, parameters or DH entries that run"),
            Choice(
                "display",
                "Display",
                "All together, one after another, or only the first",
                "composite",
                ("composite", "animate", "single"),
            ),
            Flag("scale", "Scale", "Largest axis of each drawn two units long"),
            Flag("graphics", "Draw in the scene", "Off: only the measures", True),
            Flag("measures", "List measures", "Off: only the picture", True),
            OutputFile("file", "Measures to file", "Text file (appended) or CSV", "", (".txt", ".csv")),
        ),
        needs=(needs_motion,),
        live=True,
        robotica="RElp",
    ),
)
