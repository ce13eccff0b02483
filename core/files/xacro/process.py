"""Expansion of one Xacro file to URDF text. Run as a subprocess by `core.files.xacro.reader`.

Xacro is a small programming language; in a process of its own it can neither hang nor disturb the program.
Arguments: the file, a JSON mapping of package folders, "closed" or "trusted", and a JSON mapping of the file's own
arguments; the file's text comes on standard input. In a closed process expressions are evaluated by
`core.files.xacro.expressions`, and should they ever reach Python, nothing can be run, written or sent any more. Errors
go to standard error, as one line of JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import unicodedata  # noqa: F401 (names of characters in texts need it, later than anything can be imported)
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import FileError
from core.files.meshes.lookup import candidate_package_folders
from core.later import compile_dataclasses

LONGEST_WARNING, MOST_WARNINGS = 300, 50
"""Largest number of characters of a warning, and of warnings."""
MEMORY_LIMIT = 3 << 30
"""Bytes of address space; a few hundred megabytes are needed."""
TIME_LIMIT = 60
"""CPU time limit (s), in case the parent process has ended."""
DEEPEST = 3000
"""Maximum recursion depth; node-by-node evaluation recurses more deeply than Python's own."""

_HARMLESS = frozenset(
    (
        "builtins.id",
        "compile",
        "glob.glob",
        "glob.glob/2",
        "object.__getattr__",
        "os.listdir",
        "os.scandir",
        "os.walk",
        "sys._getframe",
    )
)
"""Audit events that the restricted process may raise, apart from reading files. (`compile` only makes a syntax tree;
running compiled code raises another event.)"""


def format_error(error: BaseException) -> str:
    """Return xacro's error message on one line, without repetition and Python class names."""
    words = re.sub(r"<class '[^']*'>:?", "", str(error)).split()
    half = len(words) // 2
    if words[:half] == words[half:]:
        words = words[:half]
    return " ".join(words) or type(error).__name__


def limit_resources(is_sandboxed: bool) -> None:
    """Limit memory and time of this process, where the operating system supports it (not on Windows)."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
        if is_sandboxed:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def restrict_to_reading() -> None:
    """Restrict this process to reading files from now on."""
    compile_dataclasses("core.files")

    def check_audit_event(event: str, details: tuple[Any, ...]) -> None:
        reading = event == "open" and not (details[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if not (reading or event in _HARMLESS):
            raise PermissionError(f"this is not allowed while a file is expanded: {event}")

    sys.addaudithook(check_audit_event)


def make_package_finder(file: str, packages: str) -> Callable[[str], str]:
    """Return a function that finds the folder of a package, searching as for meshes, then as ROS does. The function
    raises the errors of xacrodoc."""
    from xacrodoc import packages as usual

    known, folder = json.loads(packages), Path(file).absolute().parent

    def find(package: str) -> str:
        for place in candidate_package_folders(package, folder, known):
            if place.is_dir():
                return str(place)
        return str(usual.get_path(package))

    return find


class _Arguments(dict[str, str]):
    """Arguments given by the caller; records which names the file asks for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.given: tuple[str, ...] = tuple(given)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    def check_all_used(self, file: str) -> None:
        """Raise FileError for an argument that the file does not declare."""
        unused = next((name for name in self.given if name not in self.asked), None)
        if unused is not None:
            remedy = f"Its arguments are {', '.join(sorted(self.asked))}." if self.asked else "It has none."
            raise FileError(f"The file has no argument '{unused}'.", file=file, remedy=remedy)


def expand(file: str, packages: str, is_sandboxed: bool, arguments: str) -> tuple[str, list[str]]:
    """Return the URDF text and xacro's warnings. Raises FileError."""
    from xacro import substitution_args
    from xacrodoc import XacroDoc

    from core.files.xacro.library import DOLLAR, RefusedExpressionError, SafeLibrary, keep_escapes

    text = sys.stdin.buffer.read().decode("utf-8", "replace").removeprefix("\ufeff")
    find = make_package_finder(file, packages)
    library = SafeLibrary(file, find)
    if is_sandboxed:
        library.install()
    else:
        substitution_args._eval_find = find
        keep_escapes()
    said = _collect_warnings()
    os.chdir(Path(file).parent)
    sys.path[:] = [place for place in sys.path if os.path.isabs(place)]
    sys.setrecursionlimit(DEEPEST)
    warnings.simplefilter("ignore")
    if is_sandboxed:
        restrict_to_reading()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(_DiscardedOutput()):
            given = _Arguments(json.loads(arguments))
            document = XacroDoc.from_string(text, subargs=given, resolve_packages=False, rootdir=Path(file).parent)
            given.check_all_used(file)
            return str(document.to_urdf_string()).replace(DOLLAR, "$"), list(said)[:MOST_WARNINGS]
    except RefusedExpressionError as error:
        raise refused_expression_error(error, *(library.place or (file, None))) from None
    except FileError:
        raise
    except RecursionError:
        raise FileError(
            "The file is nested too deeply, or its macros call themselves endlessly.",
            file=file,
            remedy="Look for endless recursion in the file.",
        ) from None
    except MemoryError:
        raise FileError(
            f"Expanding the file takes more than {MEMORY_LIMIT >> 30} GB of memory.",
            file=file,
            remedy="Look for very large lists and strings in the file.",
        ) from None
    except Exception as error:
        place, line = library.place or (file, None)
        raise FileError(
            f"Xacro cannot expand the file: {format_error(error)[:300].rstrip('.')}.",
            file=place,
            line=line,
            remedy="Correct the file, or give the folders of its packages.",
        ) from None


def _collect_warnings() -> dict[str, None]:
    """Let xacro put its warnings, each once, into a dictionary instead of its output; return that."""
    import xacro

    said: dict[str, None] = {}
    xacro.warning = lambda *words, **_: said.update({" ".join(map(str, words)).strip()[:LONGEST_WARNING]: None})
    return said


def refused_expression_error(error: Any, file: str, line: int | None) -> FileError:
    """Return the error for an expression that is not evaluated."""
    from core.errors import CodeRefused
    from core.files.xacro.bounds import BarredError

    words = " ".join(error.expression.split())
    short = words if len(words) <= 100 else f"{words[:99]}…"
    if isinstance(error.error, BarredError):
        return CodeRefused(
            f"The expression “{short}” is not evaluated: {error.error}, which would require running code from the "
            "file.",
            file=file,
            line=line,
        )
    return FileError(
        f"The expression “{short}” is not evaluated: {error.error}.",
        file=file,
        line=line,
        remedy="Look for very large numbers or lists, and for endless recursion in the expression.",
    )


class _DiscardedOutput(io.StringIO):
    """Stream that discards warnings."""

    def write(self, text: str) -> int:
        return len(text)


def main(file: str, packages: str, mode: str, arguments: str) -> int:
    """Print the expanded text and return 0; on failure print a line on standard error and return 1."""
    closed = mode != "trusted"
    limit_resources(closed)
    try:
        text, said = expand(file, packages, closed, arguments)
    except FileError as error:
        parts = {name: getattr(error, name) for name in ("what", "where", "remedy", "file", "line")}
        print(json.dumps({**parts, "kind": type(error).__name__}), file=sys.stderr)
        return 1
    print(json.dumps(said), file=sys.stderr)
    sys.stdout.buffer.write(text.encode("utf-8"))
    return 0


if __name__ == "__main__":
    status = main(*sys.argv[1:5])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
