"""Inverse dynamics beyond stops says so, and at rest is what it is row by row."""

import math
import warnings

import numpy as np
import pytest

from core.constraints.elastic_stops import BeyondLimitWarning, find_passed_limits
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Model


def arm(**limit):
    body = Body(name="arm", mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=Inertia(ixx=0.09, iyy=0.09, izz=0.09))
    pin = Joint(
        name="elbow", parent="world", child="arm", axis=(0.0, 1.0, 0.0), limits=(Limit(lower=-1.0, upper=1.0, **limit),)
    )
    return Model(name="arm", bodies=(body,), joints=(pin,))


@pytest.mark.parametrize(("angle", "beyond"), [(1.5, 0.5), (-1.25, 0.25)])
def test_how_far_beyond_a_stop_a_pose_is_is_said_first(angle, beyond):
    mech, still = Mechanism(arm()), np.zeros(1)
    with pytest.warns(BeyondLimitWarning, match=f"elbow is {math.degrees(beyond):.4g}° beyond its limit"):
        mech.inverse_dynamics(np.array([angle]), still, still)
    (found,) = find_passed_limits(mech.compiled, np.array([[0.0], [angle]]))
    assert found.by == pytest.approx(beyond)
    report = call("inverse_dynamics", Context(arm(), mech, np.array([angle])))
    assert report.to_text().splitlines()[1:2] != []
    assert report.to_text().index("beyond its limit") < report.to_text().index("Torque")


@pytest.mark.parametrize("angle", [0.99, -1.0, 1.0005])
def test_no_word_within_limits_or_where_a_stop_gives_way_in_a_motion(angle):
    mech, still = Mechanism(arm()), np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mech.inverse_dynamics(np.array([angle]), still, still)
        mech.inverse_dynamics(np.array([1.5]), still, still, passive=False)
