"""Measured trace: columns of a file or arrays, mapped to signals of a machine, in SI."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError, ModelError, suggest_names
from core.files.hdf5_file import UNPACKED, is_stored_in_this_file, open_hdf5
from core.files.regular_file import RUN, path_as_string, read_status
from core.mechanics.elements.recorded_signals import read_table, split_name_and_unit, unit_factor
from core.mechanism import Mechanism
from core.simulation.measures.run_measures import Signals
from core.simulation.run.run import Run

Array = NDArray[np.float64]

TIME = ("time", "t")
WHOLE = (".h5", ".hdf5")
QUANTITY_WORDS = {
    "tau": {"tau", "torque", "effort", "force", "moment", "load"},
    "a": {"a", "acc", "accel", "acceleration", "ddq", "qdd"},
    "v": {"v", "vel", "velocity", "speed", "rate", "dq", "qd", "omega"},
    "q": {"q", "pos", "position", "angle", "theta", "phi", "displacement"},
}
"""Words in column headings that indicate the quantity."""
UNITS_OF = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s²", "m/s²"), "tau": ("N·m", "N")}
"""SI units of signals, of revolute and of prismatic joints."""
LEAST_ROWS = 8
"""Smallest number of rows that can be fitted and validated."""


@dataclass(frozen=True, eq=False)
class MeasuredTrace:
    """Signals over time. time (n,) s; signals : name ("joint1.q", "joint1.tau", any channel of runs) → (n,), SI; unused
    : columns that match no signal of the machine; source : file or object from which it was read."""

    time: Array
    signals: Mapping[str, Array]
    unused: tuple[str, ...] = ()
    source: str = "trace"

    def __len__(self) -> int:
        return len(self.time)

    def of(self, quantity: str) -> dict[str, Array]:
        """Return the signals of a quantity ("q", "v", "a", "tau") by joint name."""
        ending = f".{quantity}"
        return {name.removesuffix(ending): values for name, values in self.signals.items() if name.endswith(ending)}

    def part(self, first: int, last: int) -> MeasuredTrace:
        """Return rows first … last − 1."""
        signals = {name: values[first:last] for name, values in self.signals.items()}
        return MeasuredTrace(self.time[first:last], signals, self.unused, self.source)


def read_columns(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], Array]:
    """Read (names, (n, columns)) from a CSV or SIMNON table, a saved run, or the data sets of an HDF5 file. Raises
    FileError."""
    file = path_as_string(path)
    return _read_hdf5(file) if Path(file).suffix.lower() in WHOLE else read_table(file)


def _read_hdf5(path: str) -> tuple[tuple[str, ...], Array]:
    size = read_status(path, RUN).st_size
    columns: dict[str, Array] = {}

    def read_data_set(name: str, item: Any) -> None:
        if (
            is_stored_in_this_file(item)
            and item.dtype.kind in "fiu"
            and item.ndim in (1, 2)
            and item.nbytes <= max(size, UNPACKED)
        ):
            values = np.asarray(item, dtype=float)
            flat = {name: values} if values.ndim == 1 else {f"{name}{k + 1}": each for k, each in enumerate(values.T)}
            columns.update({name.rpartition("/")[2]: each for name, each in flat.items()})

    try:
        with open_hdf5(path) as file:
            run = "model" in file or "model" in file.attrs
            if not run:
                file.visititems(read_data_set)
    except OSError as error:
        raise FileError(
            "This is not an HDF5 file.", file=path, remedy="Give an HDF5 file, or a CSV file with columns."
        ) from error
    if run:
        loaded = Run.load(path)
        columns = {"time": loaded.time, **dict(loaded.table())}
    time = next((name for name in columns if name.lower() in TIME), None)
    if time is None:
        raise FileError(
            "The file has no data set 'time'.",
            file=path,
            remedy="Name one data set 'time' (s) and each of the others after a signal.",
        )
    columns = {name: values for name, values in columns.items() if len(values) == len(columns[time])}
    return tuple(columns), np.column_stack(list(columns.values()))


def build_trace(
    mech: Mechanism,
    source: str | os.PathLike[str] | Run | Mapping[str, Any] | MeasuredTrace,
    columns: Mapping[str, str] | None = None,
) -> MeasuredTrace:
    """Build a trace from a file, a run, or arrays by name (with "time").

    columns : signal → column, "joint1.q" → "angle [deg]"; a unit in brackets behind the column, or in its name, is
    turned into SI. Columns that are called as a signal are taken by themselves, and q1, dq1, ddq1, tau1 … mean the
    first coordinate's.
    Raises FileError or ModelError naming file, column and row.
    """
    if isinstance(source, MeasuredTrace):
        return source
    if isinstance(source, Run):
        names, numbers, title = (
            ("time", *(n for n, _ in source.table())),
            np.column_stack([source.time, *(values for _, values in source.table())]),
            "run",
        )
    elif isinstance(source, Mapping):
        names, title = tuple(source), "trace"
        try:
            numbers = np.column_stack([np.asarray(source[name], dtype=float) for name in names])
        except ValueError:
            raise ModelError(
                "The columns differ in length.", where="trace", remedy="Give arrays with a number for each time."
            ) from None
    else:
        title = path_as_string(source)
        names, numbers = read_columns(source)
    return _map_columns(mech, names, numbers, dict(columns or {}), title, not isinstance(source, Run))


def _map_columns(
    mech: Mechanism,
    names: Sequence[str],
    column_values: Array,
    column_by_signal: Mapping[str, str],
    title: str,
    any_channel: bool,
) -> MeasuredTrace:
    plain = {split_name_and_unit(name)[0]: k for k, name in reversed(list(enumerate(names)))}
    at = next((plain[name] for name in plain if name.lower() in TIME), 0)
    time = column_values[:, at] * unit_factor(split_name_and_unit(names[at])[1] or "s", title, names[at])
    _check_times(time, title, names[at])
    known, chosen = signal_names(mech), {}
    for signal, column in column_by_signal.items():
        if not column:
            continue
        name, unit = split_name_and_unit(column)
        k = next((k for k, other in enumerate(names) if other == column), plain.get(name))
        if k is None:
            raise FileError(
                f"There is no column '{name}'.",
                file=title,
                where=f"signal '{signal}'",
                remedy=suggest_names(name, names),
            )
        chosen[_check_signal(mech, signal, known)] = (k, unit or split_name_and_unit(names[k])[1])
    others = _NonJointChannels(mech) if any_channel else None
    for k, name in enumerate(names):
        plain_name = split_name_and_unit(name)[0]
        signal = known.get(plain_name) or (others.find_channel(plain_name) if others is not None else "")
        if k != at and signal and signal not in chosen and all(k != other for other, _ in chosen.values()):
            chosen[signal] = (k, split_name_and_unit(name)[1])
    if not chosen:
        raise FileError(
            "No column matches a signal of the machine.",
            file=title,
            remedy=f"Assign the columns, for example {next(iter(known), 'joint1.q')}={names[-1]}. "
            f"Columns: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}.",
        )
    signals = {}
    for signal, (k, unit) in chosen.items():
        values = column_values[:, k] * (unit_factor(unit, title, names[k]) if unit else 1.0)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise FileError(
                f"Row {row + 1} contains a value that is not finite.",
                file=title,
                where=f"column '{names[k]}'",
                remedy="Remove such rows.",
            )
        signals[signal] = values
    used = {k for k, _ in chosen.values()} | {at}
    return MeasuredTrace(time, signals, tuple(name for k, name in enumerate(names) if k not in used), title)


class _NonJointChannels:
    """Channels of runs that do not belong to joints, computed on first use."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech = mech
        self._signals: Signals | None = None

    def find_channel(self, name: str) -> str:
        """Return the name if it is a time-dependent scalar channel, otherwise ""."""
        if self._signals is None:
            self._signals = Signals(self._mech)
        return name if name not in TIME and self._signals.components(name) == () else ""


def signal_names(mech: Mechanism) -> dict[str, str]:
    """Map column names that need no explicit mapping to their signals: "joint1.q", "joint1" and "q1", "dq1", "tau1"."""
    found: dict[str, str] = {}
    for quantity, names, words in (
        ("q", mech.q_names, ("q",)),
        ("v", mech.v_names, ("v", "dq", "qd")),
        ("a", mech.v_names, ("a", "ddq", "qdd")),
        ("tau", mech.v_names, ("tau", "torque")),
    ):
        for k, name in enumerate(names, 1):
            found[f"{name}.{quantity}"] = f"{name}.{quantity}"
            if quantity == "q":
                found.setdefault(name, f"{name}.q")
            for word in words:
                found.setdefault(f"{word}{k}", f"{name}.{quantity}")
                found.setdefault(f"{word}_{k}", f"{name}.{quantity}")
    return found


def guess_signals(mech: Mechanism, names: Sequence[str]) -> list[tuple[str, str]]:
    """Guess (signal, unit) for each column of a table, for the user to confirm; "" if nothing fits. Apart from standard
    names, headings such as "torque_2", "elbow angle [deg]" or "position.elbow" are recognised."""
    known, others = signal_names(mech), _NonJointChannels(mech)
    words = [_split_heading(name) for name in names]
    first = 0 if any(number == "0" for each in words for number in each) else 1
    found: list[tuple[str, str]] = []
    for name, tokens in zip(names, words, strict=True):
        plain, unit = split_name_and_unit(name)
        signal = "" if plain.lower() in TIME else known.get(plain) or others.find_channel(plain)
        if not signal and plain.lower() not in TIME:
            signal = _guess_signal(mech, tokens, first)
        found.append(("" if signal in {taken for taken, _ in found} else signal, unit))
    return found


def guess_columns(
    mech: Mechanism, path: str | os.PathLike[str], known_columns: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Map signals to those columns of a file whose names merely suggest a joint's signal ("torque_2").

    known_columns : signals whose columns are known. Raises FileError.
    """
    names, _ = read_columns(path)
    known, known_columns = signal_names(mech), known_columns or {}
    taken = {split_name_and_unit(column)[0] for column in known_columns.values()}
    signals = {known.get(signal, signal) for signal in known_columns}
    signals |= {known[plain] for name in names if (plain := split_name_and_unit(name)[0]) in known}
    return {
        signal: name
        for name, (signal, _) in zip(names, guess_signals(mech, names), strict=True)
        if signal
        and signal not in signals
        and split_name_and_unit(name)[0] not in taken
        and split_name_and_unit(name)[0] not in (*known, signal)
    }


def _split_heading(name: str) -> list[str]:
    """Split a heading into words and numbers, without its unit."""
    return re.findall(r"[a-z]+|\d+", split_name_and_unit(name)[0].lower())


def _guess_signal(mech: Mechanism, tokens: Sequence[str], first_number: int) -> str:
    """Return the signal that the words suggest by a quantity and a joint's name or number; "" if there is none."""
    quantity = next((q for q, words in QUANTITY_WORDS.items() if set(tokens) & words), "")
    if not quantity:
        return ""
    names = mech.q_names if quantity == "q" else mech.v_names
    own = {name: _split_heading(name) for name in names}
    named = [name for name, words in own.items() if words and set(words) <= set(tokens)]
    if len(named) == 1:
        return f"{named[0]}.{quantity}"
    numbers = [int(each) - first_number for each in tokens if each.isdigit()]
    if len(numbers) == 1 and 0 <= numbers[0] < len(names):
        return f"{names[numbers[0]]}.{quantity}"
    return f"{names[0]}.{quantity}" if len(names) == 1 else ""


def si_unit(mech: Mechanism, signal: str) -> str:
    """Return the SI unit of a joint's signal; "" for any other."""
    owner, _, quantity = signal.rpartition(".")
    turning = next((each.dimension == "angle" for each in mech.coordinates if each.name == owner), None)
    if turning is None or quantity not in UNITS_OF:
        return ""
    return UNITS_OF[quantity][0 if turning else 1]


def _check_signal(mech: Mechanism, signal: str, standard_names: Mapping[str, str]) -> str:
    """Check that a signal exists on the machine, as a joint's or as any other channel of runs, and return it."""
    if signal in standard_names:
        return standard_names[signal]
    owner = signal.rpartition(".")[0]
    if owner in mech.frame_names or owner in mech.joint_names or not owner:
        return signal
    raise ModelError(
        f"The machine has no signal '{signal}'.",
        where="columns",
        remedy=suggest_names(signal, list(standard_names.values())),
    )


def _check_times(time: Array, title: str, column: str) -> None:
    if len(time) < LEAST_ROWS:
        raise FileError(
            f"The trace has only {len(time)} rows.",
            file=title,
            remedy=f"At least {LEAST_ROWS} rows are needed, preferably hundreds.",
        )
    wrong = np.flatnonzero(~(np.diff(time) > 0.0))
    if len(wrong):
        raise FileError(
            f"The time does not increase at row {int(wrong[0]) + 2}.",
            file=title,
            where=f"column '{column}'",
            remedy="Sort the rows by time and remove repeated ones.",
        )
