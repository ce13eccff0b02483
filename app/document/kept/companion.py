"""The folder `name.runs` next to `name.kst`: the runs of a machine and the views and plots saved with them, as plain
data. Independent of Qt.

`session.json` lists the runs by their files (`NNN.h5`, which hold the samples) and holds sections of other rooms
(camera, plots …). The document never refers to it: without it, or with a broken one, the document opens all the same.
It may be a stranger's, and another window may write there, too: nothing is taken away but files that this window wrote
or read.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from core.errors import FileError
from core.files.source import source_of_file, write_whole
from core.later import dataclass
from viz.camera import View

VERSION = 1
INDEX = "session.json"
TRASH = ".trash"
_RUN = re.compile(r"\d{3,9}\.h5")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_LONGEST = 10_000
"""Largest number of characters of a name or note."""
_MOST = 10_000
"""Largest number of runs in a list."""
_OWN = ("kinetostat session", "runs", "current", "time")


@dataclass(frozen=True)
class KeptRun:
    """A run as listed in the folder. `file`: its name in the folder (a full path in the list of a recovery copy);
    `parent`: the file of the run it branched from, "" if none."""

    file: str
    name: str
    note: str = ""
    color: str = ""
    visible: bool = True
    parent: str = ""
    from_time: float | None = None


@dataclass(frozen=True)
class Kept:
    """The content of a companion folder; `current`: the file of the run on the timeline."""

    runs: tuple[KeptRun, ...] = ()
    current: str = ""
    time: float = 0.0
    sections: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pose(self) -> dict[str, float]:
        """Coordinates that differ from the reference configuration, by name."""
        pose = self.sections.get("pose")
        found = {}
        for name, x in pose.items() if isinstance(pose, dict) else ():
            with contextlib.suppress(ValueError):
                found[name] = number(x)
        return found


def folder_of(document: Path) -> Path:
    """Return the companion folder of a document."""
    return document.with_name(f"{document.stem}.runs")


# ------------------------------------------------------------------------------------------ writing


def content_of(kept: Kept) -> dict[str, Any]:
    """Return the content of `session.json`."""
    rows = [
        {
            "file": run.file,
            "name": run.name,
            "note": run.note,
            "colour": run.color,
            "visible": run.visible,
            "parent": run.parent,
            "from": run.from_time,
        }
        for run in kept.runs
    ]
    return {"kinetostat session": VERSION, "runs": rows, "current": kept.current, "time": kept.time, **kept.sections}


def unused_file_names(folder: Path, taken: Iterable[str]) -> Iterable[str]:
    """Yield names for further runs that no present, former or listed file uses."""
    used = {*taken, *(place.name for place in (*folder.glob("*.h5"), *(folder / TRASH).glob("*.h5")))}
    return (name for k in itertools.count(1) if (name := f"{k:03d}.h5") not in used)


def write(folder: Path, kept: Kept, gone: Iterable[str]) -> None:
    """Write the list of runs, including rows that another window added, and move the files in `gone` to the trash. An
    unreadable list is renamed to `session.json~`. Raises FileError."""
    gone = frozenset(gone)
    known = gone | {run.file for run in kept.runs}
    try:
        others = tuple(run for run in _listed_runs(folder) if run.file not in known)
        if (folder / INDEX).is_symlink():  # of a stranger: it must not lead the writing elsewhere
            (folder / INDEX).unlink()
        content = content_of(Kept((*kept.runs, *others), kept.current, kept.time, kept.sections))
        write_whole(folder / INDEX, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        if gone and not (folder / TRASH).is_symlink():
            (folder / TRASH).mkdir(exist_ok=True)
            for name in gone:
                with contextlib.suppress(FileNotFoundError):
                    os.replace(folder / name, folder / TRASH / name)
    except OSError as error:
        raise FileError(
            f"The runs cannot be written: {error.strerror or error}.",
            file=str(folder),
            remedy="Save the machine in another folder.",
        ) from None


def _listed_runs(folder: Path) -> tuple[KeptRun, ...]:
    """Return the runs in the present list; an unreadable list is set aside."""
    try:
        found = read(folder)
    except FileError:
        if (folder / INDEX).exists():
            os.replace(folder / INDEX, folder / f"{INDEX}~")
        return ()
    return found.runs if found is not None else ()


def put(place: Path, target: Path) -> None:
    """Put a file at a second path: as a hard link if the disk allows, else as a copy; completely or not at all."""
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        os.link(place, part)
    except OSError:
        shutil.copyfile(place, part)
    os.replace(part, target)
    part.unlink(missing_ok=True)  # of two links to one file neither is moved


def empty_trash(folder: Path) -> None:
    """Delete runs in the trash for good; other files there, and the targets of links, stay."""
    trash = folder / TRASH
    with contextlib.suppress(OSError):
        if trash.is_dir() and not trash.is_symlink():
            for place in trash.iterdir():
                if _RUN.fullmatch(place.name):
                    place.unlink()
            trash.rmdir()


# ------------------------------------------------------------------------------------------ reading


def read(folder: Path) -> Kept | None:
    """Return the content of a companion folder; None if the folder is none. Raises FileError if it is unreadable."""
    if not folder.is_dir() or not os.path.lexists(folder / INDEX):
        return None
    file = folder / INDEX
    source = source_of_file(file)
    try:
        return understood(json.loads(source.text))
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"The runs and views saved with the machine cannot be read: {error}.",
            file=str(file),
            remedy="The machine itself is not affected. Move the file away.",
        ) from None


def understood(content: Any, *, anywhere: bool = False) -> Kept:
    """Parse the content of `session.json`; `anywhere`: files may be in other folders (for a list of our own). Raises
    ValueError."""
    if not isinstance(content, dict) or content.get("kinetostat session") is None:
        raise ValueError("it is not a list of runs")
    if number(content["kinetostat session"]) > VERSION:
        raise ValueError("it was written by a newer version of the program")
    rows = content.get("runs", [])
    runs = [_parsed_run(row, anywhere) for row in (rows[:_MOST] if isinstance(rows, list) else ())]
    once = {run.file: run for run in reversed(runs)}
    sections = {name: value for name, value in content.items() if name not in _OWN}
    return Kept(
        tuple(reversed(once.values())), text(content.get("current")), number(content.get("time", 0.0)), sections
    )


def _parsed_run(row: Any, anywhere: bool) -> KeptRun:
    if not isinstance(row, dict):
        raise ValueError(f"{str(row)[:40]!r} is not a run")
    file, color, since = text(row.get("file")), text(row.get("colour")), row.get("from")
    if not _RUN.fullmatch(os.path.basename(file) if anywhere else file):
        raise ValueError(f"{file[:40]!r} cannot be the file of a run")
    return KeptRun(
        file,
        text(row.get("name")),
        text(row.get("note")),
        color if _COLOR.fullmatch(color) else "",
        row.get("visible") is not False,
        text(row.get("parent")),
        None if since is None else number(since),
    )


def number(value: Any) -> float:
    """Return a finite number. Raises ValueError."""
    if not isinstance(value, bool) and isinstance(value, int | float):
        with contextlib.suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    raise ValueError(f"{str(value)[:40]!r} is not a number")


def text(value: Any) -> str:
    """Return a text, shortened to the permitted length; "" for anything else."""
    return value[:_LONGEST] if isinstance(value, str) else ""


def view_of(kept: Mapping[str, Any]) -> View:
    """Return a view made from plain data. Raises ValueError, KeyError or TypeError."""
    x, y, z = map(number, kept["target"])
    distance = number(kept["distance"])
    if distance <= 0.0:
        raise ValueError("the camera is at the point that it looks at")
    return View((x, y, z), distance, number(kept["azimuth"]), number(kept["elevation"]), bool(kept["parallel"]))
