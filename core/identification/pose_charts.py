"""Minimal pose coordinates, one per degree of freedom, for machines with quaternions: displacements from a base pose.

A displacement ξ (nv,) of a pose from another, the base, is a vector of rotation along the speeds of quaternions
(their logarithm), and of plain coordinates the coordinate itself. Where loops hold the machine, those of its
independent speeds are given, and the others are such that the loops close.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.numerics.matrix_forms import dense
from core.numerics.tolerances import RANK_TOLERANCE, SOLVED_GAP

Array = NDArray[np.float64]

SMALL = 1e-5
"""Rotation step of finite differences of displacements, rad."""
MOST_CLOSINGS = 30
"""Largest number of Newton steps of loop closure."""
LONGEST_CLOSING = 0.5
"""Longest Newton step of loop closure, rad or m."""


def displacements(mech: Mechanism, base: Array, q: Array) -> Array:
    """Return the displacements (nv,) ξ of a pose from the base pose."""
    found = np.array(mech.difference(base, q))
    for k, name in enumerate(mech.v_names):
        if name in mech.q_names:
            found[k] = q[mech.q_names.index(name)]
    return found


def displaced(mech: Mechanism, base: Array, xi: Array) -> Array:
    """Return the pose (nq,) at displacements (nv,) from the base pose."""
    plain = [(k, mech.q_names.index(name)) for k, name in enumerate(mech.v_names) if name in mech.q_names]
    along = np.array(xi)
    along[[k for k, _ in plain]] = 0.0
    q = np.array(mech.integrate(base, along))
    for k, place in plain:
        q[place] = xi[k]
    return q


def displacement_slopes(mech: Mechanism, base: Array, q: Array) -> Array:
    """Differentiate displacements (nv, nv) ∂ξ by small motions of q along the speeds, by differences: the inverse of
    the right Jacobian of the rotations."""
    columns = []
    for unit in np.eye(mech.nv):
        ahead, behind = (mech.difference(base, mech.integrate(q, sign * SMALL * unit)) for sign in (1.0, -1.0))
        columns.append((np.asarray(ahead) - np.asarray(behind)) / (2.0 * SMALL))
    return np.column_stack(columns)


def independent_motions(constraints: PositionConstraints, q: Array, independent: Sequence[int]) -> Array:
    """Return speeds (nv, k) at a closed pose, one column for each independent speed, which is 1 there."""
    G = np.asarray(dense(constraints.jacobian(q)))
    free = np.setdiff1d(np.arange(G.shape[1]), independent)
    found = np.zeros((G.shape[1], len(independent)))
    found[list(independent), range(len(independent))] = 1.0
    found[free] = -np.linalg.pinv(G[:, free], rcond=RANK_TOLERANCE) @ G[:, list(independent)]
    return found


def closed(
    mech: Mechanism, base: Array, independent: Sequence[int], values: Array, near: Array, p: Any, t: float
) -> Array:
    """Compute the closed pose (nq,) with displacements `values` along the independent speeds, starting from the pose
    `near` (Newton's method). Raises AssemblyError if the loops do not close."""
    constraints = PositionConstraints(mech.compiled, p, t)
    free = np.setdiff1d(np.arange(mech.nv), independent)
    positions = np.array([row.level == 0 for row in constraints.names], dtype=bool)
    xi = displacements(mech, base, near)
    xi[list(independent)] = values
    q, gap = displaced(mech, base, xi), np.inf
    for _ in range(MOST_CLOSINGS):
        residual = constraints.residual(q)
        before, gap = gap, float(np.max(np.abs(residual), initial=0.0))
        if not np.isfinite(gap) or gap == 0.0 or (gap < SOLVED_GAP and gap >= 0.5 * before):
            break
        G = np.asarray(dense(constraints.jacobian(q)))[positions]
        along = G @ np.linalg.inv(displacement_slopes(mech, base, q))
        step = -np.linalg.lstsq(along[:, free], residual, rcond=RANK_TOLERANCE)[0]
        xi[free] += step * min(1.0, LONGEST_CLOSING / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        q = displaced(mech, base, xi)
    if not gap < SOLVED_GAP:
        names = ", ".join(mech.v_names[k] for k in independent)
        error = AssemblyError(
            f"The loops do not close with the start values of {names}; the residual is {gap:.3g}.",
            where="fit",
            remedy="Give better start values, or fit fewer of them.",
        )
        error.q = q
        raise error
    return q
