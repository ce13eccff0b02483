"""Edits: pure functions Model → Model. Nothing half-edited can exist; undo is keeping the old value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from core.errors import ModelError
from core.model.bodies import WORLD, Body
from core.model.chains import expand
from core.model.expression import Name, Node, parse, substitute, text_of
from core.model.expression import names as names_in
from core.model.fields import (
    Element,
    ReferenceKind,
    ScalarKind,
    VectorKind,
    check_name,
    fields_of,
    mapped,
    nested_elements,
)
from core.model.model import COLLECTIONS, NAMESPACES, WORDS, Model
from core.model.parameters import Parameter
from core.model.shapes import Box, Material

Owned = tuple[tuple[str, Any], ...]
"""Elements with the names of their collections: ((collection, element), …)."""


def collection_of(element: Element) -> str:
    """Name of the collection an element belongs to."""
    for collection, kind in COLLECTIONS.items():
        if isinstance(element, kind):
            return collection
    raise ModelError(f"A {type(element).__name__} is not an element of a model by itself.")


# ------------------------------------------------------------------------------- add, change, rename


def add(model: Model, element: Element) -> Model:
    """The model with the element appended."""
    collection = collection_of(element)
    return _with(model, {collection: (*getattr(model, collection), element)})


def replace(model: Model, old: Any, new: Element) -> Model:
    """The model with one element replaced by another of its kind (same name; see `rename`)."""
    collection = collection_of(old)
    return _with(model, {collection: tuple(new if e.name == old.name else e for e in getattr(model, collection))})


def change(model: Model, collection: str, name: str, /, **fields: Any) -> Model:
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
    target = model.find(collection, old)
    check_name(new)
    namespace = NAMESPACES[collection]
    if new in _taken(model, namespace):
        raise ModelError(f"The name '{new}' is taken.", where=f"{WORDS[collection]} '{old}', name",
                         remedy="Choose another name.")  # fmt: skip

    def renamed(element: Element) -> dict[str, Any]:
        changes = _formulas(element, {old: Name(new)}) if namespace == "parameter" else {}
        changes.update(dict.fromkeys(_references(element, namespace, old), new))
        if element is target:
            changes["name"] = new
        return changes

    return mapped(model, renamed)


def _taken(model: Model, namespace: str) -> dict[str, Element]:
    """Names in use, also those that chains bring (chains themselves are gone from the expanded model)."""
    return (model if namespace == "chain" else model.expanded).index(namespace)


def _references(element: Element, namespace: str, name: str) -> list[str]:
    """Fields of an element (not of those inside it) that refer to a name of a namespace."""
    return [
        field.name
        for field in fields_of(type(element))
        if isinstance(field.kind, ReferenceKind)
        and namespace == ("frame" if field.kind.target == "body" else field.kind.target)
        and getattr(element, field.name) == name
    ]


def _formulas(element: Element, replacements: dict[str, Node]) -> dict[str, Any]:
    """New values of the number fields of an element whose formulas use one of the names."""

    def replaced(value: Any) -> Any:
        if isinstance(value, str) and not names_in(node := parse(value)).isdisjoint(replacements):
            return text_of(substitute(node, replacements))
        return value

    changes: dict[str, Any] = {}
    for field in fields_of(type(element)):
        old = getattr(element, field.name)
        if isinstance(field.kind, ScalarKind):
            new = replaced(old)
        elif isinstance(field.kind, VectorKind):
            new = tuple(map(replaced, old))
        else:
            continue
        if new != old:
            changes[field.name] = new
    return changes


# ------------------------------------------------------------------------------- remove


def users(model: Model, collection: str, name: str) -> Owned:
    """(collection, element) of everything that refers to an element directly."""
    namespace = NAMESPACES[collection]

    def uses(element: Element) -> bool:
        inside = nested_elements(element)
        if namespace == "parameter":
            return any(_formulas(part, {name: Name(name + "_")}) for part in inside)
        return any(_references(part, namespace, name) for part in inside)

    return tuple((owner, e) for owner, e in model.elements() if (owner, e.name) != (collection, name) and uses(e))


def dependents(model: Model, collection: str, name: str) -> Owned:
    """Everything that `remove` would delete with an element: joints and frames on a body, frames on frames,
    joints coupled to a joint. (A parameter or material in use is not taken along: its users keep the value.)"""
    if collection in ("parameters", "materials"):
        return ()
    found: dict[tuple[str, str], Any] = {}
    waiting = [(collection, name)]
    if collection == "chains":
        bodies, joints, frames = expand(model.chain(name))
        waiting = [("bodies", e.name) for e in bodies] + [("joints", e.name) for e in joints]
        waiting += [("frames", e.name) for e in frames]
    while waiting:
        for owner, element in users(model, *waiting.pop()):
            key = (owner, element.name)
            if key not in found and key != (collection, name):
                found[key] = element
                waiting.append(key)
    return tuple((owner, element) for (owner, _), element in found.items())


def remove(model: Model, collection: str, name: str) -> Model:
    """The model without an element and without its `dependents`; formulas that used a removed parameter
    keep its present value, shapes that used a removed material keep its colour."""
    target: Any = model.find(collection, name)
    gone = {(owner, element.name) for owner, element in dependents(model, collection, name)} | {(collection, name)}
    if isinstance(target, Parameter):
        inlined = {name: parse(str(target.value))}
        model = mapped(model, lambda element: _formulas(element, inlined))
    if isinstance(target, Material):
        model = mapped(model, lambda element: _without_material(element, target))
    kept: dict[str, Any] = {c: tuple(e for e in getattr(model, c) if (c, e.name) not in gone) for c in COLLECTIONS}
    return _with(model, kept)


def _without_material(element: Any, material: Material) -> dict[str, Any]:
    """What a shape must change to keep the colour of a material that goes."""
    if getattr(element, "material", None) != material.name:
        return {}
    return {"material": "", "color": element.color or material.color}


# ------------------------------------------------------------------------------- names, copies, sliders


def unused_name(model: Model, collection: str, stem: str) -> str:
    """`stem`, or `stem2`, `stem3` … — the first that is free in the collection's namespace."""
    taken = _taken(model, NAMESPACES[collection])
    if stem not in taken and stem != WORLD:
        return stem
    base = stem.rstrip("0123456789") or stem
    number = 2
    while f"{base}{number}" in taken:
        number += 1
    return f"{base}{number}"


def duplicate(model: Model, collection: str, name: str) -> tuple[Model, str]:
    """The model with a copy of an element under a free name, and that name."""
    new = unused_name(model, collection, name)
    more = {"prefix": f"{new}_"} if collection == "chains" else {}
    copy: Any = dataclasses.replace(model.find(collection, name), **{"name": new, **more})
    return add(model, copy), new


def promote(model: Model, collection: str, name: str, field: str, parameter: str) -> Model:
    """The model in which a number of an element's field has become a named parameter, so that a slider can
    move it. `field` may lead into nested elements and vectors: "pose.position.0", "shapes.1.radius"."""
    element = model.find(collection, name)
    value, dimension, put = _leaf(element, field.split("."), f"{WORDS[collection]} '{name}', {field}")
    with_parameter = add(model, Parameter(name=parameter, value=value, dimension=dimension))
    return replace(with_parameter, element, put(parameter))


def _leaf(holder: Any, path: list[str], where: str) -> tuple[Any, str, Callable[[Any], Any]]:
    """The number at the end of a path of fields and indices, its dimension, and the function that returns
    the holder with the number replaced."""
    head, rest = path[0], path[1:]
    field = next((f for f in fields_of(type(holder)) if f.name == head), None)
    if field is None:
        raise ModelError(f"There is no field '{head}'.", where=where)
    value = getattr(holder, head)

    def put(new: Any) -> Any:
        return dataclasses.replace(holder, **{head: new})

    if isinstance(field.kind, ScalarKind) and value is not None and not rest:
        return value, field.kind.dimension, put
    if isinstance(value, Element) and rest:
        number, dimension, inner = _leaf(value, rest, where)
        return number, dimension, lambda new: put(inner(new))
    if isinstance(value, tuple) and rest and rest[0].isdigit() and int(rest[0]) < len(value):
        index = int(rest[0])

        def put_item(new: Any) -> Any:
            return put((*value[:index], new, *value[index + 1 :]))

        if isinstance(field.kind, VectorKind) and len(rest) == 1:
            return value[index], field.kind.dimension, put_item
        if isinstance(value[index], Element) and len(rest) > 1:
            number, dimension, inner = _leaf(value[index], rest[1:], where)
            return number, dimension, lambda new: put_item(inner(new))
    raise ModelError("Only a number can become a parameter.", where=where)


def free_body(model: Model, stem: str = "body") -> tuple[Model, str]:
    """The model with a new free body (a 0.1 m cube of 1 kg), and its name."""
    new = unused_name(model, "bodies", stem)
    return add(model, Body(name=new, density=1000.0, shapes=(Box(),))), new


def _with(model: Model, collections: dict[str, Any]) -> Model:
    return dataclasses.replace(model, **collections)
