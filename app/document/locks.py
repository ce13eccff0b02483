"""Locked parts stay in place while the user drags, draws, connects and edits. Independent of Qt.

A lock is a mark on the work, not on the machine: it is in no file of the machine, and the mechanics are the same with
it; runs move a locked part as any other. Hands move a machine in which it is fixed to the ground. To hold a part for
good one grounds it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.document.revision import Ref, successor
from core.errors import ModelError
from core.joints import Fixed
from core.mechanism import Mechanism
from core.model import WORLD, Joint, Model
from core.model.edits.edits import add, unused_name
from core.model.shapes import pose_of

Array = NDArray[np.float64]
Places = Mapping[tuple[str, str], Array]
"""(4, 4) world ← frames and joint ends on bodies, by the name of the body and a name there."""

SAME_PLACE = 1e-6
"""Tolerance (m, or of the direction of an axis) within which a locked part counts as unmoved."""


def places(mech: Mechanism, q: Array, p: Mapping[str, float], bodies: Collection[str]) -> Places:
    """Return the poses of bodies, with their frames and the ends of joints on them."""
    model, found = mech.model.expanded, dict[tuple[str, str], Array]()
    for name, X in zip(mech.frame_names, np.asarray(mech.poses(q, p=p), dtype=float), strict=True):
        if (body := model.carrier(name).name) in bodies:
            found[body, name] = X
    ends = mech.joint_poses(q, p=p)
    for joint in model.joints:
        for end, X in zip((joint.parent, joint.child), ends[joint.name], strict=True):
            if (body := model.carrier(end).name) in bodies:
                found[body, f"joint {joint.name}"] = np.asarray(X, dtype=float)
    return found


def first_moved_part(before: Places, after: Places, names: Mapping[str, str]) -> str:
    """Return the first body that moved, as a whole or at one of its frames; "" if all stay.

    names : those of before → those of after
    """
    for (body, name), X in before.items():
        now = names.get(body, "")
        other = after.get((now, now if name == body else name))
        if other is not None and not float(np.max(np.abs(X - other))) < SAME_PLACE:
            return now
    return ""


def names_after_edit(old: Model, new: Model, locked: Collection[str]) -> dict[str, str]:
    """Return the names of locked bodies after an edit, by their old names; deleted bodies are left out."""
    found = {name: successor(old, new, Ref("bodies", name)) for name in sorted(locked)}
    return {name: ref.name for name, ref in found.items() if ref is not None}


def stays(name: str) -> ModelError:
    """Return the error that an action would move a locked part."""
    return ModelError(f"“{name}” is locked, and this would move it.", remedy="Unlock it first (K).")


def held(model: Model, mech: Mechanism, standing: Mapping[str, Array]) -> Model:
    """Return the model as the user can move it: the given bodies are fixed to the ground in their poses, (4, 4) by
    name. It has the coordinates of its mechanism, or of that of a model with the same joints."""
    cuts = {joint.name for joint in mech.compiled.cuts}
    joints = (replace(each, cut="yes") if each.name in cuts else each for each in model.joints)
    model = replace(model, joints=(*mech.implicit_joints, *joints))
    for body, X in standing.items():
        name = unused_name(model, "joints", "lock")
        model = add(model, Joint(name=name, kind=Fixed.name, parent=WORLD, child=body, a=pose_of(X), cut="yes"))
    return model


def released(model: Model, before: Model, as_held: Model) -> Model:
    """Return the result of an edit of a model with fixed bodies, without their fixing joints. before : that model"""
    cuts = {joint.name: joint.cut for joint in before.joints}
    holds = {joint.name for joint in as_held.joints} - cuts.keys()
    joints = (replace(each, cut=cuts.get(each.name, each.cut)) for each in model.joints if each.name not in holds)
    return replace(model, joints=tuple(joints))
