"""Results that belong into the scene: poses together, poses one after another, ellipsoids with them."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.functions.results import Ellipsoid, EllipsoidField, PoseSequence, Table


def sequence(bench, display, count=6):
    rest = bench.session.rest
    rows = []
    for k in range(count):
        q = rest.copy()
        q[0] = 0.2 * k
        rows.append(tuple(map(float, q)))
    return PoseSequence(q=tuple(rows), p=({},) * count, display=display, title="Swing")


def shown(bench, name):
    return bench.view.scene.figures.of(("bodies", name))[0].pose


def test_a_composite_shows_all_poses_at_once(bench):
    bench.example("puma560")
    overlays = bench.view.scene.overlays
    bench.session.produced.emit(sequence(bench, "composite"))
    assert bench.window.timeline.isVisible()
    single = sum(item.shown and item.role in ("shape", "link", "joint") for item in overlays.items)
    assert len(overlays.actors) == 6 * single
    bench.window.run("play.close")
    assert len(overlays.actors) == 0
    assert not bench.window.timeline.isVisible()


def test_an_animation_plays_holds_and_steps(bench):
    bench.example("puma560")
    bench.session.produced.emit(sequence(bench, "animate"))
    playback = bench.view.playback
    assert playback.playing
    bench.wait(lambda: playback.index >= 1)
    QTest.keyClick(bench.window, Qt.Key.Key_Space)
    assert not playback.playing
    QTest.keyClick(bench.window, Qt.Key.Key_Home)
    assert playback.index == 0
    poses = bench.session.mech.poses(np.array(sequence(bench, "animate").q[3]))
    for _ in range(3):
        QTest.keyClick(bench.window, Qt.Key.Key_Right)
    assert playback.index == 3
    link = list(bench.session.mech.frame_names).index("link3")
    figure = bench.view.scene.figures.of(("bodies", "link3"))[0]
    from viz.placement import matrix

    assert np.allclose(figure.pose, poses[link] @ matrix(figure.item.placement))
    QTest.keyClick(bench.window, Qt.Key.Key_End)
    assert playback.index == 5
    QTest.keyClick(bench.window, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert playback.index == 0
    rest = bench.session.mech.poses(bench.session.q)
    bench.window.run("play.close")
    assert np.allclose(figure.pose, rest[link] @ matrix(figure.item.placement))
    assert bench.session.undo_label == ""


def test_ellipsoids_go_along(bench):
    bench.example("puma560")
    poses = sequence(bench, "animate", 3)
    balls = tuple(
        Ellipsoid((0.1 * k, 0.0, 0.5), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.3, 0.2, 0.1))
        for k in range(3)
    )
    field = EllipsoidField(kind="force", part="translation", frame="tool", dimension=3, ellipsoids=balls,
                           measures=Table(columns=(), rows=()), poses=poses)  # fmt: skip
    bench.session.produced.emit(field)
    bench.window.run("play.last")
    centre, _, radii, kind = bench.view._ellipsoids["result"][0]
    assert centre == pytest.approx((0.2, 0.0, 0.5))
    assert tuple(radii) == pytest.approx((0.3, 0.2, 0.1))
    assert kind == "force"


def test_moving_a_joint_holds_the_animation(bench):
    bench.example("puma560")
    bench.session.produced.emit(sequence(bench, "animate", 40))
    bench.session.preview_coordinates({"joint2": 0.4})
    assert not bench.view.playback.playing
    bench.session.commit("Move")
