"""Named parameters, and the values of expressions that use them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from numbers import Real
from typing import Any

from core.errors import ExpressionError, KinetostatError, ModelError, suggest_names
from core.later import dataclass
from core.model.fields import Element, Value, choice, coerce_float, flag, name, scalar, text
from core.model.formula.expression import CONSTANTS, Name, evaluate, names_in_formula, parse
from core.model.plain_lists import plain_value
from core.model.units import SI
from core.numerics.spatial.scalar import Scalar


def _stated_dimension(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return str(owners[-1].dimension)


@dataclass(frozen=True, kw_only=True)
class Parameter(Element):
    """A named number. A plain number, perhaps with a unit ("50 mm"), makes it independent (a slider); an expression in
    other parameters makes it dependent on them."""

    name: str = name()
    value: Value = scalar(help="Value (SI), or an expression in other parameters", by=_stated_dimension)
    dimension: str = choice(tuple(SI), "Physical dimension", "none")
    minimum: Value | None = scalar(default=None, help="Smallest value of the slider", by=_stated_dimension)
    maximum: Value | None = scalar(default=None, help="Largest value of the slider", by=_stated_dimension)
    assumed: bool = flag("The file gave this symbol no value; the value here is only assumed")
    description: str = text("Notes")

    def validate(self) -> None:
        """Raise ModelError if the name has another meaning in formulas."""
        where = f"parameter '{self.name}', name"
        if self.name in CONSTANTS:
            raise ModelError(
                f"'{self.name}' is a constant in formulas ({CONSTANTS[self.name]:.6g}).",
                where=where,
                remedy=f"Choose another name, such as '{self.name}_'.",
            )
        try:
            readable = parse(self.name) == Name(self.name)
        except ExpressionError:
            readable = False
        if not readable:
            raise ModelError(
                "This name cannot be used in a formula.",
                where=where,
                remedy="Use letters, digits and _ only, perhaps in parts joined by dots.",
            )

    @property
    def independent(self) -> bool:
        """Return True if the value is a number rather than an expression in other parameters."""
        return not isinstance(self.value, str) or not names_in_formula(parse(self.value))


def sort_parameters(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters in an order in which each follows the parameters it uses.

    Raises ModelError naming the members of a cycle, or the unknown name.
    """
    table = {parameter.name: parameter for parameter in parameters}
    uses = {n: sorted(names_in_formula(parse(p.value))) if isinstance(p.value, str) else [] for n, p in table.items()}
    done: dict[str, Parameter] = {}
    for start in table:
        stack = [start]
        while stack:
            current = stack[-1]
            if current in done:
                stack.pop()
                continue
            pending = [used for used in uses[current] if used not in done]
            for used in pending:
                if used not in table:
                    raise ModelError(
                        f"The name '{used}' is not defined.",
                        where=f"parameter '{current}', value",
                        remedy=suggest_names(used, table),
                    )
                if used in stack:
                    cycle = " → ".join([*stack[stack.index(used) :], used])
                    raise ModelError(
                        f"The parameters depend on each other in a cycle: {cycle}.",
                        where=f"parameter '{current}', value",
                        remedy="Give one of them a number.",
                    )
            if pending:
                stack.append(pending[0])
            else:
                done[current] = table[current]
                stack.pop()
    return tuple(done.values())


def parameter_values(
    parameters: Iterable[Parameter], replacements: Mapping[str, Scalar] | None = None
) -> dict[str, Scalar]:
    """Return the value of every parameter; `replacements` replaces the values of independent ones by floats or symbols.

    Raises ModelError for an unknown name in `replacements`, a cycle, or a formula without a value.
    """
    replacements = replacements or {}
    ordered = sort_parameters(parameters)
    known = [parameter.name for parameter in ordered]
    for unknown in replacements.keys() - set(known):
        raise ModelError(f"There is no parameter '{unknown}'.", remedy=suggest_names(str(unknown), known))
    values: dict[str, Scalar] = {}
    for parameter in ordered:
        if parameter.name in replacements:
            values[parameter.name] = _to_float_or_symbol(parameter.name, replacements[parameter.name])
        else:
            values[parameter.name] = evaluate_field(
                parameter.value, values, where=f"parameter '{parameter.name}', value"
            )
    return values


def _to_float_or_symbol(name: str, value: Scalar) -> Scalar:
    """Return a value passed by the caller: Python and NumPy numbers as floats, symbols unchanged."""
    value = plain_value(value)
    if value is None or isinstance(value, str | Real):
        try:
            return coerce_float(value)
        except ModelError as error:
            raise error.at(where=f"parameter '{name}'") from None
    return value


def evaluate_field(value: Value, values: Mapping[str, Scalar], where: str = "") -> Scalar:
    """Return the value of a field, computed with the parameter values (floats or symbols) in `values`."""
    if not isinstance(value, str):
        return value
    if (constant := _constant_value(value)) is not None:
        return constant
    try:
        return evaluate(parse(value), values)
    except KinetostatError as error:
        raise ExpressionError(error.what, where=where, remedy=error.remedy) from None


@lru_cache(maxsize=4096)
def _constant_value(text: str) -> float | None:
    """Return the value of a formula without names, such as "30 deg"; None if it has names, or no value."""
    try:
        node = parse(text)
        value = None if names_in_formula(node) else evaluate(node, {})
    except KinetostatError:
        return None
    return value if isinstance(value, float) else None


def evaluate_finite_field(value: Value, values: Mapping[str, Scalar], where: str = "") -> Scalar:
    """Return the value of a field, computed with the parameter values in `values`. Raises ExpressionError if it is
    infinite."""
    found = evaluate_field(value, values, where)
    if isinstance(found, float) and not math.isfinite(found):
        raise ExpressionError(
            f"'{str(value)[:80]}' is not a finite number.",
            where=where,
            remedy="Correct the formula, or the parameters in it.",
        )
    return found
