"""The example in docs/native_file.md is a machine, written as the program writes it."""

import re
from pathlib import Path

import numpy as np

from core.files import dumps, loads
from core.kernel import Mechanism

PAGE = (Path(__file__).parents[2] / "docs" / "native_file.md").read_text(encoding="utf-8")


def test_the_example_is_canonical_and_moves():
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1)
    model = loads(text, "kst")
    assert dumps(model, "kst") == text
    mech = Mechanism(model)
    hook = mech.frame(mech.rest(), "hook")[:3, 3]
    np.testing.assert_allclose(hook, [1.2 * np.cos(np.pi / 6), 1.2 * np.sin(np.pi / 6), 1.5], atol=1e-12)
    np.testing.assert_allclose(mech.frame([0.0], "hook", p={"reach": 2.0})[:3, 3], [2.0, 0.0, 1.5], atol=1e-12)
