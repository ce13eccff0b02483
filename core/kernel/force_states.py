"""The states of force elements at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.kernel.parameter_values import Values

if TYPE_CHECKING:
    from core.kernel.evaluation import Evaluation

Array = NDArray[np.float64]


def at_rest(mech: Evaluation, q: Any, v: Any, p: Values, t: Any) -> Array:
    """(…, nx) see `Mechanism.x_rest`."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], mech._program.tracer.tree.nv)) if v is None else np.asarray(v, dtype=float)
    leading = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], np.shape(t), mech.parameter_values(p).shape[:-1])
    x = np.zeros((*leading, mech.nx))
    return mech._call("stretched", p, q, v, np.concatenate([x, x], axis=-1), t=t)
