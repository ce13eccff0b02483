"""Runs in files: HDF5 (whole runs, written in pieces), CSV and SIMNON (columns of numbers).

HDF5: `time`, `q`, `v`, `a`, `tau`, the model as text, settings, statistics, and the channels asked for under
`channels`. While a run goes on the file is in HDF5's mode for one writer and many readers, so that it can be read at
any time, also after the program was killed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import FileError
from core.files import dumps, loads
from core.files.regular_file import RUN, beginning_of, status_of
from core.files.source import write_whole
from core.mechanism import Mechanism
from core.simulation.run.stored_numbers import check, model_text, numbers, stored
from core.simulation.run.unfinished_file import SIGNATURE
from core.simulation.setup import Settings

if TYPE_CHECKING:
    from core.simulation.run.run import Run

FORMAT = "kinetostat run"
VERSION = 1
STATES = ("time", "q", "v", "a", "tau", "x")
CHUNK = 256
"""Samples of one block of a file."""
WHOLE, TABLES = (".h5", ".hdf5"), (".csv", ".sim", ".t")
"""Suffixes of whole runs and of tables."""
ROOM = 1 << 16
"""Bytes for which there must be room when a file begins."""
INCOMPLETE = "the file was not finished"


class RunFile:
    """A file that grows with its run."""

    def __init__(self, path: str, mech: Mechanism, settings: Settings, channels: Sequence[str] = ()) -> None:
        self.path, self.mech, self.settings, self.channels = path, mech, settings, tuple(channels)
        self.file: Any = None
        if Path(path).suffix.lower() not in WHOLE:
            raise FileError(
                "A run that is written while it goes on needs an HDF5 file.",
                file=path,
                remedy="Give a name that ends in .h5.",
            )
        prove(path)

    def append(self, piece: Run) -> None:
        """Add the samples of a piece; they are on disk when this returns.

        Raises FileError if they cannot be written.
        """
        arrays = {name: values for name in STATES if (values := np.asarray(getattr(piece, name))).shape[1:] != (0,)}
        arrays |= {kept(name): piece[name] for name in self.channels}
        try:
            if self.file is None:
                self._open(arrays)
            for name, values in arrays.items():
                data = self.file[name]
                first = len(data)
                data.resize(first + len(values), axis=0)
                data[first:] = values
                data.flush()
        except (OSError, RuntimeError) as error:
            self._abandon()
            raise _unwritable(self.path, error) from None

    def _abandon(self) -> None:
        """Close a file that cannot be written any more. What HDF5 still wants to write goes nowhere: it would try again
        when the program ends, and crash it."""
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self.file.id.get_vfd_handle())
            os.close(nowhere)
            self.file.close()
        except (OSError, RuntimeError, AttributeError, NotImplementedError, ValueError):
            return

    def _open(self, arrays: dict[str, Any]) -> None:
        import h5py

        try:
            Path(self.path).write_bytes(bytes(ROOM))
        except OSError:
            Path(self.path).unlink(missing_ok=True)
            raise
        self.file = file = h5py.File(self.path, "w", libver="latest")
        described(file, self.mech, self.settings)
        for name, values in arrays.items():
            rest = values.shape[1:]
            file.create_dataset(
                name, (0, *rest), "f8", chunks=(CHUNK, *(max(n, 1) for n in rest)), maxshape=(None, *rest)
            )
        file.flush()
        file.swmr_mode = True

    def finish(self, run: Run) -> None:
        """Close the file, with the statistics of the run."""
        import h5py

        try:
            self.file.close()
            with h5py.File(self.path, "r+") as file:
                file.attrs["statistics"] = json.dumps(run.summary())
        except (OSError, RuntimeError) as error:
            self._abandon()
            raise _unwritable(self.path, error) from None


def kept(channel: str) -> str:
    """Where in a file a channel is kept. (A slash in a formula would open a group.)"""
    return f"channels/{channel.replace('/', '∕')}"


def described(file: Any, mech: Mechanism, settings: Settings) -> None:
    """Model and settings into the file."""
    file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
    file.attrs["origin"] = mech.model.origin
    file.attrs["settings"] = json.dumps(dataclasses.asdict(settings))
    file.attrs["statistics"] = json.dumps({"ended": INCOMPLETE})
    file.attrs["q_names"], file.attrs["v_names"] = list(mech.q_names), list(mech.v_names)
    file.create_dataset("model", data=dumps(mech.model))


def _unwritable(path: str, error: OSError | RuntimeError) -> FileError:
    """The message; HDF5 tells the number of the system's error only in words."""
    found = re.search(r"errno = (\d+)", str(error))
    number = int(found[1]) if found else getattr(error, "errno", None)
    reason = os.strerror(number) if number else str(error)[:200]
    begun = Path(path).is_file()
    remedy = "Save it in another folder." + (" What was written until now can be read." if begun else "")
    return FileError(f"The run cannot be written{' any further' if begun else ''}: {reason}.", file=path, remedy=remedy)


def load(path: str) -> Run:
    """The run of an HDF5 file."""
    from core.simulation.run.run import Run, Statistics

    size = status_of(path, RUN).st_size
    if not holds_hdf5(path):
        remedy = "Open one saved as .h5; tables (CSV, SIMNON) move drivers as recorded signals."
        raise FileError("This is no HDF5 file, so it holds no whole run.", file=path, remedy=remedy)
    try:
        with _readable(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise FileError("This is no run of this program.", file=path, remedy="Open a file written by run.save.")
            if int(file.attrs["version"]) > VERSION:
                raise FileError(
                    "The file is of a newer version of this program.", file=path, remedy="Update the program."
                )
            settings = Settings(**json.loads(file.attrs["settings"]))
            statistics = Statistics(**json.loads(file.attrs["statistics"]))
            statistics = statistics._replace(notes=tuple(map(str, statistics.notes)))
            mech = Mechanism(loads(model_text(file, size), "kst", str(file.attrs["origin"])))
            kept = [name for name in STATES if name in file]
            count = min(len(stored(file, name, size)) for name in kept)  # a piece may have been cut short
            arrays = {name: numbers(file, name, size, count) for name in kept}
            arrays |= {name: np.zeros((count, 0)) for name in STATES if name not in arrays}
            check(mech, settings, arrays)
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(
            f"The run cannot be read: {str(error)[:200]}.",
            file=path,
            remedy="The file is damaged: copy it again, or make the run again.",
        ) from None
    return Run(mech, settings, **arrays, statistics=statistics)


def holds_hdf5(path: str) -> bool:
    """Whether the file begins as one of HDF5 does; False if it cannot be read."""
    return beginning_of(path, len(SIGNATURE)) == SIGNATURE


def _readable(path: str) -> Any:
    """The open file; one whose writer was killed, or still writes, as if it had been closed."""
    import h5py

    from core.simulation.run import unfinished_file

    try:
        return h5py.File(path, "r")
    except OSError:
        return unfinished_file.opened(path)


def prove(path: str) -> None:
    """See that a run can be saved there, before it is made. Raises FileError."""
    if Path(path).suffix.lower() not in (*WHOLE, *TABLES):
        raise FileError(
            "The suffix says no format of runs.", file=path, remedy="Use .h5 (whole runs), .csv, or .sim (SIMNON)."
        )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError("There is no such folder.", file=path, remedy="Make it, or save in another one.")
    if Path(path).exists():
        status_of(path, RUN)
    if not os.access(folder, os.W_OK) or (Path(path).exists() and not os.access(path, os.W_OK)):
        raise FileError("The run cannot be written: permission denied.", file=path, remedy="Save it in another folder.")


def save(run: Run, path: str, channels: Sequence[str]) -> None:
    """Write a run whole or not at all; the suffix of the path says how. Raises FileError."""
    prove(path)
    suffix = Path(path).suffix.lower()
    if suffix in WHOLE:
        write_whole(path, _hdf5(run, channels))
    elif suffix == ".csv":
        write_whole(path, csv(run, channels).encode())
    else:
        columns = [("t", run.time), *run.table(channels or [f"{name}.q" for name in run.mech.q_names])]
        names = [name.removesuffix(".q") if not channels else name for name, _ in columns]
        write_whole(
            path, ('" ' + " ".join(name.replace(" ", "") for name in names) + "\n" + _rows(columns, " ")).encode()
        )


def csv(run: Run, channels: Sequence[str]) -> str:
    """Time and channels with commas between them, a line of names first; SI units."""
    columns = [("time", run.time), *run.table(channels)]
    head = ",".join(f'"{name}"' if any(c in name for c in ',"') else name for name, _ in columns)
    return head + "\n" + _rows(columns, ",")


def _rows(columns: Sequence[tuple[str, Any]], separator: str) -> str:
    """Numbers that read back exactly."""
    lines = (separator.join(map(repr, row)) for row in zip(*(values.tolist() for _, values in columns), strict=True))
    return "\n".join(lines) + "\n"


def _hdf5(run: Run, channels: Sequence[str]) -> bytes:
    """The bytes of the file, made in memory."""
    import io

    import h5py

    memory = io.BytesIO()
    with h5py.File(memory, "w", libver="v110") as file:
        described(file, run.mech, run.settings)
        file.attrs["statistics"] = json.dumps(run.summary())
        for name in STATES:
            values = getattr(run, name)
            if len(values) == len(run.time) and values.shape[1:] != (0,):  # most machines have no x, HDF5 no empty rows
                file.create_dataset(name, data=values)
        for name in channels:
            file.create_dataset(kept(name), data=run[name])
    return memory.getvalue()
