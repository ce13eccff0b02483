"""Exports compute what the compiled kernel computes, and say their conventions."""

import dataclasses
import math
import re
import shutil
import subprocess
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import resources
from core.errors import ModelError
from core.files import load
from core.model import DHChain, DHRow, Inertia, Model, Parameter
from core.symbolic import robot
from core.symbolic.conventions import convention_sentences
from core.symbolic.export import EXPORTS, OperationCount, export
from core.symbolic.factoring import extract_common_subexpressions
from core.symbolic.forms import Power, SineOrCosine, count_operations, evaluate, make_sum, names_in_form
from core.symbolic.proof import evaluate_forms
from core.symbolic.recursion_code import RESULTS, build_recursion, write_code
from core.symbolic.ring import Ring, exact_fraction
from core.symbolic.terms import collect_terms, write_products


def example(name):
    return load(next(entry.path for entry in resources.examples() if Path(entry.path).stem == name))


@pytest.fixture(scope="module")
def stanford():
    return robot(example("stanford"))


def values_of(r, seed=3):
    rng = np.random.default_rng(seed)
    chain = r.chain
    names = [*(v.symbol for v in chain.variables), *chain.rates, *chain.accelerations]
    return {**chain.values, **dict(zip(names, rng.normal(size=len(names)), strict=True)), "sqrt(2)": math.sqrt(2)}


def called(source, name, values):
    space = {}
    exec(source, space)
    function = space[name]
    return function(*(values[a] for a in function.__code__.co_varnames[: function.__code__.co_argcount]))


@pytest.mark.parametrize("what", ["M", "C", "G", "J"])
def test_python_functions_give_the_numbers_of_the_forms(stanford, what):
    values = values_of(stanford)
    result = called(export(stanford, what, language="python"), what, values)
    np.testing.assert_allclose(result, evaluate_forms(stanford.form(what), values), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("what", RESULTS)
def test_recursions_give_the_numbers_of_the_forms(stanford, what):
    values = values_of(stanford)
    result = called(write_code(build_recursion(stanford, what)), what, values)
    if what == "bias":
        v = np.array([values[name] for name in stanford.chain.rates])
        expected = evaluate_forms(stanford.form("C"), values) @ v[:, None] + evaluate_forms(stanford.form("G"), values)
    else:
        expected = evaluate_forms(stanford.form(what), values)
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-10)


def test_sympy_source_builds_the_matrix(stanford):
    space = {}
    exec(export(stanford, "T", 0, 2, language="sympy"), space)
    assert space["T02"] == stanford.T(0, 2)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("recursive", [False, True])
def test_c_functions_compile_and_agree(tmp_path, recursive):
    r = robot(example("two_link"))
    values = values_of(r)
    source = write_code(build_recursion(r, "tau"), "c") if recursive else export(r, "tau", language="c")
    names = source.split("tau(")[1].split("double out")[0].replace("double ", "").replace(",", " ").split()
    arguments = ", ".join(repr(float(values[name])) for name in names)
    body = f'double out[2]; tau({arguments}, out); printf("%.17g %.17g", out[0], out[1]);'
    main = f"#include <stdio.h>\nint main(void) {{ {body} return 0; }}"
    (tmp_path / "tau.c").write_text(source + main)
    subprocess.run(["cc", "tau.c", "-o", "tau", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "tau"], capture_output=True, text=True, check=True).stdout
    np.testing.assert_allclose(
        [float(x) for x in printed.split()], evaluate_forms(r.form("tau"), values)[:, 0], rtol=1e-12
    )


def test_every_export_says_its_conventions(stanford):
    for language in EXPORTS:
        shown = export(stanford, "M", language=language)
        assert "Inertia about each centre of mass" in shown
        assert "qdd" in shown
        assert "gravity accelerates by (0, 0, -g)" in shown
    with pytest.raises(ModelError, match="export language 'fortran'"):
        export(stanford, "M", language="fortran")


def test_prints_as_robotica_words_them():
    r = robot(example("two_link"))
    assert export(r, "C", language="elements", label="CM", notes=False) == (
        "CM[[1,1]] = -1/2 a1 a2 m2 Dq2 S2\n"
        "CM[[2,1]] = 1/2 a1 a2 m2 Dq1 S2\n"
        "CM[[1,2]] = -1/2 a1 a2 m2 Dq1 S2 - 1/2 a1 a2 m2 Dq2 S2\n"
        "CM[[2,2]] = 0\n"
    )


def test_simplified_forms_are_short():
    for name in ("stanford", "puma560"):
        r = robot(example(name), symbols="all")
        newton_euler = 1590  # Luh, Walker, Paul 1980, six revolute joints: 852 multiplications, 738 additions
        assert build_recursion(r, "tau").operation_count < newton_euler / 2
        for what in ("M", "C"):
            cost = OperationCount(form for row in r.form(what) for form in row)
            raw = sum(
                count_operations(make_sum(write_products(collect_terms(x))))
                for row in r.exact_entries(what)
                for x in row
            )
            assert cost.written <= raw / 2
            assert cost.shared <= cost.written


def test_products_of_written_numbers_are_written_numbers():
    """What floating point makes of short decimals is taken for the decimal it stands for; what is none stays."""
    rng = np.random.default_rng(5)
    for m, c, d in rng.integers(1, 10_000, (300, 3)):
        said = Fraction(int(m), 1000) * Fraction(int(c), 10_000) + Fraction(int(d), 10_000_000)
        assert exact_fraction(m / 1000 * (c / 10_000) + d / 10_000_000) == said
    assert exact_fraction(4.25 * 0.6447) == Fraction("2.739975")
    for x in map(float, rng.normal(size=300)):
        assert abs(float(exact_fraction(x)) - x) <= 1e-12 * abs(x)


def test_elements_show_themselves_in_terms():
    ring = Ring(["q1"], ["a", "q1"])
    sine, cosine = ring.sin_cos(ring.symbol("q1"))
    assert str(1 - cosine * cosine) == "S1^2"
    with pytest.raises(ModelError, match=re.escape("'a + S1'")):
        1 / (ring.symbol("a") + sine)


def test_gravity_of_the_stanford_arm_is_written_with_the_decimals_of_its_file():
    """The moments m c of the links that move together, summed by hand in decimals."""
    third = Decimal("4.25") * Decimal("0.6447") + Decimal("1.08") * Decimal("0.0092")
    fourth = Decimal("0.63") * Decimal("0.0566") - Decimal("1.08") * Decimal("0.0054")
    wrist = Decimal("0.63") * Decimal("0.003") + Decimal("0.51") * Decimal("0.1554")
    carried = Decimal("4.25") + Decimal("1.08") + Decimal("0.63") + Decimal("0.51")
    written = re.findall(r"\d+\.\d+", export(robot(example("stanford")), "G", notes=False))
    assert set(map(Decimal, written)) == {third.normalize(), fourth.normalize(), wrist.normalize(), carried}


def test_conventions_name_frames_and_the_sign_of_gravity():
    """Standard and modified tables, frames of bodies; gravity as an acceleration; code has it in ASCII."""
    two = robot(example("two_link"))
    words = " ".join(convention_sentences(two))
    assert "Standard Denavit–Hartenberg: A = Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α)" in words
    assert "gravity accelerates by (0, −g, 0)" in words
    assert "M q̈ + C q̇ + G = τ" in words
    chain = two.model.chains[0]
    craig = dataclasses.replace(two.model, chains=(dataclasses.replace(chain, convention="modified"),))
    assert "Modified Denavit–Hartenberg: A = Rot(x, α) Trans(x, a)" in " ".join(convention_sentences(robot(craig)))
    assert "Modified" in " ".join(convention_sentences(robot(example("panda"))))
    assert "Frames are those of the bodies" in " ".join(convention_sentences(robot(example("double_pendulum"))))
    for language in EXPORTS:
        told = export(two, "G", language=language)
        assert told.isascii(), language
        assert ("C1 = cos(q1)" in told) == (language in ("text", "elements", "latex"))


def test_names_for_people_stand_for_what_is_worth_one():
    r = robot(example("stanford"))
    entries = [form for row in r.form("M") for form in row]
    definitions, short = extract_common_subexpressions(entries, min_operations=2)
    assert definitions
    values = {
        name: float(k) / 7.0 + 0.3 for k, name in enumerate(sorted({n for f in entries for n in names_in_form(f)}))
    }
    known = dict(values)
    for name, form in definitions:
        assert not isinstance(form, SineOrCosine | Power)
        known[name] = evaluate(form, known)
    np.testing.assert_allclose([evaluate(f, known) for f in short], [evaluate(f, values) for f in entries], rtol=1e-12)
    assert any(isinstance(form, SineOrCosine) for _, form in extract_common_subexpressions(entries)[0])


def awkward_arm():
    """An arm whose parameters are words of the languages, or names that written code would take itself."""
    lengths = {"lambda_": 0.5, "E": 0.7, "x1": 0.3, "t2": 0.4, "double": 0.6}
    return robot(
        Model(
            parameters=tuple(Parameter(name=name, value=value) for name, value in lengths.items()),
            chains=(
                DHChain(
                    name="arm",
                    rows=(
                        DHRow(a="E", mass="double", center_of_mass=("-0.5*x1", 0, 0), inertia=Inertia(izz="x1*t2")),
                        DHRow(
                            a="x1 + t2", mass="lambda_", center_of_mass=("-0.125*E", "x1", 0), inertia=Inertia(izz=0.3)
                        ),
                    ),
                ),
            ),
        )
    )


def test_names_of_parameters_do_not_meet_words_of_the_languages(tmp_path):
    r = awkward_arm()
    values = values_of(r)
    given = {**values, "double_": values["double"]}
    np.testing.assert_allclose(
        called(export(r, "M", language="python"), "M", given), evaluate_forms(r.form("M"), values)
    )
    np.testing.assert_allclose(
        called(write_code(build_recursion(r, "M")), "M", given), evaluate_forms(r.form("M"), values)
    )
    for source in (export(r, "M", language="c"), write_code(build_recursion(r, "M"), "c")):
        assert "double double_" in source
        if shutil.which("cc") is not None:
            (tmp_path / "m.c").write_text(source)
            subprocess.run(["cc", "-c", "m.c", "-o", "m.o"], cwd=tmp_path, check=True)
    written = export(r, "T", 0, 2, language="mathematica", notes=False)
    assert "E$ Cos[q1]" in written  # E alone is 2.718… there
    assert export(r, "C", language="mathematica", notes=False).startswith("C$ = ")


def test_entries_that_are_equal_are_computed_once():
    """The mass matrix is symmetric: each entry beside its diagonal stands twice."""
    r = robot(example("two_link"))
    source = export(r, "M", language="python", notes=False)
    assert source.count("I2 +") == 3  # M11, M12 = M21, M22
    assert re.search(r", (x\d+)\],\s+\[\1, ", source)


def test_decimals_of_files_are_decimals_in_code(stanford):
    source = export(stanford, "G", language="python", notes=False)
    assert "2.749911*g" in source
    assert "/" not in source
