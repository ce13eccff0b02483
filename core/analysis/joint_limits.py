"""Active joint limits of a machine at rest, and their forces.

Limits of tree joints hold an entry of q still; those of joints that close loops hold what is measured between frames.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import CutLimit, cut_limits
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, stacked
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE

Array = NDArray[np.float64]

WITHIN = 1e-12
"""Distance (rad or m) beyond a limit that still counts as inside."""
WITHIN_CUT = 1e-9
"""Distance (rad or m) beyond a limit of a loop-closing joint, whose coordinate is measured, that still counts as
inside."""
STEP = 1e-5
"""Displacement (rad or machine sizes) of finite differences for the curvature of a measured coordinate."""


class ActiveLimit(NamedTuple):
    """Upper or lower limit of one coordinate."""

    name: str
    q: int
    """Index in q; −1 for a loop-closing joint."""
    v: int
    value: float
    side: float
    """1 for an upper limit, −1 for a lower one."""
    cut: CutLimit | None = None
    slides: bool = False
    """True if it limits a length."""


class ActiveLimits:
    """All limits of a machine's coordinates, and the active set."""

    def __init__(self, constraints: PositionConstraints) -> None:
        self.constraints = constraints
        self.all = tuple(_all_limits(constraints))
        self.active: list[ActiveLimit] = []
        self._near: dict[str, float] = {}

    def passed(self, q: Array) -> None:
        """Use this pose as the reference from which angles of loop-closing joints are counted."""
        self._near = {limit.name: self._coordinate_value(limit, q) for limit in self.all if limit.cut is not None}

    def _coordinate_value(self, limit: ActiveLimit, q: Array) -> float:
        if limit.cut is None:
            return float(q[limit.q])
        return limit.cut.value(self.constraints.compiled, q, self.constraints.p, self._near.get(limit.name))

    def beyond(self, limit: ActiveLimit, q: Array) -> float:
        """Signed distance of a pose beyond a limit."""
        return limit.side * (self._coordinate_value(limit, q) - limit.value)

    def motions(self, q: Array) -> Array:
        """(nv, k) free motions along the active limits."""
        import scipy.linalg

        N = self.constraints.motions(q)
        if not self.active or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(self.rows(q) @ N, rcond=RANK_TOLERANCE))

    def rows(self, q: Array) -> Array:
        """(active, nv) directions in which the active limits push."""
        constraints, unit = self.constraints, np.eye(self.constraints.compiled.nv)
        rows = [unit[s.v] if s.cut is None else s.cut.row(constraints.compiled, q, constraints.p) for s in self.active]
        return np.array(rows).reshape(-1, constraints.compiled.nv)

    def bending(self, q: Array, N: Array, forces: Array) -> Array:
        """(k, k) geometric stiffness along N of active-limit forces, due to their changing directions."""
        constraints = self.constraints
        result = np.zeros((N.shape[1], N.shape[1]))
        if any(limit.cut is not None for limit in self.active):
            for j, displacement in enumerate(N.T):
                step = STEP / max(float(np.linalg.norm(displacement / constraints.units)), 1e-300)
                ahead, behind = (
                    forces @ self.rows(constraints.moved(q, sign * step * displacement)) for sign in (1.0, -1.0)
                )
                result[:, j] = N.T @ (ahead - behind) / (2.0 * step)
        return result

    def closed(self, q: Array, *more: ActiveLimit) -> tuple[Array, float]:
        """Closed pose nearest to q on the active limits (and more), and the remaining gap."""
        constraints, held = self.constraints, (*self.active, *more)
        still = np.zeros(constraints.compiled.nv, dtype=bool)
        still[[limit.v for limit in held if limit.cut is None]] = True
        cuts = [(limit, limit.cut) for limit in held if limit.cut is not None]
        if not cuts:
            return constraints.closed(q, still)

        def residual(q: Array) -> Array:
            gaps = [self._coordinate_value(limit, q) - limit.value for limit, _ in cuts]
            return np.concatenate([constraints.problem.residual(q), gaps])

        def jacobian(q: Array) -> Matrix:
            rows = [limit.row(constraints.compiled, q, constraints.p) for _, limit in cuts]
            return stacked(constraints.problem.jacobian(q), np.reshape(rows, (-1, constraints.compiled.nv)))

        problem = constraints.problem._replace(residual=residual, jacobian=jacobian)
        return position_solver.close(problem, q, 1.0 / constraints.units, still)

    def reached(self, q: Array, trial: Array) -> Array | None:
        """Pose at which a step from q towards the trial pose meets its first limit, which becomes active; the trial
        pose if no limit is met; None if the loops do not close exactly on the limit (then try a shorter step)."""
        crossed = [limit for limit in self.all if limit not in self.active and self._is_outside(limit, trial)]
        if not crossed:
            return trial
        shares = []
        for limit in crossed:
            before, after = self.beyond(limit, q), self.beyond(limit, trial)
            shares.append(min(1.0, max(0.0, -before) / (after - min(before, 0.0))))
        first = crossed[int(np.argmin(shares))]
        near = self.constraints.moved(q, self.constraints.compiled.coordinates.difference(q, trial) * min(shares))
        if first.cut is None:
            near[first.q] = first.value
        closed, gap = self.closed(near, first)
        if gap >= ACCEPTED_GAP or any(self._is_outside(s, closed) for s in self.all if s not in (*self.active, first)):
            return None
        self.active.append(first)
        return closed

    def _is_outside(self, limit: ActiveLimit, q: Array) -> bool:
        return self.beyond(limit, q) > (WITHIN if limit.cut is None else WITHIN_CUT)

    def release(self, forces: Array, tolerance: float) -> bool:
        """Remove the limit that would need the largest tensile force from the active set; False if all push."""
        pull = [limit.side * force for limit, force in zip(self.active, forces, strict=True)]
        worst = int(np.argmax(pull)) if pull else -1
        if worst < 0 or pull[worst] <= tolerance:
            return False
        del self.active[worst]
        return True

    def leave(self, limit: ActiveLimit) -> None:
        """Remove a limit for good."""
        self.active.remove(limit)
        self.all = tuple(each for each in self.all if each is not limit)

    def drop(self, forces: Array, tolerance: float) -> None:
        """Remove active limits that carry no more than a tolerance (N·m, or N times the machine's size)."""
        size = self.constraints.size
        pairs = zip(self.active, forces, strict=True)
        self.active = [limit for limit, force in pairs if abs(force) * (size if limit.slides else 1.0) > tolerance]


def _all_limits(constraints: PositionConstraints) -> list[ActiveLimit]:
    compiled, result = constraints.compiled, []
    for coordinate in compiled.coordinates.table:
        own = [c for c in compiled.coordinates.table if c.joint == coordinate.joint]
        speeds = compiled.joint_v(coordinate.joint)
        if len(own) != speeds.stop - speeds.start:
            continue  # quaternions have no limits
        v = speeds.start + own.index(coordinate)
        for bound, side in ((coordinate.lower, -1.0), (coordinate.upper, 1.0)):
            if bound is not None:
                slides = coordinate.dimension == "length"
                result.append(ActiveLimit(coordinate.name, coordinate.index, v, float(bound), side, None, slides))
    for limit in cut_limits(compiled):
        for value, side in ((limit.lower, -1.0), (limit.upper, 1.0)):
            if np.isfinite(value):
                slides = limit.dimension == "length"
                result.append(ActiveLimit(limit.name, -1, -1, value, side, limit, slides))
    return result
