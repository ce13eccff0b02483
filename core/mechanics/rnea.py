"""Inverse dynamics by the recursive Newton–Euler algorithm (Featherstone, Rigid Body Dynamics Algorithms, table 5.1).

All in the axes of the links, λ the parent of link i, X from its axes to those of i:

1. Outward, from the ground to the tips: V_i = X V_λ + S q̇ and A_i = X A_λ + S q̈ + Ṡ q̇ + V_i × S q̇. The ground is
   accelerated upward by −g, so that every A_i contains gravity (RBDA 5.3).
2. What each link needs for that motion: F_i = I A_i + V_i ×* I V_i − F_i^ext (Newton and Euler's equations).
3. Inward, from the tips to the ground: joint i carries what its link and all links behind need, so τ_i = Sᵀ F_i, to
   which rotor, springs, damping and friction of the joint add, and then F_λ += X* F_i.

Following joints load their leaders by their ratio (principle of virtual work).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.mechanics.kinematics import combine_columns, joint_coordinates, joint_speeds
from core.mechanics.loads import base_acceleration, joint_resistance, link_attractions
from core.mechanics.tree import Coupling, Runner, Scalars, Tree, inline
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, plus, times
from core.numerics.spatial.vector import ZERO_MOTION, Force, Motion


class OutwardResult(NamedTuple):
    """Result of the outward pass for one link, used by the inward pass."""

    pose: Pose
    velocity: Motion
    acceleration: Motion
    force: Force
    columns: tuple[Motion, ...]


class Wrenches(NamedTuple):
    """Joint forces τ (nv,), and for each link i the wrench F_i that its joint transmits to it, in the link's axes at
    its origin."""

    torques: list[Scalar]
    forces: list[Force]


def outward_step(
    law: Any, placement: Pose, inertia: Inertia, q: Scalars, v: Scalars, a: Scalars, parent: tuple[Motion, Motion]
) -> OutwardResult:
    """Compute velocity, acceleration and force of one link."""
    X = placement @ law.pose(q)
    S = law.subspace(q)
    V_J = combine_columns(S, v)
    V = X.motion_back(parent[0]) + V_J
    A = X.motion_back(parent[1]) + combine_columns(S, a) + law.bias(q, v) + V.cross(V_J)
    F = inertia.act(A) + V.cross_force(inertia.act(V))
    return OutwardResult(X, V, A, F, S)


def joint_forces(columns: tuple[Motion, ...], force: Force, armature: Scalar, a: Scalars) -> tuple[Scalar, ...]:
    """Return τ = Sᵀ F + armature · q̈."""
    return tuple(plus(column.dot(force), times(armature, ak)) for column, ak in zip(columns, a, strict=True))


def add_to_parent_force(X: Pose, force: Force, parent: Force) -> Force:
    """Add a link's force to its parent's: F_λ + X* F_i."""
    return parent + X.force(force)


def add_to_leader(coupling: Coupling, sum_so_far: Scalar, torque: Scalar) -> Scalar:
    """Add the load on a coupled joint to its leader: τ_leader += ratio · τ."""
    return plus(sum_so_far, times(coupling.ratio, torque))


def rnea(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    *,
    resist: bool = True,
    gravity: bool = True,
    external: Sequence[Force | None] = (),
    run: Runner = inline,
) -> Wrenches:
    """Return the joint forces that produce accelerations `a` at (q, v).

    q : (nq,), v, a : (nv,)
    resist : count the joints' own damping, friction and springs; gravity : count gravity
    external : wrench on each link, in its axes at its origin (None: none)
    """
    own_q, own_v, own_a = joint_coordinates(tree, q, run), joint_speeds(tree, v, run), joint_speeds(tree, a, run)
    ground = (ZERO_MOTION, base_acceleration(tree.gravity) if gravity else ZERO_MOTION)
    pulls = link_attractions(tree, q, run) if gravity else [None] * len(tree.links)
    resisting = joint_resistance(tree, q, v, resist, run)
    # outward: motion, and the force for it, of every link
    outs: list[OutwardResult] = []
    forces: list[Force] = []
    for i, link in enumerate(tree.links):
        parent = ground if link.parent < 0 else (outs[link.parent].velocity, outs[link.parent].acceleration)
        outs.append(run(outward_step, link.law, link.placement, link.inertia, own_q[i], own_v[i], own_a[i], parent))
        force = outs[i].force
        for pull in (pulls[i], external[i] if external else None):
            force = force if pull is None else run(Force.__sub__, force, pull)
        forces.append(force)
    # inward: what joint i carries is complete, since links behind it have larger numbers
    torques: list[Scalar] = [0.0] * tree.nv
    for i in range(len(tree.links) - 1, -1, -1):
        link = tree.links[i]
        own = run(joint_forces, outs[i].columns, forces[i], link.armature, own_a[i])
        resistance = resisting[i]
        if resistance is not None:
            own = tuple(run(plus, force, more) for force, more in zip(own, resistance, strict=True))
        if link.coupling is None and not tree.has_coupled_joints:
            torques[link.v] = own
        else:
            for k, torque in enumerate(own, link.first_v):
                torques[k] = run(add_to_leader, link.coupling or Coupling(1.0, 0.0), torques[k], torque)
        if link.parent >= 0:
            forces[link.parent] = run(add_to_parent_force, outs[i].pose, forces[i], forces[link.parent])
    return Wrenches(torques, forces)
