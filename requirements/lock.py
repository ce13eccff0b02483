"""Writes `requirements`: the newest versions within the bounds of `pyproject.toml`, resolved for each Python.

`make lock` calls `python -m requirements.lock`. Python 3.11 to 3.13 have to be on the machine: on PATH, in pyenv, or
named by $PYTHONS.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.project.pythons import TRIED, pythons

ROOT = Path(__file__).resolve().parents[1]
HEADS = {
    "run.txt": "What the program needs, and setuptools to enter a checkout into an environment",
    "dev.txt": "What tests and checks need besides",
}
HEAD = "# {}: versions that were tried together.\n# Made by `make lock` from the bounds in pyproject.toml; for Linux.\n"


def main() -> None:
    """The command."""
    here = pythons()
    if missing := [each for each in TRIED if each not in here]:
        sys.exit(f"Python {' and '.join(missing)} is not on this machine, so requirements stay as they are.")
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    run = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    files: dict[str, dict[str, dict[str, str]]] = {name: defaultdict(dict) for name in HEADS}
    for version in TRIED:
        print(f"Resolving for Python {version}", flush=True)
        all_pins = resolved(here[version], [*run, *extras["dev"], *extras["xacro"]])
        needed = resolved(here[version], run, all_pins)
        for name, pin in all_pins.items():
            files["run.txt" if name in needed else "dev.txt"][name][version] = pin
    for file, pins in files.items():
        lines = [line for name in sorted(pins) for line in requirements(name, pins[name])]
        (Path(__file__).parent / file).write_text(HEAD.format(HEADS[file]) + "\n".join(lines) + "\n", encoding="utf-8")


def resolved(python: str, wanted: Sequence[str], pins: dict[str, str] | None = None) -> dict[str, str]:
    """Versions that pip would install into an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder, "constraints.txt"), Path(folder, "report.json")
        constraints.write_text("\n".join(f"{name}=={pin}" for name, pin in (pins or {}).items()))
        pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--dry-run", "--ignore-installed", "-q")
        options = ("--only-binary", ":all:", "--constraint", str(constraints), "--report", str(report))
        subprocess.run([*pip, *options, *wanted], check=True, cwd=folder)
        found = [each["metadata"] for each in json.loads(report.read_text())["install"]]
    return {re.sub(r"[-_.]+", "-", each["name"]).lower(): each["version"] for each in found}


def requirements(name: str, pins: dict[str, str]) -> list[str]:
    """Lines of one package: one where all Pythons have the same version."""
    if len(pins) == len(TRIED) and len(set(pins.values())) == 1:
        return [f"{name}=={pins[TRIED[0]]}"]
    return [f"{name}=={pin}; python_version == '{version}'" for version, pin in pins.items()]


if __name__ == "__main__":
    main()
