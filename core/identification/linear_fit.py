"""Linear least squares with statistics (covariance, confidence intervals, correlation, whiteness of the residuals), and
the part of the results that fits of forces and fits of runs have in common.

With y = Y π + e, cov e = σ² W⁻¹, the estimate has the covariance σ² (Yᵀ W Y)⁻¹, and 95 % of the intervals
π̂ ± t √diag hold the truth (Draper and Smith, Applied Regression Analysis). Weights are one for each force, from the
residuals of a first fit (Gautier and Venture, IROS 2013). Total least squares counts noise in Y, too (Van Huffel and
Vandewalle, The Total Least Squares Problem, 1991).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from scipy.stats import t as student

from core.errors import SimulationError

Array = NDArray[np.float64]
Method = Literal["ordinary", "weighted", "total"]
METHODS: tuple[Method, ...] = ("ordinary", "weighted", "total")

CONFIDENCE = 0.95
SURELY_CORRELATED = 0.01
"""Probability, under the assumption of white noise, below which residuals count as correlated."""
LAGS = 10
"""Number of lags of the Ljung–Box test."""
NOISELESS_FRACTION = 1e-10
"""Fraction of the forces below which residuals count as rounding errors, without statistics."""
UNSEEN_FRACTION = 1e-10
"""Fraction of the largest singular value (columns scaled to one) below which a combination of parameters is not
identifiable."""


class WhitenessTest(NamedTuple):
    """Whiteness test of one signal's residuals: correlation of neighbours, and the probability of such residuals in
    white noise (G. Ljung, G. Box, Biometrika 65, 1978)."""

    neighbours: float
    probability: float


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Result of a linear fit. estimate (r,); covariance (r, r); intervals (r, 2) of 95 %; sigma (m,) noise of each of
    the m forces; residuals (n, m), N·m or N; whiteness, one per force; condition of the scaled matrix; method."""

    estimate: Array
    covariance: Array
    intervals: Array
    sigma: Array
    residuals: Array
    whiteness: tuple[WhitenessTest, ...]
    condition: float
    method: str

    @property
    def deviations(self) -> Array:
        """Standard deviations (r,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> Array:
        """Correlation matrix (r, r) of the estimates."""
        size = np.where(self.deviations > 0.0, self.deviations, 1.0)
        return np.asarray(self.covariance / np.outer(size, size))

    @property
    def doubtful(self) -> bool:
        """True if the residuals contradict the noise model assumed by the intervals."""
        return bool(self.correlated_forces)

    @property
    def correlated_forces(self) -> tuple[int, ...]:
        """Indices of forces whose residuals are not white noise (Bonferroni correction over several forces)."""
        least = SURELY_CORRELATED / max(len(self.whiteness), 1)
        return tuple(k for k, each in enumerate(self.whiteness) if each.probability < least)


def fit_linear(Y: Array, tau: Array, method: Method = "weighted") -> LinearFit:
    """Fit Y π = τ. Y : (n, m, r) of m forces at n instants; tau : (n, m).

    Raises SimulationError where the data do not show all r parameters.
    """
    count, forces, width = Y.shape
    if count * forces <= width:
        raise SimulationError(
            f"{count * forces} equations are too few for {width} parameters.",
            where="trace",
            remedy="Give a longer trace, or identify fewer parameters.",
        )
    weights = np.ones(forces)
    estimate, residuals, spread, condition = _weighted_least_squares(Y, tau, weights)
    if method == "weighted":
        for _ in range(3):
            sizes = np.sqrt(np.mean(residuals**2, axis=0))
            floor = NOISELESS_FRACTION * max(float(np.sqrt(np.mean(tau**2))), 1e-300)
            weights = 1.0 / np.maximum(sizes, floor)
            estimate, residuals, spread, condition = _weighted_least_squares(Y, tau, weights)
    if method == "total":
        estimate, residuals, covariance = _total_least_squares(Y, tau)
        return build_linear_fit(estimate, residuals, covariance, tau, condition, method)
    variance = float(np.sum((residuals * weights) ** 2)) / (count * forces - width)
    return build_linear_fit(estimate, residuals, variance * spread, tau, condition, method)


def build_linear_fit(
    estimate: Array, residuals: Array, covariance: Array, measured: Array, condition: float, method: str
) -> LinearFit:
    """Build a fit from the estimate, the residuals (n, m) of measured values (n, m), and the covariance."""
    (count, signals), width = residuals.shape, len(estimate)
    freedom = count * signals - width
    half = float(student.ppf(0.5 + 0.5 * CONFIDENCE, freedom)) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    intervals = np.stack([estimate - half, estimate + half], axis=-1)
    sigma = np.sqrt(np.sum(residuals**2, axis=0) / max(count - width / signals, 1.0))
    noiseless = float(np.max(np.abs(residuals))) <= NOISELESS_FRACTION * float(np.max(np.abs(measured), initial=0.0))
    white = tuple(WhitenessTest(0.0, 1.0) if noiseless else test_whiteness(column) for column in residuals.T)
    return LinearFit(estimate, covariance, intervals, sigma, residuals, white, condition, method)


def _weighted_least_squares(Y: Array, tau: Array, weights: Array) -> tuple[Array, Array, Array, float]:
    """Solve weighted least squares by QR with scaled columns; return (estimate, residuals, (YᵀWY)⁻¹, condition)."""
    width = Y.shape[-1]
    W = (Y * weights[:, None]).reshape(-1, width)
    scale = np.linalg.norm(W, axis=0)
    U, sigma, Vt = np.linalg.svd(W / np.where(scale > 0.0, scale, 1.0), full_matrices=False)
    if not sigma[-1] > UNSEEN_FRACTION * sigma[0]:
        raise SimulationError(
            "Not all parameters are identifiable from the data.",
            where="trace",
            remedy="Record a faster motion of all joints over a wider range.",
        )
    estimate = Vt.T @ ((U.T @ (tau * weights).ravel()) / sigma) / scale
    half = Vt.T / sigma / scale[:, None]
    return estimate, tau - Y @ estimate, half @ half.T, float(sigma[0] / sigma[-1])


def _total_least_squares(Y: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Solve total least squares with noise in Y proportional to that in τ; return (estimate, residuals, covariance)."""
    width = Y.shape[-1]
    W, y = Y.reshape(-1, width), tau.ravel()
    scale, size = np.linalg.norm(W, axis=0), float(np.linalg.norm(y)) or 1.0
    sigma, Vt = np.linalg.svd(np.column_stack([W / scale, y / size]), full_matrices=False)[1:]
    last = Vt[-1]
    if abs(last[-1]) < 1e-12:
        raise SimulationError(
            "Total least squares has no solution for these data.",
            where="method",
            remedy="Choose the method 'weighted'.",
        )
    x = -last[:-1] / last[-1]
    estimate = x * size / scale
    normal = (W / scale).T @ (W / scale) - sigma[-1] ** 2 * np.eye(width)
    variance = sigma[-1] ** 2 / max(len(y) - width, 1) * (1.0 + float(x @ x))
    covariance = variance * np.linalg.inv(normal) * np.outer(size / scale, size / scale)
    return estimate, tau - Y @ estimate, covariance


def test_whiteness(residuals: Array) -> WhitenessTest:
    """Test the residuals (n,) of one signal, ordered in time, for whiteness."""
    n = len(residuals)
    x = residuals - np.mean(residuals)
    power = float(x @ x)
    lags = min(LAGS, n // 5)
    if power == 0.0 or lags < 1:
        return WhitenessTest(0.0, 1.0)
    rho = np.array([x[k:] @ x[:-k] for k in range(1, lags + 1)]) / power
    score = n * (n + 2) * float(np.sum(rho**2 / (n - np.arange(1, lags + 1))))
    return WhitenessTest(float(rho[0]), float(chi2.sf(score, lags)))


class Validation(NamedTuple):
    """Validation with rows that are held back from the fit. time (n,); measured, predicted (n, m); rms (m,), in the
    unit of each; relative (m,) rms of the error over that of the measured values."""

    time: Array
    measured: Array
    predicted: Array

    @property
    def rms(self) -> Array:
        """Root mean square (m,) of the error."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.predicted) ** 2, axis=0)))

    @property
    def relative(self) -> Array:
        """Root mean square (m,) of the error relative to that of the measured values."""
        size = np.sqrt(np.mean(self.measured**2, axis=0))
        return np.asarray(self.rms / np.where(size > 0.0, size, 1.0))


class FitResult:
    """Result of a fit. names (r,) of the estimated quantities; fit : estimates with intervals; measured (n, m) at the
    rows of the fit, one column per force or channel."""

    if TYPE_CHECKING:  # subclasses have them as fields

        @property
        def names(self) -> tuple[str, ...]: ...

        @property
        def fit(self) -> LinearFit: ...

        @property
        def measured(self) -> Array: ...

    @property
    def estimate(self) -> Array:
        """Estimates (r,) in the order of `names`, SI."""
        return self.fit.estimate

    @property
    def intervals(self) -> Array:
        """Confidence intervals (r, 2) of 95 %."""
        return self.fit.intervals

    @property
    def predicted(self) -> Array:
        """Predicted values (n, m) at the rows of the fit."""
        return self.measured - self.fit.residuals

    @property
    def rms(self) -> Array:
        """Root mean square (m,) of the residuals."""
        return np.asarray(np.sqrt(np.mean(self.fit.residuals**2, axis=0)))

    @property
    def weak(self) -> tuple[str, ...]:
        """Names of estimates whose confidence interval contains zero."""
        low, high = self.intervals.T
        return tuple(name for name, a, b in zip(self.names, low, high, strict=True) if a <= 0.0 <= b)
