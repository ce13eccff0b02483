"""Study file: a journal of finished chunks next to the file while the study runs, and an HDF5 file once it is closed.

The journal (`study.h5.part`) begins with the declaration; then one record for each chunk: length, checksum, and arrays
as NumPy writes them, without objects. Each is flushed to the disk before the next begins, so that what a killed program
had finished is there; a torn end is left out. One study alone writes to it: the system's file lock ends with the
program in all cases. Closing writes the HDF5
file whole, then removes the journal.
"""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError, KinetostatError
from core.files.hdf5_file import find_stored_data, import_hdf5, open_hdf5
from core.files.sealed_file import with_checksums
from core.studies.declaration import Declaration, describe_differences, read_declaration
from core.studies.sample_rows import WORDS, Column, Rows

FAR = 1 << 40
"""Offset of the locked byte, far beyond the data, since locks block readers on some systems."""

Array = NDArray[np.float64]
MAGIC = b"kinetostat study 1\n"
HEAD = struct.Struct("<QI")
"""Header of a record: length and checksum."""
UNLOCK = "Close the file there, or wait until it is written, and try again."
BROKEN = (
    *(OSError, KeyError, ValueError, TypeError, IndexError, OverflowError, EOFError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError),
)
"""Exceptions raised when corrupted content is read."""


class FileInUseError(Exception):
    """Raised if another program, or another study of this program, writes to the file."""


def open_exclusively(path: Path) -> IO[bytes]:
    """Open a file for appending, creating it if needed, and lock it until it is closed. On systems without locks (some
    network drives) it is opened without one. Raises FileInUseError, and OSError if it cannot be written."""
    while True:
        file = open(path, "ab", buffering=0)  # noqa: SIM115 - what does not fit is not kept to be tried again
        try:
            _lock_file(file)
            if _is_same_file(path, file):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # whoever had it removed it meanwhile


def is_being_written(path: Path) -> bool:
    """Return True if a program is writing to the file."""
    try:
        with open(path, "r+b") as file:
            _lock_file(file)
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

    def _lock_file(file: IO[bytes]) -> None:
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

    def _lock_file(file: IO[bytes]) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise FileInUseError from None
        except OSError:
            pass


class RowTable:
    """Rows computed so far: done (n,), results (n, columns), status (n,), messages by row."""

    def __init__(self, declaration: Declaration, columns: tuple[Column, ...]) -> None:
        self.declaration, self.columns = declaration, columns
        n = declaration.size
        self.done = np.zeros(n, dtype=bool)
        self.results = np.full((n, len(columns)), np.nan)
        self.status = np.zeros(n, dtype=np.int8)
        self.messages: dict[int, tuple[str, str]] = {}

    def store_rows(self, row_indices: NDArray[np.int64], rows: Rows) -> None:
        """Store finished rows."""
        self.done[row_indices] = True
        self.results[row_indices], self.status[row_indices] = rows.results, rows.status
        self.messages.update({int(row_indices[k]): said for k, said in rows.messages.items()})

    def snapshot(self) -> RowTable:
        """Return a copy that can be displayed while the table grows."""
        other = RowTable.__new__(RowTable)
        other.declaration, other.columns = self.declaration, self.columns
        other.done, other.results, other.status = self.done.copy(), self.results.copy(), self.status.copy()
        other.messages = dict(self.messages)
        return other


class RowFile:
    """File that stores finished chunks. Raises FileError if it belongs to another study, is open in another program, or
    cannot be written."""

    def __init__(self, path: str, table: RowTable, *, resume: bool) -> None:
        self.path, self.table = Path(path), table
        self._out: IO[bytes] | None = None
        if not resume:
            self._check_no_existing_file(self._journal_path.exists())
        try:
            self._out = open_exclusively(self._journal_path)
            if resume:
                self._load_earlier_rows()
            else:
                self._check_no_existing_file(False)
            if self._journal_path.stat().st_size == 0:
                self._write_record(MAGIC + _journal_record(_journal_header(table)))
        except OSError as error:
            self._close_unused_journal()
            raise FileError(
                f"The study file cannot be written: {error.strerror}.", file=str(self._journal_path)
            ) from None
        except FileInUseError:
            raise self._in_use_error() from None
        except BaseException:
            self._close_unused_journal()
            raise

    def _check_no_existing_file(self, journal: bool) -> None:
        """Raise FileError if a study file or its journal exists."""
        if journal and is_being_written(self._journal_path):
            raise self._in_use_error()
        if journal or self.path.exists():
            raise FileError(
                "The file already exists.",
                file=str(self.path),
                remedy="Resume its study, choose another file, or remove this one.",
            )

    def _in_use_error(self) -> FileError:
        return FileError(
            "Another study is writing to this file.",
            file=str(self.path),
            remedy="Wait until that study ends, or stop it, and resume; or choose another file.",
        )

    def _close_unused_journal(self) -> None:
        """Close a journal that this study does not continue, and remove it if it is empty."""
        if self._out is not None and os.fstat(self._out.fileno()).st_size == 0:
            self._remove_journal()
        self.leave_journal()

    def _remove_journal(self) -> None:
        """Remove the journal, before its lock is released on systems that can remove open files."""
        if os.name == "nt":
            self.leave_journal()
        self._journal_path.unlink(missing_ok=True)

    @property
    def _journal_path(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def _load_earlier_rows(self) -> None:
        """Load the results of an earlier, interrupted run of this study."""
        assert self._out is not None
        if self.path.exists():
            self._check_same_study(load(str(self.path)))
        found, end = _read_journal(self._journal_path)
        if found is not None:
            self._check_same_study(found)
        self._out.truncate(end)

    def _check_same_study(self, earlier: RowTable) -> None:
        said = describe_differences(earlier.declaration, self.table.declaration)
        if said:
            raise FileError(
                f"The file holds another study; differences: {'; '.join(said)}.",
                file=str(self.path),
                remedy="Choose another file, or restore the study's settings.",
            )
        self.table.done |= earlier.done
        self.table.results[earlier.done] = earlier.results[earlier.done]
        self.table.status[earlier.done] = earlier.status[earlier.done]
        self.table.messages.update(earlier.messages)

    def append(self, row_indices: NDArray[np.int64], rows: Rows) -> None:
        """Append a finished chunk and flush it to disk. Raises OSError if the disk is full."""
        content = io.BytesIO()
        said = json.dumps({str(k): each for k, each in rows.messages.items()})
        np.savez(content, places=row_indices, results=rows.results, status=rows.status, messages=np.array(said))
        self._write_record(_journal_record(content.getvalue()))

    def _write_record(self, record: bytes) -> None:
        assert self._out is not None
        end = self._out.seek(0, os.SEEK_END)
        try:
            _write_and_flush(self._out, record)
        except OSError:
            os.truncate(self._journal_path, end)
            raise

    def move(self, path: str) -> None:
        """Continue in another file, which gets all rows computed so far."""
        self.leave_journal()
        other = RowFile(path, self.table, resume=False)
        self.path, self._out = other.path, other._out
        done = np.flatnonzero(self.table.done)
        if len(done):
            here = {int(row): k for k, row in enumerate(done)}
            messages = {here[row]: said for row, said in self.table.messages.items() if row in here}
            self.append(done, Rows(self.table.results[done], self.table.status[done], messages))

    def leave_journal(self) -> None:
        """Close the file and leave the journal as it is."""
        if self._out is not None:
            self._out.close()
            self._out = None

    def close(self) -> None:
        """Write the HDF5 file, and remove the journal."""
        content = with_checksums(_to_hdf5(self.table))  # made in memory: HDF5 does not bear a disk that is full
        temporary = self.path.with_name(self.path.name + ".new")
        try:
            with open(temporary, "wb", buffering=0) as file:
                _write_and_flush(file, content)
            os.replace(temporary, self.path)
            self._remove_journal()
        except OSError as error:
            temporary.unlink(missing_ok=True)
            locked = _is_lock_error(error)
            why = (
                "Another program has it open"
                if locked
                else f"The study file cannot be written: {error.strerror or error}"
            )
            raise FileError(
                f"{why}. All rows are in '{self._journal_path}'.",
                file=str(self.path),
                remedy="Close it there and resume the study." if locked else "Make room and resume the study.",
            ) from None
        finally:
            self.leave_journal()


def _write_and_flush(file: IO[bytes], content: bytes) -> None:
    """Write to a file without buffer and flush to disk; a buffer would repeat failed writes on closing."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _is_lock_error(error: Exception) -> bool:
    """Return True if the error means that another program has locked the file: HDF5 reports this by number or text,
    Windows by its own number."""
    windows = getattr(error, "winerror", None) in (5, 32, 33)
    return isinstance(error, BlockingIOError) or windows or "unable to lock file" in str(error)


def _journal_header(table: RowTable) -> bytes:
    columns = [list(column) for column in table.columns]
    return json.dumps({"declaration": table.declaration.text, "columns": columns}).encode()


def _journal_record(content: bytes) -> bytes:
    return HEAD.pack(len(content), zlib.crc32(content)) + content


def _read_journal(path: Path) -> tuple[RowTable | None, int]:
    """Read a journal; return its table and the file position after its last complete record."""
    content = path.read_bytes()
    place, records = len(MAGIC), []
    if content[:place] != MAGIC:
        return None, 0
    while len(content) >= place + HEAD.size:
        length, checksum = HEAD.unpack_from(content, place)
        record = content[place + HEAD.size : place + HEAD.size + length]
        if len(record) < length or zlib.crc32(record) != checksum:
            break
        records.append(record)
        place += HEAD.size + length
    if not records:
        return None, 0
    try:
        table = _table_from_header(json.loads(records[0]))
        for record in records[1:]:
            with np.load(io.BytesIO(record), allow_pickle=False) as found:
                said = _parse_messages(json.loads(str(found["messages"])))
                rows = Rows(found["results"], found["status"], said)
                table.store_rows(_check_row_indices(table, found["places"], rows), rows)
    except (*BROKEN, KinetostatError) as error:
        raise FileError(
            f"This journal of a study cannot be read: {str(error)[:200]}.",
            file=str(path),
            remedy="Remove the file and run the study again, or restore an intact copy.",
        ) from None
    return table, place


def _parse_messages(data: dict[str, Any]) -> dict[int, tuple[str, str]]:
    return {int(k): (str(each[0]), str(each[1])) for k, each in data.items()}


def _check_row_indices(table: RowTable, row_indices: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """Check that indices and rows fit the study, and return the indices. Raises ValueError if they do not."""
    count = len(table.done)
    if (
        row_indices.ndim != 1
        or row_indices.dtype.kind not in "iu"
        or not np.all((row_indices >= 0) & (row_indices < count))
    ):
        raise ValueError("the file's rows are not those of the study")
    if rows.results.shape != (len(row_indices), len(table.columns)) or rows.results.dtype.kind != "f":
        raise ValueError("the file's results do not match the study")
    if (
        rows.status.shape != row_indices.shape
        or rows.status.dtype.kind not in "iu"
        or not np.all(_has_known_status(rows.status))
    ):
        raise ValueError("the file contains an unknown row status")
    if not all(0 <= k < len(row_indices) for k in rows.messages):
        raise ValueError("the file contains messages for rows that do not exist")
    return row_indices


def _has_known_status(status: NDArray[np.int8]) -> NDArray[np.bool_]:
    return (status >= 0) & (status < len(WORDS))


def _table_from_header(header: dict[str, Any]) -> RowTable:
    columns = tuple(Column(str(a), str(b), str(c), float(d)) for a, b, c, d in header["columns"])
    return RowTable(read_declaration(header["declaration"]), columns)


def _to_hdf5(table: RowTable) -> bytes:
    h5py = import_hdf5()

    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        file.attrs["format"] = MAGIC.decode().strip()
        file["head"] = _journal_header(table).decode()
        file["varied"] = table.declaration.values()
        file["varied"].attrs["names"] = list(table.declaration.names)
        file["results"] = table.results
        file["results"].attrs["names"] = [column.name for column in table.columns]
        file["results"].attrs["units"] = [column.unit for column in table.columns]
        file["done"], file["status"] = table.done, table.status
        file["messages"] = json.dumps({str(k): said for k, said in sorted(table.messages.items())})
    return memory.getvalue()


def load(path: str) -> RowTable:
    """Load the rows of a study file, or of its journal if it was not closed. Raises FileError."""
    place = Path(path)
    try:
        if not place.exists():
            journal = place.with_name(place.name + ".part")
            found = _read_journal(journal)[0] if journal.exists() else None
            if found is None:
                raise FileError("There is no study file.", file=path, remedy="Choose a file written by a study.")
            return found
        size = place.stat().st_size
        with open_hdf5(str(place), unfinished=False) as file:
            head, messages, results, status, done = (
                find_stored_data(file, name, size)[()] for name in ("head", "messages", "results", "status", "done")
            )
        table = _table_from_header(json.loads(head))
        rows = Rows(results, status, _parse_messages(json.loads(messages)))
        every = _check_row_indices(table, np.arange(len(table.done)), rows)
        if done.shape != every.shape or done.dtype != bool:
            raise ValueError("the file's rows are not those of the study")
        table.store_rows(every, rows)
        table.done[:] = done
    except (*BROKEN, RuntimeError, AttributeError) as error:
        if _is_lock_error(error):
            raise FileError("Another program is writing to this file.", file=path, remedy=UNLOCK) from None
        raise FileError(f"This is not a study file: {error}.", file=path) from None
    return table
