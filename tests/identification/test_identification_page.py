"""The page on identification says what is so: its script runs, and finds what the model has."""

import re
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from docs.make_trace import NOISE, measured

PAGE = (Path(__file__).parents[2] / "docs" / "identification.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names():
    """What the scripts of the page leave behind."""
    found = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, found)
    return found


def test_the_script_of_the_page_does_what_the_page_says(names):
    assert names["base"].rank == 36
    assert "m2·c2x + 0.4318·m2 + 0.4318·m3 + 0.4318·m4 + 0.4318·m5 + 0.4318·m6" in names["base"].names
    found = names["found"]
    np.testing.assert_allclose(found.estimate, found.base.values, rtol=0.0, atol=1e-8)
    assert np.max(found.validation.relative) < 1e-8
    fit = names["fit"]
    assert fit.names == ("k", "c", "x.q", "x.v")
    truth = np.array([40.0, 0.8, 0.1, 0.0])
    assert np.max(np.abs(fit.estimate - truth) / fit.fit.deviations) < 4.0
    assert fit.validation.relative[0] < 0.2
    assert fit.model.values()["k"] == fit.estimate[0]


def test_the_trace_of_the_worn_arm_gives_what_was_put_in(names):
    """A load, damping and dry friction that the document does not know: within intervals as wide as the noise."""
    found = names["worn"]
    true = ks.Mechanism(measured(names["puma"]))
    kinds = ("inertia", "armature", "damping", "friction")
    truth = found.base.matrix @ true.linear_parameters(kinds).values
    low, high = found.intervals.T
    inside = (low <= truth) & (truth <= high)
    assert len(truth) == 52
    assert np.count_nonzero(inside) == 49
    assert np.max(np.abs(found.estimate - truth) / found.fit.deviations) < 3.0
    named = dict(zip(found.names, zip(found.estimate, high - found.estimate, strict=True), strict=True))
    for name, said, half in (("d2", 13.90, 0.18), ("f2", 16.01, 0.13), ("f4", 2.996, 0.011)):
        assert named[name] == pytest.approx((said, half), abs=0.006)
    assert named["m5·c5z + m6·c6z"] == pytest.approx((0.1279, 0.0014), abs=6e-5)
    np.testing.assert_allclose(found.fit.sigma, NOISE, rtol=0.1)
    assert not found.fit.doubtful
    assert found.model.chains[0].rows[1].damping == pytest.approx(14.0, abs=0.2)
