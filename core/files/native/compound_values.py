"""Numbers with compound units in files: "62 N/mm", "9.81 m/s^2", "0.3 kg*mm^2"."""

from __future__ import annotations

import re
from collections.abc import Container

from core.errors import FileError
from core.model.units.compound_units import compound
from core.model.units.units import SI

_NUMBER_WITH_UNIT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ°].*)")
_SYMBOL = re.compile(r"[A-Za-zµ°]+")


def with_compound_unit(text: str, dimension: str, parameters: Container[str]) -> str:
    """The number in SI of a text that is a number with a compound unit; any other text as it is.

    dimension : what is measured ("none": anything)
    parameters : names that mean parameters: with one of them the text is a formula
    Raises FileError for a unit of something else.
    """
    found = _NUMBER_WITH_UNIT.fullmatch(text.strip())
    if found is None or _SYMBOL.fullmatch(found[2]) or any(name in parameters for name in _SYMBOL.findall(found[2])):
        return text
    unit = compound(found[2])
    if unit is None:
        return text
    wanted = compound(SI[dimension]) if dimension != "none" else None
    if wanted is not None and unit.powers != wanted.powers:
        raise FileError(
            f"'{found[2]}' is no unit of {dimension.replace('_', ' ')}.",
            remedy=f"Give it in {SI[dimension]} or a unit of the same.",
        )
    return repr(float(found[1]) * unit.factor / (wanted.factor if wanted is not None else 1.0))
