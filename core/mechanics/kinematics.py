"""Poses of links and frames, and their Jacobians.

Poses go outward, X_WL = X_WP X_PL(q) from parent to child. J of a frame F has rows [ω; v]: angular velocity, and
velocity of F's origin, in world axes (RBDA 4.3, Siciliano 3.1). Its columns are the motions S of the joints between F
and the ground, brought to F's origin; joints elsewhere have zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.mechanics.tree import Coupling, Link, Runner, Scalars, Tree, follower_coordinate, inline
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.scalar import Scalar, plus, times, total
from core.numerics.spatial.vector import ZERO, Motion, Vector3


def own_coordinates(link: Link, q: Scalars, run: Runner = inline) -> tuple[Scalar, ...]:
    """Return a link's joint coordinates; those of a coupled joint are computed from its leader's."""
    return tuple(q[link.q]) if link.coupling is None else (run(follower_coordinate, link.coupling, q[link.first_q]),)


def joint_coordinates(tree: Tree, q: Scalars, run: Runner = inline) -> list[tuple[Scalar, ...]]:
    """Return the joint coordinates of each link."""
    return [own_coordinates(link, q, run) for link in tree.links]


def joint_speeds(tree: Tree, v: Scalars, run: Runner = inline) -> list[tuple[Scalar, ...]]:
    """Return the joint speeds (or accelerations) of each link: v_follower = ratio · v_leader."""
    return [
        tuple(v[link.v]) if link.coupling is None else (run(times, link.coupling.ratio, v[link.first_v]),)
        for link in tree.links
    ]


def combine_columns(columns: Sequence[Motion], speeds: Scalars) -> Motion:
    """Return Σ S_k v_k."""
    return Motion(
        _weighted([column.angular for column in columns], speeds),
        _weighted([column.linear for column in columns], speeds),
    )


def _weighted(vectors: Sequence[Vector3], weights: Scalars) -> Vector3:
    result = ZERO
    for vector, weight in zip(vectors, weights, strict=True):
        result = result + vector.scaled(weight)
    return result


def link_pose(law: Any, placement: Pose, q: Scalars, X_WP: Pose) -> Pose:
    """Return the pose of a link in the world: X_WL = X_WP X_PL(q)."""
    return X_WP @ (placement @ law.pose(q))


def link_poses(tree: Tree, q: Scalars, run: Runner = inline) -> list[Pose]:
    """Return X_WL of every link."""
    own = joint_coordinates(tree, q, run)
    poses: list[Pose] = []
    for i, link in enumerate(tree.links):
        parent = IDENTITY if link.parent < 0 else poses[link.parent]
        poses.append(run(link_pose, link.law, link.placement, own[i], parent))
    return poses


def coordinate_rates(tree: Tree, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return q̇ (nq,), which equals v except for quaternions."""
    result: list[Scalar] = [0.0] * tree.nq
    for link in tree.links:
        if link.coupling is None:
            result[link.q] = link.law.rate(q[link.q], v[link.v])
    return result


def jacobian_columns(law: Any, coupling: Coupling | None, q: Scalars, X_WL: Pose, p: Vector3) -> tuple[Motion, ...]:
    """Return the columns of J that a link's joint contributes at a world point p: ω = R S_ω, v = R S_v + ω × (p −
    p_L)."""
    columns = []
    for column in law.subspace(q):
        angular = X_WL.rotation.act(column.angular)
        linear = X_WL.rotation.act(column.linear) + angular.cross(p - X_WL.position)
        motion = Motion(angular, linear)
        columns.append(motion if coupling is None else motion.scaled(coupling.ratio))
    return tuple(columns)


def jacobian(tree: Tree, q: Scalars, link: int, X_LF: Pose, run: Runner = inline) -> list[list[Scalar]]:
    """Return the 6×nv Jacobian of frame F fixed to a link (−1: world), rows [ω; v]."""
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]
    path = tree.ancestors(link)
    own = joint_coordinates(tree, q, run)
    poses: dict[int, Pose] = {-1: IDENTITY}
    for i in reversed(path):
        poses[i] = run(link_pose, tree.links[i].law, tree.links[i].placement, own[i], poses[tree.links[i].parent])
    p = run(Pose.point, poses[link], X_LF.position)
    for i in path:
        joint = tree.links[i]
        for k, motion in enumerate(run(jacobian_columns, joint.law, joint.coupling, own[i], poses[i], p)):
            at = joint.first_v + k  # a follower and its leader share a column: their motions add
            for row, entry in zip(rows, (*motion.angular, *motion.linear), strict=True):
                row[at] = run(plus, row[at], entry) if tree.has_coupled_joints else entry
    return rows


def mass_center(tree: Tree, poses: Sequence[Pose], ground: Sequence[Any], run: Runner = inline) -> list[Scalar]:
    """Return the total mass (kg) and the first moment (kg·m) of all bodies in world axes, (4,)."""
    sums: tuple[Scalar, ...] = (0.0,) * 4
    for body in ground:
        sums = run(_add_link_moment, sums, body.mass, body.moment, IDENTITY)
    for link, X_WL in zip(tree.links, poses, strict=True):
        sums = run(_add_link_moment, sums, link.inertia.mass, link.inertia.moment, X_WL)
    return list(sums)


def _add_link_moment(sums: Scalars, mass: Scalar, moment: Vector3, X: Pose) -> tuple[Scalar, ...]:
    more = X.rotation.act(moment) + X.position.scaled(mass)
    return tuple(total(pair) for pair in zip(sums, (mass, *more), strict=True))
