"""How the equations of loops without closed forms are solved, for accelerations and for closing: a choice of a run."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError

AUTOMATIC_FACTORS, CHOLESKY, RANK_REVEALING = FACTORISATIONS = ("automatic", "Cholesky", "rank-revealing")
"""See `core.simulation.simulate`; automatic: rank-revealing."""


def checked_factorisation(factorisation: Any) -> str:
    """One of `FACTORISATIONS`. Raises ModelError."""
    if factorisation not in FACTORISATIONS:
        raise ModelError(
            f"There is no factorisation {factorisation!r}.",
            where="factorisation",
            remedy=f"Use one of {', '.join(FACTORISATIONS)}.",
        )
    return str(factorisation)
