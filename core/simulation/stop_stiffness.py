"""Stiffness that a run derives for an elastic stop without a given one.

A stop gives way by a thousandth of the way between its limits where the machine meets it with the speed that limits are
made for: k = m (v/p)², with the inertia m = 1/(W M⁻¹ Wᵀ) that loops leave to the coordinate. Runs take it at the pose
in which the stop is first met, this function at the pose given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from core.constraints.elastic_stops import compliances, has_elastic_stop
from core.constraints.joint_modes import NOWHERE, joint_modes, stiffness_per_inertia
from core.constraints.joint_rows import rows_at
from core.numerics.rank import null_space

if TYPE_CHECKING:
    from core.mechanism import Mechanism


def derived_stiffness(mech: Mechanism, q: Any, p: Mapping[str, float] | None = None) -> dict[tuple[str, int], float]:
    """Return (joint, coordinate) → stiffness, N·m/rad or N/m, for joints of the tree with elastic stops that have no
    given stiffness."""
    modes = joint_modes(mech.compiled, mech.parameter_values(p))
    at = rows_at(mech.compiled, modes, np.asarray(q, dtype=float), mech.parameter_values(p))
    derived = [row.at_v != NOWHERE and has_elastic_stop(row) and row.stiffness == 0.0 for row in modes.rows]
    if not any(derived):
        return {}
    rows, W, _ = at.chosen(np.array(derived))
    M = np.asarray(mech.mass_matrix(q, p=p))
    N = null_space(np.asarray(mech.constraint_jacobian(q, p=p))) if mech.constrained else np.eye(mech.nv)
    return {
        (row.owner, row.k): stiffness_per_inertia(row, modes.size) / float(each)
        for row, each in zip(rows, compliances(W @ N, N.T @ M @ N), strict=True)
        if each > 0.0
    }
