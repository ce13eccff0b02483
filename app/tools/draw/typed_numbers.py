"""Parse numbers typed while drawing: length, length < angle, coordinates; in the user's units, formulas kept as they
are."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.widgets.quantities.quantity_text import Measure, Units, quantity, read, value_in
from core.design.linkage import Point
from core.errors import ExpressionError
from core.later import dataclass
from core.model.fields import Value

LENGTH, ANGLE = Measure("length"), Measure("angle")


@dataclass(frozen=True)
class Typed:
    """Typed numbers; None means taken from the pointer. angle : from the plane's first axis; bend : from the link
    before"""

    length: Value | None = None
    angle: Value | None = None
    bend: Value | None = None
    point: Point | None = None


NOTHING = Typed()


def typed_numbers(text: str, units: Units, values: Mapping[str, float], *, first: bool = False) -> Typed:
    """Parse a text such as "120", "120 < 30", "< 30", "120 << 30" (from the link before), "0.1, 0.2". Raises
    ExpressionError with a message for the user.

    first : the text places the first pin of a link, which has two coordinates and no length
    """
    stripped = text.strip().removeprefix("=").strip()
    if not stripped:
        return NOTHING
    decimal = not first and re.fullmatch(r"[-+]?\d+,\d+", stripped)  # 0,5 is 0.5, as everywhere
    parts = [stripped] if decimal else _split_outside_brackets(stripped, ",")
    if len(parts) == 2:
        u, v = (_number_in_si(part, LENGTH, units, values) for part in parts)
        return Typed(point=(u, v))
    if len(parts) > 2:
        raise ExpressionError(f"A point of the plane has two coordinates, not {len(parts)}.", remedy="Type u, v.")
    if first:
        raise ExpressionError("The first pin has two coordinates.", remedy="Type u, v, such as 0, 0; or click.")
    head, mark, tail = stripped.partition("<")
    length = read(head, LENGTH, units, values) if head.strip() else None
    if not mark:
        return Typed(length=length)
    bent = tail.startswith("<")
    tail = tail.removeprefix("<").strip()
    if not tail:
        return Typed(length=length)
    angle = read(tail, ANGLE, units, values)
    return Typed(length=length, bend=angle) if bent else Typed(length=length, angle=angle)


def worth(typed: Typed, units: Units, values: Mapping[str, float]) -> str:
    """Describe the typed numbers with units; "" for none."""
    if typed.point is not None:
        return "= " + ", ".join(quantity(x, LENGTH, units) for x in typed.point)
    parts = []
    if typed.length is not None:
        parts.append(quantity(value_in(typed.length, values) or 0.0, LENGTH, units))
    angle = typed.angle if typed.angle is not None else typed.bend
    if angle is not None:
        parts.append(quantity(value_in(angle, values) or 0.0, ANGLE, units))
    return f"= {' < '.join(parts)}" if parts else ""


def typed_ratio(text: str) -> float | tuple[float, float]:
    """Parse the ratio of a gear pair: "z1 : z2" as two numbers of teeth, else one number."""
    try:
        if ":" in text:
            first, second = (float(part) for part in text.split(":"))
            return first, second
        return float(text.replace("−", "-"))
    except ValueError:
        raise ExpressionError(
            f"'{text}' is not a ratio.", remedy="Type z1 : z2, or a number (negative of an outer mesh)."
        ) from None


def _number_in_si(text: str, measure: Measure, units: Units, values: Mapping[str, float]) -> float:
    found = read(text.strip().removeprefix("=").strip(), measure, units, values)
    worth = value_in(found, values)
    assert worth is not None
    return worth


def _split_outside_brackets(text: str, mark: str) -> list[str]:
    """Split a text at separators outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
