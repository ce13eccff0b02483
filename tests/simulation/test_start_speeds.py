"""Machines begin with the speeds their joints say."""

import numpy as np
import pytest

from core.errors import ModelError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Model, Parameter, Pose, World
from core.model.edits import edits
from core.simulation import simulate

BALL = Inertia(ixx=1.0, iyy=1.0, izz=1.0)
FLIGHT = Model(
    world=World(gravity=Gravity(kind="none")),
    parameters=(Parameter(name="w", value=2.0),),
    bodies=(Body(name="a", mass=1.0, inertia=BALL), Body(name="b", mass=1.0, center_of_mass=(0.1, 0.0, 0.0))),
    joints=(
        Joint(name="fly", kind="free", parent="world", child="a", start_speed=(0.0, 0.0, 0.0, 1.0, 2.0, 3.0)),
        Joint(name="turn", parent="world", child="b", a=Pose(position=(5.0, 0.0, 0.0)), start_speed=("w",)),
    ),
)


def test_runs_begin_with_them():
    run = simulate(FLIGHT, 1.0, output=0.5)
    np.testing.assert_allclose(run["fly.v"][0], (0, 0, 0, 1, 2, 3))
    np.testing.assert_allclose(run["a.position"][-1], (1.0, 2.0, 3.0), atol=1e-9)
    np.testing.assert_allclose(run["turn.q"][-1], 2.0, atol=1e-9)
    np.testing.assert_allclose(simulate(FLIGHT, 1.0, parameters={"w": 3.0})["turn.q"][-1], 3.0, atol=1e-9)


def test_wishes_come_first():
    run = simulate(FLIGHT, 1.0, v0=np.zeros(7))
    np.testing.assert_allclose(run["a.position"][-1], 0.0, atol=1e-12)


def test_they_are_kept_in_files_and_checked():
    assert loads(dumps(FLIGHT)) == FLIGHT
    still = Mechanism(edits.change(FLIGHT, "joints", "turn", start_speed=()))
    assert Mechanism(FLIGHT).compiled.program is still.compiled.program
    with pytest.raises(ModelError, match="6 speeds"):
        edits.change(FLIGHT, "joints", "fly", start_speed=(1.0,))
