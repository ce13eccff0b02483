"""Quantities of an element at one moment: derivatives of its pose, equilibrium, channels of a run."""

import numpy as np
import pytest

from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from core.simulation import simulate
from core.simulation.run.element_values import NO_STATES, Moment, moment_held, moment_of_run
from core.simulation.run.growing_rows import Samples
from resources import examples

STEP = 1e-4


def opened(name):
    return Mechanism(load(next(each.path for each in examples() if each.name == name)))


def vector(values, symbol):
    return next(each.values for each in values.quantities if each.is_vector and each.symbol == symbol)


def turn(R):
    """Rotation vector (3,) of a small rotation."""
    return 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


@pytest.mark.parametrize("example", [each.name for each in examples()])
def test_velocity_and_acceleration_are_derivatives_of_the_pose(example):
    mech = opened(example)
    rng = np.random.default_rng(3)
    q, v, a = np.array(mech.rest()), rng.uniform(-1.0, 1.0, mech.nv), rng.uniform(-1.0, 1.0, mech.nv)
    nothing = np.zeros(mech.nv)
    samples = Samples(np.zeros(1), q[None], v[None], a[None], nothing[None], NO_STATES, NO_STATES)
    moment = Moment(mech, q, samples, np.asarray(mech.parameter_values()), problem="no forces")
    joint = mech.model.expanded.joints[-1]
    found = moment.values_of("joints", joint.name)

    # the child side's frame, fixed to the child: not the joint's own frame b, which of a cut joint is where it was cut
    fixed = np.linalg.inv(mech.frame(q, joint.child)) @ found.pose

    def pose(h):
        return np.asarray(mech.frame(mech.integrate(q, v * h + 0.5 * a * h * h), joint.child)) @ fixed

    ahead, here, behind = pose(STEP), pose(0.0), pose(-STEP)
    forth, back = turn(ahead[:3, :3] @ here[:3, :3].T), turn(behind[:3, :3] @ here[:3, :3].T)
    scale = 1.0 + np.max(np.abs(here[:3, 3]))
    assert vector(found, "v") == pytest.approx((ahead[:3, 3] - behind[:3, 3]) / (2 * STEP), abs=1e-5 * scale)
    assert vector(found, "ω") == pytest.approx((forth - back) / (2 * STEP), abs=1e-5)
    acceleration = (ahead[:3, 3] - 2.0 * here[:3, 3] + behind[:3, 3]) / STEP**2
    assert vector(found, "a") == pytest.approx(acceleration, abs=1e-4 * scale)
    assert vector(found, "α") == pytest.approx((forth + back) / STEP**2, abs=1e-4)


@pytest.mark.parametrize("example", ["puma560", "scara", "triple_pendulum"])
def test_the_first_joint_carries_the_weight_of_the_machine(example):
    mech = opened(example)
    q, g = mech.random(1), np.array([0.0, 0.0, -9.81])
    parameters = mech.linear_parameters()
    inertia = dict(zip(parameters.names, map(float, parameters.values), strict=True))
    bodies = [name.removesuffix(".m") for name in inertia if name.endswith(".m")]
    first = next(joint for joint in mech.model.expanded.joints if joint.child == bodies[0])
    force, torque = np.zeros(3), np.zeros(3)
    origin = np.asarray(mech.frame(q, bodies[0]))[:3, 3]
    for body in bodies:
        X, m = np.asarray(mech.frame(q, body)), inertia[f"{body}.m"]
        moment = np.array([inertia[f"{body}.m{axis}"] for axis in "xyz"])
        force -= m * g
        torque -= np.cross(X[:3, :3] @ moment + m * (X[:3, 3] - origin), g)
    found = moment_held(mech, q).values_of("bodies", first.child)
    assert vector(found, "f") == pytest.approx(force, abs=1e-9)
    assert vector(found, "τ") == pytest.approx(torque, abs=1e-9)


def test_a_run_is_interpolated_between_its_samples():
    mech = opened("double_pendulum")
    run = simulate(mech.model, 0.5, output=0.05)
    body = mech.model.expanded.joints[-1].child
    at, after = (moment_of_run(run, float(run.time[k])).values_of("bodies", body) for k in (4, 5))
    assert vector(at, "v") == pytest.approx(run[f"{body}.velocity"][4])
    time = 0.75 * float(run.time[4]) + 0.25 * float(run.time[5])
    between = moment_of_run(run, time).values_of("bodies", body)
    assert vector(between, "a") == pytest.approx(0.75 * vector(at, "a") + 0.25 * vector(after, "a"))
    assert between.pose == pytest.approx(np.asarray(mech.frame(run.at(time), body)))
    with pytest.raises(ModelError, match="has no gripper"):
        moment_of_run(run, 0.0).values_of("bodies", "gripper")


def test_a_machine_without_mass_has_motion_and_says_why_no_forces():
    mech = opened("three_link")
    found = moment_held(mech, np.array(mech.rest())).values_of("joints", mech.joint_names[-1])
    assert vector(found, "v") == pytest.approx(np.zeros(3))
    assert "moves no mass" in found.problem
    assert not any(each.symbol == "f" for each in found.quantities)
