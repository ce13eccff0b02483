"""`make run` from a clone: what is pinned, what is said where it cannot go on, what becomes of half an environment."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.project.pythons import TRIED

ROOT = Path(__file__).parents[2]
SETUP = ROOT / ".ci" / "setup"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLATFORM = {"sys_platform": "linux", "platform_system": "Linux", "extra": ""}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="make and bash are not there")


@pytest.fixture(scope="module")
def environment():
    """The module of `.ci`."""
    spec = importlib.util.spec_from_file_location("kinetostat_environment", ROOT / ".ci" / "environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins(python, *files):
    """Requirements that are pinned for a Python, by name."""
    found = {}
    for file in files:
        for line in (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                each = Requirement(line)
                if each.marker is None or each.marker.evaluate({**PLATFORM, "python_version": python}):
                    assert each.name not in found, f"{each.name} is pinned twice"
                    found[each.name] = next(iter(each.specifier)).version
    return found


@pytest.mark.parametrize("python", TRIED)
def test_what_is_pinned_is_within_the_bounds(python):
    extras = PROJECT["project"]["optional-dependencies"]
    needed = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]]
    for files, texts in ((["run.txt"], needed), (["run.txt", "dev.txt"], [*needed, *extras["dev"], *extras["xacro"]])):
        pinned = pins(python, *files)
        for text in texts:
            wanted = Requirement(text)
            assert pinned[wanted.name.lower()] in wanted.specifier, text


def test_pythons_that_are_tried_are_those_that_are_allowed():
    from packaging.specifiers import SpecifierSet

    allowed = SpecifierSet(PROJECT["project"]["requires-python"])
    assert tuple(f"3.{minor}" for minor in range(5, 40) if f"3.{minor}.0" in allowed) == TRIED


@pytest.mark.parametrize(("told", "said"), [("3.10 64", "is Python 3.10."), ("3.12 32", "is Python 3.12 of 32 bits.")])
def test_a_python_that_does_not_fit_is_named_with_the_remedy(tmp_path, told, said):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho {told}\n")
    python.chmod(0o755)
    place = tmp_path / "environment"
    done = subprocess.run(
        [SETUP, "run", place], env={**os.environ, "PYTHON": str(python)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"{python} {said}" in done.stderr
    assert "make run PYTHON=" in done.stderr
    assert not place.exists()


def test_half_an_environment_of_ours_is_made_again(environment, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(environment.venv, "create", lambda place, **_: made.append(place))
    place = tmp_path / "environment"
    assert not environment.make(place, "run")
    (place / "bin").mkdir()
    (place / "bin" / "pip").write_text("half of it")
    assert not environment.make(place, "run")
    assert made == [place, place]
    assert not (place / "bin").exists()
    assert (place / environment.UNFINISHED).exists()


def test_an_environment_that_was_moved_is_made_again(environment, tmp_path, monkeypatch):
    monkeypatch.setattr(environment.venv, "create", lambda place, **_: (place / "bin").mkdir())
    monkeypatch.setattr(environment, "runs", lambda *_: True)
    environment.make(tmp_path / "a", "run")
    (tmp_path / "a" / environment.UNFINISHED).unlink()
    (tmp_path / "a" / "kept").touch()
    environment.make(tmp_path / "a", "run")
    assert (tmp_path / "a" / "kept").exists()
    (tmp_path / "a" / environment.UNFINISHED).unlink()
    (tmp_path / "a").rename(tmp_path / "b")
    environment.make(tmp_path / "b", "run")
    assert not (tmp_path / "b" / "kept").exists()


def test_what_others_made_is_left_to_them(environment, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(environment.SetupError, match="something else made what is there"):
        environment.make(tmp_path, "run")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("(from versions: none)\nERROR: No matching distribution found for av==18.1.0", "No package index"),
        ("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] …')\nERROR: No matching distribution", "certificate"),
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "no space left on device"),
    ],
)
def test_other_versions_are_not_tried_where_they_cannot_help(environment, words, said):
    with pytest.raises(environment.SetupError, match=said):
        environment.give_up_where_it_is_vain(words)


def test_they_are_where_the_pinned_one_is_missing(environment):
    environment.give_up_where_it_is_vain(
        "ERROR: Could not find a version that satisfies the requirement av==18.1.0 (from versions: 12.0, 13.0)\n"
        "ERROR: No matching distribution found for av==18.1.0"
    )


def test_large_downloads_are_named(environment, capsys):
    for line in (
        "Collecting vtk==9.7.2 (from -r requirements/run.txt (line 40))",
        "  Downloading vtk-9.7.2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl (139.6 MB)",
        "  Downloading vtk-9.7.2-cp311-cp311-manylinux2014_x86_64.whl.metadata (5.5 kB)",
        "  Downloading https://example.net/cycler-0.12.1-py3-none-any.whl (8.3 kB)",
        "Installing collected packages: vtk, cycler, click",
    ):
        environment.report(line, [])
    assert capsys.readouterr().out.splitlines() == ["  vtk 9.7.2, 140 MB", "  unpacking 3 packages"]
