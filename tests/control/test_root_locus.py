"""Paths of poles beside closed forms, and beside a linearisation at each value."""

import numpy as np
import pytest

import kinetostat as ks
from core.functions import catalogue
from core.functions.context import Context
from tests.functions.consistent_states import model_of


def leaning(damping=0.3):
    """A mass of 2 kg on a light bar of 0.5 m, upright, on a spring of stiffness k."""
    return ks.Model(
        parameters=(ks.Parameter(name="k", value=5.0), ks.Parameter(name="l", value=0.5, dimension="length")),
        bodies=(ks.Body(name="bar", mass=2.0, center_of_mass=(0, 0, "l")),),
        joints=(ks.Joint(name="foot", parent="world", child="bar", axis=(0, 1, 0), stiffness="k", damping=damping),),
    )


def test_a_leaning_mass_stands_from_m_g_l_on():
    """m l² s² + d s + k − m g l = 0."""
    k = np.linspace(2.0, 20.0, 37)
    found = ks.root_locus(leaning(), "k", k)
    for value, row in zip(k, found.poles, strict=True):
        assert np.sort_complex(row) == pytest.approx(np.sort_complex(np.roots([0.5, 0.3, value - 9.81])), abs=1e-9)
    ((value, rate, lost),) = found.crossings
    assert value == pytest.approx(9.81, rel=1e-8)
    assert (rate, lost) == (0.0, False)


def test_the_poles_follow_static_equilibrium():
    """Past its limit the mass leans: k θ = m g l sin θ, and stands there with k − m g l cos θ."""
    k = np.linspace(9.5, 7.0, 11)
    start = ks.root_locus(leaning(), "k", k, q=[0.3], follow="equilibrium")
    theta = start.q[:, 0]
    assert k * theta == pytest.approx(9.81 * np.sin(theta), abs=1e-8)
    assert (theta > 0.1).all()
    for value, angle, row in zip(k, theta, start.poles, strict=True):
        wanted = np.roots([0.5, 0.3, value - 9.81 * np.cos(angle)])
        assert np.sort_complex(row) == pytest.approx(np.sort_complex(wanted), abs=1e-7)


def test_a_length_runs_too():
    found = ks.root_locus(leaning(0.0), "l", [0.1, 0.2, 0.4])
    for value, row in zip([0.1, 0.2, 0.4], found.poles, strict=True):
        square = 9.81 / value - 5.0 / (2.0 * value**2)
        assert np.sort(np.abs(row)) == pytest.approx(np.sqrt(abs(square)) * np.ones(2), rel=1e-9)


def test_evans_example_of_a_gain():
    """1 / (s (s + 1) (s + 2)) fed back: unstable from k = 6 on, with ω = √2 (Routh)."""
    control = pytest.importorskip("control")
    system = ks.LinearSystem.from_control(control.ss(control.tf([1.0], [1.0, 3.0, 2.0, 0.0])))
    gains = np.linspace(0.0, 10.0, 401)
    found = ks.root_locus(system, values=gains)
    for k, row in zip(gains, found.poles, strict=True):
        assert np.sort_complex(row) == pytest.approx(np.sort_complex(np.roots([1.0, 3.0, 2.0, k])), abs=1e-6)
    ((value, rate, lost),) = found.crossings
    assert (value, rate) == (pytest.approx(6.0, rel=1e-7), pytest.approx(np.sqrt(2.0), rel=1e-7))
    assert lost
    assert (np.abs(np.diff(found.poles, axis=0)) < 0.3).all(), "each column is one path"


def test_what_is_fed_through_counts():
    control = pytest.importorskip("control")
    theirs = control.ss([[-1.0, 2.0], [0.5, -3.0]], [[1.0], [0.3]], [[0.2, 1.0]], [[0.4]])
    found = ks.root_locus(ks.LinearSystem.from_control(theirs), values=[0.7])
    wanted = control.feedback(theirs, 0.7).poles()
    assert np.sort_complex(found.poles[0]) == pytest.approx(np.sort_complex(wanted), abs=1e-12)
    with pytest.raises(ks.ModelError, match="algebraic loop"):
        ks.root_locus(ks.LinearSystem.from_control(theirs), values=[-2.5])


@pytest.mark.parametrize(
    "name", ["rods", "gears", "drivers", "four_bar", "slider_crank", "flyball_governor", "stewart"]
)
def test_at_each_pose_of_a_loop_they_are_those_of_its_linearisation(name):
    model = model_of(name)
    mech = ks.Mechanism(model)
    runs = next(iter(mech.p_names), None) or mech.v_names[0]
    value = model.values()[runs] if runs in mech.p_names else mech.rest()[0]
    found = ks.root_locus(mech, runs, [value])
    wanted = ks.linearise(mech).poles
    assert np.sort_complex(found.poles[0]) == pytest.approx(
        np.sort_complex(wanted), abs=1e-6 * np.abs(wanted).max(initial=1)
    )


def test_the_card_says_what_the_call_gives():
    context = Context.of(leaning())
    report = catalogue.call("root_locus", context, ranges=[("k", 2.0, 20.0, 36)])
    assert "At k = 9.81" in report.parts[0].text
    assert "becomes stable" in report.parts[0].text
    found = ks.root_locus(leaning(), "k", np.linspace(2.0, 20.0, 37))
    for curve, column in zip(report.parts[2].series, found.poles.T, strict=True):
        assert curve.up == pytest.approx(column.real)


def test_without_a_range_a_proportional_feedback_runs():
    """m l² s² + d s + K − m g l + k = 0 with the joint's own spring K = 5."""
    report = catalogue.call("root_locus", Context.of(leaning()))
    assert "At k (foot.q → foot.tau) = 4.81 a pole becomes stable." in report.parts[0].text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"inputs": ["foot.tau", "l"]}, "exactly one output to one input"),
        ({"ranges": [("k", 0.0, 1.0, 2), ("l", 0.1, 1.0, 2)]}, "Only one parameter or coordinate"),
        ({"inputs": ["foot.tau"], "outputs": ["nothing.q"]}, "nothing"),
        ({"inputs": ["l"], "outputs": ["time"]}, "time|does not move"),
    ],
)
def test_bad_questions_are_answered_by_name(given, words):
    with pytest.raises(ks.KinetostatError, match=words):
        catalogue.call("root_locus", Context.of(leaning()), **given)


def test_unknown_names_are_told():
    with pytest.raises(ks.ModelError, match="no parameter or coordinate 'kk'"):
        ks.root_locus(leaning(), "kk", [1.0])
