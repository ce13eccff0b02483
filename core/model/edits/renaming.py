"""Names that change when elements are renamed, in references and in formulas.

A formula calls a parameter by its name, and where it may depend on time and state, also coordinates and speeds of
joints (`elbow`, `elbow.v`, `wrist.qx`) and sensors (`reach`, `reach.rate`). See `core.model.signals` for what comes
first where names collide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from core.errors import ExpressionError
from core.joints import Free
from core.later import dataclass
from core.model.chains import expand
from core.model.edits.prefixing import own_names, with_renamed_names
from core.model.fields import (
    Element,
    FormulaKind,
    FormulaVectorKind,
    ReferenceKind,
    ScalarKind,
    SignalKind,
    VectorKind,
    fields_of,
    nested_elements,
)
from core.model.formula.expression import CONSTANTS, Name, Node, names, parse, substitute, text_of
from core.model.formula.formula_fields import formulas_in
from core.model.joints import Joint
from core.model.model import NAMESPACES, Model, elements_of_unknown_kind
from core.model.sensors import Sensor
from core.model.signal_texts import Owners, text_with_new_names
from core.model.signals import component

SPACES = {"body": "frame", "point": "frame"}
"""Namespace of a reference's target, where it differs from the target's name."""


@dataclass(frozen=True)
class Renaming:
    """Table of old name → new name, in references by namespace and in formulas."""

    references: dict[str, dict[str, str]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)
    owners: Owners | None = None
    """Owners of the names in quantity texts; None leaves these texts unchanged."""

    def changes(self, element: Element) -> dict[str, Any]:
        """Return new values of an element's fields that use one of the names (without nested elements)."""
        found: dict[str, Any] = {}
        for each in fields_of(type(element)):
            old = new = getattr(element, each.name)
            match each.kind:
                case ReferenceKind(target=target):
                    new = self.references.get(SPACES.get(target, target), {}).get(old, old)
                case SignalKind() if self.owners is not None:
                    new = text_with_new_names(old, self.owners, self._renamed_quantity)
                case ScalarKind():
                    new = self._renamed_formula(old, each.kind)
                case VectorKind():
                    new = tuple(self._renamed_formula(item, each.kind) for item in old)
            if new != old:
                found[each.name] = new
        return found

    def _renamed_formula(self, value: Any, kind: ScalarKind | VectorKind) -> Any:
        own = own_names(kind)
        with_state = isinstance(kind, FormulaVectorKind) or (isinstance(kind, FormulaKind) and kind.states)

        def new(name: str) -> str:
            if name in own:
                return name
            if name in self.parameters:
                return self.parameters[name]
            return self.signals.get(name, name) if with_state else name

        return with_renamed_names(value, new)

    def _renamed_quantity(self, name: str) -> str:
        """Return the name of a quantity after the renaming."""
        owner = None if self.owners is None else self.owners(name)
        if owner is None:
            return name
        new = self.references.get(owner.namespace, {}).get(owner.name, owner.name)
        return new + name[len(owner.name) :]

    def without_replaceable(self) -> Renaming:
        """Return the renaming without parameters, materials and quantities, whose removal their users survive."""
        kept = {space: table for space, table in self.references.items() if space != "material"}
        return Renaming(kept, {}, self.signals)

    def name_clash(self, model: Model) -> str | None:
        """Return a new name that would get another meaning in a formula; None if there is none."""
        fresh = {*self.parameters.values(), *self.signals.values()}
        taken = set(model.expanded.index("parameter")) - set(self.parameters)
        for element in nested_elements(model):
            for _, kind, _, text in formulas_in(element):
                used, own = names(parse(text)), own_names(kind)
                stateful = isinstance(kind, FormulaVectorKind) or (isinstance(kind, FormulaKind) and kind.states)
                mine = {self.parameters[name] for name in used - own if name in self.parameters}
                if stateful:
                    mine |= {self.signals[name] for name in used - own if name in self.signals}
                wrong = {name for name in mine if name in own or not _is_single_name(name)}
                wrong |= mine & set(self.signals.values()) & taken
                wrong |= used & (fresh - own - taken) if stateful else set()
                if wrong:
                    return min(wrong)
        return None

    def touches(self, element: Element) -> bool:
        """Return True if an element, or a nested one, uses one of the names."""
        return any(self.changes(part) for part in nested_elements(element))


def of_joint(joint: Joint, new: str) -> dict[str, str]:
    """Return the names of a joint's coordinates and speeds in formulas → the names after it is renamed."""
    info = joint.info
    names = {component(joint.name, suffix): component(new, suffix) for suffix in info.coordinates}
    names |= {f"{old}.q": f"{name}.q" for old, name in names.items()}
    speeds = {component(joint.name, suffix): component(new, suffix) for suffix in info.speeds}
    return names | {f"{old}.v": f"{name}.v" for old, name in speeds.items()}


def of_body(body: str, new: str) -> dict[str, str]:
    """Return the names of the coordinates and speeds of a free body in formulas → the names after it is renamed."""
    return of_joint(Joint(name=body, kind=Free.name, parent="world", child=f"{body}_"), new)


def of_sensor(sensor: Sensor, new: str) -> dict[str, str]:
    """Return the names of a sensor's components and their rates in formulas → the names after it is renamed."""
    names = {component(sensor.name, suffix): component(new, suffix) for suffix in sensor.info.components}
    return names | {f"{old}.rate": f"{name}.rate" for old, name in names.items()}


def _is_single_name(name: str) -> bool:
    """Return True if a formula parses the text as a single name."""
    try:
        return name not in CONSTANTS and parse(name) == Name(name)
    except ExpressionError:
        return False


def formulas_with(element: Element, replacements: Mapping[str, Node]) -> dict[str, Any]:
    """Return new values of an element's number fields with parameters replaced by formulas (without nested
    elements)."""
    found: dict[str, Any] = {}
    for each in fields_of(type(element)):
        if not isinstance(each.kind, ScalarKind | VectorKind):
            continue
        own, old = own_names(each.kind), getattr(element, each.name)
        table = {name: node for name, node in replacements.items() if name not in own}
        new = tuple(_formula_with(item, table) for item in old) if isinstance(old, tuple) else _formula_with(old, table)
        if new != old:
            found[each.name] = new
    return found


def _formula_with(value: Any, table: Mapping[str, Node]) -> Any:
    if isinstance(value, str) and not names(node := parse(value)).isdisjoint(table):
        return text_of(substitute(node, table))
    return value


# ------------------------------------------------------------------------------- what an element is called


def renaming_of(model: Model, collection: str, old: str, new: str | None = None) -> Renaming:
    """Return the renaming for an element and all elements it contains (chain, sub-assembly); without a new name, all
    names that are removed with the element."""
    made = Renaming(defaultdict(dict), {}, {}, Owners(model))
    shadowed: set[str] = set(model.expanded.index("parameter"))
    sensors = {name for s in model.expanded.sensors for name in of_sensor(s, s.name)}
    held = {joint.child for joint in model.expanded.joints}
    unknown = list(elements_of_unknown_kind(model.expanded))
    for owner, element, name in _with_contained(model, collection, old, new):
        space = NAMESPACES[owner]
        made.references[space][element.name] = name
        if space == "parameter":
            made.parameters[element.name] = name
        elif owner == "sensors":
            made.signals.update(_unshadowed(of_sensor(element, name), shadowed))
        elif owner == "joints":
            made.signals.update(_unshadowed(of_joint(element, name), shadowed | sensors))
        elif owner == "bodies" and element.name not in held:
            made.signals.update(_unshadowed(of_body(element.name, name), shadowed | sensors))
        if (owner, element) in unknown:
            made.signals.update(_unshadowed(_names_as_used(model, element.name, name), shadowed))
    return made


def _names_as_used(model: Model, old: str, new: str) -> dict[str, str]:
    """Return the old names by which formulas use an element of an unknown kind → the new names."""
    formulas = (f for _, element in model.elements() for part in nested_elements(element) for f in formulas_in(part))
    used = {name for formula in formulas for name in names(parse(formula.text))}
    return {name: f"{new}{name.removeprefix(old)}" for name in used if f"{name}.".startswith(f"{old}.")}


def _unshadowed(table: Mapping[str, str], shadowed: set[str]) -> dict[str, str]:
    return {old: new for old, new in table.items() if old not in shadowed}


def _with_contained(model: Model, collection: str, old: str, new: str | None) -> Iterator[tuple[str, Any, str]]:
    """Yield (collection, element, new name) of an element and of all elements it contains."""
    element = model.find(collection, old)
    yield collection, element, new or f"{old}_"
    if collection == "chains" and new is None:  # its names come from its prefix, not from its name
        for owner, members in zip(("bodies", "joints", "frames"), expand(element), strict=True):
            chained: tuple[Any, ...] = members
            yield from ((owner, part, f"{part.name}_") for part in chained)
    elif collection == "assemblies":
        for owner, parts in element.brought.items():
            yield from ((owner, part, (new or f"{old}_") + part.name.removeprefix(old)) for part in parts)
