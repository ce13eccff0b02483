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

from core.constraints.closed_positions import oriented, reversed_joint
from core.constraints.mobility.second_order import TangentSpace, forms_of, lasting, second_order_tangent_spaces
from core.constraints.rest_position import rest, size_of, speed_units
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, dense, largest_of_rows, scaled
from core.numerics.rank import eliminated, nonzero_rows
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE
from core.programs.compiled import Compiled

if TYPE_CHECKING:
    from core.numerics.fronts import Fronts

Array = NDArray[np.float64]

RANK_GAP = 1e-5
"""Singular value, relative to the largest, above which none counts as zero. All below RANK_TOLERANCE are zero; between
the two the widest gap decides."""
FLOOR = 1e-13
"""Rounding error of a zero singular value, relative to the largest."""
STEPS = (0.35, 0.2, 0.1, 0.05, 0.02, 0.005)
"""Displacements (rad, or machine sizes) tried to reach another pose, longest first."""
PROGRESS = 0.3
"""Share of a step that must remain after closing; less means that the machine cannot move that way."""
STRAY = 6.0
"""Largest displacement after closing, in steps; more means that another branch was reached."""
SPREAD = 2.0
"""Ratio of a motion's norm to its largest speed above which the motion counts as one of many loops."""
MOST_TOUCHES = 40
"""Largest number of steps of `touching`."""
TOUCH = 1e-3
"""Longest step of `PositionConstraints.settled`, which starts that close to a closed pose."""
KNOWN_POSES = 6
"""Number of poses whose decompositions are cached."""
POSES = 4
"""Number of poses at which the rank is evaluated."""
SETTLED = 1e-12
"""Residual (in units of the machine) at which ranks may be evaluated; at tangential closures it is the square of the
distance to closure."""


def rank_of(singular: NDArray[Any]) -> int:
    """Numerical rank from singular values (k,), largest first, split at the widest gap between clearly nonzero and
    clearly zero ones."""
    if not len(singular) or singular[0] < 1e-12:
        return 0
    s = np.append(np.maximum(singular / singular[0], FLOOR), FLOOR)
    least, most = int(np.sum(s > RANK_GAP)), int(np.sum(s > RANK_TOLERANCE))
    return max(range(least, most + 1), key=lambda k: s[k - 1] / s[k] if k else 0.0)


def touching(
    residual: Callable[[Array], Array],
    jacobian: Callable[[Array], Matrix],
    moved: Callable[[Array, Array], Array],
    q: Array,
    longest: float,
) -> tuple[Array, float]:
    """(nq,) root nearest to q by Gauss–Newton, and the remaining residual norm; works for double roots.

    There the derivative across the root vanishes with the way left, and each step halves that way; what the step does
    to the other equations is put right before the two are compared. longest : of the steps
    """
    r = residual(q)
    size = float(np.linalg.norm(r))
    for _ in range(MOST_TOUCHES):
        if size < 1e-15:
            break
        G = jacobian(q)
        known = eliminated(G)
        step = _shortest_correction(G, r, RANK_TOLERANCE) if known is None else -known.least(r)
        trial = moved(q, step * min(1.0, longest / max(float(np.linalg.norm(step)), 1e-300)))
        left = residual(trial)
        trial = moved(
            trial, _shortest_correction(jacobian(trial), left, RANK_GAP) if known is None else -known.least(left)
        )
        r_trial = residual(trial)
        if not np.linalg.norm(r_trial) < 0.9 * size:
            break
        q, r, size = trial, r_trial, float(np.linalg.norm(r_trial))
    return q, size


def _shortest_correction(G: Matrix, r: Array, smallest: float) -> Array:
    """Shortest step that removes a residual, using singular values above a fraction of the largest."""
    return np.asarray(-np.linalg.lstsq(dense(G), r, rcond=smallest)[0], dtype=np.float64)


class _SingularValueDecomposition:
    """A decomposed matrix (r, c): rank, null space and dependences of its rows, with the interface of `Fronts`."""

    def __init__(self, G: Array) -> None:
        self._among = nonzero_rows(G)
        self._left, sigma, self._right = np.linalg.svd(G[self._among])
        self.rank = rank_of(sigma)

    @property
    def motions(self) -> Array:
        """(c, c − rank) orthonormal basis of the null space."""
        return np.asarray(self._right[self.rank :].T)

    @property
    def stresses(self) -> Array:
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

    def __init__(self, compiled: Compiled, p: Values = None, t: float = 0.0, *, drivers: bool = True) -> None:
        self.compiled, self.p, self.t = compiled, compiled.parameter_values(p), t
        names = compiled.rows
        self.kept = np.array([k for k, row in enumerate(names) if drivers or row.collection != "drivers"], dtype=int)
        """Indices of the rows that count."""
        self.names = tuple(names[k] for k in self.kept)
        self._known: dict[bytes, Fronts | _SingularValueDecomposition] = {}
        self._positions = np.array([row.level == 0 for row in self.names], dtype=bool)

    @property
    def rows(self) -> int:
        """Number of constraint equations in addition to those that the tree's coordinates satisfy identically."""
        return len(self.kept)

    def residual(self, q: Array) -> Array:
        """(position-level rows,) residuals, m and rad."""
        return np.asarray(self.compiled.call("constraint_residual", q, p=self.p, t=self.t)[self.kept][self._positions])

    def jacobian(self, q: Array) -> Matrix:
        """(rows, nv) G, in compressed rows where the machine is large and sparse."""
        return self.compiled.constraint_matrix(q, self.p)[self.kept]

    def bias(self, q: Array, v: Array) -> Array:
        """(n, rows) Ġ v at a pose (nq,) for speeds (n, nv), drivers at rest."""
        still, *moving = (
            self.compiled.call("constraint_bias", np.broadcast_to(q, (len(some), len(q))), some, p=self.p, t=self.t)
            for some in (np.zeros((1, v.shape[1])), v)
        )
        return np.asarray((moving[0] - still)[:, self.kept])

    @cached_property
    def size(self) -> float:
        """Characteristic length of the machine, m: root mean square distance of its joints from their centroid; 1 if
        all coincide."""
        return size_of(self.compiled, self.p)

    @cached_property
    def units(self) -> Array:
        """(nv,) characteristic length for translational speeds, 1 for rotational ones."""
        return speed_units(self.compiled, self.p)

    @cached_property
    def row_units(self) -> Array:
        """(rows,) units of the residuals: the machine's size for lengths, 1 for directions and angles."""
        compiled, q = self.compiled, rest(self.compiled)
        R = np.asarray(compiled.call("constraint_sides", q, p=self.p))
        units = np.zeros(len(compiled.rows))
        start = 0
        for _constraint, _side, rows in compiled.constraints.sides():
            part = R[start : start + rows.stop - rows.start]
            start += rows.stop - rows.start
            lengths, angles = np.linalg.norm(part[:, 3:6], axis=1), np.linalg.norm(part[:, :3], axis=1)
            units[rows] = np.maximum(units[rows], np.where(lengths > 1e-6, lengths * self.size, angles))
        own = largest_of_rows(scaled(compiled.constraint_matrix(q, self.p), columns=self.units))
        units = np.where(units > 1e-6, units, np.where(own > 1e-6, own, 1.0))
        return np.asarray(units[self.kept])

    def scaled(self, q: Array) -> Matrix:
        """(rows, nv) G in units of the machine's size."""
        return scaled(self.jacobian(q), rows=1.0 / self.row_units, columns=self.units)

    def scaled_residual(self, q: Array) -> Array:
        """(position-level rows,) residuals in units of the machine's size."""
        return self.residual(q) / self.row_units[self._positions]

    def scaled_positions(self, q: Array) -> Matrix:
        """(position-level rows, nv) derivative of the scaled residuals."""
        return self.scaled(q)[self._positions]

    def settled(self, q: Array, fixed: NDArray[np.bool_] | None = None) -> Array:
        """(nq,) pose closed to machine precision: at a double root a residual of 1e-11 is still 3e-6 away from closure,
        and singular values are off by as much. fixed : (nv,) speeds that stay zero"""
        if not self._positions.any():
            return q
        moving = None if fixed is None else (~fixed).astype(float)

        def slopes(q: Array) -> Matrix:
            return scaled(self.scaled_positions(q), columns=moving)

        return touching(self.scaled_residual, slopes, self.displaced, q, TOUCH)[0]

    def displaced(self, q: Array, step: Array) -> Array:
        """(nq,) q after a displacement (nv,) in units of the machine."""
        return self.moved(q, step * self.units)

    def rank(self, q: Array) -> int:
        """Rank of the constraints at a closed pose."""
        return self._decomposition(q).rank if self.rows else 0

    def motions(self, q: Array) -> Array:
        """(nv, k) speeds that keep the machine closed: G N = 0, orthonormal in units of the machine's size."""
        if not self.rows:
            return np.diag(self.units)
        return np.asarray(self.units[:, None] * self._decomposition(q).motions)

    def stresses(self, q: Array) -> Matrix:
        """(rows, k) self-stresses, multipliers with Gᵀ λ = 0; in compressed rows if sparse."""
        return scaled(self._decomposition(q).stresses, rows=1.0 / self.row_units)

    def _decomposition(self, q: Array) -> Fronts | _SingularValueDecomposition:
        """Cached decomposition of the constraints at a pose."""
        pose = q.tobytes()
        if pose not in self._known:
            G = self.scaled(q)
            self._known[pose] = eliminated(G) or _SingularValueDecomposition(dense(G))
            if len(self._known) > KNOWN_POSES:
                del self._known[next(iter(self._known))]
        return self._known[pose]

    @cached_property
    def problem(self) -> position_solver.Problem:
        """Position problem without joint limits, on which mobility does not depend."""
        free = np.full(self.compiled.nv, np.inf)
        return position_solver.Problem(
            self.residual,
            lambda q: self.jacobian(q)[self._positions],
            self.moved,
            lambda q: (-free, free),
            lambda q: not reversed_joint(self.compiled, q, self.p),
        )

    @cached_property
    def oriented(self) -> position_solver.Problem:
        """Position problem for poses far from closure that keeps joint axes from being reversed."""
        return oriented(self.compiled, self.problem, self.p)

    def moved(self, q: Array, step: Array) -> Array:
        """(nq,) q after a displacement (nv,), rad or m."""
        return self.compiled.coordinates.integrate(q, step)

    def closed(self, q: Array, fixed: NDArray[np.bool_] | None = None) -> tuple[Array, float]:
        """Closed pose nearest to q, and the remaining gap; fixed : (nv,) speeds that stay zero"""
        if not self._positions.any():
            return q, 0.0
        still = np.zeros(self.compiled.nv, dtype=bool) if fixed is None else fixed
        return position_solver.close(self.problem, q, 1.0 / self.units, still)

    def follow(self, q: Array, v: Array, length: float) -> Array | None:
        """Closed pose at about distance `length` (in units of the machine) from q along v; None if there is none."""
        displacement = v / max(float(np.linalg.norm(v / self.units)), 1e-300) * length
        trial, gap = self.closed(self.moved(q, displacement))
        if not gap < ACCEPTED_GAP:
            return None
        gone = self.compiled.coordinates.difference(q, trial) / self.units
        forward = float(gone @ (displacement / self.units)) / length
        return trial if PROGRESS * length < forward and np.linalg.norm(gone) < STRAY * length else None

    def onward(self, q: Array, most: int, rng: np.random.Generator) -> list[tuple[TangentSpace, Array]] | None:
        """Second-order tangent spaces at a closed pose, at most `most`, each with a direction (nv,) scaled so that a
        step moves each loop as far as a single one would; None if second order excludes no free motion."""
        if not self.rows:
            return None
        N, forms = forms_of(
            partial(self.bias, q), self.motions(q), self.stresses(q), self.units, partial(self.jacobian, q)
        )
        if not forms:
            return None
        result = []
        for space in second_order_tangent_spaces(N.shape[1], forms, most, rng):
            along = space.direction(rng)
            if along is not None:
                v = N @ along
                result.append((space, v / min(np.linalg.norm(v / self.units), SPREAD * np.max(np.abs(v / self.units)))))
        return result

    def random_closed_pose_from(self, q: Array, rng: np.random.Generator, origin: Array | None = None) -> Array | None:
        """(nq,) another closed pose, reached in a random second-order direction and not back to the origin; None if the
        machine does not move."""
        N = self.motions(q)
        if not N.shape[1]:
            return None
        onward = np.zeros(self.compiled.nv) if origin is None else self.compiled.coordinates.difference(origin, q)
        spaces = self.onward(q, 1, rng) or []
        for length in STEPS:
            displacement = spaces[0][1] if spaces else N @ rng.normal(size=N.shape[1])
            back = float((displacement / self.units) @ (onward / self.units)) < 0.0
            longer = float(np.linalg.norm(displacement / self.units)) if spaces else 1.0
            found = self.follow(q, -displacement if back else displacement, length * longer)
            if found is not None:
                return self.settled(found)
        return None

    def poses_near(self, q: Array, seed: int = 7) -> Iterator[Array]:
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
            return self.motions(q), np.zeros((0, 0))
        return lasting(partial(self.bias, q), self.motions(q), self.stresses(q), self.units, partial(self.jacobian, q))
