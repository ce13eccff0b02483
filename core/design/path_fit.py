"""Path fitting from many initial linkages at once: damped least squares in batches with exact derivatives; the best
fits are refined to convergence.

Unknown are the shape (lengths by their logarithm), the similarity z = α w + β, and the crank angles: of a timed curve
first angle and, of arcs, turn; of an untimed one an angle for every point, eliminated by measuring across the curve
(Golub and Pereyra's separation). Poses that do not close enter by their reach, so that they have a slope back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from core.design.atlas import LEAST_REACH, SAMPLES, Atlas, Candidates
from core.design.target_curves import Target

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
MOST_POINTS = 64
"""Largest number of target points used in a fit."""
REACH_WEIGHT = 3.0
ROUNDS = ((12, 3), (30, 3), (200, 1))
"""Rounds of refinement: (iterations, fraction of the fits that is kept: one out of this many)."""
LONGEST_STEP = 0.4
"""Largest step of an angle, rad, and of the logarithm of a length."""
EXACT = 1e-13
"""Distance, in sizes of the curve, below which a fit is exact."""


@dataclass(frozen=True)
class FitSet:
    """Set of m fits: shapes (m, k), tau (m, c) crank angle parameters, theta (m, K), α, β (m,), q (m, K, nq)."""

    shapes: Array
    tau: Array
    theta: Array
    alpha: Complex
    beta: Complex
    q: Array
    cost: Array

    def select(self, rows: Any) -> FitSet:
        """Return the fits of these rows."""
        return FitSet(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class PathFit:
    """Fitting problem of one target and one atlas."""

    def __init__(self, atlas: Atlas, target: Target) -> None:
        self.atlas, self.target, self.swept = atlas, target, atlas.swept
        n = len(target.points)
        keep = (
            np.arange(n) if n <= MOST_POINTS else np.round(np.linspace(0, n, MOST_POINTS, endpoint=False)).astype(int)
        )
        if not target.closed and n > MOST_POINTS:
            keep = np.round(np.linspace(0, n - 1, MOST_POINTS)).astype(int)
        self.z, self.size = target.z[keep], target.size
        self.free = target.times is None
        self.shares = target.length_shares[keep]
        if not self.free:
            self.shares = target.time_shares[keep]
        self._positive = len(atlas.topology.lengths)
        self._scale = 1.0 / (self.size * np.sqrt(len(self.z)))

    # ------------------------------------------------------------------------------------------------ starts

    def find_candidates(self, count: int) -> Candidates:
        """Return the `count` nearest linkages of the atlas."""
        if self.target.closed:
            z = self.target.sampled(SAMPLES, by_length=self.free)
            return self.atlas.find_near_closed_curve(z, count, by_length=self.free)
        return self.atlas.find_near_arc(self.target.sampled(SAMPLES, by_length=self.free), count)

    def initial_fits(self, candidates: Candidates) -> FitSet:
        """Build initial fits from linkages of the atlas."""
        shares = self.shares
        if self.target.closed:
            shapes, start = self.atlas.shapes[candidates.member], self.atlas.start[candidates.member]
            theta = candidates.first[:, None] + 2.0 * np.pi * candidates.sense[:, None] * shares
            if self.free:
                theta = self._crank_angles_by_length(shapes, start, candidates)
            tau = candidates.first[:, None].copy()
            dense = self._follow_points(shapes, start, theta)
        else:
            all_shapes, poses, _, _ = self.atlas.compute_arcs
            shapes = all_shapes[candidates.member]
            theta = candidates.first[:, None] + candidates.span[:, None] * shares
            column = np.round(theta[:, 0] / (2.0 * np.pi / SAMPLES)).astype(int) % SAMPLES
            tau = np.column_stack([candidates.first, candidates.span])
            dense = self._follow_points(shapes, poses[candidates.member, column], theta, start_anywhere=True)
        if self.free:
            tau = np.empty((len(shapes), 0))
        m = len(shapes)
        w = dense[..., 0] + 1j * dense[..., 1]
        q = self._q
        alpha, beta = self._best_similarity(w)
        fits = FitSet(shapes, tau, theta, alpha, beta, q, np.full(m, np.inf))
        return replace(fits, cost=self._cost(fits))

    def _follow_points(self, shapes: Array, start: Array, theta: Array, *, start_anywhere: bool = False) -> Array:
        """Follow the linkages along theta, from poses at crank angle 0 (or at the first angle); return points (m, K, 2)
        and store the poses in `_q`."""
        p = self.atlas.p(shapes)
        if not start_anywhere:
            lead = np.linspace(0.0, 1.0, 24) * theta[:, :1]
            start = self.swept.follow_along(lead, start, p).q[:, -1]
        steps = 2 if theta.shape[1] >= 24 else max(2, int(np.ceil(48 / theta.shape[1])))
        between = [theta[:, :1]]
        for k in range(theta.shape[1] - 1):
            part = (
                theta[:, k : k + 1] + (theta[:, k + 1 : k + 2] - theta[:, k : k + 1]) * np.arange(1, steps + 1) / steps
            )
            between.append(part)
        found = self.swept.follow_along(np.concatenate(between, axis=1), start, p)
        at = np.arange(theta.shape[1]) * steps
        self._q = found.q[:, at].copy()
        return found.point[:, at]

    def _crank_angles_by_length(self, shapes: Array, start: Array, candidates: Candidates) -> Array:
        """Find the crank angles at which the curves have the target points' shares of arc length."""
        grid = 2.0 * np.pi * np.arange(2 * SAMPLES + 1) / (2 * SAMPLES)
        point = self.swept.follow_along(grid, start, self.atlas.p(shapes)).point
        steps = np.abs(np.diff(point[..., 0] + 1j * point[..., 1], axis=1))
        at = np.concatenate([np.zeros((len(shapes), 1)), np.cumsum(steps, axis=1)], axis=1)
        at /= at[:, -1:]
        theta = np.empty((len(shapes), len(self.z)))
        for i in range(len(shapes)):
            share = candidates.first[i] / (2.0 * np.pi) + candidates.sense[i] * self.shares
            turns = np.floor(share)
            theta[i] = np.interp(share - turns, at[i], grid) + 2.0 * np.pi * turns
        return theta

    # ---------------------------------------------------------------------------------------------- one step

    def _evaluate_with_derivatives(self, fits: FitSet) -> tuple[Complex, Array, Complex, Array]:
        """Evaluate w (m, K), reach (m, K), dw with respect to angle and shape (m, K, 1 + k), and the same derivatives
        of reach."""
        m, K = fits.theta.shape
        q = fits.q.copy()
        q[..., self.swept.driven] = fits.theta
        p = np.repeat(self.atlas.p(fits.shapes), K, axis=0)
        found = self.swept.compute_slopes(q.reshape(m * K, -1), p)
        slopes = found.slopes.reshape(m, K, -1, 3)
        w = (found.point[:, 0] + 1j * found.point[:, 1]).reshape(m, K)
        return w, found.reach.reshape(m, K), slopes[..., 0] + 1j * slopes[..., 1], slopes[..., 2]

    def _linearise(self, fits: FitSet) -> tuple[Array, Array, Complex, Complex]:
        """Linearise the problem: return residuals (m, r) and Jacobians (m, r, c); e (m, K), its columns (m, K, c), and
        tangents (…, last)."""
        w, reach, dw, dreach = self._evaluate_with_derivatives(fits)
        m, K = w.shape
        factor = np.ones(fits.shapes.shape)
        factor[:, : self._positive] = fits.shapes[:, : self._positive]
        alpha = fits.alpha[:, None]
        e = alpha * w + fits.beta[:, None] - self.z
        tangent = alpha * dw[..., 0]
        by_shape = alpha[..., None] * dw[..., 1:] * factor[:, None]
        by_time = [tangent * each for each in self._columns_of_timing] if not self.free else []
        rest = [w, 1j * w, np.ones_like(w), 1j * np.ones_like(w)]
        D = np.concatenate([by_shape, np.stack([*by_time, *rest], axis=-1)], axis=-1)
        low = REACH_WEIGHT * np.minimum(reach - LEAST_REACH, 0.0)
        R = np.zeros((m, K, D.shape[-1]))
        R[..., : fits.shapes.shape[1]] = dreach[..., 1:] * factor[:, None]
        for c, each in enumerate(self._columns_of_timing if not self.free else ()):
            R[..., fits.shapes.shape[1] + c] = dreach[..., 0] * each
        R *= np.where(reach < LEAST_REACH, REACH_WEIGHT, 0.0)[..., None]
        if self.free:
            across = 1j * tangent / np.maximum(np.abs(np.nan_to_num(tangent)), 1e-12)
            r, J = (np.conj(across) * e).real, (np.conj(across)[..., None] * D).real
        else:
            r, J = np.concatenate([e.real, e.imag], axis=1), np.concatenate([D.real, D.imag], axis=1)
        scale = self._scale
        whole = np.concatenate([scale * r, low / np.sqrt(K)], axis=1)
        return (
            whole,
            np.concatenate([scale * J, R / np.sqrt(K)], axis=1),
            e,
            np.concatenate([D, tangent[..., None]], axis=-1),
        )

    @property
    def _columns_of_timing(self) -> tuple[Any, ...]:
        return (1.0,) if self.target.closed else (1.0, self.shares)

    def _cost(self, fits: FitSet) -> Array:
        """Return the cost (m,): mean squared distance in sizes of the curve, plus a penalty for missing reach."""
        m, K = fits.theta.shape
        q = fits.q.copy()
        q[..., self.swept.driven] = fits.theta
        found = self.swept.points(q.reshape(m * K, -1), np.repeat(self.atlas.p(fits.shapes), K, axis=0))
        w = (found[:, 0] + 1j * found[:, 1]).reshape(m, K)
        low = REACH_WEIGHT * np.minimum(found[:, 4].reshape(m, K) - LEAST_REACH, 0.0)
        off = np.abs(fits.alpha[:, None] * w + fits.beta[:, None] - self.z) * self._scale
        return np.asarray(np.nan_to_num((off**2).sum(axis=1) + (low**2).mean(axis=1), nan=np.inf))

    def _apply_step(self, fits: FitSet, increment: Array, theta: Array) -> FitSet:
        k, positive, count = fits.shapes.shape[1], self._positive, fits.tau.shape[1]
        shapes = fits.shapes + increment[:, :k]
        shapes[:, :positive] = fits.shapes[:, :positive] * np.exp(increment[:, :positive])
        tau = fits.tau + increment[:, k : k + count]
        rest = increment[:, k + count :]
        alpha, beta = fits.alpha + rest[:, 0] + 1j * rest[:, 1], fits.beta + rest[:, 2] + 1j * rest[:, 3]
        moved = replace(fits, shapes=shapes, tau=tau, theta=theta, alpha=alpha, beta=beta)
        return replace(moved, cost=self._cost(moved))

    def improve(self, fits: FitSet, iterations: int, should_stop: Callable[[], bool] = lambda: False) -> FitSet:
        """Run this many Levenberg–Marquardt iterations on all fits."""
        m = len(fits.shapes)
        damping = np.full(m, 1e-3)
        k = fits.shapes.shape[1]
        for _ in range(iterations):
            if should_stop():
                break
            r, J, e, D = self._linearise(fits)
            A = np.einsum("mrc,mrd->mcd", J, J)
            g = np.einsum("mrc,mr->mc", J, r)
            diagonal = np.einsum("mcc->mc", A)
            A = A + (damping[:, None] * diagonal + 1e-14 * diagonal.max(axis=1, keepdims=True) + 1e-300)[
                ..., None
            ] * np.eye(A.shape[1])
            if not np.isfinite(A).all():
                bad = ~np.isfinite(A).all(axis=(1, 2)) | ~np.isfinite(g).all(axis=1)
                A[bad], g[bad] = np.eye(A.shape[1]), 0.0
            step = -np.linalg.solve(A, g[..., None])[..., 0]
            bounded = step[:, : k + fits.tau.shape[1]]
            step *= np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(bounded).max(axis=1, keepdims=True), 1e-300))
            if self.free:
                tangent = D[..., -1]
                left = e + np.einsum("mkc,mc->mk", D[..., :-1], step)
                turn = -(np.conj(tangent) * left).real / np.maximum(np.abs(tangent) ** 2, 1e-300)
                theta = fits.theta + np.clip(turn, -LONGEST_STEP, LONGEST_STEP)
            else:
                theta = fits.theta + sum(step[:, k + c, None] * each for c, each in enumerate(self._columns_of_timing))
            trial = self._apply_step(fits, step, theta)
            better = trial.cost < fits.cost
            damping = np.where(better, np.maximum(damping * 0.2, 1e-12), np.minimum(damping * 5.0, 1e8))
            fits = _combine_fits(better, trial, fits)
            if better.any():
                fits = self._update_pose_guesses(fits, better)
            if (fits.cost < EXACT**2).any() or (damping > 1e7).all():
                break
        return fits

    def _update_pose_guesses(self, fits: FitSet, rows: NDArray[np.bool_]) -> FitSet:
        """Update the pose guesses on the branch for the fits of `rows`."""
        chosen = fits.select(rows)
        m, K = chosen.theta.shape
        q = chosen.q.copy()
        q[..., self.swept.driven] = chosen.theta
        found = self.swept.poses(q.reshape(m * K, -1), np.repeat(self.atlas.p(chosen.shapes), K, axis=0))
        whole = fits.q.copy()
        whole[rows] = found.q.reshape(m, K, -1)
        return replace(fits, q=whole)

    def refine_to_convergence(self, fit: FitSet) -> FitSet:
        """Refine one fit (m = 1) to convergence by `scipy.optimize.least_squares` with the exact Jacobian and the
        similarity eliminated (Kaufman 1975); for an untimed curve all crank angles are unknowns."""
        k, count, K = fit.shapes.shape[1], fit.tau.shape[1], len(self.z)
        zero = np.zeros(k + (K if self.free else count))

        def at(x: Array) -> tuple[FitSet, Any]:
            by_time = 0.0 if self.free else sum(x[k + c] * each for c, each in enumerate(self._columns_of_timing))
            shapes = fit.shapes + x[:k]
            shapes[:, : self._positive] = fit.shapes[:, : self._positive] * np.exp(x[: self._positive])
            tau = fit.tau if self.free else fit.tau + x[k:]
            moved = replace(fit, shapes=shapes, tau=tau, theta=fit.theta + (x[k:] if self.free else by_time))
            values = self._evaluate_with_derivatives(moved)
            alpha, beta = self._best_similarity(values[0])
            return replace(moved, alpha=alpha, beta=beta), values

        def residuals_and_jacobian(x: Array) -> tuple[Array, Array]:
            moved, (w, reach, dw, dreach) = at(x)
            e = (moved.alpha[:, None] * w + moved.beta[:, None] - self.z)[0]
            factor = np.ones(k)
            factor[: self._positive] = moved.shapes[0, : self._positive]
            active = np.where(reach[0] < LEAST_REACH, REACH_WEIGHT, 0.0)[:, None] / np.sqrt(K)
            tangent, lost = moved.alpha[0] * dw[0, :, 0], active[:, 0] * dreach[0, :, 0]
            if self.free:
                by_angle, lost_by = np.diag(tangent), np.diag(lost)
            else:
                columns = [np.broadcast_to(each, K) for each in self._columns_of_timing]
                by_angle, lost_by = (np.stack([x * c for c in columns], axis=1) for x in (tangent, lost))
            D = np.concatenate([moved.alpha[0] * dw[0, :, 1:] * factor, by_angle], axis=1)
            Q, _ = np.linalg.qr(np.stack([w[0], np.ones(K)], axis=1))
            D = self._scale * (D - Q @ (np.conj(Q.T) @ D))  # what the similarity cannot follow
            slope = np.concatenate([active * dreach[0, :, 1:] * factor, lost_by], axis=1)
            low = REACH_WEIGHT * np.minimum(reach[0] - LEAST_REACH, 0.0) / np.sqrt(K)
            r = np.concatenate([self._scale * e.real, self._scale * e.imag, low])
            return r, np.concatenate([D.real, D.imag, slope])

        with np.errstate(over="ignore", invalid="ignore"):  # a step too far, whose lengths overflow, is not taken
            result = at(_minimise_squares(residuals_and_jacobian, zero, 60 if self.target.closed else 300))[0]
            result = replace(result, cost=self._cost(result))
        return result if result.cost[0] <= fit.cost[0] else fit

    def _best_similarity(self, curves: Complex) -> tuple[Complex, Complex]:
        """Return the similarity transform (α, β) (m,) that brings curves (m, K) nearest to the target."""
        centred = curves - curves.mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):  # a curve that is a point is near nothing: nan, the worst of all costs
            alpha = (np.conj(centred) * (self.z - self.z.mean())).sum(axis=1) / (np.abs(centred) ** 2).sum(axis=1)
        return alpha, self.z.mean() - alpha * curves.mean(axis=1)

    def solved(
        self,
        count: int,
        should_stop: Callable[[], bool] = lambda: False,
        report: Callable[[FitSet], None] = lambda _: None,
    ) -> FitSet:
        """Fit `count` candidates and refine them in rounds; return the best fits, the best first."""
        fits = self.initial_fits(self.find_candidates(count))
        for iterations, part in ROUNDS:
            fits = self.improve(fits, iterations, should_stop)
            order = np.argsort(fits.cost, kind="stable")
            fits = fits.select(order[: max(len(order) // part, min(5, len(order)))])
            report(fits)
            if should_stop() or fits.cost[0] < EXACT**2:
                break
        return fits


def _minimise_squares(
    residuals_and_jacobian: Callable[[Array], tuple[Array, Array]], start: Array, max_evaluations: int
) -> Array:
    """Minimise a sum of squares. residuals_and_jacobian : x → residuals and their Jacobian"""
    kept: dict[bytes, tuple[Array, Array]] = {}

    def evaluate_cached(x: Array) -> tuple[Array, Array]:
        if x.tobytes() not in kept:
            kept.clear()
            kept[x.tobytes()] = residuals_and_jacobian(x)
        return kept[x.tobytes()]

    tight = {"xtol": 3e-16, "ftol": 3e-16, "gtol": 3e-16}
    found = least_squares(
        lambda x: evaluate_cached(x)[0],
        start,
        lambda x: evaluate_cached(x)[1],
        method="lm",
        max_nfev=max_evaluations,
        **tight,
    )
    return np.asarray(found.x)


def _combine_fits(rows: NDArray[np.bool_], a: FitSet, b: FitSet) -> FitSet:
    """Combine two sets of fits: `a` for the rows that are set, otherwise `b`."""

    def combine_field(name: str) -> Any:
        x, y = getattr(a, name), getattr(b, name)
        return np.where(rows.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    return FitSet(*(combine_field(name) for name in a.__dataclass_fields__))
