"""What counts as independent: ranks, null spaces and least solutions by singular values, with one tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]


def rank(A: Array) -> int:
    """How many rows (or columns) of a matrix (r, c) are independent."""
    return _count(np.linalg.svd(A, compute_uv=False))


def null_space(A: Array) -> Array:
    """(c, c − rank) orthonormal columns N with A N = 0, of a matrix (r, c)."""
    _, sigma, right = np.linalg.svd(A)
    return np.asarray(right[_count(sigma) :].T)


def inverse(A: Array) -> Array:
    """(…, c, r) the pseudoinverse of matrices (…, r, c): least solutions of what is redundant or contradicts itself."""
    return np.asarray(np.linalg.pinv(A, rcond=RANK_TOLERANCE))


def _count(sigma: NDArray[np.floating[Any]]) -> int:
    return int(np.count_nonzero(sigma > RANK_TOLERANCE * np.max(sigma, initial=0.0)))
