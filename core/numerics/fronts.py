"""Large sparse matrices, eliminated front by front: which rows are independent, what they leave free, least solutions.

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

from core.numerics.elimination import fronts
from core.numerics.tolerances import RANK_TOLERANCE, REGULAR_FRACTION

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Sparse = Any
"""A matrix of `scipy.sparse` in compressed rows."""

MARGIN = 10.0
"""By how much the smallest singular value, which is found by iteration from above, must be clear."""
ITERATIONS = 4
"""Of the inverse iteration for it."""
PLANS = 8
"""Of how many matrices with different entries the order of elimination is kept."""
NOTHING = 1e-13
"""Part of the largest entry of a vector below which an entry is rounding."""


class _Front(NamedTuple):
    """A front with its numbers. Its unknowns: its own, then what its children hand on."""

    own: Integers
    children: tuple[int, ...]
    kept: Integers
    """Its independent rows, in the order of R."""
    dependent: Integers
    others: Integers
    """Rows of later fronts that share unknowns with it."""
    triangle: Array
    """(kept, kept) R of its own rows."""
    beside: Array
    """(kept, dependent and others) R of the rest."""
    reflections: tuple[tuple[int, Array, Array], ...]
    """Of its unknowns: the first that takes part, vectors, factors."""
    remainder: Array
    """(handed on, others)."""
    height: int

    @property
    def handed_on(self) -> int:
        """How many unknowns go on to the next front, behind those of the rows that it keeps."""
        return len(self.remainder)

    @property
    def free(self) -> int:
        """How many directions of its unknowns are free: they stand last."""
        return self.height - len(self.kept) - self.handed_on

    def back(self, part: Array) -> Array:
        """Q times coefficients (height, k)."""
        from scipy.linalg.lapack import dormqr

        if not part.size:
            return part
        for first, vectors, factors in reversed(self.reflections):
            part[first:] = dormqr("L", "N", vectors, factors, part[first:], max(1, part.shape[1]))[0]
        return part


class Fronts:
    """A matrix (r, c) in compressed rows, eliminated."""

    def __init__(self, G: Sparse) -> None:
        self.matrix = G
        self._largest = _bounds(G)
        self._fronts = _eliminated(G, RANK_TOLERANCE * self._largest[0])
        self.kept = np.concatenate([np.zeros(0, dtype=np.int64), *(front.kept for front in self._fronts)])
        """Independent rows, in the order of elimination."""

    @property
    def rank(self) -> int:
        """How many rows are independent."""
        return len(self.kept)

    @cached_property
    def clear(self) -> bool:
        """Whether every tolerance between `RANK_TOLERANCE` and `REGULAR_FRACTION` of the largest singular value finds
        this rank."""
        return _smallest(self.matrix[self.kept]) > MARGIN * REGULAR_FRACTION * self._largest[1]

    @cached_property
    def motions(self) -> Array:
        """(c, c − rank) orthonormal columns N with G N = 0."""
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
            part, columns = handed.pop(at, (np.zeros((front.handed_on, 0)), np.zeros(0, dtype=np.int64)))
            new = np.arange(count, count + front.free)
            count += front.free
            whole = np.zeros((front.height, len(columns) + front.free))
            whole[len(front.kept) : len(front.kept) + front.handed_on, : len(columns)] = part
            whole[front.height - front.free :, len(columns) :] = np.eye(front.free)
            whole, columns = front.back(whole), np.concatenate([columns, new])
            result[np.ix_(front.own, columns)] = whole[: len(front.own)]
            for child, below in self._of_children(front, whole):
                moving = np.abs(below).max(axis=0, initial=0.0) > NOTHING
                handed[child] = below[:, moving], columns[moving]
        return result

    @cached_property
    def stresses(self) -> Sparse:
        """(r, r − rank) sparse columns S of length one with Gᵀ S = 0, each of a dependent row and those that fix it."""
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

    def least(self, target: Array) -> Array:
        """(c,) the least x with the least |G x − target| for a target (r,); (c, k) for targets (r, k)."""
        targets = target.reshape(len(target), -1) if target.size else np.zeros((len(target), 0))
        left = targets - self.unreached(targets)
        pivots = []
        for front in self._fronts:
            y = _solve_triangle(front.triangle, left[front.kept], transposed=True)
            pivots.append(y)
            left[front.others] -= front.beside[:, len(front.dependent) :].T @ y
        return self._back(pivots, left.shape[1]).reshape(self.matrix.shape[1], *target.shape[1:])

    def _back(self, pivots: list[Array], count: int) -> Array:
        """(c, count) Q times coefficients along the rows that are kept, front by front."""
        result = np.zeros((self.matrix.shape[1], count))
        handed: dict[int, Array] = {}
        for at in range(len(self._fronts) - 1, -1, -1):
            front = self._fronts[at]
            whole = np.zeros((front.height, count))
            whole[: len(front.kept)] = pivots[at]
            if at in handed:
                whole[len(front.kept) : len(front.kept) + front.handed_on] = handed.pop(at)
            whole = front.back(whole)
            result[front.own] = whole[: len(front.own)]
            handed.update(self._of_children(front, whole))
        return result

    def _of_children(self, front: _Front, whole: Array) -> list[tuple[int, Array]]:
        """What of the unknowns of a front its children handed on."""
        result, first = [], len(front.own)
        for child in front.children:
            last = first + self._fronts[child].handed_on
            result.append((child, whole[first:last]))
            first = last
        return result

    def unreached(self, target: Array) -> Array:
        """The part of targets (r,) or (r, k) that no x reaches: it is along the self-stresses."""
        from scipy.sparse.linalg import splu

        S = self.stresses
        if not S.shape[1]:
            return np.zeros_like(target)
        along = S.T @ target
        return np.asarray(S @ (splu((S.T @ S).tocsc()).solve(along) if along.any() else along))


def clear_fronts(G: Sparse) -> Fronts | None:
    """A matrix in compressed rows, eliminated; None if its rank is not clear."""
    if not np.isfinite(G.data).all():
        return None
    if not G.data.all():
        G = G.copy()
        G.eliminate_zeros()
    found = Fronts(G)
    return found if found.clear else None


def _bounds(G: Sparse) -> tuple[float, float]:
    """Between what the largest singular value of a matrix lies."""
    if not G.nnz:
        return 0.0, 0.0
    absolute = abs(G)
    longest = float(np.sqrt(np.max((G * G).sum(axis=1))))
    return longest, float(np.sqrt(np.max(absolute.sum(axis=0)) * np.max(absolute.sum(axis=1))))


def _smallest(rows: Sparse) -> float:
    """The smallest singular value of independent rows, by inverse iteration from above; 0 if they are not."""
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


class _Planned(NamedTuple):
    """A front before any number is known."""

    own: Integers
    children: tuple[int, ...]
    pivots: Integers
    others: Integers
    entries: Integers
    """Entries of the matrix that come in with it, and the unknown and the column of each."""
    unknowns: Integers
    columns: Integers
    lifted: tuple[Integers, ...]
    """Of each child to which columns its others go."""


def _planned(G: Sparse) -> list[_Planned]:
    """The fronts of a matrix in compressed rows, in order."""
    return _plan(G.shape[1], G.indptr.dtype.str, G.indptr.tobytes(), G.indices.dtype.str, G.indices.tobytes())


@lru_cache(maxsize=PLANS)
def _plan(count: int, pointer: str, begins_: bytes, index: str, columns_: bytes) -> list[_Planned]:
    """The same by what is empty; count: of columns."""
    begins, columns = np.frombuffer(begins_, pointer), np.frombuffer(columns_, index)
    groups: dict[bytes, list[int]] = {}
    for row, (a, b) in enumerate(pairwise(begins.tolist())):
        if b > a:
            groups.setdefault(columns[a:b].tobytes(), []).append(row)
    members = [np.array(rows, dtype=np.int64) for rows in groups.values()]
    reached = [columns[begins[rows[0]] : begins[rows[0] + 1]].tolist() for rows in members]
    ordered = fronts(reached, [len(rows) for rows in members])
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
    result: list[_Planned] = []
    for k, front in enumerate(ordered):
        pivots = members[front.group]
        others = np.concatenate([pivots[:0], *(members[group] for group in front.others)])
        place[pivots], place[others] = np.arange(len(pivots)), len(pivots) + np.arange(len(others))
        entries = sorted_entries[bounds[k] : bounds[k + 1]]
        own = np.array(front.unknowns, dtype=np.int64)
        lifted = tuple(place[result[child].others] for child in children[k])
        coming = entries, local[columns[entries]], place[rows[entries]]
        result.append(_Planned(own, tuple(children[k]), pivots, others, *coming, lifted))
    return result


def _eliminated(G: Sparse, least: float) -> list[_Front]:
    """All fronts in order; least: what may remain of a row that depends on others."""
    result: list[_Front] = []
    for plan in _planned(G):
        below = [result[child].remainder for child in plan.children]
        first = len(plan.own)
        A = np.zeros((first + sum(map(len, below)), len(plan.pivots) + len(plan.others)), order="F")
        A[plan.unknowns, plan.columns] = G.data[plan.entries]
        for remainder, lifted in zip(below, plan.lifted, strict=True):
            A[first : first + len(remainder), lifted] = remainder
            first += len(remainder)
        result.append(_front(A, plan, least))
    return result


def _front(A: Array, plan: _Planned, least: float) -> _Front:
    """A front whose unknowns (rows of A) stand beside its pivots and others (columns) is eliminated."""
    from scipy.linalg.lapack import dgeqp3, dgeqrf, dormqr

    pivots, others = plan.pivots, plan.others
    height, count = len(A), len(pivots)
    reflections: list[tuple[int, Array, Array]] = []
    rank, R, order, rest = 0, np.zeros((0, count)), np.arange(count), A[:, count:]
    if height:
        factored, order, factors, *_ = dgeqp3(A[:, :count])
        order = order - 1
        rank = int(np.count_nonzero(np.abs(np.diagonal(factored)) > least))
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
    """R⁻¹ b, or R⁻ᵀ b."""
    from scipy.linalg.lapack import dtrtrs

    if not b.size:
        return b
    return np.asarray(dtrtrs(R, b, trans=int(transposed))[0]).reshape(b.shape)
