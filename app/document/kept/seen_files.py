"""Fingerprints of files when last read or written, so that changes by other programs are noticed, and saving of the
document with a check against them. Independent of Qt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from core.errors import FileError
from core.files import save
from core.files.followed_files import resolve_document_path
from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
from core.files.regular_file import MESH, RUN, SIGNAL, fingerprint, read_content, read_status
from core.later import dataclass
from core.model import Figures, Material, Mesh, Model
from core.model.bodies import PLAIN_LINE
from core.model.fields import nested_elements

MISSING = ""
"""Digest of a file that does not exist or cannot be read."""


@dataclass(frozen=True)
class FileFingerprint:
    """Fingerprint of a file at one moment; fingerprints of equal contents are equal, whenever they were taken."""

    path: Path
    digest: str = MISSING
    status: tuple[int, int, int] | None = field(default=None, compare=False)
    """Size, time of change and inode number: while these stay, the content is not read again."""

    @classmethod
    def take_now(cls, path: Path) -> FileFingerprint:
        """Return the fingerprint of a file as it is now."""
        status = _file_status(path)
        return cls(path, MISSING if status is None else _file_digest(path), status)

    @property
    def file_existed(self) -> bool:
        """True if the file existed."""
        return self.digest != MISSING

    def has_changed(self) -> bool:
        """Return True if the content of the file has changed since."""
        status = _file_status(self.path)
        if status == self.status:
            return False
        return (MISSING if status is None else _file_digest(self.path)) != self.digest


@dataclass(frozen=True)
class SourceFingerprints:
    """Fingerprints of a document's files when last read or written: its own file first, then the files it includes."""

    files: tuple[FileFingerprint, ...] = ()

    @classmethod
    def take_now(cls, path: Path, model: Model) -> SourceFingerprints:
        """Return the fingerprints of the files of a document that was just read or written."""
        return cls(tuple(map(FileFingerprint.take_now, dict.fromkeys((path, *included_files(model))))))

    def updated_for(self, *paths: Path) -> SourceFingerprints:
        """Return a copy with the fingerprints of the given paths (default: all) taken again."""
        return SourceFingerprints(
            tuple(FileFingerprint.take_now(e.path) if e.path in paths or not paths else e for e in self.files)
        )

    def changed_files(self, path: Path | None = None) -> tuple[Path, ...]:
        """Return the files (or the given one) that another program has changed since."""
        wanted = path and os.path.realpath(path)
        asked = (each for each in self.files if wanted in (None, os.path.realpath(each.path)))
        return tuple(each.path for each in asked if each.has_changed())


def included_files(model: Model) -> tuple[Path, ...]:
    """Return the files that a document includes in addition to its own: sub-assemblies with their files, tables of
    drivers, meshes, figures and textures."""
    return tuple(dict.fromkeys(_included_paths(model)))


def _included_paths(model: Model) -> Iterator[Path]:
    folder = os.path.dirname(os.path.abspath(model.origin)) if model.origin else ""
    for driver in model.drivers:
        if driver.file:
            yield Path(resolve_document_path(driver.file, model.origin))
    yield from _appearance_files(model, folder)
    for assembly in model.assemblies:
        if assembly.content is not None:
            yield Path(assembly.content.origin or Path(folder, assembly.file))
            yield from _included_paths(assembly.content)


def _appearance_files(model: Model, folder: str) -> Iterator[Path]:
    """Yield the files that define the appearance of the bodies, or their mass."""
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


def _file_status(path: Path) -> tuple[int, int, int] | None:
    try:
        found = read_status(path, RUN)
    except FileError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _file_digest(path: Path) -> str:
    if path.suffix.lower() in MESH_SUFFIXES:
        return fingerprint(path, MESH)
    try:
        return hashlib.sha256(read_content(path, SIGNAL)).hexdigest()
    except FileError:
        return MISSING


class SaveOutcome(NamedTuple):
    """Outcome of saving. `whole`: True if the file holds the complete document; severity and text of the message."""

    whole: bool
    severity: str
    words: str


def save_document(
    model: Model, path: Path, fingerprints: SourceFingerprints, *, overwrite: bool, backup: bool
) -> SaveOutcome:
    """Write a model to a file, completely or not at all, in the format given by the suffix, and return the outcome.

    A file that another program has changed meanwhile is written only if `overwrite`; with `backup` its former content
    is kept next to it. Raises KinetostatError.
    """
    if not overwrite and fingerprints.changed_files(path):
        raise FileError(
            "Another program has changed this file since it was opened, so it was not overwritten.",
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
