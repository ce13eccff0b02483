"""The page on design says what is so: its scripts run, and find what closed forms and the reference say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the scripts of the page leave behind, run one after the other in a folder of their own."""
    folder, found = tmp_path_factory.mktemp("page"), {}
    for block in BLOCKS:
        text = block.replace("linkage.kst", str(folder / "linkage.kst"))
        exec(text.replace("resources/examples", str(ROOT / "resources" / "examples")), found)
    found["folder"] = folder
    return found


def test_a_four_bar_follows_the_curve(names):
    import kinetostat as ks

    first = names["found"][0]
    assert first.relative < 0.02
    assert not first.defects
    again = ks.Mechanism(ks.load(names["folder"] / "linkage.kst"))
    x, _, z = again.frame(again.rest(), "curve_point")[:3, 3]
    np.testing.assert_allclose([x, z], first.curve(2)[0], atol=1e-6)


def test_parameters_are_found_and_applied(names):
    found = names["model"].values()
    assert found["c"] + found["d"] < 0.6 + 1e-6
    assert 0.28 <= found["b"] <= 0.36


def test_a_design_of_the_document_is_solved(names):
    assert set(names["low"].best.parameters) == {"a", "d"}
    assert names["low"].best.value < names["low"].table[0].value + 1e-12
    assert 0.08 <= names["low"].best.parameters["a"] <= 0.12


def test_the_spring_of_the_governor_is_that_of_the_reference(names):
    known = json.loads((ROOT / "tests" / "reference" / "opt_spring_for_period.json").read_text(encoding="utf-8"))
    assert names["small"].best.parameters["k"] == pytest.approx(known["reference"]["k_small"], rel=1e-4)
    assert names["large"].best.parameters["k"] == pytest.approx(known["reference"]["k_large_amplitude"], rel=1e-4)
    assert names["struck"].best.parameters["k"] == pytest.approx(struck_spring(0.12, 1.1, 5.0, 0.25), rel=1e-5)


def struck_spring(J, w, v0, quarter):
    """k with which J q̈ = −k q − w sin q, struck at v0, stands still after `quarter` s: a quadrature over the angle."""

    def seconds(k):
        A = brentq(lambda A: J * v0**2 / 2 - k * A**2 / 2 - w * (1 - np.cos(A)), 1e-6, 3.0)

        def slowness(s):
            q = A * np.sin(s)
            return A * np.cos(s) / np.sqrt(v0**2 - (k * q**2 + 2 * w * (1 - np.cos(q))) / J)

        return quad(slowness, 0.0, np.pi / 2 - 1e-7, epsabs=1e-11)[0]

    return brentq(lambda k: seconds(k) - quarter, 2.0, 6.0)


def test_the_curve_of_the_example_is_followed_to_half_a_millimetre(names):
    best = names["followed"][0]
    assert best.error < 0.45e-3
    assert best.largest < 1.0e-3
    assert not best.defects
    assert best.has_full_crank_turn
    assert names["drawn"].designs[0].curve[0].x == 0.11
