"""The box of a view's ranges: its edges, its numbers, and where they stand in the picture."""

import numpy as np
import pytest

from viz import camera
from viz.pictures.offscreen import open_offscreen_scene
from viz.scene.range_box import LETTERS, box_edges, round_ticks

BOX = (-1.0, 2.0, -3.0, 3.0, 0.0, 1.5)


def test_a_box_has_twelve_edges_four_along_each_axis():
    found = box_edges(BOX)
    assert [edge.axis for edge in found].count(1) == 4
    lengths = sorted(float(np.linalg.norm(edge.b - edge.a)) for edge in found)
    assert lengths == [1.5] * 4 + [3.0] * 4 + [6.0] * 4
    for edge in found:
        inside = (edge.a + edge.b + edge.inward) / 2.0
        assert all(low <= x <= high for x, low, high in zip(inside, BOX[0::2], BOX[1::2], strict=True))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-5.0, 5.0), (0.013, 0.019), (-1000.0, 2500.0)])
def test_numbers_are_round_inside_and_few(low, high):
    found = round_ticks(low, high)
    assert 3 <= len(found) <= 9
    assert all(low - 1e-9 <= x <= high + 1e-9 for x in found)
    steps = np.diff(found)
    np.testing.assert_allclose(steps, steps[0])
    assert f"{steps[0]:e}"[0] in "125"


@pytest.mark.parametrize("side", ["iso", "top", "front", "right", "bottom"])
def test_the_box_and_its_numbers_lie_in_the_picture(side):
    with open_offscreen_scene((600, 400)) as scene:
        scene.view = camera.preset_view(camera.CameraView(parallel=side != "iso"), side)
        scene.range_box.show_range(BOX)
        scene.view = scene.fit()
        scene.render()
        words = scene.range_box.visible_texts
        assert sum("(m)" in word for word in words) == (3 if side == "iso" else 2)
        for text in scene.range_box._texts:
            if text.GetVisibility():
                x, y = scene.project(text.GetPosition())
                across, up = text.GetDisplayOffset()
                assert 0.0 < x + across < 600.0
                assert 0.0 < y - up < 400.0
        scene.range_box.show_range(())
        scene.render()
        assert scene.range_box.visible_texts == []


def test_numbers_are_in_the_persons_unit_and_clear_of_the_names():
    """In millimetres the numbers are a thousand times as large and as wide as they are, the names stand beside them."""
    with open_offscreen_scene((600, 400)) as scene:
        scene.view = camera.preset_view(camera.CameraView(parallel=True), "top")
        scene.range_box.show_ranges_in_unit(((-1.0, 2.0), (-3.0, 3.0), (0.0, 1.5)), True)
        scene.view = scene.fit()
        scene.render()
        assert {"−2000", "0", "2000", "x (mm)", "y (mm)"} <= set(scene.range_box.visible_texts)
        places = {t.GetInput(): t.GetDisplayOffset() for t in scene.range_box._texts if t.GetVisibility()}
        y_name, y_number = places["y (mm)"], places["−2000"]
        wide = LETTERS * 0.5
        assert abs(y_name[0]) - abs(y_number[0]) > wide * (len("y (mm)") + len("−2000")) / 2.0


def test_a_frame_lies_in_the_picture_that_fits_it():
    with open_offscreen_scene((600, 400)) as scene:
        scene.range_box.show_frame(BOX)
        for side in ("top", "front", "iso"):
            scene.view = camera.preset_view(camera.CameraView(parallel=True), side)
            scene.view = scene.fit()
            assert camera.contains_box(scene.view, (600, 400), BOX)
