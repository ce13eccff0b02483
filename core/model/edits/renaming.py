"""Which names change when elements are renamed: those of references, and those of formulas.

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
from core.model.edits.prefixing import own_names, renamed
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
from core.model.model import NAMESPACES, Model
from core.model.sensors import Sensor
from core.model.signal_texts import Owners, texts_with
from core.model.signals import component
from core.model.unknown_kinds import of_unknown_kind

SPACES = {"body": "frame", "point": "frame"}
"""Namespace of what a reference may name, where it has another name."""


@dataclass(frozen=True)
class Renaming:
    """Old name → new name, in references by namespace and in formulas."""

    references: dict[str, dict[str, str]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)
    owners: Owners | None = None
    """Whose the names in texts of quantities are; None: these stay."""

    def changes(self, element: Element) -> dict[str, Any]:
        """New values of the fields of an element (not of those inside it) that use one of the names."""
        found: dict[str, Any] = {}
        for each in fields_of(type(element)):
            old = new = getattr(element, each.name)
            match each.kind:
                case ReferenceKind(target=target):
                    new = self.references.get(SPACES.get(target, target), {}).get(old, old)
                case SignalKind() if self.owners is not None:
                    new = texts_with(old, self.owners, self._quantity)
                case ScalarKind():
                    new = self._formula(old, each.kind)
                case VectorKind():
                    new = tuple(self._formula(item, each.kind) for item in old)
            if new != old:
                found[each.name] = new
        return found

    def _formula(self, value: Any, kind: ScalarKind | VectorKind) -> Any:
        own = own_names(kind)
        with_state = isinstance(kind, FormulaVectorKind) or (isinstance(kind, FormulaKind) and kind.states)

        def new(name: str) -> str:
            if name in own:
                return name
            if name in self.parameters:
                return self.parameters[name]
            return self.signals.get(name, name) if with_state else name

        return renamed(value, new)

    def _quantity(self, name: str) -> str:
        """A quantity as it is called after the renaming."""
        owner = None if self.owners is None else self.owners(name)
        if owner is None:
            return name
        new = self.references.get(owner.namespace, {}).get(owner.name, owner.name)
        return new + name[len(owner.name) :]

    def lasting(self) -> Renaming:
        """Without parameters and materials: those who use them can do without; and without quantities, as what is asked
        for stays."""
        kept = {space: table for space, table in self.references.items() if space != "material"}
        return Renaming(kept, {}, self.signals)

    def clash(self, model: Model) -> str | None:
        """A new name that has another meaning in a formula where it would stand, or in one that is there."""
        fresh = {*self.parameters.values(), *self.signals.values()}
        taken = set(model.expanded.index("parameter")) - set(self.parameters)
        for element in nested_elements(model):
            for _, kind, _, text in formulas_in(element):
                used, own = names(parse(text)), own_names(kind)
                stateful = isinstance(kind, FormulaVectorKind) or (isinstance(kind, FormulaKind) and kind.states)
                mine = {self.parameters[name] for name in used - own if name in self.parameters}
                if stateful:
                    mine |= {self.signals[name] for name in used - own if name in self.signals}
                wrong = {name for name in mine if name in own or not _readable(name)}
                wrong |= mine & set(self.signals.values()) & taken
                wrong |= used & (fresh - own - taken) if stateful else set()
                if wrong:
                    return min(wrong)
        return None

    def touches(self, element: Element) -> bool:
        """True if an element, or one inside it, uses one of the names."""
        return any(self.changes(part) for part in nested_elements(element))


def of_joint(joint: Joint, new: str) -> dict[str, str]:
    """Names of a joint's coordinates and speeds in formulas, and as they are called under its new name."""
    info = joint.info
    names = {component(joint.name, suffix): component(new, suffix) for suffix in info.coordinates}
    names |= {f"{old}.q": f"{name}.q" for old, name in names.items()}
    speeds = {component(joint.name, suffix): component(new, suffix) for suffix in info.speeds}
    return names | {f"{old}.v": f"{name}.v" for old, name in speeds.items()}


def of_body(body: str, new: str) -> dict[str, str]:
    """Names of the coordinates and speeds of a body that no joint holds."""
    return of_joint(Joint(name=body, kind=Free.name, parent="world", child=f"{body}_"), new)


def of_sensor(sensor: Sensor, new: str) -> dict[str, str]:
    """Names of a sensor's components and their rates in formulas."""
    names = {component(sensor.name, suffix): component(new, suffix) for suffix in sensor.info.components}
    return names | {f"{old}.rate": f"{name}.rate" for old, name in names.items()}


def _readable(name: str) -> bool:
    """True if a formula reads it as one name."""
    try:
        return name not in CONSTANTS and parse(name) == Name(name)
    except ExpressionError:
        return False


def formulas_with(element: Element, replacements: Mapping[str, Node]) -> dict[str, Any]:
    """New values of the number fields of an element (not of those inside it) with parameters replaced by formulas."""
    found: dict[str, Any] = {}
    for each in fields_of(type(element)):
        if not isinstance(each.kind, ScalarKind | VectorKind):
            continue
        own, old = own_names(each.kind), getattr(element, each.name)
        table = {name: node for name, node in replacements.items() if name not in own}
        new = tuple(_with(item, table) for item in old) if isinstance(old, tuple) else _with(old, table)
        if new != old:
            found[each.name] = new
    return found


def _with(value: Any, table: Mapping[str, Node]) -> Any:
    if isinstance(value, str) and not names(node := parse(value)).isdisjoint(table):
        return text_of(substitute(node, table))
    return value


# ------------------------------------------------------------------------------- what an element is called


def renaming_of(model: Model, collection: str, old: str, new: str | None = None) -> Renaming:
    """What changes when an element gets a new name, with all that it brings (chain, sub-assembly); without a new name,
    all names that go when the element does."""
    made = Renaming(defaultdict(dict), {}, {}, Owners(model))
    shadowed: set[str] = set(model.expanded.index("parameter"))
    sensors = {name for s in model.expanded.sensors for name in of_sensor(s, s.name)}
    held = {joint.child for joint in model.expanded.joints}
    unknown = list(of_unknown_kind(model.expanded))
    for owner, element, name in _brought(model, collection, old, new):
        space = NAMESPACES[owner]
        made.references[space][element.name] = name
        if space == "parameter":
            made.parameters[element.name] = name
        elif owner == "sensors":
            made.signals.update(_visible(of_sensor(element, name), shadowed))
        elif owner == "joints":
            made.signals.update(_visible(of_joint(element, name), shadowed | sensors))
        elif owner == "bodies" and element.name not in held:
            made.signals.update(_visible(of_body(element.name, name), shadowed | sensors))
        if (owner, element) in unknown:
            made.signals.update(_visible(_as_used(model, element.name, name), shadowed))
    return made


def _as_used(model: Model, old: str, new: str) -> dict[str, str]:
    """What formulas call an element of an unknown kind, of which only its name is known."""
    formulas = (f for _, element in model.elements() for part in nested_elements(element) for f in formulas_in(part))
    used = {name for formula in formulas for name in names(parse(formula.text))}
    return {name: f"{new}{name.removeprefix(old)}" for name in used if f"{name}.".startswith(f"{old}.")}


def _visible(table: Mapping[str, str], shadowed: set[str]) -> dict[str, str]:
    return {old: new for old, new in table.items() if old not in shadowed}


def _brought(model: Model, collection: str, old: str, new: str | None) -> Iterator[tuple[str, Any, str]]:
    """(collection, element, its new name) of an element and all that it brings."""
    element = model.find(collection, old)
    yield collection, element, new or f"{old}_"
    if collection == "chains" and new is None:  # its names come from its prefix, not from its name
        for owner, members in zip(("bodies", "joints", "frames"), expand(element), strict=True):
            chained: tuple[Any, ...] = members
            yield from ((owner, part, f"{part.name}_") for part in chained)
    elif collection == "assemblies":
        for owner, parts in element.brought.items():
            yield from ((owner, part, (new or f"{old}_") + part.name.removeprefix(old)) for part in parts)
