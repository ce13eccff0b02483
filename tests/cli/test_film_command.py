"""kinetostat film: runs and models become films of the size, rate and length asked for."""

import dataclasses

import av
import numpy as np
import pytest

from app.cli.main import cli
from core.files import load
from core.mechanism import Mechanism
from core.simulation.run.resampling import equilibrium_run
from resources import examples


def example(name):
    return next(each.path for each in examples() if each.name == name)


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    """A run in which the pendulum swings as a sine; nothing is integrated."""
    mech = Mechanism(load(example("pendulum")))
    t = np.linspace(0.0, 1.0, 51)
    q = 0.6 * np.outer(np.sin(4.0 * t), np.ones(mech.nv))
    v = 2.4 * np.outer(np.cos(4.0 * t), np.ones(mech.nv))
    still = equilibrium_run(mech, q[0])
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    dataclasses.replace(still, time=t, q=q, v=v, a=-16.0 * q, tau=np.zeros_like(v), x=np.zeros((51, 0))).save(path)
    return path


def frames(path):
    with av.open(str(path)) as file:
        return [(float(frame.time), frame.width, frame.height) for frame in file.decode(video=0)]


def test_a_run_becomes_a_film_with_exact_times_and_size(run_file, tmp_path, capsys):
    path = tmp_path / "film.mp4"
    arguments = ["film", str(run_file), "-o", str(path), "--fps", "25", "--size", "160x90", "--speed", "0.5"]
    arguments += ["--arrows", "velocity", "--from", "0.2", "--to", "0.8", "--camera", "front", "--look", "dark"]
    assert cli(arguments) == 0
    found = frames(path)
    assert len(found) == 31
    assert [time for time, _, _ in found] == pytest.approx(list(np.arange(31) / 25), abs=1e-9)
    assert {(width, height) for _, width, height in found} == {(160, 90)}
    assert "31 frames" in capsys.readouterr().out


def test_pictures_one_by_one(run_file, tmp_path):
    assert cli(["film", str(run_file), "-o", str(tmp_path / "a.png"), "--fps", "4", "--size", "64x48"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a_{k:04d}.png" for k in range(1, 6)]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-o", "film.avi"], 1, "is not a film format"),
        (["-o", "film.mp4", "--size", "101x91"], 1, "even width and height"),
        (["-o", "film.mp4", "--speed", "0"], 1, "must be positive"),
        (["-o", "film.mp4", "--arrows", "love"], 2, "is not one of"),
        (["-o", "film.mp4", "--arrows", "force:nobody"], 2, "There are:"),
        (["-o", "film.mp4", "--trace", "nobody"], 1, "whose path could be drawn"),
        (["-o", "film.mp4", "--size", "huge"], 2, "is not a size"),
    ],
)
def test_wrong_wishes_are_explained_and_nothing_is_written(
    run_file, tmp_path, monkeypatch, capsys, options, code, words
):
    monkeypatch.chdir(tmp_path)
    assert cli(["film", str(run_file), *options]) == code
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
