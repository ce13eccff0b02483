"""Run of a study's row in the form that measures need; further quantities are computed from its samples when they are
requested. Measures of the final state alone, such as `at(tool.position.x, end)`, are evaluated for many rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import JointRowTable
from core.mechanism import Mechanism
from core.model.formula.expression import Call, Name
from core.simulation.measures.reductions import END
from core.simulation.measures.run_measures import Measure
from core.simulation.run.channels import Channels
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]

QUANTITIES = ("position", "velocity", "omega")
"""Quantities of frames that follow from position and speeds alone."""


class RowSamples:
    """Samples of a run, some of which are computed on first use (`core.simulation.run.channels.Samples`)."""

    def __init__(self) -> None:
        self._kept: dict[str, Array] = {}
        self._further: Callable[[], Mapping[str, Array]] = dict
        self._rows: slice | None = None

    def begin(
        self, arrays: Mapping[str, Array], compute_derived: Callable[[], Mapping[str, Array]], rows: slice | None = None
    ) -> None:
        """Replace the samples by those of another run. arrays : by name; rows : selection of samples. Further arrays
        are computed by the given function when they are needed."""
        self._kept = {name: self._select_rows(array, rows) for name, array in arrays.items()}
        self._further, self._rows = compute_derived, rows

    def _select_rows(self, array: Array, rows: slice | None) -> Array:
        return array if rows is None or not len(array) else array[rows]

    def _load_array(self, name: str) -> Array:
        if name not in self._kept:
            for key, array in self._further().items():
                self._kept[key] = self._select_rows(array, self._rows)
        array = self._kept[name]
        if not array.flags.c_contiguous:
            array = self._kept[name] = np.ascontiguousarray(array)
        return array

    @property
    def time(self) -> Array:
        """Times (n,), s."""
        return self._load_array("time")

    @property
    def q(self) -> Array:
        """Positions (n, nq)."""
        return self._load_array("q")

    @property
    def v(self) -> Array:
        """Speeds (n, nv)."""
        return self._load_array("v")

    @property
    def a(self) -> Array:
        """Accelerations (n, nv)."""
        return self._load_array("a")

    @property
    def tau(self) -> Array:
        """Joint forces (n, nv)."""
        return self._load_array("tau")

    @property
    def x(self) -> Array:
        """States (n, nx) of force elements."""
        return self._load_array("x")

    @property
    def modes(self) -> Array:
        """Friction and contact states (n, m)."""
        return self._load_array("modes")


class LastRun:
    """Samples of the last run, as a whole and in parts, with channels that are created once and reused."""

    def __init__(self, mech: Mechanism, modes: JointRowTable) -> None:
        self._mech, self._modes = mech, modes
        self._made: list[tuple[RowSamples, Channels]] = []
        self._used = 0
        self._p: Array = np.zeros(0)
        self._arrays: Mapping[str, Array] = {}
        self._further: Callable[[], Mapping[str, Array]] = dict
        self._columns = _coordinate_columns(mech)
        self._plain: dict[str, Array] = {}

    @property
    def parameters(self) -> Array:
        """Parameter values of the run."""
        return self._p

    @property
    def time(self) -> Array:
        """Times (n,), s."""
        return self._arrays["time"]

    @property
    def end(self) -> tuple[Array, Array]:
        """Positions q and speeds v of the last sample."""
        return self._arrays["q"][-1], self._arrays["v"][-1]

    def coordinate_samples(self, channel: str) -> Array | None:
        """Return the samples of a coordinate or speed; None for any other channel."""
        if channel not in self._columns:
            return None
        if channel not in self._plain:
            what, k = self._columns[channel]
            column = 1.0 * self._arrays[what][:, k]  # as channels have it: ratio 1, offset 0
            self._plain[channel] = column + 0.0 if what == "q" else column
        return self._plain[channel]

    def set_parameters(self, p: Array, modes: JointRowTable | None) -> None:
        """Set the parameters of the next run. modes : its friction and contact rows, if their values differ"""
        self._p, self._modes = p, modes or self._modes

    def begin(
        self, time: Array, arrays: Mapping[str, Array], compute_derived: Callable[[], Mapping[str, Array]]
    ) -> LastRun:
        """Replace the samples by those of another run."""
        self._arrays, self._further, self._used = {"time": time, **arrays}, compute_derived, 0
        self._plain.clear()
        return self

    def part(self, rows: slice | None) -> tuple[RowSamples, Channels]:
        """Return some of the samples with their channels; None: all of them."""
        if self._used == len(self._made):
            samples = RowSamples()
            samples.begin(self._arrays, self._further, rows)
            self._made.append((samples, Channels(self._mech, self._p, samples)))
        samples, channels = self._made[self._used]
        self._used += 1
        samples.begin(self._arrays, self._further, rows)
        channels.replace_samples(self._p, self._modes)
        return samples, channels


class RowRun:
    """Run of a row, or some of its samples, in the form that `core.simulation.measures` expects; valid until the next
    run starts."""

    def __init__(self, last_run: LastRun, settings: Settings, rows: slice | None = None) -> None:
        self.settings, self._left, self._rows = settings, last_run, rows

    @cached_property
    def _selected_samples(self) -> tuple[RowSamples, Channels]:
        return self._left.part(self._rows)

    @property
    def _channels(self) -> Channels:
        return self._selected_samples[1]

    @cached_property
    def time(self) -> Array:
        """Times (n,), s."""
        time = self._left.time
        return time if self._rows is None else time[self._rows]

    @property
    def end(self) -> tuple[Array, Array, Array]:
        """Positions q and speeds v of the last sample, and the parameters."""
        return (*self._left.end, self._left.parameters)

    def __getitem__(self, channel: str) -> Array:
        found = self._left.coordinate_samples(channel)
        if found is None:
            return self._channels[channel]
        return found if self._rows is None else found[self._rows]

    def part(self, rows: slice) -> RowRun:
        """Return the run restricted to some of its samples."""
        return RowRun(self._left, self.settings, rows)


def _coordinate_columns(mech: Mechanism) -> dict[str, tuple[str, int]]:
    """Map channels of coordinates and speeds of independent tree joints to (array, column)."""
    coordinates = mech.compiled.coordinates
    leading = {name for name in coordinates.joints if coordinates.coupling(name)[0] == name}
    found: dict[str, tuple[str, int]] = {}
    for what, names in (("q", mech.q_names), ("v", mech.v_names)):
        found |= {f"{name}.{what}": (what, k) for k, name in enumerate(names) if name in leading}
    return found


class _FinalQuantity(NamedTuple):
    """Requested quantity of the final state. column : of the results; frame, quantity, component : what is
    requested."""

    column: int
    frame: str
    quantity: str
    component: int


class FinalStateMeasures:
    """Measures that depend only on the final state, in the order of the results."""

    def __init__(self, mech: Mechanism, measures: Mapping[str, Measure]) -> None:
        self._mech = mech
        found = [_final_quantity(mech, k, each) for k, each in enumerate(measures.values())]
        self._final_quantity = [each for each in found if each is not None]
        self.others = {name: each for (name, each), asked in zip(measures.items(), found, strict=True) if asked is None}
        """The measures that are left."""
        self._columns = [k for k, asked in enumerate(found) if asked is None]
        self._count = len(found)
        self._ends: list[tuple[int, Array, Array, Array]] = []

    def begin(self) -> None:
        """Start a new set of rows."""
        self._ends.clear()

    def evaluate_row(self, row: int, q: Array, v: Array, p: Array, other_measures: Mapping[str, float]) -> list[float]:
        """Return the recorded numbers of a row that ended at q, v with parameters p; deferred numbers are 0 until they
        are filled in."""
        if self._final_quantity:
            self._ends.append((row, q.copy(), v.copy(), p))
        found = [0.0] * self._count
        for column, value in zip(self._columns, other_measures.values(), strict=True):
            found[column] = value
        return found

    def fill_deferred(self, results: Array) -> None:
        """Write the deferred numbers into the results (n, columns)."""
        if not self._ends:
            return
        rows = np.array([end[0] for end in self._ends])
        q, v, p = (np.array([end[k] for end in self._ends]) for k in (1, 2, 3))
        known: dict[tuple[str, bool], Array] = {}
        for asked in self._final_quantity:
            key = asked.frame, asked.quantity == "position"
            if key not in known:
                known[key] = (
                    self._mech.frame(q, asked.frame, p=p)[:, :3, 3]
                    if key[1]
                    else self._mech.frame_velocity(q, v, asked.frame, p=p)
                )
            first = 3 if asked.quantity == "velocity" else 0
            results[rows, asked.column] = known[key][:, first + asked.component]


def _final_quantity(mech: Mechanism, column: int, measure: Measure) -> _FinalQuantity | None:
    match measure.node:
        case Call("at", (Name(name), Name("end"))) if END not in measure.parameters:
            owner, _, part = name.rpartition(".")
            frame, _, quantity = owner.rpartition(".")
            if quantity in QUANTITIES and part in tuple("xyz") and frame in mech.frame_names:
                return _FinalQuantity(column, frame, quantity, "xyz".index(part))
    return None
