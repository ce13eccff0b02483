"""Drivers of the same motion that disagree: both are named, with the level and the difference."""

from __future__ import annotations

import numpy as np
import pytest

from core.constraints.mobility.mobility import mobility
from core.constraints.redundant_drivers import RepeatedDriver, find_contradiction, find_disagreement, split_driver_rows
from core.errors import AssemblyError, SimulationError
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanism import Mechanism
from core.model import Body, Driver, Inertia, Joint, Model, Pose, Sensor
from core.simulation import simulate


def four_bar(*drivers: Driver, sensors: tuple[Sensor, ...] = ()) -> Mechanism:
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    solid = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
    bodies = tuple(Body(name=n, mass=1.0, center_of_mass=(0.1, 0.0, 0.0), inertia=solid) for n in "ckr")
    joints = (
        Joint(name="A", parent="world", child="c", rest=(1.2,)),
        Joint(name="B", parent="c", child="k", a=at(0.2), rest=(-0.9,)),
        Joint(name="C", parent="k", child="r", a=at(0.8), b=at(0.5), rest=(0.9,)),
        Joint(name="D", parent="world", child="r", a=at(0.7), rest=(1.3,)),
    )
    return Mechanism(Model(name="four-bar", bodies=bodies, joints=joints, drivers=drivers, sensors=sensors))


def motor(name: str, function: str, motion: str = "position", joint: str = "A") -> Driver:
    return Driver(name=name, joint=joint, function=function, motion=motion)


DISAGREE = [
    (motor("one", "1.2 + t"), motor("two", "1.3 + t"), "position", r"by 0\.1 rad \(5\.73°\)"),
    (motor("one", "1.2 + t"), motor("two", "1.2 + 3*t"), "speed", r"by 2 rad/s \(114\.6°/s\)"),
    (motor("one", "1.2 + t"), motor("two", "1.2 + t + 2*t^2"), "acceleration", r"by 4 rad/s² \(229\.2°/s²\)"),
    (motor("one", "1.2 + t"), motor("two", "3", "velocity"), "speed", r"by 2 rad/s \(114\.6°/s\)"),
    (motor("one", "1", "velocity"), motor("two", "1.5", "velocity"), "speed", r"by 0\.5 rad/s \(28\.65°/s\)"),
    (
        motor("one", "1", "acceleration"),
        motor("two", "4", "acceleration"),
        "acceleration",
        r"by 3 rad/s² \(171\.9°/s²\)",
    ),
]


@pytest.mark.parametrize(("one", "two", "level", "by"), DISAGREE)
def test_both_drivers_are_named(one: Driver, two: Driver, level: str, by: str) -> None:
    mech = four_bar(one, two)
    told = mobility(mech.compiled).inconsistent
    assert told == (f"Driver two drives the same motion as one, but with a different {level}",)
    with pytest.raises(AssemblyError, match=f"drives the same motion as 'one', but its {level} differs {by}") as raised:
        simulate(mech, 0.1)
    assert raised.value.where == "driver 'two'"
    assert "'one'" in raised.value.remedy
    with pytest.raises(AssemblyError, match="'one'"):
        mech.assemble(mech.rest(), np.zeros(mech.nv))


def test_the_unit_is_that_of_what_is_driven() -> None:
    reach = Sensor(name="reach", kind="distance", a="r", b="k")
    drivers = [Driver(name=n, sensor="reach", function=f, motion="velocity") for n, f in (("one", "0.1"), ("two", "0"))]
    with pytest.raises(AssemblyError, match=r"its speed differs by 0\.1 m/s"):
        simulate(four_bar(*drivers, sensors=(reach,)), 1.0)


def test_drivers_at_two_joints_of_one_loop() -> None:
    with pytest.raises(AssemblyError, match="drives the same motion as 'one', but its speed differs"):
        simulate(four_bar(motor("one", "1", "velocity"), motor("two", "1", "velocity", "D")), 0.1)


@pytest.mark.parametrize(("motion", "later", "limit"), [("position", "t^3", 0.05), ("velocity", "t^2", 0.06)])
def test_what_parts_later_ends_the_run_there(motion: str, later: str, limit: float) -> None:
    start = "1.2 + " if motion == "position" else ""
    mech = four_bar(motor("one", f"{start}t", motion), motor("two", f"{start}t + {later}", motion))
    assert not mobility(mech.compiled).inconsistent
    with pytest.raises(SimulationError, match=r"At t = .* drives the same motion as 'one'") as raised:
        simulate(mech, 1.0, output=0.05)
    assert raised.value.where == "driver 'two'"
    assert 0.0 < raised.value.time <= limit
    assert len(raised.value.run) >= 1


def test_drivers_that_agree_go_on() -> None:
    mech = four_bar(motor("one", "1.2 + 2*t"), motor("two", "2", "velocity"))
    assert mobility(mech.compiled).idle_drivers == ("Driver two drives the same motion as one",)
    run = simulate(mech, 1.0, output=0.1)
    np.testing.assert_allclose(run["A.q"], 1.2 + 2.0 * run.time, atol=1e-7)


def test_a_speed_that_the_joints_do_not_allow() -> None:
    """The slider of a slider-crank at its dead point, the crank along the guide: it cannot move."""
    solid = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    bodies = tuple(Body(name=n, mass=1.0, inertia=solid) for n in ("crank", "rod", "slider"))
    joints = (
        Joint(name="O", parent="world", child="crank"),
        Joint(name="P", parent="crank", child="rod", a=at(0.2)),
        Joint(name="Q", parent="rod", child="slider", a=at(0.5)),
        Joint(name="S", kind="prismatic", parent="world", child="slider", axis=(1.0, 0.0, 0.0), rest=(0.7,)),
    )
    driver = Driver(name="push", joint="S", function="-0.1", motion="velocity")
    mech = Mechanism(Model(name="slider-crank", bodies=bodies, joints=joints, drivers=(driver,)))
    with pytest.raises(
        AssemblyError, match=r"joints do not allow the speed that it prescribes here, which differs by 0\.1 m/s"
    ) as raised:
        simulate(mech, 0.1)
    assert raised.value.where == "driver 'push'"


TORN = [
    ((motor("one", "1.2 + t"), motor("two", "1.9", joint="D")), "two", "'one', but its position differs"),
    ((motor("one", "1.2 + t"), motor("two", "-0.2", joint="C")), "two", "'one', but its position differs"),
    (
        (motor("far", "4", joint="D"),),
        "far",
        r"was not reached: at the nearest position found, it is 0\.\d+ rad \(\d\.\d+°\) away",
    ),
]


@pytest.mark.parametrize(("drivers", "where", "what"), TORN)
def test_a_loop_torn_open_by_drivers_is_theirs_not_the_loop_s(
    drivers: tuple[Driver, ...], where: str, what: str
) -> None:
    """Different joints of one loop driven apart, and a joint beyond its reach: the loop itself closes well."""
    with pytest.raises(AssemblyError, match=what) as raised:
        simulate(four_bar(*drivers), 0.1)
    assert raised.value.where == f"driver '{where}'"


def test_how_far_a_rocker_misses_its_driver() -> None:
    """Folded, coupler less crank is 0.6 m: the rocker stops at the angle of a triangle of 0.7, 0.5 and 0.6 m."""
    mech = four_bar(motor("far", "4", joint="D"))
    end = np.pi + np.arccos((0.7**2 + 0.5**2 - 0.6**2) / (2.0 * 0.7 * 0.5))
    with pytest.raises(AssemblyError) as raised:
        simulate(mech, 0.1)
    missing = float(raised.value.what.split("it is ")[1].split(" rad")[0])
    assert missing == pytest.approx(end - 4.0, rel=1e-3)


@pytest.mark.parametrize(("others", "found"), [((), None), ((0,), (2, 1.0))])
def test_at_a_dead_point_only_other_drivers_contradict_an_acceleration(
    others: tuple[int, ...], found: tuple[int, float] | None
) -> None:
    """A row that follows from another alike in position and speed demands 2 m/s² where that one demands 1: an error if
    that is a driver; where joints alone say it, the motion goes on (a slider that leaves the crank's dead point)."""
    rows = [Row("drivers" if others else "joints", "first", ""), Row("drivers", "second", "")]
    repeated = RepeatedDriver(1, np.array([1.0, 0.0]), others)
    demands = [np.array([0.3, 0.3]), np.array([0.2, 0.2]), np.array([1.0, 2.0])]
    assert find_disagreement(repeated, rows, demands) == found
    assert find_disagreement(repeated, rows, [demands[0], np.array([0.2, 0.7]), demands[2]]) == (1, pytest.approx(0.5))


def test_a_slider_driven_from_the_cranks_dead_point_contradicts_nothing() -> None:
    """At rest there the joints allow the slider no acceleration, −0.1 m/s² is asked for, and the motion goes on."""
    x = lambda length: Pose(position=(length, 0.0, 0.0))  # noqa: E731
    bodies = tuple(Body(name=name, mass=1.0, inertia=Inertia(ixx=0.01, iyy=0.01, izz=0.01)) for name in "crs")
    joints = (
        Joint(name="A", parent="world", child="c"),
        Joint(name="B", parent="c", child="r", a=x(0.2)),
        Joint(name="C", parent="r", child="s", a=x(0.3)),
        Joint(name="S", kind="prismatic", parent="world", child="s", a=x(0.5), axis=(1.0, 0.0, 0.0)),
    )
    driver = Driver(name="pull", joint="S", function="-0.05*t^2")
    mech = Mechanism(Model(name="slider-crank", bodies=bodies, joints=joints, drivers=(driver,)))
    q, v = mech.rest(), np.zeros(mech.nv)
    assert [each.drivers for each in split_driver_rows(mech.constraint_jacobian(q), mech.compiled.rows)[1]]
    assert find_contradiction(mech.compiled, q, v, None, 0.0) is None
