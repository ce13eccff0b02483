"""`kinetostat study`: rows, files, resuming, exit codes; numbers against closed forms."""

import json

import numpy as np
import pytest

import kinetostat as ks
from app.cli import study as study_command
from app.cli.main import cli

G, T = 9.81, 0.4


@pytest.fixture
def stone(tmp_path):
    """A stone thrown up, as a file."""
    model = ks.Model(
        name="stone",
        parameters=(ks.Parameter(name="m", value=2.0, dimension="mass"),),
        bodies=(ks.Body(name="stone", mass="m"),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
    )
    path = tmp_path / "stone.kst"
    ks.save(model, path)
    return path


def study(stone, *more):
    motion = ("--duration", str(T), "--method", "rk4", "--step", "1 ms", "--record", "end=at(z.q, end)")
    return cli(["study", str(stone), *motion, *more])


def test_numbers_of_rows_are_those_of_closed_forms(stone, tmp_path, capsys):
    assert study(stone, "--grid", "z.v=1:2:3", "--curve", "path=z.q@0.1", "-o", str(tmp_path / "s.h5"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    ends = np.array([1.0, 1.5, 2.0]) * T - 0.5 * G * T**2
    assert told["done"] == 3
    assert told["recorded"]["end"]["mean"] == pytest.approx(ends.mean(), abs=1e-12)
    assert told["recorded"]["end"]["unit"] == "m"
    found = ks.StudyResult.load(tmp_path / "s.h5")
    assert np.allclose(found.table["end"], ends, atol=1e-12)
    assert found.curve("path")[1].shape == (3, 5)


def test_ctrl_c_finishes_what_is_in_hand_and_says_how_to_go_on(stone, tmp_path, capsys, monkeypatch):
    file, asked = str(tmp_path / "s.h5"), ("--sample", "z.v=normal(1, 0.1)", "-n", "40", "--seed", "3")
    with monkeypatch.context() as patch:
        patch.setattr(study_command.Interruption, "should_stop", lambda self: self.begun)
        assert study(stone, *asked, "-o", file) == 130
    assert "with --resume to continue" in capsys.readouterr().err
    before = ks.StudyResult.load(file)
    assert 0 < len(before) < 40
    assert study(stone, *asked, "-o", file) == 1  # the file is there already
    assert study(stone, *asked, "-o", file, "--resume") == 0
    after = ks.StudyResult.load(file)
    assert len(after) == 40
    done = before.rows.done
    assert np.array_equal(after.rows.results[done], before.rows.results[done])


def test_exit_codes_tell_whether_all_rows_failed(stone, tmp_path, capsys):
    assert study(stone, "--grid", "m=-1,2", "-o", str(tmp_path / "s.csv")) == 0
    assert "1 failed" in capsys.readouterr().out
    assert "refused" in (tmp_path / "s.csv").read_text()
    assert study(stone, "--grid", "m=-1,-2") == 1
    assert "negative" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--grid", "mm=1,2"), "There is no quantity 'mm' that can be varied"),
        (("--grid", "m=1:2:x"), "'x' is not a number of values"),
        (("--sample", "m=normal(2)"), "normal takes 2 numbers"),
        (("--grid", "m=1", "--resume"), "--resume continues an .h5 file"),
        (("--grid", "m=1", "-o", "a.txt"), "neither .h5"),
        (("--grid", "m=1", "--cores", "x"), "neither a number of cores nor all"),
        ((), "Nothing is varied"),
    ],
)
def test_what_cannot_be_meant_is_said(stone, more, said, capsys):
    assert study(stone, *more) in (1, 2)
    told = capsys.readouterr()
    assert said in told.err + told.out
