"""Linear systems, feedback and trim as people call them: from the catalogue, from the command line."""

from dataclasses import replace

import numpy as np
import pytest

from app.cli.main import cli
from core.control.linear_system import LinearSystem
from core.errors import ModelError
from core.files import load, save
from core.functions import Context, call
from core.functions.diagrams import Diagram
from core.functions.results import Matrix, Message, PoseSequence, Table, leaf_results
from core.model import Parameter
from core.simulation import simulate
from resources import EXAMPLES
from tests.control.machines import cart_pole


@pytest.fixture
def model():
    return cart_pole(1.2, 0.3, 0.4, 0.012, 9.81, 0.15)


def parts(result, kind):
    return [part for part in leaf_results(result) if isinstance(part, kind)]


def test_a_linear_system_has_matrices_poles_zeros_and_responses(model, tmp_path):
    file = tmp_path / "cart.npz"
    found = call("linear_system", model, inputs="x.tau", outputs="th, x.q", file=str(file))
    matrices = {each.title: np.array(each.entries) for each in parts(found, Matrix)}
    again = LinearSystem.from_npz(file)
    for name in "ABCD":
        np.testing.assert_allclose(matrices[name], getattr(again, name), atol=1e-12)
    titles = [each.title for each in parts(found, Diagram)]
    assert titles == ["Poles and zeros", "Bode: gain", "Bode: phase", "Step response"]
    assert len(parts(found, PoseSequence)) == 4
    poles = next(each for each in parts(found, Table) if each.title == "Poles and zeros")
    np.testing.assert_allclose(sorted(poles.column("Re [1/s]")), sorted(again.poles.real), atol=1e-9)
    assert parts(found, Message)[0].severity == "done"


def test_formulas_with_commas_are_one_output(model):
    found = call("linear_system", model, outputs="atan2(tip.position.x, tip.position.z), th")
    C = next(each for each in parts(found, Matrix) if each.title == "C")
    assert C.rows == ("atan2(tip.position.x, tip.position.z)", "th")
    np.testing.assert_allclose(C.entries[0], [1.0 / 0.8, 1.0, 0.0, 0.0], atol=1e-12)


def test_a_pose_that_is_no_operating_point_is_told(model):
    context = Context.of(model)
    tilted = Context(model, context.mech, np.array([0.0, 0.3]), context.p)
    said = parts(call("linear_system", tilted), Message)[0]
    assert said.severity == "hint"
    assert "not an operating point" in said.text
    assert "th.v" in said.text


def test_feedback_as_a_file_holds_the_pole_up(model, tmp_path):
    file = tmp_path / "held.kst"
    call("lqr", model, inputs="x.tau", states={"x.q": 10.0, "th": 100.0}, efforts="x.tau=0.1", file=str(file))
    run = simulate(load(file), duration=6.0, q0=[0.0, 0.2])
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-2)
    gains = next(each for each in parts(call("lqr", model), Matrix) if each.title == "Gains")
    assert gains.rows == ("x.tau", "th.tau")


def test_trim_from_the_command_line(model, tmp_path, capsys):
    file = tmp_path / "cart.kst"
    save(model, file)
    line = ["trim", str(file), "--fixed", "x.a=2.5", "--fixed", "x.q=0", "--free", "x.tau"]
    assert cli(line) == 0
    assert "3.75" in capsys.readouterr().out  # (M + m) a
    tilted = ["trim", str(file), "--fixed", "th=20 deg", "--free", "x.tau", "--fixed", "x.q=0"]
    for command in (tilted, [*tilted, "--json"], [*tilted, "-o", str(tmp_path / "point.txt")]):
        assert cli(command) == 1  # scripts see it, and the nearest point is there all the same
        out, error = capsys.readouterr()
        assert error.startswith("Error: One input too few: nothing balances th.q. Free one of")
        assert ("One input too few" in out) is ("--json" in command)
    assert "One input too few" in (tmp_path / "point.txt").read_text()
    assert cli([*line[:-1], "x.tau=-1:1"]) == 1
    out, error = capsys.readouterr()
    assert "Active bounds: x.tau" in error
    assert "The nearest point" in out
    assert cli(["trim", str(file), "--free", "x.tua"]) != 0
    assert "x.tau" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fixed": {"th": 0.1}, "target": {"th": 0.2}}, "has two requirements"),
        ({"fixed": "th"}, "name=value"),
        ({"free": "x.tau=1"}, "bounds"),
        ({"fixed": {"th": "much"}}, "much"),
    ],
)
def test_trim_refuses_what_it_cannot_read(model, options, words):
    with pytest.raises(ModelError, match=words):
        call("trim", model, **options)


def test_derivatives_of_a_run_are_those_of_the_run_itself(model):
    """Curves, what matters most, and the gradient of a scalar; against runs with other parameters."""
    heavier = replace(
        model,
        parameters=(*model.parameters, Parameter(name="mass", value=1.2)),
        bodies=tuple(replace(body, mass="mass") if body.name == "cart" else body for body in model.bodies),
    )
    context = Context(heavier, Context.of(heavier).mech, np.array([0.0, 0.3]), {})
    given = {"outputs": "x.q, tip.position.z", "by": "mass, th.q", "objective": "at(x.q, end)", "duration": 0.6}
    found = call("run_derivatives", context, **given)
    most, of_goal = parts(found, Table)
    ends = {(row[0], row[3]): row[4] for row in most.rows}
    h = 1e-3

    def at(mass, angle):
        run = simulate(heavier, 0.6, rtol=1e-11, atol=1e-12, q0=[0.0, angle], parameters={"mass": mass})
        return np.array([run["x.q"][-1], run["tip.position"][-1, 2]])

    by_mass = (8 * (at(1.2 + h, 0.3) - at(1.2 - h, 0.3)) - (at(1.2 + 2 * h, 0.3) - at(1.2 - 2 * h, 0.3))) / (12 * h)
    by_angle = (8 * (at(1.2, 0.3 + h) - at(1.2, 0.3 - h)) - (at(1.2, 0.3 + 2 * h) - at(1.2, 0.3 - 2 * h))) / (12 * h)
    for k, output in enumerate(("x.q", "tip.position.z")):
        assert ends[output, "mass"] == pytest.approx(by_mass[k], rel=1e-5)
        assert ends[output, "th.q"] == pytest.approx(by_angle[k], rel=1e-5)
    assert dict(zip(of_goal.column("With respect to"), of_goal.column("Derivative"), strict=True)) == pytest.approx(
        {"mass": ends["x.q", "mass"], "th.q": ends["x.q", "th.q"]}
    )
    curve = next(each for each in parts(found, Diagram) if each.title == "∂ x.q")
    assert curve.series[0].up[-1] == ends["x.q", "mass"]
    assert curve.series[1].up[0] == 0.0


def test_derivatives_end_where_a_stop_acts_and_say_so():
    found = call("run_derivatives", load(EXAMPLES / "ur5.kst"), duration=1.0, by="a2")
    assert "hit upper stop" in parts(found, Message)[0].text
    curve = parts(found, Diagram)[0].series[0]
    assert 0.9 < curve.across[-1] < 0.95
    with pytest.raises(ModelError, match="nothing"):
        call("run_derivatives", load(EXAMPLES / "ur5.kst"), by="nothing")
