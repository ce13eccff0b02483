"""Minimum-norm constraint forces of overconstrained machines, independent of where loops are cut.

Where constraints are redundant, multipliers λ may be changed by self-stresses S, Gᵀ S = 0, without any effect on the
motion. Those are taken of which all that is felt (wrenches in all joints, forces of all other constraints and drivers)
has the least sum of squares: that does not depend on where loops are cut.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.numerics.matrix_forms import Matrix
from core.numerics.rank import nonzero_rows
from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]

NOTHING = 1e-14
"""Relative regularisation that keeps the equations solvable for states with fewer self-stresses."""


def self_stresses(G: Array) -> Array:
    """(n, rows, k) orthonormal self-stresses of G (n, rows, nv), k the largest number at any of the n states,
    zero-padded. A zero row of G is a self-stress by itself."""
    among = nonzero_rows(G)
    u, sigma, _ = np.linalg.svd(G[:, among])
    rows = u.shape[-1]
    padded = np.zeros((len(G), rows))
    padded[:, : sigma.shape[-1]] = sigma
    dependent = padded <= RANK_TOLERANCE * np.maximum(padded[:, :1], 1e-300)
    k = int(np.max(np.sum(dependent, axis=1), initial=0))
    result = np.zeros((len(G), len(among), k + np.count_nonzero(~among)))
    result[:, among, :k] = (u * dependent[:, None, :])[:, :, rows - k :]
    result[:, np.flatnonzero(~among), np.arange(k, result.shape[-1])] = 1.0
    return result


def minimum_norm(G: Array, multipliers: Array, given: Array, felt: Callable[[Array], Array]) -> Array:
    """(n, rows) multipliers with the smallest norm of the joint wrenches and element forces they cause, among those
    with the same motion.

    G : (n, rows, nv); multipliers : (n, rows), any of them; given : (n, m) what is felt with these; felt : multipliers
    (k, n, rows) → (k, n, m) what is felt of them alone, in comparable units
    """
    S = self_stresses(G)
    if not S.shape[-1]:
        return multipliers
    B = np.moveaxis(felt(np.moveaxis(S, -1, 0)), 0, -1)
    normal = np.swapaxes(B, -1, -2) @ B
    size_of_all = np.trace(normal, axis1=-2, axis2=-1)[:, None, None] + 1e-300
    normal = normal + NOTHING * size_of_all * np.eye(normal.shape[-1])  # states with fewer self-stresses have zeros
    change = np.linalg.solve(normal, np.swapaxes(B, -1, -2) @ given[..., None])
    return np.asarray(multipliers - (S @ change)[..., 0])


def sparse_minimum_norm(stresses: Matrix, multipliers: Array, given: Array, felt: Matrix) -> Array:
    """(rows,) minimum-norm multipliers of one state of a large machine.

    stresses : (rows, k) self-stresses, felt : (m, rows) what is felt of multipliers, both in compressed rows
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    if not stresses.shape[1]:
        return multipliers
    B = felt @ stresses
    normal = B.T @ B
    normal = normal + NOTHING * normal.trace() * eye_array(B.shape[1])
    return np.asarray(multipliers - stresses @ splu(normal.tocsc()).solve(B.T @ given))
