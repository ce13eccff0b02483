"""A machine's coordinates as the record that machine code moves."""

from __future__ import annotations

import numpy as np

from core.constraints.newton.displacement import Manifold
from core.joints.free import Free
from core.mechanics.multibody.coordinates import Coordinates


def build_manifold(coordinates: Coordinates) -> Manifold:
    """Return the coordinates of a machine, without limits, whose kinds of joints are known to machine code."""
    offsets = coordinates.offsets
    turning = [(name, joint.info) for name, joint in coordinates.joints.items() if joint.info.nq > joint.info.nv]
    is_free = [kind is Free for _, kind in turning]
    begins = np.array([offsets.q[name] for name, _ in turning], dtype=np.int64)
    plain_q, plain_v = coordinates.plain_indices
    return Manifold(
        nq=offsets.nq,
        nv=offsets.nv,
        plain_q=plain_q,
        plain_v=plain_v,
        lower=np.full(offsets.nq, -np.inf),
        upper=np.full(offsets.nq, np.inf),
        quaternions=begins + 3 * np.array(is_free, dtype=np.int64),
        turns=np.array([offsets.v[name] for name, _ in turning], dtype=np.int64),
        places=np.where(is_free, begins, -1).astype(np.int64),
    )
