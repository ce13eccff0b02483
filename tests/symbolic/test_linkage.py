"""Loops in symbols: equal to the kernel on all examples, textbook forms of known linkages, exports that compute."""

import dataclasses
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import resources
from core.constraints.closed_forms.order import solve_order
from core.constraints.closed_forms.wording import solution_steps
from core.errors import ModelError
from core.files import load
from core.mechanics.multibody.topology import build_topology
from core.mechanism import Mechanism
from core.model import Parameter
from core.model.model import require_model
from core.symbolic import linkage
from core.symbolic.equation_export import format_equations, undefined_names
from core.symbolic.forms import Function, Quotient, Symbol, count_operations, evaluate, names_in_form
from core.symbolic.linkage_words import convention_sentences, describe_symbols, symbol_owners
from core.symbolic.notation import format_form, to_sympy
from core.symbolic.proof import SECTIONS, check_sections
from tests.walks import walk

LIMIT = 1e-9


def example(name):
    return load(next(each.path for each in resources.examples() if each.name == name))


@pytest.fixture(scope="module", params=["four_bar", "slider_crank", "quick_return"])
def textbook(request):
    return linkage(example(request.param))


@pytest.fixture(scope="module")
def four_bar():
    return linkage(example("four_bar"))


@pytest.fixture(scope="module")
def slider_crank():
    return linkage(example("slider_crank"))


@pytest.fixture(scope="module")
def quick_return():
    return linkage(example("quick_return"))


def state_of(found, rng, **own):
    """Numbers for everything that equations start from."""
    symbols = {**found.values, **{name: rng.uniform(-2, 2) for name in (*found.rates, *found.accelerations)}}
    signs = {each.name: 1.0 for each in found.positions if each.side is not None}
    angles = {each.symbol: rng.uniform(-3, 3) for each in found.independent}
    return {**symbols, **signs, **angles, **own}


# --------------------------------------------------------------------------------- all examples


@pytest.mark.parametrize(
    "name", walk((each.name for each in resources.examples()), also=("quick_return", "pantograph"))
)
def test_symbols_equal_the_kernel_or_a_reason_is_given(name):
    model = example(name)
    topology = build_topology(model)
    if not topology.cuts and not model.constraints:
        with pytest.raises(ModelError, match="no closed loop"):
            linkage(model)
        return
    mech = Mechanism(model)
    iterated = [step.joints for step in solution_steps(topology, solve_order(topology)) if step.kind == "iteration"]
    if iterated or mech.nq != mech.nv:
        with pytest.raises(ModelError, match="'"):
            linkage(model)
        return
    for section, proof in check_sections(linkage(model), seed=5).items():
        assert proof.passed, (section, proof)
        assert proof.states == 20
        assert proof.deviation < LIMIT, (section, proof)


def test_everything_that_is_named_has_a_definition_or_is_given(textbook):
    known = {*textbook.values, *textbook.rates, *textbook.accelerations, *(v.symbol for v in textbook.independent)}
    for each in textbook.definitions:
        if each.side is None:
            assert names_in_form(each.form) <= known, each
        known.add(each.name)
    assert len({each.name for each in textbook.definitions}) == len(textbook.definitions)


# --------------------------------------------------------------------------------- textbook forms


def test_a_four_bar_follows_freudensteins_equation(four_bar):
    """K1 cos θ4 − K2 cos θ2 + K3 = cos(θ2 − θ4), solved by the tangent of half the angle (Norton, Machinery, 4.5)."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        for sigma in (1.0, -1.0):
            values = four_bar.evaluated(state_of(four_bar, rng, sigma2=sigma), ["positions"])
            a, b, c, d, theta2 = (values[name] for name in ("a", "b", "c", "d", "q1"))
            K1, K2, K3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
            A = math.cos(theta2) - K1 - K2 * math.cos(theta2) + K3
            B = -2 * math.sin(theta2)
            C = K1 - (K2 + 1) * math.cos(theta2) + K3
            roots = [2 * math.atan2(-B + s * math.sqrt(B * B - 4 * A * C), 2 * A) for s in (1.0, -1.0)]
            theta4 = values["q2"]
            assert min(abs(math.remainder(theta4 - root, 2 * math.pi)) for root in roots) < 1e-12
            assert K1 * math.cos(theta4) - K2 * math.cos(theta2) + K3 == pytest.approx(
                math.cos(theta2 - theta4), abs=1e-12
            )
    texts = {each.name: format_form(each.form) for each in four_bar.definitions}
    assert texts["P2"] == "-2 c d + 2 a c C1"
    assert texts["Q2"] == "2 a c S1"
    assert texts["R2"] == "a^2 - b^2 + c^2 + d^2 - 2 a d C1"
    assert texts["q2"] == "atan2(Q2, P2) + sigma2 atan2(sqrt(P2^2 + Q2^2 - R2^2), R2)"


def test_a_four_bars_ratio_is_that_of_textbooks(four_bar):
    """ω4/ω2 = a sin(θ2 − θ3) / (c sin(θ4 − θ3)) (Norton, Design of Machinery, 6.18b)."""
    ratios = {each.name: each for each in four_bar.ratios}
    assert isinstance(ratios["k2"].form, Quotient)
    assert format_form(ratios["k2"].form) == "a S3/(c Sin[q1 - q2 + q3])"
    assert ratios["k2"].about == "dq2/dq1"
    rng = np.random.default_rng(2)
    for _ in range(10):
        values = four_bar.evaluated(state_of(four_bar, rng))
        theta2, theta3, theta4 = values["q1"], values["q1"] + values["q3"], values["q2"]
        expected = values["a"] * math.sin(theta2 - theta3) / (values["c"] * math.sin(theta4 - theta3))
        assert values["k2"] == pytest.approx(expected, rel=1e-11)


def test_a_slider_crank_is_r_cos_and_a_root(slider_crank):
    """x = r cos θ + √(l² − (r sin θ − e)²) and dx/dθ by the quotient of sines and cosines."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        values = slider_crank.evaluated(state_of(slider_crank, rng, offset=0.03))
        r, l, e, theta = values["r"], values["l"], values["offset"], values["q1"]
        root = math.sqrt(l * l - (r * math.sin(theta) - e) ** 2)
        assert values["q2"] == pytest.approx(r * math.cos(theta) + root, rel=1e-13)
        slope = -r * math.sin(theta) - (r * math.sin(theta) - e) * r * math.cos(theta) / root
        assert values["k2"] == pytest.approx(slope, rel=1e-11)
    texts = {each.name: format_form(each.form) for each in slider_crank.positions}
    assert texts["q2"] == "r C1 + sigma2 sqrt(l^2 - (-offset + r S1)^2)"


def test_a_quick_returns_lever_turns_by_a_direction(quick_return):
    """tan ψ = (h + r sin θ)/(r cos θ), and its speed r (r + h sin θ)/s² by the distance s."""
    rng = np.random.default_rng(4)
    h = 0.15
    for _ in range(10):
        values = quick_return.evaluated(state_of(quick_return, rng))
        r, theta = values["l1"], values["q1"]
        assert values["q2"] == pytest.approx(math.atan2(h + r * math.sin(theta), r * math.cos(theta)), abs=1e-13)
        square = r * r + h * h + 2 * r * h * math.sin(theta)
        assert values["q4"] == pytest.approx(math.sqrt(square), rel=1e-13)
        assert values["k2"] == pytest.approx(r * (r + h * math.sin(theta)) / square, rel=1e-11)


def test_the_reduced_inertia_is_twice_the_kinetic_energy_by_bodies(slider_crank):
    """I = Σ m v² + J ω² over the bodies at unit speed (Paul, Kinematics and Dynamics of Planar Machinery, 12.2)."""
    rng = np.random.default_rng(5)
    values = slider_crank.evaluated(state_of(slider_crank, rng))
    r, k2, k3, q1, q3 = (values[name] for name in ("r", "k2", "k3", "q1", "q3"))
    turning = 1.0 + k3
    center = r * np.array([-math.sin(q1), math.cos(q1)]) + turning * values["r3x"] * np.array(
        [-math.sin(q1 + q3), math.cos(q1 + q3)]
    )
    expected = (
        values["I2yy"]
        + values["m2"] * values["r2x"] ** 2
        + values["m3"] * center @ center
        + values["I3yy"] * turning**2
        + values["m4"] * k2**2
    )
    assert values["I"] == pytest.approx(expected, rel=1e-12)


def test_slopes_are_derivatives(textbook):
    """k′ and I′ against central differences of k and I along the branch."""
    rng = np.random.default_rng(6)
    start = state_of(textbook, rng)
    step = 1e-5
    ends = [textbook.evaluated({**start, "q1": start["q1"] + side * step}) for side in (-1.0, 1.0)]
    here = textbook.evaluated(start)
    for name in [*(each.name for each in textbook.ratios), "I"]:
        slope = (ends[1][name] - ends[0][name]) / (2 * step)
        assert here[f"{name}_prime"] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_of_several_freedoms_the_matrix_of_rates_is_skew():
    found = linkage(example("pantograph"))
    rng = np.random.default_rng(7)
    start = state_of(found, rng)
    own = {each.symbol: found.rates[k] for each, k in zip(found.independent, found.places, strict=True)}
    for sigma in (1.0, -1.0):
        start |= {each.name: sigma for each in found.positions if each.side is not None}
        step = 1e-6
        try:
            here = found.evaluated(start)
            moved = [
                found.evaluated({**start, **{q: start[q] + s * step * start[v] for q, v in own.items()}})
                for s in (-1.0, 1.0)
            ]
        except ModelError:  # the loop does not close here
            continue
        n = len(found.places)

        def M(values, n=n):
            return np.array([[values[f"M{min(a, b)}{max(a, b)}"] for b in range(1, n + 1)] for a in range(1, n + 1)])

        C = np.array([[here[f"C_{a}{b}"] for b in range(1, n + 1)] for a in range(1, n + 1)])
        skew = (M(moved[1]) - M(moved[0])) / (2 * step) - 2 * C
        np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-7)
        return
    pytest.fail("no closed pose")


def test_branches_are_read_from_a_pose(four_bar):
    rng = np.random.default_rng(8)
    for sigma in (1.0, -1.0):
        values = four_bar.evaluated(state_of(four_bar, rng, sigma2=sigma), ["positions"])
        given = {name: values[name] for name in (*four_bar.values, "q1", "q2", "q3")}
        assert four_bar.branch_signs(given) == {"sigma2": sigma}


# --------------------------------------------------------------------------------- choices and bad input


def test_symbols_are_chosen():
    model = example("slider_crank")
    assert {"r", "l", "offset", "g"} == set(linkage(model, symbols="named").values)
    assert not linkage(model, symbols="none").values
    assert {"r", "l"} == set(linkage(model, symbols=["r", "l"]).values)
    assert {"m2", "I3yy", "r"} <= set(linkage(model).values)
    half = linkage(model, values={"r": 0.05})
    assert "r" not in half.values
    assert all(proof.passed for proof in check_sections(half, states=5).values())


def test_names_of_the_model_are_kept():
    model = example("four_bar")
    taken = tuple(Parameter(name=name, value=1.0) for name in ("k2", "I", "P2", "sigma2", "q3"))
    found = linkage(dataclasses.replace(require_model(model), parameters=(*model.parameters, *taken)))
    defined = {each.name for each in found.definitions}
    assert defined.isdisjoint({"k2", "I", "P2", "sigma2", "q3"})
    assert all(proof.passed for proof in check_sections(found, states=5).values())


def test_angles_of_the_model_are_written_in_full():
    found = linkage(example("watt_six_bar"))
    texts = " ".join(format_form(each.form) for each in found.definitions)
    assert "cos(g1)" in texts
    assert any(isinstance(part, Function) for each in found.positions for part in [each.form])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pendulum", "no closed loop"),
        ("bricard", "iteration"),
        ("stewart", "'ball1'"),
        ("shaker_chord", "'closure'"),
    ],
)
def test_what_has_none_says_why(name, words):
    with pytest.raises(ModelError, match=words):
        linkage(example(name))


def test_wrong_names_are_refused():
    with pytest.raises(ModelError, match="no parameter 'x'"):
        linkage(example("four_bar"), symbols=["x"])
    with pytest.raises(ModelError, match="no parameter 'x'"):
        linkage(example("four_bar"), values={"x": 1.0})


def test_numbers_need_what_they_start_from(four_bar):
    with pytest.raises(ModelError, match="'sigma2' has no value"):
        four_bar.evaluated({"q1": 1.0})
    with pytest.raises(ModelError, match="cannot be closed"):
        four_bar.evaluated({"q1": 1.0, "sigma2": 1.0, "a": 0.9}, ["positions"])
    found = four_bar.evaluated({"q1": 1.0, "sigma2": 1.0}, ["positions", "ratios"])
    assert {"q2", "q3", "k2", "k3"} <= found.keys()


def test_sympy_expressions_by_name(four_bar):
    assert str(four_bar.sympy("k2")) == "a*sin(q3)/(c*sin(q1 - q2 + q3))"
    with pytest.raises(ModelError, match="no definition of 'k9'"):
        four_bar.sympy("k9")


def test_masses_of_forces_are_not_left_out_silently():
    model = example("four_bar")
    from core.model import Force, LineMass

    rod = Force(name="rope", kind="line", a="ground", b="rocker", masses=(LineMass(mass=1.0),))
    found = linkage(dataclasses.replace(model, forces=(rod,)))
    assert found.ratios
    with pytest.raises(ModelError, match="'rope' has a mass"):
        _ = found.dynamics


# --------------------------------------------------------------------------------- words and exports


def test_readers_learn_what_names_mean(four_bar):
    _ = four_bar.dynamics
    found = describe_symbols(four_bar)
    assert found["q2"] == "joint rocker_pin"
    assert found["k2"] == "dq2/dq1"
    assert symbol_owners(four_bar)["k2"] == (("joints", "rocker_pin"),)
    assert any("σ" in line for line in convention_sentences(four_bar, "positions"))
    assert any("½ I′" in line for line in convention_sentences(four_bar, "dynamics"))


def given(found, rng):
    kept = [each for each in found.definitions if each.side is None]
    titles, forms = [each.name for each in kept], [each.form for each in kept]
    start = state_of(found, rng)
    return titles, forms, start, found.evaluated(start)


def test_python_computes_the_same(textbook):
    titles, forms, start, expected = given(textbook, np.random.default_rng(9))
    space = {}
    exec(format_equations(titles, forms, "python", "loops"), space)
    function = space["loops"]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    assert list(wanted) == undefined_names(titles, forms)
    found = function(*(start[name] for name in wanted))
    assert found == pytest.approx({name: expected[name] for name in titles}, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "textbook", [pytest.param("four_bar", marks=pytest.mark.slow), "slider_crank", "quick_return"], indirect=True
)
def test_sympy_computes_the_same(textbook):
    titles, forms, start, expected = given(textbook, np.random.default_rng(10))
    space = {}
    exec(format_equations(titles, forms, "sympy"), space)
    import sympy

    values = {sympy.Symbol(name, real=True): x for name, x in start.items()}
    for name in titles[:6]:
        assert float(space[name].evalf(30, subs=values)) == pytest.approx(expected[name], rel=1e-10, abs=1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_computes_the_same(slider_crank, tmp_path):
    titles, forms, start, expected = given(slider_crank, np.random.default_rng(11))
    source = format_equations(titles, forms, "c", "loops")
    wanted = ", ".join(repr(float(start[name])) for name in undefined_names(titles, forms))
    main = (
        f"#include <stdio.h>\nint main(void) {{ double out[{len(titles)}]; loops({wanted}, out);\n"
        f'for (int i = 0; i < {len(titles)}; i++) printf("%.17g\\n", out[i]); return 0; }}\n'
    )
    (tmp_path / "loops.c").write_text(source + main)
    subprocess.run(["cc", "-std=c99", "loops.c", "-o", "loops", "-lm"], cwd=tmp_path, check=True, timeout=60)
    printed = subprocess.run(["./loops"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=10)
    assert [float(x) for x in printed.stdout.split()] == pytest.approx([expected[name] for name in titles], rel=1e-12)


def test_mathematica_and_latex_are_written_in_their_syntax(four_bar):
    titles = [each.name for each in four_bar.definitions if each.side is None]
    forms = [each.form for each in four_bar.definitions if each.side is None]
    mathematica = format_equations(titles, forms, "mathematica")
    assert "q2 = ArcTan[P2, Q2] + sigma2 ArcTan[R2, Sqrt[P2^2 + Q2^2 - R2^2]];" in mathematica
    assert "k2prime" in mathematica
    latex = format_equations(titles, forms, "latex", notes=("four-bar",))
    assert r"k_{2} &= \frac{a\,S_{3}}{c\,\sin(q_{1} - q_{2} + q_{3})}" in latex
    assert latex.startswith("% four-bar")
    assert "k_{2}'" in latex


def test_quotients_and_functions_are_forms_like_others():
    form = Quotient(Symbol("a"), Function("sqrt", (Symbol("b"),)))
    assert evaluate(form, {"a": 6.0, "b": 9.0}) == 2.0
    assert format_form(form) == "a/sqrt(b)"
    assert count_operations(form) == 2
    assert str(to_sympy(form, Symbols())) == "a/sqrt(b)"


class Symbols:
    def __call__(self, name):
        import sympy

        return sympy.Symbol(name)


def test_sections_are_proved_one_after_the_other(four_bar):
    assert list(check_sections(four_bar, ("positions", "ratios"), states=3)) == ["positions", "ratios"]
    assert list(check_sections(four_bar, states=3)) == list(SECTIONS)


def test_the_page_shows_what_the_program_writes():
    page = (Path(__file__).parents[2] / "docs" / "linkages_in_symbols.md").read_text(encoding="utf-8")
    for name in ("four_bar", "slider_crank", "quick_return"):
        found = linkage(example(name))
        shown = {format_form(Symbol(each.name)): format_form(each.form) for each in found.definitions}
        block = page.split(f"`{name}.kst`")[1].split("```")[1]
        lines = block.strip().splitlines()
        assert len(lines) >= 8
        for line in lines:
            title, form = line.split(" = ", 1)
            assert shown[title] == form
