"""Every kind of joint in a loop: the machine moves the same wherever the loop is cut, with closed forms and without.

A loop cut at a joint uses its residual and measure; cut elsewhere its pose, columns and bias: both must tell the same.
"""

import dataclasses

import numpy as np
import pytest

from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.errors import ModelError
from core.joints import JOINT_KINDS
from core.mechanism import Mechanism
from core.model import Body, Driver, Gravity, Inertia, Joint, Model, Pose, World
from core.simulation import simulate
from tests.joints.made_up_kinds import Cam, Parabola, PinInSlot
from tests.mechanism.closed_forms.random_loops import Builder, frame

OWN = (Parabola, PinInSlot, Cam)
KINDS = [*JOINT_KINDS.values(), *OWN]
EXACT = {"rtol": 1e-11, "atol": 1e-12, "output": 0.05}


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", {**dict(JOINT_KINDS), **{kind.name: kind for kind in OWN}})


def loop(kind, seed):
    """Ground – the kind – ball – universal – revolute – revolute – ground, and the names of these joints."""
    builder = Builder(seed)
    second = tuple(map(float, builder.rng.normal(size=3)))
    kinds = (kind, "spherical", "universal", "revolute", "revolute")
    stops = ["world", *(builder.body() for _ in kinds[1:]), "world"]
    places = [frame(builder.rng, builder.rng.normal(size=3), builder.point()) for _ in kinds]
    names = [
        builder.joint(each, one, two, X, second, **({"pitch": 0.3} if each in ("screw", "cam") else {}))
        for each, one, two, X in zip(kinds, stops, stops[1:], places, strict=False)
    ]
    return builder, names


def motion(model, closed_forms):
    mech = Mechanism(model)
    run = simulate(mech, 0.2, q0=mech.neutral(), closed_forms=closed_forms, **EXACT)
    bodies = [body.name for body in model.bodies]
    places = [np.asarray(run[f"{name}.position"]) for name in bodies]
    assert np.max(np.abs(run["constraint.residual"])) < 1e-9
    return np.concatenate(places, axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_loop_moves_the_same_wherever_it_is_cut(kind):
    builder, names = loop(kind.name, 5 + len(kind.name))
    model = builder.model()

    def cut_at(name):
        joints = [dataclasses.replace(joint, cut="yes" if joint.name == name else "auto") for joint in model.joints]
        return dataclasses.replace(model, joints=tuple(joints))

    if not kind.closes_loops:
        with pytest.raises(ModelError, match=f"'{names[0]}', cut: A joint of kind '{kind.name}' cannot be cut"):
            Mechanism(cut_at(names[0]))
        names = names[1:]
    first = motion(cut_at(names[0]), False)
    assert np.max(np.abs(first - first[0])) > 1e-4  # it falls
    np.testing.assert_allclose(motion(cut_at(names[0]), True), first, atol=1e-9)
    np.testing.assert_allclose(motion(cut_at(names[1]), True), first, atol=1e-9)


def whitworth(*links, more=()):
    """A crank whose pin slides in the slot of a rocker, on a ground of 0.3 m."""
    rod = Inertia(ixx=0.001, iyy=0.01, izz=0.01)
    bodies = (
        Body(name="crank", mass=1.0, inertia=rod, center_of_mass=(0.05, 0.0, 0.0)),
        Body(name="rocker", mass=2.0, inertia=rod, center_of_mass=(0.2, 0.0, 0.0)),
        *more,
    )
    joints = (Joint(name="A", parent="world", child="crank"), *links)
    world = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
    return Model(name="whitworth", world=world, bodies=bodies, joints=joints)


def pin(name="pin", at=0.1, to=0.4, **more):
    """In the slot along the rocker's x, at a place of the crank."""
    ends = {
        "parent": "crank",
        "child": "rocker",
        "a": Pose(position=(at, 0.0, 0.0)),
        "b": Pose(position=(to, 0.0, 0.0)),
    }
    return Joint(**{"name": name, "kind": "pin_in_slot", "second_axis": (0.0, 1.0, 0.0), **ends, **more})


def test_a_loop_with_a_kind_that_says_only_its_pose_closes_and_keeps_its_energy():
    """tan of the rocker's angle = pin across / pin along, from the rocker's pivot."""
    rocker = Joint(name="R", parent="world", child="rocker", a=Pose(position=(-0.3, 0.0, 0.0)))
    model = whitworth(pin(), rocker)
    mech = Mechanism(model)
    assert [loop.cut for loop in mech.loops] == ["R"]
    assert mech.mobility(mech.rest()).degrees_of_freedom == 1
    run = simulate(mech, 1.0, output=0.05, rtol=1e-10, atol=1e-12)
    assert np.max(np.abs(run["constraint.residual"])) < 1e-12
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], atol=1e-7)
    driven = dataclasses.replace(model, drivers=(Driver(name="drive", joint="A", function="2*t"),))
    run = simulate(driven, 1.0, output=0.05, rtol=1e-10, atol=1e-12)
    expected = np.arctan2(0.1 * np.sin(2.0 * run.time), 0.3 + 0.1 * np.cos(2.0 * run.time))
    np.testing.assert_allclose(run["R.q"], expected, atol=1e-10)


def test_a_loop_of_such_kinds_alone_is_refused_with_the_remedy_and_closes_with_it():
    """Two pins on the crank in one slot of the rocker hold it by 6 − 2 rows; one of them stands behind a body."""
    with pytest.raises(
        ModelError, match=r"joint 'second', cut: .*Insert a massless body between the joint and its child"
    ):
        Mechanism(whitworth(pin(), pin("second", 0.0, 0.3)))
    second = pin("second", 0.0, child="ghost", b=Pose())
    weld = Joint(name="weld", kind="fixed", parent="ghost", child="rocker", b=Pose(position=(0.3, 0.0, 0.0)), cut="yes")
    mech = Mechanism(whitworth(pin(), second, weld, more=(Body(name="ghost"),)))
    assert mech.mobility(mech.rest()).degrees_of_freedom == 2
    v = np.zeros(mech.nv)
    v[mech.joint_v("pin")] = 0.0, 0.2
    run = simulate(mech, 0.5, output=0.05, rtol=1e-10, atol=1e-12, v0=mech.assemble(mech.rest(), v)[1])
    assert np.max(np.abs(run["constraint.residual"])) < 1e-12
    assert np.ptp(run["pin.slide.q"]) > 0.05
    np.testing.assert_allclose(run["pin.angle.q"], 0.0, atol=1e-9)


def four_bar_on_a_parabola(cut):
    """Crank and coupler in a plane, whose end slides on a parabola and turns in its slider."""
    rod = Inertia(ixx=0.001, iyy=0.01, izz=0.01)
    bodies = tuple(Body(name=name, mass=1.0, inertia=rod) for name in ("crank", "coupler", "slider"))
    joints = (
        Joint(name="A", parent="world", child="crank"),
        Joint(name="B", parent="crank", child="coupler", a=Pose(position=(0.3, 0.0, 0.0))),
        Joint(name="C", parent="coupler", child="slider", a=Pose(position=(0.7, 0.0, 0.0))),
        Joint(name="D", kind="parabola", parent="world", child="slider", a=Pose(position=(1.0, 0.0, 0.0))),
    )
    joints = tuple(dataclasses.replace(joint, cut="yes" if joint.name == cut else "auto") for joint in joints)
    drive = Driver(name="drive", joint="A", function="t")
    world = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
    return Model(name="parabola", world=world, bodies=bodies, joints=joints, drivers=(drive,))


@pytest.mark.parametrize("cut", ["C", "D"])
def test_an_unknown_kind_that_closes_a_planar_loop_is_left_to_iteration_and_closes(cut):
    """Closed forms do not take it for a joint they know: the slider keeps to the curve and the rods their lengths."""
    model = four_bar_on_a_parabola(cut)
    mech = Mechanism(model)
    assert not get_analytic_closure(mech.compiled.program).has_solutions
    assert np.max(np.abs(mech.constraint_residual(mech.move(mech.rest(), {})))) < 1e-12
    run = simulate(mech, 1.0, output=0.1, rtol=1e-9, atol=1e-11)
    assert np.max(np.abs(run["constraint.residual"])) < 1e-9
    x, y, _ = np.moveaxis(np.asarray(run["slider.position"]), -1, 0)
    pin = 0.3 * np.array([np.cos(run.time), np.sin(run.time)])
    np.testing.assert_allclose(y, 0.5 * 1.6 * (x - 1.0) ** 2, atol=1e-9)
    np.testing.assert_allclose(np.hypot(x - pin[0], y - pin[1]), 0.7, atol=1e-9)
    assert np.ptp(x) > 0.01


def test_the_redundant_constraints_of_an_unknown_kind_are_counted():
    """Spatial joints in a planar machine: 3 rows too many in each loop, whatever the kinds of its joints."""
    mech = Mechanism(dataclasses.replace(four_bar_on_a_parabola("D"), drivers=()))
    found = mech.mobility(mech.rest())
    assert found.degrees_of_freedom == 1
    assert len(found.redundant) == 3


@pytest.mark.parametrize("turned", [False, True])
def test_loops_behind_an_unknown_kind_keep_their_closed_forms(turned):
    """A four-bar linkage whose ground slides on a parabola: the curve is independent in the reduced equations."""
    rod = Inertia(ixx=0.001, iyy=0.01, izz=0.01)
    bodies = tuple(
        Body(name=name, mass=1.0, inertia=rod, center_of_mass=(0.1, 0.05, 0.0))
        for name in ("base", "crank", "coupler", "rocker")
    )
    ends = ("base", "world") if turned else ("world", "base")
    joints = (
        Joint(name="P", kind="parabola", parent=ends[0], child=ends[1], axis=(0.1, 0.2, 1.0)),
        Joint(name="A", parent="base", child="crank"),
        Joint(name="B", parent="crank", child="coupler", a=Pose(position=(0.2, 0.0, 0.0))),
        Joint(
            name="C", parent="coupler", child="rocker", a=Pose(position=(0.5, 0.0, 0.0)), b=Pose(position=(0.4, 0, 0))
        ),
        Joint(name="D", parent="base", child="rocker", a=Pose(position=(0.45, 0.0, 0.0))),
    )
    world = World(gravity=Gravity(acceleration=(3.0, -9.81, 1.0)))
    mech = Mechanism(Model(name="behind", world=world, bodies=bodies, joints=joints))
    assert get_analytic_closure(mech.compiled.program).has_solutions
    q = mech.rest()
    v = np.zeros(mech.nv)
    v[mech.joint_v("P")] = 0.7
    runs = [simulate(mech, 0.3, q0=q, v0=v, closed_forms=how, **EXACT) for how in (True, False)]
    for name in ("base.position", "rocker.orientation", "coupler.position"):
        np.testing.assert_allclose(np.asarray(runs[0][name]), np.asarray(runs[1][name]), atol=1e-9)
    assert np.ptp(np.asarray(runs[0]["P.q"])) > 0.05
