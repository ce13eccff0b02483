"""Elastic joint stops that are compressed at rest, with the stiffness they have in runs, and a description of exceeded
limits."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.failures import format_coordinate
from core.constraints.joint_modes import (
    NOWHERE,
    JointRow,
    JointRowTable,
    build_joint_row_table,
    design_impact_speed,
    dissipation_from_restitution,
    stiffness_per_inertia,
)
from core.constraints.joint_rows import JointRows, evaluate_joint_rows
from core.errors import join_words
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

MOST_DISSIPATION = 1e3
"""Largest dissipation of a Hunt–Crossley stop, as a multiple of 1/closing speed."""


class PressedStops(NamedTuple):
    """Elastic stops that are compressed at a pose.

    names : of their coordinates; rows : (n, nv) directions; side : (n,) 1 at upper limits, −1 at lower ones; depth,
    stiffness, damping : (n,) m or rad, N/m or N·m/rad, N·s/m or N·m·s/rad
    """

    names: tuple[str, ...]
    rows: Array
    side: Array
    depth: Array
    stiffness: Array
    damping: Array

    @property
    def forces(self) -> Array:
        """(n,) static forces along increasing coordinates, N or N·m."""
        return np.asarray(-self.side * self.stiffness * self.depth)

    def contact_forces(self, v: Array) -> Array:
        """(n,) forces at speeds v (nv,), damping included; a stop never pulls."""
        rates = self.side * (self.rows @ v)
        return np.asarray(-self.side * np.maximum(self.stiffness * self.depth + self.damping * rates, 0.0))

    @property
    def energy(self) -> float:
        """Elastic energy of the stops, J."""
        return float(0.5 * np.sum(self.stiffness * self.depth**2))


def has_elastic_stop(row: JointRow) -> bool:
    """Return True if the limits of a row are elastic stops."""
    return not row.rigid and bool(np.isfinite([row.lower, row.upper]).any())


def stop_dissipation(row: JointRow, machine_size: float) -> float:
    """Damping of a stop: N·m·s/rad or N·s/m if linear and given by the user, else the c of k p (1 + c ṗ) in s/rad or
    s/m."""
    if not row.hunt_crossley:
        return row.damping
    return min(dissipation_from_restitution(row.restitution), MOST_DISSIPATION) / design_impact_speed(row, machine_size)


def find_compressed_stops(rows: JointRows) -> list[tuple[int, int]]:
    """(row, side) of the elastic stops that a pose compresses."""
    return [
        (int(i), side)
        for side in (1, -1)
        for i in np.flatnonzero(rows.excess_beyond_limit(side) > 0.0)
        if has_elastic_stop(rows.rows[i])
    ]


def pressed_stop_springs(
    compiled: CompiledModel,
    modes: JointRowTable,
    joint_rows: JointRows,
    stops: list[tuple[int, int]],
    N: Array,
    q: Array,
    p: Array,
) -> PressedStops:
    """Spring data of the stops (row, side) in `stops` at a pose q with admissible motions N (nv, k)."""
    chosen = joint_rows.select([i for i, _ in stops])
    depth = np.array([joint_rows.excess_beyond_limit(side)[i] for i, side in stops], dtype=float)
    stiffness, damping = np.zeros(len(stops)), np.zeros(len(stops))
    if stops:
        compliance = inverse_inertias(chosen.W @ N, N.T @ compiled.mass_matrix(q, p) @ N)
        for j, row in enumerate(chosen.rows):
            inertia = 1.0 / compliance[j] if compliance[j] > 0.0 else 1.0
            stiffness[j] = row.stiffness or stiffness_per_inertia(row, modes.size) * inertia
            own = stop_dissipation(row, modes.size)
            derived = 2.0 * row.damping_ratio * np.sqrt(stiffness[j] * inertia)
            damping[j] = own * stiffness[j] * depth[j] if row.hunt_crossley else own + derived
    side = np.array([float(side) for _, side in stops])
    return PressedStops(tuple(row.name for row in chosen.rows), chosen.W, side, depth, stiffness, damping)


def inverse_inertias(W: Array, M: Array) -> Array:
    """(n,) inverse inertia along rows W (n, k) of a reduced mass matrix."""
    return np.asarray(np.einsum("ij,jk,ik->i", W, np.linalg.pinv(M, hermitian=True), W))


SMALL_PASSING = 1e-3
"""Distance (rad or m) beyond a limit that is attributed to the normal deflection of a stop."""


class BeyondLimitWarning(UserWarning):
    """Warning that a pose cannot be reached in a run because a joint is far beyond an elastic stop."""


class PassedLimit(NamedTuple):
    """A coordinate beyond one of its limits: the excess and the limit, rad or m, and True if a stop pushes back."""

    name: str
    dimension: str
    by: float
    limit: float
    elastic: bool

    @property
    def clause(self) -> str:
        """The excess as a clause."""
        return f"{self.name} is {format_coordinate(self.by, self.dimension)} beyond its limit {self._limit_text}"

    @property
    def _limit_text(self) -> str:
        return format_coordinate(self.limit, self.dimension)


def find_passed_limits(
    compiled: CompiledModel, q: Array, p: Values = None, threshold: float = SMALL_PASSING
) -> tuple[PassedLimit, ...]:
    """Coordinates that are beyond their limits by more than `threshold` at any of the poses (…, nq), each at its
    largest excess; loop-closing joints are included for a single pose only."""
    values = compiled.parameter_values(p)
    if values.ndim > 1:
        values = values.reshape(-1, values.shape[-1])[0]
    modes, found = build_joint_row_table(compiled, values), []
    measured: Array | None = None
    for k, row in enumerate(modes.rows):
        if row.at_q == NOWHERE and q.ndim == 1 and (row.lower > -np.inf or row.upper < np.inf):
            measured = evaluate_joint_rows(compiled, modes, q, values).value if measured is None else measured
            found += _limits_passed_by_row(row, np.asarray(measured[k]), threshold)
        elif row.at_q != NOWHERE:
            own = q[..., row.at_q]
            found += _limits_passed_by_row(
                row, row.ratio * (own.tolist() if q.ndim == 1 else own) + row.offset, threshold
            )
    return tuple(found)


def _limits_passed_by_row(row: JointRow, value: Array | float, threshold: float) -> list[PassedLimit]:
    most = value if isinstance(value, float) else float(np.max(value, initial=-np.inf))
    least = value if isinstance(value, float) else float(np.min(value, initial=np.inf))
    over, under = most - row.upper, row.lower - least
    return [
        PassedLimit(row.name, row.dimension, by, limit, has_elastic_stop(row))
        for by, limit in ((over, row.upper), (under, row.lower))
        if by > threshold
    ]


def passed_limits_text(passed: tuple[PassedLimit, ...]) -> str:
    """Sentence on the exceeded limits; '' if there are none."""
    if not passed:
        return ""
    pushing = [each.name for each in passed if each.elastic]
    text = join_words([each.clause for each in passed])
    if pushing:
        text += f": the elastic stop{'s' * (len(pushing) > 1)} of {join_words(pushing)} {_PUSH[len(pushing) > 1]}"
    return f"{text}."


_PUSH = ("pushes back, and its force is included", "push back, and their forces are included")


def warn_of_passed_limits(compiled: CompiledModel, q: Array, p: Values, stack_level: int = 4) -> None:
    """Warn of joints that are pressed farther into elastic stops than they would be in a run. stack_level : of the
    caller to whom the warning is attributed"""
    if words := passed_limits_text(tuple(each for each in find_passed_limits(compiled, q, p) if each.elastic)):
        warnings.warn(f"{words} Use passive=False to leave stops out.", BeyondLimitWarning, stacklevel=stack_level)
