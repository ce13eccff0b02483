"""Time laws: how far along its path a motion is at a time, with speed, acceleration and jerk.

    law = trapezoid(0.0, 1.0, velocity=0.5, acceleration=2.0)
    s, v, a = law.at(t)                              # law.jerk(t), law.duration, law.peaks()

Start and end are numbers, or (n,) vectors whose components then move in proportion, the slowest sets the pace (pass
`synchronised=False` to `trapezoid` and `s_curve` to have each as fast as its own limits permit). Limits are magnitudes,
a number for all components or one for each. Source: Biagiotti and Melchiorri, Trajectory Planning for Automatic
Machines and Robots, Springer 2008, chapters 2–4.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError

Array = NDArray[np.float64]
TOO_SHORT = 1e-12
"""Relative amount by which a given duration may lie below the shortest one (rounding)."""


class Peaks(NamedTuple):
    """Largest magnitudes of a law, one for each component: speed, acceleration and jerk. Jumps of the acceleration,
    which are impulses of the jerk, are not counted."""

    velocity: Any
    acceleration: Any
    jerk: Any


class TimeLaw(ABC):
    """Position over time from 0 to `duration`, s. Before and after that the law holds its end position.

    duration : s; start, end : positions, numbers or (n,)
    """

    def __init__(self, duration: float, start: Array, end: Array) -> None:
        self.duration, self.start, self.end = float(duration), start, end

    @abstractmethod
    def _derivative(self, t: Array, order: int) -> Array:
        """(…, *shape) derivative of the position at times (…) within the duration."""

    @abstractmethod
    def _peak(self, order: int) -> Array:
        """(*shape) largest magnitude of a derivative."""

    def derivative(self, t: Any, order: int) -> Array:
        """(…) or (…, n) derivative of the position at times t (…), s; zero before the start and after the end."""
        at = np.asarray(t, dtype=float)
        found = self._derivative(np.clip(at, 0.0, self.duration), order)
        if order:
            is_outside = (at < 0.0) | (at > self.duration)
            found = np.where(is_outside.reshape(at.shape + (1,) * self.start.ndim), 0.0, found)
        return np.asarray(found)

    def at(self, t: Any) -> tuple[Array, Array, Array]:
        """Return position, speed and acceleration at times t (…), s, each (…) or (…, n)."""
        return self.derivative(t, 0), self.derivative(t, 1), self.derivative(t, 2)

    def jerk(self, t: Any) -> Array:
        """(…) or (…, n) jerk at times t (…), s."""
        return self.derivative(t, 3)

    def sample(self, step: float) -> tuple[Array, Array, Array, Array]:
        """Return times (N,), positions, speeds and accelerations at multiples of a step (s) and at the end."""
        if not (math.isfinite(step) and step > 0.0):
            raise ModelError(f"A step of {step:g} s is not possible.", remedy="Give a positive step.")
        count = math.floor(self.duration / step * (1.0 + 1e-12)) + 1
        times = np.minimum(np.arange(count) * step, self.duration)
        if times[-1] < self.duration:
            times = np.append(times, self.duration)
        return times, *self.at(times)

    def peaks(self) -> Peaks:
        """Return the largest speed, acceleration and jerk, from the extremes of the law, not from samples."""
        return Peaks(*(self._peak(order)[()] for order in (1, 2, 3)))

    def __repr__(self) -> str:
        """Return duration and ends."""
        return f"{type(self).__name__}(duration={self.duration:.6g} s, from {self.start} to {self.end})"


class PolynomialLaw(TimeLaw):
    """Polynomials between breaks.

    breaks : (K + 1,) times, s, that increase from 0; coefficients : (K, degree + 1) or (K, degree + 1, n) of powers of
    the time since the break, lowest first; lengths : (K,) s, where they are known to more digits than the differences
    of the breaks
    """

    def __init__(self, breaks: Any, coefficients: Any, end: Any = None, lengths: Any = None) -> None:
        self.breaks = np.asarray(breaks, dtype=float)
        self.lengths = np.diff(self.breaks) if lengths is None else np.asarray(lengths, dtype=float)
        self.coefficients = np.asarray(coefficients, dtype=float)
        reached = _evaluate(self.coefficients[-1:], self.lengths[-1:], 0)[0]
        super().__init__(
            self.breaks[-1], self.coefficients[0, 0], reached if end is None else np.asarray(end, dtype=float)
        )

    def _derivative(self, t: Array, order: int) -> Array:
        flat = t.reshape(-1)
        at = np.clip(np.searchsorted(self.breaks, flat, side="right") - 1, 0, len(self.coefficients) - 1)
        since = np.clip(flat - self.breaks[at], 0.0, self.lengths[at])  # a short phase may round to a longer one
        found = _evaluate(self.coefficients[at], since, order)
        if order == 0:
            found[flat >= self.duration] = self.end
        return found.reshape(t.shape + self.start.shape)

    def _peak(self, order: int) -> Array:
        largest = np.zeros(self.start.shape)
        for piece, length in zip(self.coefficients, self.lengths, strict=True):
            for at in np.ndindex(self.start.shape):
                own = np.polynomial.Polynomial(piece[(slice(None), *at)]).deriv(order)
                roots = own.deriv().roots() if own.degree() > 1 else np.zeros(0)
                inside = roots.real[(abs(roots.imag) < 1e-9 * max(length, 1e-300)) & (roots.real > 0.0)]
                times = np.array([0.0, length, *inside[inside < length]])
                largest[at] = np.maximum(largest[at], np.max(np.abs(own(times))))
        return largest

    def shifted(self, times: Array) -> Array:
        """(len(times) − 1, degree + 1, …) coefficients on finer breaks, which may go beyond the end."""
        mids = 0.5 * (times[:-1] + times[1:])
        at = np.clip(np.searchsorted(self.breaks, mids, side="right") - 1, 0, len(self.coefficients) - 1)
        found = np.zeros((len(mids), *self.coefficients.shape[1:]))
        is_after = mids > self.duration
        for order in range(self.coefficients.shape[1]):
            value = _evaluate(self.coefficients[at], times[:-1] - self.breaks[at], order) / math.factorial(order)
            found[:, order] = value
            found[is_after, order] = self.end if order == 0 else 0.0
        return found


def _evaluate(coefficients: Array, t: Array, order: int) -> Array:
    """(N, …) derivative of polynomials (N, degree + 1, …) at times (N,) by Horner's scheme."""
    found = np.zeros((len(coefficients), *coefficients.shape[2:]))
    time = t.reshape(-1, *(1,) * (coefficients.ndim - 2))
    for power in range(coefficients.shape[1] - 1, order - 1, -1):
        found = found * time + math.perm(power, order) * coefficients[:, power]
    return found


class PartOfLaw(TimeLaw):
    """A part of a law between two of its times, s."""

    def __init__(self, law: TimeLaw, begin: float, end: float) -> None:
        first, last = law.derivative(np.array([begin, end]), 0)
        super().__init__(end - begin, np.asarray(first), np.asarray(last))
        self._law, self._begin = law, begin

    def _derivative(self, t: Array, order: int) -> Array:
        return self._law.derivative(np.minimum(t + self._begin, self._law.duration), order)

    def _peak(self, order: int) -> Array:
        return np.asarray(getattr(self._law.peaks(), _DERIVATIVES[order - 1]))


class SinusoidalLaw(TimeLaw):
    """start + (end − start) · (c₀ + c₁ x + a cos 2πfx + b sin 2πfx) with x = t / duration.

    terms : (c₀, c₁, a, b, f)
    """

    def __init__(self, duration: float, start: Array, end: Array, terms: tuple[float, float, float, float, float]):
        super().__init__(duration, start, end)
        self._terms = terms

    def _derivative(self, t: Array, order: int) -> Array:
        at = t.reshape(t.shape + (1,) * self.start.ndim)
        if self.duration == 0.0:
            return np.broadcast_to(self.end if order == 0 else np.zeros_like(self.end), t.shape + self.end.shape)
        constant, linear, cosine, sine, frequency = self._terms
        x, turn = at / self.duration, 2.0 * math.pi * frequency
        angle = turn * x + 0.5 * math.pi * order
        share = turn**order * (cosine * np.cos(angle) + sine * np.sin(angle))
        share = share + (constant + linear * x if order == 0 else linear if order == 1 else 0.0)
        found = share * (self.end - self.start) / self.duration**order + (self.start if order == 0 else 0.0)
        return np.asarray(np.where((at >= self.duration) & (order == 0), self.end, found))

    def _peak(self, order: int) -> Array:
        if self.duration == 0.0:
            return np.zeros(self.start.shape)
        linear, cosine, sine, frequency = self._terms[1:]
        swing = math.hypot(cosine, sine) * (2.0 * math.pi * frequency) ** order
        return np.abs(self.end - self.start) * (swing + (linear if order == 1 else 0.0)) / self.duration**order


HARMONIC = (0.5, 0.0, -0.5, 0.0, 0.5)
CYCLOIDAL = (0.0, 1.0, 0.0, -0.5 / math.pi, 1.0)
"""Terms of `SinusoidalLaw`."""


# ------------------------------------------------------------------------------- laws from rest to rest


def trapezoid(
    start: Any,
    end: Any,
    *,
    velocity: Any,
    acceleration: Any,
    deceleration: Any = None,
    duration: float | None = None,
    synchronised: bool = True,
) -> TimeLaw:
    """Return the law of trapezoidal speed from rest to rest; a triangle where the distance is too short for full speed.

    velocity, acceleration, deceleration : limits; deceleration defaults to the acceleration; duration : s, to which the
    law is slowed down, at least the shortest one. Raises ModelError.
    """
    limits = {"velocity": velocity, "acceleration": acceleration, "deceleration": deceleration}
    return _within_limits(start, end, _trapezoid_phases, limits, duration, synchronised)


def s_curve(
    start: Any,
    end: Any,
    *,
    velocity: Any,
    acceleration: Any,
    jerk: Any,
    deceleration: Any = None,
    duration: float | None = None,
    synchronised: bool = True,
) -> TimeLaw:
    """Return the fastest law from rest to rest with limited speed, acceleration and jerk: up to seven phases.

    velocity, acceleration, deceleration, jerk : limits; deceleration defaults to the acceleration; duration : as in
    `trapezoid`. Raises ModelError.
    """
    limits = {"velocity": velocity, "acceleration": acceleration, "deceleration": deceleration, "jerk": jerk}
    return _within_limits(start, end, _s_curve_phases, limits, duration, synchronised)


Phases = list[tuple[float, float, float]]
"""(duration, jerk, acceleration at its start) of the phases of a law with unit displacement."""


def _trapezoid_phases(velocity: float, acceleration: float, deceleration: float) -> Phases:
    _check_finite(acceleration, deceleration)
    peak = min(velocity, math.sqrt(2.0 / (1.0 / acceleration + 1.0 / deceleration)))
    up, down = peak / acceleration, peak / deceleration
    level = max(0.0, (1.0 - 0.5 * peak * (up + down)) / peak) if peak == velocity else 0.0
    return [(up, 0.0, acceleration), (level, 0.0, 0.0), (down, 0.0, -deceleration)]


def _s_curve_phases(velocity: float, acceleration: float, deceleration: float, jerk: float) -> Phases:
    if not math.isfinite(jerk):
        return _trapezoid_phases(velocity, acceleration, deceleration)

    def ramp(peak: float, limit: float) -> tuple[float, float]:
        """(time of the jerk, time of constant acceleration) to reach a speed from rest."""
        if peak * jerk >= limit * limit:
            return limit / jerk, max(0.0, peak / limit - limit / jerk)
        return math.sqrt(peak / jerk), 0.0

    def distance_of(peak: float) -> float:
        """Distance of speeding up to a speed and slowing down from it."""
        (a, b), (c, d) = ramp(peak, acceleration), ramp(peak, deceleration)
        return 0.5 * peak * (2.0 * a + b + 2.0 * c + d)

    peak = velocity if distance_of(velocity) <= 1.0 else _solve_increasing(distance_of, 1.0, velocity)
    (a, b), (c, d) = ramp(peak, acceleration), ramp(peak, deceleration)
    level = max(0.0, (1.0 - distance_of(peak)) / peak) if peak == velocity else 0.0
    high, low = jerk * a, jerk * c
    up = [(a, jerk, 0.0), (b, 0.0, high), (a, -jerk, high)]
    return [*up, (level, 0.0, 0.0), (c, -jerk, 0.0), (d, 0.0, -low), (c, jerk, -low)]


def _check_finite(*accelerations: float) -> None:
    """Raise ModelError unless the acceleration is bounded."""
    if not all(map(math.isfinite, accelerations)):
        raise ModelError("Nothing bounds the acceleration.", remedy="Give a finite acceleration.")


def _solve_increasing(function: Callable[[float], float], value: float, above: float) -> float:
    """Return x in (0, above) where an increasing function has a value, to rounding."""
    from scipy.optimize import brentq

    below = above
    while function(below) > value:
        below *= 0.5
    return float(
        brentq(lambda x: function(x) - value, below, min(2.0 * below, above), xtol=1e-300, rtol=1e-15, maxiter=500)
    )


def _within_limits(
    start: Any,
    end: Any,
    phases: Callable[..., Phases],
    limits: dict[str, Any],
    duration: float | None,
    synchronised: bool,
) -> TimeLaw:
    """Return the fastest law of phases; components in proportion, or each as fast as it can."""
    first, last = _read_ends(start, end)
    if limits["deceleration"] is None:
        limits["deceleration"] = limits["acceleration"]
    read = {name: _read_limit(name, value, first.shape) for name, value in limits.items()}
    displacement = np.abs(last - first)
    if synchronised or not first.ndim:
        law: TimeLaw = _proportional(first, last, displacement, phases, read)
    else:
        law = combine(
            [
                _proportional(
                    first[k], last[k], displacement[k], phases, {name: value[k] for name, value in read.items()}
                )
                for k in range(len(first))
            ]
        )
    return law if duration is None else stretch_law(law, duration)


def _proportional(
    first: Array, last: Array, displacement: Array, phases: Callable[..., Phases], limits: dict[str, Array]
) -> PolynomialLaw:
    is_moving = displacement > 0.0
    if not is_moving.any():
        return rest(last, 0.0)
    slowest = {name: float(np.min(limit[is_moving] / displacement[is_moving])) for name, limit in limits.items()}
    lengths, pieces, speed, share = [], [], 0.0, 0.0
    for time, jerk, acceleration in phases(*slowest.values()):
        if time > 0.0:
            pieces.append([share, speed, 0.5 * acceleration, jerk / 6.0])
            lengths.append(time)
            share += time * (speed + time * (0.5 * acceleration + time * jerk / 6.0))
            speed += time * (acceleration + 0.5 * time * jerk)
    unit = np.array(pieces)
    coefficients = unit.reshape(*unit.shape, *(1,) * first.ndim) * (last - first)
    coefficients[:, 0] += first
    return PolynomialLaw(np.cumsum([0.0, *lengths]), coefficients, last, lengths)


def stretch_law(law: TimeLaw, duration: float) -> TimeLaw:
    """Return a polynomial law stretched to a duration, s. Raises ModelError if it is too short."""
    assert isinstance(law, PolynomialLaw)
    wanted = _read_duration(duration)
    if wanted < law.duration * (1.0 - TOO_SHORT):
        raise ModelError(
            f"The motion takes at least {law.duration:.6g} s within its limits, {wanted:g} s are given.",
            remedy="Give a longer duration, or higher limits.",
        )
    if law.duration == 0.0:
        return rest(law.end, wanted)
    ratio = law.duration / wanted
    powers = ratio ** np.arange(law.coefficients.shape[1])
    scaled = law.coefficients * powers.reshape(-1, *(1,) * law.start.ndim)
    return PolynomialLaw(law.breaks / ratio, scaled, law.end, law.lengths / ratio)


def rest(position: Any, duration: float) -> PolynomialLaw:
    """Return the law that stays at a position (a number or (n,)) for a duration, s."""
    at = np.asarray(position, dtype=float)
    return PolynomialLaw([0.0, duration], at.reshape(1, 1, *at.shape), at)


def combine(laws: Sequence[PolynomialLaw]) -> PolynomialLaw:
    """Return laws of single components as one law, each of which holds its end until the last one has ended."""
    breaks = np.unique(np.concatenate([law.breaks for law in laws]))
    if len(breaks) == 1:
        return rest([law.end for law in laws], 0.0)
    degree = max(law.coefficients.shape[1] for law in laws)
    coefficients = np.zeros((len(breaks) - 1, degree, len(laws)))
    for k, law in enumerate(laws):
        coefficients[:, : law.coefficients.shape[1], k] = law.shifted(breaks)
    return PolynomialLaw(breaks, coefficients, np.array([law.end for law in laws]))


# ------------------------------------------------------------------------------- polynomials and harmonics


def cubic(start: Any, end: Any, duration: float | None = None, **options: Any) -> TimeLaw:
    """Return the cubic with given end speeds; the acceleration jumps at its ends. Options as in `quintic`, without
    accelerations."""
    return _polynomial(start, end, duration, 2, options)


def quintic(start: Any, end: Any, duration: float | None = None, **options: Any) -> TimeLaw:
    """Return the polynomial of fifth degree with given end speeds and accelerations; the jerk jumps at its ends.

    duration : s; or, from rest to rest, limits `velocity`, `acceleration`, `jerk` that give the shortest one;
    start_velocity, end_velocity, start_acceleration, end_acceleration : numbers or (n,), zero by default. Raises
    ModelError.
    """
    return _polynomial(start, end, duration, 3, options)


def septic(start: Any, end: Any, duration: float | None = None, **options: Any) -> TimeLaw:
    """Return the polynomial of seventh degree with given end speeds, accelerations and jerks (start_jerk, end_jerk).
    Options as in `quintic`."""
    return _polynomial(start, end, duration, 4, options)


_DERIVATIVES = ("velocity", "acceleration", "jerk")


def _polynomial(start: Any, end: Any, duration: float | None, conditions: int, options: dict[str, Any]) -> TimeLaw:
    first, last = _read_ends(start, end)
    ends = {f"{side}_{name}" for side in ("start", "end") for name in _DERIVATIVES[: conditions - 1]}
    for name in options:
        if name not in ends and name not in _DERIVATIVES:
            known = ", ".join(sorted(ends | set(_DERIVATIVES)))
            raise ModelError(f"This law has no '{name}'.", remedy=f"Choose among {known}.")
    given = {name: np.broadcast_to(np.asarray(options[name], dtype=float), first.shape) for name in ends & set(options)}
    limits = {name: options[name] for name in _DERIVATIVES if options.get(name) is not None}
    unit = np.zeros((conditions, 2))
    unit[0, 1] = 1.0
    shape = _solve_ends(unit, 1.0)
    if duration is None:
        if given:
            raise ModelError(
                "The shortest duration is known from rest to rest only.",
                remedy="Give a duration, or leave out speeds, accelerations and jerks of the ends.",
            )
        peaks = PolynomialLaw([0.0, 1.0], shape[None]).peaks()
        duration = _shortest_duration(np.abs(last - first), peaks, limits)
    elif limits:
        raise ModelError("A duration and limits cannot both be given.", remedy="Give one of them.")
    time = _read_duration(duration)
    if time == 0.0:
        if np.any(last != first):
            raise ModelError("A motion between two positions takes time.", remedy="Give a positive duration.")
        return rest(last, 0.0)
    values = np.zeros((conditions, 2, *first.shape))
    values[0, 1] = last - first
    for order, name in enumerate(_DERIVATIVES[: conditions - 1], start=1):
        values[order, 0] = given.get(f"start_{name}", 0.0)
        values[order, 1] = given.get(f"end_{name}", 0.0)
    coefficients = _solve_ends(values.reshape(conditions, 2, -1), time).reshape(1, 2 * conditions, *first.shape)
    coefficients[0, 0] += first
    return PolynomialLaw([0.0, time], coefficients, last)


def _solve_ends(values: Array, duration: float) -> Array:
    """(2 m, …) coefficients of the polynomial with the value and m − 1 derivatives (m, 2, …) at 0 and the duration."""
    conditions = len(values)
    powers = np.arange(2 * conditions)
    matrix = np.zeros((2 * conditions, 2 * conditions))
    for order in range(conditions):
        factors = np.array([math.perm(power, order) for power in powers], dtype=float)
        matrix[order, order] = factors[order]
        matrix[conditions + order] = factors
    scale = duration ** np.arange(conditions, dtype=float)
    scaled = values * scale.reshape(-1, 1, *(1,) * (values.ndim - 2))
    right = np.concatenate([scaled[:, 0], scaled[:, 1]])
    solution = np.linalg.solve(matrix, right)
    return np.asarray(solution / (duration ** powers.astype(float)).reshape(-1, *(1,) * (values.ndim - 2)))


def harmonic(start: Any, end: Any, duration: float | None = None, **limits: Any) -> TimeLaw:
    """Return half a cosine from rest to rest; the acceleration jumps at its ends. duration : s; or limits `velocity`,
    `acceleration`, `jerk`."""
    return _sinusoid(start, end, duration, limits, HARMONIC)


def cycloidal(start: Any, end: Any, duration: float | None = None, **limits: Any) -> TimeLaw:
    """Return the cycloid x − sin(2πx)/2π from rest to rest, whose acceleration is one sine. Options: see `harmonic`."""
    return _sinusoid(start, end, duration, limits, CYCLOIDAL)


def _sinusoid(
    start: Any,
    end: Any,
    duration: float | None,
    limits: dict[str, Any],
    terms: tuple[float, float, float, float, float],
) -> TimeLaw:
    first, last = _read_ends(start, end)
    for name in limits:
        if name not in _DERIVATIVES:
            raise ModelError(f"This law has no '{name}'.", remedy=f"Choose among {', '.join(_DERIVATIVES)}.")
    limits = {name: value for name, value in limits.items() if value is not None}
    if duration is None:
        peaks = SinusoidalLaw(1.0, np.zeros(()), np.ones(()), terms).peaks()
        duration = _shortest_duration(np.abs(last - first), peaks, limits)
    elif limits:
        raise ModelError("A duration and limits cannot both be given.", remedy="Give one of them.")
    time = _read_duration(duration)
    if time == 0.0 and np.any(last != first):
        raise ModelError("A motion between two positions takes time.", remedy="Give a positive duration.")
    return SinusoidalLaw(time, first, last, terms)


def _shortest_duration(displacement: Array, peaks: Peaks, limits: dict[str, Any]) -> float:
    """Return the duration in which a law with unit peaks meets the first of its limits."""
    if not limits:
        raise ModelError("A duration is missing.", remedy="Give a duration, or limits such as velocity.")
    times = [0.0]
    for order, name in enumerate(_DERIVATIVES, start=1):
        if name in limits:
            limit = _read_limit(name, limits[name], displacement.shape)
            times.append(float(np.max((getattr(peaks, name) * displacement / limit) ** (1.0 / order))))
    return max(times)


# ------------------------------------------------------------------------------- through points

SPLINE_ENDS = ("natural", "clamped", "not-a-knot", "quintic", "linear")


def spline(times: Iterable[float], points: Any, ends: str = "natural") -> PolynomialLaw:
    """Return the law through points at given times.

    times : (K,) increasing, s, the first is taken as 0; points : (K,) or (K, n); ends : cubic spline with free
    ("natural") or resting ("clamped") ends, or one polynomial over the first two and the last two parts ("not-a-knot");
    "quintic": fifth degree, at rest without acceleration at both ends; "linear": straight between points, whose speed
    jumps. Raises ModelError.
    """
    from scipy.interpolate import CubicSpline, make_interp_spline

    knots, values = np.asarray(list(times), dtype=float), np.asarray(points, dtype=float)
    if ends not in SPLINE_ENDS:
        raise ModelError(f"There are no ends '{ends}'.", remedy=f"Choose among {', '.join(SPLINE_ENDS)}.")
    if knots.ndim != 1 or len(knots) < 2 or len(values) != len(knots):
        raise ModelError(
            f"{len(knots)} times and {len(values)} points are given.",
            remedy="Give as many points as times, at least 2.",
        )
    if not (np.isfinite(knots).all() and np.isfinite(values).all()):
        raise ModelError("A time or a point is not a finite number.", remedy="Give numbers.")
    if not (np.diff(knots) > 0.0).all():
        at = int(np.flatnonzero(np.diff(knots) <= 0.0)[0]) + 1
        raise ModelError(f"Time {knots[at]:g} s does not come after {knots[at - 1]:g} s.", remedy="Order the times.")
    knots = knots - knots[0]
    if ends == "linear":
        slopes = np.diff(values, axis=0) / np.diff(knots).reshape(-1, *(1,) * (values.ndim - 1))
        return PolynomialLaw(knots, np.stack([values[:-1], slopes], axis=1), values[-1])
    if ends == "quintic":
        zero = np.zeros(values.shape[1:])
        still = [(1, zero), (2, zero)]
        found = make_interp_spline(knots, values, k=5, bc_type=(still, still))
        breaks = np.unique(found.t)
        orders = [found.derivative(order)(breaks[:-1]) / math.factorial(order) for order in range(1, 6)]
        return PolynomialLaw(breaks, np.stack([found(breaks[:-1]), *orders], axis=1), values[-1])
    pieces = CubicSpline(knots, values, bc_type=ends)
    return PolynomialLaw(pieces.x, np.moveaxis(pieces.c[::-1], 0, 1), values[-1])


# ------------------------------------------------------------------------------- reading


def _read_ends(start: Any, end: Any) -> tuple[Array, Array]:
    try:
        first, last = np.broadcast_arrays(np.asarray(start, dtype=float), np.asarray(end, dtype=float))
    except (TypeError, ValueError):
        raise ModelError(
            "Start and end are not of one size.", remedy="Give two numbers, or two lists with one number per component."
        ) from None
    if first.ndim > 1:
        raise ModelError("Start and end have more than one axis.", remedy="Give numbers or lists of numbers.")
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        raise ModelError("Start or end is not a finite number.", remedy="Give numbers.")
    return first.copy(), last.copy()


def _read_limit(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    try:
        limit = np.broadcast_to(np.asarray(value, dtype=float), shape)
    except (TypeError, ValueError):
        raise ModelError(
            f"The {name} limit does not have one number per component.", where=name, remedy="Give one or all."
        ) from None
    if not (limit > 0.0).all():
        raise ModelError(
            f"A {name} limit of {np.min(limit):g} permits no motion.", where=name, remedy="Give more than 0."
        )
    return np.asarray(limit)


def _read_duration(value: Any) -> float:
    duration = float(value)
    if not (math.isfinite(duration) and duration >= 0.0):
        raise ModelError(f"A duration of {duration:g} s is not possible.", where="duration", remedy="Give seconds.")
    return duration


LAWS: dict[str, Callable[..., TimeLaw]] = {
    "trapezoid": trapezoid,
    "s-curve": s_curve,
    "cubic": cubic,
    "quintic": quintic,
    "septic": septic,
    "harmonic": harmonic,
    "cycloidal": cycloidal,
}
"""Laws from rest to rest by name."""
