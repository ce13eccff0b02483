"""What the README tells people to type works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for word, text in fenced if word == language]


def commands() -> list[str]:
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("kinetostat ")]
    return [line for line in lines if len(line.split()) > 2]  # not the one that opens a window, not --help


def test_there_are_commands_and_a_script():
    assert len(commands()) >= 4
    assert len(blocks("python")) == 1


def test_script(monkeypatch, capsys):
    import numpy as np

    monkeypatch.chdir(ROOT)
    names: dict = {}
    exec(compile(blocks("python")[0], "README.md", "exec"), names)
    assert len(capsys.readouterr().out) > 200
    assert np.linalg.eigvalsh(names["longer"]).min() > 0


@pytest.mark.parametrize("command", commands())
def test_command(command, tmp_path):
    words = shlex.split(command)[1:]
    words = [str(ROOT / word) if word.startswith("resources/") else word for word in words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if "-o" in words and "-" not in words:
        assert (tmp_path / words[words.index("-o") + 1]).stat().st_size > 10_000
    else:
        assert len(done.stdout) > 40
