"""Safe reading of HDF5 files, including unfinished ones. A subprocess first checks that reading the file terminates.

HDF5 never ends on some damaged files, and crashes on others. Checksums (`core.files.sealed_file`) find damage before
HDF5 reads; a file without them (of other programs, older, unfinished) is first read through by a subprocess with a time
limit. This module is its program, too: its argument is the file; exit code 0 means that reading comes to an end,
whatever HDF5 reports about the file.

Files whose writer was killed or is still writing are read as if they had been closed. HDF5's own mode for such files
tries again and again, with pauses that double, where a file is damaged. Here the superblock (format specification 3.0,
II.A, version 3) is seen without its mark of an open writer and with the actual end of the file; damage is then an error
at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import sys
import threading
from collections.abc import Iterator
from typing import Any

from core.apart.starting import module_command, process_environment, run_command
from core.errors import FileError
from core.files.sealed_file import is_intact

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LAYOUT = "<8sBBBBQQQQ"
"""Layout of the superblock: signature, version, size of offsets, size of lengths, flags, base, extension, end of file,
root; then a checksum."""
LENGTH = struct.calcsize(LAYOUT) + 4
VERSION = 3
_MASK = 0xFFFFFFFF


def import_hdf5() -> Any:
    """Return the module `h5py`, imported completely before the program can end.

    While it is imported, h5py gives HDF5 functions of Python, and then asks `atexit` to take them back. If the program
    ended between the two, in a daemon thread, HDF5's own end would call Python after Python's, and crash. So the
    import is done in a thread that the end of the program waits for before it calls what `atexit` holds.
    """
    if "h5py" not in sys.modules and threading.current_thread() is not threading.main_thread():
        thread = threading.Thread(target=_import_unless_ending, name="kinetostat-hdf5", daemon=False)
        with contextlib.suppress(RuntimeError):  # of Python 3.12 and later, where the program ends
            thread.start()
            thread.join()
        if not threading.main_thread().is_alive():
            raise SystemExit
    import h5py

    return h5py


def _import_unless_ending() -> None:
    """Import h5py if the main thread is alive: then the end of the program waits for this thread."""
    if threading.main_thread().is_alive():
        with contextlib.suppress(ImportError):  # raised again where it is needed
            import h5py  # noqa: F401


@contextlib.contextmanager
def open_unfinished(path: str) -> Iterator[Any]:
    """Open the file as an `h5py.File`. Raises OSError if it cannot be read."""
    h5py = import_hdf5()
    with _RepairedFile(path) as content:
        content.replace_superblock()
        with h5py.File(content, "r") as file:
            yield file


class _RepairedFile(io.FileIO):
    """File that is read with a replaced superblock."""

    _head = b""

    def replace_superblock(self) -> None:
        """Replace the superblock by the one that a closing writer would have left. Raises OSError."""
        head, size = self.read(LENGTH), self.seek(0, io.SEEK_END)
        self._head = closed_superblock(head or b"", size)
        self.seek(0)

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, with the replaced superblock."""
        start = self.tell()
        count = int(super().readinto(buffer) or 0)
        own = self._head[start : start + count]
        memoryview(buffer).cast("B")[: len(own)] = own
        return count


def closed_superblock(superblock: bytes, size: int) -> bytes:
    """Return the superblock that a writer would leave after closing a file of `size` bytes.

    Raises OSError if it is none of version 3.
    """
    if len(superblock) < LENGTH or not superblock.startswith(SIGNATURE):
        raise OSError("the file is not an HDF5 file")
    signature, version, offsets, lengths, _, base, extension, _, root = struct.unpack(LAYOUT, superblock[:-4])
    if (version, offsets, lengths) != (VERSION, 8, 8):
        raise OSError("the file was not written by Kinetostat")
    fields = struct.pack(LAYOUT, signature, version, offsets, lengths, 0, base, extension, size, root)
    return fields + struct.pack("<I", checksum(fields))


def checksum(data: bytes) -> int:
    """Return the checksum of HDF5 metadata: Bob Jenkins' lookup3 (hashlittle, 2006, public domain)."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    blocks = [data[k : k + 12] for k in range(0, len(data), 12)]
    for k, block in enumerate(blocks):
        x, y, z = struct.unpack("<III", block.ljust(12, b"\0"))
        a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
        a, b, c = _mix_words(a, b, c) if k < len(blocks) - 1 else _final_mix(a, b, c)
    return c


def _rotate_left(x: int, bits: int) -> int:
    return (x << bits | x >> 32 - bits) & _MASK


def _mix_words(a: int, b: int, c: int) -> tuple[int, int, int]:
    for bits in (4, 6, 8, 16, 19, 4):
        a = (a - c & _MASK) ^ _rotate_left(c, bits)
        a, b, c = b, c + b & _MASK, a
    return a, b, c


def _final_mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotate_left(b, bits) & _MASK
        a, b, c = b, c, a
    return c, a, b


PATIENCE = 20.0
"""Time (s) allowed for reading through a file without checksums, in addition to the time for its size."""
PACE = 10e6
"""Bytes per additional second of reading time."""
UNPACKED = 256_000_000
"""Size (bytes) that decompressed data may always have; larger data must not exceed the size of the file."""
REMEDY = "Copy the file again from an intact one, or create it again."


@contextlib.contextmanager
def open_hdf5(path: str, *, unfinished: bool = True) -> Iterator[Any]:
    """Open a file as an `h5py.File`. unfinished : True to read a file whose writer was killed, or still writes, as if
    it had been closed

    Raises FileError where it is damaged so that HDF5 does not come to an end, OSError where it cannot be read.
    """
    h5py = import_hdf5()

    if not is_intact(path):
        check_readable(path)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(h5py.File(path, "r"))
        except OSError:
            if not unfinished:
                raise
            file = stack.enter_context(open_unfinished(path))
        yield file


def check_readable(path: str) -> None:
    """Read through a file in a subprocess. Raises FileError if reading does not end or crashes the subprocess; errors
    reported by HDF5 are left to the caller that reads the file."""
    limit = PATIENCE + os.stat(path).st_size / PACE
    command = module_command(f"{__package__}.hdf5_file", os.path.abspath(path))
    try:
        end = run_command(command, timeout=limit, environment_variables=process_environment())
    except TimeoutError:
        why = f"it is damaged, or far too large: reading it did not end within {limit:.0f} s"
    except OSError as error:
        raise FileError(
            f"The file cannot be examined before it is opened: no process can be started ({error.strerror or error}).",
            file=path,
            remedy="Close other programs and try again.",
        ) from None
    else:
        if end.code == 0:
            return
        how = f"signal {-end.code}" if end.code < 0 else end.last_error_line or f"exit code {end.code}"
        why = f"it is damaged: reading it fails ({how})"
    raise FileError(f"The file is not opened, because {why}.", file=path, remedy=REMEDY)


def find_stored_data(file: Any, name: str, size: int) -> Any:
    """Return the data set of this name in an open HDF5 file of `size` bytes. Raises ValueError if its data are in
    another file (links and virtual data sets are not followed), or are larger than the file can contain."""
    h5py = import_hdf5()

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"'{name}' is a link")
    data = file[name]
    if not is_stored_in_this_file(data):
        raise ValueError(f"'{name}' contains no data in this file")
    if data.nbytes > max(size, UNPACKED):
        raise ValueError(f"'{name}' claims {data.nbytes / 1e6:.0f} MB, but the file has only {size / 1e6:.0f} MB")
    return data


def is_stored_in_this_file(data: Any) -> bool:
    """Return True if the data of an HDF5 object are stored in this file."""
    h5py = import_hdf5()
    return isinstance(data, h5py.Dataset) and not data.is_virtual and not data.external


MEMORY_LIMIT = 3 << 30
"""Bytes of address space; a few hundred megabytes are needed."""
AT_ONCE = 8 << 20
"""Bytes read in one piece."""


def main(path: str) -> int:
    """Read through the file at `path` and return the exit code."""
    h5py = import_hdf5()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        try:
            with h5py.File(path, "r") as file:
                read_through(file, os.path.getsize(path))
        except OSError:
            with open_unfinished(path) as file:
                read_through(file, os.path.getsize(path))
    except MemoryError:
        print("it takes more memory than there is", file=sys.stderr)
        return 1
    except Exception:  # said again, in the words of its format, where the file is read
        return 0
    return 0


def read_through(file: Any, size: int) -> None:
    """Read all attributes of a file of `size` bytes, and all chunked data."""

    def read(_: str, item: Any) -> None:
        dict(item.attrs)
        if is_stored_in_this_file(item) and item.nbytes <= max(size, UNPACKED):
            read_in_pieces(item)

    dict(file.attrs)
    file.visititems(read)


def read_in_pieces(data: Any) -> None:
    """Read chunked data piece by piece; contiguous data are skipped."""
    if data.shape == () or (data.chunks is None and data.dtype.kind == "O"):
        data[()]
    elif data.chunks is not None:
        rows = max(1, AT_ONCE * len(data) // max(1, data.nbytes))
        for first in range(0, len(data), rows):
            data[first : first + rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
