"""Loops that several joints hold by friction: their forces are not unique, when they slip is."""

import math
import random

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Pose
from core.simulation import simulate
from tests.walks import walk

METHODS = ("rk54", "rk853", "radau", "adams")
SEEDS = (8, 55, 85, 161)
"""Machines for which implicit and multistep methods once said other instants."""
CRANK, COUPLER, GROUND, ROCKER, FIRST = 0.2, 0.6, 0.6, 0.5, 1.1
"""m; rad: where the crank stands."""


def directions():
    """Angles of coupler and rocker, rad, where the linkage closes."""
    x, y = CRANK * math.cos(FIRST), CRANK * math.sin(FIRST)
    way, tilt = math.hypot(GROUND - x, y), math.atan2(-y, GROUND - x)
    second = tilt + math.acos((COUPLER**2 + way**2 - ROCKER**2) / (2 * COUPLER * way))
    end = x + COUPLER * math.cos(second), y + COUPLER * math.sin(second)
    return second, math.atan2(end[1], end[0] - GROUND)


def turned(x, angle):
    return Pose(position=(x, 0.0, 0.0), rotation=(0.0, 0.0, angle))


def four_bar(frictions):
    """All coordinates are 0 where it closes; frictions : of crank pin, knee, rocker pin and what closes it, N·m"""

    def bar(name, length):
        mass = 0.2 + length
        inertia = Inertia(ixx=1e-3, iyy=mass * length**2 / 12, izz=mass * length**2 / 12)
        return Body(name=name, mass=mass, center_of_mass=(length / 2, 0.0, 0.0), inertia=inertia)

    second, third = directions()
    places = (
        ("crank_pin", "world", "crank", turned(0.0, FIRST), Pose()),
        ("knee", "crank", "coupler", turned(CRANK, second - FIRST), Pose()),
        ("rocker_pin", "world", "rocker", turned(GROUND, third), Pose()),
        ("close", "coupler", "rocker", turned(COUPLER, third - second), turned(ROCKER, 0.0)),
    )
    joints = tuple(
        Joint(name=name, parent=parent, child=child, a=a, b=b, friction=friction)
        for (name, parent, child, a, b), friction in zip(places, frictions, strict=True)
    )
    bodies = bar("crank", CRANK), bar("coupler", COUPLER), bar("rocker", ROCKER)
    return Model(name="linkage", bodies=bodies, joints=joints)


def capacity(frictions):
    """Largest torque at the crank that friction holds, N·m: each joint's, times how much it turns for the crank (from
    the velocities of a four-bar linkage, e.g. Norton, Design of Machinery, 6.7)."""
    second, third = directions()
    coupler = CRANK / COUPLER * math.sin(third - FIRST) / math.sin(second - third)
    rocker = CRANK / ROCKER * math.sin(FIRST - second) / math.sin(third - second)
    turns = (1.0, coupler - 1.0, rocker, rocker - coupler)
    return sum(friction * abs(turn) for friction, turn in zip(frictions, turns, strict=True))


@pytest.mark.parametrize("closed_forms", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", walk(range(4), quick=["0"]))
def test_a_loop_slips_where_its_joints_hold_it_no_more(method, number, closed_forms):
    """At one instant, all at once, and never before; the second run is one of machine code."""
    luck = random.Random(SEEDS[number])
    frictions = [luck.uniform(0.05, 1.0) for _ in range(3)] + [luck.choice([0.0, luck.uniform(0.05, 1.0)])]
    mech, most = Mechanism(four_bar(frictions)), capacity(frictions)
    for pace in (1.0, 3.0, 7.0, 40.0):
        torque = most * luck.uniform(1.02, 3.0)
        slips = math.asin(most / torque) / pace
        options = {"torque": {"crank_pin": f"{torque}*sin({pace}*t)"}, "rtol": 1e-8, "atol": 1e-10}
        for duration in (slips + 0.05, 3.0):
            for _ in range(2):
                run = simulate(mech, duration, method=method, closed_forms=closed_forms, **options)
                told = [event.time for event in run.events if event.what in ("slipped", "stuck")]
                held = np.count_nonzero(frictions)
                np.testing.assert_allclose(told[:held], slips, rtol=0.0, atol=1e-7)
                assert {event.what for event in run.events[:held]} == {"slipped"}
