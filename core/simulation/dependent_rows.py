"""Error message for a run that assumes independent constraints and meets dependent ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.mechanism import Mechanism
from core.numerics.tolerances import REGULAR_FRACTION
from core.simulation.toggle_positions import element_name

Array = NDArray[np.float64]

SHARES = 0.1
"""Share of the largest coefficient of a linear dependence above which a row is named."""
SHOWN = 3
"""Largest number of elements named in the message."""


def dependent_error(mech: Mechanism, q: Array, p: Array, t: float) -> SimulationError:
    """Return the error for linearly dependent rows of G (rows, nv) at q (nq,); it names the loops, constraints and
    drivers involved.

    Combinations of rows with a singular value below REGULAR_FRACTION of the largest count as dependences, the least one
    in any case.
    """
    rows, G = mech.compiled.rows, np.asarray(mech.constraint_jacobian(q, p=p))
    left, singular, _ = np.linalg.svd(G)
    singular = np.concatenate([singular, np.zeros(len(rows) - len(singular))])
    count = max(int((singular < REGULAR_FRACTION * np.max(singular, initial=0.0)).sum()), 1)
    weights = np.linalg.norm(left[:, -count:], axis=1)
    taking = [rows[k] for k in np.flatnonzero(weights > SHARES * np.max(weights, initial=0.0))]
    names = list(dict.fromkeys(element_name(mech, row.collection, row.element) for row in taking))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    number = "one redundant row" if count == 1 else f"{count} redundant rows"
    error = SimulationError(
        f"At t = {t:.6g} s the constraints are redundant ({number} of {len(rows)}), but Cholesky's method requires "
        "independent ones.",
        where="; ".join(names[:SHOWN]) + more,
        remedy="Solve with factorisation='rank-revealing' (the default), or remove the redundant constraints: "
        "the function Mobility names them and proposes joints.",
    )
    error.time = t
    return error
