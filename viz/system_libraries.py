"""Shared libraries that VTK and Qt load at run time. System libraries are checked in advance, so that missing ones are
named in a message instead of causing a crash; and VTK finds its own libraries quickly.

By itself VTK looks for each library by a pattern, which reads a folder of hundreds of files each time.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache
from typing import Literal

import vtkmodules

from core.errors import KinetostatError
from resources import SYSTEM_LIBRARIES

Use = Literal["picture", "chart", "window"]
"""Purpose of libraries: off-screen pictures (VTK), charts without a window (Qt), the window on X11. Each includes the
libraries of the preceding ones."""

_USES: tuple[Use, ...] = ("picture", "chart", "window")

_listed = cache(os.listdir)


@cache
def find_missing_libraries(use: Use) -> tuple[tuple[str, str], ...]:
    """Return (file, Debian package) of each library needed for `use` that this Linux system lacks; () on other
    systems."""
    if not sys.platform.startswith("linux"):
        return ()
    needed = _USES[: _USES.index(use) + 1]
    lines = [line.split() for line in SYSTEM_LIBRARIES.read_text().splitlines() if not line.startswith("#")]
    return tuple((file, package) for file, package, what in lines if what in needed and not _can_load(file))


def require_libraries(use: Use) -> None:
    """Raise KinetostatError with the packages to install if libraries are missing."""
    if lacking := find_missing_libraries(use):
        raise KinetostatError(
            f"System libraries are missing: {', '.join(file for file, _ in lacking)}.",
            remedy=f"On Debian or Ubuntu: sudo apt-get install {' '.join(dict(lacking).values())}",
        )


def _can_load(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def find_library(paths: Iterable[str], name: str) -> str | None:
    """Return the path of a library, such as "vtkCommonCore", in one of the folders."""
    for extension in vtkmodules.LIB_EXTS:
        for folder in paths:
            for file in _listed(folder):
                if file.startswith((f"{name}.", f"{name}-")) and file.endswith(extension):
                    return os.path.realpath(os.path.join(folder, file))
    return None


if hasattr(vtkmodules, "find_lib_path") and hasattr(vtkmodules, "LIB_EXTS"):
    vtkmodules.find_lib_path = find_library


def disable_numpy_overrides() -> None:
    """Disable VTK's NumPy-like behaviour of arrays and data sets: it would be loaded with the first VTK libraries,
    takes a sixth of their loading time, and is not used here. Scripts that use VTK themselves can still load it."""
    if hasattr(vtkmodules, "MODULE_MAPPER"):
        vtkmodules.MODULE_MAPPER.clear()
