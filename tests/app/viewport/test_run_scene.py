"""What runs show in the scene: vectors, ways of points, other runs; and films from the window."""

import dataclasses
import re

import av
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.panels.tree.tree_nodes import Node
from app.panels.tree.tree_rows import create_row_menu
from app.plotting.channels import suggest_plots
from core.files import loads
from core.mechanism import Mechanism
from core.model import Model, Parameter
from core.model.edits import edits
from core.simulation import simulate
from core.simulation.run.resampling import equilibrium_run
from viz.film.footage import FollowedPoint
from viz.scene.vectors import RequestedArrow, compute_arrow_fields


def motion(mech, end=1.0, samples=51, amplitude=0.6):
    """A run in which every joint swings as a sine; nothing is integrated."""
    t = np.linspace(0.0, end, samples)
    q = amplitude * np.outer(np.sin(4.0 * t), np.ones(mech.nv))
    v = 4.0 * amplitude * np.outer(np.cos(4.0 * t), np.ones(mech.nv))
    a = -16.0 * q
    still = equilibrium_run(mech, q[0])
    return dataclasses.replace(
        still, time=t, q=q, v=v, a=a, tau=mech.inverse_dynamics(q, v, a), x=np.zeros((samples, mech.nx))
    )


@pytest.fixture
def arm(bench):
    """The two-link arm with a run of it."""
    bench.example("two_link")
    bench.window.run_scene.hide_all_vectors()
    bench.session.runs.add(motion(bench.session.mech))
    bench.session.runs.seek(0.3)
    yield bench
    bench.window.run_scene.hide_all_vectors()
    bench.view.scene.follow_frames()


def arrows(bench):
    """(origin, tip) of every arrow that is drawn, in the order in which they were put."""
    found = []
    for actor, _ in bench.view.scene.overlays._arrows._shown.get("runs", []):
        matrix = actor.GetUserMatrix()
        pose = np.array([[matrix.GetElement(i, j) for j in range(4)] for i in range(4)])
        found.append((pose[:3, 3], pose[:3, 3] + pose[:3, 2]))
    return found


def tool(bench):
    return bench.session.mech.frame_names[-1]


# ------------------------------------------------------------------------------- vectors


def test_the_velocity_of_a_frame_is_an_arrow_that_follows_the_playhead(arm):
    name, run = tool(arm), arm.session.runs.current.run
    arm.session.select(ElementRef("frames", name))
    arm.window.run_command("vectors.velocity_here")
    scene = arm.window.run_scene
    for k in (10, 40):
        arm.session.runs.seek(run.time[k])
        ((origin, tip),) = arrows(arm)
        assert origin == pytest.approx(run[f"{name}.position"][k], abs=1e-9)
        assert tip - origin == pytest.approx(scene.scale["velocity"] * run[f"{name}.velocity"][k], abs=1e-9)
    arm.window.run_command("vectors.velocity_here")
    assert arrows(arm) == []


def test_all_forces_in_joints_with_a_legend_whose_slider_lengthens_them(arm):
    arm.window.run_command("vectors.force")
    legend, names = arm.window.legend, arm.session.mech.joint_names
    shown = arrows(arm)
    assert 0 < len(shown) <= len(names)
    assert legend.isVisible()
    assert "N" in legend._words["force"].text()
    before = max(np.linalg.norm(tip - origin) for origin, tip in shown)
    legend.sliders["force"].setValue(legend.sliders["force"].maximum())
    after = max(np.linalg.norm(tip - origin) for origin, tip in arrows(arm))
    assert after == pytest.approx(10.0 * before, rel=1e-6)
    arm.window.run_command("vectors.none")
    assert legend.isHidden()


def test_the_scale_of_arrows_is_round_stated_and_stays_while_a_pose_moves(bench):
    """As long as no arrow leaves the picture: moved by hand, the arms of puma560 weigh on its joints as before."""
    bench.example("puma560")
    bench.window.run_command("vectors.torque")
    scene, legend = bench.window.run_scene, bench.window.legend
    scale, words = scene.scale["torque"], legend._words["torque"].text()
    assert f"{scale:.0e}"[0] in "125"
    assert scale == pytest.approx(float(f"{scale:.0e}"), rel=1e-12)
    value, length = re.fullmatch(r"([\d.e+-]+)\u202fN·m ≙ ([\d.]+)\s*m", words).groups()
    assert float(length) == pytest.approx(scale * float(value), rel=1e-3)
    longest = max(np.linalg.norm(tip - origin) for origin, tip in arrows(bench))
    assert 0.05 * scene.size < longest < scene.size
    for angle in (0.2, 0.5, 0.8):
        bench.session.preview_coordinates({bench.session.mech.q_names[1]: float(bench.session.q[1]) + angle})
        assert scene.scale["torque"] == scale
        assert legend._words["torque"].text() == words
    bench.session.cancel_preview()
    scene.hide_all_vectors()


def test_the_sizes_of_vectors_stand_at_their_arrows(arm):
    """They are the numbers of the run's channels at the playhead."""
    arm.window.run_command("vectors.force")
    run = arm.session.runs.current.run
    for k in (10, 40):
        arm.session.runs.seek(run.time[k])
        wanted = {f"{np.linalg.norm(run[f'{joint}.reaction'][k, 3:]):.3g}\u202fN" for joint in run.mech.joint_names}
        values = arm.window.viewport.annotations.values
        assert values
        assert {value.text for value in values} <= wanted
        tips = [tip for _, tip in arrows(arm)]
        assert all(min(np.linalg.norm(tip - value.point) for tip in tips) < 1e-9 for value in values)
    arm.window.run_command("vectors.values")
    assert arm.window.viewport.annotations.values == ()
    assert not arm.window.actions_.by_id["vectors.values"].isChecked()
    arm.window.run_command("vectors.values")
    assert arm.window.viewport.annotations.values
    arm.window.run_command("vectors.none")
    assert arm.window.viewport.annotations.values == ()


def test_one_of_all_can_be_left_out(arm):
    arm.window.run_command("vectors.force")
    scene, joint = arm.window.run_scene, arm.session.mech.joint_names[-1]
    everything = set(scene.shown_vectors)
    scene.toggle_vectors("force", ElementRef("joints", joint))
    assert set(scene.shown_vectors) == everything - {RequestedArrow("force", "joints", joint)}


def test_without_a_run_the_pose_is_held_still(bench):
    bench.example("puma560")
    bench.session.runs.clear()
    bench.window.run_command("vectors.force")
    mech, model = bench.session.mech, bench.session.model
    shown = arrows(bench)
    scale = bench.window.run_scene.scale["force"]
    weight = 9.81 * sum(float(body.mass) for body in model.expanded.bodies if body.name != "base")
    longest = max((tip - origin for origin, tip in shown), key=np.linalg.norm)
    assert longest / scale == pytest.approx([0.0, 0.0, weight], rel=1e-6, abs=1e-6 * weight)
    before = [origin for origin, _ in shown]
    bench.session.preview_coordinates({mech.q_names[1]: float(bench.session.q[1]) + 0.4})
    assert any(np.linalg.norm(a - b) > 0.01 for a, (b, _) in zip(before, arrows(bench), strict=True))
    bench.session.cancel_preview()
    bench.window.run_scene.hide_all_vectors()


# ------------------------------------------------------------------------------- ways, ghosts


def test_the_way_of_a_run_is_drawn_up_to_the_playhead_however_it_came_there(arm):
    name, run = tool(arm), arm.session.runs.current.run
    arm.session.select(ElementRef("frames", name))
    arm.window.run_command("view.trace")
    arm.session.runs.seek(0.9)
    arm.session.runs.seek(0.2)
    ((actor, _),) = (v for k, v in arm.view.scene.overlays._paths.items() if k[0] == "runs")
    points = np.array(
        [actor.GetMapper().GetInput().GetPoint(k) for k in range(actor.GetMapper().GetInput().GetNumberOfPoints())]
    )
    assert points == pytest.approx(run[f"{name}.position"][:11], abs=1e-6)
    arm.window.run_command("view.trace_whole")
    actor = next(v for k, v in arm.view.scene.overlays._paths.items() if k[0] == "runs")[0]
    assert actor.GetMapper().GetInput().GetNumberOfPoints() == len(run)
    arm.window.run_command("view.trace_whole")


def test_a_point_of_a_body_is_traced_from_its_context_menu(arm):
    body, run = arm.session.model.expanded.bodies[-1].name, arm.session.runs.current.run
    pose = arm.session.mech.frame(arm.session.q, body)
    arm.session.select(ElementRef("bodies", body))
    arm.view.menu_point = (pose @ [0.1, 0.02, 0.03, 1.0])[:3]
    arm.window.run_command("view.trace_point")
    (tracing,) = arm.window.run_scene.followed_points
    assert tracing == FollowedPoint(body, pytest.approx((0.1, 0.02, 0.03)))
    arm.session.runs.seek(1.0)
    actor = next(v for k, v in arm.view.scene.overlays._paths.items() if k[0] == "runs")[0]
    last = actor.GetMapper().GetInput().GetPoint(actor.GetMapper().GetInput().GetNumberOfPoints() - 1)
    end = arm.session.mech.frame(run.q[-1], body) @ [0.1, 0.02, 0.03, 1.0]
    assert last == pytest.approx(end[:3], abs=1e-6)


def test_ghosts_of_runs_with_parameters_that_are_gone(arm):
    """A run knows values of parameters that an edit has removed since."""
    session = arm.session
    session.apply(
        "Add parameters",
        lambda model: edits.add(edits.add(model, Parameter(name="gone", value=1.0)), Parameter(name="left", value=2.0)),
    )
    first, second = (motion(session.mech, amplitude=each) for each in (0.6, 0.3))
    other = {**second.settings.parameters, "gone": 1.0, "left": 3.0}
    session.runs.add(dataclasses.replace(second, settings=dataclasses.replace(second.settings, parameters=other)))
    session.runs.add(first)
    session.apply("Delete the parameter", lambda model: edits.remove(model, "parameters", "gone"))
    session.runs.seek(0.3)
    arm.window.run_scene.redraw()
    assert "runs" in arm.view.scene.overlays._ghosts.sources


def test_other_visible_runs_are_ghosts_at_the_same_time(arm):
    runs, mech = arm.session.runs, arm.session.mech
    other = runs.add(motion(mech, amplitude=0.2), select=False)
    overlays = arm.view.scene.overlays
    runs.seek(0.5)
    assert "runs" in overlays._ghosts.sources
    (copy,) = overlays._ghosts._copies["runs"]
    first = [figure.actor for figure in copy.figures]
    runs.seek(0.7)
    (copy,) = overlays._ghosts._copies["runs"]
    assert [figure.actor for figure in copy.figures] == first
    body = copy.figures[-1].item.frame
    from viz.placement import to_matrix

    wanted = mech.frame(other.run.at(0.7), body) @ to_matrix(copy.figures[-1].item.placement)
    if copy.figures[-1].item.until is None:
        assert copy.figures[-1].pose == pytest.approx(wanted, abs=1e-9)
    runs.set_visible(other, False)
    assert "runs" not in overlays._ghosts.sources


# ------------------------------------------------------------------------------- films


def test_a_film_is_made_from_the_window_while_it_can_be_used(arm, tmp_path):
    arm.window.run_command("file.export_film")
    dialog = arm.window.dialogs.film_dialog
    assert dialog.isVisible()
    path = tmp_path / "film.mp4"
    dialog.file.setText(str(path))
    dialog.size.setCurrentIndex(dialog.size.count() - 1)
    dialog.width_.setValue(160)
    dialog.height_.setValue(90)
    dialog.fps.setCurrentText("20")
    assert dialog.summary.text().startswith("21 frames")
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert dialog.start.text() == "Stop"
    arm.session.runs.seek(0.6)
    arm.wait(lambda: arm.window.films.running is None, 60.0)
    assert f"Wrote {path}: 21 frames" in arm.messages("done")
    with av.open(str(path)) as file:
        found = [(float(frame.time), frame.width, frame.height) for frame in file.decode(video=0)]
    assert [time for time, _, _ in found] == pytest.approx(list(np.arange(21) / 20), abs=1e-9)
    assert found[0][1:] == (160, 90)
    dialog.close()


def test_a_film_is_called_like_its_machine_and_as_fast_as_it_is_played(bench):
    bench.example("pendulum")
    mech = bench.session.mech
    bench.session.runs.add(simulate(mech, 0.2))
    bench.window.player.set_speed(0.02)
    bench.window.run_command("file.export_film")
    dialog = bench.window.dialogs.film_dialog
    assert dialog.file.text().endswith("pendulum.mp4")
    assert dialog.chosen.speed == 0.02
    dialog.file.setText(dialog.file.text().replace("pendulum.mp4", "mine.gif"))
    bench.window.run_command("file.export_film")
    assert dialog.file.text().endswith("mine.gif")
    dialog.close()
    bench.example("slider_crank")
    bench.session.runs.add(simulate(bench.session.mech, 0.2))
    bench.window.run_command("file.export_film")
    assert dialog.file.text().endswith("slider_crank.gif")
    dialog.close()


def test_what_cannot_be_filmed_is_said_beside_the_fields(arm):
    arm.window.run_command("file.export_film")
    dialog = arm.window.dialogs.film_dialog
    dialog.fps.setCurrentText("often")
    assert "often" in dialog.note.words
    assert not dialog.start.isEnabled()
    dialog.fps.setCurrentText("30")
    assert dialog.start.isEnabled()
    dialog.from_.setValue(0.9)
    dialog.to.setValue(0.1)
    assert "before its start" in dialog.note.words
    dialog.close()


def test_a_film_that_is_there_already_is_said_to_be_replaced(arm, tmp_path):
    arm.window.run_command("file.export_film")
    dialog = arm.window.dialogs.film_dialog
    (tmp_path / "film.gif").write_bytes(b"older")
    (tmp_path / "picture_0001.png").write_bytes(b"older")
    for name, there in (("film.gif", "film.gif"), ("new.gif", ""), ("picture.png", "picture_0001.png"), ("a.png", "")):
        dialog.file.setText(str(tmp_path / name))
        assert dialog.note.words == (f"{there} exists already and will be replaced." if there else "")
        assert dialog.start.isEnabled()
    dialog.close()


def test_a_film_in_the_making_tells_the_time_left_and_leaves_the_older_one_if_it_is_stopped(arm, tmp_path):
    arm.window.run_command("file.export_film")
    dialog = arm.window.dialogs.film_dialog
    path = tmp_path / "film.mp4"
    path.write_bytes(b"older")
    dialog.file.setText(str(path))
    dialog.fps.setCurrentText("60")
    dialog.speed.setValue(0.05)
    said = []
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    arm.wait(lambda: said.append(dialog.summary.text()) or "left" in said[-1], 60.0)
    done, left = re.fullmatch(r"(\d+) %, about (\d+) s left", said[-1]).groups()
    assert 0 <= int(done) <= 100
    assert int(left) >= 0
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    arm.wait(lambda: arm.window.films.running is None, 60.0)
    arm.wait(lambda: dialog.start.text() == "Make film")
    assert "Stopped" in dialog.note.words
    assert path.read_bytes() == b"older"
    assert [each.name for each in tmp_path.iterdir()] == ["film.mp4"]
    dialog.close()


@pytest.mark.parametrize(
    ("collection", "name", "titles"),
    [
        ("frames", "tip", {"Path", "Show velocity", "Show acceleration", "Show angular velocity", "Plot"}),
        ("joints", "pin", {"Show force", "Show torque", "Plot"}),
        ("forces", "damper", {"Show force", "Show torque", "Plot"}),
        ("parameters", "d", set()),
    ],
)
def test_the_tree_offers_ways_vectors_and_curves_of_its_rows(bench, collection, name, titles):
    bench.example("damped_pendulum")
    session = bench.session
    run = simulate(session.mech, 0.1, q0=session.q)
    session.runs.add(run)
    session.select(ElementRef(collection, name))
    menu = create_row_menu(bench.window.tree, Node(name, name, ref=ElementRef(collection, name)))
    shown = {action.text() for action in menu.actions()}
    offered = {"Path", "Plot"} | {text for text in shown if text.startswith("Show ")}
    assert offered & shown == titles
    for action in menu.actions():
        if action.text() == "Plot":
            action.trigger()
            assert bench.window.plots.sheet.active_plot.channels


def test_the_torque_of_a_spring_and_damper_in_a_joint_acts_on_the_child_against_the_motion(bench):
    """n = −(k q + d v) e with e = −y, k = 0.5 N·m/rad, d = 0.15 N·m·s/rad, at the pin 0.9 m above the ground."""
    bench.example("damped_pendulum")
    run = simulate(bench.session.mech, 0.5, q0=bench.session.q)
    (field,) = compute_arrow_fields(run, [RequestedArrow("torque", "forces", "damper")])
    size = 0.5 * run["pin.q"] + 0.15 * run["pin.v"]
    np.testing.assert_allclose(field.vectors, np.outer(size, [0.0, 1.0, 0.0]), atol=1e-12)
    np.testing.assert_allclose(field.origins, np.tile([0.0, 0.0, 0.9], (len(run), 1)), atol=1e-12)
    assert not compute_arrow_fields(run, [RequestedArrow("force", "forces", "damper")])


def test_a_machine_held_so_that_nothing_moves_stands_at_rest():
    """With constraints but without a speed there is no joint force to be found."""
    model = loads(
        "kinetostat: 1\nname: A\nbodies:\n  a: {mass: 1}\njoints:\n"
        "  j: {kind: fixed, parent: world, child: a}\n  k: {kind: fixed, parent: world, child: a}\n",
        "kst",
    )
    mech = Mechanism(model)
    assert mech.constrained
    assert mech.nv == 0
    run = equilibrium_run(mech, mech.rest())
    assert run.tau.shape == (1, 0)
    assert run["energy.kinetic"][0] == 0.0


def test_an_empty_document_has_no_path_of_a_tool_to_propose():
    mech = Mechanism(Model(name="empty"))
    assert not [title for title in suggest_plots(equilibrium_run(mech, mech.rest())) if "world" in title]
