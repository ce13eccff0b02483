"""Forward dynamics by the articulated-body algorithm, O(n) (Featherstone, Rigid Body Dynamics Algorithms, table 7.1).

A link with all that hangs on it, joints free to give way, answers a force as F = I^A A + p^A: with an inertia I^A as
seen at its handle, the link, and a force p^A of everything that does not depend on A (RBDA 7.1). In the axes of the
links, λ the parent of link i, X from its axes to those of i:

1. Outward: V_i = X V_λ + S q̇, c_i = Ṡ q̇ + V_i × S q̇. Every link begins alone, I^A = I and p^A = V ×* I V − F^ext.
2. Inward: U = I^A S, D = Sᵀ U + armature, u = τ − Sᵀ p^A. What of the link's inertia the joint gives away is taken off,
   I^a = I^A − U D⁻¹ Uᵀ, and the parent gets the rest: I_λ^A += X* I^a X, p_λ^A += X* (p^A + I^a c + U D⁻¹ u).
3. Outward: A_0 = −g, then A' = X A_λ + c, q̈ = D⁻¹ (u − Uᵀ A'), A_i = A' + S q̈.

D has the size of one joint's freedoms (6 at most), so that each link takes the same work: no matrix of the machine is
ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.mechanics.factor import Factors, factorise, solve
from core.mechanics.kinematics import combine_columns, joint_coordinates, joint_speeds
from core.mechanics.loads import base_acceleration, joint_resistance, link_attractions
from core.mechanics.tree import Runner, Scalars, Tree, inline
from core.numerics.spatial.inertia import ArticulatedInertia, Inertia, articulated_from_rigid
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, is_zero, minus, plus
from core.numerics.spatial.vector import ZERO_MOTION, Force, Motion


class OutwardResult(NamedTuple):
    """Result of the first outward pass for one link: pose in the parent, velocity, c = Ṡ q̇ + V × S q̇, S, and I^A and
    p^A of the single link."""

    pose: Pose
    velocity: Motion
    bias: Motion
    columns: tuple[Motion, ...]
    inertia: ArticulatedInertia
    force: Force


class InwardResult(NamedTuple):
    """Result of the inward pass for one joint: U = I^A S, factors of D = Sᵀ U, u = τ − Sᵀ p^A."""

    U: tuple[Force, ...]
    D: Factors
    u: tuple[Scalar, ...]


def outward_step(
    law: Any, placement: Pose, inertia: Inertia, q: Scalars, v: Scalars, V_parent: Motion
) -> OutwardResult:
    """Compute the velocity-dependent terms of one link."""
    X = placement @ law.pose(q)
    S = law.subspace(q)
    V_J = combine_columns(S, v)
    V = X.motion_back(V_parent) + V_J
    c = law.bias(q, v) + V.cross(V_J)
    return OutwardResult(X, V, c, S, articulated_from_rigid(inertia), V.cross_force(inertia.act(V)))


def project_on_joint(
    S: tuple[Motion, ...], armature: Scalar, torques: Scalars, inertia: ArticulatedInertia, force: Force
) -> InwardResult:
    """Compute U, D, u of one joint (RBDA 7.43–7.45)."""
    U = tuple(inertia.act(column) for column in S)
    D = [[column.dot(other) for other in U] for column in S]
    for k in range(len(D)):
        D[k][k] = plus(D[k][k], armature)
    u = tuple(minus(torque, column.dot(force)) for torque, column in zip(torques, S, strict=True))
    return InwardResult(U, factorise(D), u)


class ArticulatedLoad(NamedTuple):
    """Articulated inertia and bias force that a link passes to its parent, expressed in the parent's frame."""

    inertia: ArticulatedInertia
    force: Force


def pass_to_parent(
    inward: InwardResult,
    S: tuple[Motion, ...],
    armature: Scalar,
    handle: ArticulatedLoad,
    bias: Motion,
    X: Pose,
    parent: ArticulatedLoad,
) -> ArticulatedLoad:
    """Add a link's articulated inertia and bias force to its parent's: I_λ^A += X* (I^A − U D⁻¹ Uᵀ) X, p_λ^A += X* (p^A
    + I^a c + U D⁻¹ u) (RBDA 7.47–7.48)."""
    U, D, u = inward
    inertia, force = handle
    if U:
        W = _columns_times_inverse(U, D)
        for k in range(len(U)):
            inertia = inertia.minus_outer_product(U[k], W[k])
        if is_zero(armature):  # I^a S = 0 in exact arithmetic: literal zeros make the trace shorter
            inertia = inertia.with_free_directions(S)
        for factor, column in zip(solve(D, u), U, strict=True):
            force = force + column.scaled(factor)
    force = force + inertia.act(bias)
    return ArticulatedLoad(parent.inertia + inertia.transformed_to_parent(X), parent.force + X.force(force))


def _columns_times_inverse(U: tuple[Force, ...], D: Factors) -> tuple[Force, ...]:
    """Return the columns of U D⁻¹."""
    rows = zip(*((*column.moment, *column.force) for column in U), strict=True)
    solved = [solve(D, row) for row in rows]
    columns = zip(*solved, strict=True)
    return tuple(Force(type(U[0].moment)(*c[:3]), type(U[0].force)(*c[3:])) for c in columns)


def accelerate(
    inward: InwardResult, S: tuple[Motion, ...], bias: Motion, X: Pose, A_parent: Motion
) -> tuple[Motion, tuple[Scalar, ...]]:
    """Compute A and q̈ of one link: A' = X A_λ + c, q̈ = D⁻¹ (u − Uᵀ A'), A = A' + S q̈ (RBDA 7.49–7.51)."""
    A = X.motion_back(A_parent) + bias
    a = solve(inward.D, [minus(u, A.dot(column)) for u, column in zip(inward.u, inward.U, strict=True)])
    return A + combine_columns(S, a), a


def aba(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *,
    resist: bool = True,
    external: Sequence[Force | None] = (),
    run: Runner = inline,
) -> list[Scalar]:
    """Return the accelerations (nv,) that joint forces tau produce at (q, v); the tree must have no coupled joints.

    q : (nq,), v, tau : (nv,)
    external : wrench on each link, in its axes at its origin (None: none)
    Raises ZeroDivisionError when a joint moves nothing that has mass.
    """
    own_q, own_v, torques = (
        joint_coordinates(tree, q, run),
        joint_speeds(tree, v, run),
        [tuple(tau[k.v]) for k in tree.links],
    )
    pulls = link_attractions(tree, q, run)
    for i, resistance in enumerate(joint_resistance(tree, q, v, resist, run)):
        if resistance is not None:
            torques[i] = tuple(run(minus, t, r) for t, r in zip(torques[i], resistance, strict=True))
    # outward: velocities, and every link alone
    outs: list[OutwardResult] = []
    handles: list[ArticulatedLoad] = []
    for i, link in enumerate(tree.links):
        V_parent = ZERO_MOTION if link.parent < 0 else outs[link.parent].velocity
        outs.append(run(outward_step, link.law, link.placement, link.inertia, own_q[i], own_v[i], V_parent))
        force = outs[i].force
        for pull in (pulls[i], external[i] if external else None):
            force = force if pull is None else run(Force.__sub__, force, pull)
        handles.append(ArticulatedLoad(outs[i].inertia, force))
    # inward: handle i has collected all that hangs on link i, since links behind it have larger numbers
    ins: list[InwardResult] = [None] * len(tree.links)  # type: ignore[list-item]
    for i in range(len(tree.links) - 1, -1, -1):
        link, out = tree.links[i], outs[i]
        ins[i] = run(project_on_joint, out.columns, link.armature, torques[i], *handles[i])
        if link.parent >= 0:
            handles[link.parent] = run(
                pass_to_parent,
                ins[i],
                out.columns,
                link.armature,
                handles[i],
                out.bias,
                out.pose,
                handles[link.parent],
            )
    return _accelerations(tree, outs, ins, run)


def _accelerations(tree: Tree, outs: list[OutwardResult], ins: list[InwardResult], run: Runner) -> list[Scalar]:
    """Run the last outward pass, which gives the accelerations."""
    ground = base_acceleration(tree.gravity)
    spatial: list[Motion] = []
    result: list[Scalar] = [0.0] * tree.nv
    for i, link in enumerate(tree.links):
        A_parent = ground if link.parent < 0 else spatial[link.parent]
        A, a = run(accelerate, ins[i], outs[i].columns, outs[i].bias, outs[i].pose, A_parent)
        spatial.append(A)
        result[link.v] = a
    return result
