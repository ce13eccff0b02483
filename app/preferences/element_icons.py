"""Names of the drawings of elements."""

from __future__ import annotations

from typing import Any

from core.model import JOINT_KINDS, WORDS, Constraint, Force, Sensor
from resources import has_icon
from viz.drawlist.elements import LOOKS, driven, look_of


def icon_of(collection: str, element: Any) -> str:
    """Name of the drawing of an element; joints, forces, sensors, constraints and drivers show their kind."""
    if collection == "joints":
        return joint_icon(element.kind)
    if collection == "drivers":
        return driven.LOOK.icon_of(element)
    if collection in LOOKS:
        return look_of(collection, element.kind).icon_of(element)
    return collection_icon(collection)


def collection_icon(collection: str) -> str:
    """Name of the drawing that stands for the elements of a collection; that of the model for none."""
    return WORDS.get(collection, "model").replace(" ", "_")


_COLLECTIONS = {Force: "forces", Sensor: "sensors", Constraint: "constraints"}


def option_icon(owner: type, option: str) -> str:
    """The drawing of an option of an element's choice; '' for most."""
    if owner in _COLLECTIONS:
        looks = LOOKS[_COLLECTIONS[owner]]
        return looks[option].kind_icon if option in looks else ""
    return joint_icon(option) if option in JOINT_KINDS else ""


def joint_icon(kind: str) -> str:
    """The drawing of a kind of joint; the one of joints for a kind without its own."""
    return kind if has_icon(kind) else "joint"
