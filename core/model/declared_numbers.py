"""Values that an element gives to numbers which others declare: parameters of another file, numbers of a kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, scalar, text
from core.model.units.units import SI


def _as_declared(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return str(owners[0].setting_dimension(owners[-1].parameter))


def dimension_in(quantities: Iterable[Quantity], name: str) -> str:
    """What the quantity of a name measures; "none" if there is none."""
    return next((each.dimension for each in quantities if each.name == name), "none")


class Quantity(NamedTuple):
    """A number that the elements of a kind have beside the fields of the document."""

    name: str
    unit: str = ""
    """In SI, as people write it: "m", "N/m", "N·s/m"."""
    default: float = 0.0
    help: str = ""

    @property
    def title(self) -> str:
        """Its label."""
        return self.name.replace("_", " ").capitalize()

    @property
    def dimension(self) -> str:
        """The key of `SI` whose unit it has; "none" where there is none."""
        return next((dimension for dimension, unit in SI.items() if unit == self.unit), "none")


@dataclass(frozen=True, kw_only=True)
class Setting(Element):
    """A number that is declared elsewhere and the value it takes here (a formula in this model's parameters)."""

    parameter: str = text("Name of the parameter in the file, or of the number of the kind")
    value: Value = scalar(help="Value here (SI)", by=_as_declared)


def each_once(settings: Iterable[Setting], where: str) -> None:
    """Raises ModelError for what is set twice."""
    names = [setting.parameter for setting in settings]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"'{twice}' is set twice.", where=f"{where}, settings", remedy="Remove one of them.")


def with_setting(settings: tuple[Setting, ...], parameter: str, value: Value) -> tuple[Setting, ...]:
    """The settings with one more, or with another value in its place."""
    new = Setting(parameter=parameter, value=value)
    if any(setting.parameter == parameter for setting in settings):
        return tuple(new if setting.parameter == parameter else setting for setting in settings)
    return (*settings, new)


def value_of(quantity: Quantity, settings: Iterable[Setting]) -> Value:
    """What a quantity is here: as it is set, else its default."""
    return next((setting.value for setting in settings if setting.parameter == quantity.name), quantity.default)
