"""What a person means by pointing at a pixel: a handle before everything, then what is in front, solid, or glass."""

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
"""Roles that nobody points at."""


@dataclass(frozen=True)
class Hit:
    """What lies under a pixel. position (3,) m and normal (3,) in world axes, where the thing is, in
    whatever layer it is drawn; `handle` if it is a joint's handle (they lie in front of everything); form and pose
    (4, 4; world) of what was met."""

    ref: Ref | None
    position: Array
    normal: Array
    item: str = ""
    handle: Part | None = None
    form: Geometry | None = None
    pose: Array | None = None


def handle_hit(ray: Ray, handles: Handles) -> Hit | None:
    """The handle that a line of sight meets."""
    held = handles.pick(ray)
    if held is None:
        return None
    assert isinstance(held.meaning, Part)
    return Hit(("joints", held.meaning.joint), held.position, held.normal, handle=held.meaning)


def figure_hit(ray: Ray, figures: Iterable[Figure]) -> Hit | None:
    """The element that a line of sight meets first in the first layer where it meets any."""
    for layer in _layers(figures):
        found = nearest(ray, (Target(figure.item.geometry, figure.pose, figure) for figure in layer))
        if found is not None:
            assert isinstance(found.meaning, Figure)
            item, pose = found.meaning.item, found.meaning.pose.copy()
            aside = _drawn_aside(found.meaning)
            pose[:3, 3] -= aside
            return Hit(item.ref, found.position - aside, found.normal, item.id, form=item.geometry, pose=pose)
    return None


def _drawn_aside(figure: Figure) -> Array:
    """(3,) m, world: how far a figure is drawn from where it is."""
    R_WB = figure.pose[:3, :3] @ figure.place[:3, :3].T
    return R_WB @ np.array(figure.item.layer)


def _layers(figures: Iterable[Figure]) -> Iterator[list[Figure]]:
    """What is drawn in front; what is solid; glass, for what is seen through it is meant before it."""
    meant = [each for each in figures if each.item.ref is not None and each.item.role not in SEEN_THROUGH]
    behind = [each for each in meant if each.item.role not in IN_FRONT]
    yield [each for each in meant if each.item.role in IN_FRONT]
    yield [each for each in behind if each.item.opacity >= GLASS]
    yield [each for each in behind if each.item.opacity < GLASS]
