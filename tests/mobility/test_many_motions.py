"""Poses at which long machines have many free motions: what is done stays near each loop."""

import numpy as np
import pytest

from benchmarks.loop_machines import four_bars, in_a_line
from core.mechanism import Mechanism
from core.mobility.constraint_rank import PositionConstraints
from core.numerics.rank import echelon


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
        assert asked[-1] <= 3 * count
    assert largest[1] <= 2.3 * largest[0] < 10_000


def test_sparse_forms_say_what_dense_ones_say(monkeypatch):
    """Which motions and stresses of a row in a line end at once, and that those of an upright one do not."""
    mech, q = flat(6)
    found = []
    for sparse in (False, True):
        monkeypatch.setattr(type(mech.compiled), "sparse", sparse)
        constraints = PositionConstraints(Mechanism(mech.model).compiled, drivers=False)
        found.append([[each.shape[1] for each in constraints.real_motions(pose)] for pose in (q, mech.rest())])
    assert found[0] == found[1] == [[0, 3 * 6], [1, 3 * 6]]


@pytest.mark.parametrize("seed", range(5))
def test_echelon_of_columns(seed):
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(9, 4)))[0]
    A[2] = 2.0 * A[0]  # no independent row
    columns = echelon(A, 1e-7)
    np.testing.assert_allclose(columns[[0, 1, 3, 4]], np.eye(4), atol=1e-12)
    assert np.linalg.matrix_rank(np.hstack([A, columns])) == 4
