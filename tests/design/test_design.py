"""Designs of machines: closed forms, references, and solvers among each other."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from core.design.design import Design
from core.design.path_synthesis import four_bar_coupler_curve
from core.design.target_curves import target
from core.errors import ExpressionError, ModelError
from core.files import load, loads
from core.mechanism import Mechanism
from core.model.edits import edits
from resources import EXAMPLES

PENDULUM = """
kinetostat: 1
name: pendulum
world: {gravity: [0, 0, -9.81]}
parameters:
  k: {value: 1.0, minimum: 0.1, maximum: 20}
  useless: {value: 1.0, minimum: 0.1, maximum: 20}
bodies:
  rod: {mass: 1.0, center_of_mass: [0, 0, -0.112130479], inertia: {ixx: 0.1, iyy: 0.1074267557, izz: 0.1}}
joints:
  pin: {kind: revolute, parent: world, child: rod, axis: [0, 1, 0], stiffness: k}
"""


@pytest.fixture(scope="module")
def four_bar():
    return load(EXAMPLES / "four_bar.kst")


def test_spring_for_a_period_of_small_swings():
    """The reference opt_spring_for_period: T = 2 π √(J/(k + m g l))."""
    path = Path(__file__).parents[1] / "reference" / "opt_spring_for_period.json"
    given = json.loads(path.read_text())
    J, mgl = given["parameters"]["J"], given["parameters"]["m_g_l"]
    c = mgl / 9.81
    text = PENDULUM.replace("0.112130479", repr(c)).replace("0.1074267557", repr(J - c * c))
    design = Design(loads(text)).vary("k").minimise("(mode[1].period - 1.0)^2")
    best = design.solve(starts=2)
    assert best.best.parameters["k"] == pytest.approx(given["reference"]["k_small"], rel=1e-4)
    assert design.apply(best).values()["k"] == best.best.parameters["k"]
    assert "by differences" in best.slopes


def test_a_fit_finds_the_lengths_again_with_exact_slopes(four_bar):
    design = Design(four_bar).vary("a", "b", "c", "d")
    from core.mechanism import Mechanism

    mech = Mechanism(four_bar)
    theta = 2.0 * np.pi * np.arange(48) / 48
    truth = {"a": 0.11, "b": 0.33, "c": 0.27, "d": 0.31}
    q, points = mech.rest(truth), []
    for angle in theta:
        q = mech.move(q, {"crank_pin": angle}, p=truth)
        points.append(mech.frame(q, "coupler_point", p=truth)[[0, 2], 3])
    design.fit("coupler_point", target(points, timed=True), "crank_pin")
    best = design.solve(starts=3)
    assert best.solver == "least_squares"
    assert best.slopes == "exact"
    assert best.best.parameters == pytest.approx(truth, abs=1e-9)
    assert not best.alike


def test_solvers_agree_on_a_constrained_optimum(four_bar):
    """Least swing of the rocker's pin, given a swing of the point."""

    def design():
        found = Design(four_bar).vary("c", "d").sweep("crank_pin", count=48)
        return found.minimise("span(rocker_pin.q)").require("c + d < 0.6", "d > 0.3")

    by_sqp = design().solve(starts=2, solver="SLSQP")
    by_ipopt = design().solve(starts=2, solver="IPOPT")
    assert by_sqp.best.state == by_ipopt.best.state == "found"
    assert by_ipopt.best.value == pytest.approx(by_sqp.best.value, rel=1e-5)
    assert by_sqp.best.parameters["c"] + by_sqp.best.parameters["d"] < 0.6 + 1e-6


def test_values_of_a_sweep_are_those_of_the_closed_form(four_bar):
    design = Design(four_bar).vary("a").sweep("crank_pin", count=64).minimise("span(coupler_point.position.z)")
    value = design.problem(lambda *_: None).value(np.array([(0.1 - 0.05) / 0.09]))
    values = four_bar.values()
    shape = {name: values[name] for name in "abcd"} | {"px": values["b"] / 2, "py": 0.08}
    z = four_bar_coupler_curve(shape, np.linspace(0.0, 2.0 * np.pi, 64), 1.0)[:, 1]
    assert value == pytest.approx(np.ptp(z), abs=1e-12)


def test_the_same_seed_gives_the_same_table(four_bar):
    def table():
        design = Design(four_bar).vary("a", "d").sweep("crank_pin", count=24)
        return design.minimise("rms(coupler_point.position.z - 0.3)").solve(starts=3, seed=5).table

    for one, other in zip(table(), table(), strict=True):  # to rounding: first values come from another evaluator
        assert (one.number, one.state, one.at_bounds) == (other.number, other.state, other.at_bounds)
        assert one.value == pytest.approx(other.value, rel=1e-7)
        assert one.parameters == pytest.approx(other.parameters, rel=1e-5)


def test_a_search_that_is_stopped_keeps_the_best(four_bar):
    heard = []
    design = Design(four_bar).vary("a", "d").sweep("crank_pin", count=24).minimise("span(rocker_pin.q)")
    best = design.solve(starts=5, cancelled=lambda: len(heard) > 2, watch=lambda *each: heard.append(each))
    assert best.best.state == "stopped"
    assert best.best.value == min(value for _, _, value in heard)


def test_a_loop_that_cannot_close_is_a_graded_value_not_an_error(four_bar):
    design = Design(four_bar).vary(d=(0.1, 3.0)).sweep("crank_pin", count=24).minimise("span(rocker_pin.q)")
    problem = design.problem(lambda *_: None)
    far, farther = problem.value(np.array([0.6])), problem.value(np.array([0.9]))
    assert 1e2 < far < farther


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("rms(couplr_point.position.x)", "coupler_point"),
        ("rms(coupler_point.position)", "several components"),
        ("max(crank_pin.v)", "needs speeds"),
        ("rms(crank_pin.q", "Expected|expected|ends|missing"),
        ("rms(coupler_point.position.z) + crank_pin.q", "crank_pin.q"),
        ("rms(coupler_point.position.z) + max(rocker_pin.q)*a + max(rocker_pin.q)", "metre|length|angle|rad"),
        ("rms(crank_pin.q)", "None of the varied"),
        ("mode[7].frequency", "no mode 7"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_start(four_bar, formula, says):
    with pytest.raises((ModelError, ExpressionError), match=says):
        Design(four_bar).vary("a").sweep("crank_pin", count=12).minimise(formula).solve(starts=1)


def test_bad_questions_are_refused(four_bar):
    with pytest.raises(ModelError, match="no free parameter 'aa'"):
        Design(four_bar).vary("aa")
    with pytest.raises(ModelError, match="lower bound"):
        Design(four_bar).vary(a=(1.0, 0.0))
    with pytest.raises(ModelError, match="No parameter"):
        Design(four_bar).minimise("a*1").solve()
    with pytest.raises(ExpressionError, match="is not a comparison"):
        Design(four_bar).require("a + b")
    with pytest.raises(ModelError, match="no solver"):
        Design(four_bar).vary("a").minimise("a*1").solve(solver="IPOTT")


def test_a_start_that_comes_to_no_number_is_a_row_and_others_go_on(four_bar):
    """sqrt(a - 0.1) is none where a is less; the present machine's is not either, and (a - 0.11) = 0 is found."""
    below = edits.change(four_bar, "parameters", "a", value=0.08)
    best = Design(below).vary(a=(0.05, 0.2)).minimise("(sqrt(a - 0.1 m) - 0.1)^2").solve(starts=6)
    assert best.best.parameters["a"] == pytest.approx(0.11, abs=1e-6)
    first = next(row for row in best.table if row.number == 0)
    assert (first.state, first.parameters["a"]) == ("failed", pytest.approx(0.08))
    assert "'(sqrt(a - 0.1 m) - 0.1)^2' has no finite value" in first.message
    for row in best.table:  # a start that goes there keeps what it came to before
        if row.number and row.parameters["a"] > 0.1:
            assert row.state != "failed"
    with pytest.raises(ModelError, match="No starting point gave a result. First failure: .*no finite value"):
        Design(below).vary(a=(0.05, 0.09)).minimise("(sqrt(a - 0.1 m) - 0.1)^2").solve(starts=3)


def test_where_no_point_is_feasible_the_least_violating_one_is_shown_with_what_conflicts():
    """k ≥ 5, u ≥ 3 k, u ≤ 6: all are missed where the sum of squares of what they lack is least, linear least
    squares."""
    design = Design(loads(PENDULUM)).vary("k", "useless").minimise("k*1")
    best = design.require("k > 5", "useless > 3*k", "useless < 6", "k > 0.2").solve(starts=3)
    A, limits = np.array([[1.0, 0.0], [-3.0, 1.0], [0.0, -1.0]]), np.array([5.0, 0.0, -6.0])
    least = np.linalg.lstsq(A, limits, rcond=None)[0]  # each of the three is missed there
    assert (A @ least < limits).all()
    assert [best.best.parameters[name] for name in ("k", "useless")] == pytest.approx(least, rel=1e-6)
    assert best.best.lacking == pytest.approx(np.linalg.norm(A @ least - limits), rel=1e-6)
    assert best.best.violated_requirements_text.endswith("the best one misses: k > 5; useless > 3*k; useless < 6.")


def test_an_infeasible_start_is_brought_to_where_requirements_hold_first(four_bar):
    """A solver that is given too few steps to get there by itself begins again where they are met."""
    design = Design(four_bar).vary(a=(0.05, 0.2), b=(0.1, 0.5)).minimise("(a - 0.06 m)^2 + (b - 0.15 m)^2")
    best = design.require("a > 0.18 m", "b > 0.4 m").solve(starts=1, solver="SLSQP", iterations=1)
    assert best.best.state == "found"
    assert best.best.parameters["a"] >= 0.18 - 1e-6
    assert best.best.parameters["b"] >= 0.4 - 1e-6


@pytest.mark.parametrize("solver", ["SLSQP", "trust-constr", "IPOPT", "differential_evolution"])
def test_stop_is_heard_where_nothing_is_feasible_and_the_least_violating_point_kept(four_bar, solver):
    design = Design(four_bar).vary("c", "d").sweep("crank_pin", count=24).minimise("span(rocker_pin.q)")
    design.require("c + d < 0.1 m", "d > 0.3 m")
    asked = []

    def enough():
        asked.append(0)
        return len(asked) > 40

    best = design.solve(starts=1000, solver=solver, cancelled=enough)
    assert len(asked) == 41  # and not once more
    assert best.best.state == "requirements missed"
    assert "c + d < 0.1 m" in best.best.missed
    values = best.best.parameters
    short = [max(values["c"] + values["d"] - 0.1, 0.0), max(0.3 - values["d"], 0.0)]
    assert best.best.lacking == pytest.approx(np.linalg.norm(short), rel=1e-9)


def test_runs_that_take_too_long_are_given_up_and_stop_is_heard_in_them(monkeypatch):
    design = Design(loads(PENDULUM)).vary("k").run(duration=1e6, method="rk4", step=1e-3).minimise("max(pin.q)")
    began = time.monotonic()
    with pytest.raises(ModelError, match="No starting point gave a result"):
        design.solve(starts=3, cancelled=lambda: time.monotonic() - began > 0.3)
    assert time.monotonic() - began < 60.0  # of a run that takes minutes
    monkeypatch.setattr("core.design.design.LONGEST_RUN", 0.2)
    with pytest.raises(
        ModelError, match=r"First failure: .*aborted after 0.2 s of computing time, at t = .* Shorten the run"
    ):
        design.solve(starts=1)


def test_a_bound_at_which_the_search_ended_is_named(four_bar):
    best = Design(four_bar).vary(a=(0.06, 0.14)).minimise("a*1").solve(starts=2)
    assert best.best.parameters["a"] == pytest.approx(0.06, abs=1e-8)
    assert best.best.at_bounds == ("a",)


def test_wrong_slopes_are_found_out_and_differences_used(four_bar, monkeypatch):
    from core.design.swept import SweptPoint

    def design():
        turn = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        points = np.column_stack([0.1 * np.cos(turn), 0.3 + 0.05 * np.sin(turn)])
        return Design(four_bar).vary("a", "c").fit("coupler_point", target(points, timed=True), "crank_pin")

    right = design().solve(starts=1)
    assert right.slopes == "exact"
    own = SweptPoint.compute_slopes
    monkeypatch.setattr(SweptPoint, "compute_slopes", lambda *given: _spoilt(own(*given)))
    found = design().solve(starts=1)
    assert found.slopes == "by differences"
    assert "exact derivatives differ" in found.reason
    assert found.best.value == pytest.approx(right.best.value, rel=1e-6)


def _spoilt(found):
    return found._replace(slopes=1.01 * found.slopes)


def test_steps_are_searched_without_gradients(four_bar):
    best = Design(four_bar).vary("a").minimise("floor(a*100)").solve(starts=1, iterations=5)
    assert best.solver == "differential_evolution"
    assert best.best.value == 5.0


def test_functions_and_motions_of_a_four_bar_are_generated(four_bar):
    """Lengths are found again from the rocker's angle, or from poses of the coupler, of a machine that has them."""
    from core.mechanism import Mechanism

    mech, truth = Mechanism(four_bar), {"a": 0.11, "b": 0.33, "c": 0.27, "d": 0.31}
    turn, q, angles, poses = np.linspace(0.2, 5.2, 12), mech.rest(truth), [], []
    for angle in turn:
        q = mech.move(q, {"crank_pin": angle}, p=truth, exact=True)
        angles.append(q[mech.joint_q("rocker_pin")][0])
        X = mech.frame(q, "coupler_point", p=truth)
        poses.append([angle, X[0, 3], X[2, 3], np.arctan2(X[2, 0], X[0, 0])])
    ratios = {name: truth[name] / truth["d"] for name in truth}
    by_function = (
        Design(four_bar).vary("a", "b", "c").generate("rocker_pin.q", np.column_stack([turn, angles]), "crank_pin")
    )
    found = by_function.solve(starts=2).best.parameters
    ground = four_bar.values()["d"]  # angles tell ratios of lengths
    assert {name: found[name] / ground for name in found} == pytest.approx({n: ratios[n] for n in found}, abs=1e-6)
    by_motion = Design(four_bar).vary("a", "b", "c", "d").guide("coupler_point", poses, "crank_pin")
    best = by_motion.solve(starts=2)
    assert best.solver == "least_squares"
    assert best.best.parameters == pytest.approx(truth, abs=1e-7)


def test_bad_functions_and_motions_are_named(four_bar):
    design = Design(four_bar).vary("a")
    for act, words in (
        (lambda: design.generate("rocker_pn.q", [[0, 0], [1, 1]], "crank_pin"), "not a scalar channel"),
        (lambda: design.generate("rocker_pin.q", [[0, 0, 1]], "crank_pin"), "not rows of 2"),
        (lambda: design.generate("rocker_pin.q", [[0, 0], [1, 1]], "crank"), "no coordinate 'crank'"),
        (lambda: design.guide("couplr", [[0, 0, 0, 0]] * 2, "crank_pin"), "no frame 'couplr'"),
        (lambda: design.guide("coupler_point", [[0, 0, 0, 0]] * 2, "crank_pin", "uv"), "not a plane"),
    ):
        with pytest.raises(ModelError, match=words):
            act()


def test_times_of_a_closed_target_are_shares_of_the_turn_from_its_zero():
    """Points of the machine's own curve at crank angles 0.2 … 4.5 rad are met by the machine itself."""
    model = load(EXAMPLES / "four_bar.kst")
    mech = Mechanism(model)
    angles = np.linspace(0.2, 4.5, 25)
    points = [mech.frame(mech.move(mech.rest(), {"crank_pin": float(a)}), "coupler_point")[[0, 2], 3] for a in angles]
    curve = target(points, closed=True, times=angles / (2.0 * np.pi))
    found = Design(model).vary(a=(0.0999, 0.1001)).fit("coupler_point", curve, "crank_pin").solve(starts=1).best
    assert found.value < 1e-9
