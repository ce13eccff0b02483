"""Poses of machines with loops on one branch, computed from actuator coordinates, near known poses.

With G v = 0 and the actuators' speeds A v = u, rows of [G; A] that are independent at the first pose keep the sign of
their determinant as long as no singularity of the second type lies between: a pose with the other sign is on another
branch (C. Gosselin, J. Angeles, IEEE Trans. Robotics and Automation 6(3), 1990).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.spatial import cKDTree

from core.constraints.cut_coordinates import BEYOND, cut_limits, motion
from core.numerics.tolerances import RANK_TOLERANCE
from core.studies.workspace.joint_ranges import JointRanges
from core.studies.workspace.pose_solver import Machine, Targets, solve

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

FARTHEST = 8.0
"""Largest change of a coordinate (rad, or machine sizes) relative to that of the actuators; a larger one is a jump to
another branch or the end of this one."""
SMALLEST_STEP = 0.02
"""Change of actuators, rad or machine sizes, below which ratios are not computed."""


class Branch:
    """Branch of a machine with loops that contains a given pose."""

    def __init__(self, machine: Machine, ranges: JointRanges, start: Array) -> None:
        self.machine, self.ranges, self.start = machine, ranges, start
        self._limits = cut_limits(machine.mech.compiled)

    def at(self, values: Array, guess: Array) -> tuple[Array, Flags]:
        """Solve for poses with the varied coordinates at values (n, d), near poses (n, nq); return (poses (n, nq), mask
        of those on the branch and within all limits)."""
        machine, ranges = self.machine, self.ranges
        q = guess.copy()
        q[:, ranges.index] = values
        found = solve(machine, q, Targets(coordinates=(ranges.index, ranges.speed, values)), iterations=14, settle=0.0)
        good = found.met
        units = machine.units
        gone = np.abs(machine.mech.difference(guess, found.q)) / units
        asked = np.max(np.abs(values - guess[:, ranges.index]) / units[ranges.speed], axis=1, initial=0.0)
        good &= gone.max(axis=1) <= FARTHEST * np.maximum(asked, SMALLEST_STEP)
        if good.any():
            some = np.flatnonzero(good)
            good[some] = self.holds(found.q[some])
        return found.q, good

    def holds(self, q: Array) -> Flags:
        """Return a mask (n,) of closed poses that are on the branch and within the limits of loop-closing joints."""
        good = self._signs(q) == self._sign
        still = np.zeros((len(q), self.machine.mech.nv))
        for limit in self._limits:
            measured = motion(self.machine.mech.compiled, limit.joint, q, still, still, self.machine.p).q[..., limit.k]
            if limit.turns:
                measured = measured + 2.0 * np.pi * np.round((limit.base - measured) / (2.0 * np.pi))
            good &= (measured >= limit.lower - BEYOND) & (measured <= limit.upper + BEYOND)
        return good

    def spread_from(self, values: Array, known: Array | None = None) -> tuple[Array, Flags]:
        """Solve (poses (n, nq), found) for values (n, d) outward from the start pose: each from the nearest known pose,
        in waves that double in size, repeated until a wave finds no more."""
        n, units = len(values), self.machine.units[self.ranges.speed]
        q = np.tile(self.start, (n, 1))
        found = np.zeros(n, dtype=bool)
        places, poses = values / units, [self.start[None] if known is None else known]
        order = np.argsort(np.max(np.abs(places - self.start[self.ranges.index] / units), axis=1), kind="stable")
        first = 0
        left: list[NDArray[np.intp]] = []
        while first < n:
            wave = order[first : max(2 * first, 64)]
            first += len(wave)
            left.append(self._solve_wave(wave, places, values, q, found, poses))
        for _ in range(12):
            open_ = np.concatenate(left)
            left = [self._solve_wave(open_, places, values, q, found, poses)]
            if len(left[0]) > 0.98 * len(open_):
                break
        return q, found

    def _solve_wave(
        self, wave: NDArray[np.intp], places: Array, values: Array, q: Array, found: Flags, poses: list[Array]
    ) -> NDArray[np.intp]:
        """Solve some points from their nearest known poses; return the indices of those unsolved."""
        if not len(wave):
            return wave
        known = np.concatenate(poses)
        units = self.machine.units[self.ranges.speed]
        near = cKDTree(known[:, self.ranges.index] / units).query(places[wave])[1]
        q[wave], good = self.at(values[wave], known[near])
        found[wave] = good
        poses[:] = [known, q[wave[good]]]
        return wave[~good]

    # ------------------------------------------------------------------------------ the sign of a branch

    @cached_property
    def _independent_rows(self) -> NDArray[np.intp]:
        """Return nv linearly independent rows of [A; G] at the start pose, including all of A."""
        K = self._stacked_jacobian(self.start[None])[0]
        d = len(self.ranges.index)
        K[:d] *= 1e3  # pivoting takes them first
        _, R, pivots = qr(K.T, mode="economic", pivoting=True)
        size = np.abs(np.diagonal(R))
        rank = int(np.count_nonzero(size > RANK_TOLERANCE * size[0]))
        return np.sort(pivots[: min(rank, K.shape[1])])

    def _stacked_jacobian(self, q: Array) -> Array:
        """Return (n, d + rows, nv) [A; G] in machine units."""
        machine, speed = self.machine, self.ranges.speed
        picked = np.zeros((len(speed), machine.mech.nv))
        picked[np.arange(len(speed)), speed] = 1.0
        slopes = machine.gap_slopes(q) * machine.units
        return np.concatenate([np.broadcast_to(picked, (len(q), *picked.shape)), slopes], axis=1)

    def _signs(self, q: Array) -> Array:
        chosen = self._stacked_jacobian(q)[:, self._independent_rows]
        if chosen.shape[1] != chosen.shape[2]:
            return np.ones(len(q))
        return np.asarray(np.linalg.slogdet(chosen)[0])

    @cached_property
    def _sign(self) -> float:
        return float(self._signs(self.start[None])[0])
