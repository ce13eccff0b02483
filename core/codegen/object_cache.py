"""Disk cache of object code, so that a machine opened before runs at full speed at once.

Files are named by the hash of everything the code depends on, begin with the hash of that name and their content, and
are written whole or not at all. Anything unreadable is ignored. What lies here is run: only a folder is used in which
nobody else can write, else one among the temporary files, else none. `KINETOSTAT_CACHE` names another folder (""
switches the cache off).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_dir

from core.codegen.llvm_ir import VERSION
from core.errors import FileError
from core.files.regular_file import FilePurpose, read_content

OBJECT = FilePurpose("code", 200_000_000)
_HASH = 32
_LARGEST = 300_000_000
"""Maximum size of the cache folder, bytes, before the oldest files are deleted."""
_TOO_LARGE = _LARGEST // 20
"""Bytes by which each process may exceed that size."""
_unseen: dict[Path, int] = {}
"""Bytes written to each folder since this process last checked its size."""


def cache_folder() -> Path | None:
    """Return the cache folder; None if code is not cached."""
    given = os.environ.get("KINETOSTAT_CACHE")
    if given == "":
        return None
    return next((real for place in _candidate_folders(given) if (real := _private_folder(place)) is not None), None)


def _candidate_folders(given: str | None) -> Iterator[Path]:
    yield Path(given) if given else Path(user_cache_dir("kinetostat", appauthor=False)) / "code"
    yield Path(tempfile.gettempdir()) / f"kinetostat-{_user_id() if os.name == 'posix' else 'code'}"


def _private_folder(path: Path) -> Path | None:
    """Return the folder, created if needed, with links resolved; None if other users can write to it or replace it."""
    try:
        real = Path(os.path.realpath(path))
        for each in (*reversed(real.parents), real):
            if not each.exists():
                each.mkdir(mode=0o700, exist_ok=True)
        writable = os.access(real, os.W_OK)
        return real if writable and (os.name != "posix" or _is_private(real)) else None
    except (OSError, ValueError):
        return None


def _is_private(real: Path) -> bool:
    """Return True if only this user can write to a folder and no other user can rename it or one of its parents."""
    status = os.lstat(real)
    if status.st_uid != _user_id() or _is_open_to_others(status):
        return False
    above = [os.lstat(parent) for parent in real.parents]
    return all(
        each.st_uid in (0, _user_id()) and (bool(each.st_mode & stat.S_ISVTX) or not _is_open_to_others(each))
        for each in above
    )


def _user_id() -> int:
    return os.geteuid()


def _is_open_to_others(status: os.stat_result) -> bool:
    """Return True if other users may write. By convention, a group with the same number as its user has no other
    members."""
    alone = status.st_gid == status.st_uid
    return bool(status.st_mode & (stat.S_IWOTH if alone else stat.S_IWGRP | stat.S_IWOTH))


def cache_key(processor: str, ir: str | bytes) -> str:
    """Return the cache key of IR, text or bitcode, for a processor."""
    content = ir.encode() if isinstance(ir, str) else ir
    return hashlib.sha256(f"{VERSION}\n{processor}\n".encode() + content).hexdigest()


def load(name: str) -> bytes | None:
    """Return the cached code; None if it is missing or damaged."""
    place = cache_folder()
    if place is None:
        return None
    file = place / f"{name}.o"
    data = _read_bytes(file)
    head, body = data[:_HASH], data[_HASH:]
    if not body or _digest(name, body) != head:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # what is used stays longest
    return body


def _digest(name: str, body: bytes) -> bytes:
    """Return the digest of a content and its name, so that code cached under another name is rejected."""
    return hashlib.sha256(name.encode() + body).digest()


def _read_bytes(file: Path) -> bytes:
    """Return the bytes of a regular file; empty if it cannot be read."""
    try:
        return read_content(file, OBJECT)
    except FileError:
        return b""


def store_object_code(name: str, body: bytes) -> None:
    """Write code to the cache; a folder that cannot be written to is ignored."""
    place = cache_folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(name, body) + body)
            os.replace(temporary, place / f"{name}.o")
        except OSError:
            os.unlink(temporary)
            raise
        _check_size(place, len(body))


def _check_size(path: Path, written: int) -> None:
    """Check the size of the folder after the first file of this process, and then whenever this process has written as
    many bytes as it may exceed the limit by."""
    _unseen[path] = _unseen.get(path, _TOO_LARGE) + written
    if _unseen[path] >= _TOO_LARGE:
        _unseen[path] = 0
        _prune(path)


def _prune(path: Path) -> None:
    """Delete the least recently used files while the folder is too large, and the files of earlier versions."""
    for old in path.glob("loops-*"):
        shutil.rmtree(old, ignore_errors=True)
    files = []
    for each in path.glob("*.o"):
        with contextlib.suppress(FileNotFoundError):  # another process prunes the folder, too
            status = each.stat()
            files.append((status.st_mtime, status.st_size, each))
    files.sort(reverse=True)
    total = 0
    for _, size, file in files:
        total += size
        if total > _LARGEST:
            file.unlink(missing_ok=True)
