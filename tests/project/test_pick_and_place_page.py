"""docs/pick_and_place.md: its script runs, its table has what the script prints, and statics confirms the torques."""

import re
from pathlib import Path

import numpy as np
import pytest

from docs.make_pick_and_place import run_script

PAGE = (Path(__file__).parents[2] / "docs" / "pick_and_place.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names():
    return run_script(PAGE)


def test_the_table_has_the_torques_of_the_script(names):
    rows = re.findall(r"^\| (?:without|with) the part \| (.*) \|$", PAGE, re.MULTILINE)
    for row, run in zip(rows, (names["empty"], names["loaded"]), strict=True):
        largest = [np.abs(run[f"{joint}.tau"]).max() for joint in names["path"].mech.v_names]
        assert np.allclose([float(number) for number in row.split("|")], largest, atol=0.051)


def test_the_part_adds_its_weight_at_rest(names):
    """τ with the part − τ without it = Jᵀ F with the force that bears its weight at the tool's origin."""
    mech, empty, loaded = names["path"].mech, names["empty"], names["loaded"]
    J = mech.jacobian(empty.q[0], "tool")[3:]
    assert np.allclose(loaded.tau[0] - empty.tau[0], J.T @ [0.0, 0.0, 3.0 * 9.81], atol=1e-6)


def test_the_controller_with_the_true_mass_follows_the_motion(names):
    """Off by what a period of 1 ms makes; a wrong mass makes it sag."""
    assert names["errors"][3.0] < 5e-4
    assert names["errors"][2.5] > 20.0 * names["errors"][3.0]
