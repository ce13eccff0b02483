"""Centre of mass of the whole machine, from the masses and poses of its bodies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from core.model import Model
from viz.drawlist.mass_items import mass_properties
from viz.placement import Array


class Balance:
    """Masses and centres of mass of a machine's bodies."""

    def __init__(self, model: Model, values: Mapping[str, float]) -> None:
        found = [(body.name, *mass_properties(body, values, model.origin)[:2]) for body in model.expanded.bodies]
        self._bodies = [(name, mass, centre) for name, mass, centre in found if mass > 0.0]

    def center(self, poses: Mapping[str, ArrayLike]) -> Array | None:
        """Return the centre of mass (3,), m, c = Σ mᵢ (pᵢ + Rᵢ cᵢ) / Σ mᵢ; None for a machine without mass."""
        total, moment = 0.0, np.zeros(3)
        for name, mass, centre in self._bodies:
            pose = np.asarray(poses.get(name, np.eye(4)), dtype=float)
            total += mass
            moment += mass * (pose[:3, 3] + pose[:3, :3] @ centre)
        return moment / total if total > 0.0 else None
