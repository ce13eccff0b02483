"""Probability distributions of varied values, by their quantile functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, near_misses

Array = NDArray[np.float64]


class Distribution(NamedTuple):
    """Probability distribution. kind : a key of `KINDS`; numbers : its parameters, SI."""

    kind: str
    numbers: tuple[float, ...]

    def quantile(self, u: Array) -> Array:
        """Return the quantiles for probabilities u in (0, 1)."""
        return KINDS[self.kind].quantile(u, *self.numbers)

    @property
    def centre(self) -> float:
        """Median."""
        return float(self.quantile(np.array([0.5]))[0])

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{x:.6g}' for x in self.numbers)})"


class Kind(NamedTuple):
    """Kind of distribution: names of its parameters, quantile function, and check of parameters that returns an error
    text ("" if valid)."""

    names: tuple[str, ...]
    quantile: Callable[..., Array]
    wrong: Callable[..., str]


def _normal(u: Array, mean: float, deviation: float) -> Array:
    """Compute quantiles of the normal distribution by Wichura's AS 241 (Applied Statistics 37, 1988) from Python's
    library, since importing SciPy's takes 0.2 s."""
    u = np.asarray(u, dtype=float)
    parts = np.fromiter(map(NormalDist().inv_cdf, u.ravel().tolist()), float, u.size)
    return np.asarray(mean + deviation * parts.reshape(u.shape))


def _triangular(u: Array, low: float, peak: float, high: float) -> Array:
    span, left = high - low, peak - low
    below = low + np.sqrt(u * span * left)
    above = high - np.sqrt((1.0 - u) * span * (high - peak))
    return np.where(u * span < left, below, above)


KINDS = {
    "normal": Kind(("mean", "deviation"), _normal, lambda m, s: "" if s > 0.0 else "the deviation must be positive"),
    "lognormal": Kind(
        ("median", "deviation"),
        lambda u, median, s: np.asarray(median * np.exp(_normal(u, 0.0, s))),
        lambda m, s: "" if m > 0.0 and s > 0.0 else "median and deviation (of the logarithm) must be positive",
    ),
    "uniform": Kind(
        ("low", "high"),
        lambda u, low, high: np.asarray(low + u * (high - low)),
        lambda low, high: "" if low < high else "low must be less than high",
    ),
    "triangular": Kind(
        ("low", "peak", "high"),
        _triangular,
        lambda low, peak, high: "" if low <= peak <= high and low < high else "low ≤ peak ≤ high must hold",
    ),
}


def _checked_distribution(kind: str, *numbers: float) -> Distribution:
    names = KINDS[kind].names
    if len(numbers) != len(names):
        raise ModelError(f"{kind} takes {len(names)} numbers.", remedy=f"Write {kind}({', '.join(names)}).")
    if not all(math.isfinite(x) for x in numbers) or (wrong := KINDS[kind].wrong(*numbers)):
        wrong = wrong if all(math.isfinite(x) for x in numbers) else "all numbers must be finite"
        raise ModelError(
            f"{kind}{numbers} is not a distribution: {wrong}.", where=kind, remedy="Change its parameters."
        )
    return Distribution(kind, tuple(map(float, numbers)))


def normal(mean: float, deviation: float) -> Distribution:
    """Return a normal (Gaussian) distribution."""
    return _checked_distribution("normal", mean, deviation)


def lognormal(median: float, deviation: float) -> Distribution:
    """Return a log-normal distribution; deviation : of the logarithm."""
    return _checked_distribution("lognormal", median, deviation)


def uniform(low: float, high: float) -> Distribution:
    """Return a uniform distribution between two values."""
    return _checked_distribution("uniform", low, high)


def triangular(low: float, peak: float, high: float) -> Distribution:
    """Return a triangular distribution that rises from low to the peak and falls to high."""
    return _checked_distribution("triangular", low, peak, high)


_TEXT = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*")


def distribution_of(text: str, number: Callable[[str], float] = float) -> Distribution:
    """Parse a distribution such as "normal(2, 0.05)"; `number` parses one of its numbers.

    Raises ModelError naming what is wrong.
    """
    found = _TEXT.fullmatch(text)
    if found is None or found[1] not in KINDS:
        known = ", ".join(f"{kind}({', '.join(each.names)})" for kind, each in KINDS.items())
        remedy = near_misses(found[1], KINDS) if found else f"Write one of {known}."
        raise ModelError(f"'{text}' is not a distribution.", remedy=remedy)
    try:
        return _checked_distribution(found[1], *(number(part.strip()) for part in found[2].split(",")))
    except ValueError:
        raise ModelError(f"'{text}' contains a value that is not a number.", remedy="Write numbers in SI.") from None


# ------------------------------------------------------------------------------------------- points in a cube

HOW = ("random", "latin", "sobol")


def points(count: int, dimensions: int, seed: int, how: str) -> Array:
    """Return (count, dimensions) points inside the unit cube, reproducible by the seed.

    random : each row has a generator of its own, SeedSequence(seed, row), so that a longer study begins with a shorter
    one; latin : Latin hypercube; sobol : scrambled (Owen), which is balanced for powers of two
    """
    if how not in HOW:
        raise ModelError(f"There is no sampling method '{how}'.", where="how", remedy=f"Use one of {', '.join(HOW)}.")
    if how == "random":
        rows = (np.random.SeedSequence(seed, spawn_key=(row,)) for row in range(count))
        found = np.array([np.random.Generator(np.random.PCG64(each)).random(dimensions) for each in rows])
    else:
        from scipy.stats import qmc

        rng = np.random.default_rng(seed)
        if how == "sobol":
            drawn = qmc.Sobol(dimensions, rng=rng)
            found = drawn.random_base2(math.ceil(math.log2(max(count, 1))))[:count]
        else:
            found = qmc.LatinHypercube(dimensions, rng=rng).random(count)
    return np.clip(found.reshape(count, dimensions), 2.0**-54, 1.0 - 2.0**-53)


def correlated(u: Array, correlation: Sequence[Sequence[float]]) -> Array:
    """Transform points of the unit cube so that their normal scores have a correlation matrix (Gaussian copula).

    Raises ModelError for a matrix that is none.
    """
    from scipy.special import ndtr, ndtri

    matrix = np.array(correlation, dtype=float)
    try:
        if not np.allclose(matrix, matrix.T) or not np.allclose(np.diag(matrix), 1.0):
            raise np.linalg.LinAlgError
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise ModelError(
            "The correlations contradict each other: their matrix is not positive definite.",
            where="correlation",
            remedy="Make them smaller.",
        ) from None
    return np.asarray(ndtr(ndtri(u) @ factor.T))
