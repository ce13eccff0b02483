"""What of a machine can be shown though kinds of its elements are not known."""

from __future__ import annotations

from core.joints import Fixed
from core.model.edits import edits
from core.model.joints import Joint
from core.model.model import Model
from core.model.unknown_kinds import of_unknown_kind


def known_part(model: Model) -> Model:
    """The machine, expanded, without what is of an unknown kind and what depends on that; joints of unknown kinds hold
    their sides together where nothing else does. The model itself if it has no such elements."""
    plain = model.expanded
    unknown = list(of_unknown_kind(plain))
    for collection, element in unknown:
        if any(each.name == element.name for each in getattr(plain, collection)):
            plain = edits.remove(plain, collection, element.name)
    for collection, element in unknown:
        if collection == "joints" and not _joined(plain, element.parent, element.child):
            weld = Joint(
                name=element.name, kind=Fixed.name, parent=element.parent, child=element.child, a=element.a, b=element.b
            )
            plain = edits.add(plain, weld)
    return plain if unknown else model


def _joined(model: Model, one: str, other: str) -> bool:
    """Whether joints lead from one body or frame to another."""
    reached = {model.carrier(one).name}
    pairs = [(model.carrier(j.parent).name, model.carrier(j.child).name) for j in model.joints]
    while more := {body for pair in pairs if reached & set(pair) for body in pair} - reached:
        reached |= more
    return model.carrier(other).name in reached
