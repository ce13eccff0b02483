"""Lines of sight to amounts of motion: closed forms and minimisation."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from viz.camera import Ray
from viz.drawlist.joint_handles import HandleDrag, HandleGrip, PointDrag, axis_parameter, plane_point, ring_angle
from viz.placement import perpendicular_unit_vector, unit_vector

Z = np.array([0.0, 0.0, 1.0])
coordinate = st.floats(-3, 3)
points = st.tuples(coordinate, coordinate, coordinate).map(np.array)
directions = points.filter(lambda v: np.linalg.norm(v) > 0.1).map(unit_vector)


def look(start: tuple[float, ...], at: np.ndarray | tuple[float, ...]) -> Ray:
    origin = np.array(start, dtype=float)
    return Ray(origin, unit_vector(np.asarray(at, dtype=float) - origin))


@given(points, directions, st.floats(-pi, pi), st.floats(0.1, 2), points)
def test_ring_angle_of_a_point_on_the_ring(centre, axis, angle, radius, eye) -> None:
    assume(abs((eye - centre) @ axis) > 0.1)
    x = perpendicular_unit_vector(axis)
    place = centre + radius * (cos(angle) * x + sin(angle) * np.cross(axis, x))
    found = ring_angle(look(tuple(eye), place), centre, axis)
    assert found is not None
    assert (found - angle + pi) % (2 * pi) - pi == pytest.approx(0.0, abs=1e-6)


def test_ring_angle_counts_from_the_reference() -> None:
    ray = look((0, 0, 5), (0, 1, 0))
    assert ring_angle(ray, np.zeros(3), Z, np.array([1.0, 0, 0])) == pytest.approx(pi / 2)
    assert ring_angle(ray, np.zeros(3), Z, np.array([0, 1.0, 0])) == pytest.approx(0.0)
    assert ring_angle(ray, np.zeros(3), -Z, np.array([1.0, 0, 0])) == pytest.approx(-pi / 2)


def test_no_angle_along_the_plane_or_behind_the_eye() -> None:
    assert ring_angle(Ray(np.array([2.0, 0, 0]), np.array([-1.0, 0, 0])), np.zeros(3), Z) is None
    assert plane_point(Ray(np.array([0, 0, 1.0]), Z), np.zeros(3), Z) is None


@given(points, directions, points, directions)
def test_axis_parameter_is_where_the_lines_are_nearest(origin, direction, eye, sight) -> None:
    assume(abs(direction @ sight) < 0.95)
    found = axis_parameter(Ray(eye, sight), origin, direction)

    def gap(x: np.ndarray) -> float:
        return float(np.sum((origin + x[0] * direction - eye - x[1] * sight) ** 2))

    nearest = minimize(gap, [0.0, 0.0], tol=1e-14)
    assert found == pytest.approx(nearest.x[0], abs=1e-4)


def test_no_parameter_along_the_line_of_sight() -> None:
    assert axis_parameter(Ray(np.zeros(3), Z), np.array([0.1, 0, 0]), Z) is None


def test_turning_twice_round_counts_two_turns() -> None:
    grip = HandleGrip("turn", np.zeros(3), Z)
    eye = (0.5, -2.0, 3.0)
    drag = HandleDrag(grip, look(eye, (1, 0, 0)))
    angles = np.linspace(0, 4 * pi, 50)
    for angle in angles:
        turned = drag.motion_so_far(look(eye, (cos(angle), sin(angle), 0)))
        assert turned == pytest.approx(angle, abs=1e-9)
    for angle in angles[::-1]:
        turned = drag.motion_so_far(look(eye, (cos(angle), sin(angle), 0)))
    assert turned == pytest.approx(0.0, abs=1e-9)


def test_sliding_measures_along_the_axis() -> None:
    axis = unit_vector(np.array([1.0, 2.0, 0.5]))
    grip = HandleGrip("slide", np.array([0.1, 0.2, 0.3]), axis)
    eye = (4.0, -3.0, 2.0)
    drag = HandleDrag(grip, look(eye, grip.centre + 0.3 * axis))
    assert drag.motion_so_far(look(eye, grip.centre + 0.3 * axis)) == 0.0
    assert drag.motion_so_far(look(eye, grip.centre - 0.5 * axis)) == pytest.approx(-0.8)


def test_a_ring_seen_from_its_edge_is_rolled() -> None:
    grip = HandleGrip("turn", np.zeros(3), Z, radius=0.2)
    eye = (0.0, -50.0, 0.0)
    drag = HandleDrag(grip, look(eye, (0, -0.2, 0)))
    # the rim that faces the eye moves along +x for positive turns about z
    assert drag.motion_so_far(look(eye, (0.1, 0, 0))) == pytest.approx(0.1 / 0.2, rel=1e-3)
    assert drag.motion_so_far(look(eye, (-0.1, 0, 0))) == pytest.approx(-0.1 / 0.2, rel=1e-3)


@given(st.floats(-0.215, 0.215))
def test_rolling_is_steady_for_every_edge_on_view(tilt: float) -> None:
    grip = HandleGrip("turn", np.zeros(3), Z, radius=0.2)
    eye = (0.0, -50.0 * cos(tilt), 50.0 * sin(tilt))
    drag = HandleDrag(grip, look(eye, (0, 0, 0)))
    amounts = [drag.motion_so_far(look(eye, (x, 0, 0))) for x in np.linspace(0, 0.2, 9)]
    assert np.diff(amounts) == pytest.approx(0.2 / 8 / 0.2, rel=0.01)


def test_where_sight_says_nothing_the_amount_stays() -> None:
    grip = HandleGrip("turn", np.zeros(3), Z)
    drag = HandleDrag(grip, look((0, 0, 3), (1, 0, 0)))
    assert drag.motion_so_far(look((0, 0, 3), (0, 1, 0))) == pytest.approx(pi / 2)
    assert drag.motion_so_far(Ray(np.array([0, 0, 3.0]), np.array([1.0, 0, 0]))) == pytest.approx(pi / 2)


@given(points, directions, st.floats(-1, 1), st.floats(-1, 1))
def test_a_dragged_point_stays_under_the_pointer_without_a_jump(point, normal, u, v) -> None:
    eye = point + 4.0 * normal + 0.3 * perpendicular_unit_vector(normal)
    x = perpendicular_unit_vector(normal)
    grabbed = look(tuple(eye), point + 0.05 * x)
    drag = PointDrag(point, grabbed, normal)
    assert drag.target_position(grabbed) == pytest.approx(point, abs=1e-9)
    there = point + u * x + v * np.cross(normal, x)
    assert drag.target_position(look(tuple(eye), there + 0.05 * x)) == pytest.approx(there, abs=1e-9)
