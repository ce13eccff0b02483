"""Choice of solver for the equations of loops without analytic closure, both for accelerations and for closing
positions."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError

AUTOMATIC_FACTORS, CHOLESKY, RANK_REVEALING = FACTORISATIONS = ("automatic", "Cholesky", "rank-revealing")
"""Values of the option `factorisation`, see `core.simulation.simulate`; automatic means rank-revealing."""


def checked_factorisation(factorisation: Any) -> str:
    """Return the option if it is one of `FACTORISATIONS`, otherwise raise ModelError."""
    if factorisation not in FACTORISATIONS:
        raise ModelError(
            f"There is no factorisation {factorisation!r}.",
            where="factorisation",
            remedy=f"Use one of {', '.join(FACTORISATIONS)}.",
        )
    return str(factorisation)
