"""No dead handles: every ring, arrow and end of a link seen in the examples moves something when it is dragged."""

import numpy as np
import pytest

from app.document.session import ElementRef
from core.model import Driver
from core.model.edits import edits
from core.model.joints import Limit
from resources import examples
from tests.app.viewport.test_drag_handles import aim, pixel, way
from tests.walks import walk

MOST = 4
"""Joints and links of an example that are tried: the first and the last."""
PIXELS = 30.0


QUICKER = ("puma560", "joint_kinds", "planetary_stage", "shaker_chord", "four_bar", "double_pendulum")
"""Examples whose handles are tried in `make test`."""


def some(names):
    """The first and last of many."""
    return names if len(names) <= MOST else [*names[: MOST // 2], *names[-MOST // 2 :]]


def dragged(bench, start, along):
    """Whether a drag by so many pixels to one side or the other changes pose or document; it is undone."""
    before = bench.session.state
    for sense in (1.0, -1.0):
        goal = np.array(start) + sense * PIXELS * np.array(along) / np.linalg.norm(along)
        bench.drag([start, tuple((start + goal) / 2.0), tuple(goal)])
        now = bench.session.state
        if now.model is not before.model or now.pose != before.pose:
            bench.session.undo()
            return True
    return False


@pytest.mark.parametrize("name", walk((example.name for example in examples()), quick=QUICKER))
def test_whatever_handle_is_seen_moves_its_joint(bench, name):
    bench.example(name)
    session, handles = bench.session, bench.view.scene.handles
    names = [joint.name for joint in (*session.mech.implicit_joints, *session.model.expanded.joints) if joint.info.nq]
    dead = []
    for joint in some(names):
        session.select(ElementRef("joints", joint))
        for part in handles.visible_parts:
            aim(bench, part)
            pixels, _ = way(bench, part)
            if not dragged(bench, pixels[0], np.subtract(pixels[-1], pixels[0])):
                dead.append(part)
    assert not dead


@pytest.mark.parametrize(
    "name", walk(["four_bar", "quick_return", "watt_six_bar", "jansen_leg", "double_pendulum"], quick=QUICKER)
)
def test_whatever_end_is_seen_changes_its_link(bench, name):
    bench.example(name)
    session, view = bench.session, bench.view
    view.viewpoint.look_from("front")
    view.viewpoint.set_parallel(True)
    view.viewpoint.fit_next_picture()
    bench.draw()
    tried = 0
    for body in some([body.name for body in session.model.bodies]):
        session.select(ElementRef("bodies", body))
        view.scene.show_handles()
        for end in view.link_ends.ends:
            start = pixel(bench, end.place)
            assert dragged(bench, start, np.subtract(start, pixel(bench, end.near))), (body, end.joint)
            session.select(ElementRef("bodies", body))
            tried += 1
    assert tried


def test_a_machine_that_a_driver_holds_has_no_handles_and_says_why(bench):
    """The four-bar has one degree of freedom, which the driver takes; without it all three pins can be dragged."""
    bench.example("four_bar")
    session = bench.session
    said = []
    bench.view.expects.connect(said.append)
    pins = ("crank_pin", "moving_pin_a", "rocker_pin")
    for joint in pins:
        session.select(ElementRef("joints", joint))
        assert bench.view.scene.handles.visible_parts
    session.apply("Add driver", lambda m: edits.add(m, Driver(name="motor", joint="crank_pin", function="60 deg + t")))
    for joint in pins:
        session.select(None)
        session.select(ElementRef("joints", joint))
        assert bench.view.scene.handles.visible_parts == ()
        assert f"motor holds {joint}" in said[-1]
    session.select(None)
    assert "motor" not in said[-1]
    bench.view.expects.disconnect(said.append)


def test_a_driven_speed_holds_no_pose(bench):
    """A driver of the speed alone leaves the joint where a hand puts it."""
    bench.example("four_bar")
    session = bench.session
    driver = Driver(name="motor", joint="crank_pin", function="1", motion="velocity")
    session.apply("Add driver", lambda m: edits.add(m, driver))
    session.select(ElementRef("joints", "crank_pin"))
    assert bench.view.scene.handles.visible_parts


def test_only_the_arrows_along_which_a_loop_lets_a_free_body_go_are_there(bench):
    """The bodies of this linkage are free ones held by pins along z: they neither rise nor tilt."""
    bench.example("shaker_bodies")
    session, handles = bench.session, bench.view.scene.handles
    session.select(ElementRef("joints", "crank_motion"))
    mech = session.mech
    N = np.linalg.svd(mech.constraint_jacobian(session.q))[2][
        np.linalg.matrix_rank(mech.constraint_jacobian(session.q), 1e-8) :
    ]
    free = np.abs(N[:, mech.joint_v("crank_motion")]).max(axis=0) > 1e-6
    assert {part.speed for part in handles.visible_parts} == set(np.flatnonzero(free).tolist())
    assert len(handles.visible_parts) < 6


def test_limits_that_leave_no_room_leave_no_handle(bench):
    bench.example("pendulum")
    model = bench.session.model
    (joint,) = (each for each in model.joints if each.info.nq)
    bench.session.select(ElementRef("joints", joint.name))
    assert bench.view.scene.handles.visible_parts
    held = edits.change(model, "joints", joint.name, kind="revolute", limits=(Limit(lower=0.0, upper=0.0),), rest=())
    bench.session.apply("Hold", lambda _m: held)
    assert bench.view.scene.handles.visible_parts == ()


def test_at_a_dead_point_a_piston_has_no_arrow_until_the_shaft_has_turned(bench):
    bench.example("engine_v6")
    session, handles = bench.session, bench.view.scene.handles
    said = []
    bench.view.expects.connect(said.append)
    session.select(ElementRef("joints", "cylinder1"))
    assert handles.visible_parts == ()
    assert "Drag another joint" in said[-1]
    session.preview_coordinates({"shaft": 0.5})
    session.commit("Turn")
    assert [part.joint for part in handles.visible_parts] == ["cylinder1"]
    bench.view.expects.disconnect(said.append)
