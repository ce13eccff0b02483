"""The companion folder `name.runs` next to `name.kst`: the runs of a machine and the views and plots saved with them,
as plain data. Independent of Qt.

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
from core.files.source import source_from_file, write_atomically
from core.later import dataclass
from viz.camera import CameraView

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
class CompanionRun:
    """A run listed in a companion folder. `file`: its name in the folder (a full path in the list of a recovery copy);
    `parent`: the file of the run from which it branched, "" if none."""

    file: str
    name: str
    note: str = ""
    color: str = ""
    visible: bool = True
    parent: str = ""
    from_time: float | None = None


@dataclass(frozen=True)
class CompanionContent:
    """Content of a companion folder; `current`: the file of the run shown on the timeline."""

    runs: tuple[CompanionRun, ...] = ()
    current: str = ""
    time: float = 0.0
    sections: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pose(self) -> dict[str, float]:
        """Saved coordinates that differ from the reference configuration, by name."""
        pose = self.sections.get("pose")
        found = {}
        for name, x in pose.items() if isinstance(pose, dict) else ():
            with contextlib.suppress(ValueError):
                found[name] = check_finite_number(x)
        return found


def companion_folder(document: Path) -> Path:
    """Return the companion folder of a document."""
    return document.with_name(f"{document.stem}.runs")


# ------------------------------------------------------------------------------------------ writing


def session_json_content(companion: CompanionContent) -> dict[str, Any]:
    """Return the data to be written to `session.json`."""
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
        for run in companion.runs
    ]
    return {
        "kinetostat session": VERSION,
        "runs": rows,
        "current": companion.current,
        "time": companion.time,
        **companion.sections,
    }


def unused_run_file_names(folder: Path, used_names: Iterable[str]) -> Iterable[str]:
    """Yield names for new runs that no present, former or listed file uses."""
    used = {*used_names, *(place.name for place in (*folder.glob("*.h5"), *(folder / TRASH).glob("*.h5")))}
    return (name for k in itertools.count(1) if (name := f"{k:03d}.h5") not in used)


def write_companion(folder: Path, companion: CompanionContent, deleted_files: Iterable[str]) -> None:
    """Write the list of runs, including rows that another window has added, and move the `deleted_files` to the trash.
    An unreadable list is renamed to `session.json~`. Raises FileError."""
    deleted_files = frozenset(deleted_files)
    known = deleted_files | {run.file for run in companion.runs}
    try:
        others = tuple(run for run in _listed_runs(folder) if run.file not in known)
        if (folder / INDEX).is_symlink():  # of a stranger: it must not lead the writing elsewhere
            (folder / INDEX).unlink()
        content = session_json_content(
            CompanionContent((*companion.runs, *others), companion.current, companion.time, companion.sections)
        )
        write_atomically(folder / INDEX, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        if deleted_files and not (folder / TRASH).is_symlink():
            (folder / TRASH).mkdir(exist_ok=True)
            for name in deleted_files:
                with contextlib.suppress(FileNotFoundError):
                    os.replace(folder / name, folder / TRASH / name)
    except OSError as error:
        raise FileError(
            f"The runs cannot be written: {error.strerror or error}.",
            file=str(folder),
            remedy="Save the machine in another folder.",
        ) from None


def _listed_runs(folder: Path) -> tuple[CompanionRun, ...]:
    """Return the runs in the list on disk; an unreadable list is renamed."""
    try:
        found = read(folder)
    except FileError:
        if (folder / INDEX).exists():
            os.replace(folder / INDEX, folder / f"{INDEX}~")
        return ()
    return found.runs if found is not None else ()


def link_or_copy_file(source: Path, target: Path) -> None:
    """Make a file available at a second path: as a hard link if the disk allows it, otherwise as a copy; completely or
    not at all."""
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        os.link(source, part)
    except OSError:
        shutil.copyfile(source, part)
    os.replace(part, target)
    part.unlink(missing_ok=True)  # of two links to one file neither is moved


def empty_trash(folder: Path) -> None:
    """Permanently delete the runs in the trash; other files there, and the targets of links, are kept."""
    trash = folder / TRASH
    with contextlib.suppress(OSError):
        if trash.is_dir() and not trash.is_symlink():
            for place in trash.iterdir():
                if _RUN.fullmatch(place.name):
                    place.unlink()
            trash.rmdir()


# ------------------------------------------------------------------------------------------ reading


def read(folder: Path) -> CompanionContent | None:
    """Return the content of a companion folder; None if there is none. Raises FileError if it is unreadable."""
    if not folder.is_dir() or not os.path.lexists(folder / INDEX):
        return None
    file = folder / INDEX
    source = source_from_file(file)
    try:
        return parse_session_json(json.loads(source.text))
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"The runs and views saved with the machine cannot be read: {error}.",
            file=str(file),
            remedy="The machine itself is not affected. Move or delete this file.",
        ) from None


def parse_session_json(content: Any, *, allow_other_folders: bool = False) -> CompanionContent:
    """Parse the content of `session.json`; `allow_other_folders`: files may be in other folders (for a list written by
    this program). Raises ValueError."""
    if not isinstance(content, dict) or content.get("kinetostat session") is None:
        raise ValueError("the content is not a list of runs")
    if check_finite_number(content["kinetostat session"]) > VERSION:
        raise ValueError("the content was written by a newer version of the program")
    rows = content.get("runs", [])
    runs = [_parse_run(row, allow_other_folders) for row in (rows[:_MOST] if isinstance(rows, list) else ())]
    once = {run.file: run for run in reversed(runs)}
    sections = {name: value for name, value in content.items() if name not in _OWN}
    return CompanionContent(
        tuple(reversed(once.values())),
        limited_text(content.get("current")),
        check_finite_number(content.get("time", 0.0)),
        sections,
    )


def _parse_run(row: Any, allow_other_folders: bool) -> CompanionRun:
    if not isinstance(row, dict):
        raise ValueError(f"{str(row)[:40]!r} is not a run")
    file, color, since = limited_text(row.get("file")), limited_text(row.get("colour")), row.get("from")
    if not _RUN.fullmatch(os.path.basename(file) if allow_other_folders else file):
        raise ValueError(f"{file[:40]!r} cannot be the file of a run")
    return CompanionRun(
        file,
        limited_text(row.get("name")),
        limited_text(row.get("note")),
        color if _COLOR.fullmatch(color) else "",
        row.get("visible") is not False,
        limited_text(row.get("parent")),
        None if since is None else check_finite_number(since),
    )


def check_finite_number(value: Any) -> float:
    """Return the value if it is a finite number. Raises ValueError."""
    if not isinstance(value, bool) and isinstance(value, int | float):
        with contextlib.suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    raise ValueError(f"{str(value)[:40]!r} is not a number")


def limited_text(value: Any) -> str:
    """Return a string, shortened to the permitted length; "" for any other value."""
    return value[:_LONGEST] if isinstance(value, str) else ""


def parse_view(saved_view: Mapping[str, Any]) -> CameraView:
    """Parse a saved camera view. Raises ValueError, KeyError or TypeError."""
    x, y, z = map(check_finite_number, saved_view["target"])
    distance = check_finite_number(saved_view["distance"])
    if distance <= 0.0:
        raise ValueError("the distance of the camera from its target is not positive")
    return CameraView(
        (x, y, z),
        distance,
        check_finite_number(saved_view["azimuth"]),
        check_finite_number(saved_view["elevation"]),
        bool(saved_view["parallel"]),
    )
