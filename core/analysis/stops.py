"""Limits of joints against which a machine rests: which hold, and with which force."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from core.analysis.closure_rank import Closure
from core.kernel import assembly

Array = NDArray[np.float64]

WITHIN = 1e-12
"""Way (rad or m) beyond a limit that counts as none."""


class Stop(NamedTuple):
    """One side of a coordinate's limits."""

    name: str
    q: int
    v: int
    value: float
    side: float
    """1: upper, −1: lower."""

    def beyond(self, q: Array) -> float:
        """How far a position is beyond it."""
        return float(self.side * (q[self.q] - self.value))


class Stops:
    """All limits of a machine's coordinates, and those that hold now."""

    def __init__(self, closure: Closure) -> None:
        self.closure = closure
        self.all = tuple(_stops(closure))
        self.held: list[Stop] = []

    def flags(self, *more: Stop) -> NDArray[np.bool_]:
        """(nv,) speeds that stand still."""
        flags = np.zeros(self.closure.mech.nv, dtype=bool)
        flags[[stop.v for stop in (*self.held, *more)]] = True
        return flags

    def motions(self, q: Array) -> Array:
        """(nv, k) free motions that leave no limit that holds."""
        N = self.closure.motions(q)
        if not self.held or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(N[[stop.v for stop in self.held]], rcond=1e-9))

    def rows(self) -> Array:
        """(held, nv) directions in which they push."""
        return np.eye(self.closure.mech.nv)[[stop.v for stop in self.held]]

    def reached(self, q: Array, trial: Array) -> Array | None:
        """The pose where a step from q to the trial comes to its first limit, which holds from there; the trial if it
        comes to none; None if the loops do not let it touch the limit (a shorter step then comes nearer)."""
        crossed = [stop for stop in self.all if stop not in self.held and stop.beyond(trial) > WITHIN]
        if not crossed:
            return trial
        shares = [min(1.0, max(0.0, -stop.beyond(q)) / (stop.beyond(trial) - min(stop.beyond(q), 0.0)))
                  for stop in crossed]  # fmt: skip
        first = crossed[int(np.argmin(shares))]
        near = self.closure.moved(q, self.closure.mech.difference(q, trial) * min(shares))
        near[first.q] = first.value
        closed, gap = self.closure.closed(near, self.flags(first))
        if gap >= assembly.ACCEPTABLE or any(s.beyond(closed) > WITHIN for s in self.all if s not in self.held):
            return None
        self.held.append(first)
        return closed

    def release(self, forces: Array, tolerance: float) -> bool:
        """Let go of the limit that would have to pull most; False if all push."""
        pull = [stop.side * force for stop, force in zip(self.held, forces, strict=True)]
        worst = int(np.argmax(pull)) if pull else -1
        if worst < 0 or pull[worst] <= tolerance:
            return False
        del self.held[worst]
        return True


def _stops(closure: Closure) -> list[Stop]:
    mech, result = closure.mech, []
    for coordinate in mech.coordinates:
        own = [c for c in mech.coordinates if c.joint == coordinate.joint]
        speeds = mech.joint_v(coordinate.joint)
        if len(own) != speeds.stop - speeds.start:
            continue  # quaternions have no limits
        v = speeds.start + own.index(coordinate)
        for bound, side in ((coordinate.lower, -1.0), (coordinate.upper, 1.0)):
            if bound is not None:
                result.append(Stop(coordinate.name, coordinate.index, v, float(bound), side))
    return result
