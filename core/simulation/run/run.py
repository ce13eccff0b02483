"""Result of a simulation: an immutable `Run`, and one that grows piece by piece while it is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from core import later
from core.errors import ModelError
from core.files.regular_file import path_as_string
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.simulation.run.channels import Channels
from core.simulation.run.contact_channels import Event
from core.simulation.run.growing_rows import GrowingRows
from core.simulation.run.settings import Array, Settings

CANCELLED = "cancelled"
"""Value of `Statistics.ended` for a run stopped by the user or caller."""
SAMPLED = ("time", "q", "v", "a", "tau", "x", "modes")
"""Arrays with a row for each sample."""


_derivatives_of = later.lazy_function(
    __package__.removesuffix(".simulation.run"), "identification.sensitivities.gradient.run_derivatives"
)


class Statistics(NamedTuple):
    """Computational cost of a run, and the reason it ended."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    shortest_step: float = 0.0
    """Shortest step, s."""
    longest_step: float = 0.0
    """Longest step, s."""
    seconds: float = 0.0
    """Wall time of the integration alone, s."""
    preparation: float = 0.0
    """Wall time for expression graphs, machine code and the initial state, s."""
    ended: str = ""
    """Reason for an early end; empty if the run is complete."""
    jacobians: int = 0
    factorizations: int = 0
    """Number of matrix factorisations in implicit methods."""
    cpu: float = 0.0
    """Processor time of the integration, s."""
    notes: tuple[str, ...] = ()
    """Notes on how the run was computed, a sentence each."""


@dataclass(frozen=True, eq=False)
class Run:
    """Samples of a motion; channels are computed from them on demand.

    time (n,) s; q (n, nq); v, a, tau (n, nv); x (n, nx) states of force elements (empty: at rest); modes (n, m) what
    joints with friction, stops and limits did (`core.simulation.events.contact_columns`; empty: there are none). At an
    instant at which a mode changes there are two samples of the same time, before and after.
    `run["elbow.q"]`, `run["tool.position"]`, `run["energy.total"]`, or a formula of channels, "elbow.tau*elbow.v".
    A joint of one coordinate gives a 1-D array, others have the sample first.
    """

    mech: Mechanism
    settings: Settings
    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    statistics: Statistics
    x: Array = field(default_factory=lambda: np.zeros((0, 0)))
    modes: Array = field(default_factory=lambda: np.zeros((0, 0)))
    points: tuple[tuple[float, str], ...] = ()
    """Times, s, and names of the points of a planned motion."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the samples only; channels are computed again."""
        return Run, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def model(self) -> Model:
        """Return the model that was simulated."""
        return self.mech.model

    @property
    def complete(self) -> bool:
        """Return True if the run reached its end."""
        return not self.statistics.ended

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on how the run was computed, for instance that the machine proved stiff or that damping was
        added; after the energy balance has been requested, also how well the output step resolves it."""
        known = self.__dict__.get("computed_channels")
        return *self.statistics.notes, *((known.balance_note,) if known is not None and known.balance_note else ())

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        end = f", ended early: {self.statistics.ended}" if self.statistics.ended else ""
        return f"Run({self.mech.name!r}, {self.settings.method}, {len(self)} samples{end})"

    @cached_property
    def computed_channels(self) -> Channels:
        """Return the run's channels, each computed on first use."""
        p = self.settings.values_of(self.mech.p_names)
        return Channels(self.mech, p, self)

    def __getitem__(self, channel: str) -> Array:
        return self.computed_channels[channel]

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the names of all channels; formulas of them may be used like channels."""
        return self.computed_channels.names

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Return changes of contact states in joints with friction, stops or limits, in order of time: (time, joint,
        what)."""
        from core.simulation.run.contact_channels import find_events

        return find_events(self.computed_channels.modes)

    def dimension(self, channel: str) -> str:
        """Return the dimension of a channel, of one of its components, or of a formula ("angle", "force" …); "none" if
        columns differ or it has no name."""
        return self.computed_channels.dimension(channel)

    def at(self, time: float) -> Array:
        """Return the position (nq,) at a time, interpolated along the shortest path with loops closed."""
        from core.simulation.run.interpolation import interpolate_positions

        if not (isinstance(time, Real) and np.isfinite(time)):
            raise ModelError(f"{time!r} is not a finite number.", where="time", remedy="Give a time in seconds.")
        return interpolate_positions(self, np.clip([float(time)], self.time[0], self.time[-1]))[0][0].copy()

    def states_at(self, time: float) -> Array:
        """Return the states of force elements (nx,) at a time, interpolated linearly; empty if none were recorded."""
        return np.array([np.interp(time, self.time, column) for column in self.x.T])

    def part(self, rows: slice) -> Run:
        """Return a run with some of the samples."""
        arrays = {name: array[rows] if len(array := getattr(self, name)) else array for name in SAMPLED}
        return replace(self, **arrays)

    def derivatives(self, output: str | Sequence[str], by: Sequence[str], at: Any = "end") -> Array:
        """Return exact derivatives (times, components, m) of channels, or of formulas of them, by parameters and
        initial values.

        output : "tool.position", or several; by : names of parameters, and of start values "elbow.q", "elbow.v"; at :
        "end", a time or times, s

        They are those of the discrete solution: each step that the run took is differentiated. Positions at which it
        began follow parameters where `simulate` would begin elsewhere. Raises ModelError and SimulationError for what
        has no derivative, with the component and the time.
        """
        found: Array = _derivatives_of(self, output, by, at)
        return found

    def table(self, channels: Sequence[str] = ()) -> Iterator[tuple[str, Array]]:
        """Yield (column name, (n,)) of channels (default: coordinates, speeds, accelerations, joint forces,
        energies)."""
        for name in channels or self.computed_channels.default_channels:
            values = self[name]
            if values.ndim == 1:
                yield name, values
                continue
            flat = values.reshape(len(values), -1)
            for suffix, column in zip(self.computed_channels.components(name, flat.shape[1]), flat.T, strict=True):
                yield f"{name}.{suffix}", column

    def save(
        self,
        path: str | os.PathLike[str],
        channels: Sequence[str] = (),
        progress: Callable[[float], object] = lambda part: None,
    ) -> None:
        """Write the run to a file: .h5 (everything; can be loaded), .csv or .sim (SIMNON) with the channels given.

        progress : called with the part done, 0 … 1; if it raises, no file is written

        Raises FileError.
        """
        from core.simulation.run.run_file import save

        save(self, path_as_string(path), channels, progress)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Run:
        """Read a run from an HDF5 file, even if the program was killed while writing it.

        Raises FileError.
        """
        from core.simulation.run.run_file import load

        return load(path_as_string(path))

    def summary(self) -> dict[str, Any]:
        """Return the statistics as plain data."""
        return self.statistics._asdict()


STATES = ("time", "q", "v", "a", "tau", "x", "modes")
"""Arrays of a run with a row for each sample."""


class GrowingRun:
    """Growing run. `run` holds all samples so far; a run taken from it does not change when it grows."""

    def __init__(self, first: Run) -> None:
        self._rows: dict[str, GrowingRows] = {}
        """Once there is a second piece."""
        self.run = first

    def extend(self, piece: Run) -> Run:
        """Append the piece that follows and return the run so far. Raises OSError, with the run unchanged, if there is
        no space for it."""
        self._rows = self._rows or {name: GrowingRows(getattr(self.run, name)) for name in STATES}
        rows: Any = {name: rows.extend(getattr(piece, name)) for name, rows in self._rows.items()}
        self.run = replace(self.run, **rows)
        return self.run

    def finish(self, statistics: Statistics) -> Run:
        """Return the final run."""
        rows: Any = {name: rows.final_rows()[: len(self.run)] for name, rows in self._rows.items()}
        return replace(self.run, statistics=statistics, **rows)


def select_samples(run: Run, samples: slice) -> Run:
    """Return a run with some of the samples."""
    count = len(run.time)
    cut: dict[str, Any] = {name: rows[samples] for name in STATES if len(rows := getattr(run, name)) == count}
    return replace(run, **cut)
