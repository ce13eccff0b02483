"""Multifrontal QR factorisation of large sparse matrices: rank, null space, least-squares solutions.

Gᵀ = Q R in the order of `core.numerics.elimination`. Within a front the row of which most remains is eliminated first
(QR with column pivoting, Golub and Van Loan 5.4.2), rows of which nothing remains depend on others; what remains of
the rows of later fronts goes on. Directions of unknowns that no front takes up are free. Q is kept as reflections.

A row is judged in its own front only, so an elimination counts where it is `clear`: where singular values surely lie
above what counts in every case, or below what counts in none. Then it decides as singular values of the whole do.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.numerics.elimination import build_fronts
from core.numerics.tolerances import RANK_TOLERANCE, REGULAR_FRACTION

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Sparse = Any
"""A `scipy.sparse` matrix in CSR format."""

MARGIN = 10.0
"""Safety factor on the smallest singular value, which inverse iteration estimates from above."""
ITERATIONS = 4
"""Steps of inverse iteration for the smallest singular value."""
PLANS = 8
"""Number of sparsity patterns whose order of elimination is cached."""
NOTHING = 1e-13
"""Entry of a vector, relative to its largest entry, below which it is rounding error."""


class _Front(NamedTuple):
    """Numeric factor of one front. Its unknowns are the front's own, followed by those that its child fronts pass
    on."""

    own: Integers
    children: tuple[int, ...]
    kept: Integers
    """Independent rows of the front, in the order of R."""
    dependent: Integers
    others: Integers
    """Rows of later fronts that share unknowns with this one."""
    triangle: Array
    """(kept, kept) R of the front's independent rows."""
    beside: Array
    """(kept, dependent and others) columns of R for the remaining rows."""
    reflections: tuple[tuple[int, Array, Array], ...]
    """Householder reflections: first row, vectors, factors."""
    remainder: Array
    """(passed on, others) block that is passed to the parent front."""
    height: int

    @property
    def passed_count(self) -> int:
        """Number of unknowns that are passed to the parent front."""
        return len(self.remainder)

    @property
    def free_count(self) -> int:
        """Number of free directions among the unknowns, stored last."""
        return self.height - len(self.kept) - self.passed_count

    def multiply_by_q(self, coefficients: Array) -> Array:
        """Multiply coefficients (height, k) by Q."""
        from scipy.linalg.lapack import dormqr

        if not coefficients.size:
            return coefficients
        for first, vectors, factors in reversed(self.reflections):
            coefficients[first:] = dormqr(
                "L", "N", vectors, factors, coefficients[first:], max(1, coefficients.shape[1])
            )[0]
        return coefficients


class FrontalFactorisation:
    """Factorised sparse matrix (r, c)."""

    def __init__(self, G: Sparse) -> None:
        self.matrix = G
        self._largest = _singular_value_bounds(G)
        self._fronts = _factorise_fronts(G, RANK_TOLERANCE * self._largest[0])
        self.kept = np.concatenate([np.zeros(0, dtype=np.int64), *(front.kept for front in self._fronts)])
        """Independent rows, in the order of elimination."""

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return len(self.kept)

    @cached_property
    def clear(self) -> bool:
        """Return True if every tolerance between `RANK_TOLERANCE` and `REGULAR_FRACTION` of the largest singular value
        gives the same rank."""
        return _smallest_singular_value(self.matrix[self.kept]) > MARGIN * REGULAR_FRACTION * self._largest[1]

    @cached_property
    def null_space(self) -> Array:
        """Orthonormal null space N (c, c − rank): G N = 0."""
        c = self.matrix.shape[1]
        touched = np.zeros(c, dtype=bool)
        touched[self.matrix.indices] = True
        silent = np.flatnonzero(~touched)
        result = np.zeros((c, c - self.rank))
        result[silent, np.arange(len(silent))] = 1.0
        count = len(silent)
        handed: dict[int, tuple[Array, Integers]] = {}
        for at in range(len(self._fronts) - 1, -1, -1):
            front = self._fronts[at]
            part, columns = handed.pop(at, (np.zeros((front.passed_count, 0)), np.zeros(0, dtype=np.int64)))
            new = np.arange(count, count + front.free_count)
            count += front.free_count
            whole = np.zeros((front.height, len(columns) + front.free_count))
            whole[len(front.kept) : len(front.kept) + front.passed_count, : len(columns)] = part
            whole[front.height - front.free_count :, len(columns) :] = np.eye(front.free_count)
            whole, columns = front.multiply_by_q(whole), np.concatenate([columns, new])
            result[np.ix_(front.own, columns)] = whole[: len(front.own)]
            for child, below in self._split_by_children(front, whole):
                moving = np.abs(below).max(axis=0, initial=0.0) > NOTHING
                handed[child] = below[:, moving], columns[moving]
        return result

    @cached_property
    def left_null_space(self) -> Sparse:
        """Sparse left null space S (r, r − rank) with columns of length one: Gᵀ S = 0. Each column combines a dependent
        row with the rows that determine it (a self-stress)."""
        import scipy.sparse

        found: dict[int, tuple[Integers, Array]] = {}
        dependent = np.setdiff1d(np.arange(self.matrix.shape[0]), self.kept)
        for column, row in enumerate(dependent):
            found[int(row)] = np.array([column]), np.ones(1)
        for front in reversed(self._fronts):
            given = [(k, found[int(row)]) for k, row in enumerate((*front.dependent, *front.others)) if row in found]
            if not given or not len(front.kept):
                continue
            columns, places = np.unique(np.concatenate([own for _, (own, _) in given]), return_inverse=True)
            weights = np.zeros((front.beside.shape[1], len(columns)))
            at = np.repeat([k for k, _ in given], [len(own) for _, (own, _) in given])
            weights[at, places] = np.concatenate([values for _, (_, values) in given])
            solved = -_solve_triangle(front.triangle, front.beside @ weights)
            for row, values in zip(front.kept, solved, strict=True):
                acting = np.abs(values) > NOTHING
                if acting.any():
                    found[int(row)] = columns[acting], values[acting]
        rows = np.repeat(list(found), [len(own) for own, _ in found.values()]).astype(np.int64)
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(own for own, _ in found.values())])
        values = np.concatenate([np.zeros(0), *(own for _, own in found.values())])
        shape = self.matrix.shape[0], len(dependent)
        lengths = np.sqrt(np.bincount(columns, values**2, minlength=shape[1]))
        return scipy.sparse.csr_array((values / lengths[columns], (rows, columns)), shape=shape)

    def solve_least_squares(self, target: Array) -> Array:
        """Return the minimum-norm least-squares solution x (c,) of G x = target for a target (r,); (c, k) for targets
        (r, k)."""
        targets = target.reshape(len(target), -1) if target.size else np.zeros((len(target), 0))
        left = targets - self.part_out_of_range(targets)
        pivots = []
        for front in self._fronts:
            y = _solve_triangle(front.triangle, left[front.kept], transposed=True)
            pivots.append(y)
            left[front.others] -= front.beside[:, len(front.dependent) :].T @ y
        return self._multiply_by_q(pivots, left.shape[1]).reshape(self.matrix.shape[1], *target.shape[1:])

    def _multiply_by_q(self, pivots: list[Array], count: int) -> Array:
        """Multiply the coefficients of independent rows by Q, front by front: (c, count)."""
        result = np.zeros((self.matrix.shape[1], count))
        handed: dict[int, Array] = {}
        for at in range(len(self._fronts) - 1, -1, -1):
            front = self._fronts[at]
            whole = np.zeros((front.height, count))
            whole[: len(front.kept)] = pivots[at]
            if at in handed:
                whole[len(front.kept) : len(front.kept) + front.passed_count] = handed.pop(at)
            whole = front.multiply_by_q(whole)
            result[front.own] = whole[: len(front.own)]
            handed.update(self._split_by_children(front, whole))
        return result

    def _split_by_children(self, front: _Front, vectors: Array) -> list[tuple[int, Array]]:
        """Split the unknowns of a front by the child front that passed them on."""
        result, first = [], len(front.own)
        for child in front.children:
            last = first + self._fronts[child].passed_count
            result.append((child, vectors[first:last]))
            first = last
        return result

    def part_out_of_range(self, target: Array) -> Array:
        """Return the part of targets (r,) or (r, k) outside the range of G, which lies in the left null space (the
        self-stresses)."""
        from scipy.sparse.linalg import splu

        S = self.left_null_space
        if not S.shape[1]:
            return np.zeros_like(target)
        along = S.T @ target
        return np.asarray(S @ (splu((S.T @ S).tocsc()).solve(along) if along.any() else along))


def factorise_if_rank_is_clear(G: Sparse) -> FrontalFactorisation | None:
    """Factorise a sparse matrix in CSR format; None if its rank is ambiguous."""
    if not np.isfinite(G.data).all():
        return None
    if not G.data.all():
        G = G.copy()
        G.eliminate_zeros()
    found = FrontalFactorisation(G)
    return found if found.clear else None


def _singular_value_bounds(G: Sparse) -> tuple[float, float]:
    """Return lower and upper bounds of the largest singular value of a matrix."""
    if not G.nnz:
        return 0.0, 0.0
    absolute = abs(G)
    longest = float(np.sqrt(np.max((G * G).sum(axis=1))))
    return longest, float(np.sqrt(np.max(absolute.sum(axis=0)) * np.max(absolute.sum(axis=1))))


def _smallest_singular_value(rows: Sparse) -> float:
    """Estimate the smallest singular value of a matrix by inverse iteration, from above; 0 if rows are dependent."""
    from scipy.sparse.linalg import splu

    if not rows.shape[0]:
        return np.inf
    try:
        factor = splu((rows @ rows.T).tocsc(), permc_spec="MMD_AT_PLUS_A")
    except RuntimeError:
        return 0.0
    x = np.random.default_rng(rows.shape[0]).normal(size=rows.shape[0])
    growth = 1.0
    for _ in range(ITERATIONS):
        x /= np.linalg.norm(x)
        x = factor.solve(x)
        growth = float(np.linalg.norm(x))
        if not np.isfinite(growth):
            return 0.0
    return 1.0 / float(np.sqrt(growth))


class _SymbolicFront(NamedTuple):
    """Symbolic part of a front, independent of numbers."""

    own: Integers
    children: tuple[int, ...]
    pivots: Integers
    others: Integers
    entries: Integers
    """Indices of the matrix entries that enter with this front; `unknowns` and `columns` are their positions in it."""
    unknowns: Integers
    columns: Integers
    lifted: tuple[Integers, ...]
    """Columns of this front into which the remaining columns of each child front go."""


def _symbolic_fronts(G: Sparse) -> list[_SymbolicFront]:
    """Return the symbolic fronts of a sparse matrix, in order of elimination."""
    return _fronts_of_sparsity_pattern(
        G.shape[1], G.indptr.dtype.str, G.indptr.tobytes(), G.indices.dtype.str, G.indices.tobytes()
    )


@lru_cache(maxsize=PLANS)
def _fronts_of_sparsity_pattern(
    count: int, pointer: str, begins_: bytes, index: str, columns_: bytes
) -> list[_SymbolicFront]:
    """Return the symbolic fronts of a sparsity pattern, cached; count: number of columns."""
    begins, columns = np.frombuffer(begins_, pointer), np.frombuffer(columns_, index)
    groups: dict[bytes, list[int]] = {}
    for row, (a, b) in enumerate(pairwise(begins.tolist())):
        if b > a:
            groups.setdefault(columns[a:b].tobytes(), []).append(row)
    members = [np.array(rows, dtype=np.int64) for rows in groups.values()]
    reached = [columns[begins[rows[0]] : begins[rows[0] + 1]].tolist() for rows in members]
    ordered = build_fronts(reached, [len(rows) for rows in members])
    at = {front.group: k for k, front in enumerate(ordered)}
    children: list[list[int]] = [[] for _ in ordered]
    for k, front in enumerate(ordered):
        if front.others:
            children[at[front.others[0]]].append(k)
    owners, local = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for k, front in enumerate(ordered):
        owners[list(front.unknowns)], local[list(front.unknowns)] = k, np.arange(len(front.unknowns))
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    sorted_entries = np.argsort(owners[columns], kind="stable")
    bounds = np.searchsorted(owners[columns][sorted_entries], np.arange(len(ordered) + 1))
    place = np.zeros(len(begins) - 1, dtype=np.int64)
    result: list[_SymbolicFront] = []
    for k, front in enumerate(ordered):
        pivots = members[front.group]
        others = np.concatenate([pivots[:0], *(members[group] for group in front.others)])
        place[pivots], place[others] = np.arange(len(pivots)), len(pivots) + np.arange(len(others))
        entries = sorted_entries[bounds[k] : bounds[k + 1]]
        own = np.array(front.unknowns, dtype=np.int64)
        lifted = tuple(place[result[child].others] for child in children[k])
        coming = entries, local[columns[entries]], place[rows[entries]]
        result.append(_SymbolicFront(own, tuple(children[k]), pivots, others, *coming, lifted))
    return result


def _factorise_fronts(G: Sparse, smallest_pivot: float) -> list[_Front]:
    """Factorise all fronts in order; smallest_pivot: pivot size below which a row counts as dependent."""
    result: list[_Front] = []
    for plan in _symbolic_fronts(G):
        below = [result[child].remainder for child in plan.children]
        first = len(plan.own)
        A = np.zeros((first + sum(map(len, below)), len(plan.pivots) + len(plan.others)), order="F")
        A[plan.unknowns, plan.columns] = G.data[plan.entries]
        for remainder, lifted in zip(below, plan.lifted, strict=True):
            A[first : first + len(remainder), lifted] = remainder
            first += len(remainder)
        result.append(_factorise_front(A, plan, smallest_pivot))
    return result


def _factorise_front(A: Array, plan: _SymbolicFront, smallest_pivot: float) -> _Front:
    """Factorise one front A, whose rows are unknowns and whose columns are pivots, then others."""
    from scipy.linalg.lapack import dgeqp3, dgeqrf, dormqr

    pivots, others = plan.pivots, plan.others
    height, count = len(A), len(pivots)
    reflections: list[tuple[int, Array, Array]] = []
    rank, R, order, rest = 0, np.zeros((0, count)), np.arange(count), A[:, count:]
    if height:
        factored, order, factors, *_ = dgeqp3(A[:, :count])
        order = order - 1
        rank = int(np.count_nonzero(np.abs(np.diagonal(factored)) > smallest_pivot))
        R = np.triu(factored[:rank])
    if rank:
        reflections.append((0, factored[:, :rank], factors[:rank]))
        if len(others):
            rest = dormqr("L", "T", factored[:, :rank], factors[:rank], rest, rest.shape[1])[0]
    beside = np.concatenate([R[:, rank:], rest[:rank]], axis=1)
    remainder = rest[rank:]
    if len(remainder) > len(others):
        if len(others):
            below, factors, *_ = dgeqrf(remainder)
            reflections.append((rank, below, factors))
            remainder = np.triu(below[: len(others)])
        else:
            remainder = remainder[:0]
    return _Front(
        plan.own,
        plan.children,
        pivots[order[:rank]],
        pivots[order[rank:]],
        others,
        R[:, :rank],
        beside,
        tuple(reflections),
        remainder,
        height,
    )


def _solve_triangle(R: Array, b: Array, transposed: bool = False) -> Array:
    """Return R⁻¹ b, or R⁻ᵀ b if transposed."""
    from scipy.linalg.lapack import dtrtrs

    if not b.size:
        return b
    return np.asarray(dtrtrs(R, b, trans=int(transposed))[0]).reshape(b.shape)
