"""HDF5 files of complete runs: `time`, `q`, `v`, `a`, `tau`, `modes` and `events` of joints with friction, stops and
limits, the model as text, settings, statistics, and requested channels under `channels`.

While a run goes on the file is in HDF5's mode for one writer and many readers, so that it can be read at any time, also
after the program was killed: its data then lies in many small pieces. Once a long run is over each lies in one, which
is mapped when the file is opened, instead of read.
Numbers that are read are checked: stored in the file itself, no larger than the file can hold, and consistent with the
machine. Runs are also written as tables of numbers, CSV and SIMNON, piece by piece.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files import dumps
from core.files.formats import reload_model
from core.files.hdf5_file import SIGNATURE, find_stored_data, import_hdf5, open_hdf5
from core.files.regular_file import MODEL, RUN, read_beginning, read_status
from core.files.sealed_file import append_checksums
from core.files.source import write_atomically
from core.mechanism import Mechanism
from core.simulation.methods import METHODS
from core.simulation.methods.method import RECORDED
from core.simulation.run.growing_rows import BLOCK, IN_MEMORY, Array, concatenate, map_path, split_into_blocks
from core.simulation.run.settings import Settings

if TYPE_CHECKING:
    from core.mechanism import Mechanism
    from core.simulation.run.run import Run
    from core.simulation.run.settings import Settings


CSV = ".csv"
TABLE_SUFFIXES = (CSV, ".sim", ".t")
"""File suffixes of tables."""


def write_table(
    stream: BinaryIO, run: Run, suffix: str, channels: Sequence[str], progress: Callable[[float], object]
) -> None:
    """Write time and channels into an open file; the suffix selects the format."""
    rows = 0
    for text in (format_csv if suffix == CSV else _simnon_lines)(run, channels):
        stream.write(text.encode())
        progress(min(rows / len(run), 1.0))
        rows += BLOCK


def format_csv(run: Run, channels: Sequence[str]) -> Iterator[str]:
    """Yield time and channels as CSV text in SI units, with a header line, piece by piece."""
    columns = [("time", run.time), *run.table(channels)]
    yield ",".join(f'"{name}"' if any(c in name for c in ',"') else name for name, _ in columns) + "\n"
    yield from _text_rows([values for _, values in columns], ",")


def _simnon_lines(run: Run, channels: Sequence[str]) -> Iterator[str]:
    columns = [("t", run.time), *run.table(channels or [f"{name}.q" for name in run.mech.q_names])]
    words = [name for name, values in columns if values.dtype.kind == "U"]
    if words:
        raise FileError(
            "A SIMNON file can contain only numbers, but the values of this channel are text.",
            where=f"channel '{words[0]}'",
            remedy="Save it as .csv, or leave the channel out.",
        )
    names = [name.removesuffix(".q") if not channels else name for name, _ in columns]
    yield '" ' + " ".join(name.replace(" ", "") for name in names) + "\n"
    yield from _text_rows([values for _, values in columns], " ")


def _text_rows(columns: Sequence[Array], separator: str) -> Iterator[str]:
    """Yield lines of numbers, with digits enough for exact reading, and of words."""
    for first in range(0, len(columns[0]), BLOCK):
        lists = (values[first : first + BLOCK].tolist() for values in columns)
        yield "\n".join(separator.join(map(_format_value, row)) for row in zip(*lists, strict=True)) + "\n"


def _format_value(value: float | str) -> str:
    return value if isinstance(value, str) else repr(value)


def read_numbers(file: Any, path: str, name: str, size: int, count: int) -> NDArray[np.float64]:
    """Return the first rows of a dataset; large ones are memory-mapped instead of read. Raises ValueError if it holds
    no numbers."""
    data = find_stored_data(file, name, size)
    if data.dtype.kind not in "fi":
        raise ValueError(f"'{name}' contains no numbers")
    shape = (count, *data.shape[1:])
    if 8 * math.prod(shape) <= IN_MEMORY:
        return np.array(data[:count], dtype=float)
    offset = data.id.get_offset()  # of what lies there in one piece
    if offset is not None and data.dtype == np.dtype("<f8"):
        return map_path(path, offset, shape)
    return concatenate(
        np.array(data[first : min(first + BLOCK, count)], dtype=float) for first in range(0, count, BLOCK)
    )


def read_model_text(file: Any, size: int) -> str:
    """Return the stored model. Raises ValueError if it is not a text of reasonable size."""
    data = find_stored_data(file, "model", size)
    found = data[()] if data.shape == () else None
    if not isinstance(found, bytes) or len(found) > MODEL.most:
        raise ValueError("'model' is not a valid text")
    return found.decode()


def check(mech: Mechanism, settings: Settings, arrays: Mapping[str, NDArray[np.float64]]) -> None:
    """Raise ValueError if samples or settings do not match the machine."""
    widths = {"q": mech.nq, "v": mech.nv, "a": mech.nv, "tau": mech.nv}
    for name, width in widths.items():
        if arrays[name].shape[1:] != (width,):
            raise ValueError(f"'{name}' has rows of {arrays[name].shape[1:]} numbers, but the machine needs {width}")
    time = arrays["time"]
    if time.ndim != 1 or not len(time) or not _are_increasing(time):
        raise ValueError("the run's times are not increasing")
    if settings.method not in METHODS and settings.method != RECORDED.id:
        raise ValueError(f"the run's method '{str(settings.method)[:40]}' is unknown")
    given = settings.parameters
    if not isinstance(given, dict) or not all(_is_number(given.get(name)) for name in mech.p_names):
        raise ValueError("the run's parameters do not match the machine")
    if not all(map(_is_number, (settings.duration, settings.rtol, settings.atol, settings.output, settings.start))):
        raise ValueError("the run's settings are not numbers")


def _are_increasing(times: NDArray[np.float64]) -> bool:
    """Return True if times are finite and do not decrease."""
    parts = (times[max(first - 1, 0) : first + BLOCK] for first in range(0, len(times), BLOCK))
    return all(np.isfinite(part).all() and bool(np.all(np.diff(part) >= 0.0)) for part in parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
"""Free disk space, in bytes, that is required to begin a file."""
INCOMPLETE = "the file was not finished"


class RunFile:
    """HDF5 file to which samples are appended during the run."""

    def __init__(self, path: str, mech: Mechanism, settings: Settings, channels: Sequence[str] = ()) -> None:
        self.path, self.mech, self.settings, self.channels = path, mech, settings, tuple(channels)
        self.file: Any = None
        if Path(path).suffix.lower() not in WHOLE:
            raise FileError(
                "Only an HDF5 file can be written during the run.",
                file=path,
                remedy="Give a name that ends in .h5.",
            )
        check_writable(path)

    def append(self, piece: Run) -> None:
        """Append the samples of a piece; they are on disk on return.

        Raises FileError if they cannot be written.
        """
        arrays = {name: values for name in STATES if (values := np.asarray(getattr(piece, name))).shape[1:] != (0,)}
        arrays |= {channel_path(name): piece[name] for name in self.channels}
        try:
            if self.file is None:
                self._create_file(arrays)
            for name, values in arrays.items():
                data = self.file[name]
                first = len(data)
                data.resize(first + len(values), axis=0)
                for rows in split_into_blocks(encode_words(values)):
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
        h5py = import_hdf5()

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
        h5py = import_hdf5()

        try:
            self.file.close()
            with h5py.File(self.path, "r+") as file:
                file.attrs["statistics"] = json.dumps(run.summary())
                write_events(file, run)
            with open(self.path, "r+b") as content:
                append_checksums(content)
        except (OSError, RuntimeError) as error:
            self._discard_pending_writes()
            raise _write_error(self.path, error) from None
        if Path(self.path).stat().st_size > IN_MEMORY:
            with contextlib.suppress(FileError, OSError):  # no room for both: what there is can be read as well
                self._join_pieces()

    def _join_pieces(self) -> None:
        """Join the pieces of each array. Raises FileError and then leaves the file unchanged."""
        h5py = import_hdf5()

        def write(stream: BinaryIO) -> None:
            with h5py.File(self.path, "r") as pieces, h5py.File(stream, "w", libver="v110") as file:
                write_description(file, self.mech, self.settings)
                file.attrs["statistics"] = pieces.attrs["statistics"]
                if EVENTS in pieces:
                    pieces.copy(EVENTS, file)
                arrays = {name: pieces[name] for name in (*STATES, *map(channel_path, self.channels)) if name in pieces}
                copy_arrays(file, arrays, lambda _: None)
            append_checksums(stream)

        write_atomically(self.path, write)


def channel_path(channel: str) -> str:
    """Return the path of a channel within the file; slashes are replaced, because they would create groups."""
    return f"channels/{channel.replace('/', '∕')}"


def storage_type(values: Any) -> str:
    """Return the HDF5 type for numbers or words."""
    return "f8" if values.dtype.kind != "U" else f"S{LONGEST_WORD}"


def encode_words(values: Any) -> Any:
    """Return numbers unchanged and words as bytes."""
    return np.char.encode(values, "utf-8") if values.dtype.kind == "U" else values


def write_events(file: Any, run: Run) -> None:
    """Write the run's events (time in s, joint, what) for other programs."""
    h5py = import_hdf5()

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

    size = read_status(path, RUN).st_size
    if not has_hdf5_signature(path):
        remedy = "Open a run saved as .h5; tables (CSV, SIMNON) can be used as recorded signals of drivers."
        raise FileError("This is not an HDF5 file, so it contains no complete run.", file=path, remedy=remedy)
    try:
        with open_hdf5(path) as file:
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
            mech = Mechanism(reload_model(read_model_text(file, size), str(file.attrs["origin"])))
            kept = [name for name in STATES if name in file]
            count = min(len(find_stored_data(file, name, size)) for name in kept)  # a piece may have been cut short
            arrays = {name: read_numbers(file, path, name, size, count) for name in kept}
            arrays |= {name: np.zeros((count, 0)) for name in STATES if name not in arrays}
            check(mech, settings, arrays)
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(
            f"The run cannot be read: {str(error)[:200]}.",
            file=path,
            remedy="The file is damaged: copy it again, or repeat the simulation.",
        ) from None
    given: dict[str, Any] = {**arrays, "statistics": statistics}
    return Run(mech, settings, **given)


def has_hdf5_signature(path: str) -> bool:
    """Return True if the file has an HDF5 signature; False also if it cannot be read."""
    return read_beginning(path, len(SIGNATURE)) == SIGNATURE


def check_writable(path: str) -> None:
    """Check before the simulation that a run can be saved at this path. Raises FileError."""
    if Path(path).suffix.lower() not in (*WHOLE, *TABLE_SUFFIXES):
        raise FileError(
            "The file suffix does not name a file format of runs.",
            file=path,
            remedy="Use .h5 (complete runs), .csv, or .sim (SIMNON).",
        )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError("The folder does not exist.", file=path, remedy="Create the folder, or save in another one.")
    if Path(path).exists():
        read_status(path, RUN)
    if not os.access(folder, os.W_OK) or (Path(path).exists() and not os.access(path, os.W_OK)):
        raise FileError("The run cannot be written: permission denied.", file=path, remedy="Save it in another folder.")


def save(run: Run, path: str, channels: Sequence[str], progress: Callable[[float], object]) -> None:
    """Write a run atomically, piece by piece; the suffix of the path selects the format. Raises FileError."""
    check_writable(path)
    suffix = Path(path).suffix.lower()
    if suffix not in WHOLE:
        write_atomically(path, lambda stream: write_table(stream, run, suffix, channels, progress))
        return
    rows = {name: values for name in STATES if (values := getattr(run, name)).shape[1:] != (0,)}
    arrays = {name: values for name, values in rows.items() if len(values) == len(run.time)}
    arrays |= {channel_path(name): run[name] for name in channels}

    def write(stream: BinaryIO) -> None:
        h5py = import_hdf5()

        with h5py.File(stream, "w", libver="v110") as file:
            write_description(file, run.mech, run.settings)
            file.attrs["statistics"] = json.dumps(run.summary())
            write_events(file, run)
            copy_arrays(file, arrays, progress)
        append_checksums(stream)

    write_atomically(path, write)


def copy_arrays(file: Any, arrays: Mapping[str, Any], progress: Callable[[float], object]) -> None:
    """Copy arrays, or data of another file, into an open file, each as one contiguous dataset."""
    total, done = sum(int(np.prod(rows.shape)) for rows in arrays.values()), 0
    for name, rows in arrays.items():
        data = file.create_dataset(name, rows.shape, rows.dtype if rows.dtype.kind == "S" else storage_type(rows))
        for first in range(0, len(rows), BLOCK):
            part = encode_words(np.asarray(rows[first : first + BLOCK]))
            data[first : first + len(part)] = part
            done += part.size
            progress(done / total)
