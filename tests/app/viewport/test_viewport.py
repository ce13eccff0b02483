"""Looking around with the mouse: orbit, pan, zoom, select, centre, menu; what floats over the picture."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton

from app.document.session import ElementRef
from viz.camera import contains_box
from viz.scene.cube import SIDE


def wheel(bench, x, y, notches=0, pixels=(0, 0), keys=Qt.KeyboardModifier.NoModifier):
    place = QPointF(x, y)
    event = QWheelEvent(
        place,
        QPointF(bench.view.mapToGlobal(place.toPoint())),
        QPoint(*pixels),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(bench.view, event)


def place_of(bench, name):
    """Widget pixel where a body is really seen: near the projection of its origin."""
    session = bench.session
    X = np.asarray(session.mech.frame(session.q, name))
    x0, y0 = bench.view.scene.project(X[:3, 3])
    ratio = bench.view.devicePixelRatioF()
    for radius in range(0, 90, 3):
        for angle in np.linspace(0.0, 6.28, 12):
            x, y = x0 + radius * np.cos(angle), y0 + radius * np.sin(angle)
            x, y = round(x / ratio), round(y / ratio)
            hit = bench.view.scene.pick(x * ratio, y * ratio)
            if hit is not None and hit.ref == ("bodies", name):
                return x, y
    scene, seen = bench.view.scene, bench.view.scene.pick(x0, y0)
    raise AssertionError(f"{name} is not seen at {x0:.0f}, {y0:.0f}, but {seen}: {scene.view}, {scene.size}")


def test_the_machine_is_drawn(drawn, bench):
    bench.example("puma560")
    image = bench.view.grab_picture()
    colours = {image.pixelColor(x, y).rgb() for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}
    assert len(colours) > 200
    x, y = place_of(bench, "link1")
    ratio = bench.view.devicePixelRatioF()
    background = image.pixelColor(3, round(y * ratio))
    assert image.pixelColor(round(x * ratio), round(y * ratio)) != background


def jagged(view):
    """How many stairs there are: hard steps between neighbouring pixels that the next row has at another place."""
    image = view.grab_picture().convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())[:, : image.width()]
    hard = np.abs(np.diff(rows.astype(int), axis=1)) > 60
    return int((hard[:-1] & ~hard[1:]).sum())


def test_edges_are_smooth_once_the_scene_rests(smoothed, bench):
    """Also where nothing lies in front of the machine."""
    bench.example("puma560")
    scene = bench.view.scene
    assert scene.handles.shown_joints == ()
    if scene.quality != "plain":
        pytest.skip("graphics hardware smooths every picture")
    bench.view.repaint()
    in_haste = jagged(bench.view)
    assert scene.hasty
    bench.wait(lambda: bench.view._resting and not scene.hasty)
    assert jagged(bench.view) < 0.75 * in_haste


def test_a_left_drag_orbits_and_keeps_the_centre(bench):
    bench.example("puma560")
    before = bench.view.scene.view
    bench.drag([(40, 400), (80, 400), (140, 430)])
    after = bench.view.scene.view
    assert after.target == before.target
    assert after.distance == before.distance
    assert after.azimuth != before.azimuth
    assert after.elevation > before.elevation
    assert bench.session.undo_label == ""


@pytest.mark.parametrize("how", ["middle", "shift"])
def test_panning_keeps_the_point_under_the_pointer(bench, how):
    bench.example("puma560")
    view = bench.view
    target = np.array(view.scene.view.target)
    x, y = view.scene.project(target)
    if how == "middle":
        bench.drag([(40, 400), (70, 380), (100, 360)], button=Qt.MouseButton.MiddleButton)
    else:
        bench.drag([(40, 400), (70, 380), (100, 360)], keys=Qt.KeyboardModifier.ShiftModifier)
    ratio = view.devicePixelRatioF()
    assert np.array(view.scene.project(target)) == pytest.approx((x + 60 * ratio, y - 40 * ratio), abs=1.0)


def test_the_wheel_zooms_to_the_pointer(bench):
    bench.example("puma560")
    view = bench.view
    x, y = place_of(bench, "link1")
    pointer = view.to_pointer(QPointF(x, y))
    point = view.point_under(pointer)
    before = view.scene.view.distance
    wheel(bench, x, y, notches=3)
    assert view.scene.view.distance < 0.7 * before
    assert np.array(view.scene.project(point)) == pytest.approx((pointer.x, pointer.y), abs=0.5)
    wheel(bench, x, y, notches=-3)
    assert view.scene.view.distance == pytest.approx(before)


def test_two_fingers_pan_and_pinch_keys_zoom_and_orbit(bench):
    bench.example("puma560")
    view = bench.view
    before = view.scene.view
    wheel(bench, 300, 300, pixels=(20, 0))
    assert view.scene.view.target != before.target
    assert view.scene.view.distance == before.distance
    wheel(bench, 300, 300, pixels=(0, 20), keys=Qt.KeyboardModifier.ControlModifier)
    assert view.scene.view.distance < before.distance
    wheel(bench, 300, 300, pixels=(20, 0), keys=Qt.KeyboardModifier.ShiftModifier)
    assert view.scene.view.azimuth != before.azimuth


def test_a_click_selects_and_a_click_beside_unselects(bench):
    bench.example("puma560")
    x, y = place_of(bench, "link2")
    bench.click(x, y)
    assert bench.session.selection == ElementRef("bodies", "link2")
    assert bench.view.scene.handles.shown_joints == ("joint2",)
    bench.click(5, 5)
    assert bench.session.selection is None


def test_hover_lights_up_and_then_brings_the_handle(bench):
    bench.example("puma560")
    bench.move(*place_of(bench, "link3"))
    assert bench.session.hover == ElementRef("bodies", "link3")
    bench.wait(lambda: bench.view.scene.handles.shown_joints == ("joint3",))
    bench.move(5, 5)
    assert bench.session.hover is None


def test_a_double_click_sets_the_centre(bench):
    from PySide6.QtTest import QTest

    bench.example("puma560")
    x, y = place_of(bench, "link1")
    point = bench.view.scene.pick(x * bench.view.devicePixelRatioF(), y * bench.view.devicePixelRatioF()).position
    QTest.mouseDClick(bench.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(x, y))
    bench.wait(lambda: np.allclose(bench.view.scene.view.target, point, atol=1e-9))


def test_a_right_click_offers_what_can_be_done(bench):
    bench.example("puma560")
    bench.click(*place_of(bench, "link1"), button=Qt.MouseButton.RightButton)
    menus = [menu for menu in bench.window.findChildren(QMenu) if menu.isVisible()]
    assert len(menus) == 1
    titles = [action.text() for action in menus[0].actions()]
    assert "Frame selection" in titles
    assert bench.session.selection == ElementRef("bodies", "link1")
    menus[0].close()


def test_the_cube_looks_from_a_side(bench):
    bench.example("puma560")
    cube, ratio = bench.view.scene.cube, bench.view.devicePixelRatioF()
    places = [(x, y) for x in range(bench.view.width() - 120, bench.view.width() - 6, 3) for y in range(6, 120, 3)]
    x, y = next((x, y) for x, y in places if cube.pick(x * ratio, y * ratio) == (0, 0, 1))
    bench.click(x, y)
    bench.wait(lambda: bench.view.scene.view.elevation == pytest.approx(np.pi / 2))


def test_coordinates_under_the_pointer_follow_the_unit(bench):
    bench.example("puma560")
    x, y = place_of(bench, "link1")
    bench.move(x, y)
    ratio = bench.view.devicePixelRatioF()
    point = bench.view.scene.pick(x * ratio, y * ratio).position
    assert f"{point[2]:.4f}".replace("-", "−") in bench.window.status.place.text()
    bench.window.settings.millimetres = True
    assert f"{1000 * point[2]:.1f}" in bench.window.status.place.text()
    assert "mm" in bench.window.status.place.text()


def test_the_move_tool_pulls_a_body_to_the_pointer(bench):
    bench.example("puma560")
    bench.window.run_command("tool.move")
    session, view, ratio = bench.session, bench.view, bench.view.devicePixelRatioF()
    x, y = place_of(bench, "link4")
    hit = view.scene.pick(x * ratio, y * ratio)
    X0 = np.asarray(session.mech.frame(session.q, "link4"))
    local = X0[:3, :3].T @ (hit.position - X0[:3, 3])
    bench.press(x, y)
    for i in range(1, 9):
        bench.move(x - 4 * i, y + 3 * i)
    X1 = np.asarray(session.mech.frame(session.q, "link4"))
    seen = np.array(view.scene.project(X1[:3, 3] + X1[:3, :3] @ local)) / ratio
    assert seen == pytest.approx((x - 32, y + 24), abs=1.5)
    bench.release(x - 32, y + 24)
    assert session.undo_label == "Pull link4"
    clamped = session.mech.clamp(session.q)
    assert np.array_equal(clamped, session.q)
    session.undo()
    assert np.array_equal(session.q, session.reference_configuration)


def test_measuring_two_origins_gives_their_distance(bench):
    bench.example("scara")
    bench.window.run_command("view.top")
    bench.wait(lambda: bench.view.scene.view.elevation == pytest.approx(np.pi / 2))
    bench.window.run_command("tool.measure")
    session, ratio = bench.session, bench.view.devicePixelRatioF()
    poses = session.mech.joint_poses(session.q)
    names = list(poses)
    start, end = poses[names[0]][0][:3, 3], poses[names[1]][0][:3, 3]
    for point in (start, end):
        x, y = bench.view.scene.project(point)
        bench.click(x / ratio, y / ratio)
    points = np.array(bench.view.annotations.points)
    measured = np.linalg.norm((points[1] - points[0])[:2])
    assert measured == pytest.approx(np.linalg.norm((end - start)[:2]), abs=1e-9)
    assert bench.messages("hint")[-1].startswith("Distance ")
    bench.window.run_command("edit.cancel")
    assert bench.view.annotations.points == ()
    assert bench.view.gestures.tool.id == "select"


def test_the_ellipsoid_follows_the_movement(bench):
    from core.analysis.manipulability import manipulability
    from core.analysis.tool_frame import tool_frame

    bench.example("puma560")
    bench.window.run_command("view.ellipsoid")
    session = bench.session
    shown = lambda: bench.view._ellipsoids["live"][0]  # noqa: E731
    before = shown()
    session.preview_coordinates({"joint2": 0.3, "joint3": -1.0})
    centre, _axes, radii, kind = shown()
    now = manipulability(session.mech, session.q, tool_frame(session.model))
    assert kind == "velocity"
    assert np.allclose(centre, now.center)
    assert np.allclose(radii / radii[0], now.radii / now.radii[0])
    assert not np.allclose(centre, before[0])
    session.cancel_preview()
    assert np.allclose(shown()[0], before[0])
    bench.window.run_command("view.ellipsoid_force")
    assert shown()[3] == "force"
    bench.window.run_command("view.ellipsoid")
    assert bench.view._ellipsoids["live"] == []


def test_a_picture_is_twice_as_fine_and_without_handles(bench):
    bench.example("puma560")
    bench.session.select(ElementRef("joints", "joint1"))
    picture = bench.view.grab_image(2)
    width, height = bench.view.scene.size
    assert (picture.width(), picture.height()) == (2 * width, 2 * height)
    colours = {
        picture.pixelColor(x, y).rgb() for x in range(0, picture.width(), 11) for y in range(0, picture.height(), 11)
    }
    assert len(colours) > 200
    assert bench.view.scene.handles.shown_joints == ("joint1",)


def test_what_is_added_out_of_sight_comes_into_the_picture(bench):
    """A chain that grows link by link stays in view."""
    from app.commands import command_table

    def seen(name):
        corners = bench.view.scene.bounds(ElementRef("bodies", name)).reshape(3, 2).T
        width, height = bench.view.scene.size
        pixels = [bench.view.scene.project(corner) for corner in corners]
        return all(0 <= x <= width and 0 <= y <= height for x, y in pixels)

    for number in (1, 2, 3, 4):
        command_table()["add.link"].run(bench.window)
        bench.wait(lambda number=number: seen(f"link{number}"))


@pytest.mark.parametrize("height", [720, 420, 330, 280, 200])
def test_buttons_and_the_cube_leave_each_other_alone_however_low_the_view_is(bench, height):
    view = bench.view
    before = view.size()
    view.resize(before.width(), height)
    ratio = view.devicePixelRatioF()
    view.scene.cube.fit(view.scene.view, (round(view.width() * ratio), round(height * ratio)), ratio, True)
    corner = QRect(view.width() - SIDE - 6, 6, SIDE, SIDE)
    buttons = view.overlay.geometry()
    assert view.rect().contains(buttons)
    assert not (view.scene.cube.visible and buttons.intersects(corner))
    seen = [button for button in view.overlay.findChildren(QToolButton) if button.isVisible()]
    assert all(view.overlay.rect().contains(button.geometry()) for button in seen)
    assert len(seen) >= (17 if height == 720 or not view.scene.cube.visible else 13)  # the cube has four of them
    view.resize(before)


def test_the_ground_is_as_wide_as_the_pose_that_is_opened(bench):
    bench.example("point_gravity")
    data = bench.view.scene.surroundings._grid.GetMapper().GetInput()
    reach = max(np.linalg.norm(pose[:2, 3]) for pose in bench.view.scene._poses.values())
    assert data.GetBounds()[1] > 2 * reach


def test_a_picture_drawn_while_a_file_opens_is_not_what_the_view_is_fitted_to(bench):
    view = bench.view
    bench.session.changed.connect(draw := lambda *_: view.grab_picture())
    try:
        bench.example("point_gravity")
    finally:
        bench.session.changed.disconnect(draw)
    assert contains_box(view.scene.view, view.scene.size, view.scene.bounds())
