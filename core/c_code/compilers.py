"""C compilers of this computer, and what they say of generated code."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
OPTIMISED, PLAIN = "-O2", "-O0"
"""Code to be kept, whose time is told; code that is only tried: a third of the compiler's time, the same numbers."""
LOOK = 0.1
"""Seconds between two looks at whether to go on."""
LONGEST = 300.0
"""Seconds that a compiler, or the program that it made, may take."""


class Trial(NamedTuple):
    """What came of building and running the test: passed is None where there is no compiler."""

    passed: bool | None
    words: str
    """For a person."""
    seconds: str = ""
    """How long steps took on this computer, for a person; another time it is something else."""


def compiler() -> list[str] | None:
    """The command of a C compiler; None if there is none."""
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    return None


def tried(folder: Path, name: str, progress: Callable[[str], None], called: str, optimised: bool = True) -> Trial:
    """Build NAME_test in a folder, which will be `called` so, and run it; progress is called again and again."""
    command = compiler()
    how = f"`make` in {called}, or `cc -std=c99 -O2 {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test`"
    if command is None:
        return Trial(
            None, f"Not yet tried, for there is no C compiler here (pip install ziglang brings one). Try {how}."
        )
    program = folder / f"{name}_test"
    files = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    try:
        flags = (*STRICT, OPTIMISED if optimised else PLAIN)
        built = ran([*command, *flags, *files, "-o", str(program), "-lm"], folder, progress)
        if built.returncode:
            return Trial(False, f"The compiler ({_version(command)}) refused it:\n{built.stderr[-2000:]}")
        run = ran([str(program), str(folder / f"{name}_reference.csv")], folder, progress)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(False, f"It could not be tried: {error}. Try {how}.")
    finally:
        program.unlink(missing_ok=True)
    verdict, _, seconds = run.stdout.strip().partition("\n")
    verdict = verdict or f"the program ended with status {run.returncode}"
    return Trial(run.returncode == 0, f"{_version(command)}: {verdict}.", seconds)


def ran(
    command: list[str], folder: Path, progress: Callable[[str], None] = lambda _: None
) -> subprocess.CompletedProcess[str]:
    """A command carried out; what `progress` raises ends it."""
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        begin = time.monotonic()
        try:
            while True:
                try:
                    out, err = process.communicate(timeout=LOOK)
                    return subprocess.CompletedProcess(command, process.returncode, out, err)
                except subprocess.TimeoutExpired:
                    progress("Building and trying the code")
                    if time.monotonic() - begin > LONGEST:
                        raise
        finally:
            if process.poll() is None:
                process.kill()


def _version(command: list[str]) -> str:
    try:
        lines = ran([*command, "--version"], Path.cwd()).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        lines = []
    return lines[0] if lines else " ".join(command)
