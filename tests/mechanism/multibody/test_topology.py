"""Which joints carry the tree: small loops, wishes of the user, several grounds and machines."""

import math

import pytest

from core.control.lineariser import joint_forces_from_argument
from core.errors import ModelError
from core.files import load, loads
from core.mechanism import Mechanism
from core.model import Body, Driver, Joint, Model, Pose
from core.simulation import simulate
from resources import EXAMPLES
from tests.walks import walk


def bar(name):
    return Body(name=name, mass=1.0)


def pin(name, parent, child, a=0.0, b=0.0, **more):
    return Joint(
        name=name,
        parent=parent,
        child=child,
        a=Pose(position=(a, 0.0, 0.0)),
        b=Pose(position=(b, 0.0, 0.0)),
        axis=(0.0, 1.0, 0.0),
        **more,
    )


def four_bar(cuts=("auto",) * 4, drivers=()):
    bodies = tuple(map(bar, ("crank", "coupler", "rocker")))
    joints = (
        pin("J1", "world", "crank", cut=cuts[0]),
        pin("J2", "crank", "coupler", 0.2, cut=cuts[1]),
        pin("J3", "coupler", "rocker", 0.5, 0.4, cut=cuts[2]),
        pin("J4", "world", "rocker", 0.45, cut=cuts[3]),
    )
    return Model(name="four-bar", bodies=bodies, joints=joints, drivers=drivers)


@pytest.mark.parametrize("k", range(4))
def test_the_user_says_where_to_cut(k):
    cuts = ["auto"] * 4
    cuts[k] = "yes"
    (loop,) = Mechanism(four_bar(cuts)).loops
    assert loop.cut == f"J{k + 1}"
    assert sorted(loop.joints) == ["J1", "J2", "J3", "J4"]
    assert str(loop).startswith("loop 1: ")
    assert str(loop).endswith(f"cut at J{k + 1}")


@pytest.mark.parametrize("k", range(4))
def test_the_user_says_where_not_to_cut(k):
    cuts = ["no"] * 4
    cuts[k] = "auto"
    (loop,) = Mechanism(four_bar(cuts)).loops
    assert loop.cut == f"J{k + 1}"


def test_wishes_that_contradict_each_other():
    with pytest.raises(ModelError, match=r"joint 'J\d', cut: A loop must be cut at one of its joints"):
        Mechanism(four_bar(("no",) * 4))
    with pytest.raises(
        ModelError, match=r"joint 'J\d', cut: The joint cannot be cut, because its loop is already cut at 'J\d'"
    ):
        Mechanism(four_bar(("yes", "auto", "yes", "auto")))


def test_a_wish_to_cut_outside_of_loops_changes_nothing():
    model = Model(name="m", bodies=(bar("b"),), joints=(pin("p", "world", "b", cut="yes"),))
    mech = Mechanism(model)
    assert mech.loops == ()
    assert mech.nv == 1


@pytest.mark.parametrize("k", range(4))
def test_driven_joints_stay_in_the_tree(k):
    (loop,) = Mechanism(four_bar(drivers=(Driver(name="d", joint=f"J{k + 1}", function="t"),))).loops
    assert loop.cut != f"J{k + 1}"


def test_several_grounds_several_machines_and_a_free_body():
    """Two machines on the world, one that floats with a loop of its own, and a body without any joint."""
    bodies = tuple(map(bar, ("a", "b", "c", "d", "e", "f", "alone")))
    joints = (
        pin("A1", "world", "a"),
        pin("A2", "a", "b", 0.3),
        pin("A3", "world", "b", 0.6, 0.3),
        pin("C", "world", "c"),
        pin("D1", "d", "e", 0.1),
        pin("D2", "e", "f", 0.1),
        pin("D3", "f", "d", 0.1),
    )
    mech = Mechanism(Model(name="several", bodies=bodies, joints=joints))
    assert {joint.name for joint in mech.implicit_joints} == {"d", "alone"}
    loops = {frozenset(loop.joints) for loop in mech.loops}
    assert loops == {frozenset({"A1", "A2", "A3"}), frozenset({"D1", "D2", "D3"})}
    assert [loop.number for loop in mech.loops] == [1, 2]


CARDAN = """kinetostat: 1
name: Cardan shaft, 35 degrees
bodies:
  a: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}
  b: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}
joints:
  crank: {parent: world, child: a, axis: [0, 0, 1]}
  cross: {kind: universal, parent: a, child: b, axis: [1, 0, 0], second_axis: [0, 1, 0], rest: [35 deg, 0]}
  out: {parent: world, child: b, axis: [0, 0, 1], a: {rotation: [35 deg, 0, 0]}}
"""


def test_joints_of_several_freedoms_are_cut_before_shafts():
    """A torque on the output shaft turns it as its inertia and the crank's, by the ratio 1/cos 35° at the pose, say."""
    (loop,) = Mechanism(loads(CARDAN)).loops
    assert loop.cut == "cross"
    run = simulate(loads(CARDAN), 0.01, torque={"out": 1.0})
    acceleration = 1.0 / (1.0 + 1.0 / math.cos(math.radians(35.0)) ** 2)
    assert run["out.a"][0] == pytest.approx(acceleration, rel=1e-9)
    assert run["out.q"][-1] - run["out.q"][0] == pytest.approx(0.5 * acceleration * 1e-4, rel=1e-4)


def test_a_refusal_of_a_cut_joint_names_the_loop_and_the_remedy():
    mech = Mechanism(four_bar())
    (loop,) = mech.loops
    with pytest.raises(ModelError, match=rf"'{loop.cut}' closes a loop .*{loop.joints[0]}.*“cut” to no"):
        joint_forces_from_argument(mech, {loop.cut: 1.0})
    uncut = dict(zip(("J1", "J2", "J3", "J4"), range(4), strict=True))[loop.cut]
    others = ["no" if k == uncut else "auto" for k in range(4)]
    assert loop.cut not in {each.cut for each in Mechanism(four_bar(others)).loops}


@pytest.mark.parametrize("path", walk(sorted(EXAMPLES.glob("*.kst")), lambda path: path.stem))
def test_forces_at_every_cut_joint_of_the_examples_are_refused_with_loop_and_remedy(path):
    mech = Mechanism(load(path))
    freedoms = {joint.name: joint.info.nv for joint in mech.model.expanded.joints}
    for loop in mech.loops:
        if freedoms[loop.cut]:
            with pytest.raises(ModelError) as refused:
                joint_forces_from_argument(mech, {loop.cut: 0.1})
            assert f"'{loop.cut}' closes a loop" in str(refused.value)
            assert all(word in str(refused.value) for word in (*loop.joints[:-1], "set its field “cut” to no"))
