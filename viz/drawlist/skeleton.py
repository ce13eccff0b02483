"""Joint positions on each body, from which bodies without shapes get bars that connect their joints.

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
from viz.placement import Array, inverse, number, numbers, pose_matrix, shifted, unit

RADIUS_PER_REACH = 0.045
RADIUS_PER_LINK = (0.12, 0.17)
"""Radius of a joint: 4.5 % of the machine's reach, limited to 12 … 17 % of its typical link, so that long chains stay
slim and a single link is not as thin as a wire."""
GLYPH_BESIDE_SHAPES = 0.6
"""Size of springs and marks, in joint radii, if bodies have their own shapes."""


@dataclass(frozen=True)
class Port:
    """Attachment point on a body, in the body's frame, of a joint or of a tool frame. `axis` is None for points without
    rotation."""

    joint: str
    point: Array
    axis: Array | None
    frame: str = ""


class Skeleton:
    """Joints seen from the bodies, for given parameter values."""

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
            self.driver.setdefault(self.anchor(joint.child)[0], joint)

    def anchor(self, name: str) -> tuple[str, Array]:
        """Return the body (or world, or junction) that a body, frame or junction belongs to, and its pose there."""
        if name not in self._anchors:
            carrier, frames = self.model.placement(name)
            pose = np.eye(4)
            for frame in frames:
                pose = pose @ pose_matrix(frame.pose, self.values)
            self._anchors[name] = carrier.name, pose
        return self._anchors[name]

    def joint(self, name: str) -> Joint | None:
        """Return the joint of a name; None if there is none (such as a free body's implicit joint)."""
        return next((joint for joint in self.model.joints if joint.name == name), None)

    def side(self, joint: Joint, which: str) -> tuple[str, Array]:
        """Return body and pose of a joint's frame "a" or "b"."""
        found = self._sides.get((joint.name, which))
        if found is None:
            body, pose = self.anchor(joint.parent if which == "a" else joint.child)
            pose = pose @ pose_matrix(joint.a if which == "a" else joint.b, self.values)
            found = self._sides[joint.name, which] = body, pose
        return found

    @cached_property
    def ports(self) -> dict[str, list[Port]]:
        """Attachment points of every body, that of its parent joint first."""
        table: dict[str, list[Port]] = {name: [] for name in (WORLD, *(body.name for body in self.model.bodies))}
        for joint in self.model.joints:
            axis = unit(numbers(joint.axis, self.values))
            for which in "ab":
                body, pose = self.side(joint, which)
                turns = pose[:3, :3] @ axis if "axis" in joint.info.uses else None
                port = Port(joint.name, pose[:3, 3], turns)
                first = which == "b" and self.driver.get(body) is joint
                table[body].insert(0 if first else len(table[body]), port)
        used = {f.parent for f in self.model.frames} | {j.parent for j in self.model.joints}
        used |= {j.child for j in self.model.joints}
        for frame in self.model.frames:
            body, pose = self.anchor(frame.name)
            if frame.name not in used and body != WORLD:
                table[body].append(Port("", pose[:3, 3], None, frame.name))
        return table

    def mass_point(self, body: Body) -> Array:
        """Return the given centre of mass (3,) in the body's frame."""
        return numbers(body.center_of_mass, self.values)

    @cached_property
    def drawn(self) -> dict[str, Array]:
        """Poses (4, 4) world ← body with all coordinates zero, used for sizes; loops need not close."""
        return self._carried(lambda _joint: np.eye(4))

    @cached_property
    def at_rest(self) -> dict[str, Array]:
        """Poses (4, 4) world ← body in the reference configuration of hinges and sliders; loops need not close."""
        unmoved = {name: np.eye(4) for name in (WORLD, *(body.name for body in self.model.bodies))}
        return unmoved | self._carried(self._reference_pose)

    def _reference_pose(self, joint: Joint) -> Array:
        """Return the pose (4, 4) of frame b in frame a at the reference position of a hinge or slider; for others at
        zero."""
        moved, info = np.eye(4), joint.info
        if joint.rest and (info.is_hinge() or info.is_slider()):
            axis, value = unit(numbers(joint.axis, self.values)), number(joint.rest[0], self.values)
            if info.is_slider():
                return shifted(*(value * axis).tolist())
            x, y, z = axis.tolist()
            moved[:3, :3] = about(Vector3(x, y, z), value)
        return moved

    def _carried(self, motion: Callable[[Joint], Array]) -> dict[str, Array]:
        """Return poses (4, 4) world ← body of all bodies carried by joints, with frame b at `motion` in frame a."""
        poses: dict[str, Array] = {WORLD: np.eye(4)}
        for name in self.driver:
            path: list[str] = []
            body = name
            while body not in poses and body not in path and body in self.driver:
                path.append(body)
                body = self.side(self.driver[body], "a")[0]
            for each in reversed(path):
                carrier, X_PA = self.side(self.driver[each], "a")
                X_BB = self.side(self.driver[each], "b")[1]
                poses[each] = poses.get(carrier, np.eye(4)) @ X_PA @ motion(self.driver[each]) @ inverse(X_BB)
        return poses

    def place(self, name: str) -> Array:
        """Return the origin (3,), m, of a body, frame or junction, in the world with all coordinates zero."""
        for junction in self.model.junctions:
            if junction.name == name:
                return numbers(junction.guess, self.values)
        body, pose = self.anchor(name or WORLD)
        return (self.drawn.get(body, np.eye(4)) @ pose)[:3, 3]

    def lengths(self) -> list[float]:
        """Return the nonzero distances between the first port and the others, over all bodies, m."""
        found = []
        for body in self.model.bodies:
            ports = self.ports[body.name]
            start = ports[0].point if ports else np.zeros(3)
            ends = [port.point for port in ports[1:]] or [self.mass_point(body)]
            found += [float(np.linalg.norm(end - start)) for end in ends]
        return [length for length in found if length > 1e-9 and np.isfinite(length)]

    @cached_property
    def radius(self) -> float:
        """Radius of a revolute joint, m, in proportion to the machine."""
        lengths = self.lengths()
        if not lengths:
            return self._radius_of_shapes()
        reach = self._reach()
        typical = median([length for length in lengths if length > 0.02 * reach] or lengths)
        least, most = (share * typical for share in RADIUS_PER_LINK)
        return min(max(RADIUS_PER_REACH * reach, least), most)

    @cached_property
    def glyph(self) -> float:
        """Size of springs, sensors and marks, m: that of joints if those are drawn, smaller if bodies have shapes."""
        formed = sum(bool(body.shapes) for body in self.model.bodies)
        return (GLYPH_BESIDE_SHAPES if 2 * formed > len(self.model.bodies) else 1.0) * self.radius

    def _reach(self) -> float:
        """Return the longest path from the ground along the links, m."""
        lengths = {WORLD: 0.0}
        for name in self.driver:
            self._length_to(name, lengths)
        return max([*lengths.values(), *self.lengths()])

    def _length_to(self, body: str, lengths: dict[str, float]) -> float:
        """Return the length of the path to a body's far end: that of its parent plus its own longest bar."""
        path: list[str] = []
        while body not in lengths and body not in path:
            path.append(body)
            joint = self.driver.get(body)
            body = self.side(joint, "a")[0] if joint is not None else WORLD
        total = lengths.get(body, 0.0)
        for name in reversed(path):
            ports = self.ports[name]
            total += max((float(np.linalg.norm(p.point - ports[0].point)) for p in ports[1:]), default=0.0)
            lengths[name] = total
        return total

    def _radius_of_shapes(self) -> float:
        sizes = [
            float(np.abs(numbers(value, self.values)).max())
            for body in self.model.bodies
            for shape in body.shapes
            for value in [getattr(shape, "size", (getattr(shape, "radius", 0.0), getattr(shape, "length", 0.0)))]
        ]
        return 0.15 * max(sizes) if sizes and max(sizes) > 0 else 0.05


def route(start: Port, end: Port, slender: float) -> list[Array]:
    """Return corner points of a bar between two ports: along the first axis, over the common normal, along the second
    axis (as Denavit–Hartenberg parameters), or straight if that path is too long or its corners too small."""
    p, q = start.point, end.point
    direct = float(np.linalg.norm(q - p))
    corners = [p, *_normal_feet(start, end), q]
    path = [corners[0]]
    for corner in corners[1:]:
        if float(np.linalg.norm(corner - path[-1])) > slender:
            path.append(corner)
    path = [*path[:-1], q] if len(path) > 1 else [p, q]
    total = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(path))
    return path if total <= 1.75 * direct + slender else [p, q]


def _normal_feet(start: Port, end: Port) -> list[Array]:
    """Return the feet of the common normal on both axes; for parallel axes, or without a second one, the foot from the
    end."""
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
