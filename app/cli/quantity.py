"""Parse numbers of the command line: with a unit ("500 ms", "30 deg/s", "62 N/mm"), or SI without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from core.errors import KinetostatError


def quantity(text: str, dimension: str, values: Mapping[str, float] | None = None, where: str = "") -> float:
    """Return the value in SI of a number with a unit, or of a formula in `values`. Raises click.UsageError."""
    from app.widgets.quantities.quantity_text import Measure, SIUnits, read
    from core.model.formula.expression import evaluate, parse
    from core.model.validation.formulas import wrong_dimension

    try:
        number = read(text, Measure(dimension), SIUnits(), values or {}, fold=True)
        if isinstance(number, str) and (said := wrong_dimension(number, dimension)) is not None:
            raise KinetostatError(said[0], remedy=said[1])
        return float(evaluate(parse(number), values or {})) if isinstance(number, str) else float(number)
    except KinetostatError as error:
        raise click.UsageError(" ".join(filter(None, (where and f"{where}:", error.what, error.remedy)))) from None


class QuantityType(click.ParamType):
    """Click type of a number of a dimension, at least `least` or above zero."""

    name = "NUMBER"

    def __init__(self, dimension: str, positive: bool = True) -> None:
        self.dimension, self.positive = dimension, positive
        self.name = {"time": "TIME"}.get(dimension, "NUMBER")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number in SI."""
        if not isinstance(value, str):
            return float(value)
        try:
            number = quantity(value, self.dimension)
        except click.UsageError as error:
            self.fail(error.message, param, ctx)
        if self.positive and number <= 0.0:
            self.fail(f"'{value}' is not above zero.", param, ctx)
        return number
