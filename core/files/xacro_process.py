"""Expands one Xacro file and prints the URDF. Run as a process of its own by `core.files.xacro_reader`.

Xacro is a small programming language; in a process of its own it can neither hang nor disturb the program.
Arguments: the file, and a JSON mapping of package folders. Errors go to standard error, one line.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path

from core.files.mesh_lookup import package_folders

MEMORY_LIMIT = 4 << 30
"""Bytes of address space; a few hundred megabytes are needed."""


def reason(error: BaseException) -> str:
    """What xacro says, on one line, once, without Python's class names."""
    words = re.sub(r"<class '[^']*'>:?", "", str(error)).split()
    half = len(words) // 2
    if words[:half] == words[half:]:
        words = words[:half]
    return " ".join(words) or type(error).__name__


def limit_memory() -> None:
    """Keep an expression bomb from filling the machine, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def main(file: str, packages: str) -> int:
    """Print the expanded text; 1 with a line on standard error when that fails."""
    limit_memory()
    from xacrodoc import XacroDoc
    from xacrodoc import packages as finder

    known = json.loads(packages)
    usual = finder.get_path

    def get_path(package: str) -> str:
        for folder in package_folders(package, Path(file).absolute().parent, known):
            if folder.is_dir():
                return str(folder)
        return str(usual(package))

    finder.get_path = get_path
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            text = XacroDoc.from_file(file, resolve_packages=False).to_urdf_string()
    except Exception as error:
        print(reason(error), file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
