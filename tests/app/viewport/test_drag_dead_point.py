"""Dead points of loops, where a dragged joint does not decide how the others move."""

import numpy as np
import pytest

from app.tools.drag_handles import is_dead_point
from app.tools.move import is_stuck
from core.files import load
from core.mechanism import Mechanism
from resources import examples


@pytest.fixture(scope="module")
def slider_crank():
    return Mechanism(load(next(example.path for example in examples() if example.name == "slider_crank")))


@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_the_piston_is_at_a_dead_point_where_crank_and_rod_are_in_line(slider_crank, angle):
    q = slider_crank.move(slider_crank.rest(), {"shaft": angle})
    assert is_dead_point(slider_crank, q, {}, "cylinder")
    assert not is_dead_point(slider_crank, q, {}, "shaft")


@pytest.mark.parametrize(("angle", "still"), [(0.0, True), (np.pi, True), (1.2, False)])
def test_a_pulled_piston_stands_still_where_crank_and_rod_are_in_line(slider_crank, angle, still):
    """There dx/dφ = 0, so that no pull at the piston turns the crank; the crank's own end always moves."""
    q = slider_crank.move(slider_crank.rest(), {"shaft": angle})
    for point in (np.zeros(3), np.array([0.1, 0.02, 0.0])):
        assert is_stuck(slider_crank, q, {}, "piston", point) is still
    r = slider_crank.model.values()["r"]
    assert not is_stuck(slider_crank, q, {}, "crank", np.array([r, 0.0, 0.0]))


def test_pulled_beyond_its_reach_the_piston_stops_within_a_millimetre_of_it(slider_crank):
    """The reach is crank and rod in line, r + l, and l − r on the other side."""
    p = slider_crank.model.values()
    for wanted, reach in ((2.0, p["l"] + p["r"]), (-2.0, p["l"] - p["r"])):
        q = slider_crank.move(slider_crank.rest(), {"cylinder": wanted})
        assert slider_crank.coordinate(q, "cylinder")[0] == pytest.approx(reach, abs=1e-3)
        assert np.linalg.norm(slider_crank.constraint_residual(q)) < 1e-8


def test_elsewhere_the_piston_turns_the_crank(slider_crank):
    q = slider_crank.move(slider_crank.rest(), {"shaft": 1.2})
    assert not is_dead_point(slider_crank, q, {}, "cylinder")


def test_a_joint_outside_loops_has_none():
    arm = Mechanism(load(next(example.path for example in examples() if example.name == "puma560")))
    assert not is_dead_point(arm, arm.rest(), {}, arm.joint_names[0])
