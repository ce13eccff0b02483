"""Where the rows of joints (`core.constraints.joint_modes`) stand at a pose, and what friction may carry in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.friction_formulas import with_levels
from core.constraints.joint_modes import NOWHERE, JointModes, JointRow, joint_modes, middle
from core.multibody.parameter_values import Values
from core.numerics.bounded_forces import sizes_of
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

AT_REST_SPEED = 1e-9
"""rad/s or m/s below which friction holds."""
DEAD_FRACTION = 1e-10
"""Part of 1/inertia along a row in the tree that loops leave of it, below which they alone decide how it moves."""
TOUCH_TOLERANCE = 1e-9
"""Way (rad or m) to a limit at which a coordinate stands there."""


class JointRows(NamedTuple):
    """Rows at a pose.

    rows : what acts along each; W : (n, nv) with their speeds W v; value : (n,) their coordinates, rad or m (0 where a
    joint has none)
    """

    rows: tuple[JointRow, ...]
    W: Array
    value: Array

    def chosen(self, which: NDArray[np.bool_] | list[int]) -> JointRows:
        """Some of them."""
        indices = np.arange(len(self.rows))[np.asarray(which, dtype=bool if np.asarray(which).dtype == bool else int)]
        return JointRows(tuple(self.rows[i] for i in indices), self.W[indices], self.value[indices])

    @property
    def shares(self) -> NDArray[np.int64]:
        """(n,) how many rows from each on have one friction, 0 behind the first of them."""
        return np.array([row.shares for row in self.rows], dtype=np.int64)

    def sizes(self, x: Array) -> Array:
        """(n,) of numbers x (n,) along rows: how large, of those with one friction all as a vector."""
        return sizes_of(x, self.shares)

    def sliding(self, rates: Array) -> Array:
        """(n,) friction along rows with these speeds (n,); of those that rest 0."""
        speeds = self.sizes(rates)
        alone = [
            row.sliding(float(rate)) if row.shares == 1 else row.sliding(float(speed))
            for row, rate, speed in zip(self.rows, rates, speeds, strict=True)
        ]
        direction = np.divide(rates, speeds, out=np.ones(len(rates)), where=(self.shares != 1) & (speeds > 0.0))
        return np.asarray(np.array(alone, dtype=float) * direction)

    def beginning(self, rates: Array) -> Array:
        """(n,) friction of rows that begin to slide with these accelerations (n,)."""
        onward, backward = self.sliding_bounds
        speeds = self.sizes(rates)
        direction = np.divide(rates, speeds, out=np.zeros(len(rates)), where=speeds > 0.0)
        return np.asarray(np.where(direction > 0.0, onward, backward) * np.abs(direction))

    @property
    def rubs(self) -> NDArray[np.bool_]:
        """(n,) which have dry friction."""
        return np.array([row.rubs_now for row in self.rows], dtype=bool)

    @property
    def static_bounds(self) -> tuple[Array, Array]:
        """(n,) least and largest force of friction at rest, N·m or N along growth."""
        return _pairs([row.static_bounds for row in self.rows])

    @property
    def sliding_bounds(self) -> tuple[Array, Array]:
        """(n,) force of friction that begins to slide onward, and backward."""
        return _pairs([row.sliding_bounds for row in self.rows])

    def beyond(self, side: int) -> Array:
        """(n,) how far each stands beyond its upper (side 1) or lower (−1) limit; −∞: it has none."""
        bounds = np.array([row.upper if side > 0 else row.lower for row in self.rows], dtype=float)
        return np.asarray(side * (self.value - bounds))


def _pairs(pairs: list[tuple[float, float]]) -> tuple[Array, Array]:
    first, second = np.array(pairs, dtype=float).reshape(-1, 2).T
    return first, second


def rows_at(
    compiled: Compiled,
    modes: JointModes,
    q: Array,
    p: Values = None,
    t: float = 0.0,
    v: Array | None = None,
    x: Any = None,
) -> JointRows:
    """The rows of a machine at a pose (nq,); friction that is a formula as it is at time t with speeds v (nv,), default
    at rest, and states x (nx,) of force elements, default at rest. Raises SimulationError where one has no meaning."""
    rows = with_levels(compiled, modes.rows, q, v, p, t, x)
    W, value = np.zeros((len(rows), compiled.nv)), np.zeros(len(rows))
    for i, row in enumerate(rows):
        if row.at_v != NOWHERE:
            W[i, row.at_v] = row.ratio
            value[i] = row.ratio * q[row.at_q] + row.offset if row.at_q != NOWHERE else 0.0
    if modes.own < len(rows):
        _measure(compiled, rows, q, p, W, value)
    return JointRows(rows, W, value)


def _measure(compiled: Compiled, rows: tuple[JointRow, ...], q: Array, p: Values, W: Array, value: Array) -> None:
    """Fill in rows of joints that close loops; angles known up to whole turns are those next to their limits."""
    tracer = compiled.program.tracer
    pattern = tracer.cut_expressions.pattern
    values, entries = compiled.call("cut_values", q, p=p), compiled.call("cut_entries", q, p=p)
    for i, row in enumerate(rows):
        if row.at_v == NOWHERE:
            k = cut_number(compiled, row)
            own = pattern.rows == k
            W[i, pattern.columns[own]] = entries[own]
            turns = round((middle(row) - values[k]) / (2.0 * np.pi)) if row.turns else 0
            value[i] = values[k] + 2.0 * np.pi * turns


def biases_at(compiled: Compiled, at: JointRows, q: Array, v: Array, p: Values = None) -> Array:
    """(n,) Ẇ v; of joints of the tree none."""
    result = np.zeros(len(at.rows))
    if v.any() and any(row.at_v == NOWHERE for row in at.rows):
        drift = compiled.call("cut_drift", q, v, p=p)
        for i, row in enumerate(at.rows):
            if row.at_v == NOWHERE:
                result[i] = drift[cut_number(compiled, row)]
    return result


def compliances_of_tree(compiled: Compiled, W: Array, q: Array, p: Values = None) -> Array:
    """(n,) 1/inertia along rows W (n, nv) if nothing but the joints of the tree held; 0 where masses are missing,
    and of deep machines. Loops leave more of it than `DEAD_FRACTION`, or nothing."""
    import scipy.sparse
    from scipy.sparse.linalg import splu

    if compiled.program.tracer.segments is not None:  # of a deep machine M is not at hand
        return np.zeros(len(W))
    M = scipy.sparse.csc_array(compiled.mass_entries(q, p))
    try:
        found = splu(M).solve(W.T)
    except RuntimeError:  # singular
        return np.zeros(len(W))
    result = np.einsum("ij,ji->i", W, found)
    return np.where(np.isfinite(result), np.maximum(result, 0.0), 0.0)


def cut_number(compiled: Compiled, row: JointRow) -> int:
    """Which of the coordinates of joints that close loops, and of clutches, a row is."""
    table = compiled.program.tracer.cut_coordinates
    return next(i for i, each in enumerate(table) if (each.owner, each.k) == (row.owner, row.k))


def rubbing_rows(compiled: Compiled, q: Array, p: Values = None, t: float = 0.0) -> JointRows:
    """Those of joints with dry friction."""
    rows = rows_at(compiled, joint_modes(compiled, compiled.parameter_values(p)), q, p, t)
    return rows.chosen(rows.rubs)
