"""Elements that cannot hold together are all named, innocent ones not: contradictions planted in closed form."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from core.constraints.mobility.findings import examine_mobility
from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Frame, Joint, Limit, Model, Pose
from core.programs.compiled import CompiledModel
from tests.constraints.mobility import overconstrained as machines
from tests.walks import slow


def balls(*rods: tuple[str, str, tuple[float, float, float], float]) -> Model:
    """Free balls on rods, each (name, ball, point of the ground, length)."""
    names = dict.fromkeys(ball for _, ball, _, _ in rods)
    frames = tuple(Frame(name=f"at_{n}", parent="world", pose=Pose(position=p)) for n, _, p, _ in rods)
    held = tuple(Constraint(name=n, kind="rod", a=f"at_{n}", b=ball, length=length) for n, ball, _, length in rods)
    bodies = tuple(Body(name=name, mass=1.0) for name in names)
    return Model(name="balls", bodies=bodies, frames=frames, constraints=held)


def refused(model: Model) -> AssemblyError:
    mech = Mechanism(model)
    with pytest.raises(AssemblyError) as raised:
        mech.assemble(mech.rest())
    return raised.value


def without(model: Model, *names: str) -> Model:
    return dataclasses.replace(
        model,
        constraints=tuple(c for c in model.constraints if c.name not in names),
        drivers=tuple(d for d in model.drivers if d.name not in names),
    )


def closes(model: Model) -> bool:
    mech = Mechanism(model)
    try:
        mech.assemble(mech.rest())
    except AssemblyError:
        return False
    return True


def named(error: AssemblyError) -> set[str]:
    return {place.partition(" ")[2].strip("'") for place in error.together}


def test_two_rods_that_do_not_meet():
    """Points 4 m apart, rods of 1 and 2 m: 1 m is missing, split so that both rods' gaps in squares are alike."""
    error = refused(balls(("short", "ball", (0, 0, 0), 1.0), ("long", "ball", (4, 0, 0), 1.0)))
    assert error.where == "constraint 'short'"
    assert error.what == "It was not satisfied together with 'long': at the nearest position found, the gap is 1000 mm."
    assert error.together == ("constraint 'short'", "constraint 'long'")


def test_a_point_on_four_spheres_of_which_one_is_too_large():
    """Any three of the four spheres meet, all four do not."""
    place = np.array((0.3, 0.4, 0.8))
    points = [(1.0, 0.0, 0.0), (-1.0, 0.3, 0.0), (0.0, -1.0, 0.2), (0.2, 1.0, 0.1)]
    far = [float(np.linalg.norm(place - p)) + (0.1 if i == 3 else 0.0) for i, p in enumerate(points)]
    model = balls(*((f"rod{i}", "ball", p, far[i]) for i, p in enumerate(points)))
    error = refused(model)
    assert named(error) == {"rod0", "rod1", "rod2", "rod3"}
    for i in range(4):
        assert closes(without(model, f"rod{i}"))


@pytest.mark.parametrize("seed", [0, 1, 2, *slow(*range(3, 8))])
def test_the_planted_set_and_nothing_else(seed):
    """Balls on rods to points within reach; those of one ball are too short for the distance of their two points."""
    rng = np.random.default_rng(seed)
    rods, guilty = [], set()
    for ball in range(3):
        place = rng.uniform(-1.0, 1.0, 3)
        for k in range(int(rng.integers(1, 4))):
            point = place + rng.uniform(-1.0, 1.0, 3)
            rods.append((f"b{ball}r{k}", f"ball{ball}", tuple(point), float(np.linalg.norm(point - place))))
        if ball == seed % 3:
            apart, way = rng.uniform(1.0, 3.0), rng.normal(size=3)
            first = place + 5.0
            second = first + way / np.linalg.norm(way) * apart
            rods = [rod for rod in rods if rod[1] != f"ball{ball}"]
            for k, point in enumerate((first, second)):
                rods.append((f"g{k}", f"ball{ball}", tuple(map(float, point)), 0.4 * apart))
                guilty.add(f"g{k}")
    order = rng.permutation(len(rods))
    model = balls(*(rods[i] for i in order))
    assert named(refused(model)) == guilty
    for name in guilty:
        assert closes(without(model, name))


def test_two_contradictions_are_both_told():
    error = refused(
        balls(
            ("a1", "a", (0, 0, 0), 1.0),
            ("a2", "a", (4, 0, 0), 1.0),
            ("b1", "b", (0, 9, 0), 1.0),
            ("b2", "b", (0, 9, 5), 1.5),
            ("c1", "c", (0, 0, 7), 1.0),
        )
    )
    assert named(error) == {"a1", "a2", "b1", "b2"}
    assert "Besides," in error.what
    assert "'c1'" not in error.what


def gears(offset: float = 0.0, ratio: float = 1.0) -> Model:
    wheels = tuple(machines.joint(f"axle{i}", "revolute", "world", f"wheel{i}", (i, 0, 0)) for i in (1, 2, 3))
    held = (
        Constraint(name="gear12", kind="gear", joint="axle2", leader="axle1", ratio=-2.0),
        Constraint(name="gear23", kind="gear", joint="axle3", leader="axle2", ratio=-0.5),
        Constraint(name="gear13", kind="gear", joint="axle3", leader="axle1", ratio=ratio, offset=offset),
    )
    return dataclasses.replace(machines.machine("gears", *wheels), constraints=held)


def test_a_ring_of_gears_that_do_not_mesh():
    """q2 = −2 q1, q3 = −q2/2 = q1, q3 = q1 + 0.2."""
    error = refused(gears(0.2))
    assert named(error) == {"gear12", "gear23", "gear13"}
    assert error.where == "constraint 'gear12'"
    assert closes(gears(0.0))


def test_every_rod_of_a_plate_that_is_held_seven_times():
    from tests.constraints.mobility.test_mobility import rods

    model = rods(7)
    last = model.constraints[-1]
    wrong = dataclasses.replace(last, length=float(last.length) + 0.05)
    model = dataclasses.replace(model, constraints=(*model.constraints[:-1], wrong))
    assert named(refused(model)) == {rod.name for rod in model.constraints}


def test_a_rod_and_the_loop_it_does_not_fit():
    """A four-bar of cranks 1 and 3 and coupler 2 over a base of 3.8: without its loop the two cranks' ends reach 6 m
    apart, in it their distance is the coupler's."""
    points = [(0.0, 0.0, 0.0), (0.6, 0.8, 0.0), (2.6, 0.8, 0.0), (3.8, 0.0, 0.0)]
    model = machines.ring("fourbar", ["revolute"] * 4, points, [(0.0, 0.0, 1.0)] * 4)
    ends = [("left", "link1", (0.6, 0.8, 0.0)), ("right", "link3", (2.6, 0.8, 0.0))]
    frames = tuple(Frame(name=n, parent=body, pose=Pose(position=p)) for n, body, p in ends)
    rod = Constraint(name="brace", kind="rod", a="left", b="right", length=2.3)
    for cut in ("J1", "J2", "J3", "J4"):
        joints = tuple(dataclasses.replace(j, cut="yes" if j.name == cut else "no") for j in model.joints)
        error = refused(dataclasses.replace(model, joints=joints, frames=frames, constraints=(rod,)))
        assert error.where == "constraint 'brace'"
        if cut in ("J2", "J3"):  # else the coupler alone holds them 2 m apart, in the tree
            assert "together with loop 1 (" in error.what
            assert named(error) == {"brace", cut}


def stopped(side: float, **more: object) -> Model:
    """An arm of 1 m that may turn from 0.1 to 0.5 rad, or on the other side from −0.5 to −0.1 rad."""
    low, high = sorted((0.1 * side, 0.5 * side))
    turn = Joint(name="turn", parent="world", child="arm", limits=(Limit(lower=low, upper=high),), rest=(0.3 * side,))
    frames = (
        Frame(name="tip", parent="arm", pose=Pose(position=(1.0, 0.0, 0.0))),
        Frame(name="ground", parent="world", pose=Pose(position=(2.0, 0.0, 0.0))),
    )
    return Model(name="stopped", bodies=(Body(name="arm", mass=1.0),), joints=(turn,), frames=frames, **more)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rod_that_a_limit_keeps_short(side):
    """The rod wants the arm at 1.2 rad, beyond the limit that is farther out."""
    length = math.hypot(2.0 - math.cos(1.2), math.sin(1.2))
    error = refused(
        stopped(side, constraints=(Constraint(name="rod", kind="rod", a="ground", b="tip", length=length),))
    )
    missing = length - math.hypot(2.0 - math.cos(0.5), math.sin(0.5))
    assert error.where == "constraint 'rod'"
    assert f"{1000.0 * missing:.4g} mm" in error.what
    assert "'turn' is at its limit." in error.what
    beyond, limit = math.degrees(1.2 * side), math.degrees(0.5 * side)
    assert f"It would close with 'turn' at {beyond:.4g}° (limit {limit:.4g}°)." in error.what


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("wanted", "limit"), [(1.2, 0.5), (-0.3, 0.1)])
def test_a_driver_beyond_a_limit_of_its_joint(side, wanted, limit):
    error = refused(stopped(side, drivers=(Driver(name="motor", joint="turn", function=str(wanted * side)),)))
    assert error.where == "driver 'motor'"
    away = abs(wanted - limit)
    assert f"{away:.4g} rad ({math.degrees(away):.4g}°) away" in error.what
    beyond, stop = math.degrees(wanted * side), math.degrees(limit * side)
    assert f"It would close with 'turn' at {beyond:.4g}° (limit {stop:.4g}°)." in error.what


def test_a_driver_and_a_gear_that_hold_another_pose():
    model = dataclasses.replace(
        machines.planar_fourbar(),
        constraints=(Constraint(name="gear", kind="gear", joint="J2", leader="J1", ratio=0.0, offset=0.3),),
        drivers=(Driver(name="motor", joint="J1", function="0.9"),),
    )
    error = refused(model)
    assert named(error) == {"motor", "gear", "J4"} or named(error) == {"motor", "gear", "J3"}
    assert error.where == "driver 'motor'"
    assert "loop 1 (" in error.what
    assert "'gear'" in error.what


def test_each_of_them_gets_a_finding():
    model = balls(("a1", "a", (0, 0, 0), 1.0), ("a2", "a", (4, 0, 0), 1.0), ("c1", "c", (0, 0, 7), 1.0))
    found, findings = examine_mobility(CompiledModel(model))
    assert found is None
    assert [finding.name for finding in findings] == ["a1", "a2"]
    assert all("'a2'" in finding.text for finding in findings)


def test_drivers_let_go_are_not_to_blame_for_a_loop_that_does_not_close():
    model = machines.planar_fourbar()
    joints = (*model.joints[:3], dataclasses.replace(model.joints[3], a=Pose(position=(12.0, 0.0, 0.0))))
    driver = Driver(name="motor", joint="J1", function="3")
    mech = Mechanism(dataclasses.replace(model, joints=joints, drivers=(driver,)))
    with pytest.raises(AssemblyError, match="the gap is .* mm") as raised:
        mech.mobility()
    assert raised.value.where.startswith("joint")
