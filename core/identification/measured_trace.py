"""Measured trace: columns of a file or of arrays, mapped to signals of a machine, in SI."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError, ModelError, near_misses
from core.files.hdf5_file import UNPACKED, is_own, opened
from core.files.regular_file import RUN, path_of, status_of
from core.mechanics.elements.recorded_signals import factor_of, name_and_unit, table_of
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
class Trace:
    """Signals over time. time (n,) s; signals : name ("joint1.q", "joint1.tau", any channel of runs) → (n,), SI; unused
    : columns without a signal of the machine; source : file or object it was read from."""

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

    def part(self, first: int, last: int) -> Trace:
        """Return rows first … last − 1."""
        signals = {name: values[first:last] for name, values in self.signals.items()}
        return Trace(self.time[first:last], signals, self.unused, self.source)


def columns_of(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], Array]:
    """Read (names, (n, columns)) from a CSV or SIMNON table, a saved run, or the data sets of an HDF5 file. Raises
    FileError."""
    file = path_of(path)
    return _read_hdf5(file) if Path(file).suffix.lower() in WHOLE else table_of(file)


def _read_hdf5(path: str) -> tuple[tuple[str, ...], Array]:
    size = status_of(path, RUN).st_size
    columns: dict[str, Array] = {}

    def take(name: str, item: Any) -> None:
        if is_own(item) and item.dtype.kind in "fiu" and item.ndim in (1, 2) and item.nbytes <= max(size, UNPACKED):
            values = np.asarray(item, dtype=float)
            flat = {name: values} if values.ndim == 1 else {f"{name}{k + 1}": each for k, each in enumerate(values.T)}
            columns.update({name.rpartition("/")[2]: each for name, each in flat.items()})

    try:
        with opened(path) as file:
            run = "model" in file or "model" in file.attrs
            if not run:
                file.visititems(take)
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
            "The file has no data set 'time'.", file=path, remedy="Name one data set 'time' (s), the others signals."
        )
    columns = {name: values for name, values in columns.items() if len(values) == len(columns[time])}
    return tuple(columns), np.column_stack(list(columns.values()))


def trace_of(
    mech: Mechanism,
    source: str | os.PathLike[str] | Run | Mapping[str, Any] | Trace,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    """Build a trace from a file, a run, or arrays by name (with "time").

    columns : signal → column, "joint1.q" → "angle [deg]"; a unit in brackets behind the column, or in its name, is
    turned into SI. Columns that are called as a signal are taken by themselves, and q1, dq1, ddq1, tau1 … mean the
    first coordinate's.
    Raises FileError or ModelError naming file, column and row.
    """
    if isinstance(source, Trace):
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
        title = path_of(source)
        names, numbers = columns_of(source)
    return _mapped_trace(mech, names, numbers, dict(columns or {}), title, not isinstance(source, Run))


def _mapped_trace(
    mech: Mechanism, names: Sequence[str], numbers: Array, wanted: Mapping[str, str], title: str, any_channel: bool
) -> Trace:
    plain = {name_and_unit(name)[0]: k for k, name in reversed(list(enumerate(names)))}
    at = next((plain[name] for name in plain if name.lower() in TIME), 0)
    time = numbers[:, at] * factor_of(name_and_unit(names[at])[1] or "s", title, names[at])
    _check_times(time, title, names[at])
    known, chosen = signal_names(mech), {}
    for signal, column in wanted.items():
        if not column:
            continue
        name, unit = name_and_unit(column)
        k = next((k for k, other in enumerate(names) if other == column), plain.get(name))
        if k is None:
            raise FileError(
                f"There is no column '{name}'.", file=title, where=f"signal '{signal}'", remedy=near_misses(name, names)
            )
        chosen[_known_signal(mech, signal, known)] = (k, unit or name_and_unit(names[k])[1])
    others = _OtherChannels(mech) if any_channel else None
    for k, name in enumerate(names):
        plain_name = name_and_unit(name)[0]
        signal = known.get(plain_name) or (others.channel(plain_name) if others is not None else "")
        if k != at and signal and signal not in chosen and all(k != other for other, _ in chosen.values()):
            chosen[signal] = (k, name_and_unit(name)[1])
    if not chosen:
        raise FileError(
            "No column matches a signal of the machine.",
            file=title,
            remedy=f"Assign the columns, for example {next(iter(known), 'joint1.q')}={names[-1]}. "
            f"Columns: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}.",
        )
    signals = {}
    for signal, (k, unit) in chosen.items():
        values = numbers[:, k] * (factor_of(unit, title, names[k]) if unit else 1.0)
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
    return Trace(time, signals, tuple(name for k, name in enumerate(names) if k not in used), title)


class _OtherChannels:
    """Channels of runs other than those of joints, computed on first use."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech = mech
        self._signals: Signals | None = None

    def channel(self, name: str) -> str:
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
    known, others = signal_names(mech), _OtherChannels(mech)
    words = [_tokens(name) for name in names]
    first = 0 if any(number == "0" for each in words for number in each) else 1
    found: list[tuple[str, str]] = []
    for name, tokens in zip(names, words, strict=True):
        plain, unit = name_and_unit(name)
        signal = "" if plain.lower() in TIME else known.get(plain) or others.channel(plain)
        if not signal and plain.lower() not in TIME:
            signal = _likely_signal(mech, tokens, first)
        found.append(("" if signal in {taken for taken, _ in found} else signal, unit))
    return found


def guess_columns(
    mech: Mechanism, path: str | os.PathLike[str], named: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Map signals to columns of a file whose names merely suggest a joint's signal ("torque_2").

    named : signals whose columns are known. Raises FileError.
    """
    names, _ = columns_of(path)
    known, named = signal_names(mech), named or {}
    taken = {name_and_unit(column)[0] for column in named.values()}
    signals = {known.get(signal, signal) for signal in named}
    signals |= {known[plain] for name in names if (plain := name_and_unit(name)[0]) in known}
    return {
        signal: name
        for name, (signal, _) in zip(names, guess_signals(mech, names), strict=True)
        if signal
        and signal not in signals
        and name_and_unit(name)[0] not in taken
        and name_and_unit(name)[0] not in (*known, signal)
    }


def _tokens(name: str) -> list[str]:
    """Split a heading into words and numbers, without its unit."""
    return re.findall(r"[a-z]+|\d+", name_and_unit(name)[0].lower())


def _likely_signal(mech: Mechanism, tokens: Sequence[str], first: int) -> str:
    """Return the signal that the words suggest, a quantity and a joint by name or number; "" if none."""
    quantity = next((q for q, words in QUANTITY_WORDS.items() if set(tokens) & words), "")
    if not quantity:
        return ""
    names = mech.q_names if quantity == "q" else mech.v_names
    own = {name: _tokens(name) for name in names}
    named = [name for name, words in own.items() if words and set(words) <= set(tokens)]
    if len(named) == 1:
        return f"{named[0]}.{quantity}"
    numbers = [int(each) - first for each in tokens if each.isdigit()]
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


def _known_signal(mech: Mechanism, signal: str, known: Mapping[str, str]) -> str:
    """Return a signal of the machine: a joint's, or any other channel of runs."""
    if signal in known:
        return known[signal]
    owner = signal.rpartition(".")[0]
    if owner in mech.frame_names or owner in mech.joint_names or not owner:
        return signal
    raise ModelError(
        f"The machine has no signal '{signal}'.", where="columns", remedy=near_misses(signal, list(known.values()))
    )


def _check_times(time: Array, title: str, column: str) -> None:
    if len(time) < LEAST_ROWS:
        raise FileError(
            f"The trace has {len(time)} rows.",
            file=title,
            remedy=f"At least {LEAST_ROWS} rows are needed, preferably hundreds.",
        )
    wrong = np.flatnonzero(~(np.diff(time) > 0.0))
    if len(wrong):
        raise FileError(
            f"The time does not increase at row {int(wrong[0]) + 2}.",
            file=title,
            where=f"column '{column}'",
            remedy="Sort the rows by time and leave repeated ones out.",
        )
