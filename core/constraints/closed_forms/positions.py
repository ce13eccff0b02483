"""Explicit positions: all coordinates as functions of the independent ones, on the branch nearest to a guess.

The steps of `core.constraints.closed_forms.order` are carried out over abstract scalars: an independent joint takes its
value from the guess and joins two clusters; a form is solved by its family
(`core.constraints.closed_forms.dyads`) between the clusters that are known by then, its joints' values become
coordinates, and its clusters one. Guesses of joints that were cut, which have no coordinates, are measured between the
poses of the tree. What comes out has no iteration and no branches, so that it can be differentiated and compiled. All
arithmetic is in steps of a runner (`core.mechanics.tree`), so that loops alike share code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from core.constraints.closed_forms.dyads import SOLVERS, Turn, quaternion_near, required_guesses
from core.constraints.closed_forms.families import GEARED, ChainSolution
from core.constraints.closed_forms.graph import (
    BESIDE,
    LINK,
    Clusters,
    Edge,
    edge_ends,
    edge_motion,
    edge_value,
    geared_pairs,
    pose_across_edge,
)
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation, from_quaternion
from core.numerics.spatial.scalar import Scalar, minus, negated, over, plus, times

Scalars = Sequence[Scalar]


class Positions(NamedTuple):
    """A closed position in explicit form."""

    q: list[Scalar]
    clusters: Clusters
    reaches: list[Scalar]
    """Margin of each chain solution; negative if the chain cannot be closed."""


def evaluate_positions(
    edges: list[Edge], steps: Sequence[ChainSolution | int], guess: Scalars, runner: Runner = inline
) -> Positions:
    """Evaluate the steps of the solution at a guess: (nq,) independent coordinates, and guesses of the others."""
    closing = _PositionBuilder(edges, guess, runner)
    for edge in edges:
        if edge.kind == "W" and not edge.cut:
            closing.place_tree_edge(closing.clusters, edge)
    for step in steps:
        if isinstance(step, int):
            closing.place_tree_edge(closing.clusters, edges[step])
        elif step.family == GEARED:
            closing.place_geared_joint(step)
        else:
            closing.solve_chain(step)
    return Positions(closing.q, closing.clusters, closing.reaches)


class EdgeNumbers(NamedTuple):
    """Numerical data of an edge."""

    A: Pose
    B: Pose
    ratio: Scalar
    offset: Scalar
    advance: Scalar
    law: Any

    def to_edge(self, kind: str) -> Edge:
        """An edge with these numbers, whose coordinates start at index 0."""
        return Edge("", kind, "", "", self.A, self.B, 0, 0, 0, self.ratio, self.offset, self.advance, self.law)


def edge_numbers(edge: Edge) -> EdgeNumbers:
    """Numerical data of an edge, without the names of its nodes and joint."""
    return EdgeNumbers(edge.A, edge.B, edge.ratio, edge.offset, edge.advance, edge.law)


COORDINATES = {"S": 4, "F": 7, "W": 0, LINK: 0}


def edge_coordinates(edge: Edge, q: Scalars) -> tuple[Scalar, ...]:
    """Entries of q that belong to the edge, (…); for a mimic joint those of its leader."""
    count = edge.law.nq if edge.kind == "O" else COORDINATES.get(edge.kind, 1)
    return tuple(q[edge.q : edge.q + count])


@cache
def _edge_pose_function(kind: str) -> Callable[[EdgeNumbers, Scalars], Pose]:
    """Return the function (edge numbers, coordinates of a tree edge) → X_ab."""

    def edge_pose(numbers: EdgeNumbers, q: Scalars) -> Pose:
        edge = numbers.to_edge(kind)
        return pose_across_edge(edge.A, edge_motion(edge, edge_value(edge, q)), edge.B)

    return edge_pose


class _PositionBuilder:
    """Position under construction: known clusters, coordinates and margins."""

    def __init__(self, edges: list[Edge], guess: Scalars, runner: Runner) -> None:
        self.edges, self.guess, self.run = edges, guess, runner
        self.q, self.clusters = list(guess), Clusters(edges, runner)
        self.reaches: list[Scalar] = []
        self.pairs = geared_pairs(edges)
        self.tree: Clusters | None = None
        self.parts: dict[str, list[Edge]] = {}
        for edge in edges:
            if edge.kind not in BESIDE:
                self.parts.setdefault(edge.joint, []).append(edge)

    def place_tree_edge(self, clusters: Clusters, edge: Edge) -> None:
        """Place a tree edge at its guess."""
        if not clusters.are_connected(edge.a, edge.b):
            clusters.join(
                edge, self.run(_edge_pose_function(edge.kind), edge_numbers(edge), edge_coordinates(edge, self.guess))
            )

    def place_geared_joint(self, form: ChainSolution) -> None:
        """Place a joint driven by a gear."""
        (i, _), (k, forward) = form.chain
        edge, gear, source = self.edges[i], self.edges[k], self.edges[self.pairs[k][1 if forward else 0]]
        given = edge_numbers(source), edge_coordinates(source, self.q), gear.ratio, gear.offset
        self.q[edge.q] = self.run(_driven_coordinate if forward else _driving_coordinate, *given)
        self.clusters.join(edge, self.run(_edge_pose_function(edge.kind), edge_numbers(edge), (self.q[edge.q],)))

    def solve_chain(self, form: ChainSolution) -> None:
        """Solve one chain and enter its coordinates into q and its nodes into the clusters."""
        chain = form.chain
        kinds = "".join(self.edges[i].kind for i, _ in chain)
        asked = required_guesses(form.family, kinds)
        joints = tuple(self._chain_joint_data(chain, k, k in asked) for k in range(len(chain)))
        flags = tuple((forward, self.edges[i].cut) for i, forward in chain)
        poses, coordinates, reach = self.run(_chain_solver(form.family, kinds, flags), joints)
        self.reaches.append(reach)
        for (i, _), X_ab, own in zip(chain, poses, coordinates, strict=True):
            edge = self.edges[i]
            if own is not None:
                self.q[edge.q : edge.q + len(own)] = own
            if X_ab is not None and not self.clusters.are_connected(edge.a, edge.b):
                self.clusters.join(edge, X_ab)

    def _chain_joint_data(self, chain: Sequence[tuple[int, bool]], k: int, needs_guess: bool) -> tuple[Any, ...]:
        """(numbers, guess, poses of the start and end of the known part after the joint) of the k-th joint."""
        i, forward = chain[k]
        edge = self.edges[i]
        n, onward = chain[(k + 1) % len(chain)]
        leave, enter = edge_ends(edge, forward)[2], edge_ends(self.edges[n], onward)[0]
        between = None if leave == enter else (self.clusters.pose[leave], self.clusters.pose[enter])
        guess: Any = None
        if not edge.cut:
            guess = edge_coordinates(edge, self.guess)
        elif needs_guess and edge.kind != LINK:
            guess = self._measure_value(edge)
        return edge_numbers(edge), guess, between

    def _measure_value(self, edge: Edge) -> Any:
        """Value of an elementary joint of a cut joint, measured at the guess."""
        if self.tree is None:
            self.tree = Clusters(self.edges, self.run)
            for other in self.edges:
                if not other.cut:
                    self.place_tree_edge(self.tree, other)
        parts = self.parts[edge.joint]
        first, last = parts[0], parts[-1]
        ball = len(parts) == 1 and first.kind == "S"
        ends_ = first.A, self.tree.pose[first.a], self.tree.pose[last.b], last.B
        return self.run(_joint_value_function(ball, edge.place), edge.law, *ends_)


def _driven_coordinate(source: EdgeNumbers, q: Scalars, ratio: Scalar, offset: Scalar) -> Scalar:
    return plus(times(ratio, edge_value(source.to_edge("R"), q)), offset)


def _driving_coordinate(source: EdgeNumbers, q: Scalars, ratio: Scalar, offset: Scalar) -> Scalar:
    return over(minus(edge_value(source.to_edge("R"), q), offset), ratio)


@cache
def _chain_solver(family: str, kinds: str, flags: tuple[tuple[bool, bool], ...]) -> Callable[..., Any]:
    """Return the function (joints of a chain) → (X_ab of each, its coordinates, the smallest margin); None for values
    that need not be known."""
    count = len(kinds)
    skipped = None if LINK in kinds else count - 1

    def solve(joints: Sequence[Any]) -> tuple[Any, ...]:
        edges = [numbers.to_edge(kind) for (numbers, _, _), kind in zip(joints, kinds, strict=True)]

        def value_at_guess(k: int) -> Any:
            """Guess of a joint in its own direction."""
            if kinds[k] == LINK:
                return edges[k].advance
            if flags[k][1]:
                return joints[k][1]
            own = edge_value(edges[k], joints[k][1])
            return from_quaternion(own) if kinds[k] == "S" else own

        def guess(k: int) -> Any:
            return value_at_guess(k) if flags[k][0] else _inverse_motion(value_at_guess(k))

        K = [_pose_after_edge(edges, flags, k, joints[k][2]) for k in range(count)]
        values, reach = SOLVERS[family](kinds, K, guess)
        poses: list[Any] = [None] * count
        coordinates: list[Any] = [None] * count
        for k, found in enumerate(values):
            if kinds[k] == LINK:
                continue
            own = found if flags[k][0] else _inverse_motion(found)
            if not flags[k][1]:
                coordinates[k] = _joint_coordinates(kinds[k], own, value_at_guess(k), joints[k][1])
            if k != skipped:
                poses[k] = pose_across_edge(edges[k].A, edge_motion(edges[k], own), edges[k].B)
        return tuple(poses), tuple(coordinates), reach

    return solve


def _pose_after_edge(edges: Sequence[Edge], flags: Sequence[tuple[bool, bool]], k: int, between: Any) -> Pose:
    """Known pose between an edge and the next one."""
    n = (k + 1) % len(edges)
    far, near = edge_ends(edges[k], flags[k][0])[3], edge_ends(edges[n], flags[n][0])[1]
    if between is None:
        return far.inverse() @ near
    return far.inverse() @ (between[0].inverse() @ between[1]) @ near


def _inverse_motion(value: Any) -> Any:
    """The inverse motion."""
    if isinstance(value, Turn):
        return value.back()
    return value.transposed() if isinstance(value, Rotation) else negated(value)


def _joint_coordinates(kind: str, value: Any, guess: Any, q: Scalars) -> tuple[Scalar, ...]:
    """Coordinates of a tree joint from its value."""
    if kind == "S":
        return tuple(quaternion_near(value, q))
    return (value.nearest_angle(guess) if isinstance(value, Turn) else value,)


@cache
def _joint_value_function(is_ball: bool, index: int) -> Callable[..., Any]:
    """Return the function (law of a joint, poses of its sides) → value of one of its elementary joints; for a ball
    joint its rotation."""

    def measure_value(law: Any, A: Pose, X_Ra: Pose, X_Rb: Pose, B: Pose) -> Any:
        X = A.inverse() @ (X_Ra.inverse() @ X_Rb) @ B
        if is_ball:
            return X.rotation
        stages = law.elementary()
        values = law.measure(stages[0].frame @ X @ stages[-1].frame.inverse()).values[stages[index].coordinate :]
        return from_quaternion(values[:4]) if stages[index].motion == "S" else values[0]

    return measure_value
