"""Edits: pure functions Model → Model. Nothing half-edited can exist; undo is keeping the old value."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.errors import ModelError
from core.model.bodies import Body
from core.model.chains import rename_in
from core.model.expression import names as names_in
from core.model.expression import parse
from core.model.fields import Element, ReferenceKind, ScalarKind, VectorKind, check_name, fields_of
from core.model.model import COLLECTIONS, NAMESPACES, WORDS, Model
from core.model.parameters import value_of


def collection_of(element: Element) -> str:
    """Name of the collection an element belongs to."""
    for collection, kind in COLLECTIONS.items():
        if isinstance(element, kind):
            return collection
    raise ModelError(f"A {type(element).__name__} is not an element of a model by itself.")


def add(model: Model, element: Element) -> Model:
    """The model with the element appended."""
    collection = collection_of(element)
    return dataclasses.replace(model, **{collection: (*getattr(model, collection), element)})


def replace(model: Model, old: Element, new: Element) -> Model:
    """The model with one element replaced by another of its kind (same name; see `rename`)."""
    collection = collection_of(old)
    items = tuple(new if item.name == old.name else item for item in getattr(model, collection))  # type: ignore[attr-defined]
    return dataclasses.replace(model, **{collection: items})


def change(model: Model, collection: str, name: str, **fields: Any) -> Model:
    """The model with fields of one element changed; changing `name` renames it everywhere."""
    new_name = fields.pop("name", name)
    if fields:
        old = model.find(collection, name)
        model = replace(model, old, dataclasses.replace(old, **fields))
    return rename(model, collection, name, new_name)


def rename(model: Model, collection: str, old: str, new: str) -> Model:
    """The model with an element renamed; every reference and formula follows.

    Raises ModelError when the new name is taken or not a name.
    """
    if new == old:
        return model
    model.find(collection, old)
    check_name(new)
    if new in model.expanded._index(NAMESPACES[collection]):
        raise ModelError(f"The name '{new}' is taken.", where=f"{WORDS[collection]} '{old}', name",
                         remedy="Choose another name.")  # fmt: skip
    namespace = NAMESPACES[collection]
    changes: dict[str, Any] = {}
    for name in COLLECTIONS:
        items = tuple(_renamed(item, namespace, old, new) for item in getattr(model, name))
        if name == collection:
            items = tuple(dataclasses.replace(item, name=new) if item.name == old else item for item in items)
        changes[name] = items
    changes["world"] = _renamed(model.world, namespace, old, new)
    return dataclasses.replace(model, **changes)


def _renamed(element: Any, namespace: str, old: str, new: str) -> Any:
    """The element with references to `old` in a namespace (or names in formulas) replaced."""
    changes: dict[str, Any] = {}
    for field in fields_of(type(element)):
        value = getattr(element, field.name)
        follows: Any = value
        if isinstance(value, Element):
            follows = _renamed(value, namespace, old, new)
        elif isinstance(field.kind, ReferenceKind):
            follows = new if namespace == _namespace(field.kind) and value == old else value
        elif isinstance(field.kind, ScalarKind) and namespace == "parameter":
            follows = rename_in(value, old, new) if value is not None else None
        elif isinstance(field.kind, VectorKind) and namespace == "parameter":
            follows = tuple(rename_in(item, old, new) for item in value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Element):
            follows = tuple(_renamed(item, namespace, old, new) for item in value)
        if follows != value:
            changes[field.name] = follows
    return dataclasses.replace(element, **changes) if changes else element


def _namespace(kind: ReferenceKind) -> str:
    return "frame" if kind.target in ("frame", "body") else kind.target


def users(model: Model, collection: str, name: str) -> tuple[tuple[str, Element], ...]:
    """(collection, element) of everything that refers to an element directly."""
    namespace = NAMESPACES[collection]
    found = []
    for owner, element in model.elements():
        if owner == collection and element.name == name:  # type: ignore[attr-defined]
            continue
        if _mentions(element, namespace, name):
            found.append((owner, element))
    return tuple(found)


def _mentions(element: Any, namespace: str, name: str) -> bool:
    for field in fields_of(type(element)):
        value = getattr(element, field.name)
        if isinstance(value, Element):
            if _mentions(value, namespace, name):
                return True
        elif isinstance(field.kind, ReferenceKind):
            if namespace == _namespace(field.kind) and value == name:
                return True
        elif isinstance(field.kind, ScalarKind | VectorKind) and namespace == "parameter":
            items = value if isinstance(value, tuple) else (value,)
            if any(isinstance(item, str) and name in names_in(parse(item)) for item in items):
                return True
        elif isinstance(value, tuple) and any(isinstance(i, Element) and _mentions(i, namespace, name) for i in value):
            return True
    return False


def dependents(model: Model, collection: str, name: str) -> tuple[tuple[str, Element], ...]:
    """Everything that `remove` would delete with an element: joints and frames on a body, frames on frames,
    joints coupled to a joint. (A parameter or material in use is not taken along: its users keep the value.)"""
    if collection in ("parameters", "materials"):
        return ()
    found: dict[tuple[str, str], Element] = {}
    open_ = [(collection, name)]
    if collection == "chains":
        bodies, joints, frames = expanded_names(model, name)
        open_ = [("bodies", n) for n in bodies] + [("joints", n) for n in joints] + [("frames", n) for n in frames]
    while open_:
        current = open_.pop()
        for owner, element in users(model, *current):
            key = (owner, element.name)  # type: ignore[attr-defined]
            if key not in found and key != (collection, name):
                found[key] = element
                open_.append(key)
    return tuple((owner, element) for (owner, _), element in found.items())


def expanded_names(model: Model, chain: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names of the bodies, joints and frames a chain brings."""
    from core.model.chains import expand

    bodies, joints, frames = expand(model.chain(chain))
    return tuple(b.name for b in bodies), tuple(j.name for j in joints), tuple(f.name for f in frames)


def remove(model: Model, collection: str, name: str) -> Model:
    """The model without an element and without its `dependents`; formulas that used a removed parameter
    keep its present value, shapes that used a removed material keep its colour."""
    element: Any = model.find(collection, name)
    gone = {(owner, item.name) for owner, item in dependents(model, collection, name)}  # type: ignore[attr-defined]
    gone.add((collection, name))
    changes: dict[str, Any] = {
        c: tuple(item for item in getattr(model, c) if (c, item.name) not in gone) for c in COLLECTIONS
    }
    if collection == "parameters":
        value = element.value if isinstance(element.value, str) else repr(element.value)
        changes = {c: tuple(_inlined(item, name, value) for item in items) for c, items in changes.items()}
        changes["world"] = _inlined(model.world, name, value)
    if collection == "materials":
        changes = {c: tuple(_without_material(item, element) for item in items) for c, items in changes.items()}
    return dataclasses.replace(model, **changes)


def _inlined(element: Any, name: str, value: str) -> Any:
    """The element with a parameter's name replaced by its value in every formula."""
    from core.model.expression import substitute, text_of

    def inline(item: Any) -> Any:
        if isinstance(item, str) and name in names_in(parse(item)):
            return text_of(substitute(parse(item), {name: parse(value)}))
        return item

    changes: dict[str, Any] = {}
    for field in fields_of(type(element)):
        old = getattr(element, field.name)
        new: Any = old
        if isinstance(old, Element):
            new = _inlined(old, name, value)
        elif isinstance(field.kind, ScalarKind):
            new = inline(old)
        elif isinstance(field.kind, VectorKind):
            new = tuple(inline(item) for item in old)
        elif isinstance(old, tuple) and old and isinstance(old[0], Element):
            new = tuple(_inlined(item, name, value) for item in old)
        if new != old:
            changes[field.name] = new
    return dataclasses.replace(element, **changes) if changes else element


def _without_material(element: Any, material: Any) -> Any:
    """The element whose shapes use the colour of a material instead of its name."""
    changes: dict[str, Any] = {}
    for field in fields_of(type(element)):
        old = getattr(element, field.name)
        if isinstance(old, tuple) and old and isinstance(old[0], Element):
            new = tuple(_without_material(item, material) for item in old)
            if new != old:
                changes[field.name] = new
    if getattr(element, "material", None) == material.name:
        changes["material"] = ""
        changes["color"] = element.color or material.color
    return dataclasses.replace(element, **changes) if changes else element


def unused_name(model: Model, collection: str, stem: str) -> str:
    """`stem`, or `stem2`, `stem3` … — the first that is free in the collection's namespace."""
    taken = model.expanded._index(NAMESPACES[collection])
    if stem not in taken and stem != "world":
        return stem
    base = stem.rstrip("0123456789") or stem
    number = 2
    while f"{base}{number}" in taken:
        number += 1
    return f"{base}{number}"


def duplicate(model: Model, collection: str, name: str) -> tuple[Model, str]:
    """The model with a copy of an element under a free name, and that name."""
    element: Any = model.find(collection, name)
    new = unused_name(model, collection, name)
    copy = dataclasses.replace(element, name=new)
    if collection == "chains":
        copy = dataclasses.replace(copy, prefix=f"{new}_")
    return add(model, copy), new


def promote(model: Model, collection: str, name: str, field: str, parameter: str) -> Model:
    """The model in which a literal number of an element's field has become a named parameter,
    so that a slider can move it."""
    from core.model.parameters import Parameter

    element: Any = model.find(collection, name)
    kind = next(f.kind for f in fields_of(type(element)) if f.name == field)
    if not isinstance(kind, ScalarKind):
        raise ModelError("Only a number can become a parameter.", where=f"{WORDS[collection]} '{name}', {field}")
    value = getattr(element, field)
    with_parameter = add(model, Parameter(name=parameter, value=value, dimension=kind.dimension))
    return change(with_parameter, collection, name, **{field: parameter})


def free_body(model: Model, name: str = "body") -> tuple[Model, str]:
    """The model with a new free body of 1 kg (a 0.1 m cube), and its name."""
    from core.model.shapes import Box

    new = unused_name(model, "bodies", name)
    return add(model, Body(name=new, density=1000.0, shapes=(Box(),))), new


def number(model: Model, value: Any) -> float:
    """A field's present value as a float."""
    return float(value_of(value, model.values()))
