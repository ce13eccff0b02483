"""Forces that formulas switch on and off within a step: flights into one-sided springs and through narrow bumpers, and
brakes on a strip, with the switch written in several ways, of random sizes, speeds and durations, by all methods.

Energy says what must come out: a body that meets a spring comes back as fast as it came, whatever the law's power; a
brake leaves what the same strip leaves when it is written another way.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from core.files import loads
from core.simulation import METHODS, simulate
from tests.campaign.trials import Unexpected

FLIGHT = """kinetostat: 1
name: flight
world: {{gravity: {{kind: none}}}}
bodies: {{a: {{mass: {mass}}}}}
joints: {{x: {{kind: prismatic, parent: world, child: a, axis: [1, 0, 0], start_speed: [{speed}]}}}}
forces: {{bumper: {{kind: joint, joint: x, law: "{law}"}}}}
"""
SPRINGS = {
    "bumper": ("{k}*max({width} - abs(x - {middle}), 0)", 1.0),
    "spring": ("{k}*max(x - {gap}, 0)", 1.0),
    "if": ("if(x > {gap}, {k}*(x - {gap}), 0)", 1.0),
    "step": ("{k}*(x - {gap})*step(x - {gap})", 1.0),
    "ball": ("{k}*max(x - {gap}, 0)^1.5", 1.5),
    "ball by if": ("if(x - {gap} > 0, {k}*(x - {gap})^1.5, 0)", 1.5),
    "square": ("{k}*max(x - {gap}, 0)^2", 2.0),
}
"""Laws, and the power with which they grow."""
STRIPS = (
    "if(x > {gap} and x < {end}, {c}*x.v, 0)",
    "if(x > {gap}, if(x < {end}, {c}*x.v, 0), 0)",
    "if(abs(x - {middle}) < {half}, {c}*x.v, 0)",
    "if((x - {middle})^2 < {half}^2, {c}*x.v, 0)",
    "{c}*x.v*step({half} - abs(x - {middle}))",
)
"""The same brake on a strip."""
VARIABLE = tuple(name for name, method in METHODS.items() if method.adaptive)
AGREE = 1e-3
"""Difference of speeds, as a part of the speed at the start."""


@dataclass
class SwitchTrials:
    """Of one process."""

    folder: Path
    patience: float = 60.0

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One machine by one method."""
        values = {name: 10.0 ** luck.uniform(*range_) for name, range_ in RANGES.items()}
        method = luck.choice(VARIABLE)
        kind = luck.choice(("flight", "strip"))
        (folder / "values.json").write_text(json.dumps({"kind": kind, "method": method, **values}), encoding="utf-8")
        return flight(luck, values, method) if kind == "flight" else strip(luck, values, method)

    def close(self) -> None:
        """Nothing is open."""


TRIALS = SwitchTrials
RANGES = {"mass": (-1.0, 1.0), "speed": (-1.0, 1.0), "gap": (-1.0, 1.0), "width": (-2.0, -0.5)}
"""Of decimal logarithms, in SI units."""


def last_speed(law: str, values: dict[str, float], duration: float, method: str) -> tuple[float, tuple[str, ...]]:
    """The speed at the end of a run, and what it notes."""
    run = simulate(loads(FLIGHT.format(law=law, **values)), duration, method=method)
    return float(run["x.v"][-1]), run.notes


def flight(luck: random.Random, values: dict[str, float], method: str) -> str:
    """A body flies into a spring, which takes all of its energy within two fifths of its width."""
    name = luck.choice(tuple(SPRINGS))
    text, power = SPRINGS[name]
    depth = 0.4 * values["width"]
    k = 0.5 * (power + 1.0) * values["mass"] * values["speed"] ** 2 / depth ** (power + 1.0)
    law = text.format(k=k, middle=values["gap"] + values["width"], **values)
    duration = luck.uniform(1.3, 12.0) * values["gap"] / values["speed"] + 20.0 * values["width"] / values["speed"]
    found, notes = last_speed(law, values, duration, method)
    if abs(found + values["speed"]) > AGREE * values["speed"] and not any("bumper" in note for note in notes):
        raise Unexpected(f"{method}, {law}: {found} instead of {-values['speed']} m/s after {duration} s")
    return name


def strip(luck: random.Random, values: dict[str, float], method: str) -> str:
    """A brake on a strip takes c · width of a body's momentum as it passes, c · width = a share of m v."""
    share = luck.uniform(0.1, 0.9)
    half = 0.5 * values["width"]
    c = share * values["mass"] * values["speed"] / values["width"]
    text = luck.choice(STRIPS)
    law = text.format(c=c, half=half, middle=values["gap"] + half, end=values["gap"] + values["width"], **values)
    leaves = values["gap"] / values["speed"] + 3.0 * values["width"] / (values["speed"] * (1.0 - share))
    duration = leaves * luck.uniform(1.0, 8.0)
    found, notes = last_speed(law, values, duration, method)
    expected = (1.0 - share) * values["speed"]
    if abs(found - expected) > AGREE * values["speed"] and not any("bumper" in note for note in notes):
        raise Unexpected(f"{method}, {law}: {found} instead of {expected} m/s after {duration} s")
    return "strip"
