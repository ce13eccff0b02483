"""The factor of a small full matrix, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.numerics.tolerances import NEGLIGIBLE_PIVOT
from core.simulation.machine_code.language import native


@native
def cholesky(A: Any, n: int) -> Any:
    """Lower factor in place of A (n n,), row by row, with reciprocals of its diagonal (divisions take longest); false
    if A is not positive definite."""
    for j in range(n):
        d = A[j * n + j]
        least = NEGLIGIBLE_PIVOT * d
        for k in range(j):
            d -= A[j * n + k] * A[j * n + k]
        if not d > least:
            return False
        d = 1.0 / np.sqrt(d)
        A[j * n + j] = d
        for i in range(j + 1, n):
            x = A[i * n + j]
            for k in range(j):
                x -= A[i * n + k] * A[j * n + k]
            A[i * n + j] = x * d
    return True


@native
def forward_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻¹ x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i * n + k] * x[k]
        x[i] = total * L[i * n + i]


@native
def back_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻ᵀ x."""
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= L[k * n + i] * x[k]
        x[i] = total * L[i * n + i]
