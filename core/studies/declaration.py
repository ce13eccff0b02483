"""Declaration of a study as plain data, which gives the same text for the same study, and the probability distributions
of its varied values, defined by their quantile functions."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, suggest_names

Array = NDArray[np.float64]

_TEXT = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*")
HOW = ("random", "latin", "sobol")
KINDS = ("runs", "poses", "targets", "linear systems")
"""Kinds of studies. runs: simulations; poses: positions given by coordinates; targets: positions of a frame, reached by
inverse kinematics; linear systems: small motions about the reference configuration."""
OPTIONS = ("duration", "step", "rtol", "atol")
"""Options of runs that a study may vary."""
MOST_ROWS = 5_000_000


class Distribution(NamedTuple):
    """Probability distribution. kind : a key of `DISTRIBUTION_KINDS`; numbers : its parameters, SI."""

    kind: str
    numbers: tuple[float, ...]

    def quantile(self, u: Array) -> Array:
        """Return the quantiles for probabilities u in (0, 1)."""
        return DISTRIBUTION_KINDS[self.kind].quantile(u, *self.numbers)

    @property
    def centre(self) -> float:
        """Median."""
        return float(self.quantile(np.array([0.5]))[0])

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{x:.6g}' for x in self.numbers)})"


class DistributionKind(NamedTuple):
    """Kind of distribution: names of its parameters, quantile function, and check of parameters that returns an error
    text ("" if valid)."""

    names: tuple[str, ...]
    quantile: Callable[..., Array]
    wrong: Callable[..., str]


def _normal_quantiles(u: Array, mean: float, deviation: float) -> Array:
    """Compute quantiles of the normal distribution by Wichura's AS 241 (Applied Statistics 37, 1988) from Python's
    library, since importing SciPy's takes 0.2 s."""
    u = np.asarray(u, dtype=float)
    parts = np.fromiter(map(NormalDist().inv_cdf, u.ravel().tolist()), float, u.size)
    return np.asarray(mean + deviation * parts.reshape(u.shape))


def _triangular_quantiles(u: Array, low: float, peak: float, high: float) -> Array:
    span, left = high - low, peak - low
    below = low + np.sqrt(u * span * left)
    above = high - np.sqrt((1.0 - u) * span * (high - peak))
    return np.where(u * span < left, below, above)


DISTRIBUTION_KINDS = {
    "normal": DistributionKind(
        ("mean", "deviation"), _normal_quantiles, lambda m, s: "" if s > 0.0 else "the deviation must be positive"
    ),
    "lognormal": DistributionKind(
        ("median", "deviation"),
        lambda u, median, s: np.asarray(median * np.exp(_normal_quantiles(u, 0.0, s))),
        lambda m, s: "" if m > 0.0 and s > 0.0 else "median and deviation (of the logarithm) must be positive",
    ),
    "uniform": DistributionKind(
        ("low", "high"),
        lambda u, low, high: np.asarray(low + u * (high - low)),
        lambda low, high: "" if low < high else "low must be less than high",
    ),
    "triangular": DistributionKind(
        ("low", "peak", "high"),
        _triangular_quantiles,
        lambda low, peak, high: "" if low <= peak <= high and low < high else "low ≤ peak ≤ high must hold",
    ),
}


def _make_distribution(kind: str, *numbers: float) -> Distribution:
    names = DISTRIBUTION_KINDS[kind].names
    if len(numbers) != len(names):
        raise ModelError(f"{kind} takes {len(names)} numbers.", remedy=f"Write {kind}({', '.join(names)}).")
    if not all(math.isfinite(x) for x in numbers) or (wrong := DISTRIBUTION_KINDS[kind].wrong(*numbers)):
        wrong = wrong if all(math.isfinite(x) for x in numbers) else "all numbers must be finite"
        raise ModelError(
            f"{kind}{numbers} is not a valid distribution: {wrong}.", where=kind, remedy="Change its parameters."
        )
    return Distribution(kind, tuple(map(float, numbers)))


def normal(mean: float, deviation: float) -> Distribution:
    """Return a normal (Gaussian) distribution."""
    return _make_distribution("normal", mean, deviation)


def lognormal(median: float, deviation: float) -> Distribution:
    """Return a log-normal distribution; deviation : of the logarithm."""
    return _make_distribution("lognormal", median, deviation)


def uniform(low: float, high: float) -> Distribution:
    """Return a uniform distribution between two values."""
    return _make_distribution("uniform", low, high)


def triangular(low: float, peak: float, high: float) -> Distribution:
    """Return a triangular distribution that rises from low to the peak and falls to high."""
    return _make_distribution("triangular", low, peak, high)


def parse_distribution(text: str, parse_number: Callable[[str], float] = float) -> Distribution:
    """Parse a distribution such as "normal(2, 0.05)"; `parse_number` converts one of its numbers.

    Raises ModelError naming what is wrong.
    """
    found = _TEXT.fullmatch(text)
    if found is None or found[1] not in DISTRIBUTION_KINDS:
        known = ", ".join(f"{kind}({', '.join(each.names)})" for kind, each in DISTRIBUTION_KINDS.items())
        remedy = suggest_names(found[1], DISTRIBUTION_KINDS) if found else f"Write one of {known}."
        raise ModelError(f"'{text}' is not a distribution.", remedy=remedy)
    try:
        return _make_distribution(found[1], *(parse_number(part.strip()) for part in found[2].split(",")))
    except ValueError:
        raise ModelError(f"'{text}' contains a value that is not a number.", remedy="Write numbers in SI.") from None


# ------------------------------------------------------------------------------------------- points in a cube


def unit_cube_points(count: int, dimensions: int, seed: int, method: str) -> Array:
    """Return (count, dimensions) points in the unit cube, reproducible by the seed.

    random : each row has a generator of its own, SeedSequence(seed, row), so that a longer study begins with a shorter
    one; latin : Latin hypercube; sobol : scrambled (Owen), which is balanced for powers of two
    """
    if method not in HOW:
        raise ModelError(
            f"There is no sampling method '{method}'.", where="how", remedy=f"Use one of {', '.join(HOW)}."
        )
    if method == "random":
        rows = (np.random.SeedSequence(seed, spawn_key=(row,)) for row in range(count))
        found = np.array([np.random.Generator(np.random.PCG64(each)).random(dimensions) for each in rows])
    else:
        from scipy.stats import qmc

        rng = np.random.default_rng(seed)
        if method == "sobol":
            drawn = qmc.Sobol(dimensions, rng=rng)
            found = drawn.random_base2(math.ceil(math.log2(max(count, 1))))[:count]
        else:
            found = qmc.LatinHypercube(dimensions, rng=rng).random(count)
    return np.clip(found.reshape(count, dimensions), 2.0**-54, 1.0 - 2.0**-53)


def correlate_points(u: Array, correlation: Sequence[Sequence[float]]) -> Array:
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


@dataclass(frozen=True)
class StudyAxis:
    """Axis of a study: names of columns that vary together, and their values, row by row. how : "grid" and "list" have
    values; others are drawn from distributions, with count, seed and correlation matrix."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...] = ()
    how: str = "list"
    distributions: tuple[Distribution, ...] = ()
    count: int = 0
    seed: int = 0
    correlation: tuple[tuple[float, ...], ...] = ()

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.values) or self.count

    def rows(self) -> Array:
        """Return the values (size, names)."""
        if self.values:
            return np.array(self.values, dtype=float).reshape(len(self.values), len(self.names))
        if self.how == "saltelli":
            return self._saltelli_design()
        u = unit_cube_points(self.count, len(self.names), self.seed, self.how)
        return self._values_at_quantiles(correlate_points(u, self.correlation) if self.correlation else u)

    def _values_at_quantiles(self, u: Array) -> Array:
        return np.stack([d.quantile(u[:, k]) for k, d in enumerate(self.distributions)], axis=1)

    def _saltelli_design(self) -> Array:
        """Return Saltelli's blocks A, B and, for each column, A with that column of B, concatenated: (base · (d + 2),
        d)."""
        d = len(self.names)
        u = unit_cube_points(self.count // (d + 2), 2 * d, self.seed, "sobol")
        a, b = u[:, :d], u[:, d:]
        mixed = [np.where(np.arange(d) == k, b, a) for k in range(d)]
        return self._values_at_quantiles(np.concatenate([a, b, *mixed]))


@dataclass(frozen=True)
class Declaration:
    """Declaration of a study. model : text of the document; kind : of `KINDS`; axes : sets of rows whose Cartesian
    product is computed, the last fastest; record : formulas by name; curves : (channel, interval in s) by name; options
    : of `simulate`; frame : of targets; limit : s, after which a row is aborted."""

    model: str
    origin: str
    kind: str
    axes: tuple[StudyAxis, ...] = ()
    record: dict[str, str] = field(default_factory=dict)
    curves: dict[str, tuple[str, float]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    frame: str = ""
    limit: float = 60.0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the varied columns."""
        return tuple(name for axis in self.axes for name in axis.names)

    @cached_property
    def size(self) -> int:
        """Number of rows."""
        count = 1
        for axis in self.axes:
            count *= axis.size
        if count > MOST_ROWS:
            raise ModelError(
                f"The study would have {count} rows; {MOST_ROWS} is the limit.",
                where="study",
                remedy="Use fewer grid values, or random samples instead of a grid.",
            )
        return count

    def values(self) -> Array:
        """Return the values (size, columns), the same on all computers."""
        return self._compute_values

    @cached_property
    def _compute_values(self) -> Array:
        tables = [axis.rows() for axis in self.axes]
        count = self.size
        if len(tables) == 1:
            return tables[0]
        places = np.array(list(product(*(range(len(each)) for each in tables))), dtype=int).reshape(count, len(tables))
        return np.concatenate([each[places[:, k]] for k, each in enumerate(tables)], axis=1)

    @cached_property
    def text(self) -> str:
        """Return the declaration as JSON, the same for the same study."""
        return json.dumps(asdict(self))  # the order of columns counts

    @cached_property
    def hash(self) -> str:
        """Hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_declaration(text: str) -> Declaration:
    """Parse a declaration. Raises ModelError for an invalid text."""
    try:
        found = json.loads(text)
        axes = tuple(_read_axis(each) for each in found.pop("axes"))
        curves = {name: (str(channel), float(every)) for name, (channel, every) in found.pop("curves").items()}
        return Declaration(
            axes=axes, curves=curves, **{f.name: found[f.name] for f in fields(Declaration) if f.name in found}
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"The declaration of the study is damaged and cannot be read: {error}.",
            remedy="Restore an intact copy of the study file, or run the study again.",
        ) from None


def _read_axis(data: Mapping[str, Any]) -> StudyAxis:
    def to_nested_tuples(rows: Any) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(map(float, row)) for row in rows)

    drawn = tuple(Distribution(str(kind), tuple(map(float, numbers))) for kind, numbers in data["distributions"])
    return StudyAxis(
        tuple(map(str, data["names"])),
        to_nested_tuples(data["values"]),
        str(data["how"]),
        drawn,
        int(data["count"]),
        int(data["seed"]),
        to_nested_tuples(data["correlation"]),
    )


def describe_differences(old: Declaration, new: Declaration) -> list[str]:
    """Describe the differences between two declarations."""
    said = []
    for each in fields(Declaration):
        before, after = getattr(old, each.name), getattr(new, each.name)
        ordered = not isinstance(before, dict) or list(before) == list(after)
        if each.name == "origin" or (before == after and ordered):
            continue
        if each.name == "model":
            said.append("the model")
        elif each.name == "axes":
            said.append(
                f"what is varied ({', '.join(old.names)}: {old.size} rows; now {', '.join(new.names)}: {new.size})"
            )
        elif isinstance(before, dict):
            keys = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
            said.append(f"{each.name} of {', '.join(keys)}" if keys else f"the order in {each.name}")
        else:
            said.append(f"{each.name} ({before} before, {after} now)")
    return said
