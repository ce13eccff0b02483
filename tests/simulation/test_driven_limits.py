"""What the notes of a run say of drivers that leave limits and of a balance that its samples do not resolve."""

import re

import numpy as np
import pytest

from core.files import load, loads
from core.simulation import simulate
from resources import EXAMPLES

ARM = """kinetostat: 1
name: arm
bodies: {{b: {{mass: 1, inertia: {{ixx: 0.1, iyy: 0.1, izz: 0.1}}}}}}
joints: {{j: {{parent: world, child: b, limits: [{{lower: -0.4, upper: 0.25}}]}}}}
drivers: {{d: {{joint: j, function: "{}"}}}}
"""


def beyond(function, duration):
    return [note for note in simulate(loads(ARM.format(function)), duration).notes if note.startswith("A driver")]


@pytest.mark.parametrize(("rate", "limit"), [(0.02, 0.25), (-0.02, -0.4)])
def test_a_driver_is_judged_over_the_length_of_the_run(rate, limit):
    """At a steady speed: it leaves at limit / rate, and is farthest at the end."""
    leaves, duration = limit / rate, 30.0
    (note,) = beyond(f"{rate}*t", duration)
    assert f"limit {np.degrees(limit):.4g}°" in note
    since, most = (float(re.search(rf"{word} (-?[0-9.]+)", note).group(1)) for word in ("from t =", "by up to"))
    assert since == pytest.approx(leaves, abs=duration / 500)
    assert most == pytest.approx(np.degrees(abs(rate * duration - limit)), rel=1e-3)


def test_a_driver_that_stays_inside_while_the_run_lasts_is_not_noted():
    assert beyond("0.02*t", 12.0) == []


def test_a_balance_that_samples_do_not_resolve_is_a_note_with_its_number():
    """The same motion, sampled 20 times as finely, has the balance; its change is said once it was asked for."""
    mech = load(EXAMPLES / "forces.kst")
    coarse, fine = simulate(mech, 2.0, output=0.1), simulate(mech, 2.0, output=0.005)
    assert not any("energy.balance" in note for note in coarse.notes)
    changes = [float(np.ptp(run["energy.balance"])) for run in (coarse, fine)]
    assert changes[1] < 0.1 * changes[0]
    (note,) = [note for note in coarse.notes if "energy.balance" in note]
    assert "more than 1e-04 of the largest energy" in note  # the threshold of the page on friction and stops
    assert float(re.search(r"changes by ([0-9.e-]+) J", note).group(1)) == pytest.approx(changes[0], rel=0.05)
    assert not any("energy.balance" in note for note in fine.notes)
