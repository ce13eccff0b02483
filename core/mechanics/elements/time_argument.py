"""Time argument of symbolic functions: t; value, rate and second rate of every recorded signal at t; mode variables.

Recorded signals (tables and files of drivers) are splines through their points; before the first and after the last
point they are held. They are evaluated outside the trace, so that tables cost a trace nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.elements.recorded_signals import read_driver_columns
from core.mechanics.elements.turn_counters import names_in_force_formulas
from core.mechanics.multibody.number_reader import Numbers
from core.model import Driver, Model
from core.model.constraints import NOT_A_KNOT

Array = NDArray[np.float64]
DEGREE = 5
"""Highest degree of a spline."""
PLANNER = "core.motions.references"
"""Module that plans the motions that controllers follow; a room above this one."""


class Splines(NamedTuple):
    """Piecewise polynomials of all signals, concatenated."""

    first: NDArray[np.int64]
    """(n + 1,) index of each signal's first point, and the number of points."""
    times: Array
    """(points,) times, s."""
    coefficients: Array
    """(points, 6) of (t − t_k)⁵ … 1 after each point; the last row of a signal holds its end value."""
    modes: int = 0
    """Number of mode variables (`core.mechanics.elements.mode_variables`), zeros after the signals."""


class Recorded(NamedTuple):
    """A recorded signal: times (n,), values (n,), and how values between are found, as `Driver.interpolation`."""

    times: Array
    values: Array
    interpolation: str = NOT_A_KNOT


def build_splines(tables: Sequence[Recorded], modes: int = 0) -> Splines:
    """Return the splines of recorded signals."""
    first, times, rows = [0], [np.zeros(0)], [np.zeros((0, DEGREE + 1))]
    for table in tables:
        first.append(first[-1] + len(table.times))
        times.append(table.times)
        coefficients = np.zeros((len(table.times), DEGREE + 1))
        if len(table.times) > 1:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                try:
                    coefficients[:-1] = _polynomials(table)
                except (ValueError, np.linalg.LinAlgError):  # its slopes are beyond the range of numbers
                    coefficients[0, 0] = np.inf
            if not np.isfinite(coefficients).all():
                raise ModelError(
                    "The table cannot be interpolated: its times or values differ by too many orders of magnitude.",
                    where="drivers",
                    remedy="Correct the times and values of the table.",
                )
        coefficients[-1, -1] = table.values[-1]
        rows.append(coefficients)
    return Splines(np.array(first, dtype=np.int64), np.concatenate(times), np.concatenate(rows), modes)


def _polynomials(table: Recorded) -> Array:
    """Return the coefficients (n - 1, 6) between the points of a table, highest power first."""
    from scipy.interpolate import CubicSpline, make_interp_spline

    t, y, kind = table
    found = np.zeros((len(t) - 1, DEGREE + 1))
    if kind == "linear":
        found[:, -2], found[:, -1] = np.diff(y) / np.diff(t), y[:-1]
    elif kind == "quintic":
        rest = [(1, 0.0), (2, 0.0)]
        spline = make_interp_spline(t, y, k=DEGREE, bc_type=(rest, rest))
        for power in range(DEGREE + 1):
            found[:, DEGREE - power] = spline(t[:-1], nu=power) / math.factorial(power)
    else:
        found[:, -4:] = np.asarray(CubicSpline(t, y, bc_type=kind).c).T
    return found


@dataclass(frozen=True)
class Clock:
    """Layout of the time argument: the drivers with tables or files, and the number of mode variables."""

    drivers: tuple[Driver, ...]
    """Drivers with tables or files, in the order of their signals."""
    timed: bool
    """False if nothing in the machine depends on time."""
    origin: str = ""
    dimensions: tuple[str, ...] = ()
    """Dimension of each driver's function, "" if it is unknown."""
    modes: int = 0
    """Number of mode variables (`core.mechanics.elements.mode_variables`)."""
    motions: tuple[str, ...] = ()
    """Coordinates of motions that formulas use (`pick.elbow`), whose signals follow those of drivers."""

    @property
    def size(self) -> int:
        """Return the length of the time argument: 0, or 1 + 3 · recorded signals + modes."""
        return 1 + 3 * len(self.drivers) + 3 * len(self.motions) + self.modes if self.timed or self.modes else 0

    def index(self, driver: str) -> int:
        """Return the index of a driver's signal in the time argument."""
        return 1 + 3 * [d.name for d in self.drivers].index(driver)

    def splines(self, values: Mapping[str, Any], model: Model | None = None) -> Splines:
        """Return the splines at parameter values; model : the one whose motions are followed. Raises ModelError for an
        unusable table or an impossible motion, FileError for a file."""
        dimensions = self.dimensions or ("",) * len(self.drivers)
        tables = [
            Recorded(*self._read_table(driver, dimension, values), driver.interpolation)
            for driver, dimension in zip(self.drivers, dimensions, strict=True)
        ]
        made = build_splines(tables, self.modes)
        if not self.motions:
            return made
        assert model is not None
        plan: Callable[..., list[tuple[Array, Array]]] = import_module(PLANNER).reference_splines
        return append_splines(made, plan(model, values, self.motions))

    def _read_table(self, driver: Driver, dimension: str, values: Mapping[str, Any]) -> tuple[Array, Array]:
        where = f"driver '{driver.name}'"
        if driver.file:
            t, y = read_driver_columns(driver, self.origin, dimension)
        else:
            read = Numbers(values).scalar
            t, y = (
                np.array([read(x, f"{where}, {field}") for x in getattr(driver, field)], dtype=float)
                for field in ("times", "values")
            )
        if not len(t) or not (np.isfinite(t).all() and np.isfinite(y).all()):
            raise ModelError(
                "The table is empty or contains numbers that are not finite.",
                where=f"{where}, values",
                remedy="Enter at least one time with a finite value.",
            )
        if np.any(np.diff(t) <= 0.0):
            at = int(np.argmin(np.diff(t)))
            raise ModelError(
                f"The times do not increase after {t[at]:.6g} s.",
                where=f"{where}, times",
                remedy="Sort the times and remove duplicates.",
            )
        return t, y


def append_splines(before: Splines, pieces: Sequence[tuple[Array, Array]]) -> Splines:
    """Return splines with further signals, each (times, coefficients (n, 4) of cubics)."""
    raised = [np.pad(rows, ((0, 0), (DEGREE + 1 - rows.shape[1], 0))) for _, rows in pieces]
    sizes = np.cumsum([len(times) for times, _ in pieces]) + before.first[-1]
    return before._replace(
        first=np.concatenate([before.first, sizes]).astype(np.int64),
        times=np.concatenate([before.times, *(times for times, _ in pieces)]),
        coefficients=np.concatenate([before.coefficients, *raised]),
    )


def recorded_drivers(model: Model) -> tuple[Driver, ...]:
    """Return the drivers with tables or files, in the order of their signals."""
    return tuple(driver for driver in model.drivers if driver.times or driver.file)


def followed_coordinates(model: Model) -> tuple[str, ...]:
    """Return the coordinates of motions that formulas of forces and signals use, as motion.coordinate."""
    if not model.motions:
        return ()
    heads = {motion.name for motion in model.motions}
    used = names_in_force_formulas(model)
    found = {name.rpartition(".")[0] for name in used if name.endswith((".q", ".v", ".a"))}
    return tuple(sorted(name for name in found if "." in name and name.partition(".")[0] in heads))


def check_times(t: Any) -> Array:
    """Return times as an array. Raises ModelError unless all are finite numbers."""
    if isinstance(t, str | bool) or t is None:
        found = np.array(np.nan)
    else:
        try:
            found = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            found = np.array(np.nan)
    if not np.isfinite(found).all():
        raise ModelError(f"{t!r} is not a finite time.", where="t", remedy="Give a time in seconds.")
    return found


def _factors(order: int) -> list[float]:
    """Return the factors of the coefficients, by power, in a derivative of a polynomial."""
    return [float(math.perm(power, order)) for power in range(DEGREE + 1)]


def _evaluate(c: Sequence[Array], h: Array) -> Array:
    """Return Σ c_k h^k."""
    total = c[-1]
    for each in reversed(c[:-1]):
        total = each + h * total
    return total


def evaluate_time_argument(splines: Splines, t: Any) -> Array:
    """Return the time argument (…, 1 + 3 n + modes) at times t. Raises ModelError unless all are finite numbers."""
    t = check_times(t)
    parts = [t]
    for begin, end in zip(splines.first[:-1], splines.first[1:], strict=True):
        times, rows = splines.times[begin:end], splines.coefficients[begin:end]
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1)
        inside = (t >= times[0]) & (t < times[-1])
        h = np.where(inside, t - times[k], 0.0)
        c = np.moveaxis(rows[k], -1, 0)[::-1]
        value, rate, bend = (
            _evaluate([factor * c[power] for power, factor in enumerate(_factors(order)) if factor], h)
            for order in range(3)
        )
        parts += [value, np.where(inside, rate, 0.0), np.where(inside, bend, 0.0)]
    return np.stack([*parts, *[np.zeros_like(t)] * splines.modes], axis=-1)


def build_clock(model: Model, names: set[str], modes: int = 0) -> Clock:
    """Return the clock of an expanded model; `names`: names used by its force formulas; `modes`: number of their mode
    variables."""
    motions = followed_coordinates(model)
    timed = bool(model.drivers) or bool(motions) or bool(names & {"t", "time"})
    recorded = recorded_drivers(model)
    dimensions = tuple(driver.given_dimension(model) for driver in recorded)
    return Clock(recorded, timed, model.origin, dimensions, modes, motions)
