"""Sparse elimination front by front against singular values."""

import numpy as np
import pytest
import scipy.sparse

from core.numerics import fronts, rank
from core.numerics.fronts import FrontalFactorisation, factorise_if_rank_is_clear
from core.numerics.tolerances import RANK_TOLERANCE


def matrix(seed: int) -> np.ndarray:
    """At random: empty rows, empty columns, rows that repeat others."""
    rng = np.random.default_rng(seed)
    r, c = rng.integers(1, 40, 2)
    G = np.where(rng.random((r, c)) < rng.uniform(0.02, 0.3), rng.normal(size=(r, c)), 0.0)
    for _ in range(rng.integers(0, 4)):
        i, j = rng.integers(0, r, 2)
        G[i] = 2.0 * G[j] + G[(j + 1) % r]
    return G


@pytest.mark.parametrize("seed", range(60))
def test_ranks_null_spaces_and_least_solutions_are_those_of_singular_values(seed):
    G = matrix(seed)
    found = FrontalFactorisation(scipy.sparse.csr_array(G))
    sigma = np.linalg.svd(G, compute_uv=False)
    count = int(np.sum(sigma > RANK_TOLERANCE * sigma[0]))
    N, S = found.null_space, found.left_null_space.toarray()
    target = np.random.default_rng(seed).normal(size=(len(G), 2))
    assert found.rank == count
    assert N.shape[1] == G.shape[1] - count
    assert S.shape[1] == len(G) - count == np.linalg.matrix_rank(S)
    np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), atol=1e-12)
    np.testing.assert_allclose(G @ N, 0.0, atol=1e-10)
    np.testing.assert_allclose(G.T @ S, 0.0, atol=1e-10)
    if not found.clear:  # nothing is solved by it
        return
    least = np.linalg.pinv(G, rcond=RANK_TOLERANCE) @ target
    np.testing.assert_allclose(found.solve_least_squares(target), least, atol=1e-8 * max(1.0, np.abs(least).max()))
    np.testing.assert_allclose(
        found.solve_least_squares(target[:, 0]), least[:, 0], atol=1e-8 * max(1.0, np.abs(least).max())
    )


@pytest.mark.parametrize("small", [1e-3, 1e-7, 1e-12])
def test_only_where_singular_values_leave_no_doubt_it_is_believed(small):
    """Rows next to each other but for a small part: neither 1e-3 nor 1e-12 leaves a doubt, 1e-7 does."""
    G = np.kron(np.eye(30), [[1.0, 1.0, 0.0], [1.0, 1.0, small]])
    found = factorise_if_rank_is_clear(scipy.sparse.csr_array(G))
    if small == 1e-7:
        assert found is None
    else:
        assert found.rank == (60 if small == 1e-3 else 30)
    assert rank.rank(scipy.sparse.csr_array(G)) == rank.rank(G)


def chain(count: int) -> scipy.sparse.csr_array:
    """Rows that each tie three neighbours, and say it twice."""
    rows = np.repeat(np.arange(2 * count), 3)
    columns = (np.repeat(np.arange(count), 6) + np.tile([0, 1, 2], 2 * count)).astype(int)
    values = np.tile([1.0, -2.5, 1.0, 2.0, -5.0, 2.0], count)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(2 * count, count + 2))


def test_work_grows_with_the_entries(monkeypatch):
    """Entries of all fronts of a chain ten times as long: ten times as many."""
    entries: list[int] = []
    eliminate = fronts._factorise_front
    monkeypatch.setattr(fronts, "_factorise_front", lambda A, *more: entries.append(A.size) or eliminate(A, *more))
    totals = []
    for count in (100, 1000):
        entries.clear()
        found = FrontalFactorisation(chain(count))
        assert found.rank == count
        totals.append(sum(entries) + found.left_null_space.nnz)
    assert totals[1] < 11.0 * totals[0]
