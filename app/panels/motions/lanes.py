"""Position, speed, acceleration, jerk and force of all joints over a planned motion, as shares of their limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.document.motion_plans import PlannedMotion

Array = NDArray[np.float64]

TALLEST = 1.15
"""Share of a limit at the edge of a lane whose curves are within their limits."""
EXCEEDED = 1.0 + 1e-3
"""Share of a limit above which it counts as exceeded (jerk is a difference of accelerations)."""


class Lane(NamedTuple):
    """A quantity of all joints. values (N, nv), SI; shares (N, nv) : of the
    limits, or of the largest value of the joints that have none; has_limit (nv,); units : (nv,) of the values;
    short : the title where there is little space; note : shown instead of the largest share"""

    title: str
    values: Array
    shares: Array
    has_limit: NDArray[np.bool_]
    units: tuple[str, ...]
    short: str = ""
    note: str = ""

    @property
    def largest(self) -> float:
        """Return the largest share of a limit; 0 without limits."""
        return float(np.max(np.abs(self.shares[:, self.has_limit]), initial=0.0))

    @property
    def reach(self) -> float:
        """Return the share at the edge of the lane. Positions are shown enlarged."""
        if self.title == "Position":
            return 1.1 * float(np.max(np.abs(self.shares), initial=1e-12))
        return max(TALLEST, 1.1 * self.largest)

    @property
    def is_exceeded(self) -> bool:
        """True if a limit is exceeded."""
        return self.largest > EXCEEDED and not self.note


def lanes_of(planned: PlannedMotion) -> tuple[Lane, ...]:
    """Return the lanes of a planned motion; joints with several coordinates have no positions in the first one."""
    run, bounds = planned.run, planned.trajectory.bounds
    mech = planned.trajectory.mech
    linear = [unit == "m" for unit in _speed_units(planned)]
    units = [tuple((each if is_linear else turning) for is_linear in linear) for each, turning in _UNITS]
    if not mech.nv:
        return ()
    jumps = "jumps" if any(law in JUMPING_LAWS for law in planned.laws) else ""
    jerk = _lane("Jerk", planned.jerk, bounds.jerk, units[3])
    return (
        _position_lane(planned, units[0]),
        _lane("Speed", run.v, bounds.velocity, units[1]),
        _lane("Acceleration", run.a, np.maximum(bounds.acceleration, bounds.deceleration), units[2], "Accel."),
        jerk._replace(note=jumps),
        _lane("Force", np.asarray(run.tau), bounds.effort, units[4]),
    )


JUMPING_LAWS = ("trapezoid", "cubic", "harmonic", "time optimal")
"""Laws with jumps of the acceleration, whose jerk has no bound."""
_UNITS = (("m", "rad"), ("m/s", "rad/s"), ("m/s²", "rad/s²"), ("m/s³", "rad/s³"), ("N", "N m"))


def _speed_units(planned: PlannedMotion) -> list[str]:
    from core.motions.trajectory_files import speed_units

    return speed_units(planned.trajectory.mech)


def _lane(title: str, values: Array, bound: Array, units: tuple[str, ...], short: str = "") -> Lane:
    has_limit = np.isfinite(bound)
    own = np.max(np.abs(values), axis=0, initial=0.0)
    free = float(np.max(own[~has_limit], initial=0.0)) or 1.0
    return Lane(title, values, values / np.where(has_limit, bound, free), has_limit, units, short or title)


def _position_lane(planned: PlannedMotion, units: tuple[str, ...]) -> Lane:
    """Return the lane of positions, about the middle of their limits."""
    mech, q = planned.trajectory.mech, planned.run.q
    values = np.full((len(q), mech.nv), np.nan)
    middle, half, has_limit = np.zeros(mech.nv), np.full(mech.nv, np.inf), np.zeros(mech.nv, dtype=bool)
    for each in mech.coordinates:
        at_q, at_v = mech.joint_q(each.joint), mech.joint_v(each.joint)
        if at_q.stop - at_q.start != at_v.stop - at_v.start:
            continue
        k = at_v.start + each.index - at_q.start
        values[:, k] = q[:, each.index]
        if each.lower is not None and each.upper is not None and each.upper > each.lower:
            middle[k], half[k], has_limit[k] = 0.5 * (each.upper + each.lower), 0.5 * (each.upper - each.lower), True
    free = float(np.nanmax(np.abs(np.where(has_limit, 0.0, np.nan_to_num(values))), initial=0.0)) or 1.0
    shares = (values - middle) / np.where(has_limit, half, free)
    return Lane("Position", values, np.nan_to_num(shares), has_limit, units, "Pos.")
