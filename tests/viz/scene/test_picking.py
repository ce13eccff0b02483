"""Rays against meshes: closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.camera import Ray
from viz.drawlist import geometry as g
from viz.placement import frame_along, unit_vector
from viz.scene.picking import PickTarget, nearest_hit


def ray(origin: tuple[float, ...], direction: tuple[float, ...]) -> Ray:
    return Ray(np.array(origin, dtype=float), unit_vector(np.array(direction, dtype=float)))


def test_a_box_is_met_on_its_face() -> None:
    met = nearest_hit(ray((5, 0.2, 0.1), (-1, 0, 0)), [PickTarget(g.Box((2.0, 2.0, 2.0)), np.eye(4), "box")])
    assert met is not None
    assert met.meaning == "box"
    assert met.position == pytest.approx([1, 0.2, 0.1])
    assert met.normal == pytest.approx([1, 0, 0])
    assert met.distance == pytest.approx(4.0)


@given(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6))
def test_a_ball_is_met_where_the_equation_says(y: float, z: float) -> None:
    met = nearest_hit(ray((5, y, z), (-1, 0, 0)), [PickTarget(g.Sphere(1.0), np.eye(4), 1)])
    assert met is not None
    sagitta = 1 - np.cos(np.pi / 48)  # of one face, in both directions
    assert (1 - sagitta) ** 2 - 1e-6 <= np.linalg.norm(met.position) <= 1 + 1e-6
    assert met.normal == pytest.approx(met.position, abs=0.09)


def test_the_nearest_of_several_is_met_whatever_their_order() -> None:
    poses = [np.eye(4) for _ in range(3)]
    for pose, x in zip(poses, (0.0, 3.0, -3.0), strict=True):
        pose[0, 3] = x
    targets = [PickTarget(g.Sphere(0.5), pose, pose[0, 3]) for pose in poses]
    for order in (targets, targets[::-1], [targets[1], targets[0], targets[2]]):
        met = nearest_hit(ray((9, 0, 0), (-1, 0, 0)), order)
        assert met is not None
        assert met.meaning == 3.0


def test_overlapping_bounds_do_not_hide_what_is_nearer() -> None:
    ring = PickTarget(g.Arc(1.0, 0.05), frame_along((1.0, 0.4, 0.0)), "ring")
    ball = PickTarget(g.Sphere(0.3), np.eye(4), "ball")
    met = nearest_hit(ray((5, 0.0, 0.0), (-1, 0, 0)), [ring, ball])
    assert met is not None
    assert met.meaning == "ball"


def test_what_is_behind_the_eye_is_not_met() -> None:
    assert nearest_hit(ray((5, 0, 0), (1, 0, 0)), [PickTarget(g.Sphere(1.0), np.eye(4), 1)]) is None
    assert nearest_hit(ray((5, 0, 0), (1, 0, 0)), []) is None


def test_a_stretched_form_is_met_with_its_own_normal() -> None:
    stretch = np.diag([1.0, 1.0, 4.0, 1.0])
    met = nearest_hit(ray((0, 0, 9), (0, 0, -1)), [PickTarget(g.Cylinder(0.5, 1.0), stretch, 1)])
    assert met is not None
    assert met.position == pytest.approx([0, 0, 2.0], abs=1e-6)
    assert met.normal == pytest.approx([0, 0, 1])


def test_the_hole_of_a_ring_is_open() -> None:
    ring = [PickTarget(g.Arc(1.0, 0.1), np.eye(4), "ring")]
    assert nearest_hit(ray((0, 0, 5), (0, 0, -1)), ring) is None
    met = nearest_hit(ray((1, 0, 5), (0, 0, -1)), ring)
    assert met is not None
    assert met.position[:2] == pytest.approx([1, 0])
    assert 0.1 * np.cos(np.pi / 10) - 1e-6 <= met.position[2] <= 0.1  # the tube has ten sides


def test_a_placeholder_counts_as_solid() -> None:
    met = nearest_hit(ray((5, 0.01, 0.02), (-1, 0, 0)), [PickTarget(g.MissingMesh(1.0), np.eye(4), "missing")])
    assert met is not None
    assert met.position[0] == pytest.approx(0.5)
