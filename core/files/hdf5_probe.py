"""Reads through one HDF5 file. Run as a process of its own by `core.files.hdf5_file`: a damaged file may keep HDF5 for
ever, or end the process.

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
    """The process."""
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
    """Read all attributes, and all data of a file of so many bytes that HDF5 has to search for."""

    def read(_: str, item: Any) -> None:
        dict(item.attrs)
        if is_own(item) and item.nbytes <= max(size, UNPACKED):
            read_data(item)

    dict(file.attrs)
    file.visititems(read)


def read_data(data: Any) -> None:
    """Read the pieces of data; what lies in one piece is found at once."""
    if data.shape == () or (data.chunks is None and data.dtype.kind == "O"):
        data[()]
    elif data.chunks is not None:
        rows = max(1, AT_ONCE * len(data) // max(1, data.nbytes))
        for first in range(0, len(data), rows):
            data[first : first + rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
