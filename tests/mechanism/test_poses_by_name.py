"""A closed pose given by the names of all its coordinates is taken as it is."""

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES

STEPS = (0.1, 0.3, 0.7, 1.2)
"""rad, of the first coordinate from rest."""
LOST = {
    "four_bar": (0.3, 0.7, 1.2),
    "slider_crank": (0.3, 0.7, 1.2),
    "squeezer": (0.7, 1.2),
    "engine_v6": (0.3, 0.7, 1.2),
    "spatial_four_bar": (0.7, 1.2),
}
"""Poses that are not found again though all their coordinates are given."""


WRONG = pytest.mark.xfail(strict=True, raises=AssertionError, reason="all coordinates by name end in another pose")


def cases():
    for file in LOST:
        for step in STEPS:
            yield pytest.param(file, step, marks=WRONG if step in LOST[file] else (), id=f"{file}-{step}")


@pytest.mark.parametrize(("file", "step"), list(cases()))
def test_a_closed_pose_by_all_its_names_is_where_the_machine_goes(file, step):
    mech = Mechanism(load(EXAMPLES / f"{file}.kst"))
    lead, rest = mech.q_names[0], mech.rest()
    closed = mech.move(rest, {lead: rest[0] + step})
    assert closed[0] == pytest.approx(rest[0] + step, abs=1e-9)
    assert np.linalg.norm(mech.constraint_residual(closed)) < 1e-8
    moved = mech.move(rest, dict(zip(mech.q_names, map(float, closed), strict=True)))
    np.testing.assert_allclose(moved, closed, atol=1e-6)
