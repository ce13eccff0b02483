"""Results that belong into the scene: poses together, poses one after another, ellipsoids with them."""

import itertools

import av
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.functions import call
from core.functions.context import Context
from core.functions.results import Ellipsoid, EllipsoidField, PoseSequence, Report, Table


def sequence(bench, display, count=6):
    rest = bench.session.reference_configuration
    rows = []
    for k in range(count):
        q = rest.copy()
        q[0] = 0.2 * k
        rows.append(tuple(map(float, q)))
    return PoseSequence(q=tuple(rows), p=({},) * count, display=display, title="Swing")


def shown(bench, name):
    return bench.view.scene.figures.find_figures(("bodies", name))[0].pose


def test_a_composite_shows_all_poses_at_once(bench):
    bench.example("puma560")
    overlays = bench.view.scene.overlays
    bench.session.produced.emit(sequence(bench, "composite"))
    assert bench.window.timeline.isVisible()
    single = sum(item.shown and item.role in ("shape", "link", "joint") for item in overlays.items)
    assert len(overlays.visible_actors) == 6 * single
    bench.window.run_command("play.close")
    assert len(overlays.visible_actors) == 0
    assert not bench.window.timeline.isVisible()


def test_of_assembly_branches_one_is_stepped_to_and_chosen(bench):
    """All ways stand in the scene; the arrow keys take the machine through them, one command keeps the one shown."""
    bench.example("four_bar")
    session, playback = bench.session, bench.window.sequence
    on_body = np.linalg.inv(session.mech.frame(session.q, "rocker")) @ shown(bench, "rocker")
    result = call("assembly_branches", Context(session.model, session.mech, session.q, dict(session.p)))
    session.produced.emit(result)
    assert playback.can_step
    ghosts = len(bench.view.scene.overlays.visible_actors)
    assert ghosts > 0
    bench.view.setFocus()
    QTest.keyClick(bench.window, Qt.Key.Key_Right)
    assert playback.index == 1
    assert len(bench.view.scene.overlays.visible_actors) == ghosts
    q = playback.shown_pose
    np.testing.assert_allclose(shown(bench, "rocker"), session.mech.frame(q, "rocker") @ on_body, atol=1e-9)
    bench.window.run_command("play.use_pose")
    assert not playback.is_open
    np.testing.assert_allclose(session.q, q)
    assert np.linalg.norm(session.mech.constraint_residual(session.q)) < 1e-9
    session.undo()
    np.testing.assert_allclose(session.q, session.reference_configuration)


def test_of_several_sequences_the_scene_shows_the_one_that_is_asked_for(bench):
    bench.example("puma560")
    first, second = sequence(bench, "animate", 4), sequence(bench, "animate", 7)
    both = Report(title="Modes", parts=(first, second))
    bench.session.produced.emit(both)
    assert len(bench.window.sequence.poses.q) == 4
    bench.session.shown_again.emit(both, second)
    assert len(bench.window.sequence.poses.q) == 7
    assert len(bench.window.output.cards) == 1


def test_an_animation_plays_holds_and_steps(bench):
    bench.example("puma560")
    bench.session.produced.emit(sequence(bench, "animate"))
    playback = bench.window.sequence
    assert bench.window.player.is_playing
    bench.wait(lambda: playback.index >= 1)
    QTest.keyClick(bench.window, Qt.Key.Key_Space)
    assert not bench.window.player.is_playing
    QTest.keyClick(bench.window, Qt.Key.Key_Home)
    assert playback.index == 0
    poses = bench.session.mech.poses(np.array(sequence(bench, "animate").q[3]))
    for _ in range(3):
        QTest.keyClick(bench.window, Qt.Key.Key_Right)
    assert playback.index == 3
    link = list(bench.session.mech.frame_names).index("link3")
    figure = bench.view.scene.figures.find_figures(("bodies", "link3"))[0]
    from viz.placement import to_matrix

    assert np.allclose(figure.pose, poses[link] @ to_matrix(figure.item.placement))
    QTest.keyClick(bench.window, Qt.Key.Key_End)
    assert playback.index == 5
    QTest.keyClick(bench.window, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert playback.index == 0
    rest = bench.session.mech.poses(bench.session.q)
    bench.window.run_command("play.close")
    assert np.allclose(figure.pose, rest[link] @ to_matrix(figure.item.placement))
    assert bench.session.undo_label == ""


def test_ellipsoids_go_along(bench):
    bench.example("puma560")
    poses = sequence(bench, "animate", 3)
    balls = tuple(
        Ellipsoid((0.1 * k, 0.0, 0.5), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.3, 0.2, 0.1))
        for k in range(3)
    )
    field = EllipsoidField(
        kind="force",
        part="translation",
        frame="tool",
        dimension=3,
        ellipsoids=balls,
        measures=Table(columns=(), rows=()),
        poses=poses,
    )
    bench.session.produced.emit(field)
    bench.window.run_command("play.last")
    centre, _, radii, kind = bench.view._ellipsoids["result"][0]
    assert centre == pytest.approx((0.2, 0.0, 0.5))
    assert tuple(radii) == pytest.approx((0.3, 0.2, 0.1))
    assert kind == "force"


def test_moving_a_joint_holds_the_animation(bench):
    bench.example("puma560")
    bench.session.produced.emit(sequence(bench, "animate", 40))
    bench.session.preview_coordinates({"joint2": 0.4})
    assert not bench.window.player.is_playing
    bench.session.commit("Move")


def test_a_sequence_is_filmed_from_the_window_with_exact_times(bench, tmp_path):
    bench.example("puma560")
    assert not bench.window.actions_.by_id["file.export_film"].isEnabled()
    bench.session.produced.emit(sequence(bench, "animate", 5))
    bench.window.player.pause()
    bench.window.run_command("file.export_film")
    dialog = bench.window.dialogs.film_dialog
    assert "Swing" in dialog.windowTitle()
    last = 5 * 0.5
    assert (dialog.from_.value(), dialog.to.value()) == pytest.approx((0.0, last))
    path = tmp_path / "swing.mp4"
    dialog.file.setText(str(path))
    dialog.size.setCurrentIndex(dialog.size.count() - 1)
    dialog.width_.setValue(160)
    dialog.height_.setValue(90)
    dialog.fps.setCurrentText("10")
    dialog.speed.setValue(1.0)
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    bench.wait(lambda: bench.window.films.running_job is None, 60.0)
    dialog.close()
    with av.open(str(path)) as file:
        frames = [(float(f.time), f.to_ndarray(format="rgb24").astype(int)) for f in file.decode(video=0)]
    assert [t for t, _ in frames] == pytest.approx([k / 10 for k in range(round(10 * last) + 1)], abs=1e-9)
    steps = [np.abs(b - a).max() for (_, a), (_, b) in itertools.pairwise(frames)]
    moved = [k for k, step in enumerate(steps) if step > 60]
    assert moved == [4, 9, 14, 19]  # each pose is shown for half a second
