"""Lookup of mesh files: the order in which locations are tried for `package://` and other addresses.

1. an explicit map package → folder; 2. the folders above the model's file: one that holds `package.xml` of this
package, or a folder of the package's name beside it; 3. the folders in the path variables of ROS, Ament and Gazebo;
4. folders of other names beside it, or in those of the variables, whose `package.xml` says this name.
Only regular files with a mesh's suffix are ever given back.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from core.errors import FileError
from core.files.regular_file import MESH, MODEL, read_beginning, read_status

MESH_SUFFIXES = (".stl", ".obj", ".dae", ".gltf", ".glb", ".ply", ".off", ".3mf")
"""Suffixes of the files that are read as meshes."""

PATH_VARIABLES = (
    "ROS_PACKAGE_PATH",
    "AMENT_PREFIX_PATH",
    "GAZEBO_MODEL_PATH",
    "GZ_SIM_RESOURCE_PATH",
    "IGN_GAZEBO_RESOURCE_PATH",
)
_MAX_PARENTS = 20
_MAX_NEIGHBOURS = 3
_MOST_ENTRIES = 1000
_LISTED = 2.0
"""Time (s) for which the list of packages in a folder is cached."""
_PACKAGE_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


def resolve_mesh(file: str, origin: str = "", packages: Mapping[str, str] | None = None) -> Path | None:
    """Return the path of a mesh file named in a model; None if there is no such file.

    file     : a path relative to the model's file, an absolute path, or a file://, package:// or model:// URI
    origin   : path of the model's file, "" if it has none
    packages : package name → folder, tried first
    """
    for place in _candidate_paths(file, origin, packages or {}):
        if _is_mesh(place):
            return place
    return None


def find_mesh_problem(file: str, origin: str = "", packages: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """Return the problem with the address of a mesh file and the remedy, or None if the mesh is found."""
    if resolve_mesh(file, origin, packages) is not None:
        return None
    for place in _candidate_paths(file, origin, packages or {}):
        if not _is_file(place):
            continue
        if place.suffix.lower() not in MESH_SUFFIXES:
            kind = f"'{place.suffix}' files are" if place.suffix else "files without a suffix are"
            text = f"The mesh '{file}' exists, but {kind} not supported; a placeholder is shown."
            return text, f"Export it as one of {' '.join(MESH_SUFFIXES)}."
        try:
            read_status(place, MESH)
        except FileError as error:
            return f"The mesh '{file}' is not usable: {error.what} A placeholder is shown.", error.remedy or ""
    text = f"The mesh '{file}' is not found; a placeholder is shown."
    return text, "Put the file there, or give the folder of its package."


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_mesh(path: Path) -> bool:
    try:
        return path.suffix.lower() in MESH_SUFFIXES and bool(read_status(path, MESH))
    except FileError:
        return False


def _candidate_paths(file: str, origin: str, packages: Mapping[str, str]) -> Iterator[Path]:
    if not file or "\0" in file or len(file) > 4096:
        return
    folder = Path(origin).absolute().parent if origin else None
    try:
        uri = urlsplit(file)
    except ValueError:
        return
    if uri.scheme in ("package", "model"):
        name, _, rest = unquote(uri.netloc + uri.path).lstrip("/").partition("/")
        rest = rest.lstrip("/")
        if name and ".." not in Path(rest).parts:
            for place in candidate_package_folders(name, folder, packages):
                yield place / rest
        return
    path = Path(unquote(uri.path) if uri.scheme == "file" else file.replace("\\", "/"))
    if path.is_absolute():
        yield path
    elif folder is not None:
        yield folder / path
        if not path.drive and ".." not in path.parts:
            for parent in list(folder.parents)[:3]:
                yield parent / path


def candidate_package_folders(name: str, folder: Path | None, packages: Mapping[str, str]) -> Iterator[Path]:
    """Yield folders that may contain a package, the most likely first."""
    if name in packages:
        yield Path(packages[name]).expanduser()
    if folder is not None:
        for parent in (folder, *list(folder.parents)[:_MAX_PARENTS]):
            if parent.name == name or _declared_package_name(parent / "package.xml") == name:
                yield parent
            yield parent / name
    for variable in PATH_VARIABLES:
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            root = Path(entry)
            yield from (root / "share" / name, root / name)
            if root.name == name:
                yield root
            yield from _folders_declaring_package(root, name)
    for parent in list(folder.parents)[:_MAX_NEIGHBOURS] if folder is not None else ():
        yield from _folders_declaring_package(parent, name)


def _folders_declaring_package(parent: Path, name: str) -> Iterator[Path]:
    """Yield the subfolders whose package.xml declares this package name, whatever the folder is called."""
    packages = _list_packages(parent, int(time.monotonic() / _LISTED))
    yield from (place for declared, place in packages if declared == name)


@lru_cache(maxsize=64)
def _list_packages(parent: Path, _cache_period: int) -> tuple[tuple[str, Path], ...]:
    """Return (name, folder) of the packages in a folder, cached for a few seconds because many meshes are looked up in
    a row."""
    try:
        with os.scandir(parent) as entries:
            places = [Path(entry.path) for entry in itertools.islice(entries, _MOST_ENTRIES) if entry.is_dir()]
    except OSError:
        return ()
    found = ((_declared_package_name(place / "package.xml"), place) for place in sorted(places))
    return tuple((name, place) for name, place in found if name)


def _declared_package_name(package: Path) -> str:
    """Return the name in a package.xml; "" if there is no such file."""
    try:
        status = read_status(package, MODEL)
    except FileError:
        return ""
    return _parse_package_name(package, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _parse_package_name(package: Path, _changed: int, _size: int) -> str:
    found = _PACKAGE_NAME.search(read_beginning(package, 20_000).decode("utf-8", "replace"))
    return found.group(1) if found else ""
