"""What friction by reactions holds in loops at rest, against friction circles and enumerated signs."""

from itertools import product

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.errors import SimulationError
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Inertia, Joint, Model, Pose, World

CRANK, ROD, RADIUS = 0.2, 0.6, 0.02
MU_PIN, MU_SLIDE = 0.3, 0.2
PUSH = -50.0
WEIGHTLESS = World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0)))


def slider_crank(world=WEIGHTLESS, mu=MU_PIN, slide=MU_SLIDE, cut="wrist"):
    """Crank, rod and slider along x without weight, a force on the slider; pins of 2 cm."""
    rubbing = {"friction_coefficient": mu, "bearing_radius": RADIUS}

    def bar(name):
        return Body(name=name, mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))

    def closing(name):
        return {"cut": "yes" if name == cut else "no"}

    joints = (
        Joint(name="pin", parent="world", child="crank", **rubbing, **closing("pin")),
        Joint(
            name="knee",
            parent="crank",
            child="rod",
            a=Pose(position=(CRANK, 0.0, 0.0)),
            **rubbing,
            **closing("knee"),
        ),
        Joint(
            name="slide",
            kind="prismatic",
            parent="world",
            child="slider",
            axis=(1.0, 0.0, 0.0),
            a=Pose(position=(CRANK + ROD, 0.0, 0.0)),
            friction_coefficient=slide,
            **closing("slide"),
        ),
        Joint(
            name="wrist",
            parent="rod",
            child="slider",
            a=Pose(position=(ROD, 0.0, 0.0)),
            **rubbing,
            **closing("wrist"),
        ),
    )
    push = Force(name="push", kind="wrench", a="world", b="slider", force=(PUSH, 0.0, 0.0))
    bodies = tuple(map(bar, ("crank", "rod", "slider")))
    return Model(name="slider_crank", world=world, bodies=bodies, joints=joints, forces=(push,))


def by_circles(angle, signs, mu=MU_PIN, slide=MU_SLIDE):
    """The crank's torque with a part of full friction in pin, knee, wrist and slide: the line of the rod's force f (on
    the slider) is turned by asin of the two friction circles' share of the rod; with f_x + P = s μ |f_y| at the slider
    and M = B × f + (knee's moment) − (pin's moment)."""
    pin, knee, wrist, slider = signs
    circle = mu * RADIUS
    B = CRANK * np.array([np.cos(angle), np.sin(angle)])
    inclined = -np.arcsin(B[1] / ROD)
    along = inclined + np.arcsin(circle * (knee + wrist) / ROD)
    f = -PUSH / (np.cos(along) + slider * slide * abs(np.sin(along)))
    moment = f * (B[0] * np.sin(along) - B[1] * np.cos(along))
    return moment + circle * f * (knee - pin)


def at(mech, angle):
    return mech.move(mech.move(mech.rest(), {"pin": 0.3}), {"pin": angle}, exact=True)


ANGLES = [0.2, 0.9, 1.7, 2.6]


@pytest.mark.parametrize("cut", ["wrist", "knee", "slide"])
@pytest.mark.parametrize("angle", ANGLES)
def test_bounds_of_a_crank_are_those_of_friction_circles(angle, cut):
    mech = Mechanism(slider_crank(cut=cut))
    q, still = at(mech, angle), np.zeros(mech.nv)
    found = mech.inverse_dynamics_ranges(q, still, still, actuators=["pin"])
    all_signs = [by_circles(angle, signs) for signs in product((-1.0, 1.0), repeat=4)]
    k = mech.v_names.index("pin")
    np.testing.assert_allclose(found.tau[k], by_circles(angle, np.zeros(4)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([found.tau_min[k], found.tau_max[k]], [min(all_signs), max(all_signs)], rtol=1e-8)
    others = np.arange(mech.nv) != k
    np.testing.assert_allclose(np.array(found)[:, others], 0.0, atol=1e-9)


@pytest.mark.parametrize("angle", [0.2, 0.9, 2.6])
def test_just_beyond_the_bounds_the_crank_begins_to_move(angle):
    """Forward dynamics with the friction of the reactions then is another algorithm. (Where the rod hardly turns, as at
    1.7, the wrist holds more by pressing on others than by rubbing: it may rest there, or move.)"""
    mech = Mechanism(slider_crank())
    q, still = at(mech, angle), np.zeros(mech.nv)
    found = mech.inverse_dynamics_ranges(q, still, still, actuators=["pin"])
    k = mech.v_names.index("pin")
    for bound, sense in ((found.tau_min, -1.0), (found.tau_max, 1.0)):
        for beyond, moves in ((-1e-5, False), (1e-5, True)):
            tau = np.zeros(mech.nv)
            tau[k] = bound[k] + sense * beyond
            a = mech.forward_dynamics(q, still, tau)
            assert (sense * a[k] > 1e-7) == moves
            assert moves or abs(a[k]) < 1e-9


def test_a_card_tells_the_bounds():
    mech = Mechanism(slider_crank())
    q, still = at(mech, 0.9), np.zeros(mech.nv)
    table = call("inverse_dynamics", Context(mech.model, mech, q), actuators="pin")
    found = mech.inverse_dynamics_ranges(q, still, still, actuators=["pin"])
    k = mech.v_names.index("pin")
    shown = [table.column(title)[k].value for title in ("Lower bound", "Upper bound")]
    np.testing.assert_allclose(shown, [found.tau_min[k], found.tau_max[k]])


def test_reactions_that_are_not_unique_are_told_with_their_joint():
    """A weight across the plane is borne by all pins alike."""
    mech = Mechanism(slider_crank(World(gravity=Gravity(acceleration=(0.0, 0.0, -9.81)))))
    q, still = at(mech, 0.9), np.zeros(mech.nv)
    with pytest.raises(SimulationError, match="not unique") as caught:
        mech.inverse_dynamics_ranges(q, still, still, actuators=["pin"])
    assert "joint '" in caught.value.where


def torque_at(mech, angle, share):
    """(nv,) with a crank's torque at a share of the way between its bounds."""
    bounds = [by_circles(angle, signs) for signs in product((-1.0, 1.0), repeat=4)]
    tau = np.zeros(mech.nv)
    tau[mech.v_names.index("pin")] = min(bounds) + share * (max(bounds) - min(bounds))
    return tau


@pytest.mark.parametrize("cut", ["wrist", "slide"])
@pytest.mark.parametrize(("angle", "share"), [(0.2, 0.001), (0.9, 0.5), (2.6, 0.999)])
def test_friction_holds_a_pose_between_the_bounds(angle, share, cut):
    mech = Mechanism(slider_crank(cut=cut))
    q = at(mech, angle)
    found = equilibrium(mech, q, tau=torque_at(mech, angle, share), friction=True)
    np.testing.assert_allclose(found.q, q, atol=1e-12)
    assert found.residual < 1e-9
    held = found.friction
    for name, (low, high) in held.ranges.items():
        assert low - 1e-7 <= held.forces[name] <= high + 1e-7
        assert abs(held.forces[name]) <= held.limits[name] * (1.0 + 1e-9)


@pytest.mark.parametrize("share", [-0.001, 1.001])
def test_beyond_the_bounds_the_nearest_pose_is_where_they_are_met(share):
    mech, angle = Mechanism(slider_crank()), 0.9
    q, tau = at(mech, angle), torque_at(mech, angle, share)
    found = equilibrium(mech, q, tau=tau, friction=True)
    k = mech.q_names.index("pin")
    assert abs(found.q[k] - angle) > 1e-5
    bounds = [by_circles(found.q[k], signs) for signs in product((-1.0, 1.0), repeat=4)]
    np.testing.assert_allclose(tau[mech.v_names.index("pin")], max(bounds) if share > 0.5 else min(bounds), rtol=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.7])
def test_ranges_of_forces_enclose_all_that_hold(share):
    """For parts of full friction in knee, wrist and slide on a grid the pin's follows from the torque."""
    angle = 0.9
    mech = Mechanism(slider_crank())
    tau = torque_at(mech, angle, share)
    torque = tau[mech.v_names.index("pin")]
    low, high = equilibrium(mech, at(mech, angle), tau=tau, friction=True).friction.ranges["pin"]
    grid = np.linspace(-1.0, 1.0, 41)
    full = MU_PIN * RADIUS
    possible = []
    for knee, wrist, slider in product(grid, grid, (-1.0, 0.0, 1.0)):
        along = -np.arcsin(CRANK * np.sin(angle) / ROD) + np.arcsin(full * (knee + wrist) / ROD)
        f = -PUSH / (np.cos(along) + slider * MU_SLIDE * abs(np.sin(along)))
        force = torque - by_circles(angle, (0.0, knee, wrist, slider))
        if abs(force) <= full * f:
            possible.append(-force)  # friction and motor act alike
    reach = 0.02 * (max(possible) - min(possible)) + 1e-7
    assert min(possible) - reach <= low <= min(possible) + 1e-7
    assert max(possible) - 1e-7 <= high <= max(possible) + reach


def test_what_each_joint_may_do_at_a_bound_is_what_it_must():
    """At the largest torque all joints rub fully, as friction circles say: f of the rod, μ r f in pins."""
    angle = 0.9
    mech = Mechanism(slider_crank())
    signs = max(product((-1.0, 1.0), repeat=4), key=lambda each: by_circles(angle, each))
    tau = np.zeros(mech.nv)
    tau[mech.v_names.index("pin")] = by_circles(angle, signs) * (1.0 + 1e-9)  # it is negative
    held = equilibrium(mech, at(mech, angle), tau=tau, friction=True).friction
    circle = MU_PIN * RADIUS
    along = -np.arcsin(CRANK * np.sin(angle) / ROD) + np.arcsin(circle * (signs[1] + signs[2]) / ROD)
    f = -PUSH / (np.cos(along) + signs[3] * MU_SLIDE * abs(np.sin(along)))
    expected = dict.fromkeys(("pin", "knee", "wrist"), circle * f) | {"slide": MU_SLIDE * f * abs(np.sin(along))}
    for name, force in expected.items():
        np.testing.assert_allclose(abs(held.forces[name]), force, rtol=1e-5)
        np.testing.assert_allclose(np.abs(held.ranges[name]), force, rtol=1e-4)


def test_without_friction_a_loop_with_such_joints_finds_its_rest():
    """The crank hangs where the push on the slider leads it: the rod in line with the crank."""
    mech = Mechanism(slider_crank())
    found = equilibrium(mech, at(mech, 2.6))
    np.testing.assert_allclose(np.sin(found.q[mech.q_names.index("pin")]), 0.0, atol=1e-7)
