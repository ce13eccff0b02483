"""Expansion of a machine: chains become bodies, joints and frames; sub-assemblies their elements; joints given in world
axes are converted to the frames of bodies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from core.joints import Free
from core.model.assemblies import BROUGHT
from core.model.bodies import WORLD
from core.model.chains import expand
from core.model.joints import Joint
from core.model.shapes import IDENTITY

if TYPE_CHECKING:
    from core.model.model import Model


def expanded(model: Model) -> Model:
    """Return the same machine without chains, sub-assemblies and joints given in world axes (the model itself if it has
    none).

    The result is checked through the model it is made of, not once more. What sub-assemblies bring is remembered with
    each of them, so that a change of a parameter costs little.
    """
    given = [joint for joint in model.joints if joint.given_in != "frames"]
    if not model.chains and not model.assemblies and not given:
        return model
    whole: dict[str, list[Any]] = {collection: list(getattr(model, collection)) for collection in BROUGHT}
    for chain in model.chains:
        for collection, brought in zip(("bodies", "joints", "frames"), expand(chain), strict=True):
            whole[collection] += brought
    for assembly in model.assemblies:
        for collection, elements in assembly.brought.items():
            whole[collection] += elements
    if given:
        bodies, frames = ({e.name: e for e in whole[collection]} for collection in ("bodies", "frames"))
        from core.model.reference_pose import joint_in_body_frames  # needs NumPy, which most models do without

        whole["joints"] = [joint_in_body_frames(joint, bodies, frames) for joint in whole["joints"]]
    whole["joints"] += _free_joints_of_floating(model, whole)
    plain = object.__new__(type(model))
    for field in dataclasses.fields(model):
        object.__setattr__(plain, field.name, getattr(model, field.name))
    for collection, members in whole.items():
        object.__setattr__(plain, collection, tuple(members))
    object.__setattr__(plain, "chains", ())
    object.__setattr__(plain, "assemblies", ())
    return plain


def _free_joints_of_floating(model: Model, whole: dict[str, list[Any]]) -> list[Joint]:
    """Return free joints for the floating bodies of sub-assemblies mounted elsewhere than on the ground, so that they
    start at the mount."""
    away = [a for a in model.assemblies if a.parent not in ("", WORLD) or a.pose != IDENTITY]
    if not away:
        return []
    groups = _ConnectedGroups(whole)
    taken = {joint.name for joint in whole["joints"]}
    children = {joint.child for joint in whole["joints"]}
    joints = []
    for assembly in away:
        bodies = [body.name for body in assembly.brought.get("bodies", ())]
        for name in [*(b for b in bodies if b not in children), *bodies]:
            if groups.root(name) != groups.root(WORLD) and name not in taken:
                joints.append(Joint(name=name, kind=Free.name, parent=assembly.ground, child=name))
                groups.join(WORLD, name)
    return joints


class _ConnectedGroups:
    """Groups of connected bodies and frames (union–find)."""

    def __init__(self, whole: dict[str, list[Any]]) -> None:
        self.leader: dict[str, str] = {}
        for frame in whole["frames"]:
            self.join(frame.parent, frame.name)
        for joint in whole["joints"]:
            self.join(joint.parent, joint.child)

    def root(self, name: str) -> str:
        """Return the representative of the group that contains a body or frame."""
        while (leader := self.leader.get(name, name)) != name:
            self.leader[name] = name = self.leader.get(leader, leader)
        return name

    def join(self, a: str, b: str) -> None:
        """Merge the groups of two bodies or frames."""
        self.leader[self.root(a)] = self.root(b)
