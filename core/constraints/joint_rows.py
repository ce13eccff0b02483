"""Friction and stop rows (`core.constraints.joint_modes`) evaluated at a pose, with the bounds of their friction.

Friction levels may be formulas (brakes, clutches); negative or inconsistent values are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow, JointRowTable, build_joint_row_table, reference_angle
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.bounded_forces import group_norms
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


def evaluate_friction_levels(
    compiled: CompiledModel, rows: Sequence[JointRow], q: Array, v: Array | None, p: Values, t: float, x: Any
) -> tuple[JointRow, ...]:
    """Evaluate the friction formulas of joint rows at a state; return the rows with the resulting levels. Raises
    SimulationError if a level is invalid."""
    if all(row.controlled == NOWHERE for row in rows):
        return tuple(rows)
    speeds = np.zeros(compiled.nv) if v is None else v
    levels = compiled.call("friction_levels", q, speeds, p=p, t=t, x=x)
    return tuple(
        row if row.controlled == NOWHERE else _with_friction_levels(row, levels[row.controlled], t) for row in rows
    )


def _with_friction_levels(row: JointRow, levels: Array, t: float) -> JointRow:
    if not np.isfinite(levels).all():
        raise SimulationError(
            "The friction formula has no finite value here.",
            where=row.document_location,
            remedy="Give a formula that is finite at every state.",
        )
    if (error := invalid_friction_error(row, t, levels)) is not None:
        raise error
    kinetic, static, backward_kinetic, backward_static = map(float, levels)
    return replace(
        row, kinetic=kinetic, static=static, backward_kinetic=backward_kinetic, backward_static=backward_static
    )


def invalid_friction_error(row: JointRow, t: float, levels: Array) -> SimulationError | None:
    """Error for friction levels (4,) that are negative, or lower at rest than while sliding; None if they are valid."""
    kinetic, static = next(((k, s) for k, s in np.reshape(levels, (2, 2)) if k < 0.0 or s < k), (0.0, 0.0))
    if kinetic == static == 0.0:
        return None
    if kinetic < 0.0:
        what, remedy = f"friction is negative ({kinetic:.6g}).", "Limit its formula to nonnegative values: max(…, 0)."
    else:
        what = f"static friction ({static:.6g}) is less than kinetic friction ({kinetic:.6g})."
        remedy = "Make static friction at least as large as kinetic friction."
    error = SimulationError(f"At t = {t:.6g} s {what}", where=row.document_location, remedy=remedy)
    error.time = t
    return error


def first_invalid_friction_error(
    compiled: CompiledModel, rows: tuple[JointRow, ...], t: Array, q: Array, v: Array, x: Array, p: Array
) -> SimulationError | None:
    """Error for the first of the states (n, …) with invalid friction levels; None if all are valid."""
    controlled = [row for row in rows if row.controlled != NOWHERE]
    if not controlled:
        return None
    levels = compiled.call("friction_levels", q, v, p=p, t=t, x=x)
    for k, time in enumerate(t):
        for row in controlled:
            if (error := invalid_friction_error(row, float(time), levels[k, row.controlled])) is not None:
                return error
    return None


def find_undefined_friction(
    compiled: CompiledModel, rows: tuple[JointRow, ...], t: float, state: Array, p: Array
) -> str:
    """Find the element whose friction formula is not finite at a state or just after it; empty if there is none."""
    q, v, x = np.split(state, [compiled.nq, compiled.nq + compiled.nv])
    for row in rows:
        if row.controlled != NOWHERE:
            ahead = (compiled.call("friction_levels", q, v, p=p, t=t + step, x=x) for step in (0.0, 1e-9, 1e-3))
            if not all(np.isfinite(each[row.controlled]).all() for each in ahead):
                return row.document_location
    return ""


MOST_DENSE = 150
"""Number of speeds up to which equations with the mass matrix are solved with dense matrices."""


class JointRows(NamedTuple):
    """Friction and stop rows at a pose.

    rows : what acts along each; W : (n, nv) with their speeds W v; value : (n,) their coordinates, rad or m (0 where a
    joint has none)
    """

    rows: tuple[JointRow, ...]
    W: Array
    value: Array

    def select(self, selection: NDArray[np.bool_] | list[int]) -> JointRows:
        """The rows selected by a mask or by indices."""
        indices = np.arange(len(self.rows))[
            np.asarray(selection, dtype=bool if np.asarray(selection).dtype == bool else int)
        ]
        return JointRows(tuple(self.rows[i] for i in indices), self.W[indices], self.value[indices])

    @property
    def vector_group_sizes(self) -> NDArray[np.int64]:
        """(n,) number of consecutive rows that share one vector friction law; 0 for all but the first of them."""
        return np.array([row.shares for row in self.rows], dtype=np.int64)

    def row_magnitudes(self, x: Array) -> Array:
        """(n,) magnitudes of numbers x (n,) along rows; rows that share vector friction all get the length of their
        vector."""
        return group_norms(x, self.vector_group_sizes)

    def sliding_friction(self, rates: Array) -> Array:
        """(n,) sliding friction of rows with speeds (n,); 0 for rows at rest."""
        speeds = self.row_magnitudes(rates)
        alone = [
            row.sliding_friction(float(rate)) if row.shares == 1 else row.sliding_friction(float(speed))
            for row, rate, speed in zip(self.rows, rates, speeds, strict=True)
        ]
        direction = np.divide(
            rates, speeds, out=np.ones(len(rates)), where=(self.vector_group_sizes != 1) & (speeds > 0.0)
        )
        return np.asarray(np.array(alone, dtype=float) * direction)

    def breakaway_friction(self, accelerations: Array) -> Array:
        """(n,) friction of rows that start to slide with the given accelerations (n,)."""
        onward, backward = self.sliding_bounds
        speeds = self.row_magnitudes(accelerations)
        direction = np.divide(accelerations, speeds, out=np.zeros(len(accelerations)), where=speeds > 0.0)
        return np.asarray(np.where(direction > 0.0, onward, backward) * np.abs(direction))

    @property
    def friction_mask(self) -> NDArray[np.bool_]:
        """(n,) mask of rows with dry friction."""
        return np.array([row.has_friction_now for row in self.rows], dtype=bool)

    @property
    def static_bounds(self) -> tuple[Array, Array]:
        """(n,) smallest and largest static friction force, N·m or N, positive along increasing coordinates."""
        return _split_pairs([row.static_bounds for row in self.rows])

    @property
    def sliding_bounds(self) -> tuple[Array, Array]:
        """(n,) friction force at the onset of sliding in the positive and in the negative direction."""
        return _split_pairs([row.sliding_bounds for row in self.rows])

    def excess_beyond_limit(self, side: int) -> Array:
        """(n,) distance of each row beyond its upper (side 1) or lower (−1) limit; −∞ if there is no limit."""
        bounds = np.array([row.upper if side > 0 else row.lower for row in self.rows], dtype=float)
        return np.asarray(side * (self.value - bounds))


def _split_pairs(pairs: list[tuple[float, float]]) -> tuple[Array, Array]:
    first, second = np.array(pairs, dtype=float).reshape(-1, 2).T
    return first, second


def evaluate_joint_rows(
    compiled: CompiledModel,
    modes: JointRowTable,
    q: Array,
    p: Values = None,
    t: float = 0.0,
    v: Array | None = None,
    x: Any = None,
) -> JointRows:
    """Friction and stop rows at a pose (nq,), with friction formulas evaluated at time t, speeds v (nv,; default at
    rest) and force-element states x (nx,; default at rest). Raises SimulationError if a friction level is invalid."""
    rows = evaluate_friction_levels(compiled, modes.rows, q, v, p, t, x)
    W, value = np.zeros((len(rows), compiled.nv)), np.zeros(len(rows))
    for i, row in enumerate(rows):
        if row.at_v != NOWHERE:
            W[i, row.at_v] = row.ratio
            value[i] = row.ratio * q[row.at_q] + row.offset if row.at_q != NOWHERE else 0.0
    if modes.tree_row_count < len(rows):
        _measure_cut_rows(compiled, rows, q, p, W, value)
    return JointRows(rows, W, value)


def _measure_cut_rows(
    compiled: CompiledModel, rows: tuple[JointRow, ...], q: Array, p: Values, W: Array, value: Array
) -> None:
    """Enter W and value of the rows of loop-closing joints; angles are resolved to the turn nearest to their limits."""
    symbolic = compiled.program.symbolic
    pattern = symbolic.cut_expressions.pattern
    values, entries = compiled.call("cut_values", q, p=p), compiled.call("cut_entries", q, p=p)
    for i, row in enumerate(rows):
        if row.at_v == NOWHERE:
            k = cut_row_index(compiled, row)
            own = pattern.rows == k
            W[i, pattern.columns[own]] = entries[own]
            turns = round((reference_angle(row) - values[k]) / (2.0 * np.pi)) if row.turns else 0
            value[i] = values[k] + 2.0 * np.pi * turns


def row_biases(compiled: CompiledModel, rows: JointRows, q: Array, v: Array, p: Values = None) -> Array:
    """(n,) accelerations Ẇ v along the rows; zero for tree joints."""
    result = np.zeros(len(rows.rows))
    if v.any() and any(row.at_v == NOWHERE for row in rows.rows):
        drift = compiled.call("cut_drift", q, v, p=p)
        for i, row in enumerate(rows.rows):
            if row.at_v == NOWHERE:
                result[i] = drift[cut_row_index(compiled, row)]
    return result


def tree_inverse_inertias(compiled: CompiledModel, W: Array, q: Array, p: Values = None) -> Array:
    """(n,) inverse inertia along rows W (n, nv) of the open tree; 0 if masses are missing, and for deep trees. Closing
    the loops leaves either more than `DEAD_FRACTION` of it, or nothing."""
    if compiled.program.symbolic.segments is not None:  # of a deep machine M is not at hand
        return np.zeros(len(W))
    try:
        found = _solve_mass_matrix(compiled, W.T, q, p)
    except (RuntimeError, np.linalg.LinAlgError):  # singular
        return np.zeros(len(W))
    result = np.einsum("ij,ji->i", W, found)
    return np.where(np.isfinite(result), np.maximum(result, 0.0), 0.0)


def _solve_mass_matrix(compiled: CompiledModel, forces: Array, q: Array, p: Values) -> Array:
    """Return M⁻¹ times forces (nv, n); sparse matrices are used for large machines alone, since loading them takes
    0.3 s."""
    if compiled.nv <= MOST_DENSE:
        return np.asarray(np.linalg.solve(compiled.mass_matrix(q, p), forces))
    from scipy.sparse.linalg import splu

    return np.asarray(splu(compiled.mass_entries(q, p)).solve(forces))


def cut_row_index(compiled: CompiledModel, row: JointRow) -> int:
    """Index of a row among the coordinates of loop-closing joints and clutches."""
    table = compiled.program.symbolic.cut_coordinates
    return next(i for i, each in enumerate(table) if (each.owner, each.k) == (row.owner, row.k))


def friction_rows(compiled: CompiledModel, q: Array, p: Values = None, t: float = 0.0) -> JointRows:
    """Rows with dry friction."""
    rows = evaluate_joint_rows(compiled, build_joint_row_table(compiled, compiled.parameter_values(p)), q, p, t)
    return rows.select(rows.friction_mask)
