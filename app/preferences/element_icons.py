"""Icon names of elements."""

from __future__ import annotations

from typing import Any

from core.model import JOINT_KINDS, WORDS, Constraint, DHRow, Force, Joint, Sensor, Signal
from core.model.signal_elements import BLOCK_KINDS
from resources import has_icon
from viz.drawlist.elements import LOOKS, driven, find_look


def element_icon(collection: str, element: Any) -> str:
    """Return the icon name of an element; joints, forces, sensors, constraints and drivers have an icon for each
    kind."""
    if collection == "joints":
        return joint_icon(element.kind)
    if collection == "drivers":
        return driven.LOOK.get_icon(element)
    if collection == "signals":
        return signal_icon(element.kind)
    if collection in LOOKS:
        return find_look(collection, element.kind).get_icon(element)
    return collection_icon(collection)


def collection_icon(collection: str) -> str:
    """Return the icon name of a collection of elements; the model's icon if it has none."""
    return WORDS.get(collection, "model").replace(" ", "_")


_COLLECTIONS = {Force: "forces", Sensor: "sensors", Constraint: "constraints"}


def option_icon(owner: type, option: str) -> str:
    """Return the icon name of an option of a choice in an element; '' if it has none."""
    if owner is Signal and option in BLOCK_KINDS:
        return signal_icon(option)
    if owner in _COLLECTIONS:
        looks = LOOKS[_COLLECTIONS[owner]]
        return looks[option].kind_icon if option in looks else ""
    return joint_icon(option) if owner in (Joint, DHRow) and option in JOINT_KINDS else ""


def signal_icon(kind: str) -> str:
    """Return the icon name of a kind of signal: that of controllers, or that of blocks."""
    return "controller" if kind in BLOCK_KINDS and BLOCK_KINDS[kind].acts else "signal"


def joint_icon(kind: str) -> str:
    """Return the icon name of a kind of joint; the general joint icon for a kind without its own."""
    return kind if has_icon(kind) else "joint"
