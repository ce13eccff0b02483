"""The page on control says what is so: its script runs, its numbers are those of the machine."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "control.md").read_text(encoding="utf-8")


def test_the_script_of_the_page_does_what_the_page_says():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    run, linear = names["run"], names["linear"]
    assert abs(run["th"][-1]) < 2e-3
    assert np.max(np.abs(run["th"])) == pytest.approx(0.2)
    grid = np.array([run.at(t) for t in np.linspace(0.0, 6.0, 61)])
    assert np.max(np.abs(grid[:, 0] - linear[::10, 0])) == pytest.approx(6e-3, abs=1e-3)
    assert names["system"].poles.real.max() == pytest.approx(4.82, abs=5e-3)
    zeros = names["system"].selected(outputs="x.q").zeros
    np.testing.assert_allclose(np.sort(zeros.real), [-4.43, 4.43], atol=5e-3)
    assert names["found"].inputs["x.tau"] == pytest.approx(3.75)
    np.testing.assert_allclose(names["about_it"].residual, [0.0, 0.0, 2.5, 0.0], atol=1e-9)
