"""Pythons on this machine, for what is tried with each of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

TRIED = ("3.11", "3.12", "3.13")
"""Those that the program is for."""
REFUSED = ("3.14",)
"""Those that it says no to."""
_ABOUT = "import struct, sys; print(*sys.version_info[:3], 8 * struct.calcsize('P'))"


def pythons() -> dict[str, str]:
    """The program of each version ("3.12"), the newest of several: from $PYTHONS, from PATH, from pyenv."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    for program in _candidates():
        told = subprocess.run([program, "-I", "-c", _ABOUT], capture_output=True, text=True)
        numbers = tuple(map(int, told.stdout.split())) if told.returncode == 0 else ()
        version = ".".join(map(str, numbers[:2]))
        if version in (*TRIED, *REFUSED) and numbers[3] == 64:
            found[version] = max(found.get(version, ((), "")), (numbers[:3], program))
    return {version: found[version][1] for version in (*TRIED, *REFUSED) if version in found}


def _candidates() -> list[str]:
    named = re.split(rf"[\s{os.pathsep}]+", os.environ.get("PYTHONS", ""))
    on_path = [shutil.which(f"python{version}") for version in (*TRIED, *REFUSED)]
    by_pyenv = sorted(map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3")))
    return [program for program in dict.fromkeys((*named, *on_path, *by_pyenv)) if program and shutil.which(program)]
