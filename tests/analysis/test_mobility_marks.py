"""The marks of mobility stand on the components that the kernel names and point where geometry says."""

import dataclasses

import numpy as np
import pytest

from core.analysis.mobility_marks import MobilityMarker, default_marked_frame
from core.analysis.singular_directions import NEAR_SINGULAR_FRACTION, SingularDirections
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Frame, Inertia, Joint, Model, Pose
from resources import EXAMPLES
from tests.constraints.mobility import overconstrained as machines

SOLID = Inertia(ixx=0.01, iyy=0.01, izz=0.01)


def marked(model, q=None, frame=""):
    mech = Mechanism(model)
    return MobilityMarker(mech, frame).at(mech.neutral() if q is None else q)


def of_kind(diagnosis, *kinds, chief=True):
    return [mark for mark in diagnosis.marks if mark.kind in kinds and mark.chief == chief]


def parallel(a, b):
    return abs(float(np.dot(a, b))) / (np.linalg.norm(a) * np.linalg.norm(b)) == pytest.approx(1.0, abs=1e-9)


def body_mark(diagnosis, name):
    return next(mark for mark in diagnosis.marks if mark.ref == ("bodies", name))


def on_line(point, mark):
    """Whether a point lies on the line of a mark."""
    return np.linalg.norm(np.cross(np.subtract(point, mark.place), mark.direction)) < 1e-9


# ------------------------------------------------------------------------------- redundant


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (1.0, 2.0, 3.0)])
def test_a_planar_loop_of_revolutes_holds_three_too_many_across_its_plane(normal):
    """The closing joint's shift along the planes' normal and its turns about the two directions in the plane."""
    model = machines.planar_fourbar(normal)
    diagnosis = marked(model)
    marks = of_kind(diagnosis, "redundant")
    assert {mark.ref for mark in marks} == {("joints", "J4")}
    (shift,) = [mark for mark in marks if mark.form == "translation"]
    turns = [mark for mark in marks if mark.form == "rotation"]
    assert len(turns) == 2
    assert parallel(shift.direction, normal)
    np.testing.assert_allclose(np.array([mark.direction for mark in turns]) @ normal, 0.0, atol=1e-9)
    assert np.linalg.matrix_rank([mark.direction for mark in turns]) == 2
    point = [float(x) for x in model.joint("J4").a.position]
    for mark in marks:
        np.testing.assert_allclose(mark.place, point, atol=1e-12)
        assert mark.others == (("joints", "J1"), ("joints", "J2"), ("joints", "J3"))


@pytest.mark.parametrize("make", [machines.bennett, machines.sarrus, machines.bricard_plane_symmetric])
def test_marks_of_redundancies_are_what_the_kernel_names(make):
    diagnosis = marked(make())
    found = diagnosis.mobility
    assert found.redundant
    for mark, item in zip(of_kind(diagnosis, "redundant"), found.redundant, strict=True):
        assert (mark.ref, mark.text) == ((item.collection, item.joint), item.component)
        assert mark.direction == item.direction
        assert mark.form == item.component.split(" ")[0]


# ------------------------------------------------------------------------------- free motions


def test_the_bodies_of_a_four_bar_turn_about_their_poles():
    """Crank and rocker about their pins, the coupler where the lines of the two meet (Aronhold and Kennedy)."""
    A, B, C, D = np.array([(0.0, 0.0), (0.1, 1.0), (2.0, 1.5), (2.2, 0.0)])
    diagnosis = marked(machines.planar_fourbar())
    along = np.column_stack([B - A, C - D])
    s, _ = np.linalg.solve(along * [1.0, -1.0], D - A)
    for name, pole in (("link1", A), ("link2", A + s * (B - A)), ("link3", D)):
        mark = body_mark(diagnosis, name)
        assert (mark.kind, mark.form) == ("free", "rotation")
        assert parallel(mark.direction, (0.0, 0.0, 1.0))
        assert on_line([*pole, 0.0], mark)
    (chief,) = of_kind(diagnosis, "free")
    assert chief.ref == ("joints", "J1")
    np.testing.assert_allclose(chief.place, [*A, 0.0], atol=1e-12)


def test_bennetts_coupler_screws_about_the_sum_of_its_neighbours():
    """Against the ground link 2 turns as J1 and J2 do together: ω = ω1 + ω2, its pitch ω·v/ω²; link 1 and link 3 turn
    about the joints at the ground."""
    model = machines.bennett()
    mech = Mechanism(model)
    diagnosis = MobilityMarker(mech).at(mech.neutral())
    v = diagnosis.mobility.motions[0].speeds
    rates = {c.name: float(v[k]) for k, c in enumerate(mech.coordinates)}
    first, second = (model.joint(name) for name in ("J1", "J2"))
    points = [np.array(joint.a.position, dtype=float) for joint in (first, second)]
    omegas = [rates[j.name] * np.array(j.axis, dtype=float) / np.linalg.norm(j.axis) for j in (first, second)]
    omega = sum(omegas)
    velocity = sum(np.cross(w, -point) for w, point in zip(omegas, points, strict=True))  # at the world's origin
    mark = body_mark(diagnosis, "link2")
    assert mark.form == "screw"
    assert parallel(mark.direction, omega)
    assert mark.pitch == pytest.approx(float(omega @ velocity) / float(omega @ omega), abs=1e-9)
    axis = np.cross(omega, velocity) / float(omega @ omega)
    assert on_line(axis, mark)
    for name, joint in (("link1", first), ("link3", model.joint("J4"))):
        turning = body_mark(diagnosis, name)
        assert turning.form == "rotation"
        assert parallel(turning.direction, joint.axis)
        assert on_line(joint.a.position, turning)


def test_a_rod_between_balls_spins_idly_about_its_own_line():
    A, B = np.array([0.1, 0.2, 0.3]), np.array([0.6, -0.1, 0.9])
    model = machines.machine(
        "rod",
        machines.joint("slider", "prismatic", "world", "block", (0, 0, 0), (1, 0, 0)),
        machines.joint("near", "spherical", "block", "rod", A),
        machines.joint("far", "spherical", "rod", "arm", B),
        machines.joint("pivot", "revolute", "world", "arm", (0.6, 0.5, 0.2), (1, 0, 0)),
    )
    diagnosis = marked(model)
    (idle,) = [mark for mark in of_kind(diagnosis, "idle") if mark.ref == ("bodies", "rod")]
    assert idle.form == "rotation"
    assert parallel(idle.direction, B - A)
    assert on_line(A, idle)


def test_a_free_body_is_marked_itself():
    model = Model(
        name="puck",
        bodies=(Body(name="puck", mass=1.0, inertia=SOLID),),
        joints=(Joint(name="floor", kind="planar", parent="world", child="puck"),),
    )
    diagnosis = marked(model)
    marks = of_kind(diagnosis, "free")
    assert sorted(mark.form for mark in marks) == ["rotation", "translation", "translation"]
    assert all(mark.ref == ("bodies", "puck") for mark in marks)


# ------------------------------------------------------------------------------- singular poses


def _flat(distance):
    """A parallelogram with cranks (0.3, 1) on a ground of length 1, this angle (rad) before it lies in a line."""
    mech = Mechanism(machines.parallelogram(2))
    turn = -np.arctan2(1.0, 0.3) + distance
    return mech, mech.move(mech.neutral(), {mech.q_names[0]: turn})


def test_a_parallelogram_in_a_line_has_a_second_motion():
    """All four pivots lie in a line: both cranks may turn alike, or against each other."""
    mech, q = _flat(0.0)
    diagnosis = MobilityMarker(mech).at(q)
    assert (diagnosis.mobility.dof, diagnosis.mobility.at_pose) == (1, 2)
    marks = [mark for mark in of_kind(diagnosis, "singular") if mark.motion]
    assert len(marks) == 2
    assert all(parallel(mark.direction, (0.0, 0.0, 1.0)) for mark in marks)
    assert not of_kind(diagnosis, "free")


def test_what_is_hardly_held_shows_before_the_parallelogram_lies_flat_and_grows():
    shares = []
    for distance in (0.5, 0.1, 0.03, 0.01):
        mech, q = _flat(distance)
        marks = of_kind(MobilityMarker(mech).at(q), "singular")
        shares.append(marks[0].share if marks else 1.0)
    assert shares[0] == 1.0
    assert shares[1:] == sorted(shares[1:], reverse=True)
    assert shares[1] < NEAR_SINGULAR_FRACTION
    assert shares[3] / shares[2] == pytest.approx(1.0 / 3.0, rel=0.02)  # the height of the triangle, sin ε


@pytest.mark.parametrize(("angle", "still"), [(0.0, True), (np.pi, True), (1.2, False)])
def test_a_piston_stands_still_where_crank_and_rod_are_in_line(angle, still):
    mech = Mechanism(load(EXAMPLES / "slider_crank.kst"))
    diagnosis = MobilityMarker(mech).at(mech.move(mech.rest(), {"shaft": angle}))
    marks = of_kind(diagnosis, "singular")
    assert [mark.ref for mark in marks] == ([("joints", "cylinder")] if still else [])
    for mark in marks:
        assert (mark.form, mark.share) == ("translation", 0.0)
        assert parallel(mark.direction, (1.0, 0.0, 0.0))


@pytest.mark.parametrize(("angle", "expected"), [(0.0, 0.0), (0.03, None), (1.2, 1.0)])
def test_a_crank_in_line_moves_though_the_piston_that_drives_it_is_held(angle, expected):
    """A singularity of the second type: there dx/dφ = 0. With an angle to it dx/dφ is small."""
    model = load(EXAMPLES / "slider_crank.kst")
    model = dataclasses.replace(model, drivers=(Driver(name="motor", joint="cylinder", function="0"),))
    mech = Mechanism(model)
    held = SingularDirections(mech)
    assert held.actuators.names == ("cylinder",)
    q = _turned(mech, angle)
    found = of_kind(MobilityMarker(mech).at(q), "singular")
    marks = [mark for mark in found if "controlled by" in mark.text or "can move although" in mark.text]
    if expected == 1.0:
        assert not marks
        return
    (mark,) = marks
    assert mark.form == "rotation"
    assert parallel(mark.direction, (0.0, 1.0, 0.0))
    assert 0.0 < mark.share < NEAR_SINGULAR_FRACTION if expected is None else mark.share == expected


def _turned(mech, angle):
    """The slider-crank at an angle of its crank, whatever its driver says."""
    free = Mechanism(dataclasses.replace(mech.model, drivers=()))
    return free.move(free.rest(), {"shaft": angle})


def two_links(first=1.0, second=0.7):
    joints = (
        Joint(name="one", parent="world", child="upper"),
        Joint(name="two", parent="upper", child="lower", a=Pose(position=(first, 0.0, 0.0))),
    )
    bodies = tuple(Body(name=name, mass=1.0, inertia=SOLID) for name in ("upper", "lower"))
    tool = Frame(name="tool", parent="lower", pose=Pose(position=(second, 0.0, 0.0)))
    return Model(name="arm", bodies=bodies, joints=joints, frames=(tool,))


@pytest.mark.parametrize("turn", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("elbow", [0.0, np.pi])
def test_an_arm_of_two_links_in_a_line_cannot_move_along_it(turn, elbow):
    """In its plane only: out of it the tool never moves, so that nothing is lost there."""
    mech = Mechanism(two_links())
    assert default_marked_frame(mech) == "tool"
    diagnosis = MobilityMarker(mech, "tool").at(np.array([turn, elbow]))
    (lost,) = of_kind(diagnosis, "singular")
    assert (lost.ref, lost.form, lost.share) == (("frames", "tool"), "translation", 0.0)
    assert parallel(lost.direction, (np.cos(turn), np.sin(turn), 0.0))


def test_near_its_stretched_pose_as_much_is_left_as_the_smaller_singular_value_says():
    """σ2 of the arm's Jacobian against the best at other poses; the direction is its left singular vector."""
    mech = Mechanism(two_links())
    near = SingularDirections(mech, "tool")
    shares = {}
    for elbow in (0.01, 0.02, 0.04):
        q = np.array([0.3, elbow])
        (lost,) = near.lost_frame_directions(q)
        u, sigma, _ = np.linalg.svd(mech.jacobian(q, "tool")[3:])
        shares[elbow] = lost.share / sigma[1]
        assert parallel(lost.direction, u[:, 1])
    assert max(shares.values()) == pytest.approx(min(shares.values()), rel=1e-9)
    assert near.lost_frame_directions(np.array([0.3, 1.5])) == ()


def test_a_puma_with_its_wrist_stretched_cannot_turn_in_place_about_the_normal_of_its_wrist_axes():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    frame = default_marked_frame(mech)
    q = np.array([0.35, 0.87, -2.88, 0.2, 0.0, 0.4])
    J = mech.jacobian(q, frame)
    assert np.linalg.svd(J, compute_uv=False)[-1] < 1e-12
    fourth, fifth = J[:3, 3], J[:3, 4]
    (lost,) = of_kind(MobilityMarker(mech, frame).at(q), "singular")
    assert (lost.form, lost.share) == ("rotation", 0.0)
    assert "in place" in lost.text
    assert parallel(lost.direction, np.cross(fourth, fifth))
    bent = q + np.eye(6)[4]
    assert not of_kind(MobilityMarker(mech, frame).at(bent), "singular")


def test_a_pan_and_tilt_of_three_turns_loses_one_where_two_axes_meet():
    """Turns about z, y, z: at zero the first and the last coincide, and none is left about x."""
    axes = {"pan": (0.0, 0.0, 1.0), "tilt": (0.0, 1.0, 0.0), "roll": (0.0, 0.0, 1.0)}
    bodies = tuple(Body(name=f"{name}_body", mass=1.0, inertia=SOLID) for name in axes)
    carriers = ["world", *(body.name for body in bodies)]
    joints = tuple(
        Joint(name=name, parent=carriers[k], child=carriers[k + 1], axis=axis)
        for k, (name, axis) in enumerate(axes.items())
    )
    mech = Mechanism(Model(name="gimbal", bodies=bodies, joints=joints))
    (lost,) = of_kind(MobilityMarker(mech, "roll_body").at(np.zeros(3)), "singular")
    assert lost.form == "rotation"
    assert "in place" not in lost.text
    assert parallel(lost.direction, (1.0, 0.0, 0.0))


# ------------------------------------------------------------------------------- contradictions


def driven(*drivers):
    model = machines.planar_fourbar()
    return dataclasses.replace(model, drivers=tuple(Driver(name=n, joint=j, function=f) for n, j, f in drivers))


def test_drivers_that_contradict_each_other_are_marked_at_their_joints():
    diagnosis = marked(driven(("motor", "J1", "t"), ("brake", "J1", "2*t")))
    (conflict,) = of_kind(diagnosis, "conflict")
    assert (conflict.ref, conflict.others) == (("drivers", "brake"), (("drivers", "motor"),))
    assert conflict.text == diagnosis.mobility.inconsistent[0]
    np.testing.assert_allclose(conflict.place, (0.0, 0.0, 0.0), atol=1e-12)


def test_elements_that_cannot_hold_together_are_marked_and_said():
    model = Model(
        name="apart",
        bodies=(Body(name="ball", mass=1.0, inertia=SOLID),),
        frames=(
            Frame(name="left", parent="world"),
            Frame(name="right", parent="world", pose=Pose(position=(3.0, 0.0, 0.0))),
        ),
        constraints=(
            Constraint(name="rod1", kind="rod", a="left", b="ball", length=1.0),
            Constraint(name="rod2", kind="rod", a="right", b="ball", length=1.0),
        ),
    )
    mech = Mechanism(model)
    diagnosis = MobilityMarker(mech).at(mech.neutral())
    assert diagnosis.mobility is None
    assert diagnosis.problem
    marks = of_kind(diagnosis, "conflict")
    assert {mark.ref for mark in marks} <= {("constraints", "rod1"), ("constraints", "rod2")}
    assert marks


# ------------------------------------------------------------------------------- everywhere


@pytest.mark.parametrize("name", ["four_bar", "bricard", "slider_crank", "stewart", "spatial_four_bar", "macpherson"])
def test_every_motion_has_its_marks_at_poses_of_the_examples(name):
    """As many chief marks as the kernel has motions, redundancies as it names them, at the rest pose and beside it."""
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    marks = MobilityMarker(mech)
    rng = np.random.default_rng(3)
    for q in (mech.rest(), mech.move(mech.rest(), {mech.q_names[0]: mech.rest()[0] + 0.1 * rng.normal()})):
        diagnosis = marks.at(q)
        fresh = mech.mobility(q)
        chiefs = [mark for mark in diagnosis.marks if mark.motion and mark.chief]
        assert {mark.motion for mark in chiefs} == set(range(1, len(fresh.motions) + 1))
        held = [(mark.ref[1], mark.text) for mark in diagnosis.marks if mark.kind == "redundant"]
        assert held == [(item.joint, item.component) for item in fresh.redundant]
        known = {"joints": mech.joint_names, "bodies": [body.name for body in mech.model.expanded.bodies]}
        assert all(mark.ref[1] in known[mark.ref[0]] for mark in diagnosis.marks)
