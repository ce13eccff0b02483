"""Bounds of joints for planned motions, per speed of a machine."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism
from core.model.joints import effective_motor_limit

Array = NDArray[np.float64]


class JointBounds(NamedTuple):
    """Bounds (nv,) of speeds, accelerations, decelerations, jerks and joint forces; inf where there is none."""

    velocity: Array
    acceleration: Array
    deceleration: Array
    jerk: Array
    effort: Array


def read_joint_bounds(
    mech: Mechanism, velocity: float = math.inf, acceleration: float = math.inf, jerk: float = math.inf
) -> JointBounds:
    """Return the bounds of a machine's joints; the numbers given are for joints that have none of their own."""
    default = {
        "velocity": velocity,
        "acceleration": acceleration,
        "deceleration": math.nan,
        "jerk": jerk,
        "effort": math.inf,
    }
    found = {name: np.full(mech.nv, value) for name, value in default.items()}
    read = mech.compiled.coordinates.numbers.scalar
    own = {coordinate.joint for coordinate in mech.coordinates}  # not joints that close loops or follow others
    for joint in mech.model.expanded.joints:
        if joint.name not in own or joint.info.nq != joint.info.nv:
            continue
        speeds = mech.joint_v(joint.name)
        for k, limit in enumerate(joint.limits[: speeds.stop - speeds.start]):
            for name, values in found.items():
                value = getattr(limit, name)
                if value is not None:
                    number = float(read(value, f"joint '{joint.name}', limits, {name}"))
                    values[speeds.start + k] = (
                        effective_motor_limit(number) if name in ("velocity", "effort") else number
                    )
    slow = found["deceleration"]
    slow[np.isnan(slow)] = found["acceleration"][np.isnan(slow)]
    return JointBounds(**found)
