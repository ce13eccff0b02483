"""Forces and what they hang on are renamed, copied, deleted and dragged as channels in the model tree."""

import pytest

from app.commands import element_edits
from app.document.session import ElementRef, Session
from app.panels.tree.panel import ModelTree
from app.plotting.dragged_channels import channels_from_mime_data
from app.widgets.fields.field_dialogs import RemovalDialog
from core.files import load
from resources import EXAMPLES


@pytest.fixture
def session():
    return Session(load(EXAMPLES / "forces.kst"))


@pytest.fixture
def tree(qtbot, session, settings):
    widget = ModelTree(session, settings)
    qtbot.addWidget(widget)
    widget.resize(360, 700)
    widget.show()
    return widget


def channels(tree, key):
    return channels_from_mime_data(tree.view.mimeData([tree.items[key]]))


def test_sections_hold_what_there_is_and_empty_ones_are_not_shown(tree, session):
    titles = [tree.view.topLevelItem(i).text(0) for i in range(tree.view.topLevelItemCount())]
    assert titles == [
        "world",
        "Junctions",
        "Forces",
        "Sensors",
        "Constraints",
        "Drivers",
        "Parameters",
        "Materials",
        "Whole machine",
    ]
    assert tree.items["forces:strut"].text(1) == "hook1 – eye1"
    assert tree.items["constraints:gears"].text(1) == "follow follows spin"
    session.start_document(load(EXAMPLES / "pendulum.kst"))
    titles = [tree.view.topLevelItem(i).text(0) for i in range(tree.view.topLevelItemCount())]
    assert titles == ["world", "Parameters", "Materials", "Whole machine"]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("joints:slide", ["slide.q"]),
        ("bodies:block", ["block.position"]),
        ("frames:hook1", ["hook1.position"]),
        ("sensors:height", ["height"]),
        ("forces:strut", ["strut.force"]),
        ("drivers:motor", ["motor.force"]),
        ("constraints:link", ["link.force"]),
        ("junctions:star", ["star.position"]),
        ("#energy.total", ["energy.total"]),
        ("#forces", []),
    ],
)
def test_rows_are_dragged_as_channels_of_a_run(tree, key, names):
    assert channels(tree, key) == names


def test_every_dragged_channel_is_one_of_a_run(tree, session):
    from core.simulation import simulate

    run = simulate(session.model, 0.02, method="rk4", step=0.002)
    for key in tree.items:
        for name in channels(tree, key):
            assert len(run[name]) == len(run.time), name


def test_a_deleted_junction_takes_its_springs_along_and_says_so(tree, session, qtbot):
    session.select(ElementRef("junctions", "star"))
    tree.remove_selected()
    (dialog,) = tree.findChildren(RemovalDialog)
    listed = {dialog.list.item(i).text() for i in range(dialog.list.count())}
    assert listed == {"force star_a", "force star_b", "force star_c"}
    dialog.accept()
    assert session.model.junctions == ()
    assert not any(force.name.startswith("star") for force in session.model.forces)
    session.undo()
    assert len(session.model.junctions) == 1


def test_renaming_a_sensor_carries_its_force_its_constraint_and_formulas(tree, session):
    assert tree.rename(ElementRef("sensors", "level"), "water")
    assert session.model.find("constraints", "fix").sensor == "water"
    assert session.selection == ElementRef("sensors", "water")


def test_a_force_is_duplicated_under_a_free_name(session):
    session.select(ElementRef("forces", "strut"))
    assert element_edits.duplicate_selected(session)
    assert session.selection == ElementRef("forces", "strut2")
    assert session.model.find("forces", "strut2").stiffness == "k"
