"""Sensors of a kinematic tree: sums of relative measures, or the motion of one frame relative to another."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.elements.force_state import Scalars, add_scaled_force
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import LinkFrame
from core.model import SensorKind
from core.numerics.spatial.pose import IDENTITY
from core.numerics.spatial.relative_measures import Measure, Measured, in_frame_axes, measure_rate, relative_motion
from core.numerics.spatial.scalar import Scalar, minus
from core.numerics.spatial.vector import Motion, Vector3, Z

NOWHERE = LinkFrame(-1, IDENTITY)


class RelativeMeasure(NamedTuple):
    """Relative measure between two frames; unit vectors `axis` in a, `axis_b` in b (for a joint: its law)."""

    of: Measure
    a: LinkFrame
    b: LinkFrame
    axis: Any = Z
    axis_b: Any = Z


class SignedMeasure(NamedTuple):
    """Relative measure with its sign in a sensor's sum."""

    sign: float
    measure: RelativeMeasure


@dataclass(frozen=True)
class Sensor:
    """Sensor with the value Σ sign · measure − offset in each component; a sensor without measures gives the motion of
    b relative to a."""

    name: str
    info: SensorKind
    shares: tuple[SignedMeasure, ...] = ()
    offset: Scalar = 0.0
    a: LinkFrame = NOWHERE
    b: LinkFrame = NOWHERE
    resolve: LinkFrame = NOWHERE

    @property
    def count(self) -> int:
        """Return the number of components."""
        return len(self.info.components)


def evaluate_measure(measure: RelativeMeasure, kinematics: KinematicState) -> tuple[Measured, Motion]:
    """Return values and wrenches of a relative measure, and the motion of b relative to a."""
    run, X_a, X_b = kinematics.run, kinematics.frame(measure.a), kinematics.frame(measure.b)
    measured = run(measure.of, X_a, X_b, measure.axis, measure.axis_b)
    return measured, run(relative_motion, X_a, X_b, kinematics.motion(measure.a), kinematics.motion(measure.b))


def measured_motion(sensor: Sensor, kinematics: KinematicState) -> Vector3:
    """Return the part of the motion of b relative to a that a motion sensor measures, in world axes."""
    if sensor.info.motion is None:
        raise ModelError(
            f"A sensor of kind {sensor.info.name} does not measure a motion.", where=f"sensor '{sensor.name}'"
        )
    X_a, X_b = kinematics.frame(sensor.a), kinematics.frame(sensor.b)
    motion = kinematics.run(relative_motion, X_a, X_b, kinematics.motion(sensor.a), kinematics.motion(sensor.b))
    return sensor.info.motion(motion)


def values_and_rates(sensor: Sensor, kinematics: KinematicState) -> tuple[Scalars, Scalars]:
    """Return (values, rates); a motion sensor has values only."""
    run = kinematics.run
    if not sensor.info.is_geometric:
        return tuple(run(in_frame_axes, kinematics.frame(sensor.resolve), measured_motion(sensor, kinematics))), ()
    values: list[Scalar] = [run(minus, 0.0, sensor.offset)] * sensor.count
    rates: list[Scalar] = [0.0] * sensor.count
    for sign, measure in sensor.shares:
        measured, motion = evaluate_measure(measure, kinematics)
        for k in range(sensor.count):
            values[k] = run(add_scaled_force, values[k], sign, measured.values[k])
            rates[k] = run(add_scaled_force, rates[k], sign, run(measure_rate, measured.wrenches[k], motion))
    return tuple(values), tuple(rates)
