"""One moment of the open document: model, pose, selection. Knows no Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from core.model import Model


class Ref(NamedTuple):
    """An element of the model, as the selection and the scene name it."""

    collection: str
    name: str


@dataclass(frozen=True)
class State:
    """One moment of the document: what undo goes back to."""

    model: Model
    pose: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Coordinates that differ from the rest pose, by name (`mech.q_names`)."""
    label: str = ""
    """What made this state, for the undo menu."""
    selection: Ref | None = None
    """What was selected when this state was left; undo and redo select it again if what is selected goes."""


def carried(pose: Mapping[str, float], old: Model, new: Model) -> Mapping[str, float]:
    """The pose under the names of the new model, when an edit has only renamed joints."""
    if old is new or not pose:
        return pose
    before, after = old.expanded.joints, new.expanded.joints
    if len(before) != len(after) or all(a.name == b.name for a, b in zip(before, after, strict=True)):
        return pose
    names = {
        f"{a.name}.{suffix}" if suffix else a.name: f"{b.name}.{suffix}" if suffix else b.name
        for a, b in zip(before, after, strict=True)
        if a.kind == b.kind
        for suffix in a.info.coordinates
    }
    return MappingProxyType({names.get(name, name): value for name, value in pose.items()})
