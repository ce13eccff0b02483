"""Independent coordinates of a machine with loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism


def independent_speeds(mech: Mechanism, q: NDArray[np.float64]) -> NDArray[np.intp]:
    """(k,) indices of speeds that determine all others at q (nq,)."""
    from scipy.linalg import null_space, qr

    free = null_space(np.asarray(mech.constraint_jacobian(q)), rcond=1e-9)
    return np.sort(qr(free.T, mode="r", pivoting=True)[1][: free.shape[1]])
