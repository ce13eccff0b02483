"""Rank, null space and least-squares solutions by singular values, with one common tolerance.

Of large sparse matrices what is asked for comes from `core.numerics.fronts` where singular values would surely say the
same, else from singular values, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.numerics.matrix_forms import Matrix, is_sparse, to_dense
from core.numerics.tolerances import RANK_TOLERANCE

if TYPE_CHECKING:
    from core.numerics.fronts import FrontalFactorisation

Array = NDArray[np.float64]


def nonzero_row_mask(A: Array) -> NDArray[np.bool_]:
    """Mask (r,) of the rows of matrices (…, r, c) that have any nonzero entry; most rows of a planar loop have none,
    and skipping them saves work that grows with the cube of their number."""
    return np.asarray((A != 0.0).any(axis=(*range(A.ndim - 2), -1)))


def rank(A: Matrix) -> int:
    """Return the rank of a matrix (r, c)."""
    if (known := factorise_sparse(A)) is not None:
        return known.rank
    A = to_dense(A)
    return _count_nonzero(np.linalg.svd(A[nonzero_row_mask(A)], compute_uv=False))


def null_space(A: Matrix, tolerance: float = RANK_TOLERANCE) -> Array:
    """Return an orthonormal null space N (c, c − rank) of a matrix (r, c): A N = 0."""
    if (known := factorise_sparse(A)) is not None:
        return known.null_space
    A = to_dense(A)
    _, sigma, right = np.linalg.svd(A[nonzero_row_mask(A)])
    return np.asarray(right[_count_nonzero(sigma, tolerance) :].T)


def solve_least_squares(A: Matrix, target: Array, tolerance: float = RANK_TOLERANCE) -> Array:
    """Return the minimum-norm least-squares solution x (c,) of A x = target, for a matrix (r, c)."""
    return least_squares_solver(A, tolerance)(target)


def least_squares_solver(A: Matrix, tolerance: float = RANK_TOLERANCE) -> Callable[[Array], Array]:
    """Return a function that solves A x = target in the minimum-norm least-squares sense, for targets (r,) or (r,
    k)."""
    if (known := factorise_sparse(A)) is not None:
        return known.solve_least_squares
    inverted = np.linalg.pinv(to_dense(A), rcond=tolerance)
    return lambda target: np.asarray(inverted @ target)


def factorise_sparse(A: Matrix) -> FrontalFactorisation | None:
    """Factorise a large sparse matrix; None for a dense matrix or one of ambiguous rank."""
    if not is_sparse(A):
        return None
    from core.numerics.fronts import factorise_if_rank_is_clear

    return factorise_if_rank_is_clear(A.tocsr())


def pseudoinverse(A: Array) -> Array:
    """Return the pseudoinverses (…, c, r) of matrices (…, r, c)."""
    return np.asarray(np.linalg.pinv(A, rcond=RANK_TOLERANCE))


def pivot_columns(A: Array, count: int) -> list[int]:
    """Return the first columns of a matrix (r, c) that QR factorisation with column pivoting selects: each has the
    largest component orthogonal to those selected before."""
    left = np.array(A, dtype=float)
    chosen: list[int] = []
    for _ in range(count):
        norms = np.linalg.norm(left, axis=0)
        norms[chosen] = -1.0
        chosen.append(int(np.argmax(norms)))
        direction = left[:, chosen[-1]] / norms[chosen[-1]]
        left -= np.outer(direction, direction @ left)
    return chosen


def echelon_basis(A: Array, smallest: float) -> Array:
    """Return a basis (r, k) of the column space of a matrix (r, k) of rank k in reduced echelon form: each column is 1
    in one row in which all others are 0; these are the first rows that are independent by more than `smallest`."""
    count = A.shape[1]
    leading: list[int] = []
    along = np.zeros((count, count))
    for row, entries in enumerate(A):
        if len(leading) == count:
            break
        across = entries
        for _ in range(2):
            across = across - along[: len(leading)].T @ (along[: len(leading)] @ across)
        length = float(np.linalg.norm(across))
        if length > smallest:
            along[len(leading)] = across / length
            leading.append(row)
    return np.asarray(np.linalg.solve(A[leading].T, A.T).T)


def connected_row_groups(A: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return the connected groups of rows of a symmetric pattern (n, n), each as a mask (n,)."""
    groups: list[NDArray[np.bool_]] = []
    free = np.ones(len(A), dtype=bool)
    while free.any():
        group = np.zeros(len(A), dtype=bool)
        group[np.argmax(free)] = True
        while (grown := group | A[group].any(axis=0)).sum() > group.sum():
            group = grown
        groups.append(group)
        free &= ~group
    return groups


def _count_nonzero(sigma: NDArray[np.floating[Any]], tolerance: float = RANK_TOLERANCE) -> int:
    return int(np.count_nonzero(sigma > tolerance * np.max(sigma, initial=0.0)))
