"""Poses and speeds named on the command line are kept, with units and as a run's channels are called."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.cli.main import cli
from core.simulation import Run
from resources import EXAMPLES, examples
from tests.mechanism.test_poses_by_name import LOOPED, closed_poses, machine

FOUR_BAR = str(EXAMPLES / "four_bar.kst")
PATHS = {example.name: str(example.path) for example in examples()}


@pytest.fixture
def run(capsys):
    """Run a command: (exit code, output, error output)."""

    def command(*arguments):
        capsys.readouterr()
        code = cli([str(a) for a in arguments])
        return code, *capsys.readouterr()

    return command


def poses(mech, q):
    return [word for name, x in zip(mech.q_names, q, strict=True) for word in ("--pose", f"{name}={float(x)!r}")]


@pytest.mark.parametrize("name", LOOPED)
def test_a_closed_pose_by_all_its_names_is_the_pose(name, run):
    mech = machine(name)
    q = closed_poses(mech, 1)[0]
    code, out, err = run("info", PATHS[name], "--json", *poses(mech, q))
    assert (code, err) == (0, "")
    shown = [each["value"] for each in json.loads(out)["coordinates"]]
    np.testing.assert_allclose(shown, q, rtol=0.0, atol=1e-9)


def test_values_that_contradict_each_other_are_an_error(run):
    mech = machine("four_bar")
    q = closed_poses(mech, 1)[0].copy()
    q[2] += 0.1
    code, out, err = run("info", FOUR_BAR, "--json", *poses(mech, q))
    assert code != 0
    assert out == ""
    assert "'crank_pin'" in err
    assert "5.73° from" in err


def test_what_is_out_of_reach_is_an_error(run):
    code, _, err = run("info", PATHS["slider_crank"], "--pose", "cylinder=9 m")
    assert code != 0
    assert "coordinate 'cylinder'" in err


def test_beyond_a_limit_is_said_and_kept(run):
    code, out, err = run("info", str(EXAMPLES / "puma560.kst"), "--json", "--pose", "joint1=300 deg")
    assert code == 0
    assert "joint1" in err
    assert "beyond its limit" in err
    assert json.loads(out)["coordinates"][0]["value"] == pytest.approx(np.radians(300.0))


@pytest.mark.parametrize(
    ("given", "value"),
    [("crank_pin=30 deg", np.pi / 6), ("crank_pin.q=30°", np.pi / 6), ("crank_pin=pi/6", np.pi / 6)],
)
def test_units_and_names_of_channels(given, value, run):
    code, out, _ = run("info", FOUR_BAR, "--json", "--pose", given)
    assert code == 0
    assert json.loads(out)["coordinates"][0]["value"] == pytest.approx(value, abs=1e-12)


def test_all_coordinates_of_a_joint_with_commas(run):
    stewart = machine("stewart")
    foot = stewart.q_names[0].rsplit(".", 1)[0]
    several = [name for name in stewart.q_names if name.rsplit(".", 1)[0] == foot]
    code, _, err = run("info", PATHS["stewart"], "--json", "--pose", f"{foot}=1")
    assert code == 2
    assert ", ".join(several) in err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--pose=crank_pn=1", "There is no coordinate or parameter 'crank_pn'. Did you mean crank_pin"),
        ("--v0=crank_pn=1", "There is no speed 'crank_pn'. Did you mean crank_pin"),
        ("--pose=moving_pin_b=1 m", "'m' is a unit for a length"),
        ("--v0=moving_pin_b=1 m/s", "'m/s' has the wrong dimension"),
        ("--q0=crank_pin=1 m", "'m' is a unit for a length"),
    ],
)
def test_wrong_names_are_told_with_those_that_are_like_them(option, said, run):
    code, _, err = run("run", FOUR_BAR, "--duration", "1 ms", option)
    assert code == 2
    assert said in err


def test_a_run_begins_where_it_is_told(run, tmp_path):
    mech = machine("four_bar")
    q = closed_poses(mech, 1)[0]
    named = [word.replace("--pose", "--q0") for word in poses(mech, q)]
    file = tmp_path / "run.h5"
    code, _, err = run("run", FOUR_BAR, "--duration", "2 ms", "-o", file, *named, "--v0", "crank_pin.v=10 rpm")
    assert code == 0, err
    kept = Run.load(file)
    np.testing.assert_allclose(kept.q[0], q, rtol=0.0, atol=1e-9)
    assert kept["crank_pin.v"][0] == pytest.approx(np.pi / 3.0, rel=1e-6)
