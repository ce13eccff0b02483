"""Locked bodies, which stay in place while the user drags, draws, connects and edits. Independent of Qt.

A lock is a mark on the work, not on the machine: it is in no file of the machine, and the mechanics are the same with
it; runs move a locked part as any other. Hands move a machine in which it is fixed to the ground. To hold a part for
good one grounds it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.document.revision import ElementRef, element_after_edit
from core.errors import ModelError
from core.joints import Fixed
from core.mechanism import Mechanism
from core.model import WORLD, Joint, Model
from core.model.edits.edits import add, unused_name
from core.model.shapes import pose_from_matrix

Array = NDArray[np.float64]
Places = Mapping[tuple[str, str], Array]
"""(4, 4) world ← frames and joint ends on bodies, by the name of the body and the name of the frame or joint."""

SAME_PLACE = 1e-6
"""Tolerance (m, or change of an axis direction) within which a locked body counts as unmoved."""


def locked_part_poses(mech: Mechanism, q: Array, p: Mapping[str, float], bodies: Collection[str]) -> Places:
    """Return the poses of bodies, of their frames and of the joint ends on them."""
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
    """Return the first body that has moved, as a whole or at one of its frames; "" if none has.

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
    found = {name: element_after_edit(old, new, ElementRef("bodies", name)) for name in sorted(locked)}
    return {name: ref.name for name, ref in found.items() if ref is not None}


def locked_part_error(name: str) -> ModelError:
    """Return the error for an action that would move a locked body."""
    return ModelError(f"“{name}” is locked, but this edit would move it.", remedy="Unlock it first (K).")


def fix_bodies_to_ground(model: Model, mech: Mechanism, body_poses: Mapping[str, Array]) -> Model:
    """Return the model that the user can move: the given bodies are fixed to the ground in their poses, (4, 4) by name.
    Its coordinates are those of its mechanism, or of that of a model with the same joints."""
    cuts = {joint.name for joint in mech.compiled.cuts}
    joints = (replace(each, cut="yes") if each.name in cuts else each for each in model.joints)
    model = replace(model, joints=(*mech.implicit_joints, *joints))
    for body, X in body_poses.items():
        name = unused_name(model, "joints", "lock")
        model = add(
            model, Joint(name=name, kind=Fixed.name, parent=WORLD, child=body, a=pose_from_matrix(X), cut="yes")
        )
    return model


def remove_fixing_joints(model: Model, before: Model, fixed_model: Model) -> Model:
    """Return the edited model without the joints that fixed its bodies to the ground. before : model without these
    joints"""
    cuts = {joint.name: joint.cut for joint in before.joints}
    holds = {joint.name for joint in fixed_model.joints} - cuts.keys()
    joints = (replace(each, cut=cuts.get(each.name, each.cut)) for each in model.joints if each.name not in holds)
    return replace(model, joints=tuple(joints))
