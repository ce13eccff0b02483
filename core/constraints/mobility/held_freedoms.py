"""Degrees of freedom that remain while dry friction or a brake locks its joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_rows import rows_with_friction
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import listed
from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]


class Held(NamedTuple):
    """Effect of friction at a pose: names : coordinates whose friction removes a degree of freedom each; idle :
    friction on joints that are immobile anyway, in words; motions : (nv, k) remaining motions"""

    names: tuple[str, ...]
    idle: tuple[str, ...]
    motions: Array


def held_freedoms(constraints: PositionConstraints, q: Array) -> Held:
    """Effect of friction at a pose, joint by joint in the order of the model."""
    N = constraints.motions(q)
    rubbing = rows_with_friction(constraints.compiled, q, constraints.p, constraints.t)
    W = rubbing.W @ N
    sizes = np.maximum(np.linalg.norm(rubbing.W * constraints.units, axis=1), 1e-300)
    names, basis, kept, idle = list[str](), np.zeros((0, N.shape[1])), list[int](), list[str]()
    for i, row in enumerate(rubbing.rows):
        part = W[i] - basis.T @ (basis @ W[i])
        if np.linalg.norm(part) > RANK_TOLERANCE * sizes[i]:
            names.append(row.name)
            kept.append(i)
            basis = np.concatenate([basis, part[None] / np.linalg.norm(part)])
            continue
        shares = np.abs(np.linalg.lstsq(W[kept].T, W[i], rcond=RANK_TOLERANCE)[0]) if kept else np.zeros(0)
        others = [names[k] for k in np.flatnonzero(shares > RANK_TOLERANCE)]
        already = (
            f"a motion that {listed(others)} already hold{'s' * (len(others) == 1)}"
            if others
            else "a coordinate that cannot move here"
        )
        idle.append(f"{row.name}: its friction holds {already}")
    left = (N - N @ basis.T @ basis) / constraints.units[:, None]
    axes = np.linalg.svd(left, full_matrices=False)[0]
    return Held(tuple(names), tuple(idle), constraints.units[:, None] * axes[:, : N.shape[1] - len(names)])
