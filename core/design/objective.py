"""Objectives and requirements of a design: measures of poses or of a run, and eigenmodes of small oscillations.

A formula is one number: a measure (`core.simulation.measures`: rms, mean, max, min, span, integral, at of channels), or
one of modes and parameters, `(mode[1].period - 1)^2`: `mode[1].frequency` (Hz), `.period` (s) and `.damping` are of the
linear motion about the first pose, slowest first. Along a sweep the time is the coordinate's path from where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.linearisation import linearise
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, names, parse
from core.simulation import Run
from core.simulation.measures.run_measures import Measure, Requirement, Signals
from core.simulation.methods.method import RECORDED
from core.simulation.run.run import Statistics
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]

_MODE = re.compile(r"mode\[(\d+)\]\.(frequency|period|damping)")
MOVING = ("v", "a", "tau", "velocity", "omega", "acceleration", "alpha", "reaction", "force", "power", "rate")
"""Endings of channel names that need velocities, so that poses alone lack them."""
STANDS_FOR = "mode_value_"


class Motion(NamedTuple):
    """Poses or run on which formulas are evaluated. still : True for poses without velocities; p : values by name."""

    run: Run
    p: Mapping[str, float]
    still: bool


def poses_of(mech: Mechanism, q: Array, p: Mapping[str, float], along: Array) -> Motion:
    """Wrap poses q (n, nq) along a coordinate (n,) as a motion."""
    none = np.zeros((len(q), mech.nv))
    x = mech.x_rest(q, p=p) if mech.nx else np.zeros((0, 0))
    time = np.abs(along - along[0])
    settings = Settings(RECORDED.id, float(time[-1]), None, 0.0, 0.0, 1.0, 0.0, dict(p), None, 0)
    return Motion(Run(mech, settings, time, q, none, none, none, Statistics(), x), p, True)


class Formula:
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
            self._node = parse(_MODE.sub(self._symbol_of_match, self.text))
            own = {name for name in names(self._node) if not name.startswith(STANDS_FOR)}
            unknown = sorted(own - set(signals.parameters))
            if unknown:
                raise ModelError(
                    f"'{unknown[0]}' is not a parameter.",
                    where="objective",
                    remedy="Formulas with modes may only contain parameters.",
                )
        else:
            self._measure = Measure(signals, self.text)

    def _symbol_of_match(self, found: re.Match[str]) -> str:
        self._modes.append((int(found[1]), found[2]))
        return f"{STANDS_FOR}{len(self._modes) - 1}"

    @property
    def channels(self) -> tuple[str, ...]:
        """Channels of the motion that the formula reads."""
        return self._measure.channels if self._measure is not None else ()

    def __call__(self, motion: Motion) -> float:
        """Evaluate the formula on a motion. Raises ModelError for missing channels."""
        if self._measure is not None:
            return self._measure.value(motion.run)
        values = {name: motion.run.mech.model.values(dict(motion.p))[name] for name in self._parameters}
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
    def _parameters(self) -> list[str]:
        return [name for name in names(self._node) if not name.startswith(STANDS_FOR)]


def refuse_speed_channels(channels: tuple[str, ...], where: str) -> None:
    """Raise ModelError for channels that poses without velocities do not have."""
    for name in channels:
        if set(name.split(".")[1:]) & set(MOVING):
            raise ModelError(
                f"'{name}' needs speeds, which poses of a sweep do not have.",
                where=where,
                remedy="Simulate the machine instead: d.run(duration=…).",
            )


def margin(required: Requirement, motion: Motion) -> float:
    """Return the margin by which a requirement is fulfilled; for an equality its violation, negative."""
    value = required.margin(motion.run)
    return -abs(value) if required.equality else value
