"""Limits of motors in poses of rest and small motions, against closed forms."""

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.analysis.linearisation import linearise
from core.errors import SimulationError
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Limit, Model, World
from tests.analysis.four_bar import crank_load, four_bar

MASS, LENGTH, INERTIA, G = 2.0, 0.5, 0.3, 9.81
WEIGHT = MASS * G * LENGTH


def pendulum(limit, friction=0.0):
    """Hangs along −z at 0; turns about y."""
    body = Body(
        name="rod", mass=MASS, center_of_mass=(0.0, 0.0, -LENGTH), inertia=Inertia(ixx=INERTIA, iyy=INERTIA, izz=0.1)
    )
    pin = Joint(name="pin", parent="world", child="rod", axis=(0.0, 1.0, 0.0), limits=(limit,), friction=friction)
    world = World(gravity=Gravity(acceleration=(0.0, 0.0, -G)))
    return Mechanism(Model(name="pendulum", world=world, bodies=(body,), joints=(pin,)))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_motor_holds_a_pendulum_up_to_its_limit(sign):
    most = 6.0
    mech = pendulum(Limit(effort=most))
    for asked in (2.0, 5.9, 7.0, 40.0):
        found = equilibrium(mech, [0.1 * sign], tau=[sign * asked])
        angle = np.arcsin(min(asked, most) / WEIGHT)
        np.testing.assert_allclose(found.q, [sign * angle], atol=1e-9)
        assert found.saturated == ({} if asked <= most else {"pin": (sign * asked, sign * most)})
        np.testing.assert_allclose(found.stiffness, [WEIGHT * np.cos(angle)], rtol=1e-7)
        assert equilibrium(mech, [0.1], tau=[5.0], motors=False).saturated == {}


def test_without_motors_joints_get_what_is_given():
    found = equilibrium(pendulum(Limit(effort=3.0)), [0.1], tau=[6.0], motors=False)
    np.testing.assert_allclose(found.q, [np.arcsin(6.0 / WEIGHT)], atol=1e-9)


def test_a_machine_that_only_a_stronger_motor_holds_names_it():
    """On a slide that is straight up nothing but the motor carries the weight."""
    body = Body(name="load", mass=MASS)
    lift = Joint(
        name="lift",
        kind="prismatic",
        parent="world",
        child="load",
        axis=(0.0, 0.0, 1.0),
        limits=(Limit(effort=10.0),),
    )
    mech = Mechanism(Model(name="lift", bodies=(body,), joints=(lift,)))
    needed = MASS * G
    with pytest.raises(SimulationError) as error:
        equilibrium(mech, [0.0], tau=[needed])
    assert "The motor of 'lift' would have to supply 19.6" in str(error.value)
    assert "is limited to 10 N" in str(error.value)
    assert equilibrium(mech, [0.0], tau=[needed], motors=False).stability == "indifferent"


def test_friction_and_a_saturated_motor_hold_together():
    """|m g l sin q − τ| within the friction of 1.5 N·m, τ no more than 4 N·m."""
    mech, most = pendulum(Limit(effort=4.0), friction=1.5), 5.5 / WEIGHT
    inside, outside = np.arcsin(most) - 0.01, np.arcsin(most) + 0.2
    held = equilibrium(mech, [inside], tau=[50.0], friction=True)
    np.testing.assert_allclose(held.q, [inside], atol=1e-12)
    np.testing.assert_allclose(held.friction.forces["pin"], WEIGHT * np.sin(inside) - 4.0, atol=1e-9)
    np.testing.assert_allclose(equilibrium(mech, [outside], tau=[50.0], friction=True).q, [np.arcsin(most)], atol=1e-8)


def test_small_motions_at_a_limit_of_effort():
    """I q̈ + m g l sin q = τ: the motor does not change the stiffness, at its limit or not."""
    mech = pendulum(Limit(effort=6.0))
    found = linearise(mech, [0.3], tau=[50.0])
    inertia = INERTIA + MASS * LENGTH**2
    assert found.saturated == ("pin",)
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [-WEIGHT * np.cos(0.3) / inertia, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found.residual, [(6.0 - WEIGHT * np.sin(0.3)) / inertia], rtol=1e-12)
    free = linearise(mech, [0.3], tau=[50.0], motors=False)
    assert free.saturated == ()
    np.testing.assert_allclose(free.residual, [(50.0 - WEIGHT * np.sin(0.3)) / inertia], rtol=1e-12)


def carriages():
    """One on the other along x; the lower one has a motor of 9 N that drives to 2 m/s, the upper one a spring."""
    bodies = (Body(name="low", mass=2.0), Body(name="high", mass=1.0))
    along = {"kind": "prismatic", "axis": (1.0, 0.0, 0.0)}
    joints = (
        Joint(name="x", parent="world", child="low", limits=(Limit(velocity=2.0, effort=9.0),), damping=0.5, **along),
        Joint(name="y", parent="low", child="high", stiffness=40.0, **along),
    )
    return Mechanism(Model(name="carriages", bodies=bodies, joints=joints))


@pytest.mark.parametrize(
    ("speed", "asked", "what", "order"),
    [
        (2.0, 5.0, "limited", 2),  # its motor needs 1 N for damping: the rest it withholds
        (-2.0, -5.0, "limited", 2),
        (2.0, 0.5, "", 4),  # too little to stay at the limit
        (2.0, -5.0, "", 4),  # it brakes
        (1.0, 5.0, "", 4),
        (2.5, 5.0, "overrun", 4),
    ],
)
def test_small_motions_at_a_limit_of_speed(speed, asked, what, order):
    """Where its speed is held the upper carriage swings alone, ω² = k/m₂, else against the lower one."""
    found = linearise(carriages(), [0.0, 0.0], [speed, 0.0], tau=[asked, 0.0])
    assert (found.limited, found.overrun) == (("x",) * (what == "limited"), ("x",) * (what == "overrun"))
    assert len(found.A) == order
    if what == "limited":
        np.testing.assert_allclose(found.A, [[0.0, 1.0], [-40.0, 0.0]], atol=1e-9)
        np.testing.assert_allclose(found.residual, [0.0], atol=1e-9)
    elif what == "overrun":
        expected = np.array([-0.5 * speed / 2.0, 0.5 * speed / 2.0])
        np.testing.assert_allclose(found.residual, expected, atol=1e-9)


def test_a_load_that_is_faster_than_the_motor_may_drive_overruns_it():
    """Down a slope of 30 N against 1 N of damping no share of the command keeps the limit: it falls freely."""
    body = Body(name="load", mass=2.0)
    joint = Joint(
        name="x",
        kind="prismatic",
        parent="world",
        child="load",
        axis=(0.0, 0.0, -1.0),
        limits=(Limit(velocity=2.0, effort=9.0),),
        damping=0.5,
    )
    world = World(gravity=Gravity(acceleration=(0.0, 0.0, -G)))
    mech = Mechanism(Model(name="fall", world=world, bodies=(body,), joints=(joint,)))
    found = linearise(mech, [0.0], [2.0], tau=[5.0])
    assert found.overrun == ("x",)
    np.testing.assert_allclose(found.residual, [G - 0.5 * 2.0 / 2.0], rtol=1e-9)


def test_what_is_told_of_limits():
    mech = pendulum(Limit(effort=6.0))
    context = Context(mech.model, mech, np.array([0.1]))
    words = str(call("static_equilibrium", context, forces={"pin": 40.0}).parts[0].text)
    assert "The motor of pin would need 40 N·m and gives its limit, 6 N·m." in words
    words = str(call("linearise", context, forces={"pin": 40.0}).parts[0].text)
    assert "Motor at its effort limit, so that its force is constant: pin." in words


@pytest.mark.parametrize("asked", [0.5, 2.0])
def test_a_four_bar_is_held_up_to_the_limit_of_its_motor(asked):
    """With V(θ) of the three moving bars the motor holds the crank where it gives dV/dθ."""
    most = 1.2
    mech = Mechanism(four_bar(effort=most))
    found = equilibrium(mech, mech.rest(), tau=[asked, 0.0, 0.0], nearest=True)
    angle = float(found.q[mech.q_names.index("crank")])
    np.testing.assert_allclose(crank_load(angle), min(asked, most), atol=1e-9)
    assert found.saturated == ({"crank": (asked, most)} if asked > most else {})
