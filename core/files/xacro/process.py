"""Expansion of one Xacro file, printed as URDF. Run as a subprocess by `core.files.xacro.reader`.

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
from core.files.meshes.lookup import package_folders
from core.later import complete

MEMORY_LIMIT = 3 << 30
"""Bytes of address space; a few hundred megabytes are needed."""
TIME_LIMIT = 60
"""Seconds of CPU time, in case the parent process has ended."""
DEEPEST = 3000
"""Maximum recursion depth; evaluating node by node takes more than Python itself does."""

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
"""Audit events that a closed process may raise, besides reading files. (`compile` makes a syntax tree; running compiled
code is another event.)"""


def reason(error: BaseException) -> str:
    """Return xacro's error message on one line, without repetition and Python class names."""
    words = re.sub(r"<class '[^']*'>:?", "", str(error)).split()
    half = len(words) // 2
    if words[:half] == words[half:]:
        words = words[:half]
    return " ".join(words) or type(error).__name__


def limit(closed: bool) -> None:
    """Limit the memory and time of this process, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
        if closed:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def seal() -> None:
    """Restrict this process to reading files from now on."""
    complete("core.files")

    def allow(event: str, details: tuple[Any, ...]) -> None:
        reading = event == "open" and not (details[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if not (reading or event in _HARMLESS):
            raise PermissionError(f"this is not allowed while a file is expanded: {event}")

    sys.addaudithook(allow)


def finder(file: str, packages: str) -> Callable[[str], str]:
    """Return a function package → its folder, searching as for meshes, then as ROS does. The function raises the errors
    of xacrodoc."""
    from xacrodoc import packages as usual

    known, folder = json.loads(packages), Path(file).absolute().parent

    def find(package: str) -> str:
        for place in package_folders(package, folder, known):
            if place.is_dir():
                return str(place)
        return str(usual.get_path(package))

    return find


class _Arguments(dict[str, str]):
    """Arguments given from outside, which know the names that the file asks for."""

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

    def refuse_unused(self, file: str) -> None:
        """Raise FileError for a given argument that the file does not have."""
        unused = next((name for name in self.given if name not in self.asked), None)
        if unused is not None:
            remedy = f"Its arguments are {', '.join(sorted(self.asked))}." if self.asked else "It has none."
            raise FileError(f"It has no argument '{unused}'.", file=file, remedy=remedy)


def expanded(file: str, packages: str, closed: bool, arguments: str) -> str:
    """Return the URDF text. Raises FileError."""
    from xacro import substitution_args
    from xacrodoc import XacroDoc

    from core.files.xacro.library import DOLLAR, Library, RefusedError, keep_escapes

    text = sys.stdin.buffer.read().decode("utf-8", "replace").removeprefix("\ufeff")
    find = finder(file, packages)
    library = Library(file, find)
    if closed:
        library.install()
    else:
        substitution_args._eval_find = find
        keep_escapes()
    os.chdir(Path(file).parent)
    sys.path[:] = [place for place in sys.path if os.path.isabs(place)]
    sys.setrecursionlimit(DEEPEST)
    warnings.simplefilter("ignore")
    if closed:
        seal()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(_DiscardedOutput()):
            given = _Arguments(json.loads(arguments))
            document = XacroDoc.from_string(text, subargs=given, resolve_packages=False, rootdir=Path(file).parent)
            given.refuse_unused(file)
            return str(document.to_urdf_string()).replace(DOLLAR, "$")
    except RefusedError as error:
        raise refusal(error, *(library.place or (file, None))) from None
    except FileError:
        raise
    except RecursionError:
        raise FileError(
            "It is nested too deeply, or macros call themselves endlessly.",
            file=file,
            remedy="Look for endless recursions in it.",
        ) from None
    except MemoryError:
        raise FileError(
            f"Expanding it takes more than {MEMORY_LIMIT >> 30} GB of memory.",
            file=file,
            remedy="Look for very large lists and texts in it.",
        ) from None
    except Exception as error:
        place, line = library.place or (file, None)
        raise FileError(
            f"Xacro cannot expand it: {reason(error)[:300].rstrip('.')}.",
            file=place,
            line=line,
            remedy="Correct the file, or give the folders of its packages.",
        ) from None


def refusal(error: Any, file: str, line: int | None) -> FileError:
    """Return the error about an expression that is not evaluated."""
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
        remedy="Look for very large numbers or lists, and for endless recursion in it.",
    )


class _DiscardedOutput(io.StringIO):
    """Stream that discards warnings."""

    def write(self, text: str) -> int:
        return len(text)


def main(file: str, packages: str, mode: str, arguments: str) -> int:
    """Print the expanded text and return 0; on failure print a line on standard error and return 1."""
    closed = mode != "trusted"
    limit(closed)
    try:
        text = expanded(file, packages, closed, arguments)
    except FileError as error:
        parts = {name: getattr(error, name) for name in ("what", "where", "remedy", "file", "line")}
        print(json.dumps({**parts, "kind": type(error).__name__}), file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.encode("utf-8"))
    return 0


if __name__ == "__main__":
    status = main(*sys.argv[1:5])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
