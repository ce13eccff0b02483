"""Planned motions: on their paths, within limits, with derivatives that fit, or refused with the place."""

import json
from dataclasses import replace

import numpy as np
import pytest
import yaml

import kinetostat as ks
from core.errors import FileError, ModelError
from core.files.named import load
from core.functions import Context, call
from core.model.edits import edits
from core.model.motions import LAW_NAMES
from core.motions import laws
from core.motions.plan import plan

HOME, READY = (0.0, -1.57, 0.5, -1.57, -1.0, 0.0), (0.0, -1.2, 1.4, -1.5, -1.5, 0.0)
LIMITS = {"joint_acceleration": 5.0, "joint_jerk": 50.0, "tool_speed": 0.5, "tool_acceleration": 2.0}


def stored(mech, name, q):
    rows = [ks.JointValue(coordinate=each, value=float(x)) for each, x in zip(mech.q_names, q, strict=True)]
    return ks.StoredPose(name=name, values=rows)


def moved_target(mech, name, q, by, reference="world"):
    """Target at the tool's pose at q, shifted by (3,) m."""
    X = mech.frame(np.array(q), "tool")
    base = np.linalg.inv(mech.frame(np.array(q), reference)) if reference != "world" else np.eye(4)
    X[:3, 3] += by
    X = base @ X
    from scipy.spatial.transform import Rotation

    quaternion = Rotation.from_matrix(X[:3, :3]).as_quat()
    return ks.Target(
        name=name,
        reference=reference,
        pose=ks.Pose(position=tuple(map(float, X[:3, 3])), rotation=tuple(map(float, quaternion))),
    )


@pytest.fixture(scope="module")
def arm():
    """UR5 with poses and targets."""
    model = load("ur5")
    mech = ks.Mechanism(model)
    targets = [
        moved_target(mech, "aside", READY, [0.0, 0.25, -0.1]),
        moved_target(mech, "between", READY, [0.1, 0.1, 0.0]),
        moved_target(mech, "far", READY, [3.0, 0.0, 0.0]),
    ]
    return replace(model, poses=[stored(mech, "home", HOME), stored(mech, "ready", READY)], targets=targets, motions=[])


def planned(model, *segments, **fields):
    motion = ks.Motion(name="m", segments=segments, **{"start": "home", **LIMITS, **fields})
    whole = replace(model, motions=[motion])
    whole.validate()
    return plan(ks.Mechanism(whole), "m")


@pytest.fixture(scope="module")
def pick(arm):
    return planned(
        arm,
        ks.Segment(to="ready", law="s-curve"),
        ks.Segment(kind="line", to="aside"),
        ks.Segment(kind="wait", duration=0.5),
        ks.Segment(kind="arc", to="ready", via="between", law="quintic"),
        ks.Segment(to="home", duration=3.0, law="cycloidal"),
    )


def check_derivatives(trajectory):
    step = 1e-4
    for piece in trajectory.pieces:
        t = piece.start + piece.law.duration * np.array([0.13, 0.31, 0.52, 0.77, 0.93])
        (ahead, v_ahead, _), (_, v, a), (behind, v_behind, _) = (trajectory.at(t + k * step) for k in (1, 0, -1))
        rate = trajectory.mech.difference(behind, ahead) / (2 * step)
        np.testing.assert_allclose(rate, v, atol=2e-6 * max(1.0, np.max(np.abs(v))))
        np.testing.assert_allclose((v_ahead - v_behind) / (2 * step), a, atol=2e-4 * max(1.0, np.max(np.abs(a))))


def test_speeds_and_accelerations_are_those_of_the_positions(pick):
    check_derivatives(pick)


def test_limits_of_joints_and_tool_are_kept_and_one_of_them_met(pick):
    for piece in pick.pieces:
        t = piece.start + np.linspace(0.0, piece.law.duration, 4001)
        _, v, a = pick.at(np.clip(t, 0.0, pick.duration))
        twist = pick.tool(t)[1]
        shares = [np.max(np.abs(v) / pick.bounds.velocity), np.max(np.abs(a) / 5.0)]
        if piece.kind in ("line", "arc"):
            shares.append(np.max(np.linalg.norm(twist[:, 3:], axis=1)) / 0.5)
        assert max(shares) < 1 + 1e-6
        if piece.kind == "line":
            assert max(shares) > 0.99


def test_the_tool_stays_on_line_and_arc(pick, arm):
    line, arc = pick.pieces[1], pick.pieces[3]
    start, end = (pick.tool(line.start + x)[0] for x in (0.0, line.law.duration))
    t = line.start + np.linspace(0.0, line.law.duration, 101)
    X = pick.tool(t)[0]
    direction = (end - start)[:3, 3] / np.linalg.norm((end - start)[:3, 3])
    along = (X[:, :3, 3] - start[:3, 3]) @ direction
    np.testing.assert_allclose(X[:, :3, 3], start[:3, 3] + along[:, None] * direction, atol=1e-9)
    np.testing.assert_allclose(X[:, :3, :3], np.broadcast_to(start[:3, :3], (101, 3, 3)), atol=1e-9)
    t = arc.start + np.linspace(0.0, arc.law.duration, 101)
    points = pick.tool(t)[0][:, :3, 3]
    via = np.array(next(each for each in arm.targets if each.name == "between").pose.position)
    assert np.min(np.linalg.norm(points - via, axis=1)) < 0.02
    # all points of a circle have the same power of the circle through three of them
    a, b, c = points[0], via, points[-1]
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    centre = a + (np.cross(normal, ab) * (ac @ ac) + np.cross(ac, normal) * (ab @ ab)) / (2 * (normal @ normal))
    np.testing.assert_allclose(np.linalg.norm(points - centre, axis=1), np.linalg.norm(a - centre), atol=1e-9)
    np.testing.assert_allclose((points - a) @ normal / np.linalg.norm(normal), 0.0, atol=1e-9)


def test_segments_begin_and_end_where_they_should(pick):
    np.testing.assert_allclose(pick.at(0.0)[0], HOME, atol=1e-12)
    np.testing.assert_allclose(pick.at(pick.pieces[1].start)[0], READY, atol=1e-9)
    np.testing.assert_allclose(pick.at(pick.duration)[0], HOME, atol=1e-8)
    assert pick.pieces[4].law.duration == pytest.approx(3.0)
    assert not any(rate.any() for rate in pick.at(pick.pieces[2].start + 0.25)[1:])


def test_joint_segments_are_as_fast_as_the_slowest_joint(arm):
    trajectory = planned(arm, ks.Segment(to="ready"))
    bounds = trajectory.bounds
    times = [
        laws.trapezoid(x, y, velocity=bounds.velocity[k], acceleration=5.0).duration
        for k, (x, y) in enumerate(zip(HOME, READY, strict=True))
    ]
    assert trajectory.duration == pytest.approx(max(times), rel=1e-9)


def test_runs_have_the_forces_of_inverse_dynamics(pick):
    run = pick.run(0.05)
    k = len(run.time) // 3
    np.testing.assert_allclose(run.tau[k], pick.mech.inverse_dynamics(run.q[k], run.v[k], run.a[k]))
    np.testing.assert_array_equal(run["joint2.q"], run.q[:, 1])
    shares = {(each.joint, each.quantity): each for each in pick.margins()}
    fine = np.abs(pick.run(2e-3).tau)
    assert shares["joint2", "force"].value == pytest.approx(np.max(fine[:, 1]), rel=1e-3)


def test_drivers_follow_the_motion(pick):
    driven = pick.as_drivers(step=0.02)
    driven.validate()
    run = ks.simulate(driven, 1.0, output=0.1)
    np.testing.assert_allclose(run.q, pick.at(run.time)[0], atol=1e-3)


def test_files_of_a_trajectory(pick, tmp_path):
    pick.save(tmp_path / "m.csv", 0.1)
    head, *rows = (tmp_path / "m.csv").read_text().splitlines()
    assert head.startswith("t [s],joint1.q [rad],joint2.q [rad]")
    assert head.endswith("joint6.a [rad/s^2]")
    t, q, v, a = pick.sample(0.1)
    np.testing.assert_array_equal(np.loadtxt(rows, delimiter=","), np.column_stack([t, q, v, a]))
    pick.save(tmp_path / "m.yaml", 0.1)
    pick.save(tmp_path / "m.json", 0.1)
    assert yaml.safe_load((tmp_path / "m.yaml").read_text()) == json.loads((tmp_path / "m.json").read_text())
    message = json.loads((tmp_path / "m.json").read_text())
    assert message["joint_names"] == list(pick.mech.q_names)
    assert message["points"][3]["positions"] == q[3].tolist()
    assert message["points"][12]["time_from_start"] == {"sec": 1, "nanosec": 200000000}
    with pytest.raises(FileError, match="not written as"):
        pick.save(tmp_path / "m.txt")


@pytest.mark.parametrize("name", ["stewart", "four_bar"])
def test_machines_with_loops(name):
    model = load(name)
    mech = ks.Mechanism(model)
    q0 = mech.rest()
    free = mech.mobility(q0)
    assert free.dof >= 1
    joint = mech.q_names[0] if name == "four_bar" else None
    if joint:
        pose = ks.StoredPose(name="there", values=[ks.JointValue(coordinate=joint, value=float(q0[0]) + 0.4)])
        segment = ks.Segment(to="there", law="quintic")
    else:
        X = mech.frame(q0, "P1")
        pose = ks.Target(name="there", pose=ks.Pose(position=(*X[:2, 3], X[2, 3] + 0.03)))
        segment = ks.Segment(kind="line", to="there", law="quintic")
    field = "targets" if name == "stewart" else "poses"
    whole = replace(
        model,
        **{field: [pose]},
        motions=[
            ks.Motion(name="m", frame="P1" if name == "stewart" else "", joint_acceleration=3.0, segments=[segment])
        ],
    )
    trajectory = plan(ks.Mechanism(whole), "m")
    check_derivatives(trajectory)
    q, v, _ = trajectory.at(np.linspace(0.0, trajectory.duration, 23))
    np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-9)
    np.testing.assert_allclose((mech.constraint_jacobian(q) @ v[..., None])[..., 0], 0.0, atol=1e-8)
    assert np.max(np.abs(trajectory.at(np.linspace(0.0, trajectory.duration, 501))[2])) <= 3.0 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("segment", "fields", "message"),
    [
        (ks.Segment(to="far"), {}, "No position of the machine meets target 'far'"),
        (ks.Segment(kind="line", to="far"), {}, "cannot follow the path after"),
        (ks.Segment(to="ready", duration=0.1), {}, "takes at least"),
        (ks.Segment(to="ready"), {"joint_acceleration": None}, "Nothing limits the acceleration"),
        (ks.Segment(to="ready", law="s-curve"), {"joint_jerk": None}, "Nothing limits the jerk"),
        (ks.Segment(to="ready"), {"tool_speed": -1.0}, "permits no motion"),
        (ks.Segment(kind="arc", to="ready", via="ready"), {}, "on one line"),
    ],
)
def test_what_is_not_possible_is_refused_by_segment(arm, segment, fields, message):
    with pytest.raises(ModelError, match=message):
        planned(arm, segment, **fields)


def test_documents_keep_poses_targets_and_motions(arm):
    motion = ks.Motion(name="m", start="home", segments=[ks.Segment(kind="line", to="aside")], **LIMITS)
    model = replace(arm, motions=[motion])
    again = ks.loads(ks.dumps(model))
    assert (again.poses, again.targets, again.motions) == (model.poses, model.targets, model.motions)
    renamed = edits.rename(model, "targets", "aside", "bench")
    assert renamed.motions[0].segments[0].to == "bench"
    with pytest.raises(ModelError, match="no pose or target 'nowhere'"):
        replace(model, motions=[replace(motion, start="nowhere")]).validate()
    with pytest.raises(ModelError, match="no end"):
        ks.Segment(kind="line")


def test_the_function_gives_the_plan(arm):
    motion = ks.Motion(name="m", start="home", segments=[ks.Segment(to="ready")], **LIMITS)
    model = replace(arm, motions=[motion])
    report = call("plan_motion", Context.of(model), motion="m")
    segments, _, played = report.parts
    trajectory = plan(ks.Mechanism(model), "m")
    assert segments.rows[0][-1].value == trajectory.duration
    np.testing.assert_array_equal(played.run.q, trajectory.run().q)


def test_a_motion_without_segments_is_refused(arm):
    with pytest.raises(ModelError, match="no segments"):
        planned(arm)


def test_laws_of_documents_are_those_that_there_are():
    assert set(LAW_NAMES) - {"time optimal"} == set(laws.LAWS)


def test_values_of_parameters_are_those_asked_for(arm):
    motion = ks.Motion(name="m", start="home", segments=[ks.Segment(kind="line", to="aside")], **LIMITS)
    model = replace(arm, motions=[motion])
    longer = edits.change(model, "parameters", "a2", value=0.5)
    wanted = plan(ks.Mechanism(longer), "m")
    found = plan(ks.Mechanism(model), "m", p={"a2": 0.5})
    assert found.duration == pytest.approx(wanted.duration, rel=1e-9)
    np.testing.assert_allclose(found.at(0.7)[0], wanted.at(0.7)[0], atol=1e-9)
    played = call("plan_motion", Context.of(model, parameters={"a2": 0.5})).parts[-1].run
    np.testing.assert_allclose(played.q, wanted.run().q, atol=1e-9)
    np.testing.assert_allclose(played["tool.position"][-1], wanted.tool(9.0)[0][:3, 3], atol=1e-9)
    assert plan(ks.Mechanism(model), "m").duration != pytest.approx(wanted.duration, rel=1e-3)


def test_targets_keep_a_named_configuration(arm):
    mech = ks.Mechanism(arm)
    target = next(each for each in arm.targets if each.name == "aside")
    found = mech.inverse_kinematics(mech.frame(np.array(READY), "tool"), "tool", q=np.array(READY))
    other = str(found.solutions[-1].configuration)
    model = replace(arm, targets=[replace(target, configuration=other)])
    end = planned(model, ks.Segment(to="aside")).at(1e9)[0]
    again = mech.inverse_kinematics(mech.frame(end, "tool"), "tool", q=end, all=False)
    assert str(again.solutions[0].configuration) == other


def test_a_singular_line_names_the_deviation_that_would_pass():
    model = load("puma560")
    mech = ks.Mechanism(model)
    start, end = np.random.default_rng(1).uniform(-1.2, 1.2, (10, 6))[8:]
    motion = ks.Motion(name="m", start="a", segments=[ks.Segment(kind="line", to="b")], joint_acceleration=5.0)
    poses = [stored(mech, "a", start), stored(mech, "b", end)]
    with pytest.raises(ModelError, match=r"near a singularity .* deviates by \d\.\d+ mm"):
        plan(ks.Mechanism(replace(model, poses=poses, motions=[motion])), "m")


def test_a_payload_takes_the_forces_of_a_body_at_the_tool(arm):
    motion = ks.Motion(name="m", start="home", segments=[ks.Segment(to="ready", law="quintic")], **LIMITS)
    model = replace(arm, motions=[motion])
    carried = ks.Body(name="load", mass=2.0, center_of_mass=(0.01, 0.02, 0.05))
    fixed = ks.Joint(name="grip", kind="fixed", parent="tool", child="load")
    heavy = edits.add(model, carried, fixed)
    wanted = plan(ks.Mechanism(heavy), "m").run(0.05)
    found = plan(ks.Mechanism(model), "m").run(0.05, payload={"mass": 2.0, "center": (0.01, 0.02, 0.05)})
    np.testing.assert_allclose(found.tau, wanted.tau, atol=1e-9)
    with pytest.raises(ModelError, match="payload of"):
        plan(ks.Mechanism(model), "m").run(payload={"mass": -1.0})
