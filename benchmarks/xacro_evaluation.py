"""Comparison of the URDF from Xacro files with our evaluation of expressions and with Python's.

    python -m benchmarks.xacro_evaluation FOLDER…

Expands every .xacro file in the folders both ways and compares the texts. Run it only on files whose code may run:
the second way trusts them. Every folder with a package.xml is a package for $(find …).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from core.errors import CodeRefused, FileError
from core.files.source import ReadOptions, Source, TrustedFile, source_from_file
from core.files.xacro.reader import expand

NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def packages_in(folders: list[Path]) -> dict[str, str]:
    """Package name → folder."""
    files = [file for folder in folders for file in sorted(folder.rglob("package.xml"))]
    named = ((NAME.search(file.read_text(errors="replace")), file.parent.absolute()) for file in files)
    return {name.group(1): str(folder) for name, folder in named if name is not None}


def text_or_error(source: Source, options: ReadOptions) -> tuple[str, FileError | None]:
    """The URDF text, or what is said instead."""
    try:
        return ADDRESS.sub("0x…", expand(source, options).decode()), None
    except FileError as error:
        return "", error


def compared(file: Path, packages: dict[str, str]) -> tuple[str, str]:
    """(how the two ways compare, what to tell of it)."""
    try:
        source = source_from_file(file)
    except FileError as error:
        return "not read", str(error)
    ours, error = text_or_error(source, ReadOptions(packages=packages))
    theirs, other = text_or_error(source, ReadOptions(packages=packages, trusted=frozenset({TrustedFile.of(source)})))
    if error is None and other is None:
        return ("same", "") if ours == theirs else ("different", difference(ours, theirs))
    if error is not None and other is not None:
        return "refused by both", f"{error.what}  |  {other.what}"
    kind = "refused by ours alone" if error is not None else "refused by Python's alone"
    return f"{kind} (code)" if isinstance(error, CodeRefused) else kind, str(error or other)


def difference(ours: str, theirs: str) -> str:
    """The first line in which two texts differ."""
    pairs = zip(ours.splitlines(), theirs.splitlines(), strict=False)
    return next((f"{a.strip()}  ≠  {b.strip()}" for a, b in pairs if a != b), "one is longer")


def main(folders: list[Path]) -> int:
    """Compare, print counts and all that is not the same; 0 if no file differs."""
    packages, counts = packages_in(folders), Counter[str]()
    for file in sorted({file for folder in folders for file in folder.rglob("*.xacro") if file.is_file()}):
        kind, words = compared(file, packages)
        counts[kind] += 1
        if words:
            print(f"{kind}: {file}: {words}", flush=True)
    for kind, number in counts.most_common():
        print(f"{number:6} {kind}")
    return int(any(kind.startswith(("different", "refused by ours", "refused by Python")) for kind in counts))


if __name__ == "__main__":
    sys.exit(main([Path(folder) for folder in sys.argv[1:]] or [Path()]))
