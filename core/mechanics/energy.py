"""Kinetic and potential energy, and momentum.

Kinetic energy is ½ V · I V over the links, V from link to link outward as in `core.mechanics.rnea`, and
½ armature q̇² of the rotors; potential energy is −m g · c of weights (−m μ/r in a point field) and ½ k |q − rest|² of
joint springs. Momentum is Σ X* I V, at the world's origin in world axes.
"""

from __future__ import annotations

from typing import Any

from core.mechanics.kinematics import combine_columns, joint_coordinates, joint_speeds, link_poses
from core.mechanics.loads import attraction_potential
from core.mechanics.tree import Runner, Scalars, Tree, inline
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, is_zero, minus, plus, times, total
from core.numerics.spatial.vector import ZERO_FORCE, ZERO_MOTION, Force, Motion, Vector3


def link_velocity(law: Any, placement: Pose, q: Scalars, v: Scalars, V_parent: Motion) -> Motion:
    """Return the velocity of a link from its parent's: V_i = X V_λ + S q̇."""
    return (placement @ law.pose(q)).motion_back(V_parent) + combine_columns(law.subspace(q), v)


def link_kinetic_energy(inertia: Inertia, V: Motion, armature: Scalar, v: Scalars) -> Scalar:
    """Return ½ V·I V + ½ armature q̇²."""
    rotor = times(armature, total(times(x, x) for x in v))
    return times(0.5, plus(V.dot(inertia.act(V)), rotor))


def kinetic_by_link(tree: Tree, q: Scalars, v: Scalars, run: Runner = inline) -> list[Scalar]:
    """Return the kinetic energy of each link, J; the rotor of its joint (armature) included."""
    own_q, own_v = joint_coordinates(tree, q, run), joint_speeds(tree, v, run)
    velocities: list[Motion] = []
    result: list[Scalar] = []
    for i, link in enumerate(tree.links):
        V_parent = ZERO_MOTION if link.parent < 0 else velocities[link.parent]
        velocities.append(run(link_velocity, link.law, link.placement, own_q[i], own_v[i], V_parent))
        result.append(run(link_kinetic_energy, link.inertia, velocities[i], link.armature, own_v[i]))
    return result


def kinetic_energy(tree: Tree, q: Scalars, v: Scalars, run: Runner = inline) -> Scalar:
    """Return the kinetic energy, J; rotors (armature) included, so that it equals ½ vᵀ M v."""
    return _sum(kinetic_by_link(tree, q, v, run), run)


def _sum(terms: list[Scalar], run: Runner) -> Scalar:
    result: Scalar = 0.0
    for term in terms:
        result = run(plus, result, term)
    return result


def weight_potential(mass: Scalar, moment: Vector3, g: Vector3, X_WL: Pose) -> Scalar:
    """Return the potential −g · (m p + R h) of a body in uniform gravity."""
    return minus(0.0, g.dot(X_WL.position.scaled(mass) + X_WL.rotation.act(moment)))


def spring_potential(law: Any, stiffness: Scalar, rest: Scalars, q: Scalars) -> Scalar:
    """Return the potential ½ k |q − rest|² of a joint spring."""
    return times(0.5, times(stiffness, total(times(x, x) for x in law.displacement(q, rest))))


def potential_energy(tree: Tree, q: Scalars, run: Runner = inline) -> Scalar:
    """Return the potential energy, J, of the moving bodies and the joint springs. It is zero at the world's origin (in
    a point field at infinity) and for relaxed springs."""
    return _sum(potential_by_link(tree, q, run), run)


def potential_by_link(tree: Tree, q: Scalars, run: Runner = inline) -> list[Scalar]:
    """Return the potential energy of each link and of the spring in its joint, J."""
    own = joint_coordinates(tree, q, run)
    poses = link_poses(tree, q, run)
    field = tree.gravity
    result: list[Scalar] = []
    for i, link in enumerate(tree.links):
        if field.is_point:
            term = run(attraction_potential, (field.mu, field.center), link.bodies, poses[i])
        else:
            term = run(weight_potential, link.inertia.mass, link.inertia.moment, field.acceleration, poses[i])
        if not is_zero(link.stiffness):
            term = run(plus, term, run(spring_potential, link.law, link.stiffness, link.rest, own[i]))
        result.append(term)
    return result


def _add_momentum(sum_so_far: Force, inertia: Inertia, V: Motion, X_WL: Pose) -> Force:
    """Return the sum plus X* I V."""
    return sum_so_far + X_WL.force(inertia.act(V))


def momentum(tree: Tree, q: Scalars, v: Scalars, run: Runner = inline) -> list[Scalar]:
    """Return the momentum (6,) [angular, about the world's origin, N·m·s; linear, N·s] in world axes; without rotors
    (armature)."""
    own_q, own_v = joint_coordinates(tree, q, run), joint_speeds(tree, v, run)
    poses = link_poses(tree, q, run)
    velocities: list[Motion] = []
    result = ZERO_FORCE
    for i, link in enumerate(tree.links):
        V_parent = ZERO_MOTION if link.parent < 0 else velocities[link.parent]
        velocities.append(run(link_velocity, link.law, link.placement, own_q[i], own_v[i], V_parent))
        result = run(_add_momentum, result, link.inertia, velocities[i], poses[i])
    return [*result.moment, *result.force]
