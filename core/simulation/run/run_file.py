"""HDF5 files of complete runs: `time`, `q`, `v`, `a`, `tau`, `modes` and `events` of joints with friction, stops and
limits, the model as text, settings, statistics, and requested channels under `channels`.

While a run goes on the file is in HDF5's mode for one writer and many readers, so that it can be read at any time, also
after the program was killed: its data then lies in many small pieces. Once a long run is over each lies in one, which
is mapped when the file is opened, instead of read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from core.errors import FileError
from core.files import dumps
from core.files.formats import reloaded_model
from core.files.hdf5_file import SIGNATURE, opened, stored
from core.files.regular_file import RUN, beginning_of, status_of
from core.files.sealed_file import seal
from core.files.source import write_whole
from core.mechanism import Mechanism
from core.simulation.run.growing_rows import BLOCK, IN_MEMORY, blocks
from core.simulation.run.run_tables import SUFFIXES as TABLES
from core.simulation.run.run_tables import write_table
from core.simulation.run.stored_numbers import check, model_text, numbers
from core.simulation.setup import Settings

if TYPE_CHECKING:
    from core.simulation.run.run import Run

FORMAT = "kinetostat run"
VERSION = 1
STATES = ("time", "q", "v", "a", "tau", "x", "modes")
EVENTS = "events"
LONGEST_WORD = 16
"""Largest length of a contact state's name, in characters."""
CHUNK = 256
"""Number of samples in one block of a file."""
WHOLE = (".h5", ".hdf5")
"""File suffixes of complete runs."""
ROOM = 1 << 16
"""Free disk space, in bytes, required when a file is begun."""
INCOMPLETE = "the file was not finished"


class RunFile:
    """HDF5 file that grows with its run."""

    def __init__(self, path: str, mech: Mechanism, settings: Settings, channels: Sequence[str] = ()) -> None:
        self.path, self.mech, self.settings, self.channels = path, mech, settings, tuple(channels)
        self.file: Any = None
        if Path(path).suffix.lower() not in WHOLE:
            raise FileError(
                "Only an HDF5 file can be written while the run goes on.",
                file=path,
                remedy="Give a name that ends in .h5.",
            )
        check_writable(path)

    def append(self, piece: Run) -> None:
        """Append the samples of a piece; they are on disk on return.

        Raises FileError if they cannot be written.
        """
        arrays = {name: values for name in STATES if (values := np.asarray(getattr(piece, name))).shape[1:] != (0,)}
        arrays |= {kept(name): piece[name] for name in self.channels}
        try:
            if self.file is None:
                self._create_file(arrays)
            for name, values in arrays.items():
                data = self.file[name]
                first = len(data)
                data.resize(first + len(values), axis=0)
                for rows in blocks(writable(values)):
                    data[first : first + len(rows)] = rows
                    first += len(rows)
                data.flush()
        except (OSError, RuntimeError) as error:
            self._discard_pending_writes()
            raise _write_error(self.path, error) from None

    def _discard_pending_writes(self) -> None:
        """Close a file that can no longer be written. Pending HDF5 writes are discarded, since they would be retried at
        exit and crash the program."""
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self.file.id.get_vfd_handle())
            os.close(nowhere)
            self.file.close()
        except (OSError, RuntimeError, AttributeError, NotImplementedError, ValueError):
            return

    def _create_file(self, arrays: dict[str, Any]) -> None:
        import h5py

        try:
            Path(self.path).unlink(missing_ok=True)  # it may be mapped, and must stay as it is then
            Path(self.path).write_bytes(bytes(ROOM))
        except OSError:
            Path(self.path).unlink(missing_ok=True)
            raise
        self.file = file = h5py.File(self.path, "w", libver="latest")
        write_description(file, self.mech, self.settings)
        for name, values in arrays.items():
            rest = values.shape[1:]
            file.create_dataset(
                name,
                (0, *rest),
                storage_type(values),
                chunks=(CHUNK, *(max(n, 1) for n in rest)),
                maxshape=(None, *rest),
                fletcher32=True,
            )
        file.flush()
        file.swmr_mode = True

    def finish(self, run: Run) -> None:
        """Write the run's statistics and close the file."""
        import h5py

        try:
            self.file.close()
            with h5py.File(self.path, "r+") as file:
                file.attrs["statistics"] = json.dumps(run.summary())
                write_events(file, run)
            with open(self.path, "r+b") as content:
                seal(content)
        except (OSError, RuntimeError) as error:
            self._discard_pending_writes()
            raise _write_error(self.path, error) from None
        if Path(self.path).stat().st_size > IN_MEMORY:
            with contextlib.suppress(FileError, OSError):  # no room for both: what there is can be read as well
                self._join_pieces()

    def _join_pieces(self) -> None:
        """Join the pieces of each array. Raises FileError and then leaves the file unchanged."""
        import h5py

        def write(stream: BinaryIO) -> None:
            with h5py.File(self.path, "r") as pieces, h5py.File(stream, "w", libver="v110") as file:
                write_description(file, self.mech, self.settings)
                file.attrs["statistics"] = pieces.attrs["statistics"]
                if EVENTS in pieces:
                    pieces.copy(EVENTS, file)
                arrays = {name: pieces[name] for name in (*STATES, *map(kept, self.channels)) if name in pieces}
                fill(file, arrays, lambda _: None)
            seal(stream)

        write_whole(self.path, write)


def kept(channel: str) -> str:
    """Return the path of a channel within the file, with slashes replaced, as these would create groups."""
    return f"channels/{channel.replace('/', '∕')}"


def storage_type(values: Any) -> str:
    """Return the HDF5 type for numbers or words."""
    return "f8" if values.dtype.kind != "U" else f"S{LONGEST_WORD}"


def writable(values: Any) -> Any:
    """Return numbers unchanged and words as bytes."""
    return np.char.encode(values, "utf-8") if values.dtype.kind == "U" else values


def write_events(file: Any, run: Run) -> None:
    """Write the run's events (time in s, joint, what) for other programs."""
    import h5py

    if not run.modes.size:
        return
    words = h5py.string_dtype()
    kind = np.dtype([("time", "f8"), ("joint", words), ("what", words)])
    file.create_dataset(EVENTS, data=np.array([tuple(event) for event in run.events], dtype=kind))


def write_description(file: Any, mech: Mechanism, settings: Settings) -> None:
    """Write model and settings into the file."""
    file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
    file.attrs["origin"] = mech.model.origin
    file.attrs["settings"] = json.dumps(dataclasses.asdict(settings))
    file.attrs["statistics"] = json.dumps({"ended": INCOMPLETE})
    file.attrs["q_names"], file.attrs["v_names"] = list(mech.q_names), list(mech.v_names)
    file.create_dataset("model", data=np.bytes_(dumps(mech.model).encode()))


def _write_error(path: str, error: OSError | RuntimeError) -> FileError:
    """Return the error for a failed write; HDF5 gives the system's error number only in its text."""
    found = re.search(r"errno = (\d+)", str(error))
    number = int(found[1]) if found else getattr(error, "errno", None)
    reason = os.strerror(number) if number else str(error)[:200]
    begun = Path(path).is_file()
    remedy = "Save it in another folder." + (" The part written so far can be read." if begun else "")
    return FileError(f"The run cannot be written{' any further' if begun else ''}: {reason}.", file=path, remedy=remedy)


def load(path: str) -> Run:
    """Read the run from an HDF5 file."""
    from core.simulation.run.run import Run, Statistics

    size = status_of(path, RUN).st_size
    if not holds_hdf5(path):
        remedy = "Open a run saved as .h5; tables (CSV, SIMNON) can be used as recorded signals of drivers."
        raise FileError("This is not an HDF5 file, so it contains no complete run.", file=path, remedy=remedy)
    try:
        with opened(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise FileError(
                    "The HDF5 file was not written by Kinetostat.", file=path, remedy="Open a file written by run.save."
                )
            if int(file.attrs["version"]) > VERSION:
                raise FileError(
                    "The file was written by a newer version of Kinetostat.", file=path, remedy="Update Kinetostat."
                )
            settings = Settings(**json.loads(file.attrs["settings"]))
            statistics = Statistics(**json.loads(file.attrs["statistics"]))
            statistics = statistics._replace(notes=tuple(map(str, statistics.notes)))
            mech = Mechanism(reloaded_model(model_text(file, size), str(file.attrs["origin"])))
            kept = [name for name in STATES if name in file]
            count = min(len(stored(file, name, size)) for name in kept)  # a piece may have been cut short
            arrays = {name: numbers(file, path, name, size, count) for name in kept}
            arrays |= {name: np.zeros((count, 0)) for name in STATES if name not in arrays}
            check(mech, settings, arrays)
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(
            f"The run cannot be read: {str(error)[:200]}.",
            file=path,
            remedy="The file is damaged: copy it again, or repeat the simulation.",
        ) from None
    return Run(mech, settings, **arrays, statistics=statistics)


def holds_hdf5(path: str) -> bool:
    """Return True if the file has an HDF5 signature; False also if it cannot be read."""
    return beginning_of(path, len(SIGNATURE)) == SIGNATURE


def check_writable(path: str) -> None:
    """Check before the simulation that a run can be saved at this path. Raises FileError."""
    if Path(path).suffix.lower() not in (*WHOLE, *TABLES):
        raise FileError(
            "The file suffix is not a known format of runs.",
            file=path,
            remedy="Use .h5 (complete runs), .csv, or .sim (SIMNON).",
        )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError("The folder does not exist.", file=path, remedy="Create the folder, or save in another one.")
    if Path(path).exists():
        status_of(path, RUN)
    if not os.access(folder, os.W_OK) or (Path(path).exists() and not os.access(path, os.W_OK)):
        raise FileError("The run cannot be written: permission denied.", file=path, remedy="Save it in another folder.")


def save(run: Run, path: str, channels: Sequence[str], progress: Callable[[float], object]) -> None:
    """Write a run atomically, piece by piece; the suffix of the path selects the format. Raises FileError."""
    check_writable(path)
    suffix = Path(path).suffix.lower()
    if suffix not in WHOLE:
        write_whole(path, lambda stream: write_table(stream, run, suffix, channels, progress))
        return
    rows = {name: values for name in STATES if (values := getattr(run, name)).shape[1:] != (0,)}
    arrays = {name: values for name, values in rows.items() if len(values) == len(run.time)}
    arrays |= {kept(name): run[name] for name in channels}

    def write(stream: BinaryIO) -> None:
        import h5py

        with h5py.File(stream, "w", libver="v110") as file:
            write_description(file, run.mech, run.settings)
            file.attrs["statistics"] = json.dumps(run.summary())
            write_events(file, run)
            fill(file, arrays, progress)
        seal(stream)

    write_whole(path, write)


def fill(file: Any, arrays: Mapping[str, Any], progress: Callable[[float], object]) -> None:
    """Copy arrays, or data of another file, into an open file, each as one contiguous dataset."""
    total, done = sum(int(np.prod(rows.shape)) for rows in arrays.values()), 0
    for name, rows in arrays.items():
        data = file.create_dataset(name, rows.shape, rows.dtype if rows.dtype.kind == "S" else storage_type(rows))
        for first in range(0, len(rows), BLOCK):
            part = writable(np.asarray(rows[first : first + BLOCK]))
            data[first : first + len(part)] = part
            done += part.size
            progress(done / total)
