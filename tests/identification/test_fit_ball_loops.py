"""Runs of machines whose loops hold ball joints, fitted to traces in segments.

A bar hangs from two equal rods with balls at all ends, and swings in the plane of the rods: it stays level, and the
rods turn as a pendulum does,

    (m L² + 2 J) θ̈ = −(m + μ) g L sin θ,   J of a rod about its upper end, μ of its mass (its centre is in its middle).

Released at θ₀ it moves as sin(θ/2) = k sn(K − ω t, k), k = sin(θ₀/2), ω² = (m + μ) g L / (m L² + 2 J).
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kinetostat as ks
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.identification.sensitivities.start_state_derivatives import choose_independent_speeds
from core.identification.shooting import (
    MultipleShooting,
    close_displaced_pose,
    displacements_from_base,
    motions_of_independent_speeds,
)

LENGTH, ROD, WIDTH, G = 0.8, 0.3, 0.5, 9.81
ACROSS = 0.02
"""kg·m² of a rod about its middle."""
BAR = ks.Inertia(ixx=0.01, iyy=0.05, izz=0.05)


def swing(mass, tilt=0.4):
    """The bar, held by balls only; tilt : of the rods at rest, rad."""
    rod = {
        "mass": ROD,
        "center_of_mass": (0, 0, -LENGTH / 2),
        "inertia": ks.Inertia(ixx=ACROSS, iyy=ACROSS, izz=0.01),
    }
    turned = (0.0, float(np.sin(tilt / 2)), 0.0, float(np.cos(tilt / 2)))
    back = (0.0, -turned[1], 0.0, turned[3])
    end = ks.Pose(position=(0, 0, -LENGTH))
    return ks.Model(
        name="swing",
        parameters=(ks.Parameter(name="m", value=mass),),
        world=ks.World(gravity=ks.Gravity(acceleration=(0, 0, -G))),
        bodies=(
            ks.Body(name="left_rod", **rod),
            ks.Body(name="right_rod", **rod),
            ks.Body(name="bar", mass="m", center_of_mass=(WIDTH / 2, 0, 0), inertia=BAR),
        ),
        joints=(
            ks.Joint(name="left", kind="spherical", parent="world", child="left_rod", rest=turned),
            ks.Joint(
                name="right", kind="spherical", parent="world", child="right_rod", rest=turned,
                a=ks.Pose(position=(WIDTH, 0, 0)),
            ),
            ks.Joint(name="lower_left", kind="spherical", parent="left_rod", child="bar", a=end, rest=back),
            ks.Joint(
                name="lower_right", kind="spherical", parent="right_rod", child="bar", a=end,
                b=ks.Pose(position=(WIDTH, 0, 0)),
            ),
        ),
    )  # fmt: skip


def swung(t, mass, tilt):
    """(n,) θ of the rods, rad, and its rate."""
    inertia = mass * LENGTH**2 + 2.0 * (ACROSS + ROD * LENGTH**2 / 4.0)
    w = np.sqrt((mass + ROD) * G * LENGTH / inertia)
    k = np.sin(tilt / 2.0)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - w * t, k**2)
    return 2.0 * np.arcsin(k * sn), -2.0 * k * w * cn * dn / np.sqrt(1.0 - (k * sn) ** 2)


def trace(mass, tilt, duration=1.6, rows=65):
    """Where the bar's end is: (−L sin θ, 0, −L cos θ)."""
    t = np.linspace(0.0, duration, rows)
    theta, _ = swung(t, mass, tilt)
    return {"time": t, "bar.position.x": -LENGTH * np.sin(theta), "bar.position.z": -LENGTH * np.cos(theta)}


@pytest.mark.parametrize("segments", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_the_mass_of_a_bar_on_balls_is_found_again(segments):
    data = trace(0.8, 0.4)
    found = ks.fit_run(swing(0.6), data, vary=("m",), free=("left.wy.v",), segments=segments)
    assert found.converged
    np.testing.assert_allclose(found.estimate, [0.8, 0.0], rtol=1e-6, atol=1e-6)
    assert not found.notes


def test_how_a_rod_stands_at_the_start_is_found_in_segments():
    """The machine's rest pose is turned by 0.1 rad from where the trace begins."""
    data = trace(0.8, 0.4)
    found = ks.fit_run(swing(0.7, tilt=0.3), data, vary=("m",), free=("left.wy.q", "left.wy.v"), segments=3)
    np.testing.assert_allclose(found.estimate, [0.8, 0.1, 0.0], rtol=1e-5, atol=1e-6)


def shooting(segments=2):
    mech = ks.Mechanism(swing(0.6))
    data = trace(0.8, 0.4)
    t, seen = data["time"], np.column_stack([data["bar.position.x"], data["bar.position.z"]])
    options = {"method": "rk853", "rtol": 1e-11, "atol": 1e-12, "max_steps": 100_000}
    outputs = ("bar.position.x", "bar.position.z")
    problem = MultipleShooting(mech, ("m",), outputs, t, seen, free=("left.wy.q", "left.wx.q", "left.wy.v"), q0={},
                       v0={}, segments=segments, torque=None, options=options)  # fmt: skip
    return problem, mech


def test_slopes_of_both_kinds_of_segments_are_those_of_their_runs():
    """At states away from the poses from which displacements count, out of the plane, too."""
    problem, mech = shooting()
    rng = np.random.default_rng(3)
    p = np.array([0.7])
    for k, segment in enumerate(problem.segments):
        if k:
            problem.bases[k] = mech.rest()
        z = 0.2 * rng.normal(size=len(segment.free))
        exact = problem.simulate_with_derivatives(k, p, z, None)
        assert not problem.differences
        h = 1e-5
        for j in range(1 + len(z)):
            moved = [np.concatenate([p, z]) for _ in range(2)]
            moved[0][j] += h
            moved[1][j] -= h
            ahead, behind = (problem.simulate_with_derivatives(k, each[:1], each[1:], exact.pose) for each in moved)
            values = -(ahead.residuals - behind.residuals) / (2.0 * h)
            np.testing.assert_allclose(exact.slopes[:, :, j], values, atol=2e-7)
            states = (ahead.state - behind.state) / (2.0 * h)
            np.testing.assert_allclose(exact.state_slopes[:, j], states, atol=2e-6)


def test_a_pose_by_displacements_closes_the_loops_and_has_them():
    mech = ks.Mechanism(swing(0.6))
    base = mech.rest()
    rng = np.random.default_rng(1)
    constraints = PositionConstraints(mech.compiled, None, 0.0)
    G = mech.constraint_jacobian(base)
    along = choose_independent_speeds(mech, mech.parameter_values(), 0.0, G, (), ())
    values = displacements_from_base(mech, base, base)[along] + 0.3 * rng.normal(size=len(along))
    q = close_displaced_pose(mech, base, along, values, base, None, 0.0)
    np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-11)
    np.testing.assert_allclose(displacements_from_base(mech, base, q)[along], values, atol=1e-12)
    B = motions_of_independent_speeds(constraints, q, along)
    np.testing.assert_allclose(mech.constraint_jacobian(q) @ B, 0.0, atol=1e-12)
    np.testing.assert_allclose(B[along], np.eye(len(along)), atol=0.0)


def test_start_values_that_cannot_be_are_refused():
    mech = ks.Mechanism(swing(0.6))
    base = mech.rest()
    far = np.full(mech.nv, np.nan)
    with pytest.raises(ks.AssemblyError, match="loops do not close"):
        close_displaced_pose(mech, base, [0], far[:1], base, None, 0.0)
