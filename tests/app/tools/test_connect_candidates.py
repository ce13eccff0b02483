"""What Connect offers under the pointer: holes, cylinders, faces, edges, corners, joints; Tab goes through them."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.tools.connect import connection_in_progress
from core.model import Body, Box, Cylinder, Inertia, Joint, Model, Pipe, Pose
from core.model.edits import edits

SOLID = {"mass": 1.0, "inertia": Inertia(ixx=0.01, iyy=0.01, izz=0.01)}


def free(name, *place):
    """The joint of a free body at a place, turned by a little."""
    return Joint(name=f"free_{name}", kind="free", parent="world", child=name, rest=(*place, 0, 0, 0, 1))


def machine(*shapes):
    """A free body for each shape, side by side along x."""
    names = [f"part{k}" for k in range(len(shapes))]
    bodies = tuple(Body(name=name, shapes=(shape,), **SOLID) for name, shape in zip(names, shapes, strict=True))
    return Model(bodies=bodies, joints=tuple(free(name, 0.5 * k, 0.0, 0.3) for k, name in enumerate(names)))


def begin(bench, model, view="iso"):
    bench.session.start_document(model)
    bench.view.viewpoint.look_from(view)
    bench.view.viewpoint.set_parallel(True)
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    press(bench, Qt.Key.Key_C)
    bench.wait(lambda: bench.view.gestures.tool.id == "connect")


def press(bench, key):
    QTest.keyClick(bench.view, key)


def seen(bench, body, *place):
    """The pixel at which a place of a body is seen, as Qt counts."""
    X = bench.session.mech.frame(bench.session.q, body)
    ratio = bench.view.devicePixelRatioF()
    x, y = bench.view.scene.project((X @ np.array([*place, 1.0]))[:3])
    return x / ratio, y / ratio


def meant(bench, body):
    """The place on a body that is meant now, in its axes."""
    X = bench.session.mech.frame(bench.session.q, body)
    return (np.linalg.inv(X) @ np.array([*bench.view.annotations.points[-1], 1.0]))[:3]


def axis(bench):
    """The direction of the axis that is drawn at the pointer."""
    drawn = [each for each in bench.view.annotations.lines if each.text]
    way = np.subtract(drawn[-1].end, drawn[-1].start)
    return way / np.linalg.norm(way), drawn[-1].text


def test_a_letter_first_says_which_joint_and_no_menu_asks_for_it(bench):
    begin(bench, machine(Box(), Box()))
    press(bench, Qt.Key.Key_S)
    assert connection_in_progress(bench.view).connection.joint == "spherical"
    bench.click(*seen(bench, "part0", 0, 0, 0.05))
    bench.click(*seen(bench, "part1", 0, 0, 0.05))
    bench.wait(lambda: connection_in_progress(bench.view).bar is not None)
    assert connection_in_progress(bench.view).menu is None
    QTest.keyClick(connection_in_progress(bench.view).bar.menu, Qt.Key.Key_Return)
    bench.wait(lambda: bench.view.gestures.tool.id == "select")
    assert bench.session.model.joints[-1].kind == "spherical"


def test_the_joint_is_drawn_before_the_click_as_its_kind_moves(bench):
    begin(bench, machine(Box()))
    bench.move(*seen(bench, "part0", 0.01, 0.02, 0.05))
    assert len(bench.view.annotations.lines) == 1  # an axis: the kind is not known yet
    counts = {}
    for key, kind in ((Qt.Key.Key_R, "revolute"), (Qt.Key.Key_S, "spherical"), (Qt.Key.Key_P, "prismatic")):
        press(bench, key)
        counts[kind] = len(bench.view.annotations.lines)
    assert counts["spherical"] == 3 * (counts["revolute"] - 1) + 1
    assert counts["prismatic"] == 1 + 2 * 2  # two arrowheads


def test_the_letters_are_those_of_connect_only(bench):
    begin(bench, machine(Box()))
    press(bench, Qt.Key.Key_W)
    assert connection_in_progress(bench.view).connection.joint == "fixed"
    press(bench, Qt.Key.Key_Escape)
    bench.wait(lambda: bench.view.gestures.tool.id == "select")
    press(bench, Qt.Key.Key_W)
    bench.wait(lambda: bench.view.gestures.tool.id == "move")


def test_tab_goes_through_what_is_under_the_pointer_and_back_to_the_first(bench):
    begin(bench, machine(Box(size=(0.4, 0.4, 0.4))))
    pixel = seen(bench, "part0", 0.07, 0.09, 0.2)
    bench.move(*pixel)
    np.testing.assert_allclose(meant(bench, "part0"), (0.07, 0.09, 0.2), atol=2e-3)
    press(bench, Qt.Key.Key_Tab)
    np.testing.assert_allclose(meant(bench, "part0"), (0.0, 0.0, 0.2), atol=1e-6)
    assert axis(bench)[1] == "face"
    for _ in range(connection_in_progress(bench.view).several - 1):
        press(bench, Qt.Key.Key_Tab)
    np.testing.assert_allclose(meant(bench, "part0"), (0.07, 0.09, 0.2), atol=2e-3)
    press(bench, Qt.Key.Key_Tab)
    bench.click(*pixel)
    np.testing.assert_allclose(connection_in_progress(bench.view).picks[0].place, (0.0, 0.0, 0.5), atol=1e-6)


def test_elsewhere_the_likeliest_is_meant_again(bench):
    begin(bench, machine(Box(size=(0.4, 0.4, 0.4))))
    bench.move(*seen(bench, "part0", 0.07, 0.09, 0.2))
    press(bench, Qt.Key.Key_Tab)
    bench.move(*seen(bench, "part0", -0.07, 0.02, 0.2))
    np.testing.assert_allclose(meant(bench, "part0"), (-0.07, 0.02, 0.2), atol=2e-3)


def test_near_a_corner_it_is_meant_and_near_an_edge_its_middle_along_it(bench):
    begin(bench, machine(Box(size=(0.4, 0.4, 0.4))))
    bench.move(*seen(bench, "part0", 0.193, 0.193, 0.2))
    np.testing.assert_allclose(meant(bench, "part0"), (0.2, 0.2, 0.2), atol=1e-6)
    bench.move(*seen(bench, "part0", 0.197, 0.1, 0.2))
    np.testing.assert_allclose(meant(bench, "part0"), (0.2, 0.0, 0.2), atol=1e-6)
    way, word = axis(bench)
    assert word == "edge"
    np.testing.assert_allclose(np.abs(way), (0, 1, 0), atol=1e-6)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_hole_on_shaft_by_two_clicks_and_enter_whichever_is_clicked_first(bench, order):
    """A ring turned askew comes onto the shaft that is grounded: their axes are one line, the shaft stands still."""
    model = machine(Cylinder(radius=0.05, length=0.4), Pipe(radius=0.12, inner_radius=0.08, length=0.1))
    turned = dataclasses.replace(model.joints[1], rest=(0.5, 0.1, 0.3, 0.1, 0.0, 0.0, 0.995))
    begin(bench, dataclasses.replace(model, joints=(model.joints[0], turned)))
    press(bench, Qt.Key.Key_Escape)
    bench.wait(lambda: bench.view.gestures.tool.id == "select")
    bench.session.select(ElementRef("bodies", "part0"))
    bench.window.actions_.run("element.ground")
    before = bench.session.mech.frame(bench.session.q, "part0")
    bench.session.select(None)
    press(bench, Qt.Key.Key_C)
    press(bench, Qt.Key.Key_L)
    towards = np.array(bench.view.scene.view.eye) - np.array(bench.view.scene.view.target)
    side = towards[:2] / np.linalg.norm(towards[:2])
    places = {"part0": (*(0.05 * side), 0.1), "part1": (*(-0.08 * side), 0.045)}
    for k in order:
        bench.move(*seen(bench, f"part{k}", *places[f"part{k}"]))
        assert axis(bench)[1] == ("cylinder", "hole")[k]
        bench.click(*seen(bench, f"part{k}", *places[f"part{k}"]))
    bench.wait(lambda: connection_in_progress(bench.view).bar is not None)
    QTest.keyClick(connection_in_progress(bench.view).bar.menu, Qt.Key.Key_Return)
    bench.wait(lambda: bench.view.gestures.tool.id == "select")
    session = bench.session
    np.testing.assert_allclose(session.mech.frame(session.q, "part0"), before, atol=1e-12)
    ring = session.mech.frame(session.q, "part1")
    np.testing.assert_allclose(np.abs(ring[:3, 2]), (0, 0, 1), atol=1e-6)
    np.testing.assert_allclose(ring[:2, 3], before[:2, 3], atol=1e-6)
    assert session.model.joints[-1].kind == "cylindrical"


def test_a_bar_that_turns_about_a_pin_is_hit_where_one_points_not_on_its_axis(bench):
    bar = Cylinder(pose=Pose(position=(0.2, 0, 0), rotation=(0, np.pi / 2, 0)), radius=0.03, length=0.4)
    pin = Joint(name="pin", parent="world", child="bar", axis=(0, -1, 0))
    begin(bench, Model(bodies=(Body(name="bar", shapes=(bar,), **SOLID),), joints=(pin,)), "front")
    bench.move(*seen(bench, "bar", 0.13, 0, 0.012))
    np.testing.assert_allclose(meant(bench, "bar")[[0, 2]], (0.13, 0.012), atol=2e-3)
    way, word = axis(bench)
    assert word == "parallel to the joint there"
    np.testing.assert_allclose(np.abs(way), (0, 1, 0), atol=1e-6)
    press(bench, Qt.Key.Key_Tab)
    np.testing.assert_allclose(meant(bench, "bar")[1:], (0, 0), atol=1e-6)
    assert axis(bench)[1] == "cylinder"


def test_a_joint_on_the_body_is_met_exactly_with_its_axis(bench):
    link = Body(name="link", shapes=(Box(size=(0.4, 0.03, 0.06), pose=Pose(position=(0.2, 0, 0))),), **SOLID)
    next_ = Body(name="next", **SOLID)
    joints = (
        Joint(name="A", parent="world", child="link", axis=(0, -1, 0)),
        Joint(name="B", parent="link", child="next", a=Pose(position=(0.277, 0, 0)), axis=(0, 0, 1)),
    )
    begin(bench, Model(bodies=(link, next_), joints=joints), "front")
    bench.move(*seen(bench, "link", 0.279, 0, 0.002))
    found = connection_in_progress(bench.view)
    words = []
    for _ in range(found.several):
        words.append(axis(bench)[1])
        if words[-1] == "joint B":
            np.testing.assert_allclose(meant(bench, "link"), (0.277, 0, 0), atol=1e-6)
            np.testing.assert_allclose(np.abs(axis(bench)[0]), (0, 0, 1), atol=1e-9)
        press(bench, Qt.Key.Key_Tab)
    assert "joint B" in words


def test_a_spring_to_a_hole_ends_on_its_axis(bench):
    begin(bench, machine(Pipe(radius=0.12, inner_radius=0.08, length=0.1), Box()), "top")
    press(bench, Qt.Key.Key_Escape)
    bench.wait(lambda: bench.view.gestures.tool.id == "select")
    bench.window.actions_.run("add.spring")
    bench.click(*seen(bench, "part0", 0.083, 0, 0.05))
    bench.click(*seen(bench, "part1", 0.0, 0, 0.05))
    (force,) = bench.session.model.forces
    frame = bench.session.model.find("frames", force.a)
    assert frame.pose.position[:2] == pytest.approx((0.0, 0.0), abs=1e-6)
    assert edits.collection_of(force) == "forces"
