"""Xacro files: expanded by the library `xacrodoc` where it is installed, then read as URDF."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from core.errors import FileError, KinetostatError
from core.files.source import MAX_SIZE, Options, Reading, Source
from core.files.urdf_reader import read_urdf

TIME_LIMIT = 30.0
"""Seconds; expanding a large humanoid takes about two."""

_ROOT = Path(__file__).resolve().parents[2]


def read_xacro(source: Source, options: Options) -> Reading:
    """The model of a Xacro file. Raises FileError, also when the library is missing."""
    if importlib.util.find_spec("xacrodoc") is None:
        raise FileError("Xacro files need the library xacrodoc.", file=source.file,
                        remedy='Install it with: pip install "kinetostat[xacro]".')  # fmt: skip
    if not source.file or not Path(source.file).is_file():
        raise FileError("A Xacro text can only be read from a file.", file=source.file,
                        remedy="Save it as a .xacro file and open that.")  # fmt: skip
    if b"<!ENTITY" in source.data.upper():
        raise FileError("The file declares XML entities; they are not expanded here.", file=source.file,
                        remedy="Remove the <!ENTITY …> lines and write the values out.")  # fmt: skip
    text = _expanded(source, options)
    try:
        return read_urdf(Source(text, source.file, decoded=True), options)
    except KinetostatError as error:
        where = ", ".join(part for part in ("in the expanded text", error.where) if part)
        raise FileError(error.what, where=where, remedy=error.remedy, file=source.file) from None


def _expanded(source: Source, options: Options) -> bytes:
    """The URDF text."""
    file = Path(source.file).absolute()
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "core.files.xacro_process", str(file), json.dumps(dict(options.packages))]
    try:
        done = subprocess.run(command, cwd=file.parent, env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
                              capture_output=True, timeout=TIME_LIMIT, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise FileError(f"Expanding it takes longer than {TIME_LIMIT:.0f} s.", file=source.file,
                        remedy="Look for endless recursions and giant numbers in it.") from None  # fmt: skip
    if done.returncode != 0 or len(done.stdout) > MAX_SIZE:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1][:300].rstrip(".") if said else "it ended without a word"
        raise FileError(f"Xacro cannot expand it: {reason}.", file=source.file,
                        remedy="Correct the file, or say where its packages lie.")  # fmt: skip
    return done.stdout
