"""Very large and very small directions and places are drawn without a word on the terminal."""

import numpy as np
import pytest

from core.model import Body, Box, DHChain, DHRow, Joint, Model
from viz.drawlist.draw_list import build_draw_list
from viz.meshes.polydata import FARTHEST, vtk_points
from viz.placement import frame_along, unit_vector

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e160, 1e300])
def test_directions_of_any_length_have_one(size):
    assert unit_vector(np.array([3.0, 0.0, 4.0]) * size) == pytest.approx([0.6, 0.0, 0.8], rel=1e-15)
    assert np.allclose(frame_along(np.array([0.0, -size, 0.0]))[:3, 2], [0.0, -1.0, 0.0])


@pytest.mark.parametrize("nothing", [[0.0, 0.0, 0.0], [np.inf, 0.0, 0.0], [np.nan, 0.0, 0.0]])
def test_what_has_no_direction_points_up(nothing):
    assert unit_vector(nothing).tolist() == [0.0, 0.0, 1.0]


def test_places_beyond_single_precision_are_drawn_at_its_end():
    points = vtk_points([[1e300, -1e300, 2.0]])
    assert points.GetPoint(0) == pytest.approx((FARTHEST, -FARTHEST, 2.0))


@pytest.mark.parametrize("size", [1e61, 1e200, 1e308])
def test_machines_beyond_all_measure_have_a_draw_list(size):
    """They are refused by runs, but are shown so that they can be corrected."""
    boxes = tuple(Body(name=name, mass=1.0, shapes=(Box(size=(size, 1.0, 1.0)),)) for name in "ab")
    hinges = (
        Joint(name="j", parent="world", child="a", axis=(0.0, 1.0, 0.0)),
        Joint(name="k", parent="a", child="b", axis=(0.0, 1.0, 0.0)),
    )
    assert {item.frame for item in build_draw_list(Model(bodies=boxes, joints=hinges))} >= {"a", "b"}
    assert build_draw_list(Model(chains=(DHChain(name="c", rows=(DHRow(a=size), DHRow(a=1.0))),)))
