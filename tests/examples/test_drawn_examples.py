"""The linkages among the examples are drawn by the verbs, and move as their closed forms say."""

import dataclasses
import math

import numpy as np
import pytest

from core.design.linkage import XZ, Drawing
from core.files import load
from core.mechanism import Mechanism
from docs.make_linkages import DRAWN, JANSEN, JANSEN_UNIT, jansen_points, with_sliders
from resources import EXAMPLES


def opened(name):
    return load(EXAMPLES / f"{name}.kst")


@pytest.mark.parametrize("name", DRAWN)
def test_the_file_is_what_is_drawn(name):
    model = opened(name)
    assert model == with_sliders(DRAWN[name]())
    mech = Mechanism(model)
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-10
    assert mech.mobility().dof == (2 if name == "pantograph" else 1)


def test_the_pantograph_draws_twice_as_large():
    mech = Mechanism(opened("pantograph"))
    q = mech.rest()
    for angle in (0.1, 0.3, -0.2):
        moved = mech.move(q, {"A": q[0] + angle, "B": q[1] - 2.0 * angle})
        small, large = (np.asarray(mech.frame(moved, name))[:3, 3] for name in ("P1", "P2"))
        assert large == pytest.approx(2.0 * small, abs=1e-9)


def test_the_planetary_stage_has_the_ratio_of_willis():
    """Ring held: w_sun / w_arm = 1 + z_ring / z_sun."""
    mech = Mechanism(dataclasses.replace(opened("planetary_stage"), drivers=()))
    q = mech.rest()
    speeds = mech.speeds(q, {"A": 1.0})
    sun = mech.frame_velocity(q, speeds, "link3")
    arm = mech.frame_velocity(q, speeds, "link1")
    assert sun[1] / arm[1] == pytest.approx(1.0 + 100.0 / 20.0, abs=1e-9)


def test_jansens_leg_has_his_lengths_and_a_flat_step():
    place = jansen_points()
    pairs = {
        "m": "OM",
        "j": "MY",
        "b": "BY",
        "d": "BX",
        "e": "XY",
        "k": "MW",
        "c": "BW",
        "f": "XV",
        "g": "VW",
        "h": "VF",
        "i": "WF",
    }
    for name, (a, b) in pairs.items():
        assert math.dist(place[a], place[b]) == pytest.approx(JANSEN_UNIT * JANSEN[name], abs=1e-12)
    model = opened("jansen_leg")
    pins = [pin.point for pin in Drawing(model, XZ).pins]
    for name in "OMBYWXV":
        assert min(math.dist(place[name], pin) for pin in pins) < 1e-9
    mech = Mechanism(dataclasses.replace(model, drivers=()))
    q, foot = mech.rest(), []
    for _ in range(72):
        q = mech.move(q, {"A": q[0] + math.radians(5.0)}, exact=True)
        foot.append(np.asarray(mech.frame(q, "P1"))[[0, 2], 3])
    foot = np.array(foot)
    low = foot[foot[:, 1] < foot[:, 1].min() + 0.05 * np.ptp(foot[:, 1])]
    assert np.ptp(low[:, 0]) > 0.6 * np.ptp(foot[:, 0])  # most of the stride lies within a twentieth of its height
