"""Friction that grows with a joint's own reaction, against closed forms: guides that jam, pins, planes, loops."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.errors import ModelError, SimulationError
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World
from core.model.validation.model import check
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, METHODS

ALL = (*METHODS, "rk4")
WEIGHTLESS = World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0)))
MASS, HEIGHT, DISTANCE, PUSH = 2.0, 0.3, 0.5, 7.0


def body(mass=MASS, center=(0.0, 0.0, 0.0), name="body"):
    return Body(name=name, mass=mass, center_of_mass=center, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))


def drawer(coefficient, **fields):
    """A mass at a height above a guide with two ends: m |a| h/d presses on each."""
    along = {"kind": "prismatic", "axis": (1.0, 0.0, 0.0), "bearing_distance": DISTANCE}
    joint = Joint(name="slide", parent="world", child="body", friction_coefficient=coefficient, **along, **fields)
    return Model(name="drawer", world=WEIGHTLESS, bodies=(body(center=(0.0, 0.0, HEIGHT)),), joints=(joint,))


def jamming(coefficient):
    """μ b of F = μ b |P − F|: what friction makes of the force that it is less than."""
    return 2.0 * coefficient * HEIGHT / DISTANCE


def hinge(world=None, center=(0.0, 0.0, 0.0), **fields):
    """A body that turns about the vertical, or about y."""
    joint = Joint(name="pin", parent="world", child="body", **fields)
    given = {} if world is None else {"world": world}
    return Model(name="hinge", bodies=(body(center=center),), joints=(joint,), **given)


def test_a_guide_pulled_back_jams_as_friction_grows_with_itself():
    """F = μ P/(1 − μ b) while the push brakes, μ P/(1 + μ b) while it drives (b = 2 h/d)."""
    mech, b = Mechanism(drawer(0.2)), jamming(0.2)
    braked = (PUSH + b * PUSH / (1.0 - b)) / MASS
    driven = (PUSH - b * PUSH / (1.0 + b)) / MASS
    np.testing.assert_allclose(mech.forward_dynamics([0.0], [1.0], [-PUSH]), [-braked], rtol=1e-12)
    np.testing.assert_allclose(mech.forward_dynamics([0.0], [1.0], [PUSH]), [driven], rtol=1e-12)
    np.testing.assert_allclose(mech.forward_dynamics([0.0], [0.0], [PUSH]), [driven], rtol=1e-12)
    np.testing.assert_allclose(mech.inverse_dynamics([0.0], [1.0], [-braked]), [-PUSH], rtol=1e-12)
    np.testing.assert_allclose(mech.inverse_dynamics([0.0], [0.0], [1.0]), [MASS * (1.0 + b)], rtol=1e-12)


@pytest.mark.parametrize("method", ALL)
def test_a_drawer_is_braked_and_pushed_back(method):
    b, step = jamming(0.2), 1e-3 if method == "rk4" else None
    run = simulate(drawer(0.2), 1.0, method=method, v0=[2.0], torque=[-PUSH], output=0.1, step=step, **FINE)
    there, back = PUSH / (1.0 - b) / MASS, PUSH / (1.0 + b) / MASS
    turned = 2.0 / there
    expected = np.where(run.time < turned, 2.0 - there * run.time, -back * (run.time - turned))
    np.testing.assert_allclose(run.v[:, 0], expected, atol=1e-9)
    instants = run.time[:-1][np.diff(run.time) == 0.0]
    np.testing.assert_allclose(instants, turned, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_guide_that_locks_ends_the_run_with_a_message(method):
    """μ b = 1.08: no friction balances what it makes."""
    with pytest.raises(SimulationError, match="locks") as caught:
        simulate(drawer(0.9), 1.0, method=method, v0=[2.0], torque=[-PUSH], output=0.1)
    assert "slide" in caught.value.where
    assert caught.value.remedy


def test_a_guide_that_could_lock_is_told_once():
    """Pushed on, the same guide has two answers; the one that moves is used."""
    b = jamming(0.9)
    run = simulate(drawer(0.9), 0.5, v0=[2.0], torque=[PUSH], output=0.1)
    np.testing.assert_allclose(run.v[-1, 0], 2.0 + 0.5 * PUSH / (1.0 + b) / MASS, rtol=1e-6)
    told = [note for note in run.notes if "several solutions" in note]
    assert len(told) == 1
    assert f"factor {b:.3g}" in told[0]


@pytest.mark.parametrize("method", ALL)
def test_a_pin_brakes_an_unbalanced_rotor(method):
    """I α = −μ r m e √(ω⁴ + α²), so that ω = ω₀/(1 + k ω₀ t), k = κ/√(1 − κ²), κ = μ r m e/I."""
    radius, arm, mu = 0.1, 0.2, 0.3
    own = {"friction_coefficient": mu, "bearing_radius": radius}
    run = simulate(
        hinge(WEIGHTLESS, (arm, 0.0, 0.0), **own),
        1.0,
        method=method,
        v0=[5.0],
        output=0.1,
        step=1e-3 if method == "rk4" else None,
        **FINE,
    )
    share = mu * radius * MASS * arm / (0.1 + MASS * arm**2)
    k = share / math.sqrt(1.0 - share**2)
    np.testing.assert_allclose(run.v[:, 0], 5.0 / (1.0 + k * 5.0 * run.time), rtol=1e-8)


def test_a_shoulder_bears_the_weight():
    """I α = −μ r_t m g until it stands still."""
    model = hinge(friction_coefficient=0.2, thrust_radius=0.05)
    rate = 0.2 * 0.05 * MASS * 9.81 / 0.1
    run = simulate(model, 2.0, v0=[2.0], output=0.5, **FINE)
    np.testing.assert_allclose(run.v[:, 0], np.maximum(2.0 - rate * run.time, 0.0), atol=1e-9)
    assert [event.what for event in run.events] == ["stuck"]
    np.testing.assert_allclose([event.time for event in run.events], 2.0 / rate, rtol=1e-9)


@pytest.mark.parametrize("slope", [0.2, 0.3])
def test_a_block_on_a_plane_slides_or_stays(slope):
    """tan 0.2 = 0.203 < 0.25 < tan 0.3; the force normal to the plane is m g cos α."""
    joint = Joint(
        name="plane",
        kind="planar",
        parent="world",
        child="body",
        a=Pose(rotation=(0.0, slope, 0.0)),
        friction_coefficient=0.25,
    )
    mech = Mechanism(Model(name="incline", bodies=(body(),), joints=(joint,)))
    grows = max(9.81 * (math.sin(slope) - 0.25 * math.cos(slope)), 0.0)
    run = simulate(mech, 1.0, output=0.25, **FINE)
    np.testing.assert_allclose(run.q[:, 0], 0.5 * grows * run.time**2, atol=1e-9)
    found = equilibrium(mech, mech.rest(), friction=True) if grows == 0.0 else None
    if found is not None:
        np.testing.assert_allclose(found.q, mech.rest(), atol=1e-12)
        np.testing.assert_allclose(found.friction.safety, 0.25 / math.tan(slope), rtol=1e-6)


def slider_crank():
    """A crank, a coupler and a slider in the plane; pins of 1 cm."""
    rubbing = {"friction_coefficient": 0.2, "bearing_radius": 0.01}
    bars = (body(1.0, (0.1, 0.0, 0.0), "crank"), body(1.0, (0.3, 0.0, 0.0), "coupler"), body(0.5, name="slider"))
    joints = (
        Joint(name="crank_pin", parent="world", child="crank", **rubbing),
        Joint(name="knee", parent="crank", child="coupler", a=Pose(position=(0.2, 0.0, 0.0)), **rubbing),
        Joint(
            name="slide",
            kind="prismatic",
            parent="world",
            child="slider",
            axis=(1.0, 0.0, 0.0),
            a=Pose(position=(0.8, 0.0, 0.0)),
            friction_coefficient=0.3,
        ),
        Joint(name="wrist", parent="coupler", child="slider", a=Pose(position=(0.6, 0.0, 0.0)), **rubbing),
    )
    world = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
    return Model(name="slider_crank", world=world, bodies=bars, joints=joints)


@pytest.mark.parametrize("method", ["rk54", "radau"])
def test_friction_in_loops_is_that_of_the_reactions(method):
    """Of all joints, the one that closes the loop too; friction takes all the energy that is lost."""
    mech, begin = Mechanism(slider_crank()), {"q0": {"crank_pin": 0.7}, "v0": {"crank_pin": 6.0}}
    run = simulate(mech, 0.5, method=method, output=0.05, **begin, **FINE)
    total = run["energy.total"]
    names = ("crank_pin", "knee", "slide", "wrist")
    lost = sum(run[f"{name}.friction.loss"] for name in names)
    np.testing.assert_allclose(total[0] - total, lost, atol=1e-7)
    assert lost[-1] > 0.1
    turning = np.concatenate([[0.0], np.diff(run.time), [0.0]])  # at these instants a speed is nothing
    for k in np.flatnonzero((turning[1:] > 0.0) & (turning[:-1] > 0.0)):
        reactions = mech.reactions(run.q[k], run.v[k], run.tau[k])
        for name in names:
            f = reactions[name][3:]
            load = 0.3 * abs(f[1]) if name == "slide" else 0.2 * 0.01 * np.hypot(f[0], f[1])
            np.testing.assert_allclose(abs(run[f"{name}.friction.force"][k]), load, rtol=1e-6)


def test_inverse_dynamics_of_a_loop_gives_back_what_drives_it():
    mech = Mechanism(slider_crank())
    q = mech.move(mech.rest(), {"crank_pin": 0.7})
    v = np.asarray(mech.speeds(q, {"crank_pin.v": 3.0}))
    tau = np.zeros(mech.nv)
    tau[mech.v_names.index("crank_pin")] = 5.0
    a = mech.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(mech.inverse_dynamics(q, v, a, actuators=["crank_pin"]), tau, atol=1e-8)


def test_reactions_that_are_not_unique_are_refused():
    """A weight across the plane of a loop is borne by its guide and its pins alike."""
    model = replace(slider_crank(), world=World())
    with pytest.raises(SimulationError, match="not unique") as caught:
        simulate(model, 0.1)
    assert "slide" in caught.value.where
    assert "isostatic" in caught.value.remedy


def test_a_kind_whose_bearings_are_not_known_is_told():
    model = hinge(kind="universal", friction_coefficient=0.1)
    (finding,) = [each for each in check(model) if each.field == "friction_coefficient"]
    assert finding.severity == "error"
    with pytest.raises(ModelError, match="reaction-dependent friction"):
        simulate(model, 0.1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"friction_coefficient": -0.1}, "friction_coefficient"),
        ({"friction_coefficient": 0.2, "static_friction_coefficient": 0.1}, "static_friction_coefficient"),
        ({"friction_coefficient": 0.2}, "bearing_radius"),
        ({"friction_coefficient": 0.2, "bearing_radius": -0.1}, "bearing_radius"),
        ({"friction_coefficient": 0.2, "bearing_radius": 0.1, "bearing_distance": 0.0}, "bearing_distance"),
    ],
)
def test_numbers_without_meaning_are_found(fields, field):
    assert field in {each.field for each in check(hinge(**fields))}
