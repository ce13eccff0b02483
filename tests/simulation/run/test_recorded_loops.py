"""Traces recorded of machines with loops: instruments round, loops stay closed; what leaves the loops is refused."""

import numpy as np
import pytest

from core.errors import FileError
from core.files import load
from core.mechanism import Mechanism
from core.simulation.run.recorded import build_recorded_run
from resources import EXAMPLES


@pytest.fixture(scope="module")
def crank():
    """A four-bar whose crank turns: (mechanism, times with all coordinates)."""
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    q, rows = mech.rest(), []
    for k in range(12):
        q = mech.move(q, {"crank_pin": mech.rest()[0] + 0.1 * k})
        rows.append([0.1 * k, *q])
    return mech, np.array(rows)


@pytest.mark.parametrize("digits", [12, 6, 3])
def test_coordinates_with_some_digits_make_a_closed_motion(crank, digits):
    mech, rows = crank
    run = build_recorded_run(mech, {}, ["t", *mech.q_names], np.round(rows, digits), {}, "trace.csv")
    assert np.max(np.abs(run.q - rows[:, 1:])) < 10.0 * 10.0**-digits
    assert max(np.max(np.abs(mech.constraint_residual(q))) for q in run.q) < 1e-7


def test_what_no_closed_motion_is_near_to_is_refused(crank):
    mech, rows = crank
    wrong = rows.copy()
    wrong[7:, 3] += 0.3
    with pytest.raises(
        FileError, match=r"trace.csv, column '.*_pin.*At 0.7 s the recorded coordinates violate the loop closure"
    ):
        build_recorded_run(mech, {}, ["t", *mech.q_names], wrong, {}, "trace.csv")
