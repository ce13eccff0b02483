"""Conditions in the formulas of forces and drivers, of parameters and in robots in symbols."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.analysis.linearisation import linearise
from core.errors import ExpressionError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Driver, Force, Gravity, Joint, Model, Parameter, World
from core.model.validation.formulas import check_units
from core.simulation import simulate
from core.symbolic.factoring import simplify_text

MASS, STIFF, FREE = 2.0, 800.0, 0.3


def slider(**more: object) -> Model:
    body = Body(name="block", mass=MASS)
    joint = Joint(name="guide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    return Model(name="slider", bodies=(body,), joints=(joint,), world=World(gravity=Gravity(kind="none")), **more)


def pushed(law: str) -> Mechanism:
    return Mechanism(slider(forces=(Force(name="stop", kind="joint", joint="guide", law=law),)))


LAWS = (
    "if(guide > 0.3, 800*(guide - 0.3), 0)",
    "800*(guide - 0.3)*step(guide - 0.3)",
    "800*(guide - 0.3)*(guide > 0.3)",
    "if(not guide > 0.3, 0, 20*sqrt(guide - 0.3)*40*sqrt(guide - 0.3))",
)


@pytest.mark.parametrize("law", LAWS)
def test_a_block_bounces_off_a_one_sided_spring(law: str) -> None:
    """Free flight, half a period of ω = √(k/m), free flight back: closed forms of every part."""
    mech, v0 = pushed(law), 1.5
    run = simulate(mech, 1.0, q0=[0.0], v0=[v0], rtol=1e-10, atol=1e-12, output=0.01)
    omega, touch = np.sqrt(STIFF / MASS), FREE / v0
    leave = touch + np.pi / omega
    t = run.time
    wanted = np.where(
        t < touch, v0 * t, np.where(t < leave, FREE + v0 / omega * np.sin(omega * (t - touch)), FREE - v0 * (t - leave))
    )
    np.testing.assert_allclose(run["guide.q"], wanted, atol=1e-7)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("at", "stiffness"), [(0.1, 0.0), (0.4, STIFF)])
def test_slopes_are_those_of_the_side_that_holds(law: str, at: float, stiffness: float) -> None:
    found = linearise(pushed(law), np.array([at]))
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [-stiffness / MASS, 0.0]], atol=1e-9)


def test_the_stiff_method_takes_conditions() -> None:
    mech = pushed(LAWS[0])
    runs = [
        simulate(mech, 0.6, q0=[0.0], v0=[1.5], rtol=1e-9, atol=1e-11, output=0.1, method=m) for m in ("rk54", "radau5")
    ]
    np.testing.assert_allclose(runs[0]["guide.q"], runs[1]["guide.q"], atol=1e-6)


@pytest.mark.parametrize(
    "function", ["if(t < 1, t^2/2, t - 1/2)", "if(t < 1, t^2/2 + 0*log(1.5 - t), sqrt(t - 1/2)^2)"]
)
def test_a_driver_in_pieces(function: str) -> None:
    """Accelerated for a second, then steady."""
    mech = Mechanism(slider(drivers=(Driver(name="motor", joint="guide", function=function),)))
    run = simulate(mech, 2.0, output=0.125)
    t = run.time
    np.testing.assert_allclose(run["guide.q"], np.where(t < 1.0, t**2 / 2, t - 0.5), atol=1e-7)
    np.testing.assert_allclose(run["guide.v"], np.minimum(t, 1.0), atol=1e-7)
    inside = (t > 0.0) & (t != 1.0)
    np.testing.assert_allclose(run["guide.a"][inside], (t < 1.0)[inside], atol=1e-7)


def test_parameters_choose() -> None:
    table = (Parameter(name="heavy", value=1.0), Parameter(name="m", value="if(heavy > 0.5, 5, sqrt(heavy))"))
    model = slider(parameters=table)
    mech = Mechanism(dataclasses.replace(model, bodies=(Body(name="block", mass="m"),)))
    assert mech.mass_matrix([0.0])[0, 0] == 5.0
    assert mech.mass_matrix([0.0], p={"heavy": 0.25})[0, 0] == pytest.approx(0.5, rel=1e-15)
    assert model.values()["m"] == 5.0


def test_files_keep_conditions() -> None:
    texts = (
        "if(t < 1 and not guide > 0.2, 1, 2)",
        "!(t > 1)",
        "not t > 1",
        "(t <= 2) != (guide >= 0)",
        "t > 1 or t < 0",
    )
    forces = tuple(Force(name=f"f{i}", kind="joint", joint="guide", law=text) for i, text in enumerate(texts))
    text = dumps(slider(forces=forces), "kst")
    assert [force.law for force in loads(text, "kst").forces] == list(texts)
    assert dumps(loads(text, "kst"), "kst") == text


@pytest.mark.parametrize(
    ("mass", "said"),
    [
        ("if(2 > 1, 30 mm, 1)", "is a length"),
        ("if(3 mm < 2 deg, 1 kg, 2 kg)", "a length and an angle"),
        ("1 + 30 mm + 2 deg", "a length and an angle"),
        ("max(3 kg, 2 mm)", "a mass and a length"),
    ],
)
def test_units_in_conditions_are_checked(mass: str, said: str) -> None:
    model = dataclasses.replace(slider(), bodies=(Body(name="block", mass=mass),))
    (finding,) = list(check_units(model))
    assert said in finding.text
    assert finding.remedy


def test_units_that_fit_are_no_findings() -> None:
    model = dataclasses.replace(slider(), bodies=(Body(name="block", mass="if(3 mm < 2 cm, 1 kg, 2 kg)"),))
    assert not list(check_units(model))


def test_symbols_say_where_they_cannot_hold_a_condition() -> None:
    with pytest.raises(ExpressionError, match="'>' of a symbol cannot be written as a polynomial"):
        simplify_text("If[q1 > 0, a, b]")
    with pytest.raises(ExpressionError, match="'step' of a symbol cannot be written as a polynomial"):
        simplify_text("UnitStep[q1] a")
