"""The model tree: what it shows, renaming in place, adding, duplicating, deleting with what depends."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from app.commands import element_edits
from app.document.session import ElementRef, Session
from app.panels.tree.panel import NODE, ModelTree
from app.panels.tree.tree_nodes import build_nodes, iterate_nodes
from app.widgets.fields.field_dialogs import DraftDialog, RemovalDialog
from app.widgets.quantities.quantity_text import SIUnits
from core.model import (
    JOINT_KINDS,
    Body,
    Box,
    DHChain,
    DHRow,
    Frame,
    Inertia,
    Joint,
    Material,
    Model,
    Parameter,
    Pose,
    SubAssembly,
    new_elements,
)
from core.model.edits import edits

SOLID = {"mass": 1.0, "inertia": Inertia(ixx=0.01, iyy=0.01, izz=0.01)}


def arm() -> Model:
    """Ground – j1 – upper – j2 – lower (with frame tip and a free ball beside), parameter and material in use."""
    return Model(
        name="arm",
        parameters=(Parameter(name="l1", value=0.4, dimension="length"), Parameter(name="l2", value="2*l1")),
        materials=(Material(name="steel", color=(0.6, 0.6, 0.7, 1.0)),),
        bodies=(
            Body(name="upper", shapes=(Box(material="steel"),), **SOLID),
            Body(name="lower", **SOLID),
            Body(name="ball", **SOLID),
        ),
        frames=(Frame(name="tip", parent="lower"),),
        joints=(
            Joint(name="j1", parent="world", child="upper"),
            Joint(name="j2", parent="upper", child="lower", a=Pose(position=("l1", 0, 0))),
        ),
    )


def four_bar() -> Model:
    """A parallelogram in the plane, drawn at q = 0 with sides 1 m along x and y."""
    bodies = tuple(Body(name=name, **SOLID) for name in ("crank", "coupler", "rocker"))
    return Model(
        name="four-bar",
        bodies=bodies,
        joints=(
            Joint(name="A", parent="world", child="crank"),
            Joint(name="B", parent="crank", child="coupler", a=Pose(position=(0, 1, 0))),
            Joint(name="C", parent="coupler", child="rocker", a=Pose(position=(1, 0, 0))),
            Joint(name="D", parent="rocker", child="world", a=Pose(position=(0, -1, 0)), b=Pose(position=(1, 0, 0))),
        ),
    )


@pytest.fixture
def session():
    return Session(arm())


@pytest.fixture
def tree(qtbot, session, settings):
    return shown(qtbot, session, settings)


def shown(qtbot, session, settings) -> ModelTree:
    widget = ModelTree(session, settings)
    qtbot.addWidget(widget)
    widget.resize(320, 700)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    return widget


def outline(tree: ModelTree) -> list[tuple[int, str]]:
    """(depth, text) of every row."""
    found = []

    def visit(item, depth):
        found.append((depth, item.text(0)))
        for i in range(item.childCount()):
            visit(item.child(i), depth + 1)

    for i in range(tree.view.topLevelItemCount()):
        visit(tree.view.topLevelItem(i), 0)
    return found


# --------------------------------------------------------------------------- what is shown


def test_the_machine_stands_from_the_ground_outward(tree):
    assert outline(tree) == [
        (0, "world"),
        (1, "j1"),
        (2, "upper"),
        (2, "j2"),
        (2, "lower"),
        (3, "tip"),
        (1, "ball"),
        (0, "Parameters"),
        (1, "l1"),
        (1, "l2"),
        (0, "Materials"),
        (1, "steel"),
        (0, "Whole machine"),
        (1, "Kinetic energy"),
        (1, "Potential energy"),
        (1, "Total energy"),
        (1, "Constraint residual"),
    ]


def test_values_and_kinds_stand_beside_the_names(tree):
    assert tree.items["parameters:l1"].text(1) == "0.4 m"
    assert tree.items["parameters:l2"].text(1) == "2*l1 = 0.8"
    assert tree.items["joints:j1"].text(1) == "revolute"
    assert tree.items["bodies:ball"].text(1) == "free"


def test_every_element_is_shown_once_and_a_loop_is_marked(qtbot, settings):
    session = Session(four_bar())
    tree = shown(qtbot, session, settings)
    cut = {loop.cut for loop in session.mech.loops}
    assert len(cut) == 1
    names = [node.ref.name if node.ref else node.text for node in iterate_nodes([tree.items["#world"].data(0, NODE)])]
    assert sorted(names) == sorted(["world", "A", "B", "C", "D", "crank", "coupler", "rocker"])
    item = tree.items[f"joints:{cut.pop()}"]
    assert item.text(1).startswith("loop to")
    assert "closes a loop" in item.toolTip(0)


def test_branches_stand_under_their_joints():
    bodies = tuple(Body(name=n, **SOLID) for n in ("palm", "thumb", "finger", "nail"))
    joints = (
        Joint(name="wrist", parent="world", child="palm"),
        Joint(name="t", parent="palm", child="thumb"),
        Joint(name="f", parent="palm", child="finger"),
        Joint(name="n", parent="finger", child="nail"),
    )
    world, _whole = build_nodes(Model(bodies=bodies, joints=joints), (), SIUnits())
    (wrist,) = world.children
    (palm,) = wrist.children
    assert [node.text for node in palm.children] == ["t", "f"]
    assert [node.text for node in palm.children[1].children] == ["finger", "n", "nail"]


def test_a_joint_drawn_backwards_still_leads_outward():
    bodies = (Body(name="a", **SOLID), Body(name="b", **SOLID))
    joints = (Joint(name="j", parent="world", child="a"), Joint(name="back", parent="b", child="a"))
    world, _whole = build_nodes(Model(bodies=bodies, joints=joints), (), SIUnits())
    assert [node.text for node in iterate_nodes([world])] == ["world", "j", "a", "back", "b"]


def test_a_chain_holds_its_links_and_what_hangs_on_them():
    model = Model(
        chains=(DHChain(name="robot", rows=(DHRow(a=1.0), DHRow(a=1.0))),),
        bodies=(Body(name="gripper", **SOLID),),
        joints=(Joint(name="mount", kind="fixed", parent="tool", child="gripper"),),
    )
    world, _whole = build_nodes(model, (), SIUnits())
    (chain,) = world.children
    assert chain.ref == ElementRef("chains", "robot")
    names = [node.text for node in iterate_nodes(chain.children)]
    assert names == ["base_joint", "base", "joint1", "link1", "joint2", "link2", "tool", "mount", "gripper"]
    derived = {node.text: node.derived for node in iterate_nodes(chain.children)}
    assert derived["joint1"]
    assert not derived["gripper"]


def test_two_hundred_bodies_in_a_row_stand_flat():
    bodies = tuple(Body(name=f"b{i}", **SOLID) for i in range(200))
    joints = tuple(Joint(name=f"j{i}", parent=f"b{i - 1}" if i else "world", child=f"b{i}") for i in range(200))
    world, _whole = build_nodes(Model(bodies=bodies, joints=joints), (), SIUnits())
    assert len(list(iterate_nodes([world]))) == 401
    assert len(world.children[0].children) == 399


# --------------------------------------------------------------------------- selection, search, folding


def test_selection_goes_both_ways(qtbot, session, tree):
    item = tree.items["joints:j2"]
    qtbot.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=tree.view.visualItemRect(item).center())
    assert session.selection == ElementRef("joints", "j2")
    session.select(ElementRef("bodies", "lower"))
    assert tree.view.currentItem() is tree.items["bodies:lower"]
    qtbot.mouseClick(
        tree.view.viewport(), Qt.MouseButton.LeftButton, pos=tree.view.visualItemRect(tree.items["#world"]).center()
    )
    assert session.selection is None


def test_the_pointer_is_told_both_ways(qtbot, session, tree):
    center = tree.view.visualItemRect(tree.items["bodies:upper"]).center()
    qtbot.mouseMove(tree.view.viewport(), center + QPoint(0, 40))
    qtbot.mouseMove(tree.view.viewport(), center)
    qtbot.waitUntil(lambda: session.hover == ElementRef("bodies", "upper"))
    session.set_hovered_element(ElementRef("joints", "j1"))
    assert tree.items["joints:j1"].background(0).style() != Qt.BrushStyle.NoBrush
    assert tree.items["bodies:upper"].background(0).style() == Qt.BrushStyle.NoBrush


def test_search_hides_the_rest(qtbot, tree):
    tree.search.setFocus()
    qtbot.keyClicks(tree.search, "TIP")
    visible = [key for key, item in tree.items.items() if not item.isHidden()]
    assert visible == ["#world", "joints:j1", "bodies:lower", "frames:tip"]
    tree.search.clear()
    assert not any(item.isHidden() for item in tree.items.values())


def test_folding_and_selection_survive_an_edit(session, tree):
    tree.items["bodies:lower"].setExpanded(False)
    session.select(ElementRef("joints", "j2"))
    session.apply("notes", lambda model: edits.change(model, "bodies", "ball", mass=2.0))
    assert not tree.items["bodies:lower"].isExpanded()
    assert tree.items["joints:j1"].isExpanded()
    assert tree.view.currentItem() is tree.items["joints:j2"]


# --------------------------------------------------------------------------- renaming


def rename_by_keys(qtbot, tree, key, text):
    tree.view.setFocus()
    tree.view.setCurrentItem(tree.items[key])
    qtbot.keyClick(tree.view, Qt.Key.Key_F2)
    line = next(line for line in tree.view.findChildren(QLineEdit) if line.isVisible())
    line.selectAll()
    qtbot.keyClick(line, Qt.Key.Key_Backspace)
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)
    for _ in range(2):  # the editor is closed, then the name changed
        QApplication.processEvents()


def test_renaming_in_place_carries_references(qtbot, session, tree):
    rename_by_keys(qtbot, tree, "bodies:lower", "forearm")
    assert session.model.joint("j2").child == "forearm"
    assert session.model.find("frames", "tip").parent == "forearm"
    assert session.selection == ElementRef("bodies", "forearm")
    session.undo()
    assert session.selection == ElementRef("bodies", "lower")
    rename_by_keys(qtbot, tree, "parameters:l1", "reach")
    assert session.model.joint("j2").a.position[0] == "reach"
    assert session.model.find("parameters", "l2").value == "2*reach"
    session.undo()
    assert session.model == arm()


@pytest.mark.parametrize(("name", "words"), [("upper", "taken"), ("two words", "is not a valid name"), ("", "name")])
def test_a_bad_name_is_refused_in_words(qtbot, session, tree, name, words):
    before = session.model
    rename_by_keys(qtbot, tree, "bodies:lower", name)
    assert session.model is before
    assert words in tree.note.words
    assert tree.note.severity == "error"
    assert tree.items["bodies:lower"].text(0) == "lower"


def test_links_of_a_chain_are_not_renamed_or_deleted(qtbot, settings):
    session = Session(Model(chains=(DHChain(name="robot", rows=(DHRow(a=1.0),)),)))
    tree = shown(qtbot, session, settings)
    assert not tree.items["bodies:link1"].flags() & Qt.ItemFlag.ItemIsEditable
    before = session.model
    session.select(ElementRef("bodies", "link1"))
    tree.view.setFocus()
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert session.model is before
    assert "chain" in tree.note.words


def test_renaming_a_joint_leaves_the_machine_where_it_stands(session, tree):
    session.preview_coordinates({"j1": 0.4, "j2": -0.3})
    session.commit("bend")
    before = session.q
    assert tree.rename(ElementRef("joints", "j1"), "shoulder")
    assert "shoulder" in session.mech.q_names
    assert session.q[session.mech.q_names.index("shoulder")] == pytest.approx(0.4)
    assert session.q == pytest.approx(before)
    session.undo()
    assert session.q == pytest.approx(before)


# --------------------------------------------------------------------------- deleting


def test_deleting_lists_what_goes_along(qtbot, session, tree):
    session.select(ElementRef("bodies", "lower"))
    tree.view.setFocus()
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    dialog = tree.findChild(RemovalDialog)
    listed = [dialog.list.item(i).text() for i in range(dialog.list.count())]
    assert sorted(listed) == ["frame tip", "joint j2"]
    assert session.model == arm()
    dialog.accept()
    assert [body.name for body in session.model.bodies] == ["upper", "ball"]
    assert [joint.name for joint in session.model.joints] == ["j1"]
    assert session.model.frames == ()
    session.undo()
    assert session.model == arm()
    assert session.selection == ElementRef("bodies", "lower")


def test_bodies_that_become_free_are_named(qtbot, session, tree):
    session.select(ElementRef("bodies", "upper"))
    tree.remove_selected()
    dialog = tree.findChild(RemovalDialog)
    assert any("lower" in label.text() and "free to move" in label.text() for label in dialog.findChildren(QLabel))
    dialog.reject()
    assert session.model == arm()


def test_a_parameter_in_use_leaves_its_value(qtbot, session, tree):
    session.select(ElementRef("parameters", "l1"))
    tree.remove_selected()
    dialog = tree.findChild(RemovalDialog)
    listed = [dialog.list.item(i).text() for i in range(dialog.list.count())]
    assert sorted(listed) == ["joint j2", "parameter l2"]
    dialog.accept()
    assert session.model.joint("j2").a.position[0] == 0.4
    assert session.model.values() == {"l2": 0.8}


def test_what_nobody_needs_goes_at_once(qtbot, session, tree):
    session.select(ElementRef("frames", "tip"))
    tree.view.setFocus()
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert session.model.frames == ()
    assert tree.findChild(RemovalDialog) is None


# --------------------------------------------------------------------------- adding, duplicating


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_a_link_on_a_joint_of_every_kind(session, tree, kind):
    session.select(ElementRef("bodies", "lower"))
    assert element_edits.add_link(session, kind)
    assert session.selection.collection == "bodies"
    joint = session.model.joints[-1]
    assert (joint.kind, joint.parent, joint.child) == (kind, "lower", session.selection.name)
    assert f"joints:{joint.name}" in tree.items
    assert session.mech.model is session.model
    session.undo()
    assert session.model == arm()


@pytest.mark.parametrize("title", ["Frame on upper", "Free body", "Parameter", "Material"])
def test_the_menu_adds_and_selects(session, tree, title):
    session.select(ElementRef("bodies", "upper"))
    menu = tree.create_row_menu(tree.items["bodies:upper"])
    next(action for action in menu.actions() if action.text() == title).trigger()
    ref = session.selection
    assert ref != ElementRef("bodies", "upper")
    assert session.model.find(ref.collection, ref.name).name == ref.name
    assert tree.view.currentItem() is tree.items[f"{ref.collection}:{ref.name}"]
    session.undo()
    assert session.model == arm()


def test_links_hung_on_each_other_grow_an_arm(session):
    session.select(None)
    for _ in range(3):
        element_edits.add_link(session)
    tip = session.selection.name
    poses = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    assert poses[tip][0, 3] == pytest.approx(2 * new_elements.LINK_LENGTH)


def test_a_new_joint_is_asked_for_and_nothing_moves(qtbot, session, tree):
    session.pose("bend", session.q + 0.3)
    before = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    session.select(ElementRef("bodies", "lower"))
    dialog = element_edits.ask_joint(session, SIUnits(), tree)
    child = dialog.form.editors["child"].combo
    child.lineEdit().selectAll()
    qtbot.keyClicks(child.lineEdit(), "upper")
    qtbot.keyClick(child.lineEdit(), Qt.Key.Key_Return)
    assert dialog.isVisible()
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    joint = session.model.joints[-1]
    assert (joint.parent, joint.child) == ("lower", "upper")
    assert len(session.mech.loops) == 1
    after = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    for name, pose in before.items():
        assert after[name] == pytest.approx(pose, abs=1e-9)


def test_a_machine_closed_by_the_dialog_rests_where_it_was_closed(qtbot, session, tree):
    """A new mechanism of the file stands as the machine stood when the joint was added."""
    session.pose("bend", session.q + 0.3)
    session.select(ElementRef("bodies", "lower"))
    dialog = element_edits.ask_joint(session, SIUnits(), tree)
    dialog.form.put("child", "world", None)
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    assert len(session.mech.loops) == 1
    opened = Session(session.model)
    for name in ("upper", "lower"):
        index = opened.mech.frame_names.index(name)
        assert opened.mech.poses(opened.q)[index] == pytest.approx(session.mech.poses(session.q)[index], abs=1e-9)
    tilt = np.arctan2(*opened.mech.poses(opened.q)[opened.mech.frame_names.index("upper")][[1, 0], 0])
    assert tilt == pytest.approx(0.3)  # j1 where it was put, not at 0


def test_a_joint_needs_two_different_sides(qtbot, session, tree):
    session.select(ElementRef("bodies", "lower"))
    dialog = element_edits.ask_joint(session, SIUnits(), tree)
    line = dialog.form.editors["child"].combo.lineEdit()
    line.selectAll()
    qtbot.keyClicks(line, "lower")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert "the same" in dialog.form.editors["child"].note.words
    dialog.reject()
    assert session.model == arm()


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_chain_is_added_from_its_table(session, tree, convention):
    dialog = element_edits.ask_chain(session, SIUnits(), tree)
    dialog.form.put("convention", convention, None)
    dialog.form.editors["rows"].add_row()
    dialog.accept()
    assert session.selection == ElementRef("chains", "chain1")
    chain = session.model.chain("chain1")
    assert (chain.convention, len(chain.rows)) == (convention, 4)
    assert session.model.joint("joint4").kind == "revolute"


def test_a_second_chain_gets_its_own_names(session, tree):
    for _ in range(2):
        dialog = element_edits.ask_chain(session, SIUnits(), tree)
        assert isinstance(dialog, DraftDialog)
        dialog.accept()
        assert dialog.note.words == ""
    assert [chain.prefix for chain in session.model.chains] == ["", "chain2_"]


@pytest.mark.parametrize(
    "ref",
    [
        ElementRef("bodies", "upper"),
        ElementRef("frames", "tip"),
        ElementRef("parameters", "l1"),
        ElementRef("materials", "steel"),
        ElementRef("joints", "j2"),
    ],
    ids=str,
)
def test_a_copy_of_every_kind(session, tree, ref):
    session.select(ref)
    assert element_edits.duplicate_selected(session)
    copy = session.selection
    assert copy.collection == ref.collection
    assert copy.name != ref.name
    session.undo()
    assert session.model == arm()


def test_a_copied_body_comes_with_the_joint_that_carries_it(session):
    session.select(ElementRef("bodies", "lower"))
    element_edits.duplicate_selected(session)
    joint = session.model.joints[-1]
    assert (joint.parent, joint.child) == ("upper", session.selection.name)
    assert joint.a.position[0] == "l1"


def test_every_row_has_its_node(tree):
    assert all(item.data(0, NODE).key == key for key, item in tree.items.items())


def test_the_words_beside_the_names_end_where_the_panel_does(tree):
    """So that long ones end with "…" instead of being cut."""
    for width in (200, 420, 260):
        tree.resize(width, 400)
        QApplication.processEvents()
        tree.fit_columns()
        view = tree.view
        assert view.columnWidth(0) + view.columnWidth(1) == view.viewport().width()


def test_what_stands_on_a_part_s_own_ground_is_in_the_part_s_row():
    """Its ground and the frames there stand with the rest of the part, not among those of the whole machine."""
    content = Model(
        name="leg",
        bodies=(Body(name="thigh", **SOLID),),
        frames=(Frame(name="mark", parent="world"), Frame(name="deep", parent="mark")),
        joints=(Joint(name="hip", parent="mark", child="thigh"),),
    )
    aside = Pose(position=(0.0, 1.0, 0.0))
    parts = (
        SubAssembly(name="one", file="leg.kst", content=content),
        SubAssembly(name="two", file="leg.kst", content=content, pose=aside),
        SubAssembly(name="three", file="leg.kst", content=content, parent="upper"),
    )
    model = dataclasses.replace(arm(), assemblies=parts)
    (ground, *_) = build_nodes(model, frozenset(), SIUnits())
    assert [node.text for node in ground.children] == ["one", "two", "j1", "ball"]
    for part, holder in zip(
        parts, (ground.children, ground.children, list(iterate_nodes(ground.children))), strict=True
    ):
        row = next(node for node in holder if node.ref == ElementRef("assemblies", part.name))
        assert row.children[0].ref == ElementRef("frames", f"{part.name}.world")
        assert (row.children[0].detail, row.children[0].icon) == (f"ground of {part.name}", "ground")
        inside = {node.text for node in iterate_nodes(row.children)}
        assert inside == {f"{part.name}.{x}" for x in ("world", "mark", "deep", "hip", "thigh")}
    upper = next(node for node in iterate_nodes(ground.children) if node.text == "upper")
    assert "three" in [node.text for node in upper.children]
    every = [node.key for node in iterate_nodes(ground.children)]
    assert len(every) == len(set(every))


def test_renaming_what_is_being_renamed_goes_on(bench, capfd):
    bench.example("pendulum")
    bench.session.select(ElementRef("bodies", bench.session.model.bodies[0].name))
    for _ in range(2):
        bench.window.run_command("element.rename")
        QApplication.processEvents()
    assert "editing failed" not in capfd.readouterr().err
    assert bench.window.tree.view.findChild(QLineEdit) is not None


def test_a_selection_elsewhere_ends_renaming_first(bench):
    bench.example("double_pendulum")
    first, second = (ElementRef("bodies", body.name) for body in bench.session.model.bodies[:2])
    bench.session.select(first)
    bench.window.run_command("element.rename")
    QApplication.processEvents()
    line = bench.window.tree.view.findChild(QLineEdit)
    QTest.keyClicks(line, "strut")
    bench.session.select(second)
    QApplication.processEvents()
    assert bench.session.model.bodies[0].name == "strut"
    assert bench.session.selection == second
    assert bench.window.tree.view.currentItem() is bench.window.tree.items[f"bodies:{second.name}"]


def test_gravity_is_named_where_it_keeps_a_parameters_value(qtbot, session, tree):
    session.apply("Gravity", lambda model: edits.add(model, Parameter(name="g", value=9.81)))
    field = dataclasses.replace(session.model.world.gravity, acceleration=(0.0, 0.0, "-g"))
    world = dataclasses.replace(session.model.world, gravity=field)
    session.apply("Gravity", lambda model: dataclasses.replace(model, world=world))
    session.select(ElementRef("parameters", "g"))
    tree.remove_selected()
    dialog = tree.findChild(RemovalDialog)
    assert [dialog.list.item(i).text() for i in range(dialog.list.count())] == ["gravity of the world"]
    dialog.accept()
    assert session.model.world.gravity.acceleration == (0.0, 0.0, -9.81)


def test_a_joint_that_goes_at_once_tells_what_it_leaves(qtbot, session, tree):
    told = []
    session.message.connect(lambda _severity, text: told.append(text))
    session.select(ElementRef("joints", "j1"))
    tree.remove_selected()
    assert [joint.name for joint in session.model.joints] == ["j2"]
    assert told == ["No longer connected to the ground, free to move: lower, upper."]
