"""Runs fitted to traces: a published estimate, coverage of intervals, segments, loops, measured forces; what is wrong
is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference" / "ident_pendulum_noisy_trace.json"
RUBBING = {"pin": "-p3*tanh(pin.v/0.05)"}


def parameters(values):
    return tuple(ks.Parameter(name=name, value=value) for name, value in values.items())


def pendulum(**values):
    """q̈ = −p1 sin q − p2 q̇: a point of 1 kg, 1 m below its pin, with gravity p1."""
    return ks.Model(
        name="pendulum",
        parameters=parameters({"p1": 10.0, "p2": 0.05, "p3": 0.1} | values),
        world=ks.World(gravity=ks.Gravity(acceleration=(0, 0, "-p1"))),
        bodies=(ks.Body(name="bob", mass=1.0, center_of_mass=(0, 0, -1)),),
        joints=(ks.Joint(name="pin", parent="world", child="bob", axis=(0, 1, 0), damping="p2"),),
    )


def slider(**values):
    """ẍ + c ẋ + k x = u of 1 kg."""
    return ks.Model(
        name="slider",
        parameters=parameters({"k": 30.0, "c": 1.0} | values),
        bodies=(ks.Body(name="cart", mass=1.0),),
        joints=(
            ks.Joint(
                name="x", kind="prismatic", parent="world", child="cart", axis=(1, 0, 0), stiffness="k", damping="c"
            ),
        ),
    )


def decay(t, k, c, x0):
    """x(t) of the slider released at rest at x0."""
    d, w = c / 2.0, np.sqrt(k - c * c / 4.0)
    return x0 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


def test_the_pendulum_of_the_reference():
    """Its exact least-squares estimate and standard deviations, from other starts."""
    known = json.loads(REFERENCE.read_text(encoding="utf-8"))
    t, q = np.array(known["parameters"]["rows"]).T
    found = ks.fit_run(
        pendulum(), {"time": t, "pin.q": q}, vary=("p1", "p2", "p3"), free=("pin.q",), torque=RUBBING
    )  # fmt: skip
    assert found.converged
    assert found.names == ("p1", "p2", "p3", "pin.q")
    sigma = np.array(known["reference"]["standard_deviation"])
    off = (found.estimate - known["reference"]["least_squares_estimate"]) / sigma
    assert np.max(np.abs(off)) < 1e-3
    np.testing.assert_allclose(found.fit.deviations, sigma, rtol=1e-4)
    assert found.rms[0] == pytest.approx(known["reference"]["rms_residual"], rel=1e-6)
    assert not found.doubtful
    assert found.model.values()["p1"] == found.estimate[0]


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Spring, damper and start of a decay in closed form, 24 trials: about 95 of 100 intervals hold the truth."""
    t, truth = np.linspace(0.0, 4.0, 80), np.array([40.0, 0.8, 0.1, 0.0])
    exact = decay(t, *truth[:3])
    mech, rng, holds = ks.Mechanism(slider()), np.random.default_rng(3), []
    for _ in range(24):
        found = ks.fit_run(mech, {"time": t, "x.q": exact + 2e-3 * rng.normal(size=80)}, vary=("k", "c"))
        low, high = found.intervals.T
        holds.append((low <= truth) & (truth <= high))
    assert 0.89 <= np.mean(holds) <= 0.99


def test_without_noise_the_truth_is_found():
    t = np.linspace(0.0, 3.0, 60)
    found = ks.fit_run(slider(), {"time": t, "x.q": decay(t, 40.0, 0.8, 0.1)}, vary=("k", "c"), held_back=0.25)
    np.testing.assert_allclose(found.estimate, [40.0, 0.8, 0.1, 0.0], rtol=0.0, atol=1e-6)
    assert len(found.time) == 45
    assert found.validation.relative[0] < 1e-6


def test_segments_fit_what_one_run_cannot():
    """An upright pendulum falls away from any wrong start: in one piece the fit ends elsewhere, in segments it finds
    gravity and damping; both agree where both succeed."""
    truth = pendulum(p1=12.0, p2=0.3)
    run = ks.simulate(truth, 12.0, q0={"pin": 3.1}, output=0.02, rtol=1e-11, atol=1e-12, method="rk853")
    data = {"time": run.time, "pin.q": run["pin.q"]}
    start = pendulum(p1=5.0, p2=0.02)
    found = ks.fit_run(start, data, vary=("p1", "p2"), segments=12)
    np.testing.assert_allclose(found.estimate[:2], [12.0, 0.3], rtol=1e-6)
    np.testing.assert_allclose(found.estimate[2:], [3.1, 0.0], atol=1e-6)
    noisy = data | {"pin.q": data["pin.q"] + 0.01 * np.random.default_rng(1).normal(size=len(run.time))}
    one, several = (ks.fit_run(truth, noisy, vary=("p1", "p2"), segments=count) for count in (1, 5))
    np.testing.assert_allclose(one.estimate, several.estimate, rtol=0, atol=1e-3 * np.min(one.fit.deviations))
    np.testing.assert_allclose(one.fit.covariance, several.fit.covariance, rtol=1e-3)


def test_a_measured_force_drives_the_run():
    """A force of straight pieces, exactly as the fit takes it."""
    t = np.linspace(0.0, 3.0, 31)
    force = np.where(t < 1.0, 4.0 * t, np.where(t < 2.0, 4.0 - 6.0 * (t - 1.0), -2.0))
    law = "if(t < 1, 4*t, if(t < 2, 4 - 6*(t - 1), -2))"
    run = ks.simulate(slider(k=40.0, c=0.8), 3.0, torque={"x": law}, output=0.1, rtol=1e-11, atol=1e-13)
    data = {"time": t, "x.q": np.interp(t, run.time, run["x.q"]), "x.tau": force}
    found = ks.fit_run(slider(), data, vary=("k", "c"), free=())
    np.testing.assert_allclose(found.estimate, [40.0, 0.8], rtol=1e-5)


def test_a_loop_and_another_channel():
    """The spring of a four-bar's rocker, from the path of a point of its coupler."""
    model = ks.load(str(EXAMPLES / "four_bar.kst"))
    model = ks.edits.add(model, ks.Parameter(name="k_r", value=3.0))
    model = ks.edits.add(model, ks.Parameter(name="c_r", value=0.1))
    spring = ks.Force(name="spring", kind="joint", joint="crank_pin", stiffness="k_r", damping="c_r", rest=1.0)
    model = ks.edits.add(model, spring)
    mech = ks.Mechanism(model)
    truth = {"k_r": 2.0, "c_r": 0.2}
    run = ks.simulate(mech, 1.0, parameters=truth, output=0.02, rtol=1e-11, atol=1e-12)
    tip = run["coupler_point.position"]
    data = {"time": run.time, "coupler_point.position.x": tip[:, 0], "coupler_point.position.z": tip[:, 2]}
    found = ks.fit_run(mech, data, vary=("k_r", "c_r"), free=("crank_pin.q",), segments=2)
    np.testing.assert_allclose(found.estimate[:2], [2.0, 0.2], rtol=1e-5)


def test_bounds_act_and_are_named():
    t = np.linspace(0.0, 3.0, 60)
    data = {"time": t, "x.q": decay(t, 40.0, 0.8, 0.1)}
    found = ks.fit_run(slider(), data, vary={"k": (10.0, 35.0), "c": (0.0, 5.0)})
    assert found.at_bounds == ("k",)
    assert found.parameters["k"] == 35.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": ("kk",)}, "no independent parameter 'kk'"),
        ({"vary": ()}, "No parameter is selected"),
        ({"vary": {"k": (2.0, 1.0)}}, "The lower bound 2 is not below"),
        ({"vary": ("k",), "free": ("x.w",)}, "no initial value 'x.w'"),
        ({"vary": ("k",), "free": ("x.q",), "q0": {"x": 0.1}}, "already given"),
        ({"vary": ("k",), "outputs": ("y.q",)}, "no signal 'y.q'"),
        ({"vary": ("k",), "segments": 40}, "cannot be divided into 40 segments"),
        ({"vary": ("k", "m2")}, "do not distinguish|not identifiable"),
    ],
)
def test_what_is_wrong_is_named(options, message):
    t = np.linspace(0.0, 3.0, 60)
    model = slider(m2=1.0) if "m2" in options["vary"] else slider()
    with pytest.raises(ks.KinetostatError, match=message):
        ks.fit_run(model, {"time": t, "x.q": decay(t, 40.0, 0.8, 0.1)}, **options)


def test_it_is_watched_and_stopped():
    t, seen = np.linspace(0.0, 3.0, 60), []
    data = {"time": t, "x.q": decay(t, 40.0, 0.8, 0.1)}
    found = ks.fit_run(
        slider(), data, vary=("k", "c"), watch=lambda *what: seen.append(what), cancelled=lambda: len(seen) > 0
    )
    assert len(seen) == found.iterations == 1
    assert not found.converged
    assert set(seen[0][1]) == {"k", "c", "x.q", "x.v"}
