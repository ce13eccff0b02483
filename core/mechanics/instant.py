"""A tree at one instant: poses and motions of its links and of what is fixed to them, computed when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from core.mechanics.energy import moving
from core.mechanics.kinematics import coordinates, link_poses, speeds
from core.mechanics.steps import Runner, inline
from core.mechanics.tree import Place, Scalars, Tree
from core.spatial.motion import ZERO, Motion
from core.spatial.pose import Pose
from core.spatial.vector import Vector3


def motion_of(X_WL: Pose, V: Motion, p: Vector3) -> Motion:
    """[ω; v] in world axes of a point p of a link, from the link's motion in its own axes."""
    return Motion(X_WL.rotation.act(V.angular), X_WL.rotation.act(V.linear + V.angular.cross(p)))


class Instant:
    """Poses and motions at (q, v); without v all is at rest."""

    def __init__(self, tree: Tree, q: Scalars, v: Scalars | None = None, run: Runner = inline) -> None:
        self.tree, self.q, self.v, self.run = tree, q, v, run
        self._frames: dict[int, tuple[Place, Pose]] = {}
        self._motions: dict[int, tuple[Place, Motion]] = {}

    @cached_property
    def poses(self) -> list[Pose]:
        """X_WL of every link."""
        return link_poses(self.tree, self.q, self.run)

    @cached_property
    def coordinates(self) -> list[tuple[Any, ...]]:
        """Own coordinates of each link's joint."""
        return coordinates(self.tree, self.q, self.run)

    @cached_property
    def speeds(self) -> list[tuple[Any, ...]]:
        """Own speeds of each link's joint."""
        v = [0.0] * self.tree.nv if self.v is None else self.v
        return speeds(self.tree, v, self.run)

    @cached_property
    def motions(self) -> list[Motion]:
        """[ω; v] of every link's origin, in the link's axes."""
        result: list[Motion] = []
        for i, link in enumerate(self.tree.links):
            parent = ZERO if link.parent < 0 else result[link.parent]
            result.append(self.run(moving, link.law, link.placement, self.coordinates[i], self.speeds[i], parent))
        return result

    def frame(self, place: Place) -> Pose:
        """X_WF of a frame on a link."""
        if place.link < 0:
            return place.pose
        if id(place) not in self._frames:
            self._frames[id(place)] = place, self.run(Pose.__matmul__, self.poses[place.link], place.pose)
        return self._frames[id(place)][1]

    def motion(self, place: Place) -> Motion:
        """[ω; v] of a frame's origin, world axes."""
        if place.link < 0 or self.v is None:
            return ZERO
        if id(place) not in self._motions:
            motion = self.run(motion_of, self.poses[place.link], self.motions[place.link], place.pose.position)
            self._motions[id(place)] = place, motion
        return self._motions[id(place)][1]
