"""Models by name, as users type them: an example shipped with the program, or a description of the package
`robot_descriptions`.

A path at which there is something always wins. Only what users type is looked up by name; names inside files lead to
files, so that a file of a stranger makes nothing else be loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from core.errors import FileError, likely_meant, near_misses
from core.files import formats
from core.files.regular_file import path_of
from core.files.source import Reading, Trusted
from core.model import Model
from resources import Examples, example_named
from resources import examples as shipped

ROBOTS = "robot_descriptions"
"""Package that fetches robot descriptions; each is one of its modules."""
_ENDING = "_description"
_FILES = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")
"""Attributes of such a module that give a file, best first."""


class Place(NamedTuple):
    """File, the package folders in which its meshes are looked up, and arguments of a Xacro file."""

    file: str
    packages: Mapping[str, str] = {}
    arguments: Mapping[str, str] = {}


def examples() -> Examples:
    """Return the models that ship with the program; `print(ks.examples())` lists them, `ks.load(name)` opens one."""
    return shipped()


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[Trusted] = False,
) -> Model:
    """Return the model in a file of any known format, or the model with a name.

    path     : a file; else the name of an example ("puma560", see `examples`), or of a description that the package
               `robot_descriptions` has, where that is installed ("panda_description"; it may have to be fetched)
    floating : free the root of a URDF, which is otherwise fixed to the ground
    mimic    : keep the couplings of a URDF (False: the followers move on their own)
    packages : package name → folder, for meshes named package://…
    arguments : those of a Xacro file, name → value
    trust    : let this file run its code (expressions of a Xacro as Python), or those that `CodeRefused.allow` names
    Raises FileError. What the reader noticed goes to the logger `kinetostat.files`.
    """
    return formats.with_logged_findings(
        read(path, floating=floating, mimic=mimic, packages=packages, arguments=arguments, trust=trust)
    ).model


def read(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[Trusted] = False,
) -> Reading:
    """Return the model as `load` does, and the findings of its reader. Raises FileError."""
    place = place_of(path)
    folders = {**place.packages, **(packages or {})}
    return formats.read(
        place.file,
        floating=floating,
        mimic=mimic,
        packages=folders,
        arguments={**place.arguments, **(arguments or {})},
        trust=trust,
    )


def place_of(path: str | os.PathLike[str]) -> Place:
    """Return the file for a path or a name. Raises FileError with suggestions for an unknown name."""
    word = path_of(path)
    if not is_name(word) or os.path.lexists(word):
        _refuse_example_file_name(word)
        return Place(word)
    if (example := example_named(word)) is not None:
        return Place(str(example.path))
    if word in _robot_names():
        return _fetched_file(word)
    raise FileError("There is no such file, and no model of this name.", file=word, remedy=_remedy(word))


def is_name(word: str) -> bool:
    """Return True if a word could be the name of a model: no folders and no suffix."""
    return word.isidentifier()


def is_model_name(word: str) -> bool:
    """Return True if a word is the name of an example, or of a description in the installed `robot_descriptions`."""
    return is_name(word) and (example_named(word) is not None or word in _robot_names())


def _refuse_example_file_name(file: str) -> None:
    """Raise FileError if a missing file has the file name of an example, given without a folder."""
    stem = Path(file).stem
    example = example_named(stem)
    if example is not None and file == example.path.name and not os.path.lexists(file):
        raise FileError("There is no such file.", file=file, remedy=f"Open the example by its name, {stem}.")


def _robot_names() -> tuple[str, ...]:
    """Return the names in the package `robot_descriptions`, without importing it; none if it is not installed."""
    spec = importlib.util.find_spec(ROBOTS)
    folders = spec.submodule_search_locations if spec is not None else None
    return tuple(each.name for each in pkgutil.iter_modules(folders or []) if each.name.endswith(_ENDING))


def _fetched_file(name: str) -> Place:
    """Return the file of a robot description, fetched by importing its module. Raises FileError."""
    try:
        module = importlib.import_module(f"{ROBOTS}.{name}")
    except ImportError as error:
        raise FileError(
            f"The package {ROBOTS} cannot be loaded: {error}.",
            file=name,
            remedy=f"Install it with its dependencies: pip install {ROBOTS}",
        ) from error
    except Exception as error:  # of its downloads
        raise FileError(
            f"The package {ROBOTS} could not fetch it: {str(error).strip() or type(error).__name__}.",
            file=name,
            remedy="Check the network connection, or give the path of a file.",
        ) from error
    file = next((str(found) for each in _FILES if (found := getattr(module, each, None))), "")
    if not file:
        raise FileError(
            f"The package {ROBOTS} has no URDF, Xacro or MJCF file of it.", file=name, remedy="Choose another."
        )
    folder = getattr(module, "PACKAGE_PATH", None)
    others = getattr(module, "XACRO_PACKAGE_PATHS", {})
    given = {str(key): str(value) for key, value in (getattr(module, "XACRO_ARGS", None) or {}).items()}
    packages = {**({Path(folder).name: str(folder)} if folder else {}), **others}
    return Place(file, packages, given if file.endswith(".xacro") else {})


def _remedy(name: str) -> str:
    known = [each.name for each in shipped()]
    robots = _robot_names()
    if not robots and name.endswith(_ENDING):
        return f"Descriptions of robots by name need a package: pip install {ROBOTS}"
    if likely_meant(name, [*known, *robots]):
        return near_misses(name, [*known, *robots])
    return "Check the name and the folder; kinetostat examples lists the models that ship."
