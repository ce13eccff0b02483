"""The length of a link in the properties, by clicks and keys as a person makes them."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.widgets.fields.number_editors import LinkLengthEditor
from core.design import linkage
from core.model import Body, Cylinder, Model


@pytest.fixture
def field(bench):
    """The field of a body's length, of the selected body."""

    def shown(body):
        bench.session.select(ElementRef("bodies", body))
        return editor(bench)

    return shown


def editor(bench):
    return next(each for each in bench.window.findChildren(LinkLengthEditor) if each.isVisibleTo(bench.window))


def place_of(bench, item):
    """A pixel of the person on which a part of the machine is seen."""
    scene = bench.view.scene
    x, y = scene.project(scene.figures.table[item].pose[:3, 3])
    return x / bench.view.devicePixelRatioF(), y / bench.view.devicePixelRatioF()


def write(edit, text):
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_two_clicks_and_a_value_make_a_link_as_long_as_said(bench, four_bar):
    bench.click(*place_of(bench, "shape/coupler/0"))
    assert bench.session.selection == ElementRef("bodies", "coupler")
    write(editor(bench).edit, "0.25 m")
    pins = bench.session.mech.joint_poses(bench.session.q, p=bench.session.p)
    ends = [pins[name][0][:3, 3] for name in ("moving_pin_a", "moving_pin_b")]
    assert np.linalg.norm(np.subtract(*ends)) == pytest.approx(0.25, abs=1e-9)
    assert np.abs(bench.session.mech.constraint_residual(bench.session.q, p=bench.session.p)).max() < 1e-10
    bench.session.undo()
    assert bench.session.model.find("parameters", "b").value == 0.3


def test_a_length_with_which_the_loop_cannot_close_says_by_how_much_and_changes_nothing(bench, four_bar, field):
    """The coupler of a four-bar cannot be longer than the three other bars together: 0.1 + 0.25 + 0.32 m."""
    length, before = field("coupler"), bench.session.model
    write(length.edit, "0.7 m")
    assert bench.session.model is before
    assert "0.03 m too long" in length.note.text()
    assert "up to 0.67 m" in length.note.text()


def test_formulas_stay_unless_a_person_chooses(bench, field):
    from core.model import Body, Joint, Model, Parameter, Pose

    model = Model(
        parameters=(Parameter(name="l", value=0.2), Parameter(name="h", value=0.1)),
        bodies=(Body(name="link", mass=1.0), Body(name="next", mass=1.0)),
        joints=(
            Joint(name="A", parent="world", child="link"),
            Joint(name="B", parent="link", child="next", a=Pose(position=("l + h", 0, 0))),
        ),
    )
    bench.session.start_document(model)
    length = field("link")
    assert "Locked" in length.note.text()
    write(length.edit, "0.25 m")
    assert bench.session.model == model
    titles = [action.text() for action in length.choices.actions()]
    assert titles == [
        "Change the parameter l",
        "Change the parameter h",
        "Add an offset to the formulas",
        "Replace the formulas with numbers",
    ]
    length.choices.actions()[2].trigger()
    assert bench.session.model.joint("B").a.position[0] == "l + h - 0.05"


def test_a_length_that_follows_another_links_changes_that_only_if_chosen(bench, field):
    """l2 is l1*3: another length of the second link would change the first."""
    from core.design import linkage
    from core.model import Model

    model = linkage.link(Model(name="arm"), [(0, 0), (0.1, 0), (0.4, 0), (0.5, 0)])
    bench.session.start_document(linkage.dimension(model, "l2", "l1*3"))
    before = bench.session.model
    length = field("link2")
    write(length.edit, "0.6 m")
    assert bench.session.model is before
    assert "l1" in length.note.text()
    assert length.choices.actions()[0].text() == "Change the parameter l1"
    length.choices.actions()[0].trigger()
    assert bench.session.model.values() == {
        "l1": pytest.approx(0.2),
        "l2": pytest.approx(0.6),
        "l3": pytest.approx(0.1),
    }


def test_a_menu_chooses_to_which_joint_a_ternary_link_is_measured(bench, field):
    from core.model import Body, Joint, Model, Pose

    def pin(name, parent, child, x, y):
        return Joint(name=name, parent=parent, child=child, a=Pose(position=(x, y, 0)))

    bodies = tuple(Body(name=name, mass=1.0) for name in ("link", "second", "third"))
    pins = (pin("A", "world", "link", 0, 0), pin("B", "link", "second", 0.3, 0), pin("C", "link", "third", 0, 0.4))
    bench.session.start_document(Model(bodies=bodies, joints=pins))
    length = field("link")
    assert length.edit.value == pytest.approx(0.3)
    length.to.menu().aboutToShow.emit()
    next(action for action in length.to.menu().actions() if action.text() == "C").trigger()
    assert length.edit.value == pytest.approx(0.4)
    write(length.edit, "0.5 m")
    assert bench.session.model.joint("C").a.position == (0.0, 0.5, 0.0)
    assert bench.session.model.joint("B").a.position == (0.3, 0, 0)


def test_the_last_link_of_a_drawn_arm_has_the_length_of_its_free_end(bench, field):
    bench.session.start_document(linkage.link(Model(name="arm"), [(0, 0), (0.1, 0), (0.4, 0)]))
    length = field("link2")
    assert length.edit.value == pytest.approx(0.3)
    assert length.to.isHidden()
    write(length.edit, "250 mm")
    assert bench.session.model.find("parameters", "l2").value == 0.25
    end = bench.session.mech.frame(bench.session.q, "link2") @ np.array([0.25, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(end[:3], (0.35, 0.0, 0.0), atol=1e-12)


def test_bodies_that_end_nowhere_have_no_length(bench, field):
    bench.session.start_document(Model(bodies=(Body(name="disc", mass=1.0, shapes=(Cylinder(),)),)))
    bench.session.select(ElementRef("bodies", "disc"))
    assert not [each for each in bench.window.findChildren(LinkLengthEditor) if each.isVisibleTo(bench.window)]
