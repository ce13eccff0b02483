"""Results that reach beyond the picture."""

import dataclasses

import numpy as np

from core.files import load
from core.functions import call
from core.model import Pose
from core.model.edits import edits
from resources import EXAMPLES


def ellipsoids(bench):
    return bench.view._ellipsoids.get("result", [])


def test_a_live_ellipsoid_stands_where_the_frame_is_and_goes_when_it_follows_no_longer(bench):
    bench.example("puma560")
    session, functions, answers = bench.session, bench.window.functions, bench.window.answers
    functions.open_function("manipulability")
    functions.form.live_box.setChecked(True)
    bench.wait(lambda: ellipsoids(bench))
    for name, value in (("joint2", 0.3), ("joint3", 0.2)):
        session.preview_coordinates({name: value})
        bench.wait(lambda: not (answers._soon.isActive() or bench.window.jobs.unfinished_jobs))
        (drawn,) = ellipsoids(bench)
        fresh = call("manipulability", session.context()).ellipsoids[0]
        np.testing.assert_allclose(drawn[0], fresh.center, atol=1e-12)
        np.testing.assert_allclose(sorted(drawn[2]), sorted(fresh.radii), rtol=1e-9)
    functions.open_function("jacobian")  # another function is looked at: the ellipsoid goes on
    session.preview_coordinates({"joint3": 0.5})
    bench.wait(lambda: not (answers._soon.isActive() or bench.window.jobs.unfinished_jobs))
    np.testing.assert_allclose(ellipsoids(bench)[0][0], session.mech.frame(session.q, "tool")[:3, 3], atol=1e-12)
    functions.open_function("manipulability")
    functions.form.live_box.setChecked(False)
    session.preview_coordinates({"joint3": 0.1})
    assert not ellipsoids(bench)
    session.cancel_preview()


def test_an_ellipsoid_of_one_call_goes_with_its_pose(bench):
    bench.example("puma560")
    bench.session.produced.emit(call("manipulability", bench.session.context()))
    assert ellipsoids(bench)
    bench.session.preview_coordinates({"joint2": 0.3})
    assert not ellipsoids(bench)
    assert not bench.window.sequence.is_open
    bench.session.cancel_preview()


def test_poses_of_a_machine_that_was_edited_or_closed_leave_the_scene(bench):
    bench.example("four_bar")
    session, sequence = bench.session, bench.window.sequence
    ranges = ("crank_pin=0:1:3",)
    session.produced.emit(call("show_robot", session.context(), ranges=ranges))
    assert sequence.is_open
    session.apply("Mass", lambda model: edits.change(model, "bodies", "rocker", mass=0.3, density=None))
    assert sequence.is_open, "the poses are the same"
    session.apply(
        "Point", lambda model: edits.change(model, "frames", "coupler_point", pose=Pose(position=(0.1, 0.0, 0.2)))
    )
    assert not sequence.is_open
    session.produced.emit(call("show_robot", session.context(), ranges=ranges))
    assert sequence.is_open
    session.start_document(load(EXAMPLES / "four_bar.kst"))
    assert not sequence.is_open


def test_what_lies_beside_the_picture_makes_the_view_step_back(bench):
    bench.example("stanford")
    context = bench.window.functions.context()
    ranges = (("joint1", 0.0, 1.0, 2), ("d3", 3.0, 6.0, 2))
    result = call("show_robot", context, ranges=ranges)
    scene = bench.view.scene

    def seen(point):
        x, y = scene.project(point)
        return 0 <= x <= scene.size[0] and 0 <= y <= scene.size[1]

    tips = [context.mech.frame(np.array(q), "tool")[:3, 3] for q in result.q]
    assert not all(map(seen, tips))
    bench.session.produced.emit(dataclasses.replace(result, live=True))  # one that follows a drag leaves it alone
    bench.draw()
    assert not all(map(seen, tips))
    bench.session.produced.emit(result)
    bench.wait(lambda: all(map(seen, tips)))
