"""Mass matrices of deep trees in segments against those of composite bodies."""

import numpy as np
import pytest

from benchmarks.loop_machines import stewart_chain, tracked_vehicle
from benchmarks.machines import chain
from core.mechanics.crba import crba
from core.mechanics.segments import Segments, find_stations
from core.mechanism import Mechanism


def tree_of(model):
    return Mechanism(model).compiled.program.symbolic.tree


def matrices(segments, q):
    """(M, what holds the segments together) as full matrices."""
    M, C = np.zeros((segments.count, segments.count)), np.zeros((6 * len(segments.stations), segments.count))
    for (i, j), entry in zip(segments.masses, segments.mass_entries(q), strict=True):
        M[i, j] = M[j, i] = entry
    for (row, column), entry in zip(segments.rows, segments.row_entries(q), strict=True):
        C[row, column] = entry
    return M, C


@pytest.mark.parametrize("model", [chain(60), stewart_chain(7), tracked_vehicle(200)], ids=lambda model: model.name)
def test_held_together_they_have_the_mass_matrix_of_the_tree(model):
    """Speeds v move stations by B v with C [1; B] = 0: [1; B]ᵀ M [1; B] is the matrix of the whole."""
    tree = tree_of(model)
    segments = Segments(tree, find_stations(tree))
    assert len(segments.stations) > 2
    q = list(np.random.default_rng(5).normal(scale=0.4, size=tree.nq))
    for link in tree.links:
        if link.law.nq > link.law.nv:
            part = np.array(q[link.q])
            q[link.q] = list(part / np.linalg.norm(part))
    M, C = matrices(segments, q)
    nv = tree.nv
    B = np.linalg.solve(C[:, nv:], -C[:, :nv])
    whole = M[:nv, :nv] + M[:nv, nv:] @ B + B.T @ M[nv:, :nv] + B.T @ M[nv:, nv:] @ B
    expected = np.array(crba(tree, q), dtype=float)
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_work_grows_with_the_length():
    sizes = []
    for count in (8, 12, 16):
        tree = tree_of(stewart_chain(count))
        segments = Segments(tree, find_stations(tree))
        sizes.append(np.array([len(segments.masses), len(segments.rows), segments.count]))
    np.testing.assert_array_equal(sizes[2] - sizes[1], sizes[1] - sizes[0])


def test_what_is_not_deep_stays_whole():
    assert find_stations(tree_of(chain(30))) == ()
