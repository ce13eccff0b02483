"""Mass matrix by the composite-rigid-body algorithm (Featherstone, Rigid Body Dynamics Algorithms, table 6.2).

Column i of M holds the joint forces that accelerate joint i alone by 1, from rest and without gravity. All links behind
joint i then move as one rigid body, and the joints before it only hold:

1. Inward: I_i^c = I_i + Σ over the children of X* I_j^c X, the inertia of the link and all behind it in one piece.
2. F = I_i^c S_i, the force on that piece; M_ii = S_iᵀ F + armature.
3. F is carried from link to link to the ground; at every joint j before i, M_ji = M_ij = S_jᵀ F. Pairs of joints on
   different branches stay zero.

Long machines do 1 in the same way, but bring S and F of every joint into world axes once (`screws`): M_ij = S_i · F_j
needs no carrying then.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from core.mechanics.kinematics import joint_coordinates
from core.mechanics.tree import Coupling, Runner, Scalars, Tree, inline
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, plus, times, total
from core.numerics.spatial.vector import Force, Motion

Columns = tuple[Motion, ...]


def joint_motion(law: Any, placement: Pose, q: Scalars) -> tuple[Pose, Columns]:
    """Return X_λ,i and S of one joint."""
    return placement @ law.pose(q), law.subspace(q)


def add_to_parent_inertia(X: Pose, inertia: Inertia, parent: Inertia) -> Inertia:
    """Return a parent's composite inertia with that of a link added: I_λ^c + X* I^c X."""
    return parent + inertia.transformed_to_parent(X)


def unit_speed_momenta(inertia: Inertia, S: Columns) -> tuple[Force, ...]:
    """Return F = I^c S: the momentum of the subtree when each degree of freedom of its joint, alone, has unit speed."""
    return tuple(inertia.act(column) for column in S)


def transform_to_parent(X: Pose, forces: tuple[Force, ...]) -> tuple[Force, ...]:
    """Transform forces to the parent's frame."""
    return tuple(X.force(force) for force in forces)


def project_forces(S: Columns, forces: tuple[Force, ...]) -> tuple[tuple[Scalar, ...], ...]:
    """Return Sᵀ F, one row per column of S."""
    return tuple(tuple(column.dot(force) for force in forces) for column in S)


def add_armature(block: tuple[tuple[Scalar, ...], ...], armature: Scalar) -> tuple[tuple[Scalar, ...], ...]:
    """Add the armature to the diagonal of a block."""
    return tuple(tuple(plus(x, armature) if i == j else x for j, x in enumerate(row)) for i, row in enumerate(block))


def crba(tree: Tree, q: Scalars, run: Runner = inline) -> list[list[Scalar]]:
    """Return the mass matrix (nv, nv), armature included."""
    own = joint_coordinates(tree, q, run)
    joints = [run(joint_motion, link.law, link.placement, own[i]) for i, link in enumerate(tree.links)]
    composite = [link.inertia for link in tree.links]
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i in range(len(tree.links) - 1, -1, -1):
        link = tree.links[i]
        X, S = joints[i]
        if link.parent >= 0:
            composite[link.parent] = run(add_to_parent_inertia, X, composite[i], composite[link.parent])
        if link.law.nv == 0:
            continue
        # the block of joint i, then F on its path to the ground
        F = run(unit_speed_momenta, composite[i], S)
        _write_block(tree, M, i, i, run(add_armature, run(project_forces, S, F), link.armature), run)
        j = i
        while tree.links[j].parent >= 0:
            F = run(transform_to_parent, joints[j][0], F)
            j = tree.links[j].parent
            if tree.links[j].law.nv:
                _write_block(tree, M, j, i, run(project_forces, joints[j][1], F), run)
    return M


def _write_block(tree: Tree, M: list[list[Scalar]], j: int, i: int, block: Any, run: Runner) -> None:
    """Write the block of joints (j, i) and its transpose into M; coupled joints add to their leaders' entries."""
    row, column = tree.links[j], tree.links[i]
    for r, entries in enumerate(block, row.first_v):
        for c, entry in enumerate(entries, column.first_v):
            if not tree.has_coupled_joints:
                M[r][c] = M[c][r] = entry
                continue
            for coupling in (row.coupling, column.coupling):
                if coupling is not None:
                    entry = run(scale_entry, coupling, entry)
            M[r][c] = run(plus, M[r][c], entry)
            if i != j:
                M[c][r] = M[r][c] if r != c else run(plus, M[r][c], entry)


def scale_entry(coupling: Coupling, entry: Scalar) -> Scalar:
    """Return ratio · entry."""
    return times(coupling.ratio, entry)


SCREW = 14
"""Numbers per degree of freedom in `screws`: S (6), F (6), ratio to its leader, armature."""


def world_screws(
    X_WL: Pose, S: Columns, inertia: Inertia, coupling: Coupling | None, armature: Scalar
) -> tuple[tuple[Scalar, ...], ...]:
    """Return S and I^c S in world axes at the world's origin, ratio and armature of each degree of freedom of a
    link."""
    ratio = 1.0 if coupling is None else coupling.ratio
    rows = []
    for column in S:
        m, f = X_WL.motion(column), X_WL.force(inertia.act(column))
        rows.append((*m.angular, *m.linear, *f.moment, *f.force, ratio, armature))
    return tuple(rows)


def screws(tree: Tree, q: Scalars, run: Runner = inline) -> list[tuple[Scalar, ...]]:
    """Return one row of `SCREW` numbers for each degree of freedom of every link. M_ij = S_i · F_j where i carries j
    (RBDA 6.2), so that a long chain needs O(n) steps and one matrix product."""
    own = joint_coordinates(tree, q, run)
    joints = [run(joint_motion, link.law, link.placement, own[i]) for i, link in enumerate(tree.links)]
    composite = [link.inertia for link in tree.links]
    for i in range(len(tree.links) - 1, -1, -1):
        if (parent := tree.links[i].parent) >= 0:
            composite[parent] = run(add_to_parent_inertia, joints[i][0], composite[i], composite[parent])
    # outward: with the pose of each link, what its joint's columns are in the world
    rows: list[tuple[Scalar, ...]] = []
    poses: list[Pose] = []
    for i, link in enumerate(tree.links):
        X, S = joints[i]
        poses.append(X if link.parent < 0 else run(Pose.__matmul__, poses[link.parent], X))
        rows += run(world_screws, poses[i], S, composite[i], link.coupling, link.armature)
    return rows


def screw_product(screw: Scalars, momentum: Scalars) -> Scalar:
    """Return S · F."""
    return total(times(a, b) for a, b in zip(screw, momentum, strict=True))


def mass_matrix_by_screws(tree: Tree, q: Scalars, run: Runner = inline) -> list[list[Scalar]]:
    """Return the mass matrix (nv, nv) of a tree without coupled joints from `screws`: one short step per nonzero
    entry."""
    rows = screws(tree, q, run)
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    firsts = list(accumulate((link.law.nv for link in tree.links), initial=0))
    for j, link in enumerate(tree.links):
        for c in range(link.law.nv):
            S_j, column = rows[firsts[j] + c], link.first_v + c
            for i in tree.ancestors(j):
                carrier = tree.links[i]
                for r in range(carrier.law.nv if i != j else c + 1):
                    entry = run(screw_product, rows[firsts[i] + r][:6], S_j[6:12])
                    row = carrier.first_v + r
                    M[row][column] = M[column][row] = entry if row != column else run(plus, entry, link.armature)
    return M


def nonzero_mass_indices(tree: Tree) -> set[tuple[int, int]]:
    """Return the indices (i, j), i ≥ j, of the nonzero entries of the mass matrix: pairs of speeds of which one carries
    the other."""
    found: set[tuple[int, int]] = set()
    own = [range(link.first_v, link.first_v + link.law.nv) for link in tree.links]
    for i in range(len(tree.links)):
        for j in tree.ancestors(i):
            found.update((max(r, c), min(r, c)) for r in own[i] for c in own[j])
    return found
