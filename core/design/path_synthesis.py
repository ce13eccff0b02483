"""Path synthesis: find linkages whose coupler point follows a target curve, name their defects, and derive their
cognates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from core.design.atlas import LEAST_REACH, build_swept_point, get_atlas
from core.design.path_fit import EXACT, FitSet, PathFit
from core.design.target_curves import Target
from core.design.topologies import DRIVEN, TOPOLOGIES, topology_named
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
STARTS = 120
POLISHED = 4
"""Number of best fits that are refined to convergence."""
ALIKE = 1e-3
"""Smallest relative difference in length between two distinct solutions."""
DENSE = 360
SHOWN = 128
"""Number of points of a displayed curve, which is sent between processes with its linkage."""
TURN = 2.0 * np.pi * np.arange(DENSE) / DENSE
STEPS = 6
"""Number of intermediate poses between points at which the reach of the links is checked."""
EXACTLY = 1e-9
"""Distance, in sizes of the curve, below which a linkage follows the curve exactly."""
SAME_POSE = 1e-6
"""Largest distance, in sizes of the curve, between points that count as coinciding."""


@dataclass(frozen=True, eq=False)
class Linkage:
    """Linkage found by synthesis. topology, lengths (parameters of `model`, m and rad); error : root mean square
    distance from the target, m; relative : the same in sizes of the target; largest : largest distance, m; theta (K,)
    crank angles at the points; defects : sentences on what prevents the linkage from passing through the points in
    order; start (nq,) pose at the first point."""

    topology: str
    lengths: Mapping[str, float]
    error: float
    relative: float
    largest: float
    theta: Array
    defects: tuple[str, ...]
    start: Array
    target: Target
    whole: tuple[Array, Array] | None = None
    """Points (DENSE, 2) and reach (DENSE,) over one turn of the crank from the first point; None if not yet computed.
    """

    @cached_property
    def model(self) -> Model:
        """Build the machine, placed at the first point of the curve."""
        model = topology_named(self.topology).model(self.lengths)
        for name, value in zip(_coordinate_names(self.topology), self.start, strict=True):
            model = edits.change(model, "joints", name, rest=(float(value),))
        return model

    @property
    def has_full_crank_turn(self) -> bool:
        """True if the crank makes full turns."""
        return bool(self._compute_full_turn(2)[1].min() > 0.0)

    def curve(self, count: int = SHOWN) -> Array:
        """Compute (count, 2) points of the coupler curve: over a full turn of the crank if that is possible, otherwise
        over the target's range."""
        return self._displayed_curve if count == SHOWN else self._compute_curve(count)

    @cached_property
    def _displayed_curve(self) -> Array:
        return self._compute_curve(SHOWN)

    def _compute_curve(self, count: int) -> Array:
        points, reach = self._compute_full_turn(count)
        if reach.min() > 0.0:
            return points
        return self._points_at(np.linspace(self.theta[0], self.theta[-1], count))[0]

    def _compute_full_turn(self, count: int) -> tuple[Array, Array]:
        dense = max(count, DENSE)
        if dense == DENSE:
            points, reach = self._points_over_turn
        else:
            points, reach = self._points_at(self.theta[0] + 2.0 * np.pi * np.arange(dense) / dense)
        pick = np.round(np.linspace(0, dense, count, endpoint=False)).astype(int)
        return points[pick], reach

    @cached_property
    def _points_over_turn(self) -> tuple[Array, Array]:
        return self.whole if self.whole is not None else self._points_at(self.theta[0] + TURN)

    def _points_at(self, theta: Array) -> tuple[Array, Array]:
        return _compute_points([self], theta[None])[0]

    def cognates(self) -> tuple[Mapping[str, float], ...]:
        """Lengths, as in `model`, of the two other four-bars with the same coupler curve (Roberts, Chebyshev).

        With P = A + λ (B − A): ground pivots A0, C0 = A0 + λ (B0 − A0) and B0, C0.
        """
        if self.topology != "four_bar":
            return ()
        a, b, c, d, px, py = (self.lengths[name] for name in ("a", "b", "c", "d", "px", "py"))
        ratio = complex(px, py) / b
        turn = np.exp(1j * self.lengths["turn"])
        A0 = complex(self.lengths["x0"], self.lengths["z0"])
        B0 = A0 + d * turn
        C0 = A0 + ratio * (B0 - A0)
        other = 1.0 - ratio
        if abs(ratio) < 1e-9 or abs(other) < 1e-9:
            return ()
        first = _four_bar_lengths(b * abs(ratio), a * abs(ratio), c * abs(ratio), A0, C0, 1.0 / ratio)
        second = _four_bar_lengths(b * abs(other), c * abs(other), a * abs(other), B0, C0, 1.0 / other)
        return first, second


@lru_cache
def _coordinate_names(topology: str) -> tuple[str, ...]:
    """Return the coordinate names of a topology's machine without compiling its curve functions."""
    return tuple(Mechanism(topology_named(topology).model({}, drawn=False)).q_names)


def _compute_points(linkages: Sequence[Linkage], theta: Array) -> list[tuple[Array, Array]]:
    """Compute points (K, 2) and reach (K,) of linkages of one topology, each with its crank at angles (m, K)."""
    swept = build_swept_point(topology_named(linkages[0].topology))
    p = np.array([[each.lengths[name] for name in swept.mech.p_names] for each in linkages])
    found = swept.follow_along(theta, np.stack([each.start for each in linkages]), p)
    result = []
    for each, point, reach in zip(linkages, found.point, found.reach, strict=True):
        turn, place = np.exp(1j * each.lengths["turn"]), complex(each.lengths["x0"], each.lengths["z0"])
        z = place + turn * (point[:, 0] + 1j * point[:, 1])
        result.append((np.column_stack([z.real, z.imag]), reach))
    return result


def _four_bar_lengths(
    a: float, b: float, c: float, start: complex, end: complex, ratio: complex
) -> Mapping[str, float]:
    ground, point = end - start, b * ratio
    numbers = a, b, c, abs(ground), point.real, point.imag, start.real, start.imag, np.angle(ground)
    names = ("a", "b", "c", "d", "px", "py", "x0", "z0", "turn")
    return dict(zip(names, map(float, numbers), strict=True))


@dataclass(frozen=True)
class SynthesisProgress:
    """Progress of a search: current topology, best distance so far in sizes of the curve, and its linkage; found :
    results of the earlier topologies, those without defects and the nearest first."""

    topology: str
    relative: float
    best: Linkage | None
    found: tuple[Linkage, ...] = ()


def synthesise(
    target: Target,
    topology: str = "four_bar",
    *,
    starts: int = STARTS,
    count: int = 5,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[SynthesisProgress], None] = lambda _: None,
) -> tuple[Linkage, ...]:
    """Find linkages whose coupler point follows the target, those without defects and the nearest first; if the search
    is stopped, return those found so far.

    topology : a name of `core.design.topologies`, or "auto": all of them; starts : members of the atlas that are
    refined; count : solutions at most; stop : asked between iterations
    Raises ModelError for names that there are not, or numbers that make no sense.
    """
    if starts < 1 or count < 1:
        raise ModelError(
            "At least one starting point and one result are needed.", where="starts", remedy="Use 120, for example."
        )
    found: list[Linkage] = []
    for name in topologies_for_name(topology):
        before = select_best(found, count)
        with_before = lambda now, of=before: tell(replace(now, found=of))  # noqa: E731
        found += _search_topology(target, name, starts, count, stop, with_before)
        if stop() or has_exact_linkage(found):
            break
    return select_best(found, count)


def topologies_for_name(name: str) -> tuple[str, ...]:
    """Return the linkage topologies that a name stands for, in the order in which they are tried. Raises ModelError for
    an unknown name."""
    return tuple(TOPOLOGIES) if name == "auto" else (topology_named(name).name,)


def has_exact_linkage(linkages: Iterable[Linkage]) -> bool:
    """Return True if a linkage follows the target exactly and without defects, so that no further topology needs to be
    tried."""
    return any(each.relative < EXACTLY and not each.defects for each in linkages)


def select_best(linkages: Iterable[Linkage], count: int) -> tuple[Linkage, ...]:
    """Return at most `count` linkages, those without defects and the nearest first."""
    return tuple(sorted(linkages, key=_sort_key)[:count])


def _sort_key(linkage: Linkage) -> tuple[bool, bool, float, float]:
    """Sort key: linkages without defects first, simple ones first among the exact ones, then by distance in steps of a
    tenth, then compact ones first."""
    is_exact = linkage.relative < EXACTLY
    longest = max(abs(linkage.lengths[name]) for name in ("a", *topology_named(linkage.topology).lengths))
    near = list(TOPOLOGIES).index(linkage.topology) if is_exact else round(10.0 * np.log(max(linkage.relative, 1e-12)))
    return bool(linkage.defects), not is_exact, near, longest


def _search_topology(
    target: Target,
    name: str,
    starts: int,
    count: int,
    should_stop: Callable[[], bool],
    report: Callable[[SynthesisProgress], None],
) -> list[Linkage]:
    if not get_atlas(name).prepare(should_stop) or should_stop():
        return []
    fit = PathFit(get_atlas(name), target)
    best: list[float] = []

    def report_fits(fits: FitSet) -> None:
        best.append(float(np.sqrt(fits.cost[0])))
        report(SynthesisProgress(name, min(best), _build_linkage(fit, fits.select([0]))))

    fits = fit.solved(starts, should_stop, report_fits)
    result: list[Linkage] = []
    ends: list[FitSet] = []
    polished = 0
    for k in range(len(fits.cost)):
        one = fits.select([k])
        if not np.isfinite(one.cost[0]):
            continue
        if polished < max(POLISHED, count) and not should_stop() and one.cost[0] > EXACT**2:
            one = fit.refine_to_convergence(one)
            polished += 1
        linkage = _build_linkage(fit, one)
        if all(_are_distinct_linkages(linkage, each) for each in result):
            result.append(linkage)
            ends.append(one)
        if len(result) >= (count if should_stop() else 3 * count):
            break
    result = [replace(each, defects=of) for each, of in zip(result, _find_defects(fit, ends), strict=True)]
    result.sort(key=_sort_key)
    result = result[:count]
    if not result:
        return result
    seen = _compute_points(result, np.stack([each.theta[0] + TURN for each in result]))
    return [replace(each, whole=of) for each, of in zip(result, seen, strict=True)]


def _are_distinct_linkages(a: Linkage, b: Linkage) -> bool:
    names = ("a", *topology_named(a.topology).shape)
    x, y = (np.array([each.lengths[name] for name in names]) for each in (a, b))
    return bool(np.max(np.abs(x - y)) > ALIKE * np.max(np.abs(x)))


def _build_linkage(fit: PathFit, single_fit: FitSet) -> Linkage:
    """Build the linkage of a fit, with its defects."""
    alpha, beta = complex(single_fit.alpha[0]), complex(single_fit.beta[0])
    scale = abs(alpha)
    topology = fit.atlas.topology
    shape = dict(zip(topology.shape, (scale * single_fit.shapes[0]).tolist(), strict=True))
    lengths = {"a": scale, **shape, "x0": beta.real, "z0": beta.imag, "turn": float(np.angle(alpha))}
    sliding = _mask_of_lengths(fit)
    start = np.where(sliding, scale * single_fit.q[0, 0], single_fit.q[0, 0])
    start[fit.swept.driven] = single_fit.theta[0, 0]
    found = fit.swept.poses(
        fit.swept.guesses_at_angles(single_fit.theta[0], single_fit.q[0]), fit.atlas.p(single_fit.shapes)[0]
    )
    off = np.abs(alpha * (found.point[:, 0] + 1j * found.point[:, 1]) + beta - fit.z)
    error = float(np.sqrt(np.mean(off**2)))
    linkage = Linkage(
        topology.name, lengths, error, error / fit.size, float(off.max()), single_fit.theta[0], (), start, fit.target
    )
    closed = fit.swept.poses(
        fit.swept.guesses_at_angles(single_fit.theta[0, :1], single_fit.q[0, :1]), fit.atlas.p(single_fit.shapes)[0]
    )
    begin = np.where(sliding, scale * closed.q[0], closed.q[0])
    return replace(linkage, start=begin)


def _mask_of_lengths(fit: PathFit) -> NDArray[np.bool_]:
    """Return a mask (nq,) of the coordinates that are lengths."""
    return np.array([each.dimension == "length" for each in fit.swept.mech.coordinates])


def _find_defects(fit: PathFit, refined_fits: Sequence[FitSet]) -> list[tuple[str, ...]]:
    """Find circuit, branch and order defects (Chase and Mirth 1993) of fits by following the crank between points."""
    if not refined_fits:
        return []
    theta, q = (np.concatenate([getattr(each, name) for each in refined_fits]) for name in ("theta", "q"))
    p = fit.atlas.p(np.concatenate([each.shapes for each in refined_fits]))
    between = np.arange(STEPS) / STEPS
    path = (theta[:, :-1, None] + np.diff(theta, axis=1)[..., None] * between).reshape(len(refined_fits), -1)
    found = fit.swept.follow_along(np.concatenate([path, theta[:, -1:]], axis=1), q[:, 0], p)
    return [_name_defects(fit, one, found.point[k, ::STEPS], found.reach[k]) for k, one in enumerate(refined_fits)]


def _name_defects(fit: PathFit, single_fit: FitSet, reached_points: Array, reach: Array) -> tuple[str, ...]:
    """Name the defects of one fit, from the points (K, 2) that the crank reaches and the reach on the way."""
    theta, p = single_fit.theta[0], fit.atlas.p(single_fit.shapes)[0]
    own = fit.swept.poses(fit.swept.guesses_at_angles(theta, single_fit.q[0]), p)
    low = np.flatnonzero(own.reach < LEAST_REACH / 2)
    if len(low):
        return (f"Circuit defect: at point {low[0] + 1} the links do not reach each other.",)
    said: list[str] = []
    ahead = np.diff(theta)
    sense = np.sign(np.sum(ahead)) or 1.0
    wrong = np.flatnonzero(sense * ahead < -1e-9)
    if len(wrong):
        said.append(f"Order defect: the crank meets point {wrong[0] + 2} before point {wrong[0] + 1}.")
    elif fit.target.closed and abs(theta[-1] - theta[0]) > 2.0 * np.pi + 1e-9:
        said.append("Order defect: the crank turns more than once to trace the curve.")
    open_ = np.flatnonzero(reach < 0.0)
    away = np.flatnonzero(
        np.linalg.norm(reached_points - own.point, axis=1) * abs(single_fit.alpha[0]) > SAME_POSE * fit.size
    )
    if len(open_):
        k = int(open_[0]) // STEPS
        said.append(f"Circuit defect: between points {k + 1} and {k + 2} the links do not reach each other.")
    elif len(away):
        said.append(f"Branch defect: point {away[0] + 1} lies on a different branch from point 1.")
    return tuple(said)


def four_bar_coupler_curve(values: Mapping[str, float], theta: Sequence[float] | Array, side: float = 1.0) -> Array:
    """Compute (n, 2) points of a four-bar's coupler curve analytically, independent of the simulated machine: values as
    named by `model`, theta (n,) crank angles, side ±1 of the line from crank pin to rocker pin; nan where the loop does
    not close."""
    a, b, c, d = (values[name] for name in ("a", "b", "c", "d"))
    A = a * np.exp(1j * np.asarray(theta))
    e = d - A
    L = np.abs(e)
    along = (b * b - c * c + L * L) / (2.0 * L)
    with np.errstate(invalid="ignore"):
        u = (along + 1j * side * np.sqrt(b * b - along**2)) * e / (L * b)
    z = A + complex(values["px"], values["py"]) * u
    z = complex(values.get("x0", 0.0), values.get("z0", 0.0)) + np.exp(1j * values.get("turn", 0.0)) * z
    return np.column_stack([z.real, z.imag])


def mechanism_and_driven_coordinate(linkage: Linkage) -> tuple[Mechanism, str]:
    """Return the mechanism of a linkage and the name of its driven coordinate."""
    return Mechanism(linkage.model), DRIVEN
