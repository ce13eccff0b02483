"""Numbers of runs against closed forms: a body that falls freely, one on a spring; what is refused, and how."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetostat as ks
from core.simulation.measures.reductions import simpson_weights
from core.simulation.measures.run_measures import Measure, Measures, Requirement, Signals, unused_parameters

G, T = 9.81, 0.8
K, M, X0 = 40.0, 1.6, 0.3


@pytest.fixture(scope="module")
def fall():
    model = ks.Model(
        name="fall",
        world=ks.World(gravity=ks.Gravity(acceleration=(0.0, 0.0, -G))),
        parameters=(ks.Parameter(name="h", value=1.5, dimension="length"), ks.Parameter(name="idle", value=1.0)),
        bodies=(ks.Body(name="stone", mass=2.0),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
    )
    mech = ks.Mechanism(model)
    return mech, ks.simulate(mech, T, method="rk4", step=1e-3, output=0.01)


@pytest.fixture(scope="module")
def oscillator():
    model = ks.Model(
        name="oscillator",
        parameters=(
            ks.Parameter(name="k", value=K),
            ks.Parameter(name="c", value="2*k"),
            ks.Parameter(name="u", value=1),
        ),
        bodies=(ks.Body(name="m", mass=M),),
        joints=(ks.Joint(name="x", kind="prismatic", parent="world", child="m", axis=(1.0, 0.0, 0.0)),),
        forces=(ks.Force(name="spring", kind="joint", joint="x", law="0.5*c*x"),),
    )
    mech = ks.Mechanism(model)
    omega = math.sqrt(K / M)
    period = 2.0 * math.pi / omega
    return mech, ks.simulate(mech, period, rtol=1e-11, atol=1e-12, q0={"x": X0}, output=period / 400.0), omega


FALLING = {
    "at(z.q, end)": -G * T**2 / 2.0,
    "at(z.q, 0.123456 s)": -G * 0.123456**2 / 2.0,
    "at(z.q, end/2)": -G * T**2 / 8.0,
    "at(z.v, start)": 0.0,
    "integral(z.q)": -G * T**3 / 6.0,
    "mean(z.v)": -G * T / 2.0,
    "rms(z.v)": G * T / math.sqrt(3.0),
    "span(z.q)": G * T**2 / 2.0,
    "min(z.q)": -G * T**2 / 2.0,
    "max(z.q)": 0.0,
    "max(abs(z.q + h))": G * T**2 / 2.0 - 1.5,
    "max(mean(z.v), -1)": -1.0,
    "rms(z.v - mean(z.v))": G * T / math.sqrt(12.0),
    "at(energy.kinetic, end)": 2.0 * (G * T) ** 2 / 2.0,
    "sqrt(2*integral(-z.v)/9.81)": T,
    "h*3": 4.5,
}


@pytest.mark.parametrize("text", FALLING)
def test_numbers_of_a_free_fall(fall, text):
    mech, run = fall
    assert Measure(mech, text).value(run) == pytest.approx(FALLING[text], abs=1e-12, rel=1e-12)


def test_numbers_of_an_oscillator(oscillator):
    mech, run, omega = oscillator
    values = Measures(
        mech,
        {"rms": "rms(x.q)", "work": "integral(abs(x.v))", "worst": "max(abs(x.v))", "tip": "at(m.position, end/4)"},
    ).values(run)
    assert values["rms"] == pytest.approx(X0 / math.sqrt(2.0), rel=1e-9)
    assert values["work"] == pytest.approx(4.0 * X0, rel=1e-6)
    assert values["worst"] == pytest.approx(X0 * omega, rel=1e-9)
    assert [values[f"tip.{part}"] for part in "xyz"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-8)


UNITS = {
    "max(z.v)": "m/s",
    "integral(z.v)": "m",
    "integral(z.tau*z.v)": "N·m",
    "rms(z.tau)": "N",
    "mean(z.v^2)": "m²·s⁻²",
    "sqrt(mean(z.v^2))": "m/s",
    "max(z.q)/h": "",
    "max(z.q > 0)": "",
    "2*max(z.a)": "m/s²",
    "max(energy.total)": "J",
}


@pytest.mark.parametrize("text", UNITS)
def test_units(fall, text):
    assert Measure(fall[0], text).unit == UNITS[text]


REFUSED = {
    "max(zz.v)": r"'zz.v', in column 5 of .*Did you mean",
    "at(z.q, end) + stonne.position.x": r"'stonne.position.x', in column 16",
    "z.v": r"is a curve over time.*at\(z.v, end\)",
    "max(z.v) + z.v": "'z.v' is a curve over time",
    "max(stone.position)": r"several components.*stone.position.x",
    "max(z.v + z.q)": r"velocity \(m/s\) is combined with length \(m\)",
    "max(sin(z.q))": "where a pure number is expected",
    "at(z.v, z.q)": r"'z.v' is|length \(m\)|curve over time",
    "max(z.v, 1, 2)": r"Write max",
    "median(z.v)": "not a function.*rms",
    "max(z.v": "the formula ends",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_formula_cannot_mean_is_refused_with_its_place(fall, text):
    with pytest.raises(ks.KinetostatError, match=REFUSED[text]):
        Measure(fall[0], text)


def test_a_wanted_dimension_is_checked(fall):
    assert Measure(fall[0], "max(z.q)", "length").unit == "m"
    with pytest.raises(ks.ExpressionError, match=r"is in m/s, not in m"):
        Measure(fall[0], "max(z.v)", "length")


def test_a_time_outside_the_run_is_refused(fall):
    mech, run = fall
    with pytest.raises(ks.ModelError, match=r"goes from 0 s to 0.8 s"):
        Measure(mech, "at(z.q, 3 s)").value(run)


def test_what_cannot_change_is_found(fall, oscillator):
    falling, swinging = Signals(fall[0]), Signals(oscillator[0])
    assert "no channel" in Measure(falling, "3*h").constant_reason()
    assert not Measure(falling, "3*h").constant_reason(["h"])
    assert "time alone" in Measure(falling, "max(t)").constant_reason(["h"])
    assert "none of the varied parameters (h, idle)" in Measure(falling, "max(z.q)").constant_reason(["h", "idle"])
    assert not Measure(swinging, "max(x.q)").constant_reason(["u", "k"])
    assert unused_parameters(oscillator[0].model, ["u", "k", "c"]) == ("u",)


def test_requirements_have_margins(fall):
    mech, run = fall
    held = Requirement(mech, "min(z.q) > -4 m")
    assert held.margin(run) == pytest.approx(4.0 - G * T**2 / 2.0)
    assert held.unit == "m"
    assert Requirement(mech, "max(abs(z.v)) <= 5").margin(run) == pytest.approx(5.0 - G * T)
    with pytest.raises(ks.ExpressionError, match="is not a comparison"):
        Requirement(mech, "max(z.q)")


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12), st.data())
def test_weights_integrate_parabolas_exactly(lengths, data):
    time = np.concatenate([[0.0], np.cumsum(lengths)])
    degree = min(len(lengths), 2)
    integral = simpson_weights(time) @ time**degree
    assert integral == pytest.approx(time[-1] ** (degree + 1) / (degree + 1), rel=1e-9)


def test_weights_do_not_smear_changes():
    time = np.array([0.0, 0.5, 1.0, 1.0, 1.25, 2.0])
    jump = np.where(np.arange(6) < 3, 1.0, 5.0)
    assert simpson_weights(time) @ jump == pytest.approx(6.0, rel=1e-14)
