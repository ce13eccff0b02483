"""The camera's pure geometry."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

from viz import camera
from viz.camera import PRESETS, CameraView

SIZE = (800, 600)
views = st.builds(
    CameraView,
    target=st.tuples(*[st.floats(-2, 2)] * 3),
    distance=st.floats(0.5, 20),
    azimuth=st.floats(-3.1, 3.1),
    elevation=st.floats(-pi / 2, pi / 2),
    parallel=st.booleans(),
)
pixels = st.tuples(st.floats(0, 800), st.floats(0, 600))


@given(views, pixels, st.floats(0.1, 0.9))
def test_a_point_on_the_ray_of_a_pixel_is_seen_at_that_pixel(
    view: CameraView, pixel: tuple[float, float], t: float
) -> None:
    ray = camera.line_of_sight(view, SIZE, *pixel)
    assert np.linalg.norm(ray.direction) == pytest.approx(1.0)
    assert camera.project(view, SIZE, ray.at(t * view.distance)) == pytest.approx(pixel, abs=1e-6)


@given(views)
def test_axes_are_right_handed_and_up_is_up(view: CameraView) -> None:
    axes = view.axes
    assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[2, 0] == pytest.approx(0.0, abs=1e-12)  # the horizon is level
    assert axes[2, 1] >= -1e-12


@given(views, st.floats(0.2, 5), st.tuples(*[st.floats(-1, 1)] * 3))
def test_zoom_keeps_the_point_under_the_pointer(view: CameraView, factor: float, offset: tuple[float, ...]) -> None:
    point = np.array(view.target) + 0.3 * view.distance * np.array(offset)
    before = camera.project(view, SIZE, point)
    after = camera.project(camera.zoom(view, factor, point), SIZE, point)
    assert after == pytest.approx(before, abs=1e-5)


@given(views, st.floats(-1, 1), st.floats(-0.5, 0.5), st.tuples(*[st.floats(-1, 1)] * 3))
def test_orbit_about_a_pivot_keeps_it_in_place(
    view: CameraView, yaw: float, pitch: float, offset: tuple[float, ...]
) -> None:
    pivot = np.array(view.target) + 0.3 * view.distance * np.array(offset)
    turned = camera.orbit(view, yaw, pitch, pivot)
    assert camera.project(turned, SIZE, pivot) == pytest.approx(camera.project(view, SIZE, pivot), abs=1e-6)


@given(views, st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_pan_moves_what_is_seen_by_fractions_of_the_height(view: CameraView, right: float, up: float) -> None:
    x, y = camera.project(camera.pan(view, right, up), SIZE, view.target)
    assert (x, y) == pytest.approx((400 + 600 * right, 300 - 600 * up), abs=1e-6)


@given(views, st.tuples(*[st.floats(0.01, 3)] * 3), st.floats(0.5, 2.5))
def test_fit_brings_every_corner_into_the_picture(view: CameraView, edges: tuple[float, ...], aspect: float) -> None:
    low = np.array([0.3, -1.0, 2.0])
    high = low + edges
    size = (round(600 * aspect), 600)
    fitted = camera.fit(view, np.column_stack([low, high]).ravel(), size[0] / size[1])
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    seen = np.array([camera.project(fitted, size, corner) for corner in corners])
    assert (seen >= 0).all()
    assert (seen[:, 0] <= size[0]).all()
    assert (seen[:, 1] <= size[1]).all()
    reach = np.abs(seen - np.array(size) / 2) / np.array(size) * 2
    assert reach.max() > 0.5  # and it fills a good part of it


@pytest.mark.parametrize(
    ("name", "right", "up"),
    [
        ("front", (1, 0, 0), (0, 0, 1)),
        ("back", (-1, 0, 0), (0, 0, 1)),
        ("right", (0, 1, 0), (0, 0, 1)),
        ("left", (0, -1, 0), (0, 0, 1)),
        ("top", (1, 0, 0), (0, 1, 0)),
        ("bottom", (1, 0, 0), (0, -1, 0)),
    ],
)
def test_named_sides(name: str, right: tuple[float, ...], up: tuple[float, ...]) -> None:
    axes = camera.preset_view(CameraView(), name).axes
    assert axes[:, 0] == pytest.approx(right, abs=1e-12)
    assert axes[:, 1] == pytest.approx(up, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "iso"])
def test_looking_from_a_cube_face_is_the_named_side(name: str) -> None:
    wanted = camera.preset_view(CameraView(), name)
    found = camera.look_from(CameraView(azimuth=0.3), wanted.axes[:, 2].round())
    assert found.axes == pytest.approx(wanted.axes, abs=1e-12)


@given(views, views)
def test_the_way_between_views_starts_and_ends_there(start: CameraView, end: CameraView) -> None:
    for view, t in ((start, 0.0), (end, 1.0)):
        reached = camera.interpolate_views(start, end, t)
        assert reached.eye == pytest.approx(view.eye, rel=1e-6, abs=1e-6)
        assert reached.parallel == view.parallel


def test_the_way_goes_the_short_way_round() -> None:
    middle = camera.interpolate_views(CameraView(azimuth=3.0), CameraView(azimuth=-3.0), 0.5)
    assert abs(middle.azimuth) == pytest.approx(pi)


@given(views)
def test_vtk_sees_the_same(view: CameraView) -> None:
    window, renderer = vtkRenderWindow(), vtkRenderer()
    window.SetOffScreenRendering(True)
    window.SetSize(*SIZE)
    window.AddRenderer(renderer)
    camera.apply_to_camera(view, renderer.GetActiveCamera())
    point = np.array(view.target) + view.axes @ np.array([0.1, -0.07, 0.05]) * view.distance
    renderer.SetWorldPoint(*point, 1.0)
    renderer.WorldToDisplay()
    x, y, _ = renderer.GetDisplayPoint()
    assert camera.project(view, SIZE, point) == pytest.approx((x, SIZE[1] - y), abs=0.02)


def test_metres_per_pixel_is_what_projection_shows() -> None:
    view, point = CameraView(distance=4.0), np.array([0.5, 0.4, 0.3])
    step = camera.metres_per_pixel(view, SIZE, point)
    aside = point + 10 * step * view.axes[:, 0]
    assert np.hypot(
        *(np.array(camera.project(view, SIZE, aside)) - camera.project(view, SIZE, point))
    ) == pytest.approx(10)
