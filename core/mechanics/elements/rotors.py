"""Rotor inertia of cut joints, whose speeds q̇ = w v are not entries of v but measured between frames.

To the mass matrix it adds J wᵀ w, to the forces J wᵀ q̈ with q̈ = w v̇ + ẇ v, as an entry of v does by itself. With the
wrenches W that read the joint's speeds, w = W · (columns of V_ab), and q̈ = W · (A_b − A_a − Ṡ q̇ − V_b × V_ab): what
is left of the accelerations (RBDA 5.8) is S q̈.
"""

from __future__ import annotations

from typing import Any

from core.later import dataclass
from core.mechanics.elements.force_state import Loads
from core.mechanics.elements.forces.along_one import wrench_against_growth
from core.mechanics.elements.sensors import RelativeMeasure, evaluate_measure
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import jacobian
from core.mechanics.tree import LinkFrame, Scalars
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import measure_rate
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.scalar import Scalar, all_zero, plus, times, total
from core.numerics.spatial.vector import Force, Motion, Vector3


@dataclass(frozen=True)
class Rotor:
    """Rotor inertia of a cut joint, the same for each of its speeds."""

    name: str
    measure: RelativeMeasure
    """Relative measure of the joint; its `axis` is the joint's law."""
    mass: Scalar
    """J, kg·m²; kg for translations."""

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add the inertia force between the joint's frames to the loads: −J q̈, for a free joint −J (q̈ + ω × v)."""
        run, (a, b) = kinematics.run, (self.measure.a, self.measure.b)
        measured, V_ab = evaluate_measure(self.measure, kinematics)
        X_b = kinematics.frame(b)
        (_, A_a), (V_b, A_b) = (kinematics.spatial_motion(place, X_b.position) for place in (a, b))
        speeds = tuple(run(measure_rate, wrench, V_ab) for wrench in measured.wrenches)
        own = run(joint_acceleration, self.measure.axis, X_b, measured.values, speeds, (A_a, A_b), (V_b, V_ab))
        along = [run(measure_rate, wrench, own) for wrench in measured.wrenches]
        if self.measure.axis.carried((0.0,) * len(speeds)) is not None:
            along = [
                run(plus, x, turned)
                for x, turned in zip(along, run(convective_acceleration, self.measure.axis, speeds), strict=True)
            ]
        for wrench, acceleration in zip(measured.wrenches, along, strict=True):
            force = run(times, self.mass, acceleration)
            loads.add_wrench_pair(a, b, X_b.position, run(wrench_against_growth, wrench, 1.0, force))

    def columns(self, kinematics: KinematicState) -> list[Scalars]:
        """Return w, one column per speed of the machine."""
        run, (a, b) = kinematics.run, (self.measure.a, self.measure.b)
        wrenches = evaluate_measure(self.measure, kinematics)[0].wrenches
        p_b = kinematics.frame(b).position
        of_a, of_b = (_columns_at(kinematics, place, p_b) for place in (a, b))
        nothing = (0.0,) * len(wrenches)
        return [
            nothing if all_zero((*pair[0], *pair[1])) else run(read, wrenches, *pair)
            for pair in zip(of_a, of_b, strict=True)
        ]

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """Return (kinetic ½ J q̇², potential 0), J."""
        measured, V_ab = evaluate_measure(self.measure, kinematics)
        return kinematics.run(kinetic_energy, self.mass, measured.wrenches, V_ab), 0.0


def _columns_at(kinematics: KinematicState, frame: LinkFrame, p: Vector3) -> list[tuple[Scalar, ...]]:
    """Return [ω; v] that each speed gives a frame's link at the world point p."""
    if frame.link < 0:
        return [(0.0,) * 6] * kinematics.tree.nv
    at = kinematics.run(point_in_link, kinematics.poses[frame.link], p)
    rows = jacobian(kinematics.tree, kinematics.q, frame.link, Pose(NO_ROTATION, at), kinematics.run)
    return [tuple(row[k] for row in rows) for k in range(kinematics.tree.nv)]


def point_in_link(X_WL: Pose, p: Vector3) -> Vector3:
    """Return a world point in a link's frame."""
    return X_WL.rotation.act_back(p - X_WL.position)


def read(wrenches: tuple[Force, ...], of_a: Scalars, of_b: Scalars) -> tuple[Scalar, ...]:
    """Return W · (V_b − V_a)."""
    V_a, V_b = (Motion(Vector3(*x[:3]), Vector3(*x[3:])) for x in (of_a, of_b))
    return tuple((V_b - V_a).dot(wrench) for wrench in wrenches)


def convective_acceleration(law: Any, v: Scalars) -> Scalars:
    """Return the acceleration that is added to v̇ because the joint's axes rotate; see `JointKind.carried`."""
    return tuple(law.carried(v))


def joint_acceleration(
    law: Any, X_b: Pose, q: Scalars, v: Scalars, changes: tuple[Motion, Motion], motions: tuple[Motion, Motion]
) -> Motion:
    """Return the joint's acceleration S q̈ = A_b − A_a − Ṡ q̇ − V_b × V_ab, about b's origin in world axes."""
    (A_a, A_b), (V_b, V_ab), bias = changes, motions, law.bias(q, v)
    turning = Motion(X_b.rotation.act(bias.angular), X_b.rotation.act(bias.linear))
    return A_b - A_a - turning - V_b.cross(V_ab)


def kinetic_energy(mass: Scalar, wrenches: tuple[Force, ...], V_ab: Motion) -> Scalar:
    """Return ½ J Σ q̇²."""
    speeds = [V_ab.dot(wrench) for wrench in wrenches]
    return times(0.5, times(mass, total(times(x, x) for x in speeds)))
