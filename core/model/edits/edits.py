"""Edits as pure functions Model → Model. A model is always complete; undo returns to the earlier value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from core.errors import ModelError, suggest_names
from core.joints import Fixed, Free
from core.model.assemblies import SubAssembly
from core.model.bodies import WORLD, Body
from core.model.dimensions import Owners, dimension_of
from core.model.edits.lengths import link_length as link_length
from core.model.edits.renaming import build_renaming, substitute_in_formulas
from core.model.fields import Element, ScalarKind, VectorKind, check_name, declared_fields, map_elements
from core.model.formula.expression import Node, parse
from core.model.joints import Joint
from core.model.model import COLLECTIONS, NAMESPACES, WORDS, Model, containing_assembly, elements_of_unknown_kind
from core.model.parameters import Parameter
from core.model.shapes import Box, Material
from core.model.units import SI

Owned = tuple[tuple[str, Any], ...]
"""Elements with their collections: ((collection, element), …)."""


def collection_of(element: Element) -> str:
    """Return the name of the collection an element belongs to."""
    for collection, kind in COLLECTIONS.items():
        if isinstance(element, kind):
            return collection
    raise ModelError(f"A {type(element).__name__} cannot be added to a model on its own.")


# ------------------------------------------------------------------------------- add, change, rename


def add(model: Model, *elements: Element) -> Model:
    """Return the model with these elements appended."""
    found: dict[str, tuple[Any, ...]] = {}
    for element in elements:
        collection = collection_of(element)
        found[collection] = (*found.get(collection, getattr(model, collection)), element)
    return _with_collections(model, found)


def replace(model: Model, old: Any, new: Element) -> Model:
    """Return the model with one element replaced by another of its kind (same name; see `rename`)."""
    collection = collection_of(old)
    return _with_collections(
        model, {collection: tuple(new if e.name == old.name else e for e in getattr(model, collection))}
    )


def change(model: Model, collection: str, name: str, /, **fields: Any) -> Model:
    """Return the model with fields of one element changed; changing `name` renames the element everywhere. The value of
    a sub-assembly's parameter (`leg1.length`) is changed by a setting of the sub-assembly."""
    owner = (
        containing_assembly(model, name)
        if set(fields) == {"value"} and name not in model.index(collection[:-1])
        else None
    )
    if collection == "parameters" and owner is not None:
        return replace(model, owner, owner.with_setting(name.removeprefix(f"{owner.name}."), fields["value"]))
    new_name = fields.pop("name", name)
    if fields:
        old = model.find(collection, name)
        known = [field.name for field in declared_fields(type(old))]
        if (wrong := next((field for field in fields if field not in known), None)) is not None:
            raise ModelError(
                f"There is no field '{wrong}'.",
                where=f"{WORDS[collection]} '{name}'",
                remedy=suggest_names(wrong, known),
            )
        model = replace(model, old, dataclasses.replace(old, **fields))
    return rename(model, collection, name, new_name)


def rename(model: Model, collection: str, old: str, new: str) -> Model:
    """Return the model with an element renamed in all references and formulas; for a sub-assembly or chain, the names
    of its elements too.

    Raises ModelError when the new name is taken, is not a name, or means something else in a formula.
    """
    if new == old:
        return model
    target = model.find(collection, old)
    check_name(new)
    if new in _names_in_use(model, NAMESPACES[collection]):
        raise ModelError(
            f"The name '{new}' is taken.", where=f"{WORDS[collection]} '{old}', name", remedy="Choose another name."
        )
    names = build_renaming(model, collection, old, new)
    if (clash := names.find_name_clash(model)) is not None:
        raise ModelError(
            f"'{clash}' already has another meaning in formulas.",
            where=f"{WORDS[collection]} '{old}', name",
            remedy="Choose another name.",
        )

    def renamed_fields(element: Element) -> dict[str, Any]:
        changes = names.field_changes(element)
        if element is target:
            changes["name"] = new
        return changes

    return map_elements(model, renamed_fields)


def _names_in_use(model: Model, namespace: str) -> dict[str, Element]:
    """Return the names in use, including those of chains' and sub-assemblies' elements."""
    return (model if namespace in ("chain", "assembly") else model.expanded).index(namespace)


# ------------------------------------------------------------------------------- remove


def users(model: Model, collection: str, name: str) -> Owned:
    """Return (collection, element) of all elements that refer directly to an element, or to an element it contains, by
    name or in a formula."""
    names = build_renaming(model, collection, name, f"{name}_")
    return tuple(
        (owner, e) for owner, e in model.elements() if (owner, e.name) != (collection, name) and names.is_used_by(e)
    )


def dependents(model: Model, collection: str, name: str) -> Owned:
    """Return everything that `remove` deletes with an element: joints and frames on a body, frames on frames, joints
    coupled to a joint, forces whose formulas use a sensor. (Users of a parameter or material are not deleted: they keep
    its value.)"""
    found: dict[tuple[str, str], Any] = {}
    waiting = [(collection, name)]
    while waiting:
        owner, gone = waiting.pop()
        names = build_renaming(model, owner, gone).deleting_references_only()
        for other, element in model.elements():
            key = (other, element.name)
            if key not in found and key != (collection, name) and names.is_used_by(element):
                found[key] = element
                waiting.append(key)
    return tuple((owner, element) for (owner, _), element in found.items())


def remove(model: Model, collection: str, name: str) -> Model:
    """Return the model without an element and without its `dependents`; formulas that used a removed parameter keep its
    current value, shapes that used a removed material keep its colour."""
    target: Any = model.find(collection, name)
    gone = {(owner, element.name) for owner, element in dependents(model, collection, name)} | {(collection, name)}
    inlined: dict[str, Node] = {}
    colors: dict[str, Any] = {}
    if isinstance(target, Parameter):
        inlined = {name: parse(str(target.value))}
    elif isinstance(target, Material):
        colors = {name: target.color}
    for owner in (e for c, e in model.elements() if isinstance(e, SubAssembly) and (c, e.name) in gone):
        values = model.values()
        inlined |= {p.name: parse(repr(values[p.name])) for p in owner.added_elements.get("parameters", ())}
        colors |= {m.name: m.color for m in owner.added_elements.get("materials", ())}
    kept: dict[str, Any] = {c: tuple(e for e in getattr(model, c) if (c, e.name) not in gone) for c in COLLECTIONS}

    def fields_after_removal(element: Element) -> dict[str, Any]:
        return substitute_in_formulas(element, inlined) | _inline_material_color(element, colors)

    if inlined or colors:
        kept = {c: tuple(map_elements(e, fields_after_removal) for e in elements) for c, elements in kept.items()}
        kept["world"] = map_elements(model.world, fields_after_removal)
    return _with_collections(model, kept)


def _inline_material_color(element: Any, colors: dict[str, Any]) -> dict[str, Any]:
    """Return the field changes that give a shape the colour of a material to be removed."""
    material = getattr(element, "material", None)
    if material not in colors:
        return {}
    return {"material": "", "color": element.color or colors[material]}


# ------------------------------------------------------------------------------- names, copies, sliders


def unused_name(model: Model, collection: str, stem: str) -> str:
    """Return the first name of `stem`, `stem2`, `stem3` … that is free in the collection's namespace."""
    taken = _names_in_use(model, NAMESPACES[collection])
    if stem not in taken and stem != WORLD:
        return stem
    base = stem.rstrip("0123456789") or stem
    number = 2
    while f"{base}{number}" in taken:
        number += 1
    return f"{base}{number}"


def duplicate(model: Model, collection: str, name: str) -> tuple[Model, str]:
    """Return the model with a copy of an element under a free name, and that name."""
    new = unused_name(model, collection, name)
    more = {"prefix": f"{new}_"} if collection == "chains" else {}
    copy: Any = dataclasses.replace(model.find(collection, name), **{"name": new, **more})
    return add(model, copy), new


def promote(model: Model, collection: str, name: str, field: str, parameter: str) -> Model:
    """Return the model with a number of an element's field replaced by a new named parameter, so that a slider can
    change it. `field` may lead into nested elements and vectors: "pose.position.0", "shapes.1.radius"."""
    element = model.find(collection, name)
    value, dimension, put = _number_at_path(
        model, (element,), field.split("."), f"{WORDS[collection]} '{name}', {field}"
    )
    stated = dimension if dimension in SI else "none"
    with_parameter = add(model, Parameter(name=parameter, value=value, dimension=stated))
    return replace(with_parameter, element, put(parameter))


def _number_at_path(
    model: Model, owners: Owners, path: list[str], where: str, part_index: int | None = None
) -> tuple[Any, str, Callable[[Any], Any]]:
    """Return the number at the end of a path of fields and indices, its dimension, and a function that returns the last
    owner with the number replaced. part_index : index among several parts"""
    head, rest, holder = path[0], path[1:], owners[-1]
    field = next((f for f in declared_fields(type(holder)) if f.name == head), None)
    if field is None:
        raise ModelError(f"There is no field '{head}'.", where=where)
    value = getattr(holder, head)

    def replace_number(new: Any) -> Any:
        return dataclasses.replace(holder, **{head: new})

    if isinstance(field.kind, ScalarKind) and value is not None and not rest:
        return value, dimension_of(model, owners, field, part_index), replace_number
    if isinstance(value, Element) and rest:
        number, dimension, inner = _number_at_path(model, (*owners, value), rest, where)
        return number, dimension, lambda new: replace_number(inner(new))
    if isinstance(value, tuple) and rest and rest[0].isdigit() and int(rest[0]) < len(value):
        index = int(rest[0])

        def replace_component(new: Any) -> Any:
            return replace_number((*value[:index], new, *value[index + 1 :]))

        if isinstance(field.kind, VectorKind) and len(rest) == 1:
            return value[index], dimension_of(model, owners, field, index), replace_component
        if isinstance(value[index], Element) and len(rest) > 1:
            number, dimension, inner = _number_at_path(model, (*owners, value[index]), rest[1:], where, index)
            return number, dimension, lambda new: replace_component(inner(new))
    raise ModelError("Only a number can become a parameter.", where=where)


def free_body(model: Model, stem: str = "body", place: tuple[float, float, float] | None = None) -> tuple[Model, str]:
    """Return the model with a new free body (a 0.1 m cube of 1 kg), and its name; with a place (m, world), a free joint
    puts the body there."""
    new = unused_name(model, "bodies", stem)
    model = add(model, Body(name=new, density=1000.0, shapes=(Box(),)))
    if place is not None:
        name = unused_name(model, "joints", new)
        model = add(model, Joint(name=name, kind=Free.name, parent=WORLD, child=new, rest=(*place, 0.0, 0.0, 0.0, 1.0)))
    return model, new


def _with_collections(model: Model, collections: dict[str, Any]) -> Model:
    return dataclasses.replace(model, **collections)


def without_unknown_kinds(model: Model) -> Model:
    """Return the expanded machine without elements of unknown kinds and their dependents. Removed joints are replaced
    by fixed ones where nothing else connects their bodies. Returns the model itself if all kinds are known."""
    plain, gone = model.expanded, set[tuple[str, str]]()
    for collection, element in elements_of_unknown_kind(plain):
        gone |= {(c, e.name) for c, e in ((collection, element), *dependents(plain, collection, element.name))}
    if not gone:
        return model
    kept: dict[str, Any] = {
        collection: tuple(e for e in getattr(plain, collection) if (collection, e.name) not in gone)
        for collection in {collection for collection, _ in gone} | {"joints"}
    }
    for joint in plain.joints:
        if ("joints", joint.name) in gone and not _are_connected(plain, kept["joints"], joint.parent, joint.child):
            ends = {field: getattr(joint, field) for field in ("name", "parent", "child", "a", "b")}
            kept["joints"] += (Joint(kind=Fixed.name, **ends),)
    return dataclasses.replace(plain, **kept)


def _are_connected(model: Model, joints: tuple[Joint, ...], first: str, second: str) -> bool:
    """Return True if a path of joints connects two bodies or frames."""
    reached = {model.carrier(first).name}
    pairs = [{model.carrier(joint.parent).name, model.carrier(joint.child).name} for joint in joints]
    while more := {body for pair in pairs if reached & pair for body in pair} - reached:
        reached |= more
    return model.carrier(second).name in reached
