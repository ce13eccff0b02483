"""Poses drawn at random: where a property of the machine must not depend on one lucky pose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.errors import AssemblyError

if TYPE_CHECKING:
    from core.mechanism import Mechanism

Array = NDArray[np.float64]

ATTEMPTS = 8
"""Random poses from which loops are tried to be closed before the rest pose is taken."""


def random_pose(mech: Mechanism, rng: np.random.Generator, p: Mapping[str, float] | None = None) -> Array:
    """(nq,) a pose inside the limits with all loops closed."""
    q = mech.random(rng)
    if not mech.loops:
        return q
    for _ in range(ATTEMPTS):
        try:
            return mech.assemble(q, p=p)
        except AssemblyError:
            q = mech.random(rng)
    return mech.rest(p)
