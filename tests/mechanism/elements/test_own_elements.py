"""Kinds of forces and constraints that people make, as docs/own_kinds.md shows them: their motion against closed forms
and an independent integration, files, findings, look, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import kinetostat as ks
from core.kinds import KindError
from core.model import FORCE_KINDS, Constraint, Force, Setting
from core.model.edits import edits
from core.programs import program
from tests.mechanism.elements import own_kinds_page as page
from viz.drawlist.draw_list import build_draw_list


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch):
    yield page.register(monkeypatch)
    program.drop_programs()


def relaxation() -> ks.Model:
    return ks.loads(page.block(page.FORCE, "yaml"))


def bead() -> ks.Model:
    return ks.loads(page.block(page.CONSTRAINT, "yaml"))


# ------------------------------------------------------------------------------- the Kelvin element

K, FURTHER, C, STRETCH = 200.0, 400.0, 500.0, 0.1


def test_a_kelvin_element_relaxes_as_the_standard_linear_solid() -> None:
    run = ks.simulate(relaxation(), duration=4.0, x0={"pad.stretch": STRETCH}, output=0.1)
    force = K * STRETCH + FURTHER * STRETCH * np.exp(-FURTHER * run.time / C)
    assert run["pad.force"] == pytest.approx(force, abs=1e-5)
    assert run["pad.length"] == pytest.approx(np.full(len(run.time), 0.4), abs=1e-9)


def test_a_kelvin_element_answers_a_ramp_as_the_standard_linear_solid() -> None:
    """At constant speed v: x = (c v/k₂)(1 − exp(−k₂ t/c)), from rest."""
    model = relaxation()
    v = 0.05
    driver = dataclasses.replace(model.drivers[0], function=f"0.3 + {v}*t")
    run = ks.simulate(dataclasses.replace(model, drivers=(driver,)), duration=3.0, output=0.1)
    stretch = C * v / FURTHER * (1.0 - np.exp(-FURTHER * run.time / C))
    assert run["pad.force"] == pytest.approx(K * v * run.time + FURTHER * stretch, abs=1e-5)
    assert run["pad.power"] == pytest.approx(-v * run["pad.force"], abs=1e-6)


def test_what_it_stores_and_what_its_damper_takes_is_what_the_machine_loses() -> None:
    """Let go, the energy of block and element falls by the heat of the damper, c (ẋ − L̇)² = (k₂ x)²/c."""
    model = dataclasses.replace(relaxation(), drivers=())
    run = ks.simulate(model, duration=1.0, q0=[0.5], x0={"pad.stretch": 0.05}, rtol=1e-11, atol=1e-12, output=1e-3)
    quick = run["pad.force"] - K * (run["pad.length"] - 0.3)
    heat = np.concatenate([[0.0], np.cumsum(0.5e-3 * (quick[1:] ** 2 + quick[:-1] ** 2) / C)])
    lost = run["energy.total"][0] - run["energy.total"]
    assert lost[-1] > 1.0
    assert lost == pytest.approx(heat, abs=1e-4)


# ------------------------------------------------------------------------------- the point on a curve

KAPPA, G = 2.0, 9.81


def test_a_bead_on_a_parabola_moves_as_lagranges_equation_says() -> None:
    model, x0 = bead(), 0.4
    mech = ks.Mechanism(model)
    q0 = mech.assemble(np.array([x0, -0.5 * KAPPA * x0**2, 0.0]))
    run = ks.simulate(mech, duration=2.0, q0=q0, rtol=1e-10, atol=1e-11, output=0.05)

    def lagrange(_t: float, state: Any) -> list[float]:
        x, v = state
        return [v, -(KAPPA**2 * x * v**2 + G * KAPPA * x) / (1.0 + KAPPA**2 * x**2)]

    start = run["bead.position"][0, 0], 0.0
    found = solve_ivp(lagrange, (0.0, 2.0), start, method="DOP853", t_eval=run.time, rtol=1e-12, atol=1e-13)
    x, z = run["bead.position"][:, 0], run["bead.position"][:, 2]
    assert abs(start[0]) > 0.2
    assert x == pytest.approx(found.y[0], abs=1e-7)
    assert z == pytest.approx(0.5 * KAPPA * x**2, abs=1e-9)
    assert np.ptp(run["energy.total"]) < 1e-7


def test_a_bead_has_the_period_that_its_energy_gives() -> None:
    """T = 4 ∫ √((1 + κ² x²)/(κ g (x₀² − x²))) dx from 0 to x₀, with x = x₀ sin φ."""
    model = bead()
    mech = ks.Mechanism(model)
    q0 = mech.assemble(np.array([0.3, -0.09, 0.0]))
    x0 = abs(mech.frame(q0, "bead")[0, 3])
    quarter, _ = quad(lambda phi: np.sqrt((1.0 + (KAPPA * x0 * np.sin(phi)) ** 2) / (KAPPA * G)), 0.0, np.pi / 2.0)
    run = ks.simulate(mech, duration=4.0 * quarter, q0=q0, rtol=1e-11, atol=1e-12, output=4.0 * quarter)
    assert run.q[-1] == pytest.approx(q0, abs=1e-7)
    assert run.v[-1] == pytest.approx(np.zeros(3), abs=1e-6)


# ------------------------------------------------------------------------------- the document

BOTH = pytest.mark.parametrize("collection", ["forces", "constraints"])


def model_of(collection: str) -> ks.Model:
    return relaxation() if collection == "forces" else bead()


@BOTH
def test_it_is_seen_found_sound_saved_and_read_back(collection: str) -> None:
    model = model_of(collection)
    (element,) = getattr(model, collection)
    assert [item for item in build_draw_list(model) if item.ref == (collection, element.name)]
    assert ks.check(model) == ()
    assert getattr(ks.loads(ks.dumps(model)), collection) == getattr(model, collection)


def test_numbers_are_read_with_units_and_as_formulas() -> None:
    (pad,) = relaxation().forces
    assert {setting.parameter: setting.value for setting in pad.settings} == {
        "stiffness": "k",
        "rest": "300 mm",
        "further_stiffness": "2*k",
        "damping": 500.0,
    }


def test_a_number_that_is_not_set_has_its_default() -> None:
    model = relaxation()
    (pad,) = model.forces
    bare = dataclasses.replace(model, forces=(dataclasses.replace(pad, settings=()),))
    run = ks.simulate(bare, duration=0.1, x0={"pad.stretch": 0.2})
    assert run["pad.force"][0] == pytest.approx(100.0 * 0.4 + 100.0 * 0.2)


def test_renaming_a_parameter_renames_it_in_settings() -> None:
    (pad,) = edits.rename(relaxation(), "parameters", "k", "rate").forces
    assert [setting.value for setting in pad.settings][:3:2] == ["rate", "2*rate"]


@BOTH
def test_an_unknown_number_is_a_finding_that_says_which_may_be_meant(collection: str) -> None:
    model = model_of(collection)
    (element,) = getattr(model, collection)
    known = element.settings[0].parameter
    settings = (*element.settings, Setting(parameter=f"{known}s", value=1.0))
    changed = dataclasses.replace(model, **{collection: (dataclasses.replace(element, settings=settings),)})
    (finding,) = ks.check(changed)
    assert (finding.collection, finding.name, finding.field) == (collection, element.name, "settings")
    assert f"'{known}s'" in finding.text
    assert known in finding.remedy


def test_a_number_in_a_wrong_unit_is_a_finding() -> None:
    model = relaxation()
    (pad,) = model.forces
    settings = (Setting(parameter="rest", value="30 deg"),)
    changed = dataclasses.replace(model, forces=(dataclasses.replace(pad, settings=settings),))
    assert any("length" in finding.text for finding in ks.check(changed))


@pytest.mark.parametrize("make", [Force, Constraint])
def test_a_number_is_set_once(make: Any) -> None:
    with pytest.raises(ks.errors.ModelError, match="'rest' is set twice"):
        make(name="x", b="block", sensor="s", settings=(Setting(parameter="rest"),) * 2)


# ------------------------------------------------------------------------------- what is refused


def test_a_kind_without_its_law_or_title_is_refused() -> None:
    class Half(ks.LineLaw):
        name = "made_up"

    with pytest.raises(KindError, match=r"Half lacks title, force"):
        ks.register(Half)


def line(**members: Any) -> type[Any]:
    given = {"name": "made_up", "title": "Made up", "force": staticmethod(lambda *_: 1.0), **members}
    return type("MadeUp", (ks.LineLaw,), given)


def between(**members: Any) -> type[Any]:
    given = {"name": "made_up", "title": "Made up", "value": staticmethod(lambda X, n: X.position.x), **members}
    return type("MadeUp", (ks.FrameConstraint,), given)


WRONG = {
    "a branch on a symbol": (lambda: line(force=staticmethod(lambda L, *_: 1.0 if L > 0.0 else 0.0)), "force"),
    "a number that is not declared": (lambda: line(force=staticmethod(lambda L, v, x, n: n.stiffness * L)), "force"),
    "not a scalar": (lambda: line(force=staticmethod(lambda *_: None)), "force"),
    "a state without rate": (lambda: line(state_names=("stretch",)), "state_rate"),
    "a rate without state": (lambda: line(state_rate=staticmethod(lambda *_: [0.0])), "state_rate"),
    "a member that is not static": (lambda: line(force=lambda self, length, rate, state, numbers: 0.0), "force"),
    "a state without name": (lambda: line(state_names=("",)), "state_names"),
    "a number of a bad name": (lambda: line(numbers=(ks.Quantity("two words"),)), "numbers"),
    "a number of an unknown unit": (lambda: line(numbers=(ks.Quantity("a", "N·blurb^4"),)), "numbers"),
    "a number not in SI": (lambda: between(numbers=(ks.Quantity("a", "mm"),)), "numbers"),
    "energy that fails": (lambda: line(energy=staticmethod(lambda L, x, n: x.heat)), "energy"),
    "rest of too many": (lambda: line(rest_state=staticmethod(lambda L, x, n: [L])), "rest_state"),
    "a constraint of too many": (lambda: between(value=staticmethod(lambda X, n: X.position)), "value"),
    "a constraint of too few": (lambda: between(components=("x", "y")), "value"),
    "a constraint with a bad number": (lambda: between(numbers=(ks.Quantity("a"), ks.Quantity("a"))), "numbers"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_told_with_kind_and_member(wrong: str) -> None:
    make, member = WRONG[wrong]
    with pytest.raises(KindError, match=rf"'made_up'.*'{member}'"):
        ks.register(make())
    assert "made_up" not in FORCE_KINDS


def test_one_that_is_right_is_not_refused() -> None:
    ks.register(line(numbers=tuple(ks.Quantity(f"n{k}", unit) for k, unit in enumerate(("", "N/m", "1/m", "N·m/A")))))
    ks.register(line())
    ks.register(between(components=("x", "y", "z"), value=staticmethod(lambda X, n: X.position)))
    assert Force(name="f", kind="made_up", b="block").info.title == "Made up"


# ------------------------------------------------------------------------------- registered anew, and not at all


def test_a_kind_that_is_registered_anew_takes_its_place(own: dict[str, Any]) -> None:
    """As when a script is run again after its law was changed: the machine follows it."""
    start = {"pad.stretch": STRETCH}
    before = ks.simulate(relaxation(), duration=0.1, x0=start)["pad.force"][0]
    law = page.block(page.FORCE, "python").replace("numbers.further_stiffness * state", "3 * state", 1)
    exec(compile(law, "own_kinds.md", "exec"), {"__name__": page.__name__})
    after = ks.simulate(relaxation(), duration=0.1, x0=start)["pad.force"][0]
    assert before == pytest.approx((K + FURTHER) * STRETCH)
    assert after == pytest.approx((K + 3.0) * STRETCH)


@BOTH
def test_a_document_of_kinds_that_nobody_knows_keeps_their_numbers(
    collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(collection)
    page.apart(monkeypatch)
    unknown = model_of(collection)
    (element,) = getattr(unknown, collection)
    assert [finding.name for finding in ks.check(unknown) if finding.severity == "error"] == [element.name]
    assert ks.dumps(unknown) == ks.dumps(model)
    with pytest.raises(ks.errors.ModelError, match=element.kind):
        ks.Mechanism(unknown)
