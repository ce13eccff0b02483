"""Momentum of all moving bodies: Σ X* I V, at the world's origin in world axes."""

from __future__ import annotations

from core.mechanics.energy import moving
from core.mechanics.kinematics import coordinates, link_poses, speeds
from core.mechanics.runner import Runner, inline
from core.mechanics.tree import Scalars, Tree
from core.numerics.spatial.force import ZERO, Force
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.motion import ZERO as AT_REST
from core.numerics.spatial.motion import Motion
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar


def _momentum_added(sum_so_far: Force, inertia: Inertia, V: Motion, X_WL: Pose) -> Force:
    """Return the sum plus X* I V."""
    return sum_so_far + X_WL.force(inertia.act(V))


def momentum(tree: Tree, q: Scalars, v: Scalars, run: Runner = inline) -> list[Scalar]:
    """Return the momentum (6,) [angular, about the world's origin, N·m·s; linear, N·s] in world axes; without rotors
    (armature)."""
    own_q, own_v = coordinates(tree, q, run), speeds(tree, v, run)
    poses = link_poses(tree, q, run)
    velocities: list[Motion] = []
    result = ZERO
    for i, link in enumerate(tree.links):
        V_parent = AT_REST if link.parent < 0 else velocities[link.parent]
        velocities.append(run(moving, link.law, link.placement, own_q[i], own_v[i], V_parent))
        result = run(_momentum_added, result, link.inertia, velocities[i], poses[i])
    return [*result.moment, *result.force]
