"""Loading of VTK's libraries, configured before the first of them is imported.

By itself VTK looks for each library by a pattern, which reads a folder of hundreds of files anew each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

import vtkmodules

_listed = cache(os.listdir)


def find_library(paths: Iterable[str], name: str) -> str | None:
    """Return the file of a library, e.g. "vtkCommonCore", in one of the folders."""
    for extension in vtkmodules.LIB_EXTS:
        for folder in paths:
            for file in _listed(folder):
                if file.startswith((f"{name}.", f"{name}-")) and file.endswith(extension):
                    return os.path.realpath(os.path.join(folder, file))
    return None


if hasattr(vtkmodules, "find_lib_path") and hasattr(vtkmodules, "LIB_EXTS"):
    vtkmodules.find_lib_path = find_library


def skip_numpy_overrides() -> None:
    """Skip VTK's NumPy-like behaviour of arrays and data sets: it is loaded with the first libraries, takes a sixth of
    their time, and is not used by Kinetostat. Scripts that use VTK themselves may load it."""
    if hasattr(vtkmodules, "MODULE_MAPPER"):
        vtkmodules.MODULE_MAPPER.clear()
