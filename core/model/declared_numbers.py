"""Values of numbers that are declared elsewhere: parameters of another file, or numbers of a user-defined kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, scalar, text
from core.model.units import DERIVED, SI, is_si_unit, parse_compound_unit


def _declared_dimension(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return str(owners[0].setting_dimension(owners[-1].parameter))


def dimension_of_quantity(quantities: Iterable[Quantity], name: str) -> str:
    """Return the dimension of the named quantity; "none" if there is no such quantity."""
    return next((each.dimension for each in quantities if each.name == name), "none")


class Quantity(NamedTuple):
    """A number that elements of a kind have in addition to the document's fields."""

    name: str
    unit: str = ""
    """SI unit as users write it: "m", "N/m", "N·s/m"."""
    default: float = 0.0
    help: str = ""
    derived: str = ""
    """Words for the value that the kind finds itself in place of the default, e.g. "from sizes"."""

    @property
    def title(self) -> str:
        """Return the label of the quantity."""
        return self.name.replace("_", " ").capitalize()

    @property
    def dimension(self) -> str:
        """Return the key of `SI` or `DERIVED` for the quantity's unit in any spelling; "none" if the dimension has no
        name."""
        known = {**SI, **DERIVED}
        spelt = next((dimension for dimension, unit in known.items() if unit == self.unit), "")
        given = None if spelt else parse_compound_unit(self.unit)
        if given is None:
            return spelt or "none"
        return next(
            (name for name, unit in known.items() if (one := parse_compound_unit(unit)) and one == given), "none"
        )

    @property
    def is_si(self) -> bool:
        """Return True if the unit is an SI unit or empty."""
        return is_si_unit(self.unit)


@dataclass(frozen=True, kw_only=True)
class Setting(Element):
    """The value of a number that is declared elsewhere (a formula in this model's parameters)."""

    parameter: str = text("Name of the parameter in the file, or of the number of the kind")
    value: Value = scalar(help="Value in this model (SI)", by=_declared_dimension)


def check_set_once(settings: Iterable[Setting], where: str) -> None:
    """Raise ModelError if a number is set more than once."""
    names = [setting.parameter for setting in settings]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"'{twice}' is set twice.", where=f"{where}, settings", remedy="Remove one of them.")


def with_setting(settings: tuple[Setting, ...], parameter: str, value: Value) -> tuple[Setting, ...]:
    """Return the settings with a value set, replacing an earlier one of the same name."""
    new = Setting(parameter=parameter, value=value)
    if any(setting.parameter == parameter for setting in settings):
        return tuple(new if setting.parameter == parameter else setting for setting in settings)
    return (*settings, new)


def quantity_value(quantity: Quantity, settings: Iterable[Setting]) -> Value:
    """Return the value of a quantity: its setting, else its default."""
    return next((setting.value for setting in settings if setting.parameter == quantity.name), quantity.default)
