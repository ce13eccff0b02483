"""Fingerprints of files when last read or written, so that changes by other programs are noticed, and saving of the
document with respect to them. Independent of Qt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from core.errors import FileError
from core.files import save
from core.files.followed_files import beside
from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
from core.files.regular_file import MESH, RUN, SIGNAL, content_of, fingerprint, status_of
from core.later import dataclass
from core.model import Figures, Material, Mesh, Model
from core.model.bodies import PLAIN_LINE
from core.model.fields import nested_elements

MISSING = ""
"""Digest of a file that does not exist or cannot be read."""


@dataclass(frozen=True)
class Seen:
    """Fingerprint of a file at one moment: equal contents are equal, whenever they were written."""

    path: Path
    digest: str = MISSING
    status: tuple[int, int, int] | None = field(default=None, compare=False)
    """Size, time of change and inode number: while these stay, the content is not read again."""

    @classmethod
    def now(cls, path: Path) -> Seen:
        """Return the fingerprint of the file as it is now."""
        status = _status(path)
        return cls(path, MISSING if status is None else _digest(path), status)

    @property
    def there(self) -> bool:
        """True if the file existed."""
        return self.digest != MISSING

    def changed(self) -> bool:
        """Return True if the content differs from that of the file now."""
        status = _status(self.path)
        if status == self.status:
            return False
        return (MISSING if status is None else _digest(self.path)) != self.digest


@dataclass(frozen=True)
class Sources:
    """Fingerprints of a document's files when last read or written: its own file first, then those it includes."""

    files: tuple[Seen, ...] = ()

    @classmethod
    def now(cls, path: Path, model: Model) -> Sources:
        """Return the fingerprints of the files of a document that was just read or written."""
        return cls(tuple(map(Seen.now, dict.fromkeys((path, *imported(model))))))

    def again(self, *paths: Path) -> Sources:
        """Return the same files, with the fingerprints of the given paths (default: all) updated."""
        return Sources(tuple(Seen.now(e.path) if e.path in paths or not paths else e for e in self.files))

    def changed(self, path: Path | None = None) -> tuple[Path, ...]:
        """Return the files, of all or one, that another program has changed since."""
        wanted = path and os.path.realpath(path)
        asked = (each for each in self.files if wanted in (None, os.path.realpath(each.path)))
        return tuple(each.path for each in asked if each.changed())


def imported(model: Model) -> tuple[Path, ...]:
    """Return the files that a document includes besides its own: sub-assemblies with their files, tables of drivers,
    meshes, figures and textures."""
    return tuple(dict.fromkeys(_imported_paths(model)))


def _imported_paths(model: Model) -> Iterator[Path]:
    folder = os.path.dirname(os.path.abspath(model.origin)) if model.origin else ""
    for driver in model.drivers:
        if driver.file:
            yield Path(beside(driver.file, model.origin))
    yield from _shown(model, folder)
    for assembly in model.assemblies:
        if assembly.content is not None:
            yield Path(assembly.content.origin or Path(folder, assembly.file))
            yield from _imported_paths(assembly.content)


def _shown(model: Model, folder: str) -> Iterator[Path]:
    """Yield the files that define the appearance of a document, or the mass of its bodies."""
    for element in nested_elements(model):
        files: tuple[str, ...] = ()
        match element:
            case Mesh(file=file) | Material(texture=file):
                files = (file,)
            case Figures(revolute=revolute, prismatic=prismatic, link=link):
                files = revolute, prismatic, link
        for file in (each for each in files if each not in ("", PLAIN_LINE)):
            place = resolve_mesh(file, model.origin)
            if place is not None:
                yield place
            elif "://" not in file:
                yield Path(folder, file)


def _status(path: Path) -> tuple[int, int, int] | None:
    try:
        found = status_of(path, RUN)
    except FileError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _digest(path: Path) -> str:
    if path.suffix.lower() in MESH_SUFFIXES:
        return fingerprint(path, MESH)
    try:
        return hashlib.sha256(content_of(path, SIGNAL)).hexdigest()
    except FileError:
        return MISSING


class SaveOutcome(NamedTuple):
    """Outcome of saving. `whole`: the file holds all of the document; severity and text of the message."""

    whole: bool
    severity: str
    words: str


def save_document(model: Model, path: Path, known: Sources, *, over: bool, backup: bool) -> SaveOutcome:
    """Write a model to a file completely or not at all, in the format given by the suffix, and return the outcome.

    A file that another program has changed meanwhile is written only if `over`; with `backup` what it held before is
    kept next to it. Raises KinetostatError.
    """
    if not over and known.changed(path):
        raise FileError(
            "Another program changed this file since it was read here, so it was not overwritten.",
            file=str(path),
            remedy="Save under another name, or reload the file.",
        )
    left_out = save(model, path, backup=backup)
    whole = all(finding.severity == "hint" for finding in left_out)
    if not left_out:
        return SaveOutcome(True, "done", f"Saved {path}")
    more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    said = f"{left_out[0].text}{more}"
    return (
        SaveOutcome(True, "hint", f"Saved {path}: {said}")
        if whole
        else SaveOutcome(False, "warning", f"{path}: {said}")
    )
