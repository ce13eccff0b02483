"""Quaternions of any length have a direction."""

import numpy as np
import pytest

from core.joints import quaternions as arrays


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e160, 4e307])
def test_a_quaternion_of_any_length_becomes_one_of_length_one(recwarn, scale):
    quaternions = np.array([[1.0, -2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    quaternions[0] *= scale
    unit = arrays.normalise_quaternion(quaternions)
    np.testing.assert_allclose(unit[0], np.array([1.0, -2.0, 3.0, 4.0]) / np.sqrt(30.0), rtol=1e-14)
    np.testing.assert_array_equal(unit[1], (0.0, 0.0, 0.0, 1.0))
    assert not recwarn.list
