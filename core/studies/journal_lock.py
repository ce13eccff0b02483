"""Exclusive write access to a journal by the system's file lock, which ends with the program in all cases."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

FAR = 1 << 40
"""Offset of the locked byte, beyond any data, because locks keep readers out on some systems."""


class FileInUseError(Exception):
    """Raised if another program, or another study of this one, writes to the file."""


def open_exclusively(path: Path) -> IO[bytes]:
    """Open a file for appending, creating it if needed, and lock it until it is closed. Systems without locks (some
    network drives) open it without one. Raises TakenError, and OSError if it cannot be written."""
    while True:
        file = open(path, "ab", buffering=0)  # noqa: SIM115 - what does not fit is not kept to be tried again
        try:
            _lock(file)
            if _is_same_file(path, file):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # whoever had it removed it meanwhile


def is_taken(path: Path) -> bool:
    """Return True if a program is writing to the file."""
    try:
        with open(path, "r+b") as file:
            _lock(file)
    except FileInUseError:
        return True
    except OSError:
        pass
    return False


def _is_same_file(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import errno
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLOCK):
                raise FileInUseError from None
        finally:
            file.seek(0, os.SEEK_END)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise FileInUseError from None
        except OSError:
            pass
