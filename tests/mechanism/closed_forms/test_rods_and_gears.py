"""Massless rods and gears in closed form: recognised, and against assembly by iteration and the multipliers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.mechanism import Mechanism
from core.model import Body, Constraint, Frame, Gravity, Inertia, Joint, Model, Pose, Sensor, World
from core.simulation import simulate
from tests.mechanism.closed_forms.random_loops import Builder, frame, matrix, pose
from tests.mechanism.closed_forms.test_closed_forms import check, mobility
from tests.simulation.equations.test_cut_coordinates import loop


class Rods(Builder):
    """Rods between random points of bodies, as long as they are when everything is drawn."""

    def __init__(self, seed):
        super().__init__(seed)
        self.frames, self.constraints = [], []

    def rod(self, one, two, kind="rod"):
        names = []
        for body in (one, two):
            X = matrix(np.eye(3), self.point())
            self.frames.append(
                Frame(name=f"f{len(self.frames)}", parent=body, pose=pose(np.linalg.inv(self.where[body]) @ X))
            )
            names.append((self.frames[-1].name, X[:3, 3]))
        (a, p), (b, q) = names
        self.constraints.append(
            Constraint(name=f"rod{len(self.constraints)}", kind=kind, a=a, b=b, length=float(np.linalg.norm(p - q)))
        )

    def arm(self, letter, one="world"):
        """A body on a joint."""
        body = self.body()
        return body, self.add(letter, one, body, self.point())[0]

    def gear(self, joint, leader, ratio, offset=0.0):
        self.constraints.append(
            Constraint(
                name=f"gear{len(self.constraints)}", kind="gear", joint=joint, leader=leader, ratio=ratio, offset=offset
            )
        )

    def machine(self, cut=None):
        return Mechanism(replace(self.model(cut), frames=tuple(self.frames), constraints=tuple(self.constraints)))


def rod_between_cranks(letters, kind="rod"):
    def build(builder):
        one, two = (builder.arm(letter)[0] for letter in letters)
        builder.rod(one, two, kind)

    return build


def rod_to_the_ground(letters):
    def build(builder):
        one, _ = builder.arm(letters[0])
        two, _ = builder.arm(letters[1], one)
        builder.rod("world", two)

    return build


def train_of_rods(builder):
    stops = [builder.arm(letter)[0] for letter in "RRPR"]
    for one, two in itertools.pairwise(stops):
        builder.rod(one, two)


def arm_on_two_rods(builder):
    """The rods end on the first and the second body of an arm: one after another."""
    driver, _ = builder.arm("R")
    upper, _ = builder.arm("R")
    lower, _ = builder.arm("R", upper)
    builder.rod(driver, lower)
    builder.rod(driver, upper)


def rod_and_linkage(builder):
    """A planar four-bar whose coupler moves another crank by a rod."""
    _, stops = builder.loop("rrrr")
    crank, _ = builder.arm("R")
    builder.rod(stops[2], crank)


def rod_to_a_cut_joint(builder):
    _, stops = builder.loop("RUS")
    builder.rod("world", stops[1])


def gears_and_a_rod(builder):
    names = [builder.arm(letter)[1] for letter in "RPR"]
    builder.gear(names[1], names[0], 0.2)
    builder.gear(names[1], names[2], -0.3)
    end, _ = builder.arm("R")
    builder.rod("b2", end)


def planetary(builder):
    """A gear between joints one behind the other."""
    one, first = builder.arm("R")
    _, second = builder.arm("R", one)
    builder.gear(second, first, -1.7)


def geared_five_bar(builder):
    names, _ = builder.loop("rrrrr")
    builder.gear(names[4][0], names[0][0], 1.3)


MACHINES = {
    "RR": rod_between_cranks("RR"),
    "RP": rod_between_cranks("RP"),
    "PP": rod_between_cranks("PP"),
    "UR": rod_between_cranks("UR"),
    "CR": rod_between_cranks("CR"),
    "SP": rod_between_cranks("SP"),
    "universal": rod_between_cranks("RR", "universal_rod"),
    "R on R": rod_to_the_ground("RR"),
    "P on R": rod_to_the_ground("RP"),
    "R on S": rod_to_the_ground("SR"),
    "train": train_of_rods,
    "two rods": arm_on_two_rods,
    "four-bar": rod_and_linkage,
    "gears": gears_and_a_rod,
    "planetary": planetary,
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("seed", [1, 2])
def test_rods_and_gears_have_closed_forms(name, seed):
    builder = Rods(seed)
    MACHINES[name](builder)
    mech = builder.machine()
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.rows_left_to_iteration == []
    assert len(forms.independent_speeds) == mobility(mech)
    assert not [step for step in mech.solution_order if step.kind in ("iteration", "coupled")]
    check(mech, seed)


def held_distances(mech, offset=0.0):
    """The same machine, every rod said as a distance that is held."""
    model = mech.model
    rods = [each for each in model.constraints if each.kind == "rod"]
    sensors = tuple(Sensor(name=f"s{each.name}", kind="distance", a=each.a, b=each.b, offset=offset) for each in rods)
    holds = tuple(Constraint(name=each.name, sensor=f"s{each.name}", value=each.length - offset) for each in rods)
    others = tuple(each for each in model.constraints if each.kind != "rod")
    return Mechanism(replace(model, sensors=sensors, constraints=(*holds, *others)))


@pytest.mark.parametrize("name", ["RR", "SP", "R on R", "train", "four-bar"])
@pytest.mark.parametrize("offset", [0.0, 0.05])
def test_a_distance_that_is_held_is_a_rod(name, offset):
    builder = Rods(1)
    MACHINES[name](builder)
    rods = builder.machine()
    mech = held_distances(rods, offset)
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.rows_left_to_iteration == []
    assert len(forms.independent_speeds) == mobility(mech) == mobility(rods)
    assert [str(step) for step in mech.solution_order] == [str(step) for step in rods.solution_order]
    check(mech, 1)


def test_a_difference_of_distances_is_no_rod():
    builder = Rods(1)
    MACHINES["RR"](builder)
    mech = held_distances(builder.machine())
    first = mech.model.sensors[0]
    sensors = (replace(first, minus="other"), Sensor(name="other", kind="distance", a=first.a, b="world"))
    value = mech.sensor(mech.neutral(), np.zeros(mech.nv), first.name)[0]
    changed = Mechanism(
        replace(
            mech.model,
            sensors=sensors,
            constraints=tuple(replace(each, value=float(value) - 1.0) for each in mech.model.constraints),
        )
    )
    assert not get_analytic_closure(changed.compiled.program).has_solutions


def test_geared_joints_stay_in_the_tree():
    """Where any other joint of the loop can be cut, a gear keeps its closed form."""
    for one, two in itertools.combinations(range(5), 2):
        builder = Rods(4)
        names, _ = builder.loop("rrrrr")
        builder.gear(names[one][0], names[two][0], 1.3)
        mech = builder.machine()
        assert mech.loops[0].cut not in (names[one][0], names[two][0])


def test_a_five_bar_between_geared_cranks():
    """Whichever crank closes the loop, the machine has one freedom and is right in motion."""
    builder = Rods(4)
    geared_five_bar(builder)
    mech = builder.machine("j2")
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.rows_left_to_iteration == []
    assert len(forms.independent_speeds) == 1 == mobility(mech)
    check(mech, 4)


def test_runs_with_rods_are_those_by_iteration():
    builder = Rods(2)
    train_of_rods(builder)
    mech = builder.machine()
    independent = mech.v_names[get_analytic_closure(mech.compiled.program).independent_speeds[0].v]
    q, v = mech.assemble(mech.rest(), np.eye(mech.nv)[mech.v_names.index(independent)] * 0.3, fixed=[independent])
    runs = [
        simulate(mech, 0.3, q0=q, v0=v, rtol=1e-11, atol=1e-12, output=0.05, closed_forms=closed)
        for closed in (True, False)
    ]
    for name in mech.q_names:
        np.testing.assert_allclose(runs[0][f"{name}.q"], runs[1][f"{name}.q"], atol=1e-8)
    np.testing.assert_allclose(runs[0]["rod0.force"], runs[1]["rod0.force"], rtol=1e-6)
    np.testing.assert_allclose(runs[0]["energy.total"], runs[0]["energy.total"][0], atol=1e-8)


def platform():
    """A plate that nothing but six rods carries."""
    builder = Rods(3)
    plate = builder.body()
    for _ in range(6):
        builder.rod("world", plate)
    return builder.machine()


def test_a_platform_on_six_rods_is_left_to_iteration_and_says_so():
    mech = platform()
    assert not get_analytic_closure(mech.compiled.program).has_solutions
    first, *others = mech.solution_order
    assert str(first) == "b0: coupled by iteration through rod0, rod1, rod2, rod3, rod4, rod5"
    assert [str(step) for step in others] == [f"rod{k}: iteration" for k in range(6)]


def test_the_order_of_solution_names_rods_and_gears():
    frames = (
        Frame(name="p", parent="crank", pose=Pose(position=(0.2, 0.0, 0.0))),
        Frame(name="s", parent="rocker", pose=Pose(position=(0.0, 0.3, 0.0))),
    )
    bodies = tuple(Body(name=name, mass=1.0) for name in ("crank", "rocker", "wheel"))
    joints = (
        Joint(name="motor", parent="world", child="crank"),
        Joint(name="swing", parent="world", child="rocker", a=Pose(position=(0.5, 0.0, 0.0))),
        Joint(name="spin", parent="world", child="wheel", a=Pose(position=(0.0, 0.5, 0.0))),
    )
    constraints = (
        Constraint(name="link", kind="rod", a="p", b="s", length=float(np.hypot(0.3, 0.3))),
        Constraint(name="belt", kind="gear", joint="swing", leader="spin", ratio=2.0),
    )
    model = Model(name="m", bodies=bodies, joints=joints, frames=frames, constraints=constraints)
    assert [str(step) for step in Mechanism(model).solution_order] == [
        "motor: independent",
        "swing – SSR dyad with rod link; follows from motor",
        "spin – gear belt; follows from motor",
    ]


def test_the_iteration_says_what_it_ties():
    """Six revolutes in space and one that stands apart."""
    builder = Rods(6)
    names, _ = builder.loop("RRRRRRR")
    _, apart = builder.arm("R")
    mech = builder.machine(names[3][0])
    tied, alone, left = sorted(
        mech.solution_order, key=lambda step: ("coupled", "independent", "iteration").index(step.kind)
    )
    assert alone.joints == (apart,)
    assert set(tied.joints) == {group[0] for group in names} - {names[3][0]}
    assert tied.follows_from == (names[3][0],) == left.joints
    assert set(left.follows_from) == set(tied.joints)
    assert str(tied).endswith(f": coupled by iteration through {names[3][0]}")


def test_a_rod_that_ends_on_an_axis_holds_the_other_joint():
    """One joint cannot move its end of the rod: the rod closes the other, which is still."""
    builder = Rods(1)
    moved, held = builder.arm("R")
    other = builder.body()
    axis = frame(builder.rng, builder.rng.normal(size=3), builder.point())
    free = builder.joint("revolute", "world", other, axis)
    builder.rod(moved, other)
    builder.frames[1] = Frame(name="f1", parent=other, pose=pose(np.linalg.inv(builder.where[other]) @ axis))
    start = builder.where[moved] @ [*builder.frames[0].pose.position, 1.0]
    builder.constraints[0] = replace(builder.constraints[0], length=float(np.linalg.norm(start[:3] - axis[:3, 3])))
    mech = builder.machine()
    assert {str(step) for step in mech.solution_order} >= {f"{free}: independent"}
    assert f"{held} – SSR dyad with rod rod0; follows from {free}" in map(str, mech.solution_order)
    check(mech, 1)


SEVEN = ("revolute",) * 7


def tied_ring(kinds, seed, cut, rod, gear=None):
    """A ring on the ground with a rod between two of its bodies, and perhaps a wheel on one of them that is geared."""
    model = loop(kinds, seed)
    joints = [replace(joint, cut="yes" if k == cut else "auto") for k, joint in enumerate(model.joints)]
    bodies, constraints = list(model.bodies), []
    if gear is not None:
        at, leader = gear
        bodies.append(replace(model.bodies[0], name="wheel"))
        joints.append(Joint(name="turn", parent=f"b{at}", child="wheel", a=Pose(position=(0.2, 0.1, 0.3))))
        constraints.append(Constraint(name="gear", kind="gear", joint="turn", leader=f"j{leader}", ratio=-0.7))
    frames = (Frame(name="f", parent="wheel" if gear else rod[1], pose=Pose(position=(0.3, 0.2, -0.1))),)
    model = replace(model, bodies=tuple(bodies), joints=tuple(joints), frames=frames)
    mech = Mechanism(model)
    ends = [mech.frame(mech.neutral(), name)[:3, 3] for name in (rod[0], "f")]
    constraints.append(
        Constraint(name="rod", kind="rod", a=rod[0], b="f", length=float(np.linalg.norm(ends[1] - ends[0])))
    )
    return Mechanism(replace(model, constraints=tuple(constraints)))


TIED = [
    (SEVEN, 4, ("b1", "b4"), None),
    (("revolute", "spherical", "prismatic", "universal", "revolute"), 1, ("b3", "b1"), None),
    (("revolute", "revolute", "screw", "universal", "revolute", "planar"), 4, ("b1", "t"), (0, 1)),
    (("cylindrical", "spherical", "revolute", "planar"), 3, ("b2", "b0"), None),
]


@pytest.mark.parametrize("cut", range(4))
@pytest.mark.parametrize(("kinds", "seed", "rod", "gear"), TIED)
def test_no_constraint_gets_lost_between_rods_gears_and_loops(kinds, seed, rod, gear, cut):
    """As many speeds are left independent as the constraints that vanish leave, and runs are those by iteration."""
    mech = tied_ring(kinds, seed, cut, rod, gear)
    forms = get_analytic_closure(mech.compiled.program)
    q = mech.assemble(mech.integrate(mech.neutral(), 0.02 * np.random.default_rng(1).normal(size=mech.nv)))
    G = np.delete(mech.constraint_jacobian(q), forms.rows_left_to_iteration, axis=0)
    if forms.has_solutions:
        assert len(forms.independent_speeds) <= mech.nv - np.linalg.matrix_rank(G, tol=1e-7)
    v = mech.assemble(q, np.ones(mech.nv))[1]
    ends = [
        simulate(mech, 0.1, q0=q, v0=v, rtol=1e-9, atol=1e-10, output=0.1, closed_forms=how) for how in (True, False)
    ]
    np.testing.assert_allclose(*(mech.poses(run.q[-1]) for run in ends), atol=1e-6)
    assert max(np.max(run["constraint.residual"]) for run in ends) < 1e-8


def rigid_triangle(seed):
    """A turning joint and two slides close a rigid triangle, which swings, with a slide on it; a gear couples the two
    slides."""
    rng = np.random.default_rng(seed)

    def plane():
        turn = Rotation.from_euler("z", rng.uniform(-3.0, 3.0)).as_matrix()
        return matrix(turn, (*rng.uniform(-1.0, 1.0, 2), 0.0))

    where = {"world": np.eye(4)} | {name: plane() for name in "abcd"}

    def joint(name, parent, child, **more):
        X = plane()
        sides = {side: pose(np.linalg.inv(where[body]) @ X) for side, body in (("a", parent), ("b", child))}
        return Joint(name=name, parent=parent, child=child, **sides, **more)

    solid = {"mass": 1.0, "center_of_mass": (0.2, 0.1, 0.0), "inertia": Inertia(ixx=0.02, iyy=0.02, izz=0.03)}
    slide = {"kind": "prismatic", "axis": (1, 0, 0)}
    joints = (
        joint("swing", "world", "a"),
        joint("hinge", "a", "b"),
        joint("one", "a", "c", **slide),
        joint("free", "b", "d", **slide),
        joint("two", "c", "b", cut="yes", armature=0.2, **slide),
    )
    gear = Constraint(name="gear", kind="gear", joint="one", leader="two", ratio=2.0)
    down = World(gravity=Gravity(acceleration=(1.0, -9.0, 0.0)))
    bodies = tuple(Body(name=name, **solid) for name in "abcd")
    return Mechanism(Model(bodies=bodies, joints=joints, constraints=(gear,), world=down))


@pytest.mark.parametrize("seed", range(2))
def test_a_gear_within_a_rigid_loop_exerts_nothing(seed):
    """It holds already: its row is rounding, and no force may come of that."""
    mech = rigid_triangle(seed)
    assert get_analytic_closure(mech.compiled.program).rows_left_to_iteration
    rng = np.random.default_rng(seed)
    near = mech.integrate(mech.neutral(), 0.02 * rng.normal(size=mech.nv))
    q, v = mech.assemble(near, rng.normal(size=mech.nv))
    runs = [simulate(mech, 0.3, q0=q, v0=v, output=0.1, closed_forms=how, max_steps=500) for how in (True, False)]
    for name in ("swing.q", "free.q"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-6)
    np.testing.assert_allclose(runs[0]["energy.total"], runs[0]["energy.total"][0], atol=1e-5)


def test_a_dead_point_of_a_loop_that_nothing_else_moves_is_written_out():
    """A hinged arm and a body between balls in one line, held at the far end: its determinant is a literal zero."""
    solid = {"mass": 1.0, "inertia": Inertia(ixx=0.01, iyy=0.01, izz=0.01)}
    joints = (
        Joint(name="hinge", parent="world", child="arm", axis=(0, 0, 1)),
        Joint(name="one", kind="spherical", parent="arm", child="rod", a=Pose(position=(0.3, 0, 0.05))),
        Joint(name="two", kind="spherical", parent="rod", child="end", a=Pose(position=(0.3, 0, 0.05))),
        Joint(name="held", kind="fixed", parent="world", child="end", a=Pose(position=(0.6, 0, 0.1))),
    )
    mech = Mechanism(Model(bodies=tuple(Body(name=name, **solid) for name in ("arm", "rod", "end")), joints=joints))
    forms = get_analytic_closure(mech.compiled.program)
    forms.compile_closing_code()
    assert [step for step in mech.solution_order if "dyad" in str(step)], "the loop is one of those with closed forms"
    runs = [simulate(mech, 0.1, output=0.05, closed_forms=how) for how in (True, False)]
    for name in ("hinge.q", "energy.total"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-6)
