"""Poses drawn at random: where a property of the machine must not depend on one lucky pose."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.kernel import Mechanism

Array = NDArray[np.float64]

UNBOUNDED = {"angle": math.pi, "length": 1.0}
"""Half the range from which a coordinate without limits is drawn (rad, m)."""


def random_pose(mech: Mechanism, rng: np.random.Generator, p: Mapping[str, float] | None = None) -> Array:
    """(nq,) a pose inside the limits, couplings followed, loops closed.

    Coordinates between limits are uniform; orientations are turned about a random axis; of a machine with loops one
    coordinate is drawn and the others follow.
    """
    speeds = rng.uniform(-math.pi, math.pi, mech.nv)
    q = mech.integrate(mech.rest(), speeds, 1.0) if not mech.loops else mech.rest()
    drawn: dict[str, float] = {}
    for coordinate in mech.coordinates:
        if coordinate.dimension == "none" or coordinate.follows:
            continue
        half = UNBOUNDED.get(coordinate.dimension, 1.0)
        lower = -half if coordinate.lower is None else coordinate.lower
        upper = max(lower, half) if coordinate.upper is None else coordinate.upper
        drawn[coordinate.name] = rng.uniform(min(lower, upper), upper)
    if mech.loops and drawn:
        name = list(drawn)[int(rng.integers(len(drawn)))]
        drawn = {name: drawn[name]}
    return mech.move(q, drawn, p=p)
