"""Actuators and manipulability relative to them, against closed forms and differences of closed poses."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.optimize

from core.analysis.actuators import actuator_transmission, choose_actuators, default_actuators, uncontrolled_motion_text
from core.analysis.manipulability import (
    actuated_jacobian,
    compute_measures,
    manipulability,
    singular_values,
    velocity_dimensions,
)
from core.constraints.cut_coordinates import cut_joint_motion
from core.errors import ModelError
from core.files import load
from core.functions.catalogue import call
from core.functions.context import Context
from core.functions.results import leaf_results, tables_in_result
from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Driver, Limit, Model
from resources import EXAMPLES
from tests.constraints.mobility import overconstrained as machines
from tests.mechanism import test_joints_that_close_loops as joints_that_close_loops

HALF = math.pi / 2
CONSTRAINED = sorted(
    path.stem
    for path in EXAMPLES.glob("*.kst")
    if (lambda model: model.constraints or Mechanism(model).loops)(load(path))
)


def arm(*rows):
    return Mechanism(Model(name="arm", chains=(DHChain(name="arm", rows=rows),)))


def yoshikawa(mech, q, frame="tool"):
    """(translation, rotation) of w."""
    general = velocity_dimensions(mech, frame)
    return tuple(
        manipulability(mech, np.asarray(q), frame, part=part, m=general[part]).measures.yoshikawa
        for part in ("translation", "rotation")
    )


def test_index_of_planar_arms_with_two_and_three_joints():
    two, three = arm(DHRow(a=0.6), DHRow(a=0.4)), arm(DHRow(a=0.6), DHRow(a=0.4), DHRow(a=0.3))
    for q in np.random.default_rng(0).uniform(-3, 3, (5, 3)):
        assert yoshikawa(two, q[:2]) == pytest.approx((0.24 * abs(math.sin(q[1])), math.sqrt(2.0)), rel=1e-12)
        q1, q2, q3 = q
        # √det(J Jᵀ) of the rows x, y is the root of the sum of squared minors of the columns (Cauchy–Binet)
        along = [np.array([math.cos(a), math.sin(a)]) for a in np.cumsum([q1, q2, q3])]
        tip = 0.6 * along[0] + 0.4 * along[1] + 0.3 * along[2]
        arms = [tip, tip - 0.6 * along[0], 0.3 * along[2]]
        minors = [arms[i][0] * arms[j][1] - arms[i][1] * arms[j][0] for i, j in ((0, 1), (0, 2), (1, 2))]
        assert yoshikawa(three, q) == pytest.approx((math.hypot(*minors), math.sqrt(3.0)), rel=1e-11)


def test_index_of_a_spherical_wrist_is_the_sine_of_its_middle_angle():
    wrist = arm(DHRow(alpha=-HALF), DHRow(alpha=HALF), DHRow())
    for q in np.random.default_rng(1).uniform(-3, 3, (5, 3)):
        assert yoshikawa(wrist, q) == (pytest.approx(0.0), pytest.approx(abs(math.sin(q[1])), rel=1e-12))


def test_index_of_the_catalogue_is_zero_only_where_the_arm_is_singular():
    """√det(J Jᵀ) of six rows is zero for every arm with fewer than six joints."""
    model = Model(name="arm", chains=(DHChain(name="arm", rows=(DHRow(a=0.6), DHRow(a=0.4))),))
    mech = Mechanism(model)
    for q2, expected in ((0.7, 0.24 * math.sin(0.7)), (0.0, 0.0)):
        table = tables_in_result(call("jacobian", Context(model, mech, np.array([0.3, q2]))))[-1]
        facts = {row[0]: row[1:] for row in table.rows}
        assert facts["Yoshikawa's w"][0] == pytest.approx(expected, abs=1e-12)
        assert facts["Rank here"] == ((2 if q2 else 1), 1, 2)


def test_both_parts_together_do_not_depend_on_the_unit_of_length():
    """[ω; v/L] with L of the machine: an arm ten times as large has the same singular values."""
    found = []
    for scale in (1.0, 10.0):
        model = Model(name="arm", chains=(DHChain(name="arm", rows=(DHRow(a=scale), DHRow(a=0.7 * scale))),))
        table = tables_in_result(call("jacobian", Context(model, Mechanism(model), np.array([0.3, 0.8]))))[-1]
        found.append([row[3] for row in table.rows[2:]])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_joints_that_slide_are_weighed_by_the_length():
    mech = arm(DHRow(alpha=-HALF), DHRow(kind="prismatic", d=0.0))
    q = np.array([0.3, 0.8])
    general = velocity_dimensions(mech, "tool")["translation"]
    radii = [manipulability(mech, q, "tool", m=general, length=L).radii[:2] for L in (1.0, 0.25)]
    np.testing.assert_allclose(radii[0], [1.0, 0.8], rtol=1e-12)  # v of the slide, r ω of the turn
    np.testing.assert_allclose(radii[1], [0.8, 0.25], rtol=1e-12)


def legs(mech, q, count=6):
    """(6, 6) rows [r × n; n] of the legs: their rates for the platform's [ω; v]."""
    center = mech.frame(q, "platform")[:3, 3]
    poses = mech.joint_poses(q)
    feet, heads = (np.array([poses[f"{name}{i}"][0][:3, 3] for i in range(1, count + 1)]) for name in ("base", "top"))
    n = (heads - feet) / np.linalg.norm(heads - feet, axis=1)[:, None]
    return np.concatenate([np.cross(heads - center, n), n], axis=1)


def test_a_platform_is_moved_by_its_legs():
    """J is the inverse of the Plücker coordinates of the legs' lines."""
    mech = Mechanism(machines.stewart())
    q = mech.neutral()
    assert default_actuators(mech.compiled).names == tuple(f"leg{i}" for i in range(1, 7))
    np.testing.assert_allclose(actuated_jacobian(mech, q, "platform").matrix @ legs(mech, q), np.eye(6), atol=1e-9)
    sigma = 1.0 / np.linalg.svd(np.linalg.inv(legs(mech, q))[3:], compute_uv=False)
    force = manipulability(mech, q, "platform", kind="force", m=3)
    np.testing.assert_allclose(np.sort(force.radii), np.sort(sigma), rtol=1e-8)


def test_the_platform_of_the_examples_is_moved_by_its_legs():
    context = Context.of(load(EXAMPLES / "stewart.kst"))
    matrix = next(leaf_results(call("jacobian", context)))
    assert matrix.columns == tuple(f"leg{i}.slide" for i in range(1, 7))
    assert "leg1.slide" in call("manipulability", context).measures.note


@pytest.mark.parametrize("name", CONSTRAINED)
def test_columns_are_differences_of_closed_poses_per_actuator(name):
    context = Context.of(dataclasses.replace(load(EXAMPLES / f"{name}.kst"), drivers=()))  # a motor would not let go
    mech, q, h = context.mech, context.q, 1e-5
    chosen = default_actuators(mech.compiled)
    J = actuated_jacobian(mech, q, context.tool)
    assert not J.loose.shape[1]
    speeds = actuator_transmission(mech, q, chosen).speeds
    np.testing.assert_allclose(speeds[list(chosen.indices)], np.eye(len(chosen.names)), atol=1e-9)
    for k in range(len(chosen.names)):
        ahead, behind = (
            mech.frame(mech.assemble(mech.integrate(q, step * speeds[:, k])), context.tool) for step in (h, -h)
        )
        rate = (ahead[:3, 3] - behind[:3, 3]) / (2 * h)
        np.testing.assert_allclose(J.matrix[3:, k], rate, atol=2e-6)


def test_a_slider_cannot_move_its_crank_where_it_turns_back():
    """Where the slider stands farthest out its speed vanishes for any of the crank's."""
    mech = Mechanism(load(EXAMPLES / "slider_crank.kst"))
    shaft = choose_actuators(mech, ["shaft"])
    name = next(c.name for c in mech.coordinates if c.dimension == "length")
    slider, k = choose_actuators(mech, [name]), mech.v_names.index(name)

    def rate(angle):
        return float(actuator_transmission(mech, mech.move(mech.rest(), {"shaft": angle}), shaft).speeds[k, 0])

    dead = mech.move(mech.rest(), {"shaft": scipy.optimize.brentq(rate, -0.4, 0.5, xtol=1e-13)})
    assert not actuator_transmission(mech, mech.move(mech.rest(), {"shaft": 0.5}), slider).loose.shape[1]
    loose = actuator_transmission(mech, dead, slider).loose
    assert loose.shape[1] == 1
    assert loose[k, 0] == pytest.approx(0.0, abs=1e-7)
    assert "second type" in uncontrolled_motion_text(mech, slider, loose)
    assert manipulability(mech, dead, "rod", part="rotation", actuators=slider, m=1).measures.yoshikawa == math.inf
    context = Context(mech.model, mech, dead)
    told = next(leaf_results(call("jacobian", context, frame="rod", actuators=name)))
    assert told.severity == "warning"
    assert name in told.text
    assert "second type" in call("manipulability", context, frame="rod", actuators=name).remark


def test_infinite_radii_stand_where_nothing_is_controlled():
    sigma, axes = singular_values(np.diag([2.0, 1.0, 0.5]), np.array([[0.0], [1.0], [0.0]]), 3)
    np.testing.assert_array_equal(sigma, [math.inf, 2.0, 0.5])
    np.testing.assert_allclose(np.abs(axes), [[0, 1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert compute_measures(sigma, sigma).condition == math.inf
    assert compute_measures(sigma, sigma).eccentricity == 0.0


def test_driven_joints_and_those_with_an_effort_come_first():
    model = load(EXAMPLES / "four_bar.kst")
    last = Mechanism(model).v_names[-1]
    joint = model.joint(last)
    strong = dataclasses.replace(joint, limits=(Limit(effort=5.0),))
    joints = tuple(strong if each is joint else each for each in model.joints)
    found = default_actuators(Mechanism(dataclasses.replace(model, joints=joints)).compiled)
    assert found.names == (last,)
    assert "effort" in found.reason
    driven = dataclasses.replace(model, drivers=(Driver(name="motor", joint=last, function="0.1*t"),))
    found = default_actuators(Mechanism(driven).compiled)
    assert found.names == (last,)
    assert "driven" in found.reason


def test_too_few_and_unknown_actuators_are_told():
    mech = Mechanism(machines.stewart())
    with pytest.raises(
        ModelError, match=r"leave 1 degree of freedom: with leg1, .* locked the machine can still move at"
    ):
        choose_actuators(mech, [f"leg{i}" for i in range(1, 6)])
    with pytest.raises(ModelError, match="no joint 'leg9'"):
        choose_actuators(mech, ["leg9"])
    cut = mech.loops[0].cut
    with pytest.raises(ModelError, match="closes a loop"):
        choose_actuators(mech, [cut])


@pytest.mark.parametrize("name", CONSTRAINED)
def test_forces_act_at_the_actuators_that_are_named(name):
    """What holds the machine is the virtual work of its weight: τ · u = G · v for all speeds u of the actuators."""
    context = Context.of(load(EXAMPLES / f"{name}.kst"))
    mech, q = context.mech, context.q
    chosen = default_actuators(mech.compiled)
    work = actuator_transmission(mech, q, chosen).speeds.T @ mech.gravity(q)
    table = call("gravity", context)
    forces = dict(zip(table.column("Joint"), table.column("Torque or force"), strict=True))
    scale = max(1.0, float(np.max(np.abs(mech.gravity(q)))))
    for joint, force in forces.items():
        expected = work[chosen.names.index(joint)] if joint in chosen.names else 0.0
        assert force.value == pytest.approx(expected, abs=1e-7 * scale)
    assert all(joint in table.note for joint in chosen.names)
    standing = call("inverse_dynamics", context, passive=False, actuators=",".join(chosen.names))
    assert all(joint in standing.note for joint in chosen.names)


def test_other_actuators_can_be_named():
    """The rocker holds the four-bar with the crank's torque divided by the ratio of their speeds."""
    context = Context.of(load(EXAMPLES / "four_bar.kst"))
    mech, q = context.mech, context.q
    ratio = actuator_transmission(mech, q, choose_actuators(mech, ["crank_pin"])).speeds[
        mech.v_names.index("rocker_pin"), 0
    ]
    crank, rocker = (
        {row[0]: row[1].value for row in call("gravity", context, actuators=name).rows}
        for name in ("crank_pin", "rocker_pin")
    )
    assert rocker["rocker_pin"] * ratio == pytest.approx(crank["crank_pin"], rel=1e-9)
    assert (rocker["crank_pin"], crank["rocker_pin"]) == (0.0, 0.0)


@pytest.mark.parametrize("cut", ["C", "D"])
def test_actuators_may_be_joints_that_close_loops(cut):
    """Any one joint holds and moves a four-bar with the same power, wherever its loop is cut."""
    model = joints_that_close_loops.model(joints_that_close_loops.FOUR_BAR, cut)
    context, moving = Context.of(model), {"A": 1.3}
    powers = []
    for name in "ABCD":
        given = {"speeds": moving, "accelerations": {"A": 0.4}, "actuators": name}
        (row,) = [row for row in call("inverse_dynamics", context, **given).rows if row[0] == name]
        _, speed, _, force = row
        powers.append(force.value * speed.value)
        held = {row[0]: row[1].value for row in call("gravity", context, actuators=name).rows}
        assert [joint for joint, force in held.items() if force] in ([name], [])
    np.testing.assert_allclose(powers, powers[0], rtol=1e-7)
    assert abs(powers[0]) > 0.01
    radii = {}
    for name in ("A", cut):
        found = call("manipulability", context, frame="coupler", actuators=name)
        columns = call("jacobian", context, frame="coupler", actuators=name)
        assert tables_in_result(columns)
        radii[name] = max(found.ellipsoids[0].radii)
    speeds = context.mech.speeds(context.q, {"A": 1.0})
    ratio = cut_joint_motion(context.mech.compiled, cut, context.q, speeds, 0.0 * speeds).v[0]
    assert radii["A"] == pytest.approx(radii[cut] * abs(ratio), rel=1e-9)
