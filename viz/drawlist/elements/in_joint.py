"""What acts in a joint: a coil or damper along a slide, a spiral or ring about an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.model import Force, Joint
from viz.drawlist.elements.about_axis import around
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.on_line import SlideLine, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, along, number, unit


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Beside a slide, or about the axis of the coordinate."""
    joint = skeleton.joint(force.joint)
    if joint is None:
        return
    slides = joint.kind == "prismatic" or force.coordinate in ("x", "y", "z", "displacement")
    axis = _axis_of(skeleton, joint, force.coordinate)
    if slides and (force.stiffness != 0.0 or force.damping != 0.0):
        yield from SlideLine(skeleton, force, joint, axis).law()
    else:
        yield around(skeleton, force, *skeleton.side(joint, "a"), axis, slides)


def _axis_of(skeleton: Skeleton, joint: Joint, coordinate: str) -> Array:
    values = skeleton.values
    second = joint.kind == "universal" and coordinate == "2"
    axis = unit([number(x, values) for x in (joint.second_axis if second else joint.axis)])
    if joint.kind == "free" and coordinate in ("x", "y", "z"):
        return np.eye(3)["xyz".index(coordinate)]
    if joint.kind == "planar" and coordinate in ("x", "y"):
        frame = along(axis)
        return np.asarray(frame[:3, 0 if coordinate == "x" else 1])
    return axis


def _icon(force: Force) -> str:
    return "torsion_spring" if force.stiffness != 0.0 else law_icon(force)


LOOK = Look(items, "torsion_spring", _icon)
