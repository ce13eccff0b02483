"""Linear systems written out: in an order in which little arises, and right whatever the order is."""

import casadi as ca
import numpy as np
import pytest

from core.c_code.small_systems import choose_elimination_order, factorise_mass, factorise_rows, solve_mass
from core.numerics.spatial.scalar import is_zero


def symbolic(A, name="a"):
    """Entries as symbols, zeros as literals; and the values of the symbols."""
    rows, values = [], []
    for i, row in enumerate(np.atleast_2d(A)):
        rows.append([ca.SX.sym(f"{name}{i}_{j}") if x else 0.0 for j, x in enumerate(row)])
        values += [x for x in row if x]
    return rows, [entry for row in rows for entry in row if not is_zero(entry)], values


def number(results, symbols, values):
    function = ca.Function("f", [ca.vertcat(*symbols)], [ca.vertcat(*results)])
    return np.array(function(values)).ravel()


def tree_matrix(parents, random):
    """A positive definite matrix with the pattern of the mass matrix of a tree."""
    n = len(parents)
    paths = []
    for i in range(n):
        path = [i]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        paths.append(path)
    J = np.zeros((n, n))
    for i, path in enumerate(paths):
        J[i, path] = random.normal(size=len(path))
    return J.T @ J + np.diag([0.5] * n)


def test_a_full_matrix_keeps_its_order_and_a_hub_comes_last():
    full = [[True] * (i + 1) for i in range(5)]
    assert choose_elimination_order(full) == [0, 1, 2, 3, 4]
    hub = [[i == j or j == 0 for j in range(i + 1)] for i in range(5)]
    assert choose_elimination_order(hub).index(0) >= 3


@pytest.mark.parametrize("parents", [[-1, 0, 0, 0, 1, 2, 3, 4], [-1, 0, 1, 2], [-1, -1, 0, 1, 1]])
def test_of_a_tree_nothing_arises_and_the_solution_is_right(parents):
    random = np.random.default_rng(3)
    M = tree_matrix(parents, random)
    lower, symbols, values = symbolic(np.tril(M), "m")
    mass = factorise_mass(lower)
    arisen = sum(not is_zero(mass.factors.L[i][j]) for i in range(len(M)) for j in range(i))
    assert arisen == np.count_nonzero(np.tril(M, -1))
    b = random.normal(size=len(M))
    np.testing.assert_allclose(number(solve_mass(mass, list(b)), symbols, values), np.linalg.solve(M, b), rtol=1e-10)


def test_rows_that_hold_meet_what_is_wanted_though_some_are_redundant():
    """Two loops that share nothing: little arises between them; the last row is the sum of two others."""
    random = np.random.default_rng(4)
    n = 8
    M = np.kron(np.eye(2), tree_matrix([-1, 0, 1, 2], random))
    G = np.zeros((5, n))
    G[0, :4], G[2, :4] = random.normal(size=(2, 4))
    G[1, 4:], G[3, 4:] = random.normal(size=(2, 4))
    G[4] = G[0] + G[2]
    lines, of_rows, rows = symbolic(G, "g")
    lower, of_masses, masses = symbolic(np.tril(M), "m")
    found = factorise_rows(lines, factorise_mass(lower))
    wanted = G @ random.normal(size=n)
    change = number(found.change(list(wanted), n), [*of_rows, *of_masses], [*rows, *masses])
    np.testing.assert_allclose(G @ change, wanted, rtol=1e-9)
    least = np.linalg.solve(M, G.T) @ np.linalg.pinv(G @ np.linalg.solve(M, G.T)) @ wanted
    np.testing.assert_allclose(change, least, rtol=1e-8)
