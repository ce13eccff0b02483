"""Changes of names in references and formulas when elements are renamed.

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
from core.model.chains import expand_chain
from core.model.edits.prefixing import rename_in_formula, special_names
from core.model.fields import (
    Element,
    FormulaKind,
    FormulaVectorKind,
    ReferenceKind,
    ScalarKind,
    SignalKind,
    VectorKind,
    declared_fields,
    nested_elements,
)
from core.model.formula.expression import CONSTANTS, Name, Node, format_formula, names_in_formula, parse, substitute
from core.model.formula.formula_fields import list_formulas
from core.model.joints import Joint
from core.model.model import NAMESPACES, Model, elements_of_unknown_kind
from core.model.sensors import Sensor
from core.model.signal_texts import NameOwners, rename_in_text
from core.model.signals import component_name

SPACES = {"body": "frame", "point": "frame"}
"""Namespace of a reference's target where it is not called like the target."""


@dataclass(frozen=True)
class RenamingTable:
    """Table of old name → new name, in references by namespace and in formulas."""

    references: dict[str, dict[str, str]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)
    owners: NameOwners | None = None
    """Owners of the names in quantity texts; None leaves these texts unchanged."""

    def field_changes(self, element: Element) -> dict[str, Any]:
        """Return new values of an element's fields that use one of the names (without nested elements)."""
        found: dict[str, Any] = {}
        for each in declared_fields(type(element)):
            old = new = getattr(element, each.name)
            match each.kind:
                case ReferenceKind(target=target):
                    new = self.references.get(SPACES.get(target, target), {}).get(old, old)
                case SignalKind() if self.owners is not None:
                    new = rename_in_text(old, self.owners, self._rename_quantity)
                case ScalarKind():
                    new = self._rename_in_formula(old, each.kind)
                case VectorKind():
                    new = tuple(self._rename_in_formula(item, each.kind) for item in old)
            if new != old:
                found[each.name] = new
        return found

    def _rename_in_formula(self, value: Any, kind: ScalarKind | VectorKind) -> Any:
        own = special_names(kind)
        with_state = isinstance(kind, FormulaVectorKind) or (isinstance(kind, FormulaKind) and kind.states)

        def new_name(name: str) -> str:
            if name in own:
                return name
            if name in self.parameters:
                return self.parameters[name]
            return self.signals.get(name, name) if with_state else name

        return rename_in_formula(value, new_name)

    def _rename_quantity(self, name: str) -> str:
        """Return the name of a quantity after the renaming."""
        owner = None if self.owners is None else self.owners(name)
        if owner is None:
            return name
        new = self.references.get(owner.namespace, {}).get(owner.name, owner.name)
        return new + name[len(owner.name) :]

    def deleting_references_only(self) -> RenamingTable:
        """Return the renaming without parameters, materials and quantities: elements that use one of these are not
        deleted with it."""
        kept = {space: table for space, table in self.references.items() if space != "material"}
        return RenamingTable(kept, {}, self.signals)

    def find_name_clash(self, model: Model) -> str | None:
        """Return a new name that already has another meaning in a formula; None if there is none."""
        fresh = {*self.parameters.values(), *self.signals.values()}
        taken = set(model.expanded.index("parameter")) - set(self.parameters)
        for element in nested_elements(model):
            for _, kind, _, text in list_formulas(element):
                used, own = names_in_formula(parse(text)), special_names(kind)
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

    def is_used_by(self, element: Element) -> bool:
        """Return True if an element, or a nested one, uses one of the names."""
        return any(self.field_changes(part) for part in nested_elements(element))


def joint_name_changes(joint: Joint, new_name: str) -> dict[str, str]:
    """Return the names of a joint's coordinates and speeds in formulas → the names after it is renamed."""
    info = joint.info
    names = {component_name(joint.name, suffix): component_name(new_name, suffix) for suffix in info.coordinates}
    names |= {f"{old}.q": f"{name}.q" for old, name in names.items()}
    speeds = {component_name(joint.name, suffix): component_name(new_name, suffix) for suffix in info.speeds}
    return names | {f"{old}.v": f"{name}.v" for old, name in speeds.items()}


def body_name_changes(body: str, new_name: str) -> dict[str, str]:
    """Return the names of the coordinates and speeds of a free body in formulas → the names after it is renamed."""
    return joint_name_changes(Joint(name=body, kind=Free.name, parent="world", child=f"{body}_"), new_name)


def sensor_name_changes(sensor: Sensor, new_name: str) -> dict[str, str]:
    """Return the names of a sensor's components and their rates in formulas → the names after it is renamed."""
    names = {component_name(sensor.name, suffix): component_name(new_name, suffix) for suffix in sensor.info.components}
    return names | {f"{old}.rate": f"{name}.rate" for old, name in names.items()}


def _is_single_name(name: str) -> bool:
    """Return True if a formula parses the text as a single name."""
    try:
        return name not in CONSTANTS and parse(name) == Name(name)
    except ExpressionError:
        return False


def substitute_in_formulas(element: Element, replacements: Mapping[str, Node]) -> dict[str, Any]:
    """Return new values for the number fields of an element, with parameters replaced by formulas (nested elements not
    included)."""
    found: dict[str, Any] = {}
    for each in declared_fields(type(element)):
        if not isinstance(each.kind, ScalarKind | VectorKind):
            continue
        own, old = special_names(each.kind), getattr(element, each.name)
        table = {name: node for name, node in replacements.items() if name not in own}
        new = (
            tuple(_substitute_in_formula(item, table) for item in old)
            if isinstance(old, tuple)
            else _substitute_in_formula(old, table)
        )
        if new != old:
            found[each.name] = new
    return found


def _substitute_in_formula(value: Any, replacements: Mapping[str, Node]) -> Any:
    if isinstance(value, str) and not names_in_formula(node := parse(value)).isdisjoint(replacements):
        return format_formula(substitute(node, replacements))
    return value


# ------------------------------------------------------------------------------- what an element is called


def build_renaming(model: Model, collection: str, old: str, new: str | None = None) -> RenamingTable:
    """Return the renaming of an element and of all elements it contains (chain, sub-assembly); without a new name, the
    names that are removed with the element."""
    made = RenamingTable(defaultdict(dict), {}, {}, NameOwners(model))
    shadowed: set[str] = set(model.expanded.index("parameter"))
    sensors = {name for s in model.expanded.sensors for name in sensor_name_changes(s, s.name)}
    held = {joint.child for joint in model.expanded.joints}
    unknown = list(elements_of_unknown_kind(model.expanded))
    for owner, element, name in _contained_elements(model, collection, old, new):
        space = NAMESPACES[owner]
        made.references[space][element.name] = name
        if space == "parameter":
            made.parameters[element.name] = name
        elif owner == "sensors":
            made.signals.update(_without_shadowed_names(sensor_name_changes(element, name), shadowed))
        elif owner == "joints":
            made.signals.update(_without_shadowed_names(joint_name_changes(element, name), shadowed | sensors))
        elif owner == "bodies" and element.name not in held:
            made.signals.update(_without_shadowed_names(body_name_changes(element.name, name), shadowed | sensors))
        if owner in ("signals", "motions"):
            made.signals.update(_without_shadowed_names(_names_as_used(model, element.name, name), shadowed | sensors))
        elif owner == "joints":
            made.signals.update(_names_behind_others(model, element.name, name))
        if (owner, element) in unknown:
            made.signals.update(_without_shadowed_names(_names_as_used(model, element.name, name), shadowed))
    return made


def _names_as_used(model: Model, old: str, new: str) -> dict[str, str]:
    """Return old name → new name for all names by which formulas refer to an element of an unknown kind."""
    formulas = (f for _, element in model.elements() for part in nested_elements(element) for f in list_formulas(part))
    used = {name for formula in formulas for name in names_in_formula(parse(formula.text))}
    return {name: f"{new}{name.removeprefix(old)}" for name in used if f"{name}.".startswith(f"{old}.")}


def _names_behind_others(model: Model, old: str, new: str) -> dict[str, str]:
    """Return old name → new name where a joint follows another name: gravity.elbow, ref.elbow.q, pick.elbow.v …"""
    heads = {"gravity", "ref", *(signal.name for signal in model.signals), *(motion.name for motion in model.motions)}
    if not (model.signals or model.forces):
        return {}
    formulas = (f for _, element in model.elements() for part in nested_elements(element) for f in list_formulas(part))
    found: dict[str, str] = {}
    for name in {name for formula in formulas for name in names_in_formula(parse(formula.text))}:
        head, _, rest = name.partition(".")
        if head in heads and f"{rest}.".startswith(f"{old}."):
            found[name] = f"{head}.{new}{rest.removeprefix(old)}"
    return found


def _without_shadowed_names(table: Mapping[str, str], shadowed: set[str]) -> dict[str, str]:
    return {old: new for old, new in table.items() if old not in shadowed}


def _contained_elements(model: Model, collection: str, old: str, new: str | None) -> Iterator[tuple[str, Any, str]]:
    """Yield (collection, element, new name) of an element and of all elements it contains."""
    element = model.find(collection, old)
    yield collection, element, new or f"{old}_"
    if collection == "chains" and new is None:  # its names come from its prefix, not from its name
        for owner, members in zip(("bodies", "joints", "frames"), expand_chain(element), strict=True):
            chained: tuple[Any, ...] = members
            yield from ((owner, part, f"{part.name}_") for part in chained)
    elif collection == "assemblies":
        for owner, parts in element.added_elements.items():
            yield from ((owner, part, (new or f"{old}_") + part.name.removeprefix(old)) for part in parts)
