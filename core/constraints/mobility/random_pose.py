"""Random closed poses, for properties that must not depend on a particular pose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.constraints.assembly import assembled_state
from core.constraints.rest_position import rest
from core.errors import AssemblyError
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

ATTEMPTS = 8
"""Number of random poses from which closing is tried before the reference configuration is used."""


def random_pose(
    compiled: Compiled, rng: np.random.Generator, p: Mapping[str, float] | None = None, t: float = 0.0
) -> Array:
    """(nq,) random pose inside the limits that satisfies all constraints."""
    q = compiled.coordinates.random(rng)
    if not compiled.constrained:
        return q
    for _ in range(ATTEMPTS):
        try:
            return np.asarray(assembled_state(compiled, q, None, p, (), {}, t))
        except AssemblyError:
            q = compiled.coordinates.random(rng)
    return rest(compiled, p, t)
