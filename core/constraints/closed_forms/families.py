"""Recognition of closed chains with an analytic solution, by testing their geometry at random poses.

1. The machine is put into random poses, its parameters a little off their values (`random_samples`): what still holds
   then belongs to the structure of the machine (parallel axes, axes that meet), not to a pose or to numbers. The
   machine need not be closed for that.
2. A chain is read from each of its joints in both directions, since a family is solved in one order (`form_of`).
3. Where the kinds of its joints are those of a family (`_FAMILIES`), the family's geometry is looked for at all samples
   (`_CONDITIONS`): axes that meet, axes that are parallel, points that keep a distance.
4. Of all forms that hold, the one is taken whose roots are best known from coordinates of the tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_forms.dyads import axis_intersection_heights, point_on_z
from core.constraints.closed_forms.graph import (
    Chain,
    Clusters,
    Edge,
    edge_motion,
    edge_value,
    elementary_edges,
    pose_across_edge,
    poses_between_edges,
)
from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology
from core.model.parameters import parameter_values
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3, Z

SAMPLES = 3
PERTURBATION = 0.02
"""Relative perturbation of parameters."""


class PoseMatrix:
    """A pose as plain numbers, fast to multiply."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self.matrix = matrix

    def __matmul__(self, other: PoseMatrix) -> PoseMatrix:
        """Composition of two poses."""
        return PoseMatrix(self.matrix @ other.matrix)

    def inverse(self) -> PoseMatrix:
        """Inverse pose."""
        result, turned = np.eye(4), self.matrix[:3, :3].T
        result[:3, :3], result[:3, 3] = turned, -turned @ self.matrix[:3, 3]
        return PoseMatrix(result)

    @property
    def rotation(self) -> Rotation:
        """Rotation part."""
        x, y, z = (row[:3] for row in self.matrix[:3].tolist())
        return Rotation(Vector3(*x), Vector3(*y), Vector3(*z))

    @property
    def position(self) -> Vector3:
        """Position part, m."""
        return Vector3(*self.matrix[:3, 3].tolist())

    def point(self, p: Vector3) -> Vector3:
        """The point p transformed by the pose."""
        return Vector3(*(self.matrix[:3, :3] @ p + self.matrix[:3, 3]).tolist())


def _pose_matrix(X: Pose) -> PoseMatrix:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = X.rotation, X.position
    return PoseMatrix(matrix)


class RandomSample:
    """A machine at random joint values and slightly perturbed parameters."""

    def __init__(self, topology: Topology, edges: list[Edge], rng: np.random.Generator) -> None:
        count = 7 + sum(joint.info.nq for joint in topology.model.joints) + 7 * len(topology.branches)
        q = list(map(float, rng.uniform(0.4, 1.6, count) * rng.choice([-1.0, 1.0], count)))
        most = max([7, *(edge.law.nq for edge in edges if edge.law is not None)])
        cuts = {i: list(map(float, rng.uniform(0.4, 1.6, most))) for i, edge in enumerate(edges) if edge.cut}
        own = {i: edge._replace(q=0) if edge.cut else edge for i, edge in enumerate(edges)}
        self.values = [edge_value(own[i], cuts.get(i, q)) for i in range(len(edges))]
        own_poses: list[dict[str, Any]] = [{"A": _pose_matrix(edge.A), "B": _pose_matrix(edge.B)} for edge in edges]
        self.edges = [edge._replace(**poses) for edge, poses in zip(edges, own_poses, strict=True)]
        self.clusters = Clusters(edges, identity=PoseMatrix(np.eye(4)))
        self._motions: dict[int, tuple[PoseMatrix, PoseMatrix]] = {}

    def copy(self) -> RandomSample:
        """An independent copy."""
        return self._copy_with_clusters(self.clusters.copy())

    def part(self, nodes: Iterable[str]) -> RandomSample:
        """A copy restricted to the clusters of some nodes."""
        return self._copy_with_clusters(self.clusters.part(nodes))

    def _copy_with_clusters(self, clusters: Clusters) -> RandomSample:
        other = object.__new__(RandomSample)
        other.edges, other.values, other.clusters, other._motions = self.edges, self.values, clusters, self._motions
        return other

    def _random_motion(self, i: int) -> tuple[PoseMatrix, PoseMatrix]:
        """Random motion of an edge, and its inverse."""
        if i not in self._motions:
            E = _pose_matrix(edge_motion(self.edges[i], self.values[i]))
            self._motions[i] = E, E.inverse()
        return self._motions[i]

    def join(self, i: int) -> None:
        """Merge two clusters by the random value of an edge between them."""
        edge: Any = self.edges[i]
        E: Any = self._random_motion(i)[0]
        if not self.clusters.are_connected(edge.a, edge.b):
            self.clusters.join(edge, pose_across_edge(edge.A, E, edge.B))

    def chain_poses(self, chain: Chain) -> tuple[list[PoseMatrix], list[PoseMatrix]]:
        """Known poses between the unknown joints of a chain, and random motions of the joints."""
        poses: list[Any] = list(poses_between_edges(chain, self.edges, self.clusters))
        return poses, [self._random_motion(i)[0 if forward else 1] for i, forward in chain]


def random_samples(topology: Topology) -> list[RandomSample]:
    """Random samples of a machine; parameters are not perturbed if perturbed values make no sense."""
    rng = np.random.default_rng(7)
    values = topology.model.values()
    plain = {p.name: float(values[p.name]) for p in topology.model.parameters if p.independent}
    result, edges = [], None
    for _ in range(SAMPLES):
        moved = {
            name: value * (1.0 + float(rng.uniform(0.2, 1.0)) * PERTURBATION) + 1e-3 * float(rng.uniform(0.2, 1.0))
            for name, value in plain.items()
        }
        if edges is None or plain:
            try:
                edges = _edges_for_values(topology, moved)
            except (KinetostatError, ArithmeticError):
                edges = _edges_for_values(topology, plain)
        result.append(RandomSample(topology, edges, rng))
    return result


def _edges_for_values(topology: Topology, values: dict[str, float]) -> list[Edge]:
    return elementary_edges(
        topology, Numbers(parameter_values(topology.model.parameters, values), topology.model.origin)
    )


ALIGNMENT_TOLERANCE = 1e-9
"""Deviation from parallel (rad), or of lengths relative to the loop's size, below which it counts as zero."""
DISTINCT_FRACTION = 1e-5
"""Relative length or angle above which it counts as nonzero."""

PLANAR, SPHERICAL, WRIST, ROD, PARALLEL = "planar", "spherical", "wrist", "rod", "parallel"
MASSLESS, GEARED = "massless", "geared"
"""Families of solvable chains: planar with three degrees of freedom; spherical, three intersecting revolutes; wrist,
two intersecting revolutes and a joint, closed by a ball; rod, two balls and a joint; parallel, two revolutes and a
parallel prismatic joint, and a ball; massless, a joint and a massless rod; geared, a joint coupled by a gear to a known
one."""


class ChainSolution(NamedTuple):
    """Analytic solution of a closed chain: its family, and the chain in the order and direction of solution."""

    family: str
    chain: Chain


def chain_variants(chain: Chain) -> Iterator[Chain]:
    """Yield the chain started at each of its joints, in both directions."""
    back = tuple((i, not forward) for i, forward in reversed(chain))
    for each in (chain, back):
        for k in range(len(each)):
            yield each[k:] + each[:k]


def find_chain_solution(
    chain: Chain, samples: Sequence[RandomSample], is_guessed: Callable[[int], bool]
) -> ChainSolution | None:
    """Find the analytic solution of a closed chain, or None. Among equivalent ones, choose the one for which most roots
    are selected by tree coordinates (`is_guessed`)."""
    edges = samples[0].edges
    best: tuple[int, ChainSolution] | None = None
    back = tuple((i, not forward) for i, forward in reversed(chain))
    for base in (chain, back):
        around: list[tuple[list[PoseMatrix], list[PoseMatrix]]] = []
        for k in range(len(base)):
            begun = base[k:] + base[:k]
            kinds = "".join(edges[i].kind for i, _ in begun)
            for family, matches, roots in _FAMILIES:
                if not matches(kinds):
                    continue
                unknown = sum(not is_guessed(begun[n][0]) for n in roots)
                if best is not None and unknown >= best[0]:
                    continue
                around = around or [sample.chain_poses(base) for sample in samples]
                if all(_matches_family(family, kinds, K[k:] + K[:k], E[k:] + E[:k]) for K, E in around):
                    best = unknown, ChainSolution(family, begun)
    return None if best is None else best[1]


_FAMILIES: tuple[tuple[str, Callable[[str], bool], tuple[int, ...]], ...] = (
    (PLANAR, lambda kinds: kinds in ("RRR", "PRR", "RPP"), (0,)),
    (SPHERICAL, lambda kinds: kinds == "RRR", (1,)),
    (ROD, lambda kinds: kinds in ("RSS", "PSS"), (0, 1)),
    (MASSLESS, lambda kinds: kinds in ("RL", "PL"), (0,)),
    (PARALLEL, lambda kinds: kinds[3:] in ("S", "RRR") and sorted(kinds[:3]) == ["P", "R", "R"], (0, 1)),
    (WRIST, lambda kinds: kinds[3:] in ("S", "RRR") and kinds[:2] == "RR" and kinds[2] in "RP", (1, 2)),
)
"""Family, test for its kinds of joints, and indices of the joints whose guesses select a root."""


def _matches_family(family: str, kinds: str, K: list[PoseMatrix], E: list[PoseMatrix]) -> bool:
    size = max(1e-6, *(float(np.max(np.abs(X.position))) for X in K))
    return _CONDITIONS[family](kinds, K, E, size)


def _is_planar(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if every motion keeps the normal's direction and the height along it, and no two joints coincide."""
    normal = K[0].rotation.act(Z) if kinds == "PRR" else Z
    X = E[0] @ K[0] @ E[1] @ K[1] @ E[2] @ K[2]
    turned = X.rotation.act(normal) - normal
    if max(map(abs, turned)) > ALIGNMENT_TOLERANCE or abs(X.position.dot(normal)) > ALIGNMENT_TOLERANCE * (size + 2.0):
        return False
    if kinds == "RPP":
        across = K[1].rotation.act(Z).cross(Z)
        return bool(across.dot(across) > DISTINCT_FRACTION**2)
    if kinds == "PRR":
        return _axes_are_distinct(K[1], size) and abs(normal.z) < ALIGNMENT_TOLERANCE
    return all(_axes_are_distinct(X, size) for X in K)


def _axes_are_distinct(X: PoseMatrix, size: float) -> bool:
    """True if the axes of two parallel revolutes do not coincide."""
    return bool(np.hypot(X.position.x, X.position.y) > DISTINCT_FRACTION * size)


def _axis_intersection(X: PoseMatrix, size: float) -> tuple[float, float] | None:
    """Heights on both axes of their intersection, or None."""
    u = X.rotation.act(Z)
    if np.hypot(u.x, u.y) < DISTINCT_FRACTION:
        return None
    s, t = axis_intersection_heights(X.rotation, X.position)
    gap = np.hypot(X.position.x + t * u.x, X.position.y + t * u.y)
    return (s, t) if gap < ALIGNMENT_TOLERANCE * size else None


def _common_point(K: Sequence[PoseMatrix], size: float) -> tuple[float, float] | None:
    """Heights of the common point on the first and last of consecutive revolute axes; None if they do not intersect in
    one point."""
    met = [_axis_intersection(X, size) for X in K]
    points = [pair for pair in met if pair is not None]
    if len(points) < len(K):
        return None
    if any(abs(one[1] - two[0]) > ALIGNMENT_TOLERANCE * size for one, two in itertools.pairwise(points)):
        return None
    return points[0][0], points[-1][1]


def _is_spherical(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if all three axes intersect in one point."""
    ball, last = _common_point(K[:2], size), _axis_intersection(K[2], size)
    if ball is None or last is None:
        return False
    return abs(ball[1] - last[0]) < ALIGNMENT_TOLERANCE * size and abs(ball[0] - last[1]) < ALIGNMENT_TOLERANCE * size


def _ends_in_ball(K: list[PoseMatrix], size: float, joints: int) -> bool:
    """Return True if the chain ends in a ball joint, or in three revolutes equivalent to one."""
    return len(K) == joints + 1 or _common_point(K[joints : joints + 2], size) is not None


def _is_wrist(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if the first two axes intersect and the third joint changes the distance of the ball from the
    intersection."""
    pair = _axis_intersection(K[0], size)
    if pair is None or not _ends_in_ball(K, size, 3):
        return False
    if kinds[2] == "P":
        return True
    hub = (K[1].inverse()).point(point_on_z(pair[1]))
    return _changes_distance(K[2].point(point_on_z(_ball_height(K, size))), hub, size)


def _ball_height(K: list[PoseMatrix], size: float) -> float:
    """Height of the ball's centre on its first axis."""
    ball = None if len(K) == 4 else _common_point(K[3:5], size)
    return 0.0 if ball is None else ball[0]


def _changes_distance(a: Vector3, c: Vector3, size: float) -> bool:
    return bool(min(np.hypot(a.x, a.y), np.hypot(c.x, c.y)) > DISTINCT_FRACTION * size)


def _is_rod(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if the joint changes the distance between the balls."""
    length = np.linalg.norm(K[1].position)
    if length < DISTINCT_FRACTION * size:
        return False
    return kinds[0] == "P" or _changes_distance(K[0].position, K[2].inverse().position, size)


def _is_massless_rod(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if the joint changes the distance between the rod's ends."""
    return kinds[0] == "P" or _changes_distance(K[0].position, K[1].inverse().position, size)


def _is_parallel(kinds: str, K: list[PoseMatrix], E: list[PoseMatrix], size: float) -> bool:
    """Return True if all three axes are parallel and the revolutes do not coincide."""
    if not _ends_in_ball(K, size, 3):
        return False
    for X in K[:2]:
        u = X.rotation.act(Z)
        if np.hypot(u.x, u.y) > ALIGNMENT_TOLERANCE:
            return False
    first, second = (k for k in range(3) if kinds[k] == "R")
    X = K[first] if second == first + 1 else K[first] @ E[first + 1] @ K[first + 1]
    return _axes_are_distinct(X, size)


_CONDITIONS: dict[str, Callable[[str, list[PoseMatrix], list[PoseMatrix], float], bool]] = {
    PLANAR: _is_planar,
    SPHERICAL: _is_spherical,
    WRIST: _is_wrist,
    ROD: _is_rod,
    PARALLEL: _is_parallel,
    MASSLESS: _is_massless_rod,
}
