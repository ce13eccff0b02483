"""Study file: HDF5 once it is closed, and before that a journal of finished chunks next to it.

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
from core.files.hdf5_file import opened, stored
from core.files.sealed_file import sealed
from core.studies.declaration import Declaration, differences, read_declaration
from core.studies.sample_rows import WORDS, Column, Rows

FAR = 1 << 40
"""Offset of the locked byte, beyond any data, because locks keep readers out on some systems."""

Array = NDArray[np.float64]
MAGIC = b"kinetostat study 1\n"
HEAD = struct.Struct("<QI")
"""Record header: length and checksum."""
UNLOCK = "Close the file there, or wait until it is written, and try again."
BROKEN = (
    *(OSError, KeyError, ValueError, TypeError, IndexError, OverflowError, EOFError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError),
)
"""Exceptions raised when corrupted content is read."""


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


class Table:
    """Rows so far: done (n,), results (n, columns), status (n,), messages by row."""

    def __init__(self, declaration: Declaration, columns: tuple[Column, ...]) -> None:
        self.declaration, self.columns = declaration, columns
        n = declaration.size
        self.done = np.zeros(n, dtype=bool)
        self.results = np.full((n, len(columns)), np.nan)
        self.status = np.zeros(n, dtype=np.int8)
        self.messages: dict[int, tuple[str, str]] = {}

    def put(self, places: NDArray[np.int64], rows: Rows) -> None:
        """Store finished rows."""
        self.done[places] = True
        self.results[places], self.status[places] = rows.results, rows.status
        self.messages.update({int(places[k]): said for k, said in rows.messages.items()})

    def snapshot(self) -> Table:
        """Return a copy that can be displayed while the table grows."""
        other = Table.__new__(Table)
        other.declaration, other.columns = self.declaration, self.columns
        other.done, other.results, other.status = self.done.copy(), self.results.copy(), self.status.copy()
        other.messages = dict(self.messages)
        return other


class RowFile:
    """File for finished chunks. Raises FileError if it belongs to another study, is open in another program, or cannot
    be written."""

    def __init__(self, path: str, table: Table, *, resume: bool) -> None:
        self.path, self.table = Path(path), table
        self._out: IO[bytes] | None = None
        if not resume:
            self._refuse_existing(self._journal.exists())
        try:
            self._out = open_exclusively(self._journal)
            if resume:
                self._load_earlier_rows()
            else:
                self._refuse_existing(False)
            if self._journal.stat().st_size == 0:
                self._write(MAGIC + _record(_header(table)))
        except OSError as error:
            self._close_unused_journal()
            raise FileError(f"The study file cannot be written: {error.strerror}.", file=str(self._journal)) from None
        except FileInUseError:
            raise self._taken_error() from None
        except BaseException:
            self._close_unused_journal()
            raise

    def _refuse_existing(self, journal: bool) -> None:
        """Raise FileError if a study file or its journal exists."""
        if journal and is_taken(self._journal):
            raise self._taken_error()
        if journal or self.path.exists():
            raise FileError(
                "The file already exists.",
                file=str(self.path),
                remedy="Resume its study, choose another file, or remove this one.",
            )

    def _taken_error(self) -> FileError:
        return FileError(
            "Another study is writing to this file.",
            file=str(self.path),
            remedy="Wait until that study ends, or stop it, and resume; or choose another file.",
        )

    def _close_unused_journal(self) -> None:
        """Close a journal that this study does not continue, and remove an empty one."""
        if self._out is not None and os.fstat(self._out.fileno()).st_size == 0:
            self._remove_journal()
        self.abandon()

    def _remove_journal(self) -> None:
        """Remove the journal before its lock is released, on systems that can remove open files."""
        if os.name == "nt":
            self.abandon()
        self._journal.unlink(missing_ok=True)

    @property
    def _journal(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def _load_earlier_rows(self) -> None:
        """Load the results of an earlier run of the study."""
        assert self._out is not None
        if self.path.exists():
            self._check_same_study(load(str(self.path)))
        found, end = _read_journal(self._journal)
        if found is not None:
            self._check_same_study(found)
        self._out.truncate(end)

    def _check_same_study(self, found: Table) -> None:
        said = differences(found.declaration, self.table.declaration)
        if said:
            raise FileError(
                f"The file holds another study; differences: {'; '.join(said)}.",
                file=str(self.path),
                remedy="Choose another file, or restore the study's settings.",
            )
        self.table.done |= found.done
        self.table.results[found.done] = found.results[found.done]
        self.table.status[found.done] = found.status[found.done]
        self.table.messages.update(found.messages)

    def append(self, places: NDArray[np.int64], rows: Rows) -> None:
        """Write a finished chunk durably. Raises OSError if the disk is full."""
        content = io.BytesIO()
        said = json.dumps({str(k): each for k, each in rows.messages.items()})
        np.savez(content, places=places, results=rows.results, status=rows.status, messages=np.array(said))
        self._write(_record(content.getvalue()))

    def _write(self, record: bytes) -> None:
        assert self._out is not None
        end = self._out.seek(0, os.SEEK_END)
        try:
            _write_all(self._out, record)
        except OSError:
            os.truncate(self._journal, end)
            raise

    def move(self, path: str) -> None:
        """Continue in another file, with all rows so far."""
        self.abandon()
        other = RowFile(path, self.table, resume=False)
        self.path, self._out = other.path, other._out
        done = np.flatnonzero(self.table.done)
        if len(done):
            here = {int(row): k for k, row in enumerate(done)}
            messages = {here[row]: said for row, said in self.table.messages.items() if row in here}
            self.append(done, Rows(self.table.results[done], self.table.status[done], messages))

    def abandon(self) -> None:
        """Leave the journal as it is."""
        if self._out is not None:
            self._out.close()
            self._out = None

    def close(self) -> None:
        """Write the HDF5 file, and remove the journal."""
        content = sealed(_hdf5(self.table))  # made in memory: HDF5 does not bear a disk that is full
        temporary = self.path.with_name(self.path.name + ".new")
        try:
            with open(temporary, "wb", buffering=0) as file:
                _write_all(file, content)
            os.replace(temporary, self.path)
            self._remove_journal()
        except OSError as error:
            temporary.unlink(missing_ok=True)
            locked = _is_locked(error)
            why = (
                "Another program has it open"
                if locked
                else f"The study file cannot be written: {error.strerror or error}"
            )
            raise FileError(
                f"{why}. All rows are in '{self._journal}'.",
                file=str(self.path),
                remedy="Close it there and resume the study." if locked else "Make room and resume the study.",
            ) from None
        finally:
            self.abandon()


def _write_all(file: IO[bytes], content: bytes) -> None:
    """Write unbuffered to a file and flush it to disk; a buffer would retry failed writes on closing."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _is_locked(error: Exception) -> bool:
    """Return True if the error says that another program has locked the file: HDF5 reports that by number or text,
    Windows by its own number."""
    windows = getattr(error, "winerror", None) in (5, 32, 33)
    return isinstance(error, BlockingIOError) or windows or "unable to lock file" in str(error)


def _header(table: Table) -> bytes:
    columns = [list(column) for column in table.columns]
    return json.dumps({"declaration": table.declaration.text, "columns": columns}).encode()


def _record(content: bytes) -> bytes:
    return HEAD.pack(len(content), zlib.crc32(content)) + content


def _read_journal(path: Path) -> tuple[Table | None, int]:
    """Read a journal; return its table and the end of its complete records."""
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
        table = _table_of_header(json.loads(records[0]))
        for record in records[1:]:
            with np.load(io.BytesIO(record), allow_pickle=False) as found:
                said = _messages(json.loads(str(found["messages"])))
                rows = Rows(found["results"], found["status"], said)
                table.put(_checked_places(table, found["places"], rows), rows)
    except (*BROKEN, KinetostatError) as error:
        raise FileError(
            f"This is not a journal of a study: {str(error)[:200]}.",
            file=str(path),
            remedy="Remove the file and run the study again, or restore an intact copy.",
        ) from None
    return table, place


def _messages(found: dict[str, Any]) -> dict[int, tuple[str, str]]:
    return {int(k): (str(each[0]), str(each[1])) for k, each in found.items()}


def _checked_places(table: Table, places: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """Return the indices of rows. Raises ValueError if they do not fit the study."""
    count = len(table.done)
    if places.ndim != 1 or places.dtype.kind not in "iu" or not np.all((places >= 0) & (places < count)):
        raise ValueError("its rows are not those of the study")
    if rows.results.shape != (len(places), len(table.columns)) or rows.results.dtype.kind != "f":
        raise ValueError("its results are not those of the study")
    if (
        rows.status.shape != places.shape
        or rows.status.dtype.kind not in "iu"
        or not np.all(_has_known_status(rows.status))
    ):
        raise ValueError("its rows ended in ways that are not known")
    if not all(0 <= k < len(places) for k in rows.messages):
        raise ValueError("its messages are of rows that are not there")
    return places


def _has_known_status(status: NDArray[np.int8]) -> NDArray[np.bool_]:
    return (status >= 0) & (status < len(WORDS))


def _table_of_header(head: dict[str, Any]) -> Table:
    columns = tuple(Column(str(a), str(b), str(c), float(d)) for a, b, c, d in head["columns"])
    return Table(read_declaration(head["declaration"]), columns)


def _hdf5(table: Table) -> bytes:
    import h5py

    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        file.attrs["format"] = MAGIC.decode().strip()
        file["head"] = _header(table).decode()
        file["varied"] = table.declaration.values()
        file["varied"].attrs["names"] = list(table.declaration.names)
        file["results"] = table.results
        file["results"].attrs["names"] = [column.name for column in table.columns]
        file["results"].attrs["units"] = [column.unit for column in table.columns]
        file["done"], file["status"] = table.done, table.status
        file["messages"] = json.dumps({str(k): said for k, said in sorted(table.messages.items())})
    return memory.getvalue()


def load(path: str) -> Table:
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
        with opened(str(place), unfinished=False) as file:
            head, messages, results, status, done = (
                stored(file, name, size)[()] for name in ("head", "messages", "results", "status", "done")
            )
        table = _table_of_header(json.loads(head))
        rows = Rows(results, status, _messages(json.loads(messages)))
        every = _checked_places(table, np.arange(len(table.done)), rows)
        if done.shape != every.shape or done.dtype != bool:
            raise ValueError("its rows are not those of the study")
        table.put(every, rows)
        table.done[:] = done
    except (*BROKEN, RuntimeError, AttributeError) as error:
        if _is_locked(error):
            raise FileError("Another program is writing to this file.", file=path, remedy=UNLOCK) from None
        raise FileError(f"This is not a study file: {error}.", file=path) from None
    return table
