"""Simulations of published machines with loops and stiff springs (tests/reference)."""

import numpy as np
import pytest

from benchmarks import problems
from core.simulation import simulate
from tests.simulation.published.published_machines import body, world

ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def run_of(problem, **options):
    return simulate(
        problem.model,
        options.pop("duration", problem.duration),
        q0=problem.q0,
        v0=problem.v0,
        torque=problem.torque,
        **options,
    )


@pytest.mark.parametrize("closed_forms", [True, False])
def test_andrews_squeezer_at_the_end(closed_forms):
    """Against the 16 digits of the IVP test set; accelerations too."""
    problem = problems.andrews_squeezer()
    run = run_of(problem, method="rk853", rtol=1e-12, atol=1e-13, output=5e-4, closed_forms=closed_forms)
    published, tolerances = problem.case["reference"]["published"], problem.case["tolerances"]
    for i, name in enumerate(ANGLES):
        assert run[f"{name}.q"][-1] == pytest.approx(published["q"][i], abs=tolerances["q_abs_at_0p03"])
        assert run[f"{name}.v"][-1] == pytest.approx(published["qd"][i], rel=tolerances["qd_rel_at_0p03"])
        assert run[f"{name}.a"][-1] == pytest.approx(published["qdd"][i], rel=1e-5)
    within = problem.columns["t"] <= 0.03 + 1e-9
    for name in ANGLES:
        expected = problem.columns[name][within]
        np.testing.assert_allclose(run[f"{name}.q"][: len(expected)], expected, atol=1e-7)
    assert np.max(run["constraint.residual"]) < 1e-10


@pytest.mark.parametrize("method", ["rk54", "adams", "radau", "radau5"])
def test_andrews_squeezer_by_other_methods(method):
    problem = problems.andrews_squeezer()
    run = run_of(problem, method=method, rtol=1e-9, atol=1e-10, output=0.03)
    published = problem.case["reference"]["published"]
    for i, name in enumerate(ANGLES):
        assert run[f"{name}.q"][-1] == pytest.approx(published["q"][i], abs=2e-5)


def test_bricard_for_ten_seconds():
    """One of thirty constraints is redundant; energy must not drift."""
    problem = problems.bricard()
    run = run_of(problem, method="rk853", rtol=1e-11, atol=1e-12, output=0.1)
    tolerances, reference = problem.case["tolerances"], problem.case["reference"]
    expected = np.stack([problem.columns[f"P3{axis}"] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(run.time, problem.columns["t"], atol=1e-12)
    wrong = np.max(np.abs(run["rod4.position"] - expected), axis=1)
    assert np.max(wrong[run.time <= 5.0]) < tolerances["position_abs_t_le_5"]
    assert np.max(wrong) < tolerances["position_abs_t_le_10"]
    np.testing.assert_allclose(run["energy.total"] - run["energy.total"][0], 0.0, atol=tolerances["energy_drift_J"])
    assert run["energy.total"][0] == pytest.approx(reference["total_energy_J"], abs=1e-9)
    assert np.max(run["constraint.residual"]) < 1e-10


def test_flyball_governor_by_the_stiff_method():
    problem = problems.flyball_governor()
    run = run_of(problem, method="radau5", rtol=1e-8, atol=1e-10, output=0.05)
    tolerances = problem.case["tolerances"]
    np.testing.assert_allclose(run.time, problem.columns["t"], atol=1e-12)
    np.testing.assert_allclose(run["s.q"], problem.columns["s"], atol=tolerances["s_abs"])
    np.testing.assert_allclose(run["phi.v"], problem.columns["omega"], atol=tolerances["omega_abs"])
    np.testing.assert_allclose(run["beta1.q"], problem.columns["beta"], atol=tolerances["s_abs"])
    np.testing.assert_allclose(run["beta1.q"], run["beta2.q"], atol=1e-9)
    momentum = run["momentum.angular"][:, 2]
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-7)


def test_order_of_the_stiff_method_on_the_governor():
    """Errors at 0.5 s against the steps taken: the slope is five where the springs do not bend it."""
    problem = problems.flyball_governor()
    sharp = run_of(problem, duration=0.5, method="radau5", rtol=1e-12, atol=1e-14, output=0.5)
    steps, wrong = [], []
    for rtol in (1e-5, 1e-6, 1e-7, 1e-8):
        run = run_of(problem, duration=0.5, method="radau5", rtol=rtol, atol=1e-2 * rtol, output=0.5)
        steps.append(0.5 / run.statistics.steps)
        wrong.append(np.max(np.abs(run.q[-1] - sharp.q[-1])))
    assert np.polyfit(np.log(steps), np.log(wrong), 1)[0] > 4.0


def test_explicit_method_needs_many_more_steps_on_the_governor():
    problem = problems.flyball_governor()
    options = {"duration": 1.0, "rtol": 1e-6, "atol": 1e-8, "output": 1.0}
    implicit, explicit = (run_of(problem, method=method, **options) for method in ("radau5", "rk54"))
    assert explicit.statistics.evaluations > 10 * implicit.statistics.evaluations


def gyroscope(p):
    """An arm on a ball joint at the origin, a spinning rotor at its end, 45° about y."""
    from core.model import Joint, Model, Pose

    arm, rotor = p["arm"], p["rotor"]
    bodies = (
        body("arm", arm["m"], (arm["r"][0] / 2, 0, 0), arm["I"]),
        body("rotor", rotor["m"], (0, 0, 0), rotor["I"]),
    )
    at_end = Pose(position=tuple(map(float, arm["r"])), rotation=(0.0, np.radians(p["angle_deg"]), 0.0))
    joints = (
        Joint(name="ball", kind="spherical", parent="world", child="arm"),
        Joint(name="spin", parent="arm", child="rotor", axis=(1.0, 0.0, 0.0), a=at_end),
    )
    return Model(name="gyroscope", world=world(0, -p["g"], 0), bodies=bodies, joints=joints)


def test_gyroscopic_effects():
    p, x, case = problems.read("msl_GyroscopicEffects")
    run = simulate(
        gyroscope(p),
        float(x["t"][-1]),
        method="rk853",
        rtol=1e-11,
        atol=1e-12,
        output=float(x["t"][1]),
        v0={"spin": p["w0"]},
    )
    tolerance = case["tolerances"]["abs"]
    np.testing.assert_allclose(run["spin.q"], x["revolute.phi"], atol=tolerance)
    np.testing.assert_allclose(run["spin.v"], x["revolute.w"], atol=tolerance)
    expected = np.stack([x[f"bodyCylinder3.body.w_a[{i}]"] for i in (1, 2, 3)], axis=1)
    arms = np.stack([x[f"bodyCylinder2.body.w_a[{i}]"] for i in (1, 2, 3)], axis=1)
    rotor, arm = (arms, expected) if abs(arms[0, 0] - p["w0"]) < 1e-6 else (expected, arms)
    np.testing.assert_allclose(run["ball.v"], arm, atol=tolerance)
    assert rotor[0, 0] == pytest.approx(p["w0"])
