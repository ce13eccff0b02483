"""Families of arms with closed-form inverse kinematics: recognition, and all branches in one traced function.

The target closes the chain of joints to a loop, E₁ K₁ E₂ K₂ … Eₙ Kₙ = 1, with the known poses K of its links; the
last one contains the target. The subproblems of `core.constraints.closed_forms.dyads` solve it, each with two roots. A
function holds all combinations of roots (they share most of their expressions) and takes the links as parameters, so
one piece of machine code serves all arms of a family.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.screw_chain import PARALLEL_TOLERANCE, ScrewChain, axis_frames
from core.codegen.flat_code import FlatCode
from core.constraints.closed_forms.dyads import (
    ChosenSide,
    Turn,
    solve_cylindrical_chain,
    solve_elbow_chain,
    solve_three_parallel_chain,
    solve_wrist_chain,
)
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3

Array = NDArray[np.float64]

MEETING_TOLERANCE = 1e-9
"""Gap between two axes, by the arm's size, below which they meet."""


class ArmFamily(NamedTuple):
    """A family of arms. kinds : of its joints, several if they may be in different orders; roots : indices of the
    joints whose equations have two roots; words : what it is made of."""

    kinds: tuple[str, ...]
    roots: tuple[int, ...]
    words: str


ELBOW, WRIST, SLIDING, THREE_PARALLEL, CYLINDRICAL = "elbow", "wrist", "sliding", "three parallel", "cylindrical"
FAMILIES = {
    ELBOW: ArmFamily(("RRRRRR",), (0, 2, 4), "a revolute, two parallel ones, spherical wrist"),
    WRIST: ArmFamily(("RRRRRR",), (1, 2, 4), "two revolutes that meet, a third, spherical wrist"),
    SLIDING: ArmFamily(("RRPRRR",), (1, 2, 4), "two revolutes that meet, a slide, spherical wrist"),
    THREE_PARALLEL: ArmFamily(("RRRRRR",), (0, 1, 4), "a revolute, three parallel ones, two that meet"),
    CYLINDRICAL: ArmFamily(("RRRP", "RRPR", "RPRR", "PRRR"), (0,), "three parallel revolutes and a slide along them"),
}


def root_joints(family: str, kinds: str) -> tuple[int, ...]:
    """Indices of the joints whose equations have two roots, for a chain of joints of these kinds."""
    return ((kinds.index("P") + 1) % 4,) if family == CYLINDRICAL else FAMILIES[family].roots


class Gap(NamedTuple):
    """Distance (m) between two axes that would have to meet, by joint names."""

    one: str
    other: str
    distance: float


def find_family(chain: ScrewChain) -> str | None:
    """Name of the family of a chain, or None."""
    for name, family in FAMILIES.items():
        if chain.kinds in family.kinds and _CONDITIONS[name](chain):
            return name
    return None


def find_smallest_gap(chain: ScrewChain) -> Gap | None:
    """Gap that keeps the last three axes of a six-joint arm from meeting in a point; None if they do, or for others."""
    if len(chain.kinds) != 6 or chain.kinds[3:] != "RRR" or _are_parallel(chain, 3, 4) or _are_parallel(chain, 4, 5):
        return None
    gaps = [(i, j, _distance_of_axes(chain, i, j)) for i, j in ((3, 4), (4, 5), (3, 5))]
    i, j, gap = max(gaps, key=lambda each: each[2])
    return Gap(chain.joints[i], chain.joints[j], gap) if gap > MEETING_TOLERANCE * chain.size else None


def _are_parallel(chain: ScrewChain, i: int, j: int) -> bool:
    return float(np.linalg.norm(np.cross(chain.direction[i], chain.direction[j]))) < PARALLEL_TOLERANCE


def _distance_of_axes(chain: ScrewChain, i: int, j: int) -> float:
    between = chain.point[j] - chain.point[i]
    normal = np.cross(chain.direction[i], chain.direction[j])
    length = float(np.linalg.norm(normal))
    if length < PARALLEL_TOLERANCE:
        return float(np.linalg.norm(np.cross(chain.direction[i], between)))
    return abs(float(between @ normal)) / length


def meeting_point(chain: ScrewChain, i: int, j: int) -> Array | None:
    """(3,) point at which two axes that are not parallel meet (m, at the chain's start), or None."""
    u, w = chain.direction[i], chain.direction[j]
    normal = np.cross(u, w)
    square = float(normal @ normal)
    if square < PARALLEL_TOLERANCE**2 or _distance_of_axes(chain, i, j) > MEETING_TOLERANCE * chain.size:
        return None
    between = chain.point[j] - chain.point[i]
    return np.asarray(chain.point[i] + u * float(np.cross(between, w) @ normal) / square)


def _has_spherical_wrist(chain: ScrewChain) -> bool:
    one, two = meeting_point(chain, 3, 4), meeting_point(chain, 4, 5)
    if one is None or two is None:
        return False
    return float(np.linalg.norm(one - two)) < MEETING_TOLERANCE * chain.size


def _axes_are_apart(chain: ScrewChain, i: int, j: int) -> bool:
    return _distance_of_axes(chain, i, j) > 1e-5 * chain.size


def _is_elbow_arm(chain: ScrewChain) -> bool:
    return (
        _has_spherical_wrist(chain)
        and _are_parallel(chain, 1, 2)
        and not _are_parallel(chain, 0, 1)
        and _axes_are_apart(chain, 1, 2)
    )


def _is_wrist_arm(chain: ScrewChain) -> bool:
    return _has_spherical_wrist(chain) and meeting_point(chain, 0, 1) is not None


def _is_three_parallel_arm(chain: ScrewChain) -> bool:
    return (
        _are_parallel(chain, 1, 2)
        and _are_parallel(chain, 2, 3)
        and not _are_parallel(chain, 0, 1)
        and not _are_parallel(chain, 3, 4)
        and meeting_point(chain, 4, 5) is not None
        and _axes_are_apart(chain, 1, 2)
        and _axes_are_apart(chain, 2, 3)
    )


def _is_cylindrical_arm(chain: ScrewChain) -> bool:
    one, two, _ = (k for k, kind in enumerate(chain.kinds) if kind == "R")
    parallel = all(_are_parallel(chain, 0, k) for k in range(1, 4))
    return parallel and _axes_are_apart(chain, one, two)


_CONDITIONS: dict[str, Callable[[ScrewChain], bool]] = {
    ELBOW: _is_elbow_arm,
    WRIST: _is_wrist_arm,
    SLIDING: _is_wrist_arm,
    THREE_PARALLEL: _is_three_parallel_arm,
    CYLINDRICAL: _is_cylindrical_arm,
}
SOLVERS: dict[str, Callable[..., tuple[list[Any], Any]]] = {
    ELBOW: solve_elbow_chain,
    WRIST: solve_wrist_chain,
    SLIDING: solve_wrist_chain,
    THREE_PARALLEL: solve_three_parallel_chain,
    CYLINDRICAL: solve_cylindrical_chain,
}


def pose_of_entries(entries: Any) -> Pose:
    """Pose of twelve scalars: the first three rows of its matrix."""
    rows = [[entries[4 * i + k] for k in range(4)] for i in range(3)]
    return Pose(Rotation(*(Vector3(*row[:3]) for row in rows)), Vector3(*(row[3] for row in rows)))


@lru_cache(maxsize=32)
def _traced_branches(family: str, kinds: str) -> FlatCode:
    """Function of the closing pose (12,), angles where they are open (n,) and links (12 (n − 1),), with the result
    (branches, n)."""
    n = len(kinds)
    closing, open_angles, links = ca.SX.sym("closing", 12), ca.SX.sym("open", n), ca.SX.sym("links", 12 * (n - 1))
    K = [pose_of_entries([links[12 * k + i] for i in range(12)]) for k in range(n - 1)]
    K.append(pose_of_entries([closing[i] for i in range(12)]))
    open_turns = [Turn(ca.cos(open_angles[k]), ca.sin(open_angles[k])) for k in range(n)]
    roots, rows = root_joints(family, kinds), []
    for signs in itertools.product((1.0, -1.0), repeat=len(roots)):
        sides = {k: ChosenSide(sign) for k, sign in zip(roots, signs, strict=True)}
        values, _ = SOLVERS[family](kinds, K, sides.__getitem__, open_turns)
        rows.append([ca.atan2(v.sine, v.cosine) if isinstance(v, Turn) else v for v in values])
    matrix = ca.vertcat(*(ca.horzcat(*row) for row in rows))
    return FlatCode([closing, open_angles, links], [matrix], later=True)


class ClosedArm:
    """Closed form of one chain: all branches for arrays of targets."""

    def __init__(self, chain: ScrewChain, family: str) -> None:
        self.chain, self.family = chain, family
        frames, self._signs = axis_frames(chain)
        inverse = np.linalg.inv(frames)
        self._links = (inverse[:-1] @ frames[1:])[:, :3].reshape(-1)
        self._first, self._last = frames[0], inverse[-1] @ chain.X
        self.roots = root_joints(family, chain.kinds)
        self.branches = 2 ** len(self.roots)
        self._function = _traced_branches(family, chain.kinds)

    def solve(self, targets: Array, near: Array) -> Array:
        """Values (m, branches, n) of the joints for targets (m, 4, 4), poses of the frame; where a singular pose leaves
        an angle open, it is that of `near` (m, n) or (n,). Branches that do not exist have any values, or NaN."""
        inverse = np.zeros_like(targets)
        inverse[:, :3, :3] = np.swapaxes(targets[:, :3, :3], 1, 2)
        inverse[:, :3, 3] = -(inverse[:, :3, :3] @ targets[:, :3, 3, None])[..., 0]
        inverse[:, 3, 3] = 1.0
        closing = (self._last @ inverse @ self._first)[:, :3].reshape(-1, 12)
        open_angles = np.broadcast_to(self._signs * (near - self.chain.start), (len(targets), len(self._signs)))
        (values,) = self._function([closing, open_angles], self._links)
        return np.asarray(self.chain.start + self._signs * values)
