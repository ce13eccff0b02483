"""Common results of force fits and run fits: estimates with confidence intervals, predicted rows, validation rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.identification.linear_fit import LinearFit

Array = NDArray[np.float64]


class Validation(NamedTuple):
    """Validation on rows held back from the fit. time (n,); measured, predicted (n, m); rms (m,), in the unit of each;
    relative (m,) rms of the error over that of the measured values."""

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


class Fitted:
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
