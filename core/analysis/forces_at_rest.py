"""Forces that keep a machine at rest: dry friction and forces of active joint limits.

Static friction limit analysis: a machine stays at rest if some admissible distribution of forces balances its load (the
lower-bound theorem of limit analysis). Which one does is not unique where there are more of them than freedoms: shown
is that of least Σ (λ/size)², with what each may be at least and at most. The largest multiple of the load that can be
held is the safety factor. All are linear programs of the size of what rubs; friction of ball joints and in planes,
which is bounded by its length, is cut off by planes until it nearly is (Kelley, Journal of the Society for Industrial
and Applied Mathematics 8, 1960), and then by a sequence of quadratic programs.

Limits of tree joints hold an entry of q still; those of joints that close loops hold what is measured between frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import CutLimit, cut_limits
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.numerics import position_solver
from core.numerics.bounded_forces import solve_bounded_least_squares
from core.numerics.matrix_forms import Matrix, stack_rows
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE

Array = NDArray[np.float64]
Shares = NDArray[np.int64]
"""(n,) number of consecutive forces, starting with each, whose norm their common upper bound limits; 0 for all but the
first of them."""

HOLDS_FRACTION = 1e-9
"""Relative unbalanced load up to which the machine counts as held at rest."""
UNIQUE_FRACTION = 1e-6
"""Range of a force, relative to the largest friction, up to which the force counts as unique."""
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
CUTS, NEARLY, WITHIN = 200, 1e-3, 1e-8
"""Number of rounds of cutting planes; relative excess over a friction disk at which quadratic programs take over, and
the excess accepted if these fail."""
WEIGHT = 1e6
"""Weight of the force balance relative to the size of forces."""


@dataclass(frozen=True)
class FrictionBalance:
    """Friction forces that keep a machine at rest, by coordinate.

    forces : along the growth of each, N·m or N, of least Σ (λ/size)²; ranges : what they may be at least and at most;
    limits : the largest they can be, in any direction; safety : the largest multiple of the load that still holds, ∞ if
    any does
    """

    forces: dict[str, float]
    ranges: dict[str, tuple[float, float]]
    limits: dict[str, float]
    safety: float

    @property
    def is_unique(self) -> bool:
        """True if the load determines the forces uniquely."""
        return all(high - low <= UNIQUE_FRACTION * self.limits[name] for name, (low, high) in self.ranges.items())


def _solve_linear_program(cost: Array, A: Array, b: Array, bounds: Any, shares: Shares) -> Any:
    """Solution of a linear program in forces scaled by their bounds, followed by auxiliary variables."""
    from scipy.optimize import linprog

    planes = list[Array]()
    balls = [slice(k, k + shares[k]) for k in np.flatnonzero(shares > 1)]
    within = NEARLY
    while True:
        most = {"A_ub": np.array(planes), "b_ub": np.ones(len(planes))} if planes else {}
        found = linprog(cost, A_eq=A, b_eq=b, bounds=bounds, method="highs", options=EXACT, **most)
        beyond = [] if found.x is None else [ball for ball in balls if np.linalg.norm(found.x[ball]) > 1.0 + within]
        if not beyond or len(planes) > CUTS * len(balls):
            if within == NEARLY and balls and found.x is not None:
                if (polished := _refine_with_friction_disks(cost, A, b, bounds, balls, found.x)) is not None:
                    found.x = polished
                    return found
                within = WITHIN
                continue
            return found
        for ball in beyond:
            plane = np.zeros(len(cost))
            plane[ball] = found.x[ball] / np.linalg.norm(found.x[ball])
            planes.append(plane)


def _refine_with_friction_disks(
    cost: Array, A: Array, b: Array, bounds: Any, disks: list[slice], x: Array
) -> Array | None:
    """Solve the same program with exact friction disks, starting close to the solution; None if it does not
    converge."""
    from scipy.optimize import minimize

    def disk_margins(x: Array) -> Array:
        return np.array([1.0 - x[ball] @ x[ball] for ball in disks])

    def disk_margin_gradients(x: Array) -> Array:
        rows = np.zeros((len(disks), len(x)))
        for row, ball in zip(rows, disks, strict=True):
            row[ball] = -2.0 * x[ball]
        return rows

    size = max(float(np.max(np.abs(cost))), 1e-300)
    limits = (
        {"type": "eq", "fun": lambda x: A @ x - b, "jac": lambda _: A},
        {"type": "ineq", "fun": disk_margins, "jac": disk_margin_gradients},
    )
    found = minimize(
        lambda x: cost @ x / size,
        x,
        jac=lambda _: cost / size,
        bounds=bounds,
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 100},
    )
    away = max(float(np.max(np.abs(A @ found.x - b), initial=0.0)), float(np.max(-disk_margins(found.x))))
    worse = abs(float(cost @ (found.x - x))) / size > 10.0 * NEARLY * (1.0 + float(np.max(np.abs(x))))
    return None if away > HOLDS_FRACTION or worse else np.asarray(found.x)


def safety_factor(C: Array, g: Array, low: Array, high: Array, shares: Shares) -> float:
    """Largest load factor s for which C λ = s g has a solution within bounds; ∞ if it has one for every s."""
    size = float(np.max(np.abs(g), initial=0.0))
    if size == 0.0:
        return math.inf
    if not C.shape[1]:
        return 0.0
    _, parts, bounds = _scale_problem(C, g, low, high)
    A = np.column_stack([parts, -g / size])
    cost = np.zeros(A.shape[1])
    cost[-1] = -1.0
    found = _solve_linear_program(cost, A, np.zeros(len(g)), [*bounds, (0.0, None)], shares)
    return math.inf if found.status == 3 else float(found.x[-1]) if found.status == 0 else 0.0


def find_smallest_forces(C: Array, g: Array, low: Array, high: Array, units: Array, shares: Shares) -> Array:
    """(n,) solution of C λ = g within bounds with the smallest Σ (λ/units)²; the nearest approximation if there is
    none."""
    from scipy.optimize import lsq_linear

    if not C.shape[1]:
        return np.zeros(0)
    can = high > low
    if not can.all():  # a bearing that bears nothing
        forces = np.where(can, 0.0, low)
        forces[can] = find_smallest_forces(C[:, can], g - C @ forces, low[can], high[can], units[can], shares[can])
        return forces
    scale = max(float(np.max(np.abs(g), initial=0.0)), 1e-300)
    A, b = C * units, g / scale
    size = max(float(np.max(np.abs(A), initial=0.0)), 1e-300)
    bounds = low / units / scale, high / units / scale
    if (shares != 1).any():
        found = solve_bounded_least_squares(np.ones(len(units)), A / size, b / size, *bounds, shares)
        return np.asarray(found * units * scale)
    rows = np.concatenate([WEIGHT / size * A, np.eye(A.shape[1])])
    found = lsq_linear(rows, np.concatenate([WEIGHT / size * b, np.zeros(A.shape[1])]), bounds, tol=1e-14)
    free, x = found.active_mask == 0, found.x
    polished = x.copy()
    polished[free] = np.linalg.pinv(A[:, free], rcond=1e-10) @ (b - A[:, ~free] @ x[~free])
    within = (polished >= bounds[0] - 1e-9).all() and (polished <= bounds[1] + 1e-9).all()
    return np.asarray((polished if within else x) * units * scale)


def feasible_force_ranges(C: Array, g: Array, low: Array, high: Array, shares: Shares) -> Array:
    """(n, 2) smallest and largest value of each entry of λ with C λ = g within bounds."""
    unit, parts, bounds = _scale_problem(C, g, low, high)
    size = max(float(np.max(np.abs(g), initial=0.0)), 1e-300)
    result = np.empty((C.shape[1], 2))
    for i in range(C.shape[1]):
        for j, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(C.shape[1])
            cost[i] = sign
            found: Any = _solve_linear_program(cost, parts, g / size, bounds, shares)
            unbounded = -sign * math.inf
            result[i, j] = found.x[i] * unit[i] if found.status == 0 else unbounded if found.status == 3 else math.nan
    return result


def _scale_problem(
    C: Array, g: Array, low: Array, high: Array
) -> tuple[Array, Array, list[tuple[float | None, float | None]]]:
    """(size of each force, C for forces in these sizes and loads in that of g, their bounds)."""
    size = max(float(np.max(np.abs(g), initial=0.0)), 1e-300)
    finite = np.where(np.isfinite(high), high, np.where(np.isfinite(low), -low, 0.0))
    unit = np.where(finite > 0.0, finite, size)
    bounds = [
        (float(a) if math.isfinite(a) else None, float(b) if math.isfinite(b) else None)
        for a, b in zip(low / unit, high / unit, strict=True)
    ]
    return unit, C * unit / size, bounds


LIMIT_TOLERANCE = 1e-12
"""Distance (rad or m) beyond a limit up to which a coordinate counts as inside."""
CUT_LIMIT_TOLERANCE = 1e-9
"""The same distance (rad or m) for limits of loop-closing joints, whose coordinates are measured."""
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
    """True if the limited coordinate is a length."""


class LimitActiveSet:
    """All limits of a machine's coordinates, and the set of active ones."""

    def __init__(self, constraints: PositionConstraints) -> None:
        self.constraints = constraints
        self.all = tuple(_find_limits(constraints))
        self.active: list[ActiveLimit] = []
        self._near: dict[str, float] = {}

    def set_reference_pose(self, q: Array) -> None:
        """Use this pose as the reference from which angles of loop-closing joints are counted."""
        self._near = {limit.name: self._coordinate_value(limit, q) for limit in self.all if limit.cut is not None}

    def _coordinate_value(self, limit: ActiveLimit, q: Array) -> float:
        if limit.cut is None:
            return float(q[limit.q])
        return limit.cut.value(self.constraints.compiled, q, self.constraints.p, self._near.get(limit.name))

    def excess(self, limit: ActiveLimit, q: Array) -> float:
        """Signed distance of a pose beyond a limit."""
        return limit.side * (self._coordinate_value(limit, q) - limit.value)

    def free_motions(self, q: Array) -> Array:
        """(nv, k) free motions along the active limits."""
        import scipy.linalg

        N = self.constraints.free_motions(q)
        if not self.active or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(self.rows(q) @ N, rcond=RANK_TOLERANCE))

    def rows(self, q: Array) -> Array:
        """(active, nv) directions in which the active limits push on the joints."""
        constraints, unit = self.constraints, np.eye(self.constraints.compiled.nv)
        rows = [
            unit[s.v] if s.cut is None else s.cut.derivative_row(constraints.compiled, q, constraints.p)
            for s in self.active
        ]
        return np.array(rows).reshape(-1, constraints.compiled.nv)

    def geometric_stiffness(self, q: Array, N: Array, forces: Array) -> Array:
        """(k, k) geometric stiffness along N of active-limit forces, due to their changing directions."""
        constraints = self.constraints
        result = np.zeros((N.shape[1], N.shape[1]))
        if any(limit.cut is not None for limit in self.active):
            for j, displacement in enumerate(N.T):
                step = STEP / max(float(np.linalg.norm(displacement / constraints.speed_units)), 1e-300)
                ahead, behind = (
                    forces @ self.rows(constraints.displace(q, sign * step * displacement)) for sign in (1.0, -1.0)
                )
                result[:, j] = N.T @ (ahead - behind) / (2.0 * step)
        return result

    def closed(self, q: Array, *more: ActiveLimit) -> tuple[Array, float]:
        """Closed pose nearest to q on the active and the additional limits, and the remaining gap."""
        constraints, held = self.constraints, (*self.active, *more)
        still = np.zeros(constraints.compiled.nv, dtype=bool)
        still[[limit.v for limit in held if limit.cut is None]] = True
        cuts = [(limit, limit.cut) for limit in held if limit.cut is not None]
        if not cuts:
            return constraints.closed(q, still)

        def residual(q: Array) -> Array:
            gaps = [self._coordinate_value(limit, q) - limit.value for limit, _ in cuts]
            return np.concatenate([constraints.position_problem.residual(q), gaps])

        def jacobian(q: Array) -> Matrix:
            rows = [limit.derivative_row(constraints.compiled, q, constraints.p) for _, limit in cuts]
            return stack_rows(constraints.position_problem.jacobian(q), np.reshape(rows, (-1, constraints.compiled.nv)))

        problem = constraints.position_problem._replace(residual=residual, jacobian=jacobian)
        return position_solver.solve_position(problem, q, 1.0 / constraints.speed_units, still)

    def step_to_first_limit(self, q: Array, trial: Array) -> Array | None:
        """Pose at which a step from q towards the trial pose meets its first limit, which becomes active; the trial
        pose if it meets none; None if the loops do not close exactly on the limit (a shorter step may succeed)."""
        crossed = [limit for limit in self.all if limit not in self.active and self._is_outside(limit, trial)]
        if not crossed:
            return trial
        shares = []
        for limit in crossed:
            before, after = self.excess(limit, q), self.excess(limit, trial)
            shares.append(min(1.0, max(0.0, -before) / (after - min(before, 0.0))))
        first = crossed[int(np.argmin(shares))]
        near = self.constraints.displace(
            q, self.constraints.compiled.coordinates.speeds_between(q, trial) * min(shares)
        )
        if first.cut is None:
            near[first.q] = first.value
        closed, gap = self.closed(near, first)
        if gap >= ACCEPTED_GAP or any(self._is_outside(s, closed) for s in self.all if s not in (*self.active, first)):
            return None
        self.active.append(first)
        return closed

    def _is_outside(self, limit: ActiveLimit, q: Array) -> bool:
        return self.excess(limit, q) > (LIMIT_TOLERANCE if limit.cut is None else CUT_LIMIT_TOLERANCE)

    def release_pulling_limit(self, forces: Array, tolerance: float) -> bool:
        """Remove from the active set the limit that would need the largest tensile force; False if all of them push."""
        pull = [limit.side * force for limit, force in zip(self.active, forces, strict=True)]
        worst = int(np.argmax(pull)) if pull else -1
        if worst < 0 or pull[worst] <= tolerance:
            return False
        del self.active[worst]
        return True

    def remove_permanently(self, limit: ActiveLimit) -> None:
        """Remove a limit permanently."""
        self.active.remove(limit)
        self.all = tuple(each for each in self.all if each is not limit)

    def drop_unloaded(self, forces: Array, tolerance: float) -> None:
        """Remove active limits whose force does not exceed a tolerance (N·m, or N times the machine's size)."""
        size = self.constraints.size
        pairs = zip(self.active, forces, strict=True)
        self.active = [limit for limit, force in pairs if abs(force) * (size if limit.slides else 1.0) > tolerance]


def _find_limits(constraints: PositionConstraints) -> list[ActiveLimit]:
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
