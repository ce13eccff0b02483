"""Command `python -m core.machine_code.making [ENTRY …]`: compile entry points to bitcode.

Without names: of all that are missing, damaged, or made from other texts or by another LLVM. Needs NumPy and llvmlite,
nothing else of what the program needs: it runs where the program is built. Each line of its output names an entry that
is ready. With `--alone` it begins no further processes. With `--idle` it works in one process at low priority, for as
long as its input stays open, and also makes the object code of all entries for this computer; entries named in its
input come first. With `--ship` it also makes object code of all entries that goes into a wheel.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from importlib import import_module

import llvmlite.binding as llvm

from core.apart.starting import Subprocess
from core.machine_code.intermediate import (
    StoredCode,
    UnusableCode,
    entry_point_names,
    find_stored_code,
    hash_sources,
    installed_llvmlite_version,
    lock_while_compiling,
    read,
    write_code,
)
from core.machine_code.shipped_code import write_shipped_code

IDLE, ALONE, SHIP = "--idle", "--alone", "--ship"
OBJECT = "object code of "
"""Prefix of output lines that name an entry point whose object code is ready."""
SHARE = 4
"""Smallest number of entry points for which another process pays off."""
FIRST = tuple(
    f"simulation.{each}"
    for each in ("equations.entry_points.tree", "methods.runge_kutta", "equations.entry_points.free", "stepping.")
)
"""Name prefixes of the entry points that most first simulations need."""
_ROOM = __package__.rpartition(".")[0]


def sort_by_priority(names: Iterable[str]) -> list[str]:
    """Sort entry points for ahead-of-time compilation: those that most first runs need come first."""
    return sorted(names, key=lambda name: not name.startswith(FIRST))


def find_outdated_entries() -> list[str]:
    """Return the entry points whose stored bitcode is outdated."""
    return [name for name in entry_point_names() if not _is_up_to_date(name)]


def _is_up_to_date(name: str) -> bool:
    try:
        return read(name).llvmlite == installed_llvmlite_version()
    except UnusableCode:
        return False


def find_without_object_code(names: Iterable[str]) -> list[str]:
    """Return those entry points without cached object code for this computer; empty if object code is not cached
    here."""
    from core.codegen import object_cache, object_code

    if object_code.is_optimisation_skipped() or object_cache.cache_folder() is None:
        return []
    return [name for name in names if (code := _stored_code(name)) is None or not object_code.is_cached(code.bitcode)]


def count_missing_items() -> int:
    """Return the number of items that a process started with `--idle` would compile."""
    return len(find_outdated_entries()) + len(find_without_object_code(entry_point_names()))


def make_bitcode(name: str) -> None:
    """Compile an entry point to bitcode, unless another process has done so meanwhile.

    Raises LanguageError for a text that cannot be translated, OSError if the code cannot be kept.
    """
    from core.machine_code.compiler import build_ir, compile_entry

    with lock_while_compiling(name):
        if _is_up_to_date(name):
            return
        module, _, function = name.rpartition(".")
        entry = getattr(import_module(f"{_ROOM}.{module}"), function)
        text = hashlib.sha256(build_ir(entry).encode()).hexdigest()
        before = _stored_code(name)
        if before is not None and before.text == text and before.llvmlite == installed_llvmlite_version():
            write_code(name, before._replace(sources=hash_sources(module)))
            return
        bitcode, needed = compile_entry(entry)
        write_code(
            name,
            StoredCode(
                bitcode, needed, hash_sources(module), text, list(llvm.llvm_version_info), installed_llvmlite_version()
            ),
        )


def _stored_code(name: str) -> StoredCode | None:
    with contextlib.suppress(UnusableCode):
        return find_stored_code(name)
    return None


def make_all_bitcode(names: Sequence[str]) -> None:
    """Compile entry points in parallel, with up to one process per processor.

    Raises OSError with the last words of a process that fails.
    """
    processes = min(os.cpu_count() or 1, len(names) // SHARE)
    if processes < 2:
        _make_in_process(names)
        return
    children = [Subprocess(__spec__.name, ALONE, *names[k::processes], listens=False) for k in range(processes)]
    readers = [threading.Thread(target=_relay_output, args=(each,)) for each in children]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for child in children:
        if child.process.wait() != 0:
            raise OSError(child.last_error_line or child.describe_end())


def _make_in_process(names: Iterable[str]) -> None:
    for name in names:
        make_bitcode(name)
        print(name, flush=True)


def _relay_output(child: Subprocess) -> None:
    assert child.process.stdout is not None
    with child.process.stdout as output:
        for line in output:
            print(line.decode("utf-8", "replace").strip(), flush=True)


def _lower_priority(requested_names: list[str]) -> None:
    """Lower the priority of this process, append names from its input to `requested_names`, and exit when its parent
    does."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)

    def exit_with_parent() -> None:
        rest = b""
        while heard := os.read(sys.stdin.fileno(), 1024):  # not by the stream: Python's own end would wait for it
            *lines, rest = (rest + heard).split(b"\n")
            requested_names.extend(line.decode() for line in lines)
        os._exit(0)

    threading.Thread(target=exit_with_parent, daemon=True).start()


def _make_at_low_priority(names: Sequence[str], requested_names: list[str]) -> None:
    """Compile entry points to bitcode, and to object code all that lack it; entry points requested meanwhile come
    first."""
    from core.codegen.object_code import object_code

    objects = find_without_object_code(sort_by_priority(entry_point_names()))
    waiting = [*names, *(name for name in objects if name not in names)]
    while waiting:
        name = next((each for each in list(requested_names) if each in waiting), waiting[0])
        waiting.remove(name)
        if name in names:
            _make_in_process([name])
        if name in objects:
            object_code(find_stored_code(name).bitcode)
            print(f"{OBJECT}{name}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    from core.machine_code.translation import LanguageError

    given = [each for each in arguments if each not in (IDLE, ALONE, SHIP)]
    names = sort_by_priority(given if given or ALONE in arguments else find_outdated_entries())
    try:
        if IDLE in arguments:
            asked: list[str] = []
            _lower_priority(asked)
            _make_at_low_priority(names, asked)
        elif ALONE in arguments:
            _make_in_process(names)
        else:
            make_all_bitcode(names)
        if SHIP in arguments:
            write_shipped_code(entry_point_names())
    except (LanguageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
