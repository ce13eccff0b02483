"""The machines of `benchmarks.loops`: what they are measured with must be what they say."""

import numpy as np
import pytest

from benchmarks.loop_machines import crank_angle, falling, four_bars, stewart_chain, tracked_vehicle
from core.mechanism import Mechanism
from core.simulation import simulate
from tests.simulation.published.published_machines import read


@pytest.mark.parametrize("count", [1, 2])
def test_crank_of_the_row_of_four_bars_against_the_published_motion(count):
    _, x, _ = read(f"iftomm_A02_nfourbar_N{count}")
    k = int(np.argmin(np.abs(x["t"] - 1.0)))
    turned = np.angle(np.exp(1j * (x["phi"][k] - np.pi / 2 - crank_angle(count, x["t"][k]))))
    assert abs(turned) < 1e-9


@pytest.mark.parametrize("closed_forms", [True, False])
def test_row_of_four_bars_falls_in_phase_through_its_flat_pose(closed_forms):
    run = simulate(four_bars(3), 1.0, method="rk853", rtol=1e-9, v0=falling(3), output=1.0, closed_forms=closed_forms)
    for k in range(4):
        assert run[f"A{k}.q"][-1] == pytest.approx(crank_angle(3, 1.0), abs=1e-7)


def test_stewart_platforms_rest_on_their_springs():
    mech = Mechanism(stewart_chain(2))
    assert len(mech.loops) == 10
    q = mech.rest()
    a = mech.forward_dynamics(q, np.zeros(mech.nv), np.zeros(mech.nv))
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-12
    assert np.max(np.abs(a)) < 2.0  # m/s²: legs of their own weight sag a little, plates do not fall


def test_tracks_are_closed():
    mech = Mechanism(tracked_vehicle(60))
    assert len(mech.loops) == 2
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-12
