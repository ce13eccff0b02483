"""Shape files as Robotica draws them: lists of Line, Polygon and Point in Mathematica's notation.

    {Line[{{0, 0, 0}, {1/2, 1/2, 0}, {1, 0, 0}}], Polygon[{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}], Point[{0, 0, 1}]}

One primitive after another is taken, too, with or without commas and braces; comments (* … *) and colours are skipped.
Numbers may be formulas of numbers, Pi and Degree. Every point has three coordinates, m.
"""

from __future__ import annotations

import math
import re
from typing import Any

from core.errors import ExpressionError, FileError, near_misses
from core.files.mathematica.meaning import number
from core.files.mathematica.syntax import parse_all
from core.files.regular_file import SHAPE, text_content_of
from core.later import dataclass

Point = tuple[float, float, float]
DEEPEST = 50
"""Largest nesting depth of braces."""
PRIMITIVES = ("Line", "Polygon", "Point")
SKIPPED = (
    "RGBColor",
    "GrayLevel",
    "Hue",
    "CMYKColor",
    "Thickness",
    "AbsoluteThickness",
    "PointSize",
    "EdgeForm",
    "AbsolutePointSize",
    "FaceForm",
    "Dashing",
    "SurfaceColor",
)
"""Graphics directives that are ignored, since the scene decides how primitives are drawn."""
WRAPPERS = ("Graphics3D", "List", "Graphics")
_SPACE = re.compile(r"(?:\s|\(\*.*?\*\))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]\w*")
_NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?")


@dataclass(frozen=True)
class LineShape:
    """Shape of polylines, polygons and single points, m."""

    lines: tuple[tuple[Point, ...], ...]
    polygons: tuple[tuple[Point, ...], ...]
    points: tuple[Point, ...]

    @property
    def every(self) -> tuple[Point, ...]:
        """All points of the shape."""
        return (*(p for points in (*self.lines, *self.polygons) for p in points), *self.points)


def read_shape(path: str) -> LineShape:
    """Read a shape file. Raises FileError with line and column."""
    return _Reader(text_content_of(path, SHAPE), path).shape()


class _Reader:
    """Parser of a shape file; `at` is the current position in the text."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path, self.at = text, path, 0
        self.lines: list[tuple[Point, ...]] = []
        self.polygons: list[tuple[Point, ...]] = []
        self.points: list[Point] = []

    def shape(self) -> LineShape:
        self.skip()
        while self.at < len(self.text):
            self.primitive(0)
            while self.take(",") or self.take(";"):
                pass
        if not (self.lines or self.polygons or self.points):
            raise self.refuse("The file contains no Line, Polygon or Point")
        return LineShape(tuple(self.lines), tuple(self.polygons), tuple(self.points))

    # ----------------------------------------------------------------------------- letters

    def refuse(self, what: str, remedy: str = "", at: int | None = None) -> FileError:
        place = self.at if at is None else at
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        return FileError(
            f"{what}.",
            file=self.path,
            line=line,
            where=f"column {column}",
            remedy=remedy or "Write for example Line[{{0, 0, 0}, {1, 0, 0}}].",
        )

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def take(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            self.skip()
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            seen = repr(self.text[self.at]) if self.at < len(self.text) else "the end"
            raise self.refuse(f"'{sign}' is expected, not {seen}")

    # ----------------------------------------------------------------------------- the grammar

    def primitive(self, depth: int) -> None:
        if depth > DEEPEST:
            raise self.refuse(f"Lists are nested more than {DEEPEST} deep")
        if self.take("{"):
            self.read_list("}", depth)
            return
        begin = self.at
        word = _WORD.match(self.text, self.at)
        if word is None:
            seen = repr(self.text[self.at]) if self.at < len(self.text) else "the end"
            raise self.refuse(f"Line, Polygon or Point is expected, not {seen}")
        name, self.at = word.group(), word.end()
        self.skip()
        if depth == 0 and self.take("="):  # shape = {…}
            self.primitive(depth + 1)
            return
        self.expect("[")
        if name in WRAPPERS:
            self.read_list("]", depth)
        elif name in SKIPPED:
            self.skip_to_bracket()
        elif name in PRIMITIVES:
            self.read_points_of(name, begin)
            self.expect("]")
        else:
            raise self.refuse(f"'{name}' is not a known primitive", near_misses(name, PRIMITIVES), begin)

    def read_list(self, closing: str, depth: int) -> None:
        if self.take(closing):
            return
        while True:
            self.primitive(depth + 1)
            if not self.take(","):
                break
        self.expect(closing)

    def skip_to_bracket(self) -> None:
        """Skip to after the closing bracket of a directive."""
        begin, depth = self.at, 1
        while depth and self.at < len(self.text):
            depth += (self.text[self.at] == "[") - (self.text[self.at] == "]")
            self.at += 1
        if depth:
            raise self.refuse("A bracket is not closed", "Write ']'.", begin)
        self.skip()

    def read_points_of(self, name: str, begin: int) -> None:
        """Read the points of a primitive; one list may contain several polylines."""
        found = self.points_of(0)
        if name == "Point":
            self.points += [found] if isinstance(found, tuple) else found
            return
        lists = [found] if isinstance(found, tuple) or isinstance(found[0], tuple) else found
        fewest = 2 if name == "Line" else 3
        for points in lists:
            if not isinstance(points, list) or len(points) < fewest or not all(isinstance(p, tuple) for p in points):
                raise self.refuse(f"A {name} needs {fewest} points or more", "", begin)
            (self.lines if name == "Line" else self.polygons).append(tuple(points))

    def points_of(self, depth: int) -> Any:
        """Read a list of points, or of nested lists; a point is a tuple of three numbers."""
        if depth > 3:
            raise self.refuse("Lists of points are nested too deep")
        begin = self.at
        self.expect("{")
        items: list[Any] = []
        while True:
            items.append(self.item(depth))
            if not self.take(","):
                break
        self.expect("}")
        if items and all(isinstance(x, float) for x in items):
            if len(items) != 3:
                raise self.refuse(f"A point has three coordinates, {len(items)} given", "Write {x, y, z}.", begin)
            return tuple(items)
        if any(isinstance(x, float) for x in items):
            raise self.refuse("A point is expected", "Write {x, y, z}.", begin)
        return items

    def item(self, depth: int) -> Any:
        return self.points_of(depth + 1) if self.text.startswith("{", self.at) else self.number()

    def number(self) -> float:
        """Read a number, or a formula of numbers up to the next comma or brace."""
        begin = self.at
        plain = _NUMBER.match(self.text, self.at)
        if plain is not None and self.text[plain.end() : plain.end() + 1] in (",", "}", " ", "\n"):
            self.at = plain.end()
            self.skip()
            if self.text[self.at : self.at + 1] in (",", "}"):
                return self.finite(float(plain.group()), begin)
        self.at, depth = begin, 0
        while self.at < len(self.text) and (depth or self.text[self.at] not in ",{}]"):
            depth += (self.text[self.at] in "[(") - (self.text[self.at] in "])")
            self.at += 1
        formula = self.text[begin : self.at].replace("\n", " ").strip()
        try:
            statements = parse_all(formula)
            if len(statements) != 1:
                raise ExpressionError("A number is expected")
            return self.finite(number(statements[0].tree, _unknown), begin)
        except ExpressionError as error:
            raise self.refuse(error.what.rstrip("."), "Write a number.", begin) from None

    def finite(self, value: float, begin: int) -> float:
        if not math.isfinite(value):
            raise self.refuse("A number is not finite", "Write a finite number.", begin)
        return value


def _unknown(name: str) -> float:
    raise ExpressionError(f"'{name}' has no value in a shape file", remedy="Write a number.")
