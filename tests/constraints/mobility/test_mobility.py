"""Mobility against what is known of the classical linkages, never against a count."""

import dataclasses

import numpy as np
import pytest

from core.constraints.mobility.constraint_rank import PositionConstraints, rank_from_singular_values
from core.constraints.mobility.isostatic_model import isostatic_model
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Frame, Model, Pose
from core.programs.compiled import CompiledModel
from tests.constraints.mobility import overconstrained as machines


def found(model):
    mech = Mechanism(model)
    return mech.mobility(mech.neutral())


def redundancies(mobility):
    return {(item.joint, item.component) for item in mobility.redundant}


def test_rank_is_read_at_the_gap():
    assert rank_from_singular_values(np.array([3.0, 1.0, 1e-12])) == 2
    assert rank_from_singular_values(np.array([3.0, 1.0, 2e-6, 1e-12])) == 3
    assert rank_from_singular_values(np.array([3.0, 1.0, 1e-3])) == 3
    assert rank_from_singular_values(np.zeros(4)) == 0 == rank_from_singular_values(np.zeros(0))


def test_a_planar_four_bar_drawn_in_space():
    mobility = found(machines.planar_fourbar())
    assert (mobility.dof, mobility.at_pose, mobility.count) == (1, 1, -2)
    assert (mobility.equations, mobility.rank) == (20, 17)
    assert redundancies(mobility) == {
        ("J4", "translation along z of the world"),
        ("J4", "rotation about x of the world"),
        ("J4", "rotation about y of the world"),
    }
    assert all(item.imposing_elements == ("J1", "J2", "J3") for item in mobility.redundant)
    assert mobility.redundant[1].text == "J4: rotation about x of the world is already fixed by J1, J2 and J3"
    assert mobility.advice == "Make J4 spherical and J3 cylindrical."
    assert not mobility.singular
    (motion,) = mobility.motions
    assert [name for name, _ in motion.joints] == ["J1", "J2", "J3", "J4"]


def test_the_same_four_bar_across_the_axes_of_the_world():
    normal = np.array((1.0, 2.0, 3.0)) / np.sqrt(14.0)
    mobility = found(machines.planar_fourbar(tuple(normal)))
    assert (mobility.dof, mobility.rank) == (1, 17)
    along, *across = sorted(mobility.redundant, key=lambda item: -abs(np.dot(item.direction, normal)))
    assert along.component.startswith("translation along its axis")
    np.testing.assert_allclose(along.direction, normal, atol=1e-12)
    for item in across:
        assert item.component.startswith("rotation about a normal of its axis")
        assert np.dot(item.direction, normal) == pytest.approx(0.0, abs=1e-12)


def test_a_slider_crank_of_revolutes():
    mobility = found(machines.slider_crank())
    assert (mobility.dof, mobility.equations, mobility.rank) == (1, 20, 17)
    assert {item.joint for item in mobility.redundant} == {"J4"}
    assert {item.component.split(" of")[0] for item in mobility.redundant} == {
        "translation along z",
        "rotation about x",
        "rotation about y",
    }


def test_bennett_moves_though_the_count_says_minus_two():
    mobility = found(machines.bennett())
    assert (mobility.dof, mobility.at_pose, mobility.count, mobility.rank) == (1, 1, -2, 17)
    assert {item.joint for item in mobility.redundant} == {"J4"}
    assert {item.imposing_elements for item in mobility.redundant} == {("J1", "J2", "J3")}
    # off its special shape it is a rigid frame
    rigid = found(_twisted(machines.bennett()))
    assert (rigid.dof, rigid.rank) == (0, 18)


def _twisted(model):
    """J3 turned a little about its x axis: still closed, no longer a Bennett linkage."""
    joint = model.joint("J3")
    axis = np.add(joint.axis, (0.03, 0.01, 0.0))
    joints = tuple(dataclasses.replace(j, axis=tuple(map(float, axis))) if j.name == "J3" else j for j in model.joints)
    return dataclasses.replace(model, joints=joints)


def test_sarrus_goes_straight():
    mobility = found(machines.sarrus())
    assert (mobility.dof, mobility.count, mobility.equations, mobility.rank) == (1, 0, 30, 29)
    assert redundancies(mobility) == {("J6", "rotation about z of the world")}
    assert mobility.redundant[0].imposing_elements == ("J1", "J2", "J3", "J4", "J5")
    mech = Mechanism(machines.sarrus())
    v = mobility.motions[0].speeds
    plate = mech.frame_velocity(mobility.q, v, "link3")
    np.testing.assert_allclose(plate[[0, 1, 2, 3, 4]], 0.0, atol=1e-9)
    assert abs(plate[5]) > 0.1


def test_bricards_linkage_of_the_benchmark():
    model, reference = machines.bricard_reference()
    mobility = found(model)
    assert mobility.dof == reference["mobility"]
    assert mobility.equations == reference["constraint_equations"]
    assert mobility.rank == reference["constraint_rank"]
    assert mobility.count == reference["gruebler_dof"]
    (item,) = mobility.redundant
    assert (item.joint, item.imposing_elements) == ("J6", ("J1", "J2", "J3", "J4", "J5"))
    others = dict(item.instead)
    assert set(others) == {"J1", "J2", "J3", "J4", "J5", "J6"}


def test_the_plane_symmetric_bricard():
    mobility = found(machines.bricard_plane_symmetric())
    assert (mobility.dof, mobility.count, mobility.rank) == (1, 0, 29)
    assert [item.joint for item in mobility.redundant] == ["J6"]


def test_a_cardan_shaft_has_nothing_to_spare():
    mobility = found(machines.cardan_shaft())
    assert (mobility.dof, mobility.redundant, mobility.proposal) == (1, (), ())
    names = [name for name, _ in mobility.motions[0].joints]
    assert {"bearing1", "bearing2"} <= set(names)


def test_a_cardan_shaft_without_its_slip():
    model = machines.cardan_shaft()
    joints = tuple(dataclasses.replace(j, kind="fixed") if j.name == "slip" else j for j in model.joints)
    mobility = found(dataclasses.replace(model, joints=joints))
    assert (mobility.dof, mobility.count) == (1, 0)
    (item,) = mobility.redundant
    assert (item.joint, item.component) == ("bearing2", "translation along x of the world")


def test_the_stewart_platform_has_six_freedoms():
    mobility = found(machines.stewart())
    assert (mobility.dof, mobility.redundant, mobility.idle) == (6, (), ())
    assert mobility.equations == mobility.rank == 72
    legs = [name for motion in mobility.motions for name, _ in motion.joints if name.startswith("leg")]
    assert sorted(legs) == [f"leg{i}" for i in range(1, 7)]  # each motion changes the length of one leg


def test_its_legs_between_balls_turn_idly():
    mobility = found(machines.stewart("spherical"))
    assert mobility.dof == 12
    assert sorted(motion.idle for motion in mobility.idle) == [f"lower{i}, upper{i}" for i in range(1, 7)]
    for motion in mobility.idle:
        number = motion.idle[5]
        assert [name for name, _ in motion.joints] == [f"base{number}", f"top{number}"]


def test_a_third_crank_is_too_much_also_in_its_plane():
    mobility = found(machines.parallelogram(3))
    assert (mobility.dof, len(mobility.redundant), mobility.count) == (1, 7, -6)
    assert ("head3", "translation along y of the world") in redundancies(mobility)
    in_plane = next(item for item in mobility.redundant if item.component == "translation along y of the world")
    assert {"foot1", "foot2", "foot3"} <= set(in_plane.imposing_elements)


def test_two_parallelograms_one_above_the_other():
    mobility = found(machines.double_parallel())
    assert (mobility.dof, len(mobility.redundant)) == (2, 6)
    assert [[name for name, _ in motion.joints] for motion in mobility.motions] == [
        ["foot01", "head01", "foot02", "head02"],
        ["foot11", "head11", "foot12", "head12"],
    ]
    assert {item.imposing_elements for item in mobility.redundant} == {
        ("foot01", "head01", "foot02"),
        ("foot11", "head11", "foot12"),
    }


@pytest.mark.parametrize(("bars", "in_plane"), [(2, 0), (3, 1), (4, 2)])
def test_a_truss_is_rigid(bars, in_plane):
    mobility = found(machines.truss(bars))
    assert (mobility.dof, mobility.infinitesimal, mobility.motions) == (0, 0, ())
    assert len(mobility.redundant) == 3 * (bars - 1) + in_plane
    assert "rigid" in str(mobility)


def test_two_bars_in_a_line_are_shaky():
    mobility = found(machines.truss(2, flat=True))
    assert (mobility.dof, mobility.infinitesimal, mobility.at_pose) == (0, 1, 1)
    assert len(mobility.redundant) == 3
    assert "shaky" in str(mobility)


def test_a_loop_through_gears():
    mobility = found(machines.geared())
    assert mobility.dof == 1
    assert redundancies(mobility) == {
        ("guide", "translation along z of the world"),
        ("guide", "rotation about x of the world"),
        ("guide", "rotation about y of the world"),
    }


def test_a_parallelogram_in_a_line_is_singular():
    model = machines.planar_fourbar()
    points = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (4.0, 0.0, 0.0), (3.0, 0.0, 0.0)]
    flat = machines.ring("flat", ["revolute"] * 4, points, [(0.0, 0.0, 1.0)] * 4)
    mobility = found(flat)
    assert (mobility.dof, mobility.at_pose, mobility.singular) == (1, 2, True)
    assert not found(model).singular


OVERCONSTRAINED = [
    machines.planar_fourbar(),
    machines.planar_fourbar((1.0, 2.0, 3.0)),
    machines.slider_crank(),
    machines.bennett(),
    machines.sarrus(),
    machines.bricard_reference()[0],
    machines.bricard_plane_symmetric(),
    machines.double_parallel(),
    machines.truss(2),
    machines.engine(3),
]


@pytest.mark.parametrize("model", OVERCONSTRAINED, ids=lambda model: model.name)
def test_the_proposal_takes_the_redundancy_and_leaves_the_motion(model: Model):
    """A machine built as proposed: no redundancy, the same freedoms (at a pose on the motion, not the drawn one)."""
    before = found(model)
    assert sum(len(change.components) for change in before.proposal) == len(before.redundant)
    after = found(isostatic_model(CompiledModel(model), before))
    assert (after.redundant, after.dof) == ((), before.dof)
    assert after.count == after.dof  # Grübler–Kutzbach counts rightly where nothing is held twice


def test_a_proposal_that_no_joint_can_make_says_so():
    model = machines.stewart()
    with pytest.raises(ModelError, match="There is no proposal"):
        isostatic_model(CompiledModel(model), found(model))
    # planar joints would have to give way across their plane
    planar = machines.ring("planar", ["planar", "planar"], [(0, 0, 0), (1, 0, 0)], [(0, 0, 1), (0, 0, 1)])
    with pytest.raises(ModelError, match="No kind of joint makes this change"):
        isostatic_model(CompiledModel(planar), found(planar))


def test_of_two_rods_that_hold_the_same_one_is_removed():
    rods = tuple(Constraint(name=name, kind="rod", b="ball", length=1.0) for name in ("first", "second"))
    model = Model(name="twice", bodies=(Body(name="ball", mass=1.0),), constraints=rods)
    mech = Mechanism(model)
    after = isostatic_model(mech.compiled, mech.mobility([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert [rod.name for rod in after.constraints] == ["first"]


@pytest.mark.parametrize("model", [machines.planar_fourbar(), machines.bennett(), machines.stewart()])
def test_free_motions_keep_the_loops_closed(model):
    mech = Mechanism(model)
    mobility = mech.mobility(mech.neutral())
    vectors = np.array([motion.speeds for motion in mobility.motions])
    np.testing.assert_allclose(mech.constraint_jacobian(mobility.q) @ vectors.T, 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(vectors) == mobility.at_pose


def test_the_rank_is_taken_on_the_manifold_not_off_it():
    model, _ = machines.bricard_reference()
    mech = Mechanism(model)
    constraints = PositionConstraints(mech.compiled)
    poses = list(constraints.sample_poses_near(mech.neutral()))
    assert len(poses) >= 2
    for q in poses:
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9
        assert np.linalg.norm(mech.difference(mech.neutral(), q)) > 0.02
        assert constraints.rank(q) == 4
    assert constraints.rank(mech.random(3)) == 5


# --------------------------------------------------------------------------- constraints and drivers


def driven(model, *drivers):
    return found(dataclasses.replace(model, drivers=drivers))


def test_a_driver_takes_the_freedom():
    mobility = driven(machines.planar_fourbar(), Driver(name="motor", joint="J1", function="0.5*t"))
    assert (mobility.dof, mobility.undriven, mobility.driven) == (1, 0, ("motor",))
    assert (mobility.inconsistent, mobility.idle_drivers) == ((), ())


@pytest.mark.parametrize(("function", "contradicts"), [("0.1*t", True), ("0.5*t", False)])
def test_a_second_driver_is_named(function, contradicts):
    first = Driver(name="motor", joint="J1", function="0.5*t")
    second = Driver(name="second", joint="J1", function=function)
    mobility = driven(machines.planar_fourbar(), first, second)
    told = mobility.inconsistent if contradicts else mobility.idle_drivers
    assert len(told) == 1
    assert told[0].startswith("Driver second drives the same motion as motor")
    assert mobility.inconsistent + mobility.idle_drivers == told
    assert told[0] in str(mobility)


def test_drivers_of_different_joints_of_one_loop_contradict():
    mobility = driven(
        machines.planar_fourbar(),
        Driver(name="motor", joint="J1", function="0.5*t"),
        Driver(name="brake", joint="J2", function="0"),
    )
    assert mobility.inconsistent == ("Driver brake drives the same motion as motor, but with a different speed",)


def test_a_driver_of_a_rigid_frame_is_named():
    mobility = driven(machines.truss(2), Driver(name="motor", joint="foot1", function="0.5*t"))
    assert mobility.inconsistent == ("Driver motor prescribes a motion that the joints do not allow",)


def rods(count):
    """A plate on rods between three points of the ground and three of its own."""
    ground = np.array([(1.5, 1.0, 0.0), (-1.5, 1.3, 0.0), (0.1, -1.6, 0.0)])
    plate = np.array([(1.0, 0.0, 1.0), (-0.5, 0.8, 1.0), (-0.5, -0.8, 1.0)])
    frames = [Frame(name=f"g{i}", parent="world", pose=Pose(position=tuple(p))) for i, p in enumerate(ground.tolist())]
    frames += [Frame(name=f"p{i}", parent="plate", pose=Pose(position=tuple(p))) for i, p in enumerate(plate.tolist())]
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0), (1, 0)][:count]
    held = tuple(
        Constraint(
            name=f"rod{i}{j}", kind="rod", a=f"g{i}", b=f"p{j}", length=float(np.linalg.norm(ground[i] - plate[j]))
        )
        for i, j in pairs
    )
    return Model(name="rods", bodies=(machines.body("plate"),), frames=tuple(frames), constraints=held)


@pytest.mark.parametrize(("count", "dof", "redundant"), [(4, 2, []), (6, 0, []), (7, 0, ["rod10"])])
def test_a_plate_on_rods(count, dof, redundant):
    mobility = found(rods(count))
    assert mobility.dof == dof
    assert [item.joint for item in mobility.redundant] == redundant
    if redundant:
        assert mobility.advice == "Remove constraint rod10."


@pytest.mark.parametrize(("ratio", "dof", "redundant"), [(1.0, 1, ["gear13"]), (-1.0, 0, [])])
def test_a_ring_of_gears_turns_only_if_the_ratios_agree(ratio, dof, redundant):
    wheels = tuple(machines.joint(f"axle{i}", "revolute", "world", f"wheel{i}", (i, 0, 0)) for i in (1, 2, 3))
    gears = (
        Constraint(name="gear12", kind="gear", joint="axle2", leader="axle1", ratio=-2.0),
        Constraint(name="gear23", kind="gear", joint="axle3", leader="axle2", ratio=-0.5),
        Constraint(name="gear13", kind="gear", joint="axle3", leader="axle1", ratio=ratio),
    )
    mobility = found(dataclasses.replace(machines.machine("gears", *wheels), constraints=gears))
    assert mobility.dof == dof
    assert [item.joint for item in mobility.redundant] == redundant
    assert all(item.imposing_elements == ("gear12", "gear23") for item in mobility.redundant)


@pytest.mark.parametrize(
    "model",
    [machines.bennett(), machines.bricard_reference()[0], machines.slider_crank(), machines.cardan_shaft()],
    ids=lambda model: model.name,
)
def test_it_does_not_matter_where_a_loop_is_cut_nor_in_which_order_joints_stand(model):
    first = found(model)
    names = [joint.name for joint in model.joints]
    for cut in names[:: max(1, len(names) // 3)]:
        joints = tuple(dataclasses.replace(j, cut="yes") if j.name == cut else j for j in model.joints)
        other = found(dataclasses.replace(model, joints=joints))
        assert (other.dof, other.rank, other.equations) == (first.dof, first.rank, first.equations)
        assert redundancies(other) == redundancies(first)
        assert other.advice == first.advice
    turned = found(dataclasses.replace(model, joints=model.joints[::-1]))
    assert (turned.dof, turned.rank, len(turned.redundant)) == (first.dof, first.rank, len(first.redundant))
    if first.redundant:
        assert {item.joint for item in turned.redundant} == {names[0]}


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("model", [machines.bricard_reference()[0], machines.stewart()], ids=lambda model: model.name)
def test_nor_how_large_the_machine_is(model, scale):
    def scaled(pose):
        return dataclasses.replace(pose, position=tuple(scale * x for x in pose.position))

    joints = tuple(dataclasses.replace(j, a=scaled(j.a), b=scaled(j.b)) for j in model.joints)
    large, own = found(dataclasses.replace(model, joints=joints)), found(model)
    assert (large.dof, large.rank) == (own.dof, own.rank)
    assert redundancies(large) == redundancies(own)
    assert not large.singular


def test_an_engine_is_explained_cylinder_by_cylinder():
    mobility = found(machines.engine(6))
    assert (mobility.dof, mobility.rank, len(mobility.redundant)) == (1, 77, 18)
    for i in range(1, 7):
        own = [item for item in mobility.redundant if item.joint == f"cylinder{i}"]
        assert len(own) == 3
        assert own[0].component == "translation along y of the world"
        assert {item.imposing_elements for item in own} == {("bearing", f"big{i}", f"small{i}")}
    balls, slides = (", ".join(f"{name}{i}" for i in range(1, 6)) + f" and {name}6" for name in ("small", "big"))
    assert mobility.advice == f"Make {balls} spherical and {slides} cylindrical."
