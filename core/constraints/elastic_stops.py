"""Elastic joint stops at rest: springs beyond the joint limits, with the stiffness they have in runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import (
    JointModes,
    JointRow,
    closing_speed,
    dissipation_from_restitution,
    stiffness_per_inertia,
)
from core.constraints.joint_rows import JointRows
from core.programs.compiled import Compiled

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

    def pushes(self, v: Array) -> Array:
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


def dissipation(row: JointRow, size: float) -> float:
    """Damping of a stop: N·m·s/rad or N·s/m if linear and given by the user, else the c of k p (1 + c ṗ) in s/rad or
    s/m."""
    if not row.hunt_crossley:
        return row.damping
    return min(dissipation_from_restitution(row.restitution), MOST_DISSIPATION) / closing_speed(row, size)


def compressed_stops(at: JointRows) -> list[tuple[int, int]]:
    """(row, side) of the elastic stops that a pose compresses."""
    return [
        (int(i), side)
        for side in (1, -1)
        for i in np.flatnonzero(at.beyond(side) > 0.0)
        if has_elastic_stop(at.rows[i])
    ]


def pressed(
    compiled: Compiled, modes: JointModes, at: JointRows, met: list[tuple[int, int]], N: Array, q: Array, p: Array
) -> PressedStops:
    """Spring data of stops (row, side) at a pose q with admissible motions N (nv, k)."""
    chosen = at.chosen([i for i, _ in met])
    depth = np.array([at.beyond(side)[i] for i, side in met], dtype=float)
    stiffness, damping = np.zeros(len(met)), np.zeros(len(met))
    if met:
        compliance = compliances(chosen.W @ N, N.T @ compiled.mass_matrix(q, p) @ N)
        for j, row in enumerate(chosen.rows):
            inertia = 1.0 / compliance[j] if compliance[j] > 0.0 else 1.0
            stiffness[j] = row.stiffness or stiffness_per_inertia(row, modes.size) * inertia
            own = dissipation(row, modes.size)
            derived = 2.0 * row.damping_ratio * np.sqrt(stiffness[j] * inertia)
            damping[j] = own * stiffness[j] * depth[j] if row.hunt_crossley else own + derived
    side = np.array([float(side) for _, side in met])
    return PressedStops(tuple(row.name for row in chosen.rows), chosen.W, side, depth, stiffness, damping)


def compliances(W: Array, M: Array) -> Array:
    """(n,) inverse inertia along rows W (n, k) of a reduced mass matrix."""
    return np.asarray(np.einsum("ij,jk,ik->i", W, np.linalg.pinv(M, hermitian=True), W))
