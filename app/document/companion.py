"""`name.runs` beside `name.kst`: the runs of a machine, and what was seen with them, as plain data. Knows no Qt.

`session.json` lists the runs (their samples are in `NNN.h5`) and holds sections of other rooms (pose, plots, camera …).
The document never refers to it: without it, or with a broken one, the document opens all the same.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import re
import shutil
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.runs import Record, Runs
from core.errors import FileError
from core.files.source import source_of_file, write_whole
from viz.camera import View

VERSION = 1
INDEX = "session.json"
TRASH = ".trash"
_RUN = re.compile(r"\d{3,9}\.h5")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_LONGEST = 10_000
"""Characters of a name or note."""


@dataclass(frozen=True)
class KeptRun:
    """A run as the list of a companion tells it; `file` is its name in the folder."""

    id: int
    file: str
    name: str
    note: str = ""
    color: str = ""
    visible: bool = True
    parent: int | None = None
    from_time: float | None = None


@dataclass(frozen=True)
class Kept:
    """What a companion holds."""

    runs: tuple[KeptRun, ...] = ()
    current: int | None = None
    time: float = 0.0
    sections: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pose(self) -> dict[str, float]:
        """Coordinates that differed from the rest pose, by name."""
        pose = self.sections.get("pose")
        pairs = pose.items() if isinstance(pose, dict) else ()
        return {name: float(x) for name, x in pairs if isinstance(x, int | float) and math.isfinite(x)}


def folder_of(document: Path) -> Path:
    """The companion of a document."""
    return document.with_name(f"{document.stem}.runs")


# ------------------------------------------------------------------------------------------ writing


def named(records: Iterable[Record], folder: Path, taken: Iterable[str] = ()) -> dict[int, str]:
    """The name of each run's file in a folder, by the run's id: what is there already keeps its name, and no other run
    gets that of a deleted one, which may come back."""
    own = {r.id: r.file.name for r in records if r.file is not None and r.file.parent == folder}
    used = {*own.values(), *taken, *(place.name for place in folder.glob("*.h5")), *_trashed(folder)}
    free = (name for k in itertools.count(1) if (name := f"{k:03d}.h5") not in used)
    return {record.id: own.get(record.id) or next(free) for record in records}


def _trashed(folder: Path) -> list[str]:
    return [place.name for place in (folder / TRASH).glob("*.h5")]


def found(file: Path | None) -> Path | None:
    """Where the file of a run is: there, or in the trash of its folder; None if it is gone."""
    places = () if file is None else (file, file.parent / TRASH / file.name)
    return next((place for place in places if place.is_file()), None)


def rows(records: Iterable[Record], names: Mapping[int, str]) -> tuple[KeptRun, ...]:
    """Runs as the list tells them, with the names of their files by id."""
    return tuple(KeptRun(r.id, names[r.id], r.name, r.note, r.color, r.visible, r.parent, r.from_time) for r in records)


def told(runs: Runs, known: Container[int], sections: Mapping[str, Any]) -> dict[str, Any]:
    """The content of `session.json` but for the list; `known`: ids of the runs that will be in it."""
    current = runs.current.id if runs.current is not None and runs.current.id in known else None
    return {"kinetostat session": VERSION, "current": current, "time": runs.time, **sections}


def listed(content: Mapping[str, Any], known: Iterable[KeptRun]) -> dict[str, Any]:
    """The content with a list of runs."""
    listing = [
        {
            "id": run.id, "file": run.file, "name": run.name, "note": run.note, "colour": run.color,
            "visible": run.visible, "parent": run.parent, "from": run.from_time,
        }
        for run in known
    ]  # fmt: skip
    return {**content, "runs": listing}


def write(folder: Path, content: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Put runs (name in the folder → where they are now) and the list into a folder, which is made if needed.

    Runs of the folder that are not in the list go to its trash. Raises FileError.
    """
    try:
        folder.mkdir(exist_ok=True)
        for name, place in files.items():
            if place != folder / name:
                put(place, folder / name)
        write_whole(folder / INDEX, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        gone = [each for each in folder.iterdir() if _RUN.fullmatch(each.name) and each.name not in files]
        if gone and not (folder / TRASH).is_symlink():
            (folder / TRASH).mkdir(exist_ok=True)
            for place in gone:
                os.replace(place, folder / TRASH / place.name)
    except OSError as error:
        raise FileError(f"The runs cannot be written: {error.strerror or error}.", file=str(folder),
                        remedy="Save the machine in another folder.") from None  # fmt: skip


def put(place: Path, target: Path) -> None:
    """A file under another name, too: linked where the disk can, else copied; whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        os.link(place, part)
    except OSError:
        shutil.copyfile(place, part)
    os.replace(part, target)


def empty_trash(folder: Path) -> None:
    """Runs that were deleted go for good; what else lies there stays, and so does what a link leads to."""
    trash = folder / TRASH
    with contextlib.suppress(OSError):
        if trash.is_dir() and not trash.is_symlink():
            for place in trash.iterdir():
                if _RUN.fullmatch(place.name):
                    place.unlink()
            trash.rmdir()


# ------------------------------------------------------------------------------------------ reading


def read(folder: Path) -> Kept | None:
    """What a folder holds; None if it is no companion. Raises FileError if it cannot be understood."""
    if not folder.is_dir():
        return None
    file = folder / INDEX
    source = source_of_file(file)
    try:
        return understood(json.loads(source.text))
    except (ValueError, RecursionError) as error:
        raise FileError(f"What was kept with the machine cannot be understood: {error}.", file=str(file),
                        remedy="The machine itself is not concerned. Move the file away.") from None  # fmt: skip


def understood(content: Any) -> Kept:
    """The content of `session.json`. Raises ValueError."""
    if not isinstance(content, dict) or content.get("kinetostat session") is None:
        raise ValueError("it is no list of runs")
    if _whole(content["kinetostat session"]) > VERSION:
        raise ValueError("it was written by a newer version of the program")
    rows = content.get("runs", [])
    runs = tuple(_run(row) for row in (rows if isinstance(rows, list) else ()))
    current = content.get("current")
    sections = {name: value for name, value in content.items() if name not in _OWN}
    return Kept(runs, None if current is None else _whole(current), number(content.get("time", 0.0)), sections)


_OWN = ("kinetostat session", "runs", "current", "time")


def _run(row: Any) -> KeptRun:
    if not isinstance(row, dict):
        raise ValueError(f"{str(row)[:40]!r} is no run")
    file, color, parent, since = str(row.get("file")), str(row.get("colour")), row.get("parent"), row.get("from")
    if not _RUN.fullmatch(file):
        raise ValueError(f"{file[:40]!r} cannot be the file of a run")
    return KeptRun(
        _whole(row.get("id")), file, text(row.get("name")), text(row.get("note")),
        color if _COLOR.fullmatch(color) else "", row.get("visible") is not False,
        None if parent is None else _whole(parent), None if since is None else number(since),
    )  # fmt: skip


def number(value: Any) -> float:
    """A finite number, or a ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:40]!r} is no number")
    return float(value)


def text(value: Any) -> str:
    """A text of bearable length; "" for anything else."""
    return value[:_LONGEST] if isinstance(value, str) else ""


def view_of(kept: Mapping[str, Any]) -> View:
    """A view from plain data. Raises ValueError, KeyError or TypeError."""
    x, y, z = map(number, kept["target"])
    distance = number(kept["distance"])
    if distance <= 0.0:
        raise ValueError("the eye is not away from what it sees")
    return View((x, y, z), distance, number(kept["azimuth"]), number(kept["elevation"]), bool(kept["parallel"]))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{str(value)[:40]!r} is no whole number")
    return value
