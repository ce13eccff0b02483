"""Origin of a result: machine and pose in the user's units, and what has changed since. Independent of Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context
from core.functions.context import FunctionCall
from core.functions.options import FrameName, FrameNames, Ranges, Values
from core.functions.text import Amount, Column, format_cell
from core.model.differences import find_differences
from core.model.edits import edits

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings
    from core.functions import Function
    from core.model import Model

MOST = 3
"""Largest number of names in a short list; further ones are only counted."""
REST_TOLERANCE = 1e-9
"""Distance from the reference configuration, rad or m, within which a coordinate counts as unchanged."""
UNTITLED = "untitled"
LISTS = ("actuators", "hold", "coordinates")
"""Options whose texts are lists of names."""
RENAMED = ("bodies", "frames", "joints", "parameters")
"""Collections whose elements can be named in options."""


def is_from_closed_document(request: FunctionCall, session: Session) -> bool:
    """Return True if a result belongs to a document that is no longer open."""
    document = request.context.document
    return request.context.model != session.model if document is None else document != session.document


def gives_same_result(before: Context, now: Context, read_parts: str) -> bool:
    """Return True if a function that reads these parts of the machine gives the same result in both contexts."""
    if read_parts == "nothing":
        return True
    if before.model is not now.model and before.model.machine != now.model.machine:
        return False
    if before.p != now.p:
        return False
    return read_parts == "machine" or (before.t == now.t and np.array_equal(before.q, now.q))


# ----------------------------------------------------------------------------------- words


def machine_name(model: Model) -> str:
    """Return the name of a machine."""
    return model.name or UNTITLED


def describe_pose(request: FunctionCall, read_parts: str, settings: Settings, max_names: int = MOST) -> str:
    """Describe the pose, and the parameter values that differ from the document's: "crank = 40°", "at rest", "t = 1.2 s
    of run 2"; "" if neither affects the result."""
    context = request.context
    tried = list(_describe_changed_parameters(context, settings)) if read_parts != "nothing" else []
    if read_parts != "pose":
        return _short_list(tried, max_names)
    if context.moment:
        return _short_list([context.moment, *tried], max_names + 1)
    placed = list(_describe_moved_coordinates(context, settings))
    return _short_list([*(placed or ["reference configuration"]), *tried], max_names)


def describe_changes(request: FunctionCall, read_parts: str, now: Context, settings: Settings) -> str:
    """Describe briefly what has changed since a result was computed; "" if the result would be the same."""
    before = request.context
    if gives_same_result(before, now, read_parts):
        return ""
    parts = []
    values = list(_describe_new_values(before, now, settings))
    if values:
        parts.append(_short_list(values, MOST))
    edited = (
        _edited_elements(_ModelIdentity(before.model), _ModelIdentity(now.model))
        if before.model is not now.model
        else ()
    )
    if edited:
        parts.append(f"edited: {_short_list(edited, MOST)}")
    moved = _moved_coordinates(before, now) if read_parts == "pose" else []
    if moved:
        parts.append(f"moved: {_short_list(moved, MOST)}")
    return "; ".join(parts) or "another time"


def _short_list(words: Sequence[str], max_count: int) -> str:
    left = len(words) - max_count
    return ", ".join(words[:max_count]) + (f" and {left} more" if left > 0 else "")


def _format_value(value: float, dimension: str, settings: Settings) -> str:
    return format_cell(Amount(value, dimension), Column(""), degrees=settings.degrees, millimetres=settings.millimetres)


def _describe_moved_coordinates(context: Context, settings: Settings) -> Iterator[str]:
    """Yield the coordinates that differ from the reference configuration, with their values."""
    mech = context.mech
    for each, value, rest in zip(mech.coordinates, context.q, mech.rest(), strict=True):
        if abs(value - rest) > REST_TOLERANCE:
            yield f"{each.name} = {_format_value(float(value), each.dimension, settings)}"


def _describe_changed_parameters(context: Context, settings: Settings) -> Iterator[str]:
    """Yield the parameters that differ from the document's, with their values."""
    table = {parameter.name: parameter for parameter in context.model.expanded.parameters}
    written = context.model.values()
    for name, value in context.p.items():
        if name in table and value != written[name]:
            yield f"{name} = {_format_value(value, table[name].dimension, settings)}"


def _describe_new_values(before: Context, now: Context, settings: Settings) -> Iterator[str]:
    """Yield the parameters whose values have changed, with old and new value."""
    table = {parameter.name: parameter for parameter in now.model.expanded.parameters}
    for name, value in now.p.items():
        old = before.p.get(name, value)
        if old != value and name in table:
            dimension = table[name].dimension
            yield f"{name} {_format_value(old, dimension, settings)} → {_format_value(value, dimension, settings)}"


class _ModelIdentity:
    """Wrapper that compares models by identity, however similar they are."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ModelIdentity) and self.model is other.model

    def __hash__(self) -> int:
        return id(self.model)


@lru_cache(maxsize=64)
def _edited_elements(before: _ModelIdentity, now: _ModelIdentity) -> tuple[str, ...]:
    """Return the elements that an edit changed, except parameters of which only the value changed."""
    model, words = before.model, []
    for collection, old, new in _renamed_elements(before.model, now.model):
        words.append(f"'{old}' renamed to '{new}'")
        with suppress(KinetostatError):  # an element of a chain or a sub-assembly is renamed with its owner
            model = edits.rename(model, collection, old, new)
    found = find_differences(model.machine, now.model.machine)
    places = (each.place for each in found if not (each.place.startswith("parameter ") and each.field == "value"))
    return (*words, *dict.fromkeys(places))


def _moved_coordinates(before: Context, now: Context) -> list[str]:
    """Return the names of coordinates whose values differ between two contexts."""
    old = dict(zip(before.mech.q_names, before.q, strict=True))
    pairs = zip(now.mech.q_names, now.q, strict=True)
    return [name for name, value in pairs if name in old and abs(value - old[name]) > REST_TOLERANCE]


# ----------------------------------------------------------------------------------- asking again


def options_for_repeat(function: str, request: FunctionCall, model: Model) -> dict[str, Any]:
    """Return the options for repeating a function on the present machine, with elements under their present names."""
    names = {old: new for _, old, new in _renamed_elements(request.context.model, model)}
    kinds = {option.id: option for option in FUNCTIONS[function].options}
    named = (FrameName, FrameNames, Values, Ranges)
    if not names:
        return dict(request.options)
    again: dict[str, Any] = {}
    for key, value in request.options.items():
        if isinstance(kinds.get(key), named):
            value = _replace_names(value, names)
        elif key in LISTS and isinstance(value, str):
            value = re.sub(r"[^\s,]+", lambda found: str(_replace_names(found[0], names)), value)
        again[key] = value
    return again


def is_repeatable(function: Function | None) -> bool:
    """Return True if a function can be repeated without asking the user; a function that always writes a file
    cannot."""
    return function is not None and function.id != "picture"


def _renamed_elements(before: Model, now: Model) -> Iterator[tuple[str, str, str]]:
    """Yield collection, old name and new name of elements that were only renamed."""
    if before is now:
        return
    for collection in RENAMED:
        was, has = getattr(before.expanded, collection), getattr(now.expanded, collection)
        known = {each.name for each in has}
        if len(was) == len(has):
            pairs = zip(was, has, strict=True)
            yield from ((collection, a.name, b.name) for a, b in pairs if a.name not in known)


def _replace_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return an option's value with names replaced; in "joint.qx" and "joint = 0.3" only the leading name."""
    if isinstance(value, str):
        stem = value.split(".")[0].split("=")[0].strip()
        return value.replace(stem, names[stem], 1) if stem in names else value
    if isinstance(value, Mapping):
        return {_replace_names(name, names): item for name, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_replace_names(item, names) for item in value)
    return value
