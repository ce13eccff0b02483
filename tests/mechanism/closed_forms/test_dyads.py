"""The formulas of dyads against geometry done by hand: the roots, and how far they are from vanishing."""

import math

import numpy as np
import pytest

from core.constraints.closed_forms.dyads import solve_angle_for_distance, solve_slide_for_distance
from core.numerics.spatial.vector import Vector3


@pytest.mark.parametrize("guess", [-3.0, 3.0])
def test_a_point_slides_to_a_distance_on_the_side_of_the_guess(guess):
    """A rod of 5 m whose foot is 3 m from the slide reaches 4 m along it, up or down: sine² of its angle is 16/25."""
    root = solve_slide_for_distance(Vector3(3.0, 0.0, 1.0), Vector3(0.0, 0.0, 2.0), 25.0, guess + 1.0)
    assert root.value == pytest.approx(1.0 + math.copysign(4.0, guess))
    assert root.reach == pytest.approx(16.0 / 25.0)


@pytest.mark.parametrize(("rod", "reach"), [(3.0, 0.0), (2.0, -5.0 / 4.0)])
def test_a_slide_tells_that_its_rod_only_just_reaches_or_is_too_short(rod, reach):
    root = solve_slide_for_distance(Vector3(3.0, 0.0, 0.0), Vector3(0.0, 0.0, 0.0), rod * rod, 0.5)
    assert root.reach == pytest.approx(reach, abs=1e-15)
    assert root.value == pytest.approx(0.0)


def test_a_point_turns_to_a_distance():
    """Crank of 3 m, ground of 5 m, coupler of 4 m: a right angle where the coupler meets the crank."""
    for side in (1.0, -1.0):
        root = solve_angle_for_distance(Vector3(3.0, 0.0, 0.0), Vector3(5.0, 0.0, 0.0), 16.0, side)
        assert root.value.cosine == pytest.approx(3.0 / 5.0)
        assert root.value.sine == pytest.approx(side * 4.0 / 5.0)
        assert np.sign(root.reach) == 1.0
    touching = solve_angle_for_distance(Vector3(3.0, 0.0, 0.0), Vector3(5.0, 0.0, 0.0), 4.0, 1.0)
    assert touching.reach == pytest.approx(0.0, abs=1e-15)
