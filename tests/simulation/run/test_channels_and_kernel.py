"""What a run's channels say is what the kernel says at the samples' states, and what differences of poses say: of every
example, and of machines that nothing but rods, gears or drivers constrains."""

import numpy as np
import pytest

from core.constraints.cut_coordinates import closes_loop
from core.files import load
from core.model import Body, Constraint, Driver, Frame, Inertia, Joint, Model, Pose
from core.simulation import simulate
from core.simulation.run.channels import FRAME
from resources import examples
from tests.walks import walk

STEP = 1e-5
"""s; for differences of poses along the motion."""


def link(name, inertia=0.02):
    tensor = Inertia(ixx=inertia, iyy=inertia, izz=inertia)
    return Body(name=name, mass=1.0, center_of_mass=(0.2, 0.0, 0.0), inertia=tensor)


def at(x):
    return Pose(position=(x, 0.0, 0.0))


def pair(**more):
    """Two links side by side that swing about y."""
    y = (0.0, 1.0, 0.0)
    joints = (
        Joint(name="left", parent="world", child="one", axis=y, rest=(0.3,)),
        Joint(name="right", parent="world", child="two", axis=y, a=at(0.5), rest=(0.3,)),
    )
    return Model(name="pair", bodies=(link("one"), link("two")), joints=joints, **more)


def by_rod():
    """A rod of its own length between the free ends of the links."""
    tips = tuple(Frame(name=f"{name}_tip", parent=name, pose=at(0.4)) for name in ("one", "two"))
    rod = Constraint(name="rod", kind="rod", a="one_tip", b="two_tip", length=0.5)
    return pair(frames=tips, constraints=(rod,))


def by_gear():
    return pair(constraints=(Constraint(name="gear", kind="gear", joint="right", leader="left", ratio=-2.0),))


def by_driver():
    return pair(drivers=(Driver(name="motor", joint="left", function="0.3 + 0.4*sin(5*t)"),))


MACHINES = {
    **{example.name: example for example in examples() if example.name != "three_link"},  # which has no masses
    **{make.__name__: make for make in (by_rod, by_gear, by_driver)},
}


@pytest.fixture(scope="module", params=walk(MACHINES, also=["by_rod", "by_gear", "by_driver"]))
def run(request):
    """A short motion."""
    made = MACHINES[request.param]
    model = made() if callable(made) else load(made.path)
    settings = {} if callable(made) else dict(made.run_settings)
    duration = min(float(settings.pop("duration", 0.2)), 0.2)
    return simulate(model, duration, output=duration / 5, **settings)


def states(run):
    """(sample, q, v, a, tau, what else a function of a machine takes) of a few samples, not at changes of modes."""
    changes = {event.time for event in run.events}
    for k in (k for k in range(1, len(run.time), 2) if run.time[k] not in changes):
        if k > 7:
            return
        yield k, run.q[k], run.v[k], run.a[k], run.tau[k], {"t": float(run.time[k]), "x": run.x[k]}


def size(x):
    return max(1.0, float(np.max(np.abs(x), initial=0.0)))


def test_what_holds_is_held_and_said(run):
    mech = run.mech
    for k, q, v, _, _, more in states(run):
        gaps = mech.constraint_residual(q, t=more["t"])
        assert run["constraint.residual"][k] == pytest.approx(np.max(np.abs(gaps), initial=0.0), abs=1e-14)
        assert run["constraint.residual"][k] < 1e-9
        ahead, behind = (mech.constraint_residual(mech.integrate(q, v, h), t=more["t"] + h) for h in (STEP, -STEP))
        np.testing.assert_allclose((ahead - behind) / (2 * STEP), 0.0, atol=1e-5 * size(v) ** 3)


def test_accelerations_are_those_of_forward_dynamics(run):
    for k, q, v, a, tau, more in states(run):
        wanted = run.mech.forward_dynamics(q, v, tau, **more)
        np.testing.assert_allclose(a, wanted, atol=1e-6 * size(wanted), err_msg=f"sample {k}")


def test_joints_move_as_their_coordinates_do(run):
    mech, named = run.mech, set(run.channels)
    for k, q, v, a, tau, more in states(run):
        ahead, behind = mech.integrate(q, v + 0.5 * STEP * a, STEP), mech.integrate(q, v - 0.5 * STEP * a, -STEP)
        for joint in (joint for joint in mech.joint_names if f"{joint}.q" in named):
            wanted = mech.coordinate(q, joint, t=more["t"])
            given = np.atleast_1d(run[f"{joint}.q"][k])
            turned = given - wanted
            if closes_loop(mech.compiled, joint):  # angles of cut joints go on counting turns
                turned -= 2 * np.pi * np.round(turned / (2 * np.pi))
            np.testing.assert_allclose(turned, 0.0, atol=1e-9, err_msg=joint)
            if len(wanted) == 1:
                change = (mech.coordinate(ahead, joint) - mech.coordinate(behind, joint)) / (2 * STEP)
                np.testing.assert_allclose(run[f"{joint}.v"][k], change[0], atol=1e-4 * size(v) ** 3, err_msg=joint)
            driven = {driver.joint for driver in mech.model.expanded.drivers}
            if f"{joint}.tau" in named and not driven:
                np.testing.assert_array_equal(np.atleast_1d(run[f"{joint}.tau"][k]), tau[mech.joint_v(joint)])


def test_frames_move_as_their_poses_do(run):
    mech = run.mech
    for k, q, v, a, _, _ in states(run):
        ahead, behind = (mech.integrate(q, v + 0.5 * h * a, h) for h in (STEP, -STEP))
        for frame in mech.frame_names:
            told = {what: run[f"{frame}.{what}"][k] for what in FRAME}
            np.testing.assert_allclose(told["position"], mech.frame(q, frame)[:3, 3], atol=1e-12)
            motion = mech.jacobian(q, frame) @ v
            np.testing.assert_allclose(told["omega"], motion[:3], atol=1e-10 * size(motion))
            np.testing.assert_allclose(told["velocity"], motion[3:], atol=1e-10 * size(motion))
            later = mech.jacobian(ahead, frame) @ (v + STEP * a) - mech.jacobian(behind, frame) @ (v - STEP * a)
            both = np.concatenate([told["alpha"], told["acceleration"]])
            np.testing.assert_allclose(both, later / (2 * STEP), atol=1e-5 * size(v) ** 2 * size(a), err_msg=frame)


def test_reactions_energies_and_sensors_are_the_kernel_s(run):
    mech, sensors = run.mech, run.model.expanded.sensors
    for k, q, v, a, tau, more in states(run):
        wrenches = mech.reactions(q, v, tau, **more)
        largest = max((size(wrench) for wrench in wrenches.values()), default=1.0)
        for joint, wrench in wrenches.items():
            np.testing.assert_allclose(run[f"{joint}.reaction"][k], wrench, atol=1e-8 * largest, err_msg=joint)
        energy = mech.energy(q, v, **more)
        assert run["energy.kinetic"][k] == pytest.approx(0.5 * v @ mech.mass_matrix(q) @ v, rel=1e-9, abs=1e-12)
        assert run["energy.potential"][k] == pytest.approx(float(energy.potential), rel=1e-12, abs=1e-12)
        for sensor in sensors:
            if sensor.name in run.channels and sensor.info.is_function_of_state:
                value = mech.sensor(q, v, sensor.name, a=a, t=more["t"])[0]
                np.testing.assert_allclose(run[sensor.name][k], value, atol=1e-10 * size(value), err_msg=sensor.name)
