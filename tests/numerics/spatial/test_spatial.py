"""Rotations, poses, motions, forces, inertias: identities of the algebra, on numbers and on symbols."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as Peer

from core.joints.quaternions import normalise_quaternion
from core.numerics.spatial import inertia, rotation
from core.numerics.spatial.inertia import Symmetric3
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import is_zero, minus, over, plus, times
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3, X, Y, Z

NUMBERS = st.floats(-3.0, 3.0)
VECTORS = st.builds(Vector3, NUMBERS, NUMBERS, NUMBERS)
ANGLES = st.tuples(NUMBERS, NUMBERS, NUMBERS)
POSES = st.builds(Pose, ANGLES.map(rotation.from_angles), VECTORS)
MOTIONS = st.builds(Motion, VECTORS, VECTORS)
FORCES = st.builds(Force, VECTORS, VECTORS)
BODIES = st.builds(
    lambda mass, center, size: inertia.inertia_from_center(
        mass, center, Symmetric3(size.y**2 + size.z**2, size.x**2 + size.z**2, size.x**2 + size.y**2, 0.0, 0.0, 0.0)
    ),
    st.floats(0.1, 5.0),
    VECTORS,
    VECTORS,
)


def flat(x):
    return np.array([float(e) for e in _leaves(x)])


def _leaves(x):
    if isinstance(x, tuple):
        for part in x:
            yield from _leaves(part)
    else:
        yield x


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(flat(a), flat(b), atol=tolerance * (1.0 + np.max(np.abs(flat(b)))))


@given(ANGLES)
def test_angles_are_about_fixed_axes(angles):
    np.testing.assert_allclose(
        np.array(rotation.from_angles(angles)), Peer.from_euler("xyz", angles).as_matrix(), atol=1e-13
    )


@given(ANGLES, st.floats(0.1, 4.0))
def test_a_quaternion_of_any_length_is_its_rotation(angles, length):
    peer = Peer.from_euler("xyz", angles)
    R = rotation.from_quaternion([float(c) * length for c in peer.as_quat()])
    np.testing.assert_allclose(np.array(R), peer.as_matrix(), atol=1e-13)


@given(VECTORS.filter(lambda v: v.dot(v) > 1e-6), NUMBERS)
def test_rotation_about_an_axis(axis, angle):
    n = rotation.unit_vector(axis)
    np.testing.assert_allclose(
        np.array(rotation.about(n, angle)), Peer.from_rotvec(np.array(n) * angle).as_matrix(), atol=1e-13
    )


@given(VECTORS.filter(lambda v: v.dot(v) > 1e-6))
def test_the_shortest_rotation_from_z(axis):
    n = rotation.unit_vector(axis)
    R = rotation.from_z(n)
    same(R.act(Z), n)
    same(R @ R.transposed(), rotation.IDENTITY)
    turned = np.linalg.norm(Peer.from_matrix(np.array(R)).as_rotvec())
    assert turned == pytest.approx(np.arccos(np.clip(n.z, -1.0, 1.0)), abs=1e-6)


def test_axes_of_coordinates_give_exact_rotations():
    for axis in (X, Y, Z, -X, -Y, -Z):
        entries = flat(rotation.from_z(axis))
        assert set(np.abs(entries)) == {0.0, 1.0}
        assert flat(rotation.from_z(axis).act(Z)).tolist() == flat(axis).tolist()


@given(VECTORS.filter(lambda v: v.dot(v) > 1e-3), VECTORS)
def test_a_frame_from_two_axes(z, other):
    n = rotation.unit_vector(z)
    if n.cross(other).dot(n.cross(other)) < 1e-6:
        return
    R = rotation.from_axes(n, other)
    same(R.act(Z), n)
    assert np.linalg.det(np.array(R)) == pytest.approx(1.0)
    local = R.act_back(other)
    assert float(local.x) == pytest.approx(0.0, abs=1e-9)
    assert local.y > 0.0


@given(POSES, POSES, VECTORS)
def test_poses_compose_and_invert(X_AB, X_BC, p):
    same((X_AB @ X_BC).point(p), X_AB.point(X_BC.point(p)))
    same(X_AB @ X_AB.inverse(), IDENTITY)


@given(POSES, MOTIONS, FORCES)
def test_power_does_not_depend_on_the_frame(X_AB, V, F):
    assert X_AB.motion(V).dot(X_AB.force(F)) == pytest.approx(V.dot(F), abs=1e-9)
    same(X_AB.motion_back(X_AB.motion(V)), V, 1e-10)
    same(X_AB.force_back(X_AB.force(F)), F, 1e-10)


@given(MOTIONS, MOTIONS, FORCES)
def test_cross_products_are_dual(V, M, F):
    """(V × M)·F = −M·(V ×* F)."""
    assert V.cross(M).dot(F) == pytest.approx(-M.dot(V.cross_force(F)), abs=1e-9)


@given(BODIES, POSES, MOTIONS)
def test_inertia_moves_with_its_frame(body, X_AB, V):
    """X (I V) = (X I X⁻¹) (X V), for rigid and articulated inertia."""
    same(body.transformed_to_parent(X_AB).act(X_AB.motion(V)), X_AB.force(body.act(V)), 1e-9)
    same(inertia.articulated_from_rigid(body).act(V), body.act(V))
    same(
        inertia.articulated_from_rigid(body).transformed_to_parent(X_AB).act(X_AB.motion(V)),
        X_AB.force(body.act(V)),
        1e-9,
    )


@given(BODIES, MOTIONS)
def test_removing_a_direction_leaves_no_resistance_there(body, S):
    whole = inertia.articulated_from_rigid(body)
    U = whole.act(S)
    D = S.dot(U)
    if D < 1e-3:
        return
    rest = whole.minus_outer_product(U, U.scaled(1.0 / D))
    same(rest.act(S), Force(ZERO, ZERO), 1e-8 * (1.0 + np.max(np.abs(flat(U)))))


def test_literals_vanish_from_products():
    class Symbol:
        """Any arithmetic on it would fail."""

    x = Symbol()
    assert times(0.0, x) == 0.0
    assert times(1.0, x) is x
    assert plus(0.0, x) is x
    assert minus(x, 0.0) is x
    assert over(0.0, 2.0) == 0.0
    assert is_zero(Rotation(X, Y, Z).x.y)
    with pytest.raises(ZeroDivisionError):
        over(1.0, 0.0)


@pytest.mark.parametrize("pitch", [-np.pi / 2, -0.4, 0.0, 1.2, np.pi / 2])
def test_angles_of_a_rotation_give_it_again(pitch):
    rng = np.random.default_rng(3)
    for roll, yaw in rng.uniform(-3.0, 3.0, (20, 2)):
        R = Peer.from_euler("xyz", (roll, pitch, yaw)).as_matrix()
        again = rotation.fixed_axis_angles(R)
        np.testing.assert_allclose(Peer.from_euler("xyz", again).as_matrix(), R, atol=1e-9)
        if abs(pitch) < 1.5:
            np.testing.assert_allclose(again, (roll, pitch, yaw), atol=1e-12)
        else:
            assert again[0] == 0.0


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 5e307])
def test_directions_of_any_length_have_unit_vectors(scale):
    np.testing.assert_allclose(rotation.unit_vector((2.0 * scale, 0.0, 0.0)), (1.0, 0.0, 0.0))
    unit = np.array(rotation.unit_vector((3.0 * scale, -scale, 2.0 * scale)))
    np.testing.assert_allclose(unit, np.array([3.0, -1.0, 2.0]) / np.sqrt(14.0), rtol=1e-3 if scale < 1e-300 else 1e-15)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1e307])
def test_only_ratios_of_a_quaternion_count(size):
    """A quarter turn about z, whatever the squares of its numbers are."""
    turn = rotation.from_quaternion((0.0, 0.0, size, size))
    np.testing.assert_allclose(np.array(turn, dtype=float), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-3)
    np.testing.assert_allclose(
        normalise_quaternion(np.array([0.0, 0.0, size, size])), np.sqrt([0.0, 0.0, 0.5, 0.5]), atol=1e-3
    )
