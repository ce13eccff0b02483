"""The examples in docs/native_file.md are machines, written as the program writes them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files import check, dumps, loads
from core.mechanism import Mechanism

PAGE = (Path(__file__).parents[2] / "docs" / "native_file.md").read_text(encoding="utf-8")


def test_the_example_is_canonical_and_moves():
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1)
    model = loads(text, "kst")
    assert dumps(model, "kst") == text
    mech = Mechanism(model)
    hook = mech.frame(mech.rest(), "hook")[:3, 3]
    np.testing.assert_allclose(hook, [1.2 * np.cos(np.pi / 6), 1.2 * np.sin(np.pi / 6), 1.5], atol=1e-12)
    np.testing.assert_allclose(mech.frame([0.0], "hook", p={"reach": 2.0})[:3, 3], [2.0, 0.0, 1.5], atol=1e-12)


def test_all_examples_are_canonical(tmp_path):
    texts = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(texts) == 5
    (tmp_path / "crane.kst").write_text(texts[0], encoding="utf-8")
    for text in texts:
        model = loads(text, "kst", origin=str(tmp_path / "page.kst"))
        assert dumps(model, "kst") == text
        assert [f for f in check(model) if f.severity != "hint"] == []
    pair, lever = loads(texts[1], origin=str(tmp_path / "page.kst")), Mechanism(loads(texts[4]))
    assert pair.values() == {"long": 1.6, "left.reach": 1.6, "right.reach": 1.2}
    np.testing.assert_allclose(lever.frame([0.0], "lever")[:3, 3], [0.2, 0.0, 0.5], atol=1e-15)


def test_the_example_in_python_runs():
    """A rod whose spring holds it: it starts where it is asked to, and loses energy to its damper."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    made: dict[str, Any] = {}
    exec(code, made)
    assert made["run"]["elbow.q"][0] == 0.3
    assert made["run"]["tip.position"][0] == pytest.approx([1.2 * np.cos(0.3), 0.0, -1.2 * np.sin(0.3)])
    assert made["run"]["energy.total"][-1] < made["run"]["energy.total"][0]
