"""Denavit–Hartenberg parameters fitted to a serial chain of revolute and prismatic joints, with the remaining error.

The joint axes are lines in space at q = 0. Frames are put on their common normals (Denavit and Hartenberg 1955; Spong,
Hutchinson and Vidyasagar 3.2; Craig 3.4); where axes are parallel or meet, or slide, the free choices let as
many parameters as possible vanish. A base and a tool transform take up what no row can hold: the table is exact.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.tool_frame import tool_frame
from core.errors import ModelError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Joint, Model
from core.model.parameters import evaluate_field
from core.model.shapes import pose_from_matrix

Array = NDArray[np.float64]
PARALLEL = 1e-7
"""Sine of the angle below which two axes count as parallel, and distance, relative to the machine's size, below which
they intersect."""
POSES = 20
TIED_POSES, TIED_TOLERANCE = 3, 1e-9
"""Number of random poses for testing which joints a constraint couples, and the smallest Jacobian entry (SI) that
counts."""


class DHTableRow(NamedTuple):
    """One row of a DH table: lengths m, angles rad; theta or d is the offset added to the joint coordinate."""

    kind: str
    a: float
    alpha: float
    d: float
    theta: float
    joint: str


@dataclass(frozen=True)
class DHFit:
    """A DH table with the accuracy to which it represents the chain.

    base (4, 4) world ← frame 0; tool (4, 4) frame n ← tip; frames (n + 1, 4, 4) world ← frame i at q = 0;
    position, rotation : largest residual of the tip over random poses, m and rad
    """

    convention: str
    rows: tuple[DHTableRow, ...]
    base: Array
    tool: Array
    frames: Array
    tip: str
    position: float
    rotation: float
    bodies: tuple[str, ...] = ()
    """Bodies that carry frames 0 … n."""
    attached: Array | None = None
    """(n + 1, 4, 4) pose of frame i in its body."""

    def to_dh_chain(self, name: str = "arm") -> DHChain:
        """The table as a DH chain of the document."""
        rows = tuple(DHRow(kind=r.kind, a=r.a, alpha=r.alpha, d=r.d, theta=r.theta) for r in self.rows)
        return DHChain(
            name=name,
            convention=self.convention,
            rows=rows,
            base=pose_from_matrix(self.base),
            tool=pose_from_matrix(self.tool),
        )


def fit(mech: Mechanism, tip: str = "", convention: str = "standard") -> DHFit:
    """Fit the DH table of the chain from the ground to a frame (default: the tool).

    Raises ModelError naming the joint that no DH table can hold.
    """
    model = mech.model
    tip = tip or tool_frame(model)
    joints = _chain_joints(mech, model, tip)
    q = np.array(mech.neutral())
    lines = _joint_axes(mech, joints, q)
    X_tip = mech.frame(q, tip)
    size = max([1e-3, *(float(np.linalg.norm(a.point - b.point)) for a in lines for b in lines)])
    place = _standard_frames if convention == "standard" else _modified_frames
    frames = place(lines, _root_pose(mech, joints, q), X_tip, size)
    rows = tuple(_row_between(frames[i], frames[i + 1], lines[i], convention) for i in range(len(lines)))
    tool = np.linalg.inv(frames[-1]) @ X_tip
    found = DHFit(convention, rows, frames[0], _remove_pose_rounding_error(tool), np.array(frames), tip, 0.0, 0.0)
    position, rotation = fit_error(mech, found, [line.joint for line in lines])
    bodies = _bodies_of_frames(mech, [line.joint for line in lines])
    attached = np.array([np.linalg.inv(mech.frame(q, body)) @ X for body, X in zip(bodies, frames, strict=True)])
    return dataclasses.replace(found, position=position, rotation=rotation, bodies=bodies, attached=attached)


def _bodies_of_frames(mech: Mechanism, joints: list[str]) -> tuple[str, ...]:
    """The body that carries the first joint, and the child bodies of all joints."""
    branches = {branch.joint.name: branch for branch in mech.compiled.topology.branches}
    return (branches[joints[0]].inner, *(branches[name].outer for name in joints))


def dh_obstacle_text(model: Model, mech: Mechanism) -> str:
    """Reason why the chain to the tool has no DH table; '' if it has one."""
    try:
        _chain_joints(mech, model, tool_frame(model))
    except ModelError as error:
        return f"The model has no DH table: {error}"
    return ""


class _JointAxis(NamedTuple):
    point: Array
    direction: Array
    joint: str
    slides: bool


def _chain_joints(mech: Mechanism, model: Model, tip: str) -> list[Joint]:
    """Moving joints from the ground to the tip. Raises ModelError for anything a DH table cannot represent."""
    topology = mech.compiled.topology
    kinds = {branch.joint.name: branch.joint for branch in topology.branches}
    path = [kinds[name] for name in reversed(topology.path(tip)) if kinds[name].info.nq]
    if not path:
        raise ModelError(f"No joint moves '{tip}'.", where="tip", remedy="Choose a frame at the end of a chain.")
    for joint in path:
        where = f"joint '{joint.name}'"
        if not (joint.info.is_hinge() or joint.info.is_slider()):
            raise ModelError(
                f"A {joint.kind} joint cannot be represented by a row of a DH table.",
                where=where,
                remedy="Replace it by revolute and prismatic joints.",
            )
        if joint.mimic is not None:
            raise ModelError(
                "The joint is coupled to another one, which a DH table cannot represent.",
                where=where,
                remedy="Remove the coupling, or choose another tip.",
            )
    for loop in mech.loops:
        inside = [joint.name for joint in path if joint.name in loop.joints]
        if inside:
            raise ModelError(
                "The joint lies in a closed loop; DH tables are for open chains.",
                where=f"joint '{inside[0]}'",
                remedy="Choose another tip.",
            )
    for joint in path:
        if (tie := _coupling_constraint(mech, joint.name)) is not None:
            raise ModelError(
                f"The joint is coupled by constraint '{tie}', which a DH table cannot represent.",
                where=f"joint '{joint.name}'",
                remedy="Remove the constraint, or choose another tip.",
            )
    return path


def _coupling_constraint(mech: Mechanism, joint: str) -> str | None:
    """First constraint (a rod, a gear …) that acts on a joint; None if there is none."""
    columns = [mech.constraint_jacobian(mech.random(seed))[:, mech.joint_v(joint)] for seed in range(TIED_POSES)]
    moves = np.any(np.abs(columns) > TIED_TOLERANCE, axis=(0, 2))
    rows = zip(mech.compiled.rows, moves, strict=True)
    return next((row.element for row, moved in rows if moved and row.collection == "constraints"), None)


def _joint_axes(mech: Mechanism, joints: list[Joint], q: Array) -> list[_JointAxis]:
    poses = mech.joint_poses(q)
    turned = {branch.joint.name: branch.reversed for branch in mech.compiled.topology.branches}
    values = mech.model.values()
    lines = []
    for joint in joints:
        X_a = poses[joint.name][0]
        axis = np.array([evaluate_field(c, values) for c in joint.axis], dtype=float)
        direction = X_a[:3, :3] @ (axis / np.linalg.norm(axis)) * (-1.0 if turned[joint.name] else 1.0)
        lines.append(_JointAxis(X_a[:3, 3], direction, joint.name, joint.info.is_slider()))
    return lines


def _root_pose(mech: Mechanism, joints: list[Joint], q: Array) -> Array:
    """Pose of the body that carries the first joint."""
    first = next(b for b in mech.compiled.topology.branches if b.joint.name == joints[0].name)
    return mech.frame(q, first.inner)


# --------------------------------------------------------------------------------- placing frames


def _standard_frames(axes: list[_JointAxis], root: Array, X_tip: Array, size: float) -> list[Array]:
    """Frames 0 … n: z of frame i along axis i + 1, x along the common normal with axis i."""
    frames = [_first_frame(axes[0], root, size)]
    for line in axes[1:]:
        frames.append(_next_frame(frames[-1], line, size))
    frames.append(_last_frame(frames[-1], X_tip, size))
    return frames


def _modified_frames(axes: list[_JointAxis], root: Array, X_tip: Array, size: float) -> list[Array]:
    """Frames 0 … n: z of frame i along axis i, x along the common normal with axis i + 1; frame 0 coincides with frame
    1."""
    own: list[Array] = []
    origin = _first_frame(axes[0], root, size)
    for i, line in enumerate(axes):
        before = own[-1] if own else origin
        start = _axis_point(line, before)
        if i + 1 < len(axes):
            point, x = _common_normal(start, line.direction, axes[i + 1], before, size)
        else:
            point, x = (
                _nearest_point(start, line.direction, before[:3, 3]),
                _perpendicular_part(before[:3, 0], line.direction),
            )
        own.append(_frame_from_axes(point, x, line.direction))
    first = own[0].copy()
    if not axes[0].slides:
        # frame 0 stands on frame 1 at q = 0, at the height of the body it belongs to
        foot = _nearest_point(first[:3, 3], axes[0].direction, root[:3, 3])
        first[:3, 3] = foot if np.linalg.norm(foot - root[:3, 3]) < PARALLEL * size else first[:3, 3]
        x = _perpendicular_part(root[:3, 0], axes[0].direction)
        if abs(root[:3, 2] @ axes[0].direction) > 1.0 - 1e-12:
            first = _frame_from_axes(first[:3, 3], x, axes[0].direction)
    return [first, *own]


def _first_frame(axis: _JointAxis, root: Array, size: float) -> Array:
    """Frame with z along the first axis, as close as possible to the body's own frame."""
    point = root[:3, 3] if axis.slides else _nearest_point(axis.point, axis.direction, root[:3, 3])
    x = _perpendicular_part(root[:3, 0], axis.direction)
    if np.linalg.norm(np.cross(root[:3, 0], axis.direction)) < 0.1:
        x = _perpendicular_part(root[:3, 1], axis.direction)
    return _frame_from_axes(point, x, axis.direction)


def _next_frame(frame: Array, axis: _JointAxis, size: float) -> Array:
    """The frame with z along the next axis."""
    start = frame[:3, 3]
    moved = axis._replace(point=start) if axis.slides else axis
    foot, x = _common_normal(start, frame[:3, 2], moved, frame, size)
    origin = _nearest_point(moved.point, moved.direction, foot)
    return _frame_from_axes(origin, x, axis.direction)


def _common_normal(start: Array, z: Array, next_axis: _JointAxis, frame: Array, size: float) -> tuple[Array, Array]:
    """(foot on the axis through `start` along z, direction of the common normal to the line)."""
    u = next_axis.direction
    across = np.cross(z, u)
    sine = float(np.linalg.norm(across))
    if sine < PARALLEL:
        to = next_axis.point - start
        to = to - (to @ z) * z
        far = float(np.linalg.norm(to))
        return start, to / far if far > PARALLEL * size else frame[:3, 0]
    across = across / sine
    # feet of the common normal: start + s z and point + t u
    w = next_axis.point - start
    s = float(np.linalg.det(np.array([w, u, across])) / sine)
    foot = start + s * z
    t = float(np.linalg.det(np.array([w, z, across])) / sine)
    gap = next_axis.point + t * u - foot
    distance = float(gap @ across)
    if abs(distance) < PARALLEL * size:
        return foot, across if across @ frame[:3, 0] > -1e-9 else -across
    return foot, math.copysign(1.0, distance) * across


def _last_frame(frame: Array, X_tip: Array, size: float) -> Array:
    """Frame n: the tip itself if one row can reach it, else the frame before it (the tool transform contains the
    difference)."""
    z, x = frame[:3, 2], X_tip[:3, 0]
    w = X_tip[:3, 3] - frame[:3, 3]
    meets = abs(float(np.linalg.det(np.array([w, z, x])))) < PARALLEL * size
    return X_tip if abs(float(x @ z)) < PARALLEL and meets else frame


def _axis_point(axis: _JointAxis, previous_frame: Array) -> Array:
    """A point of the axis; the axis of a prismatic joint may be shifted through the origin of the previous frame."""
    return previous_frame[:3, 3] if axis.slides else _nearest_point(axis.point, axis.direction, previous_frame[:3, 3])


def _nearest_point(point: Array, direction: Array, other: Array) -> Array:
    """Point of a line nearest to another point."""
    foot: Array = point + ((other - point) @ direction) * direction
    return foot


def _perpendicular_part(x: Array, z: Array) -> Array:
    """x made perpendicular to z; any perpendicular if x is along z."""
    flat = x - (x @ z) * z
    if np.linalg.norm(flat) < 1e-6:
        flat = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    unit: Array = flat / np.linalg.norm(flat)
    return unit


def _frame_from_axes(origin: Array, x: Array, z: Array) -> Array:
    X = np.eye(4)
    x = _perpendicular_part(x, z)
    X[:3, 0], X[:3, 1], X[:3, 2], X[:3, 3] = x, np.cross(z, x), z, origin
    return X


# --------------------------------------------------------------------------------- rows and residual


def _row_between(frame: Array, next_frame: Array, axis: _JointAxis, convention: str) -> DHTableRow:
    """The parameters between two frames at q = 0."""
    X = np.linalg.inv(frame) @ next_frame
    R, p = X[:3, :3], X[:3, 3]
    if convention == "standard":
        # A = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α)
        theta, alpha = math.atan2(R[1, 0], R[0, 0]), math.atan2(R[2, 1], R[2, 2])
        a, d = p[0] * math.cos(theta) + p[1] * math.sin(theta), p[2]
    else:
        # A = Trans_x(a) Rot_x(α) Rot_z(θ) Trans_z(d)
        alpha, theta = math.atan2(-R[1, 2], R[2, 2]), math.atan2(-R[0, 1], R[0, 0])
        a, d = p[0], p[2] * math.cos(alpha) - p[1] * math.sin(alpha)
    kind = "prismatic" if axis.slides else "revolute"
    return DHTableRow(
        kind,
        _remove_rounding_error(a),
        _remove_rounding_error(alpha),
        _remove_rounding_error(d),
        _remove_rounding_error(theta),
        axis.joint,
    )


def _remove_rounding_error(x: float) -> float:
    """Return the number without rounding error, with −π replaced by π."""
    x = 0.0 if abs(x) < 1e-12 else float(x)
    return math.pi if abs(x + math.pi) < 1e-12 else x


def _remove_pose_rounding_error(X: Array) -> Array:
    return np.where(np.abs(X) < 1e-12, 0.0, X)


def fit_error(mech: Mechanism, table: DHFit, joints: list[str]) -> tuple[float, float]:
    """Largest distance (m) and angle (rad) between the tip pose of the table and that of the machine, over random
    poses."""
    rng = np.random.default_rng(0)
    worst, turned = 0.0, 0.0
    for _ in range(POSES):
        q = mech.random(rng)
        X = table.base.copy()
        for row, joint in zip(table.rows, joints, strict=True):
            X = X @ row_transform(row, float(mech.coordinate(q, joint)[0]), table.convention)
        theirs, ours = mech.frame(q, table.tip), X @ table.tool
        worst = max(worst, float(np.linalg.norm(theirs[:3, 3] - ours[:3, 3])))
        turned = max(turned, float(np.linalg.norm(theirs[:3, :3] - ours[:3, :3])) / math.sqrt(2.0))
    return worst, turned


def row_transform(row: DHTableRow, q: float, convention: str) -> Array:
    """(4, 4) transform A(q) of a row: pose of frame i in frame i − 1."""
    theta = row.theta + (0.0 if row.kind == "prismatic" else q)
    d = row.d + (q if row.kind == "prismatic" else 0.0)
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(row.alpha), math.sin(row.alpha)
    turn = np.array([[ct, -st, 0, 0], [st, ct, 0, 0], [0, 0, 1, d], [0, 0, 0, 1.0]])
    twist = np.array([[1, 0, 0, row.a], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1.0]])
    result: Array = turn @ twist if convention == "standard" else twist @ turn
    return result
