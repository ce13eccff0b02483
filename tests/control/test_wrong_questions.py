"""Questions that make no sense are refused by name, with what to do: signals, units, weights, bounds, compilers."""

import os
from pathlib import Path

import pytest

import kinetostat as ks
from core.c_code import companions
from tests.control.machines import cart_pole

CART = cart_pole(1.0, 0.3, 0.4, 0.01, 9.81)


@pytest.fixture(scope="module")
def mech():
    return ks.Mechanism(CART)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"inputs": ["x.tua"]}, "no input 'x.tua'. Did you mean x.tau"),
        ({"outputs": ["x.qq"]}, "no output 'x.qq'. Did you mean x.q"),
        ({"outputs": ["2*thh.q + 1"]}, "no output 'thh.q'"),
        ({"outputs": ["2*+"]}, r"In '2\*\+' the formula ends"),
        ({"outputs": [3]}, "outputs: 3 is not a name"),
        ({"inputs": [None]}, "inputs: None is not a name"),
        ({"inputs": "x.tau"}, "inputs is a single string"),
        ({"coordinates": ["y"]}, "no speed 'y'"),
    ],
)
def test_signals_that_there_are_not(mech, asked, words):
    with pytest.raises(ks.KinetostatError, match=words):
        ks.linearise(mech, **asked)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda op: op["tip.position.w + 0*x.v"], "no output 'tip.position.w'"),
        (lambda op: op["x.q"].fixed("30 mm"), "'30 mm' is not a number"),
        (lambda op: op["x.tau"].free("a", 2), "'a' is not a number"),
        (lambda op: op["x.tau"].free(float("nan"), 2), "nan is not a number"),
        (lambda op: op["x.tau"].free(3, 2), "The lower bound 3 is above the upper bound 2"),
        (lambda op: op["x.q"].target(1.0, "much"), "'much' is not a number"),
        (lambda op: op["x.q"].target(1.0, -1.0), "The weight is not positive"),
    ],
)
def test_rows_that_cannot_be(mech, ask, words):
    with pytest.raises(ks.ModelError, match=words):
        ask(ks.OperatingPoint(mech))


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("x + th", r"length \(m\) is combined with angle \(rad\)"),
        ("tip.position.x - th.v", r"length \(m\) is combined with angular velocity \(rad/s\)"),
        ("max(x.v, x.a)", r"velocity \(m/s\) is combined with acceleration \(m/s²\)"),
        ("2*x.tau + energy.total", r"force \(N\) is combined with energy \(J\)"),
        ("sin(x)", r"'x' in 'sin\(x\)' is length \(m\), where a pure number is expected"),
    ],
)
def test_an_output_that_adds_what_measures_different_things_is_named_with_its_units(mech, formula, said):
    with pytest.raises(ks.ExpressionError, match=said) as caught:
        ks.linearise(mech, inputs=["x.tau"], outputs=["x.q", formula])
    assert caught.value.where == f"output '{formula}'"
    assert "divide by a value" in caught.value.remedy.lower()


def test_outputs_whose_terms_measure_the_same_have_its_unit(mech):
    """A bare number measures whatever it is added to; a radian is a pure number beside others."""
    formulas = ("x.q + 0.8 m*th", "2*x.v - tip.velocity.x", "x.tau*x.v", "x.q/1 m + th", "th + 0.1")
    system = ks.linearise(mech, inputs=["x.tau"], outputs=formulas)
    assert system.units.outputs == ("m", "m/s", "W", "", "rad")


def test_weights_of_lqr_tell_with_which_units_their_sum_is_a_pure_number(mech):
    system = ks.linearise(mech, inputs=["x.tau"], coordinates=["x", "th"])
    found = ks.lqr(system, {"x.q": 10.0, "th.v": 2.0}, {"x.tau": 0.1})
    assert found.weights == (
        ("x.q", 10.0, "1/m²"),
        ("th.q", 0.0, "1/rad²"),
        ("x.v", 0.0, "1/(m/s)²"),
        ("th.v", 2.0, "1/(rad/s)²"),
        ("x.tau", 0.1, "1/N²"),
    )


def test_targets_that_compete_in_different_units_are_told(mech):
    """An angle at which the pole balances wants an acceleration of the cart: both targets are missed."""
    op = ks.OperatingPoint(mech)
    op["x.tau"].free()
    op["x.a"].target(0.0)
    op["th.q"].target(0.3)
    found = op.solve()
    assert found.solved
    assert "Targets in m/s² and rad compete" in found.summary_text
    alone = ks.OperatingPoint(mech)
    alone["x.tau"].free()
    assert "compete" not in alone.solve().summary_text


def test_a_unit_that_a_quantity_cannot_have_is_named():
    with pytest.raises(ks.ModelError, match="th.q: '3 mm' is a length; an angle is required here"):
        ks.call("trim", ks.Context.of(CART), fixed=["th.q=3 mm"])
    with pytest.raises(ks.ModelError, match="x.tau: '2 Nm' is a torque; a force is required here"):
        ks.call("trim", ks.Context.of(CART), free=["x.tau=0:2 Nm"])


def test_weights_of_the_wrong_sign_are_refused(mech):
    system = ks.linearise(mech, inputs=["x.tau"])
    with pytest.raises(ks.ModelError, match="Q is not positive semidefinite"):
        ks.lqr(system, {"x.q": -1.0})
    with pytest.raises(ks.ModelError, match="R is not positive definite"):
        ks.lqr(system, None, {"x.tau": 0.0})


def test_a_loop_without_dynamics_is_named(tmp_path):
    """A force that depends on the acceleration which it makes."""
    model = ks.Model(
        bodies=(ks.Body(name="b", mass=1.0),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="b", axis=(1, 0, 0)),),
        sensors=(ks.Sensor(name="acc", kind="acceleration", b="b"),),
        forces=(ks.Force(name="f", kind="joint", joint="z", law="-0.5*acc.x"),),
    )
    words = "force 'f', law: The value of sensor 'acc' depends on accelerations"
    with pytest.raises(ks.KinetostatError, match=words):
        ks.linearise(model, inputs=["z.tau"])
    with pytest.raises(ks.KinetostatError, match=words):
        ks.OperatingPoint(model).solve()
    with pytest.raises(ks.KinetostatError, match=words):
        ks.generate_c(model, tmp_path / "code")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("compiler", "passed", "words"),
    [
        ("#!/bin/sh\necho 'cannot do this' >&2; exit 4\n", False, "rejected the code:\ncannot do this"),
        ("#!/nowhere\n", False, "The code could not be tested"),
        ("", None, "no C compiler here"),
    ],
)
def test_a_compiler_that_fails_or_is_missing_leaves_the_code_and_says_how_to_try_it(
    tmp_path, monkeypatch, compiler, passed, words
):
    if os.name == "nt":
        pytest.skip("scripts as compilers are of other systems")
    command = tmp_path / "cc"
    if compiler:
        command.write_text(compiler)
        command.chmod(0o755)
    monkeypatch.setattr(companions, "find_program", lambda name: str(command) if compiler and name == "cc" else None)
    monkeypatch.setattr(companions.importlib.util, "find_spec", lambda name: None)
    found = ks.generate_c(CART, tmp_path / "code")
    assert found.trial.passed is passed
    assert words in found.trial.words
    assert compiler.startswith("#!/bin/sh") or "`make` in code" in found.trial.words
    assert (tmp_path / "code" / f"{found.name}.c").is_file()
    assert {path.name for path in Path(tmp_path).iterdir()} <= {"cc", "code"}
