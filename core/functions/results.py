"""What functions return: frozen values that can be written. A function does not know who shows its result.

Every value is plain Python data (numbers, texts, tuples), in SI. A kind of result is a class that says itself how it is
written and what it has for a table, the scene and files of pictures; who shows results asks for that, never for the
kind. Only cards have a widget for each kind (`app/panels/output/cards.py`); a kind without one is shown as text.
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
    Brief,
    Cell,
    Column,
    TextStyle,
    Units,
    aligned,
    bare,
    cell_text,
    csv_cells,
    csv_heading,
    entries_text,
    escaped,
    heading,
    latex_entry,
    number,
    triple,
    units_of,
)
from core.later import dataclass

Rows = tuple[tuple[float, ...], ...]
Display = Literal["composite", "animate", "single"]
UNWRITTEN = {"written": False}
"""Metadata of a field that is left out where a result is written as data."""


class SceneParts(NamedTuple):
    """What a result has for the scene.

    poses : poses to show, with the `field` of ellipsoids along them; motion : a run; arrows : directions;
    ranges : what views show from now on. None: nothing of the sort.
    """

    poses: PoseSequence | None = None
    field: EllipsoidField | None = None
    motion: Motion | None = None
    arrows: tuple[Arrow, ...] | None = None
    ranges: tuple[tuple[float, float], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Result(Brief, ABC):
    """What all results share: a title, the call that made them as a script line, and whether it follows the pose."""

    title: str = ""
    call: str = ""
    function: str = ""
    live: bool = dataclasses.field(default=False, metadata=UNWRITTEN)
    card: int = dataclasses.field(default=0, metadata=UNWRITTEN)
    """Results with the same number (not 0) are one that grows or follows: the newest takes the place of the others."""
    asked: Any = dataclasses.field(default=None, metadata=UNWRITTEN, compare=False, repr=False)
    """What was asked of which machine (`core.functions.context.Asked`), where a function of the catalogue gave it."""

    @abstractmethod
    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """As text a person can read in a terminal."""

    def to_latex(self, **units: Unpack[Units]) -> str:
        """As LaTeX, numbers in the units asked for."""
        return escaped(self.to_text(**units))

    def to_python(self) -> str:
        """As Python, in SI and full precision."""
        return f"# {self.to_text()}"

    def to_data(self) -> dict[str, Any]:
        """As data that `json` can write: its fields, with `kind`."""
        data: dict[str, Any] = {"kind": type(self).__name__}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.metadata.get("written", True) and (value or field.name not in ("call", "function")):
                data["ellipsoid_kind" if field.name == "kind" else field.name] = to_json(value)
        return data

    def to_table(self) -> Table | None:
        """Its numbers as a table, None if it has none."""
        return None

    def to_formulas(self) -> Formulas | None:
        """Its formulas, None if it has none."""
        return None

    def shown(self) -> tuple[Result, ...]:
        """What a card shows of it, each by its own kind."""
        return (self,)

    def scene_parts(self) -> SceneParts:
        """What it has for the scene."""
        return SceneParts()

    def pictures(self) -> tuple[Picture | Print, ...]:
        """Files of pictures that it asks for."""
        return ()

    def framed(self, frame: bool, view: str) -> Result:
        """The same with a box round its poses if wanted, seen from a side (as in `PoseSequence`)."""
        return self


@dataclass(frozen=True, kw_only=True)
class Message(Result):
    """A sentence. `severity` is done, hint, warning or error."""

    text: str = ""
    severity: str = "done"

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.text or self.title


@dataclass(frozen=True, kw_only=True)
class Matrix(Result):
    """A matrix of numbers or formulas. `symbol` is its name in LaTeX; `note` says units and conventions."""

    entries: tuple[tuple[float | str, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    symbol: str = ""
    note: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.entries), len(self.entries[0]) if self.entries else 0

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """With its labels, columns aligned."""
        cells = [[e if isinstance(e, str) else number(e) for e in row] for row in self.entries]
        if self.rows:
            cells = [[label, *row] for label, row in zip(self.rows, cells, strict=True)]
        if self.columns:
            cells.insert(0, [""] * bool(self.rows) + list(self.columns))
        head = f"{self.title}  ({self.note})" if self.note else self.title
        return "\n".join([head, *aligned(cells)])

    def to_latex(self, **units: Unpack[Units]) -> str:
        body = " \\\\\n".join(" & ".join(latex_entry(e) for e in row) for row in self.entries)
        name = f"{self.symbol} = " if self.symbol else ""
        return f"{name}\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"

    def to_python(self) -> str:
        """A numpy array."""
        body = ",\n    ".join("[" + ", ".join(map(repr, row)) + "]" for row in self.entries)
        return f"# {self.title}\nnp.array([\n    {body},\n])"


@dataclass(frozen=True, kw_only=True)
class Formulas(Result):
    """A matrix of formulas in symbols.

    label : its name, as in T[0,1]; entries : written forms (core.symbolic.forms); axes : what each row and column
    belongs to (joint or link names, may be empty); conventions : what a reader must know; proof : how it was compared
    with the compiled kernel, proved : None while nothing was compared; recognised : numbers taken for others.
    """

    label: str
    entries: tuple[tuple[Any, ...], ...] = dataclasses.field(metadata=UNWRITTEN)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    symbols: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Which joint, body or parameter of the model a symbol stands for: "joint elbow", "parameter a2"."""
    owners: Mapping[str, tuple[tuple[str, str], ...]] = dataclasses.field(default_factory=dict)
    """Elements a symbol belongs to, as (collection, name): its joint, the bodies and joints whose numbers hold it."""
    conventions: tuple[str, ...] = ()
    proof: str = ""
    proved: bool | None = None
    recognised: tuple[str, ...] = ()
    by_element: bool = False
    """As text, an entry per line."""
    plain: bool = False
    """As text, without what a reader must know and without a comparison that was passed."""
    names: tuple[str, ...] = ()
    """Of equations name = entry, one in each row: their names; `rows` then says of each what it is."""

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Two-dimensional where it is narrow enough, with proof and conventions below."""
        from core.symbolic.export import arranged, listed

        cells = entries_text(self.entries, style.get("longest", math.inf))
        notes = self._notes()
        if self.names:
            return "\n".join([self.title, *self._equations([row[0] for row in cells]), *notes])
        body = arranged(cells, self.label)
        several = len(cells) * len(cells[0]) > 1
        if self.by_element or (several and max(map(len, body.splitlines())) > NARROW):
            body = listed(cells, self.label)
        return body + "\n".join(notes)

    def _notes(self) -> list[str]:
        notes = [*self.recognised, self.proof, *self.conventions]
        if self.plain:
            notes = [self.proof] if self.proved is False else []
        return [f"  {note}" for note in notes if note]

    def _equations(self, cells: Sequence[str]) -> list[str]:
        """Lines name = entry, with what each is behind it."""
        from core.symbolic.forms import Symbol
        from core.symbolic.notation import text

        written = [f"{text(Symbol(name))} = {cell}" for name, cell in zip(self.names, cells, strict=True)]
        return [
            f"  {line}" + (f"   ({about})" if about else "") for line, about in zip(written, self.rows, strict=True)
        ]

    def to_latex(self, **units: Unpack[Units]) -> str:
        return self._written_in("latex")

    def to_python(self) -> str:
        return self._written_in("python")

    def _written_in(self, language: Literal["latex", "python"]) -> str:
        """As text in a language: a matrix, or equations."""
        from core.symbolic import equation_export, export

        if not self.names:
            return str(getattr(export, language)(self.entries, self.label))
        return str(getattr(equation_export, language)(self.names, [row[0] for row in self.entries], self.label))

    def to_data(self) -> dict[str, Any]:
        from core.symbolic.notation import text

        kept: Any = {}  # numbers are made legible once for both languages
        written = [[text(form, "text", kept) for form in row] for row in self.entries]
        latex = [[text(form, "latex", kept) for form in row] for row in self.entries]
        return {**super().to_data(), "latex": latex, "entries": written}

    def to_formulas(self) -> Formulas:
        return self


@dataclass(frozen=True, kw_only=True)
class Table(Result):
    """Rows under titled columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    elements: tuple[tuple[tuple[str, str], ...], ...] = dataclasses.field(default=(), metadata=UNWRITTEN)
    """(collection, name) of the elements that each row speaks of; () where rows speak of none."""

    def column(self, title: str) -> tuple[Cell, ...]:
        """The cells under a title."""
        index = [column.title for column in self.columns].index(title)
        return tuple(row[index] for row in self.rows)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """With its titles, columns aligned; numbers in the units asked for."""
        units = units_of(style)
        heads = [heading(column, **units) for column in self.columns]
        cells = [
            [cell_text(c, column, **units) for c, column in zip(row, self.columns, strict=True)] for row in self.rows
        ]
        left = [all(isinstance(row[i], str) for row in self.rows) for i in range(len(heads))]
        lines = aligned([heads, *cells], left)
        lines.insert(1, "─" * max(map(len, lines)))
        return "\n".join([self.title, *lines, *([f"({self.note})"] if self.note else [])])

    def to_csv(self, **units: Unpack[Units]) -> str:
        """One heading line with the units, those asked for or SI; full precision. Where the numbers of a column have
        several units, each brings its own if units are asked for."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = [(column, [row[i] for row in self.rows]) for i, column in enumerate(self.columns)]
        writer.writerow(csv_heading(column, cells, **units) for column, cells in columns)
        written = [csv_cells(column, cells, **units) for column, cells in columns]
        writer.writerows(zip(*written, strict=True))
        return out.getvalue()

    def to_latex(self, **units: Unpack[Units]) -> str:
        columns = "l" * len(self.columns)
        lines = [" & ".join(escaped(heading(c, **units)) for c in self.columns) + " \\\\ \\hline"]
        for row in self.rows:
            cells = (escaped(cell_text(c, column, **units)) for c, column in zip(row, self.columns, strict=True))
            lines.append(" & ".join(cells) + " \\\\")
        return f"\\begin{{tabular}}{{{columns}}}\n" + "\n".join(lines) + "\n\\end{tabular}"

    def to_python(self) -> str:
        """A list of tuples."""
        rows = ",\n    ".join(repr(tuple(map(bare, row))) for row in self.rows)
        return f"# {', '.join(heading(c) for c in self.columns)}\n[\n    {rows},\n]"

    def to_table(self) -> Table:
        return self


class PlacedFrame(NamedTuple):
    """A frame that moves with a body: its name, the body, its pose in it as a 4×4 matrix."""

    name: str
    body: str
    pose: Rows


@dataclass(frozen=True, kw_only=True)
class FrameTable(Table):
    """A Denavit–Hartenberg table: row i takes frame i − 1 to frame i by `joints[i − 1]`.

    frames : frames 0 … n; own : the robot's bodies that carry them; chain : the table as a chain of a document.
    """

    convention: str
    joints: tuple[str, ...]
    frames: tuple[PlacedFrame, ...]
    own: tuple[str, ...]
    chain: Any = dataclasses.field(default=None, metadata=UNWRITTEN)

    @property
    def axis_after(self) -> bool:
        """Whether the axis of row i is the z axis of frame i; else it is that of frame i − 1."""
        return self.convention == "modified"


_DISPLAYS = {"composite": "all at once", "animate": "pose by pose", "single": "the first"}
"""How poses are shown, in words."""


@dataclass(frozen=True, kw_only=True)
class PoseSequence(Result):
    """Poses to show: one after another (`animate`) or all at once (`composite`).

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

    def framed(self, frame: bool, view: str) -> PoseSequence:
        return dataclasses.replace(self, frame=frame, view=view)

    def animated(self) -> PoseSequence:
        """The same, shown pose by pose."""
        return dataclasses.replace(self, display="animate")


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid: centre (m, world), axes as the columns of a 3×3 matrix (unit vectors, world), radii largest first:
    infinite, of a force ellipsoid, along a direction in which the machine cannot move."""

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

    def drawn(self, index: int) -> Ellipsoid:
        """The ellipsoid as it is drawn: infinite radii cut to the largest finite one's tenfold, scaled if wanted."""
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
        """Its measures, its remark and its poses."""
        measures = (self.measures,) if self.listed else ()
        remark = (Message(text=self.remark, severity="hint"),) if self.remark else ()
        return (*measures, *remark, self.poses)

    def scene_parts(self) -> SceneParts:
        return SceneParts(poses=self.poses, field=self)

    def framed(self, frame: bool, view: str) -> EllipsoidField:
        return dataclasses.replace(self, poses=self.poses.framed(frame, view))

    def animated(self) -> EllipsoidField:
        """The same, shown pose by pose."""
        return dataclasses.replace(self, poses=self.poses.animated())


class Arrow(NamedTuple):
    """A direction at a place in the world: origin (m), unit vector. `turning`: of a rotation; `both_directions`: a line
    through the origin that goes on to both sides."""

    origin: tuple[float, float, float]
    direction: tuple[float, float, float]
    turning: bool = False
    both_directions: bool = False


@dataclass(frozen=True, kw_only=True)
class Arrows(Result):
    """Directions to be drawn in the scene, as long as the machine is large."""

    arrows: tuple[Arrow, ...]

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return "\n".join(
            f"{self.title}: through ({triple(a.origin)}) m along ({triple(a.direction)})" for a in self.arrows
        )

    def scene_parts(self) -> SceneParts:
        return SceneParts(arrows=self.arrows)


@dataclass(frozen=True, kw_only=True)
class Motion(Result):
    """A run to be kept, played or plotted (core.simulation.Run).

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

    def animated(self) -> Motion:
        """The same, played."""
        return dataclasses.replace(self, title="Animation", animate=True)


@dataclass(frozen=True, kw_only=True)
class Picture(Result):
    """A picture to be made: what, how, where. The surface that has a renderer makes it and writes the file."""

    path: str
    size: tuple[int, int] = (1200, 800)
    view: str = "iso"
    look: str = "light"
    transparent: bool = False
    q: tuple[float, ...] = ()
    p: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return f"{self.path}: {self.size[0]} × {self.size[1]} pixels"

    def pictures(self) -> tuple[Picture, ...]:
        return (self,)


@dataclass(frozen=True, kw_only=True)
class Print(Result):
    """A result to be drawn into a file (PNG, SVG or PDF by its suffix). `ranges` as in `ViewRanges`; `trajectories` are
    (n, 3) arrays of places, m, through which lines are drawn."""

    path: str
    of: Result
    ranges: tuple[tuple[float, float], ...] = ()
    trajectories: tuple[Any, ...] = dataclasses.field(default=(), metadata=UNWRITTEN)

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.title

    def pictures(self) -> tuple[Print, ...]:
        return (self,)


@dataclass(frozen=True, kw_only=True)
class ViewRanges(Result):
    """The part of space that views and pictures show from now on: (low, high) along x, y, z, m; () for all of it."""

    ranges: tuple[tuple[float, float], ...] = ()

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        return self.title

    def scene_parts(self) -> SceneParts:
        return SceneParts(ranges=self.ranges)


@dataclass(frozen=True, kw_only=True)
class Report(Result):
    """Several results that belong together."""

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
        """The first table of its parts; `tables` gives all."""
        return next(iter(tables(self)), None)


def leaves(result: Result) -> Iterator[Result]:
    """The results inside a report, or the result itself."""
    if isinstance(result, Report):
        for part in result.parts:
            yield from leaves(part)
    else:
        yield result


def tables(result: Result) -> list[Table]:
    """The tables of a result."""
    return [table for part in leaves(result) if (table := part.to_table()) is not None]


def to_json(value: Any) -> Any:
    """A result as data for JSON: objects with `kind`, infinite and undefined numbers as texts."""
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


def rows_of(array: Any) -> Rows:
    """A two-dimensional array as rows of floats."""
    return tuple(tuple(float(x) for x in row) for row in array)
