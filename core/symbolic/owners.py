"""Elements of a machine to which a symbol belongs: the joint it moves, or the bodies, joints and frames whose numbers
contain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model import Model
from core.model.fields import nested_elements
from core.model.formula.expression import names, parse
from core.model.formula.formula_fields import formulas_in

if TYPE_CHECKING:
    from core.symbolic.robot import Robot

Owners = dict[str, tuple[tuple[str, str], ...]]
"""Mapping symbol → (collection, name) of elements."""
HOLDERS = ("bodies", "joints", "frames")


def owners(robot: Robot) -> Owners:
    """Return the elements of the expanded model that each symbol belongs to; a coordinate and its rates belong to their
    joint."""
    found = parameter_owners(robot.model)
    chain = robot.chain
    for variable, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        found |= dict.fromkeys((variable.symbol, rate, acceleration), (("joints", variable.joint),))
    return found


def parameter_owners(model: Model) -> Owners:
    """Return the elements whose formulas contain a parameter, directly or through dependent parameters."""
    expanded = model.expanded
    sources = {p.name: names(parse(p.value)) for p in expanded.parameters if isinstance(p.value, str)}
    known = {p.name for p in expanded.parameters}
    found: dict[str, list[tuple[str, str]]] = {}
    for collection in HOLDERS:
        for element in getattr(expanded, collection):
            used: set[str] = set()
            texts = [found.text for part in nested_elements(element) for found in formulas_in(part)]
            waiting = [name for text in texts for name in names(parse(text))]
            while waiting:
                name = waiting.pop()
                if name in known and name not in used:
                    used.add(name)
                    waiting += sources.get(name, ())
            for name in used:
                found.setdefault(name, []).append((collection, element.name))
    return {name: tuple(places) for name, places in found.items()}
