"""A run: what a machine did, as a value."""

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
from core.files.regular_file import path_of
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.simulation.run.channels import Channels
from core.simulation.run.mode_channels import Event
from core.simulation.setup import Array, Settings

CANCELLED = "cancelled"
"""How a run ended that was stopped by whoever asked for it."""
SAMPLED = ("time", "q", "v", "a", "tau", "x", "modes")
"""Arrays with a row for each sample."""


_derivatives_of = later.function(__package__.removesuffix(".simulation.run"), "sensitivities.gradient.run_derivatives")


class Statistics(NamedTuple):
    """What a run cost, and how it ended."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    shortest_step: float = 0.0
    """s"""
    longest_step: float = 0.0
    """s"""
    seconds: float = 0.0
    """Integration alone."""
    preparation: float = 0.0
    """Seconds for traces, machine code and the start."""
    ended: str = ""
    """Why it ended before its time; empty if it did not."""
    jacobians: int = 0
    factorizations: int = 0
    """Of implicit methods."""
    cpu: float = 0.0
    """Processor seconds of the integration."""
    notes: tuple[str, ...] = ()
    """What its reader should know of how it came about, a sentence each."""


@dataclass(frozen=True, eq=False)
class Run:
    """Samples of a motion; channels are computed from them when asked for.

    time (n,) s; q (n, nq); v, a, tau (n, nv); x (n, nx) states of force elements (empty: at rest); modes (n, m) what
    joints with friction, stops and limits did (`core.simulation.run.mode_columns`; empty: there are none). At an
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies hold the samples; channels are computed anew."""
        return Run, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def model(self) -> Model:
        """The machine that moved."""
        return self.mech.model

    @property
    def complete(self) -> bool:
        """True if the run reached its end."""
        return not self.statistics.ended

    @property
    def notes(self) -> tuple[str, ...]:
        """What its reader should know of how it came about: that the machine proved stiff, that damping was added; once
        the balance of energy was asked for, also what its output step leaves open there."""
        known = self.__dict__.get("computed_channels")
        return *self.statistics.notes, *((known.balance_note,) if known is not None and known.balance_note else ())

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        end = f", ended early: {self.statistics.ended}" if self.statistics.ended else ""
        return f"Run({self.mech.name!r}, {self.settings.method}, {len(self)} samples{end})"

    @cached_property
    def computed_channels(self) -> Channels:
        """Its channels, each computed when it is asked for."""
        p = self.settings.values_of(self.mech.p_names)
        return Channels(self.mech, p, self)

    def __getitem__(self, channel: str) -> Array:
        return self.computed_channels[channel]

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of all channels; formulas of them are channels, too."""
        return self.computed_channels.names

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What happened where joints have friction, stops or limits, in order of time: (time, joint, what)."""
        from core.simulation.run.mode_channels import events_of

        return events_of(self.computed_channels.modes)

    def dimension(self, channel: str) -> str:
        """What the numbers of a channel, of one of its components, or of a formula measure ("angle", "force" …); "none"
        where its columns differ, and where it has no name."""
        return self.computed_channels.dimension(channel)

    def at(self, time: float) -> Array:
        """(nq,) the position at a time, between samples along the shortest path with loops closed."""
        from core.simulation.run.interpolation import between

        if not (isinstance(time, Real) and np.isfinite(time)):
            raise ModelError(f"{time!r} is not a finite number.", where="time", remedy="Give seconds.")
        return between(self, np.clip([float(time)], self.time[0], self.time[-1]))[0][0].copy()

    def states_at(self, time: float) -> Array:
        """(nx,) states of force elements at a time, between samples in proportion; empty if none were kept."""
        return np.array([np.interp(time, self.time, column) for column in self.x.T])

    def part(self, rows: slice) -> Run:
        """Some of its samples alone."""
        arrays = {name: array[rows] if len(array := getattr(self, name)) else array for name in SAMPLED}
        return replace(self, **arrays)

    def derivatives(self, output: str | Sequence[str], by: Sequence[str], at: Any = "end") -> Array:
        """(times, components, m) exact derivatives of channels, or of formulas of them, by parameters and start values.

        output : "tool.position", or several; by : names of parameters, and of start values "elbow.q", "elbow.v"; at :
        "end", a time or times, s

        They are those of the discrete solution: each step that the run took is differentiated. Positions at which it
        began follow parameters where `simulate` would begin elsewhere. Raises ModelError and SimulationError for what
        has no derivative, with the component and the time.
        """
        found: Array = _derivatives_of(self, output, by, at)
        return found

    def table(self, channels: Sequence[str] = ()) -> Iterator[tuple[str, Array]]:
        """(column name, (n,)) of channels (default: coordinates, speeds, accelerations, joint forces, energies)."""
        for name in channels or self.computed_channels.usual:
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
        """Write the run whole: .h5 (everything; can be loaded), .csv or .sim (SIMNON) with the channels given.

        progress : called with the part done, 0 … 1; if it raises, no file is written

        Raises FileError.
        """
        from core.simulation.run.run_file import save

        save(self, path_of(path), channels, progress)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Run:
        """A run from an HDF5 file, also from one whose program was killed while it was written.

        Raises FileError.
        """
        from core.simulation.run.run_file import load

        return load(path_of(path))

    def summary(self) -> dict[str, Any]:
        """Statistics as plain data."""
        return self.statistics._asdict()
