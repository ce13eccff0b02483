"""Shape files in Robotica's format: lists of Line, Polygon and Point in Mathematica's notation.

    {Line[{{0, 0, 0}, {1/2, 1/2, 0}, {1, 0, 0}}], Polygon[{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}], Point[{0, 0, 1}]}

One primitive after another is taken, too, with or without commas and braces; comments (* … *) and colours are skipped.
Numbers may be formulas of numbers, Pi and Degree. Every point has three coordinates, m.
"""

from __future__ import annotations

import math
import re
from typing import Any

from core.errors import ExpressionError, FileError, suggest_names
from core.files.mathematica.meaning import evaluate_number
from core.files.mathematica.syntax import parse_all
from core.files.regular_file import SHAPE, read_text
from core.later import dataclass

Point = tuple[float, float, float]
DEEPEST = 50
"""Maximum nesting depth of braces."""
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
    def all_points(self) -> tuple[Point, ...]:
        """All points of the shape."""
        return (*(p for points in (*self.lines, *self.polygons) for p in points), *self.points)


def read_shape(path: str) -> LineShape:
    """Read a shape file. Raises FileError with line and column."""
    return _ShapeParser(read_text(path, SHAPE), path).parse_shape()


class _ShapeParser:
    """Parser of a shape file; `at` is the current position in the text."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path, self.at = text, path, 0
        self.lines: list[tuple[Point, ...]] = []
        self.polygons: list[tuple[Point, ...]] = []
        self.points: list[Point] = []

    def parse_shape(self) -> LineShape:
        self.skip_blanks()
        while self.at < len(self.text):
            self.parse_primitive(0)
            while self.accept(",") or self.accept(";"):
                pass
        if not (self.lines or self.polygons or self.points):
            raise self.error_at("The file contains no Line, Polygon or Point")
        return LineShape(tuple(self.lines), tuple(self.polygons), tuple(self.points))

    # ----------------------------------------------------------------------------- letters

    def error_at(self, message: str, remedy: str = "", position: int | None = None) -> FileError:
        place = self.at if position is None else position
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        return FileError(
            f"{message}.",
            file=self.path,
            line=line,
            where=f"column {column}",
            remedy=remedy or "Write for example Line[{{0, 0, 0}, {1, 0, 0}}].",
        )

    def skip_blanks(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def accept(self, symbol: str) -> bool:
        if self.text.startswith(symbol, self.at):
            self.at += len(symbol)
            self.skip_blanks()
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            seen = repr(self.text[self.at]) if self.at < len(self.text) else "the end"
            raise self.error_at(f"'{symbol}' is expected, not {seen}")

    # ----------------------------------------------------------------------------- the grammar

    def parse_primitive(self, depth: int) -> None:
        if depth > DEEPEST:
            raise self.error_at(f"Lists are nested more than {DEEPEST} deep")
        if self.accept("{"):
            self.parse_list("}", depth)
            return
        begin = self.at
        word = _WORD.match(self.text, self.at)
        if word is None:
            seen = repr(self.text[self.at]) if self.at < len(self.text) else "the end"
            raise self.error_at(f"Line, Polygon or Point is expected, not {seen}")
        name, self.at = word.group(), word.end()
        self.skip_blanks()
        if depth == 0 and self.accept("="):  # shape = {…}
            self.parse_primitive(depth + 1)
            return
        self.expect("[")
        if name in WRAPPERS:
            self.parse_list("]", depth)
        elif name in SKIPPED:
            self.skip_to_bracket()
        elif name in PRIMITIVES:
            self.parse_primitive_points(name, begin)
            self.expect("]")
        else:
            raise self.error_at(f"'{name}' is not a known primitive", suggest_names(name, PRIMITIVES), begin)

    def parse_list(self, closing: str, depth: int) -> None:
        if self.accept(closing):
            return
        while True:
            self.parse_primitive(depth + 1)
            if not self.accept(","):
                break
        self.expect(closing)

    def skip_to_bracket(self) -> None:
        """Skip past the closing bracket of a directive."""
        begin, depth = self.at, 1
        while depth and self.at < len(self.text):
            depth += (self.text[self.at] == "[") - (self.text[self.at] == "]")
            self.at += 1
        if depth:
            raise self.error_at("A bracket is not closed", "Write ']'.", begin)
        self.skip_blanks()

    def parse_primitive_points(self, name: str, start: int) -> None:
        """Read the points of a primitive; one list may contain several polylines."""
        found = self.parse_point_list(0)
        if name == "Point":
            self.points += [found] if isinstance(found, tuple) else found
            return
        lists = [found] if isinstance(found, tuple) or isinstance(found[0], tuple) else found
        fewest = 2 if name == "Line" else 3
        for points in lists:
            if not isinstance(points, list) or len(points) < fewest or not all(isinstance(p, tuple) for p in points):
                raise self.error_at(f"A {name} needs {fewest} points or more", "", start)
            (self.lines if name == "Line" else self.polygons).append(tuple(points))

    def parse_point_list(self, depth: int) -> Any:
        """Read a list of points, or of nested lists; a point is a tuple of three numbers."""
        if depth > 3:
            raise self.error_at("Lists of points are nested too deep")
        begin = self.at
        self.expect("{")
        items: list[Any] = []
        while True:
            items.append(self.parse_item(depth))
            if not self.accept(","):
                break
        self.expect("}")
        if items and all(isinstance(x, float) for x in items):
            if len(items) != 3:
                raise self.error_at(f"A point has three coordinates, {len(items)} given", "Write {x, y, z}.", begin)
            return tuple(items)
        if any(isinstance(x, float) for x in items):
            raise self.error_at("A point is expected", "Write {x, y, z}.", begin)
        return items

    def parse_item(self, depth: int) -> Any:
        return self.parse_point_list(depth + 1) if self.text.startswith("{", self.at) else self.parse_number()

    def parse_number(self) -> float:
        """Read a number, or a formula of numbers up to the next comma or brace."""
        begin = self.at
        plain = _NUMBER.match(self.text, self.at)
        if plain is not None and self.text[plain.end() : plain.end() + 1] in (",", "}", " ", "\n"):
            self.at = plain.end()
            self.skip_blanks()
            if self.text[self.at : self.at + 1] in (",", "}"):
                return self.check_finite(float(plain.group()), begin)
        self.at, depth = begin, 0
        while self.at < len(self.text) and (depth or self.text[self.at] not in ",{}]"):
            depth += (self.text[self.at] in "[(") - (self.text[self.at] in "])")
            self.at += 1
        formula = self.text[begin : self.at].replace("\n", " ").strip()
        try:
            statements = parse_all(formula)
            if len(statements) != 1:
                raise ExpressionError("A number is expected")
            return self.check_finite(evaluate_number(statements[0].tree, _unknown_symbol), begin)
        except ExpressionError as error:
            raise self.error_at(error.what.rstrip("."), "Write a number.", begin) from None

    def check_finite(self, value: float, start: int) -> float:
        if not math.isfinite(value):
            raise self.error_at("A number is not finite", "Write a finite number.", start)
        return value


def _unknown_symbol(name: str) -> float:
    raise ExpressionError(f"'{name}' has no value in a shape file", remedy="Write a number.")
