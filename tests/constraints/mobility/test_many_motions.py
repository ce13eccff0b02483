"""Poses at which long machines have many free motions: what is done stays near each loop."""

import numpy as np
import pytest

from benchmarks.loop_machines import four_bars, in_a_line, separate_four_bars
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.mobility.second_order import QuadraticForm, find_tangent_spaces
from core.mechanism import Mechanism
from core.numerics.rank import echelon_basis
from tests.constraints.mobility import overconstrained as machines
from tests.walks import slow


def flat(count):
    """A row of four-bars, and all its links in a line: one crank may begin to move whatever the others do."""
    mech = Mechanism(four_bars(count))
    q = mech.rest().copy()
    for name, angle in in_a_line(count).items():
        q[mech.joint_q(name)] = angle
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-12
    return mech, q


def test_motions_told_apart_move_what_is_next_to_each_other():
    mech, q = flat(12)
    motions = mech.mobility(q).motions
    assert len(motions) == 13
    for motion in motions:
        # at most two cranks with the couplers at them: tips in a line go up and down at will
        assert len(motion.joints) <= 4
        G = mech.constraint_jacobian(q)
        assert np.max(np.abs(G @ motion.speeds)) < 1e-9
    assert np.linalg.matrix_rank([motion.speeds for motion in motions]) == 13


@pytest.mark.slow
def test_a_flat_row_takes_what_its_loops_say(monkeypatch):
    """Quadratic forms are asked for where motions meet, and nothing large is decomposed densely."""
    asked, largest = [], []
    bias, svd = PositionConstraints.bias, np.linalg.svd

    def counted(self, q, v):
        asked[-1] += len(v)
        return bias(self, q, v)

    def measured(A, *more, **options):
        largest[-1] = max(largest[-1], np.size(A))
        return svd(A, *more, **options)

    monkeypatch.setattr(PositionConstraints, "bias", counted)
    monkeypatch.setattr(np.linalg, "svd", measured)
    for count in (80, 160):
        asked.append(0)
        largest.append(0)
        mech, q = flat(count)
        mobility = mech.mobility(q)
        assert mobility.at_pose == count + 1 == len(mobility.motions)
        assert mobility.dof == 1
        assert len(mobility.branch_freedoms) > 1
        assert set(mobility.branch_freedoms) == {1}
    assert asked[1] <= 2.3 * asked[0] < 40 * 80
    assert largest[1] <= 2.3 * largest[0] < 10_000


def test_sparse_forms_say_what_dense_ones_say(monkeypatch):
    """Which motions and stresses of a row in a line end at once, and that those of an upright one do not."""
    mech, q = flat(6)
    found = []
    for sparse in (False, True):
        monkeypatch.setattr(type(mech.compiled), "is_sparse", sparse)
        constraints = PositionConstraints(Mechanism(mech.model).compiled, drivers=False)
        found.append([[each.shape[1] for each in constraints.finite_motions(pose)] for pose in (q, mech.rest())])
    assert found[0] == found[1] == [[0, 3 * 6], [1, 3 * 6]]


def long_row(count):
    """Parallelograms of cranks of 1 m and couplers of 3 m, neighbours with a crank in common, in a line."""
    joints = [machines.joint("A0", "revolute", "world", "crank0", (0.0, 0.0, 0.0))]
    for k in range(1, count + 1):
        x = 3.0 * k
        joints += [
            machines.joint(f"B{k}", "revolute", f"crank{k - 1}", f"coupler{k}", (x - 2.0, 0.0, 0.0)),
            machines.joint(f"A{k}", "revolute", "world", f"crank{k}", (x, 0.0, 0.0)),
            machines.joint(f"C{k}", "revolute", f"coupler{k}", f"crank{k}", (x + 1.0, 0.0, 0.0)),
        ]
    mech = Mechanism(machines.machine("row", *joints))
    return mech, mech.neutral()


def flat_apart(count):
    """Four-bars in a line beside one another, joined by nothing but the ground."""
    mech = Mechanism(separate_four_bars(count))
    q = mech.rest().copy()
    for k in range(count):
        for name, angle in in_a_line(1).items():
            q[mech.joint_q(f"{name}_{k}")] = angle
    return mech, q


@pytest.mark.parametrize("count", [1, 2, 10, *slow(30)])
@pytest.mark.parametrize(("row", "each_alone"), [(flat, False), (long_row, False), (flat_apart, True)])
def test_a_long_row_in_a_line_says_of_each_loop_what_one_says(row, each_alone, count):
    """Each loop goes on in two ways and has three redundant constraints; a crank in common leaves all one freedom."""
    mech, q = row(count)
    mobility = mech.mobility(q)
    dof = count if each_alone else 1
    assert (mobility.dof, mobility.infinitesimal, mobility.singular) == (dof, 0, True)
    assert mobility.at_pose == dof + count
    assert len(mobility.redundant) == 3 * count
    assert mobility.rank == 6 * len(mech.model.bodies) - dof
    assert set(mobility.branch_freedoms) == {dof}
    if count <= 2:  # in a row of equal links a crank at rest ends what those before it do: one way more a loop
        assert len(mobility.branch_freedoms) == (count + 1 if row is flat else 2**count)


def test_forms_that_are_no_products_are_solved():
    """x² + y² = z² and x = y: what is left are two lines, of which Newton's method finds a direction."""
    rng = np.random.default_rng(3)
    cone = QuadraticForm(np.arange(3), np.diag([1.0, 1.0, -1.0]))
    (space,) = find_tangent_spaces(3, [cone], 8, rng)
    a = space.random_direction(rng)
    assert abs(cone(a)) < 1e-9
    assert np.linalg.norm(a) == pytest.approx(1.0)
    equal = QuadraticForm(np.arange(2), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    found = {
        tuple(np.round(np.abs(space.random_direction(rng)), 6))
        for space in find_tangent_spaces(3, [cone, equal], 8, rng)
    }
    assert found == {(0.5, 0.5, round(0.5**0.5, 6))}
    assert find_tangent_spaces(2, [QuadraticForm(np.arange(2), np.eye(2))], 8, rng) == []


@pytest.mark.parametrize("seed", range(5))
def test_echelon_of_columns(seed):
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(9, 4)))[0]
    A[2] = 2.0 * A[0]  # no independent row
    columns = echelon_basis(A, 1e-7)
    np.testing.assert_allclose(columns[[0, 1, 3, 4]], np.eye(4), atol=1e-12)
    assert np.linalg.matrix_rank(np.hstack([A, columns])) == 4
