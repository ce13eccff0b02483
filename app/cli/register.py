"""`kinetostat --register` and `--unregister`: make Kinetostat the desktop's program for .kst files, or undo that.

Everything is written for the user alone, nothing for the whole computer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli.terminal import say
from core.errors import KinetostatError


def register() -> None:
    """Write the files that the desktop needs, all or none of them, and print where they are. Raises KinetostatError."""
    if sys.platform == "win32":
        from app.cli.windows_association import associate

        _print_lines(associate(start_command(windowed=True)))
    elif sys.platform == "darwin":
        raise _no_bundle_error()
    else:
        from app.cli.desktop_entry import write_entry

        _print_lines(write_entry(start_command()))


def unregister() -> None:
    """Remove the files written by `register`, and nothing else. Raises KinetostatError."""
    if sys.platform == "win32":
        from app.cli.windows_association import dissociate

        _print_lines(dissociate())
    elif sys.platform == "darwin":
        raise _no_bundle_error()
    else:
        from app.cli.desktop_entry import remove_entry

        _print_lines(remove_entry())


def start_command(*, windowed: bool = False) -> tuple[str, ...]:
    """Return the command words that start this installation from any folder; a file to open is appended to them.

    windowed : with the interpreter that opens no console, where there is one (Windows)
    """
    import kinetostat

    interpreter = Path(sys.executable)
    quiet = interpreter.with_name("pythonw.exe")
    python = str(quiet if windowed and quiet.is_file() else interpreter)
    place = Path(kinetostat.__file__).absolute()
    if place.stem != "__init__":
        return python, str(place)  # a checkout: its folder comes first on the path then
    return python, "-P", "-m", place.parent.name  # -P: modules in the folder where it is started hide nothing


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)


def _no_bundle_error() -> KinetostatError:
    command = " ".join(f"'{word}'" for word in start_command())
    return KinetostatError(
        "macOS opens files only with application bundles, and Kinetostat is not one: nothing was changed.",
        remedy="In Automator, make an application that runs the shell script "
        f'{command} "$1" (input as arguments), then choose it for a .kst file in Finder ▸ Get Info ▸ Open with.',
    )
