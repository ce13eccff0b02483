"""Random samples of a machine for testing geometric properties: random joint values, and parameters perturbed
slightly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_forms.graph import Chain, Clusters, Edge, across, between, edges_of, known, motion
from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology
from core.model.parameters import environment
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3

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


class Sample:
    """A machine at random joint values and slightly perturbed parameters."""

    def __init__(self, topology: Topology, edges: list[Edge], rng: np.random.Generator) -> None:
        count = 7 + sum(joint.info.nq for joint in topology.model.joints) + 7 * len(topology.branches)
        q = list(map(float, rng.uniform(0.4, 1.6, count) * rng.choice([-1.0, 1.0], count)))
        most = max([7, *(edge.law.nq for edge in edges if edge.law is not None)])
        cuts = {i: list(map(float, rng.uniform(0.4, 1.6, most))) for i, edge in enumerate(edges) if edge.cut}
        own = {i: edge._replace(q=0) if edge.cut else edge for i, edge in enumerate(edges)}
        self.values = [known(own[i], cuts.get(i, q)) for i in range(len(edges))]
        own_poses: list[dict[str, Any]] = [{"A": _pose_matrix(edge.A), "B": _pose_matrix(edge.B)} for edge in edges]
        self.edges = [edge._replace(**poses) for edge, poses in zip(edges, own_poses, strict=True)]
        self.clusters = Clusters(edges, same=PoseMatrix(np.eye(4)))
        self._motions: dict[int, tuple[PoseMatrix, PoseMatrix]] = {}

    def copy(self) -> Sample:
        """An independent copy."""
        return self._with_clusters(self.clusters.copy())

    def part(self, nodes: Iterable[str]) -> Sample:
        """A copy restricted to the clusters of some nodes."""
        return self._with_clusters(self.clusters.part(nodes))

    def _with_clusters(self, clusters: Clusters) -> Sample:
        other = object.__new__(Sample)
        other.edges, other.values, other.clusters, other._motions = self.edges, self.values, clusters, self._motions
        return other

    def _random_motion(self, i: int) -> tuple[PoseMatrix, PoseMatrix]:
        """Random motion of an edge, and its inverse."""
        if i not in self._motions:
            E = _pose_matrix(motion(self.edges[i], self.values[i]))
            self._motions[i] = E, E.inverse()
        return self._motions[i]

    def join(self, i: int) -> None:
        """Merge two clusters by the random value of an edge between them."""
        edge: Any = self.edges[i]
        E: Any = self._random_motion(i)[0]
        if not self.clusters.together(edge.a, edge.b):
            self.clusters.join(edge, across(edge.A, E, edge.B))

    def around(self, chain: Chain) -> tuple[list[PoseMatrix], list[PoseMatrix]]:
        """Known poses between the unknown joints of a chain, and random motions of these joints."""
        poses: list[Any] = list(between(chain, self.edges, self.clusters))
        return poses, [self._random_motion(i)[0 if forward else 1] for i, forward in chain]


def random_samples(topology: Topology) -> list[Sample]:
    """Random samples; parameters are not perturbed if perturbed ones make no sense."""
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
                edges = _edges_at(topology, moved)
            except (KinetostatError, ArithmeticError):
                edges = _edges_at(topology, plain)
        result.append(Sample(topology, edges, rng))
    return result


def _edges_at(topology: Topology, values: dict[str, float]) -> list[Edge]:
    return edges_of(topology, Numbers(environment(topology.model.parameters, values), topology.model.origin))
