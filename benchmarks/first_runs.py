"""Time of a first run, and of making the integrators' code.

    python -m benchmarks.first_runs [--repeat 3] [--set-up]

Each number is the smallest of several trials in fresh folders with empty caches. A wheel is built and unpacked as pip
does; a checkout is a copy without machine code. `--set-up` also clones the repository, and times `make run` in it, with
an empty environment and what pip downloads, and where there is a screen the window and its first F5. Seconds on the
clock depend on other work on the machine.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import startup
from tests.project.installation import built, copied

ROOT = Path(__file__).parents[1]
MACHINES = ("puma560", "ur5", "stewart", "squeezer")
CHANGED = ("stepping.py", "methods/step_state.py", "events/contact_steps.py", "events/fixed_contact_steps.py")
"""Files of `core/simulation` of which a number is changed."""
CODE = "core/machine_code/intermediate_code"
HEAD = """\
| first run of | from a wheel | processor | in a checkout | processor |
| --- | ---: | ---: | ---: | ---: |"""
FIRST = """
import json, sys, time
sys.path.insert(0, sys.argv[2])
clock, processor = time.perf_counter(), time.process_time()
import kinetostat as ks
ks.simulate(ks.load(sys.argv[1]), 1.0)
print(json.dumps([time.perf_counter() - clock, time.process_time() - processor, ks.__file__]))
"""


def first_run(machine: str, program: Path, repeat: int) -> tuple[float, float]:
    """Seconds from `import` to the end of a run of 1 s: on the clock, and of the processor."""
    trials = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as home:
            environment = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONPATH": str(program)}
            shutil.rmtree(program / CODE, ignore_errors=True)  # a wheel has its code elsewhere
            command = (sys.executable, "-c", FIRST, machine, program)
            done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=True)
            *seconds, file = json.loads(done.stdout)
            assert Path(file).is_relative_to(program), f"{file} was measured, not {program}"
            trials.append(seconds)
    return min(each[0] for each in trials), min(each[1] for each in trials)


def make_code(checkout: Path) -> float:
    """Processor time of making all code that is out of date."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = (sys.executable, "-m", "core.machine_code.making")
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    subprocess.run(command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def change_number(path: Path) -> None:
    """Change a number in a function of a file by a part in 10⁷."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    numbers = [
        node
        for function in functions
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value
    ]
    lines, number = text.encode().split(b"\n"), numbers[0]
    assert isinstance(number.value, float)
    line, changed = lines[number.lineno - 1], repr(number.value * 1.0000001).encode()
    lines[number.lineno - 1] = line[: number.col_offset] + changed + line[number.end_col_offset :]
    path.write_bytes(b"\n".join(lines))


def set_up(folder: Path) -> Iterator[tuple[str, float]]:
    """Seconds of `git clone` and `make run` up to the picture, and, where there is a screen, from a second clone up to
    the window's first picture, and from F5 at that moment to the first motion."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "TMPDIR") or name.startswith("PIP_")}
    yield "Clone to picture", _make(folder / "first", kept, "run")
    if "DISPLAY" in os.environ:
        clone = folder / "second" / "clone"
        seconds = _make(folder / "second", kept, ".venv/.ready-run")
        environment = {**kept, "HOME": str(clone.parent), "DISPLAY": os.environ["DISPLAY"]}
        example = str(clone / "resources/examples/puma560.kst")
        steps = startup.window(example, environment, "--simulate", python=clone / ".venv/bin/python", folder=clone)
        yield "Clone to window", seconds + steps[startup.PICTURE].wall
        yield "PUMA 560, F5 at once to motion", steps[startup.MOTION].wall - steps[startup.PICTURE].wall


def _make(folder: Path, environment: dict[str, str], target: str) -> float:
    """Seconds of cloning into a new folder with an empty home, and of making a target there."""
    folder.mkdir()
    began = time.perf_counter()
    subprocess.run(["git", "clone", "-q", ROOT, folder / "clone"], check=True)
    subprocess.run(["make", target], cwd=folder / "clone", env=environment | {"HOME": str(folder)}, check=True)
    return time.perf_counter() - began


def compile_to_byte_code(folder: Path) -> None:
    """As pip does when it installs a wheel, and Python when it first imports a module of a checkout."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_runs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--set-up", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        checkout = copied(folder / "checkout")
        wheel = folder / "wheel"
        with zipfile.ZipFile(built("wheel", copied(folder / "source"), folder)) as archive:
            archive.extractall(wheel)
        compile_to_byte_code(wheel)
        compile_to_byte_code(checkout)
        print(HEAD)
        for machine in MACHINES:
            seconds = *first_run(machine, wheel, options.repeat), *first_run(machine, checkout, options.repeat)
            print(f"| {machine} | {' | '.join(f'{each:.2f}' for each in seconds)} |", flush=True)
        shutil.rmtree(checkout / CODE, ignore_errors=True)
        print(f"\nProcessor time of all entries: {make_code(checkout):.1f} s", flush=True)
        for name in CHANGED:
            path = checkout / "core/simulation" / name
            kept = path.read_bytes()
            change_number(path)
            print(f"After a change of {name}: {make_code(checkout):.1f} s", flush=True)
            path.write_bytes(kept)
        if options.set_up:
            for step, seconds in set_up(folder):
                print(f"{step}: {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
