"""Forms of shapes: of the shapes of a document, one builder per kind (other kinds are drawn as bounding boxes), of
user-defined joints and links (`World.figures`), and the landmarks to which the pointer snaps.

A revolute shape is placed in the frame after its joint, z along the axis: it turns with it. A prismatic shape moves
along z with its joint. A link's shape is one unit long: stretched to the distance of the joint axes along x, or, where
they lie on one line, to their offset along z; between the two sides of a prismatic joint it follows the joint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.files.meshes.lookup import resolve_mesh
from core.files.regular_file import SHAPE, fingerprint
from core.model import Body, Joint, Shape
from core.model import shapes as s
from core.model.bodies import PLAIN_LINE
from core.model.fields import Value
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Port, Skeleton
from viz.placement import Array, along, inverse, number, numbers, placement, pose_matrix, shifted, unit

LEAST = 1e-9
"""Smallest drawn length, m; shorter ones are drawn as this."""

LINE = 0.12
"""Radius of a plain line, relative to a joint's."""
THICKNESS = 0.14
"""Radius of the lines of a shape file, relative to a joint's."""
SHORT = 1e-6
"""Length, relative to a joint's radius, below which it counts as zero."""


class Lengths:
    """Evaluation of shape sizes at parameter values, and the base path of files.

    size : of the placeholder of a missing file, m
    """

    def __init__(self, values: Mapping[str, float], origin: str, size: float) -> None:
        self.values, self.origin, self.size = values, origin, size

    def __call__(self, value: Value) -> float:
        """Return a length that can be drawn, m."""
        return max(abs(self.number(value)), LEAST)

    def number(self, value: Value) -> float:
        """Return a number without limiting it."""
        return number(value, self.values)


def shape_geometry(shape: Shape, origin: str, values: Mapping[str, float], size: float = 0.1) -> g.Geometry:
    """Return the form of a shape of the document; lengths below 1e-9 m are drawn as that."""
    return _BUILDERS.get(type(shape), _bounding_box)(shape, Lengths(values, origin, size))


def _bounding_box(shape: Shape, length: Lengths) -> g.Geometry:
    low, high = np.array(shape.bounds(length.number))
    x, y, z = np.maximum(high - low, LEAST).tolist()
    box = g.Box((x, y, z))
    return g.Compound((g.Placed(box, placement(shifted(*((low + high) / 2.0).tolist()))),))


def _box(shape: s.Box, length: Lengths) -> g.Geometry:
    x, y, z = map(length, shape.size)
    return g.Box((x, y, z))


def _sphere(shape: s.Sphere, length: Lengths) -> g.Geometry:
    return g.Sphere(length(shape.radius))


def _cylinder(shape: s.Cylinder, length: Lengths) -> g.Geometry:
    return g.Cylinder(length(shape.radius), length(shape.length))


def _capsule(shape: s.Capsule, length: Lengths) -> g.Geometry:
    return g.Capsule(length(shape.radius), length(shape.length))


def _cone(shape: s.Cone, length: Lengths) -> g.Geometry:
    return g.Cone(length(shape.radius), length(shape.length))


def _mesh(shape: s.Mesh, length: Lengths) -> g.Geometry:
    x, y, z = map(length.number, shape.scale)
    return mesh_form(shape.file, length.origin, (x, y, z), length.size)


def mesh_form(file: str, origin: str, scale: g.Point, size: float) -> g.MeshFile:
    """Return the form of a mesh file with its present content."""
    place = resolve_mesh(file, origin)
    if place is None:
        return g.MeshFile(file, origin, scale, size)
    from core.files.meshes.meshes import mesh_fingerprint

    return g.MeshFile(file, origin, scale, size, mesh_fingerprint(place))


def _pipe(shape: s.Pipe, length: Lengths) -> g.Geometry:
    outer = length(shape.radius)
    return g.Tube(min(length(shape.inner_radius), 0.999 * outer), outer, length(shape.length))


def _beam(shape: s.Beam, length: Lengths) -> g.Geometry:
    width, height, web = length(shape.width), length(shape.height), length(shape.web)
    flange, long = length(shape.flange), length(shape.length)
    plates = (
        g.Placed(g.Box((width, flange, long)), placement(shifted(0.0, y, 0.0)))
        for y in ((height - flange) / 2.0, (flange - height) / 2.0)
    )
    return g.Compound((g.Placed(g.Box((web, height - flange, long))), *plates))


def _gearwheel(shape: s.Gearwheel, length: Lengths) -> g.Geometry:
    teeth = int(np.clip(round(length.number(shape.teeth)), 4, 400))
    return g.Gearwheel(length(shape.radius), length(shape.width), teeth, length(shape.bore))


def _coil(shape: s.Coil, length: Lengths) -> g.Geometry:
    turns = float(np.clip(length.number(shape.turns), 0.5, 200.0))
    return g.Helix(length(shape.radius), length(shape.wire), length(shape.length) / turns, length(shape.length))


def _arrow(shape: s.Arrow, length: Lengths) -> g.Geometry:
    long, shaft = length(shape.length), length(shape.radius)
    return g.Arrow(long, shaft, min(2.6 * shaft, 0.5 * long), min(7.0 * shaft, 0.6 * long))


_BUILDERS: dict[type[Shape], Callable[[Any, Lengths], g.Geometry]] = {
    s.Box: _box,
    s.Cylinder: _cylinder,
    s.Sphere: _sphere,
    s.Capsule: _capsule,
    s.Cone: _cone,
    s.Mesh: _mesh,
    s.Pipe: _pipe,
    s.Beam: _beam,
    s.Gearwheel: _gearwheel,
    s.Coil: _coil,
    s.Arrow: _arrow,
}


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


def snap_points(body: Body, values: Mapping[str, float]) -> Array:
    """Return the snap points (n, 3) of all visible shapes in the body's frame, m; meshes have none."""
    seen = (shape for shape in body.shapes if shape.role != "collision")
    rows = [_in_body(shape, values) for shape in seen]
    return np.concatenate(rows) if rows else np.zeros((0, 3))


def _in_body(shape: Shape, values: Mapping[str, float]) -> Array:
    X = pose_matrix(shape.pose, values)
    local = np.array(shape.snap_points(lambda value: number(value, values))).reshape(-1, 3)
    return np.asarray(local @ X[:3, :3].T + X[:3, 3])
