"""Second-order mobility: free motions that self-stresses exclude, and directions in which motion can continue from a
singular pose.

A motion v can go on only if λᵀ Ġ v = 0 for every self-stress λ (Connelly and Whiteley, Second-order rigidity, 1996); at
generic poses what violates that is a motion that stays infinitesimal, with a stress that does not mean redundancy. For
every λ that is a quadratic form. In large machines motions and stresses reach over few joints, so that most entries of
these forms are zero: only motions that meet in a constraint are asked for together.

At a singular pose the form of a parallelogram in a line is a product of two linear forms, one for each way in which it
goes on. So the forms are fulfilled one after another: a product by one of its factors, a form of one sign by its
kernel. The result is a `TangentSpace` for each choice of factors; forms that are no product are solved by Newton's
method within it. A form reaches over few motions, so that long rows take as many steps as they have loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass
from core.numerics.matrix_forms import Matrix, is_sparse, to_csr, to_dense
from core.numerics.rank import echelon_basis

Array = NDArray[np.float64]


BENT = 1e-6
"""Eigenvalue of a form, relative to the largest, below which it counts as zero."""
SOLVED = 1e-9
"""Value of a form at a unit direction that counts as zero."""
NEWTON_STEPS = 40
ATTEMPTS = 4
"""Number of random starting directions for solving forms that do not factor."""
STILL = 1e-12
"""Squared component of a motion in a space below which it counts as zero."""
SAME_SPACE = 1e-6
"""Distance between the projections of a random vector onto two spaces below which the spaces are equal."""


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """Quadratic form of a self-stress: a symmetric matrix (n, n) over n of the motions."""

    motions: NDArray[np.int64]
    matrix: Array

    def __call__(self, a: Array) -> float:
        part = a[self.motions]
        return float(part @ self.matrix @ part)


@dataclass(eq=False)
class TangentSpace:
    """Linear space of motions orthogonal to given normals.

    normals : (n, k) orthonormal rows; probe : (k,) a random vector, projected; moving : (k,) squares of how much of
    each motion is in it; left : forms not fulfilled on it
    """

    normals: Array
    probe: Array
    moving: Array
    left: list[QuadraticForm] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        """Dimension of the space."""
        return int(self.normals.shape[1] - len(self.normals))

    @property
    def motion_evenness(self) -> float:
        """Measure of how evenly all motions take part in the space; if one of them hardly takes part, poses stay nearly
        singular."""
        return float(np.sum(np.log(np.maximum(self.moving, STILL))))

    def is_same_as(self, other: TangentSpace) -> bool:
        """Return True if the other space is the same."""
        return self.dimension == other.dimension and float(np.linalg.norm(self.probe - other.probe)) < SAME_SPACE

    def project(self, a: Array) -> Array:
        """(k,) or (k, n) projection of vectors onto the space."""
        return np.asarray(a - self.normals.T @ (self.normals @ a))

    def orthogonal_subspace(self, normal: Array) -> TangentSpace:
        """Subspace orthogonal to a further normal (k,), a unit vector in the space."""
        probe = self.probe - normal * (normal @ self.probe)
        return TangentSpace(np.vstack([self.normals, normal]), probe, self.moving - normal**2, list(self.left))

    def factor_form(self, form: QuadraticForm) -> list[list[Array]] | None:
        """Factor a quadratic form restricted to the space: alternatives for which it vanishes, each a list of normals
        of hyperplanes; None if the form does not factor."""
        concerned = np.zeros((self.normals.shape[1], len(form.motions)))
        concerned[form.motions, np.arange(len(form.motions))] = 1.0
        # orthonormal columns in the way, of which alone the form's motions depend
        basis, sizes, turns = np.linalg.svd(self.project(self.project(concerned)), full_matrices=False)
        weighted = sizes[:, None] * turns
        values, vectors = np.linalg.eigh(weighted @ form.matrix @ weighted.T)
        bent = np.abs(values) > BENT * np.max(np.abs(form.matrix))
        signs = np.sign(values[bent])
        if not len(signs):
            return [[]]
        across = list((basis @ vectors[:, bent]).T)
        if abs(signs.sum()) == len(signs):
            return [across]
        if len(signs) > 2:
            return None
        one, other = np.sqrt(np.abs(values[bent]) / np.sum(np.abs(values[bent])))
        return [[one * across[0] + sign * other * across[1]] for sign in (1.0, -1.0)]

    def random_direction(self, rng: np.random.Generator) -> Array | None:
        """(k,) random unit vector in the space at which all forms vanish; None if none is found."""
        for _ in range(ATTEMPTS):
            a = self.project(np.asarray(rng.normal(size=self.normals.shape[1])))
            for _ in range(NEWTON_STEPS):
                a = np.asarray(a / max(float(np.linalg.norm(a)), 1e-300))
                values = np.array([form(a) for form in self.left])
                if np.max(np.abs(values), initial=0.0) < SOLVED:
                    return a
                a = a - np.linalg.lstsq(self._form_derivatives(a), values, rcond=1e-6)[0]
        return None

    def _form_derivatives(self, a: Array) -> Array:
        """(remaining forms, k) derivatives of the forms within the space."""
        slopes = np.zeros((len(self.left), len(a)))
        for slope, form in zip(slopes, self.left, strict=True):
            slope[form.motions] = 2.0 * (form.matrix @ a[form.motions])
        return np.asarray(slopes - (slopes @ self.normals.T) @ self.normals)


def find_tangent_spaces(
    count: int, forms: Sequence[QuadraticForm], limit: int, rng: np.random.Generator
) -> list[TangentSpace]:
    """Find the spaces on which all forms vanish, at most `limit`; if there are more, those with the most even motions.

    count : k, the number of motions
    """
    spaces = [TangentSpace(np.zeros((0, count)), rng.normal(size=count), np.ones(count))]
    open_ones: list[QuadraticForm] = []
    for form in forms:
        spaces = _subspaces_for_form(spaces, form, limit, open_ones)
    for form in open_ones:  # others may have made products of them
        left: list[QuadraticForm] = []
        spaces = _subspaces_for_form(spaces, form, limit, left)
        for space in spaces:
            space.left += left
    return spaces


def _subspaces_for_form(
    spaces: Sequence[TangentSpace], form: QuadraticForm, limit: int, open_ones: list[QuadraticForm]
) -> list[TangentSpace]:
    """Subspaces on which a form vanishes; a form that does not factor on one of them is added to `open_ones`."""
    grown: list[TangentSpace] = []
    for space in spaces:
        choices = space.factor_form(form)
        if choices is None:
            open_ones += [form] if form not in open_ones else []
            choices = [[]]
        for normals in choices:
            onward = space
            for normal in normals:
                onward = onward.orthogonal_subspace(normal)
            if onward.dimension and not any(onward.is_same_as(other) for other in grown):
                grown.append(onward)
    return sorted(grown, key=lambda space: -space.motion_evenness)[:limit]


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
"""Fraction of a motion's norm that its pivot speed must have."""


def finite_motions_and_stresses(
    bias: Bias, N: Array, stresses: Matrix, units: Array, jacobian: Callable[[], Matrix]
) -> tuple[Array, Matrix]:
    """Return the motions (nv, k) and self-stresses (rows, m) at a generic pose that are finite: without infinitesimal
    motions, and without the self-stresses that exclude them.

    units : (nv,) in which motions are orthonormal; jacobian : gives G, whose entries in compressed rows are those that
    may differ from zero
    """
    if not N.shape[1] or not stresses.shape[1]:
        return N, stresses
    if is_sparse(stresses) or N.shape[1] > FEW:
        if _excludes_no_motion(bias, N, stresses):
            return N, stresses
        local, pairs = _local_motions_and_pairs(N, units, jacobian())
        stresses = _local_stresses(stresses)
        return _sparse_null_spaces(local, stresses, _form_entries(bias, local, stresses, pairs), pairs)
    every = np.triu_indices(N.shape[1])
    forms = _form_entries(bias, N, stresses, every)
    form = np.zeros((stresses.shape[1], N.shape[1], N.shape[1]))
    form[:, every[0], every[1]] = form[:, every[1], every[0]] = forms.T
    return N @ _null_space(form.reshape(-1, N.shape[1])), stresses @ _null_space(form.reshape(len(form), -1).T)


def local_motions_and_forms(
    bias: Bias, N: Array, stresses: Matrix, units: Array, jacobian: Callable[[], Matrix]
) -> tuple[Array, list[QuadraticForm]]:
    """Motions (nv, k) that involve few joints, and the nonzero quadratic forms over them, one for each self-stress that
    involves few constraints; for the arguments see `finite_motions_and_stresses`."""
    if not N.shape[1] or not stresses.shape[1] or _excludes_no_motion(bias, N, stresses):
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
        result.append(QuadraticForm(motions, matrix))
    return local, result


def _local_motions_and_pairs(N: Array, units: Array, pattern: Matrix) -> tuple[Array, tuple[Integers, ...]]:
    """Motions that involve few joints, and the pairs of them that may share a constraint; all pairs for a dense
    matrix."""
    local = _local_motions(N / units[:, None], to_csr(pattern)) * units[:, None]
    return local, _pairs_sharing_constraint(local, pattern) if is_sparse(pattern) else np.triu_indices(N.shape[1])


def _local_stresses(stresses: Matrix) -> Matrix:
    """The same self-stresses in a basis with few constraints each."""
    return stresses if is_sparse(stresses) else to_csr(echelon_basis(stresses, LEADING))


def _excludes_no_motion(bias: Bias, N: Array, stresses: Matrix) -> bool:
    """Return True if second order excludes no motion: quadratic forms that vanish at random motions are zero."""
    speeds = np.random.default_rng(N.shape[1]).normal(size=(PROBES, N.shape[1])) @ N.T
    return bool(np.max(np.abs(bias(speeds) @ stresses), initial=0.0) < CURVED)


def _local_motions(N: Array, pattern: Matrix) -> Array:
    """(nv, k) unit motions that involve few joints, with pivots at speeds that occur in many constraints."""
    order = np.argsort(-np.bincount(pattern.indices, minlength=len(N)), kind="stable")
    motions = np.empty_like(N)
    motions[order] = echelon_basis(N[order], LEADING)
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
    found = to_dense(to_csr(gaps) @ stresses) if is_sparse(stresses) else gaps @ stresses
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
