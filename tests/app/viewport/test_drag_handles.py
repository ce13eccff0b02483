"""Every handle of every joint kind, dragged with real mouse events; the motion is compared with the geometry of the
drag: from one point of the drawn ring (or arrow) to another."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from scipy.spatial.transform import Rotation

from app.document.session import ElementRef
from viz import camera
from viz.drawlist.joint_handles import EDGE_ON

PARTS = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "screw": 1,
    "cylindrical": 2,
    "universal": 2,
    "planar": 3,
    "spherical": 3,
    "free": 6,
}
"""How many rings and arrows each kind has."""
TURN, SLIDE = 0.5, 0.03
"""Amount dragged, rad and m."""


def joint_of_kind(bench, kind):
    return next(joint for joint in bench.session.model.expanded.joints if joint.kind == kind)


def aim(bench, part):
    """Look at a handle so that its ring is a wide ellipse, or its arrow lies across the picture."""
    view = bench.view
    spot = view.scene.handles.part_position(part)
    across = np.cross(spot.axis, [0.31, 0.52, 0.79])
    across /= np.linalg.norm(across)
    direction = 0.9 * spot.axis + 0.44 * across if part.kind == "turn" else across
    if direction[2] < -0.5:
        direction = -direction
    wanted = camera.look_from(view.scene.view, direction)
    target = tuple(float(x) for x in spot.centre)
    view.viewpoint.set_view(camera.CameraView(target, 0.9, wanted.azimuth, wanted.elevation))
    bench.draw()


def pixel(bench, point):
    """Widget coordinates of a point."""
    x, y = bench.view.scene.project(point)
    ratio = bench.view.devicePixelRatioF()
    return x / ratio, y / ratio


def ring_point(grip, angle):
    u = np.cross(grip.axis, [0.3, -0.4, 0.87])
    u /= np.linalg.norm(u)
    return grip.centre + grip.radius * (np.cos(angle) * u + np.sin(angle) * np.cross(grip.axis, u))


def way(bench, part):
    """Pixels from a place where just this part is grabbed, along a known amount."""
    handles = bench.view.scene.handles
    grip = handles.create_grip(part)
    amount = TURN if part.kind == "turn" else SLIDE
    if part.kind == "turn":
        starts = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        track = [[ring_point(grip, s + amount * t) for t in np.linspace(0.0, 1.0, 4)] for s in starts]
    else:
        track = [
            [grip.centre + grip.axis * (grip.radius * s + amount * t) for t in np.linspace(0.0, 1.0, 4)]
            for s in (1.0, 1.2, 0.8, 0.5)
        ]
    for points in track:
        pixels = [pixel(bench, point) for point in points]
        pointer = bench.view.to_pointer(_at(pixels[0]))
        inside = all(8 < x < bench.view.width() - 60 and 8 < y < bench.view.height() - 8 for x, y in pixels)
        if inside and bench.view.handles.handle_under(pointer) == part:
            return pixels, amount
    raise AssertionError(f"no place to grab {part}")


def _at(pixel):
    from PySide6.QtCore import QPointF

    return QPointF(round(pixel[0]), round(pixel[1]))


@pytest.mark.parametrize("kind", PARTS)
def test_each_handle_moves_its_joint_by_what_was_dragged(bench, kind):
    bench.example("joint_kinds")
    session, handles = bench.session, bench.view.scene.handles
    joint = joint_of_kind(bench, kind)

    session.select(ElementRef("joints", joint.name))
    bench.draw()
    assert handles.shown_joints == (joint.name,)
    assert len(handles.visible_parts) == PARTS[kind]
    for part in handles.visible_parts:
        before, state = session.q.copy(), session.state
        aim(bench, part)
        axis = handles.part_position(part).axis.copy()
        pixels, amount = way(bench, part)
        X0 = {k: v[1].copy() for k, v in session.mech.joint_poses(session.q).items()}[joint.name]
        bench.move(*pixels[0])
        assert handles.hovered == part
        bench.press(*pixels[0])
        for point in pixels[1:]:
            bench.move(*point)
        assert session.has_preview
        assert handles.dragged == part
        bench.release(*pixels[-1])
        assert not session.has_preview
        assert session.state.pose != state.pose
        X1 = session.mech.joint_poses(session.q)[joint.name][1]
        if part.kind == "turn":
            turned = Rotation.from_matrix(X1[:3, :3] @ X0[:3, :3].T).as_rotvec() @ axis
            assert turned == pytest.approx(amount, abs=0.05)
        else:
            assert (X1[:3, 3] - X0[:3, 3]) @ axis == pytest.approx(amount, abs=0.003)
        others = np.delete(session.q - before, np.r_[session.mech.joint_q(joint.name)])
        assert np.abs(others).max(initial=0.0) == 0.0
        session.undo()
        assert np.array_equal(session.q, before)
        assert session.model is state.model
        assert session.state.pose == state.pose


def grab(bench, example, joint):

    bench.example(example)
    bench.session.select(ElementRef("joints", joint))
    bench.draw()
    part = bench.view.scene.handles.visible_parts[0]
    aim(bench, part)
    return part, way(bench, part)[0]


def test_escape_during_a_drag_restores_the_pose(bench):
    _, pixels = grab(bench, "puma560", "joint1")
    before = bench.session.q.copy()
    bench.press(*pixels[0])
    bench.move(*pixels[-1])
    assert not np.array_equal(bench.session.q, before)
    QTest.keyClick(bench.window, Qt.Key.Key_Escape)
    assert np.array_equal(bench.session.q, before)
    assert bench.session.undo_label == ""
    bench.release(*pixels[-1])
    assert np.array_equal(bench.session.q, before)
    assert bench.session.undo_label == ""


def test_ctrl_snaps_to_five_degrees(bench):
    _, pixels = grab(bench, "puma560", "joint1")
    ctrl = Qt.KeyboardModifier.ControlModifier
    bench.press(*pixels[0])
    for point in pixels[1:]:
        bench.move(*point, keys=ctrl)
    value = bench.session.q[0]
    bench.release(*pixels[-1], keys=ctrl)
    steps = np.degrees(value) / 5.0
    assert abs(steps) >= 1.0
    assert steps == pytest.approx(round(steps), abs=1e-9)


def test_a_limit_holds_and_is_shown(bench):
    part, _ = grab(bench, "puma560", "joint1")
    session, view = bench.session, bench.view
    grip = view.scene.handles.create_grip(part)
    angles = np.linspace(0.0, 4.6, 16)
    start = next(
        s
        for s in np.linspace(0, 6.2, 40)
        if view.handles.handle_under(view.to_pointer(_at(pixel(bench, ring_point(grip, s))))) == part
    )
    bench.press(*pixel(bench, ring_point(grip, start)))
    for angle in angles:
        bench.move(*pixel(bench, ring_point(grip, start + angle)))
    upper = session.mech.coordinates[0].upper
    assert session.q[0] == pytest.approx(upper, abs=1e-12)
    assert view.scene.handles.state == "limit"
    bench.release(*pixel(bench, ring_point(grip, start + angles[-1])))
    assert session.q[0] == pytest.approx(upper, abs=1e-12)


def test_a_dragged_four_bar_stays_closed(bench):

    bench.example("four_bar")
    session = bench.session
    loop = session.mech.loops[0]
    crank = session.mech.coordinates[0].joint
    session.select(ElementRef("joints", crank))
    bench.draw()
    part = bench.view.scene.handles.visible_parts[0]
    aim(bench, part)
    pixels, amount = way(bench, part)
    before = session.q.copy()
    bench.press(*pixels[0])
    for point in pixels[1:]:
        bench.move(*point)
        X_WA, X_WB = session.mech.joint_poses(session.q)[loop.cut]
        assert np.linalg.norm(X_WA[:3, 3] - X_WB[:3, 3]) < 1e-8
    bench.release(*pixels[-1])
    assert session.q[0] - before[0] == pytest.approx(amount, abs=0.05)


def test_a_ring_seen_from_its_edge_still_turns(bench):
    part, _ = grab(bench, "puma560", "joint1")
    view, session = bench.view, bench.session
    spot = view.scene.handles.part_position(part)
    side = camera.look_from(view.scene.view, np.cross(spot.axis, [0.0, 1.0, 0.2]))
    view.viewpoint.set_view(camera.CameraView(tuple(float(x) for x in spot.centre), 0.9, side.azimuth, 0.0))
    bench.draw()
    ray = view.scene.ray(*view.scene.project(spot.centre))
    assert abs(ray.direction @ spot.axis) < EDGE_ON
    x, y = pixel(bench, spot.centre + 0.02 * np.cross(spot.axis, ray.direction))
    before = session.q.copy()
    bench.drag([(x, y), (x + 15, y), (x + 30, y)])
    assert abs(session.q[0] - before[0]) > 0.2


def test_a_body_that_nothing_holds_is_taken_by_its_handles(bench):
    from core.model.edits import edits

    session, view = bench.session, bench.view
    session.apply("Add body", lambda model: edits.free_body(model)[0], select=ElementRef("bodies", "body"))
    bench.draw()
    assert len(view.scene.handles.visible_parts) == 6
    for part in (p for p in view.scene.handles.visible_parts if p.speed in (0, 4)):
        before = np.array(session.mech.frame(session.q, "body"))
        aim(bench, part)
        axis = view.scene.handles.part_position(part).axis.copy()
        pixels, amount = way(bench, part)
        bench.drag(pixels)
        after = np.array(session.mech.frame(session.q, "body"))
        if part.kind == "slide":
            assert (after - before)[:3, 3] @ axis == pytest.approx(amount, abs=0.003)
        else:
            turned = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec()
            assert turned @ axis == pytest.approx(amount, abs=0.05)
        assert session.selection == ElementRef("bodies", "body")


def test_values_beside_handles_have_no_letter_that_the_scene_lacks(bench):
    bench.example("slider_crank")
    bench.session.select(ElementRef("joints", "cylinder"))
    bench.view.scene.handles.show_value(bench.view.settings.format_value(0.25, "length") + "  limit")
    assert bench.view.scene.handles._text.GetInput() == "0.2500 m  limit"


def test_a_piston_is_taken_along_its_cylinder_not_by_the_joint_that_closes_the_loop(bench):
    """Wrist and cylinder both carry a piston of the V6; the wrist closes the loop and has no coordinate to drag."""
    bench.example("engine_v6")
    session, handles = bench.session, bench.view.scene.handles
    session.preview_coordinates({"shaft": 0.5})  # off the dead point, at which no handle moves it
    session.commit("Turn")
    closing = {loop.cut for loop in session.mech.loops}
    carrying = [joint for joint in session.model.expanded.joints if joint.child == "piston1"]
    assert len(carrying) == 2
    taken = [joint.name for joint in carrying if joint.name not in closing]
    assert len(taken) == 1
    session.select(ElementRef("bodies", "piston1"))
    assert handles.shown_joints == tuple(taken)
    for joint in closing:
        session.select(ElementRef("joints", joint))
        assert handles.shown_joints == ()
    session.select(ElementRef("joints", taken[0]))
    bench.draw()
    for part in handles.visible_parts:
        assert bench.view.handles.highlight_handle(part)
        assert taken[0] in handles._text.GetInput()
    bench.view.settings.set_view_flag("handles", True)
    assert handles.shown_joints
    assert not closing & set(handles.shown_joints)
    bench.view.settings.set_view_flag("handles", False)
