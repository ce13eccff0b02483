"""Friction that holds joints at rest and stops that press, outside of runs: closed forms, and what runs begin with."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import SimulationError
from core.functions.catalogue import call
from core.functions.context import Context
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Model
from core.simulation import simulate
from tests.mechanism.constraints.test_force_ranges import at_crank, block, slider_crank, slope
from tests.mechanism.random_machines import tree

G = 9.81


def rubbing_tree(seed, **limits):
    """A random tree whose joints rub, and (joints, levels)."""
    model, random = tree(seed), np.random.default_rng(seed)
    kinetic = random.uniform(0.5, 4.0, len(model.joints))
    joints = tuple(
        replace(joint, friction=float(level), static_friction=float(level * random.uniform(1.0, 2.0)), **limits)
        for joint, level in zip(model.joints, kinetic, strict=True)
    )
    return replace(model, joints=joints)


@pytest.mark.parametrize("force", [2 * G - 4.9, 2 * G, 2 * G + 4.9])
def test_a_block_stays_while_friction_can_hold_it(force):
    mech = Mechanism(block(friction=3.0, static_friction=5.0))
    assert mech.forward_dynamics([0.0], [0.0], [force])[0] == pytest.approx(0.0, abs=1e-12)
    reaction = mech.reactions([0.0], [0.0], [force])["z"]
    assert reaction[5] == pytest.approx(2 * G)  # all that acts in the joint carries the weight


@pytest.mark.parametrize(("force", "expected"), [(2 * G + 5.1, 2.1 / 2), (2 * G - 5.1, -2.1 / 2)])
def test_a_block_that_breaks_away_feels_kinetic_friction(force, expected):
    mech = Mechanism(block(friction=3.0, static_friction=5.0))
    assert mech.forward_dynamics([0.0], [0.0], [force])[0] == pytest.approx(expected)
    many = mech.forward_dynamics(np.zeros((3, 1)), np.array([[0.0], [1.0], [-1.0]]), np.full((3, 1), force))
    np.testing.assert_allclose(many[:, 0], [expected, (force - 2 * G - 3.0) / 2, (force - 2 * G + 3.0) / 2])


@pytest.mark.parametrize("seed", range(4))
def test_accelerations_at_rest_are_those_that_a_run_begins_with(seed):
    mech = Mechanism(rubbing_tree(seed))
    q, still = mech.random(seed), np.zeros(mech.nv)
    tau = np.random.default_rng(seed).uniform(-20.0, 20.0, mech.nv)
    run = simulate(mech, 1e-6, q0=q, torque=tau, output=1e-6)
    first = np.flatnonzero(run.time == 0.0)[-1]
    a = mech.forward_dynamics(q, still, tau)
    np.testing.assert_allclose(a, run.a[first], atol=1e-8 * max(1.0, np.abs(a).max()))
    here = mech.reactions(q, still, tau)
    for name in mech.joint_names:
        np.testing.assert_allclose(here[name], run[f"{name}.reaction"][first], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_forward_undoes_inverse_dynamics_at_rest(seed):
    """Joints that are asked to stay do so, with the force between their bounds; others begin to slide."""
    model = tree(seed)
    joints = tuple(replace(joint, friction=2.0) for joint in model.joints)
    mech = Mechanism(replace(model, joints=joints))
    random = np.random.default_rng(seed)
    q, still = mech.random(seed), np.zeros(mech.nv)
    a = np.where(random.random(mech.nv) < 0.5, 0.0, random.normal(size=mech.nv))
    tau = mech.inverse_dynamics(q, still, a)
    np.testing.assert_allclose(mech.forward_dynamics(q, still, tau), a, atol=1e-8)
    found = mech.inverse_dynamics_ranges(q, still, a)
    np.testing.assert_allclose(found.tau, tau, rtol=1e-12)  # rounding of the interpreter, then of machine code
    inside = found.tau_min + random.random(mech.nv) * (found.tau_max - found.tau_min)
    np.testing.assert_allclose(mech.forward_dynamics(q, still, inside), a, atol=1e-8)


@pytest.mark.parametrize("cut", ["S", "C"])
def test_a_slider_that_rubs_holds_its_crank_and_its_joint_carries_that(cut):
    others = {"A": {"cut": "no"}, "C": {"cut": "yes" if cut == "C" else "no"}}
    mech = Mechanism(slider_crank(S={"friction": 40.0, "cut": "yes" if cut == "S" else "no"}, **others))
    q, still, tau = at_crank(mech, 0.9), np.zeros(mech.nv), np.zeros(mech.nv)
    k = mech.v_names.index("A")
    for share in (0.5, 0.99, -0.99):
        tau[k] = share * 40.0 * abs(slope(0.9))
        np.testing.assert_allclose(mech.forward_dynamics(q, still, tau), 0.0, atol=1e-9)
        reactions = mech.reactions(q, still, tau)
        # no power at any speed: moment of the crank by its speed and force of the slide by its own
        assert reactions["S"][3] == pytest.approx(-tau[k] / slope(0.9), rel=1e-7)
        assert reactions["A"][2] == pytest.approx(tau[k], rel=1e-7)
    tau[k] = 1.2 * 40.0 * abs(slope(0.9))
    free = Mechanism(slider_crank(S={"cut": "yes" if cut == "S" else "no"}, **others))
    moving = mech.forward_dynamics(q, still, tau)
    np.testing.assert_allclose(moving, free.forward_dynamics(q, still, tau / 6.0), rtol=1e-7)


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_a_stop_that_is_pushed_in_presses_and_stores(side):
    sign = 1.0 if side == "upper" else -1.0
    limit = Limit(**{side: sign * 0.2}, stiffness=800.0, damping=5.0)
    mech = Mechanism(block(limits=(limit,)))
    q, v = [sign * 0.23], [sign * 0.1]
    push = -sign * (800.0 * 0.03 + 5.0 * 0.1)
    assert mech.energy(q, v).potential == pytest.approx(2 * G * q[0] + 0.5 * 800.0 * 0.03**2)
    assert mech.inverse_dynamics(q, v, [0.0])[0] == pytest.approx(2 * G - push)
    assert mech.bias(q, v)[0] == pytest.approx(2 * G - push)
    assert mech.forward_dynamics(q, v, [2 * G])[0] == pytest.approx(push / 2)
    assert mech.inverse_dynamics(q, v, [0.0], passive=False)[0] == pytest.approx(2 * G)
    assert mech.forward_dynamics(q, [-sign * 50.0], [2 * G])[0] == pytest.approx(0.0, abs=1e-12)  # a stop never pulls


def test_forces_of_stops_are_the_gradient_of_their_energy_in_a_loop():
    limit = Limit(upper=0.75, stiffness=2e4, damping=0.0)
    for cut in ("yes", "no"):
        others = {"A": {"cut": "no"}, "C": {"cut": "no" if cut == "yes" else "yes"}}
        mech = Mechanism(slider_crank(S={"limits": (limit,), "cut": cut}, **others))
        q = at_crank(Mechanism(slider_crank(S={"cut": cut}, **others)), 1.2)
        depth = mech.coordinate(q, "S")[0] - 0.75
        assert depth > 0.01
        assert mech.energy(q, np.zeros(mech.nv)).potential == pytest.approx(0.5 * 2e4 * depth**2)
        tau = mech.inverse_dynamics(q, np.zeros(mech.nv), np.zeros(mech.nv), actuators=["A"])
        assert tau[mech.v_names.index("A")] == pytest.approx(2e4 * depth * slope(1.2), rel=1e-9)


def test_a_block_rests_on_a_rigid_stop():
    limit = Limit(lower=0.0, stop="rigid")
    mech = Mechanism(block(limits=(limit,)))
    assert mech.forward_dynamics([0.0], [0.0], [3.0])[0] == pytest.approx(0.0, abs=1e-12)
    assert mech.reactions([0.0], [0.0], [3.0])["z"][5] == pytest.approx(2 * G)
    assert mech.forward_dynamics([0.0], [0.0], [2 * G + 3.0])[0] == pytest.approx(1.5)
    assert mech.forward_dynamics([0.1], [0.0], [0.0])[0] == pytest.approx(-G)
    ideal = replace(mech.model, world=replace(mech.model.world, limits="ideal"))
    assert Mechanism(ideal).forward_dynamics([0.0], [0.0], [3.0])[0] == pytest.approx(1.5 - G)


def test_the_energy_of_a_run_counts_its_stops():
    limit = Limit(lower=0.0, stiffness=900.0, damping=0.0)
    run = simulate(block(limits=(limit,)), 1.0, q0=[0.2], output=0.01, rtol=1e-10, atol=1e-12)
    assert run["energy.in_stops"].max() > 1.0
    np.testing.assert_allclose(run["energy.total"], 2 * G * 0.2, atol=1e-7)
    of_kernel = run.mech.energy(run.q, run.v)
    np.testing.assert_allclose(run["energy.potential"], of_kernel.potential, atol=1e-9)


def test_brakes_hold_in_statics_as_their_formula_says():
    mech = Mechanism(block(friction="10*t", static_friction="12*t"))
    still = np.zeros(1)
    for t, held in ((1.0, False), (2.0, True)):
        a = mech.forward_dynamics(still, still, still, t=t)[0]
        assert a == pytest.approx(0.0 if held else -(2 * G - 10.0) / 2, abs=1e-12)
        found = mech.inverse_dynamics_ranges(still, still, still, t=t)
        assert (found.tau_min[0], found.tau_max[0]) == pytest.approx((2 * G - 12.0 * t, 2 * G + 12.0 * t))
    both = mech.inverse_dynamics_ranges(np.zeros((2, 1)), still, still, t=np.array([0.0, 1.0]))
    np.testing.assert_allclose(both.tau_max[:, 0], [2 * G, 2 * G + 12.0])
    report = call("static_equilibrium", replace(Context.of(mech.model), t=2.0), friction=True)
    assert f"{24.0 / (2 * G):.4g} times its load" in report.parts[0].text


def test_a_formula_without_meaning_is_named():
    mech = Mechanism(block(friction="2 - t"))
    with pytest.raises(SimulationError, match=r"joint 'z', friction: At t = 3 s friction is negative"):
        mech.forward_dynamics([0.0], [0.0], [0.0], t=3.0)


def test_a_card_counts_stops():
    body = Body(name="block", mass=2.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    limit = Limit(lower=0.0, stiffness=900.0, damping=0.0)
    slide = Joint(name="z", kind="prismatic", parent="world", child="block", axis=(0.0, 0.0, 1.0), limits=(limit,))
    context = replace(Context.of(Model(name="m", bodies=(body,), joints=(slide,))), q=np.array([-0.01]))
    beyond, table = call("inverse_dynamics", context).parts
    assert "z" in beyond.to_text()
    assert [c.value for c in table.column("Torque or force")] == pytest.approx([2 * G - 9.0])
    assert "compressed stops: z" in table.note
    energy = call("energy", context)
    assert energy.column("Value")[-1].value == pytest.approx(2 * G * -0.01 + 0.045)
