"""Inverse dynamics with dry friction: one force while joints move, bounds while they stand still."""

from dataclasses import replace

import numpy as np
import pytest

from core.files import load
from core.functions.catalogue import call
from core.functions.context import Context
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Mimic, Model, Parameter
from core.model.edits import edits
from core.model.shapes import Pose
from core.simulation import simulate
from resources import EXAMPLES
from tests.mechanism.random_machines import tree

G = 9.81


def block(*parameters, **friction):
    """A block of 2 kg that is lifted along z."""
    body = Body(name="block", mass=2.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    slide = Joint(name="z", kind="prismatic", parent="world", child="block", axis=(0.0, 0.0, 1.0), **friction)
    return Model(name="block", parameters=parameters, bodies=(body,), joints=(slide,))


def slider_crank(crank=0.3, rod=0.8, **joints):
    """Crank, rod and slider along x; fields of joints by name, the slider's joint closes the loop."""

    def moving(name):
        return Body(name=name, mass=1.0, center_of_mass=(0.1, 0.0, 0.0), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))

    def joint(name, kind, parent, child, **fields):
        return Joint(name=name, kind=kind, parent=parent, child=child, **{**fields, **joints.get(name, {})})

    return Model(
        name="slider-crank",
        world=replace(Model(name="empty").world, gravity=(0.0, 0.0, 0.0)),
        bodies=(moving("crank"), moving("rod"), moving("slider")),
        joints=(
            joint("A", "revolute", "world", "crank"),
            joint("B", "revolute", "crank", "rod", a=Pose(position=(crank, 0.0, 0.0))),
            joint("C", "revolute", "rod", "slider", a=Pose(position=(rod, 0.0, 0.0))),
            joint("S", "prismatic", "world", "slider", axis=(1.0, 0.0, 0.0)),
        ),
    )


def at_crank(mech, angle):
    """The pose of a slider-crank at an angle of its crank."""
    return mech.move(mech.move(mech.rest(), {"A": 0.3}), {"A": angle}, exact=True)


def slope(angle, crank=0.3, rod=0.8):
    """dx/dθ of a slider-crank."""
    inner = np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2)
    return -crank * np.sin(angle) * (1.0 + crank * np.cos(angle) / inner)


def test_a_block_at_rest_is_held_by_anything_between_two_forces():
    mech, still = Mechanism(block(friction=3.0, static_friction=5.0)), np.zeros(1)
    found = mech.inverse_dynamics_ranges(still, still, still)
    assert (found.tau[0], found.tau_min[0], found.tau_max[0]) == pytest.approx((2 * G, 2 * G - 5.0, 2 * G + 5.0))


def test_what_moves_or_begins_to_move_has_one_force():
    mech, q = Mechanism(block(friction=3.0, static_friction=5.0, damping=0.5)), np.zeros(1)
    up = mech.inverse_dynamics_ranges(q, [2.0], [1.0])
    np.testing.assert_allclose(up, 2 * (G + 1.0) + 3.0 + 1.0)
    np.testing.assert_allclose(mech.inverse_dynamics(q, [-2.0], [1.0]), 2 * (G + 1.0) - 3.0 - 1.0)
    begins = mech.inverse_dynamics_ranges(q, [0.0], [-1.0])
    assert begins.tau_min[0] == begins.tau_max[0] == pytest.approx(2 * (G - 1.0) - 3.0)


@pytest.mark.parametrize("speed", [-0.4, 1e-6, 0.05, 3.0])
def test_friction_falls_with_the_speed_as_stribeck_says(speed):
    mech = Mechanism(block(friction=3.0, static_friction=5.0, stribeck_speed=0.1))
    level = 3.0 + 2.0 * np.exp(-((speed / 0.1) ** 2))
    tau = mech.inverse_dynamics([0.0], [speed], [0.0])
    assert tau[0] == pytest.approx(2 * G + np.sign(speed) * level)
    assert mech.forward_dynamics([0.0], [speed], tau)[0] == pytest.approx(0.0, abs=1e-12)


def test_a_stribeck_speed_that_is_a_parameter_may_be_zero():
    parameter = Parameter(name="vs", value=0.0)
    mech = Mechanism(block(parameter, friction=3.0, static_friction=5.0, stribeck_speed="vs"))
    assert mech.inverse_dynamics([0.0], [0.5], [0.0])[0] == pytest.approx(2 * G + 3.0)
    assert mech.inverse_dynamics([0.0], [0.0], [0.0])[0] == pytest.approx(2 * G)
    assert mech.inverse_dynamics([0.0], [0.1], [0.0], p={"vs": 0.1})[0] == pytest.approx(2 * G + 3.0 + 2.0 / np.e)


@pytest.mark.parametrize("cut", ["S", "A"])
def test_a_slider_holds_its_crank_up_to_its_friction_times_its_lever(cut):
    model = slider_crank(S={"friction": 40.0, "cut": "yes" if cut == "S" else "no"}, A={"cut": "no"})
    if cut == "A":
        model = slider_crank(S={"friction": 40.0, "cut": "no"}, A={"cut": "no"}, C={"cut": "yes"})
    mech = Mechanism(model)
    q, still = at_crank(mech, 0.9), np.zeros(mech.nv)
    found = mech.inverse_dynamics_ranges(q, still, still, actuators=["A"])
    k = mech.v_names.index("A")
    moment = 40.0 * abs(slope(0.9))
    assert (found.tau_min[k], found.tau_max[k]) == pytest.approx((-moment, moment))
    # moving slowly it takes just that moment; inertia is that of squares of the speed
    v = mech.speeds(q, {"A": 1e-4})
    a = mech.accelerations(q, v, {"A": 0.0})
    assert mech.inverse_dynamics(q, v, a, actuators=["A"])[k] == pytest.approx(moment, rel=1e-6)


def test_bounds_of_trees_are_those_of_their_own_joints():
    for seed in range(4):
        model = tree(seed)
        levels = np.random.default_rng(seed).uniform(0.5, 2.0, len(model.joints))
        joints = tuple(replace(j, friction=float(f)) for j, f in zip(model.joints, levels, strict=True))
        mech = Mechanism(replace(model, joints=joints))
        still = np.zeros(mech.nv)
        found = mech.inverse_dynamics_ranges(mech.random(seed), still, still)
        for joint, level in zip(joints, levels, strict=True):
            if joint.info.nv:
                where = mech.joint_v(joint.name)
                np.testing.assert_allclose(found.tau_max[where] - found.tau[where], level)
                np.testing.assert_allclose(found.tau[where] - found.tau_min[where], level)


def test_followers_rub_by_their_ratio():
    model = block(friction=1.0)
    follower = Joint(
        name="f", kind="prismatic", parent="world", child="c", friction=2.0, mimic=Mimic(leader="z", ratio=-3.0)
    )
    mech = Mechanism(replace(model, bodies=(*model.bodies, Body(name="c")), joints=(*model.joints, follower)))
    found = mech.inverse_dynamics_ranges(np.zeros(1), np.zeros(1), np.zeros(1))
    assert found.tau_max[0] - found.tau[0] == pytest.approx(1.0 + 3.0 * 2.0)


def test_arrays_of_states():
    mech = Mechanism(block(friction=3.0))
    v = np.array([[0.0], [1.0], [-1.0]])
    found = mech.inverse_dynamics_ranges(np.zeros((3, 1)), v, np.zeros((3, 1)))
    np.testing.assert_allclose(found.tau[:, 0], 2 * G + np.array([0.0, 3.0, -3.0]))
    np.testing.assert_allclose(found.tau_min[:, 0], 2 * G + np.array([-3.0, 3.0, -3.0]))


def test_a_card_shows_the_bounds_of_the_kernel():
    context = Context.of(block(friction=3.0))
    table = call("inverse_dynamics", context)
    assert [c.value for c in table.column("Lower bound")] == pytest.approx([2 * G - 3.0])
    assert [c.value for c in table.column("Upper bound")] == pytest.approx([2 * G + 3.0])
    assert table.rows[0][-1].dimension == "force"
    moving = call("inverse_dynamics", context, speeds={"z": 1.0})
    assert [c.value for c in moving.column("Torque or force")] == pytest.approx([2 * G + 3.0])
    assert [
        c.value for c in call("inverse_dynamics", context, passive=False).column("Torque or force")
    ] == pytest.approx([2 * G])


def test_a_rigid_stop_takes_whatever_pushes_into_it():
    """A pendulum that rests against its lower or upper stop: what balances its weight and any torque into the stop;
    what leads away from it accelerates. Friction carries its share beyond that."""
    model = load(EXAMPLES / "bouncing_pendulum.kst")
    limits = (Limit(lower=0.3, upper=2.0, stop="rigid"),)
    for friction in (0.0, 0.5):
        mech = Mechanism(edits.change(model, "joints", "pin", limits=limits, friction=friction))
        for angle, side in ((0.3, -1), (1.0, 0), (2.0, 1)):
            state, still = np.array([angle]), np.zeros(1)
            weight = 2.0 * G * 0.6 * np.sin(angle)
            tau, low, high = mech.inverse_dynamics_ranges(state, still, still)
            assert tau == pytest.approx(weight)
            assert low == pytest.approx(-np.inf if side < 0 else weight - friction)
            assert high == pytest.approx(np.inf if side > 0 else weight + friction)
            for force in (weight - 50.0, weight - friction - 0.1, weight, weight + friction + 0.1, weight + 50.0):
                a = mech.forward_dynamics(state, still, np.array([force]))
                assert (np.abs(a) < 1e-9) == (low <= force <= high)
            away = mech.inverse_dynamics_ranges(state, still, np.array([1.0 if side <= 0 else -1.0]))
            assert away.tau_min == away.tau_max == away.tau


def test_a_rigid_stop_of_a_joint_that_closes_a_loop_bounds_the_crank_on_one_side():
    model = edits.change(
        load(EXAMPLES / "four_bar.kst"), "joints", "moving_pin_b", limits=(Limit(upper=1.4, stop="rigid"),)
    )
    mech = Mechanism(model)
    q, still = simulate(mech, 5.0).q[-1], np.zeros(3)
    tau, low, high = mech.inverse_dynamics_ranges(q, still, still)
    assert low[0] == -np.inf
    assert high == pytest.approx(tau)
    np.testing.assert_allclose(low[1:], 0.0)
    for force, holds in ((tau[0] - 5.0, True), (tau[0] - 1e-3, True), (tau[0] + 1e-3, False)):
        a = mech.forward_dynamics(q, still, np.array([force, 0.0, 0.0]))
        assert (np.max(np.abs(a)) < 1e-9) == holds
    assert mech.inverse_dynamics_ranges(mech.rest(), still, still).tau_min[0] > -np.inf
    table = call("inverse_dynamics", replace(Context.of(model), q=q))
    assert "rigid stops" in table.note
    assert table.column("Lower bound")[0].value == -np.inf
    assert "−∞ N·m" in table.to_text()
