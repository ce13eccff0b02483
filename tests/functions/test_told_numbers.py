"""Texts of results on all examples: no number of rounding size, no “1 poses”."""

import re

import pytest

from core.files import load
from core.functions import Context, call
from resources import EXAMPLES
from tests.walks import walk

ROUNDING = re.compile(r"10⁻[¹²][⁰¹²³⁴⁵⁶⁷⁸⁹]")
PLURALS = re.compile(r"(?<![\d.,])1 (poses|ways|solutions|freedoms|constraints are|dimensions|branches|loops)\b")
FUNCTIONS = (
    "forward_kinematics",
    "jacobian",
    "manipulability",
    "energy",
    "gravity",
    "inverse_dynamics",
    "instantaneous_screw",
    "static_equilibrium",
    "planarity",
    "coordinates",
)


@pytest.mark.parametrize("name", walk(sorted(path.stem for path in EXAMPLES.glob("*.kst"))))
def test_what_is_told_is_known(name):
    context = Context.of(load(EXAMPLES / f"{name}.kst"))
    for function in FUNCTIONS:
        text = call(function, context).to_text()
        assert not ROUNDING.search(text), function
        assert not PLURALS.search(text), function


@pytest.mark.parametrize("name", ["body_on_springs", "four_bar", "pendulum", "stewart"])
def test_modes_are_told_without_what_rounding_leaves_of_zeros(name):
    text = call("linearise", Context.of(load(EXAMPLES / f"{name}.kst"))).to_text()
    assert not ROUNDING.search(text)
    assert not PLURALS.search(text)
