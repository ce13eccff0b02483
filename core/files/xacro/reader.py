"""Reader of Xacro files: expanded by the library `xacrodoc` if installed, then read as URDF.

Their expressions are evaluated by `core.files.xacro.expressions`, which reaches nothing of the machine. What only
Python could evaluate is refused until the person trusts the file (docs/decisions/xacro.md).
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
from pathlib import Path

from core.apart.starting import ProcessResult, module_command, process_environment, run_command
from core.errors import CodeRefused, FileError, KinetostatError
from core.files.regular_file import MODEL
from core.files.source import ReadOptions, ReadResult, Source, TrustedFile
from core.files.urdf.reader import read_urdf
from core.model import Finding

TIME_LIMIT = 30.0
"""Seconds; expanding a large humanoid takes about two."""

_ENVIRONMENT = {"PYTHONHASHSEED": "0"}
"""Environment that makes the order of sets reproducible."""
_KINDS = {"CodeRefused": CodeRefused}
_REMEDY = (
    "Write it with numbers, texts and lists; or, if you trust who made the file, allow it to run its code "
    "(on the command line {}, in a script {})."
)
_OF_OPENED, _OF_IMPORTED = ("--trust-code", "trust=True"), ("--trust-code-of FILE", "trust=[error.allow]")


def read_xacro(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of a Xacro file. Raises FileError, also if the library is missing."""
    text, said = expand(source, options)
    try:
        reading = read_urdf(Source(text, source.file, decoded=True), options)
        unplaced = (dataclasses.replace(each, line=None) for each in reading.findings)  # lines are of the expanded text
        warned = (Finding("warning", f"Xacro: {text.rstrip('.')}.", file=source.file) for text in said)
        return ReadResult(reading.model, (*warned, *unplaced))
    except KinetostatError as error:
        where = ", ".join(part for part in ("in the expanded text", error.where) if part)
        raise FileError(error.what, where=where, remedy=error.remedy, file=source.file) from None


def expand(source: Source, options: ReadOptions) -> tuple[bytes, list[str]]:
    """Return the URDF text of a Xacro file and xacro's warnings. Raises FileError."""
    if importlib.util.find_spec("xacrodoc") is None:
        raise FileError(
            "Xacro files need the library xacrodoc.",
            file=source.file,
            remedy='Install it with: pip install "kinetostat[xacro]".',
        )
    if not source.file or not Path(source.file).is_file():
        raise FileError(
            "A Xacro text can only be read from a file.",
            file=source.file,
            remedy="Save it as a .xacro file and open that.",
        )
    trusted = TrustedFile.of(source)
    file, packages = os.path.abspath(source.file), json.dumps(dict(options.packages))
    mode = "trusted" if trusted in options.trusted else "closed"
    arguments = json.dumps({} if options.chain else dict(options.arguments))
    done = _run_expansion([file, packages, mode, arguments], source.text.encode("utf-8"), source.file)
    if done.code == 0 and len(done.output) <= MODEL.most:
        return done.output, _warnings(done.errors)
    error = _expansion_error(done.errors, done.code == 0, source.file)
    if isinstance(error, CodeRefused):
        error.allow = trusted
        error.remedy = _REMEDY.format(*(_OF_IMPORTED if options.chain else _OF_OPENED))
    raise error


def _warnings(error_output: bytes) -> list[str]:
    """Return xacro's warnings from the last line that the subprocess wrote to its standard error."""
    lines = error_output.decode("utf-8", "replace").strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else []
    except ValueError:
        return []
    return [str(each) for each in found] if isinstance(found, list) else []


def _run_expansion(arguments: list[str], text: bytes, file: str) -> ProcessResult:
    """Run the subprocess that expands the file; if it exceeds the time limit, it is stopped with all its children."""
    command, own = module_command(f"{__package__}.process", *arguments), process_environment(_ENVIRONMENT)
    try:
        return run_command(command, standard_input=text, environment_variables=own, timeout=TIME_LIMIT)
    except TimeoutError:
        raise FileError(
            f"Expanding the file takes longer than {TIME_LIMIT:.0f} s.",
            file=file,
            remedy="Look for endless recursion and very large numbers in the file.",
        ) from None


def _expansion_error(error_output: bytes, timed_out: bool, file: str) -> FileError:
    """Return the error reported by the subprocess."""
    if timed_out:
        return FileError(
            f"The file expands into more than {MODEL.most / 1e6:.0f} MB.",
            file=file,
            remedy="Look for macros that call each other again and again.",
        )
    lines = error_output.decode("utf-8", "replace").strip().splitlines()
    try:
        parts = json.loads(lines[-1]) if lines else {}
        error = _KINDS.get(parts.pop("kind"), FileError)(**parts)
    except (ValueError, KeyError, AttributeError, TypeError):
        reason = lines[-1][:300].rstrip(".") if lines else "it ended without a message"
        return FileError(f"Xacro cannot expand the file: {reason}.", file=file, remedy="Simplify the file.")
    if error.file == os.path.abspath(file):
        error.file = file
    return error
