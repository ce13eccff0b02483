"""Geometric forms of shapes: of the shapes of a document, with one builder per kind (other kinds are drawn as bounding
boxes), and of user-defined joints and links (`World.figures`); also the points to which the pointer snaps.

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
from viz.drawlist.skeleton import AttachmentPoint, Skeleton
from viz.placement import (
    Array,
    evaluate_vector,
    frame_along,
    inverse_pose,
    number,
    pose_matrix,
    to_placement,
    translation,
    unit_vector,
)

LEAST = 1e-9
"""Smallest length that is drawn, m; shorter lengths are drawn as this."""

LINE = 0.12
"""Radius of a plain line, relative to that of a joint."""
THICKNESS = 0.14
"""Radius of the lines of a shape file, relative to that of a joint."""
SHORT = 1e-6
"""Length that counts as zero, relative to the radius of a joint."""


class ShapeLengths:
    """Evaluates shape dimensions for given parameter values; also holds the base path of files.

    size : of the placeholder of a missing file, m
    """

    def __init__(self, values: Mapping[str, float], origin: str, size: float) -> None:
        self.values, self.origin, self.size = values, origin, size

    def __call__(self, value: Value) -> float:
        """Evaluate a length (m), limited to lengths that can be drawn."""
        return max(abs(self.evaluate(value)), LEAST)

    def evaluate(self, value: Value) -> float:
        """Evaluate a number without limiting it."""
        return number(value, self.values)


def shape_geometry(shape: Shape, origin: str, values: Mapping[str, float], size: float = 0.1) -> g.Geometry:
    """Return the geometric form of a shape in the document; lengths below 1e-9 m are drawn as 1e-9 m."""
    return _BUILDERS.get(type(shape), _bounding_box)(shape, ShapeLengths(values, origin, size))


def _bounding_box(shape: Shape, length: ShapeLengths) -> g.Geometry:
    low, high = np.array(shape.bounds(length.evaluate))
    x, y, z = np.maximum(high - low, LEAST).tolist()
    box = g.Box((x, y, z))
    return g.Compound((g.PlacedShape(box, to_placement(translation(*((low + high) / 2.0).tolist()))),))


def _box(shape: s.Box, length: ShapeLengths) -> g.Geometry:
    x, y, z = map(length, shape.size)
    return g.Box((x, y, z))


def _sphere(shape: s.Sphere, length: ShapeLengths) -> g.Geometry:
    return g.Sphere(length(shape.radius))


def _cylinder(shape: s.Cylinder, length: ShapeLengths) -> g.Geometry:
    return g.Cylinder(length(shape.radius), length(shape.length))


def _capsule(shape: s.Capsule, length: ShapeLengths) -> g.Geometry:
    return g.Capsule(length(shape.radius), length(shape.length))


def _cone(shape: s.Cone, length: ShapeLengths) -> g.Geometry:
    return g.Cone(length(shape.radius), length(shape.length))


def _mesh(shape: s.Mesh, length: ShapeLengths) -> g.Geometry:
    x, y, z = map(length.evaluate, shape.scale)
    return mesh_file_form(shape.file, length.origin, (x, y, z), length.size)


def mesh_file_form(file: str, origin: str, scale: g.Point, size: float) -> g.MeshFile:
    """Return the form of a mesh file with the current content of the file."""
    place = resolve_mesh(file, origin)
    if place is None:
        return g.MeshFile(file, origin, scale, size)
    from core.files.meshes.meshes import mesh_fingerprint

    return g.MeshFile(file, origin, scale, size, mesh_fingerprint(place))


def _pipe(shape: s.Pipe, length: ShapeLengths) -> g.Geometry:
    outer = length(shape.radius)
    return g.Tube(min(length(shape.inner_radius), 0.999 * outer), outer, length(shape.length))


def _beam(shape: s.Beam, length: ShapeLengths) -> g.Geometry:
    width, height, web = length(shape.width), length(shape.height), length(shape.web)
    flange, long = length(shape.flange), length(shape.length)
    plates = (
        g.PlacedShape(g.Box((width, flange, long)), to_placement(translation(0.0, y, 0.0)))
        for y in ((height - flange) / 2.0, (flange - height) / 2.0)
    )
    return g.Compound((g.PlacedShape(g.Box((web, height - flange, long))), *plates))


def _gearwheel(shape: s.Gearwheel, length: ShapeLengths) -> g.Geometry:
    teeth = int(np.clip(round(length.evaluate(shape.teeth)), 4, 400))
    return g.Gearwheel(length(shape.radius), length(shape.width), teeth, length(shape.bore))


def _coil(shape: s.Coil, length: ShapeLengths) -> g.Geometry:
    turns = float(np.clip(length.evaluate(shape.turns), 0.5, 200.0))
    return g.Helix(length(shape.radius), length(shape.wire), length(shape.length) / turns, length(shape.length))


def _arrow(shape: s.Arrow, length: ShapeLengths) -> g.Geometry:
    long, shaft = length(shape.length), length(shape.radius)
    return g.Arrow(long, shaft, min(2.6 * shaft, 0.5 * long), min(7.0 * shaft, 0.6 * long))


_BUILDERS: dict[type[Shape], Callable[[Any, ShapeLengths], g.Geometry]] = {
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


def joint_shape_file(skeleton: Skeleton, joint: Joint) -> str:
    """Return the file or keyword that defines the shape of a joint; "" for the default shape."""
    figures = skeleton.model.world.figures
    return figures.revolute if joint.info.is_hinge() else figures.prismatic if joint.info.is_slider() else ""


def shape_file_form(skeleton: Skeleton, file: str, scale: g.Point = (1.0, 1.0, 1.0)) -> g.Geometry:
    """Return the form of a file: a mesh, or lines, polygons and points."""
    origin, r = skeleton.model.origin, skeleton.joint_radius
    if resolve_mesh(file, origin) is not None:
        return mesh_file_form(file, origin, scale, 4.0 * r)
    path = Path(file) if Path(file).is_absolute() or not origin else Path(origin).absolute().parent / file
    return g.ShapeFile(str(path), fingerprint(path, SHAPE), scale, THICKNESS * r)


def joint_shape_items(skeleton: Skeleton, joint: Joint, file: str) -> Iterator[Item]:
    """Yield the item for the user-defined shape of a joint, in its child frame; nothing for a plain line."""
    if file != PLAIN_LINE:
        body, pose = skeleton.joint_frame(joint, "b")
        place = to_placement(pose @ _axis_transform(skeleton, joint))
        form = shape_file_form(skeleton, file)
        yield Item(f"joint/{joint.name}/figure", ("joints", joint.name), body, form, "joint", "joint", place)


def link_shapes(skeleton: Skeleton, body: Body) -> list[g.PlacedShape]:
    """Return the user-defined shapes of a link, one for each attachment point."""
    file = skeleton.model.world.figures.link
    ports = skeleton.attachment_points[body.name]
    found: list[g.PlacedShape] = []
    if not ports or skeleton.driver.get(body.name) is None:
        return found
    frame = skeleton.joint_frame(skeleton.driver[body.name], "b")[1] @ _axis_transform(
        skeleton, skeleton.driver[body.name]
    )
    for port in ports[1:]:
        found += _stretched_shapes(skeleton, frame, port, file)
    return found


def _stretched_shapes(skeleton: Skeleton, frame: Array, port: AttachmentPoint, file: str) -> Iterator[g.PlacedShape]:
    """Yield a link's shape, stretched from the frame of a joint to a point, as in Denavit–Hartenberg: a along x at
    height d, or d along z."""
    x, y, d = (inverse_pose(frame) @ np.append(port.point, 1.0))[:3].tolist()
    a, short = float(np.hypot(x, y)), SHORT * skeleton.joint_radius
    if a > short:
        turn = np.eye(4)
        turn[:2, :2] = np.array([[x, -y], [y, x]]) / a
        yield g.PlacedShape(
            shape_file_form(skeleton, file, (a, 1.0, 1.0)), to_placement(frame @ translation(0.0, 0.0, d) @ turn)
        )
    elif abs(d) > short:
        yield g.PlacedShape(shape_file_form(skeleton, file, (1.0, 1.0, d)), to_placement(frame))


def slide_shape_items(skeleton: Skeleton, joint: Joint) -> Iterator[Item]:
    """Yield the item for a link's shape that connects the two sides of a prismatic joint and stretches with it."""
    file = skeleton.model.world.figures.link
    if not joint.info.is_slider() or not file:
        return
    body, pose = skeleton.joint_frame(joint, "a")
    other, end = skeleton.joint_frame(joint, "b")
    upright = _axis_transform(skeleton, joint)
    form: g.Geometry = g.Cylinder(LINE * skeleton.joint_radius, 1.0)
    if file != PLAIN_LINE:
        form = g.Compound((g.PlacedShape(shape_file_form(skeleton, file), to_placement(translation(0.0, 0.0, -0.5))),))
    item = Item(
        f"joint/{joint.name}/slide", ("joints", joint.name), body, form, "link", "joint", to_placement(pose @ upright)
    )
    yield replace(item, until=Span(other, to_placement(end @ upright)))


def _axis_transform(skeleton: Skeleton, joint: Joint) -> Array:
    """Return the transform (4, 4) from a frame with z along the joint's axis to the joint's frame."""
    axis = unit_vector(evaluate_vector(joint.axis, skeleton.values))
    return np.eye(4) if axis[2] > 1.0 - 1e-12 else frame_along(axis)


def snap_points(body: Body, values: Mapping[str, float]) -> Array:
    """Return the snap points (n, 3), in m, of all visible shapes in the frame of the body; meshes have none."""
    seen = (shape for shape in body.shapes if shape.role != "collision")
    rows = [_snap_points_in_body(shape, values) for shape in seen]
    return np.concatenate(rows) if rows else np.zeros((0, 3))


def _snap_points_in_body(shape: Shape, values: Mapping[str, float]) -> Array:
    X = pose_matrix(shape.pose, values)
    local = np.array(shape.snap_points(lambda value: number(value, values))).reshape(-1, 3)
    return np.asarray(local @ X[:3, :3].T + X[:3, 3])
