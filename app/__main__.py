"""The program: `kinetostat [FILE]` opens the window; `kinetostat <verb> …` works without one."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """The `kinetostat` command."""
    given = sys.argv[1:]
    if not given or is_file(given[0]):
        return window(given[0] if given else "")
    from app.cli.main import cli

    return cli(given)


def is_file(word: str) -> bool:
    """Whether the first word of the command line means a file to open, not an option or a sub-command."""
    return not word.startswith("-") and (Path(word).suffix != "" or Path(word).is_file())


def window(file: str = "", arguments: list[str] | None = None) -> int:
    """Open the window on a file; without one, on the example arm. Returns the exit status."""
    from app.start import start

    given = sys.argv if arguments is None else arguments
    chosen = file or next((each for each in given[1:] if not each.startswith("-")), "")
    return start(chosen, given)


if __name__ == "__main__":
    sys.exit(main())
