"""Check for physically impossible numbers before dynamics are computed, by element and field, for the model's own
parameter values or others (rules in `core.model.validation.possible_numbers`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import build_column, scalar_symbols
from core.errors import SimulationError
from core.model.formula.expression import names_in_formula, parse
from core.model.parameters import evaluate_field, parameter_values
from core.model.validation.possible_numbers import (
    Placed,
    depends_on_parameters,
    elements_with_numbers,
    impossible_number_error,
    possibility_margins,
)
from core.numerics.spatial.scalar import Scalar

if TYPE_CHECKING:
    from core.model import Model

Array = NDArray[np.float64]

DYNAMICS_FUNCTIONS = frozenset(
    [
        *("mass_matrix", "mass_entries", "segment_entries", "gravity", "energy", "momentum", "slopes"),
        *("inverse_dynamics", "inverse_dynamics_ideal", "bias", "bias_ideal", "bias_smooth"),
        *("forward_dynamics", "forward_dynamics_ideal", "forward_dynamics_smooth"),
        *("wrenches", "wrenches_smooth", "wrenches_ideal", "force_slopes", "force_slopes_by_parameters"),
        *("motion_slopes", "motion_slopes_by_parameters", "coriolis"),
    ]
)
"""Functions (`core.programs.function_builder`) that are meaningless for a machine with impossible masses, friction or
limits."""


class NumberCheck:
    """Check of one model for impossible numbers. For other parameter values, only the fields that depend on parameters
    are checked again."""

    def __init__(self, model: Model, p_names: tuple[str, ...], model_values: Array) -> None:
        self._model, self._names, self._own = model, p_names, model_values
        self._last = b""
        self.is_open = False
        """True to accept all numbers, for comparisons of identities at random values."""

    def check_numbers(self, p: Array | None = None) -> None:
        """Raise SimulationError for impossible numbers, by element and field. p : (…, n_p) parameter values; default:
        the model's own."""
        if self.is_open:
            return
        if p is None or not p.size or not self._elements_with_parameters or np.array_equal(p, self._own):
            if (error := self._own_error) is not None:
                raise SimulationError(error.what, where=error.where, remedy=error.remedy)
            return
        if p.ndim == 1 and p.tobytes() == self._last:
            return
        rows = p.reshape(-1, p.shape[-1])
        for row in rows[~self.is_certainly_possible(rows)] if self._own_error is None else rows:
            values = self._model.values(dict(zip(self._names, row.tolist(), strict=True)))
            elements = (
                self._elements_with_parameters if self._own_error is None else tuple(elements_with_numbers(self._model))
            )
            if (error := impossible_number_error(elements, self._model, values)) is not None:
                raise error
        if p.ndim == 1:
            self._last = p.tobytes()

    def is_certainly_possible(self, rows: Array) -> NDArray[np.bool_]:
        """Return a mask (n,) of the parameter values (n, n_p) for which all fields that depend on parameters are
        certainly possible, provided that the other fields are."""
        if not self._elements_with_parameters:
            return np.ones(len(rows), dtype=bool)
        return np.asarray(np.array(self._negative_margins(rows.T)).ravel() == 0.0)

    @cached_property
    def _own_error(self) -> SimulationError | None:
        """Return the error for the model's own numbers; None if they are possible."""
        return impossible_number_error(elements_with_numbers(self._model), self._model, self._model.values())

    @cached_property
    def _elements_with_parameters(self) -> tuple[Placed, ...]:
        known = set(self._model.values())
        return tuple(each for each in elements_with_numbers(self._model) if depends_on_parameters(each[1], known))

    @cached_property
    def _negative_margins(self) -> Callable[[Array], Any]:
        """Return a function of parameter values (n_p, n) that gives the total of negative margins of the dependent
        fields (1, n); NaN where one is not finite."""
        p = scalar_symbols("p", len(self._names))
        values = parameter_values(self._model.parameters, dict(zip(self._names, p, strict=True)))

        def read(value: Any) -> Scalar | None:
            if value is None or (isinstance(value, str) and not names_in_formula(parse(value)) <= values.keys()):
                return None
            return evaluate_field(value, values)

        found = build_column(
            [each for _, element in self._elements_with_parameters for each in possibility_margins(element, read)]
        )
        missing = ca.sum1(found - ca.fabs(found))
        function: Callable[[Array], Any] = ca.Function("missing", [build_column(list(p))], [missing])
        return function
