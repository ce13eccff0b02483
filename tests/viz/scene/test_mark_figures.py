"""Marks of mobility in a scene: where they stand, how large they are, what they say."""

import numpy as np
import pytest

from core.analysis.mobility_marks import MobilityMark, MobilityMarker
from core.analysis.singular_directions import NEAR_SINGULAR_FRACTION
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES
from viz import camera
from viz.pictures.offscreen import open_offscreen_scene
from viz.scene.mark_figures import WIDTHS, lost_share, mark_texts

SIZE = (500, 400)


@pytest.fixture(scope="module")
def four_bar():
    return Mechanism(load(EXAMPLES / "four_bar.kst"))


def scene_with(scene, mech, refs=()):
    scene.show_model(mech.model)
    scene.move(mech.frame_names, mech.poses(mech.rest()))
    scene.view = scene.fit()
    scene.mobility_marks.show_marks(MobilityMarker(mech).at(mech.rest()).marks, refs)
    scene.prepare_render()
    return scene.mobility_marks


def lost(share):
    return MobilityMark(
        "singular", ("joints", "j"), "j stands still here", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "rotation", share=share
    )


def test_marks_have_the_same_size_on_the_screen_however_near_one_looks(four_bar):
    with open_offscreen_scene(SIZE) as scene:
        figures = scene_with(scene, four_bar)
        widths = []
        for factor in (1.0, 3.0):
            scene.view = camera.zoom(scene.view, factor)
            scene.prepare_render()
            for actor, mark in figures._figures:
                matrix = actor.GetUserMatrix()
                metres = np.linalg.norm([matrix.GetElement(i, 0) for i in range(3)])
                pixels = metres / camera.metres_per_pixel(scene.view, scene.size, mark.place)
                assert pixels == pytest.approx(WIDTHS[mark.kind], rel=1e-6)
                widths.append(metres)
        half = len(widths) // 2
        assert max(widths[half:]) < min(widths[:half])


def test_words_of_marks_never_lie_over_one_another(four_bar):
    with open_offscreen_scene(SIZE) as scene:
        scene.set_display(labels=True)
        figures = scene_with(scene, four_bar, [("joints", "moving_pin_b"), ("bodies", "coupler")])
        taken = figures.fit(scene.view, scene.size, 1.0)
        assert len(taken) >= 5
        for i, (x, y, width) in enumerate(taken):
            assert x >= 0.0
            assert x + width <= SIZE[0]
            for u, v, other in taken[:i]:
                assert abs(y - v) >= 16.9 or x >= u + other or u >= x + width


def test_what_is_being_lost_grows_until_it_is_gone():
    strengths = [lost_share(lost(share)) for share in (1.0, NEAR_SINGULAR_FRACTION, 0.05, 0.01, 0.0)]
    assert strengths == [0.0, 0.0, pytest.approx(0.5), pytest.approx(0.9), 1.0]


def test_the_words_say_how_much_is_left_and_a_pitch_as_the_person_reads_lengths():
    assert mark_texts([lost(0.05)], ()) == [(lost(0.05), "j stands still here, 5 % left")]
    screw = MobilityMark(
        "free", ("bodies", "nut"), "free: nut screws", (0.0,) * 3, (0.0, 0.0, 1.0), "screw", 0.004 / (2.0 * np.pi)
    )
    ((_, text),) = mark_texts([screw], (), lambda value, dimension: f"{1e3 * value:.3g} mm {dimension}")
    assert text == "free: nut screws, 4 mm length per turn"


def test_old_marks_are_faint_and_new_ones_are_not(four_bar):
    with open_offscreen_scene(SIZE) as scene:
        figures = scene_with(scene, four_bar)
        before = [actor.GetProperty().GetOpacity() for actor, _ in figures._figures]
        figures.fade()
        faint = [actor.GetProperty().GetOpacity() for actor, _ in figures._figures]
        assert all(b < 0.5 * a for a, b in zip(before, faint, strict=True))
        figures.show_marks(figures.marks)
        assert [actor.GetProperty().GetOpacity() for actor, _ in figures._figures] == before


def test_both_looks_have_their_colours(four_bar):
    with open_offscreen_scene(SIZE) as scene:
        figures = scene_with(scene, four_bar)
        for look in ("light", "dark"):
            scene.set_colour_scheme(look)
            colours = {mark.kind: actor.GetProperty().GetColor() for actor, mark in figures._figures}
            assert colours["redundant"] == pytest.approx(scene.palette.resolve_colour("redundant"))
            assert colours["free"] == pytest.approx(scene.palette.resolve_colour("accent"))


def test_what_is_pointed_out_is_outlined_also_a_joint_that_is_not_drawn(four_bar):
    with open_offscreen_scene(SIZE) as scene:
        scene_with(scene, four_bar)
        scene.set_display(joints=False)
        scene.outline_referenced(("joints", "crank_pin"))
        assert scene._outlines["dragged"]._actors
        scene.outline_referenced()
        assert not scene._outlines["dragged"]._actors
