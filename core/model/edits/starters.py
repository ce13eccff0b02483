"""New elements with visible defaults: functions Model → (Model, name)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.errors import KinetostatError
from core.joints import JOINT_KINDS, Revolute
from core.model.bodies import WORLD, Body, Frame
from core.model.chains import DHChain, DHRow
from core.model.edits.edits import add, unused_name
from core.model.formula.numerals import without_noise
from core.model.joints import Joint
from core.model.model import Model
from core.model.parameters import Parameter, value_of
from core.model.shapes import IDENTITY, Box, Material, Pose, Shape

LINK_LENGTH = 0.3
"""Length in m of a new link on the ground; further ones are as long as their parent."""
SLENDERNESS = 8.0
SMALLEST = 1e-3
"""Length in m below which a body is ignored when the machine's size is estimated."""
WATER = 1000.0
"""Density of a new body in kg/m³, for plausible masses."""
ASIDE = 0.4
"""Distance in m between machines started side by side on the ground."""
_ALONG = (1.0, 0.0, 0.0)
_UP = (0.0, 0.0, 1.0)


def attached_body(model: Model, parent: str = WORLD, kind: str = Revolute.name) -> tuple[Model, str]:
    """Return the model with a new link joined by a joint of a kind to the far end, along x, of a body, frame or the
    ground, and the link's name. Repeated on each new link, this builds an arm along x."""
    body = unused_name(model, "bodies", "link1")
    joint = unused_name(model, "joints", "joint1")
    end = _far_end(model, parent)
    length = end[0] if parent != WORLD and end[0] > SMALLEST else LINK_LENGTH
    width = without_noise(length / SLENDERNESS)
    shape = Box(size=(length, width, width), pose=Pose(position=(length / 2, 0.0, 0.0)))
    link = Body(name=body, density=WATER, shapes=(shape,))
    hung = Joint(
        name=joint,
        kind=kind,
        parent=parent,
        child=body,
        a=Pose(position=end),
        axis=_ALONG if JOINT_KINDS[kind].slides_along_axis else _UP,
    )
    return add(model, link, hung), body


def connection(model: Model, kind: str, parent: str, child: str, a: Pose = IDENTITY) -> Joint:
    """Return a joint of a kind between two bodies or frames, not yet in the model, under a free name."""
    return Joint(name=unused_name(model, "joints", "joint1"), kind=kind, parent=parent, child=child, a=a)


def frame_on(model: Model, parent: str = WORLD) -> tuple[Model, str]:
    """Return the model with a new frame at the far end of a body (or at a frame's origin), and its name."""
    name = unused_name(model, "frames", "frame1")
    is_body = any(body.name == parent for body in model.expanded.bodies)
    pose = Pose(position=_far_end(model, parent)) if is_body else IDENTITY
    return add(model, Frame(name=name, parent=parent, pose=pose)), name


def parameter(model: Model) -> tuple[Model, str]:
    """Return the model with a new length of 0.1 m, and its name."""
    name = unused_name(model, "parameters", "p1")
    return add(model, Parameter(name=name, value=0.1, dimension="length", minimum=0.0, maximum=1.0)), name


def material(model: Model) -> tuple[Model, str]:
    """Return the model with a new blue-grey material, and its name."""
    name = unused_name(model, "materials", "material1")
    return add(model, Material(name=name, color=(0.45, 0.55, 0.68, 1.0))), name


def chain(model: Model, convention: str = "standard", parent: str = "") -> DHChain:
    """Return a planar three-joint chain, not yet in the model, under a free name; its prefix keeps its bodies' names
    unique."""
    name = unused_name(model, "chains", "chain1")
    taken = {"base", "tool", "link1", "link2", "link3"} & model.expanded.index("frame").keys()
    taken |= {"base_joint", "joint1", "joint2", "joint3"} & model.expanded.index("joint").keys()
    rows = tuple(DHRow(a=LINK_LENGTH) for _ in range(3))
    return DHChain(name=name, convention=convention, rows=rows, parent=parent, prefix=f"{name}_" if taken else "")


# ------------------------------------------------------------------------------- where a body ends


def _far_end(model: Model, parent: str) -> tuple[float, float, float]:
    """Return the far end of a body on its x axis; on the ground, a free place next to the other machines."""
    if parent == WORLD:
        beside = sum(joint.parent == WORLD for joint in model.expanded.joints)
        return (0.0, ASIDE * beside, 0.0)
    body = next((body for body in model.expanded.bodies if body.name == parent), None)
    if body is None:
        return (0.0, 0.0, 0.0)
    try:
        values = model.values()
        ends = [_largest_x(shape, lambda value: float(value_of(value, values))) for shape in body.shapes]
    except KinetostatError:
        ends = []
    return (without_noise(max(ends, default=0.0)), 0.0, 0.0)


def _largest_x(shape: Shape, value: Callable[[Any], float]) -> float:
    """Return the largest x of a shape; exact for axis-aligned shapes and spheres, an upper bound for rotated ones."""
    x = value(shape.pose.position[0])
    turned = any(item != 0.0 for item in shape.pose.rotation)
    return x + (shape.bounding_radius(value) if turned else shape.bounds(value)[1][0])
