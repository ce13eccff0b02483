"""Both published editions of the stiff flyball governor (IFToMM A05) over their whole time, by the implicit method."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks import problems
from core.simulation import simulate
from tests.walks import walk

EDITIONS = {"IFToMM library": 1.0, "Exudyn example": 0.16}
"""The speed at the start, as a share of 2π rad/s."""


def by_hand(p, omega0, times):
    """(n, 4) β, s and their rates from Lagrange's equations of the symmetric machine, with the angular momentum J(β) ω
    conserved (solved by SciPy's Radau)."""
    rod, spring, g = p["rods"], p["spring"], -p["gravity"][2]
    m, L, e, M = rod["mass"], rod["length"], rod["hinge_x"], p["tip_masses_kg"]
    still = p["shaft"]["I"][2] + p["slider"]["I"]
    B, weight = m * L**2 / 4 + rod["I_transverse"] + M * L**2, g * (m * L / 2 + M * L)

    def inertia(beta):
        c, s = np.cos(beta), np.sin(beta)
        half, full = e + L / 2 * c, e + L * c
        J = still + 2 * (m * half**2 + rod["I_axial"] * s**2 + rod["I_transverse"] * c**2 + M * full**2)
        slope = 2 * (-m * half * L * s + 2 * (rod["I_axial"] - rod["I_transverse"]) * s * c - 2 * M * full * L * s)
        return J, slope

    angle = rod["angle_below_horizontal_rad"]
    momentum = inertia(angle)[0] * omega0

    def f(_, y):
        beta, s, beta_rate, s_rate = y
        c, n = np.cos(beta), np.sin(beta)
        x, z = L / 2 * c + e - spring["on_slider"][0][0], rod["hinge_z"] - L / 2 * n - s
        length = np.hypot(x, z)
        by_beta, by_s = (-x * L / 2 * n - z * L / 2 * c) / length, -z / length
        pull = spring["K"] * (length - spring["rest_length"]) + spring["C"] * (by_beta * beta_rate + by_s * s_rate)
        J, slope = inertia(beta)
        turning = 0.5 * slope * (momentum / J) ** 2
        return [
            beta_rate,
            s_rate,
            (turning + 2 * weight * c - 2 * pull * by_beta) / (2 * B),
            -g - 2 * pull * by_s / p["slider"]["mass"],
        ]

    start = [angle, p["slider"]["s0"], 0.0, 0.0]
    found = solve_ivp(f, (0.0, times[-1]), start, "Radau", times, rtol=1e-8, atol=1e-10)
    return found.y.T, momentum / inertia(found.y[0])[0]


@pytest.mark.parametrize("edition", walk(EDITIONS, quick=["IFToMM library"]))
def test_over_the_whole_time(edition):
    problem = problems.flyball_governor()
    p, case, x = problem.case["parameters"], problem.case["tolerances"], problem.columns
    omega0 = 2 * np.pi * EDITIONS[edition]
    run = simulate(
        problem.model,
        p["t_end_s"],
        method="radau5",
        rtol=1e-8,
        atol=1e-10,
        output=0.05,
        q0=problem.q0,
        v0={"phi": omega0},
    )
    expected, omega = by_hand(p, omega0, run.time)
    if omega0 == pytest.approx(p["omega0"]):
        np.testing.assert_allclose(expected[:, 1], x["s"], atol=case["s_abs"])
        np.testing.assert_allclose(omega, x["omega"], atol=case["omega_abs"])
    np.testing.assert_allclose(run["s.q"], expected[:, 1], atol=case["s_abs"])
    np.testing.assert_allclose(run["phi.v"], omega, atol=case["omega_abs"])
    for side in ("beta1", "beta2"):
        np.testing.assert_allclose(run[f"{side}.q"], expected[:, 0], atol=case["s_abs"])
    assert run.statistics.steps < 5000
