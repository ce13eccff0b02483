"""Makers' configurations: published examples and definitions."""

import numpy as np
import pytest

from core.errors import ModelError
from core.mechanism.inverse_kinematics_results import Configuration
from core.mechanism.makers_configurations import format_configuration


def test_turn_bits_of_a_published_example():
    """Axes at 91°, −45°, 37°, 1°, −1°, 0° have the turn 18."""
    bits = format_configuration("turn bits", np.radians([91.0, -45.0, 37.0, 1.0, -1.0, 0.0]))
    assert (bits, int(bits, 2)) == ("010010", 18)
    assert format_configuration("turn bits", [-0.1] * 6) == "111111"


@pytest.mark.parametrize(
    ("angle", "quadrant"),
    [(0.0, 0), (45.0, 0), (90.0, 1), (135.0, 1), (-45.0, -1), (-135.0, -2), (200.0, 2), (-200.0, -3)],
)
def test_quadrants_by_their_definition(angle, quadrant):
    text = format_configuration("quadrants", np.radians([angle, 10.0, 20.0, 100.0, 30.0, -10.0]))
    assert text == f"{quadrant}, 1, -1"


def test_letters():
    parts = (("shoulder", "front"), ("elbow", "up"), ("wrist", "no flip"))
    assert format_configuration("letters", [], Configuration(parts)) == "N U T"
    parts = (("shoulder", "rear"), ("elbow", "down"), ("wrist", "flip"))
    assert format_configuration("letters", [], Configuration(parts)) == "F D B"
    with pytest.raises(ModelError, match="no shoulder"):
        format_configuration("letters", [], Configuration((("elbow", "left"),)))


def test_bad_input():
    with pytest.raises(ModelError, match="no style"):
        format_configuration("bits", [0.0] * 6)
    with pytest.raises(ModelError, match="Six finite angles"):
        format_configuration("quadrants", [0.0] * 5)
