"""Joints that close loops have coordinates, speeds and accelerations like all others, whichever of them is cut."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

from core.constraints.rest_position import transfer_pose
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Gravity, Inertia, Joint, Limit, Model, Pose, World
from core.model.validation.model import check
from core.simulation import simulate
from tests.walks import slow

SOLID = Inertia(ixx=0.02, iyy=0.03, izz=0.04, ixy=0.001, ixz=-0.002, iyz=0.003)
SKEW = World(gravity=Gravity(acceleration=(1.0, 2.0, -9.0)))


def pose(rng: np.random.Generator) -> Pose:
    turn = rng.normal(size=4)
    return Pose(position=tuple(rng.uniform(-0.5, 0.5, 3)), rotation=tuple(turn / np.linalg.norm(turn)))


def matrix(at: Pose) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_quat(at.rotation).as_matrix(), at.position
    return X


def loop(kinds: tuple[str, ...], seed: int) -> Model:
    """Bodies in a ring on the ground, anywhere; closed where all coordinates are zero."""
    rng = np.random.default_rng(seed)
    names = ["world", *(f"b{i}" for i in range(len(kinds) - 1))]
    bodies = tuple(
        Body(name=n, mass=rng.uniform(0.5, 2.0), center_of_mass=tuple(rng.uniform(-0.3, 0.3, 3)), inertia=SOLID)
        for n in names[1:]
    )
    X, joints = np.eye(4), []
    for i, kind in enumerate(kinds):
        a, b, parent = pose(rng), Pose(), names[i]
        if i + 1 < len(kinds):
            X = X @ matrix(a)
        else:  # back to the ground, where frame b is at the world's origin
            there = np.linalg.inv(X)
            turn = Rotation.from_matrix(there[:3, :3]).as_quat()
            a, b, parent = Pose(), Pose(position=tuple(there[:3, 3]), rotation=tuple(turn)), "world"
        axis, second = tuple(rng.normal(size=3)), tuple(rng.normal(size=3))
        joints.append(
            Joint(
                name=f"j{i}",
                kind=kind,
                parent=parent,
                child=names[min(i + 1, len(names) - 1)],
                a=a,
                b=b,
                axis=axis,
                second_axis=second,
            )
        )
    return Model(name="ring", bodies=bodies, joints=tuple(joints), world=SKEW)


RINGS = (
    ("revolute", "revolute", "revolute", "revolute", "revolute", "revolute", "revolute"),
    ("revolute", "spherical", "prismatic", "universal", "revolute"),
    ("cylindrical", "spherical", "revolute", "planar"),
    ("screw", "spherical", "spherical", "revolute"),
)


@pytest.mark.parametrize("kinds", [*RINGS[2:], *slow(*((ring,) for ring in RINGS[:2]))])
def test_any_cut_shows_the_same_motion_of_every_joint(kinds: tuple[str, ...]) -> None:
    model = loop(kinds, 3)
    shown: dict[str, np.ndarray] = {}
    for cut in range(len(kinds)):
        joints = tuple(dataclasses.replace(j, cut="yes" if k == cut else "auto") for k, j in enumerate(model.joints))
        mech = Mechanism(dataclasses.replace(model, joints=joints))
        assert mech.loops[0].cut == f"j{cut}"
        run = simulate(mech, 0.4, q0=mech.neutral(), rtol=1e-10, atol=1e-11, output=0.1)
        for joint in model.joints:
            for what in ("q", "v", "a"):
                name = f"{joint.name}.{what}"
                values = run[name]
                assert name in run.channels
                if name in shown:
                    np.testing.assert_allclose(values, shown[name], atol=2e-7 * max(1.0, np.max(np.abs(values))))
                shown.setdefault(name, values)
        assert not np.any(run[f"j{cut}.tau"])
    assert all(np.max(np.abs(shown[f"j{k}.v"])) > 1e-3 for k in range(len(kinds)))


def four_bar(**changes: dict[str, object]) -> Model:
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    bodies = tuple(Body(name=n, mass=1.0, center_of_mass=(0.2, 0.0, 0.0), inertia=SOLID) for n in ("c", "k", "r"))
    joints = (
        Joint(name="A", parent="world", child="c", rest=(1.2,)),
        Joint(name="B", parent="c", child="k", a=at(0.2), rest=(-0.9,)),
        Joint(name="C", parent="k", child="r", a=at(0.8), b=at(0.5), rest=(0.9,)),
        Joint(name="D", parent="world", child="r", a=at(0.7), rest=(1.3,)),
    )
    return Model(
        name="four-bar",
        bodies=bodies,
        joints=tuple(dataclasses.replace(joint, **changes.get(joint.name, {})) for joint in joints),
        world=World(gravity=Gravity(kind="none")),
    )


def test_angles_of_cut_joints_count_whole_turns() -> None:
    """The crank turns three times in the plane; cut, its angle goes on as it does in the tree."""
    tree, cut = (Mechanism(four_bar(A={"cut": how})) for how in ("no", "yes"))
    start = tree.assemble(tree.rest())
    at = {name: float(tree.coordinate(start, name)[0]) for name in "ABCD"}
    runs = []
    for mech in (tree, cut):
        q = np.array([at[name] for name in mech.q_names])
        v = np.linalg.svd(mech.constraint_jacobian(q))[2][-1]
        crank = v[mech.v_names.index("A")] if "A" in mech.v_names else None
        if crank is None:  # from the tree: the same motion, joint by joint
            v = np.array([runs[0][f"{name}.v"][0] for name in mech.v_names])
        else:
            v *= 20.0 / crank
        runs.append(simulate(mech, 1.0, q0=q, v0=v, rtol=1e-10, atol=1e-11, output=0.05))
    assert runs[0]["A.q"][-1] - runs[0]["A.q"][0] > 6.0 * np.pi
    np.testing.assert_allclose(runs[1]["A.q"], runs[0]["A.q"], atol=1e-6)


def test_coordinate_of_a_cut_joint() -> None:
    mech = Mechanism(four_bar(C={"cut": "yes"}))
    q = mech.assemble(mech.rest())
    A, B, D = (q[mech.q_names.index(name)] for name in "ABD")
    assert mech.coordinate(q, "C") == pytest.approx([D - A - B], abs=1e-9)
    assert mech.coordinate(np.stack([q, q]), "C").shape == (2, 1)
    with pytest.raises(ModelError, match="There is no joint 'X'"):
        mech.coordinate(q, "X")


def test_joints_with_rotor_inertia_stay_in_the_tree() -> None:
    """Where something else can be cut; there they only add to the diagonal."""
    for name in "ABCD":
        assert Mechanism(four_bar(**{name: {"armature": 0.1}})).loops[0].cut != name
    assert not [doubt for doubt in check(four_bar(C={"armature": 0.1, "cut": "yes"})) if doubt.field == "armature"]


@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_start_speeds_count_whichever_joint_is_cut(joint: str) -> None:
    for cut in "ABCD":
        changes: dict[str, dict[str, object]] = {joint: {"start_speed": (1.5,)}}
        changes[cut] = {**changes.get(cut, {}), "cut": "yes"}
        run = simulate(four_bar(**changes), 0.1, output=0.1)
        assert run[f"{joint}.v"][0] == pytest.approx(1.5, abs=1e-9)
        assert abs(run["A.v"][0]) > 0.1


@pytest.mark.parametrize("cut", ["B", *slow("A", "C", "D")])
def test_a_driver_s_work_is_what_energy_and_dampers_take(cut: str) -> None:
    """∫ (F ḟ − Σ c v²) dt over several turns of the crank, F the driver's torque."""
    motor = Driver(name="motor", joint="A", function="1.2 + 6*t + 0.5*sin(5*t)")
    model = four_bar(**{name: {"damping": 0.2, "cut": "yes" if name == cut else "auto"} for name in "ABCD"})
    mech = Mechanism(dataclasses.replace(model, drivers=(motor,), world=SKEW))
    run = simulate(mech, 2.0, rtol=1e-10, atol=1e-11, output=0.002)
    np.testing.assert_allclose(run["A.q"], 1.2 + 6.0 * run.time + 0.5 * np.sin(5.0 * run.time), atol=1e-9)
    none = np.zeros(mech.nv)
    torque = [
        mech.constraint_forces(q, v, none, t=t)["motor"][0] for t, q, v in zip(run.time, run.q, run.v, strict=True)
    ]
    power = np.array(torque) * (6.0 + 2.5 * np.cos(5.0 * run.time)) - sum(0.2 * run[f"{n}.v"] ** 2 for n in "ABCD")
    gained = run["energy.total"][-1] - run["energy.total"][0]
    assert gained == pytest.approx(float(simpson(power, x=run.time)), abs=1e-6)


@pytest.mark.parametrize("ratio", [0.5, -0.3, 2.0])
def test_a_gear_follows_a_joint_that_is_cut_over_several_turns(ratio: float) -> None:
    """The crank leads a wheel; where it closes the loop its angle is measured, and known up to whole turns."""
    wheel = Body(name="w", mass=1.0, inertia=SOLID)
    gear = Constraint(name="gear", kind="gear", joint="W", leader="A", ratio=ratio)
    for cut in "CA":
        model = four_bar(**{cut: {"cut": "yes"}, "A": {"start_speed": (20.0,), "cut": "yes" if cut == "A" else "auto"}})
        joints = (*model.joints, Joint(name="W", parent="world", child="w", rest=(1.2 * ratio,)))
        mech = Mechanism(dataclasses.replace(model, bodies=(*model.bodies, wheel), joints=joints, constraints=(gear,)))
        run = simulate(mech, 1.0, rtol=1e-10, atol=1e-11, output=0.05)
        assert run["A.q"][-1] > 4.0 * np.pi
        np.testing.assert_allclose(run["W.q"], ratio * run["A.q"], atol=1e-6)
        np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=1e-7)


def two_four_bars(ratio: float, cuts: str) -> Model:
    """Two of them side by side, crank "A" of the first leading crank "a" of the other; cut where `cuts` says."""
    first, second = ({name.upper(): {"cut": "yes"} for name in cuts if name in of} for of in ("ABCD", "abcd"))
    one, two = four_bar(**{**first, "A": {**first.get("A", {}), "start_speed": (20.0,)}}), four_bar(**second)
    bodies = tuple(dataclasses.replace(body, name=f"{body.name}2") for body in two.bodies)
    joints = tuple(
        dataclasses.replace(
            joint,
            name=joint.name.lower(),
            child=f"{joint.child}2",
            parent=joint.parent if joint.parent == "world" else f"{joint.parent}2",
        )
        for joint in two.joints
    )
    gear = Constraint(name="gear", kind="gear", joint="a", leader="A", ratio=ratio, offset=1.2 * (1.0 - ratio))
    return dataclasses.replace(one, bodies=(*one.bodies, *bodies), joints=(*one.joints, *joints), constraints=(gear,))


@pytest.mark.parametrize("ratio", [2.0 / 3.0, -1.5, 0.5, -2.0])
def test_a_gear_between_two_joints_that_are_cut_holds_over_turns(ratio: float) -> None:
    """Both angles are measured; runs are those of other cuts."""
    start: dict[str, list[float]] = {}
    shown = []
    for cuts in ("Cc", "Aa"):
        mech = Mechanism(two_four_bars(ratio, cuts))
        assert {loop.cut for loop in mech.loops} == set(cuts)
        q, v = ([start[name][k] for name in mech.q_names] if start else None for k in (0, 1))
        run = simulate(mech, 1.0, q0=q, v0=v, rtol=1e-10, atol=1e-11, output=0.05)
        assert run["A.q"][-1] > 4.0 * np.pi
        led = ratio * run["A.q"] + 1.2 * (1.0 - ratio)
        np.testing.assert_allclose(run["a.q"], led, atol=1e-6)
        start = {joint: [run[f"{joint}.q"][0], run[f"{joint}.v"][0]] for joint in "ABCDabcd"}
        shown.append(run["A.q"])
    np.testing.assert_allclose(shown[0], shown[1], atol=1e-6)


def test_a_ratio_at_which_turns_of_two_cut_joints_cannot_be_counted_is_told() -> None:
    for ratio, told in ((np.sqrt(2.0), True), (20.0 / 30.0, False), (3.0, False)):
        doubts = [doubt for doubt in check(two_four_bars(ratio, "Aa")) if doubt.field == "ratio"]
        assert bool(doubts) == told
        assert not [doubt for doubt in check(two_four_bars(ratio, "Ac")) if doubt.field == "ratio"]
        assert all("teeth" in doubt.remedy for doubt in doubts)


def lead_screw(cut: str, **more: object) -> Mechanism:
    """A nut that turns on a screw and pushes a slide, cut anywhere."""
    axial = Inertia(ixx=0.02, iyy=0.02, izz=0.03)
    joints = (
        Joint(name="S", kind="screw", pitch=0.1, parent="world", child="nut", start_speed=(20.0,), **more),
        Joint(name="R", parent="nut", child="slide"),
        Joint(name="P", kind="prismatic", parent="world", child="slide"),
    )
    return Mechanism(
        Model(
            name="lead screw",
            bodies=(Body(name="nut", mass=1.0, inertia=axial), Body(name="slide", mass=2.0, inertia=axial)),
            joints=tuple(dataclasses.replace(joint, cut="yes" if joint.name == cut else "auto") for joint in joints),
            world=World(gravity=Gravity(kind="none")),
        )
    )


@pytest.mark.parametrize("cut", ["S", "R", "P"])
def test_a_spring_in_a_screw_counts_its_turns_also_where_it_closes_the_loop(cut: str) -> None:
    """An oscillator over turns: ω² = k / (J + (m₁ + m₂) h²), h the advance per radian."""
    k, h = 0.05, 0.1 / (2.0 * np.pi)
    mech = lead_screw(cut, stiffness=k)
    assert mech.loops[0].cut == cut
    run = simulate(mech, 2.0, rtol=1e-10, atol=1e-11, output=0.1)
    omega = np.sqrt(k / (0.03 + 3.0 * h**2))
    np.testing.assert_allclose(run["S.q"], 20.0 / omega * np.sin(omega * run.time), atol=1e-6)
    assert np.max(run["S.q"]) > 4.0 * np.pi
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=1e-8)


def test_turns_of_a_screw_are_told_from_its_advance() -> None:
    """Its coordinate, its limits, and its pose when another joint closes the loop."""
    tree, cut = lead_screw("R"), lead_screw("S", limits=(Limit(lower=-1.0, upper=15.0),))
    assert [limit.name for limit in cut.cut_limits] == ["S"]
    start = cut.assemble(cut.rest())
    q = cut.move(start, {"P": 0.2})
    assert cut.coordinate(q, "S") == pytest.approx([4.0 * np.pi], abs=1e-9)
    carried = transfer_pose(cut.compiled, q, tree.compiled, {})
    np.testing.assert_allclose(carried[tree.joint_q("S")], 4.0 * np.pi, atol=1e-9)
    end = cut.move(start, {"P": 0.3})
    assert cut.coordinate(end, "S") == pytest.approx([15.0], abs=1e-8)
