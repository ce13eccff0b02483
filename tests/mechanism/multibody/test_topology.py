"""Which joints carry the tree: small loops, wishes of the user, several grounds and machines."""

import pytest

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Body, Driver, Joint, Model, Pose


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
    with pytest.raises(ModelError, match=r"joint 'J\d', cut: A loop must be cut somewhere"):
        Mechanism(four_bar(("no",) * 4))
    with pytest.raises(ModelError, match=r"joint 'J\d', cut: The joint cannot be cut: 'J\d', cut already"):
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
