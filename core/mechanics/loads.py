"""Passive joint forces, and gravity in a point field.

Uniform gravity needs no force: the ground accelerates upward instead (`base_acceleration`). A point field differs from
body to body, so it pulls at the centre of mass of each, and the pulls of a link's bodies become one wrench.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.mechanics.dry_friction import DryFriction, friction_force, vector_friction_force
from core.mechanics.kinematics import joint_coordinates, joint_speeds, link_poses
from core.mechanics.tree import Gravity, Link, PointMass, Runner, Scalars, Tree, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, is_zero, negated, over, plus, sqrt, times
from core.numerics.spatial.vector import ZERO, ZERO_FORCE, Force, Motion, Vector3


def passive_joint_force(
    law: Any,
    damping: Scalar,
    friction: DryFriction,
    stiffness: Scalar,
    rest: Scalars,
    q: Scalars,
    v: Scalars,
) -> tuple[Scalar, ...]:
    """Return the passive joint forces: damping · v + friction against v + stiffness · (q − rest), one per speed."""
    springs = law.displacement(q, rest) if not is_zero(stiffness) else (0.0,) * law.nv
    rubbing = [friction_force(friction, speed) for speed in v]
    for ball in law.balls if friction.has_friction else ():
        together = vector_friction_force(friction, [v[k] for k in ball])
        rubbing[ball[0] : ball[-1] + 1] = together
    return tuple(
        plus(
            plus(times(damping, speed), rubs),
            times(stiffness, spring),
        )
        for speed, spring, rubs in zip(v, springs, rubbing, strict=True)
    )


def has_passive_force(link: Link) -> bool:
    """Return True if the joint has any passive force."""
    return not (is_zero(link.damping) and is_zero(link.stiffness)) or link.friction.has_friction


def passive_forces(tree: Tree, q: Scalars, v: Scalars, run: Runner = inline) -> list[Scalars | None]:
    """Return the passive force of each link's joint; None where there is none."""
    own_q, own_v = joint_coordinates(tree, q, run), joint_speeds(tree, v, run)
    return [
        run(
            passive_joint_force,
            link.law,
            link.damping,
            link.friction,
            link.stiffness,
            link.rest,
            own_q[i],
            own_v[i],
        )
        if has_passive_force(link)
        else None
        for i, link in enumerate(tree.links)
    ]


def rotor_convective_force(law: Any, armature: Scalar, v: Scalars) -> tuple[Scalar, ...]:
    """Return the rotor inertia times the acceleration that the rotation of the joint's axes adds to v̇
    (`JointKind.carried`)."""
    return tuple(times(armature, x) for x in law.carried(v))


def joint_resistance(tree: Tree, q: Scalars, v: Scalars, resist: bool, run: Runner = inline) -> list[Scalars | None]:
    """Return the resistance of each link's joint without armature · v̇: its passive force, if `resist`, and the force
    that the rotation of the joint's axes requires of its rotor; None where there is none."""
    found: list[Scalars | None] = [None] * len(tree.links)
    found = passive_forces(tree, q, v, run) if resist else found
    for i, link in enumerate(tree.links):
        if not is_zero(link.armature) and link.law.carried((0.0,) * link.law.nv) is not None:
            own = joint_speeds(tree, v, run)[i]
            rotor = run(rotor_convective_force, link.law, link.armature, own)
            before = found[i]
            found[i] = rotor if before is None else tuple(run(plus, a, b) for a, b in zip(before, rotor, strict=True))
    return found


def base_acceleration(gravity: Gravity) -> Motion:
    """Return the acceleration of the ground that is equivalent to uniform gravity: −g (RBDA 5.3)."""
    return Motion(ZERO, ZERO if gravity.is_point else -gravity.acceleration)


def link_attraction(gravity: tuple[Scalar, Vector3], bodies: Sequence[PointMass], X_WL: Pose) -> Force:
    """Return the gravity of a point field on a link, in its axes: m μ/r² toward the centre at each body's centre of
    mass."""
    mu, center = gravity
    result = ZERO_FORCE
    for body in bodies:
        mass, point = body.mass, body.center
        away = center - X_WL.point(point)
        r = sqrt(away.dot(away))
        pull = X_WL.rotation.act_back(away.scaled(over(times(mass, mu), times(times(r, r), r))))
        result = result + Force(point.cross(pull), pull)
    return result


def link_attractions(tree: Tree, q: Scalars, run: Runner = inline) -> list[Force | None]:
    """Return the gravity of a point field on every link; None for each where gravity is uniform or absent."""
    if not tree.gravity.is_point:
        return [None] * len(tree.links)
    field = (tree.gravity.mu, tree.gravity.center)
    poses = link_poses(tree, q, run)
    return [
        run(link_attraction, field, link.bodies, X_WL) if link.bodies else None
        for link, X_WL in zip(tree.links, poses, strict=True)
    ]


def attraction_potential(gravity: tuple[Scalar, Vector3], bodies: Sequence[PointMass], X_WL: Pose) -> Scalar:
    """Return the potential in a point field, −Σ m μ / r."""
    mu, center = gravity
    result: Scalar = 0.0
    for body in bodies:
        mass, away = body.mass, center - X_WL.point(body.center)
        result = plus(result, negated(over(times(mass, mu), sqrt(away.dot(away)))))
    return result
