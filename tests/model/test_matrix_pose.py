"""Matrices as poses of the document, and back."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.model.formula.evaluation import FieldEvaluator
from core.model.shapes import pose_from_matrix


def matrix_of(pose):
    """(4, 4) as the kernel reads a pose."""
    found = FieldEvaluator({}).pose(pose)
    X = np.eye(4)
    X[:3, :3] = np.array(found.rotation, dtype=float)
    X[:3, 3] = found.position
    return X


def random_matrices():
    random = np.random.default_rng(4)
    for R in Rotation.random(50, random_state=5).as_matrix():
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, random.normal(size=3)
        yield X


def test_a_pose_has_the_matrix_it_was_made_of():
    for X in random_matrices():
        np.testing.assert_allclose(matrix_of(pose_from_matrix(X)), X, atol=1e-15)


@pytest.mark.parametrize("pitch", [90, -90])
@pytest.mark.parametrize("turn", [0, 30, -170])
def test_where_two_angles_turn_about_one_line_the_first_is_zero(pitch, turn):
    X = np.eye(4)
    X[:3, :3] = Rotation.from_euler("xyz", [turn, pitch, 0], degrees=True).as_matrix()
    pose = pose_from_matrix(X)
    assert pose.rotation[0] == 0.0
    np.testing.assert_allclose(matrix_of(pose), X, atol=1e-15)


def test_minus_zero_is_zero():
    X = np.eye(4)
    X[:3, 3] = -0.0
    assert all(math.copysign(1.0, x) == 1.0 for x in (*pose_from_matrix(X).position, *pose_from_matrix(X).rotation))
