"""Rotor inertia of joints that close a loop: their speeds q̇ = w v are no entries of v, but measured between frames.

To the mass matrix it adds J wᵀ w, to the forces J wᵀ q̈ with q̈ = w v̇ + ẇ v, as an entry of v does by itself. With the
wrenches W that read the joint's speeds, w = W · (columns of V_ab), and q̈ = W · (A_b − A_a − Ṡ q̇ − V_b × V_ab): what
is left of the accelerations (RBDA 5.8) is S q̈.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.elements.force_kinds import against_growth
from core.elements.sensors import Chord, measured
from core.elements.situation import Loads
from core.mechanics.kinematic_state import Instant
from core.mechanics.kinematics import jacobian
from core.mechanics.tree import Place, Scalars
from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.relative_measures import rate
from core.spatial.rotation import IDENTITY as NO_ROTATION
from core.spatial.scalar import Scalar, times, total, vanish
from core.spatial.vector import Vector3


@dataclass(frozen=True)
class Rotor:
    """The rotor inertia of a cut joint, the same for each of its speeds."""

    name: str
    chord: Chord
    """The joint's measure; its `axis` is the joint's law."""
    mass: Scalar
    """J, kg·m²; of slides kg."""

    def inertia(self, instant: Instant, loads: Loads) -> None:
        """Add what it exerts between the joint's frames: −J q̈."""
        run, (a, b) = instant.run, (self.chord.a, self.chord.b)
        reading, V_ab = measured(self.chord, instant)
        X_b = instant.frame(b)
        (_, A_a), (V_b, A_b) = (instant.spatial(place, X_b.position) for place in (a, b))
        speeds = tuple(run(rate, wrench, V_ab) for wrench in reading.wrenches)
        own = run(own_acceleration, self.chord.axis, X_b, reading.values, speeds, (A_a, A_b), (V_b, V_ab))
        for wrench in reading.wrenches:
            force = run(times, self.mass, run(rate, wrench, own))
            loads.between(a, b, X_b.position, run(against_growth, wrench, 1.0, force))

    def columns(self, instant: Instant) -> list[Scalars]:
        """w, one column per speed of the machine."""
        run, (a, b) = instant.run, (self.chord.a, self.chord.b)
        wrenches = measured(self.chord, instant)[0].wrenches
        p_b = instant.frame(b).position
        of_a, of_b = (_columns_at(instant, place, p_b) for place in (a, b))
        nothing = (0.0,) * len(wrenches)
        return [
            nothing if vanish((*pair[0], *pair[1])) else run(read, wrenches, *pair)
            for pair in zip(of_a, of_b, strict=True)
        ]

    def energy(self, instant: Instant) -> tuple[Scalar, Scalar]:
        """(kinetic ½ J q̇², potential 0), J."""
        reading, V_ab = measured(self.chord, instant)
        return instant.run(kinetic_of, self.mass, reading.wrenches, V_ab), 0.0


def _columns_at(instant: Instant, place: Place, p: Vector3) -> list[tuple[Scalar, ...]]:
    """[ω; v] that each speed gives a frame's link at the world point p."""
    if place.link < 0:
        return [(0.0,) * 6] * instant.tree.nv
    at = instant.run(in_link, instant.poses[place.link], p)
    rows = jacobian(instant.tree, instant.q, place.link, Pose(NO_ROTATION, at), instant.run)
    return [tuple(row[k] for row in rows) for k in range(instant.tree.nv)]


def in_link(X_WL: Pose, p: Vector3) -> Vector3:
    """A world point in a link's frame."""
    return X_WL.rotation.act_back(p - X_WL.position)


def read(wrenches: tuple[Force, ...], of_a: Scalars, of_b: Scalars) -> tuple[Scalar, ...]:
    """W · (V_b − V_a)."""
    V_a, V_b = (Motion(Vector3(*x[:3]), Vector3(*x[3:])) for x in (of_a, of_b))
    return tuple((V_b - V_a).dot(wrench) for wrench in wrenches)


def own_acceleration(
    law: Any, X_b: Pose, q: Scalars, v: Scalars, changes: tuple[Motion, Motion], motions: tuple[Motion, Motion]
) -> Motion:
    """S q̈ = A_b − A_a − Ṡ q̇ − V_b × V_ab, about b's origin in world axes."""
    (A_a, A_b), (V_b, V_ab), bias = changes, motions, law.bias(q, v)
    turning = Motion(X_b.rotation.act(bias.angular), X_b.rotation.act(bias.linear))
    return A_b - A_a - turning - V_b.cross(V_ab)


def kinetic_of(mass: Scalar, wrenches: tuple[Force, ...], V_ab: Motion) -> Scalar:
    """½ J Σ q̇²."""
    speeds = [V_ab.dot(wrench) for wrench in wrenches]
    return times(0.5, times(mass, total(times(x, x) for x in speeds)))
