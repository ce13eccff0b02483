"""Part of a machine that can be shown when some kinds of its elements are unknown."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.joints import Fixed
from core.model.edits import edits
from core.model.joints import Joint
from core.model.model import Model
from core.model.unknown_kinds import elements_of_unknown_kind


def known_part(model: Model) -> Model:
    """Return the expanded machine without elements of unknown kinds and their dependents; removed joints are replaced
    by fixed ones where nothing else connects their sides. Returns the model itself if all kinds are known."""
    plain, gone = model.expanded, set[tuple[str, str]]()
    for collection, element in elements_of_unknown_kind(plain):
        gone |= {(c, e.name) for c, e in ((collection, element), *edits.dependents(plain, collection, element.name))}
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


def _are_connected(model: Model, joints: tuple[Joint, ...], one: str, other: str) -> bool:
    """Return True if a path of joints connects two bodies or frames."""
    reached = {model.carrier(one).name}
    pairs = [{model.carrier(joint.parent).name, model.carrier(joint.child).name} for joint in joints]
    while more := {body for pair in pairs if reached & pair for body in pair} - reached:
        reached |= more
    return model.carrier(other).name in reached
