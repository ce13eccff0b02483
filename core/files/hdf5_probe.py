"""Trial reading of one HDF5 file. Run as a subprocess by `core.files.hdf5_file`, because a damaged file may hang or
crash HDF5.

Argument: the file. Exit code 0: reading it comes to an end, whatever HDF5 says of it in words.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from core.files import unfinished_file
from core.files.hdf5_file import UNPACKED, is_own

MEMORY_LIMIT = 3 << 30
"""Bytes of address space; a few hundred megabytes are needed."""
AT_ONCE = 8 << 20
"""Bytes that are read at once."""


def main(path: str) -> int:
    """Read through the file at `path` and return the exit code."""
    import h5py

    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        try:
            with h5py.File(path, "r") as file:
                read_through(file, os.path.getsize(path))
        except OSError:
            with unfinished_file.opened(path) as file:
                read_through(file, os.path.getsize(path))
    except MemoryError:
        print("it takes more memory than there is", file=sys.stderr)
        return 1
    except Exception:  # said again, in the words of its format, where the file is read
        return 0
    return 0


def read_through(file: Any, size: int) -> None:
    """Read all attributes of a file of `size` bytes, and all data stored in chunks."""

    def read(_: str, item: Any) -> None:
        dict(item.attrs)
        if is_own(item) and item.nbytes <= max(size, UNPACKED):
            read_data(item)

    dict(file.attrs)
    file.visititems(read)


def read_data(data: Any) -> None:
    """Read chunked data piece by piece; contiguous data need no search."""
    if data.shape == () or (data.chunks is None and data.dtype.kind == "O"):
        data[()]
    elif data.chunks is not None:
        rows = max(1, AT_ONCE * len(data) // max(1, data.nbytes))
        for first in range(0, len(data), rows):
            data[first : first + rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
