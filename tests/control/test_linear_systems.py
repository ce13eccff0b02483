"""Linear systems with inputs and outputs: published matrices, closed forms, differences of the nonlinear response."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from resources import EXAMPLES
from tests.control.differences import Nonlinear
from tests.control.machines import cart_pole, mass_chain, pendulum
from tests.walks import walk

REFERENCE = Path(__file__).parents[1] / "reference"


def read(name):
    return json.loads((REFERENCE / f"{name}.json").read_text())


CART = read("lin_io_cart_pole")


@pytest.mark.parametrize(("case", "angle"), [("upright", 0.0), ("hanging", np.pi)])
def test_the_published_cart_pole(case, angle):
    data, expected = CART["parameters"], CART["reference"][case]
    model = cart_pole(data["M"], data["m"], data["l"], data["J_com"], data["g"], data["b"])
    found = ks.linearise(
        model, [0.0, angle], inputs=["x.tau", "pole.torque.y"], outputs=["x.q", "th", "tip.position.x"]
    )
    for name in "ABCD":
        np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-9, atol=1e-12)
    assert found.state_names == ("x.q", "th.q", "x.v", "th.v")
    assert found.input_names == ("x.tau", "pole.torque.y")
    assert found.output_names == ("x.q", "th", "tip.position.x")
    assert found.units.states == ("m", "rad", "m/s", "rad/s")
    assert found.units.inputs == ("N", "N·m")
    expected_poles = np.array(expected["eigenvalues"]) @ [1.0, 1j]
    np.testing.assert_allclose(
        sorted(found.poles, key=lambda s: (round(s.real, 6), s.imag)),
        sorted(expected_poles, key=lambda s: (round(s.real, 6), s.imag)),
        atol=1e-9,
    )
    assert found.at_rest


def test_the_published_transfer_function_of_the_cart_pole():
    data, expected = CART["parameters"], CART["reference"]["transfer_F_to_theta"]
    model = cart_pole(data["M"], data["m"], data["l"], data["J_com"], data["g"], data["b"])
    found = ks.linearise(model, [0.0, 0.0], inputs=["x.tau"], outputs=["th.q"])
    s = 1j * np.array([0.1, 1.0, 7.0])
    wanted = np.polyval(expected["num"], s) / np.polyval(expected["den"], s)
    np.testing.assert_allclose(found.frequency_response(s.imag)[:, 0, 0], wanted, rtol=1e-9)
    # zeros: that of the numerator, and the factor s that was taken out, which the output does not see
    np.testing.assert_allclose(np.sort(np.abs(found.zeros)), [0.0, 0.0], atol=1e-9)


FURUTA = read("lin_io_furuta_upright")


def test_the_published_furuta_pendulum():
    data, expected = FURUTA["parameters"], FURUTA["reference"]
    J = data["J_com"]
    model = ks.Model(
        name="furuta",
        world=ks.World(gravity=ks.Gravity(acceleration=(0.0, 0.0, -data["g"]))),
        bodies=(
            ks.Body(name="arm", inertia=ks.Inertia(ixx=0.0, iyy=0.0, izz=data["Jr"])),
            ks.Body(
                name="pole",
                mass=data["m"],
                center_of_mass=(0.0, 0.0, data["l"]),
                inertia=ks.Inertia(ixx=J, iyy=J, izz=0.0),
            ),
        ),
        frames=(ks.Frame(name="com", parent="pole", pose=ks.Pose(position=(0.0, 0.0, data["l"]))),),
        joints=(
            ks.Joint(name="ph", parent="world", child="arm"),
            # z × arm is +y of the arm: th about −x moves the pole there
            ks.Joint(
                name="th",
                parent="arm",
                child="pole",
                a=ks.Pose(position=(data["Lr"], 0.0, 0.0)),
                axis=(-1.0, 0.0, 0.0),
            ),
        ),
    )
    found = ks.linearise(model, data["x0"][:2], inputs=["ph.tau", "th.tau"], outputs=["com.position"])
    for name in "ABCD":
        np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.y0, expected["output0"], rtol=1e-10)
    assert found.output_names == ("com.position.x", "com.position.y", "com.position.z")


FOURBAR = read("lin_io_fourbar_motor")


def fourbar_with_motor():
    data = FOURBAR["parameters"]
    (a, b, c, d), (ma, mb, mc) = data["a_b_c_d"], data["masses"]

    def bar(name, mass, length):
        J = mass * length**2 / 12.0
        return ks.Body(
            name=name, mass=mass, center_of_mass=(0.5 * length, 0.0, 0.0), inertia=ks.Inertia(ixx=0.0, iyy=J, izz=J)
        )

    def at(x, y=0.0):
        return ks.Pose(position=(x, y, 0.0))

    px, py = data["P_on_coupler"]
    return ks.Model(
        name="fourbar",
        world=ks.World(gravity=ks.Gravity(acceleration=(0.0, -data["g"], 0.0))),
        bodies=(bar("crank", ma, a), bar("coupler", mb, b), bar("rocker", mc, c)),
        frames=(ks.Frame(name="P", parent="coupler", pose=at(px, py)),),
        joints=(
            ks.Joint(name="A", parent="world", child="crank"),
            ks.Joint(name="B", parent="crank", child="coupler", a=at(a)),
            ks.Joint(name="D", parent="world", child="rocker", a=at(d)),
            ks.Joint(name="C", parent="coupler", child="rocker", a=at(b), b=at(c)),
        ),
    )


@pytest.mark.parametrize("coordinate", ["A", "auto"])
def test_the_published_four_bar_with_its_motor(coordinate):
    data, expected = FOURBAR["parameters"], FOURBAR["reference"]
    mech = ks.Mechanism(fourbar_with_motor())
    theta, phi, psi = data["theta0"], expected["coupler_angle"], expected["rocker_angle"]
    q = np.array([theta, phi - theta, psi])
    tau = mech.inverse_dynamics(q, np.zeros(3), np.zeros(3), actuators=["A"])
    assert tau[0] == pytest.approx(expected["u0"], rel=1e-9)
    coordinates = "auto" if coordinate == "auto" else [coordinate]
    found = ks.linearise(
        mech,
        q,
        inputs=["A.tau"],
        outputs=["P.position.x", "P.position.y", "P.velocity.x", "P.velocity.y"],
        coordinates=coordinates,
        tau=tau,
    )
    np.testing.assert_allclose(found.y0, expected["output0"], atol=1e-10)
    np.testing.assert_allclose(sorted(found.poles.real), sorted(np.array(expected["poles"])[:, 0]), rtol=1e-9)
    assert found.at_rest
    assert found.u0 == pytest.approx([expected["u0"]], rel=1e-9)
    if coordinate == "A":
        for name in "ABCD":
            np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-9, atol=1e-11)


def test_a_mass_chain_equals_its_closed_form():
    masses, stiffness, damping = [1.2, 0.7, 2.1], [40.0, 25.0, 60.0], [0.3, 0.1, 0.5]
    n = len(masses)
    E = np.eye(n) - np.eye(n, k=-1)  # stretch of each spring
    M, K, D = np.diag(masses), E.T @ np.diag(stiffness) @ E, E.T @ np.diag(damping) @ E
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    B = np.concatenate([np.zeros((n, n)), np.linalg.inv(M)])
    found = ks.linearise(
        mass_chain(masses, stiffness, damping),
        inputs=["x0.tau", "x1.tau", "x2.tau"],
        outputs=["x2.q", "x0.a", "x2 - 1 s * x1.v", "energy.kinetic"],
        coordinates=["x0", "x1", "x2"],
    )
    np.testing.assert_allclose(found.A, A, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.B, B, rtol=1e-12, atol=1e-12)
    C = np.zeros((4, 2 * n))
    C[0, 2], C[1], C[2, 2], C[2, n + 1] = 1.0, A[n], 1.0, -1.0
    np.testing.assert_allclose(found.C, C, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.D[1], B[n], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.D[[0, 2, 3]], 0.0, atol=1e-12)
    assert found.controllable
    assert found.observable
    assert found.remarks() == ()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_pendulum_of_n_rods_equals_its_closed_form(n):
    length, mass, g = 0.4, 0.8, 9.81
    T = np.tril(np.ones((n, n)))  # absolute angles of relative ones
    behind = lambda i, j: n - 1 - max(i, j)  # noqa: E731
    M = np.array([[mass * length**2 * (behind(i, j) + (1 / 3 if i == j else 0.5)) for j in range(n)] for i in range(n)])
    K = np.diag([mass * g * length * (n - 1 - i + 0.5) for i in range(n)])
    M, K = T.T @ M @ T, T.T @ K @ T
    found = ks.linearise(
        pendulum(n, length, mass),
        inputs=["j0.tau"],
        outputs=["end.position.x", "end.acceleration.x"],
        coordinates=[f"j{i}" for i in range(n)],
    )
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), np.zeros((n, n))]])
    scale = np.max(np.abs(A))
    np.testing.assert_allclose(found.A, A, rtol=1e-12, atol=1e-12 * scale)
    b = np.linalg.solve(M, np.eye(n)[:, :1])
    np.testing.assert_allclose(found.B[n:], b, rtol=1e-12, atol=1e-12 * np.max(np.abs(b)))
    lever = -length * T.sum(axis=0)  # x of the end by each relative angle: rods hang to −z and turn about y
    np.testing.assert_allclose(found.C[0, :n], lever, rtol=1e-12)
    np.testing.assert_allclose(found.C[1, :n], lever @ A[n:, :n], rtol=1e-11)
    np.testing.assert_allclose(found.D[1], lever @ b, rtol=1e-12)


def loops():
    """Names of examples with loops that move."""
    found = []
    for path in sorted(EXAMPLES.glob("*.kst")):
        mech = ks.Mechanism(ks.load(path))
        if mech.loops and mech.mobility(mech.rest()).degrees_of_freedom:
            found.append(path.stem)
    return found


@pytest.mark.parametrize("example", walk(loops()))
def test_loops_equal_differences_of_their_nonlinear_response(example):
    model = ks.load(EXAMPLES / f"{example}.kst")
    mech = ks.Mechanism(model)
    frame = mech.frame_names[-1]
    inputs = [f"{mech.v_names[0]}.tau", f"{frame}.force.x", *mech.p_names[:1]]
    inputs += ["gravity.z"] if model.expanded.world.gravity.kind == "uniform" else []
    outputs = [f"{frame}.position", f"{frame}.velocity", f"{frame}.acceleration", "energy.total", "momentum.angular"]
    if example != "engine_v6":  # at its rest the gas begins to burn: no slope
        outputs += [f"{force.name}.force" for force in model.expanded.forces[:1]]
    rng = np.random.default_rng(1)
    still = ks.linearise(mech, friction=False)
    q = np.asarray(mech.assemble(mech.integrate(mech.rest(), 0.05 * still.basis[:, : len(still.coordinates)].sum(1))))
    v = dict(zip(still.coordinates, 0.5 * rng.normal(size=len(still.coordinates)), strict=True))
    found = ks.linearise(mech, q, v=v, tau=rng.normal(size=mech.nv), inputs=inputs, outputs=outputs, friction=False)
    nonlinear = Nonlinear(model, found, outputs)
    turning = [k for k, name in enumerate(found.coordinates) if name not in mech.q_names]
    for name, expected in zip("ABCD", nonlinear.matrices(), strict=True):
        own = getattr(found, name)
        if name in "AB":  # rates of displacements of quaternions are no speeds
            own, expected = np.delete(own, turning, 0), np.delete(expected, turning, 0)
        scale = max(1.0, float(np.max(np.abs(own), initial=0.0)))
        np.testing.assert_allclose(own, expected, atol=1e-6 * scale, rtol=0.0, err_msg=name)
    np.testing.assert_allclose(found.y0, nonlinear.at()[1], rtol=1e-9, atol=1e-9)
