"""System libraries that VTK and Qt load at run time, checked in advance so that missing ones are named instead of
causing a crash."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Literal

from core.errors import KinetostatError
from resources import SYSTEM_LIBRARIES

Use = Literal["picture", "chart", "window"]
"""Purpose of libraries: off-screen pictures (VTK), charts without a window (Qt), the window on X11. Each includes those
of the earlier ones."""

_USES: tuple[Use, ...] = ("picture", "chart", "window")


@cache
def missing(use: Use) -> tuple[tuple[str, str], ...]:
    """Return (file, Debian package) of the libraries for `use` that this Linux system lacks; () on other systems."""
    if not sys.platform.startswith("linux"):
        return ()
    needed = _USES[: _USES.index(use) + 1]
    lines = [line.split() for line in SYSTEM_LIBRARIES.read_text().splitlines() if not line.startswith("#")]
    return tuple((file, package) for file, package, what in lines if what in needed and not _loads(file))


def require(use: Use) -> None:
    """Raise KinetostatError with the packages to install if libraries are missing."""
    if lacking := missing(use):
        raise KinetostatError(
            f"System libraries are missing: {', '.join(file for file, _ in lacking)}.",
            remedy=f"On Debian or Ubuntu: sudo apt-get install {' '.join(dict(lacking).values())}",
        )


def _loads(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True
