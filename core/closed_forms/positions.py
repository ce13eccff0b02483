"""Explicit positions: all coordinates from the independent ones, the branch nearest to a guess.

The steps of `core.closed_forms.order` are carried out over abstract scalars: an independent joint takes its value from
the guess and joins two clusters; a form is solved by its family (`core.closed_forms.dyad_chains`) between the clusters
that are known by then, its joints' values become coordinates, and its clusters one. Guesses of joints that were cut,
which have no coordinates, are measured between the poses of the tree. What comes out has no iteration and no branches,
so that it can be differentiated and compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.closed_forms.dyad_chains import SOLVERS
from core.closed_forms.dyads import Turn, quaternion_near
from core.closed_forms.families import GEARED, Form
from core.closed_forms.graph import BESIDE, LINK, Clusters, Edge, across, between, geared_pairs, known, motion
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation, from_quaternion
from core.spatial.scalar import Scalar, minus, negated, over, plus, times

Scalars = Sequence[Scalar]


class Positions(NamedTuple):
    """A closed position."""

    q: list[Scalar]
    clusters: Clusters
    reaches: list[Scalar]
    """Of each form: negative where it cannot be closed."""


def positions(edges: list[Edge], steps: Sequence[Form | int], guess: Scalars) -> Positions:
    """Carry out the steps. guess : (nq,) independent coordinates, and guesses of the others."""
    q = list(guess)
    clusters = Clusters(edges)
    guesses = _Guesses(edges, guess)
    reaches: list[Scalar] = []
    for edge in edges:
        if edge.kind == "W" and not edge.cut:
            clusters.join(edge, _across(edge, 0.0))
    for step in steps:
        if isinstance(step, int):
            edge = edges[step]
            if not clusters.together(edge.a, edge.b):
                clusters.join(edge, _across(edge, known(edge, guess)))
            continue
        if step.family == GEARED:
            _follow(edges, step, clusters, q)
        else:
            reaches.append(_close(edges, step, clusters, guesses, q))
    return Positions(q, clusters, reaches)


def _close(edges: list[Edge], form: Form, clusters: Clusters, guesses: _Guesses, q: list[Scalar]) -> Scalar:
    """One form: its coordinates into q, its nodes into the clusters."""
    chain = form.chain
    kinds = "".join(edges[i].kind for i, _ in chain)

    def guess(k: int) -> Any:
        value = guesses.value(chain[k][0])
        return value if chain[k][1] else _back(value)

    K = between(chain, edges, clusters)
    values, reach = SOLVERS[form.family](kinds, K, guess)
    for (i, forward), value in zip(chain, values, strict=True):
        edge = edges[i]
        if edge.kind == LINK:
            continue
        own = value if forward else _back(value)
        if not edge.cut:
            _enter(edge, own, guesses, i, q)
        if not clusters.together(edge.a, edge.b):
            clusters.join(edge, _across(edge, own))
    return reach


def _follow(edges: list[Edge], form: Form, clusters: Clusters, q: list[Scalar]) -> None:
    """A joint behind a gear."""
    (i, _), (k, forward) = form.chain
    gear, source = edges[k], edges[geared_pairs(edges)[k][1 if forward else 0]]
    value = known(source, q)
    if forward:
        q[edges[i].q] = plus(times(gear.ratio, value), gear.offset)
    else:
        q[edges[i].q] = over(minus(value, gear.offset), gear.ratio)
    clusters.join(edges[i], _across(edges[i], q[edges[i].q]))


def _back(value: Any) -> Any:
    """The motion met from its other side."""
    if isinstance(value, Turn):
        return value.back()
    return value.transposed() if isinstance(value, Rotation) else negated(value)


def _enter(edge: Edge, value: Any, guesses: _Guesses, i: int, q: list[Scalar]) -> None:
    """The coordinates of a tree joint."""
    if edge.kind == "S":
        q[edge.q : edge.q + 4] = quaternion_near(value, guesses.guess[edge.q : edge.q + 4])
    else:
        q[edge.q] = value.angle(guesses.value(i)) if isinstance(value, Turn) else value


class _Guesses:
    """Values of edges at the guess; those of cut joints from the poses of the tree, when they are asked for."""

    def __init__(self, edges: list[Edge], guess: Scalars) -> None:
        self.edges, self.guess = edges, guess
        self.tree: Clusters | None = None

    def value(self, i: int) -> Any:
        """An angle (rad), a displacement (m), or a rotation; of a rod its length."""
        edge = self.edges[i]
        if edge.kind == LINK:
            return edge.advance
        if edge.cut:
            return self._cut(i)
        value = known(edge, self.guess)
        return from_quaternion(value) if edge.kind == "S" else value

    def _cut(self, i: int) -> Any:
        if self.tree is None:
            self.tree = Clusters(self.edges)
            for edge in self.edges:
                if not edge.cut and not self.tree.together(edge.a, edge.b):
                    self.tree.join(edge, _across(edge, known(edge, self.guess)))
        edge = self.edges[i]
        parts = [other for other in self.edges if other.joint == edge.joint and other.kind not in BESIDE]
        X = parts[0].A.inverse() @ self.tree.relative(parts[0].a, parts[-1].b) @ parts[-1].B
        return _coordinate(parts, edge.place, X)


def _coordinate(parts: list[Edge], place: int, X: Pose) -> Any:
    """The value of one elementary joint as its joint's kind measures it; X: between the outermost elementary frames."""
    if len(parts) == 1 and parts[0].kind == "S":  # the rotation is what is wanted
        return X.rotation
    law = parts[0].law
    stages = law.elementary()
    stage = stages[place]
    values = law.measure(stages[0].frame @ X @ stages[-1].frame.inverse()).values[stage.coordinate :]
    return from_quaternion(values[:4]) if stage.motion == "S" else values[0]


def _across(edge: Edge, value: Any) -> Pose:
    return across(edge.A, motion(edge, value), edge.B)
