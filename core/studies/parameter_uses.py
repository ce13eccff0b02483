"""Dependence of a machine on the varied parameters, as far as runs must know it before they start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.model import Joint, Limit, Mimic, Model
from core.model.fields import fields_of, nested_elements
from core.model.formula.expression import names, parse
from core.model.joints import LEVELS

FRICTION = (*LEVELS, "stribeck_speed")
BEGINNING = ("rest", "start_speed")


class Uses:
    """Elements of a model that depend on the given parameters.

    modes : whether friction, limits, or couplings of joints follow them; starts : whether where and how fast joints
    begin does; lengths : whether places of joints do
    """

    def __init__(self, model: Model, varied: tuple[str, ...]) -> None:
        self._moved = _dependent_parameters(model, set(varied))
        joints = [part for joint in model.joints for part in nested_elements(joint)]
        bounds = any(self._depends(part) for part in joints if isinstance(part, Limit | Mimic))
        own = [part for part in joints if isinstance(part, Joint)]
        clutches = [force for force in model.forces if force.is_clutch]
        self.modes = bounds or any(self._depends(each, FRICTION) for each in (*own, *clutches))
        self.starts = bounds or any(self._depends(each, BEGINNING) for each in own)
        self.lengths = any(self._depends(side) for joint in model.joints for side in (joint.a, joint.b))

    def _depends(self, element: Any, fields: tuple[str, ...] = ()) -> bool:
        chosen = fields or tuple(field.name for field in fields_of(type(element)))
        return any(self._moved & found for name in chosen for found in _names_in(getattr(element, name)))


def _dependent_parameters(model: Model, moved: set[str]) -> set[str]:
    """Return these parameters and all that depend on them."""
    uses = {p.name: set(names(parse(p.value))) if isinstance(p.value, str) else set() for p in model.parameters}
    found = set(moved)
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return found


def _names_in(value: Any) -> Iterator[set[str]]:
    """Yield the sets of names in the formulas of a field."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str):
            try:
                yield set(names(parse(each)))
            except Exception:  # a choice or a name
                continue
