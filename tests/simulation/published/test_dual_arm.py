"""Two arms that hold one object: friction in shoulders and elbows, stops at the elbows; closed forms and identities.

The plane is vertical; both wrists are pins of the object, which closes a loop with three freedoms. What friction holds
is a linear program in one unknown, the squeeze along the object.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Limit, Model, Pose, World
from core.simulation import simulate

G = 9.81
HALF, UPPER, FORE, GRIP = 0.3, 0.4, 0.35, 0.2
ARM, HAND, LOAD = 0.8, 0.5, 3.0
TOOL = np.array([-GRIP, -0.55])
"""Where the left arm holds."""


def elbow():
    """Of the left arm, outward of the line from shoulder to tool."""
    shoulder = np.array([-HALF, 0.0])
    across = TOOL - shoulder
    d = np.linalg.norm(across)
    along = (UPPER**2 - FORE**2 + d * d) / (2.0 * d)
    outward = np.array([across[1], -across[0]]) / d
    return shoulder + along * across / d + np.sqrt(UPPER**2 - along**2) * outward


def angle(direction):
    return float(np.arctan2(direction[1], direction[0]))


def dual_arm(shoulders=2.0, elbows=1.0, cut="right_wrist", reach=0.0, static=1.0):
    """reach : by how far (rad) elbows may open further than now; 0: freely. static : share of friction at rest"""

    def bar(name, mass, length):
        inertia = Inertia(ixx=1e-3, iyy=1e-3, izz=mass * length**2 / 12.0)
        return Body(name=name, mass=mass, center_of_mass=(0.5 * length, 0.0, 0.0), inertia=inertia)

    def at(x, y=0.0):
        return Pose(position=(x, y, 0.0))

    def joint(name, parent, child, place, rest, level=0.0, limits=()):
        levels = {"friction": level, "static_friction": static * level} if level else {}
        closing = "yes" if name == cut else "no"
        return Joint(name=name, parent=parent, child=child, a=place, rest=(rest,), limits=limits, cut=closing, **levels)

    knee = elbow()
    up, fore = angle(knee - [-HALF, 0.0]), angle(TOOL - knee)
    bend = float(np.angle(np.exp(1j * (fore - up))))
    bodies, joints = [], []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        bodies += [bar(f"{side}_upper", ARM, UPPER), bar(f"{side}_fore", HAND, FORE)]
        first = up if sign > 0.0 else angle([-np.cos(up), np.sin(up)])
        limits = ()
        if reach:
            straight = sign * (bend - np.sign(bend) * reach)
            ends = (straight, 3.1) if sign * bend > 0.0 else (-3.1, straight)
            limits = (Limit(lower=ends[0], upper=ends[1], stiffness=2000.0, restitution=0.5),)
        joints += [
            joint(f"{side}_shoulder", "world", f"{side}_upper", at(-sign * HALF), first, shoulders),
            joint(f"{side}_elbow", f"{side}_upper", f"{side}_fore", at(UPPER), sign * bend, elbows, limits),
        ]
    bodies.append(Body(name="object", mass=LOAD, inertia=Inertia(ixx=0.05, iyy=0.05, izz=0.05)))
    grip = replace(joint("left_wrist", "left_fore", "object", at(FORE), -fore), b=at(-GRIP))
    level = angle([-np.cos(fore), -np.sin(fore)])
    other = replace(joint("right_wrist", "right_fore", "object", at(FORE), level), b=at(GRIP))
    world = World(gravity=Gravity(acceleration=(0.0, -G, 0.0)))
    return Model(name="dual_arm", world=world, bodies=tuple(bodies), joints=(*joints, grip, other))


def safety(shoulders, elbows):
    """The largest k with |k (a + b s)| within friction for some squeeze s: a the torques of the weights at shoulder and
    elbow of one arm (half the object at its tool), b those of a squeeze of 1 N."""
    knee, shoulder = elbow(), np.array([-HALF, 0.0])
    upper, fore = 0.5 * (shoulder + knee), 0.5 * (knee + TOOL)
    weights = ((ARM, upper), (HAND, fore), (0.5 * LOAD, TOOL))
    a = np.array(
        [sum(m * G * (x[0] - shoulder[0]) for m, x in weights), sum(m * G * (x[0] - knee[0]) for m, x in weights[1:])]
    )
    b = np.array([TOOL[1] - shoulder[1], TOOL[1] - knee[1]])
    a, b = a / [shoulders, elbows], b / [shoulders, elbows]
    squeezes = [(a[0] - a[1]) / (b[1] - b[0]), -(a[0] + a[1]) / (b[0] + b[1]), *(-a / b)]
    return 1.0 / min(max(abs(a + b * s)) for s in squeezes)


@pytest.mark.parametrize("cut", ["right_wrist", "left_wrist", "right_elbow"])
@pytest.mark.parametrize("levels", [(6.0, 3.0), (3.0, 5.0), (12.0, 0.9)])
def test_friction_holds_the_object_up_to_its_safety(levels, cut):
    mech = Mechanism(dual_arm(*levels, cut=cut))
    q = mech.rest()
    factor = safety(*levels)
    assert factor > 1.0
    found = equilibrium(mech, q, friction=True)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    np.testing.assert_allclose(found.friction.safety, factor, rtol=1e-6)


@pytest.mark.parametrize(("share", "holds"), [(1.0 - 1e-5, True), (1.0 + 1e-5, False)])
def test_a_run_begins_to_move_exactly_where_no_squeeze_holds(share, holds):
    """(In loops what rounding moves decays; where nothing holds, a 1e-5th of the weight falls.)"""
    levels = 6.0, 3.0
    factor = safety(*levels) * share
    mech = Mechanism(dual_arm(*(level / factor for level in levels)))
    a = mech.forward_dynamics(mech.rest(), np.zeros(mech.nv), np.zeros(mech.nv))
    assert (np.max(np.abs(a)) < 1e-9) == holds
    run = simulate(mech, 50.0 if holds else 0.2, output=0.1)
    moved = np.max(np.abs(run.q[-1] - run.q[0]))
    assert (moved < 1e-9) == holds


def mirrored(mech, q):
    """Left minus mirrored right angles of shoulders and elbows."""
    left, right = (
        np.array([q[mech.joint_q(f"{side}_{name}")] for name in ("shoulder", "elbow")]) for side in ("left", "right")
    )
    return np.angle(np.exp(1j * (left[0] + right[0] - np.pi))), left[1] + right[1]


@pytest.mark.parametrize("cut", ["right_wrist", "left_wrist"])
@pytest.mark.parametrize("method", ["rk54", "radau"])
def test_arms_that_sink_onto_their_elbows_stops(method, cut):
    """All that is lost is in the ledger, nothing turns the object, and the arms come to rest against the stops."""
    mech = Mechanism(dual_arm(0.8, 0.5, cut=cut, reach=0.25, static=1.2))
    run = simulate(mech, 3.0, method=method, output=0.02, rtol=1e-11, atol=1e-13)
    size = np.ptp(run["energy.potential"]) + np.max(run["energy.kinetic"])
    balance = run["energy.balance"]
    np.testing.assert_allclose(balance, balance[0], atol=1e-7 * size)
    shoulders, elbows = mirrored(mech, run.q.T)
    np.testing.assert_allclose(shoulders, 0.0, atol=1e-7)
    np.testing.assert_allclose(elbows, 0.0, atol=1e-7)
    np.testing.assert_allclose(run["object.position"][:, 0], 0.0, atol=1e-7)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-6)
    assert {event.joint for event in run.events if "hit" in event.what} == {"left_elbow", "right_elbow"}
