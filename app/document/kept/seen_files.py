"""Files as they were when they were last read or written, so that a change by another program is noticed. No Qt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from core.errors import FileError
from core.files.meshes.lookup import MESH_SUFFIXES, resolve_mesh
from core.files.places import beside
from core.files.regular_file import MESH, RUN, SIGNAL, content_of, fingerprint, status_of
from core.later import dataclass
from core.model import Figures, Material, Mesh, Model
from core.model.bodies import PLAIN_LINE
from core.model.fields import nested_elements

MISSING = ""
"""Digest of a file that is not there, or cannot be read."""


@dataclass(frozen=True)
class Seen:
    """A file at one moment: equal contents are equal, whenever they were written."""

    path: Path
    digest: str = MISSING
    status: tuple[int, int, int] | None = field(default=None, compare=False)
    """Size, time of change and number on the disk: as long as these stay the content is not read again."""

    @classmethod
    def now(cls, path: Path) -> Seen:
        """The file as it is."""
        status = _status(path)
        return cls(path, MISSING if status is None else _digest(path), status)

    @property
    def there(self) -> bool:
        """Whether there was such a file."""
        return self.digest != MISSING

    def changed(self) -> bool:
        """Whether its content is another one now."""
        status = _status(self.path)
        if status == self.status:
            return False
        return (MISSING if status is None else _digest(self.path)) != self.digest


@dataclass(frozen=True)
class Sources:
    """The files of a document as they were when they were last read or written: its own first, then those it takes
    in."""

    files: tuple[Seen, ...] = ()

    @classmethod
    def now(cls, path: Path, model: Model) -> Sources:
        """Those of a document that was just read or written, as they are."""
        return cls(tuple(map(Seen.now, dict.fromkeys((path, *imported(model))))))

    def again(self, *paths: Path) -> Sources:
        """The same files; these (default: all) as they are now."""
        return Sources(tuple(Seen.now(e.path) if e.path in paths or not paths else e for e in self.files))

    def changed(self, path: Path | None = None) -> tuple[Path, ...]:
        """Which files, of all or one, another program has changed since."""
        wanted = path and os.path.realpath(path)
        asked = (each for each in self.files if wanted in (None, os.path.realpath(each.path)))
        return tuple(each.path for each in asked if each.changed())


def imported(model: Model) -> tuple[Path, ...]:
    """The files a document takes in besides its own: sub-assemblies with theirs, tables of drivers, meshes, figures and
    textures."""
    return tuple(dict.fromkeys(_imported(model)))


def _imported(model: Model) -> Iterator[Path]:
    folder = os.path.dirname(os.path.abspath(model.origin)) if model.origin else ""
    for driver in model.drivers:
        if driver.file:
            yield Path(beside(driver.file, model.origin))
    yield from _shown(model, folder)
    for assembly in model.assemblies:
        if assembly.content is not None:
            yield Path(assembly.content.origin or Path(folder, assembly.file))
            yield from _imported(assembly.content)


def _shown(model: Model, folder: str) -> Iterator[Path]:
    """The files that give a document its looks, and bodies their mass."""
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
