"""Paths of more than one part: through points as a spline, formulas of time, and segments joined by blends.

A blend leads from one path to the next without a stop. With φ from 1 − f to 1 along the first path and ψ from 0 to g
along the second one, fifth-degree polynomials that end and begin with slope and curvature zero, the coordinates are

    q(s) = q₁(φ(s)) + q₂(ψ(s)) − q_corner

twice continuously differentiable, on the paths before and after the blend, and near the corner in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model.parameters import evaluate_field
from core.motions.paths import Moving, Path

Array = NDArray[np.float64]

MEASURED = 201
"""Samples of a path by which its length and the ends of blends are found."""
UNEVEN = 1.5
"""Largest ratio of the lengths of the two sides of a blend; beyond it φ or ψ would go back."""


class SplinePath:
    """A cubic spline through positions (K, nq) of a tree whose coordinates are plain numbers, over distances."""

    tool_length = tool_angle = 0.0

    def __init__(self, points: Array) -> None:
        from scipy.interpolate import CubicSpline

        spans = np.linalg.norm(np.diff(points, axis=0), axis=1)
        kept = np.concatenate([[True], spans > 1e-9])
        knots = np.concatenate([[0.0], np.cumsum(spans[kept[1:]])])
        self._end = points[-1]
        self.kinks = knots / knots[-1] if len(knots) > 1 else np.zeros(0)
        """Parameters at which the third derivative jumps."""
        self._spline = CubicSpline(knots / knots[-1], points[kept]) if len(knots) > 1 else None

    def at(self, s: Array) -> Moving:
        if self._spline is None:
            still = np.zeros((len(s), len(self._end)))
            return Moving(still + self._end, still, still)
        return Moving(self._spline(s), self._spline(s, 1), self._spline(s, 2))


class FormulaPath:
    """Some coordinates as functions of time over a duration (s), the others still.

    value : times (N,) → values, first and second derivatives, each (N, k), of the coordinates at `places` (k,)
    """

    tool_length = tool_angle = 0.0

    def __init__(
        self,
        q: Array,
        places: NDArray[np.intp],
        value: Callable[[Array], tuple[Array, Array, Array]],
        duration: float,
    ):
        self._q, self._places, self._value, self._duration = q, places, value, duration

    def at(self, s: Array) -> Moving:
        values, rates, changes = self._value(self._duration * s)
        q = np.broadcast_to(self._q, (len(s), len(self._q))).copy()
        rate, change = np.zeros(q.shape), np.zeros(q.shape)
        q[:, self._places] = values
        rate[:, self._places] = self._duration * rates
        change[:, self._places] = self._duration**2 * changes
        return Moving(q, rate, change)


class _Corner(NamedTuple):
    """Share of the path before it, and of the path after it, that the blend takes; 0 without a blend."""

    before: float
    after: float


class JoinedPath:
    """Paths one after another with blends between them. sizes : (K,) length of each path in the common measure"""

    tool_length = tool_angle = 0.0

    def __init__(self, paths: Sequence[Path], sizes: Array, corners: Sequence[_Corner]) -> None:
        self._paths, self._sizes, self._corners = tuple(paths), sizes, tuple(corners)
        self.leads_tool = any(path.tool_length > 0.0 or path.tool_angle > 0.0 for path in paths)
        """True if the tool's limits count."""
        self._ends = [path.at(np.ones(1)).q[0] for path in paths[:-1]]
        # along each path by itself, then the blend after it
        self._starts: list[float] = []
        place = 0.0
        for k, size in enumerate(sizes):
            before = self._corners[k - 1].after if k else 0.0
            after = self._corners[k].before if k < len(corners) else 0.0
            self._starts += [place, place + size * (1.0 - before - after)]
            place = self._starts[-1]
            if k < len(corners):
                place += size * after + sizes[k + 1] * self._corners[k].after
        self._whole = place

    @property
    def kinks(self) -> Array:
        """Parameters at which blends begin and end."""
        return np.array(self._starts) / self._whole

    @property
    def corner_places(self) -> Array:
        """(K − 1,) parameters of the corners: the middles of the blends."""
        ends = [self._starts[2 * k + 1] for k in range(len(self._corners))]
        nexts = [self._starts[2 * k + 2] for k in range(len(self._corners))]
        return 0.5 * (np.array(ends) + np.array(nexts)) / self._whole

    def at(self, s: Array) -> Moving:
        place = np.clip(s, 0.0, 1.0) * self._whole
        interval = np.clip(np.searchsorted(self._starts, place, side="right") - 1, 0, len(self._starts) - 1)
        sample = self._paths[0].at(np.zeros(1))
        q = np.zeros((len(s), sample.q.shape[1]))
        rate, change = np.zeros((len(s), sample.rate.shape[1])), np.zeros((len(s), sample.rate.shape[1]))
        for number in np.unique(interval):
            at = np.flatnonzero(interval == number)
            q[at], rate[at], change[at] = self._part(int(number), place[at] - self._starts[number])
        return Moving(q, self._whole * rate, self._whole**2 * change)

    def _part(self, number: int, along: Array) -> Moving:
        """Return the path at lengths along an interval: even ones are paths, odd ones blends."""
        k = number // 2
        if number % 2 == 0:
            before = self._corners[k - 1].after if k else 0.0
            share = before + along / self._sizes[k]
            one = np.full(len(along), 1.0 / self._sizes[k])
            return _compose(self._paths[k], np.clip(share, 0.0, 1.0), one, np.zeros(len(along)))
        if k >= len(self._corners):  # rounding at the end
            return _compose(self._paths[k], np.ones(len(along)), np.zeros(len(along)), np.zeros(len(along)))
        corner, sizes = self._corners[k], self._sizes[k : k + 2]
        length = sizes[0] * corner.before + sizes[1] * corner.after
        leaving = _ease(along, length, 1.0 - corner.before, 1.0, 1.0 / sizes[0], 0.0)
        coming = _ease(along, length, 0.0, corner.after, 0.0, 1.0 / sizes[1])
        first, second = _compose(self._paths[k], *leaving), _compose(self._paths[k + 1], *coming)
        return Moving(first.q + second.q - self._ends[k], first.rate + second.rate, first.change + second.change)


def _ease(
    along: Array, length: float, start: float, end: float, slope: float, end_slope: float
) -> tuple[Array, Array, Array]:
    """Return the fifth-degree polynomial between two values with slopes, without curvature at its ends, and its first
    and second derivatives, at lengths (N,)."""
    if length <= 0.0:
        return np.full(len(along), end), np.zeros(len(along)), np.zeros(len(along))
    x = along / length
    rise, m0, m1 = end - start, slope * length, end_slope * length
    c3, c4, c5 = 10 * rise - 6 * m0 - 4 * m1, -15 * rise + 8 * m0 + 7 * m1, 6 * rise - 3 * m0 - 3 * m1
    value = start + x * (m0 + x * x * (c3 + x * (c4 + x * c5)))
    first = (m0 + x * x * (3 * c3 + x * (4 * c4 + x * 5 * c5))) / length
    second = x * (6 * c3 + x * (12 * c4 + x * 20 * c5)) / length**2
    return np.clip(value, 0.0, 1.0), first, second


def _compose(path: Path, share: Array, first: Array, second: Array) -> Moving:
    moving = path.at(share)
    rate = moving.rate * first[:, None]
    return Moving(moving.q, rate, moving.change * first[:, None] ** 2 + moving.rate * second[:, None])


def join_paths(
    mech: Mechanism, frame: str, paths: Sequence[Path], radii: Sequence[float], where: Sequence[str]
) -> tuple[JoinedPath, tuple[str, ...]]:
    """Return paths joined by blends that begin and end where the tool is within a radius (m) of the corner, and notes
    on blends that were cut. Raises ModelError for machines that cannot be blended."""
    if mech.constrained or mech.nq != mech.nv:
        raise ModelError(
            "Blends are possible for machines without loops, balls and free bodies only.",
            where=f"{where[0]}, blend",
            remedy="Set the blend to 0.",
        )
    s = np.linspace(0.0, 1.0, MEASURED)
    moved = [path.at(s).q for path in paths]
    tools = [np.asarray(mech.frame(q, frame))[:, :3, 3] for q in moved]
    lengths = np.array([np.sum(np.linalg.norm(np.diff(tool, axis=0), axis=1)) for tool in tools])
    if np.any(lengths < 1e-6):  # the tool stays in place: joints are the measure
        lengths = np.array([np.sum(np.linalg.norm(np.diff(q, axis=0), axis=1)) for q in moved])
    if np.any(lengths < 1e-9):
        k = int(np.flatnonzero(lengths < 1e-9)[0])
        raise ModelError("The segment has no length and cannot be blended.", where=where[k], remedy="Remove it.")
    notes: list[str] = []
    shares = []
    for k, radius in enumerate(radii):
        corner = tools[k + 1][0]
        away = (np.linalg.norm(tools[k][::-1] - corner, axis=1), np.linalg.norm(tools[k + 1] - corner, axis=1))
        own = [_share_within(s, distance, radius) for distance in away]
        if max(own) >= 1.0:
            notes.append(f"{where[k]}: the blend of {radius:g} m is longer than a segment next to it, and is cut.")
        shares.append([min(each, 1.0) for each in own])
    for k in range(len(paths)):  # two blends on one segment do not overlap
        left, right = shares[k - 1][1] if k else 0.0, shares[k][0] if k < len(shares) else 0.0
        if left + right > 1.0:
            notes.append(f"{where[k]}: the blends at its ends overlap, and are cut.")
            if k:
                shares[k - 1][1] = left / (left + right)
            if k < len(shares):
                shares[k][0] = right / (left + right)
    corners = []
    for k, (before, after) in enumerate(shares):
        one, other = before * lengths[k], after * lengths[k + 1]
        one, other = min(one, UNEVEN * other), min(other, UNEVEN * one)
        corners.append(_Corner(one / lengths[k], other / lengths[k + 1]))
    return JoinedPath(paths, lengths, corners), tuple(dict.fromkeys(notes))


def _share_within(s: Array, distance: Array, radius: float) -> float:
    """Return the share of a path from its corner to where it is first farther away than a radius; 1 if it never is."""
    beyond = np.flatnonzero(distance > radius)
    if not len(beyond):
        return 1.0
    k = int(beyond[0])
    low, high = distance[k - 1], distance[k]
    return float(s[k - 1] + (s[k] - s[k - 1]) * (radius - low) / (high - low))


def functions_of_time(
    formulas: Sequence[Any], values: Mapping[str, float], where: str
) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Return a function times (N,) → values, first and second derivatives, each (N, k), of formulas in t (k,)."""
    import casadi

    t = casadi.SX.sym("t")
    environment = {**values, "t": t}
    rows = casadi.vertcat(*(casadi.SX(evaluate_field(each, environment, where)) for each in formulas))
    rates = casadi.jacobian(rows, t)
    changes = casadi.jacobian(rates, t)
    function = casadi.Function("formulas", [t], [rows, rates, changes])

    def evaluate(times: Array) -> tuple[Array, Array, Array]:
        found = function.map(len(times))(times)
        one, two, three = (np.asarray(each.full(), dtype=float).T for each in found)
        return one, two, three

    return evaluate
