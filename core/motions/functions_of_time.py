"""Formulas of time as functions with two derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.model.parameters import evaluate_field

Array = NDArray[np.float64]


def functions_of_time(
    formulas: Sequence[Any], values: Mapping[str, float], where: str
) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Return a function times (N,) → values, first and second derivatives, each (N, k), of formulas in t (k,)."""
    import casadi

    t = casadi.SX.sym("t")
    environment = {**values, "t": t}
    rows = casadi.vertcat(*(casadi.SX(evaluate_field(each, environment, where)) for each in formulas))
    rates = casadi.jacobian(rows, t)
    changes = casadi.jacobian(rates, t)
    function = casadi.Function("formulas", [t], [rows, rates, changes])

    def evaluate(times: Array) -> tuple[Array, Array, Array]:
        found = function.map(len(times))(times)
        one, two, three = (np.asarray(each.full(), dtype=float).T for each in found)
        return one, two, three

    return evaluate
