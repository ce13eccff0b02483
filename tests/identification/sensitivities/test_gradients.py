"""Derivatives of runs: closed forms, and differences of runs with other parameters (Richardson)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson

import kinetostat as ks
from resources import EXAMPLES

STEP = 1e-3


def example(name):
    return ks.load(EXAMPLES / f"{name}.kst")


def differences(value, at, step):
    """dvalue/dx by central differences, extrapolated twice."""
    first, second, third = ((value(at + h) - value(at - h)) / (2.0 * h) for h in (step, step / 2.0, step / 4.0))
    once = (4.0 * second - first) / 3.0, (4.0 * third - second) / 3.0
    return (16.0 * once[1] - once[0]) / 15.0


def by_runs(mech, value, names, part=STEP, duration=0.4, **options):
    """Derivatives of value(run) by parameters, from runs with others."""
    p = mech.parameter_values()
    found = []
    for name in names:
        k = mech.p_names.index(name)

        def of(x, k=k):
            changed = p.copy()
            changed[k] = x
            return value(ks.simulate(mech, duration, parameters=changed, **options))

        found.append(differences(of, p[k], part * (abs(p[k]) or 0.1)))
    return np.array(found)


def both(mech, objective, by, **options):
    """Forward and adjoint, which must agree."""
    one, other = (ks.gradient(mech, objective, by, way, **options) for way in ("forward", "adjoint"))
    assert one.value == other.value
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=0, atol=1e-12 * np.abs(one.gradient).max())
    return one


def cart(*parameters, **joint):
    return ks.Model(
        name="cart",
        parameters=tuple(ks.Parameter(name=name, value=value) for name, value in parameters),
        bodies=(ks.Body(name="cart", mass="m"),),
        joints=(ks.Joint(name="x", kind="prismatic", parent="world", child="cart", axis=(1, 0, 0), **joint),),
    )


def test_an_oscillator():
    """x = x₀ cos ωt + v₀/ω sin ωt with ω² = k/m."""
    m, k, x0, v0, T = 2.0, 8.0, 0.3, -0.4, 1.3
    model = cart(("m", m), ("k", k), stiffness="k")
    found = both(
        ks.Mechanism(model),
        "at(x.q, end)",
        ["k", "m", "x.q", "x.v"],
        duration=T,
        integrator="rk853",
        rtol=1e-12,
        atol=1e-14,
        q0=[x0],
        v0=[v0],
    )
    w = math.sqrt(k / m)
    by_w = -x0 * T * math.sin(w * T) + v0 * (T * math.cos(w * T) / w - math.sin(w * T) / w**2)
    expected = [by_w * w / (2 * k), -by_w * w / (2 * m), math.cos(w * T), math.sin(w * T) / w]
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-10)
    value, slopes = found
    assert value == found.value
    assert slopes is found.gradient


@pytest.mark.parametrize("integrator", ["rk54", "rk853", "rk32", "rk4"])
def test_a_force_that_jumps(integrator):
    """A cart that another force takes over at x = d: two parabolas."""
    values = {"m": 2.0, "d": 0.5, "F1": 3.0, "F2": -1.0, "v0": 0.2}
    T = 2.0

    def position(m, d, F1, F2, v0):
        a = F1 / m
        t = (math.sqrt(v0 * v0 + 2.0 * a * d) - v0) / a
        return d + (v0 + a * t) * (T - t) + F2 / m * (T - t) ** 2 / 2.0

    names = list(values)
    expected = [differences(lambda x, n=n: position(**{**values, n: x}), values[n], 1e-2) for n in names]
    model = cart(*((n, values[n]) for n in names[:-1]))
    found = both(
        ks.Mechanism(model),
        "at(x.q, end)",
        [*names[:-1], "x.v"],
        duration=T,
        integrator=integrator,
        v0={"x": values["v0"]},
        torque={"x": "if(x.q < d, F1, F2)"},
    )
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-9)


def test_a_law_of_a_force_that_jumps():
    """The same with a formula of the machine, of time and place; against runs."""
    model = replace(
        cart(("m", 2.0), ("d", 0.3), ("F", 3.0)),
        sensors=(ks.Sensor(name="s", kind="distance", a="world", b="cart"),),
    )
    law = {"x": "if(x.q < d, F, -F*x.q) + if(t < 5*d*d, 0, 1)"}
    mech = ks.Mechanism(model)
    options = {"torque": law, "q0": [0.1], "rtol": 1e-11, "atol": 1e-13}
    found = both(mech, "at(x.v, end)", ["m", "d", "F"], duration=0.9, integrator="rk853", **options)
    expected = by_runs(mech, lambda r: r["x.v"][-1], ["m", "d", "F"], duration=0.9, method="rk853", **options)
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6)


CASES = [
    ("ur5", "at(tool.position.x, end)", lambda r: r["tool.position"][-1, 0], {"q0": [0, -1, 1, 0, 0, 0]}),
    ("ur5", "mean(energy.kinetic)", lambda r: simpson(r["energy.kinetic"], x=r.time) / 0.4, {}),
    ("four_bar", "at(rocker_pin.v, end)", lambda r: r["rocker_pin.v"][-1], {"q0": {"crank_pin": 0.5}}),
    ("four_bar", "rms(crank_pin.a)", lambda r: np.sqrt(simpson(r["crank_pin.a"] ** 2, x=r.time) / 0.4), {}),
    ("spatial_four_bar", "at(energy.kinetic, end)", lambda r: r["energy.kinetic"][-1], {}),
    ("body_on_springs", "integral(energy.potential)", lambda r: simpson(r["energy.potential"], x=r.time), {}),
    ("flyball_governor", "at(energy.kinetic, end)", lambda r: r["energy.kinetic"][-1], {"step": 2e-4}),
    ("squeezer", "at(energy.kinetic, end)", lambda r: r["energy.kinetic"][-1], {"step": 1e-4, "duration": 0.02}),
]


@pytest.mark.parametrize(("name", "objective", "value", "options"), CASES)
def test_runs_with_other_parameters(name, objective, value, options):
    """Arms, loops in closed form and by iteration, drivers, springs, bodies with quaternions."""
    mech = ks.Mechanism(example(name))
    given = {"duration": 0.4, **options}
    names = mech.p_names[:3]
    if not names:  # a spatial linkage without parameters: by its start
        found = both(mech, objective, [f"{mech.v_names[0]}.v"], **given)
        start = ks.simulate(mech, 1e-3, method="rk4").v[0]

        def of(speed):
            return value(ks.simulate(mech, given["duration"], method="rk4", v0={mech.v_names[0]: speed}))

        np.testing.assert_allclose(found.gradient, [differences(of, start[0], 1e-2)], rtol=1e-6)
        return
    found = both(mech, objective, names, **given)
    expected = by_runs(mech, value, names, method="rk4", **given)
    np.testing.assert_allclose(found.gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit_euler", "rk32", "rk54"])
def test_other_methods(integrator):
    mech = ks.Mechanism(example("damped_pendulum"))
    names, joint = mech.p_names[:3], mech.v_names[0]
    options = {"q0": {joint: 0.4}, "rtol": 1e-10, "atol": 1e-12}
    fixed = {"step": 1e-3} if "euler" in integrator else {}
    found = both(mech, f"at({joint}.q, end)", names, duration=0.4, integrator=integrator, **options, **fixed)
    expected = by_runs(mech, lambda r: r[f"{joint}.q"][-1], names, method=integrator, **options, **fixed)
    np.testing.assert_allclose(found.gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_channels_over_time():
    """`Run.derivatives` at samples and between them, of components, by parameters and start values."""
    mech = ks.Mechanism(example("ur5"))
    p = mech.parameter_values()
    names = ["a2", "d1", "joint2.q", "joint3.v"]
    times = [0.0, 0.1, 0.20037, 0.3]
    run = ks.simulate(mech, 0.3, method="rk4", q0=[0, -1, 1, 0, 0, 0])
    found = run.derivatives(["tool.position", "energy.total"], names, at=times)
    assert found.shape == (4, 4, 4)
    for k, name in enumerate(names):

        def seen(x, name=name):
            q, v, given = np.array([0, -1.0, 1, 0, 0, 0]), np.zeros(6), dict(zip(mech.p_names, p, strict=True))
            if name == "joint2.q":
                q[1] += x
            elif name == "joint3.v":
                v[2] += x
            else:
                given[name] += x
            other = ks.simulate(mech, 0.3, method="rk4", q0=q, v0=v, parameters=given)
            return np.concatenate([other["tool.position"], other["energy.total"][:, None]], axis=1)[[0, 100, 300]]

        expected = differences(seen, 0.0, 1e-3)
        np.testing.assert_allclose(found[[0, 1, 3], :, k], expected, rtol=1e-6, atol=1e-7 * np.abs(found).max())
    # between samples: what lies next to it goes there
    around = run.derivatives("tool.position", names, at=[0.2, 0.20037, 0.201])
    assert (np.abs(around[1] - around[0]) <= np.abs(around[2] - around[0]) + 1e-9).all()
    np.testing.assert_allclose(run.derivatives("tool.position", ["d1"])[0, :, 0], [0.0, 0.0, 1.0], atol=1e-12)


def test_forces_of_what_holds():
    """Reactions follow from multipliers; those that redundancy leaves open are refused."""
    mech = ks.Mechanism(example("four_bar"))
    run = ks.simulate(mech, 0.2, method="rk4", q0={"crank_pin": 0.5})
    names = ["a", "b"]
    p = mech.parameter_values()
    found = run.derivatives("crank_pin.reaction.fx", names)[0, 0]
    expected = []
    for k, name in enumerate(names):

        def of(x, k=k):
            changed = p.copy()
            changed[k] = x
            other = ks.simulate(mech, 0.2, method="rk4", q0=run.q[0], v0=run.v[0], parameters=changed)
            return other["crank_pin.reaction.fx"][-1]

        assert mech.p_names[k] == name
        expected.append(differences(of, p[k], 1e-3 * p[k]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


REDUCTIONS = [
    ("max(x.q)", lambda x, t: x.max()),
    ("min(x.q)", lambda x, t: x.min()),
    ("span(x.q)", lambda x, t: x.max() - x.min()),
    ("softmax(x.q, 20)", lambda x, t: math.log(simpson(np.exp(20 * x), x=t) / t[-1]) / 20),
    ("2*at(x.q, 0.5)^2 + max(mean(x.q), -1)", lambda x, t: 2 * x[500] ** 2 + simpson(x, x=t) / t[-1]),
]


@pytest.mark.parametrize(("objective", "value"), REDUCTIONS)
def test_reductions(objective, value):
    mech = ks.Mechanism(cart(("m", 2.0), ("k", 40.0), stiffness="k"))
    found = both(mech, objective, ["k", "m"], duration=1.0, q0=[0.3], v0=[0.1])

    def of(run):
        return value(run["x.q"], run.time)

    assert found.value == pytest.approx(of(ks.simulate(mech, 1.0, method="rk4", q0=[0.3], v0=[0.1])), rel=1e-12)
    expected = by_runs(mech, of, ["k", "m"], duration=1.0, method="rk4", q0=[0.3], v0=[0.1], part=1e-4)
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-5)


BAD = [
    ({"objective": "x.q"}, "varies over time"),
    ({"objective": "at(y.q, end)"}, "no output 'y.q'"),
    ({"objective": "at(x.q, 7)"}, "no time 7 s"),
    ({"objective": "at(x.q"}, "ends where ')' was expected"),
    ({"objective": "mean(max(x.q))"}, "contains another reduction"),
    ({"objective": "softmax(x.q, 0)"}, "must be a number other than 0"),
    ({"by": ["k2"]}, "'k2'"),
    ({"by": []}, "No variables of differentiation are given"),
    ({"by": "m"}, "is a single string"),
    ({"method": "both"}, "is not a method"),
    ({"integrator": "radau"}, "cannot be differentiated"),
    ({"integrator": "nothing"}, "no method 'nothing'"),
    (
        {"torque": {"x": "-3*sign(x.v)"}, "v0": [1.0], "duration": 2.0, "integrator": "rk54"},
        "slides along a switching surface",
    ),
    ({"torque": {"x": "if((x.q - 1)^3 < 0, -1.5, -1)"}, "v0": [3.0], "duration": 2.5}, "only touches zero"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_what_has_no_derivative_is_said(change, said):
    options = {"objective": "at(x.q, end)", "by": ["m"], **change}
    model = cart(("m", 1.0))
    with pytest.raises(ks.KinetostatError) as found:
        ks.gradient(model, **options)
    assert said in str(found.value)


def test_stops_and_friction_are_named():
    with pytest.raises(ks.SimulationError, match="joint4 hit upper stop|joint4: hit upper stop") as found:
        ks.gradient(example("ur5"), "at(tool.position.z, end)", duration=1.0)
    assert found.value.time == pytest.approx(0.9438, abs=1e-3)
    with pytest.raises(ks.ModelError, match="joint1"):
        ks.gradient(example("puma560"), "at(tool.position.z, end)")
    run = ks.simulate(example("ur5"), 1.0, method="rk4")
    assert np.isfinite(run.derivatives("tool.position", ["a2"], at=0.5)).all()
