"""Scripts that build a model: every shipped machine comes out as it was; they are never read as models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kinetostat as ks
from resources import examples

KST = {Path(each.path).stem: str(each.path) for each in examples() if Path(each.path).suffix == ".kst"}


@pytest.mark.parametrize("name", KST)
def test_a_script_builds_the_machine_it_was_made_of(name: str) -> None:
    model = ks.load(KST[name])
    room: dict[str, object] = {"__name__": "script", "__file__": KST[name]}
    exec(compile(ks.dumps(model, "python"), f"{name}.py", "exec"), room)
    assert room["model"] == model


def test_a_script_runs(tmp_path: Path) -> None:
    path = tmp_path / "four_bar.py"
    (only,) = ks.save(ks.load(KST["four_bar"]), path)
    assert "can only be written, not read" in only.text  # so that a document keeps its own file
    root = str(Path(ks.__file__).parent)
    run = subprocess.run(
        [sys.executable, str(path)], env={"PYTHONPATH": root, "PATH": ""}, capture_output=True, text=True, check=True
    )
    assert "1 degrees of freedom" in run.stdout


def test_scripts_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "arm.py"
    path.write_text(ks.dumps(ks.load(KST["ur5"]), "python"))
    with pytest.raises(ks.errors.FileError, match="can only be written, not read"):
        ks.load(path)
