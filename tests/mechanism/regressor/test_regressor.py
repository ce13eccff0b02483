"""The regressor and base parameters: against inverse dynamics, Pinocchio's regressor and published counts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetostat as ks
from core.mechanism.regressor import KINDS, random_motions
from resources import EXAMPLES
from tests.mechanism.test_peers import to_pinocchio

COUNTS = json.loads((Path(__file__).parents[2] / "reference" / "ident_base_parameter_count.json").read_text("utf-8"))
LOOPS = ("four_bar", "stewart", "flyball_governor", "macpherson", "planetary_stage")


def example(name):
    return ks.Mechanism(ks.load(str(EXAMPLES / f"{name}.kst")))


@pytest.mark.parametrize("name", ["puma560", "ur5", "dual_arm", "joint_kinds"])
def test_all_kinds_of_parameters_make_up_inverse_dynamics(name):
    mech = example(name)
    mech = ks.Mechanism(dataclasses.replace(mech.model, forces=(), drivers=()))
    q, v, a, _ = random_motions(mech.compiled, 7, 1)
    found = mech.regressor(q, v, a, kinds=KINDS) @ mech.linear_parameters(KINDS).values
    wanted = mech.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-10 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("name", LOOPS)
def test_loops_have_the_forces_at_actuators(name):
    mech = example(name)
    q, v, a, free = random_motions(mech.compiled, 5, 2)
    mech = ks.Mechanism(free.model)
    kinds = ("inertia", "armature")
    Y, wanted = mech.regressor(q, v, a, kinds=kinds), mech.inverse_dynamics(q, v, a, passive=False)
    found = Y @ mech.linear_parameters(kinds).values
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-10 * max(1.0, np.max(np.abs(wanted))))
    one = mech.regressor(q[0], v[0], a[0], kinds=kinds)
    np.testing.assert_allclose(one, Y[0], rtol=0.0, atol=1e-13 * max(1.0, np.max(np.abs(Y[0]))))


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_it_is_pinocchios_regressor(name, tmp_path):
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "arm.urdf"
    ks.save(example(name).model, path)
    mech = ks.Mechanism(ks.load(path))
    model = pin.buildModelFromUrdf(str(path))
    data, rng = model.createData(), np.random.default_rng(3)
    q_pin, q, order = to_pinocchio(pin, mech, model, rng)
    v, a = rng.normal(size=(2, mech.nv))
    wanted = pin.computeJointTorqueRegressor(model, data, q_pin, v[order], a[order])
    Y, names = mech.regressor(q, v, a)[order], mech.regressor_names
    for k in range(1, model.njoints):
        child = next(joint.child for joint in mech.model.joints if joint.name == model.names[k])
        own = [
            names.index(f"{child}.{part}") for part in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
        ]
        np.testing.assert_allclose(Y[:, own], wanted[:, 10 * (k - 1) : 10 * k], rtol=0.0, atol=1e-9)


def machine_of(case):
    """The chain of a case, with arbitrary masses."""
    bodies, joints, rng = [], [], np.random.default_rng(0)
    for k, (kind, turn, place) in enumerate(case["joints"], 1):
        center = tuple(rng.normal(size=3))
        bodies.append(
            ks.Body(name=f"link{k}", mass=1.0 + k, center_of_mass=center, inertia=ks.Inertia(ixx=1, iyy=2, izz=2))
        )
        pose = ks.Pose(position=tuple(place), rotation=tuple(Rotation.from_matrix(turn).as_quat()))
        parent = f"link{k - 1}" if k > 1 else "world"
        kind = "revolute" if kind == "Z" else "prismatic"
        joints.append(ks.Joint(name=f"joint{k}", kind=kind, parent=parent, child=f"link{k}", a=pose))
    world = ks.World(gravity=ks.Gravity(acceleration=tuple(case["gravity"])))
    return ks.Mechanism(ks.Model(name="chain", bodies=tuple(bodies), joints=tuple(joints), world=world))


@pytest.mark.parametrize("case", COUNTS["reference"]["cases"], ids=lambda case: case["robot"])
def test_counts_are_those_published(case):
    mech = machine_of(case)
    base = mech.base_parameters()
    assert len(base.parameters.names) == case["standard_parameters"]
    assert base.rank == len(base.names) == case["base_parameters"]
    q, v, a, _ = random_motions(mech.compiled, 60, 5)
    sigma = np.linalg.svd(mech.regressor(q, v, a).reshape(-1, len(base.parameters.names)), compute_uv=False)
    assert np.count_nonzero(sigma > 1e-10 * sigma[0]) == base.rank


@pytest.mark.parametrize("name", ["puma560", "panda", *LOOPS])
def test_base_parameters_stand_for_all(name):
    mech = example(name)
    base = mech.base_parameters()
    q, v, a, free = random_motions(mech.compiled, 5, 4)
    Y = ks.Mechanism(free.model).regressor(q, v, a)
    wanted = Y @ base.parameters.values
    found = Y[..., list(base.columns)] @ base.values
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-7 * max(1.0, np.max(np.abs(wanted))))
    np.testing.assert_allclose(base.matrix[:, list(base.columns)], np.eye(base.rank), rtol=0.0, atol=0.0)


def test_names_are_formulas_of_the_text_books():
    """A planar arm of two links, by hand: τ₂ has m2 c2x, the first link carries m2 l₁ and m2 l₁²."""
    base = machine_of(COUNTS["reference"]["cases"][0]).base_parameters()
    assert base.names == ("m1·c1x + 0.5·m2", "m1·c1y", "I1zz + 0.25·m2", "m2·c2x", "m2·c2y", "I2zz")
    assert set(base.without_effect) == {
        f"link{k}.{part}" for k in (1, 2) for part in ("mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")
    } | {"link1.m"}


def test_what_is_not_linear_or_unknown_is_refused():
    mech = example("point_gravity")
    with pytest.raises(ks.ModelError, match="point gravity field"):
        mech.regressor(mech.rest(), np.zeros(mech.nv), np.zeros(mech.nv))
    mech = example("ur5")
    with pytest.raises(ks.ModelError, match="There is no parameter kind 'dampings'"):
        mech.base_parameters(("dampings",))
    with pytest.raises(ks.ModelError, match="q has shape"):
        mech.regressor(np.zeros(3), np.zeros(6), np.zeros(6))
