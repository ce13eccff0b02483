"""Through poses where branches meet and constraints become dependent: tighter tolerances come out no worse."""

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.simulation import simulate
from tests.simulation.equations.test_closed_form_runs import four_bars, machines
from tests.walks import slow

LOOSE, SHARP = 1e-8, 1e-11
SPEEDS = -1.0 - 0.173 * np.arange(12)
"""rad/s of the first rod, upright at first: all go round, through the pose in line several times."""


@pytest.fixture(scope="module", params=[1, 2])
def four_bar(request):
    """One or two four-bars in a row, of the published case."""
    p, table, case = machines.read(f"iftomm_A02_nfourbar_N{request.param}")
    return Mechanism(four_bars(p, request.param)), p, table, case


def largest_errors(mech, rtol, **options):
    """Of the energy, which stays, and of the rods' being parallel, which they stay; and the most steps."""
    energies, angles, steps = [], [], []
    rods = [name for name in mech.q_names if name.startswith("A")]
    for speed in SPEEDS:
        run = simulate(mech, 10.0, v0={"A0": speed}, q0=np.zeros(mech.nq), rtol=rtol, atol=rtol, output=0.1, **options)
        energies.append(np.max(np.abs(run["energy.total"] - run["energy.total"][0])))
        angles += [np.max(np.abs(np.sin(0.5 * (run[f"{rod}.q"] - run["A0.q"])))) for rod in rods]
        assert np.ptp(run["A0.q"]) > 2.0 * np.pi
        steps.append(run.statistics.steps + run.statistics.rejected)
    return max(energies), max(angles), max(steps)


@pytest.mark.parametrize("closed_forms", [True, False])
@pytest.mark.parametrize(("method", "steps"), [("rk54", 2000), ("adams", 2000), *slow(("radau", 5000))])
def test_a_tight_tolerance_is_no_worse_than_a_loose_one(four_bar, method, steps, closed_forms):
    options = {"method": method, "closed_forms": closed_forms, "max_steps": 20_000}
    loose, sharp = (largest_errors(four_bar[0], rtol, **options) for rtol in (LOOSE, SHARP))
    assert sharp[0] < loose[0]
    assert sharp[0] < 1e-7
    assert sharp[1] < 1e-6
    assert sharp[2] < steps


@pytest.mark.parametrize("closed_forms", [True, False])
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_the_published_motion_at_a_tight_tolerance(four_bar, method, closed_forms):
    mech, p, table, case = four_bar
    speed = {"A0": -p["B0_velocity0"][0] / p["L_m"]}
    run = simulate(
        mech,
        p["t_end_s"],
        v0=speed,
        q0=np.zeros(mech.nq),
        method=method,
        rtol=SHARP,
        atol=SHARP,
        output=0.1,
        closed_forms=closed_forms,
    )
    x = np.interp(run.time, table["t"], table["B0x"])
    np.testing.assert_allclose(-np.sin(run["A0.q"]), x, atol=0.1 * case["tolerances"]["position_abs"])
    assert np.ptp(run["energy.total"]) < 1e-7
