"""Serial chain of a frame as the axes of its joints at one pose (product of exponentials).

T(q) = exp(S₁ θ₁) … exp(Sₙ θₙ) T₀ with θ = q − q₀ (R. W. Brockett, "Robotic manipulators and the product of exponentials
formula", 1984). The axes are read from the Jacobian, so that every way to state a machine (DH rows, frames, formulas)
gives the same chain; forward kinematics at random poses confirms it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.mechanism import Mechanism
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import IDENTITY, Rotation, about
from core.numerics.spatial.vector import ZERO, Vector3

Array = NDArray[np.float64]

CHAIN_TOLERANCE = 1e-10
"""Deviation of the chain's forward kinematics from the machine's (m by the chain's size, and of rotation matrices)."""
PITCH_TOLERANCE = 1e-10
"""Advance (m/rad by the chain's size), or rate of rotation, below which a joint is purely revolute or prismatic."""
PARALLEL_TOLERANCE = 1e-9
"""Sine of the angle between two axes below which they are parallel."""


class ScrewChain(NamedTuple):
    """Joints that move a frame, from the base to it, with their axes at a pose.

    kinds : "R" or "P" each; joints : names; at : (n,) their indices in q; direction : (n, 3) unit vectors; point :
    (n, 3) points on the axes, m; X : (4, 4) pose of the frame at `start` (n,); lower, upper : (n,) limits; size : m
    """

    kinds: str
    joints: tuple[str, ...]
    at: NDArray[np.intp]
    direction: Array
    point: Array
    X: Array
    start: Array
    lower: Array
    upper: Array
    size: float

    def axes(self, q: Array) -> tuple[Array, Array, Array]:
        """Directions (m, n, 3), points (m, n, 3) of the axes and poses (m, 4, 4) of the frame at q (m, n)."""
        directions, points, rows = _traced_axes(self.kinds)([q - self.start], self.parameters())
        X = np.zeros((len(q), 4, 4))
        X[:, :3], X[:, 3, 3] = rows, 1.0
        return directions, points, X

    def parameters(self) -> Array:
        """(6 n + 12,) directions, points, and three rows of the pose, as `trace_axes` takes them."""
        return np.concatenate([self.direction.reshape(-1), self.point.reshape(-1), self.X[:3].reshape(-1)])


def trace_axes(kinds: str, moved: ca.SX, fixed: ca.SX) -> tuple[list[Vector3], list[Vector3], Pose]:
    """Directions and points of the axes, and the pose of the frame, as expressions in displacements from the start (n,)
    and the chain's parameters."""
    n = len(kinds)
    vectors = [Vector3(*(fixed[3 * k + i] for i in range(3))) for k in range(2 * n)]
    before, directions, points = Pose(IDENTITY, ZERO), [], []
    for k, (kind, direction, point) in enumerate(zip(kinds, vectors[:n], vectors[n:], strict=True)):
        directions.append(before.rotation.act(direction))
        points.append(before.rotation.act(point) + before.position)
        if kind == "P":
            motion = Pose(IDENTITY, direction.scaled(moved[k]))
        else:
            R = about(direction, moved[k])
            motion = Pose(R, point - R.act(point))
        before = before @ motion
    rows = [Vector3(*(fixed[6 * n + 4 * i + k] for k in range(3))) for i in range(3)]
    end = before @ Pose(Rotation(*rows), Vector3(*(fixed[6 * n + 4 * i + 3] for i in range(3))))
    return directions, points, end


@lru_cache(maxsize=64)
def _traced_axes(kinds: str) -> FlatCode:
    """Function of displacements and parameters: directions (n, 3), points (n, 3), three rows of the frame's pose."""
    moved, fixed = ca.SX.sym("moved", len(kinds)), ca.SX.sym("fixed", 6 * len(kinds) + 12)
    directions, points, end = trace_axes(kinds, moved, fixed)
    pose = ca.vertcat(*(ca.horzcat(*row, x) for row, x in zip(end.rotation, end.position, strict=True)))
    matrices = [ca.vertcat(*(ca.horzcat(*each) for each in group)) for group in (directions, points)]
    return FlatCode([moved, fixed], [*matrices, pose], later=True)


def read_screw_chain(mech: Mechanism, frame: str, p: Array | None) -> ScrewChain | str:
    """Chain of the joints from the ground to a frame, or the reason why it is none. p : (n_p,) parameter values"""
    if mech.constrained:
        return "the machine has loops or constraints"
    path = [name for name in reversed(mech.compiled.topology.path(frame)) if _count(mech, name)]
    if any(_count(mech, name) != 1 or mech.joint_q(name).stop - mech.joint_q(name).start != 1 for name in path):
        return "the chain has joints with several coordinates"
    at = [mech.joint_q(name).start for name in path]
    if len(set(at)) < len(at):
        return "joints of the chain follow each other"
    q = mech.neutral()
    columns = np.asarray(mech.jacobian(q, frame, p=p))[:, [mech.joint_v(name).start for name in path]]
    X = np.asarray(mech.frame(q, frame, p=p))
    kinds, direction, point = "", np.empty((len(at), 3)), np.empty((len(at), 3))
    for k, column in enumerate(columns.T):
        omega, v = column[:3], column[3:]
        rotates = float(np.linalg.norm(omega))
        if abs(rotates - 1.0) < PITCH_TOLERANCE:
            if abs(float(omega @ v)) > PITCH_TOLERANCE * max(1.0, float(np.linalg.norm(v))):
                return f"{path[k]} is a screw"
            kinds += "R"
            direction[k], point[k] = omega / rotates, X[:3, 3] + np.cross(omega, v)
        elif rotates < PITCH_TOLERANCE and abs(float(np.linalg.norm(v)) - 1.0) < PITCH_TOLERANCE:
            kinds += "P"
            direction[k], point[k] = v, X[:3, 3]
        else:
            return f"{path[k]} is neither revolute nor prismatic, or moves other joints"
    size = float(max(np.ptp(np.vstack([point, X[:3, 3]]), axis=0).max(), 1e-6)) if at else 1.0
    coordinates = [mech.coordinates[k] for k in at]
    lower = np.array([-np.inf if c.lower is None else c.lower for c in coordinates])
    upper = np.array([np.inf if c.upper is None else c.upper for c in coordinates])
    chain = ScrewChain(kinds, tuple(path), np.array(at, dtype=np.intp), direction, point, X, q[at], lower, upper, size)
    return chain if _agrees(mech, frame, p, chain) else "the axes of its joints are not fixed to links in series"


def _count(mech: Mechanism, joint: str) -> int:
    at = mech.joint_v(joint)
    return at.stop - at.start


def _agrees(mech: Mechanism, frame: str, p: Array | None, chain: ScrewChain) -> bool:
    """Compare the chain's forward kinematics with the machine's at random poses."""
    rng = np.random.default_rng(11)
    q = np.tile(mech.neutral(), (3, 1))
    q[:, chain.at] += rng.uniform(-3.0, 3.0, (3, len(chain.at)))
    difference = chain.axes(q[:, chain.at])[2] - np.asarray(mech.frame(q, frame, p=p))
    difference[:, :3, 3] /= max(chain.size, 1.0)
    return float(np.max(np.abs(difference))) < CHAIN_TOLERANCE


def axis_frames(chain: ScrewChain) -> tuple[Array, Array]:
    """(n, 4, 4) frames with z along the joints' axes, those of parallel neighbours in the same direction, and (n,) the
    signs of their rotations about (motions along) z relative to the joints'."""
    frames, signs = np.tile(np.eye(4), (len(chain.kinds), 1, 1)), np.ones(len(chain.kinds))
    for k, w in enumerate(chain.direction):
        if k and np.linalg.norm(np.cross(frames[k - 1, :3, 2], w)) < PARALLEL_TOLERANCE:
            signs[k] = np.sign(float(frames[k - 1, :3, 2] @ w))
            frames[k, :3, :3] = frames[k - 1, :3, :3]
        else:
            x = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
            x /= np.linalg.norm(x)
            frames[k, :3, :3] = np.column_stack([x, np.cross(w, x), w])
        frames[k, :3, 3] = chain.point[k]
    return frames, signs


def chain_jacobian(chain: ScrewChain, q: Array) -> tuple[Array, Array]:
    """(m, 6, n) Jacobians [ω; v] of the frame at q (m, n), and its poses (m, 4, 4)."""
    directions, points, X = chain.axes(q)
    slides = np.array([kind == "P" for kind in chain.kinds])[:, None]
    omega = np.where(slides, 0.0, directions)
    v = np.where(slides, directions, np.cross(directions, X[:, None, :3, 3] - points))
    return np.swapaxes(np.concatenate([omega, v], axis=-1), 1, 2), X
