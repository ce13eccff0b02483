"""Differences between a sensor's components and a prescribed value: residuals of constraints and drivers."""

from __future__ import annotations

from collections.abc import Sequence

from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Side
from core.mechanics.elements.sensors import Sensor
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation, about, twice_axial_vector, wrap_angle
from core.numerics.spatial.scalar import Scalar, is_zero, minus, over, plus, sqrt, times
from core.numerics.spatial.vector import Vector3


def sensor_residual(sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState) -> list[Scalar]:
    """Return the components of a sensor minus a value."""
    if sensor.info.rotation:
        return _rotation_residual(sensor, sides, value, state)
    result = components_minus_value(sensor, sides, value, state)
    return [wrap_angle(x) for x in result] if sensor.info.turns else result


def components_minus_value(
    sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState
) -> list[Scalar]:
    """Return the sensor's components minus a value, without regard to whole turns or rotations."""
    sums: list[Scalar] = [minus(minus(0.0, sensor.offset), value)] * sensor.count
    for (sign, measure), side in zip(sensor.shares, sides, strict=True):
        values = measure.of(*state.frames(side), measure.axis, measure.axis_b).values
        sums = [plus(total, times(sign, x)) for total, x in zip(sums, values, strict=True)]
    return sums


def _rotation_residual(sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState) -> list[Scalar]:
    """Return 2 sin(φ/2) n of the rotation that remains after removing the target; then the other components."""
    frames = [state.frames(side) for side in sides]
    own, other = NO_ROTATION, NO_ROTATION
    for (sign, _), (X_a, X_b) in zip(sensor.shares, frames, strict=True):
        R = X_a.rotation.transposed() @ X_b.rotation
        own, other = (own @ R, other) if sign > 0.0 else (own, other @ R)
    wanted = plus(value, sensor.offset)
    if not is_zero(wanted):
        other = other @ _rotation_by_equal_components(wanted)
    R = other.transposed() @ own
    trace = plus(plus(plus(1.0, R.x.x), R.y.y), R.z.z)  # 4 cos²(φ/2)
    rows = [over(component, sqrt(plus(trace, 1e-12))) for component in twice_axial_vector(R)]
    return (
        rows
        if sensor.count == len(rows)
        else [*rows, *components_minus_value(sensor, sides, value, state)[len(rows) :]]
    )


def _rotation_by_equal_components(component: Scalar) -> Rotation:
    """Return the rotation whose rotation vector has three equal components."""
    third = 3.0**-0.5
    return about(Vector3(third, third, third), times(component, 3.0**0.5))
