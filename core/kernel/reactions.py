"""Wrenches in the joints: by the recursion in trees; with loops, the forces that close them in addition.

A cut joint exerts F = Rᵀ λ on its child side; λ: multipliers of its residuals, R = ∂(residuals)/∂(motion of b against
a). The recursion gives f_i, all that acts on what lies behind tree joint i; what cut joints contribute to
it does not pass through the joint: F_i = f_i − Σ (moved to b's origin). Where constraints are redundant (a planar loop
of revolute joints) the forces are not unique; λ is the least-norm solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.kernel import constraints
from core.kernel.parameter_values import Values

if TYPE_CHECKING:
    from core.kernel.mechanism import Mechanism

Array = NDArray[np.float64]


def reactions(mech: Mechanism, q: Any, v: Any, tau: Any, p: Values, passive: bool) -> dict[str, Array]:
    """joint → (…, 6) wrench [torque; force] of its parent side on its child side, at b's origin, world axes."""
    topology = mech._program.topology
    if not topology.cuts:
        a = mech.forward_dynamics(q, v, tau, p=p, passive=passive)
        return _through(mech, q, v, a, p)
    a, multipliers = constraints.motion(mech, q, v, tau, p, passive)
    result = _through(mech, q, v, a, p)
    origins = {name: sides[1][..., :3, 3] for name, sides in mech.joint_poses(q, p).items()}
    turned = {branch.joint.name: branch.reversed for branch in topology.branches}
    for name, F in _closing(mech, q, multipliers, p):
        joint = topology.model.joint(name)
        result[name] = F
        for side, sign in ((joint.child, -1.0), (joint.parent, 1.0)):
            for carrier in topology.path(side):
                share = _moved(F, origins[name] - origins[carrier])
                result[carrier] = result[carrier] + (-sign if turned[carrier] else sign) * share
    return result


def _through(mech: Mechanism, q: Any, v: Any, a: Any, p: Values) -> dict[str, Array]:
    """Of every tree joint, as if the cut joints were open; zero for these."""
    wrenches = mech._call("wrenches", p, q, v, a)
    return {name: wrenches[..., i, :] for i, name in enumerate(mech.joint_names)}


def _closing(mech: Mechanism, q: Any, multipliers: Array, p: Values) -> Iterator[tuple[str, Array]]:
    """(cut joint, wrench on its child side at b's origin)."""
    R = mech._call("closure_motion", p, q)
    start = 0
    for name, rows in mech._program.cut_rows.items():
        part = slice(start, start + rows)
        start += rows
        yield name, (np.swapaxes(R[..., part, :], -1, -2) @ multipliers[..., part, None])[..., 0]


def _moved(F: Array, r: Array) -> Array:
    """A wrench about a point from which its own point is at r: n + r × f."""
    return np.concatenate([F[..., :3] + np.cross(r, F[..., 3:]), F[..., 3:]], axis=-1)
