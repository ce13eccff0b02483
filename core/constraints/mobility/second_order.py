"""Infinitesimal motions: first-order free motions that self-stresses exclude to second order.

A motion v can go on only if λᵀ Ġ v = 0 for every self-stress λ (Connelly and Whiteley, Second-order rigidity, 1996); at
generic poses what violates that is a motion that stays infinitesimal, with a stress that does not mean redundancy. For
every λ that is a quadratic form. In large machines motions and stresses reach over few joints, so that most entries of
these forms are zero: only motions that meet in a constraint are asked for together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.onward import Form
from core.numerics.matrix_forms import Matrix, compressed, dense, is_sparse
from core.numerics.rank import echelon

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Bias = Callable[[Array], Array]
"""Speeds (n, nv) → Ġ v (n, rows)."""

CURVED = 1e-5
"""Second-order residual of a unit-speed motion, in units of the machine, above which the motion cannot continue."""
PROBES = 3
"""Number of random motions tested in large machines."""
FEW = 24
"""Number of motions up to which all are treated together."""
LEADING = 1e-7
"""Share of a motion's norm that its pivot speed must have."""


def lasting(
    bias: Bias, N: Array, stresses: Matrix, units: Array, jacobian: Callable[[], Matrix]
) -> tuple[Array, Matrix]:
    """Motions (nv, k) and self-stresses (rows, m) at a generic pose, without the infinitesimal ones.

    units : (nv,) in which motions are orthonormal; jacobian : gives G, whose entries in compressed rows are those that
    may differ from zero
    """
    if not N.shape[1] or not stresses.shape[1]:
        return N, stresses
    if is_sparse(stresses) or N.shape[1] > FEW:
        if _no_motion_is_excluded(bias, N, stresses):
            return N, stresses
        local, pairs = _local_motions_and_pairs(N, units, jacobian())
        stresses = _local_stresses(stresses)
        return _sparse_null_spaces(local, stresses, _form_entries(bias, local, stresses, pairs), pairs)
    every = np.triu_indices(N.shape[1])
    forms = _form_entries(bias, N, stresses, every)
    form = np.zeros((stresses.shape[1], N.shape[1], N.shape[1]))
    form[:, every[0], every[1]] = form[:, every[1], every[0]] = forms.T
    return N @ _null_space(form.reshape(-1, N.shape[1])), stresses @ _null_space(form.reshape(len(form), -1).T)


def forms_of(
    bias: Bias, N: Array, stresses: Matrix, units: Array, jacobian: Callable[[], Matrix]
) -> tuple[Array, list[Form]]:
    """Motions (nv, k) that involve few joints, and the nonzero quadratic forms over them, one for each self-stress that
    involves few constraints; arguments as of `lasting`."""
    if not N.shape[1] or not stresses.shape[1] or _no_motion_is_excluded(bias, N, stresses):
        return N, []
    local, pairs = _local_motions_and_pairs(N, units, jacobian())
    found = _form_entries(bias, local, _local_stresses(stresses), pairs)
    result = []
    for values in found.T:
        entries = np.flatnonzero(np.abs(values) > CURVED)
        if not len(entries):
            continue
        one, other = pairs[0][entries], pairs[1][entries]
        motions = np.unique([one, other])
        matrix = np.zeros((len(motions), len(motions)))
        rows, columns = np.searchsorted(motions, one), np.searchsorted(motions, other)
        matrix[rows, columns] = matrix[columns, rows] = values[entries]
        result.append(Form(motions, matrix))
    return local, result


def _local_motions_and_pairs(N: Array, units: Array, pattern: Matrix) -> tuple[Array, tuple[Integers, ...]]:
    """Motions that involve few joints, and the pairs of them that may share a constraint; all pairs for a dense
    matrix."""
    local = _local_motions(N / units[:, None], compressed(pattern)) * units[:, None]
    return local, _pairs_sharing_constraint(local, pattern) if is_sparse(pattern) else np.triu_indices(N.shape[1])


def _local_stresses(stresses: Matrix) -> Matrix:
    """The same self-stresses in a basis with few constraints each."""
    return stresses if is_sparse(stresses) else compressed(echelon(stresses, LEADING))


def _no_motion_is_excluded(bias: Bias, N: Array, stresses: Matrix) -> bool:
    """Return True if second order excludes no motion: quadratic forms that vanish at random motions are zero."""
    speeds = np.random.default_rng(N.shape[1]).normal(size=(PROBES, N.shape[1])) @ N.T
    return bool(np.max(np.abs(bias(speeds) @ stresses), initial=0.0) < CURVED)


def _local_motions(N: Array, pattern: Matrix) -> Array:
    """(nv, k) unit motions that involve few joints, with pivots at speeds that occur in many constraints."""
    order = np.argsort(-np.bincount(pattern.indices, minlength=len(N)), kind="stable")
    motions = np.empty_like(N)
    motions[order] = echelon(N[order], LEADING)
    return np.asarray(motions / np.linalg.norm(motions, axis=0))


def _pairs_sharing_constraint(motions: Array, pattern: Matrix) -> tuple[Integers, Integers]:
    """Pairs (i, j), i ≤ j, of motions with a constraint in common; those with i = j first."""
    import scipy.sparse

    moving = scipy.sparse.csr_array(np.abs(motions) > LEADING * np.max(np.abs(motions), axis=0))
    touching = type(pattern)((np.ones(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)
    reached = (touching @ moving.astype(float)).tocsr()
    together = scipy.sparse.coo_array(scipy.sparse.triu(reached.T @ reached, 1))
    own = np.arange(motions.shape[1])
    return np.concatenate([own, together.row]), np.concatenate([own, together.col])


def _form_entries(bias: Bias, motions: Array, stresses: Matrix, pairs: tuple[Integers, ...]) -> Matrix:
    """(pairs, m) entries of the quadratic forms, from their values at sums of two motions."""
    one, other = pairs
    alone = one == other
    gaps = bias((motions[:, one] + np.where(alone, 0.0, motions[:, other])).T)
    found = dense(compressed(gaps) @ stresses) if is_sparse(stresses) else gaps @ stresses
    own = np.zeros((motions.shape[1], stresses.shape[1]))
    own[one[alone]] = found[alone]
    mixed = 0.5 * (found - own[one] - own[other])
    return np.where(alone[:, None], found, mixed)


def _null_space(form: Array) -> Array:
    """(n, n − rank) orthonormal null space of a form (r, n)."""
    _, sigma, right = np.linalg.svd(form, full_matrices=len(form) < form.shape[1])
    return np.asarray(right[int(np.count_nonzero(sigma > CURVED)) :].T)


def _sparse_null_spaces(
    motions: Array, stresses: Matrix, forms: Array, pairs: tuple[Integers, ...]
) -> tuple[Array, Matrix]:
    """Null spaces as in `_null_space`, from the squares of sparse forms."""
    import scipy.sparse

    one, other = pairs
    k = motions.shape[1]
    acting = np.abs(forms) > CURVED**2
    entries, stress = np.nonzero(acting)
    values = forms[entries, stress]
    mixed = one[entries] != other[entries]
    rows = np.concatenate([stress * k + one[entries], (stress * k + other[entries])[mixed]])
    columns = np.concatenate([other[entries], one[entries][mixed]])
    of_motions = scipy.sparse.csr_array(
        (np.concatenate([values, values[mixed]]), (rows, columns)), shape=(stresses.shape[1] * k, k)
    )
    bent = acting.any(axis=0)
    weighted = forms[:, bent] * np.where(one == other, 1.0, np.sqrt(2.0))[:, None]
    combined = scipy.sparse.csr_array(stresses[:, bent] @ _null_space_of_square(weighted.T @ weighted))
    left = scipy.sparse.hstack([stresses[:, ~bent], combined], format="csr")
    return motions @ _null_space_of_square((of_motions.T @ of_motions).toarray()), scipy.sparse.csr_array(left)


def _null_space_of_square(square: Array) -> Array:
    """Null space of a form from its square (n, n)."""
    values, vectors = np.linalg.eigh(square)
    return np.asarray(vectors[:, values <= CURVED**2])
