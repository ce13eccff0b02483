"""Sensors over a tree: sums of chords, or the motion of one frame against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from core.elements.situation import Scalars, added
from core.joints.measures import MEASURES
from core.mechanics.kinematic_state import Instant
from core.mechanics.tree import Place
from core.spatial.motion import Motion
from core.spatial.pose import IDENTITY
from core.spatial.relative_measures import Reading, in_axes, rate, relative
from core.spatial.scalar import Scalar, minus
from core.spatial.vector import Z

NOWHERE = Place(-1, IDENTITY)


class Chord(NamedTuple):
    """What is measured between which frames; unit vectors `axis` in a, `axis_b` in b (of a joint: its law)."""

    kind: str
    a: Place
    b: Place
    axis: Any = Z
    axis_b: Any = Z


class Share(NamedTuple):
    """A chord counted with a sign."""

    sign: float
    chord: Chord


@dataclass(frozen=True)
class Sensor:
    """Σ sign · chord − offset, component by component; or, without chords, a motion of b against a."""

    name: str
    kind: str
    shares: tuple[Share, ...] = ()
    offset: Scalar = 0.0
    a: Place = NOWHERE
    b: Place = NOWHERE
    resolve: Place = NOWHERE
    count: int = 1
    """Number of components."""

    @property
    def geometric(self) -> bool:
        """True if it is a function of poses."""
        return bool(self.shares)


def measured(chord: Chord, instant: Instant) -> tuple[Reading, Motion]:
    """Values and wrenches of a chord, and the motion of b against a."""
    run, X_a, X_b = instant.run, instant.frame(chord.a), instant.frame(chord.b)
    reading = run(MEASURES[chord.kind], X_a, X_b, chord.axis, chord.axis_b)
    return reading, run(relative, X_a, X_b, instant.motion(chord.a), instant.motion(chord.b))


def readings_of(sensor: Sensor, instant: Instant) -> tuple[Scalars, Scalars]:
    """(values, rates); a motion has values only."""
    run = instant.run
    if not sensor.geometric:
        X_a, X_b = instant.frame(sensor.a), instant.frame(sensor.b)
        motion = run(relative, X_a, X_b, instant.motion(sensor.a), instant.motion(sensor.b))
        vector = motion.angular if sensor.kind == "angular_velocity" else motion.linear
        return tuple(run(in_axes, instant.frame(sensor.resolve), vector)), ()
    values: list[Scalar] = [run(minus, 0.0, sensor.offset)] * sensor.count
    rates: list[Scalar] = [0.0] * sensor.count
    for sign, chord in sensor.shares:
        reading, motion = measured(chord, instant)
        for k in range(sensor.count):
            values[k] = run(added, values[k], sign, reading.values[k])
            rates[k] = run(added, rates[k], sign, run(rate, reading.wrenches[k], motion))
    return tuple(values), tuple(rates)
