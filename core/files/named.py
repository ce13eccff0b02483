"""Models by name: an example shipped with the program, or a description from the package `robot_descriptions`.

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

from core.errors import FileError, find_likely_names, suggest_names
from core.files import formats
from core.files.regular_file import path_as_string
from core.files.source import ReadResult, TrustedFile
from core.model import Model
from resources import Examples, example_named
from resources import examples as shipped

ROBOTS = "robot_descriptions"
"""Package that downloads robot descriptions; each of its modules is one description."""
_ENDING = "_description"
_FILES = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")
"""Attributes of such a module that give a file, best first."""


class ModelFile(NamedTuple):
    """Model file, the package folders in which its meshes are looked up, and the arguments of a Xacro file."""

    file: str
    packages: Mapping[str, str] = {}
    arguments: Mapping[str, str] = {}


def examples() -> Examples:
    """Return the models that ship with the program; `print(ks.examples())` lists them, `ks.load(name)` opens one."""
    return shipped()


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool | None = None,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[TrustedFile] = False,
) -> Model:
    """Return the model in a file of any known format, or the model of that name.

    path     : a file; else the name of an example ("puma560", see `examples`), or of a description that the package
               `robot_descriptions` has, where that is installed ("panda_description"; it may have to be fetched)
    floating : True: the base of a URDF or MJCF file moves freely; False: it is fixed to the ground; None: as the file
        says, a URDF's root is then fixed, with a hint where the links look like feet or wheels
    mimic    : keep the couplings of a URDF (False: the followers move on their own)
    packages : package name → folder, for meshes named package://…
    arguments : those of a Xacro file, name → value
    trust    : let this file run its code (expressions of a Xacro as Python), or those that `CodeRefused.allow` names
    Raises FileError. What the reader noticed goes to the logger `kinetostat.files`.
    """
    return formats.log_findings(
        read(path, floating=floating, mimic=mimic, packages=packages, arguments=arguments, trust=trust)
    ).model


def read(
    path: str | os.PathLike[str],
    *,
    floating: bool | None = None,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[TrustedFile] = False,
) -> ReadResult:
    """Return the model as `load` does, and the findings of its reader. Raises FileError."""
    place = find_model_file(path)
    folders = {**place.packages, **(packages or {})}
    return formats.read(
        place.file,
        floating=floating,
        mimic=mimic,
        packages=folders,
        arguments={**place.arguments, **(arguments or {})},
        trust=trust,
    )


def find_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Return the model file for a path or a name. Raises FileError with suggestions for an unknown name."""
    word = path_as_string(path)
    if not is_name(word) or os.path.lexists(word):
        _check_example_file_name(word)
        return ModelFile(word)
    if (example := example_named(word)) is not None:
        return ModelFile(str(example.path))
    if word in _robot_description_names():
        return _fetch_robot_description(word)
    raise FileError("There is no such file, and no model of this name.", file=word, remedy=_unknown_name_remedy(word))


def is_name(word: str) -> bool:
    """Return True if a word could be the name of a model: no folders and no suffix."""
    return word.isidentifier()


def is_model_name(word: str) -> bool:
    """Return True if a word is the name of an example, or of a description in the installed `robot_descriptions`."""
    return is_name(word) and (example_named(word) is not None or word in _robot_description_names())


def _check_example_file_name(file: str) -> None:
    """Raise FileError if a missing file, given without a folder, is called like the file of an example."""
    stem = Path(file).stem
    example = example_named(stem)
    if example is not None and file == example.path.name and not os.path.lexists(file):
        raise FileError("There is no such file.", file=file, remedy=f"Open the example by its name, {stem}.")


def _robot_description_names() -> tuple[str, ...]:
    """Return the names in the package `robot_descriptions`, without importing it; none if it is not installed."""
    spec = importlib.util.find_spec(ROBOTS)
    folders = spec.submodule_search_locations if spec is not None else None
    return tuple(each.name for each in pkgutil.iter_modules(folders or []) if each.name.endswith(_ENDING))


def _fetch_robot_description(name: str) -> ModelFile:
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
            f"The package {ROBOTS} could not download the robot: {str(error).strip() or type(error).__name__}.",
            file=name,
            remedy="Check the network connection, or give the path of a file.",
        ) from error
    file = next((str(found) for each in _FILES if (found := getattr(module, each, None))), "")
    if not file:
        raise FileError(
            f"The package {ROBOTS} contains no URDF, Xacro or MJCF file of this robot.",
            file=name,
            remedy="Choose another robot.",
        )
    folder = getattr(module, "PACKAGE_PATH", None)
    others = getattr(module, "XACRO_PACKAGE_PATHS", {})
    given = {str(key): str(value) for key, value in (getattr(module, "XACRO_ARGS", None) or {}).items()}
    packages = {**({Path(folder).name: str(folder)} if folder else {}), **others}
    return ModelFile(file, packages, given if file.endswith(".xacro") else {})


def _unknown_name_remedy(name: str) -> str:
    known = [each.name for each in shipped()]
    robots = _robot_description_names()
    if not robots and name.endswith(_ENDING):
        return f"Descriptions of robots by name need a package: pip install {ROBOTS}"
    if find_likely_names(name, [*known, *robots]):
        return suggest_names(name, [*known, *robots])
    return "Check the name and the folder; kinetostat examples lists the models that ship."
