"""Safe reading of HDF5 files, after a check that reading terminates.

HDF5 never ends on some damaged files, and crashes on others. Checksums (`core.files.sealed_file`) find damage before
HDF5 reads; a file without them (of other programs, older, unfinished) is first read through by a subprocess with a time
limit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from core.apart.starting import environment, finished, python
from core.errors import FileError
from core.files import unfinished_file
from core.files.sealed_file import is_whole

PATIENCE = 20.0
"""Time (s) allowed for reading through a file without checksums, whatever its size."""
PACE = 10e6
"""Bytes for each of which one more second is allowed."""
UNPACKED = 256_000_000
"""Bytes by which compressed numbers may exceed the size of the file."""
REMEDY = "Copy the file again from an intact one, or create it again."


@contextlib.contextmanager
def opened(path: str, *, unfinished: bool = True) -> Iterator[Any]:
    """Open a file as an `h5py.File`. unfinished : True to read a file whose writer was killed, or still writes, as if
    it had been closed

    Raises FileError where it is damaged so that HDF5 does not come to an end, OSError where it cannot be read.
    """
    import h5py

    if not is_whole(path):
        check_readable(path)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(h5py.File(path, "r"))
        except OSError:
            if not unfinished:
                raise
            file = stack.enter_context(unfinished_file.opened(path))
        yield file


def check_readable(path: str) -> None:
    """Let a subprocess read through a file. Raises FileError if reading does not end, or crashes the subprocess; errors
    reported by HDF5 are left to the reader of the file."""
    limit = PATIENCE + os.stat(path).st_size / PACE
    command = python(f"{__package__}.hdf5_probe", os.path.abspath(path))
    try:
        end = finished(command, limit=limit, own=environment())
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
        how = f"signal {-end.code}" if end.code < 0 else end.last_words or f"exit code {end.code}"
        why = f"it is damaged: reading it breaks off ({how})"
    raise FileError(f"The file is not opened, because {why}.", file=path, remedy=REMEDY)


def stored(file: Any, name: str, size: int) -> Any:
    """Return the data with a name in an open HDF5 file of `size` bytes. Raises ValueError if the data are elsewhere
    (links and views into other files are not followed), or larger than the file can hold."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"'{name}' is a link")
    data = file[name]
    if not is_own(data):
        raise ValueError(f"'{name}' contains no data in this file")
    if data.nbytes > max(size, UNPACKED):
        raise ValueError(f"'{name}' claims {data.nbytes / 1e6:.0f} MB, but the file has only {size / 1e6:.0f} MB")
    return data


def is_own(data: Any) -> bool:
    """Return True if an HDF5 object is data stored in this file."""
    import h5py

    return isinstance(data, h5py.Dataset) and not data.is_virtual and not data.external
