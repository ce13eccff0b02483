"""Ellipsoids against closed forms (Yoshikawa 1985) and published robots (tests/reference, sources named there)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.analysis.manipulability import ellipsoid_of_jacobian, free_jacobian, manipulability, velocity_dimension
from core.files import load
from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Model
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"
CLOSED = json.loads((REFERENCE / "manipulability_closed_forms.json").read_text())["reference"]
HALF = math.pi / 2


def arm(*rows):
    return Mechanism(Model(name="arm", chains=(DHChain(name="arm", rows=rows),)))


L1, L2, _ = CLOSED["2R"]["link_lengths"]
TWO = arm(DHRow(a=L1), DHRow(a=L2))
SCARA = arm(DHRow(a=L1), DHRow(a=L2), DHRow(kind="prismatic"))
SPHERICAL = arm(DHRow(alpha=HALF), DHRow(alpha=HALF, theta=HALF), DHRow(kind="prismatic"))
"""Turns about z, lifts about the horizontal axis, reaches r: the arm of the reference's RRP_spherical."""
CASES = [("2R", TWO, 2), ("SCARA_xyz", SCARA, 3), ("RRP_spherical", SPHERICAL, 3)]


@pytest.mark.parametrize(("name", "mech", "m"), CASES, ids=[case[0] for case in CASES])
def test_measures_of_closed_forms(name, mech, m):
    assert velocity_dimension(mech, "tool") == m
    for sample in CLOSED[name]["samples"]:
        found = manipulability(mech, np.array(sample["q"]), "tool", m=m)
        sigma = np.array(sample["singular_values"])
        np.testing.assert_allclose(found.radii[:m], sigma, rtol=1e-11)
        measures = found.measures
        assert measures.yoshikawa == pytest.approx(sample["closed_form"], rel=1e-11)
        assert measures.volume == pytest.approx(sample["ellipsoid_volume"], rel=1e-11)
        assert measures.condition == pytest.approx(sample["condition"], rel=1e-11)
        assert measures.eccentricity == pytest.approx(1.0 / sample["condition"], rel=1e-11)
        assert measures.smallest == pytest.approx(sigma[-1], rel=1e-11)
        assert measures.geometric_mean == pytest.approx(float(np.prod(sigma)) ** (1 / m), rel=1e-11)


def test_isotropic_point_of_a_planar_arm_is_a_circle():
    mech = arm(DHRow(a=math.sqrt(2.0) * 0.4), DHRow(a=0.4))  # Yoshikawa: l1 = √2 l2 at q2 = 135°
    found = manipulability(mech, np.array([0.3, math.radians(135.0)]), "tool", m=2)
    assert found.measures.condition == pytest.approx(1.0, abs=1e-12)
    assert found.measures.eccentricity == pytest.approx(1.0, abs=1e-12)


def test_ellipsoid_holds_the_velocities_of_unit_joint_speeds():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    q = mech.random(3)
    found = manipulability(mech, q, "tool")
    rng = np.random.default_rng(0)
    speeds = rng.normal(size=(200, mech.nv))
    speeds /= np.linalg.norm(speeds, axis=1)[:, None]
    velocities = speeds @ mech.jacobian(q, "tool")[3:].T
    scaled = velocities @ found.axes / found.radii
    assert np.all(np.linalg.norm(scaled, axis=1) <= 1.0 + 1e-12)
    np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(3), atol=1e-13)
    assert np.linalg.det(found.axes) == pytest.approx(1.0)
    np.testing.assert_allclose(found.center, mech.frame(q, "tool")[:3, 3])


def test_force_ellipsoid_is_the_inverse_of_the_velocity_ellipsoid():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    q = mech.random(5)
    velocity, force = (manipulability(mech, q, "tool", kind=kind) for kind in ("velocity", "force"))
    np.testing.assert_allclose(force.radii, 1.0 / velocity.radii[::-1], rtol=1e-12)
    # F on the ellipsoid needs torques τ = Jᵀ F of unit norm
    J = mech.jacobian(q, "tool")[3:]
    for axis, radius in zip(force.axes.T, force.radii, strict=True):
        assert np.linalg.norm(J.T @ (radius * axis)) == pytest.approx(1.0, rel=1e-10)
    assert np.linalg.det(force.axes) == pytest.approx(1.0)


def test_planar_arm_cannot_be_moved_by_a_force_across_its_plane():
    found = manipulability(TWO, np.array([0.2, 0.9]), "tool", kind="force", m=2)
    assert found.radii[0] == math.inf
    np.testing.assert_allclose(np.abs(found.axes[:, 0]), [0, 0, 1], atol=1e-12)
    assert math.isfinite(found.measures.volume)


def test_singular_pose_has_no_volume():
    found = manipulability(TWO, np.array([0.4, 0.0]), "tool", m=2)
    assert found.measures.yoshikawa == 0.0
    assert found.measures.condition == math.inf
    assert found.measures.eccentricity == 0.0


@pytest.mark.parametrize(("reference", "file"), [("robot_puma560", "puma560.kst"), ("robot_panda", "panda.kst")])
def test_published_robots(reference, file):
    mech = Mechanism(load(EXAMPLES / file))
    poses = json.loads((REFERENCE / f"{reference}.json").read_text())["reference"]["configurations"]
    for expected in poses.values():
        q = np.array(expected["q"])
        move = manipulability(mech, q, "tool", m=3)
        turn = manipulability(mech, q, "tool", part="rotation", m=3)
        assert move.measures.yoshikawa == pytest.approx(expected["yoshikawa_trans"], rel=1e-8, abs=1e-9)
        assert turn.measures.yoshikawa == pytest.approx(expected["yoshikawa_rot"], rel=1e-8, abs=1e-9)
        np.testing.assert_allclose(move.singular, expected["singular_values_trans"], rtol=1e-8, atol=1e-9)


def test_dimension_does_not_depend_on_the_pose():
    fixed = arm(DHRow(a=1.0))
    assert velocity_dimension(fixed, "tool") == 1
    assert velocity_dimension(fixed, "base") == 0
    assert velocity_dimension(fixed, "tool", "rotation") == 1
    assert velocity_dimension(SCARA, "tool", "rotation") == 1


def test_speeds_of_a_closed_loop_keep_it_closed():
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    q = mech.rest()
    frame = mech.frame_names[-1]
    J = free_jacobian(mech, q, frame)
    assert J.shape == (6, mech.nv - np.linalg.matrix_rank(mech.constraint_jacobian(q), tol=1e-9))


def test_of_jacobian_without_columns():
    found = ellipsoid_of_jacobian(np.zeros((3, 0)), np.zeros(3))
    assert found.measures.volume == 0.0
    np.testing.assert_array_equal(found.radii, 0.0)
