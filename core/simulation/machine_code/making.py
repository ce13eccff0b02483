"""`python -m core.simulation.machine_code.making [ENTRY …]`: make the intermediate code of entries.

Without names: of all that are missing, damaged, or made of other texts or by another compiler. Needs NumPy, Numba and
llvmlite, nothing else of what the program needs: it is run where the program is built.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context

import llvmlite.binding as llvm

from core.simulation.machine_code.intermediate import (
    FOLDER,
    Code,
    Unfit,
    compiler_is_there,
    entries,
    read,
    sources_of,
    unfit,
    write,
)

COMPILER = ("numba", "llvmlite")
SHARE = 4
"""Entries that are worth a process of their own: each infers the types of what entries share for itself."""
_ROOM = __package__.rpartition(".")[0]


def made_by() -> dict[str, str]:
    """The versions that count."""
    return {name: version(name) for name in COMPILER}


def outdated() -> list[str]:
    """The entries that are not there as they would be made now; without a compiler those that are of no use."""
    if not compiler_is_there():
        return list(unfit(entries()))
    return [name for name in entries() if not _is_current(name)]


def _is_current(name: str) -> bool:
    try:
        return read(name).made_by == made_by()
    except Unfit:
        return False


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Inside, no other process makes entries; where folders have no locks they are made twice."""
    FOLDER.mkdir(exist_ok=True)
    if os.name != "posix":
        yield
        return
    import fcntl

    folder = os.open(FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def make(names: Sequence[str]) -> None:
    """Make entries that nobody else has made meanwhile."""
    with alone():
        wanted = [name for name in names if not _is_current(name)]
        if not wanted:
            return
        processes = min(os.cpu_count() or 1, len(wanted) // SHARE)
        if processes > 1:
            with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
                list(pool.map(_make, wanted))
        else:
            for name in wanted:
                _make(name)
        kept = set(entries())
        for path in FOLDER.glob("*.bc"):
            if path.stem not in kept:
                path.unlink(missing_ok=True)


def _make(name: str) -> None:
    from core.simulation.machine_code.compiler import compiled

    module, _, function = name.rpartition(".")
    bitcode, needed = compiled(getattr(import_module(f"{_ROOM}.{module}"), function))
    write(name, Code(bitcode, needed, sources_of(module), made_by(), list(llvm.llvm_version_info)))


if __name__ == "__main__":
    names = sys.argv[1:] or outdated()
    if names and not compiler_is_there():
        sys.exit("The integrators' code cannot be made, for their compiler is missing: pip install numba")
    make(names)
