"""Objectives and requirements of a design: measures of poses or of a run, eigenvalues and modes of small oscillations,
and residuals of function generation (an output as a function y(x) of a coordinate) and of motion generation (prescribed
poses of a body).

A formula is one number: a measure (`core.simulation.measures`: rms, mean, max, min, span, integral, at of channels), or
one of modes and parameters, `(mode[1].period - 1)^2`: `mode[1].frequency` (Hz), `.period` (s) and `.damping` are of the
linear motion about the first pose, slowest first. Along a sweep the time is the coordinate's path from where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.analysis.linearisation import linearise
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model.aims import PLANES
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.simulation import Run
from core.simulation.measures.run_measures import Measure, Requirement, Signals
from core.simulation.methods.method import RECORDED
from core.simulation.run.run import Statistics
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]

_MODE = re.compile(r"mode\[(\d+)\]\.(frequency|period|damping)")
MOVING = ("v", "a", "tau", "velocity", "omega", "acceleration", "alpha", "reaction", "force", "power", "rate")
"""Endings of the names of channels that need velocities and therefore do not exist for poses alone."""
STANDS_FOR = "mode_value_"


class Motion(NamedTuple):
    """Poses or run on which formulas are evaluated. still : True for poses without velocities; p : parameter values by
    name."""

    run: Run
    p: Mapping[str, float]
    still: bool


def motion_from_poses(mech: Mechanism, q: Array, p: Mapping[str, float], coordinate_values: Array) -> Motion:
    """Wrap poses q (n, nq) along a coordinate (n,) as a motion."""
    none = np.zeros((len(q), mech.nv))
    x = mech.x_rest(q, p=p) if mech.nx else np.zeros((0, 0))
    time = np.abs(coordinate_values - coordinate_values[0])
    settings = Settings(RECORDED.id, float(time[-1]), None, 0.0, 0.0, 1.0, 0.0, dict(p), None, 0)
    return Motion(Run(mech, settings, time, q, none, none, none, Statistics(), x), p, True)


class DesignFormula:
    """Formula of a machine with a scalar value. Raises ExpressionError or ModelError for invalid formulas."""

    def __init__(self, signals: Signals, text: str) -> None:
        self.text = text.strip()
        if not self.text:
            raise ModelError(
                "The formula is empty.", where="objective", remedy="Write one, for example rms(tool.position.x)."
            )
        self.rough = bool(re.search(r"\b(floor|ceil|sign|step)\s*\(", self.text))
        self._modes: list[tuple[int, str]] = []
        self._measure: Measure | None = None
        if _MODE.search(self.text):
            self._node = parse(_MODE.sub(self._symbol_for_match, self.text))
            own = {name for name in names_in_formula(self._node) if not name.startswith(STANDS_FOR)}
            unknown = sorted(own - set(signals.parameters))
            if unknown:
                raise ModelError(
                    f"'{unknown[0]}' is not a parameter.",
                    where="objective",
                    remedy="Formulas with modes may only contain parameters.",
                )
        else:
            self._measure = Measure(signals, self.text)

    def _symbol_for_match(self, match: re.Match[str]) -> str:
        self._modes.append((int(match[1]), match[2]))
        return f"{STANDS_FOR}{len(self._modes) - 1}"

    @property
    def channels(self) -> tuple[str, ...]:
        """Channels of the motion that the formula reads."""
        return self._measure.channels if self._measure is not None else ()

    def __call__(self, motion: Motion) -> float:
        """Evaluate the formula on a motion. Raises ModelError for missing channels."""
        if self._measure is not None:
            return self._measure.value(motion.run)
        values = {name: motion.run.mech.model.values(dict(motion.p))[name] for name in self._parameter_names}
        modes = linearise(motion.run.mech, motion.run.q[0], p=dict(motion.p)).modes
        swinging = [mode for mode in modes if mode.frequency > 0.0]
        for k, (number, what) in enumerate(self._modes):
            if not 1 <= number <= len(swinging):
                raise ModelError(
                    f"There is no mode {number}: the machine has {len(swinging)} oscillating modes.",
                    where="objective",
                    remedy="Count from 1, slowest first.",
                )
            mode = swinging[number - 1]
            found = {"frequency": mode.frequency, "period": 1.0 / mode.frequency, "damping": mode.damping}
            values[f"{STANDS_FOR}{k}"] = found[what]
        return float(evaluate(self._node, values))

    @property
    def _parameter_names(self) -> list[str]:
        return [name for name in names_in_formula(self._node) if not name.startswith(STANDS_FOR)]


def check_no_speed_channels(channels: tuple[str, ...], where: str) -> None:
    """Raise ModelError for channels that poses without velocities do not have."""
    for name in channels:
        if set(name.split(".")[1:]) & set(MOVING):
            raise ModelError(
                f"'{name}' needs speeds, which poses of a sweep do not have.",
                where=where,
                remedy="Simulate the machine instead: d.run(duration=…).",
            )


def requirement_margin(requirement: Requirement, motion: Motion) -> float:
    """Return the margin by which a requirement is fulfilled; for an equality the negative violation."""
    value = requirement.margin(motion.run)
    return -abs(value) if requirement.equality else value


class PrescribedMotion(Protocol):
    """Interface of function and motion generation: residuals of poses along a coordinate."""

    @property
    def driven(self) -> str:
        """Name of the driven coordinate."""
        ...

    @property
    def along(self) -> Array:
        """Values (n,) of the driven coordinate, rad or m."""
        ...

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 2 or 4): the driven coordinate, then the output, or position and angle."""
        ...

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (r,) of the poses, normalised so that their sum of squares is a mean."""
        ...

    def attained_values(self, motion: Motion) -> Array:
        """Return the values that these poses attain, in the form of the prescribed ones."""
        ...


@dataclass(frozen=True, eq=False)
class FunctionGeneration:
    """Prescribed output (any channel of poses): it should be `wanted` (n,) when the coordinate has the values `along`
    (n,)."""

    driven: str
    along: Array
    output: str
    wanted: Array

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 2): driven coordinate and output."""
        return np.column_stack([self.along, self.wanted])

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (n,) in the output's unit."""
        return (self.attained_values(motion)[:, 1] - self.wanted) / np.sqrt(len(self.along))

    def attained_values(self, motion: Motion) -> Array:
        """Return the attained values (n, 2): driven coordinate and output."""
        return np.column_stack([self.along, np.asarray(motion.run[self.output], dtype=float)])


@dataclass(frozen=True, eq=False)
class MotionGeneration:
    """Prescribed poses of a frame in a plane: positions (n, 2), m, and angles (n,), rad, for the values `along` (n,) of
    the driven coordinate; length : metres equivalent to one radian."""

    driven: str
    along: Array
    frame: str
    places: Array
    angles: Array
    plane: str
    length: float

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 4): driven coordinate, position, angle."""
        return np.column_stack([self.along, self.places, self.angles])

    def _frame_poses(self, motion: Motion) -> Array:
        """Compute the frame's (n, 4, 4) poses."""
        mech = motion.run.mech
        return np.asarray(mech.frame(motion.run.q, self.frame, p=dict(motion.p)), dtype=float)

    def attained_values(self, motion: Motion) -> Array:
        """Return the attained values (n, 4): driven coordinate, position, and angle of the frame's first axis projected
        on the plane."""
        X, (u, v) = self._frame_poses(motion), PLANES[self.plane]
        return np.column_stack([self.along, X[:, u, 3], X[:, v, 3], np.arctan2(X[:, v, u], X[:, u, u])])

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (4 n,), m, of positions and of the direction of the frame's first axis in the plane."""
        X, u_v = self._frame_poses(motion), list(PLANES[self.plane])
        off = X[:, u_v, 3] - self.places
        wanted = np.column_stack([np.cos(self.angles), np.sin(self.angles)])
        turned = self.length * (X[:, u_v, u_v[0]] - wanted)
        return np.concatenate([off.ravel(), turned.ravel()]) / np.sqrt(len(self.along))


def build_function_generation(driven: str, output: str, points: ArrayLike) -> FunctionGeneration:
    """Build a function generation from points (n, 2): driven coordinate and output. Raises ModelError."""
    rows = _check_rows(points, 2, "a value of the coordinate and a value of the output")
    return FunctionGeneration(driven, rows[:, 0], output, rows[:, 1])


def build_motion_generation(
    driven: str, frame: str, poses: ArrayLike, plane: str, length: float | None
) -> MotionGeneration:
    """Build a motion generation from poses (n, 4): driven coordinate, position along both axes of the plane, angle.
    Raises ModelError."""
    if plane not in PLANES:
        raise ModelError(f"'{plane}' is not a plane.", where="guide", remedy="Use xy, xz or yz.")
    rows = _check_rows(poses, 4, "a value of the coordinate, two position components, an angle")
    places = rows[:, 1:3]
    size = float(np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1))))
    return MotionGeneration(driven, rows[:, 0], frame, places, rows[:, 3], plane, length or size or 1.0)


def _check_rows(values: ArrayLike, width: int, column_names: str) -> Array:
    rows = np.array(values, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) < 2 or not np.isfinite(rows).all():
        raise ModelError(
            f"The data are not rows of {width} finite numbers.",
            where="design",
            remedy=f"Give at least two rows: {column_names}.",
        )
    return rows
