"""C compilers of this computer, and test builds of generated code."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from core.apart.starting import ROOT, Finished, environment, finished, program, python

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
OPTIMISED, PLAIN = "-O2", "-O0"
"""Compiler options for code that is kept and timed, and for code that is only tested: a third of the compile time,
identical results."""
LONGEST, TELLING = 300.0, 10.0
"""Time limits, s: for a compiler or the test program, and for printing the compiler's version."""


class Trial(NamedTuple):
    """Result of building and running the test; `passed` is None without a compiler."""

    passed: bool | None
    words: str
    """Result as a text for the user."""
    seconds: str = ""
    """Duration of the steps on this computer as a text for the user; it varies from run to run."""


def compiler() -> list[str] | None:
    """Return the command of a C compiler; None if there is none."""
    for name in ("cc", "gcc", "clang"):
        if found := program(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return python("ziglang", "cc")
    return None


def tried(folder: Path, name: str, progress: Callable[[str], None], called: str, optimised: bool = True) -> Trial:
    """Build NAME_test in a folder, shown to the user as `called`, and run it; progress is called repeatedly."""
    command = compiler()
    how = f"`make` in {called}, or `cc -std=c99 -O2 {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test`"
    if command is None:
        return Trial(
            None,
            f"Not yet tested, because there is no C compiler here (pip install ziglang provides one). Run {how}.",
        )
    trial = folder / f"{name}_test"
    files = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    try:
        flags = (*STRICT, OPTIMISED if optimised else PLAIN)
        built = ran([*command, *flags, *files, "-o", str(trial), "-lm"], folder, progress)
        if built.code:
            return Trial(
                False, f"The compiler ({_version(command)}) rejected the code:\n{text_of(built.errors)[-2000:]}"
            )
        run = ran([str(trial), str(folder / f"{name}_reference.csv")], folder, progress)
    except OSError as error:
        return Trial(False, f"The code could not be tested: {error}. Run {how}.")
    finally:
        trial.unlink(missing_ok=True)
    verdict, _, seconds = text_of(run.output).strip().partition("\n")
    verdict = verdict or f"the program ended with status {run.code}"
    return Trial(run.code == 0, f"{_version(command)}: {verdict}.", seconds)


def ran(
    command: list[str], folder: Path, progress: Callable[[str], None] = lambda _: None, limit: float = LONGEST
) -> Finished:
    """Run a command; an exception raised by `progress` ends it and its children. Raises OSError if it cannot be started
    or exceeds `limit` s."""
    return finished(
        command, folder, limit=limit, own=environment(), look=lambda: progress("Building and testing the code")
    )


def text_of(content: bytes) -> str:
    """Decode the output of a compiler or program."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _version(command: list[str]) -> str:
    try:
        lines = text_of(ran([*command, "--version"], ROOT, limit=TELLING).output).splitlines()
    except OSError:
        lines = []
    return lines[0] if lines else " ".join(command)
