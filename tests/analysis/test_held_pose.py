"""Statics with dry friction and stops: closed forms of what holds, how surely, and where it comes to rest."""

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Mimic, Model
from core.simulation import simulate
from tests.mechanism.constraints.test_force_ranges import at_crank, slider_crank, slope
from tests.mechanism.random_machines import tree

G = 9.81
LIGHT = Inertia(ixx=0.1, iyy=0.1, izz=0.1)


def on_ramp(angle, mass=2.0, **fields):
    """A block that slides down a ramp."""
    axis = (np.cos(angle), 0.0, -np.sin(angle))
    slide = Joint(name="s", kind="prismatic", parent="world", child="block", axis=axis, **fields)
    return Mechanism(Model(name="ramp", bodies=(Body(name="block", mass=mass, inertia=LIGHT),), joints=(slide,)))


def arm(mass=2.0, length=0.5, **fields):
    """An arm about y, hanging down at 0; its weight turns it back with m g l sin q."""
    body = Body(name="arm", mass=mass, center_of_mass=(0.0, 0.0, -length), inertia=LIGHT)
    pin = Joint(name="pin", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), **fields)
    return Mechanism(Model(name="arm", bodies=(body,), joints=(pin,)))


@pytest.mark.parametrize("angle", [0.1, 0.4, 0.9])
def test_a_block_on_a_ramp_is_held_with_its_safety(angle):
    mech = on_ramp(angle, friction=18.0, static_friction=20.0)
    found = equilibrium(mech, [0.3], friction=True)
    weight = 2.0 * G * np.sin(angle)
    assert (found.stability, found.q[0]) == ("held", 0.3)
    assert found.friction.safety == pytest.approx(20.0 / weight)
    assert found.friction.forces == {"s": pytest.approx(-weight)}
    assert found.friction.ranges["s"] == pytest.approx((-weight, -weight))
    assert found.friction.is_unique


def test_a_ramp_too_steep_holds_nowhere():
    with pytest.raises(SimulationError, match="nothing balances the load"):
        equilibrium(on_ramp(1.3, friction=18.0), [0.3], friction=True)


@pytest.mark.parametrize("force", [0.0, 5.0])
def test_an_arm_stays_where_its_brake_holds_and_else_goes_to_the_nearest_pose(force):
    mech, moment = arm(friction=3.0, static_friction=4.0), 2.0 * G * 0.5
    tau = np.array([force])
    high = np.arcsin((4.0 + force) / moment)
    inside = equilibrium(mech, [0.95 * high], tau=tau, friction=True)
    assert inside.q[0] == 0.95 * high
    needed = moment * np.sin(0.95 * high) - force
    assert inside.friction.forces["pin"] == pytest.approx(needed)
    assert inside.friction.safety == pytest.approx(4.0 / needed)
    outside = equilibrium(mech, [high + 0.3], tau=tau, friction=True)
    assert outside.q[0] == pytest.approx(high, abs=1e-8)
    assert outside.friction.safety == pytest.approx(1.0, abs=1e-8)
    assert equilibrium(mech, [high + 0.3], tau=tau).q[0] == pytest.approx(np.arcsin(force / moment), abs=1e-8)


@pytest.mark.parametrize("angle", [0.4, 1.2, 2.5])
@pytest.mark.parametrize("cut", ["yes", "no"])
def test_a_slider_holds_a_crank_until_its_friction_times_the_lever(angle, cut):
    others = {"A": {"cut": "no"}, "C": {"cut": "no" if cut == "yes" else "yes"}}
    mech = Mechanism(slider_crank(S={"friction": 40.0, "cut": cut}, **others))
    q, moment = at_crank(mech, angle), 40.0 * abs(slope(angle))
    tau = np.zeros(mech.nv)
    tau[mech.v_names.index("A")] = moment / 2.5
    found = equilibrium(mech, q, tau=tau, friction=True)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    assert found.friction.safety == pytest.approx(2.5)
    assert found.friction.forces["S"] == pytest.approx(-np.sign(slope(angle)) * 40.0 / 2.5)
    held = equilibrium(mech, q, tau=tau * 2.5 * (1 - 1e-6), friction=True)
    np.testing.assert_allclose(held.q, q, atol=1e-9)
    moved = equilibrium(mech, q, tau=tau * 2.5 * (1 + 1e-4), friction=True)
    assert 1e-7 < np.max(np.abs(moved.q - q)) < 1e-2


def four_bar(**joints):
    """A crank-rocker without weight, closed at D; fields of joints by name."""
    from core.model.shapes import Pose

    def joint(name, parent, child, at, **fields):
        own = {"name": name, "kind": "revolute", "parent": parent, "child": child, "a": Pose(position=(at, 0.0, 0.0))}
        return Joint(**{**own, **fields, **joints.get(name, {})})

    bodies = tuple(Body(name=name, mass=1.0, inertia=LIGHT) for name in ("crank", "coupler", "rocker"))
    return Model(
        name="four-bar",
        world=replace(Model(name="empty").world, gravity=(0.0, 0.0, 0.0)),
        bodies=bodies,
        joints=(
            joint("A", "world", "crank", 0.0),
            joint("B", "crank", "coupler", 0.3),
            joint("C", "coupler", "rocker", 0.9),
            joint("D", "world", "rocker", 0.8, b=Pose(position=(0.6, 0.0, 0.0)), cut="yes"),
        ),
    )


def ratios(mech, q):
    """Speeds of the four joints for one of the crank, from poses on both sides."""
    step = 1e-5
    ahead, behind = (
        np.array([mech.coordinate(mech.move(q, {"A": q[0] + s}, exact=True), name)[0] for name in "ABCD"])
        for s in (step, -step)
    )
    return (ahead - behind) / (2.0 * step)


def test_friction_in_two_joints_of_a_four_bar_adds_up_by_their_ratios():
    mech = Mechanism(four_bar(B={"friction": 2.0}, D={"friction": 3.0}))
    q = mech.move(mech.rest(), {"A": 1.0}, exact=True)
    i = ratios(mech, q)
    moment = 2.0 * abs(i[1]) + 3.0 * abs(i[3])
    tau = np.zeros(mech.nv)
    tau[0] = moment / 1.7
    found = equilibrium(mech, q, tau=tau, friction=True)
    assert found.friction.safety == pytest.approx(1.7, rel=1e-7)
    held = found.friction.forces
    assert held["B"] * i[1] + held["D"] * i[3] == pytest.approx(-tau[0], rel=1e-7)
    assert not found.friction.is_unique
    # what each may carry: all that the other leaves, within its own bounds
    for name, ratio, own, other in (("B", i[1], 2.0, 3.0 * abs(i[3])), ("D", i[3], 3.0, 2.0 * abs(i[1]))):
        ends = np.array([-(tau[0] - other) / ratio, -(tau[0] + other) / ratio])
        assert found.friction.ranges[name] == pytest.approx(tuple(np.sort(np.clip(ends, -own, own))), rel=1e-6)
    # least Σ (λ/size)² of all that balance, where no bound is met
    weak = equilibrium(mech, q, tau=tau / 4.0, friction=True).friction.forces
    expected = -tau[0] / 4.0 / (i[1] ** 2 + i[3] ** 2) * i
    assert (weak["B"], weak["D"]) == pytest.approx((expected[1], expected[3]), rel=1e-6)


def test_two_brakes_on_one_shaft_share_what_they_hold():
    mech = arm(friction=3.0)
    model = mech.model
    second = Joint(
        name="disk",
        kind="revolute",
        parent="world",
        child="c",
        axis=(0.0, 1.0, 0.0),
        friction=1.0,
        mimic=Mimic(leader="pin", ratio=1.0),
    )
    mech = Mechanism(replace(model, bodies=(*model.bodies, Body(name="c")), joints=(*model.joints, second)))
    moment, q = 2.0 * G * 0.5, np.arcsin(3.6 / (2.0 * G * 0.5))
    found = equilibrium(mech, [q], friction=True)
    assert found.friction.safety == pytest.approx(4.0 / 3.6)
    assert found.friction.forces == {"pin": pytest.approx(2.6), "disk": pytest.approx(1.0)}
    assert found.friction.ranges["pin"] == pytest.approx((2.6, 3.0))
    assert found.friction.ranges["disk"] == pytest.approx((0.6, 1.0))
    assert moment * np.sin(found.q[0]) == pytest.approx(3.6)


def test_what_rests_on_an_elastic_stop_pushes_it_in():
    mech, moment = arm(limits=(Limit(lower=0.2, upper=1.0, stiffness=50.0),)), 2.0 * G * 0.5
    found = equilibrium(mech, [0.7])
    depth = 0.2 - found.q[0]
    assert 50.0 * depth == pytest.approx(moment * np.sin(found.q[0]))
    assert found.limits == {"pin": pytest.approx(50.0 * depth)}
    stiffness = 50.0 + moment * np.cos(found.q[0])
    assert abs(found.linear.modes[0].eigenvalue) == pytest.approx(np.sqrt(stiffness / (0.1 + 2.0 * 0.25)))


@pytest.mark.parametrize("limit", [Limit(lower=0.2, stop="rigid"), Limit(lower=0.2, stop="off")])
def test_what_rests_on_a_limit_that_does_not_give_way_stands_there(limit):
    found = equilibrium(arm(limits=(limit,)), [0.7])
    assert found.q[0] == pytest.approx(0.2, abs=1e-12)
    assert found.limits == {"pin": pytest.approx(2.0 * G * 0.5 * np.sin(0.2))}


def test_a_run_comes_to_rest_where_statics_says():
    mech = arm(limits=(Limit(lower=0.2, upper=1.0),), damping=1.0)
    found = equilibrium(mech, [0.7])
    run = simulate(mech.model, 20.0, q0=[0.7], rtol=1e-9, atol=1e-11)
    assert run.q[-1, 0] == pytest.approx(found.q[0], abs=1e-6)
    assert found.q[0] < 0.2


def test_friction_and_a_stop_hold_together():
    soft = Limit(lower=0.2, stiffness=20.0)
    mech, moment = arm(friction=0.5, limits=(soft,)), 2.0 * G * 0.5
    found = equilibrium(mech, [0.5], friction=True)
    q = found.q[0]
    assert q < 0.2
    assert 20.0 * (0.2 - q) + 0.5 == pytest.approx(moment * np.sin(q))
    stays = equilibrium(mech, [q - 1e-3], friction=True)
    assert stays.q[0] == q - 1e-3


def test_a_rigid_stop_takes_what_friction_does_not():
    mech = arm(friction=0.5, limits=(Limit(lower=0.2, stop="rigid"),))
    found = equilibrium(mech, [0.7], friction=True)
    assert found.q[0] == pytest.approx(0.2, abs=1e-12)
    assert found.limits["pin"] + found.friction.forces["pin"] == pytest.approx(2.0 * G * 0.5 * np.sin(0.2))
    assert found.friction.safety == np.inf


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_a_run_begins_to_move_where_the_safety_is_one(factor):
    mech = Mechanism(four_bar(B={"friction": 2.0}, D={"friction": 3.0}))
    q = mech.move(mech.rest(), {"A": 1.0}, exact=True)
    tau = np.zeros(mech.nv)
    tau[0] = 1.0
    limit = equilibrium(mech, q, tau=tau, friction=True).friction.safety
    run = simulate(mech.model, 0.2, q0=q, torque=tau * limit * factor, output=0.1)
    assert (np.max(np.abs(run.q[-1] - run.q[0])) > 1e-9) == (factor > 1.0)


def test_friction_takes_the_freedoms_of_the_joints_that_it_holds():
    mech = Mechanism(four_bar(B={"friction": 2.0}, D={"friction": 3.0}))
    q = mech.move(mech.rest(), {"A": 1.0}, exact=True)
    free, held = mech.mobility(q), mech.mobility(q, friction=True)
    assert (free.dof, free.stuck, free.idle_friction) == (1, (), ())
    assert (held.dof, held.at_pose, held.stuck, held.motions) == (0, 0, ("B",), ())
    assert held.idle_friction == ("D: its friction locks a motion that B already holds",)
    assert "Friction holds 1: B." in str(held)
    assert held.redundant == free.redundant


def test_a_held_joint_of_a_tree_leaves_the_others():
    model = arm(friction=1.0).model
    more = Joint(name="second", kind="cylindrical", parent="arm", child="c")
    body = Body(name="c", mass=1.0, inertia=LIGHT)
    mech = Mechanism(replace(model, bodies=(*model.bodies, body), joints=(*model.joints, more)))
    found = mech.mobility(friction=True)
    assert (found.dof, found.stuck, len(found.motions)) == (2, ("pin",), 2)
    assert all(abs(motion.speeds[0]) < 1e-12 for motion in found.motions)


@pytest.mark.parametrize("seed", range(5))
def test_the_safety_of_a_tree_is_that_of_its_weakest_joint(seed):
    model = tree(seed, kinds=("revolute", "prismatic", "universal"))
    levels = np.random.default_rng(seed).uniform(50.0, 200.0, len(model.joints))
    joints = tuple(replace(j, friction=float(f)) for j, f in zip(model.joints, levels, strict=True))
    mech = Mechanism(replace(model, joints=joints))
    q = mech.random(seed)
    weights = mech.gravity(q)
    bounds = np.concatenate([np.full(j.info.nv, j.friction) for j in joints])
    order = np.concatenate([np.arange(mech.nv)[mech.joint_v(j.name)] for j in joints])
    shares = bounds / np.maximum(np.abs(weights[order]), 1e-300)
    if shares.min() < 1.0:
        joints = tuple(replace(j, friction=j.friction * 1.5 / float(shares.min())) for j in joints)
        mech, shares = Mechanism(replace(model, joints=joints)), shares * 1.5 / shares.min()
    found = equilibrium(mech, q, friction=True)
    np.testing.assert_array_equal(found.q, q)
    assert found.friction.safety == pytest.approx(shares.min(), rel=1e-8)
    np.testing.assert_allclose(list(found.friction.forces.values()), weights[order], rtol=1e-7, atol=1e-9)
