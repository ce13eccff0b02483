"""User-defined shapes of joints and links (`World.figures`), which replace the default ones.

A revolute shape stands in the frame behind its joint, z along the axis: it turns with it. A prismatic shape moves
along z with its joint. A link's shape is one unit long: stretched to the distance of the joint axes along x, or, where
they lie on one line, to their offset along z; between the two sides of a prismatic joint it follows the joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.files.meshes.lookup import resolve_mesh
from core.files.regular_file import SHAPE, fingerprint
from core.model import Body, Joint
from core.model.bodies import PLAIN_LINE
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Span
from viz.drawlist.shape_forms import mesh_form
from viz.drawlist.skeleton import Port, Skeleton
from viz.placement import Array, along, inverse, numbers, placement, shifted, unit

LINE = 0.12
"""Radius of a plain line, relative to a joint's."""
THICKNESS = 0.14
"""Radius of the lines of a shape file, relative to a joint's."""
SHORT = 1e-6
"""Length, relative to a joint's radius, below which it counts as zero."""


def figure_of(skeleton: Skeleton, joint: Joint) -> str:
    """Return the file or word that defines a joint's shape; "" for the default shape."""
    figures = skeleton.model.world.figures
    return figures.revolute if joint.info.is_hinge() else figures.prismatic if joint.info.is_slider() else ""


def form_of(skeleton: Skeleton, file: str, scale: g.Point = (1.0, 1.0, 1.0)) -> g.Geometry:
    """Return the form in a file: a mesh, or lines, polygons and points."""
    origin, r = skeleton.model.origin, skeleton.radius
    if resolve_mesh(file, origin) is not None:
        return mesh_form(file, origin, scale, 4.0 * r)
    path = Path(file) if Path(file).is_absolute() or not origin else Path(origin).absolute().parent / file
    return g.ShapeFile(str(path), fingerprint(path, SHAPE), scale, THICKNESS * r)


def joint_figure(skeleton: Skeleton, joint: Joint, file: str) -> Iterator[Item]:
    """Yield the shape of a joint in its child frame; nothing for a plain line."""
    if file != PLAIN_LINE:
        body, pose = skeleton.side(joint, "b")
        place = placement(pose @ _axis_transform(skeleton, joint))
        form = form_of(skeleton, file)
        yield Item(f"joint/{joint.name}/figure", ("joints", joint.name), body, form, "joint", "joint", place)


def link_figures(skeleton: Skeleton, body: Body) -> list[g.Placed]:
    """Return the shapes of a link, one for each attachment point."""
    file = skeleton.model.world.figures.link
    ports = skeleton.ports[body.name]
    found: list[g.Placed] = []
    if not ports or skeleton.driver.get(body.name) is None:
        return found
    frame = skeleton.side(skeleton.driver[body.name], "b")[1] @ _axis_transform(skeleton, skeleton.driver[body.name])
    for port in ports[1:]:
        found += _stretched_shapes(skeleton, frame, port, file)
    return found


def _stretched_shapes(skeleton: Skeleton, frame: Array, port: Port, file: str) -> Iterator[g.Placed]:
    """Stretch a link's shape from a joint's frame to a point, as in Denavit–Hartenberg: a along x at the height d, or d
    along z."""
    x, y, d = (inverse(frame) @ np.append(port.point, 1.0))[:3].tolist()
    a, short = float(np.hypot(x, y)), SHORT * skeleton.radius
    if a > short:
        turn = np.eye(4)
        turn[:2, :2] = np.array([[x, -y], [y, x]]) / a
        yield g.Placed(form_of(skeleton, file, (a, 1.0, 1.0)), placement(frame @ shifted(0.0, 0.0, d) @ turn))
    elif abs(d) > short:
        yield g.Placed(form_of(skeleton, file, (1.0, 1.0, d)), placement(frame))


def slide_figure(skeleton: Skeleton, joint: Joint) -> Iterator[Item]:
    """Yield the link's shape between the two sides of a prismatic joint, stretched with it."""
    file = skeleton.model.world.figures.link
    if not joint.info.is_slider() or not file:
        return
    body, pose = skeleton.side(joint, "a")
    other, end = skeleton.side(joint, "b")
    upright = _axis_transform(skeleton, joint)
    form: g.Geometry = g.Cylinder(LINE * skeleton.radius, 1.0)
    if file != PLAIN_LINE:
        form = g.Compound((g.Placed(form_of(skeleton, file), placement(shifted(0.0, 0.0, -0.5))),))
    item = Item(
        f"joint/{joint.name}/slide", ("joints", joint.name), body, form, "link", "joint", placement(pose @ upright)
    )
    yield replace(item, until=Span(other, placement(end @ upright)))


def _axis_transform(skeleton: Skeleton, joint: Joint) -> Array:
    """Return the transform (4, 4) from a frame with z along the joint's axis to the joint's frame."""
    axis = unit(numbers(joint.axis, skeleton.values))
    return np.eye(4) if axis[2] > 1.0 - 1e-12 else along(axis)
