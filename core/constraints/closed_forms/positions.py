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

from core.constraints.closed_forms.dyads import SOLVERS, Turn, guesses_of, quaternion_near
from core.constraints.closed_forms.families import GEARED, Form
from core.constraints.closed_forms.graph import BESIDE, LINK, Clusters, Edge, across, ends, geared_pairs, known, motion
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


def positions(edges: list[Edge], steps: Sequence[Form | int], guess: Scalars, run: Runner = inline) -> Positions:
    """Evaluate the steps of the solution. guess : (nq,) independent coordinates, and guesses of the others"""
    closing = _PositionBuilder(edges, guess, run)
    for edge in edges:
        if edge.kind == "W" and not edge.cut:
            closing.take(closing.clusters, edge)
    for step in steps:
        if isinstance(step, int):
            closing.take(closing.clusters, edges[step])
        elif step.family == GEARED:
            closing.follow(step)
        else:
            closing.close(step)
    return Positions(closing.q, closing.clusters, closing.reaches)


class EdgeNumbers(NamedTuple):
    """Numerical data of an edge."""

    A: Pose
    B: Pose
    ratio: Scalar
    offset: Scalar
    advance: Scalar
    law: Any

    def edge(self, kind: str) -> Edge:
        """An edge with these numbers, whose coordinates start at index 0."""
        return Edge("", kind, "", "", self.A, self.B, 0, 0, 0, self.ratio, self.offset, self.advance, self.law)


def numbers_of(edge: Edge) -> EdgeNumbers:
    """Numerical data of an edge, without its names."""
    return EdgeNumbers(edge.A, edge.B, edge.ratio, edge.offset, edge.advance, edge.law)


COORDINATES = {"S": 4, "F": 7, "W": 0, LINK: 0}


def coordinates_of(edge: Edge, q: Scalars) -> tuple[Scalar, ...]:
    """Entries of the edge in q, (…); a mimic joint's are those of its leader."""
    count = edge.law.nq if edge.kind == "O" else COORDINATES.get(edge.kind, 1)
    return tuple(q[edge.q : edge.q + count])


@cache
def _placing_function(kind: str) -> Callable[[EdgeNumbers, Scalars], Pose]:
    """Function (edge numbers, coordinates of a tree edge) → X_ab."""

    def placing(numbers: EdgeNumbers, q: Scalars) -> Pose:
        edge = numbers.edge(kind)
        return across(edge.A, motion(edge, known(edge, q)), edge.B)

    return placing


class _PositionBuilder:
    """Position under construction: known clusters, coordinates and margins."""

    def __init__(self, edges: list[Edge], guess: Scalars, run: Runner) -> None:
        self.edges, self.guess, self.run = edges, guess, run
        self.q, self.clusters = list(guess), Clusters(edges, run)
        self.reaches: list[Scalar] = []
        self.pairs = geared_pairs(edges)
        self.tree: Clusters | None = None
        self.parts: dict[str, list[Edge]] = {}
        for edge in edges:
            if edge.kind not in BESIDE:
                self.parts.setdefault(edge.joint, []).append(edge)

    def take(self, clusters: Clusters, edge: Edge) -> None:
        """Place a tree edge at its guess."""
        if not clusters.together(edge.a, edge.b):
            clusters.join(
                edge, self.run(_placing_function(edge.kind), numbers_of(edge), coordinates_of(edge, self.guess))
            )

    def follow(self, form: Form) -> None:
        """Place a joint driven by a gear."""
        (i, _), (k, forward) = form.chain
        edge, gear, source = self.edges[i], self.edges[k], self.edges[self.pairs[k][1 if forward else 0]]
        given = numbers_of(source), coordinates_of(source, self.q), gear.ratio, gear.offset
        self.q[edge.q] = self.run(_driven_coordinate if forward else _driving_coordinate, *given)
        self.clusters.join(edge, self.run(_placing_function(edge.kind), numbers_of(edge), (self.q[edge.q],)))

    def close(self, form: Form) -> None:
        """Solve one chain and enter its coordinates into q and its nodes into the clusters."""
        chain = form.chain
        kinds = "".join(self.edges[i].kind for i, _ in chain)
        asked = guesses_of(form.family, kinds)
        joints = tuple(self._chain_joint_data(chain, k, k in asked) for k in range(len(chain)))
        flags = tuple((forward, self.edges[i].cut) for i, forward in chain)
        poses, coordinates, reach = self.run(_chain_solver(form.family, kinds, flags), joints)
        self.reaches.append(reach)
        for (i, _), X_ab, own in zip(chain, poses, coordinates, strict=True):
            edge = self.edges[i]
            if own is not None:
                self.q[edge.q : edge.q + len(own)] = own
            if X_ab is not None and not self.clusters.together(edge.a, edge.b):
                self.clusters.join(edge, X_ab)

    def _chain_joint_data(self, chain: Sequence[tuple[int, bool]], k: int, asked: bool) -> tuple[Any, ...]:
        """(numbers, guess, poses of the start and end of the known part after the joint) of the k-th joint."""
        i, forward = chain[k]
        edge = self.edges[i]
        n, onward = chain[(k + 1) % len(chain)]
        leave, enter = ends(edge, forward)[2], ends(self.edges[n], onward)[0]
        between = None if leave == enter else (self.clusters.pose[leave], self.clusters.pose[enter])
        guess: Any = None
        if not edge.cut:
            guess = coordinates_of(edge, self.guess)
        elif asked and edge.kind != LINK:
            guess = self._measured_value(edge)
        return numbers_of(edge), guess, between

    def _measured_value(self, edge: Edge) -> Any:
        """Value of an elementary joint of a cut joint, measured at the guess."""
        if self.tree is None:
            self.tree = Clusters(self.edges, self.run)
            for other in self.edges:
                if not other.cut:
                    self.take(self.tree, other)
        parts = self.parts[edge.joint]
        first, last = parts[0], parts[-1]
        ball = len(parts) == 1 and first.kind == "S"
        ends_ = first.A, self.tree.pose[first.a], self.tree.pose[last.b], last.B
        return self.run(_measuring_function(ball, edge.place), edge.law, *ends_)


def _driven_coordinate(source: EdgeNumbers, q: Scalars, ratio: Scalar, offset: Scalar) -> Scalar:
    return plus(times(ratio, known(source.edge("R"), q)), offset)


def _driving_coordinate(source: EdgeNumbers, q: Scalars, ratio: Scalar, offset: Scalar) -> Scalar:
    return over(minus(known(source.edge("R"), q), offset), ratio)


@cache
def _chain_solver(family: str, kinds: str, flags: tuple[tuple[bool, bool], ...]) -> Callable[..., Any]:
    """Function joints of a chain → (X_ab of each, its coordinates, the smallest margin); None for values that need not
    be known."""
    count = len(kinds)
    skipped = None if LINK in kinds else count - 1

    def solving(joints: Sequence[Any]) -> tuple[Any, ...]:
        edges = [numbers.edge(kind) for (numbers, _, _), kind in zip(joints, kinds, strict=True)]

        def value(k: int) -> Any:
            """Guess of a joint in its own direction."""
            if kinds[k] == LINK:
                return edges[k].advance
            if flags[k][1]:
                return joints[k][1]
            own = known(edges[k], joints[k][1])
            return from_quaternion(own) if kinds[k] == "S" else own

        def guess(k: int) -> Any:
            return value(k) if flags[k][0] else _inverse_motion(value(k))

        K = [_pose_after_edge(edges, flags, k, joints[k][2]) for k in range(count)]
        values, reach = SOLVERS[family](kinds, K, guess)
        poses: list[Any] = [None] * count
        coordinates: list[Any] = [None] * count
        for k, found in enumerate(values):
            if kinds[k] == LINK:
                continue
            own = found if flags[k][0] else _inverse_motion(found)
            if not flags[k][1]:
                coordinates[k] = _joint_coordinates(kinds[k], own, value(k), joints[k][1])
            if k != skipped:
                poses[k] = across(edges[k].A, motion(edges[k], own), edges[k].B)
        return tuple(poses), tuple(coordinates), reach

    return solving


def _pose_after_edge(edges: Sequence[Edge], flags: Sequence[tuple[bool, bool]], k: int, between: Any) -> Pose:
    """Known pose between an edge and the next one."""
    n = (k + 1) % len(edges)
    far, near = ends(edges[k], flags[k][0])[3], ends(edges[n], flags[n][0])[1]
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
    return (value.angle(guess) if isinstance(value, Turn) else value,)


@cache
def _measuring_function(ball: bool, place: int) -> Callable[..., Any]:
    """Function (law of a joint, poses of its sides) → value of one of its elementary joints; of a ball the rotation."""

    def measuring(law: Any, A: Pose, X_Ra: Pose, X_Rb: Pose, B: Pose) -> Any:
        X = A.inverse() @ (X_Ra.inverse() @ X_Rb) @ B
        if ball:
            return X.rotation
        stages = law.elementary()
        values = law.measure(stages[0].frame @ X @ stages[-1].frame.inverse()).values[stages[place].coordinate :]
        return from_quaternion(values[:4]) if stages[place].motion == "S" else values[0]

    return measuring
