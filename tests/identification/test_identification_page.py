"""The page on identification says what is so: its script runs, and finds what the model has."""

import re
from pathlib import Path

import numpy as np

PAGE = (Path(__file__).parents[2] / "docs" / "identification.md").read_text(encoding="utf-8")


def test_the_script_of_the_page_does_what_the_page_says():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
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
