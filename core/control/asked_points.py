"""Operating points defined in the document, and their rows as requests to a trim problem."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError
from core.model import Model, Trim, TrimRow
from core.model.parameters import finite_value_of


def operating_point_named(model: Model, name: str) -> Trim:
    """Return the document's operating point with this name. Raises ModelError with similar names, or saying that there
    are none."""
    if not model.operating_points:
        raise ModelError(
            f"There is no operating point '{name}': the document has none.",
            remedy="Save one in the panel Operating point, or add a ks.Trim.",
        )
    found: Trim = model.find("operating_points", name)
    return found


def ask(row: Any, asked: TrimRow, values: Any, where: str) -> None:
    """Apply a row of the document's operating point to a row of an `OperatingPoint`. values : of all parameters, by
    name"""

    def number(field: str) -> float | None:
        value = getattr(asked, field)
        place = f"{where}, row '{asked.quantity}', {field}"
        return None if value is None else float(finite_value_of(value, values, place))

    match asked.role:
        case "fixed":
            row.fixed(number("value"))
        case "target":
            row.target(float(number("value") or 0.0), float(number("weight") or 0.0))
        case "steady":
            row.steady()
        case _:
            low, high = number("minimum"), number("maximum")
            row.free(float("-inf") if low is None else low, float("inf") if high is None else high)
