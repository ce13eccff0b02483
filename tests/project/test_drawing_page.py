"""docs/drawing.md says what Draw does: its script runs, its keys are those of the sub-tools."""

import re
from pathlib import Path

import pytest

from app.tools.draw.sub_tools import SUB_TOOLS
from core.mechanism import Mechanism

PAGE = (Path(__file__).parents[2] / "docs" / "drawing.md").read_text(encoding="utf-8")


def test_the_script_makes_what_it_says():
    names: dict = {}
    exec(compile(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], "drawing.md", "exec"), names)
    model, run = names["model"], names["run"]
    assert model.values()["l1"] == 0.1
    turned = run["A"][-1] - run["A"][0]
    assert turned == pytest.approx(2.0 * 3.141592653589793, abs=1e-9)  # one turn a second
    assert Mechanism(names["crank"]).joint_names[-1] == names["crank"].joints[-1].name


def test_every_sub_tool_has_its_row():
    keys = re.findall(r"\| ([A-Z]) \|", PAGE)
    assert {key.lower() for key in keys} - {"v"} == set(SUB_TOOLS)
