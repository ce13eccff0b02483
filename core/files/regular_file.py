"""Safe reading of files that documents refer to: regular files of limited size only, without ever blocking.

Pipes, devices, sockets, folders, links that lead nowhere or in a circle are refused in words. What grows while it is
read is taken as long as it was at first.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time

from core.errors import FileError
from core.later import dataclass

MEGABYTE = 1_000_000
YOUNG = 2_000_000_000
"""Age (ns) below which a file may change again without a new modification time."""
MOST_FINGERPRINTS = 4096
_fingerprints: dict[str, tuple[tuple[int, int, int], str]] = {}
"""File status and digest by path."""
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags that prevent opening a pipe without a writer from blocking."""


@dataclass(frozen=True)
class FilePurpose:
    """Purpose for which a file is read, with its size limit and remedies.

    name    : what messages call it
    most    : bytes of the largest one
    smaller : what helps where it is larger
    other   : what helps where it cannot be read
    """

    name: str
    most: int
    smaller: str = "Choose another file."
    other: str = "Check its name and your permissions."


MODEL = FilePurpose("file", 50 * MEGABYTE, "Keep meshes in separate files.")
MESH = FilePurpose("mesh", 250 * MEGABYTE, "Reduce its triangles.")
PICTURE = FilePurpose("picture", 50 * MEGABYTE, "Reduce its size.")
SIGNAL = FilePurpose(
    "recorded signal", 100 * MEGABYTE, "Keep fewer rows or columns.", "Give the path of a CSV or SIMNON file."
)
TORQUES = FilePurpose("torque file", MEGABYTE, "Choose a torque file.", "Choose another.")
SHAPE = FilePurpose(
    "shape",
    20 * MEGABYTE,
    "Use fewer points.",
    "Choose a file of Line, Polygon and Point lists, or STL, OBJ, glTF.",
)
ANIMATION = FilePurpose("animation", 200 * MEGABYTE, "Save fewer poses.", "Choose a file written by SaveAnim.")
SCRIPT = FilePurpose("script", 20 * MEGABYTE, "Split it.", "Choose another file.")
REPORT = FilePurpose("file", 200 * MEGABYTE, "Name another file.", "Name another file.")
RUN = FilePurpose("run", 1 << 62)
"""Runs are read in pieces, as needed, so their size is not limited."""


def path_as_string(path: object) -> str:
    """Return a path as text. Raises FileError."""
    if not isinstance(path, str | os.PathLike) or not isinstance(found := os.fspath(path), str):
        raise FileError(f"A path is needed, not {type(path).__name__}.", remedy="Give the file name as a string.")
    return found


def read_content(path: str | os.PathLike[str], kind: FilePurpose = MODEL) -> bytes:
    """Return the content of a file. Raises FileError."""
    file = path_as_string(path)
    handle, size = _open_regular(file, kind)
    try:
        with open(handle, "rb") as stream:
            return stream.read(size) or b""
    except OSError as error:
        raise error_from_os_error(error, kind, file) from None


def read_text(path: str | os.PathLike[str], kind: FilePurpose) -> str:
    """Return the content of a file as UTF-8 text, with line feeds as line ends. Raises FileError."""
    try:
        return read_content(path, kind).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise FileError(
            f"The {kind.name} cannot be read: it is not text.", file=path_as_string(path), remedy=kind.other
        ) from None


def read_beginning(path: str | os.PathLike[str], count: int) -> bytes:
    """Return the first bytes of a file; none if it cannot be read."""
    try:
        handle, _ = _open_regular(path_as_string(path), RUN)
        with open(handle, "rb") as stream:
            return stream.read(count) or b""
    except (FileError, OSError):
        return b""


def read_status(path: str | os.PathLike[str], kind: FilePurpose = MODEL) -> os.stat_result:
    """Return the status (size and times) of a regular file within the size limit. Raises FileError."""
    file = path_as_string(path)
    try:
        status = os.stat(file)
    except (OSError, ValueError) as error:
        raise error_from_os_error(error, kind, file) from None
    _check_regular_and_size(status, kind, file)
    return status


def fingerprint(path: str | os.PathLike[str], kind: FilePurpose = MODEL) -> str:
    """Return a digest of a file's content, used in cache keys; "" if the file cannot be read.

    It is computed again only if the file's status is another one, or was so young that a later writing may have left it
    as it was: clocks of files are coarse.
    """
    file = path_as_string(path)
    try:
        status = read_status(file, kind)
        state = status.st_mtime_ns, status.st_size, status.st_ino
        known = _fingerprints.get(file)
        if known is not None and known[0] == state:
            return known[1]
        digest = hashlib.blake2b(read_content(file, kind), digest_size=16).hexdigest()
    except FileError:
        return ""
    if time.time_ns() - status.st_mtime_ns > YOUNG:
        _fingerprints[file] = state, digest
        while len(_fingerprints) > MOST_FINGERPRINTS:
            _fingerprints.pop(next(iter(_fingerprints)), None)
    else:
        _fingerprints.pop(file, None)
    return digest


def error_from_os_error(error: Exception, kind: FilePurpose, file: str) -> FileError:
    """Return the error for an operating-system error."""
    if isinstance(error, FileNotFoundError) and kind is MODEL:
        return FileError("There is no such file.", file=file, remedy="Check the name and the folder.")
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(f"The {kind.name} cannot be read: {reason}.", file=file, remedy=kind.other)


def _open_regular(file: str, kind: FilePurpose) -> tuple[int, int]:
    """Open a file and return its descriptor and size. The checks are repeated after opening, because another file may
    have taken its name meanwhile."""
    read_status(file, kind)
    try:
        handle = os.open(file, _OPEN)
    except (OSError, ValueError) as error:
        raise error_from_os_error(error, kind, file) from None
    try:
        status = os.fstat(handle)
        _check_regular_and_size(status, kind, file)
    except FileError:
        os.close(handle)
        raise
    return handle, status.st_size


def _check_regular_and_size(status: os.stat_result, kind: FilePurpose, file: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError("This is a folder, not a file.", file=file, remedy="Choose a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise FileError("This is not a regular file.", file=file, remedy="Choose a regular file.")
    if status.st_size > kind.most:
        raise FileError(
            f"The {kind.name} has {status.st_size / 1e6:.0f} MB; {kind.most / 1e6:.0f} MB is the limit.",
            file=file,
            remedy=kind.smaller,
        )
