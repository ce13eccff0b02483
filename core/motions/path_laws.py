"""Laws of the parameter of a path that are fastest within the limits of joints and tool, or take a given duration."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.motions.joined_paths import JoinedPath, SplinePath
from core.motions.joint_bounds import JointBounds
from core.motions.laws import LAWS, PolynomialLaw, TimeLaw, rest, stretch_law
from core.motions.paths import Moving, Path, StraightPath
from core.motions.time_optimal import Rows, fastest_law, grid_points, kinematic_rows
from core.motions.trajectory import REFINED, SAMPLES

Array = NDArray[np.float64]

POLYNOMIAL_LAWS = ("cubic", "quintic", "septic", "harmonic", "cycloidal")
"""Laws whose shape does not depend on limits, so that a duration alone determines them."""
TIME_OPTIMAL = "time optimal"
SAME = 1e-9
"""Difference of positions (rad, m) below which a segment does not move."""
SLOWER = (1.0, 0.85, 0.7, 0.5)
"""Shares of the largest speed of the parameter within the curvature that are tried."""
GRID = 400
"""Steps of the parameter of a time-optimal law."""
TIGHTENED = 2
"""Number of times that a time-optimal law is computed again with limits lowered where they are exceeded."""
PEAK, PEAKS = 0.99, 40
"""Share of the largest need above which local maxima are refined, and their largest number."""
FLAT = 1e-12
"""Relative difference of samples of a plateau."""
MARGIN = 1e-6
"""Relative amount by which laws on curved paths are slower than the samples demand."""
BETWEEN = 8
"""Samples of a step at which the limits of a time-optimal law are checked."""


class ToolLimits(NamedTuple):
    """Limits of the tool along paths that lead it: speed m/s, acceleration along the path m/s², angular velocity rad/s;
    inf where there is none."""

    speed: float
    acceleration: float
    turning: float

    @property
    def exist(self) -> bool:
        """True if there is a limit."""
        return bool(np.isfinite(self).any())


class PathLaws:
    """Laws along paths of a machine within limits of its joints and its tool."""

    def __init__(self, mech: Mechanism, frame: str, bounds: JointBounds, tool: ToolLimits) -> None:
        self.mech, self.frame, self.bounds, self.tool = mech, frame, bounds, tool

    def find(self, name: str, path: Path, wanted: float | None, where: str) -> TimeLaw:
        """Return the law of this name along a path, from 0 to 1; wanted : duration, s. Raises ModelError."""
        moving = path.at(np.linspace(0.0, 1.0, SAMPLES))
        if np.max(np.abs(moving.rate), initial=0.0) < SAME:
            return rest(0.0, wanted or 0.0)
        limits = self._limits_along(path, moving)
        if name in POLYNOMIAL_LAWS and wanted is not None and wanted > 0.0:
            law: TimeLaw = LAWS[name](0.0, 1.0, wanted)
            stretch = self._needed_stretch(path, law, False)
        elif name == TIME_OPTIMAL:
            law = self._time_optimal(path, where)
            stretch = self._needed_stretch(path, law, True)
        else:
            law, stretch, limits = self._fastest(name, path, moving, limits, where)
        if not isinstance(path, StraightPath) and stretch > 1.0 - MARGIN:
            stretch = max(stretch, 1.0) * (1.0 + MARGIN)
        shortest = law.duration * (stretch if stretch > 1.0 + 1e-12 else 1.0)
        if wanted is None and shortest == law.duration:
            return law
        if wanted is not None and wanted < shortest * (1.0 - 1e-9):
            raise ModelError(
                f"The segment takes at least {shortest:.6g} s within the limits of joints and tool, {wanted:g} s are "
                "given.",
                where=f"{where}, duration",
                remedy="Give a longer duration, or higher limits.",
            )
        duration = shortest if wanted is None else max(wanted, shortest)
        return stretch_law(law, duration) if name == TIME_OPTIMAL else build_law(name, limits, duration)

    def _fastest(
        self, name: str, path: Path, moving: Moving, limits: dict[str, float], where: str
    ) -> tuple[TimeLaw, float, dict[str, float]]:
        """Return a law, the factor by which it has to be slowed down, and the limits it was made with. Where curvature
        limits the speed (blends, splines), a law that is slower from the start may end earlier than one that is slowed
        down as a whole."""
        tried = [limits]
        if isinstance(path, JoinedPath | SplinePath):
            bound = np.minimum(self.bounds.acceleration, self.bounds.deceleration)
            with np.errstate(divide="ignore", invalid="ignore"):
                squared = np.where(moving.change != 0.0, bound / np.abs(moving.change), np.inf)
            most = float(np.sqrt(np.min(squared)))
            tried += [{**limits, "velocity": share * most} for share in SLOWER if share * most < limits["velocity"]]
        found = []
        for each in tried:
            law = self._within_limits(name, each, moving.rate, where)
            stretch = self._needed_stretch(path, law, False)
            found.append((law.duration * max(stretch, 1.0), law, stretch, each))
        _, law, stretch, best = min(found, key=lambda each: each[0])
        return law, stretch, best

    def of_formula(self, path: Path, duration: float, where: str) -> TimeLaw:
        """Return the law of a path that is a function of time. Raises ModelError if it exceeds limits."""
        law = PolynomialLaw([0.0, duration], [[0.0, 1.0 / duration]], np.ones(()))
        stretch = self._needed_stretch(path, law, False)
        if not stretch <= 1.0 + 1e-9:
            raise ModelError(
                f"The formulas exceed the limits of joints or tool: at {stretch:.4g} times the speed that is possible.",
                where=f"{where}, functions",
                remedy="Give a longer duration with slower formulas, or higher limits.",
            )
        return law

    # --------------------------------------------------------------------------- limits along a path

    def _tool_rates(self, path: Path, moving: Moving) -> tuple[Array, Array, Array] | None:
        """(N,) length and angle per parameter of the tool, and how the former changes; None where no limit counts."""
        if not self.tool.exist:
            return None
        count = len(moving.rate)
        if path.tool_length > 0.0 or path.tool_angle > 0.0:
            return np.full(count, path.tool_length), np.full(count, path.tool_angle), np.zeros(count)
        if not getattr(path, "leads_tool", False):
            return None
        twist = np.asarray(self.mech.frame_velocity(moving.q, moving.rate, self.frame))
        change = np.asarray(self.mech.frame_acceleration(moving.q, moving.rate, moving.change, self.frame))
        length = np.linalg.norm(twist[:, 3:], axis=1)
        along = np.sum(twist[:, 3:] * change[:, 3:], axis=1) / np.maximum(length, 1e-12)
        return length, np.linalg.norm(twist[:, :3], axis=1), along

    def _limits_along(self, path: Path, moving: Moving) -> dict[str, float]:
        """Return limits of the parameter's speed, acceleration, deceleration and jerk, without what curvature takes."""
        largest = np.max(np.abs(moving.rate), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = {
                name: float(np.min(np.where(largest > 0.0, getattr(self.bounds, name) / largest, np.inf)))
                for name in ("velocity", "acceleration", "deceleration", "jerk")
            }
        rates = self._tool_rates(path, moving)
        if rates is not None:
            length, angle = float(np.max(rates[0])), float(np.max(rates[1]))
            if length > 0.0:
                found["velocity"] = min(found["velocity"], self.tool.speed / length)
                for name in ("acceleration", "deceleration"):
                    found[name] = min(found[name], self.tool.acceleration / length)
            if angle > 0.0:
                found["velocity"] = min(found["velocity"], self.tool.turning / angle)
        return found

    def _within_limits(self, name: str, limits: dict[str, float], rate: Array, where: str) -> TimeLaw:
        missing = [k for k in ("velocity", "acceleration") if not math.isfinite(limits[k])]
        if "acceleration" in missing or (name == "s-curve" and not math.isfinite(limits["jerk"])):
            quantity = "acceleration" if "acceleration" in missing else "jerk"
            raise self._unlimited(quantity, rate, where)
        return build_law(name, limits)

    def _unlimited(self, quantity: str, rate: Array, where: str) -> ModelError:
        own = getattr(self.bounds, quantity)
        order = np.argsort(-np.max(np.abs(rate), axis=0))
        joint = next((self.mech.v_names[k] for k in order if not math.isfinite(own[k])), "")
        return ModelError(
            f"Nothing limits the {quantity} of '{joint}'.",
            where=where,
            remedy=f"Give its limit a {quantity}, or the motion a joint_{quantity}.",
        )

    # --------------------------------------------------------------------------- time optimal

    def _time_optimal(self, path: Path, where: str) -> PolynomialLaw:
        bounds = self.bounds
        s = np.unique(np.concatenate([grid_points(GRID), getattr(path, "kinks", np.zeros(0))]))
        moving = path.at(s)
        limited = np.isfinite(bounds.acceleration) | np.isfinite(bounds.effort)
        if not limited[np.max(np.abs(moving.rate), axis=0) > SAME].any():
            raise self._unlimited("acceleration", moving.rate, where)
        parts = [kinematic_rows(moving.rate, moving.change, bounds.velocity, bounds.acceleration, bounds.deceleration)]
        if np.isfinite(bounds.effort).any():
            parts.append(self._force_rows(moving))
        rates = self._tool_rates(path, moving)
        if rates is not None:
            parts.append(self._tool_rows(*rates))
        rows = Rows.join(*parts)
        law = fastest_law(s, rows, where)
        for _ in range(TIGHTENED):  # limits that are exceeded between grid points are lowered there
            t = law.breaks[:-1, None] + np.arange(BETWEEN) / BETWEEN * law.lengths[:, None]
            shares = self._shares(path, law, t.reshape(-1), True).reshape(t.shape)
            need = np.maximum(np.max(shares, axis=1), 1.0)
            at_points = np.maximum(np.append(need, 1.0), np.append(1.0, need))
            rows = rows._replace(gamma=rows.gamma / at_points[:, None] ** 2)
            law = fastest_law(s, rows, where)
        return law

    def _force_rows(self, moving: Moving) -> Rows:
        """Return rows of joint forces: inverse dynamics is linear in s̈ and ṡ² (but for friction, see `find`)."""
        still = np.zeros(moving.rate.shape)
        own, inertia, whole = (
            np.asarray(self.mech.inverse_dynamics(moving.q, v, a))
            for v, a in ((still, still), (still, moving.rate), (moving.rate, moving.change))
        )
        limit = self.bounds.effort
        return Rows.between(inertia - own, whole - own, -limit - own, limit - own)

    def _tool_rows(self, length: Array, angle: Array, along: Array) -> Rows:
        nothing, low = np.zeros((len(length), 1)), np.full((len(length), 1), -np.inf)
        tool = self.tool
        parts = [
            Rows.between(nothing, size[:, None] ** 2, low, np.full(low.shape, limit**2))
            for size, limit in ((length, tool.speed), (angle, tool.turning))
        ]
        most = np.full(low.shape, tool.acceleration)
        return Rows.join(*parts, Rows.between(length[:, None], along[:, None], -most, most))

    # --------------------------------------------------------------------------- keeping limits

    def _needed_stretch(self, path: Path, law: TimeLaw, limits_forces: bool) -> float:
        """Return the factor by which a law has to be slowed down so that joints and tool keep their limits."""
        if isinstance(law, PolynomialLaw) and len(law.breaks) > SAMPLES // 2:
            shares = np.arange(BETWEEN) / BETWEEN
            t = (law.breaks[:-1, None] + shares * law.lengths[:, None]).reshape(-1)
            t = np.append(t, law.duration)
        else:
            t = np.linspace(0.0, law.duration, SAMPLES)
            if isinstance(law, PolynomialLaw):  # accelerations jump between phases: both sides
                t = np.unique(np.concatenate([t, law.breaks, law.breaks[1:] - 1e-12 * law.duration]))
        need, width = 0.0, law.duration / (SAMPLES - 1)
        for _ in range(3):
            shares = self._shares(path, law, t, limits_forces)
            need = max(need, float(np.max(shares)))
            best = t[_highest(shares)]
            if not len(best):  # nothing is limited
                break
            t = np.clip(np.concatenate([np.linspace(x - width, x + width, REFINED) for x in best]), 0.0, law.duration)
            t, width = np.unique(t), 0.1 * width
        return need

    def _shares(self, path: Path, law: TimeLaw, t: Array, limits_forces: bool) -> Array:
        """(N,) factors by which a law has to be slowed down because of what happens at times (N,)."""
        s, speed, acceleration = law.at(t)
        moving = path.at(np.clip(s, 0.0, 1.0))
        v = moving.rate * speed[:, None]
        a = moving.rate * acceleration[:, None] + moving.change * (speed**2)[:, None]
        is_braking = a * moving.rate < 0.0
        bound = np.where(is_braking, self.bounds.deceleration, self.bounds.acceleration)
        # at rest, where nothing tells speeding up from braking, both bounds hold
        stricter = np.minimum(self.bounds.acceleration, self.bounds.deceleration)
        bound = np.where(np.abs(v) < 1e-9 * np.max(np.abs(v)), stricter, bound)
        shares = np.maximum(
            np.max(np.abs(v) / self.bounds.velocity, axis=1), np.sqrt(np.max(np.abs(a) / bound, axis=1))
        )
        rates = self._tool_rates(path, moving)
        if rates is not None:
            tool = np.abs(speed) * np.maximum(rates[0] / self.tool.speed, rates[1] / self.tool.turning)
            along = np.abs(rates[0] * acceleration + rates[2] * speed**2)
            shares = np.maximum(shares, np.maximum(tool, np.sqrt(along / self.tool.acceleration)))
        if limits_forces and np.isfinite(self.bounds.effort).any():
            shares = np.maximum(shares, self._force_shares(moving.q, v, a))
        return shares

    def _force_shares(self, q: Array, v: Array, a: Array) -> Array:
        """(N,) factors after which the joint forces are within their limits: what exceeds the forces at rest goes with
        the square of the factor."""
        still = np.zeros(v.shape)
        forces = np.asarray(self.mech.inverse_dynamics(q, v, a))
        own = np.asarray(self.mech.inverse_dynamics(q, still, still))
        room = np.where(forces >= own, self.bounds.effort - own, self.bounds.effort + own)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(np.isfinite(room), np.abs(forces - own) / np.maximum(room, 1e-12), 0.0)
        return np.sqrt(np.max(found, axis=1))


def _highest(shares: Array) -> NDArray[np.intp]:
    """(k,) indices of the highest local maxima, without the inner points of plateaus."""
    padded = np.concatenate([[-np.inf], shares, [-np.inf]])
    left, right = padded[:-2], padded[2:]
    level = FLAT * np.max(shares)
    is_peak = (shares >= left) & (shares >= right) & ((shares > left + level) | (shares > right + level))
    peaks = np.flatnonzero(is_peak & (shares > PEAK * np.max(shares)))
    return peaks[np.argsort(shares[peaks])[-PEAKS:]]


def build_law(name: str, limits: dict[str, float], duration: float | None = None) -> TimeLaw:
    """Return a law from 0 to 1 within limits of the parameter, or stretched to a duration."""
    if name in POLYNOMIAL_LAWS:
        if duration is not None:
            return LAWS[name](0.0, 1.0, duration)
        acceleration = min(limits["acceleration"], limits["deceleration"])
        given = {"velocity": limits["velocity"], "acceleration": acceleration, "jerk": limits["jerk"]}
        return LAWS[name](0.0, 1.0, **{key: value for key, value in given.items() if math.isfinite(value)})
    used = dict(limits) if name == "s-curve" else {key: value for key, value in limits.items() if key != "jerk"}
    return LAWS[name](0.0, 1.0, **used, duration=duration)
