"""Kinematic state of a tree: poses and motions of its links and frames, computed when first needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from core.mechanics.energy import link_velocity
from core.mechanics.kinematics import (
    combine_columns,
    joint_coordinates,
    joint_speeds,
    link_pose,
    link_poses,
    own_coordinates,
)
from core.mechanics.loads import base_acceleration
from core.mechanics.tree import LinkFrame, Runner, Scalars, Tree, inline
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.vector import ZERO_MOTION, Motion, Vector3


def point_motion(X_WL: Pose, V: Motion, p: Vector3) -> Motion:
    """Return [ω; v] in world axes of a point p of a link, from the link's motion in its own axes."""
    return Motion(X_WL.rotation.act(V.angular), X_WL.rotation.act(V.linear + V.angular.cross(p)))


def link_acceleration(
    law: Any, placement: Pose, q: Scalars, v: Scalars, a: Scalars, V_parent: Motion, A_parent: Motion
) -> Motion:
    """Return the acceleration of a link from its parent's: A_i = X A_λ + S q̈ + Ṡ q̇ + V_i × S q̇ (RBDA 5.8)."""
    X, S = placement @ law.pose(q), law.subspace(q)
    V_J = combine_columns(S, v)
    return X.motion_back(A_parent) + combine_columns(S, a) + law.bias(q, v) + (X.motion_back(V_parent) + V_J).cross(V_J)


def point_acceleration(X_WL: Pose, V: Motion, A: Motion, p: Vector3) -> Vector3:
    """Return the acceleration of a point p of a link, world axes: a + ω̇ × p + ω × (v + ω × p)."""
    turning = V.angular.cross(V.linear + V.angular.cross(p))
    return X_WL.rotation.act(A.linear + A.angular.cross(p) + turning)


def motion_about(p: Vector3, X_WL: Pose, V: Motion) -> Motion:
    """Return a link's motion about the world point p in world axes."""
    return Pose(X_WL.rotation, X_WL.position - p).motion(V)


class KinematicState:
    """Poses and motions of all links at (q, v), and accelerations if a is given; v defaults to zero."""

    def __init__(
        self, tree: Tree, q: Scalars, v: Scalars | None = None, run: Runner = inline, a: Scalars | None = None
    ) -> None:
        self.tree, self.q, self.v, self.run, self.a = tree, q, v, run, a
        self._frames: dict[int, tuple[LinkFrame, Pose]] = {}
        self._motions: dict[int, tuple[LinkFrame, Motion]] = {}

    @cached_property
    def poses(self) -> list[Pose]:
        """Return X_WL of every link."""
        return link_poses(self.tree, self.q, self.run)

    @cached_property
    def coordinates(self) -> list[tuple[Any, ...]]:
        """Return the joint coordinates of each link."""
        return joint_coordinates(self.tree, self.q, self.run)

    @cached_property
    def speeds(self) -> list[tuple[Any, ...]]:
        """Return the joint speeds of each link."""
        v = [0.0] * self.tree.nv if self.v is None else self.v
        return joint_speeds(self.tree, v, self.run)

    @cached_property
    def motions(self) -> list[Motion]:
        """Return [ω; v] of every link's origin, in the link's axes."""
        result: list[Motion] = []
        for i, link in enumerate(self.tree.links):
            parent = ZERO_MOTION if link.parent < 0 else result[link.parent]
            result.append(
                self.run(link_velocity, link.law, link.placement, self.coordinates[i], self.speeds[i], parent)
            )
        return result

    @cached_property
    def accelerations(self) -> list[Motion]:
        """Return the acceleration of every link's origin minus uniform gravity, in the link's axes."""
        a = joint_speeds(self.tree, [0.0] * self.tree.nv if self.a is None else self.a, self.run)
        result: list[Motion] = []
        for i, link in enumerate(self.tree.links):
            inner = link.parent < 0
            parents = (
                (ZERO_MOTION, base_acceleration(self.tree.gravity))
                if inner
                else (self.motions[link.parent], result[link.parent])
            )
            own = (self.coordinates[i], self.speeds[i], a[i])
            result.append(self.run(link_acceleration, link.law, link.placement, *own, *parents))
        return result

    def acceleration(self, frame: LinkFrame) -> Vector3:
        """Return p̈ − g of a frame's origin, world axes."""
        if frame.link < 0:
            return base_acceleration(self.tree.gravity).linear
        V, A = self.motions[frame.link], self.accelerations[frame.link]
        return self.run(point_acceleration, self.poses[frame.link], V, A, frame.pose.position)

    def spatial_motion(self, frame: LinkFrame, p: Vector3) -> tuple[Motion, Motion]:
        """Return motion and spatial acceleration (without gravity) of the link of a frame, about the world point p in
        world axes."""
        if frame.link < 0:
            return ZERO_MOTION, base_acceleration(self.tree.gravity)
        both = self.motions[frame.link], self.accelerations[frame.link]
        V, A = (self.run(motion_about, p, self.poses[frame.link], motion) for motion in both)
        return V, A

    def frame(self, place: LinkFrame) -> Pose:
        """Return X_WF of a frame on a link."""
        if place.link < 0:
            return place.pose
        if id(place) not in self._frames:
            self._frames[id(place)] = place, self.run(Pose.__matmul__, self.poses[place.link], place.pose)
        return self._frames[id(place)][1]

    def motion(self, frame: LinkFrame) -> Motion:
        """Return [ω; v] of a frame's origin, world axes."""
        if frame.link < 0 or self.v is None:
            return ZERO_MOTION
        if id(frame) not in self._motions:
            motion = self.run(point_motion, self.poses[frame.link], self.motions[frame.link], frame.pose.position)
            self._motions[id(frame)] = frame, motion
        return self._motions[id(frame)][1]


class _RelativeState(KinematicState):
    """Poses of the links between two links and their nearest common ancestor, in the ancestor's axes."""

    def __init__(self, tree: Tree, q: Scalars, ends: tuple[int, int], run: Runner) -> None:
        super().__init__(tree, q, None, run)
        self._ends = ends

    @cached_property
    def poses(self) -> dict[int, Pose]:  # type: ignore[override]
        """Return X_CL of these links, C being the common ancestor."""
        paths = [[*reversed(self.tree.ancestors(end))] for end in self._ends]
        shared = 0
        while shared < min(map(len, paths)) and paths[0][shared] == paths[1][shared]:
            shared += 1
        result = {} if shared == 0 else {paths[0][shared - 1]: IDENTITY}
        for path in paths:
            for i in path[shared:]:
                link = self.tree.links[i]
                parent = result.get(link.parent, IDENTITY)
                result[i] = self.run(
                    link_pose, link.law, link.placement, own_coordinates(link, self.q, self.run), parent
                )
        return result


def relative_state(tree: Tree, q: Scalars, first_link: int, second_link: int, run: Runner = inline) -> KinematicState:
    """Return a kinematic state that contains only the poses of the links between two links (−1: world), in the axes of
    their nearest common ancestor; the relative pose of the two does not depend on the ancestor's motion."""
    return _RelativeState(tree, q, (first_link, second_link), run)
