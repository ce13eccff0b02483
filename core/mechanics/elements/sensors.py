"""Sensors on a tree: sums of relative measures, or the motion of one frame relative to another."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.elements.force_state import Scalars, added
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place
from core.model import SensorKind
from core.numerics.spatial.pose import IDENTITY
from core.numerics.spatial.relative_measures import Measure, Measured, in_frame_axes, rate, relative
from core.numerics.spatial.scalar import Scalar, minus
from core.numerics.spatial.vector import Motion, Vector3, Z

NOWHERE = Place(-1, IDENTITY)


class RelativeMeasure(NamedTuple):
    """Relative measure between two frames; unit vectors `axis` in a, `axis_b` in b (for a joint: its law)."""

    of: Measure
    a: Place
    b: Place
    axis: Any = Z
    axis_b: Any = Z


class Share(NamedTuple):
    """Relative measure with its sign in a sensor's sum."""

    sign: float
    measure: RelativeMeasure


@dataclass(frozen=True)
class Sensor:
    """Sensor of Σ sign · measure − offset, component by component; or, without measures, of the motion of b relative to
    a."""

    name: str
    info: SensorKind
    shares: tuple[Share, ...] = ()
    offset: Scalar = 0.0
    a: Place = NOWHERE
    b: Place = NOWHERE
    resolve: Place = NOWHERE

    @property
    def count(self) -> int:
        """Return the number of components."""
        return len(self.info.components)


def measurement(measure: RelativeMeasure, kinematics: KinematicState) -> tuple[Measured, Motion]:
    """Return values and wrenches of a relative measure, and the motion of b relative to a."""
    run, X_a, X_b = kinematics.run, kinematics.frame(measure.a), kinematics.frame(measure.b)
    measured = run(measure.of, X_a, X_b, measure.axis, measure.axis_b)
    return measured, run(relative, X_a, X_b, kinematics.motion(measure.a), kinematics.motion(measure.b))


def motion_of(sensor: Sensor, kinematics: KinematicState) -> Vector3:
    """Return the part of the motion of b relative to a that a motion sensor measures, in world axes."""
    if sensor.info.motion is None:
        raise ModelError(
            f"A sensor of kind {sensor.info.name} does not measure a motion.", where=f"sensor '{sensor.name}'"
        )
    X_a, X_b = kinematics.frame(sensor.a), kinematics.frame(sensor.b)
    motion = kinematics.run(relative, X_a, X_b, kinematics.motion(sensor.a), kinematics.motion(sensor.b))
    return sensor.info.motion(motion)


def readings_of(sensor: Sensor, kinematics: KinematicState) -> tuple[Scalars, Scalars]:
    """Return (values, rates); a motion sensor has values only."""
    run = kinematics.run
    if not sensor.info.geometric:
        return tuple(run(in_frame_axes, kinematics.frame(sensor.resolve), motion_of(sensor, kinematics))), ()
    values: list[Scalar] = [run(minus, 0.0, sensor.offset)] * sensor.count
    rates: list[Scalar] = [0.0] * sensor.count
    for sign, measure in sensor.shares:
        measured, motion = measurement(measure, kinematics)
        for k in range(sensor.count):
            values[k] = run(added, values[k], sign, measured.values[k])
            rates[k] = run(added, rates[k], sign, run(rate, measured.wrenches[k], motion))
    return tuple(values), tuple(rates)
