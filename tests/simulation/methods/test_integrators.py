"""Order, error and cost of the integrators; other engines with the same step."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import ellipj, ellipk

from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World
from core.simulation import METHODS, simulate
from core.simulation.methods.tableaux import BOGACKI_SHAMPINE, DORMAND_PRINCE, HAIRER, build_tableau
from tests.simulation.published import published_machines as machines

G, START = 9.81, 1.2


def swing(t):
    """Angle of a pendulum let go at START: θ = 2 asin(k sn(K − ω t)) (closed form)."""
    k, w = np.sin(START / 2), np.sqrt(G)
    return 2 * np.arcsin(k * ellipj(ellipk(k * k) - w * np.asarray(t), k * k)[0])


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("method", "counts"),
    [("euler", (4000, 8000, 16000)), ("rk4", (40, 80, 160)), ("semi_implicit_euler", (4000, 8000, 16000))],
)
def test_order_of_fixed_steps(method, counts):
    model, end = machines.point_pendulum(g=G), 1.9
    errors = [abs(simulate(model, end, method=method, step=end / n, q0=[START]).q[-1, 0] - swing(end)) for n in counts]
    assert slope([1 / n for n in counts], errors) == pytest.approx(METHODS[method].order, abs=0.15)


@pytest.mark.parametrize(("ours", "name"), [(BOGACKI_SHAMPINE, "RK23"), (DORMAND_PRINCE, "RK45"), (HAIRER, "DOP853")])
def test_the_numbers_of_the_pairs_are_those_of_scipy(ours, name):
    theirs = getattr(integrate, name)
    for row, wanted in zip((*ours.A, *ours.A_extra), (*theirs.A, *getattr(theirs, "A_EXTRA", ())), strict=True):
        assert list(row) == list(wanted[: len(row)])
        assert not np.any(wanted[len(row) :])
    assert [tuple(theirs.B), tuple(theirs.C)] == [ours.B, ours.C]
    if name == "DOP853":
        assert [ours.E, ours.E_low, ours.C_extra] == [tuple(theirs.E5), tuple(theirs.E3), tuple(theirs.C_EXTRA)]
        assert np.array_equal(ours.D, theirs.D)
    else:
        assert tuple(theirs.E) == ours.E
        assert np.array_equal(ours.P, theirs.P)
        assert ours.error_order == theirs.error_estimator_order


@pytest.mark.parametrize("method", ["rk32", "rk54", "rk853"])
def test_order_conditions_of_the_tableaux(method):
    """Σ b_i = 1, Σ b_i c_i^(k−1) = 1/k up to the order; Σ_j A_ij = c_i; the extension ends where the step does."""
    table, order = build_tableau(method), METHODS[method].order
    for k in range(1, order + 1):
        assert table.b @ table.c ** (k - 1) == pytest.approx(1 / k, abs=1e-13)
    np.testing.assert_allclose(table.A.sum(axis=1), table.c, atol=1e-13)
    np.testing.assert_allclose(table.P.sum(axis=1), table.b, atol=1e-12)
    assert table.e.sum() == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize(
    ("method", "counts"), [("rk32", (100, 200, 400)), ("rk54", (20, 40, 80)), ("rk853", (5, 7, 10))]
)
def test_order_of_embedded_pairs_at_equal_steps(method, counts):
    """With tolerances that accept everything the longest step is every step (but the first, which is chosen)."""
    model, end = machines.point_pendulum(g=G), 1.9
    errors = []
    for n in counts:
        run = simulate(model, end, method=method, step=end / n, rtol=1e3, atol=1e3, q0=[START], output=end)
        assert run.statistics.rejected == 0
        errors.append(abs(run.q[-1, 0] - swing(end)))
    assert slope([1 / n for n in counts], errors) >= METHODS[method].order - 0.5


@pytest.mark.parametrize("method", ["rk32", "rk54", "rk853"])
def test_error_follows_the_tolerance_between_steps_too(method):
    model = machines.point_pendulum(g=G)
    for rtol, most in ((1e-5, 2000), (1e-8, 30000)):
        run = simulate(model, 10.0, method=method, rtol=rtol, atol=rtol, q0=[START], output=0.0123)
        assert np.max(np.abs(run["theta.q"] - swing(run.time))) < 300 * rtol
        assert run.statistics.evaluations < most


def arm(seed=3, count=6):
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i in range(count):
        points = rng.normal(size=(6, 3)) * 0.1
        T = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        tensor = {f"i{a}{b}": float(T["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
        bodies.append(
            Body(
                name=f"b{i}",
                mass=float(rng.uniform(0.5, 2)),
                inertia=Inertia(**tensor),
                center_of_mass=tuple(map(float, rng.uniform(-0.1, 0.1, 3))),
            )
        )
        axis, place = np.eye(3)[i % 3], rng.uniform(-0.3, 0.3, 3)
        joints.append(
            Joint(
                name=f"j{i}",
                parent=f"b{i - 1}" if i else "world",
                child=f"b{i}",
                axis=tuple(map(float, axis)),
                a=Pose(position=tuple(map(float, place))),
            )
        )
    return Model(name="arm", bodies=tuple(bodies), joints=tuple(joints), world=World(gravity=Gravity()))


def rk4(f, y, h, steps):
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def test_same_steps_as_pinocchio():
    pin = pytest.importorskip("pinocchio")
    model, theirs = arm(), pin.Model()
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        kind = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[int(np.argmax(joint.axis))]()
        at = theirs.addJoint(i, kind, pin.SE3(np.eye(3), np.array(joint.a.position)), joint.name)
        t = body.inertia
        T = np.array([[t.ixx, t.ixy, t.ixz], [t.ixy, t.iyy, t.iyz], [t.ixz, t.iyz, t.izz]])
        inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), T)
        theirs.appendBodyToJoint(at, inertia, pin.SE3.Identity())
    data, n = theirs.createData(), theirs.nq
    tau = np.linspace(-1.0, 1.0, n)
    start = np.concatenate([np.linspace(0.1, 0.9, n), np.linspace(-1, 1, n)])
    end = rk4(lambda y: np.concatenate([y[n:], pin.aba(theirs, data, y[:n], y[n:], tau)]), start, 1e-3, 500)
    run = simulate(model, 0.5, method="rk4", step=1e-3, q0=start[:n], v0=start[n:], torque=tau)
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.v[-1]]), end, rtol=1e-8, atol=1e-9)


def test_same_steps_as_mujoco():
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = 1e-3
    parent, model = spec.worldbody, arm()
    for body, joint in zip(model.bodies, model.joints, strict=True):
        t = body.inertia
        parent = parent.add_body(
            name=body.name,
            pos=joint.a.position,
            mass=body.mass,
            ipos=body.center_of_mass,
            fullinertia=[t.ixx, t.iyy, t.izz, t.ixy, t.ixz, t.iyz],
            explicitinertial=True,
        )
        parent.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
    theirs = spec.compile()
    data = mujoco.MjData(theirs)
    data.qvel[:] = v0 = np.linspace(-1, 1, theirs.nv)
    for _ in range(500):
        mujoco.mj_step(theirs, data)
    run = simulate(model, 0.5, method="rk4", step=1e-3, v0=v0)
    np.testing.assert_allclose(run.q[-1], data.qpos, rtol=1e-7, atol=1e-8)


def test_energy_of_an_undamped_arm():
    run = simulate(arm(), 10.0, method="rk853", rtol=1e-11, atol=1e-12)
    assert np.ptp(run["energy.total"]) < 1e-7


def test_long_machines_run_from_tables_of_blocks():
    model = arm(count=30)
    run = simulate(model, 0.1, rtol=1e-9, atol=1e-10)
    assert np.ptp(run["energy.total"]) < 1e-5
    mech = Mechanism(model)
    np.testing.assert_allclose(run.a[-1], mech.forward_dynamics(run.q[-1], run.v[-1], np.zeros(30)), rtol=1e-9)


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_loops_stay_closed_over_many_steps(name):
    """Projection holds positions and speeds; the machines have no damping, so RK4 keeps their energy."""
    from core.files import load
    from resources import examples

    model = load(next(e.path for e in examples() if e.name == name))
    run = simulate(model, 100.0, method="rk4", step=1e-3, output=0.1)
    assert run.statistics.steps == 100_000
    assert np.max(run["constraint.residual"]) < 1e-11
    mech = Mechanism(model)
    closing = mech.constraint_jacobian(run.q) @ run.v[..., None]
    assert np.max(np.abs(closing)) < 1e-10
    assert np.ptp(run["energy.total"]) < 1e-6
