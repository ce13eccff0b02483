"""Rank of a machine's constraints, evaluated at assembled poses.

Off the manifold of closed poses an over-constrained machine (Bennett, Bricard) has full rank, and at one pose the rank
may be lower by chance. So ranks are taken at poses reached from the given one along its free motions, each closed
again. Lengths count in units of the machine's own size, so that metres and radians compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import find_reversed_joint, newton_search, with_axis_orientation
from core.constraints.mobility.second_order import (
    TangentSpace,
    find_tangent_spaces,
    finite_motions_and_stresses,
    local_motions_and_forms,
)
from core.constraints.newton.availability import has_newton
from core.constraints.rest_position import characteristic_length, reference_position, speed_units
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, row_maxima, scale_matrix, to_dense
from core.numerics.rank import factorise_sparse, nonzero_row_mask
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE
from core.programs.compiled import CompiledModel

if TYPE_CHECKING:
    from core.numerics.fronts import FrontalFactorisation

Array = NDArray[np.float64]

RANK_GAP = 1e-5
"""Singular value, relative to the largest, above which none counts as zero. All below RANK_TOLERANCE count as zero;
between the two thresholds the widest gap decides."""
FLOOR = 1e-13
"""Rounding error of a zero singular value, relative to the largest."""
STEPS = (0.35, 0.2, 0.1, 0.05, 0.02, 0.005)
"""Displacements (rad, or machine sizes) tried to reach another pose, longest first."""
PROGRESS = 0.3
"""Fraction of a step that must remain after closing; if less remains, the machine cannot move that way."""
STRAY = 6.0
"""Largest displacement after closing, in steps; more means that another branch was reached."""
SPREAD = 2.0
"""Ratio of a motion's norm to its largest speed above which the motion is assumed to involve many loops."""
MOST_TOUCHES = 40
"""Largest number of steps of `touching`."""
TOUCH = 1e-3
"""Longest step of `PositionConstraints.close_precisely`, whose start is close to a closed pose."""
KNOWN_POSES = 6
"""Number of poses whose decompositions are cached."""
POSES = 4
"""Number of poses at which the rank is evaluated."""
SETTLED = 1e-12
"""Residual (in units of the machine) at which ranks may be evaluated; where loops close tangentially it is the square
of the distance to closure."""


def rank_from_singular_values(singular: NDArray[Any]) -> int:
    """Numerical rank from singular values (k,), largest first, split at the widest gap between clearly nonzero and
    clearly zero ones."""
    if not len(singular) or singular[0] < 1e-12:
        return 0
    s = np.append(np.maximum(singular / singular[0], FLOOR), FLOOR)
    least, most = int(np.sum(s > RANK_GAP)), int(np.sum(s > RANK_TOLERANCE))
    return max(range(least, most + 1), key=lambda k: s[k - 1] / s[k] if k else 0.0)


def solve_double_root(
    residual: Callable[[Array], Array],
    jacobian: Callable[[Array], Matrix],
    displace: Callable[[Array, Array], Array],
    q: Array,
    longest: float,
) -> tuple[Array, float]:
    """Find the (nq,) root nearest to q by Gauss–Newton, and the remaining residual norm; also converges to double
    roots.

    There the derivative across the root vanishes with the way left, and each step halves that way; what the step does
    to the other equations is put right before the two are compared. longest : of the steps
    """
    r = residual(q)
    size = float(np.linalg.norm(r))
    for _ in range(MOST_TOUCHES):
        if size < 1e-15:
            break
        G = jacobian(q)
        known = factorise_sparse(G)
        step = _shortest_correction(G, r, RANK_TOLERANCE) if known is None else -known.solve_least_squares(r)
        trial = displace(q, step * min(1.0, longest / max(float(np.linalg.norm(step)), 1e-300)))
        left = residual(trial)
        trial = displace(
            trial,
            _shortest_correction(jacobian(trial), left, RANK_GAP)
            if known is None
            else -known.solve_least_squares(left),
        )
        r_trial = residual(trial)
        if not np.linalg.norm(r_trial) < 0.9 * size:
            break
        q, r, size = trial, r_trial, float(np.linalg.norm(r_trial))
    return q, size


def _shortest_correction(G: Matrix, r: Array, smallest: float) -> Array:
    """Shortest step that removes a residual, using singular values above a fraction of the largest."""
    return np.asarray(-np.linalg.lstsq(to_dense(G), r, rcond=smallest)[0], dtype=np.float64)


class _SingularValueDecomposition:
    """A decomposed matrix (r, c): rank, null space and dependences of its rows, with the interface of
    `FrontalFactorisation`."""

    def __init__(self, G: Array) -> None:
        self._among = nonzero_row_mask(G)
        self._left, sigma, self._right = np.linalg.svd(G[self._among])
        self.rank = rank_from_singular_values(sigma)

    @property
    def null_space(self) -> Array:
        """(c, c − rank) orthonormal basis of the null space."""
        return np.asarray(self._right[self.rank :].T)

    @property
    def left_null_space(self) -> Array:
        """(r, r − rank) orthonormal basis of the left null space; a zero row is one basis vector."""
        silent, own = np.flatnonzero(~self._among), self._left[:, self.rank :]
        result = np.zeros((len(self._among), own.shape[1] + len(silent)))
        result[self._among, : own.shape[1]] = own
        result[silent, np.arange(own.shape[1], result.shape[1])] = 1.0
        return result


class PositionConstraints:
    """Constraints of a machine at fixed parameters and time, in units of its size and without joint limits.

    drivers : whether drivers hold, too
    """

    def __init__(self, compiled: CompiledModel, p: Values = None, t: float = 0.0, *, drivers: bool = True) -> None:
        self.compiled, self.p, self.t = compiled, compiled.parameter_values(p), t
        names = compiled.rows
        self.kept = np.array([k for k, row in enumerate(names) if drivers or row.collection != "drivers"], dtype=int)
        """Indices of the rows that count."""
        self.names = tuple(names[k] for k in self.kept)
        self._known: dict[bytes, FrontalFactorisation | _SingularValueDecomposition] = {}
        self._positions = np.array([row.level == 0 for row in self.names], dtype=bool)

    @property
    def rows(self) -> int:
        """Number of constraint equations in addition to those that the tree's coordinates satisfy identically."""
        return len(self.kept)

    def residual(self, q: Array) -> Array:
        """(position-level rows,) residuals, m and rad."""
        return np.asarray(self.compiled.call("constraint_residual", q, p=self.p, t=self.t)[self.kept][self._positions])

    def jacobian(self, q: Array) -> Matrix:
        """(rows, nv) G, in compressed rows if the machine is large and sparse."""
        return self.compiled.constraint_matrix(q, self.p)[self.kept]

    def bias(self, q: Array, v: Array) -> Array:
        """(n, rows) Ġ v at a pose (nq,) for speeds (n, nv), with drivers at rest."""
        still, *moving = (
            self.compiled.call("constraint_bias", np.broadcast_to(q, (len(some), len(q))), some, p=self.p, t=self.t)
            for some in (np.zeros((1, v.shape[1])), v)
        )
        return np.asarray((moving[0] - still)[:, self.kept])

    @cached_property
    def size(self) -> float:
        """Characteristic length of the machine, m: root mean square distance of its joints from their centroid; 1 if
        all coincide."""
        return characteristic_length(self.compiled, self.p)

    @cached_property
    def speed_units(self) -> Array:
        """(nv,) characteristic length for translational speeds, 1 for rotational ones."""
        return speed_units(self.compiled, self.p)

    @cached_property
    def row_units(self) -> Array:
        """(rows,) units of the residuals: the machine's size for lengths, 1 for directions and angles."""
        compiled, q = self.compiled, reference_position(self.compiled)
        R = np.asarray(compiled.call("constraint_sides", q, p=self.p))
        units = np.zeros(len(compiled.rows))
        start = 0
        for _constraint, _side, rows in compiled.constraints.sides():
            part = R[start : start + rows.stop - rows.start]
            start += rows.stop - rows.start
            lengths, angles = np.linalg.norm(part[:, 3:6], axis=1), np.linalg.norm(part[:, :3], axis=1)
            units[rows] = np.maximum(units[rows], np.where(lengths > 1e-6, lengths * self.size, angles))
        own = row_maxima(scale_matrix(compiled.constraint_matrix(q, self.p), columns=self.speed_units))
        units = np.where(units > 1e-6, units, np.where(own > 1e-6, own, 1.0))
        return np.asarray(units[self.kept])

    def scaled_jacobian(self, q: Array) -> Matrix:
        """(rows, nv) G in units of the machine's size."""
        return scale_matrix(self.jacobian(q), rows=1.0 / self.row_units, columns=self.speed_units)

    def scaled_residual(self, q: Array) -> Array:
        """(position-level rows,) residuals in units of the machine's size."""
        return self.residual(q) / self.row_units[self._positions]

    def scaled_position_jacobian(self, q: Array) -> Matrix:
        """(position-level rows, nv) derivative of the scaled residuals."""
        return self.scaled_jacobian(q)[self._positions]

    def close_precisely(self, q: Array, fixed: NDArray[np.bool_] | None = None) -> Array:
        """Close the pose (nq,) to machine precision: at a double root a residual of 1e-11 still leaves a distance of
        3e-6 to closure and an equal error of the singular values. fixed : (nv,) speeds that stay zero"""
        if not self._positions.any():
            return q
        moving = None if fixed is None else (~fixed).astype(float)

        def jacobian_of_free_speeds(q: Array) -> Matrix:
            return scale_matrix(self.scaled_position_jacobian(q), columns=moving)

        return solve_double_root(self.scaled_residual, jacobian_of_free_speeds, self.displace_scaled, q, TOUCH)[0]

    def displace_scaled(self, q: Array, step: Array) -> Array:
        """(nq,) q after a displacement (nv,) in units of the machine."""
        return self.displace(q, step * self.speed_units)

    def rank(self, q: Array) -> int:
        """Rank of the constraints at a closed pose."""
        return self._decomposition_at(q).rank if self.rows else 0

    def free_motions(self, q: Array) -> Array:
        """(nv, k) speeds that keep the machine closed: G N = 0, orthonormal in units of the machine's size."""
        if not self.rows:
            return np.diag(self.speed_units)
        return np.asarray(self.speed_units[:, None] * self._decomposition_at(q).null_space)

    def self_stresses(self, q: Array) -> Matrix:
        """(rows, k) self-stresses, multipliers with Gᵀ λ = 0; in compressed rows if sparse."""
        return scale_matrix(self._decomposition_at(q).left_null_space, rows=1.0 / self.row_units)

    def _decomposition_at(self, q: Array) -> FrontalFactorisation | _SingularValueDecomposition:
        """Cached decomposition of the constraints at a pose."""
        pose = q.tobytes()
        if pose not in self._known:
            G = self.scaled_jacobian(q)
            self._known[pose] = factorise_sparse(G) or _SingularValueDecomposition(to_dense(G))
            if len(self._known) > KNOWN_POSES:
                del self._known[next(iter(self._known))]
        return self._known[pose]

    @cached_property
    def position_problem(self) -> position_solver.PositionProblem:
        """Position problem without joint limits, on which mobility does not depend."""
        free = np.full(self.compiled.nv, np.inf)
        return position_solver.PositionProblem(
            self.residual,
            lambda q: self.jacobian(q)[self._positions],
            self.displace,
            lambda q: (-free, free),
            lambda q: not find_reversed_joint(self.compiled, q, self.p),
            newton_search(self.compiled, self.kept[self._positions], self.p, self.t, bounded=False),
        )

    @cached_property
    def oriented_problem(self) -> position_solver.PositionProblem:
        """Position problem for poses far from closure, with residuals that prevent reversed joint axes."""
        return with_axis_orientation(self.compiled, self.position_problem, self.p)

    def displace(self, q: Array, step: Array) -> Array:
        """(nq,) q after a displacement (nv,), rad or m."""
        return self.compiled.coordinates.integrate(q, step)

    def closed(self, q: Array, fixed: NDArray[np.bool_] | None = None) -> tuple[Array, float]:
        """Closed pose nearest to q, and the remaining gap; fixed : (nv,) speeds that stay zero"""
        if not self._positions.any():
            return q, 0.0
        still = np.zeros(self.compiled.nv, dtype=bool) if fixed is None else fixed
        return position_solver.solve_position(self.position_problem, q, 1.0 / self.speed_units, still)

    def close_all(
        self, starts: Array, fixed: NDArray[np.bool_], look: Callable[[], None] = lambda: None
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(n, nq) closed poses nearest to starts far from closure, and a mask (n,) of those that close without reversed
        axes. fixed : (nv,) speeds that stay zero; look : is called in between, and may raise"""
        weights, kept = 1.0 / self.speed_units, self.kept[self._positions]
        if len(kept) and has_newton(self.compiled):
            from core.constraints.newton.position_newton import borrow_newton

            time = self.compiled.time_argument(self.t, self.p)
            with borrow_newton(self.compiled, kept) as newton:
                newton.prepare(self.p, time, weights, fixed, bounded=False, oriented=True)
                found = newton.close_in_pieces(starts, look)
            return found.q, found.valid
        poses, valid = np.array(starts), np.zeros(len(starts), dtype=bool)
        for k, start in enumerate(starts):
            look()
            poses[k], gap = position_solver.solve_position(self.oriented_problem, start, weights, fixed)
            valid[k] = gap < ACCEPTED_GAP and self.position_problem.fits(poses[k])
        return poses, valid

    def follow(self, q: Array, v: Array, length: float) -> Array | None:
        """Closed pose at about distance `length` (in units of the machine) from q along v; None if there is none."""
        displacement = v / max(float(np.linalg.norm(v / self.speed_units)), 1e-300) * length
        trial, gap = self.closed(self.displace(q, displacement))
        if not gap < ACCEPTED_GAP:
            return None
        gone = self.compiled.coordinates.speeds_between(q, trial) / self.speed_units
        forward = float(gone @ (displacement / self.speed_units)) / length
        return trial if PROGRESS * length < forward and np.linalg.norm(gone) < STRAY * length else None

    def second_order_directions(
        self, q: Array, limit: int, rng: np.random.Generator
    ) -> list[tuple[TangentSpace, Array]] | None:
        """Second-order tangent spaces at a closed pose, at most `limit`, each with a direction (nv,) scaled so that a
        step moves each loop as far as it would move a single loop; None if second order excludes no free motion."""
        if not self.rows:
            return None
        N, forms = local_motions_and_forms(
            partial(self.bias, q),
            self.free_motions(q),
            self.self_stresses(q),
            self.speed_units,
            partial(self.jacobian, q),
        )
        if not forms:
            return None
        result = []
        for space in find_tangent_spaces(N.shape[1], forms, limit, rng):
            along = space.random_direction(rng)
            if along is not None:
                v = N @ along
                result.append(
                    (
                        space,
                        v / min(np.linalg.norm(v / self.speed_units), SPREAD * np.max(np.abs(v / self.speed_units))),
                    )
                )
        return result

    def random_closed_pose_from(self, q: Array, rng: np.random.Generator, origin: Array | None = None) -> Array | None:
        """(nq,) another closed pose, reached in a random second-order direction and not back to the origin; None if the
        machine does not move."""
        N = self.free_motions(q)
        if not N.shape[1]:
            return None
        onward = np.zeros(self.compiled.nv) if origin is None else self.compiled.coordinates.speeds_between(origin, q)
        spaces = self.second_order_directions(q, 1, rng) or []
        for length in STEPS:
            displacement = spaces[0][1] if spaces else N @ rng.normal(size=N.shape[1])
            back = float((displacement / self.speed_units) @ (onward / self.speed_units)) < 0.0
            longer = float(np.linalg.norm(displacement / self.speed_units)) if spaces else 1.0
            found = self.follow(q, -displacement if back else displacement, length * longer)
            if found is not None:
                return self.close_precisely(found)
        return None

    def sample_poses_near(self, q: Array, seed: int = 7) -> Iterator[Array]:
        """Random closed poses (nq,), at most two steps from q; none if the machine does not move."""
        rng = np.random.default_rng(seed)
        for _ in range(POSES // 2):
            first = self.random_closed_pose_from(q, rng)
            if first is None:
                continue
            yield first
            second = self.random_closed_pose_from(first, rng, q)
            if second is not None:
                yield second

    def finite_motions(self, q: Array) -> tuple[Array, Matrix]:
        """(N (nv, k), Λ (rows, m)) free motions and self-stresses at a generic pose, without the infinitesimal ones."""
        if not self.rows:
            return self.free_motions(q), np.zeros((0, 0))
        return finite_motions_and_stresses(
            partial(self.bias, q),
            self.free_motions(q),
            self.self_stresses(q),
            self.speed_units,
            partial(self.jacobian, q),
        )
