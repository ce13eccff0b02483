"""One state of the open document: model, pose, selection. Independent of Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model

Array = NDArray[np.float64]


class Ref(NamedTuple):
    """Reference to an element of the model, used by selection and scene."""

    collection: str
    name: str


class Step(NamedTuple):
    """A user action outside the model (deleting a run, a plot or a view), and how to undo it."""

    do: Callable[[], object]
    undo: Callable[[], object]


@dataclass(frozen=True)
class State:
    """One state of the document, as undo restores it."""

    model: Model
    pose: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Coordinates that differ from the reference configuration, by name (`mech.q_names`)."""
    label: str = ""
    """Name of the step that made this state, for the undo menu."""
    selection: Ref | None = None
    """The selection when this state was left; undo and redo restore it if the selected element disappears."""
    locked: frozenset[str] = frozenset()
    """Bodies that stay in place while the user drags and edits."""
    step: Step | None = field(default=None, compare=False)
    """Another action that was done when this state was entered."""


def exists(model: Model, ref: Ref | None) -> bool:
    """Return True if a model has this element, in its own lists or in those of its chains and sub-assemblies."""
    if ref is None or ref.collection == "world":
        return ref is not None
    return any(item.name == ref.name for each in (model, model.expanded) for item in getattr(each, ref.collection, ()))


def successor(old: Model, new: Model, ref: Ref) -> Ref | None:
    """Return an element's reference after an edit or its undoing, under its new name if it was renamed; None if it is
    gone."""
    if exists(new, ref):
        return ref
    for before, after in ((old, new), (old.expanded, new.expanded)):
        was, now = getattr(before, ref.collection, ()), getattr(after, ref.collection, ())
        names = {element.name for element in was}
        for a, b in zip(was, now, strict=False):
            if len(was) == len(now) and a.name == ref.name and b.name not in names:
                return Ref(ref.collection, b.name)
    return None


def renamed_joints(old: Model, new: Model) -> dict[str, str]:
    """Return old name → new name if an edit has only renamed joints; else an empty dict."""
    before, after = old.expanded.joints, new.expanded.joints
    if old is new or len(before) != len(after):
        return {}
    return {a.name: b.name for a, b in zip(before, after, strict=True) if a.name != b.name and a.kind == b.kind}


def posed(mech: Mechanism, pose: Mapping[str, float]) -> Array:
    """Return the reference configuration (nq,) with some coordinates, by name, replaced."""
    q = np.array(mech.rest(), dtype=float)
    for i, name in enumerate(mech.q_names):
        q[i] = pose.get(name, q[i])
    return q


def closed(mech: Mechanism, pose: Mapping[str, float]) -> Array:
    """Return the position (nq,) nearest to a pose in which all constraints hold."""
    q = posed(mech, pose)
    return np.asarray(mech.move(q, {})) if pose and mech.constrained else q


def closed_pose(mech: Mechanism, pose: Mapping[str, float]) -> Mapping[str, float]:
    """Return a saved pose adapted to this machine, which may have changed since, with its loops closed; else the
    reference configuration."""
    try:
        q = closed(mech, pose)
        return pose_of(mech, np.asarray(mech.move(q, {})) if mech.nq != mech.nv else q)  # quaternions of unit length
    except KinetostatError:
        return MappingProxyType({})


def pose_of(mech: Mechanism, q: Array) -> Mapping[str, float]:
    """Return the coordinates that differ from the reference configuration, by name."""
    pairs = zip(mech.q_names, q, mech.rest(), strict=True)
    return MappingProxyType({name: float(x) for name, x, x0 in pairs if x != x0})


def carried(old: State, before: Mechanism, q: Array, new: State, mech: Mechanism) -> State:
    """Return the new state, of machine `mech`, with a pose in which the bodies are where pose `q` of the old state has
    them."""
    if new.model is old.model:
        return new
    from core.constraints.rest_position import carried_pose, has_same_tree

    if has_same_tree(before.compiled, mech.compiled):
        return replace(new, pose=pose_of(mech, closed(mech, new.pose)))
    q = carried_pose(before.compiled, q, mech.compiled, renamed_joints(old.model, new.model))
    return replace(new, pose=pose_of(mech, q))
