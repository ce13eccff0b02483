"""Dead points of loops, where a dragged joint does not decide how the others move."""

import numpy as np
import pytest

from app.tools.drag_joint import dead_point
from core.files import load
from core.kernel import Mechanism
from resources import examples


@pytest.fixture(scope="module")
def slider_crank():
    return Mechanism(load(next(example.path for example in examples() if example.name == "slider_crank")))


@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_the_piston_is_at_a_dead_point_where_crank_and_rod_are_in_line(slider_crank, angle):
    q = slider_crank.move(slider_crank.rest(), {"shaft": angle})
    assert dead_point(slider_crank, q, {}, "cylinder")
    assert not dead_point(slider_crank, q, {}, "shaft")


def test_elsewhere_the_piston_turns_the_crank(slider_crank):
    q = slider_crank.move(slider_crank.rest(), {"shaft": 1.2})
    assert not dead_point(slider_crank, q, {}, "cylinder")


def test_a_joint_outside_loops_has_none():
    arm = Mechanism(load(next(example.path for example in examples() if example.name == "puma560")))
    assert not dead_point(arm, arm.rest(), {}, arm.joint_names[0])
