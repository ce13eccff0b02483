"""Selection of the object under a pixel: handles first, then items in front, solids, transparent items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from core.later import dataclass
from viz.camera import Ray
from viz.drawlist.geometry import Geometry
from viz.drawlist.item import Ref
from viz.drawlist.joint_look import Part
from viz.placement import Array
from viz.scene.figures import IN_FRONT, Figure
from viz.scene.handles import Handles
from viz.scene.highlight import GLASS
from viz.scene.picking import Target, nearest

SEEN_THROUGH = ("inertia", "collision")
"""Roles that cannot be picked."""


@dataclass(frozen=True)
class Hit:
    """Object under a pixel. position (3,) m and normal (3,) in world axes, at its true position, in whatever layer it
    is drawn; `handle` if it is a joint's handle; form and pose (4, 4; world) of the hit form."""

    ref: Ref | None
    position: Array
    normal: Array
    item: str = ""
    handle: Part | None = None
    form: Geometry | None = None
    pose: Array | None = None


def pick_handle(ray: Ray, handles: Handles) -> Hit | None:
    """Return the handle hit by a line of sight."""
    held = handles.pick(ray)
    if held is None:
        return None
    assert isinstance(held.meaning, Part)
    return Hit(("joints", held.meaning.joint), held.position, held.normal, handle=held.meaning)


def pick_figure(ray: Ray, figures: Iterable[Figure]) -> Hit | None:
    """Return the first element hit by a line of sight, in the first layer with a hit."""
    for layer in _layers(figures):
        found = nearest(ray, (Target(figure.item.geometry, figure.pose, figure) for figure in layer))
        if found is not None:
            assert isinstance(found.meaning, Figure)
            item, pose = found.meaning.item, found.meaning.pose.copy()
            aside = _drawing_offset(found.meaning)
            pose[:3, 3] -= aside
            return Hit(item.ref, found.position - aside, found.normal, item.id, form=item.geometry, pose=pose)
    return None


def _drawing_offset(figure: Figure) -> Array:
    """Return the offset (3,) m, world, of the drawn figure from its true position."""
    R_WB = figure.pose[:3, :3] @ figure.place[:3, :3].T
    return R_WB @ np.array(figure.item.layer)


def _layers(figures: Iterable[Figure]) -> Iterator[list[Figure]]:
    """Yield figures by priority: in front; solid; transparent, because an item seen through one is preferred."""
    meant = [each for each in figures if each.item.ref is not None and each.item.role not in SEEN_THROUGH]
    behind = [each for each in meant if each.item.role not in IN_FRONT]
    yield [each for each in meant if each.item.role in IN_FRONT]
    yield [each for each in behind if each.item.opacity >= GLASS]
    yield [each for each in behind if each.item.opacity < GLASS]
