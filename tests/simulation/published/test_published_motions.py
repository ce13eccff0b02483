"""Simulations against published and closed-form motions (tests/reference)."""

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.simulation import simulate
from tests.simulation.published import published_machines as machines

TIGHT = {"method": "rk853", "rtol": 1e-11, "atol": 1e-12}


def motion(model, t, **options):
    run = simulate(model, float(t[-1]), output=float(t[1] - t[0]), **{**TIGHT, **options})
    np.testing.assert_allclose(run.time, t, atol=1e-12)
    return run


def near(mine, theirs, relative):
    assert np.max(np.abs(mine - theirs)) <= relative * np.ptp(theirs)


@pytest.mark.parametrize("method", ["rk32", "rk54", "rk853"])
def test_modelica_pendulum_with_damper(method):
    p, x, _ = machines.read("msl_Pendulum")
    run = motion(machines.msl_pendulum(p), x["t"], method=method, rtol=1e-9, atol=1e-10)
    near(run["pin.q"], x["phi"], 1e-6)
    near(run["pin.v"], x["w"], 1e-6)


def test_modelica_double_pendulum():
    p, x, _ = machines.read("msl_DoublePendulum")
    run = motion(machines.msl_double_pendulum(p), x["t"])
    for joint in ("1", "2"):
        near(run[f"phi{joint}.q"], x[f"phi{joint}"], 1e-6)
        near(run[f"phi{joint}.v"], x[f"w{joint}"], 1e-6)


def test_simple_pendulum_of_the_benchmark_library():
    p, x, case = machines.read("iftomm_A01_simple_pendulum")
    run = motion(
        machines.point_pendulum(p["m_kg"], p["L_m"], p["g_m_s2"]),
        x["t"],
        q0={"theta": -np.pi / 2},
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(run["theta.q"], x["theta"], atol=1e-8)
    np.testing.assert_allclose(run["theta.v"], x["theta_dot"], atol=1e-8)
    assert np.ptp(run["energy.total"]) < 1e-8
    bob = np.stack([np.sin(run["theta.q"]), -np.cos(run["theta.q"])], axis=1)
    np.testing.assert_allclose(bob, np.stack([x["x"], x["y"]], axis=1), atol=case["tolerances"]["position_abs"])
    # the rod's tension is the reaction along it
    force = run["theta.reaction"][:, 3:5]
    tension = -np.sum(force * bob, axis=1)
    np.testing.assert_allclose(tension, x["rod_tension"], atol=1e-6)


def test_heavy_top():
    p, x, case = machines.read("heavy_top_bruls")
    run = motion(machines.heavy_top(p), x["t"], v0=p["w0_body"])
    np.testing.assert_allclose(
        run["ball.v"], np.stack([x["wx"], x["wy"], x["wz"]], 1), atol=case["tolerances"]["w_abs"]
    )
    turn = Mechanism(run.model).frame(run.q, "top")[:, :3, :3]
    com = turn @ np.array(p["com"], dtype=float)
    np.testing.assert_allclose(com, np.stack([x["comx"], x["comy"], x["comz"]], 1), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(run["ball.q"], axis=1), 1.0, atol=1e-14)


def test_free_flight_of_an_axisymmetric_body():
    p, x, _ = machines.read("free_body_symmetric")
    w, i, j, k = p["quat0"]
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat([i, j, k, w])
    v = turn.inv().apply(p["v0"])
    run = motion(machines.free_body(p), x["t"], q0=[*p["p0"], i, j, k, w], v0=[*p["w0_body"], *v])
    np.testing.assert_allclose(run["body.position"], np.stack([x["x"], x["y"], x["z"]], 1), atol=1e-8)
    np.testing.assert_allclose(run["body.velocity"], np.stack([x["vx"], x["vy"], x["vz"]], 1), atol=1e-8)
    theirs = np.stack([x["q1"], x["q2"], x["q3"], x["q0"]], 1)
    mine = run["body.orientation"]
    assert np.max(1.0 - np.abs(np.sum(mine * theirs, axis=1))) < 1e-14
    np.testing.assert_allclose(run["body.acceleration"], np.broadcast_to([0, 0, -p["g"]], (len(run), 3)), atol=1e-8)


def test_floating_chain_keeps_energy_and_momentum():
    p, x, case = machines.read("floating_chain_3")
    model = machines.floating_chain(p)
    v0 = dict(zip(Mechanism(model).v_names, [*p["v0"][3:6], *p["v0"][:3], *p["v0"][6:]], strict=True))
    run = motion(model, x["t"], v0=v0)
    np.testing.assert_allclose(run["b0.position"], np.stack([x["x"], x["y"], x["z"]], 1), atol=1e-6)
    np.testing.assert_allclose(run["j1.q"], x["q1"], atol=1e-6)
    np.testing.assert_allclose(run["j2.q"], x["q2"], atol=1e-6)
    reference = case["reference"]
    np.testing.assert_allclose(run["energy.total"], reference["total_energy"], atol=1e-8)
    for what in ("linear", "angular"):
        expected = np.broadcast_to(reference[f"{what}_momentum0"], (len(run), 3))
        np.testing.assert_allclose(run[f"momentum.{what}"], expected, atol=1e-9)


def test_chaotic_babyboot_after_ten_seconds():
    p, x, case = machines.read("babyboot_kane")
    q0 = [np.radians(p["qA0_deg"]), np.radians(p["qB0_deg"])]
    run = motion(machines.babyboot(p), x["t"], q0=q0, rtol=1e-13, atol=1e-14)
    half = x["t"] <= 5.0
    np.testing.assert_allclose(run["qA.q"][half], x["qA"][half], atol=case["tolerances"]["t5_abs"])
    published = case["reference"]["published_t10"]
    assert np.degrees(run["qA.q"][-1]) == pytest.approx(published["qA_deg"], abs=case["tolerances"]["t10_qA_deg"])
    assert run["qA.a"][-1] == pytest.approx(published["qAddot"], rel=1e-4)


def test_four_bar_until_its_first_collinear_pose():
    p, x, case = machines.read("iftomm_A02_nfourbar_N1")
    until = int(np.argmax(x["phi"] <= 0.15))
    t = x["t"][:until]
    assert len(t) > 5
    speed = -p["B0_velocity0"][0] / p["L_m"]
    run = motion(machines.n_four_bar(p), t, v0={"A0": speed, "B0": -speed, "A1": speed})
    assert np.max(run["constraint.residual"]) < 1e-11
    np.testing.assert_allclose(run["energy.total"], case["reference"]["total_energy_J"], atol=1e-9)
    np.testing.assert_allclose(np.pi / 2 + run["A0.q"], x["phi"][: len(t)], atol=1e-8)
    np.testing.assert_allclose(run["A0.v"], x["phi_dot"][: len(t)], atol=1e-8)
