"""What functions return: frozen values. A function does not know who shows its result.

Every value is plain Python data (numbers, texts, tuples), in SI; each surface has one renderer for each kind.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Rows = tuple[tuple[float, ...], ...]
Display = Literal["composite", "animate", "single"]


class Amount(NamedTuple):
    """A number with its own dimension, for columns of mixed dimensions."""

    value: float | None
    dimension: str = "none"


Cell = float | int | str | bool | Amount | None


class Column(NamedTuple):
    """A column of a table; numbers in it have the dimension."""

    title: str
    dimension: str = "none"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What all results share: a title, the call that made them as a script line, and whether it follows the pose."""

    title: str = ""
    call: str = ""
    function: str = ""
    live: bool = False
    growth: int = 0
    """Results with the same number (not 0) are one that grows: a newer one takes the place of the one before."""


@dataclass(frozen=True, kw_only=True)
class Message(Result):
    """A sentence. `severity` is done, hint, warning or error."""

    text: str = ""
    severity: str = "done"


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


@dataclass(frozen=True, kw_only=True)
class Formulas(Result):
    """A matrix of formulas in symbols.

    label : its name, as in T[0,1]; entries : written forms (core.symbolic.forms); axes : what each row and column
    belongs to (joint or link names, may be empty); conventions : what a reader must know; proof : how it was compared
    with the compiled kernel, proved : None while nothing was compared; recognised : numbers taken for others.
    """

    label: str
    entries: tuple[tuple[Any, ...], ...]
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


@dataclass(frozen=True, kw_only=True)
class Table(Result):
    """Rows under titled columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def column(self, title: str) -> tuple[Cell, ...]:
        """The cells under a title."""
        index = [column.title for column in self.columns].index(title)
        return tuple(row[index] for row in self.rows)


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
    chain: Any = None

    @property
    def axis_after(self) -> bool:
        """Whether the axis of row i is the z axis of frame i; else it is that of frame i − 1."""
        return self.convention == "modified"


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
    model: Any = None
    ranges: tuple[tuple[Any, ...], ...] = ()
    frame: bool = False
    view: str = ""


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid: centre (m, world), axes as the columns of a 3×3 matrix (unit vectors, world), radii largest first.

    A force ellipsoid has an infinite radius along a direction in which the machine cannot move.
    """

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


@dataclass(frozen=True, kw_only=True)
class Motion(Result):
    """A run to be kept, played or plotted (core.simulation.Run).

    curves : (channel along, channel up) to be plotted; aspect : height over width, 0: as it fits;
    trace : draw the path of the tool; animate : play it; files : pictures of the curves (.png, .svg, .pdf) to write.
    """

    run: Any
    text: str = ""
    curves: tuple[tuple[str, str], ...] = ()
    aspect: float = 0.0
    trace: bool = False
    animate: bool = False
    files: tuple[str, ...] = ()


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


@dataclass(frozen=True, kw_only=True)
class Print(Result):
    """A result to be drawn into a file (PNG, SVG or PDF by its suffix). `ranges` as in `ViewRanges`; `trajectories` are
    (n, 3) arrays of places, m, through which lines are drawn."""

    path: str
    of: Result
    ranges: tuple[tuple[float, float], ...] = ()
    trajectories: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ViewRanges(Result):
    """The part of space that views and pictures show from now on: (low, high) along x, y, z, m; () for all of it."""

    ranges: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Report(Result):
    """Several results that belong together."""

    parts: tuple[Result, ...]


def leaves(result: Result) -> Iterator[Result]:
    """The results inside a report, or the result itself; an ellipsoid field also yields its poses."""
    if isinstance(result, Report):
        for part in result.parts:
            yield from leaves(part)
    else:
        yield result


def to_json(value: Any) -> Any:
    """A result as data for JSON: objects with `kind`, infinite and undefined numbers as texts."""
    if isinstance(value, Result | Ellipsoid):
        fields: dict[str, Any] = {"kind": type(value).__name__}
        for field in dataclasses.fields(value):
            if (
                field.name in ("live", "model", "run", "chain", "growth", "trajectories")
                or (field.name == "entries" and isinstance(value, Formulas))
                or (field.name in ("call", "function") and not getattr(value, field.name))
            ):
                continue
            name = "ellipsoid_kind" if field.name == "kind" else field.name
            fields[name] = to_json(getattr(value, field.name))
        if isinstance(value, Formulas):
            from core.symbolic.notation import text

            kept: Any = {}  # numbers are made legible once for both languages
            fields["latex"] = [[text(form, "latex", kept) for form in row] for row in value.entries]
            fields["entries"] = [[text(form, "text", kept) for form in row] for row in value.entries]
        return fields
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
