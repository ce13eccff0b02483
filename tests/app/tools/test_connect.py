"""Forces, sensors, constraints and drivers are added by pointing: with the menu, the selection, and real clicks."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.commands import command_table
from app.commands.elements import insert_assembly
from app.document.connection_draft import PickedItem, known_total_mass, measure_surroundings, pick_origin
from app.document.connection_kinds import CONNECTIONS
from app.document.session import ElementRef
from app.tools.connect import connection_in_progress
from app.window.actions import MENUS
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Box, Frame, Inertia, Joint, Model, Pose, Sensor, Sphere
from core.model.edits import edits
from core.model.new_elements import add_joint

SOLID = {"mass": 2.0, "inertia": Inertia(ixx=0.01, iyy=0.01, izz=0.01)}


def machine() -> Model:
    """Two blocks on slides, 1 m apart, with a frame on each; a wheel that turns beside them."""
    box = (Box(size=(0.2, 0.2, 0.2)),)
    return Model(
        name="blocks",
        bodies=(
            Body(name="left", shapes=box, **SOLID),
            Body(name="right", shapes=box, **SOLID),
            Body(name="wheel", shapes=(Sphere(radius=0.1),), **SOLID),
        ),
        frames=(
            Frame(name="hook", parent="left", pose=Pose(position=(0, 0, 0.1))),
            Frame(name="eye", parent="right", pose=Pose(position=(0, 0, 0.1))),
        ),
        joints=(
            Joint(name="l", kind="prismatic", parent="world", child="left", a=Pose(position=(0, 0, 0.5))),
            Joint(name="r", kind="prismatic", parent="world", child="right", a=Pose(position=(1, 0, 0.5))),
            Joint(name="turn", parent="world", child="wheel", a=Pose(position=(0.5, 0, 0.2))),
        ),
    )


@pytest.fixture
def blocks(bench):
    bench.session.start_document(machine())
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    return bench


def at(bench, name):
    """The pixel of the origin of a body or frame, as Qt counts."""
    ratio = bench.view.devicePixelRatioF()
    x, y = bench.view.scene.project(pick_origin(bench.session, name).place)
    return x / ratio, y / ratio


def answer(bench, title):
    """What is to become of two points that are apart, chosen from the menu at the pointer."""
    bench.wait(lambda: connection_in_progress(bench.view).bar is not None)
    menu = connection_in_progress(bench.view).bar.menu
    next(action for action in menu.actions() if action.text().startswith(title)).trigger()
    menu.close()
    bench.wait(lambda: bench.view.gestures.tool.id == "select")


def run(bench, command):
    bench.window.actions_.run(command)


def test_every_way_of_adding_has_a_command_in_the_menu_add():
    for each in CONNECTIONS.values():
        command = command_table()[f"add.{each.id}"]
        assert command.menu.partition("/")[0] == "Add"
        assert "Add" in MENUS


def test_what_is_asked_for_may_be_chosen_in_the_tree(blocks):
    """Joints and sensors that are hidden in the scene, too; what does not fit is no answer."""
    session, tree = blocks.session, blocks.window.tree
    blocks.window.docks.show_panel("tree")
    run(blocks, "add.gear")

    def click(ref):
        item = tree.items[f"{ref.collection}:{ref.name}"]
        tree.view.scrollToItem(item)
        place = tree.view.visualItemRect(item).center()
        QTest.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    click(ElementRef("bodies", "left"))
    assert session.selection == ElementRef("bodies", "left")
    click(ElementRef("joints", "turn"))
    blocks.wait(lambda: [pick.name for pick in connection_in_progress(blocks.view).picks] == ["turn"])
    click(ElementRef("joints", "l"))
    blocks.wait(lambda: len(session.model.constraints) == 1)
    (gear,) = session.model.constraints
    assert {gear.joint, gear.leader} == {"l", "turn"}
    assert blocks.view.gestures.tool.id == "select"
    click(ElementRef("joints", "r"))  # nothing is asked any more
    assert session.selection == ElementRef("joints", "r")
    assert len(session.model.constraints) == 1


def test_the_row_of_the_ground_is_an_answer_too(blocks):
    """Also when it is clicked again; where only a body's frame will do, and a second time, it is none."""
    session, tree = blocks.session, blocks.window.tree
    blocks.window.docks.show_panel("tree")
    item = tree.items["#world"]
    tree.view.scrollToItem(item)
    place = tree.view.visualItemRect(item).center()
    for command, made in (("add.spring", "forces"), ("add.rod", "constraints")):
        run(blocks, command)
        for _ in range(2):
            QTest.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert [pick.name for pick in connection_in_progress(blocks.view).picks] == ["world"]
        blocks.click(*at(blocks, "eye"))
        (element,) = getattr(session.model, made)
        assert {element.a or "world", element.b} == {"world", "eye"}
        session.select(None)
    run(blocks, "add.sensor_velocity")
    QTest.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert connection_in_progress(blocks.view).picks == ()


def test_a_new_free_body_stands_beside_the_machine_until_a_joint_holds_it(bench):
    """Where it is seen, also after the file was opened again; a joint then takes the place of the free one."""
    bench.example("double_pendulum")
    session = bench.session
    high = bench.view.scene.bounds()[1]
    run(bench, "add.body")
    run(bench, "add.body")
    first, second = (np.asarray(session.mech.frame(session.q, name))[:3, 3] for name in ("body", "body2"))
    assert first[0] - 0.05 > high
    assert second[0] - first[0] > 0.1
    again = loads(dumps(session.model, "kst"), "kst")
    mech = Mechanism(again)
    np.testing.assert_allclose(mech.frame(mech.rest(), "body")[:3, 3], first, atol=1e-12)
    session.undo()
    assert "body2" not in session.mech.frame_names
    assert [joint.name for joint in session.model.joints if joint.kind == "free"] == ["body"]
    carried = session.model.joints[0].child
    picks = tuple(pick_origin(session, name) for name in (carried, "body"))
    assert CONNECTIONS["joint_revolute"].build_element(session, picks)
    assert not [joint for joint in session.model.joints if joint.kind == "free"]
    assert not session.mech.loops
    np.testing.assert_allclose(session.mech.frame(session.q, "body")[:3, 3], first, atol=1e-9)


def test_a_free_joint_that_is_said_more_of_stays():
    """A damped or driven one, one that carries the other body, and one that is a part of the machine's description."""
    free = Joint(name="f", kind="free", parent="world", child="a", rest=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    bodies = tuple(Body(name=name, **SOLID) for name in "abc")
    hang = Joint(name="h", parent="a", child="b")
    for joint, new, stays in (
        (free, Joint(name="j", parent="world", child="a"), False),
        (free, Joint(name="j", parent="a", child="c"), True),
        (free, Joint(name="j", parent="b", child="a"), True),
        (free, Joint(name="j", parent="world", child="b"), True),
        (dataclasses.replace(free, damping=1.0), Joint(name="j", parent="world", child="a"), True),
    ):
        model = add_joint(Model(bodies=bodies, joints=(joint, hang)), new)
        assert ("f" in [each.name for each in model.joints]) == stays


def test_a_spring_between_two_clicked_frames_is_slack_and_one_undo_step(blocks):
    session = blocks.session
    run(blocks, "add.spring_damper")
    assert blocks.view.gestures.tool.id == "connect"
    blocks.click(*at(blocks, "hook"))
    assert [pick.name for pick in connection_in_progress(blocks.view).picks] == ["hook"]
    blocks.click(*at(blocks, "eye"))
    (force,) = session.model.forces
    assert (force.kind, force.a, force.b) == ("line", "hook", "eye")
    assert force.rest == pytest.approx(1.0)
    assert force.stiffness > 0
    assert force.damping > 0
    assert session.selection == ElementRef("forces", force.name)
    assert blocks.view.gestures.tool.id == "select"
    session.undo()
    assert session.model.forces == ()


def test_the_selection_counts_as_the_first_point(blocks):
    blocks.session.select(ElementRef("frames", "eye"))
    run(blocks, "add.rod")
    blocks.click(*at(blocks, "hook"))
    (rod,) = blocks.session.model.constraints
    assert (rod.kind, rod.a, rod.b) == ("rod", "eye", "hook")
    assert rod.length == pytest.approx(1.0)


def test_a_click_on_a_body_makes_a_frame_at_that_point(blocks):
    session = blocks.session
    run(blocks, "add.damper")
    x, y = at(blocks, "hook")
    blocks.click(x, y)
    u, v = map(round, at(blocks, "right"))
    place = blocks.view.scene.pick(*(np.array([u - 14, v]) * blocks.view.devicePixelRatioF()))
    assert place.ref == ("bodies", "right")
    blocks.click(u - 14, v)
    (force,) = session.model.forces
    frame = next(frame for frame in session.model.frames if frame.name == force.b)
    assert frame.parent == "right"
    assert pick_origin(session, frame.name).place == pytest.approx(tuple(place.position), abs=1e-4)
    session.undo()
    assert len(session.model.frames) == 2  # the frame went along


def test_a_joint_is_pointed_at_by_its_body(blocks):
    session = blocks.session
    session.preview_coordinates({"turn": 0.5})
    session.commit("Turn")
    blocks.session.select(None)
    run(blocks, "add.driver")
    blocks.click(*at(blocks, "wheel"))
    (driver,) = session.model.drivers
    assert (driver.joint, driver.function) == ("turn", "0.5 + t")  # begins where the joint is
    name = blocks.session.model.drivers[0].name
    blocks.session.apply("Delete", lambda model: edits.remove(model, "drivers", name))
    blocks.session.preview_coordinates({"turn": np.radians(30.0)})
    blocks.session.commit("Move")
    assert CONNECTIONS["driver"].build_element(blocks.session, (PickedItem("turn", what="joint"),))
    assert blocks.session.model.drivers[0].function == "30 deg + t"


def test_a_gear_keeps_both_joints_where_they_are(blocks):
    session = blocks.session
    session.preview_coordinates({"l": 0.1, "r": 0.05})
    session.commit("Slide")
    session.select(ElementRef("joints", "l"))
    run(blocks, "add.gear")
    blocks.click(*at(blocks, "right"))
    (gear,) = session.model.constraints
    assert (gear.leader, gear.joint, gear.ratio) == ("l", "r", -1.0)
    assert gear.offset == pytest.approx(0.15)
    assert session.mech.coordinate(session.q, "r")[0] == pytest.approx(0.05, abs=1e-6)


def test_a_sensor_is_held_at_what_it_measures(blocks):
    session = blocks.session
    session.apply(
        "Add", lambda m: edits.add(m, Sensor(name="gap", a="hook", b="eye")), select=ElementRef("sensors", "gap")
    )
    run(blocks, "add.hold")
    (constraint,) = session.model.constraints
    assert (constraint.sensor, constraint.value) == ("gap", pytest.approx(1.0))


def test_a_junction_hangs_on_springs_in_the_middle(blocks):
    run(blocks, "add.junction")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    model = blocks.session.model
    assert model.junctions[0].guess == pytest.approx((0.5, 0.0, 0.6))
    assert [(f.a, f.b) for f in model.forces] == [("hook", "junction1"), ("eye", "junction1")]
    assert [f.rest for f in model.forces] == pytest.approx([0.5, 0.5])


def test_the_tool_asks_what_stands_between_two_points(blocks):
    QTest.keyClick(blocks.view, Qt.Key.Key_C)
    blocks.wait(lambda: blocks.view.gestures.tool.id == "connect")
    blocks.click(*at(blocks, "hook"))
    blocks.move(*at(blocks, "eye"))
    assert "1.0000" in blocks.view.annotations.lines[0].text
    blocks.click(*at(blocks, "eye"))
    menu = connection_in_progress(blocks.view).menu
    assert menu.isVisible()
    next(action for action in menu.actions() if action.text() == "Distance between two points").trigger()
    menu.hide()
    (sensor,) = blocks.session.model.sensors
    assert (sensor.kind, sensor.a, sensor.b) == ("distance", "hook", "eye")
    assert not blocks.messages("hint")


def test_after_the_menu_was_closed_the_next_click_is_a_first_point(blocks):
    QTest.keyClick(blocks.view, Qt.Key.Key_C)
    blocks.wait(lambda: blocks.view.gestures.tool.id == "connect")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    menu = connection_in_progress(blocks.view).menu
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    blocks.wait(lambda: connection_in_progress(blocks.view).picks == ())
    assert blocks.view.annotations.points == ()
    blocks.click(*at(blocks, "eye"))
    blocks.click(*at(blocks, "hook"))
    menu = connection_in_progress(blocks.view).menu
    next(action for action in menu.actions() if action.text() == "Distance between two points").trigger()
    menu.hide()
    (sensor,) = blocks.session.model.sensors
    assert (sensor.a, sensor.b) == ("eye", "hook")


def test_an_angle_is_measured_about_the_axis_of_the_joint_there(bench):
    session = bench.session
    session.start_document(bars((0.0, 1.0, 0.0)))
    session.pose("Bend", np.array([0.4, -1.5, -1.4]))
    assert CONNECTIONS["sensor_angle"].build_element(
        session, (pick_origin(session, "crank"), pick_origin(session, "coupler"))
    )
    (sensor,) = session.model.sensors
    assert sensor.axis == pytest.approx((0.0, 1.0, 0.0), abs=1e-9)
    assert session.mech.sensor(session.q, np.zeros(3), sensor.name)[0] == pytest.approx(-1.5)


def test_a_joint_between_two_points_moves_nothing(blocks):
    session = blocks.session
    before = session.mech.poses(session.q)
    run(blocks, "add.joint_spherical")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "right"))
    answer(blocks, "Join here")
    joint = session.model.joints[-1]
    assert (joint.kind, joint.parent, joint.child) == ("spherical", "hook", "right")
    a, b = session.mech.joint_poses(session.q)[joint.name]
    assert a[:3, 3] == pytest.approx(b[:3, 3], abs=1e-9)
    assert session.mech.poses(session.q)[: len(before)] == pytest.approx(before, abs=1e-9)


def bars(axis=(0.0, 0.0, 1.0)) -> Model:
    """Three bars in a row on parallel joints, each 0.3 m long along x."""
    shape = (Box(size=(0.3, 0.03, 0.03), pose=Pose(position=(0.15, 0.0, 0.0))),)
    names = ("crank", "coupler", "rocker")
    joints = tuple(
        Joint(
            name=f"j{i}",
            parent=names[i - 1] if i else "world",
            child=name,
            axis=axis,
            a=Pose(position=(0.3 if i else 0.0, 0.0, 0.0 if i else 0.4)),
        )
        for i, name in enumerate(names)
    )
    return Model(name="bars", bodies=tuple(Body(name=n, shapes=shape, **SOLID) for n in names), joints=joints)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
def test_a_four_bar_is_closed_by_two_clicks_and_stays_as_it_was_built(bench, axis, tmp_path):
    """The joint lands on the middle of the bar's end face, parallel to the others; nothing moves, though the loop is
    cut elsewhere; saved and opened again it stands the same."""
    session = bench.session
    session.start_document(bars(axis))
    session.pose("Bend", np.array([1.7, -1.5, -1.4]))
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    before = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    end = (before["rocker"] @ np.array([0.3, 0.0, 0.0, 1.0]))[:3]
    u, v = np.array(bench.view.scene.project(end)) / bench.view.devicePixelRatioF()
    inward = (before["rocker"] @ np.array([0.27, 0.0, 0.0, 1.0]))[:3]
    du, dv = np.array(bench.view.scene.project(inward)) / bench.view.devicePixelRatioF() - (u, v)
    run(bench, "add.joint_revolute")
    bench.click(u + 4.0 * du / np.hypot(du, dv), v + 4.0 * dv / np.hypot(du, dv))  # on the bar, near its end
    empty = bench.view.rect().bottomLeft()
    bench.click(empty.x() + 40, empty.y() - 40)  # the ground, or what is behind all
    answer(bench, "Join here")
    joint = session.model.joints[-1]
    assert (joint.kind, joint.parent, joint.child) == ("revolute", "world", "rocker")  # the ground carries
    assert joint.b.position == pytest.approx((0.3, 0.0, 0.0), abs=1e-6)
    assert session.model.frames == ()  # a joint has frames of its own
    a, _ = session.mech.joint_poses(session.q)[joint.name]
    np.testing.assert_allclose(a[:3, 3], end, atol=1e-6)
    np.testing.assert_allclose(np.abs(a[:3, :3] @ np.array(joint.axis)), axis, atol=1e-9)
    for name, X in before.items():
        np.testing.assert_allclose(session.mech.frame(session.q, name), X, atol=1e-6)
    assert len(session.mech.loops) == 1
    assert session.mech.mobility(session.q).dof == 1
    file = tmp_path / "four_bar.kst"
    assert session.save(file)
    bench.open(file)
    for name, X in before.items():
        np.testing.assert_allclose(session.mech.frame(session.q, name), X, atol=1e-6)


def test_deleting_a_joint_leaves_its_body_where_it_is(bench):
    session = bench.session
    session.start_document(bars())
    session.pose("Bend", np.array([1.7, -1.5, -1.4]))
    before = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    session.apply("Delete", lambda model: edits.remove(model, "joints", "j1"))
    assert [joint.child for joint in session.mech.implicit_joints] == ["coupler"]
    for name, X in before.items():
        np.testing.assert_allclose(session.mech.frame(session.q, name), X, atol=1e-9)
    session.undo()
    np.testing.assert_allclose(session.q, [1.7, -1.5, -1.4])


def test_escape_forgets_the_question(blocks):
    run(blocks, "add.spring")
    blocks.click(*at(blocks, "hook"))
    QTest.keyClick(blocks.view, Qt.Key.Key_Escape)
    blocks.wait(lambda: blocks.view.gestures.tool.id == "select")
    assert blocks.view.annotations.points == ()
    assert blocks.session.model.forces == ()


def test_the_same_point_twice_is_refused_with_words(blocks):
    run(blocks, "add.spring")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "hook"))
    assert blocks.session.model.forces == ()
    assert any("Both ends are the same" in text for text in blocks.messages("error"))
    blocks.window.messages.log.clear()


@pytest.mark.parametrize("kind", [name for name in CONNECTIONS if name.startswith("sensor_")])
def test_every_sensor_can_be_added_to_what_is_selected(blocks, kind):
    each = CONNECTIONS[kind]
    picks = tuple(pick_origin(blocks.session, name) for name in ("hook", "eye"))[: len(each.wants)]
    if each.wants == ("joint",):
        blocks.session.select(ElementRef("joints", "turn"))
        run(blocks, f"add.{kind}")
    else:
        assert each.build_element(blocks.session, picks)
    (sensor,) = blocks.session.model.sensors
    assert f"sensor_{sensor.kind}" == kind


def test_a_machine_of_a_file_becomes_a_part(blocks, tmp_path):
    part = Model(name="part", bodies=(Body(name="plate", **SOLID),))
    path = tmp_path / "small part.kst"
    path.write_text(dumps(part, "kst"), encoding="utf-8")
    blocks.session.select(ElementRef("frames", "hook"))
    assert insert_assembly(blocks.session, str(path))
    (assembly,) = blocks.session.model.assemblies
    assert (assembly.name, assembly.parent) == ("small_part", "hook")
    assert "small_part.plate" in blocks.session.mech.frame_names


def test_the_same_machine_again_stands_beside_the_first(bench, tmp_path):
    shape = (Box(size=(0.4, 0.1, 0.3)),)
    path = tmp_path / "plate.kst"
    path.write_text(
        dumps(Model(name="part", bodies=(Body(name="plate", shapes=shape, **SOLID),)), "kst"), encoding="utf-8"
    )
    assert bench.window.start_page.isVisible()
    for _ in range(3):
        bench.session.select(None)
        assert insert_assembly(bench.session, str(path))
    assert not bench.window.start_page.isVisible()  # there is something now
    places = [each.pose.position for each in bench.session.model.assemblies]
    assert places[0] == (0.0, 0.0, 0.0)
    assert places[1][1] >= 0.1
    assert places[2][1] - places[1][1] >= 0.1


def test_an_old_error_goes_with_a_new_model(bench):
    bench.window.messages.show_message("error", "Something is wrong there.")
    bench.window.files.new_model()
    assert bench.window.messages.isHidden()


def test_defaults_come_from_the_machine(blocks):
    session = blocks.session
    assert known_total_mass(session) == pytest.approx(6.0)
    picks = pick_origin(session, "hook"), pick_origin(session, "eye")
    about = measure_surroundings(session, picks)
    assert about.distance == pytest.approx(1.0)
    assert about.stiffness() == pytest.approx(6.0 * 9.81 / 0.1, rel=0.1)  # one digit of m g / (10 % of the length)
    c = about.damping(600.0)
    assert c == pytest.approx(0.4 * np.sqrt(600.0 * 6.0), rel=0.2)


def test_the_handle_of_a_free_body_points_at_that_body(bench):
    from app.document.session import ElementRef
    from app.tools.candidates import body_of_element

    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    (free,) = bench.session.mech.implicit_joints
    assert body_of_element(bench.view, ElementRef("joints", free.name)) == free.child
    assert body_of_element(bench.view, ElementRef("joints", "gone")) is None


def test_two_points_of_a_joint_are_brought_together_by_enter(blocks):
    """Both blocks slide along z, 1 m apart: a ball joint between them cannot close, so Enter joins them here."""
    session = blocks.session
    run(blocks, "add.joint_spherical")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    blocks.wait(lambda: connection_in_progress(blocks.view).bar is not None)
    bar = connection_in_progress(blocks.view).bar
    titles = [action.text() for action in bar.menu.actions()]
    assert [title.split()[0] for title in titles] == ["Assemble:", "Join", "Leave"]
    assert not bar.menu.actions()[0].isEnabled()
    assert "connect" in blocks.view.scene.overlays._ghosts.sources
    QTest.keyClick(bar.menu, Qt.Key.Key_Return)
    blocks.wait(lambda: blocks.view.gestures.tool.id == "select")
    assert session.model.joints[-1].kind == "spherical"
    assert "connect" not in blocks.view.scene.overlays._ghosts.sources


@pytest.mark.parametrize("other", [Model(name="other"), machine()])
def test_the_question_what_to_do_with_two_points_ends_with_the_machine_it_is_of(blocks, other):
    """Another document is opened meanwhile: no ghost of the machine before stays."""
    run(blocks, "add.joint_spherical")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    blocks.wait(lambda: connection_in_progress(blocks.view).bar is not None)
    menu = connection_in_progress(blocks.view).bar.menu
    blocks.session.start_document(other)
    blocks.wait(lambda: not menu.isVisible() and "connect" not in blocks.view.scene.overlays._ghosts.sources)
    assert connection_in_progress(blocks.view).bar is None
    assert not connection_in_progress(blocks.view).picks


def free_part(blocks):
    """A new body, in view and not selected: its name."""
    run(blocks, "add.body")
    blocks.view.viewpoint.fit_next_picture()
    blocks.draw()
    run(blocks, "edit.cancel")
    blocks.session.select(None)
    return blocks.session.model.bodies[-1].name


def test_a_free_part_is_assembled_where_it_was_pointed_at_and_undone_with_its_pose(blocks):
    session, name = blocks.session, free_part(blocks)
    before = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    run(blocks, "add.joint_revolute")
    blocks.click(*at(blocks, name))
    blocks.click(*at(blocks, "hook"))
    answer(blocks, "Assemble")
    joint = session.model.joints[-1]
    assert (joint.parent, joint.child) == ("hook", name)
    np.testing.assert_allclose(session.mech.frame(session.q, name)[:3, 3], before["hook"][:3, 3], atol=1e-6)
    for still in ("left", "right", "wheel"):
        np.testing.assert_allclose(session.mech.frame(session.q, still), before[still], atol=1e-12)
    session.undo()
    np.testing.assert_allclose(session.mech.frame(session.q, name), before[name], atol=1e-12)


def test_without_an_answer_the_second_point_is_asked_for_again(blocks):
    run(blocks, "add.joint_revolute")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    blocks.wait(lambda: connection_in_progress(blocks.view).bar is not None)
    connection_in_progress(blocks.view).bar.menu.close()
    blocks.wait(lambda: connection_in_progress(blocks.view).bar is None)
    assert [pick.name for pick in connection_in_progress(blocks.view).picks] == ["hook"]
    assert len(blocks.session.model.joints) == 3


def test_letters_say_how_the_axis_lies_that_is_shown_before_the_click(blocks):
    run(blocks, "add.joint_revolute")
    blocks.move(*at(blocks, "hook"))
    shown = blocks.view.annotations.lines[0]
    assert shown.end[2] > shown.start[2]  # upright, where nothing says otherwise
    QTest.keyClick(blocks.view, Qt.Key.Key_X)
    shown = blocks.view.annotations.lines[0]
    assert shown.text == "x"
    np.testing.assert_allclose(np.subtract(shown.end, shown.start)[1:], 0.0, atol=1e-12)
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    answer(blocks, "Join here")
    assert blocks.session.model.joints[-1].axis == pytest.approx((1.0, 0.0, 0.0))


def test_a_joint_left_apart_is_marked_with_how_far_and_how_it_closes(blocks):
    """The gap is that of the two points, 1 m; closed by the command, the free part comes and the block stays."""
    session, name = blocks.session, free_part(blocks)
    assert not command_table()["edit.close_joints"].when(blocks.window)
    run(blocks, "add.joint_spherical")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, name))
    apart = np.linalg.norm(np.subtract(pick_origin(session, "hook").place, pick_origin(session, name).place))
    answer(blocks, "Leave apart")
    joint = session.model.joints[-1].name
    (mark,) = blocks.view.annotations.open
    assert f"{joint} is open: {blocks.window.settings.format_value(apart, 'length')}" in mark.text
    assert "Close open joints" in mark.text
    np.testing.assert_allclose(mark.start, pick_origin(session, "hook").place, atol=1e-6)
    before = session.mech.frame(session.q, "left")
    run(blocks, "edit.close_joints")
    assert blocks.view.annotations.open == ()
    a, b = session.mech.joint_poses(session.q)[joint]
    np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-9)
    np.testing.assert_allclose(session.mech.frame(session.q, "left"), before, atol=1e-9)
    session.undo()
    assert len(blocks.view.annotations.open) == 1
    session.undo()
    assert blocks.view.annotations.open == ()


def test_what_cannot_be_closed_says_so_and_stays(blocks):
    """Both blocks slide along z, 1 m apart."""
    session = blocks.session
    run(blocks, "add.joint_spherical")
    blocks.click(*at(blocks, "hook"))
    blocks.click(*at(blocks, "eye"))
    answer(blocks, "Leave apart")
    q = session.q.copy()
    run(blocks, "edit.close_joints")
    assert any("1000 mm" in text for text in blocks.messages("error"))
    np.testing.assert_array_equal(session.q, q)
    assert len(blocks.view.annotations.open) == 1
