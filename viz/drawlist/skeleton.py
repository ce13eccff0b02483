"""Positions of the joints on each body. Bodies without shapes are drawn as bars that connect their joints.

A port is a place on a body where something attaches: a joint's frame, a tool frame, the centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import pairwise
from statistics import median

import numpy as np

from core.later import dataclass
from core.model import WORLD, Body, Joint, Model
from core.numerics.spatial.rotation import about
from core.numerics.spatial.vector import Vector3
from viz.placement import Array, evaluate_vector, inverse_pose, number, pose_matrix, translation, unit_vector

RADIUS_PER_REACH = 0.045
RADIUS_PER_LINK = (0.12, 0.17)
"""Radius of a joint: 4.5 % of the machine's reach, limited to 12 … 17 % of the length of a typical link, so that long
chains stay slim and a single link is not as thin as a wire."""
GLYPH_BESIDE_SHAPES = 0.6
"""Size of springs and marks if bodies have shapes of their own, in joint radii."""


@dataclass(frozen=True)
class AttachmentPoint:
    """Attachment point of a joint or a tool frame on a body, in the body's frame. `axis` is None for points without a
    rotation axis."""

    joint: str
    point: Array
    axis: Array | None
    frame: str = ""


class Skeleton:
    """Joint positions on the bodies of a model, for given parameter values."""

    def __init__(self, model: Model, values: Mapping[str, float]) -> None:
        self.model = model.expanded
        self.tools = {f"{chain.prefix}tool" for chain in model.chains}
        """Frames that carry a gripper."""
        self.values = values
        self._anchors: dict[str, tuple[str, Array]] = {}
        self._sides: dict[tuple[str, str], tuple[str, Array]] = {}
        self.driver: dict[str, Joint] = {}
        """The first joint that carries each body: the others close loops."""
        for joint in self.model.joints:
            self.driver.setdefault(self.find_anchor(joint.child)[0], joint)

    def find_anchor(self, name: str) -> tuple[str, Array]:
        """Return the body (or the world, or a junction) to which a body, frame or junction is fixed, and the pose
        relative to it."""
        if name not in self._anchors:
            carrier, frames = self.model.placement(name)
            pose = np.eye(4)
            for frame in frames:
                pose = pose @ pose_matrix(frame.pose, self.values)
            self._anchors[name] = carrier.name, pose
        return self._anchors[name]

    def find_joint(self, name: str) -> Joint | None:
        """Return the joint of a given name; None if there is none (such as the implicit joint of a free body)."""
        return next((joint for joint in self.model.joints if joint.name == name), None)

    def joint_frame(self, joint: Joint, side: str) -> tuple[str, Array]:
        """Return the body and the pose of frame "a" or "b" of a joint."""
        found = self._sides.get((joint.name, side))
        if found is None:
            body, pose = self.find_anchor(joint.parent if side == "a" else joint.child)
            pose = pose @ pose_matrix(joint.a if side == "a" else joint.b, self.values)
            found = self._sides[joint.name, side] = body, pose
        return found

    @cached_property
    def attachment_points(self) -> dict[str, list[AttachmentPoint]]:
        """Attachment points of every body; that of its parent joint comes first."""
        table: dict[str, list[AttachmentPoint]] = {
            name: [] for name in (WORLD, *(body.name for body in self.model.bodies))
        }
        for joint in self.model.joints:
            axis = unit_vector(evaluate_vector(joint.axis, self.values))
            for which in "ab":
                body, pose = self.joint_frame(joint, which)
                turns = pose[:3, :3] @ axis if "axis" in joint.info.uses else None
                port = AttachmentPoint(joint.name, pose[:3, 3], turns)
                first = which == "b" and self.driver.get(body) is joint
                table[body].insert(0 if first else len(table[body]), port)
        used = {f.parent for f in self.model.frames} | {j.parent for j in self.model.joints}
        used |= {j.child for j in self.model.joints}
        for frame in self.model.frames:
            body, pose = self.find_anchor(frame.name)
            if frame.name not in used and body != WORLD:
                table[body].append(AttachmentPoint("", pose[:3, 3], None, frame.name))
        return table

    def mass_center(self, body: Body) -> Array:
        """Return the centre of mass (3,) in the frame of the body, as given in the document."""
        return evaluate_vector(body.center_of_mass, self.values)

    @cached_property
    def zero_poses(self) -> dict[str, Array]:
        """Poses (4, 4) world ← body with all coordinates zero, used to determine sizes; loops need not close."""
        return self._carried_poses(lambda _joint: np.eye(4))

    @cached_property
    def reference_poses(self) -> dict[str, Array]:
        """Poses (4, 4) world ← body with revolute and prismatic joints in the reference configuration; loops need not
        close."""
        unmoved = {name: np.eye(4) for name in (WORLD, *(body.name for body in self.model.bodies))}
        return unmoved | self._carried_poses(self._reference_pose)

    def _reference_pose(self, joint: Joint) -> Array:
        """Return the pose (4, 4) of frame b in frame a: of a revolute or prismatic joint at its reference position, of
        other joints at zero."""
        moved, info = np.eye(4), joint.info
        if joint.rest and (info.is_hinge() or info.is_slider()):
            axis, value = unit_vector(evaluate_vector(joint.axis, self.values)), number(joint.rest[0], self.values)
            if info.is_slider():
                return translation(*(value * axis).tolist())
            x, y, z = axis.tolist()
            moved[:3, :3] = about(Vector3(x, y, z), value)
        return moved

    def _carried_poses(self, motion: Callable[[Joint], Array]) -> dict[str, Array]:
        """Return the poses (4, 4) world ← body of all bodies connected by tree joints; `motion` gives the pose of frame
        b in frame a."""
        poses: dict[str, Array] = {WORLD: np.eye(4)}
        for name in self.driver:
            path: list[str] = []
            body = name
            while body not in poses and body not in path and body in self.driver:
                path.append(body)
                body = self.joint_frame(self.driver[body], "a")[0]
            for each in reversed(path):
                carrier, X_PA = self.joint_frame(self.driver[each], "a")
                X_BB = self.joint_frame(self.driver[each], "b")[1]
                poses[each] = poses.get(carrier, np.eye(4)) @ X_PA @ motion(self.driver[each]) @ inverse_pose(X_BB)
        return poses

    def zero_position(self, name: str) -> Array:
        """Return the origin (3,), in m, of a body, frame or junction in the world, with all coordinates zero."""
        for junction in self.model.junctions:
            if junction.name == name:
                return evaluate_vector(junction.guess, self.values)
        body, pose = self.find_anchor(name or WORLD)
        return (self.zero_poses.get(body, np.eye(4)) @ pose)[:3, 3]

    def attachment_distances(self) -> list[float]:
        """Nonzero distances (m) from the first attachment point of each body to its other ones."""
        found = []
        for body in self.model.bodies:
            ports = self.attachment_points[body.name]
            start = ports[0].point if ports else np.zeros(3)
            ends = [port.point for port in ports[1:]] or [self.mass_center(body)]
            found += [float(np.linalg.norm(end - start)) for end in ends]
        return [length for length in found if length > 1e-9 and np.isfinite(length)]

    @cached_property
    def joint_radius(self) -> float:
        """Radius of a revolute joint (m), proportional to the size of the machine."""
        lengths = self.attachment_distances()
        if not lengths:
            return self._radius_from_shapes()
        reach = self._longest_path()
        typical = median([length for length in lengths if length > 0.02 * reach] or lengths)
        least, most = (share * typical for share in RADIUS_PER_LINK)
        return min(max(RADIUS_PER_REACH * reach, least), most)

    @cached_property
    def glyph_size(self) -> float:
        """Size of springs, sensors and marks (m): as large as joints if joints are drawn, smaller if bodies have
        shapes."""
        formed = sum(bool(body.shapes) for body in self.model.bodies)
        return (GLYPH_BESIDE_SHAPES if 2 * formed > len(self.model.bodies) else 1.0) * self.joint_radius

    def _longest_path(self) -> float:
        """Return the longest path from the ground along the links, m."""
        lengths = {WORLD: 0.0}
        for name in self.driver:
            self._path_length_to(name, lengths)
        return max([*lengths.values(), *self.attachment_distances()])

    def _path_length_to(self, body: str, lengths: dict[str, float]) -> float:
        """Return the length of the path to the far end of a body: that of its parent plus its own longest bar."""
        path: list[str] = []
        while body not in lengths and body not in path:
            path.append(body)
            joint = self.driver.get(body)
            body = self.joint_frame(joint, "a")[0] if joint is not None else WORLD
        total = lengths.get(body, 0.0)
        for name in reversed(path):
            ports = self.attachment_points[name]
            total += max((float(np.linalg.norm(p.point - ports[0].point)) for p in ports[1:]), default=0.0)
            lengths[name] = total
        return total

    def _radius_from_shapes(self) -> float:
        sizes = [
            float(np.abs(evaluate_vector(value, self.values)).max())
            for body in self.model.bodies
            for shape in body.shapes
            for value in [getattr(shape, "size", (getattr(shape, "radius", 0.0), getattr(shape, "length", 0.0)))]
        ]
        return 0.15 * max(sizes) if sizes and max(sizes) > 0 else 0.05


def bar_route(start: AttachmentPoint, end: AttachmentPoint, shortest_edge: float) -> list[Array]:
    """Return the corner points of a bar between two attachment points: along the first axis, the common normal and the
    second axis (as Denavit–Hartenberg parameters), or straight if that path is too long or its segments are too short.
    """
    p, q = start.point, end.point
    direct = float(np.linalg.norm(q - p))
    corners = [p, *_common_normal_feet(start, end), q]
    path = [corners[0]]
    for corner in corners[1:]:
        if float(np.linalg.norm(corner - path[-1])) > shortest_edge:
            path.append(corner)
    path = [*path[:-1], q] if len(path) > 1 else [p, q]
    total = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(path))
    return path if total <= 1.75 * direct + shortest_edge else [p, q]


def _common_normal_feet(start: AttachmentPoint, end: AttachmentPoint) -> list[Array]:
    """Return the feet of the common normal on both axes; for parallel axes, or if there is no second axis, only the
    foot of the perpendicular from the end point."""
    if start.axis is None:
        return []
    p, q, u = start.point, end.point, start.axis
    w = end.axis
    if w is None or float(np.linalg.norm(np.cross(u, w))) < 1e-4:
        return [p + u * float(u @ (q - p))]
    # p + s u and q + t w, joined perpendicular to both axes
    system = np.array([[1.0, -float(u @ w)], [float(u @ w), -1.0]])
    s, t = np.linalg.solve(system, [float(u @ (q - p)), float(w @ (q - p))])
    return [p + s * u, q + t * w]
