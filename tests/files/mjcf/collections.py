"""Whole folders of MJCF files, read here and by MuJoCo: which agree, which differ with or without a warning.

`python -m tests.files.mjcf.collections FOLDER … [--seconds S] [--json FILE]`. Each file has a process and S seconds of
its own; files that are only included by others, or hold no bodies, are left out. Ends with 1 if anything differs
without a warning, is refused though MuJoCo reads it, or breaks.

agrees: poses, mass matrix, bias, passive forces, accelerations are MuJoCo's; told: they are not, and a warning says
why; silent: they are not, without one; refused: not read here, but by MuJoCo; slow: more than S seconds; lost: MuJoCo
misses meshes or other files; theirs: MuJoCo refuses it; both: so does this reader; broken: an exception
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from core.errors import KinetostatError
from core.files import read

FAULTS = ("silent", "refused", "broken")
_INCLUDE = re.compile(r'<include\s+file="([^"]+)"')


class Outcome(NamedTuple):
    """What became of a file."""

    file: str
    word: str
    why: str = ""
    wrong: dict[str, float] = {}  # noqa: RUF012  (never changed)
    warnings: tuple[str, ...] = ()


def files_of(folders: list[str]) -> list[Path]:
    """The models in folders, and single files."""
    found: list[Path] = []
    for given in map(Path, folders):
        found += sorted(given.rglob("*.xml")) if given.is_dir() else [given]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in found}
    named = {(path.parent / name).resolve() for path, text in texts.items() for name in _INCLUDE.findall(text)}
    return [
        path
        for path, text in texts.items()
        if "<mujoco" in text and ("<worldbody" in text or "<include" in text) and path.resolve() not in named
    ]


def outcome(path: Path) -> Outcome:
    """What becomes of one file."""
    from tests.files.mjcf.mujoco_comparison import compared

    try:
        found = compared(path)
    except KinetostatError as error:
        return Outcome(str(path), "refused", str(error))
    except ValueError as error:
        return _without_mujoco(path, str(error).splitlines()[0][:200])
    warnings = tuple(finding.text for finding in found.findings if finding.severity == "warning")
    word = "agrees" if not found.wrong else "told" if found.warned else "silent"
    return Outcome(str(path), word, "", found.wrong, warnings)


def _without_mujoco(path: Path, why: str) -> Outcome:
    try:
        read(path)
    except KinetostatError:
        return Outcome(str(path), "both", why)
    return Outcome(str(path), "lost" if "opening file" in why or "not found" in why else "theirs", why)


def _child(path: Path, end: Connection) -> None:
    try:
        end.send(outcome(path))
    except Exception as error:
        end.send(Outcome(str(path), "broken", f"{type(error).__name__}: {error}"[:300]))


def timed(path: Path, seconds: float) -> Outcome:
    """What becomes of one file within a time."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(path, theirs))
    child.start()
    theirs.close()
    try:
        found = mine.recv() if mine.poll(seconds) else Outcome(str(path), "slow")
    except EOFError:
        found = Outcome(str(path), "broken", "its process ended")
    child.kill()
    child.join()
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.files.mjcf.collections", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each file")
    parser.add_argument("--json", type=Path, help="where to keep all outcomes")
    given = parser.parse_args()
    import tests.files.mjcf.mujoco_comparison  # noqa: F401  (once, before the processes are made)

    found = []
    for path in files_of(given.folders):
        found.append(timed(path, given.seconds))
        if found[-1].word != "agrees":
            each = found[-1]
            print(f"{each.word:8} {each.file}  {each.why} {each.wrong or ''}", flush=True)
    counts = Counter(each.word for each in found)
    print(f"{len(found)} files: {', '.join(f'{number} {word}' for word, number in counts.most_common())}")
    if given.json is not None:
        given.json.write_text(json.dumps([each._asdict() for each in found], indent=1), encoding="utf-8")
    return int(any(counts[word] for word in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
