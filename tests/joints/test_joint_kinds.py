"""Every member of every kind of joint, at random states, against the others: the poses say what all else must be."""

import math

import numpy as np
import pytest

from core.errors import ModelError
from core.files.formats import dumps, loads
from core.joints import JOINT_KINDS, Free, Planar, Revolute, Spherical, Universal
from core.joints.kind import JointKind, ReversedJoint
from core.kinds import Kinds
from core.mechanics.kinematics import combine_columns
from core.model import Body, Joint, Model
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.rotation import about_x, about_z, from_quaternion
from core.numerics.spatial.vector import ZERO, Vector3
from tests.joints.made_up_kinds import Cam, Parabola, PinInSlot

AXIS, SECOND, PITCH = (0.3, -0.5, 0.8), (0.9, 0.2, 0.4), 0.7
KINDS = [*JOINT_KINDS.values(), Parabola, PinInSlot, Cam]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
both_ways = pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "reversed"])
h = 1e-6


def law_of(kind, is_reversed=False):
    law = kind.read(AXIS, SECOND, PITCH)[0]
    return ReversedJoint(law) if is_reversed else law


def states(kind, count=10):
    rng = np.random.default_rng(len(kind.name))
    for _ in range(count):
        yield kind.moved(np.array(kind.neutral), rng.uniform(-1.0, 1.0, kind.nv)), rng.uniform(-1.0, 1.0, kind.nv)


def numbers(values):
    return [float(x) for x in values]


def six(pair):
    return np.array([x for part in pair for x in part], dtype=float)


def matrix(X):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.array(X.rotation, dtype=float), np.array(X.position, dtype=float)
    return out


def velocity(law, q, v):
    return six(combine_columns(law.subspace(numbers(q)), numbers(v))) if law.nv else np.zeros(6)


def displaced(X_ab, k, step):
    """X_ab with b turned about (k < 3) or shifted along an axis of its own."""
    motion = np.zeros(6)
    motion[k] = step
    return X_ab @ Free().pose(numbers(Free.moved(np.array(Free.neutral), motion)))


@every_kind
@both_ways
def test_velocity_is_the_derivative_of_the_pose(kind, is_reversed):
    """In b's axes: [ω]× = Rᵀ Ṙ, v = Rᵀ ṗ."""
    law = law_of(kind, is_reversed)
    for q, v in states(kind):
        ahead, behind = (matrix(law.pose(numbers(kind.moved(q, step * v)))) for step in (h, -h))
        rate = np.linalg.inv(matrix(law.pose(numbers(q)))) @ (ahead - behind) / (2 * h)
        expected = velocity(law, q, v)
        np.testing.assert_allclose([rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]], expected, atol=1e-8)


@every_kind
@both_ways
def test_bias_is_the_rate_of_the_columns(kind, is_reversed):
    law = law_of(kind, is_reversed)
    for q, v in states(kind):
        ahead, behind = (velocity(law, kind.moved(q, step * v), v) for step in (h, -h))
        np.testing.assert_allclose(six(law.bias(numbers(q), numbers(v))), (ahead - behind) / (2 * h), atol=1e-8)


@every_kind
@both_ways
def test_rate_and_difference_fit_integration(kind, is_reversed):
    law = law_of(kind, is_reversed)
    for q, v in states(kind):
        rate = (kind.moved(q, h * v) - kind.moved(q, -h * v)) / (2 * h)
        np.testing.assert_allclose(np.array(law.rate(numbers(q), numbers(v)), dtype=float), rate, atol=1e-8)
        np.testing.assert_allclose(kind.between(q, kind.moved(q, v)), v, atol=1e-12)


@every_kind
@both_ways
def test_springs_pull_along_the_displacement(kind, is_reversed):
    """The displacement from rest has the square of the distance as potential: d(½|x|²)/dt = x·v."""
    law = law_of(kind, is_reversed)

    def displacement(q):
        return np.array(law.displacement(numbers(q), kind.neutral), dtype=float)

    for q, v in states(kind):
        ahead, behind = (0.5 * np.sum(displacement(kind.moved(q, step * v)) ** 2) for step in (h, -h))
        assert displacement(q) @ v == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)


@every_kind
def test_the_residual_vanishes_on_the_joints_own_motion_and_nowhere_near(kind):
    """6 − nv rows, zero at the joint's poses, of full rank; their derivative along the columns is zero."""
    law = law_of(kind)
    if not kind.closes_loops:
        with pytest.raises(ModelError, match=f"'{kind.name}' defines only its pose"):
            law.residual(IDENTITY)
        return
    for q, _ in states(kind):
        X_ab = law.pose(numbers(q))
        rows = np.array(law.residual(X_ab), dtype=float)
        assert len(rows) == kind.constraints == 6 - kind.nv
        np.testing.assert_allclose(rows, 0.0, atol=1e-12)
        ahead, behind = (
            np.array([law.residual(displaced(X_ab, k, step)) for k in range(6)], dtype=float).T.reshape(-1, 6)
            for step in (h, -h)
        )
        slope = (ahead - behind) / (2 * h)
        assert np.linalg.matrix_rank(slope, tol=1e-3) == len(rows) if len(rows) else not slope.size
        for column in law.subspace(numbers(q)):
            np.testing.assert_allclose(slope @ six(column), 0.0, atol=1e-8)


@every_kind
def test_coordinates_are_measured_and_wrenches_are_dual_to_the_columns(kind):
    law = law_of(kind)
    for q, _ in states(kind):
        X_ab = law.pose(numbers(q))
        values, wrenches = law.measure(X_ab)
        measured = np.array(values, dtype=float)
        if kind.quaternion is not None:
            part = slice(kind.quaternion, kind.quaternion + 4)
            measured[part] *= np.sign(measured[part] @ q[part])
        np.testing.assert_allclose(measured, q, atol=1e-12)
        R = X_ab.rotation
        columns = [np.array([*R.act(S.angular), *R.act(S.linear)], dtype=float) for S in law.subspace(numbers(q))]
        power = [[six(W) @ S for S in columns] for W in wrenches]
        np.testing.assert_allclose(np.array(power).reshape(kind.nv, kind.nv), np.eye(kind.nv), atol=1e-12)


@every_kind
def test_angles_are_counted_by_those_that_say_so(kind):
    """A whole turn of an angle is measured where the joint tells it, and lost where `counts_turns` says so."""
    law = law_of(kind)
    q, _ = next(states(kind))
    for k, dimension in enumerate(kind.coordinate_dimensions):
        if dimension == "angle":
            further = q.copy()
            further[k] += 2.0 * math.pi
            measured = float(law.measure(law.pose(numbers(further))).values[k])
            assert measured == pytest.approx(q[k] if kind.wraps_around(k) else further[k], abs=1e-9)


def motion_of(part, q):
    """The motion of an elementary joint, by the letters' own meaning."""
    value = q[part.coordinate :]
    match part.motion:
        case "R":
            return Pose(about_z(value[0]), ZERO)
        case "P":
            return Pose(IDENTITY.rotation, Vector3(0.0, 0.0, value[0]))
        case "H":
            return Pose(about_z(value[0]), Vector3(0.0, 0.0, part.advance * value[0]))
        case "S":
            return Pose(from_quaternion(value[:4]), ZERO)
        case "F":
            return Pose(from_quaternion(value[3:7]), Vector3(*value[:3]))
    assert part.motion == "W"
    return IDENTITY


@every_kind
def test_elementary_joints_make_the_same_motion(kind):
    law = law_of(kind)
    if kind in (Parabola, PinInSlot, Cam):
        assert law.elementary() is None
        return
    for q, _ in states(kind):
        made = IDENTITY
        for part in law.elementary():
            made = made @ part.frame @ motion_of(part, numbers(q)) @ part.frame.inverse()
        np.testing.assert_allclose(matrix(made), matrix(law.pose(numbers(q))), atol=1e-12)


@every_kind
def test_half_a_turn_across_the_axis_is_the_wrong_way_round(kind):
    """There the rows of directions vanish as well, and the cosine tells it."""
    law, rows = law_of(kind), kind.direction_rows
    for q, _ in states(kind):
        X_ab = law.pose(numbers(q))
        facing, wrong = law.facing(X_ab), X_ab @ Pose(about_x(math.pi), ZERO)
        if rows is None:
            assert facing is None
            continue
        assert facing > 0.0 > law.facing(wrong)
        np.testing.assert_allclose(np.array(law.residual(wrong)[rows], dtype=float), 0.0, atol=1e-12)


@every_kind
def test_what_is_forbidden_does_no_work(kind):
    if kind.forbidden is None:
        return
    law = law_of(kind)
    for q, _ in states(kind):
        second = np.array(law.second, dtype=float) if kind is Universal else np.zeros(3)
        first = np.array(law.pose(numbers(q)).rotation.act_back(Vector3(0.0, 0.0, 1.0)), dtype=float)
        directions = {
            "all": np.eye(3),
            "along": np.eye(3)[2:],
            "across": np.eye(3)[:2],
            "normal": [np.cross(first, second)],
            "none": [],
        }
        wrenches = [[0.0, 0.0, 0.0, *n] for n in directions[kind.forbidden.translations]]
        wrenches += [[*n, 0.0, 0.0, 0.0] for n in directions[kind.forbidden.rotations]]
        assert len(wrenches) == kind.constraints
        for column in law.subspace(numbers(q)):
            work = np.array(wrenches).reshape(-1, 6) @ six(column)
            if kind.name != "screw":  # it exchanges translation for rotation
                np.testing.assert_allclose(work, 0.0, atol=1e-12)


@every_kind
def test_an_exchange_frees_as_much_as_it_names(kind):
    for exchange in kind.releases:
        assert JOINT_KINDS[exchange.kind].nv - kind.nv == len(exchange.frees)


@every_kind
def test_a_joint_is_saved_and_read_back(kind, monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", {**dict(JOINT_KINDS), kind.name: kind})
    joint = Joint(name="j", kind=kind.name, parent="world", child="b", axis=AXIS, second_axis=SECOND, pitch=PITCH)
    model = Model(bodies=(Body(name="b", mass=1.0),), joints=(joint,))
    assert loads(dumps(model)).joint("j") == joint
    assert joint.info is kind


@every_kind
def test_every_kind_says_what_it_does(kind):
    assert kind.title
    assert kind.help.endswith(".")
    assert len({*kind.coordinates}) == kind.nq
    assert set(kind.uses) <= {"axis", "second_axis", "pitch"}


def test_a_document_names_no_kind_that_there_is_not():
    with pytest.raises(ModelError, match="parabola"):
        Joint(name="j", kind="parabola", parent="world", child="b")


def test_a_kind_that_lacks_a_member_is_refused():
    class Silent(JointKind):
        name, title, help, uses = "silent", "Silent", "Nothing.", ()
        coordinates, coordinate_dimensions, counts_turns = (), (), False

    with pytest.raises(TypeError, match="Silent lacks bias, measure, pose, residual, subspace"):
        Kinds("joint", JointKind, Silent)


def test_facts_and_members_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="define 'rate'"):

        class Unrated(Revolute):
            coordinates, coordinate_dimensions, speeds = ("x", "y"), ("angle", "angle"), ("w",)
            speed_dimensions = ("angular_velocity",)

    with pytest.raises(TypeError, match="remove 'rate'"):

        class Overrated(Spherical):
            coordinates, coordinate_dimensions, speeds = ("x",), ("angle",), ("w",)
            speed_dimensions, neutral = ("angular_velocity",), (0.0,)

    with pytest.raises(TypeError, match="define 'read'"):

        class Unread(Revolute):
            coordinates, coordinate_dimensions, uses = ("",), ("angle",), ("axis", "pitch")


def test_conventions():
    """Screw: pitch per revolution; universal: a's axis, then b's; planar: x, y, angle; free: position first."""
    screw = law_of(JOINT_KINDS["screw"])
    assert float(screw.pose([2.0 * math.pi]).position.z) == pytest.approx(PITCH)
    planar = Planar().pose([0.3, -0.2, math.pi / 2])
    np.testing.assert_allclose(np.array(planar.position, dtype=float), [0.3, -0.2, 0.0])
    np.testing.assert_allclose(np.array(planar.rotation.columns()[0], dtype=float), [0.0, 1.0, 0.0], atol=1e-15)
    free = Free().pose([1.0, 2.0, 3.0, 0.0, 0.0, math.sin(0.5), math.cos(0.5)])
    np.testing.assert_allclose(np.array(free.position, dtype=float), [1.0, 2.0, 3.0])
    assert math.atan2(free.rotation.y.x, free.rotation.x.x) == pytest.approx(1.0)


def test_parallel_axes_of_a_universal_joint_are_refused():
    with pytest.raises(ModelError, match="parallel"):
        Universal.read((0.0, 0.0, 2.0), (0.0, 0.0, -1.0), 0.0)
