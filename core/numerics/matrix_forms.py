"""Matrices in two forms: dense arrays, or `scipy.sparse` matrices in CSR format if they are large and sparse."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Matrix: TypeAlias = Any
"""An array, or a `scipy.sparse.csr_array`."""


def is_sparse(A: Matrix) -> bool:
    """Return True if a matrix is in CSR format."""
    return not isinstance(A, np.ndarray)


def to_dense(A: Matrix) -> Array:
    """Convert a matrix to a dense array."""
    return np.asarray(A.toarray() if is_sparse(A) else A)


def to_csr(A: Matrix) -> Matrix:
    """Convert a matrix to CSR format."""
    import scipy.sparse

    return scipy.sparse.csr_array(A)


def scale_matrix(A: Matrix, rows: Array | None = None, columns: Array | None = None) -> Matrix:
    """Scale the rows and columns of a matrix by factors."""
    if isinstance(A, np.ndarray):
        result = A if columns is None else A * columns
        return result if rows is None else result * rows[:, None]
    data = A.data if columns is None else A.data * columns[A.indices]
    if rows is not None:
        data = data * np.repeat(rows, np.diff(A.indptr))
    return type(A)((data, A.indices, A.indptr), shape=A.shape)


def stack_rows(A: Matrix, below: Array) -> Matrix:
    """Stack a matrix on top of further rows."""
    if not is_sparse(A):
        return np.concatenate([A, below])
    import scipy.sparse

    return scipy.sparse.csr_array(scipy.sparse.vstack([A, below], format="csr"))


def row_maxima(A: Matrix) -> Array:
    """Return the largest absolute value in each row of a matrix (r, c): (r,)."""
    if is_sparse(A):
        return np.asarray(abs(A).max(axis=1).toarray()).reshape(-1)
    return np.asarray(np.max(np.abs(A), axis=1, initial=0.0))


def sum_of_squares(A: Matrix) -> float:
    """Return the sum of the squares of all entries."""
    entries = A.data if is_sparse(A) else A
    return float(np.sum(entries**2))
