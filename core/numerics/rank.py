"""What counts as independent: ranks, null spaces and least solutions by singular values, with one tolerance.

Of large sparse matrices what is asked for comes from `core.numerics.fronts` where singular values would surely say the
same, else from singular values, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.numerics.matrix_forms import Matrix, dense, is_sparse
from core.numerics.tolerances import RANK_TOLERANCE

if TYPE_CHECKING:
    from core.numerics.fronts import Fronts

Array = NDArray[np.float64]


def saying(A: Array) -> NDArray[np.bool_]:
    """(r,) which rows of matrices (…, r, c) have an entry anywhere: of a loop in a plane most have none, and what costs
    the cube of the rows need not be paid for them."""
    return np.asarray((A != 0.0).any(axis=(*range(A.ndim - 2), -1)))


def rank(A: Matrix) -> int:
    """How many rows (or columns) of a matrix (r, c) are independent."""
    if (known := eliminated(A)) is not None:
        return known.rank
    A = dense(A)
    return _count(np.linalg.svd(A[saying(A)], compute_uv=False))


def null_space(A: Matrix, tolerance: float = RANK_TOLERANCE) -> Array:
    """(c, c − rank) orthonormal columns N with A N = 0, of a matrix (r, c)."""
    if (known := eliminated(A)) is not None:
        return known.motions
    A = dense(A)
    _, sigma, right = np.linalg.svd(A[saying(A)])
    return np.asarray(right[_count(sigma, tolerance) :].T)


def least(A: Matrix, target: Array, tolerance: float = RANK_TOLERANCE) -> Array:
    """(c,) the least x with the least |A x − target|, of a matrix (r, c)."""
    return solver(A, tolerance)(target)


def solver(A: Matrix, tolerance: float = RANK_TOLERANCE) -> Callable[[Array], Array]:
    """The same for several targets (r,) or (r, k)."""
    if (known := eliminated(A)) is not None:
        return known.least
    inverted = np.linalg.pinv(dense(A), rcond=tolerance)
    return lambda target: np.asarray(inverted @ target)


def eliminated(A: Matrix) -> Fronts | None:
    """A large sparse matrix, eliminated; None of others, and where it is not clear what is independent."""
    if not is_sparse(A):
        return None
    from core.numerics.fronts import clear_fronts

    return clear_fronts(A.tocsr())


def inverse(A: Array) -> Array:
    """(…, c, r) the pseudoinverse of matrices (…, r, c): least solutions of what is redundant or contradicts itself."""
    return np.asarray(np.linalg.pinv(A, rcond=RANK_TOLERANCE))


def pivots(A: Array, count: int) -> list[int]:
    """The columns of a matrix (r, c) that a QR factorisation with pivoting takes first: each the one of which most is
    left beside those before it."""
    left = np.array(A, dtype=float)
    chosen: list[int] = []
    for _ in range(count):
        norms = np.linalg.norm(left, axis=0)
        norms[chosen] = -1.0
        chosen.append(int(np.argmax(norms)))
        direction = left[:, chosen[-1]] / norms[chosen[-1]]
        left -= np.outer(direction, direction @ left)
    return chosen


def echelon(A: Array, smallest: float) -> Array:
    """(r, k) the columns that span what those of a matrix (r, k) of rank k do, each 1 in a row where all others are 0:
    in the first rows that are independent by more than `smallest`."""
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


def coupled(A: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """The groups of rows of a symmetric matrix (n, n) that are connected by its entries, each as a mask (n,)."""
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


def _count(sigma: NDArray[np.floating[Any]], tolerance: float = RANK_TOLERANCE) -> int:
    return int(np.count_nonzero(sigma > tolerance * np.max(sigma, initial=0.0)))
