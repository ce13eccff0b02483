"""What fits of forces and fits of runs have in common: estimates with intervals, rows as the fit gives them, rows that
it did not see."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.identification.linear_fit import LinearFit

Array = NDArray[np.float64]


class Validation(NamedTuple):
    """Rows that the fit did not see. time (n,); measured, predicted (n, m); rms (m,), in the unit of each; relative
    (m,) rms of the error over that of what was measured."""

    time: Array
    measured: Array
    predicted: Array

    @property
    def rms(self) -> Array:
        """(m,) of the error."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.predicted) ** 2, axis=0)))

    @property
    def relative(self) -> Array:
        """(m,) error over what was measured."""
        size = np.sqrt(np.mean(self.measured**2, axis=0))
        return np.asarray(self.rms / np.where(size > 0.0, size, 1.0))


class Fitted:
    """names (r,) of what was found; fit : estimates with intervals; measured (n, m) at the rows of the fit, a column a
    force or a channel."""

    if TYPE_CHECKING:  # subclasses have them as fields

        @property
        def names(self) -> tuple[str, ...]: ...

        @property
        def fit(self) -> LinearFit: ...

        @property
        def measured(self) -> Array: ...

    @property
    def estimate(self) -> Array:
        """(r,) in the order of `names`, SI."""
        return self.fit.estimate

    @property
    def intervals(self) -> Array:
        """(r, 2) of 95 %."""
        return self.fit.intervals

    @property
    def predicted(self) -> Array:
        """(n, m) at the rows of the fit, as it gives them."""
        return self.measured - self.fit.residuals

    @property
    def rms(self) -> Array:
        """(m,) of the residuals."""
        return np.asarray(np.sqrt(np.mean(self.fit.residuals**2, axis=0)))

    @property
    def weak(self) -> tuple[str, ...]:
        """Names that zero is in the interval of."""
        low, high = self.intervals.T
        return tuple(name for name, a, b in zip(self.names, low, high, strict=True) if a <= 0.0 <= b)
