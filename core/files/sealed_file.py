"""Checksums appended to a file, so that corruption is detected before anything else reads the file.

HDF5 trusts what it reads: a changed bit gives other numbers, or a search that does not end. It ignores what stands
behind its content, and cuts it off when another program changes the file, which then is one without checksums.

The seal: a mark, the CRC-32 of each block of the content, the length of the content, the CRC-32 of the seal, a mark.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import zlib
from typing import BinaryIO

from core.errors import FileError

BLOCK = 1 << 20
"""Bytes per checksum."""
BEGIN, END = b"\nkinetostat checksums 1\n", b"kn-seal\n"
LENGTH = struct.Struct("<QI")
"""Layout near the end of the seal: size of the content in bytes, and checksum of the seal up to there."""
TAIL = LENGTH.size + len(END)


def append_checksums(stream: BinaryIO) -> None:
    """Append checksums to a readable stream."""
    stream.flush()
    stream.seek(0)
    sums, size = [], 0
    while block := stream.read(BLOCK):
        sums.append(zlib.crc32(block))
        size += len(block)
    body = BEGIN + struct.pack(f"<{len(sums)}I", *sums) + struct.pack("<Q", size)
    stream.seek(size)
    stream.write(body + struct.pack("<I", zlib.crc32(body)) + END)


def with_checksums(content: bytes) -> bytes:
    """Return content with its checksums appended."""
    stream = io.BytesIO(content)
    append_checksums(stream)
    return stream.getvalue()


def is_intact(path: str | os.PathLike[str]) -> bool:
    """Return True if the content matches its checksums, False if the file has none (older or unfinished files).

    Raises FileError if it has changed, BlockingIOError if another program changes it just now, OSError if the file
    cannot be read.
    """
    with open(path, "rb") as file:
        whole = _checksums_match(file)
        if whole is not None:
            return whole
        _check_not_locked(file)
    raise FileError(
        "The file is damaged: its content has changed since it was written.",
        file=os.fspath(path),
        remedy="Restore it from an intact copy, or create it again.",
    )


def _checksums_match(file: BinaryIO) -> bool | None:
    """Return True or False as `is_intact` does, or None if the content has changed."""
    end = file.seek(0, io.SEEK_END)
    file.seek(max(0, end - TAIL))
    tail = file.read()
    if len(tail) < TAIL or not tail.endswith(END):
        return False
    size, own = LENGTH.unpack_from(tail)
    count = -(-size // BLOCK)
    length = len(BEGIN) + 4 * count + TAIL
    if end - length != size:
        return None
    file.seek(size)
    body = file.read(length - 4 - len(END))
    if not body.startswith(BEGIN) or zlib.crc32(body) != own:
        return None
    sums = struct.unpack_from(f"<{count}I", body, len(BEGIN))
    file.seek(0)
    for k in range(count):
        if zlib.crc32(file.read(min(BLOCK, size - k * BLOCK))) != sums[k]:
            return None
    return True


def _check_not_locked(file: BinaryIO) -> None:
    """Raise BlockingIOError if another program holds the lock of HDF5 (on Windows the file is then unreadable)."""
    with contextlib.suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
