"""Forces that are not unique: the smallest that do the same, wherever a loop is cut.

Where constraints are redundant, multipliers λ may be changed by self-stresses S, Gᵀ S = 0, without any effect on the
motion. Those are taken whose wrenches in all joints, and forces of all other constraints and drivers, have the least
sum of squares, torques counted per size of the machine: that does not depend on where loops are cut.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import rest
from core.multibody.parameter_values import Values
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

NOTHING = 1e-14
"""Part of all forces that keeps equations of self-stresses that are not there solvable."""
DEPENDENT = 1e-9
"""Part of the largest singular value of G below which one counts as zero."""


def size_of(compiled: Compiled, p: Values) -> float:
    """The machine's own size, m: root mean square distance of its joints from their middle; 1 if all coincide."""
    pairs = compiled.joint_poses(rest(compiled), p)
    points = np.array([side[:3, 3] for sides in pairs.values() for side in sides]).reshape(-1, 3)
    if not len(points):
        return 1.0
    spread = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
    return spread if spread > 1e-9 else 1.0


def self_stresses(compiled: Compiled, q: Array, p: Values) -> Array:
    """(n, rows, k) orthonormal, of the most that any of the states (n, nq) has; zero where a state has fewer."""
    G = np.asarray(compiled.call("constraint_jacobian", q, p=p))
    u, sigma, _ = np.linalg.svd(G)
    rows = G.shape[-2]
    padded = np.zeros((len(q), rows))
    padded[:, : sigma.shape[-1]] = sigma
    dependent = padded <= DEPENDENT * np.maximum(padded[:, :1], 1e-300)
    k = int(np.max(np.sum(dependent, axis=1), initial=0))
    return np.asarray((u * dependent[:, None, :])[:, :, rows - k :])


def least(
    compiled: Compiled,
    q: Array,
    multipliers: Array,
    given: dict[str, Array],
    p: Values,
    through: Callable[[Array], dict[str, Array]],
) -> Array:
    """(n, rows) multipliers with the least forces.

    q : (n, nq); multipliers (n, rows); given : joint → (n, 6) wrenches with them; through : multipliers → joint →
    wrenches that they alone send through joints
    """
    S = self_stresses(compiled, q, p)
    if not S.shape[-1]:
        return multipliers
    size = size_of(compiled, p)
    others = [k for k, row in enumerate(compiled.rows) if row.collection != "joints"]
    unit = np.array([1.0 / size] * 3 + [1.0] * 3)

    def all_of(wrenches: dict[str, Array], own: Array) -> Array:
        return np.concatenate([*(F * unit for F in wrenches.values()), own[:, others]], axis=-1)

    columns = [all_of(through(S[..., i]), S[..., i]) for i in range(S.shape[-1])]
    B, r = np.stack(columns, axis=-1), all_of(given, multipliers)
    normal = np.swapaxes(B, -1, -2) @ B
    size_of_all = np.trace(normal, axis1=-2, axis2=-1)[:, None, None] + 1e-300
    normal = normal + NOTHING * size_of_all * np.eye(normal.shape[-1])  # states with fewer self-stresses have zeros
    change = np.linalg.solve(normal, np.swapaxes(B, -1, -2) @ r[..., None])
    return np.asarray(multipliers - (S @ change)[..., 0])
