"""The system's libraries that VTK and Qt load at run time: named when they are missing, before anything crashes."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Literal

from core.errors import KinetostatError
from resources import SYSTEM_LIBRARIES

Use = Literal["picture", "chart", "window"]
"""What libraries are for: pictures without a window (VTK), charts without a window (Qt), the window on X11.
Each needs those of the uses before it, too."""

_USES: tuple[Use, ...] = ("picture", "chart", "window")


@cache
def missing(use: Use) -> tuple[tuple[str, str], ...]:
    """(file, Debian package) of what `use` needs and this Linux system lacks; () on other systems."""
    if not sys.platform.startswith("linux"):
        return ()
    needed = _USES[: _USES.index(use) + 1]
    lines = [line.split() for line in SYSTEM_LIBRARIES.read_text().splitlines() if not line.startswith("#")]
    return tuple((file, package) for file, package, what in lines if what in needed and not _loads(file))


def require(use: Use) -> None:
    """Nothing, where everything is there; else a KinetostatError with the names to install."""
    if lacking := missing(use):
        raise KinetostatError(
            f"Libraries of the system are missing: {', '.join(file for file, _ in lacking)}.",
            remedy=f"On Debian or Ubuntu: sudo apt-get install {' '.join(dict(lacking).values())}",
        )


def _loads(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True
