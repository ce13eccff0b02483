"""Results that functions return: immutable values that can be written as text, LaTeX, Python or data, independently of
how they are shown.

Every value is plain Python data (numbers, texts, tuples), in SI. A kind of result is a class that says itself how it is
written and what it has for a table, the scene and files of pictures; who shows results asks for that, never for the
kind. Only cards have a widget for each kind (`app/panels/output/parts.py`); a kind without one is shown as text.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Unpack

from core.functions.text import (
    NARROW,
    Amount,
    Cell,
    Column,
    ShortRepr,
    TextStyle,
    Units,
    aligned,
    column_heading,
    csv_cells,
    csv_column_heading,
    entries_text,
    escape_latex,
    format_cell,
    format_latex_entry,
    format_number,
    format_numbers,
    plain_cell_value,
    units_of_style,
)
from core.later import dataclass

Rows = tuple[tuple[float, ...], ...]
Display = Literal["composite", "animate", "single"]
UNWRITTEN = {"written": False}
"""Metadata of a field that is left out when the result is written as data."""


class SceneParts(NamedTuple):
    """Objects that a result adds to the 3D scene.

    poses : poses to show, with the `field` of ellipsoids along them; motion : a run; arrows : directions;
    ranges : what views show from now on. None: nothing of the sort.
    """

    poses: PoseSequence | None = None
    field: EllipsoidField | None = None
    motion: Motion | None = None
    arrows: tuple[Arrow, ...] | None = None
    ranges: tuple[tuple[float, float], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Result(ShortRepr, ABC):
    """Base class of all results: a title, the call as a line of a script, and whether the result is recomputed when the
    pose changes."""

    title: str = ""
    call: str = ""
    function: str = ""
    live: bool = dataclasses.field(default=False, metadata=UNWRITTEN)
    card: int = dataclasses.field(default=0, metadata=UNWRITTEN)
    """Number of the card that shows the result (0 for none); a result replaces the earlier one with the same number,
    while it grows or is recomputed."""
    asked: Any = dataclasses.field(default=None, metadata=UNWRITTEN, compare=False, repr=False)
    """Options and context of the call (`core.functions.context.Asked`), if the result comes from a catalogue function.
    """

    @abstractmethod
    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the result as plain text for a terminal."""

    def to_latex(self, **units: Unpack[Units]) -> str:
        """Write the result as LaTeX, with numbers in the given units."""
        return escape_latex(self.to_text(**units))

    def to_python(self) -> str:
        """Write the result as Python, in SI and full precision."""
        return f"# {self.to_text()}"

    def to_data(self) -> dict[str, Any]:
        """Return the fields of the result and its `kind` as data that `json` can write."""
        data: dict[str, Any] = {"kind": type(self).__name__}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.metadata.get("written", True) and (value or field.name not in ("call", "function")):
                data["ellipsoid_kind" if field.name == "kind" else field.name] = to_json(value)
        return data

    def to_table(self) -> Table | None:
        """Return the numbers of the result as a table; None if there are none."""
        return None

    def to_formulas(self) -> Formulas | None:
        """Return the formulas of the result; None if there are none."""
        return None

    def shown(self) -> tuple[Result, ...]:
        """Results that the card displays, each by the widget for its type."""
        return (self,)

    def scene_parts(self) -> SceneParts:
        """Return the objects for the 3D scene."""
        return SceneParts()

    def requested_pictures(self) -> tuple[Picture | Print, ...]:
        """Picture files that the result requests."""
        return ()

    def with_bounding_box(self, boxed: bool, view: str) -> Result:
        """Return the result with or without a box around its poses, viewed from `view` (as in `PoseSequence`)."""
        return self


@dataclass(frozen=True, kw_only=True)
class Message(Result):
    """A message in a sentence or two. `severity` is done, hint, warning or error."""

    text: str = ""
    severity: str = "done"

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.text or self.title


@dataclass(frozen=True, kw_only=True)
class Matrix(Result):
    """A matrix of numbers or formulas. `symbol` is its name in LaTeX; `note` states units and conventions."""

    entries: tuple[tuple[float | str, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    symbol: str = ""
    note: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.entries), len(self.entries[0]) if self.entries else 0

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the matrix with its labels and aligned columns."""
        cells = [[e if isinstance(e, str) else format_number(e) for e in row] for row in self.entries]
        if self.rows:
            cells = [[label, *row] for label, row in zip(self.rows, cells, strict=True)]
        if self.columns:
            cells.insert(0, [""] * bool(self.rows) + list(self.columns))
        head = f"{self.title}  ({self.note})" if self.note else self.title
        return "\n".join([head, *aligned(cells)])

    def to_latex(self, **units: Unpack[Units]) -> str:
        body = " \\\\\n".join(" & ".join(format_latex_entry(e) for e in row) for row in self.entries)
        name = f"{self.symbol} = " if self.symbol else ""
        return f"{name}\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"

    def to_python(self) -> str:
        """Write the matrix as a NumPy array."""
        body = ",\n    ".join("[" + ", ".join(map(repr, row)) + "]" for row in self.entries)
        return f"# {self.title}\nnp.array([\n    {body},\n])"


@dataclass(frozen=True, kw_only=True)
class Formulas(Result):
    """A matrix of symbolic formulas.

    label : its name, as in T[0,1]; entries : written forms (core.symbolic.forms); axes : what each row and column
    belongs to (joint or link names, may be empty); conventions : what a reader must know; proof : how it was compared
    with the compiled kernel, proved : None while nothing was compared; recognised : numbers taken for others.
    """

    label: str
    entries: tuple[tuple[Any, ...], ...] = dataclasses.field(metadata=UNWRITTEN)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    symbols: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Meaning of each symbol, such as "joint elbow" or "parameter a2"."""
    owners: Mapping[str, tuple[tuple[str, str], ...]] = dataclasses.field(default_factory=dict)
    """Elements to which each symbol belongs, as (collection, name): its joint, or the bodies and joints whose numbers
    contain the symbol."""
    conventions: tuple[str, ...] = ()
    proof: str = ""
    proved: bool | None = None
    recognised: tuple[str, ...] = ()
    by_element: bool = False
    """True to write one entry per line in text."""
    plain: bool = False
    """True to omit the conventions and a successful comparison with the kernel from the text."""
    names: tuple[str, ...] = ()
    """Names of equations "name = entry", one per row; `rows` then describes each equation."""

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the matrix in two dimensions if it is narrow enough, followed by the comparison with the kernel and by
        the conventions."""
        from core.symbolic.export import align_columns, format_cells_by_line

        cells = entries_text(self.entries, style.get("longest", math.inf))
        notes = self._note_lines()
        if self.names:
            return "\n".join([self.title, *self._equation_lines([row[0] for row in cells]), *notes])
        body = align_columns(cells, self.label)
        several = len(cells) * len(cells[0]) > 1
        if self.by_element or (several and max(map(len, body.splitlines())) > NARROW):
            body = format_cells_by_line(cells, self.label)
        return body + "\n".join(notes)

    def _note_lines(self) -> list[str]:
        notes = [*self.recognised, self.proof, *self.conventions]
        if self.plain:
            notes = [self.proof] if self.proved is False else []
        return [f"  {note}" for note in notes if note]

    def _equation_lines(self, cells: Sequence[str]) -> list[str]:
        """Write lines "name = entry", each followed by its description."""
        from core.symbolic.forms import Symbol
        from core.symbolic.notation import format_form

        written = [f"{format_form(Symbol(name))} = {cell}" for name, cell in zip(self.names, cells, strict=True)]
        return [
            f"  {line}" + (f"   ({about})" if about else "") for line, about in zip(written, self.rows, strict=True)
        ]

    def to_latex(self, **units: Unpack[Units]) -> str:
        return self._format_in_language("latex")

    def to_python(self) -> str:
        return self._format_in_language("python")

    def _format_in_language(self, language: Literal["latex", "python"]) -> str:
        """Write the matrix, or the equations, in the given language."""
        from core.symbolic import equation_export, export

        if not self.names:
            return str(getattr(export, f"format_{language}")(self.entries, self.label))
        return str(
            getattr(equation_export, f"format_{language}")(self.names, [row[0] for row in self.entries], self.label)
        )

    def to_data(self) -> dict[str, Any]:
        from core.symbolic.notation import format_form

        kept: Any = {}  # numbers are made legible once for both languages
        written = [[format_form(form, "text", kept) for form in row] for row in self.entries]
        latex = [[format_form(form, "latex", kept) for form in row] for row in self.entries]
        return {**super().to_data(), "latex": latex, "entries": written}

    def to_formulas(self) -> Formulas:
        return self


@dataclass(frozen=True, kw_only=True)
class Table(Result):
    """A table of rows under titled columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    elements: tuple[tuple[tuple[str, str], ...], ...] = dataclasses.field(default=(), metadata=UNWRITTEN)
    """Elements that each row describes, as (collection, name); () if rows do not describe elements."""

    def column(self, title: str) -> tuple[Cell, ...]:
        """Return the cells of the column with this title."""
        index = [column.title for column in self.columns].index(title)
        return tuple(row[index] for row in self.rows)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the table with aligned columns, numbers in the given units."""
        units = units_of_style(style)
        heads = [column_heading(column, **units) for column in self.columns]
        cells = [
            [format_cell(c, column, **units) for c, column in zip(row, self.columns, strict=True)] for row in self.rows
        ]
        left = [all(isinstance(row[i], str) for row in self.rows) for i in range(len(heads))]
        lines = aligned([heads, *cells], left)
        lines.insert(1, "─" * max(map(len, lines)))
        return "\n".join([self.title, *lines, *([f"({self.note})"] if self.note else [])])

    def to_csv(self, **units: Unpack[Units]) -> str:
        """Write CSV in full precision, with one heading line that states the units (the given ones or SI). If the
        numbers of a column have different units and units are given, each cell states its own."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = [(column, [row[i] for row in self.rows]) for i, column in enumerate(self.columns)]
        writer.writerow(csv_column_heading(column, cells, **units) for column, cells in columns)
        written = [csv_cells(column, cells, **units) for column, cells in columns]
        writer.writerows(zip(*written, strict=True))
        return out.getvalue()

    def to_latex(self, **units: Unpack[Units]) -> str:
        columns = "l" * len(self.columns)
        lines = [" & ".join(escape_latex(column_heading(c, **units)) for c in self.columns) + " \\\\ \\hline"]
        for row in self.rows:
            cells = (escape_latex(format_cell(c, column, **units)) for c, column in zip(row, self.columns, strict=True))
            lines.append(" & ".join(cells) + " \\\\")
        return f"\\begin{{tabular}}{{{columns}}}\n" + "\n".join(lines) + "\n\\end{tabular}"

    def to_python(self) -> str:
        """Write the rows as a list of tuples."""
        rows = ",\n    ".join(repr(tuple(map(plain_cell_value, row))) for row in self.rows)
        return f"# {', '.join(column_heading(c) for c in self.columns)}\n[\n    {rows},\n]"

    def to_table(self) -> Table:
        return self


class PlacedFrame(NamedTuple):
    """A frame fixed to a body: its name, the body, and its pose in the body as a 4×4 matrix."""

    name: str
    body: str
    pose: Rows


@dataclass(frozen=True, kw_only=True)
class FrameTable(Table):
    """A Denavit–Hartenberg table: row i transforms frame i − 1 to frame i through `joints[i − 1]`.

    frames : frames 0 … n; own : the robot's bodies that carry them; chain : the table as a chain of a document.
    """

    convention: str
    joints: tuple[str, ...]
    frames: tuple[PlacedFrame, ...]
    own: tuple[str, ...]
    chain: Any = dataclasses.field(default=None, metadata=UNWRITTEN)

    @property
    def uses_axis_of_own_frame(self) -> bool:
        """True if joint i moves about or along the z axis of frame i; False if that is the z axis of frame i − 1."""
        return self.convention == "modified"


_DISPLAYS = {"composite": "all at once", "animate": "pose by pose", "single": "the first"}
"""Descriptions of the ways in which a sequence of poses can be shown."""


@dataclass(frozen=True, kw_only=True)
class PoseSequence(Result):
    """A sequence of poses, shown one after another (`animate`) or all at once (`composite`).

    q : (n, nq) coordinates per pose; p : parameter values per pose.
    model : the model they belong to, if a DH entry had to become a parameter; None: the open one.
    frame : draw a box round them; view : the side to look from, as a flat drawing ("" : as the person looks).
    """

    q: Rows
    p: tuple[Mapping[str, float], ...]
    display: Display = "composite"
    model: Any = dataclasses.field(default=None, metadata=UNWRITTEN)
    ranges: tuple[tuple[Any, ...], ...] = ()
    frame: bool = False
    view: str = ""

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        count = len(self.q)
        return f"{self.title}: {count} poses, {_DISPLAYS[self.display]}" if count > 1 else self.title

    def scene_parts(self) -> SceneParts:
        return SceneParts(poses=self)

    def with_bounding_box(self, boxed: bool, view: str) -> PoseSequence:
        return dataclasses.replace(self, frame=boxed, view=view)

    def as_animation(self) -> PoseSequence:
        """Return a copy that is shown one pose after another."""
        return dataclasses.replace(self, display="animate")


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid: centre (m, world), axes as columns of a 3×3 matrix (unit vectors, world), radii in descending
    order. A radius of a force ellipsoid is infinite in a direction in which the machine cannot move."""

    center: tuple[float, float, float]
    axes: Rows
    radii: tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class EllipsoidField(Result):
    """Manipulability ellipsoids along a sequence of poses, with their measures.

    kind : "velocity" or "force"; part : "translation" or "rotation"; dimension : 3, 2 for planar arms, or 1.
    scaled : each ellipsoid is to be drawn with its largest axis two units long (`drawn` gives such radii).
    listed : whether the measures are to be shown; remark : what a reader must know, e.g. that poses are singular.
    """

    kind: str
    part: str
    frame: str
    dimension: int
    ellipsoids: tuple[Ellipsoid, ...]
    measures: Table
    poses: PoseSequence
    scaled: bool = False
    graphics: bool = True
    listed: bool = True
    remark: str = ""

    def drawable_ellipsoid(self, index: int) -> Ellipsoid:
        """Return the ellipsoid as it is drawn: infinite radii are cut to ten times the largest finite one, and it is
        scaled if requested."""
        ellipsoid = self.ellipsoids[index]
        finite = [radius for radius in ellipsoid.radii if math.isfinite(radius)]
        longest = 10.0 * max(finite, default=0.1) or 1.0
        radii = [min(radius, longest) for radius in ellipsoid.radii]
        if self.scaled and max(radii) > 0.0:
            radii = [radius / max(radii) for radius in radii]
        return dataclasses.replace(ellipsoid, radii=(radii[0], radii[1], radii[2]))

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        count = len(self.ellipsoids)
        lines = [self.title if self.listed else f"{self.title}: {count} pose{'s' * (count != 1)}"]
        lines += [self.measures.to_text(**style)] if self.listed else []
        return "\n".join([*lines, *([self.remark] if self.remark else [])])

    def to_latex(self, **units: Unpack[Units]) -> str:
        return self.measures.to_latex(**units)

    def to_python(self) -> str:
        return self.measures.to_python()

    def to_table(self) -> Table:
        return self.measures

    def shown(self) -> tuple[Result, ...]:
        """Table of measures, remark and pose sequence of the field."""
        measures = (self.measures,) if self.listed else ()
        remark = (Message(text=self.remark, severity="hint"),) if self.remark else ()
        return (*measures, *remark, self.poses)

    def scene_parts(self) -> SceneParts:
        return SceneParts(poses=self.poses, field=self)

    def with_bounding_box(self, boxed: bool, view: str) -> EllipsoidField:
        return dataclasses.replace(self, poses=self.poses.with_bounding_box(boxed, view))

    def as_animation(self) -> EllipsoidField:
        """Return a copy that is shown one pose after another."""
        return dataclasses.replace(self, poses=self.poses.as_animation())


class Arrow(NamedTuple):
    """An arrow in the world: origin (m) and unit vector. `turning` : a rotation about it; `both_directions` : a line
    through the origin that extends to both sides."""

    origin: tuple[float, float, float]
    direction: tuple[float, float, float]
    turning: bool = False
    both_directions: bool = False


@dataclass(frozen=True, kw_only=True)
class Arrows(Result):
    """Arrows to be drawn in the scene, scaled to the size of the machine."""

    arrows: tuple[Arrow, ...]

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return "\n".join(
            f"{self.title}: through ({format_numbers(a.origin)}) m along ({format_numbers(a.direction)})"
            for a in self.arrows
        )

    def scene_parts(self) -> SceneParts:
        return SceneParts(arrows=self.arrows)


@dataclass(frozen=True, kw_only=True)
class Motion(Result):
    """A run to be stored, played back or plotted (core.simulation.Run).

    curves : (channel along, channel up) to be plotted; aspect : height over width, 0: as it fits;
    trace : draw the path of the tool; animate : play it; files : pictures of the curves (.png, .svg, .pdf) to write.
    """

    severity: ClassVar[str] = "done"
    run: Any = dataclasses.field(metadata=UNWRITTEN)
    text: str = ""
    curves: tuple[tuple[str, str], ...] = ()
    aspect: float = 0.0
    trace: bool = False
    animate: bool = False
    files: tuple[str, ...] = ()

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.text or self.title

    def scene_parts(self) -> SceneParts:
        return SceneParts(motion=self)

    def as_animation(self) -> Motion:
        """Return a copy that is played back."""
        return dataclasses.replace(self, title="Animation", animate=True)


@dataclass(frozen=True, kw_only=True)
class Picture(Result):
    """Request for a picture: its content, style and file. The user interface with a renderer makes it and writes the
    file."""

    path: str
    size: tuple[int, int] = (1200, 800)
    view: str = "iso"
    look: str = "light"
    transparent: bool = False
    q: tuple[float, ...] = ()
    p: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return f"{self.path}: {self.size[0]} × {self.size[1]} pixels"

    def requested_pictures(self) -> tuple[Picture, ...]:
        return (self,)


@dataclass(frozen=True, kw_only=True)
class Print(Result):
    """Request to draw a result into a file (PNG, SVG or PDF by its suffix). `ranges` as in `ViewRanges`; `trajectories`
    are (n, 3) arrays of points, m, drawn as lines."""

    path: str
    of: Result
    ranges: tuple[tuple[float, float], ...] = ()
    trajectories: tuple[Any, ...] = dataclasses.field(default=(), metadata=UNWRITTEN)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.title

    def requested_pictures(self) -> tuple[Print, ...]:
        return (self,)


@dataclass(frozen=True, kw_only=True)
class ViewRanges(Result):
    """Region of space that views and pictures show from now on: (low, high) along x, y, z, m; () for no limits."""

    ranges: tuple[tuple[float, float], ...] = ()

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.title

    def scene_parts(self) -> SceneParts:
        return SceneParts(ranges=self.ranges)


@dataclass(frozen=True, kw_only=True)
class Report(Result):
    """A result composed of several results."""

    parts: tuple[Result, ...]

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return "\n\n".join(part.to_text(**style) for part in self.parts)

    def to_latex(self, **units: Unpack[Units]) -> str:
        return "\n\n".join(filter(None, (part.to_latex(**units) for part in self.parts)))

    def to_python(self) -> str:
        return "\n\n".join(filter(None, (part.to_python() for part in self.parts)))

    def shown(self) -> tuple[Result, ...]:
        return tuple(each for part in self.parts for each in part.shown())

    def to_table(self) -> Table | None:
        """Return the first table among the parts; `tables` returns all."""
        return next(iter(tables_in_result(self)), None)


def leaf_results(result: Result) -> Iterator[Result]:
    """Yield the results that a report contains at any depth, or the result itself."""
    if isinstance(result, Report):
        for part in result.parts:
            yield from leaf_results(part)
    else:
        yield result


def tables_in_result(result: Result) -> list[Table]:
    """Return all tables that a result contains."""
    return [table for part in leaf_results(result) if (table := part.to_table()) is not None]


def to_json(value: Any) -> Any:
    """Convert a value to data for JSON: objects with their `kind`, infinite and undefined numbers as text."""
    if isinstance(value, Result):
        return to_json(value.to_data())
    if isinstance(value, Ellipsoid):
        return to_json({"kind": "Ellipsoid", **vars(value)})
    if isinstance(value, Amount | Column):
        return {name: to_json(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def to_row_tuples(array: Any) -> Rows:
    """Convert a two-dimensional array to rows of floats."""
    return tuple(tuple(float(x) for x in row) for row in array)
