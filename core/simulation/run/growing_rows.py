"""Array that grows by appending rows: in memory while small, in a memory-mapped temporary file when large.

Memory is doubled when it is full, so that a thousand pieces cost as little as what they hold. What lies in the file
takes no memory that the system could not use for something else, and is gone with the last view of it.
Channels of such runs are computed block by block (`compute_in_blocks`), so that intermediate results take little
memory.
"""

from __future__ import annotations

import itertools
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Array = NDArray[np.float64]
IN_MEMORY = 1 << 23
"""Largest size, in bytes, of rows kept in memory."""
BLOCK = 1 << 15
"""Number of rows of a long array that are processed at once."""
LASTING = "/var/tmp"
"""Folder for large temporary files, if it exists, because other temporary folders may be held in memory."""


class GrowingRows:
    """Array of rows (n, …) that grows. When rows are added, the view `rows` is replaced by a new one and existing views
    stay unchanged; views of a file are read-only."""

    def __init__(self, first: Array) -> None:
        self._file: Any = None
        self._memory = first
        self.rows = first

    def extend(self, *pieces: Array) -> Array:
        """Append pieces and return all rows. Memory is reallocated at most once.

        Raises OSError, with the rows as they were, where the file cannot grow.
        """
        end = len(self.rows) + sum(map(len, pieces))
        if end > len(self.rows):
            small = self._file is None and end * row_size(self.rows) <= IN_MEMORY
            self.rows = self._extend_in_memory(pieces, end) if small else self._extend_in_file(pieces, end)
        return self.rows

    def final_rows(self) -> Array:
        """Return the final rows, without reserved memory."""
        if self._file is None and len(self.rows) < len(self._memory):
            self._memory = self.rows = self.rows.copy()
        return self.rows

    def _extend_in_memory(self, pieces: tuple[Array, ...], end: int) -> Array:
        begin = len(self.rows)
        if end > len(self._memory):
            larger = np.empty((2 * end, *self.rows.shape[1:]))
            larger[:begin] = self.rows
            self._memory = larger
        for piece in pieces:
            self._memory[begin : begin + len(piece)] = piece
            begin += len(piece)
        return self._memory[:end]

    def _extend_in_file(self, pieces: tuple[Array, ...], end: int) -> Array:
        file = self._file or open_scratch_file()
        file.seek(0 if self._file is None else self.rows.nbytes)
        wanted = (self.rows, *pieces) if self._file is None else pieces
        for rows in itertools.chain.from_iterable(map(split_into_blocks, wanted)):
            file.write(np.ascontiguousarray(rows, dtype=float).data)
        file.flush()
        self._file, self._memory = file, self.rows[:0]
        return map_file(file, 0, (end, *self.rows.shape[1:]))


def split_into_blocks(rows: Array) -> Iterator[Array]:
    """Yield the rows of an array in blocks of the size processed at once."""
    return (rows[k : k + BLOCK] for k in range(0, len(rows), BLOCK))


def row_size(rows: Array) -> int:
    """Return the size of one row in bytes."""
    return int(np.prod(rows.shape[1:])) * rows.itemsize


def is_long(rows: Array) -> bool:
    """Return True if an array is larger than what is kept in memory."""
    return int(rows.nbytes) > IN_MEMORY


def open_scratch_file() -> Any:
    """Return an anonymous temporary file, deleted when it is closed; in `TMPDIR` if that is set."""
    lasting = not os.environ.get("TMPDIR") and os.access(LASTING, os.W_OK)
    return tempfile.TemporaryFile(prefix="kinetostat-", dir=LASTING if lasting else None)


def map_file(file: Any, offset: int, shape: tuple[int, ...]) -> Array:
    """Map numbers of an open file as a read-only array; the file may then be closed.

    offset : byte of the file where they begin. Raises ValueError where the file does not hold so many.
    """
    first = offset - offset % mmap.ALLOCATIONGRANULARITY
    count = int(np.prod(shape))
    if offset < 0 or offset + 8 * count > os.fstat(file.fileno()).st_size:
        raise ValueError("the file is shorter than its header states")
    memory = mmap.mmap(file.fileno(), offset - first + 8 * count, access=mmap.ACCESS_READ, offset=first)
    return np.frombuffer(memory, "<f8", count, offset - first).reshape(shape)


def map_path(path: str | Path, offset: int, shape: tuple[int, ...]) -> Array:
    """Map numbers of a file as a read-only array. Raises OSError, ValueError."""
    with open(path, "rb") as file:
        return map_file(file, offset, shape)


def concatenate(pieces: Iterator[Array]) -> Array:
    """Concatenate arrays; a single array is returned as it is."""
    rows = GrowingRows(next(pieces))
    for piece in pieces:
        rows.extend(piece)
    return rows.final_rows()


@dataclass(frozen=True, eq=False)
class Samples:
    """States along a time axis."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array

    @classmethod
    def of(cls, samples: Any, rows: slice) -> Samples:
        """Return the given rows of the samples; states of force elements only if they were recorded."""
        kept = len(samples.x) == len(samples.time)
        time, q, v, a, tau, modes = (getattr(samples, name)[rows] for name in ("time", "q", "v", "a", "tau", "modes"))
        return cls(time, q, v, a, tau, samples.x[rows] if kept else samples.x, modes)


def compute_in_blocks(samples: Any, compute: Callable[[Samples], Array]) -> Array:
    """Compute a quantity (n, …) of all samples block by block."""
    return concatenate(_compute_blocks(samples, compute))


def _compute_blocks(samples: Any, compute: Callable[[Samples], Array]) -> Iterator[Array]:
    last: Array | None = None
    for first in range(0, len(samples.time), BLOCK):
        rows = slice(first if last is None else first - 1, first + BLOCK)
        values = np.array(compute(Samples.of(samples, rows)), dtype=float)
        values = values if last is None else continue_values(last, values)[1:]
        last = values[-1]
        yield values


def continue_values(last: Array, values: Array) -> Array:
    """Continue values (n, …) from the previous block, whose final sample is `last` (…): whole turns and signs of
    quaternions are carried over, because each block is computed independently."""
    turns = np.nan_to_num(np.round((last - values[0]) / (2.0 * np.pi)))
    if np.any(turns):
        return np.asarray(values + 2.0 * np.pi * turns)
    turned = np.allclose(last, -values[0]) and not np.allclose(last, values[0])
    return -values if turned else values
