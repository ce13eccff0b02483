"""Errors of many poses of a frame against targets, and Newton steps that lessen them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism

Array = NDArray[np.float64]

POLISH_ABOVE = 1e-12
"""Error (m, rad) above which a position gets a Newton step."""
POLISH_BELOW = 1e-3
"""Error (m, rad) above which a position is not a solution with rounding errors."""
REFINE_BELOW, REFINEMENTS = 0.2, 12
"""Error (m, rad) above which a branch of an ideal arm is no start for the real one; most Newton steps from it."""
FARTHEST_REFINED = 0.3
"""Distance (rad, m) of a joint from the branch of the ideal arm beyond which the result may be another branch."""


def pose_errors(X: Array, target: Array) -> Array:
    """(…, 6) rotation vectors (rad) and displacements (m) from poses X (…, 4, 4) to targets; exact for small angles,
    of the right order for large ones."""
    D = target[..., :3, :3] @ np.swapaxes(X[..., :3, :3], -1, -2)
    axial = 0.5 * np.stack([D[..., 2, 1] - D[..., 1, 2], D[..., 0, 2] - D[..., 2, 0], D[..., 1, 0] - D[..., 0, 1]], -1)
    sine = np.linalg.norm(axial, axis=-1)
    angle = np.arctan2(sine, 0.5 * (np.trace(D, axis1=-2, axis2=-1) - 1.0))
    # near half a turn the axis is lost, but the angle counts: there the error only has to be large
    scale = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 1.0)
    rotation = np.where((sine <= 1e-12)[..., None] & (angle > 1.0)[..., None], np.pi, axial * scale[..., None])
    return np.asarray(np.concatenate([rotation, target[..., :3, 3] - X[..., :3, 3]], axis=-1))


def largest_errors(errors: Array) -> Array:
    """(…) the larger of the angle (rad) and the distance (m) of errors (…, 6)."""
    return np.asarray(np.maximum(np.linalg.norm(errors[..., :3], axis=-1), np.linalg.norm(errors[..., 3:], axis=-1)))


def polish(
    mech: Mechanism, frame: str, q: Array, target: Array, p: Array | None, speeds: NDArray[np.intp], *, refine: bool
) -> tuple[Array, Array]:
    """Positions (m, nq) after a Newton step towards targets (m, 4, 4), where it lessens the error, and their errors
    (m, 6).

    speeds : indices of the speeds that take part, each the rate of one coordinate; refine : True for many steps, from
    solutions of an ideal arm
    """
    start = q.copy()
    errors = np.full((len(q), 6), np.inf)
    finite = np.isfinite(q).all(axis=1)
    errors[finite] = pose_errors(np.asarray(mech.frame(q[finite], frame, p=p)), target[finite])
    steps, below = (REFINEMENTS, REFINE_BELOW) if refine else (1, POLISH_BELOW)
    for _ in range(steps):
        size = largest_errors(errors)
        chosen = np.flatnonzero((size > POLISH_ABOVE) & (size < below))
        if not len(chosen):
            break
        J = np.asarray(mech.jacobian(q[chosen], frame, p=p))[..., speeds]
        v = np.zeros((len(chosen), mech.nv))
        v[:, speeds] = (np.linalg.pinv(J, rcond=1e-9) @ errors[chosen][..., None])[..., 0]
        moved = np.asarray(mech.integrate(q[chosen], v, 1.0))
        after = pose_errors(np.asarray(mech.frame(moved, frame, p=p)), target[chosen])
        better = largest_errors(after) < size[chosen]
        q[chosen[better]], errors[chosen[better]] = moved[better], after[better]
    if refine:
        errors[~(np.max(np.abs(q - start), axis=1, initial=0.0) < FARTHEST_REFINED)] = np.inf
    return q, errors
