"""Speeds with which a machine begins, as its joints say them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.kernel import Mechanism
from core.model.evaluation import Numbers

Array = NDArray[np.float64]


def start_speeds(mech: Mechanism, p: Array | None = None) -> Array:
    """(nv,) `start_speed` of the joints of the tree, 0 where nothing is said; rad/s, m/s. Loops are not looked at."""
    v = np.zeros(mech.nv)
    given = None if p is None else dict(zip(mech.p_names, map(float, p), strict=True))
    numbers = Numbers(mech.model.values(given))
    for joint in mech.model.expanded.joints:
        if joint.start_speed and joint.mimic is None and _in_tree(joint.name, mech):
            where = f"joint '{joint.name}', start_speed"
            v[mech.joint_v(joint.name)] = [numbers.scalar(value, where) for value in joint.start_speed]
    return v


def _in_tree(joint: str, mech: Mechanism) -> bool:
    return joint in mech.v_names or any(name.startswith(f"{joint}.") for name in mech.v_names)
