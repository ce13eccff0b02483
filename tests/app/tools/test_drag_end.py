"""The end of a selected link is dragged: its length changes, the other end stays, loops stay closed."""

import numpy as np
import pytest

from app.document.session import ElementRef
from core.design import linkage
from core.model import Body, Capsule, Joint, Model, Parameter, Pose
from core.model.edits.lengths import current_link_length


def pixel(bench, place):
    x, y = np.array(bench.view.scene.project(place)) / bench.view.devicePixelRatioF()
    return float(x), float(y)


def drag_to(bench, joint, place, *, release=True):
    """Drag the end at a joint of the selected link to a place, m, world."""
    end = next(each for each in bench.view.link_ends.ends if each.joint == joint)
    start, goal = pixel(bench, end.place), pixel(bench, place)
    bench.press(*start)
    for share in np.linspace(0.2, 1.0, 5):
        bench.move(*(np.array(start) + share * (np.array(goal) - start)))
    if release:
        bench.release(*goal)


def chain(far=(0.2, 0, 0), *parameters):
    """A bar on the ground in the xz plane, and one that hangs on its end."""
    bar = Capsule(pose=Pose(position=(0.1, 0, 0), rotation=(0, "90 deg", 0)), radius=0.01, length=0.2)
    return Model(
        parameters=parameters,
        bodies=(Body(name="link", mass=1.0, shapes=() if parameters else (bar,)), Body(name="next", mass=1.0)),
        joints=(
            Joint(name="A", parent="world", child="link", axis=(0, -1, 0)),
            Joint(name="B", parent="link", child="next", a=Pose(position=far), axis=(0, -1, 0)),
        ),
    )


def front(bench):
    bench.view.viewpoint.look_from("front")
    bench.view.viewpoint.set_parallel(True)
    bench.view.viewpoint.fit_next_picture()
    bench.draw()


def test_a_length_in_numbers_follows_the_pointer_as_one_undo_step(bench):
    bench.session.start_document(chain())
    bench.session.select(ElementRef("bodies", "link"))
    front(bench)
    model = bench.session.model
    drag_to(bench, "B", (0.3, 0.0, 0.0))
    assert current_link_length(bench.session.model, "link") == pytest.approx(0.3, abs=2e-3)
    (bar,) = bench.session.model.body("link").shapes
    assert bar.length == pytest.approx(current_link_length(bench.session.model, "link"))
    assert bench.session.mech.joint_poses(bench.session.q)["A"][1][:3, 3] == pytest.approx(np.zeros(3), abs=1e-12)
    bench.session.undo()
    assert bench.session.model == model


def test_a_loop_stays_closed_and_the_parameter_takes_the_length(bench, four_bar):
    session = bench.session
    session.select(ElementRef("bodies", "rocker"))
    front(bench)
    (end,) = bench.view.link_ends.ends
    drag_to(bench, end.joint, end.near + 1.1 * (end.place - end.near))
    assert session.model.find("parameters", "c").value == pytest.approx(0.275, abs=2e-3)
    assert np.abs(session.mech.constraint_residual(session.q, p=session.p)).max() < 1e-10
    assert session.model.bodies == session.mech.compiled.model.bodies
    assert session.undo_label == "Change length of rocker"


def test_a_drag_beyond_what_the_loop_lets_stops_there(bench, four_bar):
    """The coupler ends at the sum of the other three bars, 0.67 m."""
    session = bench.session
    session.select(ElementRef("bodies", "coupler"))
    front(bench)
    (end,) = bench.view.link_ends.ends
    drag_to(bench, end.joint, end.near + 4.0 * (end.place - end.near))
    assert session.model.find("parameters", "b").value <= 0.67 + 1e-6
    assert np.abs(session.mech.constraint_residual(session.q, p=session.p)).max() < 1e-8


def test_escape_leaves_the_length_as_it_was(bench):
    bench.session.start_document(chain())
    bench.session.select(ElementRef("bodies", "link"))
    front(bench)
    model = bench.session.model
    drag_to(bench, "B", (0.3, 0.0, 0.0), release=False)
    assert "length" in bench.view.scene.overlays._ghosts.sources
    bench.view.gestures.cancel_gesture()
    assert bench.session.model is model
    assert "length" not in bench.view.scene.overlays._ghosts.sources


def test_no_end_is_shown_that_cannot_be_dragged(bench):
    locked = chain(("l + h", 0, 0), Parameter(name="l", value=0.1), Parameter(name="h", value=0.1))
    bench.session.start_document(locked)
    bench.session.select(ElementRef("bodies", "link"))
    assert bench.view.link_ends.ends == ()
    assert bench.view.annotations.grips == ()
    bench.session.start_document(chain())
    bench.session.select(ElementRef("bodies", "link"))
    assert len(bench.view.annotations.grips) == 1
    bench.view.gestures.choose_tool("connect")
    assert bench.view.annotations.grips == ()
    bench.view.gestures.choose_tool("select")
    bench.session.select(ElementRef("bodies", "next"))
    assert bench.view.annotations.grips == ()


def test_the_free_end_of_a_drawn_arm_is_dragged(bench):
    session = bench.session
    session.start_document(linkage.link(Model(name="arm"), [(0, 0), (0.1, 0), (0.4, 0)]))
    bench.view.gestures.choose_tool("select")
    session.select(ElementRef("bodies", "link2"))
    front(bench)
    drag_to(bench, "", (0.5, 0.0, 0.0))
    assert session.model.find("parameters", "l2").value == pytest.approx(0.4, abs=2e-3)
    session.undo()
    assert session.model.find("parameters", "l2").value == pytest.approx(0.3)
