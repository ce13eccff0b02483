"""Several joints that hold one another: when they break loose, and stop, against closed forms; the order of elements
changes nothing."""

from dataclasses import replace

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Limit, Model, Pose, World
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, METHODS

ALL = (*METHODS, "rk4")
WEIGHTLESS = World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0)))


def turned(model):
    """With its elements in the other order."""
    return replace(model, bodies=model.bodies[::-1], joints=model.joints[::-1])


def as_is(model):
    return model


def fine(method):
    """Settings of a run."""
    return {"method": method, "step": 1e-3 if method == "rk4" else None, **FINE}


def told(run, what):
    """(joint, time) of events."""
    return {event.joint: event.time for event in run.events if event.what == what}


@pytest.mark.parametrize("order", [as_is, turned])
@pytest.mark.parametrize("method", ALL)
def test_three_blocks_one_on_the_other(method, order):
    """3, 2 and 1 kg, friction 15, 9 and 1.5 N below each; 10 t N pull the lowest. It breaks loose at 15 N, the
    uppermost where 6 kg get 1.5 m/s², the middle one where 7.5 N accelerate it by 3.75 m/s²."""
    masses, levels = (3.0, 2.0, 1.0), (15.0, 9.0, 1.5)
    bodies = [Body(name=f"b{k}", mass=m, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1)) for k, m in enumerate(masses)]
    joints = [
        Joint(
            name=f"x{k}",
            kind="prismatic",
            parent="world" if k == 0 else f"b{k - 1}",
            child=f"b{k}",
            axis=(1.0, 0.0, 0.0),
            friction=level,
        )
        for k, level in enumerate(levels)
    ]
    model = order(Model(name="pile", world=WEIGHTLESS, bodies=tuple(bodies), joints=tuple(joints)))
    run = simulate(model, 4.0, torque={"x0": "10*t"}, output=0.5, **fine(method))
    expected = {"x0": 1.5, "x2": 2.4, "x1": 3.525}
    found = told(run, "slipped")
    assert list(found) == ["x0", "x2", "x1"]
    exact = 1e-9 if method != "rk4" else 1e-6
    np.testing.assert_allclose([found[name] for name in expected], list(expected.values()), atol=exact)


def four_bar():
    """A crank and a rocker whose pins rub, at a pose where no two bars are in line."""
    bar = Inertia(ixx=1e-3, iyy=0.02, izz=0.02)
    bodies = tuple(Body(name=name, mass=1.0, inertia=bar) for name in ("crank", "coupler", "rocker"))
    crank, ground, coupler, rocker, angle = 0.2, 0.6, 0.5, 0.4, 1.0
    x, y = crank * np.cos(angle), crank * np.sin(angle)
    way, tilt = np.hypot(ground - x, y), np.arctan2(-y, ground - x)
    second = tilt + np.arccos((coupler**2 + way**2 - rocker**2) / (2.0 * coupler * way))
    third = np.arctan2(y + coupler * np.sin(second), x + coupler * np.cos(second) - ground)

    def at(along, turn=0.0):
        return Pose(position=(float(along), 0.0, 0.0), rotation=(0.0, 0.0, float(turn)))

    joints = (
        Joint(name="crank_pin", parent="world", child="crank", a=at(0.0, angle), friction=2.0),
        Joint(name="knee", parent="crank", child="coupler", a=at(crank, second - angle)),
        Joint(name="rocker_pin", parent="world", child="rocker", a=at(ground, third), friction=3.0),
        Joint(name="close", parent="coupler", child="rocker", a=at(coupler, third - second), b=at(rocker)),
    )
    return Model(name="four_bar", world=WEIGHTLESS, bodies=bodies, joints=joints)


@pytest.mark.parametrize("order", [as_is, turned])
@pytest.mark.parametrize("method", ALL)
def test_two_joints_of_a_four_bar_break_loose_together(method, order):
    """Where the crank's torque is Σ F |ω/ω_crank|."""
    mech = Mechanism(order(four_bar()))
    ratio = mech.speeds(mech.rest(), {"crank_pin.v": 1.0})[mech.v_names.index("rocker_pin")]
    run = simulate(mech, 1.2 * (2.0 + 3.0 * abs(ratio)) / 5.0, torque={"crank_pin": "5*t"}, **fine(method))
    found = told(run, "slipped")
    exact = 1e-9 if method != "rk4" else 1e-6
    np.testing.assert_allclose(list(found.values()), [(2.0 + 3.0 * abs(ratio)) / 5.0] * 2, atol=exact)


def cranks(count, radius=0.2, pitch=0.3):
    """Equal cranks side by side and the bar that they carry: all but the second only repeat what others hold."""
    spun = Inertia(ixx=0.01, iyy=0.01, izz=0.05)
    bodies = [Body(name="bar", mass=2.0, inertia=spun)]
    joints = []
    for k in range(count):
        bodies.append(Body(name=f"c{k}", mass=1.0, inertia=spun))
        start = Pose(position=(k * pitch, 0.0, 0.0), rotation=(0.0, 0.0, 1.0))
        limits = (Limit(upper=0.3, stop="rigid", restitution=0.5),) if k else ()
        joints.append(
            Joint(name=f"p{k}", parent="world", child=f"c{k}", a=start, friction=1.0 + 0.5 * k, limits=limits)
        )
        tip = Pose(position=(radius, 0.0, 0.0), rotation=(0.0, 0.0, -1.0))
        on_bar = Pose(position=(k * pitch, 0.0, 0.0))
        joints.append(Joint(name=f"k{k}", parent=f"c{k}", child="bar", a=tip, b=on_bar))
    return Model(name="cranks", world=WEIGHTLESS, bodies=tuple(bodies), joints=tuple(joints))


@pytest.mark.parametrize("order", [as_is, turned])
@pytest.mark.parametrize("method", ALL)
def test_cranks_that_hold_one_another_twice(method, order):
    """φ̈ = (10 t − Σ F)/J behind t₀ = Σ F/10, J = Σ J + m r²; two stops are hit at one instant and give half back."""
    inertia, levels = 3 * 0.05 + 2.0 * 0.2**2, 1.0 + 1.5 + 2.0
    begun = levels / 10.0
    lasted = (6.0 * inertia * 0.3 / 10.0) ** (1.0 / 3.0)
    run = simulate(order(cranks(3)), begun + lasted + 0.05, torque={"p0": "10*t"}, output=0.05, **fine(method))
    exact = 1e-9 if method != "rk4" else 1e-6
    slipped, hit = told(run, "slipped"), told(run, "hit upper stop")
    np.testing.assert_allclose([slipped[f"p{k}"] for k in range(3)], begun, atol=exact)
    np.testing.assert_allclose([hit["p1"], hit["p2"]], begun + lasted, atol=exact)
    k = np.flatnonzero((np.diff(run.time) == 0.0) & (run.time[1:] > begun + 0.5 * lasted))[0]
    speed = 10.0 * lasted**2 / (2.0 * inertia)
    np.testing.assert_allclose(run["p0.v"][k : k + 2], [speed, -0.5 * speed], rtol=1e-7)
