"""The wheel, tried in fresh environments: each Python on this machine, with newest and with lowest libraries.

    python -m tests.project.matrix [--python 3.12] [--newest-python] [--bounds newest|lowest] [--keep]

The wheel is built once. Each cell of the matrix is an environment of its own: what the wheel asks for is installed
from the package index, in its newest versions or at the lower bounds of `pyproject.toml`, and the program is used in an
empty folder. What is missing on the machine is named. Ends with 1 if a cell fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from tests.project.installation import ENVIRONMENT, ROOT, built, copied
from tests.project.pythons import REFUSED, TRIED, pythons

FOLDER = ROOT / "build" / "matrix"
BOUNDS = ("newest", "lowest")
LIMIT = 900.0
"""Seconds after which a step is given up."""


@dataclass
class Cell:
    """What came of one environment."""

    python: str
    """Its version, "3.12.1"."""
    bounds: str
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """Last words of steps that failed."""
    missing: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class StepError(Exception):
    """A step failed; the text is its last words."""


# ------------------------------------------------------------------------------- what is tried


def steps(programs: Path) -> dict[str, list[str | Path]]:
    """The command of each step."""
    python, command, script = (
        programs / "python",
        programs / "kinetostat",
        ROOT / "tests" / "project" / "matrix_steps.py",
    )
    varied = ("--grid", "pin.v=1:2:8", "--record", "end=at(pin.q, end)", "--duration", "1", "--cores", "2")
    filmed = ("--duration", "1", "--fps", "10", "--size", "320x240")
    return {
        "imports": [python, script, "imports"],
        "info": [command, "info", "puma560.kst", "--json"],
        "tree": [command, "run", "triple_pendulum.kst", "--duration", "1", "-o", "tree.csv"],
        "loop": [command, "run", "four_bar.kst", "--duration", "1", "-o", "loop.csv"],
        "friction": [command, "run", "braked_arm.kst", "--duration", "1", "-o", "friction.csv"],
        "film": [command, "film", "pendulum.kst", *filmed, "-o", "film.mp4"],
        "C code": [command, "write-c-code", "damped_pendulum.kst", "--folder", "code"],
        "study": [command, "study", "damped_pendulum.kst", *varied, "-o", "study.csv"],
        "window": [ROOT / ".ci" / "with_screen", python, script, "window", "puma560.kst"],
    }


LEFT = {
    "tree": "tree.csv",
    "loop": "loop.csv",
    "friction": "friction.csv",
    "film": "film.mp4",
    "C code": "code",
    "study": "study.csv",
}
"""What a step leaves behind."""
MACHINES = ("puma560", "triple_pendulum", "four_bar", "braked_arm", "pendulum", "damped_pendulum")


def absent() -> dict[str, str]:
    """Steps of which this machine lacks something, and what."""
    found = {}
    if not any(shutil.which(each) for each in ("cc", "gcc", "clang")):
        found["C code"] = "no C compiler: the code is written, but not built"
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or shutil.which("Xvfb")):
        found["window"] = "no screen and no Xvfb"
    return found


# ------------------------------------------------------------------------------- a cell


def tried(cell: Cell, python: str, wheel: Path, keep: bool) -> None:
    """Fill in a cell."""
    folder = FOLDER / f"{cell.python}-{cell.bounds}"
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    programs = folder / "environment" / "bin"
    environment = surroundings(folder)
    ready = _timed(cell, "install", lambda: _install(cell, python, wheel, folder, environment))
    if ready:
        for machine in MACHINES:
            _said([programs / "kinetostat", "examples", machine, "-o", "."], work, environment)
        cell.missing = absent()
        for name, command in steps(programs).items():
            if name == "window" and name in cell.missing:
                continue
            _timed(cell, name, partial(_step, name, command, work, environment))
    if not keep:
        shutil.rmtree(folder / "environment", ignore_errors=True)


def surroundings(folder: Path) -> dict[str, str]:
    """Variables for programs of a cell: nobody's settings, nothing compiled before."""
    kept = {name: str(folder / "home" / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")}
    return {**ENVIRONMENT, **kept, "KINETOSTAT_CACHE": str(folder / "home" / "code")}


def _install(cell: Cell, python: str, wheel: Path, folder: Path, environment: dict[str, str]) -> None:
    place = folder / "environment"
    _said([python, "-m", "venv", place], folder, environment)
    pip: list[str | Path] = [place / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    options: list[str | Path] = ["--only-binary", ":all:", "--no-compile"]
    if cell.bounds == "lowest":
        constraints = folder / "constraints.txt"
        pins = lowest(pip, cell, folder, environment)
        constraints.write_text("".join(f"{name}=={pin}\n" for name, pin in pins.items()), encoding="utf-8")
        options += ["--constraint", constraints]
    _said([*pip, *options, wheel], folder, environment)
    listed = _said([place / "bin" / "python", "-m", "pip", "list", "--format", "freeze"], folder, environment)
    (FOLDER / f"{cell.python}-{cell.bounds}.txt").write_text(listed, encoding="utf-8")


def lowest(pip: list[str | Path], cell: Cell, folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """The lower bound of each requirement; where it has no wheel for this Python, the lowest version that has one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [Requirement(text) for text in project["dependencies"]]
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda each: wheels(pip, each, folder, environment), wanted))
    pins = {}
    for each, there in zip(wanted, fits, strict=True):
        (bound,) = [part.version for part in each.specifier if part.operator == ">="]
        if not there:
            raise StepError(f"no wheel of {each} for this Python")
        pins[each.name] = str(min(there))
        if min(there) != Version(bound):
            cell.notes.append(f"{each.name} {min(there)} is the lowest with a wheel (bound {bound})")
    return pins


def wheels(pip: Sequence[str | Path], wanted: Requirement, folder: Path, environment: dict[str, str]) -> list[Version]:
    """Versions within the bounds that have a wheel for an environment's Python."""
    nothing = f"{wanted.name}==0.0.dev0"  # pip then says what there is
    asked = [*pip, "--only-binary", ":all:", "--no-deps", "--dry-run", "--ignore-installed", nothing]
    told = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True).stderr
    there = re.search(r"from versions: (\d[^)]*)\)", told)
    found = [Version(each) for each in there[1].split(", ")] if there else []
    return [each for each in found if each in wanted.specifier]


def _step(name: str, command: Sequence[str | Path], work: Path, environment: dict[str, str]) -> None:
    told = _said(command, work, environment)
    if name in LEFT and not (work / LEFT[name]).exists():
        raise StepError(f"{LEFT[name]} was not written")
    if name == "C code" and not absent().get(name) and "passed" not in told:
        raise StepError(f"the code was not tried: {_last_words(told)}")


def _timed(cell: Cell, name: str, work: Callable[[], object]) -> bool:
    began = time.monotonic()
    try:
        work()
    except (StepError, OSError) as error:
        cell.failed[name] = str(error)
    cell.seconds[name] = time.monotonic() - began
    outcome = f"FAILED: {cell.failed[name]}" if name in cell.failed else f"{cell.seconds[name]:.1f} s"
    print(f"  Python {cell.python}, {cell.bounds}: {name} {outcome}", flush=True)
    return name not in cell.failed


def _said(command: Sequence[str | Path], folder: Path, environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=-3, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise StepError(f"not done after {LIMIT:.0f} s") from error
    if done.returncode:
        raise StepError(f"exit code {done.returncode}: {_last_words(done.stderr or done.stdout)}")
    return done.stdout


def _last_words(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "not a word")[-300:]


def refused(cell: Cell, python: str, wheel: Path) -> None:
    """A Python that is too new: pip has to say so."""
    place = FOLDER / f"{cell.python}-refused"
    shutil.rmtree(place, ignore_errors=True)

    def refuse() -> None:
        _said([python, "-m", "venv", place], FOLDER, ENVIRONMENT)
        asked = [place / "bin" / "python", "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", wheel]
        done = subprocess.run(asked, env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode == 0 or "requires a different Python" not in done.stderr:
            raise StepError(f"it was not refused: {_last_words(done.stderr or done.stdout)}")

    _timed(cell, "refused", refuse)
    shutil.rmtree(place, ignore_errors=True)


# ------------------------------------------------------------------------------- the command


def table(cells: Sequence[Cell]) -> str:
    """Seconds of all steps."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.seconds))
    rows = [["Python", "libraries", *names]]
    for cell in cells:
        rows.append([cell.python, cell.bounds, *(_entry(cell, name) for name in names)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "─" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]])


def _entry(cell: Cell, name: str) -> str:
    if name in cell.failed:
        return "FAILED"
    if name in cell.seconds:
        return f"{cell.seconds[name]:.1f}"
    return "missing" if name in cell.missing else "–"


def remarks(cells: Sequence[Cell], here: dict[str, str]) -> list[str]:
    """What failed, what is missing, what is not as the table has it."""
    found = [
        f"Python {cell.python}, {cell.bounds}: {name} failed: {words}"
        for cell in cells
        for name, words in cell.failed.items()
    ]
    found += [
        f"Missing: Python {version} is not on this machine" for version in (*TRIED, *REFUSED) if version not in here
    ]
    found += list(dict.fromkeys(f"Missing for {name}: {what}" for cell in cells for name, what in cell.missing.items()))
    return found + [f"Python {cell.python}, {cell.bounds}: {note}" for cell in cells for note in cell.notes]


def _version(python: str) -> str:
    return subprocess.check_output(
        [python, "-c", "import platform; print(platform.python_version())"], text=True
    ).strip()


def main(words: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.project.matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", choices=(*TRIED, *REFUSED), help="only this one (repeat)")
    parser.add_argument("--newest-python", action="store_true", help="only the newest that is here")
    parser.add_argument("--bounds", action="append", choices=BOUNDS, help="only these versions of libraries")
    parser.add_argument("--keep", action="store_true", help="keep the environments in build/matrix")
    options = parser.parse_args(words)
    here = pythons()
    chosen = options.python or ([max(set(here) & set(TRIED))] if options.newest_python else list(here))
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("Building the wheel", flush=True)
    wheel = built("wheel", copied(FOLDER / "source"), FOLDER)
    cells = []
    for version in (each for each in chosen if each in here):
        for bounds in options.bounds or BOUNDS if version in TRIED else ("–",):
            cell = Cell(_version(here[version]), bounds)
            cells.append(cell)
            if version in TRIED:
                tried(cell, here[version], wheel, options.keep)
            else:
                refused(cell, here[version], wheel)
    print("", table(cells), "", *remarks(cells, here), sep="\n", flush=True)
    return int(not cells or any(cell.failed for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
